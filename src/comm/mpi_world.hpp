// The ranks of an MPI communicator: a duplicate of the user's, made once, and groups of it, each made once
// and kept.
#pragma once

#include <mpi.h>

#include <atomic>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "comm/comm_impl.hpp"

namespace weft {

/// Throws `weft::Error` unless `code` is MPI_SUCCESS.
void check_mpi(int code, const char* call);

/// Whether memory of devices can be given to MPI in messages of these ranks.
bool mpi_takes_devices(CommImpl& comm);

/// Whether MPI calls can be made: after MPI_Init and before MPI_Finalize.
bool mpi_alive();

/// Tags of point-to-point messages, which no other messages of these ranks have as long as the object lives.
class TagRange {
 public:
  TagRange() = default;
  TagRange(TagRange&&) noexcept = default;
  TagRange& operator=(TagRange&&) noexcept = default;
  int first() const { return first_; }

 private:
  friend class MpiWorld;
  /// Those that this rank uses: how many, by the first.
  using Used = std::map<int, int>;
  TagRange(const std::shared_ptr<Used>& used, int first, int count);

  int first_ = 0;
  std::shared_ptr<void> entry_;  ///< leaves the map at its end
};

namespace detail {
/// No tag is larger in communicators that are made; 0: what MPI guarantees. Tests come to the end of the tags
/// this way.
extern std::atomic<int> largest_allowed_tag;
}  // namespace detail

class MpiWorld {
 public:
  explicit MpiWorld(MPI_Comm users);
  ~MpiWorld();
  MpiWorld(const MpiWorld&) = delete;
  MpiWorld& operator=(const MpiWorld&) = delete;

  MPI_Comm comm() const { return comm_; }
  int rank() const { return rank_; }
  int size() const { return size_; }
  /// The number of the node of every rank: ranks of one node could share memory.
  const std::vector<int>& nodes() const { return nodes_; }
  /// Whether MPI says on all ranks that it takes memory of devices.
  bool takes_devices() const { return takes_devices_; }

  /// To be held during MPI calls; holds nothing where threads may call at the same time. Where they have to
  /// follow one another (MPI_THREAD_SERIALIZED), nobody waits inside MPI if looking again and again will do.
  std::unique_lock<std::recursive_mutex> lock() const;

  /// Whether all of `requests` are complete. Completed ones become MPI_REQUEST_NULL.
  bool complete(std::span<MPI_Request> requests) const;

  /// One of `requests` that is complete, or -1 if none is active; `second` is false if none is complete yet.
  std::pair<int, bool> complete_any(std::span<MPI_Request> requests) const;

  /// The communicator of the ranks with this rank's colour, in rank order; `colours` holds one per rank,
  /// alike on all. Collective. Kept for those who ask for the same colours later; what is in use on no rank
  /// any more is freed when another one is made, as freeing is collective, too, and plans are destroyed by
  /// each rank when it likes.
  std::shared_ptr<const MPI_Comm> group(const std::vector<int>& colours);
  /// How many there are.
  std::size_t groups() const { return groups_.size(); }

  /// `count` consecutive tags, alike on all ranks, that none of them uses. Collective; throws the same
  /// `weft::Error` on all ranks if there are none.
  TagRange take_tags(int count);
  /// Throws `weft::Error` if no exchange can have that many.
  void check_tags(int count) const;

 private:
  int free_tags_from(int first, int count) const;
  void free_groups();

  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1;
  std::vector<int> nodes_;
  bool serialises_ = false, takes_devices_ = false;
  int next_tag_ = 0;  ///< above it none has ever been used; -1: all have been
  int largest_tag_ = 32767;
  std::shared_ptr<TagRange::Used> used_tags_ = std::make_shared<TagRange::Used>();
  std::map<std::vector<int>, std::shared_ptr<MPI_Comm>> groups_;  ///< with the same keys on all ranks
};

}  // namespace weft
