#include "transport/nvshmem/heap.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <map>
#include <mutex>

#include "base/arithmetic.hpp"
#include "base/test_hook.hpp"
#include "comm/agree.hpp"
#include "comm/mpi_world.hpp"
#include "transport/nvshmem/library.hpp"
#include "weft/error.hpp"

namespace weft::nvshmem {

namespace {

constexpr const char* operation = "plan: exchange nvshmem";
constexpr const char* memory_operation = "plan: workspace";

void check(int status, const char* call) {
  if (status != 0)
    throw Error(std::string(operation) + ": " + call,
                "status " + std::to_string(status) + " (NVSHMEM_DEBUG=WARN in the environment says more)",
                "success");
}

bool is_initialised(int state) {
  return state >= first_initialised && state <= last_initialised;
}

/// What Weft has done with it in this process. Blocks are the same ones on all ranks, in the same order.
class Process {
 public:
  /// Never destroyed: plans may be destroyed after the end of main.
  static Process& self() {
    static auto* process = new Process;
    return *process;
  }

  /// Who has initialised it; of zeros if the user's program has.
  UniqueId id() {
    const std::lock_guard lock(mutex_);
    return id_;
  }
  void started(const UniqueId& id, const std::shared_ptr<Device>& device) {
    const std::lock_guard lock(mutex_);
    id_ = id;
    device_ = device;
    blocks_.clear();
  }
  /// Whether its heap is on that device, as far as that is known.
  bool serves(const std::shared_ptr<Device>& device) {
    const std::lock_guard lock(mutex_);
    return !device_ || device_ == device;
  }

  std::shared_ptr<std::byte> add(std::byte* memory) {
    const std::lock_guard lock(mutex_);
    const std::uint64_t number = ++last_;
    blocks_[number] = {memory, true};
    return {memory, [this, number](std::byte*) { leave(number); }};
  }

  /// Gives back what no rank uses. Collective.
  void free_unused(CommImpl& comm) {
    std::vector<char> mine;
    {
      const std::lock_guard lock(mutex_);
      for (const auto& [number, block] : blocks_) mine.push_back(block.used ? 1 : 0);
    }
    if (mine.empty()) return;
    const std::size_t blocks = mine.size();
    std::vector<char> all(blocks * static_cast<std::size_t>(comm.size()));
    comm.allgather(mine.data(), blocks, all.data());
    std::vector<std::byte*> unused;
    {
      const std::lock_guard lock(mutex_);
      std::size_t i = 0;
      std::erase_if(blocks_, [&](const auto& entry) {
        bool used = false;
        for (std::size_t at = i++; at < all.size(); at += blocks) used = used || all[at] != 0;
        if (!used) unused.push_back(entry.second.memory);
        return !used;
      });
    }
    const auto held = nvshmem::lock();
    for (std::byte* memory : unused) functions().free(memory);
  }

 private:
  struct Block {
    std::byte* memory = nullptr;
    bool used = false;
  };

  void leave(std::uint64_t number) {
    const std::lock_guard lock(mutex_);
    const auto found = blocks_.find(number);
    if (found != blocks_.end()) found->second.used = false;
  }

