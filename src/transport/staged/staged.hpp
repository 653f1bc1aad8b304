// Carries memory of devices by an exchange of the host: parts are copied to pinned memory, carried by any
// exchange that packs, and copied back as they arrive. It asks nothing of the medium. Parts that are not
// packed yet are packed by the same copy. Where the medium takes memory of devices nothing is copied. Either
// way the host waits for a part before it sends it.
#pragma once

#include <memory>

#include "transport/transport.hpp"

namespace weft {

/// `pinned`: for packed parts as large as the workspace, for all exchanges of the plan; offsets in it are
/// those of the workspace. For strided parts it has `staged_bytes` for this exchange. Null: the parts are
/// packed, and `takes_devices` holds for the exchange.
std::unique_ptr<Carrier> make_staged(const ExchangeRow& host, const CarrierRequest& request,
                                     std::shared_ptr<std::byte> pinned);

/// What the strided parts of a reshape take when they are packed.
Index staged_bytes(const ReshapeMessages& messages);

}  // namespace weft
