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

std::atomic<const char*> detail::pretended_loss{nullptr};
std::atomic<bool> detail::pretended_writing{false};

namespace {

/// Of a memory domain of UCX, a device by one of the transports that it has.
using Take = std::function<void(uct_md_h, const uct_tl_resource_desc_t&)>;

/// Calls `take` for every device of a memory domain. Domains that cannot be opened have none.
void look_into(uct_component_h component, const char* domain, const Take& take) {
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
    for (unsigned i = 0; i < count; ++i) take(opened, resources[i]);
    f.release_resources(resources);
  }
  f.md_close(opened);
}

void look_into(uct_component_h component, const Take& take) {
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

void look_into_all(const Take& take) {
  const Functions& f = functions();
  uct_component_h* components = nullptr;
  unsigned count = 0;
  check(f.query_components(&components, &count), "uct_query_components");
  for (unsigned i = 0; i < count; ++i) look_into(components[i], take);
  f.release_component_list(components);
}

/// What a query fills in. Later versions of UCX may write more than these headers know.
template <class Attributes>
union Answer {
  Attributes attributes;
  char room[8192];
};

/// Whether the domain's devices ask for a key before they touch memory. Those that do need nobody beside them
/// to write there. Over TCP, where the process on the other side does that, keys are empty.
bool asks_for_keys(uct_md_h domain) {
  Answer<uct_md_attr_t> answer{};
  return functions().md_query(domain, &answer.attributes) == UCS_OK &&
         (answer.attributes.cap.flags & UCT_MD_FLAG_NEED_RKEY) != 0 && answer.attributes.rkey_packed_size > 0;
}

/// Whether a transport puts from where the data are. It has to be opened to say so.
bool puts_in_place(uct_md_h domain, const uct_tl_resource_desc_t& resource) {
  const Functions& f = functions();
  ucs_async_context_t* async = nullptr;
  uct_worker_h worker = nullptr;
  uct_iface_config_t* config = nullptr;
  uct_iface_h opened = nullptr;
  bool puts = false;
  if (f.async_create(UCS_ASYNC_MODE_THREAD_SPINLOCK, &async) != UCS_OK) return false;
  if (f.uct_worker_create(async, UCS_THREAD_MODE_SINGLE, &worker) == UCS_OK) {
    if (f.iface_config_read(domain, resource.tl_name, nullptr, nullptr, &config) == UCS_OK) {
      uct_iface_params_t p{};
      p.field_mask = UCT_IFACE_PARAM_FIELD_OPEN_MODE | UCT_IFACE_PARAM_FIELD_DEVICE |
                     UCT_IFACE_PARAM_FIELD_CPU_MASK | UCT_IFACE_PARAM_FIELD_STATS_ROOT |
                     UCT_IFACE_PARAM_FIELD_RX_HEADROOM;
      p.open_mode = UCT_IFACE_OPEN_MODE_DEVICE;
      p.mode.device.tl_name = resource.tl_name;
      p.mode.device.dev_name = resource.dev_name;
      if (f.iface_open(domain, worker, &p, config, &opened) == UCS_OK) {
        Answer<uct_iface_attr_t> answer{};
        puts = f.iface_query(opened, &answer.attributes) == UCS_OK &&
               (answer.attributes.cap.flags & UCT_IFACE_FLAG_PUT_ZCOPY) != 0;
        f.iface_close(opened);
      }
      f.md_config_release(config);
    }
    f.uct_worker_destroy(worker);
  }
  f.async_destroy(async);
  return puts;
}

}  // namespace

std::vector<NetDevice> network_devices() {
  std::vector<NetDevice> devices;
  look_into_all([&](uct_md_h, const uct_tl_resource_desc_t& resource) {
    if (resource.dev_type != UCT_DEVICE_TYPE_NET) return;
    const bool tcp = std::strcmp(resource.tl_name, "tcp") == 0;
    const NetDevice found{resource.dev_name, tcp ? DeviceClass::tcp : DeviceClass::verbs};
    if (tcp && !has_link(found.name)) return;
    const bool known =
        std::any_of(devices.begin(), devices.end(), [&](const NetDevice& d) { return d.name == found.name; });
    if (!known) devices.push_back(found);
  });
  return devices;
}

bool writes_alone(const std::string& device) {
  bool writes = false;
  look_into_all([&](uct_md_h domain, const uct_tl_resource_desc_t& resource) {
    const bool is_it =
        device == shared_memory ? resource.dev_type == UCT_DEVICE_TYPE_SHM : resource.dev_name == device;
    writes = writes || (is_it && asks_for_keys(domain) && puts_in_place(domain, resource));
  });
  return writes;
}

bool has_link(const std::string& device) {
  if (const char* lost = detail::pretended_loss; lost != nullptr && device == lost) return false;
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
