// What lies in cells (traffic/messages.hpp): puts, FFTs that store there, and those that read there agree on
// where each point is.
#include <gtest/gtest.h>

#include <functional>
#include <set>
#include <utility>
#include <vector>

#include "exec/interpreter.hpp"
#include "program/diversions.hpp"
#include "support/built.hpp"
#include "traffic/placement.hpp"

namespace weft::test {

namespace {

using Positions = std::set<std::pair<Index, Index>>;  ///< of points, in elements: on one side, on the other

/// For all indices of the loops.
Positions positions(const std::vector<FftDimension>& loops, Index FftDimension::*a, Index FftDimension::*b) {
  std::vector<std::pair<Index, Index>> all{{0, 0}};
  for (const FftDimension& d : loops) {
    std::vector<std::pair<Index, Index>> more;
    for (const auto& [x, y] : all)
      for (Index i = 0; i < d.n; ++i) more.emplace_back(x + i * (d.*a), y + i * (d.*b));
    all = std::move(more);
  }
  return {all.begin(), all.end()};
}

Index element(const Operand& o, const Box& box, const Shape& point) {
  Index at = 0;
  for (int a = 0; a < box.ndim(); ++a) at += o.cells.elements_to(a, point[a] - box.lo[a], o.strides[a]);
  return at;
}

void for_each_point(const Box& box, const std::function<void(const Shape&)>& f) {
  Shape point = box.lo;
  const std::function<void(int)> from_axis = [&](int axis) {
    if (axis == box.ndim()) return f(point);
    for (point[axis] = box.lo[axis]; point[axis] < box.hi[axis]; ++point[axis]) from_axis(axis + 1);
  };
  from_axis(0);
}

/// In all of the memory of a box there is each point once.
void expect_filled(const Operand& o, const Box& box) {
  std::set<Index> seen;
  for_each_point(box, [&](const Shape& point) { seen.insert(element(o, box, point)); });
  EXPECT_EQ(static_cast<Index>(seen.size()), box.count());
  EXPECT_EQ(*seen.begin(), 0);
  EXPECT_EQ(*seen.rbegin(), box.count() - 1);
  const Span span = span_of(o, box.extents(), 16);
  EXPECT_EQ(span.last - span.first, 16 * box.count());
}

void expect_copied(const CopyCall& copy) {
  const CopyShape shape = copy_shape(copy);
  std::vector<FftDimension> loops;
  for (int a = 0; a < shape.extents.size(); ++a)
    loops.push_back({shape.extents[a], shape.from[a], shape.to[a]});
  Positions expected;
  for_each_point(copy.box, [&](const Shape& point) {
    expected.emplace(element(copy.from, copy.box, point), element(copy.to, copy.box, point));
  });
  EXPECT_EQ(positions(loops, &FftDimension::from_stride, &FftDimension::to_stride), expected);
}

/// Where an FFT stores its modes, and where they would be otherwise.
void expect_stored(const FftCall& call, const Diversion::Part& part) {
  const FftProblem p = fft_problem(call, Precision::float64, Effort::estimate, &part);
  ASSERT_TRUE(p.cells);
  for (std::size_t i = 0; i < part.pieces.size(); ++i) {
    const Diversion::Piece& piece = part.pieces[i];
    const Index first = p.diverted.first + p.diverted.begin[i], modes = piece.box.extent(part.axis);
    std::vector<FftDimension> loops = p.loops;
    for (const FftDimension& d : p.dimensions) {
      const bool rows = d.diverted;
      const Index together = rows ? p.cells.rows : p.cells.points;
      loops.push_back({together, 0, d.to_stride, Transform::c2c, d.diverted_stride});
      loops.push_back({(rows ? modes : d.n) / together, 0, d.to_stride * together, Transform::c2c,
                       rows ? p.cells.next_rows : p.cells.next_points});
    }
    Positions expected;
    for_each_point(piece.box, [&](const Shape& point) {
      expected.emplace(element(call.to, call.to_box, point) - first * call.to.strides[part.axis],
                       element(piece.to, piece.box, point));
    });
    EXPECT_EQ(positions(loops, &FftDimension::to_stride, &FftDimension::diverted_stride), expected);
  }
}

void expect_read(const FftCall& call) {
  const FftProblem p = fft_problem(call, Precision::float64, Effort::estimate);
  std::vector<FftDimension> loops = p.loops;
  loops.insert(loops.end(), p.dimensions.begin(), p.dimensions.end());
  Positions expected;
  for_each_point(call.from_box, [&](const Shape& point) {
    expected.emplace(element(call.from, call.from_box, point), element(call.to, call.to_box, point));
  });
  EXPECT_EQ(positions(loops, &FftDimension::from_stride, &FftDimension::to_stride), expected);
}

void check(ScheduleRequest request, Index batch) {
  request.contiguous = request.shared_axes_first = false;  // as on devices
  if (batch > 1) add_batch(request, batch);
  const Schedule forward = make_schedule(request);
  for (Schedule s : {forward, inverse(forward)}) {
    transform_early(s);
    Built made = setup(s, "sequential", {}, traits::stores);
    made.two_lanes = true;
    for (Leg& leg : made.choices) {
      std::get<Windowed>(leg.cut).in_cells = true;
      leg.store_lane = Lane::compute;
    }
    for (int r = 0; r < s.ranks; ++r) {
      const Place landing = Placement(made.schedule, made.choices, 8).landing(0, r);
      expect_filled(landing.at(landing.box), landing.box);
      const Program program = made.program(r);
      int copied = 0, read = 0;
      for (const CopyCall& copy : program.copies)
        if (copy.to.cells) {
          expect_copied(copy);
          ++copied;
        }
      for (const FftCall& call : program.ffts)
        if (call.from.cells) {
          expect_read(call);
          ++read;
        }
      EXPECT_EQ(copied, s.ranks);
      EXPECT_EQ(read, 1);
      const std::vector<Diversion> found = diversions(program, Diverted::puts);
      ASSERT_EQ(found.size(), 1U);
      ASSERT_EQ(found[0].parts.size(), 1U);
      EXPECT_EQ(found[0].parts[0].pieces.size(), static_cast<std::size_t>(s.ranks));
      expect_stored(program.ffts[static_cast<std::size_t>(
                        program.ops[static_cast<std::size_t>(found[0].parts[0].op)].call)],
                    found[0].parts[0]);
    }
  }
}

}  // namespace

TEST(Cells, EveryoneAgreesWherePointsAre) {
  check(request_of({12, 24, 32}, 3, Distribution::slab(0), Distribution::slab(1)), 1);
  check(request_of({8, 12, 16}, 2, Distribution::slab(0), Distribution::slab(1)), 3);
}

}  // namespace weft::test
