#include "unknown_argument.hpp"

#include <CLI/CLI.hpp>
#include <algorithm>

#include "base/nearest_name.hpp"

namespace weft::bench {

std::string unknown_argument(const CLI::App& app, const std::vector<std::string>& extras,
                             const std::string& program) {
  const auto option = std::find_if(extras.begin(), extras.end(),
                                   [](const std::string& text) { return text.starts_with("-"); });
  const std::string argument = option != extras.end() ? *option : extras.front();
  const std::string name = argument.substr(0, argument.find('='));
  std::vector<std::string> names;
  for (const CLI::Option* known : app.get_options())
    for (const std::string& text : known->get_lnames()) names.push_back("--" + text);
  const std::string nearest = nearest_name(name, names);
  return program + ": unknown argument " + name + (nearest.empty() ? "" : "; the nearest is " + nearest) +
         "; " + program + " --help lists all\n";
}

}  // namespace weft::bench
