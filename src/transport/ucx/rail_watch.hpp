// Times the transfers of an exchange, and lets the ranks decide together which rail carries which of them
// (rail_balance.hpp). What an execution took is given to one small reduction at its end, and read when the
// next one begins, so that nobody waits for it who would not wait anyway.
#pragma once

#include <memory>
#include <tuple>
#include <vector>

#include "base/timing.hpp"
#include "comm/comm_impl.hpp"
#include "transport/ucx/rail_balance.hpp"

namespace weft {

class RailWatch {
 public:
  /// As many rails as the reduction has numbers.
  static constexpr int most_rails = static_cast<int>(std::tuple_size_v<LateMaximum::Numbers>);

  /// `loads`: the bytes that this rank sends, by step and number of transfers. Collective.
  RailWatch(CommImpl& comm, const RailTable& table, int steps, int rails, std::vector<Index> loads,
            double hysteresis);
  RailWatch(const RailWatch&) = delete;
  RailWatch& operator=(const RailWatch&) = delete;

  /// Whether the next execution may begin: its table is known. To be asked until it is; calls MPI.
  bool decided();
  /// Whether what was decided is another table than before, since this was asked last.
  bool changed();
  const RailTable& table() const { return balance_.table(); }
  bool has_left(int rail) const { return balance_.has_left(rail); }
  bool has_left_all() const;
  /// The rails that were left since this was asked last, as they have failed.
  std::vector<int> newly_left();

  void begin();
  /// Whether the execution under way is measured.
  bool measures() const { return measuring_; }
  /// A transfer of a measured execution is complete, on a rail. `began`: when it was sent; 0: it was
  /// received.
  void complete(int rail, int step, double began, double now) {
    Longest& l = at(longest_, rail);
    l.end = now;
    if (began > 0 && now - began > l.seconds) {
      l.seconds = now - began;
      l.time.slowest_step = step;
    }
  }
  void has_failed(int rail) { at(longest_, rail).time.failed = true; }
  /// All transfers of this rank are complete.
  void end();
  /// This rank will execute no more. Executions of ranks that have no part in what has failed here go on, but
  /// are no longer measured.
  void give_up() noexcept;

 private:
  struct Longest {
    RailTime time;
    double end = 0, seconds = 0;  ///< of the last transfer; of the one that took longest
  };

  int rails_;
  std::unique_ptr<LateMaximum> maximum_;
  RailBalance balance_;           ///< made last, as nobody waits for that
  std::vector<RailTime> times_;   ///< by rail, of all ranks
  std::vector<Longest> longest_;  ///< by rail, here
  std::vector<char> left_;        ///< rails whose leaving has been told
  double begin_ = 0;
  bool measuring_ = false, changed_ = false;
  bool given_ = false;  ///< and not read yet
  bool over_ = false;   ///< nothing is measured any more
};

}  // namespace weft
