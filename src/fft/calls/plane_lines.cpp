#include "fft/calls/plane_lines.hpp"

#include <algorithm>
#include <bit>
#include <cstdint>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "fft/calls/strided_lines.hpp"
#include "fft/loops.hpp"

namespace weft {

namespace {

struct RowsAndColumns {
  FftDimension contiguous, other;
  std::vector<FftDimension> loops;  ///< over the planes
  bool of_reals = false;            ///< along the contiguous axis

  Index count() const {
    Index n = 1;
    for (const FftDimension& d : loops) n *= d.n;
    return n;
  }
};

/// Whether the column's modes can be stored in such cells: butterflies of the last stage have results as many
/// apart as there are butterflies, which are whole cells, as pieces are.
bool fits_cells(const FftProblem& p, const FftDimension& row, const FftDimension& column) {
  if (!p.cells) return true;
  const LineRadices radices = plane_radices(row.n, column.n, false).second;
  int last = 1;
  for (const int radix : radices)
    if (radix > 0) last = radix;
  const auto is_whole = [&](Index n) { return n % p.cells.rows == 0; };
  return p.kind == FftKind::c2c && std::has_single_bit(static_cast<std::uint64_t>(p.cells.rows)) &&
         row.n % p.cells.points == 0 && is_whole(column.n / last) && is_whole(p.diverted.first) &&
         std::ranges::all_of(p.diverted.begin, is_whole);
}

std::optional<RowsAndColumns> row_and_column(const FftProblem& p) {
  const bool of_reals = p.kind == FftKind::real && p.direction == Direction::forward;
  if (p.kind != FftKind::c2c && !of_reals) return std::nullopt;
  std::vector<FftDimension> axes = p.dimensions, loops = p.loops;
  if (of_reals) std::rotate(axes.begin(), axes.end() - 1, axes.end());  // the last one is r2c
  std::erase_if(axes, [](const FftDimension& d) { return d.n == 1; });
  if (axes.size() != 2 || (of_reals && p.dimensions.back().n == 1)) return std::nullopt;
  if (!of_reals && axes[0].from_stride != 1) std::swap(axes[0], axes[1]);
  // Two real lines are transformed as one, and planes are whole numbers of pairs apart.
  const auto is_odd = [](const FftDimension& d) { return d.from_stride % 2 != 0; };
  if (of_reals && (axes[1].n % 2 != 0 || std::ranges::any_of(loops, is_odd))) return std::nullopt;
  // Longer lines leave a block of threads no memory beside them on some GPUs, and planes none in the cache.
  constexpr Index most_points = 2048;
  const bool fits = axes[0].from_stride == 1 && axes[0].to_stride == 1 && !axes[0].diverted &&
                    (p.diverted.count == 0 || axes[0].diverted_stride == 1) && line_radices(axes[0].n) &&
                    line_radices(axes[1].n) && std::max(axes[0].n, axes[1].n) <= most_points &&
                    fits_cells(p, axes[0], axes[1]);
  if (!fits) return std::nullopt;
  RowsAndColumns planes{axes[0], axes[1], merge_loops(std::move(loops)), of_reals};
  constexpr Index most = 1 << 16;
  const Index lines = std::max(axes[0].n, axes[1].n);
  if (planes.loops.size() + (p.cells ? 2 : 1) > LineStep::most_loops || planes.count() > most ||
      2 * planes.count() * lines > std::numeric_limits<std::int32_t>::max())
    return std::nullopt;
  return planes;
}

/// The first step is ahead by more planes than all blocks of a GPU have at a time: on an H100 264 tiles of up
/// to 100 KiB, or 396 of up to 75 KiB, of which half are of the first step. The ring has room for those of
/// the second step as well.
PlaneRing ring_for(const PlaneLines& step) {
  constexpr Index ahead = 24 << 20, behind = 16 << 20;
  const auto planes_in = [&](Index bytes) {
    return (bytes + step.plane_bytes() - 1) / step.plane_bytes() + 1;
  };
  return {planes_in(ahead), planes_in(ahead) + planes_in(behind)};
}

class PlaneLinesFft final : public StreamFft {
 public:
  PlaneLinesFft(Device& device, const PlaneLines& step) : step_(step) {
    const auto [first, second] = plane_radices(step_.first.n, step_.second.n, step_.first.of_reals);
    roots_[0] = complete_line_step(device, step_.first, first);
    roots_[1] = complete_line_step(device, step_.second, second);
    const auto bytes = static_cast<std::size_t>(4 * step_.counters());
    counters_ = device.allocate(bytes, "plan: counters of line FFTs");
    const auto stream = device.make_stream();
    const auto done = device.make_event(false);
    stream->fill(counters_.get(), 0, bytes);
    stream->record(*done);
    device.wait_for(*done);
    elsewise.by_kernels = {step_.first.n, step_.second.n};
    elsewise.in_planes = true;
    diverts = step_.second.diverted.count > 0;
    spares_output = step_.second.diverted.count == step_.second.n;
  }
  std::size_t work_bytes() const override { return static_cast<std::size_t>(step_.ring_bytes()); }
  void enqueue(DeviceStream& stream, std::byte* from, std::byte* to, std::byte* work,
               const FftContext& context) override {
    LineArrays arrays{from, to};
    if (diverts) arrays.diverted = context.diverted;
    stream.planes(arrays, step_, work, counters_.get());
    if (diverts && context.signals != nullptr) stream.flags(context.signals->flags);
  }

