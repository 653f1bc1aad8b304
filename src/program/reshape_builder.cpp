#include "program/reshape_builder.hpp"

#include <algorithm>

#include "program/sub_tiles.hpp"

namespace weft {

AxisSplit split_axes(const Stage& stage, int cut, bool sends) {
  if (cut < 0 || !stage.axes.contains(cut)) return {{}, stage.axes};
  const bool is_r2c = stage.direction == Direction::forward;
  if (stage.real_axis >= 0 && is_r2c != sends) return {stage.axes, {}};
  AxisSplit s;
  for (int a : stage.axes) (a == cut || a == stage.real_axis ? s.whole : s.tile).push_back(a);
  return s;
}

Place ReshapeBuilder::dense_work(const Place& like) {
  Place p = like;
  p.space = Space::work;
  p.base = 0;
  p.strides = dense_strides(like.box.extents(), order_of(like.strides));
  return p;
}

std::vector<Box> ReshapeBuilder::sub_boxes(const Reshape& r, const Box& part, const TileSide& side) const {
  std::vector<Box> boxes{part};
  const auto split = [&](int axis, Index by) {
    if (axis < 0 || by <= 0) return;
    std::vector<Box> finer;
    for (const Box& b : boxes)
      for (Index lo = b.lo[axis]; lo < b.hi[axis] || lo == b.lo[axis]; lo += by) {
        finer.push_back(b);
        finer.back().lo[axis] = lo;
        finer.back().hi[axis] = std::min(b.hi[axis], lo + by);
      }
    boxes = std::move(finer);
  };
  split(choice(r.j).axis, side.along_by);
  split(side.cross, side.cross_by);
  return boxes;
}

Ids ReshapeBuilder::transform_part(int stage, const AxisVector<int>& axes, const Place& from, const Place& to,
                                   const Box& part, const Ids& deps, int calls) {
  Ids done;
  const Box from_box = same_cut(part, from.box, axes), to_box = same_cut(part, to.box, axes);
  int longest = -1;
  for (int a = 0; a < part.ndim(); ++a)
    if (!axes.contains(a) && (longest < 0 || part.extent(a) > part.extent(longest))) longest = a;
  const Index n = longest < 0 ? 1 : part.extent(longest);
  const Index pieces = std::clamp<Index>(calls, 1, std::max<Index>(n, 1));
  for (Index i = 0; i < pieces; ++i) {
    Box from_piece = from_box, to_piece = to_box;
    if (pieces > 1)
      for (Box* b : {&from_piece, &to_piece}) {
        b->lo[longest] = part.lo[longest] + i * n / pieces;
        b->hi[longest] = part.lo[longest] + (i + 1) * n / pieces;
      }
    done.push_back(writer_.emit_fft(stage, axes, from, from_piece, to, to_piece, deps));
  }
  return done;
}

Ids ReshapeBuilder::transform_item(const Reshape& r, int stage, const AxisVector<int>& axes,
                                   const Place& from, const Place& to, int item, const Ids& deps, int tests) {
  const Box part = place_.item(r.j, rank_, item, to.box);
  if (choice(r.j).item_axis < 0) {
    Ids done = transform_part(stage, axes, from, to, part, deps, 1);
    same_in_all_trials(done);
    return done;
  }
  const auto all = static_cast<int>(std::min<Index>(Index{tests} * r.tiles_per_item, 1 << 20));
  Ids done = transform_part(stage, axes, from, to, part, deps, std::max(r.tiles_per_item, all));
  test_while(done, all);
  return done;
}

void ReshapeBuilder::test_while(const Ids& operations, int tests) {
  if (tests < 0) return;
  const auto n = static_cast<Index>(operations.size());
  for (Index i = 0; i < n; ++i) {
    const int id = operations[static_cast<std::size_t>(i)];
    if (id >= 0)
      p_.ops[static_cast<std::size_t>(id)].tests = static_cast<int>((i + 1) * tests / n - i * tests / n);
  }
}

void ReshapeBuilder::same_in_all_trials(const Ids& operations) {
  for (int id : operations)
    if (id >= 0) p_.ops[static_cast<std::size_t>(id)].invariant = true;
}

Place ReshapeBuilder::wire(const Reshape& r, const Box& part, int receiver, Index offset,
                           const Place& like) const {
  return {Space::work,
          offset,
          part,
          dense_strides(part.extents(), place_.field_after(r.j).order(receiver)),
          like.element_bytes,
          like.element};
}

}  // namespace weft
