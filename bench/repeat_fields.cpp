#include "repeat_fields.hpp"

namespace weft::bench {

namespace {

template <class T>
void repeat(const Block& block) {
  for_each_row<T>(block, [&](T* first, Index n, Index stride, const Shape&, int) {
    for (Index r = block.fields; r < block.results; ++r) {
      const T* const from = first + r % block.fields * block.field_stride;
      T* const to = first + r * block.field_stride;
      for (Index i = 0; i < n; ++i) to[i * stride] = from[i * stride];
    }
  });
}

}  // namespace

void repeat_fields(const Block& block) {
  if (block.results <= block.fields) return;
  const bool wide = block.precision == Precision::float64;
  if (block.element == Element::complex) {
    wide ? repeat<std::complex<double>>(block) : repeat<std::complex<float>>(block);
  } else {
    wide ? repeat<double>(block) : repeat<float>(block);
  }
}

}  // namespace weft::bench
