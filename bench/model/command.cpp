#include "command.hpp"

#include <CLI/CLI.hpp>
#include <cmath>
#include <nlohmann/json.hpp>

#include "weft/version.hpp"

namespace weft::bench {

CLI::Option* add_positive(CLI::App& app, const std::string& flag, double& value, const std::string& help) {
  const CLI::Validator positive(
      [](std::string& text) {
        char* end = nullptr;
        const double number = std::strtod(text.c_str(), &end);
        const bool good = end != text.c_str() && *end == '\0' && std::isfinite(number) && number > 0;
        return good ? std::string() : "\"" + text + "\"; expected a finite number above zero";
      },
      "NUMBER > 0");
  return app.add_option(flag, value, help)->capture_default_str()->check(positive);
}

std::string json_text(const char* command, const nlohmann::ordered_json& fields) {
  nlohmann::ordered_json all = {{"command", command}, {"version", version()}};
  all.update(fields);
  return all.dump(1) + "\n";
}

}  // namespace weft::bench
