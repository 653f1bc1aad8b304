// Warnings: what works, but not as well as it could. They go to standard error, each once per process, unless
// WEFT_WARNINGS=off.
#pragma once

#include <string>

namespace weft {

void warn(const std::string& text);

}  // namespace weft
