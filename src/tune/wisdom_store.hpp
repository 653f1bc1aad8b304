// The wisdom of this process, for all its plans and thread ranks. Local FFT libraries keep their own wisdom;
// it is exported from them when wisdom is saved, and imported into them when wisdom is read.
#pragma once

#include <atomic>
#include <mutex>
#include <string>

#include "comm/comm_impl.hpp"
#include "tune/machine.hpp"
#include "tune/wisdom.hpp"

namespace weft {

/// Wisdom behind a lock, for use by several threads.
class WisdomStore {
 public:
  static WisdomStore& of_process();

  /// Returns `use(wisdom)`, with the lock held. The wisdom of local FFT libraries is not in it.
  template <class Use>
  auto with(const Use& use) {
    const std::lock_guard lock(mutex_);
    return use(wisdom_);
  }
  /// The whole wisdom, with that of the local FFT libraries.
  Wisdom all();
  /// Merges `other`, and imports the libraries' wisdom into them. Returns what went wrong; empty on success.
  std::string learn(const Wisdom& other);
  /// Forgets all of it, and what the local FFT libraries know.
  void forget();
  /// How often that has happened.
  int times_forgotten() const { return times_forgotten_; }

 private:
  std::mutex mutex_;
  Wisdom wisdom_;
  std::atomic<int> times_forgotten_ = 0;
};

/// Gives the wisdom of rank 0's process about a machine to all ranks, so that they plan alike. The other
/// processes add it to theirs, once more if they have forgotten theirs since; where there are none, that of
/// the local FFT libraries is not part of it. Collective.
Wisdom share_wisdom(CommImpl& comm, const Machine& machine);

/// Merges the local FFT wisdom of all ranks, whose boxes and so whose FFTs may differ, into that of rank 0's
/// process, and gives the result to all ranks. Collective.
void gather_wisdom(CommImpl& comm, const Machine& machine);

}  // namespace weft