  std::mutex mutex_;
  UniqueId id_;
  std::shared_ptr<Device> device_;  ///< null: the user's program has chosen it
  std::map<std::uint64_t, Block> blocks_;
  std::uint64_t last_ = 0;
};

std::atomic<bool> ended = false;

/// At the beginning of MPI_Finalize, which all ranks call.
void end(const Functions& f, Device& device) {
  try {
    const DeviceScope scope(device);
    const auto held = lock();
    ended = true;
    f.end();
  } catch (const std::exception&) {
    // The device is lost.
  }
}

void initialise(CommImpl& comm, const std::shared_ptr<Device>& device) {
  UniqueId id;
  agree(comm, operation, [&] {
    test_point("nvshmem", comm.rank());
    if (comm.rank() == 0) check(functions().get_unique_id(&id), "nvshmemx_get_uniqueid");
  });
  const std::string text = comm.broadcast({reinterpret_cast<const char*>(&id), sizeof id}, 0);
  std::memcpy(&id, text.data(), sizeof id);
  agree(comm, operation, [&] {
    const Functions& f = functions();
    const auto held = lock();
    Start start;
    check(f.set_ranks(comm.rank(), comm.size(), &id, &start), "nvshmemx_set_attr_uniqueid_args");
    check(f.start(by_unique_id, &start), "nvshmemx_hostlib_init_attr");
    Process::self().started(id, device);
    when_mpi_ends(AtEnd::heaps, [&f, device] { end(f, *device); });
  });
}

}  // namespace

bool has_ended() {
  return ended;
}

std::string why_not(CommImpl& comm) {
  struct Facts {
    int state, pe, pes;
    UniqueId id;
  };
  Facts mine{};
  if (missing().empty()) {
    const Functions& f = functions();
    const auto held = lock();
    mine.state = f.state();
    if (is_initialised(mine.state)) mine = {mine.state, f.my_pe(), f.pes(), Process::self().id()};
  }
  const std::vector<Facts> all = all_of(comm, mine);
  if (!missing().empty()) return missing();
  const auto every = [&](const auto& holds) { return std::all_of(all.begin(), all.end(), holds); };
  if (every([](const Facts& f) { return f.state == not_started; })) return "";
  if (!every([](const Facts& f) { return f.state == not_started || is_initialised(f.state); }))
    return "an attempt to initialise NVSHMEM has failed in a process, which can make no other";
  if (!every([](const Facts& f) { return is_initialised(f.state); }))
    return "NVSHMEM is initialised in some of these processes, among others than these";
  const Facts& first = all.front();
  std::vector<int> pes;
  for (const Facts& f : all) pes.push_back(f.pe);
  if (any_equal(pes) || !every([&](const Facts& f) { return f.pes == comm.size() && f.id == first.id; }))
    return "NVSHMEM is initialised in groups of " + std::to_string(first.pes) +
           " processes, which allocate its memory together, and these " + std::to_string(comm.size()) +
           " ranks are no such group";
  return "";
}

std::vector<int> start(CommImpl& comm, const std::shared_ptr<Device>& device) {
  const std::string why = why_not(comm);
  agree(comm, operation, [&] {
    if (!why.empty()) throw Error(operation, why, "auto");
  });
  if (!is_initialised(functions().state())) initialise(comm, device);
  agree(comm, operation, [&] {
    if (!Process::self().serves(device))
      throw Error(operation, "another GPU than that of earlier plans", "one GPU for each process");
  });
  return all_of(comm, functions().my_pe());
}

std::shared_ptr<std::byte> allocate(CommImpl& comm, const Device& device, std::size_t bytes) {
  Process::self().free_unused(comm);
  const std::vector<std::size_t> all = all_of(comm, bytes);
  const auto most = static_cast<std::size_t>(rounded_up(
      static_cast<Index>(*std::max_element(all.begin(), all.end())), static_cast<Index>(page_bytes)));
  std::byte* memory = nullptr;
  {
    const auto held = lock();
    memory = static_cast<std::byte*>(functions().align(page_bytes, most));
  }
  // What other ranks have got stays in the heap: giving it back would wait for this one.
  agree(comm, memory_operation, [&] {
    if (memory == nullptr)
      throw Error(memory_operation, "no memory for " + std::to_string(most) + " bytes in NVSHMEM's heap",
                  "fewer points per rank; or a larger NVSHMEM_SYMMETRIC_SIZE, where NVSHMEM_DISABLE_CUDA_VMM "
                  "fixes its size");
  });
  std::shared_ptr<std::byte> block = Process::self().add(memory);
  agree(comm, memory_operation, [&] {
    if (!device.holds(memory))
      throw Error(memory_operation, "NVSHMEM's heap, which is on another GPU than the plan",
                  "the GPU that was current when NVSHMEM was initialised");
  });
  return block;
}

}  // namespace weft::nvshmem
