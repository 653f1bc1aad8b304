// Buffered exchange of device memory by an exchange whose medium takes such memory: parts are carried from
// where they lie packed to where they are unpacked. The host waits for a part before it sends it.
#pragma once

#include <memory>

#include "transport/transport.hpp"

namespace weft {

/// `host`: one for which `takes_devices` holds.
std::unique_ptr<StreamBufferedExchange> make_unstaged(const ExchangeRow& host,
                                                      const ExchangeContext& context);

}  // namespace weft
