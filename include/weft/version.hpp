// The version, of these headers and of the library that a program runs with. The build takes its version from
// here.
#pragma once

#include "weft/export.hpp"

/// Numbers, and a string of them.
#define WEFT_VERSION_MAJOR 0
#define WEFT_VERSION_MINOR 1
#define WEFT_VERSION_PATCH 0
#define WEFT_VERSION "0.1.0"

namespace weft {

/// The version of the library, "0.1.0": with a shared library not always that of the headers that a program
/// was compiled with, `WEFT_VERSION`.
WEFT_API const char* version() noexcept;

}  // namespace weft
