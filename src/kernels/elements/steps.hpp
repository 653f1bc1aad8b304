// What kernels of devices do with each element of a strided box, as plain data: clear it, scale it, fold
// modes that stand for two, multiply it by the factors of a line, map the modes of all fields at an index,
// or copy what is mirrored.
// work.hpp has the work on one element, for host and devices.
#pragma once

#include <array>
#include <cstdint>
#include <variant>

#include "weft/axis_vector.hpp"

namespace weft {

/// Strides are in elements.
struct ElementLoop {
  Index n = 1, stride = 0, other = 0;
};

/// Loops over a box, the innermost first. None: one element.
struct ElementLoops {
  static constexpr int most = max_axes + 2;
  std::array<ElementLoop, most> all{};
  int count = 0;

  void add(const ElementLoop& loop) { all[static_cast<std::size_t>(count++)] = loop; }
  ElementLoop& operator[](int i) { return all[static_cast<std::size_t>(i)]; }
  const ElementLoop& operator[](int i) const { return all[static_cast<std::size_t>(i)]; }
  Index total() const {
    Index n = 1;
    for (int i = 0; i < count; ++i) n *= (*this)[i].n;
    return n;
  }
  /// An upper bound of where elements are, with either strides.
  Index bound() const {
    Index stride = 1, other = 1;
    for (int i = 0; i < count; ++i) {
      stride += (*this)[i].n * (*this)[i].stride;
      other += (*this)[i].n * (*this)[i].other;
    }
    return stride > other ? stride : other;
  }
};

/// Elements of 4, 8 or 16 bytes become zero.
struct ClearElements {
  ElementLoops loops{};
  int element_bytes = 8;
};

/// Elements, complex or real, times a factor.
struct ScaleElements {
  ElementLoops loops{};
  double factor = 1;
  bool complex = true;
  int real_bytes = 8;
};

/// Complex modes that stand for two modes of all, as `NyquistStep` (fft/blocks/block_steps.hpp) says.
struct FoldModes {
  ElementLoops loops{};
  Index other = 0;  ///< elements to the second mode; 0: of r2c, where there is none
  bool forward = true;
  int real_bytes = 8;
};

/// Complex elements times exp(-2 pi i jk/n), or backward its conjugate, for the indices j and k along two of
/// the loops (fft/line_twiddles.hpp).
struct TurnLine {
  ElementLoops loops{};
  std::array<int, 2> line{0, 1};     ///< which loops
  std::array<Index, 2> first{0, 0};  ///< index of the first element along each
  Index n = 1;
  bool forward = true;
  int real_bytes = 8;
};

/// Wavenumbers by index along an axis: (i + base) unit below `split`, (i - wrap + base) unit from there on.
struct AxisWaves {
  Index split = 0, wrap = 0;
  Index nyquist = -1;  ///< the index of a mode that stands for n/2 and -n/2 alike, or -1
  double base = 0, unit = 0;
};

/// The maps of ready-made operators on modes (weft/operators.hpp).
enum class ModeMap : std::uint8_t {
  power,              ///< times k^order along an axis, with the sign of an even derivative
  laplacian,          ///< times -k^2
  inverse_helmholtz,  ///< by k^2 + `value`, or zero
  odd_derivative,     ///< times i k^order along an axis, with the sign of the derivative
  gradient,
  divergence,
  curl,
  solenoidal_part,
  shift,    ///< times exp(i k distance)
  product,  ///< times the elements of an array
};
/// Whether a map may be one of real modes.
template <ModeMap map>
inline constexpr bool maps_reals = map <= ModeMap::inverse_helmholtz;

/// All fields of each mode of a box are mapped. There is a loop for each axis, `other` being the strides in
/// the array of a product.
struct MapModes {
  ModeMap map = ModeMap::laplacian;
  bool reals = false;
  int real_bytes = 8;
  ElementLoops loops{};
  /// By loop: the component along the axis, the index of the first element, the wavenumbers, and the distance
  /// of a shift.
  std::array<int, max_axes> component{};
  std::array<Index, max_axes> first{};
  std::array<AxisWaves, max_axes> waves{};
  std::array<double, max_axes> distance{};
  Index fields = 1, field_stride = 0;
  int along = 0, order = 1;  ///< the component that is along the axis of a derivative
  double value = 0;
  bool zeroes_nyquist = false;  ///< the wavenumber of modes that stand for n/2 and -n/2 is zero
  bool conjugated = false;      ///< the array of a product
};

/// A column of modes in device memory.
struct DeviceColumn {
  Index place = 0;  ///< of planes, in work memory; of lines, in the user's array; in elements
  Index first = 0, count = 1;
};

/// Between the modes of columns in an array, whose strides are those of the loops, and work memory, whose
/// strides are `other` (`ColumnsStep` in fft/blocks/block_steps.hpp).
struct CopyColumns {
  ElementLoops loops{};
  const DeviceColumn* columns = nullptr;
  bool lines = false, in = true;
  Index count = 0, length = 1;  ///< columns, and modes of a line; planes have one
  Index column_stride = 0;      ///< of planes, in the array
  Index work_column = 0, work_mode = 0;
  double scale = 1;
  int real_bytes = 8;
};

/// Complex elements of another place, where the strides are `other` and may be negative, times a factor, or
/// their conjugates.
struct MirrorModes {
  ElementLoops loops{};
  Index start = 0;  ///< the first element that is read; none lies before element 0
  bool conjugates = false;
  double scale = 1;
  int real_bytes = 8;
};

using ElementStep =
    std::variant<ClearElements, ScaleElements, FoldModes, TurnLine, MapModes, CopyColumns, MirrorModes>;

}  // namespace weft
