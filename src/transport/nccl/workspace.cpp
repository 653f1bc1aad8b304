#include "transport/nccl/workspace.hpp"

#include <algorithm>
#include <exception>
#include <utility>

#include "base/test_hook.hpp"
#include "comm/agree.hpp"
#include "transport/nccl/library.hpp"

namespace weft::nccl {

namespace {

constexpr const char* operation = "plan: exchange nccl";

/// NCCL maps a peer's memory when a message needs it first, for which the host waits: that is done while
/// planning. Messages of up to 16 KiB need no memory of peers.
constexpr Index greeting_bytes = Index{64} << 10;

}  // namespace

/// What NCCL has no memory for, the device may have: NCCL rounds up.
std::shared_ptr<std::byte> allocate(const std::shared_ptr<Device>& device, std::size_t bytes,
                                    const char* named) {
  const Functions& f = functions();
  void* memory = nullptr;
  if (bytes == 0 || !f.registers() || f.allocate(&memory, bytes) != 0) return device->allocate(bytes, named);
  return {static_cast<std::byte*>(memory), [device](std::byte* p) {
            try {
              const DeviceScope scope(*device);
              functions().free(p);
            } catch (const std::exception&) {
              // The device is lost, and its memory with it.
            }
          }};
}

std::shared_ptr<const void> RegisteredWorkspace::make(CommImpl& comm,
                                                      const std::shared_ptr<std::byte>& memory, Index bytes) {
  const bool can = functions().registers() && (memory || bytes == 0);
  if (comm.least(can ? 1 : 0) == 0) return nullptr;
  std::shared_ptr<RegisteredWorkspace> made;
  agree(comm, operation, [&] {
    test_point("nccl: registering", comm.rank());
    made.reset(new RegisteredWorkspace(comm, memory, bytes));
  });
  const bool registered = bytes == 0 || made->handle_ != nullptr;
  if (comm.least(registered ? 1 : 0) == 0) return nullptr;
  const int part = static_cast<int>(std::min(bytes / 2, greeting_bytes));
  made->ranks_->greet(comm, memory.get(), memory.get() + part, part);
  return made;
}

/// NCCL may refuse, as it does where its environment says so.
RegisteredWorkspace::RegisteredWorkspace(CommImpl& comm, std::shared_ptr<std::byte> memory, Index bytes)
    : comm_(comm), ranks_(NcclRanks::of(comm)), memory_(std::move(memory)) {
  if (bytes > 0 && functions().register_memory(ranks_->get(), memory_.get(), static_cast<std::size_t>(bytes),
                                               &handle_) != 0)
    handle_ = nullptr;
}

/// The peers unmap the memory: they have to be there. What remains registered must not be freed, as NCCL
/// would take what is allocated at the same place for it.
RegisteredWorkspace::~RegisteredWorkspace() {
  if (handle_ == nullptr || comm_.has_ended()) return;
  try {
    const DeviceScope scope(*ranks_->device());
    ranks_->check();
    if (functions().deregister(ranks_->get(), handle_) != 0)
      static_cast<void>(new std::shared_ptr<std::byte>(std::move(memory_)));
  } catch (const std::exception&) {
    // Another rank has failed, and the communicator is aborted; or the device is lost.
  }
}

}  // namespace weft::nccl
