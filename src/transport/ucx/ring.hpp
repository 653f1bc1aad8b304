// The exchange over rails.
#pragma once

#include "transport/transport.hpp"

namespace weft {

/// `ucx::Rails::prepare` has made the rails of these ranks.
std::unique_ptr<Carrier> make_ucx_ring(const CarrierRequest& request);

}  // namespace weft
