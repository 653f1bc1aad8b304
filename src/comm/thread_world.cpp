#include "comm/thread_world.hpp"

#include <algorithm>
#include <array>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <functional>
#include <system_error>

#include "base/arithmetic.hpp"
#include "comm/agree.hpp"
#include "comm/shared_memory.hpp"
#include "weft/error.hpp"
#include "weft/thread_team.hpp"

namespace weft {

ThreadWorld::ThreadWorld(int size, std::shared_ptr<const ThreadWorld> parent)
    : slots(static_cast<std::size_t>(size)), size_(size), parent_(std::move(parent)) {}

namespace {
constexpr std::uint64_t given_up = std::uint64_t{1} << 31;
std::uint64_t generation_of(std::uint64_t state) {
  return state >> 32;
}
}  // namespace

void ThreadWorld::arrive(bool may_give_up, const std::function<void()>& meanwhile) {
  if (may_give_up) check("barrier");
  const std::uint64_t before = state_.fetch_add(1, std::memory_order_acq_rel);
  const std::uint64_t generation = generation_of(before);
  if ((before & (given_up - 1)) + 1 == static_cast<std::uint64_t>(size_)) {
    std::uint64_t all_here = (before + 1) & ~given_up;
    if (state_.compare_exchange_strong(all_here, (generation + 1) << 32, std::memory_order_acq_rel)) return;
    check("barrier");  // a rank has given up
  }
  const auto passed = [&] { return generation_of(state_.load(std::memory_order_acquire)) != generation; };
  for (Backoff backoff; !passed(); backoff.pause()) {
    if (may_give_up && poisoned() && give_up(generation)) check("barrier");
    if (meanwhile) meanwhile();
  }
}

/// Leaves a barrier that not all ranks have reached; false if all have reached it meanwhile. The barrier
/// cannot be used again then. If the failure is the parent's, it is copied, because the parent's is reset for
/// its next body.
bool ThreadWorld::give_up(std::uint64_t generation) {
  std::uint64_t state = state_.load(std::memory_order_acquire);
  while (generation_of(state) == generation)
    if (state_.compare_exchange_weak(state, state | given_up, std::memory_order_acq_rel)) {
      if (parent_) poison(failure());
      return true;
    }
  return false;
}

namespace {
bool is_aftermath(const std::exception_ptr& failure) {
  try {
    std::rethrow_exception(failure);
  } catch (const Aftermath&) {
    return true;
  } catch (...) {
    return false;
  }
}
}  // namespace

void ThreadWorld::poison(const std::exception_ptr& failure) noexcept {
  if (size_ == 1) return;  // no other rank waits, and the next call may succeed
  const std::lock_guard lock(mutex_);
  if (poisoned_ && (!is_aftermath(failure_) || is_aftermath(failure))) return;
  if (failure_) superseded_ = failure_;  // other ranks may be reading it
  failure_ = failure;
  poisoned_.store(true, std::memory_order_release);
}

std::exception_ptr ThreadWorld::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_ || !parent_ ? failure_ : parent_->failure();
}

void ThreadWorld::check(const char* operation) const {
  if (!poisoned()) return;
  std::string why = "an exception of unknown type";
  try {
    std::rethrow_exception(failure());
  } catch (const std::exception& e) {
    why = e.what();
  } catch (...) {
  }
  throw Aftermath(operation, "another thread rank failed: " + why, "all ranks of the team to succeed");
}

void ThreadWorld::reset() {
  state_ = 0;
  poisoned_ = false;
  failure_ = superseded_ = nullptr;
}

std::vector<int> ThreadComm::machines_of(int ranks) {
  std::vector<int> machines(static_cast<std::size_t>(ranks), 0);
  if (const int each = detail::pretended_ranks_per_node; each != 0)
    for (int r = 0; r < ranks; ++r) at(machines, r) = each > 0 ? r / each : r % -each;
  return machines;
}

void ThreadComm::allgather(const void* mine, std::size_t bytes, void* all) {
  at(world_->slots, rank_) = mine;
  world_->barrier();
  for (std::size_t r = 0; r < world_->slots.size(); ++r)
    std::memcpy(static_cast<char*>(all) + r * bytes, world_->slots[r], bytes);
  world_->closing_barrier();
}

