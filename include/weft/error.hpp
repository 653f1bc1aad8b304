// The one exception type of the library. A message always says which operation failed, what it got and what
// it expected, and, when the failure concerns one rank of many, which rank. While planning, a failure on one
// rank is thrown on all; in execution too among threads, and among MPI ranks with option check=collective.
#pragma once

#include <stdexcept>
#include <string>

#include "weft/export.hpp"

namespace weft {

/// What Weft throws. `what()` is the whole message.
class WEFT_API Error : public std::runtime_error {
 public:
  /// `operation`: what was being done ("plan", "forward", "comm"); `got`: the offending value or event;
  /// `expected`: what would have been accepted or can be done about it; `rank`: the rank it happened on, or
  /// -1.
  Error(std::string operation, std::string got, std::string expected, int rank = -1);

  /// What the message is made of.
  const std::string& operation() const noexcept { return operation_; }
  const std::string& got() const noexcept { return got_; }
  const std::string& expected() const noexcept { return expected_; }
  int rank() const noexcept { return rank_; }

 private:
  std::string operation_, got_, expected_;
  int rank_;
};

}  // namespace weft
