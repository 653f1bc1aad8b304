#include "model/machine_description.hpp"

#include <algorithm>
#include <cmath>

#include "weft/error.hpp"

namespace weft {

namespace {

/// Nothing that is measured is beyond this: bytes a second, and seconds.
constexpr double most_bytes_per_s = 1e16, most_seconds = 1e4;

[[noreturn]] void refuse(const std::string& field, double value, const std::string& expected) {
  throw Error("machine description", field + " = " + std::to_string(value), expected);
}

void check_speed(const std::string& field, double value) {
  if (!(value > 0) || value > most_bytes_per_s) refuse(field, value, "a positive speed in bytes per second");
}

void check_seconds(const std::string& field, double value) {
  if (!(value >= 0) || value > most_seconds) refuse(field, value, "a time in seconds, 0 or more");
}

void check_share(const std::string& field, double value) {
  if (!(value >= 0) || value > 1) refuse(field, value, "a share from 0 to 1");
}

template <class Check>
void check_curve(const std::string& field, const Curve& curve, const Check& check) {
  if (curve.empty()) throw Error("machine description", field + " has no points", "one point or more");
  double before = 0;
  for (const CurvePoint& p : curve.points()) {
    if (!(p.x > before) || !std::isfinite(p.x)) refuse(field, p.x, "points by ascending size");
    check(field, p.y);
    before = p.x;
  }
}

void check_positive_share(const std::string& field, double value) {
  if (!(value > 0) || value > 2) refuse(field, value, "a share above 0");
}

void check_share_of_all(const std::string& field, double value) {
  if (!(value > 0) || value > 1) refuse(field, value, "a share above 0, 1 at most");
}

void check_processor(const ProcessorDescription& p) {
  if (p.cores < 1 || p.cores > 1 << 20) refuse("processor.cores", p.cores, "one core or more");
  if (p.cache_bytes < 1) refuse("processor.cache_bytes", static_cast<double>(p.cache_bytes), "a cache");
  check_seconds("processor.operation_s", p.operation_s);
  check_curve("processor.copy_alone", p.copy_alone, check_speed);
  check_curve("processor.copy_together", p.copy_together, check_speed);
  check_curve("processor.share_by_run", p.share_by_run, check_positive_share);
  check_curve("processor.share_by_run_unaligned", p.share_by_run_unaligned, check_positive_share);
  check_curve("processor.share_by_run_in_cache", p.share_by_run_in_cache, check_positive_share);
  if (p.ffts.empty()) throw Error("machine description", "processor.ffts is empty", "one length or more");
  for (const FftSpeed& f : p.ffts) {
    const std::string name = "processor.ffts[" + f.library + ", " + std::to_string(f.length) + "]";
    if (f.length < 2) refuse(name + ".length", static_cast<double>(f.length), "2 or more");
    if (f.real_bytes != 4 && f.real_bytes != 8) refuse(name + ".real_bytes", f.real_bytes, "4 or 8");
    if (f.shape != fft_lines && f.shape != fft_columns && f.shape != fft_planes)
      throw Error("machine description", name + ".shape = " + f.shape, "lines, columns or planes");
    for (const double s : {f.in_cache_s, f.in_memory_s})
      if (!(s > 0) || s > 1) refuse(name, s, "a positive time in seconds for each point");
  }
  for (const double ratio : {p.ratios.real, p.ratios.real_planes, p.ratios.r2r})
    if (!(ratio > 0) || ratio > 100) refuse("processor.ratios", ratio, "a positive ratio");
  for (const CodecSpeed& c : p.codecs) {
    check_speed("processor.codecs[" + c.codec + "].encode_bytes_per_s", c.encode_bytes_per_s);
    check_speed("processor.codecs[" + c.codec + "].decode_bytes_per_s", c.decode_bytes_per_s);
  }
}

void check_link(const LinkDescription& link) {
  const std::string name = "links[" + link.between + ", " + link.carries + "]";
  if (link.between != "node" && link.between != "network")
    throw Error("machine description", "links.between = " + link.between, "node or network");
  if (link.carries != "messages" && link.carries != "stores")
    throw Error("machine description", "links.carries = " + link.carries, "messages or stores");
  check_seconds(name + ".latency_s", link.latency_s);
  check_seconds(name + ".part_s", link.part_s);
  check_seconds(name + ".flag_s", link.flag_s);
  check_share(name + ".busy_share", link.busy_share);
  if (link.node_bytes_per_s != 0) check_speed(name + ".node_bytes_per_s", link.node_bytes_per_s);
  if (link.burst_bytes < 0) refuse(name + ".burst_bytes", static_cast<double>(link.burst_bytes), "0 or more");
  if (!link.share_by_machines.empty())
    check_curve(name + ".share_by_machines", link.share_by_machines, check_share_of_all);
  if (link.carries == "messages") check_curve(name + ".bytes_per_s", link.bytes_per_s, check_speed);
}

}  // namespace

void check_machine(const MachineDescription& machine) {
  check_processor(machine.processor);
  for (const LinkDescription& link : machine.links) check_link(link);
}

double bytes_per_s(const LinkDescription& link, double bytes, int ranks_of_machine, int machines) {
  double speed = link.bytes_per_s.at(std::max(1.0, bytes));
  if (link.node_bytes_per_s > 0) speed = std::min(speed, link.node_bytes_per_s / ranks_of_machine);
  return link.share_by_machines.empty() ? speed : speed * link.share_by_machines.at(machines);
}

const LinkDescription* find_link(const MachineDescription& machine, const std::string& between,
                                 const std::string& carries) {
  const auto found = std::find_if(
      machine.links.begin(), machine.links.end(),
      [&](const LinkDescription& link) { return link.between == between && link.carries == carries; });
  return found == machine.links.end() ? nullptr : &*found;
}

}  // namespace weft
