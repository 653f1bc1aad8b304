#include "support/cufft_call_rules.hpp"

namespace weft::test {

namespace {

/// Along the last axis of a real transform the complex side has n / 2 + 1 points.
Index points(const CufftCall& call, int axis, bool from) {
  const Index n = call.n[static_cast<std::size_t>(axis)];
  const bool complex = from != (call.direction == Direction::forward);
  return call.kind == FftKind::real && complex && axis + 1 == call.axes ? n / 2 + 1 : n;
}

}  // namespace

std::string refused(const CufftCall& call) {
  if (call.axes < 1 || call.axes > 3) return "other than one to three axes";
  if (call.batch < 1) return "no batch";
  // cuFFT takes another axis for the real one then (cuFFT 12, H100).
  if (call.kind == FftKind::real && call.axes > 1 && call.n[static_cast<std::size_t>(call.axes - 1)] == 1)
    return "a real axis of one point beside others";
  for (const bool from : {true, false}) {
    const CallSide& side = from ? call.from : call.to;
    if (side.stride < 1) return "a stride of 0";
    // Also where there is nothing behind the first array.
    if (side.distance < 1) return "a distance of 0";
    for (int a = 0; a < call.axes; ++a)
      if (side.embed[static_cast<std::size_t>(a)] < points(call, a, from))
        return "an array shorter than what is transformed";
  }
  return "";
}

}  // namespace weft::test
