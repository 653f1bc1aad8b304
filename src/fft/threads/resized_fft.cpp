#include "fft/threads/resized_fft.hpp"

#include <algorithm>
#include <complex>
#include <cstring>

#include "base/arithmetic.hpp"
#include "fft/loops.hpp"
#include "geometry/grid.hpp"
#include "geometry/transform.hpp"

namespace weft {

namespace {

/// Work memory of a block, for each thread: as much as stays in the second-level cache with what is read and
/// written beside it.
constexpr Index block_bytes = 128 << 10;
/// Of neighbours in memory that a block takes.
constexpr Index shortest_run = 4 * cache_line_bytes;

/// Calls f(begin of a slice) for one of `parts` slices of the outermost loop.
template <class F>
void each_of_part(std::span<const FftDimension> loops, std::byte* at, int part, int parts, const F& f) {
  if (loops.empty()) {
    if (part == 0) f(at);
    return;
  }
  const FftDimension& outer = loops.front();
  const Range slice = split(outer.n, parts, part);
  for (Index i = slice.lo; i < slice.hi; ++i) {
    std::byte* const start = at + i * outer.from_stride;
    for_each_index(loops.subspan(1), start, start, [&](std::byte* here, std::byte*) { f(here); });
  }
}

template <class T, class Real>
void multiply(const Block& block, Index fields, Real factor) {
  for_each_element<T>(block, [&](const Fields<T>& f, const Shape&) {
    for (Index i = 0; i < fields; ++i) f[i] *= factor;
  });
}

void multiply(const Block& block, Index fields, double factor) {
  if (factor == 1) return;
  const bool reals = block.element == Element::real;
  if (block.precision == Precision::float64) {
    reals ? multiply<double>(block, fields, factor) : multiply<std::complex<double>>(block, fields, factor);
  } else {
    const auto narrow = static_cast<float>(factor);
    reals ? multiply<float>(block, fields, narrow) : multiply<std::complex<float>>(block, fields, narrow);
  }
}

/// Without an operator, there is nothing in arrays that it would have added.
void clear_results(const Block& block) {
  if (block.results <= block.fields) return;
  const auto clear = [&]<class T>(T) {
    for_each_element<T>(block, [&](const Fields<T>& f, const Shape&) {
      for (Index i = block.fields; i < block.results; ++i) f[i] = T{};
    });
  };
  const bool reals = block.element == Element::real;
  if (block.precision == Precision::float64) {
    reals ? clear(double{}) : clear(std::complex<double>{});
  } else {
    reals ? clear(float{}) : clear(std::complex<float>{});
  }
}

}  // namespace

ResizedFft::ResizedFft(const ResizedProblem& problem, std::span<const FftRow* const> rows, int threads,
                       PlannedFft (*plan)(std::span<const FftRow* const>, const FftProblem&))
    : precision_(problem.precision), threads_(threads) {
  const bool forward = problem.direction == Direction::forward;
  const Index unit = 2 * real_bytes(precision_);
  const Index points_unit = problem.points == Element::complex ? unit : unit / 2;
  const Index modes_unit = has_r2c(problem) ? unit : points_unit;
  const Index from_unit = forward ? points_unit : modes_unit;
  const Index to_unit = problem.has_operator ? from_unit : forward ? modes_unit : points_unit;
  const auto place = [&](const ResizedLoop& d, Index n, Index step) {
    return Blocks::Place{d.axis, n, step, d.from_stride * step * from_unit, d.to_stride * step * to_unit};
  };
  // Blocks take whole loops, those over neighbours in memory first, and part of the first one that is too
  // long. An operator gets the arrays of a batch together, which take more room then: shorter rows cost more
  // (a gradient of 256^3 took 3% longer).
  std::vector<ResizedLoop> loops = problem.loops, block;
  std::ranges::stable_sort(
      loops, {}, problem.has_operator || forward ? &ResizedLoop::from_stride : &ResizedLoop::to_stride);
  Index size = unit, rest = 0;
  for (const ResizedAxis& a : problem.axes) size *= all_modes(a);
  std::erase_if(loops, [&](const ResizedLoop& d) {
    const bool whole = problem.has_operator && d.axis == problem.batch_axis;
    if (whole) block.push_back(d);
    return whole;
  });
  std::vector<Blocks::Place> places;
  const ResizedLoop* cut = nullptr;
  std::size_t cut_in_block = 0;
  for (const ResizedLoop& d : loops) {
    // Of neighbours in memory at least so many that runs are not short.
    const bool neighbours = d.from_stride == 1 || d.to_stride == 1;
    const Index least = neighbours ? std::max<Index>(1, shortest_run / unit) : 1;
    const Index most = std::clamp<Index>(threads * block_bytes / size, std::min(least, d.from), d.from);
    const Index pieces = divided_up(d.from, most), even = divided_up(d.from, pieces);
    const Index n = std::min(d.from, neighbours ? rounded_up<Index>(even, cache_line_bytes / unit) : even);
    block.push_back(d);
    block.back().from = block.back().to = n;
    size *= n;
    if (n == d.from) continue;
    if (cut == nullptr) {
      cut = &d;
      cut_in_block = block.size() - 1;
      rest = d.from % n;
      places.push_back(place(d, d.from / n, n));
    } else {
      places.push_back(place(d, d.from, 1));
    }
    if (n > 1) size = std::max(size, threads * block_bytes);  // slower loops are left outside
  }
  std::ranges::reverse(places);
  const auto add = [&](std::vector<Blocks::Place> where, const Blocks::Place& first) {
    const auto on_16 = [](const Blocks::Place& p) {
      return p.from_stride % 16 == 0 && p.to_stride % 16 == 0;
    };
    const bool aligned = problem.aligned && on_16(first) &&
                         std::ranges::all_of(where, [&](const auto& p) { return p.n == 1 || on_16(p); });
    BlockSteps written = write_block(problem, block, aligned, rows, threads, plan);
    blocks_.push_back({std::move(written.steps), std::move(where), first});
    work_bytes_ = std::max(work_bytes_, written.work_bytes);
    row_ = written.row;
  };
  add(places, {});
  if (rest == 0) return;
  block[cut_in_block].from = block[cut_in_block].to = rest;
  places.pop_back();  // that of the cut loop is the innermost
  add(places, place(*cut, 1, cut->from - rest));
}

template <class Real>
void ResizedFft::fold(const NyquistStep& step, std::byte* work, int part, int parts) const {
  using Complex = std::complex<Real>;
  each_of_part(step.loops, work + step.offset, part, parts, [&](std::byte* at) {
    Complex& positive = *reinterpret_cast<Complex*>(at);
    Complex& negative = *reinterpret_cast<Complex*>(at + step.other);
    if (step.other == 0) {
      positive = step.forward ? 2 * positive.real() : positive.real() / 2;
    } else if (step.forward) {
      negative += positive;
    } else {
      positive = negative = negative / Real{2};
    }
  });
}

/// Parts are of the columns.
template <class Real>
void ResizedFft::copy_columns(const ColumnsStep& step, const Run& run, int part, int parts) const {
  using Complex = std::complex<Real>;
  const auto scale = static_cast<Real>(step.scale);
  const auto copy = [&](std::byte* user, std::byte* work) {
    if (step.in)
      *reinterpret_cast<Complex*>(work) = *reinterpret_cast<const Complex*>(user) * scale;
    else
      *reinterpret_cast<Complex*>(user) = *reinterpret_cast<const Complex*>(work) * scale;
  };
  std::byte* const user = step.in ? run.from : run.to;
  const auto planes = [&](std::byte* user_plane, std::byte* work_plane) {
    const Range mine = split(static_cast<Index>(step.places.size()), parts, part);
    for (Index c = mine.lo; c < mine.hi; ++c)
      copy(user_plane + c * step.column_stride, work_plane + at(step.places, c));
  };
  const auto lines = [&](std::byte* user_item, std::byte* work_item) {
    const Index begin = run.middle.at[1] + run.at[1];
    const Range mine = split(step.count, parts, part);
    for (Index i = mine.lo; i < mine.hi; ++i) {
      const ModeColumn& c = at(step.columns->all, begin + i);
      std::byte* const line = work_item + i * step.work_column;
      std::byte* mode = user_item + at(step.columns->begin, begin + i) * Index{sizeof(Complex)};
      const Index n = step.length, first = mode_index(c.first[0], n);
      for (Index k = 0; k < c.count; ++k, mode += sizeof(Complex)) {
        const Index to = first + k < n ? first + k : first + k - n;
        copy(mode, line + to * step.work_mode);
      }
      for (Index k = first + c.count; step.in && k < first + n; ++k)
        *reinterpret_cast<Complex*>(line + (k < n ? k : k - n) * step.work_mode) = 0;
    }
  };
  if (step.columns)
    for_each_index(step.loops, user, run.work, lines);
  else
    for_each_index(step.loops, user, run.work, planes);
}

void ResizedFft::operate(const OperatorStep& step, const Run& run, int part, int parts) const {
  Block b;
  b.box = step.box;
  const Range slice = split(step.box.extent(step.divided), parts, part);
  if (slice.lo == slice.hi) return;
  b.box.hi[step.divided] = step.box.lo[step.divided] + slice.hi;
  b.box.lo[step.divided] += slice.lo;
  for (int a = 0; a < b.box.ndim(); ++a) {
    const Index begin = run.middle.at[a] + run.at[a];
    b.box.lo[a] += begin;
    b.box.hi[a] += begin;
  }
  b.strides = step.strides;
  b.element = step.element;
  b.precision = precision_;
  const Index unit = (b.element == Element::complex ? 2 : 1) * real_bytes(precision_);
  b.data = run.work + step.offset + slice.lo * step.strides[step.divided] * unit;
  b.fields = step.fields;
  b.results = step.results;
  b.field_stride = step.field_stride;
  multiply(b, b.fields, step.before);
  if (run.middle.op) {
    run.middle.op(b);
  } else {
    clear_results(b);
  }
  multiply(b, b.results, step.after);
}

void ResizedFft::block(const Blocks& blocks, const Run& run) const {
  using Side = BlockPlace::Side;
  const auto address = [&](const BlockPlace& p) {
    return (p.side == Side::work ? run.work : p.side == Side::input ? run.from : run.to) + p.offset;
  };
  const auto in_parts = [&](const auto& f) {
    if (run.pool == nullptr) {
      f(0, 1);
    } else {
      run.pool->run(threads_, [&](int part) { f(part, threads_); });
    }
  };
  for (const BlockStep& step : blocks.steps) {
    if (const auto* lines = std::get_if<LinesStep>(&step)) {
      lines->fft->execute(address(lines->from), address(lines->to), nullptr, run.pool, {});
    } else if (const auto* copy = std::get_if<CopyStep>(&step)) {
      const std::byte* const read = address(copy->from);
      std::byte* const write = address(copy->to);
      in_parts([&](int part, int parts) { copy->copy.run_part(read, write, part, parts); });
    } else if (const auto* nothing = std::get_if<ZeroStep>(&step)) {
      const std::span<const FftDimension> runs(nothing->loops.data(), nothing->loops.size() - 1);
      const auto bytes = static_cast<std::size_t>(nothing->loops.back().n);
      in_parts([&](int part, int parts) {
        each_of_part(runs, run.work + nothing->offset, part, parts,
                     [&](std::byte* begin) { std::memset(begin, 0, bytes); });
      });
    } else if (const auto* nyquist = std::get_if<NyquistStep>(&step)) {
      in_parts([&](int part, int parts) {
        precision_ == Precision::float64 ? fold<double>(*nyquist, run.work, part, parts)
                                         : fold<float>(*nyquist, run.work, part, parts);
      });
    } else if (const auto* columns = std::get_if<ColumnsStep>(&step)) {
      in_parts([&](int part, int parts) {
        precision_ == Precision::float64 ? copy_columns<double>(*columns, run, part, parts)
                                         : copy_columns<float>(*columns, run, part, parts);
      });
    } else {
      const auto& operation = std::get<OperatorStep>(step);
      in_parts([&](int part, int parts) { operate(operation, run, part, parts); });
    }
  }
}

void ResizedFft::each(const Blocks& blocks, std::size_t place, const Run& run) const {
  if (place == blocks.places.size()) return block(blocks, run);
  const Blocks::Place& p = blocks.places[place];
  Run here = run;
  for (Index i = 0; i < p.n; ++i) {
    each(blocks, place + 1, here);
    here.from += p.from_stride;
    here.to += p.to_stride;
    here.at[p.axis] += p.step;
  }
}

void ResizedFft::execute(std::byte* from, std::byte* to, std::byte* work, ThreadPool* pool,
                         const Middle& middle) const {
  for (const Blocks& b : blocks_) {
    Run run{from + b.first.from_stride, to + b.first.to_stride, work, pool, middle, Shape(max_axes, 0)};
    run.at[b.first.axis] += b.first.step;
    each(b, 0, run);
  }
}

}  // namespace weft
