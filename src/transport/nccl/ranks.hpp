// The NCCL communicator of the ranks of a Comm. It is made when a plan first asks for it, and lives as long
// as the Comm. NCCL wants all ranks of a machine to destroy a communicator together, while each rank destroys
// its plans and Comms when it likes. A communicator that is not used any more is therefore kept, and serves
// the next Comm of the same ranks on the same devices.
#pragma once

#include <memory>

#include "comm/comm_impl.hpp"
#include "device/device.hpp"
#include "traffic/rail_settings.hpp"
#include "transport/failure_words.hpp"
#include "transport/nccl/library.hpp"

namespace weft {

class NcclRanks {
 public:
  /// Makes sure that the ranks have one, each on its device, which is entered and nobody else's. Collective;
  /// throws the same `weft::Error` on all ranks.
  static void prepare(CommImpl& comm, const std::shared_ptr<Device>& device, const RailSettings& unused = {});
  /// What `prepare` has made.
  static std::shared_ptr<NcclRanks> of(CommImpl& comm);

  ~NcclRanks();
  NcclRanks(const NcclRanks&) = delete;
  NcclRanks& operator=(const NcclRanks&) = delete;

  nccl::Communicator* get() const { return communicator_; }
  const std::shared_ptr<Device>& device() const { return device_; }
  /// A message from every rank to every other, out of `from` and into `to`, which all senders overwrite: of
  /// so many bytes as this rank gives, or the other one if that is less. Collective; throws the same
  /// `weft::Error` on all ranks. The device is entered.
  void greet(CommImpl& comm, std::byte* to, const std::byte* from, int bytes);
  /// Throws `weft::Error`, and aborts what is under way here, if another rank or NCCL itself has failed.
  void check();
  /// This rank has failed: tells the others, and aborts what is under way here.
  void cancel() noexcept;

 private:
  NcclRanks(CommImpl& comm, const std::shared_ptr<Device>& device);
  void make(CommImpl& comm);
  bool take_again(CommImpl& comm);
  void await(const DeviceEvent& event);
  void abort() noexcept;

  std::shared_ptr<Device> device_;
  int rank_, ranks_;
  FailureWords failures_;
  nccl::UniqueId id_{};
  nccl::Communicator* communicator_ = nullptr;
  bool aborted_ = false;
};

}  // namespace weft
