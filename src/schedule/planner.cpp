#include "schedule/planner.hpp"

#include <algorithm>
#include <array>
#include <compare>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "base/text.hpp"
#include "geometry/layout.hpp"
#include "schedule/between.hpp"
#include "schedule/columns.hpp"
#include "schedule/halves.hpp"

namespace weft {

namespace {

const char* name_of(Decomposition d) {
  constexpr std::array names{"auto", "slab", "pencil", "brick"};
  return names[static_cast<std::size_t>(d)];
}

/// A distribution the array may have: a grid, which cuts any shape, or the user's tiling of the input or the
/// output.
struct Candidate {
  std::optional<Grid> grid;
  TilingPtr users;
  bool of_input = false;
};

struct Cost {
  Index idle = 0, reshapes = 0, messages = 0, points = 0, index = 0;
  auto operator<=>(const Cost&) const = default;  // in this order
};

using Mask = AxisMask;

struct State {
  int candidate = 0;
  Mask done = 0;
  auto operator<=>(const State&) const = default;
};

class Search {
 public:
  explicit Search(const ScheduleRequest& request)
      : request_(request),
        points_(request.points.empty() ? request.shape : request.points),
        modes_(request.modes.empty() ? output_shape(request.shape, request.transforms) : request.modes),
        computing_(request.computing_ranks > 0 ? request.computing_ranks : request.ranks) {
    for (int a = 0; a < request.shape.size(); ++a) {
      if (request.transforms[a] != Transform::none) all_ |= 1u << a;
      if (request.transforms[a] == Transform::r2c) real_axis_ = a;
      if (request.transforms[a] == Transform::r2c || modes_[a] != points_[a] ||
          points_[a] != request.shape[a])
        changing_ |= 1u << a;
    }
    make_candidates();
  }

  Schedule run() {
    for (int c = 0; c < count(); ++c)
      if (request_.input ? c == input_ : may_be_users(tiling(c, 0)))
        reach({c, 0}, request_.input || c == output_ ? Cost{} : Cost{idle(c), 0, 0, 0, c}, {});
    while (!open_.empty()) {
      const auto [cost, state] = *open_.begin();
      open_.erase(open_.begin());
      const Mask done = transformed(state);
      if (done == all_ && is_output(state.candidate)) return build(path(state));
      for (int c = 0; c < count(); ++c) extend(state, done, cost, c);
    }
    throw Error(
        "plan",
        "no schedule for " + by_x(request_.shape) + " on " + std::to_string(request_.ranks) +
            " ranks with this decomposition",
        is_line()
            ? "at least two ranks that compute (option shrink), for a line"
            : "an axis that is left whole on every rank; one-dimensional transforms are not distributed, "
              "but two axes that are one line are (Problem::line; option shrink=1 computes on one rank)");
  }

