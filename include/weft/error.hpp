// The one exception type of the library. Its message says which operation failed, what it got, what it
// expected, and on which rank, if the failure concerns one. A failure of one rank while planning is thrown on
// all ranks. So is misuse of an execution among thread ranks, and among MPI ranks with option
// check=collective.
#pragma once

#include <stdexcept>
#include <string>

#include "weft/export.hpp"

namespace weft {

/// The exception that Weft throws. `what()` is the whole message.
class WEFT_API Error : public std::runtime_error {
 public:
  /// `operation`: what was being done ("plan", "forward", "comm"); `got`: the offending value or event;
  /// `expected`: what would have been accepted, or what can be done; `rank`: the rank at fault, or -1.
  Error(std::string operation, std::string got, std::string expected, int rank = -1);

  /// The four parts of the message.
  const std::string& operation() const noexcept { return operation_; }
  const std::string& got() const noexcept { return got_; }
  const std::string& expected() const noexcept { return expected_; }
  int rank() const noexcept { return rank_; }

 private:
  std::string operation_, got_, expected_;
  int rank_;
};

}  // namespace weft
