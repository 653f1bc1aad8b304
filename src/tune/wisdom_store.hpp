// The wisdom of this process: one for all its plans, and for all ranks that are its threads. What local FFT
// libraries learn they keep themselves; it is fetched from them when wisdom is saved, and given to them when
// it is read.
#pragma once

#include <mutex>
#include <optional>
#include <string>

#include "comm/comm_impl.hpp"
#include "tune/machine.hpp"
#include "tune/wisdom.hpp"

namespace weft {

/// Wisdom that several threads may use at once.
class WisdomStore {
 public:
  static WisdomStore& of_process();

  std::optional<WisdomEntry> find(const std::string& machine, const std::string& problem) const;
  void remember(const std::string& machine, const std::string& problem, const WisdomEntry& entry);
  std::optional<double> constant(const std::string& machine, const std::string& name) const;
  void remember_constant(const std::string& machine, const std::string& name, double value);

  /// Whether nothing has been remembered or learnt; what local FFT libraries know by themselves is not asked.
  bool empty() const;

  /// As `Wisdom::merge`; libraries are given nothing.
  void merge(const Wisdom& other);
  /// All that is known, with what the local FFT libraries know by now.
  Wisdom all() const;
  /// `merge`, and gives the local FFT libraries what is theirs. What went wrong with that, or nothing.
  std::string learn(const Wisdom& other);
  /// Forgets everything, in the local FFT libraries too.
  void forget();

 private:
  mutable std::mutex mutex_;
  Wisdom wisdom_;
};

/// What rank 0's process knows of a machine, alike on all ranks, so that they plan alike; the other processes
/// learn it too. Collective.
Wisdom share_wisdom(CommImpl& comm, const Machine& machine);

/// The processes of other ranks, whose boxes may differ, have met local FFTs that rank 0's has not: it learns
/// of them what it does not know, and all know the same then. Collective.
void gather_wisdom(CommImpl& comm, const Machine& machine);

}  // namespace weft
