// Suggests the name that was meant where an unknown one was given. Error messages about unknown names end
// with it.
#pragma once

#include <string>
#include <vector>

namespace weft {

/// The one of `names` that is nearest to `name` in edit distance: a letter inserted, deleted, replaced, or
/// two neighbours exchanged; case does not count. Empty if the distance is more than a third of the length.
std::string nearest_name(const std::string& name, const std::vector<std::string>& names);

/// "one of a, b, c", with "; the nearest is b" if `nearest_name` finds one.
std::string one_of(const std::vector<std::string>& names, const std::string& name);

}  // namespace weft
