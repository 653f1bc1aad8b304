#include "support/nvshmem_double.hpp"

#include <mpi.h>

#include <atomic>
#include <cstring>
#include <map>
#include <memory>
#include <vector>

#include "device/device.hpp"
#include "support/device_double.hpp"
#include "support/double_memory.hpp"
#include "support/wait_until.hpp"
#include "weft/error.hpp"

namespace weft::test {

namespace {

constexpr int success = 0, invalid_value = 1;

/// Of all PEs: the own memory, and that of the others as this process sees it.
struct Block {
  std::size_t bytes;
  std::vector<std::shared_ptr<std::byte>> of;
};

struct World {
  MPI_Comm comm = MPI_COMM_NULL;
  int pe = -1, pes = 0, starts = 0;
  std::map<std::byte*, Block> blocks;  ///< by where the own memory begins
};

/// Never destroyed: plans may use it to the end of the process.
World& world() {
  static auto* const one = new World;
  return *one;
}

int state() {
  return world().pes > 0 ? nvshmem::first_initialised : nvshmem::not_started;
}

int get_unique_id(nvshmem::UniqueId* id) {
  std::memset(id->bytes, 7, sizeof id->bytes);
  return success;
}

int set_ranks(int rank, int ranks, const nvshmem::UniqueId* id, nvshmem::Start* start) {
  start->arguments.ranks.rank = rank;
  start->arguments.ranks.ranks = ranks;
  start->arguments.ranks.id = const_cast<nvshmem::UniqueId*>(id);
  return success;
}

int start(unsigned how, nvshmem::Start* start) {
  World& w = world();
  if (how != nvshmem::by_unique_id || start->arguments.ranks.id->bytes[0] != 7) return invalid_value;
  MPI_Comm_split(MPI_COMM_WORLD, 0, start->arguments.ranks.rank, &w.comm);
  MPI_Comm_rank(w.comm, &w.pe);
  MPI_Comm_size(w.comm, &w.pes);
  ++w.starts;
  return w.pes == start->arguments.ranks.ranks ? success : invalid_value;
}

void end() {
  MPI_Barrier(world().comm);
  world().pes = 0;
}

/// On all PEs or on none.
void* allocate(std::size_t /*alignment*/, std::size_t bytes) {
  World& w = world();
  const std::shared_ptr<Device> device = current_device();
  std::shared_ptr<std::byte> mine;
  try {
    mine = device->allocate(bytes, "nvshmem double");
  } catch (const Error&) {
    mine.reset();
  }
  int least = mine != nullptr ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &least, 1, MPI_INT, MPI_MIN, w.comm);
  if (least == 0) return nullptr;
  const DeviceMemoryHandle handle = device->give(mine.get());
  std::vector<DeviceMemoryHandle> all(static_cast<std::size_t>(w.pes));
  MPI_Allgather(handle.data(), sizeof handle, MPI_BYTE, all.data(), sizeof handle, MPI_BYTE, w.comm);
  Block block{bytes, {}};
  for (int pe = 0; pe < w.pes; ++pe)
    block.of.push_back(pe == w.pe ? mine : device->take(all[static_cast<std::size_t>(pe)]));
  MPI_Barrier(w.comm);
  w.blocks[mine.get()] = std::move(block);
  return mine.get();
}

void free(void* memory) {
  MPI_Barrier(world().comm);
  if (world().blocks.erase(static_cast<std::byte*>(memory)) == 0)
    device_double::fail("freeing what NVSHMEM has not allocated");
}

/// The same place in the memory of another PE.
std::byte* on(int pe, const void* memory, std::size_t bytes) {
  const auto* const at = static_cast<const std::byte*>(memory);
  for (const auto& [first, block] : world().blocks)
    if (at >= first && at + bytes <= first + block.bytes)
      return block.of[static_cast<std::size_t>(pe)].get() + (at - first);
  device_double::fail("putting to what is not in NVSHMEM's heap");
}

std::atomic_ref<std::uint64_t> word(void* at) {
  return std::atomic_ref<std::uint64_t>(*static_cast<std::uint64_t*>(at));
}

void check_operation(int operation) {
  if (operation != nvshmem::set_signal) device_double::fail("a signal that is not set");
}

void put_and_signal(void* to, const void* from, std::size_t bytes, std::uint64_t* signal, std::uint64_t value,
                    int operation, int pe, void* stream) {
  check_operation(operation);
  run_on_double_stream(stream, [=, there = on(pe, to, bytes), flag = on(pe, signal, sizeof *signal)] {
    std::memcpy(there, from, bytes);
    word(flag).store(value, std::memory_order_release);
  });
}

void signal(std::uint64_t* signal, std::uint64_t value, int operation, int pe, void* stream) {
  check_operation(operation);
  run_on_double_stream(stream, [value, flag = on(pe, signal, sizeof *signal)] {
    word(flag).store(value, std::memory_order_release);
  });
}

/// As a stream of CUDA compares: as signed numbers.
void wait_for_signal(std::uint64_t* signal, int comparison, std::uint64_t value, void* stream) {
  if (comparison != nvshmem::at_least) device_double::fail("an unknown comparison of a signal");
  run_on_double_stream(stream, [value, flag = on(world().pe, signal, sizeof *signal)] {
    wait_until(
        [&] { return static_cast<std::int64_t>(word(flag).load(std::memory_order_acquire) - value) >= 0; });
  });
}

void quiet(void* stream) {
  run_on_double_stream(stream, [] {});
}

}  // namespace

const nvshmem::Functions& nvshmem_double() {
  static const nvshmem::Functions functions{.state = state,
                                            .get_unique_id = get_unique_id,
                                            .set_ranks = set_ranks,
                                            .start = start,
                                            .end = end,
                                            .my_pe = [] { return world().pe; },
                                            .pes = [] { return world().pes; },
                                            .align = allocate,
                                            .free = free,
                                            .put_and_signal = put_and_signal,
                                            .signal = signal,
                                            .wait_for_signal = wait_for_signal,
                                            .quiet = quiet};
  return functions;
}

std::size_t nvshmem_double_blocks() {
  return world().blocks.size();
}
int nvshmem_double_starts() {
  return world().starts;
}

}  // namespace weft::test
