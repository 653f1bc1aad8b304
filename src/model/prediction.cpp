#include "model/prediction.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <set>

#include "base/arithmetic.hpp"

namespace weft {

namespace {

bool is_local(const std::string& activity) {
  return activity != "wait" && activity != "exchange" && activity != "launch";
}

/// The number of the operation that ends last.
int last_of(const RankTimeline& rank) {
  int last = -1;
  double end = 0;
  for (std::size_t i = 0; i < rank.operations.size(); ++i)
    if (rank.operations[i].time.end >= end) {
      end = rank.operations[i].time.end;
      last = static_cast<int>(i);
    }
  return last;
}

/// Follows causes back from the end of the slowest rank.
std::map<std::string, double> critical_path(const Replayed& replayed) {
  std::map<std::string, double> path;
  int rank = replayed.slowest;
  int number = last_of(at(replayed.ranks, rank));
  double end = replayed.seconds;
  while (number >= 0) {
    const PredictedOperation& o = at(at(replayed.ranks, rank).operations, number);
    const PredictedOperation* const cause = o.cause_rank >= 0 && o.cause >= 0
                                                ? &at(at(replayed.ranks, o.cause_rank).operations, o.cause)
                                                : nullptr;
    const auto follow = [&](const char* what) {
      path[what] += std::max(0.0, end - cause->time.end);
      end = std::min(end, cause->time.end);
      rank = o.cause_rank;
      number = o.cause;
    };
    if (cause != nullptr && !o.opens && cause->time.end < end) {
      follow("link");
      continue;
    }
    if (o.time.end < end) path["wait"] += end - o.time.end;  // for a core or a device
    end = std::min(end, o.time.end);
    const double begin = std::min(end, o.time.begin);
    path[o.time.kind] += std::max(0.0, end - std::max(begin, 0.0));
    end = begin;
    if (cause != nullptr && o.opens) {
      follow("wait");  // for the event, and a device
    } else {
      number = o.before;
    }
  }
  return path;
}

double best_speed(const LinkDescription& link, int ranks_of_machine, int machines) {
  double speed = 0;
  for (const CurvePoint& p : link.bytes_per_s.points())
    speed = std::max(speed, bytes_per_s(link, p.x, ranks_of_machine, machines));
  return speed;
}

double wire_bound(const RankTimeline& rank, const ReplayRequest& request, int machines) {
  const LinkDescription* const link = find_link(request.machine, over_network, by_messages);
  if (link == nullptr || rank.bytes_sent == 0) return 0;
  const int node = at(request.nodes, rank.rank);
  const auto together = static_cast<int>(std::count(request.nodes.begin(), request.nodes.end(), node));
  const auto seconds = [&](const LinkDescription& l, Index sent) {
    if (sent == 0) return 0.0;
    const Index bytes = std::max<Index>(0, sent - 2 * l.burst_bytes);
    return static_cast<double>(bytes) / best_speed(l, together, machines);
  };
  return seconds(*link, rank.bytes_sent - rank.bytes_on_rails) +
         seconds(on_rails(*link, request.rails), rank.bytes_on_rails);
}

PredictedRails rails_of(const Replayed& replayed, const ReplayRequest& request, int machines) {
  const LinkDescription* const link = find_link(request.machine, over_network, by_messages);
  const bool any = std::any_of(replayed.ranks.begin(), replayed.ranks.end(),
                               [](const RankTimeline& rank) { return rank.bytes_on_rails > 0; });
  if (link == nullptr || !any) return {};
  return {rails_used(*link, request.rails), request.rails, static_cast<int>(link->rails.size()),
          best_speed(on_rails(*link, request.rails), 1, machines)};
}

std::string milliseconds(double seconds) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f", 1e3 * seconds);
  return text;
}

std::string list(const std::map<std::string, double>& seconds) {
  std::vector<std::pair<double, std::string>> sorted;
  for (const auto& [name, s] : seconds)
    if (s > 0) sorted.emplace_back(-s, name);
  std::sort(sorted.begin(), sorted.end());
  std::string text;
  for (const auto& [s, name] : sorted) text += (text.empty() ? "" : ", ") + name + " " + milliseconds(-s);
  return text;
}

}  // namespace

Prediction summarise(const Replayed& replayed, const ReplayRequest& request) {
  Prediction p;
  p.seconds = replayed.seconds;
  std::map<int, double> stages;
  for (const PredictedOperation& o : at(replayed.ranks, replayed.slowest).operations) {
    const double seconds = o.time.end - o.time.begin;
    p.activities[o.time.kind] += seconds;
    if (is_local(o.time.kind)) stages[o.time.stage] += seconds;
  }
  // Lanes of devices work at the same time.
  double accounted = 0;
  for (const auto& [activity, seconds] : p.activities) accounted += seconds;
  if (!request.device && accounted < p.seconds) p.activities["wait"] += p.seconds - accounted;  // for a core
  p.stages.assign(stages.begin(), stages.end());
  p.critical = critical_path(replayed);
  const std::set<int> machines(request.nodes.begin(), request.nodes.end());
  for (const RankTimeline& rank : replayed.ranks) {
    std::array<double, 3> local{};  // by lane
    for (const PredictedOperation& o : rank.operations)
      if (is_local(o.time.kind)) at(local, o.lane) += o.time.end - o.time.begin;
    p.compute_s = std::max(p.compute_s, *std::max_element(local.begin(), local.end()));
    p.wire_s = std::max(p.wire_s, wire_bound(rank, request, static_cast<int>(machines.size())));
  }
  p.rails = rails_of(replayed, request, static_cast<int>(machines.size()));
  return p;
}

std::string to_string(const PredictedRails& rails) {
  if (rails.used == 0) return "";
  char speed[64];
  std::snprintf(speed, sizeof speed, "%.4g MB/s", rails.bytes_per_s / 1e6);
  std::string text = "  " + std::to_string(rails.used) + (rails.used == 1 ? " rail" : " rails at a time") +
                     ", by which a machine sends " + speed;
  if (rails.described == 0)
    text += ": none is described, so that one network is assumed, as other exchanges find it";
  else if (rails.wanted > rails.used)
    text += ": of " + std::to_string(rails.wanted) + " that are wanted, so many are described";
  return text + "\n";
}

std::string to_string(const Prediction& p) {
  return "predicted " + milliseconds(p.seconds) + " ms, slowest rank: " + list(p.activities) +
         "\n  hangs on: " + list(p.critical) + "\n  at least " + milliseconds(p.bound_s()) +
         " ms: " + (p.wire_s > p.compute_s ? "what the network carries" : "what ranks compute") +
         " alone (compute " + milliseconds(p.compute_s) + ", network " + milliseconds(p.wire_s) + ")\n" +
         to_string(p.rails);
}

}  // namespace weft
