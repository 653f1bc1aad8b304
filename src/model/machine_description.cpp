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

void check_bytes(const std::string& field, Index value) {
  if (value < 0) refuse(field, static_cast<double>(value), "0 or more");
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

/// What cores and devices have in common.
void check_compute(const std::string& where, const ComputeDescription& c, bool is_device) {
  if (c.cache_bytes < 1) refuse(where + ".cache_bytes", static_cast<double>(c.cache_bytes), "a cache");
  check_curve(where + ".copy_alone", c.copy_alone, check_speed);
  check_curve(where + ".share_by_run", c.share_by_run, check_positive_share);
  if (c.ffts.empty()) throw Error("machine description", where + ".ffts is empty", "one length or more");
  for (const FftSpeed& f : c.ffts) {
    const std::string name = where + ".ffts[" + f.library + ", " + std::to_string(f.length) + "]";
    if (f.length < 2) refuse(name + ".length", static_cast<double>(f.length), "2 or more");
    if (f.real_bytes != 4 && f.real_bytes != 8) refuse(name + ".real_bytes", f.real_bytes, "4 or 8");
    if (f.shape != fft_lines && f.shape != fft_columns && f.shape != fft_planes &&
        !(is_device && f.shape == fft_middle))
      throw Error("machine description", name + ".shape = " + f.shape,
                  is_device ? "lines, columns, middle or planes" : "lines, columns or planes");
    for (const double s : {f.in_cache_s, f.in_memory_s})
      if (!(s > 0) || s > 1) refuse(name, s, "a positive time in seconds for each point");
    check_seconds(name + ".call_s", f.call_s);
  }
  for (const double ratio : {c.ratios.real, c.ratios.real_planes, c.ratios.r2r})
    if (!(ratio > 0) || ratio > 100) refuse(where + ".ratios", ratio, "a positive ratio");
  for (const CodecSpeed& codec : c.codecs) {
    check_speed(where + ".codecs[" + codec.codec + "].encode_bytes_per_s", codec.encode_bytes_per_s);
    check_speed(where + ".codecs[" + codec.codec + "].decode_bytes_per_s", codec.decode_bytes_per_s);
  }
}

void check_processor(const ProcessorDescription& p) {
  if (p.cores < 1 || p.cores > 1 << 20) refuse("processor.cores", p.cores, "one core or more");
  check_compute("processor", p, false);
  check_seconds("processor.operation_s", p.operation_s);
  check_curve("processor.copy_together", p.copy_together, check_speed);
  check_curve("processor.share_by_run_unaligned", p.share_by_run_unaligned, check_positive_share);
  check_curve("processor.share_by_run_in_cache", p.share_by_run_in_cache, check_positive_share);
}

void check_device(const DeviceDescription& d) {
  check_compute("device", d, true);
  const std::pair<const char*, double> times[] = {{"kernel_s", d.kernel_s},
                                                  {"node_s", d.node_s},
                                                  {"event_s", d.event_s},
                                                  {"flag_raise_s", d.flag_raise_s},
                                                  {"flag_see_s", d.flag_see_s},
                                                  {"launch_kernel_s", d.launch_kernel_s},
                                                  {"launch_fft_s", d.launch_fft_s},
                                                  {"launch_copy_s", d.launch_copy_s},
                                                  {"launch_event_s", d.launch_event_s},
                                                  {"launch_flags_s", d.launch_flags_s},
                                                  {"launch_graph_s", d.launch_graph_s},
                                                  {"launch_node_s", d.launch_node_s},
                                                  {"execution_s", d.execution_s}};
  for (const auto& [field, seconds] : times) check_seconds(std::string("device.") + field, seconds);
}

/// What a link of each kind may carry.
bool fits(const LinkDescription& link) {
  if (link.between == over_peer) return link.carries == by_stores || link.carries == by_engines;
  if (link.between == over_host) return link.carries == by_engines;
  return link.carries == by_messages || link.carries == by_stores;
}

void check_link(const LinkDescription& link) {
  const std::string name = "links[" + link.between + ", " + link.carries + "]";
  const bool of_devices = link.between == over_peer || link.between == over_host;
  if (!of_devices && link.between != over_node && link.between != over_network)
    throw Error("machine description", "links.between = " + link.between, "node, network, peer or host");
  if (!fits(link))
    throw Error("machine description", name + ".carries = " + link.carries,
                link.between == over_host   ? "engines"
                : link.between == over_peer ? "stores or engines"
                                            : "messages or stores");
  check_seconds(name + ".latency_s", link.latency_s);
  check_seconds(name + ".part_s", link.part_s);
  check_seconds(name + ".flag_s", link.flag_s);
  check_share(name + ".busy_share", link.busy_share);
  if (link.node_bytes_per_s != 0) check_speed(name + ".node_bytes_per_s", link.node_bytes_per_s);
  check_bytes(name + ".burst_bytes", link.burst_bytes);
  if (!link.share_by_machines.empty())
    check_curve(name + ".share_by_machines", link.share_by_machines, check_share_of_all);
  if (!link.rails.empty() && (link.between != over_network || link.carries != by_messages))
    throw Error("machine description", name + ".rails", "rails of messages between machines alone");
  for (std::size_t i = 0; i < link.rails.size(); ++i) {
    const RailsDescription& rails = link.rails[i];
    const std::string where = name + ".rails[" + std::to_string(i) + "]";
    check_seconds(where + ".latency_s", rails.latency_s);
    check_seconds(where + ".part_s", rails.part_s);
    check_speed(where + ".bytes_per_s", rails.bytes_per_s);
    check_bytes(where + ".burst_bytes", rails.burst_bytes);
    check_share(where + ".busy_share", rails.busy_share);
  }
  if (of_devices || link.carries == by_messages)
    check_curve(name + ".bytes_per_s", link.bytes_per_s, check_speed);
}

}  // namespace

