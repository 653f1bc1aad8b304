// Division as forms of kernels want it (r2r::View, elements::Walk), on the host.
#pragma once

namespace weft::test {

template <class Position>
class HostDivisor {
 public:
  HostDivisor() = default;
  explicit HostDivisor(Position n) : n_(n) {}
  Position divisor() const { return n_; }
  Position divide(Position position) const { return position / n_; }

 private:
  Position n_ = 1;
};

}  // namespace weft::test
