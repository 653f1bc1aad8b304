#include "transport/nccl/workspace.hpp"

#include <algorithm>
#include <exception>
#include <string>
#include <utility>

#include "base/test_hook.hpp"
#include "base/text.hpp"
#include "comm/agree.hpp"
#include "transport/nccl/library.hpp"
#include "weft/error.hpp"

namespace weft::nccl {

namespace {

constexpr const char* operation = "plan: exchange nccl";

/// NCCL maps a peer's memory when a message needs it first, for which the host waits: that is done while
/// planning. Messages below 16 KiB need no memory of peers.
constexpr Index greeting_bytes = Index{64} << 10;

}  // namespace

std::shared_ptr<std::byte> allocate(const std::shared_ptr<Device>& device, std::size_t bytes,
                                    const char* named) {
  const Functions& f = functions();
  if (!f.registers() || bytes == 0) return device->allocate(bytes, named);
  void* memory = nullptr;
  if (f.allocate(&memory, bytes) != 0)
    throw Error(named,
                "no memory for " + human_bytes(static_cast<double>(bytes)) + " by NCCL on " + device->name() +
                    ", where " + human_bytes(device->free_bytes()) + " are free",
                "fewer points per rank");
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
  const bool has = functions().registers() && (memory || bytes == 0);
  if (comm.least(has ? 1 : 0) == 0) return nullptr;
  std::shared_ptr<RegisteredWorkspace> made;
  agree(comm, operation, [&] {
    test_point("nccl: registering", comm.rank());
    made.reset(new RegisteredWorkspace(comm, memory, bytes));
  });
  const int part = comm.least(static_cast<int>(std::min(bytes / 2, greeting_bytes)));
  if (part > 0) made->ranks_->greet(comm, memory.get(), memory.get() + part, static_cast<std::size_t>(part));
  return made;
}

RegisteredWorkspace::RegisteredWorkspace(CommImpl& comm, std::shared_ptr<std::byte> memory, Index bytes)
    : comm_(comm), ranks_(NcclRanks::of(comm)), memory_(std::move(memory)) {
  if (bytes == 0) return;
  check(functions().register_memory(ranks_->get(), memory_.get(), static_cast<std::size_t>(bytes), &handle_),
        "ncclCommRegister", ranks_->get());
}

/// The peers unmap the memory: they have to be there.
RegisteredWorkspace::~RegisteredWorkspace() {
  if (!memory_ || comm_.has_ended()) return;
  try {
    const DeviceScope scope(*ranks_->device());
    ranks_->check();
    functions().deregister(ranks_->get(), handle_);
  } catch (const std::exception&) {
    // Another rank has failed, and the communicator is aborted; or the device is lost.
  }
}

}  // namespace weft::nccl
