// A context of UCX for one device, and the memory that UCX takes.
#pragma once

#include <string>

#include "transport/ucx/library.hpp"

namespace weft::ucx {

/// By settings of ours alone; but who asks UCX for transports by UCX_TLS gets them. Throws `weft::Error`.
ucp_context_h make_context(const std::string& device, bool is_interface);
/// Throws `weft::Error` unless `status` is UCS_OK. `call`: one that opens a device.
void check_opened(ucs_status_t status, const char* call, const std::string& device);

/// As UCX calls memory of the GPUs of this build, or of the host.
ucs_memory_type_t memory_type(bool of_devices);

/// Whether UCX says that it takes memory of these GPUs. The first call opens a context to ask it.
bool takes_devices();

}  // namespace weft::ucx
