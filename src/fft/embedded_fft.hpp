// Runs a transform that has been cut into embedded steps: copies aside, one step after the other, and the
// scale. What makes a single call is the library's.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "fft/embedded.hpp"
#include "fft/stream_fft.hpp"

namespace weft {

/// One call, or all of a step, planned. As `StreamFft`.
class EmbeddedPlan {
 public:
  virtual ~EmbeddedPlan() = default;
  virtual std::size_t work_bytes() const = 0;
  virtual void enqueue(DeviceStream& stream, std::byte* from, std::byte* to, std::byte* work) = 0;
  /// Has what is written multiplied by a factor from now on; false, and nothing changes, if that took another
  /// pass over it. Not for plans that several transforms share.
  virtual bool take_scale(double) { return false; }
};

using MakeEmbeddedPlan = std::function<std::shared_ptr<EmbeddedPlan>(const EmbeddedCall& call)>;
using MakeStepPlan = std::function<std::shared_ptr<EmbeddedPlan>(const EmbeddedStep& step)>;

/// What the work area of a call has at most, where the call can be done in parts. A GPU takes
/// a millisecond or two for so many bytes, against which starting a part counts for nothing.
inline constexpr std::size_t most_work_bytes = std::size_t{1} << 30;

/// Whether a step is to be made of contiguous lines aside (`plan_lines_aside`); only of such as that can do.
using ChooseLinesAside = std::function<bool(const EmbeddedStep& step)>;

/// A problem of any kind by a library that makes such calls.
std::shared_ptr<StreamFft> make_embedded_fft(const FftProblem& problem, const MakeEmbeddedPlan& make,
                                             const ChooseLinesAside& aside,
                                             std::size_t most_work = most_work_bytes);

class EmbeddedStreamFft final : public StreamFft {
 public:
  EmbeddedStreamFft(const FftProblem& problem, const MakeStepPlan& make);

  std::size_t work_bytes() const override { return aside_bytes_ + step_bytes_; }
  void enqueue(DeviceStream& stream, std::byte* from, std::byte* to, std::byte* work) override;

 private:
  struct Step {
    EmbeddedStep::Sides sides;
    std::shared_ptr<EmbeddedPlan> plan;
  };

  std::vector<Step> steps_;
  bool from_aside_ = false, to_aside_ = false;
  DeviceCopy before_, after_;  ///< from and to memory aside; without that: nothing, and scaling in place
  std::size_t from_aside_bytes_ = 0;  ///< of the first copy aside; the second lies behind it
  std::size_t aside_bytes_ = 0, step_bytes_ = 0;
  bool copies_ = false, scales_ = false;
};

}  // namespace weft
