// The ranks of an MPI communicator: a duplicate of the user's, the communicators of its groups, and its tags.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "base/backoff.hpp"
#include "comm/comm_impl.hpp"

namespace weft {

/// Throws `weft::Error` unless `code` is MPI_SUCCESS.
void check_mpi(int code, const char* call);

/// Whether MPI accepts device memory in messages of these ranks.
bool mpi_takes_devices(CommImpl& comm);

/// Whether MPI is initialised and not finalised.
bool mpi_alive();
/// Whether it also takes calls of this thread.
bool may_call_mpi();

/// What is done when MPI_Finalize begins. All of it waits for other ranks, and is done in this order on each.
enum class AtEnd { heaps, reductions, networks, windows };
/// Calls `task`, which must not throw, when MPI_Finalize begins: with what is called for attributes of
/// MPI_COMM_SELF. Throws `weft::Error`.
void when_mpi_ends(AtEnd what, std::function<void()> task);

/// A range of tags for point-to-point messages, reserved as long as the object lives.
class TagRange {
 public:
  TagRange() = default;
  TagRange(TagRange&&) noexcept = default;
  TagRange& operator=(TagRange&&) noexcept = default;
  int first() const { return first_; }

 private:
  friend class MpiWorld;
  /// The ranges that this rank uses: first tag -> number of tags.
  using Used = std::map<int, int>;
  TagRange(const std::shared_ptr<Used>& used, int first, int count);

  int first_ = 0;
  std::shared_ptr<void> entry_;  ///< removes the range from the map
};

namespace detail {
/// If not 0, the largest tag in communicators made from now on. Tests use it to run out of tags.
extern std::atomic<int> largest_allowed_tag;
}  // namespace detail

class MpiWorld {
 public:
  explicit MpiWorld(MPI_Comm users);
  ~MpiWorld();
  MpiWorld(const MpiWorld&) = delete;
  MpiWorld& operator=(const MpiWorld&) = delete;

  MPI_Comm comm() const { return comm_; }
  /// Messages may be left on the communicators: they are never freed, so that no later one is mistaken for
  /// them.
  void abandon() { abandoned_ = true; }
  int rank() const { return rank_; }
  int size() const { return size_; }
  /// For every rank the number of its machine.
  const std::vector<int>& nodes() const { return nodes_; }
  /// Whether MPI says on all ranks that it accepts device memory.
  bool takes_devices() const { return takes_devices_; }

  /// A lock to be held during MPI calls. It locks only at level MPI_THREAD_SERIALIZED, where calls of several
  /// threads must take turns; there Weft polls instead of waiting inside MPI where it can.
  std::unique_lock<std::recursive_mutex> lock() const;

  /// Whether all `requests` are complete. Completed ones become MPI_REQUEST_NULL.
  bool complete(std::span<MPI_Request> requests) const;

  /// Starts an operation and waits for it by looking (docs/adr/0022): a rank that stood inside MPI could keep
  /// the core that a slower rank needs. Calls `between` between two looks.
  template <class Start, class Between = void (*)()>
  void complete_started(
      const char* name, const Start& start, Between&& between = [] {}) const {
    MPI_Request request = MPI_REQUEST_NULL;
    {
      const auto held = lock();
      check_mpi(start(comm_, &request), name);
    }
    for (Backoff backoff; !complete({&request, 1}); backoff.pause()) between();
  }

  /// The index of a complete request, or -1 if none is active; `second` is false if no active one is complete
  /// yet. `status` becomes that of the complete one.
  std::pair<int, bool> complete_any(std::span<MPI_Request> requests,
                                    MPI_Status* status = MPI_STATUS_IGNORE) const;

  /// The communicator of the ranks with this rank's colour, in rank order. `colours` holds one per rank, the
  /// same on all ranks. Collective. Communicators are kept for later calls with the same colours. Those that
  /// no rank uses any more are freed when another one is made: freeing is collective, while each rank
  /// destroys its plans when it likes.
  std::shared_ptr<const MPI_Comm> group(const std::vector<int>& colours);
  /// Number of kept communicators.
  std::size_t groups() const { return groups_.size(); }

  /// Of each number, the most of any rank. Collective.
  std::vector<std::int64_t> most_of(std::vector<std::int64_t> numbers) const;

  /// A communicator of all ranks for reductions (mpi_maximum.hpp): one that no rank uses any more, or a new
  /// one. Collective. It is freed as those of groups are.
  std::shared_ptr<const MPI_Comm> own_comm();

  /// A window through which all ranks may reach these bytes at any time. Collective; throws `weft::Error`,
  /// perhaps not on all ranks.
  MPI_Win make_window(std::byte* memory, std::size_t bytes) const;
  /// Keeps the window, and its memory, like the communicators of groups. All ranks do so in the same order.
  std::shared_ptr<const MPI_Win> keep(MPI_Win window, const std::shared_ptr<std::byte>& memory);
  /// Waits for the other ranks.
  static void free_window(MPI_Win& window);
  /// Frees the communicators and windows that no rank uses any more. Collective.
  void free_unused() { free_unused(false); }

  /// Reserves `count` consecutive tags that no rank uses, the same on all ranks. Collective; throws the same
  /// `weft::Error` on all ranks if there are not enough.
  TagRange take_tags(int count);
  /// Throws `weft::Error` if MPI has fewer than `count` tags.
  void check_tags(int count) const;

 private:
  int free_tags_from(int first, int count) const;
  /// Of each number, the most of any rank, in its place. Collective.
  template <class Number>
  void take_most(std::span<Number> numbers, MPI_Datatype type) const {
    complete_started("MPI_Iallreduce", [&](MPI_Comm comm, MPI_Request* r) {
      return MPI_Iallreduce(MPI_IN_PLACE, numbers.data(), static_cast<int>(numbers.size()), type, MPI_MAX,
                            comm, r);
    });
  }
  /// Returns one of the communicators of `own_comm` instead, if there is one and `take`.
  std::shared_ptr<const MPI_Comm> free_unused(bool take);

  bool abandoned_ = false;
  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1;
  std::vector<int> nodes_;
  bool serialises_ = false, takes_devices_ = false;
  int next_tag_ = 0;  ///< the first tag that has never been used; -1: there is none
  int largest_tag_ = 32767;
  std::shared_ptr<TagRange::Used> used_tags_ = std::make_shared<TagRange::Used>();
  struct KeptWindow {
    std::shared_ptr<MPI_Win> window;
    std::shared_ptr<std::byte> memory;
  };
  std::map<std::vector<int>, std::shared_ptr<MPI_Comm>> groups_;  ///< with the same keys on all ranks
  std::vector<std::shared_ptr<MPI_Comm>> own_comms_;              ///< the same ones on all ranks
  std::vector<KeptWindow> windows_;                               ///< the same ones on all ranks
};

}  // namespace weft
