// The ranks of an MPI communicator: a duplicate of the user's, made once, and groups of it, each made once
// and kept.
#pragma once

#include <mpi.h>

#include <map>
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

  /// Whether all of `requests` are complete; with `wait`, returns when they are. Completed ones become
  /// MPI_REQUEST_NULL.
  bool complete(std::span<MPI_Request> requests, bool wait) const;

  /// One of `requests` that is complete, or -1 if none is active; `second` is false if it would have to wait
  /// and must not.
  std::pair<int, bool> complete_any(std::span<MPI_Request> requests, bool wait) const;

  /// The communicator of the ranks with this rank's colour, in rank order; `colours` holds one per rank,
  /// alike on all. Collective when first asked for these colours, local afterwards.
  MPI_Comm group(const std::vector<int>& colours);

  /// Tags for a plan's point-to-point exchange: `count` consecutive ones, alike on all ranks that plan in the
  /// same order. They recur after the range that MPI guarantees is used up.
  int take_tags(int count);
  /// Throws `weft::Error` if a plan cannot have that many.
  void check_tags(int count) const;

 private:
  MPI_Comm comm_ = MPI_COMM_NULL;
  int rank_ = 0, size_ = 1;
  std::vector<int> nodes_;
  bool serialises_ = false, takes_devices_ = false;
  int next_tag_ = 0, largest_tag_ = 32767;
  std::map<std::vector<int>, MPI_Comm> groups_;
};

}  // namespace weft
