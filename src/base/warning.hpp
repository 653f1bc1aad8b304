// Warnings of what works, but not as well as it could. Each text is printed once per process, on standard
// error, unless WEFT_WARNINGS=off.
#pragma once

#include <string>

namespace weft {

void warn(const std::string& text);

}  // namespace weft
