#include "fft/embedded_parts.hpp"

#include <algorithm>

namespace weft {

namespace {

class PartedPlan final : public EmbeddedPlan {
 public:
  /// `part` is of `size` items of the call's batch, `rest` of what is left behind `parts` such, if anything.
  PartedPlan(const EmbeddedCall& call, Index size, std::shared_ptr<EmbeddedPlan> part,
             std::shared_ptr<EmbeddedPlan> rest)
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

  /// Both are of one kind.
  bool take_scale(double factor) override {
    const bool taken = part_->take_scale(factor);
    if (rest_) rest_->take_scale(factor);
    return taken;
  }

 private:
  Index parts_;
  std::shared_ptr<EmbeddedPlan> part_, rest_;
  Index from_step_ = 0, to_step_ = 0;  ///< bytes
};

std::shared_ptr<EmbeddedPlan> plan_of_batch(EmbeddedCall call, Index batch, const MakeEmbeddedPlan& make) {
  call.batch = batch;
  return make(call);
}

}  // namespace

std::shared_ptr<EmbeddedPlan> plan_in_parts(const EmbeddedCall& call, const MakeEmbeddedPlan& make,
                                            std::size_t most_work) {
  std::shared_ptr<EmbeddedPlan> plan = make(call);
  // Parts start on complex elements, also where lines of real numbers have an odd length.
  const Index unit = call.kind == FftKind::real ? 2 : 1;
  Index size = call.batch;
  while (plan->work_bytes() > most_work && size > unit) {
    const auto times = static_cast<Index>((plan->work_bytes() + most_work - 1) / most_work);
    const Index units = (size + unit - 1) / unit;
    size = (units + times - 1) / times * unit;
    plan = plan_of_batch(call, size, make);
  }
  if (size == call.batch) return plan;
  const Index rest = call.batch % size;
  return std::make_shared<PartedPlan>(call, size, plan,
                                      rest == 0 ? nullptr : plan_of_batch(call, rest, make));
}

}  // namespace weft
