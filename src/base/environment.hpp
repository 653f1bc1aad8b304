// The one table of environment variables. They are read while planning, never while executing; an option
// given in the program beats its variable; a WEFT_ variable that is not in the table is an error, so that a
// typing mistake cannot pass for a setting.
#pragma once

#include <optional>
#include <span>
#include <string>

namespace weft {

struct EnvironmentVariable {
  const char* name;
  const char* meaning;
};

std::span<const EnvironmentVariable> environment_table();

/// The value of a variable of the table, if it is set.
std::optional<std::string> environment_value(const char* name);

/// Throws `weft::Error` if the process environment holds a WEFT_ variable that the table does not list.
void check_environment();

}  // namespace weft
