// The workspace of a plan in NVSHMEM's symmetric heap, with the signals of its reshapes in front. For every
// tile and peer a rank has two signals: *ready* (the peer has room for this rank's part) and *full* (the
// peer's part has arrived). They hold the number of the execution, counted by each tile.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "transport/failure_words.hpp"
#include "transport/transport.hpp"

namespace weft::nvshmem {

/// The signals of a reshape, at the same place in the heap of every rank.
struct Signals {
  /// What a signal holds that will not be set any more: all bytes alike, so that memory can be filled with
  /// it, and above all numbers of executions also where signals are compared as signed numbers.
  static constexpr unsigned char failed_byte = 0x40;
  static constexpr std::uint64_t failed = 0x4040404040404040;

  std::byte* first = nullptr;
  int ranks = 0;

  std::uint64_t* ready(int tile, int rank) const { return at(2 * tile, rank); }
  std::uint64_t* full(int tile, int rank) const { return at(2 * tile + 1, rank); }
  std::byte* tile(int tile) const { return first + tile * tile_bytes(); }
  Index tile_bytes() const { return 2 * ranks * static_cast<Index>(sizeof(std::uint64_t)); }

 private:
  std::uint64_t* at(Index row, int rank) const {
    return reinterpret_cast<std::uint64_t*>(first) + row * ranks + rank;
  }
};

class HeapWorkspace final : public Workspace {
 public:
  /// Collective; throws the same `weft::Error` on all ranks.
  explicit HeapWorkspace(const WorkspaceRequest& request);
  ~HeapWorkspace() override;
  HeapWorkspace(const HeapWorkspace&) = delete;
  HeapWorkspace& operator=(const HeapWorkspace&) = delete;

  std::byte* of(int rank) const override { return rank == rank_ ? memory_.get() + start_ : nullptr; }
  Signals signals(std::size_t reshape) const { return {memory_.get() + signals_[reshape], ranks_}; }
  int pe(int rank) const { return pes_[static_cast<std::size_t>(rank)]; }
  Device& device() const { return *device_; }
  /// Throws if a rank of this machine has told that it has failed.
  void check() const { failures_.check("exchange nvshmem"); }
  /// Tells that this rank has failed, and sets all signals of a reshape of so many tiles, for this rank on
  /// all others and then here, to `failed`: nothing of this rank goes on before the others can know. For a
  /// rank that has failed, perhaps because there is no memory left: the stream for it is there already. The
  /// device is entered. Does nothing once NVSHMEM is finalised, with which its memory goes.
  void fail(std::size_t reshape, int tiles) const;

 private:
  void greet(CommImpl& comm, const Signals& greetings) const;
  void finish() const;

  int rank_, ranks_;
  std::vector<int> pes_;  ///< of all ranks
  std::shared_ptr<Device> device_;
  std::vector<Index> signals_;  ///< where those of each reshape begin
  Index start_ = 0;             ///< of what the plan works in
  std::shared_ptr<std::byte> memory_;
  FailureWords failures_;
  std::unique_ptr<DeviceStream> rescue_;
  std::unique_ptr<DeviceEvent> done_;
};

}  // namespace weft::nvshmem
