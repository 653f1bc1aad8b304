// One message on each rail for each pair of machines.
#pragma once

#include "transport/transport.hpp"

namespace weft {

/// `ucx::Rails::prepare` has made the rails of these ranks.
std::unique_ptr<Carrier> make_node_messages_on_rails(const CarrierRequest& request);

}  // namespace weft