 private:
  const Candidate& at(int c) const { return candidates_[static_cast<std::size_t>(c)]; }
  int count() const { return static_cast<int>(candidates_.size()); }
  /// Computing ranks without points, in sixteenths of all, rounded down, so that a few of many do not count.
  Index idle(int c) const {
    const TilingPtr &before = tiling(c, 0), &after = tiling(c, changing_);
    const Index ranks = std::max(before ? before->idle_ranks() : 0, after ? after->idle_ranks() : 0);
    return std::max<Index>(0, ranks - (request_.ranks - computing_)) * 16 / computing_;
  }
  /// Whether there is a line with factors between its axes: with a length of 1 all of them are 1.
  bool is_line() const {
    return !request_.line.empty() && request_.shape[request_.line[0]] > 1 &&
           request_.shape[request_.line[1]] > 1;
  }
  bool real_pending(Mask done) const { return real_axis_ >= 0 && (done >> real_axis_ & 1u) == 0; }
  /// The boxes of a candidate while so many axes are transformed; null where it is impossible.
  const TilingPtr& tiling(int c, Mask done) const {
    const auto [known, is_new] = tilings_.try_emplace({c, done & changing_});
    if (is_new) known->second = make_tiling(at(c), done);
    return known->second;
  }
  Shape shape_of(Mask done) const {
    Shape shape = points_;
    for (int a = 0; a < shape.size(); ++a)
      if ((done & changing_) >> a & 1u) shape[a] = modes_[a];
    return shape;
  }
  /// The user's own boxes are possible on the other side of an axis whose length changes only if that axis is
  /// whole.
  TilingPtr make_tiling(const Candidate& c, Mask done) const {
    const Shape shape = shape_of(done);
    if (c.grid) return std::make_shared<const Tiling>(Tiling::from_grid(shape, *c.grid, request_.ranks));
    TilingPtr t = c.users;
    for (int a = 0; a < shape.size(); ++a) {
      if ((changing_ >> a & 1u) == 0 || (done >> a & 1u) == (c.of_input ? 0u : 1u)) continue;
      if (!t->is_local(a)) return nullptr;
      t = std::make_shared<const Tiling>(t->with_extent(a, shape[a]));
    }
    return t;
  }
  bool is_output(int c) const {
    const TilingPtr& t = tiling(c, all_);
    return request_.output ? t && *t == *request_.output : may_be_users(t);
  }
  /// Whether `t` may be the input or output where the user leaves it to the planner.
  bool may_be_users(const TilingPtr& t) const {
    return t != nullptr && (request_.batch_axis < 0 || t->is_local(request_.batch_axis));
  }

  /// The axes that are done after the local FFTs of this state. c2c axes come after the r2c axis. A
  /// distribution with points on ranks that do not compute has no local FFTs.
  Mask transformed(const State& s) const {
    const Tiling& t = *tiling(s.candidate, s.done);
    if (!computes(t)) return s.done;
    const bool real = real_pending(s.done) && !is_whole(s, real_axis_);
    // The second axis of a line waits for another stage than the first one; where there is one rank, for
    // another call (program/local.cpp).
    const bool line = is_line() && request_.ranks > 1 && (s.done >> request_.line[0] & 1u) == 0;
    Mask done = s.done;
    for (int a = 0; a < request_.shape.size(); ++a)
      if ((all_ >> a & 1u) != 0 && is_whole(s, a) && (!real || is_r2r(request_.transforms[a])) &&
          !(line && a == request_.line[1]))
        done |= 1u << a;
    return done;
  }

  /// Whether every rank holds whole lines along an axis, and still does if its length changes: the one point
  /// of a short axis, in one part of a grid, may become several.
  bool is_whole(const State& s, int axis) const {
    const auto whole = [&](Mask done) {
      const TilingPtr& t = tiling(s.candidate, done);
      return t && t->is_local(axis);
    };
    return whole(s.done) && ((changing_ >> axis & 1u) == 0 || whole(s.done | 1u << axis));
  }

  /// Whether only computing ranks hold points.
  bool computes(const Tiling& t) const {
    if (request_.ranks - t.idle_ranks() > computing_) return false;
    for (int r = computing_; r < request_.ranks; ++r)
      if (!t.box(r).empty()) return false;
    return true;
  }

  /// Keeps a state that is new, or now has a lower cost.
  void reach(const State& state, const Cost& cost, const std::optional<State>& from) {
    const auto [known, is_new] = reached_.try_emplace(state, cost, from);
    if (!is_new && known->second.first <= cost) return;
    open_.erase({known->second.first, state});
    known->second = {cost, from};
    open_.insert({cost, state});
  }