 private:
  PlaneLines step_;
  std::shared_ptr<std::byte> roots_[2], counters_;
};

}  // namespace

bool planes_can(const FftProblem& problem) {
  return row_and_column(problem).has_value();
}

std::shared_ptr<StreamFft> plan_plane_lines(Device& device, const FftProblem& problem,
                                            std::optional<PlaneRing> ring) {
  const RowsAndColumns planes = row_and_column(problem).value();
  const FftDimension &row = planes.contiguous, &column = planes.other;
  PlaneLines step;
  for (LineStep* s : {&step.first, &step.second}) {
    s->forward = problem.direction == Direction::forward;
    s->real_bytes = static_cast<int>(real_bytes(problem.precision));
    s->count = 1;
  }
  step.first.n = row.n;
  step.first.to_stride = column.n;
  step.first.loops[0] = {column.n, column.from_stride, 1, 0};
  if (planes.of_reals) {
    step.first.of_reals = true;
    step.first.second_line = column.from_stride;
    step.first.loops[0] = {column.n / 2, column.from_stride, 2, 0};
  }
  step.second.n = column.n;
  step.second.to_stride = column.to_stride;
  step.second.loops[0] = {step.first.modes(), column.n, 1, row.diverted_stride};
  step.second.factor = problem.scale;
  step.second.diverted = problem.diverted;
  step.second.diverted_stride = column.diverted_stride;
  if (const DivertedCells& cells = problem.cells) {
    LineLoop& within = step.second.loops[0];
    step.second.loops[1] = {within.n / cells.points, cells.points * within.from, cells.points * within.to,
                            cells.next_points};
    within.n = cells.points;
    step.second.count = 2;
    step.second.diverted_bits = std::countr_zero(static_cast<std::uint64_t>(cells.rows));
    step.second.diverted_beside = column.diverted_stride;
    step.second.diverted_stride = cells.next_rows;
  }
  for (const FftDimension& d : planes.loops) {
    step.first.loops[static_cast<std::size_t>(step.first.count++)] = {
        d.n, planes.of_reals ? d.from_stride / 2 : d.from_stride, 0, 0};
    step.second.loops[static_cast<std::size_t>(step.second.count++)] = {d.n, 0, d.to_stride,
                                                                        d.diverted_stride};
  }
  step.planes = planes.count();
  const PlaneRing chosen = ring.value_or(ring_for(step));
  step.lead = std::min(step.planes, chosen.lead);
  step.slots = std::min(step.planes, chosen.slots);
  return std::make_shared<PlaneLinesFft>(device, step);
}

}  // namespace weft
