// Runs a transform that has been cut into steps of calls (cufft_calls.hpp): copies aside, steps one after the
// other, and scaling. The library provides the plan of a single call.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "fft/calls/cufft_calls.hpp"
#include "fft/stream_fft.hpp"

namespace weft {

/// A planned call, or a planned step. The functions are as in `StreamFft`.
class CallPlan {
 public:
  virtual ~CallPlan() = default;
  virtual std::size_t work_bytes() const = 0;
  virtual void enqueue(DeviceStream& stream, std::byte* from, std::byte* to, std::byte* work) = 0;
  /// Multiplies the output by a factor from now on. Returns false, and changes nothing, if that would need
  /// another pass over the data. Only for plans that no other transform uses.
  virtual bool take_scale(double) { return false; }
};

using MakeCallPlan = std::function<std::shared_ptr<CallPlan>(const CufftCall& call)>;
using MakeStepPlan = std::function<std::shared_ptr<CallPlan>(const CallStep& step)>;

/// The most bytes of a call's work area, if the call can be done in parts. A GPU takes one or two
/// milliseconds for so many bytes, much longer than starting a part.
inline constexpr std::size_t most_work_bytes = std::size_t{1} << 30;

/// Decides whether a step copies its lines aside (`plan_lines_aside`). True only for steps that function
/// supports.
using ChooseLinesAside = std::function<bool(const CallStep& step)>;

/// Plans a problem of any kind for a library with such calls.
std::shared_ptr<StreamFft> make_fft_of_calls(const FftProblem& problem, const MakeCallPlan& make,
                                             const ChooseLinesAside& aside,
                                             std::size_t most_work = most_work_bytes);

class CallsStreamFft final : public StreamFft {
 public:
  CallsStreamFft(const FftProblem& problem, const MakeStepPlan& make);

  std::size_t work_bytes() const override { return aside_bytes_ + step_bytes_; }
  void enqueue(DeviceStream& stream, std::byte* from, std::byte* to, std::byte* work) override;

 private:
  struct Step {
    CallStep::Sides sides;
    std::shared_ptr<CallPlan> plan;
  };

  std::vector<Step> steps_;
  bool from_aside_ = false, to_aside_ = false;
  DeviceCopy before_, after_;  ///< to and from work memory; without copies aside `after_` copies or scales
  std::size_t from_aside_bytes_ = 0;  ///< of the input's copy, which the output's follows
  std::size_t aside_bytes_ = 0, step_bytes_ = 0;
  bool copies_ = false, scales_ = false;
};

}  // namespace weft