  void extend(const State& from, Mask done, const Cost& cost, int c) {
    const TilingPtr& here = tiling(from.candidate, done);
    const TilingPtr& there = tiling(c, done);
    if (c == from.candidate || !there || *here == *there) return;
    const State next{c, done};
    const bool arrives = done == all_ && is_output(c);
    if (!arrives && transformed(next) == done) return;
    Cost total = cost;
    total.idle = std::max(total.idle, c == input_ || c == output_ ? 0 : idle(c));
    ++total.reshapes;
    const int last = request_.ranks - 1;
    Index messages = 0, points = 0;
    for (int r : {0, last / 3, last / 3 * 2, last}) {
      const Traffic t = traffic(*here, *there, r);
      messages = std::max(messages, t.messages);
      points = std::max(points, t.sent_points);
    }
    total.messages += messages;
    total.points += points;
    total.index += c;
    reach(next, total, from);
  }

  /// Adds a candidate that is not there yet.
  void add(const Candidate& candidate) {
    const auto same = [](const TilingPtr& x, const TilingPtr& y) { return x && y ? *x == *y : x == y; };
    const TilingPtr before = make_tiling(candidate, 0), after = make_tiling(candidate, changing_);
    for (int c = 0; c < count(); ++c)
      if (same(tiling(c, 0), before) && same(tiling(c, changing_), after)) return;
    candidates_.push_back(candidate);
  }
  void add_grid(const Grid& grid) { add({grid, nullptr}); }
  void add_users(const TilingPtr& t, bool of_input) {
    if (t) add({std::nullopt, t, of_input});
  }

  void make_candidates() {
    add_users(request_.input, true);
    if (request_.input) input_ = 0;
    add_users(request_.output, false);
    for (int c = 0; c < count(); ++c)
      if (request_.output && is_output(c)) output_ = c;
    const int axes = request_.shape.size(), ndim = axes - (request_.halves_axis >= 0 ? 1 : 0);
    const bool pencils =
        request_.decomposition == Decomposition::pencil || request_.decomposition == Decomposition::brick;
    if (!pencils)
      for (int a = 0; a < axes; ++a)
        if (may_be_cut(a)) add_grid(cut(a, computing_));
    if (pencils && ndim < 3)
      throw Error("plan: option decomposition",
                  std::string(name_of(request_.decomposition)) + " for " + std::to_string(ndim) + " axes",
                  "at least 3 axes, or slab");
    if (request_.decomposition != Decomposition::slab)
      for (int a = 0; a < axes; ++a)
        for (int b = a + 1; b < axes; ++b)
          if (ndim >= 3 && may_be_cut(a) && may_be_cut(b))
            for (const auto& [p, q] : factor_pairs(a, b)) add_grid(cut(a, p, b, q));
  }

  bool may_be_cut(int axis) const {
    return (!request_.whole_batch || axis != request_.batch_axis) && axis != request_.halves_axis;
  }

  /// The grid that cuts axis `a` into `p` parts and, if there is one, axis `b` into `q`.
  Grid cut(int a, int p, int b = -1, int q = 1) const {
    Grid grid(request_.shape.size(), 1);
    grid[a] = p;
    if (b >= 0) grid[b] = q;
    return grid;
  }

  /// The cuts of axes a and b to consider: those asked for; else the near-square one, those of the user's own
  /// pencils, and, of the cuts that leave the fewest ranks without points, the most nearly square one.
  std::vector<std::pair<int, int>> factor_pairs(int a, int b) const {
    const int ranks = computing_;
    if (const AxisVector<int>& asked = request_.pencil_grid; !asked.empty())
      return {{asked[0], asked[1]}, {asked[1], asked[0]}};
    const AxisVector<int> pq = near_square(ranks);
    std::vector<std::pair<int, int>> pairs{{pq[0], pq[1]}, {pq[1], pq[0]}};
    for (const TilingPtr& t : {request_.input, request_.output}) {
      if (!t || !t->grid() || cells(*t->grid()) != ranks) continue;
      AxisVector<int> cut;
      for (int p : *t->grid())
        if (p > 1) cut.push_back(p);
      if (cut.size() != 2) continue;
      pairs.emplace_back(cut[0], cut[1]);
      pairs.emplace_back(cut[1], cut[0]);
    }
    const Index na = std::min(points_[a], modes_[a]), nb = std::min(points_[b], modes_[b]);
    const auto busy = [&](int p) { return std::min<Index>(p, na) * std::min<Index>(ranks / p, nb); };
    int best = pq[0];
    for (int p = 1; p <= ranks; ++p) {
      if (ranks % p != 0) continue;
      const auto squareness = [&](int f) { return std::max(f, ranks / f); };
      if (busy(p) > busy(best) || (busy(p) == busy(best) && squareness(p) < squareness(best))) best = p;
    }
    pairs.emplace_back(best, ranks / best);
    return pairs;
  }

