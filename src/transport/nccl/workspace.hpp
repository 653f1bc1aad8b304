// The workspace of a plan, registered with the communicator of its ranks: NCCL 2.24 and later then copies
// parts straight from the sender's workspace into the receiver's, where it would else copy through buffers of
// its own. That takes memory of NCCL's.
#pragma once

#include <cstddef>
#include <memory>

#include "transport/nccl/ranks.hpp"

namespace weft::nccl {

/// Memory that can be registered, on a device, which is entered; of the device itself where NCCL has none.
/// Freeing it does not wait for the device: all that uses it is to be over. Local; the error names
/// `operation`.
std::shared_ptr<std::byte> allocate(const std::shared_ptr<Device>& device, std::size_t bytes,
                                    const char* operation);

class RegisteredWorkspace {
 public:
  /// Null where NCCL does not register the memory of all ranks, or users give it. Collective; throws the same
  /// `weft::Error` on all ranks.
  static std::shared_ptr<const void> make(CommImpl& comm, const std::shared_ptr<std::byte>& memory,
                                          Index bytes);
  ~RegisteredWorkspace();
  RegisteredWorkspace(const RegisteredWorkspace&) = delete;
  RegisteredWorkspace& operator=(const RegisteredWorkspace&) = delete;

 private:
  RegisteredWorkspace(CommImpl& comm, std::shared_ptr<std::byte> memory, Index bytes);

  CommImpl& comm_;
  std::shared_ptr<NcclRanks> ranks_;
  std::shared_ptr<std::byte> memory_;  ///< lives as long as it is registered
  void* handle_ = nullptr;             ///< null: it is not registered
};

}  // namespace weft::nccl
