#include "fft/calls/loops_of_calls.hpp"

#include <utility>
#include <vector>

namespace weft {

namespace {

class LoopedPlan final : public CallPlan {
 public:
  LoopedPlan(const CallStep& step, std::shared_ptr<CallPlan> call)
      : call_(std::move(call)), loops_(step.loops) {
    for (FftDimension& d : loops_) {
      d.from_stride *= from_bytes(step.call);
      d.to_stride *= to_bytes(step.call);
    }
  }

  std::size_t work_bytes() const override { return call_->work_bytes(); }

  void enqueue(DeviceStream& stream, std::byte* from, std::byte* to, std::byte* work) override {
    run(0, stream, from, to, work);
  }

  bool take_scale(double factor) override { return call_->take_scale(factor); }

 private:
  void run(std::size_t level, DeviceStream& stream, std::byte* from, std::byte* to, std::byte* work) const {
    if (level == loops_.size()) return call_->enqueue(stream, from, to, work);
    const FftDimension& loop = loops_[level];
    for (Index i = 0; i < loop.n; ++i)
      run(level + 1, stream, from + i * loop.from_stride, to + i * loop.to_stride, work);
  }

  std::shared_ptr<CallPlan> call_;
  std::vector<FftDimension> loops_;  ///< strides in bytes
};

}  // namespace

std::shared_ptr<CallPlan> plan_in_loops(const CallStep& step, std::shared_ptr<CallPlan> call) {
  if (step.loops.empty()) return call;
  return std::make_shared<LoopedPlan>(step, std::move(call));
}

}  // namespace weft
