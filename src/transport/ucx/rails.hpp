// The rails of the ranks of a Comm: a worker on each of several networks, and one on the memory of the
// machine, with ways to all other ranks. They are opened when a plan first asks for them, and kept with the
// Comm for later plans that find the same devices.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/arithmetic.hpp"
#include "comm/comm_impl.hpp"
#include "device/device.hpp"
#include "traffic/rail_settings.hpp"
#include "transport/ucx/devices.hpp"
#include "transport/ucx/worker.hpp"

namespace weft::ucx {

class Rails {
 public:
  /// How many rails the settings ask for and all ranks have devices for, which are not opened. Collective;
  /// throws the same `weft::Error` on all ranks.
  static int named(CommImpl& comm, const RailSettings& settings);
  /// Makes sure that these ranks have the rails that the settings ask for. `gpu`: that of this rank, if
  /// arrays are in its memory; or null. Collective; throws the same `weft::Error` on all ranks.
  static void prepare(CommImpl& comm, const std::shared_ptr<Device>& gpu, const RailSettings& settings);
  /// What `prepare` has made last for the same settings.
  static std::shared_ptr<Rails> of(CommImpl& comm, const RailSettings& settings);
  /// "2 rails: rail0 (TCP, puts), rail1 (TCP, messages); shared memory among ranks of a machine (messages)".
  /// `way`: how a lane sends; nothing for a memory that is not used.
  std::string text(const std::function<std::string(int lane)>& way) const;

  /// Networks. 0 if all ranks are on one machine: there they have its memory.
  int count() const { return choice_.count(); }
  /// A lane is a rail, by its number, or the memory of the machine, whose number is `count()`.
  int lanes() const { return count() + 1; }
  int memory_lane() const { return count(); }
  /// Whether a rank is on this rank's machine.
  bool near(int rank) const { return at(nodes_, rank) == at(nodes_, rank_); }
  const std::string& device(int lane) const { return at(workers_, lane)->device(); }
  /// "rail eth0"
  std::string name(int lane) const;
  /// Whether a lane is one of the ways to a rank.
  bool reaches(int lane, int rank) const { return rank != rank_ && near(rank) == (lane == memory_lane()); }

  /// Null if nobody is reached by it.
  Worker* worker(int lane) const { return at(workers_, lane).get(); }
  const std::shared_ptr<Worker>& shared_worker(int lane) const { return at(workers_, lane); }
  /// The way to another rank. Ranks of this machine are reached by its memory, others by rails.
  Endpoint& endpoint(int lane, int rank) const { return *at(at(endpoints_, lane), rank); }
  /// Lets all workers move on.
  void progress() const;

 private:
  Rails(CommImpl& comm, RailChoice choice);
  void open(CommImpl& comm, int lane);
  void open_all(CommImpl& comm);
  void leave_out(const std::vector<int>& lanes);
  void leave_out_failed(const std::vector<int>& failed);
  void take_wanted();
  void connect(CommImpl& comm, int lane);
  std::vector<int> try_out(CommImpl& comm) const;
  template <class Step>
  bool each_way(int first, int last, const Step& step) const;
  bool healthy() const;

  RailChoice found_, choice_;  ///< as devices were found; and those by which all ranks reach each other
  std::vector<int> nodes_;
  int rank_;
  std::vector<std::shared_ptr<Worker>> workers_;                   ///< per lane
  std::vector<std::vector<std::shared_ptr<Endpoint>>> endpoints_;  ///< per lane and rank; null: no way
};

/// The texts of all ranks. Collective.
std::vector<std::string> texts_of(CommImpl& comm, const std::string& mine);

/// A number for what ranks say to each other, which none of them uses for anything else, ever. The same on
/// all ranks. Collective; throws the same `weft::Error` on all ranks.
int new_conversation(CommImpl& comm);

/// Of a message in a conversation: who sends it, and of which kind it is, from 0 to 65535.
std::uint64_t tag_of(int conversation, int sender, int kind);

}  // namespace weft::ucx
