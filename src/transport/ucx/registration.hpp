// The workspace of a plan, registered with a worker so that other ranks can put into it, and their keys to
// theirs. It is made while planning and goes with the plan; what is left when MPI_Finalize begins is released
// there, before the worker.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/arithmetic.hpp"
#include "comm/comm_impl.hpp"
#include "traffic/rail_settings.hpp"
#include "transport/ucx/rails.hpp"

namespace weft::ucx {

/// With one worker.
class Registration {
 public:
  /// Throws `weft::Error` if the memory cannot be registered. Without bytes there is nothing to register.
  Registration(std::shared_ptr<Worker> worker, std::byte* memory, Index bytes, ucs_memory_type_t type);
  ~Registration();
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;

  /// Address and key, for another rank to `reach`; or nothing.
  const std::string& card() const { return card_; }
  /// Throws `weft::Error`.
  void reach(int rank, const Endpoint& endpoint, const std::string& card);

  struct Remote {
    std::uint64_t address = 0;
    ucp_rkey_h key = nullptr;
  };
  const Remote& of(int rank) const { return at(remotes_, rank); }

  /// Of the worker, when it is closed. The lock is held.
  void release() noexcept;

 private:
  std::shared_ptr<Worker> worker_;
  ucp_mem_h memory_ = nullptr;
  std::string card_;
  std::vector<Remote> remotes_;  ///< by rank
};

/// With the workers of all lanes that put.
class RegisteredWorkspace {
 public:
  struct Room {
    std::shared_ptr<std::byte> memory;  ///< null: the user gives it
    Index bytes;
    bool of_devices;
  };
  /// What `Rails::prepare` has made for the settings is there. Null if nothing is put. A lane on which some
  /// rank cannot register its workspace has messages on all ranks, with a warning. Collective; throws the
  /// same `weft::Error` on all ranks.
  static std::shared_ptr<const RegisteredWorkspace> make(CommImpl& comm, const Room& room,
                                                         const RailSettings& settings);

  /// Whether transfers of so many bytes are put; the same on the rank that sends and the one that receives.
  bool puts(int lane, Index bytes) const { return puts(lane) && bytes >= least_; }
  bool puts(int lane) const { return at(lanes_, lane).puts; }
  /// Another rank's workspace, which is reached by this lane.
  const Registration::Remote& of(int lane, int rank) const { return at(lanes_, lane).registration->of(rank); }

 private:
  RegisteredWorkspace(Room room, Index least, int lanes)
      : room_(std::move(room)), least_(least), lanes_(static_cast<std::size_t>(lanes)) {}
  struct Lane {
    bool puts = false;                                ///< on all ranks
    std::shared_ptr<Registration> registration = {};  ///< null: this rank reaches nobody by it
  };
  void register_with(CommImpl& comm, const Rails& rails, int lane);

  Room room_;
  Index least_;  ///< bytes of a transfer that is put
  std::vector<Lane> lanes_;
};

}  // namespace weft::ucx
