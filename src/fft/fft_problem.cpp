// The memory that a local transform reads and writes.
#include "fft/local_fft.hpp"

namespace weft {

namespace {

/// `halving`: the direction in which the real dimension has n/2+1 elements on this side.
FftSide side(const FftProblem& p, Index FftDimension::*stride, Direction halving) {
  const bool halved = p.kind == FftKind::real && p.direction == halving;
  const bool complex = p.kind == FftKind::c2c || halved;
  return {stride, complex, halved, (complex ? 2 : 1) * real_bytes(p.precision)};
}

/// Bytes from the first to the last element of one side, both included.
std::size_t bytes_of(const FftProblem& p, const FftSide& side) {
  Index last = 0;
  for (const FftDimension& d : box_of(p, side)) last += (d.n - 1) * (d.*side.stride);
  return static_cast<std::size_t>((last + 1) * side.element_bytes);
}

}  // namespace

std::string unable_r2r(const FftProblem& p) {
  for (const FftDimension& d : p.dimensions)
    if (p.kind == FftKind::r2r && d.transform == Transform::dct1 && d.n < 2)
      return "a DCT of type 1 needs two points";
  return "";
}

FftSide side_read(const FftProblem& problem) {
  return side(problem, &FftDimension::from_stride, Direction::backward);
}

FftSide side_written(const FftProblem& problem) {
  return side(problem, &FftDimension::to_stride, Direction::forward);
}

std::vector<FftDimension> box_of(const FftProblem& problem, const FftSide& side) {
  std::vector<FftDimension> box = problem.loops;
  box.insert(box.end(), problem.dimensions.begin(), problem.dimensions.end());
  if (side.halved) box.back().n = box.back().n / 2 + 1;
  return box;
}

std::size_t span_read(const FftProblem& problem) {
  return bytes_of(problem, side_read(problem));
}

std::size_t span_written(const FftProblem& problem) {
  return bytes_of(problem, side_written(problem));
}

}  // namespace weft
