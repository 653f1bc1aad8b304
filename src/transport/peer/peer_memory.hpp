// Device memory that the ranks of an island reach by themselves: each rank gives some, the devices of the
// others copy into it. Among threads these are plain pointers, among processes memory that one gives and the
// others take.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "comm/comm_impl.hpp"
#include "device/device.hpp"
#include "transport/failure_words.hpp"

namespace weft {

class PeerMemory {
 public:
  /// `bytes` of this rank's device, which is entered, the first `zeros` of them zero. `ids`: the device of
  /// every rank; `islands`: the number of its island. Collective; throws the same `weft::Error` on all ranks.
  PeerMemory(CommImpl& comm, const std::shared_ptr<Device>& device, const std::vector<DeviceId>& ids,
             const std::vector<int>& islands, std::size_t bytes, std::size_t zeros);
  ~PeerMemory();
  PeerMemory(const PeerMemory&) = delete;
  PeerMemory& operator=(const PeerMemory&) = delete;

  /// Of plans that have been destroyed, what other processes have let go of since: before anybody asks how
  /// much memory is free.
  static void give_back();

  /// Null for ranks of other islands.
  std::byte* of(int rank) const { return all_[static_cast<std::size_t>(rank)].get(); }
  const FailureWords& failures() const { return words_; }
  /// A stream for what has to be done when a rank has failed, perhaps because there is no memory left, also
  /// for a stream; it has nothing else on it. `finish` waits for what has been enqueued there. The device is
  /// entered.
  DeviceStream& rescue() const { return *rescue_; }
  void finish() const;

 private:
  void share_pointers(CommImpl& comm);
  void share_handles(CommImpl& comm, Device& device);

  bool near(int rank) const {
    return islands_[static_cast<std::size_t>(rank)] == islands_[static_cast<std::size_t>(rank_)];
  }

  int rank_;
  bool processes_;
  std::vector<int> islands_;
  FailureWords words_;  ///< and of every rank who has let go of its memory
  std::vector<std::shared_ptr<std::byte>> all_;
  std::shared_ptr<Device> device_;
  std::unique_ptr<DeviceStream> rescue_;
  std::unique_ptr<DeviceEvent> done_;
};

}  // namespace weft
