// The version of these headers and of the library that a program runs with. The build reads the version from
// this file.
#pragma once

#include "weft/export.hpp"

/// The version of these headers.
#define WEFT_VERSION_MAJOR 0
#define WEFT_VERSION_MINOR 1
#define WEFT_VERSION_PATCH 0
#define WEFT_VERSION "0.1.0"

#ifdef __cplusplus
namespace weft {

/// The version of the library, "0.1.0". A program that runs with another shared library than it was compiled
/// for sees a difference to `WEFT_VERSION`.
WEFT_API const char* version() noexcept;

}  // namespace weft
#endif
