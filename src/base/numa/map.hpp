// The NUMA nodes of a machine, and which of them its network devices and GPUs are attached to: a value. It is
// read by hwloc (numa/hwloc.cpp), once in a process; everything below only looks things up in it. On a
// machine with one NUMA node the map is empty, and nobody asks hwloc.
#pragma once

#include <atomic>
#include <map>
#include <string>
#include <vector>

namespace weft::numa {

/// Processors by the numbers of the system, ascending.
using Processors = std::vector<int>;

struct Node {
  int number;  ///< of the system
  Processors processors;
};

/// The number of a node that is not known.
inline constexpr int unknown = -1;

struct Map {
  /// By number. Memory without processors of its own, such as that of a GPU, is none.
  std::vector<Node> nodes = {};
  /// Between nodes in this order, as the firmware has them: 10 within a node. Empty: not known.
  std::vector<std::vector<int>> distances = {};
  /// The node of every network device ("eth0", "mlx5_0") and of every device on PCI ("0000:3b:00.0"). What is
  /// attached to several nodes alike is not in it.
  std::map<std::string, int> devices = {};

  /// Without several nodes all is near to all, and the answers below are "unknown", nothing and 0.
  bool has_several() const { return nodes.size() > 1; }
  /// Of a device, by either name; `unknown` if the map does not have it.
  int node_of(const std::string& device) const;
  /// The one node that all these processors belong to; `unknown` if there are several.
  int node_of(const Processors& processors) const;
  /// 10 within a node, 20 or what the firmware says between two. What is `unknown` is as far as the farthest
  /// node; from `unknown` all is alike, 0.
  int distance(int from, int to) const;
  /// Those of `allowed` that are on the node of any of the devices; none if no node is known.
  Processors near(const std::vector<std::string>& devices, const Processors& allowed) const;
};

/// What hwloc says of a machine, or why it says nothing.
struct Found {
  Map map;
  std::string missing;
};
/// `xml_file`: a machine that `lstopo` has written down; empty: this one. Opens hwloc's library.
Found look_up(const std::string& xml_file = "");

/// This machine, as all of Weft sees it. Empty if it has one NUMA node, if hwloc is missing, or if the
/// environment variable WEFT_NUMA says off.
const Map& of_machine();

/// The same in words: "2 NUMA nodes", "one NUMA node", "not told apart: " and why.
std::string description();

namespace detail {
/// Tests let this process run on another machine; null: on this one.
extern std::atomic<const Map*> pretended_machine;
}  // namespace detail

}  // namespace weft::numa
