// Which name was meant by one that does not exist. Messages about unknown names end with it.
#pragma once

#include <string>
#include <vector>

namespace weft {

/// The name that the fewest typing mistakes (a letter too many, too few or another one, two neighbours
/// exchanged; capitals do not count) turn into `name`; empty if it takes more than one for three letters.
std::string nearest_name(const std::string& name, const std::vector<std::string>& names);

/// "one of a, b, c", and where a name is near "; the nearest is b".
std::string one_of(const std::vector<std::string>& names, const std::string& name);

}  // namespace weft
