// Ready-made operators on modes in memory of a GPU: what kernels are to do with a block
// (kernels/elements/steps.hpp).
#pragma once

#include <vector>

#include "kernels/elements/steps.hpp"
#include "weft/block.hpp"

namespace weft {

/// An axis whose mode i has the wavenumber `k[i]`, counted in a unit of `unit`; `without_nyquist` has zeros
/// at modes that stand for n/2 and -n/2 alike.
AxisWaves waves_of_axis(const std::vector<double>& k, const std::vector<double>& without_nyquist,
                        double unit);

/// Enqueues a map, whose members by loop are given by axis, for the modes of a block. `array`: of a product,
/// the element for the block's first mode, with these strides.
void enqueue_map(const Block& block, const MapModes& by_axis, const void* array = nullptr,
                 const Strides& array_strides = {});

}  // namespace weft
