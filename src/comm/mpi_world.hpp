// The ranks of an MPI communicator: a duplicate of the user's, the communicators of its groups, and its tags.
#pragma once

#include <mpi.h>

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <utility>
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

/// A communicator of some ranks. Those that have not made the same collective calls on it are out of step:
/// what one of them calls next would meet what others have called before.
struct MpiGroup {
  MPI_Comm comm = MPI_COMM_NULL;
  bool out_of_step = false;  ///< as far as this rank knows
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

  /// Memory of a collective. MPI may still write there when a rank has left: then it stays, as do the
  /// communicators.
  class Room {
   public:
    Room(MpiWorld& world, std::size_t bytes);
    ~Room();
    Room(const Room&) = delete;
    Room& operator=(const Room&) = delete;
    std::byte* at(std::size_t offset) const { return memory_.get() + offset; }

   private:
    MpiWorld& world_;
    std::unique_ptr<std::byte[]> memory_;
    std::size_t bytes_;
  };

  void barrier();

  /// Starts an operation on memory of a `Room`, and waits for it by looking (docs/adr/0022): a rank that
  /// stood inside MPI could keep the core that a slower rank needs, and would not hear that another one has
  /// left. Calls `between` between two looks. Throws `weft::Error`.
  template <class Start, class Between = void (*)()>
  void complete_started(
      const char* name, const Start& start, Between&& between = [] {}) {
    MPI_Request request = MPI_REQUEST_NULL;
    collective([&] {
      const auto held = lock();
      check_mpi(start(comm_, &request), name);
    });
    wait_for({&request, 1}, between);
  }

  /// Waits by looking for what all ranks take part in.
  template <class Between = void (*)()>
  void wait_for(
      std::span<MPI_Request> requests, Between&& between = [] {}) {
    collective([&] {
      constexpr int between_checks = 64;
      unsigned looks = 0;
      for (Backoff backoff; !complete(requests); backoff.pause()) {
        if (++looks % between_checks == 0) {
          look_for_leavers();
          check_all_there("a collective call");
        }
        between();
      }
    });
  }

  /// Does what all ranks take part in. A rank on which it throws leaves.
  template <class Call>
  void collective(const Call& call) {
    try {
      check_all_there("a collective call");
      call();
    } catch (...) {
      leave();
      throw;
    }
  }

  /// This rank will take part in no collective any more, and tells the others so, which then do the same.
  void leave() noexcept;
  /// Hears whether a rank has told that it has left.
  void look_for_leavers();
  /// In one of many calls, for those who call often.
  void look_for_leavers_at_times();
  /// Throws `weft::Error` if one has.
  void check_all_there(const char* operation) const;

  /// The index of a complete request, or -1 if none is active; `second` is false if no active one is complete
  /// yet. `status` becomes that of the complete one.
  std::pair<int, bool> complete_any(std::span<MPI_Request> requests,
                                    MPI_Status* status = MPI_STATUS_IGNORE) const;

  /// The communicator of the ranks with this rank's colour, in rank order. `colours` holds one per rank, the
  /// same on all ranks. Collective. Communicators are kept for later calls with the same colours, unless some
  /// rank knows that one is out of step. Those that no rank uses any more are freed when another one is made:
  /// freeing is collective, while each rank destroys its plans when it likes.
  /// `calls`: collectives that wait, and such that do not, have different ones, as they do not match each
  /// other.
  enum class Calls { that_wait, that_do_not };
  std::shared_ptr<MpiGroup> group(const std::vector<int>& colours, Calls calls);
  /// Number of kept communicators.
  std::size_t groups() const { return groups_.size(); }

  /// Of each number, the most of any rank. Collective.
  std::vector<std::int64_t> most_of(std::vector<std::int64_t> numbers);

  /// A communicator of all ranks for reductions (mpi_maximum.hpp): one that no rank uses any more, or a new
  /// one. Collective. It is freed as those of groups are.
  std::shared_ptr<const MPI_Comm> own_comm();

  /// A window through which all ranks may reach these bytes at any time. Collective; throws `weft::Error`,
  /// perhaps not on all ranks.
  MPI_Win make_window(std::byte* memory, std::size_t bytes);
  /// Keeps a window to be, and its memory, like the communicators of groups. All ranks do so in the same
  /// order.
  std::shared_ptr<MPI_Win> keep_window(const std::shared_ptr<std::byte>& memory);
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
  void take_most(std::span<Number> numbers, MPI_Datatype type) {
    const Room room(*this, numbers.size_bytes());
    std::memcpy(room.at(0), numbers.data(), numbers.size_bytes());
    complete_started("MPI_Iallreduce", [&](MPI_Comm comm, MPI_Request* r) {
      return MPI_Iallreduce(MPI_IN_PLACE, room.at(0), static_cast<int>(numbers.size()), type, MPI_MAX, comm,
                            r);
    });
    std::memcpy(numbers.data(), room.at(0), numbers.size_bytes());
  }
  /// Returns one of the communicators of `own_comm` instead, if there is one and `take`.
  std::shared_ptr<const MPI_Comm> free_unused(bool take);

  /// Of notices that a rank has left; none of `take_tags`.
  static constexpr int leaving_tag = 0;

  bool abandoned_ = false, left_ = false;
  int leaver_ = -1;  ///< the first rank that this one has heard to leave
  unsigned calls_ = 0;
  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1;
  std::vector<int> nodes_;
  bool serialises_ = false, takes_devices_ = false;
  int next_tag_ = leaving_tag + 1;  ///< the first tag that has never been used; -1: there is none
  int largest_tag_ = 32767;
  std::shared_ptr<TagRange::Used> used_tags_ = std::make_shared<TagRange::Used>();
  struct KeptWindow {
    std::shared_ptr<MPI_Win> window;
    std::shared_ptr<std::byte> memory;
  };
  /// With the same keys on all ranks.
  std::map<std::pair<std::vector<int>, Calls>, std::shared_ptr<MpiGroup>> groups_;
  std::vector<std::shared_ptr<MPI_Comm>> own_comms_;  ///< the same ones on all ranks
  std::vector<KeptWindow> windows_;                   ///< the same ones on all ranks
  std::vector<std::pair<std::unique_ptr<std::byte[]>, std::size_t>> spare_rooms_;  ///< with their bytes
};

}  // namespace weft
