#include "fft/calls/repeated_calls.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/arithmetic.hpp"

namespace weft {

namespace {

class PartedPlan final : public CallPlan {
 public:
  /// `part` does `size` items of the call's batch, `rest` the items left over, if any.
  PartedPlan(const CufftCall& call, Index size, std::shared_ptr<CallPlan> part,
             std::shared_ptr<CallPlan> rest)
      : parts_(call.batch / size), part_(std::move(part)), rest_(std::move(rest)) {
    from_step_ = size * call.from.distance * from_bytes(call);
    to_step_ = size * call.to.distance * to_bytes(call);
  }

  std::size_t work_bytes() const override {
    return std::max(part_->work_bytes(), rest_ ? rest_->work_bytes() : 0);
  }

  void enqueue(DeviceStream& stream, std::byte* from, std::byte* to, std::byte* work) override {
    for (Index i = 0; i < parts_; ++i) part_->enqueue(stream, from + i * from_step_, to + i * to_step_, work);
    if (rest_) rest_->enqueue(stream, from + parts_ * from_step_, to + parts_ * to_step_, work);
  }

  /// Both plans are of one kind and answer alike.
  bool take_scale(double factor) override {
    const bool taken = part_->take_scale(factor);
    if (rest_) rest_->take_scale(factor);
    return taken;
  }

 private:
  Index parts_;
  std::shared_ptr<CallPlan> part_, rest_;
  Index from_step_ = 0, to_step_ = 0;  ///< bytes
};

std::shared_ptr<CallPlan> plan_of_batch(CufftCall call, Index batch, const MakeCallPlan& make) {
  call.batch = batch;
  return make(call);
}

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

std::shared_ptr<CallPlan> plan_in_parts(const CufftCall& call, const MakeCallPlan& make,
                                        std::size_t most_work) {
  std::shared_ptr<CallPlan> plan = make(call);
  // Parts have an even number of real lines, so that they start on complex elements even if lines have an odd
  // length.
  const Index unit = call.kind == FftKind::real ? 2 : 1;
  Index size = call.batch;
  while (plan->work_bytes() > most_work && size > unit) {
    const auto times = static_cast<Index>(divided_up(plan->work_bytes(), most_work));
    size = divided_up(divided_up(size, unit), times) * unit;
    plan = plan_of_batch(call, size, make);
  }
  if (size == call.batch) return plan;
  const Index rest = call.batch % size;
  return std::make_shared<PartedPlan>(call, size, plan,
                                      rest == 0 ? nullptr : plan_of_batch(call, rest, make));
}

std::shared_ptr<CallPlan> plan_in_loops(const CallStep& step, std::shared_ptr<CallPlan> call) {
  if (step.loops.empty()) return call;
  return std::make_shared<LoopedPlan>(step, std::move(call));
}

}  // namespace weft
