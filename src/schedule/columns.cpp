#include "schedule/columns.hpp"

#include <memory>
#include <utility>

#include "base/text.hpp"
#include "geometry/layout.hpp"

namespace weft {

namespace {

class ColumnsPlanner {
 public:
  explicit ColumnsPlanner(const ScheduleRequest& request)
      : request_(request), columns_(*request.columns.given) {
    for (int a = 1; a < request.shape.size(); ++a) {
      if (a == request.batch_axis) continue;
      planes_.push_back(a);
      if (request.transforms[a] == Transform::r2c) real_axis_ = a;
    }
    natural_ = c_order(request.shape.size());
    if (request.batch_axis >= 0) natural_ = axis_first(natural_, request.batch_axis);
  }

  Schedule run() {
    start();
    const std::vector<Order> first = schedule_.input().orders;
    if (!has_planes(*schedule_.input().tiling)) reshape(slabs(), planes_, first.front());
    transform(planes_, real_axis_);
    planes_field_ = schedule_.fields.size() - 1;
    Field& planes = schedule_.fields.back();
    planes.element = Element::complex;
    planes.shape = with_columns(request_.shape[0]);
    planes.tiling = of_columns(*planes.tiling);
    const TilingPtr mine = tiling_of_columns(request_.shape[0]);
    // Where there are reshapes, one stands between any two FFTs, also if all data stay where they are.
    if (!(*planes.tiling == *mine) || schedule_.stages.size() > 1) reshape(mine, {0}, natural_);
    transform({0}, -1);
    Field& modes = schedule_.fields.back();
    modes.shape = with_columns(columns_.mean());
    modes.tiling = tiling_of_columns(columns_.mean());
    modes.orders = {axes_last(natural_, {0})};
    modes.columns = true;
    schedule_.reason = reason();
    return std::move(schedule_);
  }

 private:
  void start() {
    Schedule& s = schedule_;
    s.ranks = request_.ranks;
    s.transforms = request_.transforms;
    s.lengths = request_.shape;
    s.batch_axis = request_.batch_axis;
    s.columns = request_.columns;
    s.fields.push_back(
        {request_.shape, real_axis_ >= 0 ? Element::real : Element::complex,
         request_.input ? request_.input : slabs(),
         request_.input_orders.empty() ? std::vector<Order>{natural_} : request_.input_orders});
  }

  int computing() const { return request_.computing_ranks > 0 ? request_.computing_ranks : request_.ranks; }

  TilingPtr slabs() const {
    Grid grid(request_.shape.size(), 1);
    grid[0] = computing();
    return std::make_shared<const Tiling>(Tiling::from_grid(request_.shape, grid, request_.ranks));
  }

  /// Whether ranks hold whole planes, and only those that compute do.
  bool has_planes(const Tiling& t) const {
    for (const int a : planes_)
      if (!t.is_local(a)) return false;
    for (int r = computing(); r < request_.ranks; ++r)
      if (!t.box(r).empty()) return false;
    return true;
  }

  Shape with_columns(Index length) const {
    Shape shape = request_.shape;
    shape[0] = length;
    for (const int a : planes_) shape[a] = a == 1 ? columns_.count() : 1;
    return shape;
  }
  TilingPtr of_columns(Tiling t) const {
    for (const int a : planes_) t = t.with_extent(a, a == 1 ? columns_.count() : 1);
    return std::make_shared<const Tiling>(std::move(t));
  }
  TilingPtr tiling_of_columns(Index length) const {
    Tiling t = columns_.tiling(planes_.size() + 1, length);
    if (request_.batch_axis >= 0) t = t.with_axis(request_.shape[request_.batch_axis]);
    return std::make_shared<const Tiling>(std::move(t));
  }

  void reshape(TilingPtr to, const AxisVector<int>& axes, const Order& order) {
    Field f = schedule_.fields.back();
    f.orders = {order_after_reshape(request_, order, axes, *to)};
    f.tiling = std::move(to);
    schedule_.stages.push_back({Stage::Kind::reshape, {}, -1, Direction::forward});
    schedule_.fields.push_back(std::move(f));
  }
  void transform(const AxisVector<int>& axes, int real_axis) {
    schedule_.stages.push_back({Stage::Kind::fft, axes, real_axis, Direction::forward});
    schedule_.fields.push_back(schedule_.fields.back());
  }

  std::string reason() const {
    const auto reshapes = reshape_stages(schedule_).size();
    const Index idle = schedule_.fields[planes_field_].tiling->idle_ranks();
    return "columns: whole planes, then columns, " + std::to_string(reshapes) +
           (reshapes == 1 ? " reshape; " : " reshapes; ") +
           (idle == 0 ? "every rank busy" : std::to_string(idle) + " ranks without planes");
  }

  const ScheduleRequest& request_;
  const ModeColumns& columns_;
  AxisVector<int> planes_;
  int real_axis_ = -1;
  std::size_t planes_field_ = 0;  ///< behind the FFT of planes
  Order natural_;
  Schedule schedule_;
};

}  // namespace

Schedule through_planes(const ScheduleRequest& request) {
  if (request.decomposition != Decomposition::automatic && request.decomposition != Decomposition::slab)
    throw Error("plan: option decomposition", "pencil, brick or a grid with modes that are given by columns",
                "auto or slab, and no option grid: planes are transformed whole");
  return ColumnsPlanner(request).run();
}

}  // namespace weft
