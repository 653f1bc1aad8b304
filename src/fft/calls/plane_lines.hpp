// A transform along two axes by kernels of Weft in one launch (kernels/lines/planes.hpp): while the lines of
// the second axis are stored on peers, those of the first one are computed, so that the links hide them.
#pragma once

#include <memory>
#include <optional>

#include "fft/local_fft.hpp"
#include "fft/stream_fft.hpp"

namespace weft {

/// Whether it can do a problem: c2c along two axes of at most 2048 points for which kernels have radices, one
/// of which is contiguous on both sides; or r2c of the kind, if that is the real axis, the other one has an
/// even number of points, and planes begin on multiples of two. Modes that are stored elsewhere are those of
/// the other axis, and contiguous along the first one there, too.
bool planes_can(const FftProblem& problem);

/// By how many planes the first axis is ahead, at least two, and how many have room at a time, more than
/// that; or both are all planes.
struct PlaneRing {
  Index lead = 2, slots = 3;
};

/// A plan for such a problem. It has tables of roots and counters in device memory, and needs a ring of
/// planes as work memory: by rule of 40 MiB and some two planes more, or of all planes.
std::shared_ptr<StreamFft> plan_plane_lines(Device& device, const FftProblem& problem,
                                            std::optional<PlaneRing> ring = {});

}  // namespace weft
