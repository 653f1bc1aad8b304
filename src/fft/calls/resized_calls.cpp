#include "fft/calls/resized_calls.hpp"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <utility>

#include "fft/loops.hpp"
#include "geometry/mode_columns.hpp"

namespace weft {

namespace {

/// Bytes of neighbours in memory that a block takes at least.
constexpr Index shortest_run = 512;

/// Loops over elements, whose strides are given in bytes, the innermost first.
ElementLoops loops_of(std::vector<FftDimension> dimensions, Index element_bytes) {
  std::ranges::stable_sort(dimensions, {}, &FftDimension::from_stride);
  ElementLoops loops;
  for (const FftDimension& d : dimensions)
    if (d.n > 1) loops.add({d.n, d.from_stride / element_bytes, d.to_stride / element_bytes});
  return loops;
}

std::shared_ptr<std::byte> uploaded(const std::vector<DeviceColumn>& columns, Device& device) {
  const std::size_t bytes = columns.size() * sizeof(DeviceColumn);
  const std::shared_ptr<std::byte> pinned = device.allocate_pinned(bytes, "plan: columns");
  std::shared_ptr<std::byte> table = device.allocate(bytes, "plan: columns");
  std::memcpy(pinned.get(), columns.data(), bytes);
  const std::unique_ptr<DeviceStream> stream = device.make_stream();
  const std::unique_ptr<DeviceEvent> copied = device.make_event(false);
  stream->copy(table.get(), pinned.get(), bytes);
  stream->record(*copied);
  device.wait_for(*copied);
  return table;
}

}  // namespace

ResizedCalls::ResizedCalls(const ResizedProblem& problem, std::span<const FftRow* const> rows, Device& device,
                           Index block_bytes)
    : precision_(problem.precision), row_(rows.front()) {
  ResizedBlocks blocks = cut_blocks(problem, {block_bytes, shortest_run, {}, true});
  fft_work_ = work_aligned(blocks.work_bytes);
  for (LikeBlocks& like : blocks.all) {
    steps_.emplace_back();
    for (const BlockStep& step : like.steps) {
      if (const auto* lines = std::get_if<LinesStep>(&step)) {
        bind(*lines, rows, device);
      } else if (const auto* columns = std::get_if<ColumnsStep>(&step)) {
        bind(*columns, device);
      } else if (const auto* copy = std::get_if<CopyStep>(&step)) {
        bind(*copy);
      } else if (const auto* nothing = std::get_if<ZeroStep>(&step)) {
        bind(*nothing);
      } else if (const auto* nyquist = std::get_if<NyquistStep>(&step)) {
        bind(*nyquist);
      } else if (const auto* mirrored = std::get_if<MirrorStep>(&step)) {
        bind(*mirrored);
      } else {
        bind(std::get<OperatorStep>(step));
      }
    }
    like.steps.clear();
    blocks_.push_back(std::move(like));
  }
}

void ResizedCalls::bind(const LinesStep& step, std::span<const FftRow* const> rows, Device& device) {
  std::shared_ptr<StreamFft>& fft = planned_[step.fft];
  if (!fft) {
    PlannedStreamFft planned = plan_stream_fft(rows, step.fft, device);
    if (!std::exchange(has_row_, true)) row_ = planned.row;
    fft = std::move(planned.fft);
    elsewise.add(fft->elsewise);
    fft_bytes_ = std::max(fft_bytes_, fft->work_bytes());
  }
  steps_.back().emplace_back(Lines{fft, step.from, step.to});
}

void ResizedCalls::bind(const CopyStep& step) {
  const DeviceCopy copy{copy_loops(step.extents, step.from_strides, step.to_strides), step.element_bytes,
                        step.scale, static_cast<int>(real_bytes(precision_))};
  steps_.back().emplace_back(Copy{copy, step.from, step.to});
}

/// In elements as wide as everything allows.
void ResizedCalls::bind(const ZeroStep& step) {
  std::vector<FftDimension> loops = step.loops;
  const Index run = loops.back().n;
  loops.pop_back();
  Index wide = std::gcd(std::gcd(run, step.offset), Index{16});
  for (const FftDimension& d : loops) wide = std::gcd(wide, d.from_stride);
  loops.push_back({run / wide, wide, wide});
  steps_.back().emplace_back(
      Elements{ClearElements{loops_of(loops, wide), static_cast<int>(wide)}, step.offset});
}

void ResizedCalls::bind(const NyquistStep& step) {
  const Index real = real_bytes(precision_);
  steps_.back().emplace_back(Elements{FoldModes{loops_of(step.loops, 2 * real), step.other / (2 * real),
                                                step.forward, static_cast<int>(real)},
                                      step.offset});
}

/// Neighbouring threads write neighbours.
void ResizedCalls::bind(const MirrorStep& step) {
  const Index real = real_bytes(precision_), unit = 2 * real;
  Mirror bound{{}, step.from, step.to, step.only_at_zero};
  for (auto d = step.loops.rbegin(); d != step.loops.rend(); ++d) {
    bound.step.loops.add({d->n, d->to_stride / unit, d->from_stride / unit});
    bound.step.start += std::max<Index>(0, -d->from_stride / unit * (d->n - 1));
  }
  bound.from.offset -= bound.step.start * unit;
  bound.step.conjugates = step.conjugates;
  bound.step.scale = step.scale;
  bound.step.real_bytes = static_cast<int>(real);
  steps_.back().emplace_back(bound);
}

/// The columns go to a table on the device; that of lines is the same for all blocks.
void ResizedCalls::bind(const ColumnsStep& step, Device& device) {
  const Index real = real_bytes(precision_), unit = 2 * real;
  const bool lines = step.columns != nullptr;
  if (!lines || columns_.empty()) {
    std::vector<DeviceColumn> all;
    for (std::size_t c = 0; lines && c < step.columns->all.size(); ++c) {
      const ModeColumn& column = step.columns->all[c];
      all.push_back({step.columns->begin[c], mode_index(column.first[0], step.length), column.count});
    }
    for (const Index place : step.places) all.push_back({place / unit, 0, 1});
    columns_.push_back(uploaded(all, device));
  }
  CopyColumns copy;
  copy.loops = loops_of(step.loops, unit);
  copy.columns = reinterpret_cast<const DeviceColumn*>(columns_.back().get());
  copy.lines = lines;
  copy.in = step.in;
  copy.count = lines ? step.count : static_cast<Index>(step.places.size());
  if (lines) copy.length = step.length;
  copy.column_stride = step.column_stride / unit;
  copy.work_column = step.work_column / unit;
  copy.work_mode = step.work_mode / unit;
  copy.scale = step.scale;
  copy.real_bytes = static_cast<int>(real);
  using Side = BlockPlace::Side;
  steps_.back().emplace_back(Columns{copy, {step.in ? Side::input : Side::output, 0}, step.offset, lines});
}

void ResizedCalls::bind(const OperatorStep& step) {
  const auto real = static_cast<int>(real_bytes(precision_));
  const int element = step.element == Element::complex ? 2 * real : real;
  std::vector<FftDimension> box;
  for (int a = 0; a < step.box.ndim(); ++a)
    box.push_back({step.box.extent(a), step.strides[a] * element, step.strides[a] * element});
  Operation operation{step, {}, {}, {}};
  const auto fields = [&](Index first, Index last, const auto& make) {
    std::vector<FftDimension> all = box;
    all.push_back({last - first, step.field_stride * element, step.field_stride * element});
    return Elements{make(loops_of(all, element)), step.offset + first * step.field_stride * element};
  };
  const auto scaled = [&](double factor, Index count) -> std::vector<Elements> {
    if (factor == 1) return {};
    const auto make = [&](const ElementLoops& loops) {
      return ScaleElements{loops, factor, step.element == Element::complex, real};
    };
    return {fields(0, count, make)};
  };
  operation.before = scaled(step.before, step.fields);
  operation.after = scaled(step.after, step.results);
  if (step.results > step.fields)
    operation.cleared = {fields(step.fields, step.results, [&](const ElementLoops& loops) {
      return ClearElements{loops, element};
    })};
  steps_.back().emplace_back(std::move(operation));
}

std::byte* ResizedCalls::address(const BlockPlace& p, const Run& run) const {
  using Side = BlockPlace::Side;
  return (p.side == Side::work ? run.work : p.side == Side::input ? run.from : run.to) + p.offset;
}

void ResizedCalls::run(const Lines& step, const Run& run) const {
  step.fft->enqueue(run.stream, address(step.from, run), address(step.to, run), run.work + fft_work_);
}

void ResizedCalls::run(const Copy& step, const Run& run) const {
  run.stream.permute(address(step.to, run), address(step.from, run), step.copy);
}

void ResizedCalls::run(const Elements& step, const Run& run) const {
  run.stream.elements(run.work + step.offset, nullptr, step.step);
}

void ResizedCalls::run(const Mirror& step, const Run& run) const {
  const int axis = step.only_at_zero;
  if (axis >= 0 && run.context.at[axis] + run.at[axis] > 0) return;
  run.stream.elements(address(step.to, run), address(step.from, run), step.step);
}

void ResizedCalls::run(const Columns& step, const Run& run) const {
  CopyColumns now = step.step;
  if (step.by_block) now.columns += run.context.at[1] + run.at[1];
  run.stream.elements(address(step.user, run), run.work + step.offset, now);
}

void ResizedCalls::run(const Operation& operation, const Run& run) const {
  const OperatorStep& step = operation.step;
  for (const Elements& factor : operation.before) this->run(factor, run);
  Block b;
  b.box = step.box;
  for (int a = 0; a < b.box.ndim(); ++a) {
    const Index begin = run.context.at[a] + run.at[a];
    b.box.lo[a] += begin;
    b.box.hi[a] += begin;
  }
  b.data = run.work + step.offset;
  b.strides = step.strides;
  b.element = step.element;
  b.precision = precision_;
  b.fields = step.fields;
  b.results = step.results;
  b.field_stride = step.field_stride;
  b.memory = MemoryKind::cuda;
  b.stream = run.stream.native();
  b.queue = &run.stream;
  if (run.context.op) {
    run.context.op(b);
  } else {
    for (const Elements& none : operation.cleared) this->run(none, run);
  }
  for (const Elements& factor : operation.after) this->run(factor, run);
}

void ResizedCalls::enqueue(DeviceStream& stream, std::byte* from, std::byte* to, std::byte* work,
                           const FftContext& context) {
  for (std::size_t i = 0; i < blocks_.size(); ++i)
    for_each_block(blocks_[i], from, to, [&](std::byte* read, std::byte* write, const Shape& at) {
      const Run here{stream, read, write, work, context, at};
      for (const Step& step : steps_[i]) std::visit([&](const auto& any) { run(any, here); }, step);
    });
}

}  // namespace weft
