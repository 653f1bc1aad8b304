#include "api/trace_text.hpp"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text.hpp"

namespace weft {

namespace {

using TraceJson = nlohmann::ordered_json;

/// In microseconds, a multiple of 1/64. Perfetto cuts each number off to nanoseconds. Of such numbers an end
/// is then never behind the begin of what follows, which it would take for an overlap and leave out.
double microseconds(double seconds) {
  return std::round(64e6 * seconds) / 64;
}

class RankEvents {
 public:
  RankEvents(const TracedPlan& plan, const TracedRank& rank) : plan_(plan), rank_(rank) {}

  void name_lanes() {
    const int others = rank_.stands_for - 1;
    const std::string rank = "rank " + std::to_string(rank_.rank) +
                             (others > 0 ? " and " + std::to_string(others) + " like it" : "");
    for (int stream = 0; stream < lanes(); ++stream) {
      const char* const which = !plan_.streams ? "" : stream == 0 ? ", compute" : ", transfer";
      add("M", "process_name", stream,
          {{"args", {{"name", "plan " + std::to_string(plan_.number) + ": " + plan_.title}}}});
      add("M", "process_sort_index", stream, {{"args", {{"sort_index", plan_.number}}}});
      TraceJson lane_of = {{"name", rank + which}};
      if (others > 0) lane_of["stands_for"] = rank_.stands_for;
      add("M", "thread_name", stream, {{"args", lane_of}});
      add("M", "thread_sort_index", stream, {{"args", {{"sort_index", lane(stream)}}}});
    }
  }

  void print_plan(const std::string& text, double at) {
    add("i", "plan", 0, {{"ts", microseconds(at)}, {"s", "t"}, {"args", {{"text", text}}}});
  }

  /// The operations of one execution, and around them the execution.
  void execution(std::span<const TracedOperation> operations) {
    double begin = operations.front().begin, end = begin;
    for (const TracedOperation& t : operations) {
      begin = std::min(begin, t.begin);
      end = std::max(end, t.end);
    }
    const TracedOperation& first = operations.front();
    // A little longer, so that nothing reaches beyond it.
    span(name_of(first.direction), "execution", 0, begin, end + 5e-8, {{"execution", first.execution}});
    for (const TracedOperation& t : operations) span(name(t), t.kind, t.stream, t.begin, t.end, arguments(t));
  }

  std::vector<std::string> events;

 private:
  int lanes() const { return plan_.streams ? 2 : 1; }
  int lane(int stream) const { return rank_.rank * lanes() + stream; }

  std::string name(const TracedOperation& t) const {
    const std::vector<std::string>& stages = at(plan_.stages, t.direction);
    const auto stage = static_cast<std::size_t>(t.stage);
    return std::string(t.kind) == "fft" && stage < stages.size() ? stages[stage] : t.kind;
  }

  static TraceJson arguments(const TracedOperation& t) {
    TraceJson j = {{"stage", t.stage}};
    if (t.reshape >= 0) j["reshape"] = t.reshape;
    j["tile"] = t.tile;
    if (t.peer >= 0) j["peer"] = t.peer;
    j["bytes"] = t.bytes;
    j["memory_read"] = t.memory_read;
    j["memory_written"] = t.memory_written;
    return j;
  }

  void span(const std::string& name, const char* category, int stream, double begin, double end,
            const TraceJson& args) {
    const double from = microseconds(begin);
    add("X", name, stream,
        {{"cat", category}, {"ts", from}, {"dur", microseconds(end) - from}, {"args", args}});
  }

  /// Perfetto takes a lane that has the number of its process for the main one, and shows it first.
  void add(const char* phase, const std::string& name, int stream, const TraceJson& more) {
    constexpr int above_all_lanes = 1'000'000;
    TraceJson event = {
        {"name", name}, {"ph", phase}, {"pid", above_all_lanes + plan_.number}, {"tid", lane(stream)}};
    event.update(more);
    events.push_back(event.dump());
  }

  const TracedPlan& plan_;
  TracedRank rank_;
};

/// "fft axes 0, 1". The axis of halves is none of the user's.
std::string what_it_does(const Stage& stage, const Schedule& schedule, Direction d) {
  if (stage.halves == Halves::join) return d == Direction::forward ? "join halves" : "split halves";
  std::vector<int> axes(stage.axes.begin(), stage.axes.end());
  std::erase(axes, schedule.halves_axis);
  if (axes.empty()) return "";
  return (axes.size() == 1 ? "fft axis " : "fft axes ") + join(axes, ", ");
}

}  // namespace

TracedPlan traced_plan(int number, const std::string& title, const Design& design, bool streams) {
  TracedPlan traced{number, title, streams, {}};
  for (const Direction d : {Direction::forward, Direction::backward})
    for (const Stage& stage : design.schedule(d).stages)
      at(traced.stages, d).push_back(what_it_does(stage, design.schedule(d), d));
  return traced;
}

std::vector<std::string> trace_events(const TracedPlan& plan, const TracedRank& rank, const std::string& text,
                                      std::span<const TracedOperation> operations) {
  RankEvents of_rank(plan, rank);
  of_rank.name_lanes();
  std::vector<TracedOperation> kept;
  std::copy_if(operations.begin(), operations.end(), std::back_inserter(kept),
               [](const TracedOperation& t) { return !is_empty(t); });
  if (!text.empty()) of_rank.print_plan(text, kept.empty() ? 0 : std::max(0.0, kept.front().begin - 1e-6));
  for (std::size_t from = 0, to = 0; from < kept.size(); from = to) {
    while (to < kept.size() && kept[to].execution == kept[from].execution) ++to;
    of_rank.execution(std::span(kept).subspan(from, to - from));
  }
  return std::move(of_rank.events);
}

}  // namespace weft
