// What the rooms above ask of a set of ranks while planning. Execution goes through transports, which find
// what they need by asking for a capability (`threads()`, `mpi()`), never for the name of the medium.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/thread_pool.hpp"
#include "weft/error.hpp"

namespace weft {

class MpiWorld;
class SharedMemory;
class ThreadWorld;

namespace detail {
/// Communicators take so many consecutive ranks for one machine when they are made; 0: what is true. Tests
/// meet several machines on one this way.
extern std::atomic<int> pretended_ranks_per_node;
}  // namespace detail

/// A failure that mostly follows from another one: on another rank, or an exception that is about to leave
/// this rank and destroys a plan on its way.
class Aftermath : public Error {
 public:
  using Error::Error;
};

class CommImpl {
 public:
  virtual ~CommImpl() = default;
  virtual int rank() const = 0;
  virtual int size() const = 0;
  virtual const char* medium() const = 0;

  // Collective, in the same order on all ranks.
  virtual void barrier() = 0;
  /// Every rank gives `bytes` bytes; `all` receives size() * bytes.
  virtual void allgather(const void* mine, std::size_t bytes, void* all) = 0;
  /// The least of all ranks' numbers, on every rank. Allocates nothing. Executions under way go on meanwhile,
  /// as ranks that have not come here yet may wait for them.
  virtual int least(int mine) = 0;
  /// The bytes of `root`, on every rank.
  virtual std::string broadcast(const std::string& bytes, int root) = 0;

  /// The ranks of the same colour.
  virtual std::shared_ptr<CommImpl> split(int colour) = 0;

  /// The number of the machine of every rank, alike on all ranks: those of one machine can share memory.
  const std::vector<int>& nodes() const { return nodes_; }
  /// Ranks on the machine of this one, itself included.
  int node_ranks() const;
  /// Gives `bytes`, which may differ from rank to rank, and shows them to the ranks of this machine; zero at
  /// first. Collective; throws the same `weft::Error` on all ranks.
  virtual std::shared_ptr<SharedMemory> share(std::size_t bytes) = 0;

  /// The threads of this rank, the caller included, shared by its plans; null for one. Throws `weft::Error`.
  std::shared_ptr<ThreadPool> pool(int threads);

  /// An execution under way on this rank.
  struct Flight {
    virtual ~Flight() = default;
    /// Takes it as far as it goes without waiting.
    virtual void look() = 0;
    /// Takes it to its end.
    virtual void complete() = 0;
    bool alone = false;  ///< whether no other may be under way beside it
    Flight *next = nullptr, *before = nullptr;
  };
  /// The newest of the executions under way.
  Flight* flights() const { return flights_; }
  void take_off(Flight& flight);
  void land(Flight& flight);
  /// Takes all of them as far as they go without waiting, but for `beside`.
  void look_after_flights(const Flight* beside = nullptr);
  /// Completes those whose exchanges are collective: ranks may wait for this one inside such an exchange. To
  /// be called before this rank waits for all ranks elsewhere.
  void complete_collectives();

  /// Throws `weft::Error` if the ranks cannot talk any more (MPI finalised, another thread rank has failed).
  virtual void check_alive(const char* operation) const = 0;
  /// The part of it that is the caller's fault and harms nothing that is under way: a thread that may not
  /// call.
  virtual void check_caller(const char* /*operation*/) const {}
  /// This rank has failed in the middle of an operation: lets the waits of the other ranks fail where that is
  /// possible. The first failure counts, but an `Aftermath` gives way to one that is none.
  virtual void poison(const std::exception_ptr& /*failure*/) noexcept {}

  /// Keeps the memory of an execution that has been given up, which messages in flight may still reach, until
  /// the ranks part.
  virtual void retain(const std::shared_ptr<void>& /*memory*/) {}

  /// What a transport keeps for these ranks as long as they are together, by a key of its own.
  std::shared_ptr<void>& kept(const void* key) { return kept_[key]; }

  /// The capability to share memory by plain pointers.
  virtual ThreadWorld* threads() { return nullptr; }
  /// The capability to send MPI messages.
  virtual MpiWorld* mpi() { return nullptr; }

 protected:
  explicit CommImpl(std::vector<int> nodes) : nodes_(std::move(nodes)) {}

  /// What a rank does between two looks for the other ranks of a collective. A failure is kept until the
  /// collective is over.
  class Meanwhile {
   public:
    explicit Meanwhile(CommImpl& comm) : comm_(comm) {}
    void operator()() noexcept;
    void rethrow() const {
      if (failure_) std::rethrow_exception(failure_);
    }

   private:
    CommImpl& comm_;
    std::exception_ptr failure_;
  };

 private:
  std::vector<int> nodes_;
  std::map<int, std::weak_ptr<ThreadPool>> pools_;
  Flight* flights_ = nullptr;
  std::map<const void*, std::shared_ptr<void>> kept_;
};

/// Whether not all ranks are on one machine; whether any two are.
bool several_nodes(const CommImpl& comm);
bool any_share_memory(const CommImpl& comm);

}  // namespace weft
