#include "api/trial_arrays.hpp"

#include <algorithm>
#include <optional>

#include "base/memory.hpp"

namespace weft {

TrialArrays::~TrialArrays() {
  if (!device_) return;
  try {
    const DeviceScope scope(*device_);
    filled_.reset();
    stream_.reset();
  } catch (const std::exception&) {
    // The device is lost; its driver has freed what there was.
  }
}

void TrialArrays::provide(PlanImpl& plan) {
  std::optional<DeviceScope> scope;
  if (plan.device) {
    scope.emplace(*plan.device);
    if (!device_) {
      device_ = plan.device;
      stream_ = device_->make_stream();
      filled_ = device_->make_event(false);
    }
    plan.use_stream(stream_->native());
  }
  const bool in_place = plan.problem.in_place;
  grow(in_, std::max(plan.sides[0].bytes, in_place ? plan.sides[1].bytes : 0));
  grow(out_, in_place ? 0 : plan.sides[1].bytes);
  grow(work_, plan.users_workspace ? static_cast<std::size_t>(plan.workspace_bytes) : 0);
}

void TrialArrays::grow(Block& block, std::size_t bytes) {
  if (block.bytes >= bytes) return;
  block = {};  // before there is another
  if (!device_) {
    block.on_host = Buffer<std::byte>(bytes);
  } else {
    block.on_device = device_->allocate(bytes, "plan: trial");
    stream_->fill(block.on_device.get(), 0, bytes);
    stream_->record(*filled_);
    device_->wait_for(*filled_);
  }
  block.bytes = bytes;
}

PlanImpl::Arrays TrialArrays::of(const PlanImpl& plan, Direction direction) {
  std::byte* const input = in_.data();
  std::byte* const output = plan.problem.in_place ? input : out_.data();
  const bool fwd = direction == Direction::forward;
  std::byte* const work = plan.users_workspace ? work_.data() : nullptr;
  return {fwd ? input : output, fwd ? output : input, work, plan.users_workspace ? work_.bytes : 0,
          PlanImpl::Type::any,  PlanImpl::Type::any};
}

double TrialArrays::room(const PlanImpl& plan) {
  if (!plan.device) return available_bytes();
  const DeviceScope scope(*plan.device);
  return plan.device->free_bytes();
}

int TrialArrays::sharers(const PlanImpl& plan) {
  if (!plan.device) return plan.comm.impl().node_ranks();
  return static_cast<int>(std::count(plan.device_ids.begin(), plan.device_ids.end(), plan.device->id()));
}

}  // namespace weft
