#include "schedule/halves.hpp"

#include <memory>
#include <utility>

#include "geometry/layout.hpp"

namespace weft {

namespace {

TilingPtr with_extent(const TilingPtr& tiling, int axis, Index extent) {
  return std::make_shared<const Tiling>(tiling->with_extent(axis, extent));
}

class HalvesPlanner {
 public:
  explicit HalvesPlanner(const ScheduleRequest& request)
      : request_(request),
        first_(request.line[0]),
        second_(request.line[1]),
        modes_(request.modes.empty() ? output_shape(request.shape, request.transforms) : request.modes),
        computing_(request.computing_ranks > 0 ? request.computing_ranks : request.ranks) {}

  Schedule run() {
    const TilingPtr joined = tiling_to_join();
    const bool arrives = !request_.output || *joined == *request_.output;
    Schedule s = make_schedule(to_halves(joined, arrives));
    s.halves_axis = request_.halves_axis;
    split(s);
    // Where there are reshapes, one stands between any two stages, also if all data stay where they are.
    if (s.stages.size() > 1 && s.stages.back().kind == Stage::Kind::fft && request_.ranks > 1)
      reshape(s, s.fields.back().tiling);
    if (!arrives || request_.output_orders.empty())
      for (Order& order : s.fields.back().orders)
        order = order_after_reshape(request_, order, {first_}, *s.fields.back().tiling);
    join(s, joined);
    if (!arrives) reshape(s, request_.output);
    if (!request_.output_orders.empty()) s.fields.back().orders = request_.output_orders;
    s.reason += "; a real line in two halves";
    return s;
  }

 private:
  /// The boxes in which halves are joined: the user's if they have the first axis whole, else a cut along
  /// another axis.
  TilingPtr tiling_to_join() const {
    if (request_.output && request_.output->is_local(first_) && computes(*request_.output))
      return request_.output;
    const auto cut = [&](int axis) {
      Grid grid(modes_.size(), 1);
      grid[axis] = computing_;
      return std::make_shared<const Tiling>(Tiling::from_grid(modes_, grid, request_.ranks));
    };
    TilingPtr best = cut(second_);
    for (int a = 0; a < modes_.size(); ++a)
      if (a != first_ && a != request_.halves_axis && a != request_.batch_axis)
        if (const TilingPtr other = cut(a); other->idle_ranks() < best->idle_ranks()) best = other;
    return best;
  }

  /// Whether only computing ranks hold points.
  bool computes(const Tiling& t) const {
    for (int r = computing_; r < request_.ranks; ++r)
      if (!t.box(r).empty()) return false;
    return true;
  }

  /// The way to the halves, each of which has half of the first axis and the kept modes of the second.
  ScheduleRequest to_halves(const TilingPtr& joined, bool arrives) const {
    ScheduleRequest way = request_;
    way.transforms[first_] = Transform::r2c;
    way.transforms[second_] = Transform::c2c;
    way.modes = modes_;
    way.modes[first_] = request_.shape[first_] / 2 + 1;
    way.output = with_extent(joined, first_, way.modes[first_]);
    if (!arrives) way.output_orders = {};
    return way;
  }

  /// Marks the stage along the second axis, behind which there are two halves.
  void split(Schedule& s) const {
    std::size_t i = 0;
    while (!s.stages[i].axes.contains(second_)) ++i;
    if (s.stages[i].axes.contains(first_)) {  // one rank, and one stage
      AxisVector<int> before;
      for (const int a : s.stages[i].axes)
        if (a != second_) before.push_back(a);
      divide_last(s, before);
      ++i;
    }
    s.stages[i].halves = Halves::split;
    s.stages[i].axes.push_back(request_.halves_axis);
    for (++i; i < s.fields.size(); ++i) {
      s.fields[i].shape[request_.halves_axis] = 2;
      s.fields[i].tiling = with_extent(s.fields[i].tiling, request_.halves_axis, 2);
    }
  }

  void join(Schedule& s, const TilingPtr& joined) const {
    Stage stage{Stage::Kind::fft, {first_, request_.halves_axis}, -1, Direction::forward};
    stage.halves = Halves::join;
    Field f = s.fields.back();
    f.shape = modes_;
    f.tiling = joined;
    s.stages.push_back(stage);
    s.fields.push_back(std::move(f));
  }

  static void reshape(Schedule& s, const TilingPtr& to) {
    Field f = s.fields.back();
    f.tiling = to;
    s.stages.push_back({Stage::Kind::reshape, {}, -1, Direction::forward});
    s.fields.push_back(std::move(f));
  }

  const ScheduleRequest& request_;
  int first_, second_;  ///< axes of the line
  Shape modes_;         ///< of the output
  int computing_;       ///< ranks that may hold points between input and output
};

}  // namespace

Schedule through_halves(const ScheduleRequest& request) {
  return HalvesPlanner(request).run();
}

}  // namespace weft
