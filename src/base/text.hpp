// Helpers that turn values into text for messages and printed plans.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "weft/axis_vector.hpp"

namespace weft {

template <class Range>
std::string join(const Range& range, const char* separator) {
  std::string text;
  for (const auto& v : range) {
    if (!text.empty()) text += separator;
    if constexpr (requires { std::to_string(v); }) {
      text += std::to_string(v);
    } else {
      text += v;
    }
  }
  return text;
}

/// Split at commas, "a,b," -> "a", "b", ""
std::vector<std::string> split(const std::string& text, char separator);

/// " a  b" -> "a", "b"
std::vector<std::string> split_words(const std::string& text);

/// "a\nb\n" -> "a", "b"
std::vector<std::string> split_lines(const std::string& text);

/// "64x64x33", the way shapes and grids are printed.
template <class T>
std::string by_x(const AxisVector<T>& v) {
  return join(v, "x");
}

/// The FNV-1a hash: the same number on every machine, unlike `std::hash`.
std::uint64_t stable_hash(const std::string& text);

/// "6.0e-08"
std::string scientific(double value);

/// "1.50 MiB"
std::string human_bytes(double bytes);

}  // namespace weft
