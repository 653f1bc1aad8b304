// Whether an exchange serves the ranks of a setting, whether they are here or described.
#pragma once

#include <string>

#include "design/setting.hpp"
#include "transport/transport.hpp"

namespace weft {

/// Why a row does not serve these ranks, as an error says it; empty: it does. The setting's ranks and devices
/// are complete.
std::string why_not(const ExchangeRow& row, const Setting& setting);

}  // namespace weft