  std::vector<State> path(const State& last) const {
    std::vector<State> states;
    for (std::optional<State> s = last; s; s = reached_.at(*s).second) states.push_back(*s);
    std::reverse(states.begin(), states.end());
    return states;
  }

  /// What each state of a path transforms. Says in `reason` if that is not as early as possible.
  std::vector<Mask> stages_of(const std::vector<State>& states, const Order& order,
                              std::string& reason) const {
    int fastest = order[order.size() - 1];
    for (int a : order)
      if (request_.shape[a] > 1) fastest = a;
    std::vector<Mask> axes, whole;
    std::vector<bool> rows;
    for (const State& s : states) {
      const Tiling& t = *tiling(s.candidate, s.done);
      axes.push_back(transformed(s) & ~s.done);
      rows.push_back(t.is_local(fastest));
      whole.push_back(0);
      for (int a = 0; a < request_.shape.size(); ++a)
        if ((changing_ >> a & 1u) == 0 && !request_.line.contains(a) && t.is_local(a) && computes(t))
          whole.back() |= 1u << a;
    }
    std::vector<Mask> stages = postponed(axes, whole, rows, request_.fft_stage, order);
    if (stages != axes)
      reason = std::string("axes wait for the ") + (request_.fft_stage == FftStage::last ? "last" : "next") +
               " FFT that can take them; ";
    return stages;
  }

  Schedule build(const std::vector<State>& states) const {
    Schedule s;
    s.ranks = request_.ranks;
    s.transforms = request_.transforms;
    if (is_line()) s.line = request_.line;
    s.nyquist = request_.nyquist;
    s.lengths = request_.shape;
    std::vector<Order> natural{c_order(request_.shape.size())};
    if (request_.batch_axis >= 0) natural[0] = axis_first(natural[0], request_.batch_axis);
    const std::vector<Order>& first = request_.input_orders.empty() ? natural : request_.input_orders;
    const bool own_output = !request_.output_orders.empty();
    const Element element = real_axis_ >= 0 ? Element::real : request_.element;
    s.fields.push_back({points_, element, tiling(states.front().candidate, 0), first});
    const std::vector<Mask> stages = stages_of(states, first.front(), s.reason);
    Mask after = 0;
    for (std::size_t i = 0; i < states.size(); ++i) {
      const Mask before = after;
      after |= stages[i];
      const bool is_last = i + 1 == states.size();
      AxisVector<int> axes;
      for (int a = 0; a < request_.shape.size(); ++a)
        if (stages[i] >> a & 1u) axes.push_back(a);
      if (i > 0) {
        Field f = s.fields.back();
        f.tiling = tiling(states[i].candidate, before);
        f.orders = is_last && own_output ? request_.output_orders : first;
        for (Order& order : f.orders) {
          if (request_.contiguous || !(is_last && own_output))
            order = order_after_reshape(request_, order, axes, *f.tiling);
        }
        s.stages.push_back({Stage::Kind::reshape, {}, -1, Direction::forward});
        s.fields.push_back(std::move(f));
      }
      if (axes.empty()) continue;
      Stage fft{Stage::Kind::fft, axes, -1, Direction::forward};
      Field f = s.fields.back();
      f.tiling = tiling(states[i].candidate, after);
      f.shape = shape_of(after);
      if (real_pending(before) && !real_pending(after)) {
        fft.real_axis = real_axis_;
        f.element = Element::complex;
      }
      s.stages.push_back(fft);
      s.fields.push_back(std::move(f));
    }
    finish_output(s);
    return s;
  }