void check_machine(const MachineDescription& machine) {
  check_processor(machine.processor);
  if (machine.device) check_device(*machine.device);
  for (const LinkDescription& link : machine.links) check_link(link);
}

const DeviceDescription& device_of(const MachineDescription& machine) {
  if (!machine.device)
    throw Error(
        "model", "arrays in memory of devices on a machine without the section \"device\"",
        "a machine description with a device, as weft-bench --measure-machine FILE --device cuda makes "
        "it");
  return *machine.device;
}

double bytes_per_s(const LinkDescription& link, double bytes, int ranks_of_machine, int machines) {
  double speed = link.bytes_per_s.at(std::max(1.0, bytes));
  if (link.node_bytes_per_s > 0) speed = std::min(speed, link.node_bytes_per_s / ranks_of_machine);
  return link.share_by_machines.empty() ? speed : speed * link.share_by_machines.at(machines);
}

int rails_used(const LinkDescription& link, int wanted) {
  const auto described = std::max(1, static_cast<int>(link.rails.size()));
  return wanted == 0 ? described : std::min(wanted, described);
}

LinkDescription on_rails(const LinkDescription& link, int wanted) {
  LinkDescription on = link;
  if (link.rails.empty()) return on;
  const RailsDescription& rails = link.rails[static_cast<std::size_t>(rails_used(link, wanted)) - 1];
  on.latency_s = rails.latency_s;
  on.part_s = rails.part_s;
  on.bytes_per_s = Curve({{1, rails.bytes_per_s}});
  on.node_bytes_per_s = rails.bytes_per_s;
  on.burst_bytes = rails.burst_bytes;
  on.busy_share = rails.busy_share;
  return on;
}

const LinkDescription* find_link(const MachineDescription& machine, const std::string& between,
                                 const std::string& carries) {
  const auto found = std::find_if(
      machine.links.begin(), machine.links.end(),
      [&](const LinkDescription& link) { return link.between == between && link.carries == carries; });
  return found == machine.links.end() ? nullptr : &*found;
}

}  // namespace weft
