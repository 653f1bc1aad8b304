// The part of NVSHMEM that Weft uses, by function pointers that are found at run time. Types and constants
// are our own: the functions of the host library that work on streams, whose binary interface NVSHMEM 3
// keeps, so that building needs nothing of NVSHMEM, and a machine without it loads Weft.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <string>

namespace weft::nvshmem {

/// Names those who initialise it together. All structures begin with their edition, the first, and their
/// length.
struct UniqueId {
  int version = (1 << 16) + 128;
  char bytes[124] = {};
  friend bool operator==(const UniqueId&, const UniqueId&) = default;
};

/// How a process initialises it; `set_ranks` fills it in.
struct Start {
  struct Ranks {
    int version = (1 << 16) + 24;
    UniqueId* id = nullptr;
    int rank = -1, ranks = -1;
  };
  struct Arguments {
    int version = (1 << 16) + 128;
    Ranks ranks;
    char unused[96] = {};
  };
  int version = (1 << 16) + 144;
  void* mpi_communicator = nullptr;
  Arguments arguments;
};
static_assert(sizeof(UniqueId) == 128 && sizeof(Start::Ranks) == 24 && sizeof(Start::Arguments) == 128 &&
              sizeof(Start) == 144);

/// A status of 0 is success; streams are the device's own handles of them. `start`, `end`, `align` and `free`
/// wait for all processes that are in it, its *PEs*.
struct Functions {
  int (*state)();
  int (*get_unique_id)(UniqueId* id);
  int (*set_ranks)(int rank, int ranks, const UniqueId* id, Start* start);
  int (*start)(unsigned how, Start* start);
  void (*end)();
  int (*my_pe)();
  int (*pes)();
  void* (*align)(std::size_t alignment, std::size_t bytes);
  void (*free)(void* memory);
  /// The signal is set once the bytes are there; the source may be overwritten after `quiet`.
  void (*put_and_signal)(void* to, const void* from, std::size_t bytes, std::uint64_t* signal,
                         std::uint64_t value, int operation, int pe, void* stream);
  void (*signal)(std::uint64_t* signal, std::uint64_t value, int operation, int pe, void* stream);
  void (*wait_for_signal)(std::uint64_t* signal, int comparison, std::uint64_t value, void* stream);
  void (*quiet)(void* stream);
};
/// Of `start`: by a unique id.
inline constexpr unsigned by_unique_id = 1u << 3;
/// Of `state`: nothing has been done, and the least and the most of one that is initialised.
inline constexpr int not_started = 0, first_initialised = 2, last_initialised = 4;
/// Of signals: how they are set, and "at least".
inline constexpr int set_signal = 9, at_least = 5;

/// Why NVSHMEM cannot be used in this process, or nothing. The first call looks for libnvshmem_host.so.3 and
/// opens it.
const std::string& missing();

/// Throws `weft::Error` if it is missing.
const Functions& functions();

/// To be held during its calls, which a process makes one at a time.
std::unique_lock<std::mutex> lock();

/// Puts others in their place (null: gives them back); for tests.
void replace_functions(const Functions* functions);

}  // namespace weft::nvshmem
