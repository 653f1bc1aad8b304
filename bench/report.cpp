#include "report.hpp"

#include <unistd.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "api/explanation_json.hpp"
#include "base/text.hpp"
#include "base/thread_pool.hpp"
#include "tune/machine.hpp"
#include "weft/version.hpp"

namespace weft::bench {

namespace {

using Json = nlohmann::ordered_json;

template <class... Arguments>
std::string line(const char* format, Arguments... arguments) {
  char text[400];
  std::snprintf(text, sizeof text, format, arguments...);
  return text;
}

std::string host() {
  char name[256] = "unknown";
  gethostname(name, sizeof name - 1);
  return name;
}

double bound(const Measured& m) {
  return std::max(m.memory_bound_s, m.wire_bound_s);
}

double predicted_s(const Measured& m) {
  double seconds = 0;
  for (const Prediction& p : m.predicted) seconds += p.seconds;
  return seconds;
}

std::string memory_of(const OperationSum& o) {
  if (o.memory_read + o.memory_written == 0) return "";
  return "; memory: " + human_bytes(o.memory_read) + " read, " + human_bytes(o.memory_written) + " written";
}

/// A line about devices that reach each other; nothing without.
std::string links_of(const Ceilings& c) {
  if (c.link_bytes_per_s.empty()) return "";
  std::string t = "links, while all ranks copy to the rank that comes so many behind them:";
  for (std::size_t i = 0; i < c.link_bytes_per_s.size(); ++i)
    t += line("%s %zu: %.2f GB/s", i == 0 ? "" : ",", i + 1, c.link_bytes_per_s[i] / 1e9);
  return t + (c.remembered ? "; bandwidths are from wisdom\n" : "\n");
}

Json summary(const Summary& s) {
  return {{"median_s", s.median}, {"min_s", s.min}, {"quartiles_s", {s.first_quartile, s.third_quartile}}};
}

/// What was chosen by whom, and the search if there was one.
Json learnt(const Learnt& l) {
  Json j = {{"origin", name_of(l.origin)}, {"options", l.options}};
  if (l.tuned.trials == 0) return j;
  j["trials"] = l.tuned.trials;
  j["trial_seconds"] = l.trial_seconds;
  j["best_s"] = l.tuned.best.seconds;
  j["parameters"] = l.tuned.names;
  j["history"] = Json::array();
  j["trials_made"] = Json::array();
  for (const Timed& t : l.tuned.timed)
    j["trials_made"].push_back(
        {{"round", name_of(t.round)}, {"options", t.what.options}, {"seconds", t.what.seconds}});
  for (const Trial& t : l.tuned.history) j["history"].push_back({{"point", t.point}, {"seconds", t.score}});
  return j;
}

std::string text_of(const OnlineRun& run) {
  if (run.tuning.state.empty()) return "";
  std::string t = to_string(run.tuning);
  if (run.first_plan_s > 0)
    t += line("  %d executions, and what is between them, in %.3f ms: %.2f times as many of the first plan\n",
              run.executions, 1e3 * run.seconds, run.seconds / run.first_plan_s);
  return t;
}

}  // namespace

std::string text_of(const Case& c, const Measured& m) {
  std::string t = m.plan + "\n";
  t += line(
      "%s, %d repetitions, slowest rank: median %.3f ms, quartiles %.3f and %.3f, minimum %.3f; %.2f "
      "Gflop/s\n",
      c.direction.c_str(), c.repeat, 1e3 * m.time.median, 1e3 * m.time.first_quartile,
      1e3 * m.time.third_quartile, 1e3 * m.time.min, m.flops / m.time.median / 1e9);
  t += line("planning %.3f ms; memory %s per rank at most; relative L2 error %.2e\n", 1e3 * m.planning_s,
            human_bytes(m.memory_bytes).c_str(), m.error_l2);
  t += line("of %.3f ms, on the slowest rank%s:\n", 1e3 * m.median_total_s,
            m.device.empty() ? "" : ", on streams that work at the same time");
  double accounted = 0;
  for (const auto& [kind, o] : m.operations) {
    accounted += o.seconds;
    t += line("  %-9s %9.3f ms %5.1f%%   %s on all ranks%s\n", kind.c_str(), 1e3 * o.seconds,
              100 * o.seconds / m.median_total_s, human_bytes(o.bytes_all).c_str(), memory_of(o).c_str());
  }
  if (m.device.empty())
    t += line("  %-9s %9.3f ms %5.1f%%\n", "other", 1e3 * (m.median_total_s - accounted),
              100 * (1 - accounted / m.median_total_s));
  t += line("memory: local operations read %s and write %s on all ranks: %.1f passes (bound %.3g)\n",
            human_bytes(m.traffic.read).c_str(), human_bytes(m.traffic.written).c_str(), m.traffic.passes(),
            m.traffic.bound_passes);
  if (m.messages > 0) t += line("messages between machines: %.0f\n", m.messages);
  t += line(
      "bound: local FFTs over memory %.3f ms (%.2f GB/s per rank), wire %.3f ms (%.2f GB/s per rank); "
      "reached %.0f%% of it\n",
      1e3 * m.memory_bound_s, m.ceilings.copy_bytes_per_s / 1e9, 1e3 * m.wire_bound_s,
      m.ceilings.send_bytes_per_s / 1e9, 100 * bound(m) / m.time.median);
  t += links_of(m.ceilings);
  if (!c.explain) t += text_of(m.online);
  if (c.explain && m.explanation) t += to_string(*m.explanation);
  for (const Prediction& p : m.predicted) t += to_string(p);
  if (!m.predicted.empty())
    t += line("predicted %.3f ms, measured %.3f ms: %.2f\n", 1e3 * predicted_s(m), 1e3 * m.time.median,
              predicted_s(m) / m.time.median);
  for (const auto& [name, s] : m.peers) {
    t += line("%s: median %.3f ms, quartiles %.3f and %.3f: %.2f times Weft's (%s", name.c_str(),
              1e3 * s.median, 1e3 * s.first_quartile, 1e3 * s.third_quartile, s.median / m.time.median,
              m.about_peers.at(name).c_str());
    if (const auto error = m.peers_error_l2.find(name); error != m.peers_error_l2.end())
      t += line("; relative L2 error %.2e", error->second);
    t += ")\n";
  }
  return t;
}

std::string json_of(const Case& c, const Measured& m, int ranks, const std::string& medium) {
  Json j = summary(m.time);
  j["gflops"] = m.flops / m.time.median / 1e9;
  j["error_l2"] = m.error_l2;
  j["operations"] = Json::array();
  for (const auto& [kind, o] : m.operations)
    j["operations"].push_back({{"kind", kind},
                               {"seconds", o.seconds},
                               {"bytes", o.bytes_all},
                               {"memory_read", o.memory_read},
                               {"memory_written", o.memory_written}});
  if (!m.series.empty()) j["series"] = m.series;
  j["operations_total_s"] = m.median_total_s;
  j["memory_traffic"] = {{"read_bytes", m.traffic.read},
                         {"written_bytes", m.traffic.written},
                         {"passes", m.traffic.passes()},
                         {"bound_passes", m.traffic.bound_passes},
                         {"bound_bytes", m.traffic.bound}};
  j["messages_between_machines"] = m.messages;
  j["bound"] = {{"memory_s", m.memory_bound_s},
                {"wire_s", m.wire_bound_s},
                {"copy_bytes_per_s", m.ceilings.copy_bytes_per_s},
                {"send_bytes_per_s", m.ceilings.send_bytes_per_s},
                {"link_bytes_per_s", m.ceilings.link_bytes_per_s},
                {"remembered", m.ceilings.remembered},
                {"fraction", bound(m) / m.time.median}};
  j["peers"] = Json::object();
  for (const auto& [name, s] : m.peers) {
    j["peers"][name] = summary(s);
    j["peers"][name]["about"] = m.about_peers.at(name);
    j["peers"][name]["planning_s"] = m.peers_planning_s.at(name);
    if (const auto error = m.peers_error_l2.find(name); error != m.peers_error_l2.end())
      j["peers"][name]["error_l2"] = error->second;
  }
  j["planning_s"] = m.planning_s;
  if (!m.predicted.empty()) {
    j["predicted"] = {{"seconds", predicted_s(m)}, {"of_measured", predicted_s(m) / m.time.median}};
    for (const Prediction& p : m.predicted)
      j["predicted"]["directions"].push_back({{"seconds", p.seconds},
                                              {"operations", p.activities},
                                              {"critical", p.critical},
                                              {"compute_s", p.compute_s},
                                              {"wire_s", p.wire_s},
                                              {"rails", p.rails.used}});
  }
  if (m.explanation) j["explanation"] = json_of(*m.explanation);
  if (!m.online.tuning.state.empty())
    j["online"] = {{"executions", m.online.executions},
                   {"seconds", m.online.seconds},
                   {"first_plan_s", m.online.first_plan_s},
                   {"tuning", json_of(m.online.tuning)}};
  if (m.learnt.origin != Origin::rule) j["learnt"] = learnt(m.learnt);
  j["memory_bytes"] = m.memory_bytes;
  j["problem"] = {{"shape", c.shape},   {"transform", c.transform}, {"precision", c.precision},
                  {"input", c.input},   {"output", c.output},       {"direction", c.direction},
                  {"device", c.device}, {"in_place", c.in_place},   {"batch", c.batch},
                  {"data", c.data},     {"repeat", c.repeat}};
  if (!c.modes.empty()) j["problem"]["modes"] = c.modes;
  if (!c.points.empty()) j["problem"]["points"] = c.points;
  if (!c.line.empty()) j["problem"]["line"] = c.line;
  if (c.between != "none") j["problem"]["between"] = c.between;
  if (c.results > 0) j["problem"]["results"] = c.results;
  j["options"] = Json::object();
  for (const auto& [name, value] : c.options.all()) j["options"][name] = value;
  j["plan"] = m.plan;
  j["design"] = Json::parse(m.design);
  j["machine"] = {{"host", host()},
                  {"processor", processor_text()},
                  {"cores", hardware_threads()},
                  {"ranks", ranks},
                  {"medium", medium}};
  if (!m.device.empty()) j["machine"]["device"] = m.device;
  j["transport"] = m.transport;
  j["versions"] = {{"weft", version()}};
  return j.dump(2) + "\n";
}

std::string trace_of(const Measured& m) {
  std::vector<std::string> events;
  for (std::size_t r = 0; r < m.timeline.size(); ++r)
    for (std::string& event :
         trace_events(m.traced, {static_cast<int>(r)}, r == 0 ? m.plan : "", m.timeline[r]))
      events.push_back(std::move(event));
  return trace_begin + join(events, trace_between) + trace_end;
}

}  // namespace weft::bench
