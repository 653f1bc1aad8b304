#include "transport/peer/peer_memory.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>

#include "comm/agree.hpp"
#include "comm/thread_world.hpp"
#include "weft/error.hpp"

namespace weft {

namespace {

constexpr const char* operation = "plan: workspace";
constexpr std::size_t let_go = 1;  ///< the word behind that of a failure: how many have let go of the memory

/// Memory that other processes have not let go of yet. Giving it back before they do is not allowed, and
/// plans are destroyed by each rank when it likes: it waits here until a later plan is made or destroyed.
class Waiting {
 public:
  void add(std::shared_ptr<std::byte> memory, FailureWords words, int rank, int users) {
    const std::lock_guard lock(mutex_);
    all_.push_back({std::move(memory), std::move(words), rank, users});
  }
  void give_back() {
    const std::lock_guard lock(mutex_);
    std::erase_if(all_, [](const Entry& e) {
      return e.words.word(e.rank, let_go).load(std::memory_order_acquire) ==
             static_cast<FailureWords::Word>(e.users);
    });
  }
  /// Never destroyed: what is left at the end of the process goes with it.
  static Waiting& of_process() {
    static auto* waiting = new Waiting;
    return *waiting;
  }

 private:
  struct Entry {
    std::shared_ptr<std::byte> memory;
    FailureWords words;
    int rank, users;
  };
  std::mutex mutex_;
  std::vector<Entry> all_;
};

}  // namespace

PeerMemory::PeerMemory(CommImpl& comm, const std::shared_ptr<Device>& device,
                       const std::vector<DeviceId>& ids, const std::vector<int>& islands, std::size_t bytes,
                       std::size_t zeros)
    : rank_(comm.rank()),
      processes_(comm.threads() == nullptr),
      islands_(islands),
      words_(comm, 1),
      all_(static_cast<std::size_t>(comm.size())),
      device_(device) {
  agree(comm, operation, [&] {
    for (int r = 0; r < comm.size(); ++r)
      if (near(r)) device->connect(ids[static_cast<std::size_t>(r)]);
    all_[static_cast<std::size_t>(rank_)] = device->allocate(bytes, operation);
    rescue_ = device->make_stream();
    done_ = device->make_event(false);
    if (zeros == 0) return;
    rescue_->fill(of(rank_), 0, zeros);
    finish();
  });
  if (processes_) {
    share_handles(comm, *device);
  } else {
    share_pointers(comm);
  }
}

void PeerMemory::finish() const {
  rescue_->record(*done_);
  device_->wait_for(*done_);
}

PeerMemory::~PeerMemory() {
  try {
    const DeviceScope scope(*device_);
    done_.reset();
    rescue_.reset();
  } catch (const std::exception&) {
    // The device is lost; its driver has freed what there was.
  }
  if (!processes_) return;
  int users = 0;
  for (int r = 0; r < static_cast<int>(all_.size()); ++r) {
    if (r == rank_ || !near(r)) continue;
    ++users;
    if (!all_[static_cast<std::size_t>(r)]) continue;
    all_[static_cast<std::size_t>(r)].reset();
    words_.word(r, let_go).fetch_add(1, std::memory_order_acq_rel);
  }
  Waiting::of_process().add(std::move(all_[static_cast<std::size_t>(rank_)]), words_, rank_, users);
  Waiting::of_process().give_back();
}

void PeerMemory::give_back() {
  Waiting::of_process().give_back();
}

/// Every rank holds a share of the others' memory, so that it outlives a rank that fails.
void PeerMemory::share_pointers(CommImpl& comm) {
  share(*comm.threads(), rank_, all_);
  for (int r = 0; r < comm.size(); ++r)
    if (!near(r)) all_[static_cast<std::size_t>(r)].reset();
}

void PeerMemory::share_handles(CommImpl& comm, Device& device) {
  DeviceMemoryHandle mine{};
  agree(comm, operation, [&] {
    const bool alone =
        std::count(islands_.begin(), islands_.end(), islands_[static_cast<std::size_t>(rank_)]) == 1;
    if (of(rank_) != nullptr && !alone) mine = device.give(of(rank_));
  });
  const std::vector<DeviceMemoryHandle> handles = all_of(comm, mine);
  try {
    agree(comm, operation, [&] {
      for (int r = 0; r < comm.size(); ++r)
        if (r != rank_ && near(r))
          all_[static_cast<std::size_t>(r)] = device.take(handles[static_cast<std::size_t>(r)]);
    });
  } catch (const Error&) {
    // On all ranks; and each gives its own back when all have let go of it.
    for (int r = 0; r < comm.size(); ++r)
      if (r != rank_) all_[static_cast<std::size_t>(r)].reset();
    comm.barrier();
    throw;
  }
}

}  // namespace weft
