// The part of NCCL that Weft uses, by function pointers that are found at run time. Types and constants are
// our own: a few functions whose binary interface NCCL 2 keeps, so that building needs nothing of NCCL, and a
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

/// The oldest form of what a communicator can be told, which later versions of NCCL take as it was.
struct Config {
  std::size_t size = sizeof(Config);
  unsigned magic = 0xcafebeef;
  unsigned version = 21400;
  int blocking = 0;  ///< its calls return at once, and `get_async_error` says what has become of them
};

/// Of a call that has returned at once.
inline constexpr int in_progress = 7;

/// A status of 0 is success; streams are the device's own handles of them.
struct Functions {
  int (*get_unique_id)(UniqueId* id);
  int (*init_rank)(Communicator** communicator, int ranks, UniqueId id, int rank);
  int (*init_rank_config)(Communicator** communicator, int ranks, UniqueId id, int rank, Config* config);
  int (*abort)(Communicator* communicator);
  int (*get_async_error)(Communicator* communicator, int* status);
  int (*group_start)();
  int (*group_end)();
  int (*send)(const void* from, std::size_t count, int type, int peer, Communicator* communicator,
              void* stream);
  int (*receive)(void* to, std::size_t count, int type, int peer, Communicator* communicator, void* stream);
  const char* (*message)(int status);
  const char* (*last_error)(Communicator* communicator);
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
