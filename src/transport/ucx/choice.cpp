// Which devices become rails: a function of values.
#include <algorithm>
#include <iterator>
#include <numeric>
#include <optional>
#include <sstream>

#include "base/text.hpp"
#include "traffic/rail_settings.hpp"
#include "transport/ucx/devices.hpp"
#include "weft/error.hpp"

namespace weft::ucx {

namespace {

constexpr const char* operation = "plan: option rails";

using Names = std::vector<std::string>;

/// What other hosts are not behind.
bool stays_on_host(const std::string& name) {
  constexpr const char* beginnings[] = {"docker", "br-",  "bridge", "veth",    "virbr", "vmnet", "vnet",
                                        "cni",    "cali", "cbr",    "flannel", "lxc",   "lxd",   "podman",
                                        "tap",    "tun",  "ifb",    "dummy",   "kube",  "wg"};
  return name == "lo" || std::any_of(std::begin(beginnings), std::end(beginnings),
                                     [&](const char* beginning) { return name.starts_with(beginning); });
}

std::string list_of(const std::vector<NetDevice>& devices) {
  Names names;
  for (const NetDevice& d : devices) names.push_back(d.name + " (" + name_of(d.device_class) + ")");
  return names.empty() ? "none" : join(names, ", ");
}

/// The names of one rank's devices of a class that may lead to other hosts, in alphabetical order, shorter
/// ones first, so that eth10 is behind eth2.
Names useful(const std::vector<NetDevice>& devices, DeviceClass wanted) {
  Names names;
  for (const NetDevice& d : devices)
    if (d.device_class == wanted && !stays_on_host(d.name)) names.push_back(d.name);
  std::sort(names.begin(), names.end(), [](const std::string& a, const std::string& b) {
    return a.size() != b.size() ? a.size() < b.size() : a < b;
  });
  names.erase(std::unique(names.begin(), names.end()), names.end());
  return names;
}

Names in_common(const std::vector<Names>& of_ranks) {
  Names common = of_ranks.front();
  for (const Names& names : of_ranks)
    std::erase_if(common, [&](const std::string& n) {
      return std::find(names.begin(), names.end(), n) == names.end();
    });
  return common;
}

bool has(const std::vector<NetDevice>& devices, const std::string& name) {
  return std::any_of(devices.begin(), devices.end(), [&](const NetDevice& d) { return d.name == name; });
}

/// `as_left`: those that some rank does not have are left out.
RailChoice choose_named(Names wanted, const std::vector<std::vector<NetDevice>>& of_ranks, bool as_left) {
  RailChoice choice;
  choice.named = !as_left;
  if (as_left)
    std::erase_if(wanted, [&](const std::string& name) {
      return std::any_of(of_ranks.begin(), of_ranks.end(), [&](const auto& of) { return !has(of, name); });
    });
  for (std::size_t r = 0; r < of_ranks.size(); ++r)
    for (const std::string& name : wanted) {
      const auto found = std::find_if(of_ranks[r].begin(), of_ranks[r].end(),
                                      [&](const NetDevice& d) { return d.name == name; });
      if (found == of_ranks[r].end())
        throw Error(operation, "\"" + name + "\", which is no network device of rank " + std::to_string(r),
                    "auto, a number, or devices that UCX has on all ranks; there: " + list_of(of_ranks[r]));
      if (r == 0) choice.classes.push_back(found->device_class);
    }
  choice.names.assign(of_ranks.size(), wanted);
  if (wanted.empty())
    throw Error(operation, "networks none of which is left on all ranks",
                "those that were there; rank 0 has " + list_of(of_ranks.front()));
  return choice;
}

/// Those of a class; empty if some rank has none.
RailChoice choose_of_class(DeviceClass device_class, const std::vector<std::vector<NetDevice>>& of_ranks) {
  std::vector<Names> names;
  for (const auto& devices : of_ranks) names.push_back(useful(devices, device_class));
  RailChoice choice{std::vector<Names>(of_ranks.size())};
  std::size_t least = names.front().size(), most = least;
  for (const Names& n : names) {
    least = std::min(least, n.size());
    most = std::max(most, n.size());
  }
  const Names common = in_common(names);
  if (!common.empty()) {
    choice.names.assign(of_ranks.size(), common);
    if (common.size() < most)
      choice.warning = "ranks have different network devices: those that all have become rails (" +
                       join(common, ", ") + ")";
  } else if (least > 0) {
    for (std::size_t r = 0; r < names.size(); ++r)
      choice.names[r].assign(names[r].begin(), names[r].begin() + static_cast<std::ptrdiff_t>(least));
    choice.warning =
        "network devices have different names on the ranks, and are paired in order: rank 0 has " +
        join(choice.names.front(), ", ") + "; option rails names others";
  }
  choice.classes.assign(choice.names.front().size(), device_class);
  return choice;
}

/// The nearest first; those that are equally far stay in order.
void put_nearest_first(RailChoice& choice, const std::vector<std::vector<NetDevice>>& of_ranks) {
  std::vector<long> distances(static_cast<std::size_t>(choice.count()), 0);
  for (std::size_t r = 0; r < of_ranks.size(); ++r)
    for (std::size_t j = 0; j < distances.size(); ++j)
      distances[j] += std::find_if(of_ranks[r].begin(), of_ranks[r].end(), [&](const NetDevice& d) {
                        return d.name == choice.names[r][j];
                      })->distance;
  std::vector<std::size_t> order(distances.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return distances[a] < distances[b]; });
  for (Names& names : choice.names) {
    const Names before = names;
    for (std::size_t j = 0; j < order.size(); ++j) names[j] = before[order[j]];
  }
}

}  // namespace