  /// The last field is the user's: it gets the user's memory order, or else the arrays of a batch one after
  /// the other. A schedule without stages gets one without axes, a copy from input to output.
  void finish_output(Schedule& s) const {
    if (s.stages.empty()) {
      s.stages.push_back({Stage::Kind::fft, {}, -1, Direction::forward});
      s.fields.push_back(s.fields.front());
    }
    std::vector<Order>& orders = s.fields.back().orders;
    if (!request_.output_orders.empty()) orders = request_.output_orders;
    for (Order& order : orders)
      if (request_.batch_axis >= 0) order = axis_first(order, request_.batch_axis);
  }

  const ScheduleRequest& request_;
  Shape points_, modes_;  ///< the shapes before and after forward
  int computing_;         ///< ranks that may hold points between input and output
  Mask all_ = 0;
  Mask changing_ = 0;  ///< axes whose length changes
  int real_axis_ = -1;
  int input_ = -1, output_ = -1;
  std::vector<Candidate> candidates_;
  mutable std::map<std::pair<int, Mask>, TilingPtr> tilings_;
  std::map<State, std::pair<Cost, std::optional<State>>> reached_;  ///< at what cost, and from which state
  std::set<std::pair<Cost, State>> open_;                           ///< those that have not been extended yet
};

std::string reason(const ScheduleRequest& request, const Schedule& s, std::size_t bricks) {
  const std::size_t reshapes = reshape_stages(s).size();
  Index idle = 0;
  for (std::size_t i = 1; i + 1 < s.fields.size(); ++i)
    idle = std::max<Index>(idle, s.fields[i].tiling->idle_ranks());
  const bool automatic = request.decomposition == Decomposition::automatic;
  std::string text = std::string(name_of(request.decomposition)) + ": ";
  text += std::to_string(reshapes) + (reshapes == 1 ? " reshape" : " reshapes");
  text += automatic ? ", the fewest that keep the ranks busy; " : ", as asked for; ";
  if (request.decomposition == Decomposition::brick)
    text += bricks > 0 ? std::to_string(bricks) + " of the fields are bricks; "
                       : "no grid of bricks differs from the grids before and after it; ";
  text += s.reason;
  if (request.computing_ranks > 0)
    text += "shrunk to " + std::to_string(request.computing_ranks) + " ranks; ";
  text +=
      idle == 0 ? "every rank busy" : std::to_string(idle) + " ranks without points between input and output";
  return text;
}

/// Makes the axes that are cut among ranks the slowest ones. A rank then holds a stack of planes or lines,
/// and lines across the stack touch few pages and cache sets.
Order cut_axes_first(const Order& order, const Tiling& tiling) {
  if (!tiling.grid()) return order;
  Order result = order;
  for (int i = order.size() - 1; i >= 0; --i)
    if ((*tiling.grid())[order[i]] > 1) result = axis_first(result, order[i]);
  return result;
}

}  // namespace

Order order_after_reshape(const ScheduleRequest& request, const Order& order, const AxisVector<int>& axes,
                          const Tiling& tiling) {
  if (request.contiguous) return axes_last(order, axes);
  return request.shared_axes_first ? cut_axes_first(order, tiling) : order;
}

Schedule make_schedule(const ScheduleRequest& request) {
  if (request.between != Between::none) return there_and_back(request);
  if (request.columns) return through_planes(request);
  if (request.halves_axis >= 0 && request.transforms[request.line[1]] == Transform::r2c)
    return through_halves(request);
  Schedule s = Search(request).run();
  const std::size_t fields = s.fields.size();
  if (request.decomposition == Decomposition::brick) s = through_bricks(s, request);
  s.batch_axis = request.batch_axis;
  s.reason = reason(request, s, s.fields.size() - fields);
  return s;
}

}  // namespace weft
