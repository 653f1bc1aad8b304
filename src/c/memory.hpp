// Memory that callers free with weft_free.
#pragma once

#include <cstddef>
#include <string>

namespace weft::c {

/// `bytes` zeroed bytes at a multiple of 64; null for none. Throws std::bad_alloc.
void* allocate(std::size_t bytes);
/// A text that ends with a zero byte.
char* copy_of(const std::string& text);

}  // namespace weft::c