void ThreadComm::sum(std::span<const double> mine, std::span<double> all) {
  at(world_->slots, rank_) = mine.data();
  world_->barrier();
  std::fill(all.begin(), all.end(), 0);
  for (const void* slot : world_->slots)
    for (std::size_t i = 0; i < all.size(); ++i) all[i] += static_cast<const double*>(slot)[i];
  world_->closing_barrier();
}

int ThreadComm::least(int mine) {
  at(world_->slots, rank_) = &mine;
  world_->barrier([this] { advance_executions(); });
  int result = mine;
  for (const void* slot : world_->slots) result = std::min(result, *static_cast<const int*>(slot));
  world_->closing_barrier();
  return result;
}

std::string ThreadComm::broadcast(const std::string& bytes, int root) {
  at(world_->slots, rank_) = &bytes;
  world_->barrier();
  std::string result = *static_cast<const std::string*>(at(world_->slots, root));
  world_->closing_barrier();
  return result;
}

namespace {

/// A rank is at most one round ahead of the others, as it reads a round before it gives to the next: two
/// rounds in turn suffice. A rank that has left gives to no round behind those that it has counted.
class ThreadMaximum final : public LateMaximum {
 public:
  struct Shared {
    explicit Shared(int size) : ranks(static_cast<std::size_t>(size)) {}
    struct alignas(64) Rank {
      std::array<Numbers, 2> given;  ///< of a round that is even, and of one that is odd
      std::atomic<std::uint64_t> rounds{0};
      std::atomic<bool> left{false};  ///< after these rounds
    };
    std::vector<Rank> ranks;
  };

  ThreadMaximum(ThreadWorld& world, int rank) : rank_(static_cast<std::size_t>(rank)) {
    std::vector<std::shared_ptr<Shared>> all(static_cast<std::size_t>(world.size()));
    if (rank == 0) all.front() = std::make_shared<Shared>(world.size());
    weft::share(world, rank, all);
    shared_ = all.front();
  }
  ~ThreadMaximum() override { leave(); }

  void give(const Numbers& mine) override {
    Shared::Rank& r = shared_->ranks[rank_];
    r.given[round_ % 2] = mine;
    r.rounds.store(++round_, std::memory_order_release);
  }

  bool complete() override {
    bool all = true;
    for (const Shared::Rank& r : shared_->ranks) {
      const bool left = r.left.load(std::memory_order_acquire);
      if (r.rounds.load(std::memory_order_acquire) >= round_) continue;
      if (left) return last_ = true;
      all = false;
    }
    if (!all) return false;
    maximum_ = shared_->ranks.front().given[(round_ - 1) % 2];
    for (const Shared::Rank& r : shared_->ranks)
      for (std::size_t i = 0; i < maximum_.size(); ++i)
        maximum_[i] = std::max(maximum_[i], r.given[(round_ - 1) % 2][i]);
    return true;
  }

  const Numbers& maximum() const override { return maximum_; }
  bool is_last() const override { return last_; }
  void leave() noexcept override { shared_->ranks[rank_].left.store(true, std::memory_order_release); }

 private:
  std::shared_ptr<Shared> shared_;
  std::size_t rank_;
  std::uint64_t round_ = 0;
  Numbers maximum_{};
  bool last_ = false;
};

}  // namespace

std::unique_ptr<LateMaximum> ThreadComm::late_maximum() {
  return std::make_unique<ThreadMaximum>(*world_, rank_);
}

std::shared_ptr<CommImpl> ThreadComm::split(int colour) {
  const std::vector<int> colours = all_of(*this, colour);
  int mine = 0, members = 0, first = size();
  for (int r = 0; r < size(); ++r) {
    if (at(colours, r) != colour) continue;
    first = std::min(first, r);
    mine += r < rank_ ? 1 : 0;
    ++members;
  }
  std::vector<std::shared_ptr<ThreadWorld>> worlds(static_cast<std::size_t>(size()));
  if (first == rank_) at(worlds, rank_) = std::make_shared<ThreadWorld>(members, world_);
  weft::share(*world_, rank_, worlds);
  return std::make_shared<ThreadComm>(at(worlds, first), mine);
}

