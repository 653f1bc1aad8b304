// The wisdom of this process, for all its plans and thread ranks. Local FFT libraries keep their own wisdom;
// it is exported from them when wisdom is saved, and imported into them when wisdom is read.
#pragma once

#include <mutex>
#include <optional>
#include <string>

#include "comm/comm_impl.hpp"
#include "tune/machine.hpp"
#include "tune/wisdom.hpp"

namespace weft {

/// Wisdom behind a lock, for use by several threads.
class WisdomStore {
 public:
  static WisdomStore& of_process();

  std::optional<WisdomEntry> find(const std::string& machine, const std::string& problem) const;
  void remember(const std::string& machine, const std::string& problem, const WisdomEntry& entry);
  std::optional<double> constant(const std::string& machine, const std::string& name) const;
  void remember_constant(const std::string& machine, const std::string& name, double value);

  /// Whether the store is empty; the wisdom of local FFT libraries does not count.
  bool empty() const;

  /// As `Wisdom::merge`. Nothing is imported into libraries.
  void merge(const Wisdom& other);
  /// The whole wisdom, with that of the local FFT libraries.
  Wisdom all() const;
  /// Does `merge` and imports the libraries' wisdom into them. Returns what went wrong; empty on success.
  std::string learn(const Wisdom& other);
  /// Forgets all wisdom, that of the local FFT libraries included.
  void forget();

 private:
  mutable std::mutex mutex_;
  Wisdom wisdom_;
};

/// Gives the wisdom of rank 0's process about a machine to all ranks, so that they plan alike. The other
/// processes add it to theirs. Collective.
Wisdom share_wisdom(CommImpl& comm, const Machine& machine);

/// Merges the local FFT wisdom of all ranks, whose boxes and so whose FFTs may differ, into that of rank 0's
/// process, and gives the result to all ranks. Collective.
void gather_wisdom(CommImpl& comm, const Machine& machine);

}  // namespace weft
