// A local transform as calls of cuFFT's advanced layout: a batch of FFTs along up to three axes, nested in a
// larger array. An FFT of any strided box becomes a few such calls, and copies to and from work memory
// ("aside") where calls alone cannot do it. Pure data, computed from the problem; nothing is planned here.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "fft/local_fft.hpp"
#include "kernels/device_copy.hpp"

namespace weft {

/// The layout of a call's input or output, with cuFFT's names. Element (b, i, j, k) lies at b distance + ((i
/// embed[1] + j) embed[2] + k) stride, in elements of this side; with fewer axes there are fewer indices. No
/// length in `embed` is shorter than the axis. Stride and distance are never 0, because cuFFT refuses that
/// even where it does not use them.
struct CallSide {
  std::array<Index, 3> embed{};
  Index stride = 1, distance = 0;
  friend auto operator<=>(const CallSide&, const CallSide&) = default;
};

/// One call of the library. In a real transform the last axis is the r2c or c2r axis.
struct CufftCall {
  FftKind kind = FftKind::c2c;
  Direction direction = Direction::forward;
  Precision precision = Precision::float64;
  int axes = 0;
  std::array<Index, 3> n{};
  CallSide from, to;
  Index batch = 1;
  friend auto operator<=>(const CufftCall&, const CufftCall&) = default;
};

/// Bytes of an element of the call's input, and of its output.
Index from_bytes(const CufftCall& call);
Index to_bytes(const CufftCall& call);

/// "forward c2c of 16x12, batch 3, from 16x12 stride 1 distance 192, to ..."
std::string to_string(const CufftCall& call);

/// A call that is repeated for every index of `loops`.
struct CallStep {
  enum class Sides {
    from_to,
    from_only,  ///< in place on the problem's input
    to_only,    ///< in place on the problem's output
  };
  Sides sides = Sides::from_to;
  CufftCall call;
  std::vector<FftDimension> loops;
  /// Kernels have to do it: the library would destroy the problem's input, or write into gaps of its output.
  bool by_kernels = false;
  /// Of a step along the axis of which modes are stored elsewhere: those modes, and there the distance
  /// between modes of a line and between lines of the batch.
  DivertedModes diverted = {};
  Index diverted_stride = 0, diverted_distance = 0;
  friend auto operator<=>(const CallStep&, const CallStep&) = default;
};

/// A copy of the problem's input to dense work memory before the first step, or of its output from there
/// after the last step.
struct AsideCopy {
  DeviceCopy copy;
  Index bytes = 0;     ///< of the work memory; 0: no copy
  bool alike = false;  ///< it has the strides of the array
};

struct CufftCalls {
  AsideCopy from, to;
  std::vector<CallStep> steps;  ///< none if nothing is transformed

  /// Whether the first step can read the input and store aside what it makes of it, in place of the copy.
  bool first_stores_aside() const {
    return from.bytes > 0 && from.alike && steps.front().sides == CallStep::Sides::from_only;
  }
};

/// How many axes a call has.
enum class AxesOf {
  together,  ///< as many as possible
  apart,     ///< one
};

/// Why a problem cannot be done by such calls; empty if it can.
std::string unable_in_calls(const FftProblem& problem);

/// The steps of a problem that can be done. Copied aside are an input that c2r would destroy but must keep,
/// and real lines that do not start on multiples of a complex element.
CufftCalls cufft_calls(const FftProblem& problem, AxesOf axes = AxesOf::together);

}  // namespace weft
