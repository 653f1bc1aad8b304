// What a local transform touches.
#include "fft/local_fft.hpp"

namespace weft {

namespace {

/// One side of a transform.
struct Side {
  Index FftDimension::*stride;
  bool complex, half;
};

Side from_side(const FftProblem& p) {
  const bool half = p.kind == FftKind::real && p.direction == Direction::backward;
  return {&FftDimension::from_stride, p.kind == FftKind::c2c || half, half};
}

Side to_side(const FftProblem& p) {
  const bool half = p.kind == FftKind::real && p.direction == Direction::forward;
  return {&FftDimension::to_stride, p.kind == FftKind::c2c || half, half};
}

/// From the first element to past the last of one side.
std::size_t bytes_of(const FftProblem& p, const Side& side) {
  Index last = 0;
  for (const FftDimension& d : p.loops) last += (d.n - 1) * (d.*side.stride);
  for (const FftDimension& d : p.dimensions) {
    const Index n = side.half && &d == &p.dimensions.back() ? d.n / 2 + 1 : d.n;
    last += (n - 1) * (d.*side.stride);
  }
  return static_cast<std::size_t>((last + 1) * (side.complex ? 2 : 1) * real_bytes(p.precision));
}

}  // namespace

std::size_t span_read(const FftProblem& problem) {
  return bytes_of(problem, from_side(problem));
}

std::size_t span_written(const FftProblem& problem) {
  return bytes_of(problem, to_side(problem));
}

}  // namespace weft
