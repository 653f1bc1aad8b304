#include "transport/ucx/context.hpp"

#include <optional>

#include "base/environment.hpp"
#include "transport/ucx/devices.hpp"
#include "weft/error.hpp"

namespace weft::ucx {

namespace {

#ifdef WEFT_WITH_HIP
constexpr ucs_memory_type_t of_gpus = UCS_MEMORY_TYPE_ROCM;
#else
constexpr ucs_memory_type_t of_gpus = UCS_MEMORY_TYPE_CUDA;
#endif

bool takes_gpus(ucp_context_h context) {
  ucp_context_attr_t answer{};
  answer.field_mask = UCP_ATTR_FIELD_MEMORY_TYPES;
  const ucs_status_t status = functions().context_query(context, &answer);
  return status == UCS_OK && (answer.memory_types & (std::uint64_t{1} << of_gpus)) != 0;
}

/// What a context says. A UCX that cannot be opened says so when it is used.
bool says_that_it_takes_gpus(const std::string& device) {
  try {
    const ucp_context_h context = make_context(device, false);
    const bool says = takes_gpus(context);
    functions().cleanup(context);
    return says;
  } catch (const Error&) {
    return false;
  }
}

/// Over TCP, messages of this length and more wait for their receiver to have posted them, so that nothing
/// long waits in memory of UCX. Shorter ones are sent at once.
constexpr const char* too_long_at_once = "262145";

/// With settings, which the context does not keep.
ucs_status_t init(const ucp_config_t* config, ucp_context_h& context) {
  ucp_params_t p{};
  p.field_mask = UCP_PARAM_FIELD_FEATURES | UCP_PARAM_FIELD_MT_WORKERS_SHARED;
  p.features = UCP_FEATURE_TAG | UCP_FEATURE_RMA;
  p.mt_workers_shared = 1;
  return functions().init_version(UCP_API_MAJOR, UCP_API_MINOR, &p, config, &context);
}

}  // namespace

void check_opened(ucs_status_t status, const char* call, const std::string& device) {
  if (status == UCS_OK) return;
  const std::optional<std::string> transports = environment_value("UCX_TLS");
  throw Error("rails",
              std::string(call) + " of " + (device == shared_memory ? "shared memory" : device) + ": " +
                  text_of(status) + (transports ? ", with UCX_TLS=" + *transports : ""),
              transports ? "transports in UCX_TLS that UCX has for this device, or none named there"
                         : "a device that UCX can open; InfiniBand also needs locked memory (ulimit -l)");
}

ucp_context_h make_context(const std::string& device, bool is_interface) {
  const Functions& f = functions();
  ucp_config_t* config = nullptr;
  check(f.config_read(nullptr, nullptr, &config), "ucp_config_read");
  const bool memory = device == shared_memory;
  ucs_status_t status = f.config_modify(config, "NET_DEVICES", device.c_str());
  // Without a network all that is left leads to ranks of this machine, and to memory of its GPUs. Parts for
  // ranks of other machines have the network alone, also where machines are emulated on one.
  if (status == UCS_OK && (memory || !environment_value("UCX_TLS")))
    status = f.config_modify(config, "TLS", memory ? "all" : "^sm");
  // UCX would stand in connect() until the system gives a network up that leads nowhere: some two minutes.
  // Versions that do not know this go on to do so.
  if (is_interface && !environment_value("UCX_TCP_CONN_NB")) f.config_modify(config, "CONN_NB", "y");
  ucp_context_h context = nullptr;
  if (status == UCS_OK) status = init(config, context);
  // To ask the receiver takes a turn of both ranks. Memory of GPUs would be sent at once in small pieces.
  if (status == UCS_OK && is_interface && !environment_value("UCX_RNDV_THRESH") && !takes_gpus(context) &&
      f.config_modify(config, "RNDV_THRESH", too_long_at_once) == UCS_OK) {
    f.cleanup(context);
    status = init(config, context);
  }
  f.config_release(config);
  check_opened(status, "ucp_init", device);
  return context;
}

ucs_memory_type_t memory_type(bool of_devices) {
  return of_devices && detail::pretended_taking == nullptr ? of_gpus : UCS_MEMORY_TYPE_HOST;
}

bool takes_devices() {
  if (const bool* other = detail::pretended_taking) return *other;
  static const bool says = missing().empty() && says_that_it_takes_gpus(shared_memory) &&
                           says_that_it_takes_gpus("all");  // with what UCX_TLS leaves to rails
  return says;
}

}  // namespace weft::ucx
