// A set of ranks, as planning uses it: collectives, shared memory, and the list of executions under way.
// Transports ask it for a capability (`threads()`, `mpi()`), never for the name of the medium.
#pragma once

#include <atomic>
#include <cstddef>
#include <exception>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/thread_pool.hpp"
#include "comm/late_maximum.hpp"
#include "weft/error.hpp"

namespace weft {

class MpiWorld;
class SharedMemory;
class ThreadWorld;

namespace detail {
/// If not 0, communicators made from now on treat every so many consecutive ranks as one machine; below 0,
/// there are so many machines, to which ranks are dealt in turn. Tests use it to have several machines on
/// one.
extern std::atomic<int> pretended_ranks_per_node;
}  // namespace detail

/// A failure that usually is a consequence of another one: of a failure on another rank, or of an exception
/// whose stack unwinding destroys a plan under way.
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
  /// The minimum of all ranks' numbers, on every rank. Allocates nothing. Executions under way make progress
  /// meanwhile, because ranks that have not made this call yet may wait for them.
  virtual int least(int mine) = 0;
  /// `all` receives the sum of all ranks' numbers, each with those in its place, the same on every rank;
  /// equally many on all ranks. Allocates nothing.
  virtual void sum(std::span<const double> mine, std::span<double> all) = 0;
  /// Returns the bytes of rank `root` on every rank.
  virtual std::string broadcast(const std::string& bytes, int root) = 0;

  /// One more maximum that ranks give to and read when they like. Collective; it must not outlive this
  /// object.
  virtual std::unique_ptr<LateMaximum> late_maximum() = 0;
  /// Waits until all ranks have given their numbers or left. Executions under way make progress meanwhile.
  void wait_for(LateMaximum& late);

  /// The ranks that give the same colour, in rank order.
  virtual std::shared_ptr<CommImpl> split(int colour) = 0;

  /// For every rank the number of its machine, the same list on all ranks. Ranks of one machine can share
  /// memory.
  const std::vector<int>& nodes() const { return nodes_; }
  /// Number of ranks on the machine of this rank.
  int node_ranks() const;
  /// Allocates `bytes` on every rank, zero at first, in memory that all ranks of its machine can reach. The
  /// size may differ from rank to rank. Collective; throws the same `weft::Error` on all ranks.
  virtual std::shared_ptr<SharedMemory> share(std::size_t bytes) = 0;

  /// A pool of so many threads, the caller included, shared by the plans of this rank; null for one thread.
  /// Throws `weft::Error` if they cannot be started.
  std::shared_ptr<ThreadPool> pool(int threads);

  /// An execution under way on this rank.
  struct Execution {
    virtual ~Execution() = default;
    /// Takes the execution as far as possible without waiting. A failure is one of whoever waits for this
    /// execution, and not of whoever looks after it meanwhile.
    virtual void progress() noexcept = 0;
    /// Completes the execution, in the same way.
    virtual void complete() noexcept = 0;
    bool exclusive = false;  ///< no other may be under way beside it: its exchanges are collective
    Execution *next = nullptr, *before = nullptr;
  };
  /// The newest execution under way, the first of the list.
  Execution* executions() const { return executions_; }
  void begin_execution(Execution& execution);
  void end_execution(Execution& execution);
  /// Takes all executions but `beside` as far as possible without waiting.
  void advance_executions(const Execution* beside = nullptr) noexcept;
  /// Completes an exclusive execution, as other ranks may wait for this rank inside one of its exchanges.
  /// Must be called before this rank waits for all ranks elsewhere.
  void complete_collectives() noexcept;

  /// Throws `weft::Error` if the ranks cannot communicate any more (MPI finalised, another rank has failed).
  virtual void check_alive(const char* operation) const = 0;
  /// Whether other ranks may have ended, as their processes may once MPI is finalised.
  virtual bool has_ended() const { return false; }
  /// Throws `weft::Error` if this thread may not call MPI. What is under way is not harmed by such a call.
  virtual void check_caller(const char* /*operation*/) const {}
  /// Reports that this rank has failed in the middle of an operation. The waits of other ranks then fail
  /// where that is possible, with the first failure that is no `Aftermath`, or else the first one.
  virtual void poison(const std::exception_ptr& /*failure*/) noexcept {}
  /// Reports that this rank has failed between two collectives that other ranks go on to call. Those fail
  /// there, and the ranks cannot communicate any more.
  virtual void leave_collectives(const std::exception_ptr& failure) noexcept { poison(failure); }

  /// Keeps the memory of an abandoned execution, into which messages may still arrive.
  virtual void retain(const std::shared_ptr<void>& /*memory*/) {}

  /// State that a transport keeps for the life of this object, by a key of its own.
  std::shared_ptr<void>& kept(const void* key) { return kept_[key]; }

  /// Ranks that share memory by plain pointers; else null.
  virtual ThreadWorld* threads() { return nullptr; }
  /// Ranks that send MPI messages; else null.
  virtual MpiWorld* mpi() { return nullptr; }

 protected:
  explicit CommImpl(std::vector<int> nodes) : nodes_(std::move(nodes)) {}

 private:
  std::vector<int> nodes_;
  std::map<int, std::weak_ptr<ThreadPool>> pools_;
  Execution* executions_ = nullptr;
  std::map<const void*, std::shared_ptr<void>> kept_;
};

/// The values that the ranks give, by rank. Collective.
template <class T>
std::vector<T> all_of(CommImpl& comm, const T& mine) {
  static_assert(std::is_trivially_copyable_v<T>);
  std::vector<T> all(static_cast<std::size_t>(comm.size()));
  comm.allgather(&mine, sizeof mine, all.data());
  return all;
}

/// Whether the ranks are on more than one machine.
bool several_nodes(const CommImpl& comm);

}  // namespace weft
