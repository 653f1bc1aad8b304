// Reads a machine's NUMA nodes by hwloc, whose library is opened when a plan first asks on a machine that has
// several. A build that did not find hwloc's headers has this as well, and says what it needs.
#include "base/numa/map.hpp"

#ifdef WEFT_WITH_HWLOC
#include <hwloc.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <memory>

#include "base/shared_library.hpp"
#endif

namespace weft::numa {

#ifndef WEFT_WITH_HWLOC

Found look_up(const std::string& /*xml_file*/) {
  return {{},
          "this build of Weft is without hwloc; install its headers (Debian: libhwloc-dev) and build with "
          "-DWEFT_HWLOC=ON"};
}

#else

namespace {

/// No function that hwloc.h defines itself is called, as those would have to be linked with the library.
struct Functions {
  decltype(&hwloc_get_api_version) api_version;
  decltype(&hwloc_topology_init) topology_init;
  decltype(&hwloc_topology_load) topology_load;
  decltype(&hwloc_topology_destroy) topology_destroy;
  decltype(&hwloc_topology_set_flags) set_flags;
  decltype(&hwloc_topology_set_xml) set_xml;
  decltype(&hwloc_topology_set_components) set_components;
  decltype(&hwloc_topology_set_io_types_filter) set_io_types_filter;
  decltype(&hwloc_get_obj_by_depth) get_obj_by_depth;
  decltype(&hwloc_bitmap_next) bitmap_next;
  decltype(&hwloc_bitmap_isset) bitmap_isset;
  decltype(&hwloc_distances_get_by_name) distances_get_by_name;
  decltype(&hwloc_distances_release) distances_release;
};

void bind_all(Functions& f, SharedLibrary::Binder& bind) {
  bind(f.api_version, "hwloc_get_api_version");
  bind(f.topology_init, "hwloc_topology_init");
  bind(f.topology_load, "hwloc_topology_load");
  bind(f.topology_destroy, "hwloc_topology_destroy");
  bind(f.set_flags, "hwloc_topology_set_flags");
  bind(f.set_xml, "hwloc_topology_set_xml");
  bind(f.set_components, "hwloc_topology_set_components");
  bind(f.set_io_types_filter, "hwloc_topology_set_io_types_filter");
  bind(f.get_obj_by_depth, "hwloc_get_obj_by_depth");
  bind(f.bitmap_next, "hwloc_bitmap_next");
  bind(f.bitmap_isset, "hwloc_bitmap_isset");
  bind(f.distances_get_by_name, "hwloc_distances_get_by_name");
  bind(f.distances_release, "hwloc_distances_release");
}

std::string find_functions(Functions& f) {
  std::string missing = open_for_good("WEFT_HWLOC_LIBRARY", {"libhwloc.so.15"},
                                      "install hwloc 2 (Debian: libhwloc15), or name its libhwloc.so.15",
                                      [&f](SharedLibrary::Binder& bind) { bind_all(f, bind); });
  constexpr unsigned release = 16;  // bits behind the number of the series, within which structures stay
  if (missing.empty() && f.api_version() >> release != HWLOC_API_VERSION >> release)
    missing =
        "hwloc is not of the series that Weft was built with; name a library that is in the "
        "environment variable WEFT_HWLOC_LIBRARY";
  return missing;
}

using Library = OptionalLibrary<Functions, find_functions>;

using Topology = std::unique_ptr<hwloc_topology, decltype(&hwloc_topology_destroy)>;

/// With devices, and with what this process may not use: where a device is does not depend on that. Null if
/// hwloc cannot read it.
Topology load(const Functions& f, const std::string& xml_file) {
  hwloc_topology_t raw = nullptr;
  if (f.topology_init(&raw) != 0) raw = nullptr;
  Topology topology(raw, f.topology_destroy);
  if (!topology) return topology;
  // They would initialise GPUs, which the program has not asked for, or take time.
  for (const char* component : {"cuda", "nvml", "opencl", "rsmi", "levelzero", "gl"})
    f.set_components(raw, HWLOC_TOPOLOGY_COMPONENTS_FLAG_BLACKLIST, component);
  const bool good = f.set_flags(raw, HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED) == 0 &&
                    f.set_io_types_filter(raw, HWLOC_TYPE_FILTER_KEEP_IMPORTANT) == 0 &&
                    (xml_file.empty() || f.set_xml(raw, xml_file.c_str()) == 0) && f.topology_load(raw) == 0;
  if (!good) topology.reset();
  return topology;
}

Processors numbers_in(const Functions& f, hwloc_const_bitmap_t set) {
  Processors numbers;
  for (int i = f.bitmap_next(set, -1); i >= 0; i = f.bitmap_next(set, i)) numbers.push_back(i);
  return numbers;
}

/// Calls `take` for every object of a kind, which has a depth of its own.
template <class Take>
void for_each(const Functions& f, hwloc_topology_t topology, int depth, const Take& take) {
  for (unsigned i = 0;; ++i) {
    const hwloc_obj* const object = f.get_obj_by_depth(topology, depth, i);
    if (object == nullptr) return;
    take(*object);
  }
}

/// Memory whose processors a node with a lower number has already is beside that node, not another one.
std::vector<Node> nodes_of(const Functions& f, hwloc_topology_t topology) {
  std::vector<Node> all;
  for_each(f, topology, HWLOC_TYPE_DEPTH_NUMANODE, [&](const hwloc_obj& object) {
    Processors processors = numbers_in(f, object.cpuset);
    if (!processors.empty()) all.push_back({static_cast<int>(object.os_index), std::move(processors)});
  });
  std::sort(all.begin(), all.end(), [](const Node& a, const Node& b) { return a.number < b.number; });
  std::vector<Node> nodes;
  for (Node& node : all) {
    const bool shares = std::any_of(nodes.begin(), nodes.end(), [&](const Node& taken) {
      return std::find_first_of(taken.processors.begin(), taken.processors.end(), node.processors.begin(),
                                node.processors.end()) != taken.processors.end();
    });
    if (!shares) nodes.push_back(std::move(node));
  }
  return nodes;
}

/// Of a device: the only node of the part of the machine that it is attached to.
int node_of(const Functions& f, const std::vector<Node>& nodes, const hwloc_obj& device) {
  const hwloc_obj* place = &device;
  while (place != nullptr && place->nodeset == nullptr) place = place->parent;
  if (place == nullptr) return unknown;
  int only = unknown;
  for (const Node& node : nodes) {
    if (f.bitmap_isset(place->nodeset, static_cast<unsigned>(node.number)) == 0) continue;
    if (only != unknown) return unknown;
    only = node.number;
  }
  return only;
}

std::string address_of(const hwloc_obj& device) {
  const auto& pci = device.attr->pcidev;
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%04x:%02x:%02x.%x", static_cast<unsigned>(pci.domain),
                static_cast<unsigned>(pci.bus), static_cast<unsigned>(pci.dev),
                static_cast<unsigned>(pci.func));
  return text.data();
}

std::map<std::string, int> devices_of(const Functions& f, hwloc_topology_t topology,
                                      const std::vector<Node>& nodes) {
  std::map<std::string, int> devices;
  const auto note = [&](const std::string& name, const hwloc_obj& device) {
    if (const int node = node_of(f, nodes, device); node != unknown) devices[name] = node;
  };
  for_each(f, topology, HWLOC_TYPE_DEPTH_OS_DEVICE, [&](const hwloc_obj& device) {
    const hwloc_obj_osdev_type_t type = device.attr->osdev.type;
    const bool network = type == HWLOC_OBJ_OSDEV_NETWORK || type == HWLOC_OBJ_OSDEV_OPENFABRICS;
    if (network && device.name != nullptr) note(device.name, device);
  });
  for_each(f, topology, HWLOC_TYPE_DEPTH_PCI_DEVICE,
           [&](const hwloc_obj& device) { note(address_of(device), device); });
  return devices;
}

/// Empty if the firmware does not say, or leaves some node out.
std::vector<std::vector<int> > distances_of(const Functions& f, hwloc_topology_t topology,
                                            const std::vector<Node>& nodes) {
  hwloc_distances_s* raw = nullptr;
  unsigned count = 1;
  if (f.distances_get_by_name(topology, "NUMALatency", &count, &raw, 0) != 0 || count == 0) return {};
  std::map<int, unsigned> places;
  for (unsigned i = 0; i < raw->nbobjs; ++i)
    if (raw->objs[i] != nullptr) places[static_cast<int>(raw->objs[i]->os_index)] = i;
  std::vector<std::vector<int> > distances;
  const bool all = std::all_of(nodes.begin(), nodes.end(),
                               [&](const Node& node) { return places.count(node.number) > 0; });
  for (const Node& from : nodes) {
    std::vector<int> row;
    for (const Node& to : nodes)
      if (all)
        row.push_back(static_cast<int>(raw->values[places[from.number] * raw->nbobjs + places[to.number]]));
    if (all) distances.push_back(std::move(row));
  }
  f.distances_release(topology, raw);
  return distances;
}

}  // namespace

Found look_up(const std::string& xml_file) {
  if (!Library::missing().empty()) return {{}, Library::missing()};
  const Functions& f = Library::functions();
  const Topology topology = load(f, xml_file);
  if (!topology)
    return {{}, "hwloc cannot read " + (xml_file.empty() ? std::string("this machine") : xml_file)};
  Found found;
  found.map.nodes = nodes_of(f, topology.get());
  if (!found.map.has_several()) return {};
  found.map.distances = distances_of(f, topology.get(), found.map.nodes);
  found.map.devices = devices_of(f, topology.get(), found.map.nodes);
  return found;
}

#endif

}  // namespace weft::numa
