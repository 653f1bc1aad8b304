#include "measure_machine.hpp"

#include <algorithm>
#include <fstream>
#include <future>
#include <thread>

#include "clock.hpp"
#include "comm/agree.hpp"
#include "measure_device.hpp"
#include "model/machine_json.hpp"
#include "tune/machine.hpp"

namespace weft::bench {

namespace {

/// What differs between two machines that are not one, also where each has a name of its own.
std::string system_identity() {
  std::ifstream file("/proc/sys/kernel/random/boot_id");
  std::string id;
  std::getline(file, id);
  return id;
}

/// Runs `work` on the calling rank if `takes_part`, and tells all ranks if it fails.
template <class Work>
void on_some(const Comm& comm, bool takes_part, const Work& work) {
  agree(comm.impl(), "weft-bench --measure-machine", [&] {
    if (takes_part) work();
  });
}

}  // namespace

MachineDescription measure_machine(const Comm& comm, const std::shared_ptr<Device>& device) {
  const std::vector<int>& nodes = comm.impl().nodes();
  const auto mine = static_cast<std::size_t>(comm.rank());
  const std::string system = system_identity();
  const bool one_system = comm.impl().broadcast(system, 0) == system && !system.empty();
  MachineDescription machine;
  machine.emulated = slowest(comm, one_system ? 0 : 1) == 0 && several_nodes(comm.impl());
  // The first ranks of the machine of rank 0, or of all if they are one, as many as there are cores.
  const auto first = std::count_if(nodes.begin(), nodes.begin() + comm.rank(),
                                   [&](int n) { return machine.emulated || n == nodes.front(); });
  on_some(comm, comm.rank() == 0, [&] {
    // Beside each other: the device keeps one core busy, which makes plans and enqueues.
    const auto when = std::thread::hardware_concurrency() > 1 ? std::launch::async : std::launch::deferred;
    std::future<DeviceDescription> of_device;
    if (device) of_device = std::async(when, [&] { return measure_device(device); });
    machine.processor = measure_processor();
    if (device) machine.device = of_device.get();
  });
  const auto cores = static_cast<int>(slowest(comm, machine.processor.cores));
  const bool together = (machine.emulated || nodes[mine] == nodes.front()) && first < cores;
  Curve copies;
  on_some(comm, together, [&] { copies = measure_copies(); });
  std::vector<CurvePoint> points = comm.rank() == 0 ? copies.points() : std::vector<CurvePoint>();
  points.resize(static_cast<std::size_t>(slowest(comm, static_cast<double>(points.size()))));
  for (std::size_t i = 0; i < points.size(); ++i) {
    const double own = together ? copies.points()[i].y : 1e300;
    points[i].y = -slowest(comm, -own);  // of the slowest rank
  }
  machine.processor.copy_together = Curve(points);
  machine.links = measure_links(comm);
  if (device) {
    const DeviceDescription described = machine.device.value_or(DeviceDescription());
    for (LinkDescription& link : measure_device_links(comm, device, described))
      machine.links.push_back(std::move(link));
  }
  machine.name = comm.impl().broadcast(
      processor_text() + ", " + ranks_text(nodes) + " ranks" + (device ? ", " + device->model() : ""), 0);
  machine.source = "measured by weft-bench --measure-machine";
  if (comm.rank() == 0) check_machine(machine);
  return machine;
}

}  // namespace weft::bench
