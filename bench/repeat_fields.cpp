#include "repeat_fields.hpp"

#include "device/device.hpp"

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

void repeat_on_device(const Block& block) {
  const Index real = block.precision == Precision::float64 ? 8 : 4;
  const Index element = block.element == Element::complex ? 2 * real : real;
  const DeviceCopy copy{copy_loops(block.box.extents(), block.strides, block.strides),
                        static_cast<int>(element)};
  auto* const data = static_cast<std::byte*>(block.data);
  for (Index r = block.fields; r < block.results; ++r)
    block.queue->permute(data + r * block.field_stride * element,
                         data + r % block.fields * block.field_stride * element, copy);
}

}  // namespace

void repeat_fields(const Block& block) {
  if (block.results <= block.fields) return;
  if (block.memory != MemoryKind::host) return repeat_on_device(block);
  const bool wide = block.precision == Precision::float64;
  if (block.element == Element::complex) {
    wide ? repeat<std::complex<double>>(block) : repeat<std::complex<float>>(block);
  } else {
    wide ? repeat<double>(block) : repeat<float>(block);
  }
}

}  // namespace weft::bench
