#include "transport/ucx/devices.hpp"

#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <functional>

#include "transport/ucx/library.hpp"

namespace weft::ucx {

std::atomic<bool> detail::pretended_loss{false};

namespace {

/// Calls `take` for every device of a memory domain of UCX. Domains that cannot be opened have none.
void look_into(uct_component_h component, const char* domain,
               const std::function<void(const uct_tl_resource_desc_t&)>& take) {
  const Functions& f = functions();
  uct_md_config_t* config = nullptr;
  if (f.md_config_read(component, nullptr, nullptr, &config) != UCS_OK) return;
  uct_md_h opened = nullptr;
  const ucs_status_t status = f.md_open(component, domain, config, &opened);
  f.md_config_release(config);
  if (status != UCS_OK) return;
  uct_tl_resource_desc_t* resources = nullptr;
  unsigned count = 0;
  if (f.md_query_resources(opened, &resources, &count) == UCS_OK) {
    for (unsigned i = 0; i < count; ++i) take(resources[i]);
    f.release_resources(resources);
  }
  f.md_close(opened);
}

void look_into(uct_component_h component, const std::function<void(const uct_tl_resource_desc_t&)>& take) {
  const Functions& f = functions();
  uct_component_attr_t attributes{};
  attributes.field_mask = UCT_COMPONENT_ATTR_FIELD_MD_RESOURCE_COUNT;
  if (f.component_query(component, &attributes) != UCS_OK) return;
  std::vector<uct_md_resource_desc_t> domains(attributes.md_resource_count);
  if (domains.empty()) return;
  attributes.field_mask = UCT_COMPONENT_ATTR_FIELD_MD_RESOURCES;
  attributes.md_resources = domains.data();
  if (f.component_query(component, &attributes) != UCS_OK) return;
  for (const uct_md_resource_desc_t& domain : domains) look_into(component, domain.md_name, take);
}

}  // namespace

std::vector<NetDevice> network_devices() {
  const Functions& f = functions();
  uct_component_h* components = nullptr;
  unsigned count = 0;
  check(f.query_components(&components, &count), "uct_query_components");
  std::vector<NetDevice> devices;
  const auto take = [&](const uct_tl_resource_desc_t& resource) {
    if (resource.dev_type != UCT_DEVICE_TYPE_NET) return;
    const bool tcp = std::strcmp(resource.tl_name, "tcp") == 0;
    const NetDevice found{resource.dev_name, tcp ? DeviceClass::tcp : DeviceClass::verbs};
    const bool known =
        std::any_of(devices.begin(), devices.end(), [&](const NetDevice& d) { return d.name == found.name; });
    if (!known) devices.push_back(found);
  };
  for (unsigned i = 0; i < count; ++i) look_into(components[i], take);
  f.release_component_list(components);
  return devices;
}

bool has_link(const std::string& device) {
  if (detail::pretended_loss) return false;
  ifreq request{};
  if (device.size() >= sizeof request.ifr_name) return true;
  std::memcpy(request.ifr_name, device.c_str(), device.size());
  const int socket_of = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
  if (socket_of < 0) return true;
  const bool known = ioctl(socket_of, SIOCGIFFLAGS, &request) == 0;
  close(socket_of);
  constexpr int wanted = IFF_UP | IFF_RUNNING;
  return known && (request.ifr_flags & wanted) == wanted;
}

}  // namespace weft::ucx
