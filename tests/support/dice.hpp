// What random problems are drawn with: the same numbers for the same seed.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <random>

namespace weft::test {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : random_(seed * 0x9E3779B97F4A7C15u + 12345) {}
  /// A whole number of lo..hi.
  int range(int lo, int hi) { return std::uniform_int_distribution<int>(lo, hi)(random_); }
  bool chance(double p) { return std::uniform_real_distribution<>(0, 1)(random_) < p; }
  template <class T>
  T pick(std::initializer_list<T> choices) {
    return *(choices.begin() + range(0, static_cast<int>(choices.size()) - 1));
  }
  std::mt19937_64& engine() { return random_; }

 private:
  std::mt19937_64 random_;
};

}  // namespace weft::test
