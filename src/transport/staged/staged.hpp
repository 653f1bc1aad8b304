// Buffered exchange of device memory through the host: parts are copied to pinned memory, carried by any
// exchange of the host that packs, and copied back as they arrive. It asks nothing of the medium. Parts that
// are not packed yet are packed by the same copy.
#pragma once

#include <memory>

#include "transport/transport.hpp"

namespace weft {

/// `context.workspace`: pinned memory. For packed parts it is as large as the workspace, for all exchanges of
/// the plan; offsets in it are those of the workspace. For strided parts it has `staged_bytes` for this
/// exchange.
std::unique_ptr<StreamBufferedExchange> make_staged(const ExchangeRow& host, const ExchangeContext& context);

/// What the strided parts of a reshape take when they are packed.
Index staged_bytes(const ReshapeMessages& messages);

}  // namespace weft
