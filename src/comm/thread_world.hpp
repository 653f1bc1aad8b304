// The ranks of a ThreadTeam: the shared state of its threads. Waits throw as soon as one rank of the team has
// failed.
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
  /// `parent`: the ranks that were split into these; a failure there is a failure here.
  explicit ThreadWorld(int size, std::shared_ptr<const ThreadWorld> parent = nullptr);

  int size() const { return size_; }
  /// Waits for all ranks. If one has failed, here or in the parent, it throws on all ranks: either all pass
  /// the barrier or none does. Calls `meanwhile`, which must not throw, while it waits.
  void barrier(const std::function<void()>& meanwhile = nullptr) { arrive(true, meanwhile); }
  /// The barrier at the end of a collective, after which a rank may overwrite what the others have read.
  /// Every rank is inside the same collective and only copies, so that no rank can fail before it.
  void closing_barrier() { arrive(false, nullptr); }
  bool poisoned() const {
    return poisoned_.load(std::memory_order_acquire) || (parent_ && parent_->poisoned());
  }
  /// Records a failure. The first one that is no `Aftermath` is kept, or else the first one.
  void poison(const std::exception_ptr& failure) noexcept;
  std::exception_ptr failure() const;
  /// Throws the failure of the rank that poisoned the team, if one did.
  void check(const char* operation) const;
  /// Forgets failures, before the threads start on a new body.
  void reset();

  /// Waits until `ready()` returns true; throws if a rank fails meanwhile.
  template <class Ready>
  void wait(const char* operation, const Ready& ready) const {
    for (Backoff backoff; !ready(); backoff.pause())
      if (poisoned() && !ready()) check(operation);
  }

  /// Returns whether `ready()`; waits for it first if `may_wait`.
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

  /// For each rank, a pointer to its data in the present collective, for the other ranks to read.
  std::vector<const void*> slots;

 private:
  int size_;
  std::shared_ptr<const ThreadWorld> parent_;
  void arrive(bool may_give_up, const std::function<void()>& meanwhile);
  bool give_up(std::uint64_t generation);

  /// Upper half: number of barriers passed. Lower half: ranks that have arrived, and bit 31 if one has given
  /// up.
  std::atomic<std::uint64_t> state_{0};
  std::atomic<bool> poisoned_{false};
  mutable std::mutex mutex_;
  std::exception_ptr failure_;
  std::exception_ptr superseded_;  ///< the failure before, which was one of consequence
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
  void sum(std::span<const double> mine, std::span<double> all) override;
  std::string broadcast(const std::string& bytes, int root) override;
  std::unique_ptr<LateMaximum> late_maximum() override;
  std::shared_ptr<CommImpl> split(int colour) override;
  std::shared_ptr<SharedMemory> share(std::size_t bytes) override;
  void check_alive(const char* operation) const override { world_->check(operation); }
  void poison(const std::exception_ptr& failure) noexcept override { world_->poison(failure); }
  ThreadWorld* threads() override { return world_.get(); }

 private:
  /// The number of each rank's machine: one for all ranks, unless tests pretend otherwise.
  static std::vector<int> machines_of(int ranks);

  std::shared_ptr<ThreadWorld> world_;
  int rank_;
};

/// Gathers pointers: `all` has one per rank, of which each rank sets its own before; all are set afterwards.
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
