// Marks the symbols that the shared library exports. All others are hidden and may change without notice.
#pragma once

#if defined(__GNUC__)
/// Exported: programs may use it.
#define WEFT_API __attribute__((visibility("default")))
#else
/// Empty for compilers that export every symbol.
#define WEFT_API
#endif
