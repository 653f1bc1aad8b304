// The one table of environment variables. They are read while planning, never while executing; an option
// given in the program beats its variable; a WEFT_ variable that is not in the table gets a warning, so that
// a typing mistake does not pass for a setting.
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

/// The value of an environment variable, if it is set and not empty.
std::optional<std::string> environment_value(const char* name);

/// Warns of every WEFT_ variable of the process that the table does not list, with the nearest name of the
/// table; each once. Those that begin with WEFT_TEST_ belong to tests.
void warn_of_unknown_variables();

}  // namespace weft
