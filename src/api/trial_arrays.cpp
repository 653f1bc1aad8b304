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

void TrialArrays::provide(BoundPlan& plan) {
  std::optional<DeviceScope> scope;
  if (plan.device()) {
    scope.emplace(*plan.device());
    if (!device_) {
      device_ = plan.device();
      stream_ = device_->make_stream();
      filled_ = device_->make_event(false);
    }
    plan.use_stream(stream_->native());
  }
  const bool in_place = plan.design().program.in_place;
  const auto [in, out] = plan.array_bytes();
  grow(in_, std::max(in, in_place ? out : 0));
  grow(out_, in_place ? 0 : out);
  grow(work_, plan.design().memory.users_workspace ? static_cast<std::size_t>(plan.workspace_bytes()) : 0);
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

TrialArrays::Pointers TrialArrays::of(const BoundPlan& plan, Direction direction) {
  std::byte* const input = in_.data();
  std::byte* const output = plan.design().program.in_place ? input : out_.data();
  const bool forward = direction == Direction::forward;
  return {forward ? input : output, forward ? output : input,
          plan.design().memory.users_workspace ? work_.data() : nullptr};
}

double TrialArrays::room(const BoundPlan& plan) {
  if (!plan.device()) return available_bytes();
  const DeviceScope scope(*plan.device());
  return plan.device()->free_bytes();
}

int TrialArrays::sharers(const BoundPlan& plan) {
  if (!plan.device()) return plan.comm().impl().node_ranks();
  return static_cast<int>(
      std::count(plan.device_ids().begin(), plan.device_ids().end(), plan.device()->id()));
}

}  // namespace weft
