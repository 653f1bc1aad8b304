#include "fft/local_fft.hpp"

#include "weft/error.hpp"

namespace weft {

FftProblem fft_problem(const FftCall& call, Precision precision, Effort effort) {
  FftProblem p;
  p.precision = precision;
  p.real = call.real_axis >= 0;
  p.direction = call.direction;
  p.in_place = call.from.space == call.to.space && call.from.offset == call.to.offset;
  p.may_destroy_input = call.may_destroy_input;
  p.effort = effort;
  const auto dimension = [&](int a) {
    return FftDimension{call.extents[a], call.from.strides[a], call.to.strides[a]};
  };
  for (int a = 0; a < call.extents.size(); ++a) {
    if (a == call.real_axis) continue;
    if (call.axes.contains(a)) {
      p.dimensions.push_back(dimension(a));
    } else if (call.extents[a] > 1) {
      p.loops.push_back(dimension(a));
    }
  }
  if (p.real) p.dimensions.push_back(dimension(call.real_axis));
  return p;
}

std::span<const FftRow> fft_table() {
#ifdef WEFT_WITH_FFTW
  static const FftRow table[] = {fftw_row()};
  return table;
#else
  return {};
#endif
}

const FftRow& find_fft(const std::string& name) {
  std::string names = "auto";
  for (const FftRow& row : fft_table()) {
    if (name == "auto" || name == row.name) return row;
    names += std::string(", ") + row.name;
  }
  if (name == "auto")
    throw Error("plan: option fft", "a build of Weft without any local FFT library", "a build with FFTW");
  throw Error("plan: option fft", "\"" + name + "\"", "one of " + names);
}

}  // namespace weft
