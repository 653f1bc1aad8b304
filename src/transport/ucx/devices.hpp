// The network devices of this machine that UCX can use, and which of them become rails.
#pragma once

#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

#include "base/numa/map.hpp"

namespace weft::ucx {

/// What a device is reached by, the better first.
enum class DeviceClass : std::uint8_t { verbs, tcp };
const char* name_of(DeviceClass device_class);  ///< "InfiniBand or RoCE", "TCP"

struct NetDevice {
  std::string name;  ///< as UCX has it: "eth0", "mlx5_0:1"
  DeviceClass device_class = DeviceClass::tcp;
  int distance = 0;  ///< from the NUMA node of its rank; 0: all that this rank has are alike
};

/// What the system calls a device, without UCX's number of the port: "mlx5_0".
std::string system_name(const std::string& device);

/// Notes how far a rank's devices are from the NUMA node `home`.
void measure(std::vector<NetDevice>& devices, const numa::Map& machine, int home);

/// The device that stands for the memory of this machine.
inline constexpr const char* shared_memory = "";

/// Those that are up. Throws `weft::Error` if UCX does not say.
std::vector<NetDevice> network_devices();

namespace detail {
/// Tests let a network interface lose its link, as far as this process knows: its name, or null.
extern std::atomic<const char*> pretended_loss;
/// Tests let all network devices write alone.
extern std::atomic<bool> pretended_writing;
/// If not null, whether UCX takes memory of GPUs. What it then takes is memory of the host, as the test
/// double of devices has it.
extern std::atomic<const bool*> pretended_taking;
}  // namespace detail

/// Whether a network interface is there, up, and has its link.
bool has_link(const std::string& device);

/// Whether a device writes into the memory of another process without help from that, as InfiniBand and RoCE
/// do. Throws `weft::Error` if UCX does not say.
bool writes_alone(const std::string& device);

/// The devices of all ranks as text that they can exchange, and back.
std::string to_text(const std::vector<NetDevice>& devices);
std::vector<NetDevice> devices_of(const std::string& text);

/// The rails of all ranks: rail j of one rank is connected with rail j of every other.
struct RailChoice {
  std::vector<std::vector<std::string>> names;  ///< per rank, the device of each of its rails
  std::vector<DeviceClass> classes = {};        ///< per rail
  std::string warning = {};                     ///< what rank 0 is to warn of; or nothing
  bool named = false;    ///< the user has named the devices, so that none may be left out
  int wanted = 0;        ///< of those by which all ranks reach each other, so many become rails; 0: all
  bool as_left = false;  ///< or fewer

  int count() const { return static_cast<int>(classes.size()); }
  /// `rails` in ascending order.
  void leave_out(const std::vector<int>& rails);
  friend bool operator==(const RailChoice&, const RailChoice&) = default;
};

/// `wish`: option rails; `of_ranks`: the devices of every rank. The same on all ranks. Throws `weft::Error`.
/// auto and numbers take what all ranks have by name, of the best class in which there is anything; loopback
/// and what joins containers and virtual machines of one host are no rails unless they are named. Ranks that
/// have no name in common have their devices paired in order, with a warning. Of rails that are not named
/// those that are nearest in the sum over all ranks come first. `as_left`: of a number, or of names, those
/// that all ranks have will do, if there are any.
RailChoice choose_rails(const std::string& wish, const std::vector<std::vector<NetDevice>>& of_ranks,
                        bool as_left = false);

}  // namespace weft::ucx
