// From options to what was asked for.
#pragma once

#include <map>
#include <string>

#include "design/wishes.hpp"
#include "weft/options.hpp"

namespace weft {

/// Every option, parsed: as wisdom or trials have found, else as the program has set it, else from the
/// environment, else the default. Throws `weft::Error` for values in the environment that do not exist.
Wishes wishes_of(const Options& options, const std::map<std::string, std::string>& learnt = {},
                 Origin learnt_by = Origin::trial);

}  // namespace weft
