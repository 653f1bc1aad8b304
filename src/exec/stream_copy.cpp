#include "exec/stream_copy.hpp"

namespace weft {

namespace {

/// Below these a kernel is faster: bytes of a row, and of all.
constexpr Index shortest_row = 512, smallest_copy = 64 * 1024;
/// One call copies rows; so many calls at most.
constexpr Index most_planes = 64;
constexpr Index longest_pitch = (Index{1} << 31) - 1;

}  // namespace

StreamCopy::StreamCopy(const CopyCall& call, int real_bytes)
    : copy_{copy_loops(call.extents, call.from.strides, call.to.strides), call.element_bytes, call.scale,
            real_bytes} {
  by_rows_ = call.to_rank >= 0 && fits_rows(call);
  if (!by_rows_) return;
  const CopyLoops& c = copy_.loops;
  const Index element = call.element_bytes;
  rows_.bytes = static_cast<std::size_t>(c.innermost().n * element);
  rows_.from_pitch = rows_.to_pitch = rows_.bytes;
  if (c.count > 1) {
    const CopyLoop& row = c[c.count - 2];
    rows_.rows = static_cast<std::size_t>(row.n);
    rows_.from_pitch = static_cast<std::size_t>(row.from * element);
    rows_.to_pitch = static_cast<std::size_t>(row.to * element);
  }
  if (c.count > 2) {
    planes_ = c[0].n;
    from_plane_ = c[0].from * element;
    to_plane_ = c[0].to * element;
  }
}

bool StreamCopy::fits_rows(const CopyCall& call) const {
  const CopyLoops& c = copy_.loops;
  const CopyLoop& line = c.innermost();
  const Index element = call.element_bytes;
  if (c.empty || c.transposes || call.scale != 1 || line.from != 1 || line.to != 1) return false;
  if (line.n * element < shortest_row || call.box.count() * element < smallest_copy) return false;
  if (c.count > 3 || (c.count == 3 && c[0].n > most_planes)) return false;
  if (c.count == 1) return true;
  const CopyLoop& row = c[c.count - 2];
  return row.from * element <= longest_pitch && row.to * element <= longest_pitch && row.from >= line.n &&
         row.to >= line.n;
}

void StreamCopy::enqueue(DeviceStream& stream, std::byte* to, const std::byte* from) const {
  if (!by_rows_) return stream.permute(to, from, copy_);
  for (Index i = 0; i < planes_; ++i) {
    std::byte* const t = to + i * to_plane_;
    const std::byte* const f = from + i * from_plane_;
    if (rows_.rows == 1) {
      stream.copy(t, f, rows_.bytes);
    } else {
      stream.copy_rows(t, f, rows_);
    }
  }
}

}  // namespace weft
