// Threads of one process as ranks: the same programs run on a laptop, in a notebook or in a debugger, without
// MPI.
#pragma once

#include <functional>
#include <memory>

#include "weft/comm.hpp"
#include "weft/export.hpp"

namespace weft {

/// `size` threads that live as long as the team and run what they are given, each as one rank.
class WEFT_API ThreadTeam {
 public:
  /// Throws `weft::Error` unless size >= 1.
  explicit ThreadTeam(int size);
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  /// Number of threads.
  int size() const;

  /// Calls `body` on every thread with that thread's communicator, and returns when all are done. If a rank
  /// throws, the operation that the others wait in throws `weft::Error` on each of them, and `run` throws the
  /// first rank's exception; the team can be used again afterwards. An empty function throws. Not to be
  /// called from inside a body, nor by two threads at once.
  void run(const std::function<void(Comm)>& body);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace weft
