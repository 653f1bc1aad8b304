// The one table of environment variables. Variables are read while planning, never while executing. An option
// set by the program beats its variable. A WEFT_ variable that is not in the table gets a warning, so that
// typing mistakes are noticed.
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

/// Warns once of every WEFT_ variable of the process that the table does not list, and suggests the nearest
/// name. Variables that begin with WEFT_TEST_ are left to tests.
void warn_of_unknown_variables();

}  // namespace weft
