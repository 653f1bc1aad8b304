// Threads of one process as ranks: the same programs run on a laptop, in a notebook or in a debugger, without
// MPI.
#pragma once

#include <functional>
#include <memory>

#include "weft/comm.hpp"
#include "weft/export.hpp"

namespace weft {

/// `size` threads, each of which is a rank. They live as long as the team.
class WEFT_API ThreadTeam {
 public:
  /// Throws `weft::Error` if size < 1 or the threads cannot be started.
  explicit ThreadTeam(int size);
  ~ThreadTeam();
  ThreadTeam(const ThreadTeam&) = delete;
  ThreadTeam& operator=(const ThreadTeam&) = delete;

  /// Number of threads.
  int size() const;

  /// Calls `body` on every thread with that thread's communicator, and returns when all calls have returned.
  /// If a rank throws, ranks that wait for it throw `weft::Error`, and `run` throws the exception of the
  /// first rank; the team can be used again afterwards. Throws `weft::Error` for an empty function. Must not
  /// be called from inside a body, nor by two threads at once.
  void run(const std::function<void(Comm)>& body);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace weft