namespace {

/// Every rank shares the ownership of all ranks' memory, so that it outlives a rank that fails.
class ThreadMemory final : public SharedMemory {
 public:
  ThreadMemory(ThreadWorld& world, int rank, const std::vector<int>& nodes,
               const std::shared_ptr<std::byte>& mine)
      : all_(static_cast<std::size_t>(world.size())) {
    at(all_, rank) = mine;
    weft::share(world, rank, all_);
    for (std::size_t r = 0; r < all_.size(); ++r)
      if (nodes[r] != at(nodes, rank)) all_[r].reset();
  }
  std::byte* of(int rank) const override { return at(all_, rank).get(); }

 private:
  std::vector<std::shared_ptr<std::byte>> all_;
};

}  // namespace

std::shared_ptr<SharedMemory> ThreadComm::share(std::size_t bytes) {
  std::shared_ptr<std::byte> mine;
  agree(*this, "plan: workspace", [&] { mine = allocate_zeros(bytes, "plan: workspace"); });
  return std::make_shared<ThreadMemory>(*world_, rank_, nodes(), mine);
}

Comm Comm::self() {
  return Comm(std::make_shared<ThreadComm>(std::make_shared<ThreadWorld>(1), 0));
}

struct ThreadTeam::Impl {
  explicit Impl(int size) : world(std::make_shared<ThreadWorld>(size)) {}

  void work(int rank) {
    const Comm comm(std::make_shared<ThreadComm>(world, rank));
    unsigned seen = 0;
    for (;;) {
      const std::function<void(Comm)>* mine = nullptr;
      {
        std::unique_lock lock(mutex);
        changed.wait(lock, [&] { return job != seen || stopping; });
        if (stopping) return;
        seen = job;
        mine = body;
      }
      try {
        (*mine)(comm);
      } catch (...) {
        world->poison(std::current_exception());
        const std::lock_guard lock(mutex);
        if (!failure) failure = std::current_exception();
      }
      const std::lock_guard lock(mutex);
      if (--running == 0) changed.notify_all();
    }
  }

  void stop() {
    {
      const std::lock_guard lock(mutex);
      stopping = true;
    }
    changed.notify_all();
    for (std::thread& t : threads) t.join();
  }

  std::shared_ptr<ThreadWorld> world;
  std::mutex mutex;
  std::condition_variable changed;
  const std::function<void(Comm)>* body = nullptr;
  unsigned job = 0;
  int running = 0;
  bool stopping = false;
  std::exception_ptr failure;  ///< the first exception that left a body
  std::vector<std::thread> threads;
};

ThreadTeam::ThreadTeam(int size) {
  if (size < 1) throw Error("thread team", std::to_string(size) + " ranks", "at least 1");
  impl_ = std::make_unique<Impl>(size);
  try {
    for (int r = 0; r < size; ++r) impl_->threads.emplace_back([impl = impl_.get(), r] { impl->work(r); });
  } catch (const std::system_error& e) {
    const std::size_t started = impl_->threads.size();
    impl_->stop();
    throw Error("thread team",
                "only " + std::to_string(started) + " of " + std::to_string(size) + " threads started",
                std::string("fewer ranks, or a higher limit on threads: ") + e.what());
  }
}

ThreadTeam::~ThreadTeam() {
  impl_->stop();
}

int ThreadTeam::size() const {
  return impl_->world->size();
}

void ThreadTeam::run(const std::function<void(Comm)>& body) {
  if (!body) throw Error("thread team", "an empty function", "what every rank is to run");
  std::unique_lock lock(impl_->mutex);
  if (impl_->running > 0)
    throw Error("thread team", "run called while the team is running",
                "one run at a time, not from inside a body");
  impl_->world->reset();
  impl_->failure = nullptr;
  impl_->body = &body;
  impl_->running = size();
  ++impl_->job;
  impl_->changed.notify_all();
  impl_->changed.wait(lock, [&] { return impl_->running == 0; });
  const std::exception_ptr failure = impl_->failure;
  lock.unlock();
  if (!failure) return;
  // A rank whose wait was made to fail may have left its body before the rank that failed first.
  const std::exception_ptr cause = impl_->world->failure();
  std::rethrow_exception(cause ? cause : failure);
}

}  // namespace weft
