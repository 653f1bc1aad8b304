// The ranks of a ThreadTeam: shared state of its threads, with waits that fail as soon as one rank of the
// team has failed.
#pragma once

#include <atomic>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/backoff.hpp"
#include "comm/comm_impl.hpp"

namespace weft {

class ThreadWorld {
 public:
  /// `parent`: the ranks that these are some of; a failure there is one here.
  explicit ThreadWorld(int size, std::shared_ptr<const ThreadWorld> parent = nullptr);

  int size() const { return size_; }
  /// Waits for all ranks; throws on all of them if one has failed, here or in the parent: either all pass or
  /// none does. Calls `meanwhile`, which must not throw, between two looks for them.
  void barrier(const std::function<void()>& meanwhile = nullptr) { arrive(true, meanwhile); }
  /// The barrier behind which a collective lets go of what it has shown the others: every rank is in the same
  /// collective and only copies, so nobody gives up.
  void closing_barrier() { arrive(false, nullptr); }
  bool poisoned() const {
    return poisoned_.load(std::memory_order_acquire) || (parent_ && parent_->poisoned());
  }
  /// The first failure counts, or the first that is no `Aftermath`.
  void poison(const std::exception_ptr& failure) noexcept;
  std::exception_ptr failure() const;
  /// Throws the failure of the rank that poisoned the team, if one did.
  void check(const char* operation) const;
  /// Before the threads start on a new body.
  void reset();

  /// Waits until `ready()`; throws if the team is poisoned meanwhile.
  template <class Ready>
  void wait(const char* operation, const Ready& ready) const {
    for (Backoff backoff; !ready(); backoff.pause())
      if (poisoned() && !ready()) check(operation);
  }

  /// The same if `may_wait`; otherwise only looks. Whether `ready()`.
  template <class Ready>
  bool wait_if(const char* operation, bool may_wait, const Ready& ready) const {
    if (ready()) return true;
    if (may_wait) {
      wait(operation, ready);
      return true;
    }
    if (poisoned()) check(operation);
    return false;
  }

  /// Slots through which ranks show each other their data in a collective.
  std::vector<const void*> slots;

 private:
  int size_;
  std::shared_ptr<const ThreadWorld> parent_;
  void arrive(bool may_give_up, const std::function<void()>& meanwhile);
  bool give_up(std::uint64_t generation);

  /// Barriers passed in the upper half, ranks that have arrived in the lower, and whether one gave up.
  std::atomic<std::uint64_t> state_{0};
  std::atomic<bool> poisoned_{false};
  mutable std::mutex mutex_;
  std::exception_ptr failure_;
};

class ThreadComm final : public CommImpl {
 public:
  ThreadComm(std::shared_ptr<ThreadWorld> world, int rank)
      : CommImpl(machines_of(world->size())), world_(std::move(world)), rank_(rank) {}
  int rank() const override { return rank_; }
  int size() const override { return world_->size(); }
  const char* medium() const override { return "threads"; }
  void barrier() override { world_->barrier(); }
  void allgather(const void* mine, std::size_t bytes, void* all) override;
  int least(int mine) override;
  std::string broadcast(const std::string& bytes, int root) override;
  std::shared_ptr<CommImpl> split(int colour) override;
  std::shared_ptr<SharedMemory> share(std::size_t bytes) override;
  void check_alive(const char* operation) const override { world_->check(operation); }
  void poison(const std::exception_ptr& failure) noexcept override { world_->poison(failure); }
  ThreadWorld* threads() override { return world_.get(); }

 private:
  /// All ranks are on one machine, unless tests pretend otherwise.
  static std::vector<int> machines_of(int ranks);

  std::shared_ptr<ThreadWorld> world_;
  int rank_;
};

/// Every rank gives the pointer at its own place of `all`, which has one per rank; all get everybody's.
/// Collective; allocates nothing.
template <class T>
void share(ThreadWorld& world, int rank, std::vector<std::shared_ptr<T>>& all) {
  const std::shared_ptr<T> mine = all[static_cast<std::size_t>(rank)];
  world.slots[static_cast<std::size_t>(rank)] = &mine;
  world.barrier();
  for (std::size_t r = 0; r < all.size(); ++r)
    all[r] = *static_cast<const std::shared_ptr<T>*>(world.slots[r]);
  world.closing_barrier();
}

}  // namespace weft
