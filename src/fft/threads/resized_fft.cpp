#include "fft/threads/resized_fft.hpp"

#include <algorithm>
#include <complex>
#include <cstring>

#include "base/arithmetic.hpp"
#include "base/cache.hpp"
#include "base/test_hook.hpp"
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

/// The slowest axis that has enough for all threads, or the longest one.
int axis_for_threads(const OperatorStep& step, int threads) {
  int best = 0;
  const auto worth = [&](int a) {
    const bool enough = step.box.extent(a) >= threads;
    return std::pair(enough, enough ? step.strides[a] : step.box.extent(a));
  };
  for (int a = 1; a < step.box.ndim(); ++a)
    if (worth(a) > worth(best)) best = a;
  return best;
}

/// How the library is fastest with the lines of a block. Work memory is doubled where the cache holds that
/// well.
WorkManner manner_of(const ResizedProblem& p, const FftRow& row, int threads) {
  WorkManner manner{.spread = true};
  if (p.effort != Effort::estimate || row.slow_in_place == nullptr || row.slow_in_rows == nullptr)
    return manner;
  const auto any = [&](const auto& holds) { return std::ranges::any_of(p.axes, holds); };
  Index bytes = 2 * real_bytes(p.precision);
  for (const ResizedAxis& a : p.axes) bytes *= all_modes(a);
  manner.is_apart = bytes <= threads * second_cache_bytes() / 4 &&
                    !any([](const ResizedAxis& a) { return is_r2r(a.transform); }) &&
                    any([&](const ResizedAxis& a) { return row.slow_in_place(a.length); });
  manner.turns = manner.is_apart && any([&](const ResizedAxis& a) { return row.slow_in_rows(a.length); });
  return manner;
}

}  // namespace

ResizedFft::ResizedFft(const ResizedProblem& problem, std::span<const FftRow* const> rows, int threads,
                       PlannedFft (*plan)(std::span<const FftRow* const>, const FftProblem&))
    : precision_(problem.precision), threads_(threads), row_(rows.front()) {
  ResizedBlocks blocks = cut_blocks(problem, {test_block_bytes(threads * block_bytes), shortest_run,
                                              manner_of(problem, *rows.front(), threads)});
  block_bytes_ = rounded_up<Index>(blocks.work_bytes, cache_line_bytes);
  for (LikeBlocks& like : blocks.all) {
    std::vector<Step> steps;
    for (BlockStep& step : like.steps)
      steps.push_back(std::visit([&](auto& any) { return bind(any, rows, plan); }, step));
    bound_.push_back(std::move(steps));
    like.steps.clear();
    blocks_.push_back(std::move(like));
  }
}

