// What the shared library exports. It is built with hidden symbols: what carries this mark is there for
// programs, all else is Weft's own and may change without notice. Header-only code needs no mark.
#pragma once

#if defined(__GNUC__)
/// Marks what programs may use of the shared library.
#define WEFT_API __attribute__((visibility("default")))
#else
/// Nothing, where symbols are visible anyway.
#define WEFT_API
#endif