const char* name_of(DeviceClass device_class) {
  return device_class == DeviceClass::verbs ? "InfiniBand or RoCE" : "TCP";
}

std::string to_text(const std::vector<NetDevice>& devices) {
  std::string text;
  for (const NetDevice& d : devices)
    text += (d.device_class == DeviceClass::verbs ? "v " : "t ") + std::to_string(d.distance) + " " + d.name +
            "\n";
  return text;
}

std::vector<NetDevice> devices_of(const std::string& text) {
  std::vector<NetDevice> devices;
  for (const std::string& line : split_lines(text)) {
    std::istringstream words(line);
    char device_class = 't';
    NetDevice device;
    words >> device_class >> device.distance >> device.name;
    device.device_class = device_class == 'v' ? DeviceClass::verbs : DeviceClass::tcp;
    devices.push_back(std::move(device));
  }
  return devices;
}

std::string system_name(const std::string& device) {
  return device.substr(0, device.find(':'));
}

void measure(std::vector<NetDevice>& devices, const numa::Map& machine, int home) {
  for (NetDevice& d : devices) d.distance = machine.distance(home, machine.node_of(system_name(d.name)));
}

void RailChoice::leave_out(const std::vector<int>& rails) {
  for (auto rail = rails.rbegin(); rail != rails.rend(); ++rail) {
    for (Names& of_rank : names) of_rank.erase(of_rank.begin() + *rail);
    classes.erase(classes.begin() + *rail);
  }
}

RailChoice choose_rails(const std::string& wish, const std::vector<std::vector<NetDevice>>& of_ranks,
                        bool as_left) {
  std::optional<int> wanted = number_of_rails(wish);
  if (wish != "auto" && !wanted) return choose_named(split(wish, ','), of_ranks, as_left);
  RailChoice choice;
  for (const DeviceClass c : {DeviceClass::verbs, DeviceClass::tcp}) {
    choice = choose_of_class(c, of_ranks);
    if (choice.count() > 0) break;
  }
  if (choice.count() == 0)
    throw Error(operation, wish + ": some rank has no network device that leads to other hosts",
                "such a device on all ranks, or the names of those to be used; rank 0 has " +
                    list_of(of_ranks.front()));
  put_nearest_first(choice, of_ranks);
  if (as_left && wanted) wanted = std::min(*wanted, choice.count());
  choice.as_left = as_left;
  if (!wanted) return choice;
  if (*wanted < 1 || choice.count() < *wanted)
    throw Error(operation,
                wish + " where all ranks have " + std::to_string(choice.count()) + " (" +
                    join(choice.names.front(), ", ") + " on rank 0)",
                "1 to that many, or the names of those to be used; rank 0 has " + list_of(of_ranks.front()));
  choice.wanted = *wanted;
  return choice;
}

}  // namespace weft::ucx
