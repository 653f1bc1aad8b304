// Simple machine descriptions for tests of the model, and plans on them.
#pragma once

#include "api/option_table.hpp"
#include "api/predict.hpp"
#include "api/problem_check.hpp"

namespace weft::test {

/// Figures that are easy to count with: copies at 1 GB/s, a nanosecond for a point and a pass, links of 100
/// MB/s and a latency of 1 ms between machines.
inline MachineDescription described_machine() {
  MachineDescription m;
  m.name = "of a test";
  m.source = "chosen";
  ProcessorDescription& p = m.processor;
  p.name = "of a test";
  p.cores = 64;
  p.cache_bytes = 1 << 20;
  p.operation_s = 1e-8;
  p.copy_alone = p.copy_together = Curve({{1 << 16, 1e9}});
  p.share_by_run = p.share_by_run_in_cache = p.share_by_run_unaligned = Curve({{16, 1}});
  for (const int real : {4, 8})
    for (const char* shape : {fft_lines, fft_columns, fft_planes}) {
      const double seconds = shape == std::string(fft_planes) ? 2e-9 : 1e-9;
      p.ffts.push_back({"fftw", real, 64, shape, false, seconds, 1.5 * seconds});
    }
  for (const int real : {4, 8})
    for (const char* codec : {"fp32", "fp16", "bf16", "trim", "zfp", "zfp-accuracy"})
      p.codecs.push_back({codec, real, 4e9, 8e9});
  LinkDescription node{"node", "messages", 1e-6, 1e-6, Curve({{64, 1e9}, {1 << 20, 4e9}}), 0, 0, 1, 0};
  LinkDescription stores{"node", "stores", 0, 0, {}, 0, 0, 0, 2e-7};
  LinkDescription network{"network", "messages", 1e-3, 1e-6, Curve({{64, 1e8}}), 1e8, 0, 0, 0};
  m.links = {node, stores, network};
  return m;
}

/// The same with a device: copies at 1 GB/s from wherever, a nanosecond for a point and an axis, links of 1
/// GB/s; whole and half milliseconds for all that streams and their host take beside.
inline MachineDescription described_machine_with_device() {
  MachineDescription m = described_machine();
  DeviceDescription d;
  d.name = "device of a test";
  d.cache_bytes = 1 << 20;
  d.copy_alone = Curve({{1 << 16, 1e9}});
  d.share_by_run = Curve({{16, 1}});
  for (const int real : {4, 8})
    for (const char* shape : {fft_lines, fft_columns, fft_middle, fft_planes}) {
      const double seconds = shape == std::string(fft_planes) ? 2e-9 : 1e-9;
      d.ffts.push_back({"cufft", real, 64, shape, false, seconds, seconds, 0});
    }
  d.codecs = m.processor.codecs;
  d.kernel_s = 1e-3;
  d.node_s = 5e-4;
  d.event_s = 2.5e-4;
  d.flag_raise_s = 1e-4;
  d.flag_see_s = 2e-4;
  d.launch_kernel_s = 2e-3;
  d.launch_fft_s = 3e-3;
  d.launch_copy_s = 4e-3;
  d.launch_event_s = 0;
  d.launch_flags_s = 5e-3;
  d.launch_graph_s = 1e-2;
  d.launch_node_s = 1e-4;
  d.execution_s = 7e-3;
  m.device = d;
  const Curve speed({{64, 1e9}});
  m.links.push_back({over_peer, by_stores, 0, 0, speed, 0, 0, 0, 1e-3});
  m.links.push_back({over_peer, by_engines, 1e-3, 0, speed, 0, 0, 0, 0});
  m.links.push_back({over_host, by_engines, 1e-3, 0, speed, 0, 0, 0, 0});
  return m;
}

/// The machine of every rank.
inline std::vector<int> nodes_of(int ranks, int per_node) {
  std::vector<int> nodes;
  for (int r = 0; r < ranks; ++r) nodes.push_back(r / per_node);
  return nodes;
}

struct DescribedPlan {
  Shape shape = {64, 64, 64};
  int ranks = 4, per_node = 1;
  Options options;
  Distribution input = Distribution::slab(0), output = Distribution::slab(1);
  ReplayedRanks replayed = ReplayedRanks::all;
  bool threads = false;
  std::vector<int> devices = {};  ///< of every rank; empty: arrays on the host
  Direction direction = Direction::forward;

  std::vector<int> nodes() const { return nodes_of(ranks, per_node); }
  Setting setting_on(const MachineDescription& machine) const {
    return described_setting(machine, nodes(), threads, devices);
  }
  Design design_on(const MachineDescription& machine) const {
    Problem problem;
    problem.shape = shape;
    problem.input = input;
    problem.output = output;
    if (!devices.empty()) problem.memory = MemoryKind::cuda;
    check_problem(problem, ranks);
    return design(problem, wishes_of(options), setting_on(machine));
  }
  PlanPrediction on(const MachineDescription& machine) const {
    const Design d = design_on(machine);
    const Setting setting = setting_on(machine);
    return predict({machine, d, setting, Precision::float64, "fftw", replayed}, direction);
  }
  double seconds_on(const MachineDescription& machine) const { return on(machine).prediction.seconds; }
};

}  // namespace weft::test
