// The text form of wisdom: JSON, in an order and shape that people can read and compare.
//
// {
//   "weft_wisdom": 1,
//   "problems": { machine: { problem: { "options": { name: value }, "seconds": 0.0125, "trials": 12 } } },
//   "constants": { machine: { name: 1.5e9 } },
//   "local_ffts": { library: [ line, line ] }
// }
#include <algorithm>
#include <cctype>
#include <cmath>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/text.hpp"
#include "tune/wisdom.hpp"
#include "weft/error.hpp"

namespace weft {

namespace {

using Json = nlohmann::json;

/// The version of the format. A change that an older Weft would misread or lose increases it.
constexpr int version = 1;
constexpr const char* version_key = "weft_wisdom";

/// Whether text that is no valid JSON begins as wisdom does, as far as it is there.
bool begins_as_wisdom(const std::string& text) {
  std::string letters;
  for (std::size_t i = 0; i < std::min<std::size_t>(text.size(), 64); ++i)
    if (std::isspace(static_cast<unsigned char>(text[i])) == 0) letters += text[i];
  const std::string head = "{\"" + std::string(version_key) + "\"";
  return letters.starts_with(head) || head.starts_with(letters);
}

}  // namespace

/// Converts between `Wisdom` and JSON.
struct WisdomJson {
  static std::string write(const Wisdom& wisdom) {
    Json problems = Json::object(), libraries = Json::object();
    for (const auto& [machine, known] : wisdom.problems_)
      for (const auto& [problem, entry] : known) {
        Json& written = problems[machine][problem] = {
            {"options", entry.options}, {"seconds", entry.seconds}, {"trials", entry.trials}};
        if (entry.budget > 0) written["budget"] = entry.budget;
      }
    for (const auto& [library, text] : wisdom.libraries_) libraries[library] = split_lines(text);
    // The text is composed by hand so that the version comes first, which identifies a damaged file as
    // wisdom.
    return "{\n  \"" + std::string(version_key) + "\": " + std::to_string(version) +
           part_text("problems", problems) + part_text("constants", wisdom.constants_) +
           part_text("local_ffts", libraries) + "\n}\n";
  }

  /// Throws exceptions of the JSON library, or `weft::Error`.
  static Wisdom read(const Json& json) {
    Wisdom wisdom;
    for (const auto& [machine, known] : part(json, "problems"))
      for (const auto& [problem, entry] : members(known))
        wisdom.remember(
            machine, problem,
            {entry.at("options").get<std::map<std::string, std::string>>(), entry.at("seconds").get<double>(),
             entry.at("trials").get<int>(), entry.value("budget", 0.0)});
    for (const auto& [machine, known] : part(json, "constants"))
      for (const auto& [name, value] : members(known))
        wisdom.remember_constant(machine, name, value.get<double>());
    for (const auto& [library, lines] : part(json, "local_ffts"))
      wisdom.remember_library(library, join(lines.get<std::vector<std::string>>(), "\n"));
    return wisdom;
  }

 private:
  static std::string part_text(const char* name, const Json& part) {
    // Names of processors come from the system and may be invalid UTF-8.
    std::string text = ",\n  \"" + std::string(name) + "\": ";
    for (const char c : part.dump(2, ' ', false, Json::error_handler_t::replace)) {
      text += c;
      if (c == '\n') text += "  ";  // strings have none, JSON writes them as \\n
    }
    return text;
  }

  /// Throws if `value` is no object.
  static const Json::object_t& members(const Json& json) { return json.get_ref<const Json::object_t&>(); }

  static const Json::object_t& part(const Json& json, const char* name) {
    static const Json::object_t none;
    const auto found = json.find(name);
    return found == json.end() ? none : members(*found);
  }
};

std::string Wisdom::to_json() const {
  return WisdomJson::write(*this);
}

WisdomText read_wisdom_text(const std::string& text) {
  using Kind = WisdomText::Kind;
  if (std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isspace(c) != 0; })) return {};
  const Json json = Json::parse(text, nullptr, false);
  if (json.is_discarded())
    return begins_as_wisdom(text)
               ? WisdomText{Kind::damaged, {}, "damaged wisdom: it ends early or is no JSON"}
               : WisdomText{Kind::foreign, {}, "not wisdom, nor JSON at all"};
  if (!json.is_object() || !json.contains(version_key))
    return {Kind::foreign, {}, "JSON, but not wisdom: it has no \"" + std::string(version_key) + "\""};
  const Json& written = json[version_key];
  if (!written.is_number_integer() || written < 1)
    return {Kind::damaged, {}, "damaged wisdom: its version is " + written.dump()};
  if (written > version)
    return {Kind::newer,
            {},
            "wisdom of version " + written.dump() + ", which a later Weft wrote; this one reads up to " +
                std::to_string(version)};
  try {
    return {Kind::wisdom, WisdomJson::read(json), ""};
  } catch (const nlohmann::json::exception& e) {
    return {Kind::damaged, {}, std::string("damaged wisdom: ") + e.what()};
  } catch (const Error& e) {
    return {Kind::damaged, {}, "damaged wisdom: " + e.got()};
  }
}

}  // namespace weft
