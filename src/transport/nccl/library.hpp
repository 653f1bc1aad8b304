// The part of NCCL that Weft uses, by function pointers that are found at run time. Types and constants are
// our own: functions whose binary interface NCCL 2 keeps, so that building needs nothing of NCCL, and a
// machine without it loads Weft.
#pragma once

#include <cstddef>
#include <string>

namespace weft::nccl {

struct Communicator;

/// Names a communicator among those who are to be in it. Passed by value, as NCCL does.
struct UniqueId {
  char bytes[128];
};

/// A status of 0 is success; streams are the device's own handles of them.
struct Functions {
  int (*get_unique_id)(UniqueId* id);
  int (*init_rank)(Communicator** communicator, int ranks, UniqueId id, int rank);
  int (*abort)(Communicator* communicator);
  int (*get_async_error)(Communicator* communicator, int* status);
  int (*group_start)();
  int (*group_end)();
  int (*send)(const void* from, std::size_t count, int type, int peer, Communicator* communicator,
              void* stream);
  int (*receive)(void* to, std::size_t count, int type, int peer, Communicator* communicator, void* stream);
  const char* (*message)(int status);
  const char* (*last_error)(Communicator* communicator);
  // Null before NCCL 2.19.
  int (*allocate)(void** memory, std::size_t bytes);
  int (*free)(void* memory);
  int (*register_memory)(Communicator* communicator, void* memory, std::size_t bytes, void** handle);
  int (*deregister)(Communicator* communicator, void* handle);

  /// Whether memory can be registered with a communicator.
  bool registers() const {
    return allocate != nullptr && free != nullptr && register_memory != nullptr && deregister != nullptr;
  }
};
/// Of `count`: bytes.
inline constexpr int byte_type = 0;

/// Why NCCL cannot be used in this process, or nothing. The first call looks for libnccl.so.2 and opens it.
const std::string& missing();

/// Throws `weft::Error` if it is missing.
const Functions& functions();

/// Throws `weft::Error` with NCCL's message unless `status` is 0.
void check(int status, const char* call, Communicator* communicator = nullptr);

/// Puts others in their place (null: gives them back); for tests.
void replace_functions(const Functions* functions);

}  // namespace weft::nccl
