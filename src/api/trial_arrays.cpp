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
      filled_ = plan.device()->make_event(false);
      stream_ = plan.device()->make_stream();
      device_ = plan.device();  // once there is the rest, too
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
    const auto buffer = std::make_shared<Buffer<std::byte>>(bytes);
    block.memory = {buffer, buffer->data()};
  } else {
    block.memory = device_->allocate(bytes, "plan: trial");
    stream_->fill(block.memory.get(), 0, bytes);
    stream_->record(*filled_);
    device_->wait_for(*filled_);
  }
  block.bytes = bytes;
}

TrialArrays::Pointers TrialArrays::of(const BoundPlan& plan, Direction direction) {
  std::byte* const input = in_.memory.get();
  std::byte* const output = plan.design().program.in_place ? input : out_.memory.get();
  const bool forward = direction == Direction::forward;
  return {forward ? input : output, forward ? output : input,
          plan.design().memory.users_workspace ? work_.memory.get() : nullptr};
}

bool TrialArrays::room_for(const BoundPlan& plan, std::size_t more) {
  int sharers = plan.comm().impl().node_ranks();
  double room = available_bytes();
  if (const std::shared_ptr<Device>& device = plan.device()) {
    const DeviceScope scope(*device);
    sharers = static_cast<int>(std::count(plan.device_ids().begin(), plan.device_ids().end(), device->id()));
    room = device->free_bytes();
  }
  return 2.0 * static_cast<double>(plan.allocated_bytes()) * static_cast<double>(more) * sharers <= room;
}

}  // namespace weft
