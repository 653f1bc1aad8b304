// Plans a transform of any kind for a library with calls like cuFFT's: cut into calls (cufft_calls.hpp,
// r2r_calls.hpp), with copies aside and scaling. The library provides the plan of a single call.
#pragma once

#include <functional>
#include <memory>

#include "fft/calls/fft_sequence.hpp"

namespace weft {

/// The most bytes of a call's work area, if the call can be done in parts. A GPU takes one or two
/// milliseconds for so many bytes, much longer than starting a part.
inline constexpr std::size_t most_work_bytes = std::size_t{1} << 30;

/// Decides whether a step copies its lines aside (`plan_lines_aside`). True only for steps that function
/// supports.
using ChooseLinesAside = std::function<bool(const CallStep& step)>;

std::shared_ptr<StreamFft> make_fft_of_calls(const FftProblem& problem, const MakeCallPlan& make,
                                             const ChooseLinesAside& aside,
                                             std::size_t most_work = most_work_bytes);

}  // namespace weft
