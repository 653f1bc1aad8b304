// Plans a transform of any kind for a library with calls like cuFFT's: cut into calls (cufft_calls.hpp,
// r2r_calls.hpp), with copies aside and scaling. The library provides the plan of a single call.
#pragma once

#include <functional>
#include <memory>

#include "fft/calls/fft_sequence.hpp"
#include "fft/calls/line_ways.hpp"

namespace weft {

/// The most bytes of a call's work area, if the call can be done in parts. A GPU takes one or two
/// milliseconds for so many bytes, much longer than starting a part.
inline constexpr std::size_t most_work_bytes = std::size_t{1} << 30;

/// How a transform is done by calls.
struct CallManner {
  /// The way of a step along one axis. Only `calls` for steps that the other ways do not support.
  std::function<LineWay(const CallStep& step)> way;
  AxesOf axes = AxesOf::together;
  std::size_t most_work = most_work_bytes;
};

/// The thread has entered the device.
std::shared_ptr<StreamFft> make_fft_of_calls(Device& device, const FftProblem& problem,
                                             const MakeCallPlan& make, const CallManner& manner);

/// The same in the fastest ways on this device. Where calls could have several axes, but kernels can do one
/// of them by itself, both are timed once in the life of the process, on as much of the problem as has
/// 256 MiB. Of a larger box without loops these are planes, if one call takes another array of memory, as
/// cuFFT does where it is slow.
std::shared_ptr<StreamFft> make_fastest_fft_of_calls(Device& device, const FftProblem& problem,
                                                     const MakeCallPlan& make);

}  // namespace weft