/// Steps as they are, but for those that are planned.
template <class Any>
ResizedFft::Step ResizedFft::bind(Any& step, std::span<const FftRow* const> rows,
                                  PlannedFft (*plan)(std::span<const FftRow* const>, const FftProblem&)) {
  if constexpr (std::is_same_v<Any, LinesStep>) {
    auto fft = std::make_shared<const ParallelFft>(step.fft, rows, threads_, plan);
    row_ = &fft->row();
    lines_bytes_ = std::max(lines_bytes_, fft->work_bytes());
    return Lines{std::move(fft), step.from, step.to};
  } else if constexpr (std::is_same_v<Any, CopyStep>) {
    const CopyManner manner{step.scale, static_cast<int>(real_bytes(precision_)), step.store_past};
    return Copy{PermuteCopy(step.extents, step.from_strides, step.to_strides, step.element_bytes, manner),
                step.from, step.to};
  } else if constexpr (std::is_same_v<Any, OperatorStep>) {
    const int divided = axis_for_threads(step, threads_);
    return Operation{std::move(step), divided};
  } else {
    return std::move(step);
  }
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

/// Parts are of the outermost loop.
template <class Real>
void ResizedFft::mirror(const MirrorStep& step, const std::byte* from, std::byte* to, int part,
                        int parts) const {
  using Complex = std::complex<Real>;
  std::span<const FftDimension> loops = step.loops;
  const FftDimension one{1, 0, 0};
  const FftDimension run = loops.empty() ? one : loops.back();
  if (!loops.empty()) loops = loops.first(loops.size() - 1);
  const auto scale = static_cast<Real>(step.scale), turn = step.conjugates ? -scale : scale;
  constexpr Index unit = sizeof(Complex);
  const auto copy = [&](const std::byte* read, std::byte* write, Range slice) {
    const auto* const source = reinterpret_cast<const Real*>(read);
    auto* const target = reinterpret_cast<Real*>(write);
    const auto go = [&](Index from_step, Index to_step) {
      for (Index i = slice.lo; i < slice.hi; ++i) {
        target[2 * i * to_step] = scale * source[2 * i * from_step];
        target[2 * i * to_step + 1] = turn * source[2 * i * from_step + 1];
      }
    };
    // Apart, as compilers vectorize steps that they know.
    const Index from_step = run.from_stride / unit, to_step = run.to_stride / unit;
    if (from_step == 1 && to_step == 1) return go(1, 1);
    if (from_step == -1 && to_step == 1) return go(-1, 1);
    go(from_step, to_step);
  };
  if (loops.empty()) return copy(from, to, split(run.n, parts, part));
  const FftDimension& outer = loops.front();
  const Range slice = split(outer.n, parts, part);
  for (Index i = slice.lo; i < slice.hi; ++i)
    for_each_index(loops.subspan(1), from + i * outer.from_stride, to + i * outer.to_stride,
                   [&](const std::byte* read, std::byte* write) {
                     copy(read, write, {0, run.n});
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
    const Index begin = run.context.at[1] + run.at[1];
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
    for_each_index(step.loops, user, run.work + step.offset, lines);
  else
    for_each_index(step.loops, user, run.work + step.offset, planes);
}

void ResizedFft::operate(const Operation& operation, const Run& run, int part, int parts) const {
  const OperatorStep& step = operation.step;
  const int divided = operation.divided;
  Block b;
  b.box = step.box;
  const Range slice = split(step.box.extent(divided), parts, part);
  if (slice.lo == slice.hi) return;
  b.box.hi[divided] = step.box.lo[divided] + slice.hi;
  b.box.lo[divided] += slice.lo;
  for (int a = 0; a < b.box.ndim(); ++a) {
    const Index begin = run.context.at[a] + run.at[a];
    b.box.lo[a] += begin;
    b.box.hi[a] += begin;
  }
  b.strides = step.strides;
  b.element = step.element;
  b.precision = precision_;
  const Index unit = (b.element == Element::complex ? 2 : 1) * real_bytes(precision_);
  b.data = run.work + step.offset + slice.lo * step.strides[divided] * unit;
  b.fields = step.fields;
  b.results = step.results;
  b.field_stride = step.field_stride;
  multiply(b, b.fields, step.before);
  if (run.context.op) {
    run.context.op(b);
  } else {
    clear_results(b);
  }
  multiply(b, b.results, step.after);
}

void ResizedFft::block(const std::vector<Step>& steps, const Run& run) const {
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
  for (const Step& step : steps) {
    if (const auto* lines = std::get_if<Lines>(&step)) {
      lines->fft->execute(address(lines->from), address(lines->to), run.work + block_bytes_, run.pool, {});
    } else if (const auto* copy = std::get_if<Copy>(&step)) {
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
    } else if (const auto* mirrored = std::get_if<MirrorStep>(&step)) {
      const int axis = mirrored->only_at_zero;
      if (axis >= 0 && run.context.at[axis] + run.at[axis] > 0) continue;
      const std::byte* const read = address(mirrored->from);
      std::byte* const write = address(mirrored->to);
      in_parts([&](int part, int parts) {
        precision_ == Precision::float64 ? mirror<double>(*mirrored, read, write, part, parts)
                                         : mirror<float>(*mirrored, read, write, part, parts);
      });
    } else if (const auto* columns = std::get_if<ColumnsStep>(&step)) {
      in_parts([&](int part, int parts) {
        precision_ == Precision::float64 ? copy_columns<double>(*columns, run, part, parts)
                                         : copy_columns<float>(*columns, run, part, parts);
      });
    } else {
      const auto& operation = std::get<Operation>(step);
      in_parts([&](int part, int parts) { operate(operation, run, part, parts); });
    }
  }
}

void ResizedFft::execute(std::byte* from, std::byte* to, std::byte* work, ThreadPool* pool,
                         const FftContext& context) const {
  for (std::size_t i = 0; i < blocks_.size(); ++i)
    for_each_block(blocks_[i], from, to, [&](std::byte* read, std::byte* write, const Shape& at) {
      block(bound_[i], {read, write, work, pool, context, at});
    });
}

}  // namespace weft
