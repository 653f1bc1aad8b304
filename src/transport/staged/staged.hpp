// Buffered exchange of device memory through the host: parts are copied to pinned memory, carried by any
// exchange of the host that packs, and copied back as they arrive. It asks nothing of the medium.
#pragma once

#include <memory>

#include "transport/transport.hpp"

namespace weft {

/// `context.workspace`: pinned memory as large as the workspace, for all exchanges of the plan; offsets in it
/// are those of the workspace.
std::unique_ptr<StreamBufferedExchange> make_staged(const ExchangeRow& host, const ExchangeContext& context);

}  // namespace weft
