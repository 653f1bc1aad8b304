// JSON as a text for C.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace weft::c {

/// What is not UTF-8, such as bytes of a file's name, is replaced.
inline std::string text_of(const nlohmann::ordered_json& json) {
  return json.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace);
}

}  // namespace weft::c
