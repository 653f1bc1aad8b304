// The exchanges of one direction of a plan, whatever executes it: made from the rows that planning has
// chosen, connected, waited for and cancelled in one place. Both directions of a plan use its memory in turn.
#pragma once

#include <algorithm>
#include <exception>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "base/backoff.hpp"
#include "comm/agree.hpp"
#include "program/program.hpp"
#include "transport/transport.hpp"

namespace weft {

/// The memory of a plan, as its exchanges need it.
struct PlanMemory {
  std::shared_ptr<std::byte> workspace = {};  ///< null if the user gives one at execution
  std::shared_ptr<Workspace> reached = {};    ///< what holds it, if an exchange lays it
  const ExchangeRow* far = nullptr;  ///< what then serves the pairs of ranks that do not reach each other
  // In memory of devices:
  std::shared_ptr<Device> device = {};  ///< that of this rank, entered
  /// If parts go through the host: `packed_bytes` for what is packed in the workspace, and behind that room
  /// for what `far` packs in one direction.
  std::shared_ptr<std::byte> pinned = {};
  Index packed_bytes = 0;
  std::vector<std::string> staged = {};  ///< the exchanges whose parts go through `pinned`
  std::map<const ExchangeRow*, std::shared_ptr<const void>> exposed = {};  ///< what `expose` has made
  RailSettings rails = {};                                                 ///< of exchanges on them
  Index program_bytes = 0;    ///< of the workspace, in front of the local FFTs'
  Index fft_work_offset = 0;  ///< of the local FFTs, in the workspace
  /// If executions take turns with two workspaces (docs/adr/0021): where in the memory the second begins;
  /// else 0.
  Index second = 0;
  int roomy = 0;  ///< in so many reshapes, the first ones, no rank waits for room (program/stream_plan.hpp)

  bool goes_through_host(const ExchangeRow& row) const {
    return std::find(staged.begin(), staged.end(), row.name) != staged.end();
  }
};

/// Pinned memory that `far` needs for the reshapes of a program.
Index far_bytes(const Program& program);

/// What carries the reshapes of a program.
struct LinkRequest {
  CommImpl& comm;
  const std::vector<const ExchangeRow*>& rows;  ///< per reshape
  const std::vector<std::vector<int>>& groups;  ///< per reshape, the exchange group of every rank
  const PlanMemory& memory;
  std::size_t first = 0;  ///< number of the first reshape among those that `memory.reached` was made for
};

class Links {
 public:
  Links() = default;
  /// Local; throws `weft::Error`. The program outlives the links.
  Links(const Program& program, const LinkRequest& request);

  /// A step for each. Collective.
  void connect(JointSteps& steps);
  void begin(int turn);

  Carrier& carrier(int reshape) const { return *carriers_[static_cast<std::size_t>(reshape)]; }
  Window& window(int reshape) const { return *windows_[static_cast<std::size_t>(reshape)]; }

  /// Whether `look(patience)` comes true: with `wait` it does. What it looks for may depend on ranks that
  /// themselves wait for messages, of this reshape or an earlier one, which need this rank to move on.
  template <class Look>
  bool await(Patience patience, const Look& look) const {
    if ((!mixed_ && !queued_) || cancelled_) return look(patience);
    for (Backoff backoff;; backoff.pause()) {
      if (look(Patience::look)) return true;
      for (const auto& c : carriers_)
        if (c) c->progress();
      check();
      if (patience == Patience::look) return false;
    }
  }

  /// The same for parts of a carrier, whose own wait lets all messages move but those that are queued.
  template <class Look>
  bool await_part(Patience patience, const Look& look) const {
    return queued_ ? await(patience, look) : look(patience);
  }

  /// Throws on all ranks if `failure` is set on any: that, and elsewhere that this rank has failed. Of
  /// several the one in the earliest stage counts, as others may come of what that rank has sent; streams
  /// do not say in which stage they fail. Collective; no other execution may be under way. Allocates nothing
  /// if no rank has failed.
  void agree(const std::exception_ptr& failure, int stage) const;

  /// Throws if a rank has failed that streams may wait for, or whose parts they have taken.
  void check() const;
  /// This rank has failed: nobody touches the memory of its messages once the first returns, and nobody waits
  /// for its flags once the second does.
  void cancel_carriers() noexcept;
  /// The same for exchanges in which ranks need not stand in step, as the others go on.
  void tell_those_who_go_on() noexcept;
  void cancel_windows() noexcept;

 private:
  std::vector<std::unique_ptr<Carrier>> carriers_;  ///< per reshape
  std::vector<std::unique_ptr<Window>> windows_;    ///< per reshape
  std::vector<bool> in_step_;                       ///< per reshape: `stands_in_step`
  CommImpl* comm_ = nullptr;
  bool mixed_ = false;  ///< whether there are both kinds
  bool queued_ =
      false;  ///< whether what some carrier has posted waits for its turn while others are waited for
  bool cancelled_ = false;
};

}  // namespace weft
