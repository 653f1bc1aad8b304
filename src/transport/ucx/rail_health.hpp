// Whether the networks are there by which a rank reaches others.
#pragma once

#include <chrono>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "transport/ucx/rails.hpp"

namespace weft::ucx {

/// The lock is held during all calls.
class RailHealth {
 public:
  struct Way {
    int lane, peer;
    friend bool operator==(const Way&, const Way&) = default;
  };

  /// `exchange`: whose errors these are.
  RailHealth(std::string exchange, std::shared_ptr<Rails> rails, int rank)
      : exchange_(std::move(exchange)), rails_(std::move(rails)), rank_(rank) {}

  /// The ways to ranks whose transfers are waited for.
  void add(Way way);
  const std::vector<Way>& ways() const { return ways_; }
  /// Nobody waits any more for what goes by lanes of which this is true.
  void leave_out(std::function<bool(int lane)> has_left) { has_left_ = std::move(has_left); }

  /// To be called while something is waited for, as often as one likes. Throws `LostNetwork`.
  void look();
  bool has_lost_link(int lane) const;
  /// A way is not there, and why.
  [[noreturn]] void fail(Way way, const std::string& why) const;

 private:
  void look_at_links();
  bool has_left(int lane) const { return has_left_ && has_left_(lane); }

  std::string exchange_;
  std::shared_ptr<Rails> rails_;
  int rank_;
  std::vector<Way> ways_;
  std::function<bool(int)> has_left_;
  unsigned looks_ = 0;
  std::chrono::steady_clock::time_point next_look_;
};

}  // namespace weft::ucx
