// Division by numbers that are known before a kernel is launched. Kernels use it to compute indices from
// positions, once per element and axis.
#pragma once

#include "kernels/gpu/runtime.hpp"

#include <cstdint>

namespace weft::gpus {

/// 64-bit positions use the device's own division.
template <class Position>
class Divider {
 public:
  Divider() = default;
  explicit Divider(Position divisor) : divisor_(divisor) {}
  __host__ __device__ Position divisor() const { return divisor_; }
  __host__ __device__ Position divide(Position n) const { return n / divisor_; }

 private:
  Position divisor_ = 1;
};

/// Positions below 2^31 need only a multiplication and a shift: with 2^(s-1) < d <= 2^s and m = 2^32 (2^s -
/// d) / d + 1, rounded down, n / d is (n m / 2^32 + n) / 2^s.
template <>
class Divider<std::uint32_t> {
 public:
  Divider() = default;
  explicit Divider(std::uint32_t divisor) : divisor_(divisor) {
    while ((std::uint64_t{1} << shift_) < divisor) ++shift_;
    multiplier_ = static_cast<std::uint32_t>(
        ((std::uint64_t{1} << 32) * ((std::uint64_t{1} << shift_) - divisor)) / divisor + 1);
  }
  __host__ __device__ std::uint32_t divisor() const { return divisor_; }
  __host__ __device__ std::uint32_t divide(std::uint32_t n) const {
    const auto high = static_cast<std::uint32_t>((std::uint64_t{n} * multiplier_) >> 32);
    return (high + n) >> shift_;
  }

 private:
  std::uint32_t divisor_ = 1, multiplier_ = 1;
  unsigned shift_ = 0;
};

}  // namespace weft::gpus
