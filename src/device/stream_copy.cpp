#include "device/stream_copy.hpp"

#include "geometry/layout.hpp"

namespace weft {

namespace {

/// Bytes. Copies of shorter rows are faster by a kernel.
constexpr Index shortest_row = 512;
/// Planes that are no whole number of rows apart are each a call of the copy engine.
constexpr Index most_calls = 64;
constexpr Index longest_pitch = (Index{1} << 31) - 1;

/// Whether one call copies all planes.
bool are_whole_rows_apart(const CopyLoop& planes, const CopyLoop& rows) {
  const auto whole = [](Index plane, Index row, Index n) { return plane % row == 0 && plane >= n * row; };
  return whole(planes.from, rows.from, rows.n) && whole(planes.to, rows.to, rows.n);
}

}  // namespace

DeviceCopy packing(const Shape& extents, const Strides& strides, const Order& order, int element_bytes) {
  return {.loops = copy_loops(extents, strides, dense_strides(extents, order)),
          .element_bytes = element_bytes};
}

DeviceCopy unpacking(const Shape& extents, const Strides& strides, const Order& order, int element_bytes) {
  return {.loops = copy_loops(extents, dense_strides(extents, order), strides),
          .element_bytes = element_bytes};
}

StreamCopy::StreamCopy(const DeviceCopy& copy, Index least_bytes_by_rows) : copy_(copy) {
  by_rows_ = fits_rows(least_bytes_by_rows);
  if (!by_rows_) return;
  const CopyLoops& c = copy_.loops;
  const Index element = copy_.element_bytes;
  rows_.bytes = static_cast<std::size_t>(c.innermost().n * element);
  rows_.from_pitch = rows_.to_pitch = rows_.bytes;
  if (c.count > 1) {
    const CopyLoop& row = c[c.count - 2];
    rows_.rows = static_cast<std::size_t>(row.n);
    rows_.from_pitch = static_cast<std::size_t>(row.from * element);
    rows_.to_pitch = static_cast<std::size_t>(row.to * element);
  }
  if (c.count < 3) return;
  if (are_whole_rows_apart(c[0], c[1])) {
    rows_.planes = static_cast<std::size_t>(c[0].n);
    rows_.from_height = static_cast<std::size_t>(c[0].from / c[1].from);
    rows_.to_height = static_cast<std::size_t>(c[0].to / c[1].to);
  } else {
    calls_ = c[0].n;
    from_call_ = c[0].from * element;
    to_call_ = c[0].to * element;
  }
}

bool StreamCopy::fits_rows(Index least_bytes) const {
  const CopyLoops& c = copy_.loops;
  if (copy_.coded || c.empty || c.transposes || copy_.factor != 1) return false;
  const CopyLoop& line = c.innermost();
  const Index element = copy_.element_bytes;
  if (line.from != 1 || line.to != 1) return false;
  Index bytes = element;
  for (int i = 0; i < c.count; ++i) bytes *= c[i].n;
  if (bytes < least_bytes) return false;
  if (c.count == 1) return true;
  if (line.n * element < shortest_row || c.count > 3) return false;
  if (c.count == 3 && c[0].n > most_calls && !are_whole_rows_apart(c[0], c[1])) return false;
  const CopyLoop& row = c[c.count - 2];
  return row.from * element <= longest_pitch && row.to * element <= longest_pitch && row.from >= line.n &&
         row.to >= line.n;
}

void StreamCopy::enqueue(DeviceStream& stream, std::byte* to, const std::byte* from) const {
  if (by_rows_) {
    enqueue_rows(stream, to, from);
  } else {
    stream.permute(to, from, copy_);
  }
}

void StreamCopy::enqueue(DeviceStream& stream, std::byte* to, const std::byte* from,
                         std::vector<DeviceCopyJob>& jobs) const {
  if (by_rows_) {
    enqueue_rows(stream, to, from);
  } else {
    jobs.push_back({to, from, &copy_});
  }
}

void StreamCopy::enqueue_rows(DeviceStream& stream, std::byte* to, const std::byte* from) const {
  for (Index i = 0; i < calls_; ++i) {
    std::byte* const t = to + i * to_call_;
    const std::byte* const f = from + i * from_call_;
    if (rows_.rows == 1 && rows_.planes == 1) {
      stream.copy(t, f, rows_.bytes);
    } else {
      stream.copy_rows(t, f, rows_);
    }
  }
}

}  // namespace weft
