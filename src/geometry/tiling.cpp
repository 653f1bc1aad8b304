#include "geometry/tiling.hpp"

#include <algorithm>
#include <set>

#include "base/text.hpp"

namespace weft {

namespace {

Box box_without_points(int ndim) {
  return {Shape(ndim, 0), Shape(ndim, 0)};
}

/// How many different first indices along `axis` the boxes with points have.
int distinct_starts(const std::vector<Box>& boxes, int axis) {
  std::set<Index> starts;
  for (const Box& b : boxes)
    if (!b.empty()) starts.insert(b.lo[axis]);
  return static_cast<int>(starts.size());
}

/// The grid whose even split gives exactly these boxes, if there is one.
std::optional<Grid> recognise(const Shape& shape, const std::vector<Box>& boxes) {
  Grid grid;
  for (int a = 0; a < shape.size(); ++a) grid.push_back(std::max(1, distinct_starts(boxes, a)));
  if (cells(grid) > static_cast<Index>(boxes.size())) return std::nullopt;
  const Tiling candidate = Tiling::from_grid(shape, grid, static_cast<int>(boxes.size()));
  for (std::size_t r = 0; r < boxes.size(); ++r) {
    const Box b = candidate.box(static_cast<int>(r));
    if (b.empty() ? !boxes[r].empty() : !(b == boxes[r])) return std::nullopt;
  }
  return grid;
}

}  // namespace

Tiling Tiling::from_grid(const Shape& shape, const Grid& grid, int ranks) {
  Tiling t;
  t.shape_ = shape;
  t.ranks_ = ranks;
  t.grid_ = grid;
  return t;
}

Tiling Tiling::from_boxes(const Shape& shape, std::vector<Box> boxes) {
  Tiling t;
  t.shape_ = shape;
  t.ranks_ = static_cast<int>(boxes.size());
  t.grid_ = recognise(shape, boxes);
  if (!t.grid_) {
    for (Box& b : boxes)
      if (b.empty()) b = box_without_points(shape.size());
    t.boxes_ = std::move(boxes);
  }
  return t;
}

Box Tiling::box(int rank) const {
  if (!grid_) return boxes_[static_cast<std::size_t>(rank)];
  const Box none = box_without_points(shape_.size());
  if (rank >= cells(*grid_)) return none;
  Box result = none;
  for (int a = shape_.size() - 1; a >= 0; --a) {
    const int parts = (*grid_)[a];
    const Range r = split(shape_[a], parts, rank % parts);
    if (r.lo == r.hi) return none;
    result.lo[a] = r.lo;
    result.hi[a] = r.hi;
    rank /= parts;
  }
  return result;
}

std::array<AxisVector<int>, 2> Tiling::cells_of(const Box& box) const {
  std::array<AxisVector<int>, 2> cells;
  for (int a = 0; a < shape_.size(); ++a) {
    cells[0].push_back(part_of(shape_[a], (*grid_)[a], box.lo[a]));
    cells[1].push_back(part_of(shape_[a], (*grid_)[a], box.hi[a] - 1));
  }
  return cells;
}

Index Tiling::count_overlaps(const Box& box) const {
  if (box.empty()) return 0;
  if (!grid_)
    return std::count_if(boxes_.begin(), boxes_.end(),
                         [&](const Box& other) { return !intersect(other, box).empty(); });
  const auto [first, last] = cells_of(box);
  Index count = 1;
  for (int a = 0; a < shape_.size(); ++a) count *= last[a] - first[a] + 1;
  return count;
}

std::vector<Overlap> Tiling::overlaps(const Box& box) const {
  std::vector<Overlap> found;
  if (box.empty()) return found;
  if (!grid_) {
    for (int r = 0; r < ranks_; ++r) {
      const Box common = intersect(boxes_[static_cast<std::size_t>(r)], box);
      if (!common.empty()) found.push_back({r, common});
    }
    return found;
  }
  const int n = shape_.size();
  const auto [first, last] = cells_of(box);
  AxisVector<int> c = first;
  for (;;) {
    int rank = 0;
    Box part = box_without_points(n);
    for (int a = 0; a < n; ++a) {
      rank = rank * (*grid_)[a] + c[a];
      const Range r = split(shape_[a], (*grid_)[a], c[a]);
      part.lo[a] = r.lo;
      part.hi[a] = r.hi;
    }
    found.push_back({rank, intersect(part, box)});
    int a = n - 1;
    while (a >= 0 && c[a] == last[a]) {
      c[a] = first[a];
      --a;
    }
    if (a < 0) return found;
    ++c[a];
  }
}

bool Tiling::is_local(int axis) const {
  if (grid_) return (*grid_)[axis] == 1 || shape_[axis] == 1;
  return std::all_of(boxes_.begin(), boxes_.end(), [&](const Box& b) {
    return b.empty() || (b.lo[axis] == 0 && b.hi[axis] == shape_[axis]);
  });
}

int Tiling::idle_ranks() const {
  if (!grid_)
    return static_cast<int>(
        std::count_if(boxes_.begin(), boxes_.end(), [](const Box& b) { return b.empty(); }));
  Index busy = 1;
  for (int a = 0; a < shape_.size(); ++a) busy *= std::min<Index>((*grid_)[a], shape_[a]);
  return ranks_ - static_cast<int>(busy);
}

Tiling Tiling::with_extent(int axis, Index extent) const {
  Tiling t = *this;
  if (grid_ && (*grid_)[axis] > 1) {  // of one point, which one part has
    for (int r = 0; r < ranks_; ++r) t.boxes_.push_back(box(r));
    t.grid_.reset();
  }
  t.shape_[axis] = extent;
  for (Box& b : t.boxes_)
    if (!b.empty()) b.hi[axis] = extent;
  return t;
}

Tiling Tiling::with_axis(Index extent) const {
  Tiling t = *this;
  t.shape_.push_back(extent);
  if (t.grid_) t.grid_->push_back(1);
  for (Box& b : t.boxes_) {
    const bool empty = b.empty();
    b.lo.push_back(0);
    b.hi.push_back(empty ? 0 : extent);
  }
  return t;
}

std::string Tiling::name(int batch_axis, int left_out) const {
  if (!grid_) return "boxes";
  Grid grid;
  for (int a = 0; a < grid_->size(); ++a)
    if (a != batch_axis && a != left_out) grid.push_back((*grid_)[a]);
  const int items = batch_axis >= 0 ? (*grid_)[batch_axis] : 1;
  const std::string batch = items > 1 ? "batch cut in " + std::to_string(items) : "";
  int cut = 0;
  for (int p : grid) cut += p > 1 ? 1 : 0;
  if (cut == 0) return batch.empty() ? "whole" : batch;
  const char* words[] = {"", "slab ", "pencil ", "brick "};
  return (cut <= 3 ? words[cut] : "grid ") + by_x(grid) + (batch.empty() ? "" : ", " + batch);
}

bool operator==(const Tiling& a, const Tiling& b) {
  if (!(a.shape_ == b.shape_) || a.ranks_ != b.ranks_) return false;
  if (a.grid_ && b.grid_ && *a.grid_ == *b.grid_) return true;
  for (int r = 0; r < a.ranks_; ++r)
    if (!(a.box(r) == b.box(r))) return false;
  return true;
}

namespace {

void check_boxes(const std::string& what, const Shape& shape, const std::vector<Box>& boxes,
                 const std::string& hint) {
  const std::string op = "plan: " + what + " boxes";
  const std::string tail = hint.empty() ? "" : "; " + hint;
  const std::string inside = "boxes inside the array " + to_string(Box::whole(shape)) + tail;
  Index covered = 0;
  std::vector<int> filled;
  for (std::size_t r = 0; r < boxes.size(); ++r) {
    const Box& b = boxes[r];
    const int rank = static_cast<int>(r);
    if (b.lo.size() != shape.size() || b.hi.size() != shape.size())
      throw Error(op, "a box of " + std::to_string(b.ndim()) + " axes",
                  std::to_string(shape.size()) + " axes", rank);
    for (int a = 0; a < shape.size(); ++a)
      if (b.lo[a] > b.hi[a]) throw Error(op, to_string(b), "lo <= hi on every axis", rank);
    if (b.empty()) continue;
    if (!Box::whole(shape).contains(b)) throw Error(op, to_string(b), inside, rank);
    covered += b.count();
    filled.push_back(rank);
  }

  // Sweep along the axis with the most distinct starts, so that few pairs are compared.
  int axis = 0, most = 0;
  for (int a = 0; a < shape.size(); ++a)
    if (const int starts = distinct_starts(boxes, a); starts > most) {
      most = starts;
      axis = a;
    }
  const auto at = [&](int r) -> const Box& { return boxes[static_cast<std::size_t>(r)]; };
  std::sort(filled.begin(), filled.end(), [&](int x, int y) { return at(x).lo[axis] < at(y).lo[axis]; });
  for (std::size_t i = 0; i < filled.size(); ++i)
    for (std::size_t j = i + 1; j < filled.size() && at(filled[j]).lo[axis] < at(filled[i]).hi[axis]; ++j) {
      const Box common = intersect(at(filled[i]), at(filled[j]));
      if (!common.empty())
        throw Error(op,
                    "ranks " + std::to_string(std::min(filled[i], filled[j])) + " and " +
                        std::to_string(std::max(filled[i], filled[j])) + " both hold " + to_string(common),
                    "boxes that do not overlap" + tail);
    }
  const Index total = Box::whole(shape).count();
  if (covered != total)
    throw Error(op,
                "they cover " + std::to_string(covered) + " of " + std::to_string(total) + " points of " +
                    by_x(shape),
                "boxes that leave no hole, and a communicator with every rank that holds points" + tail);
}

/// Whether the boxes tile the array if their upper corners belong to them.
bool tile_with_inclusive_corners(const Shape& shape, std::vector<Box> boxes) {
  for (Box& b : boxes)
    for (int a = 0; a < b.hi.size(); ++a) {
      if (a >= shape.size() || b.hi[a] >= shape[a]) return false;
      ++b.hi[a];
    }
  try {
    check_boxes("", shape, boxes, "");
    return true;
  } catch (const Error&) {
    return false;
  }
}

}  // namespace

void check_tiling(const std::string& what, const Shape& shape, const std::vector<Box>& boxes,
                  const std::string& hint) {
  try {
    check_boxes(what, shape, boxes, hint);
  } catch (const Error& e) {
    if (!tile_with_inclusive_corners(shape, boxes)) throw;
    throw Error(e.operation(), e.got(),
                e.expected() +
                    "; they tile the array with inclusive corners [lo, hi], while Weft's boxes are "
                    "half-open, [lo, hi): add 1 to every hi",
                e.rank());
  }
}

}  // namespace weft
