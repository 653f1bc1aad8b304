// The text form of wisdom is JSON, in an order that people can read and compare:
//
// {
//   "weft_wisdom": 1,
//   "problems": { machine: { problem: { "options": { name: value }, "seconds": 0.0125, "trials": 12 } } },
//   "constants": { machine: { name: 1.5e9 } },
//   "descriptions": { machine: { as docs/model.md has it } },
//   "local_ffts": { library: [ line, line ] }
// }
#include "tune/wisdom.hpp"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "base/text.hpp"
#include "tune/candidates_json.hpp"
#include "weft/error.hpp"

namespace weft {

namespace {

using Json = nlohmann::json;

/// The version of the format. A change that an older Weft would misread or lose increases it.
constexpr int wisdom_version = 1;
constexpr const char* version_key = "weft_wisdom";

template <class Map>
auto find_below(const Map& map, const std::string& machine, const std::string& name)
    -> std::optional<typename Map::mapped_type::mapped_type> {
  const auto known = map.find(machine);
  if (known == map.end()) return std::nullopt;
  const auto found = known->second.find(name);
  if (found == known->second.end()) return std::nullopt;
  return found->second;
}

/// FFTW's wisdom is a head with version and build, a line for each problem, " (solver ... #problem...)", and
/// ")". Adds the lines of `theirs` about problems that `ours` does not have. A text of another build, or in
/// another format, replaces `ours`, as it is the later one.
std::string put_together(const std::string& ours, const std::string& theirs) {
  const std::vector<std::string> a = split_lines(ours), b = split_lines(theirs);
  const auto plausible = [](const auto& lines) { return lines.size() >= 2 && lines.back() == ")"; };
  if (!plausible(a) || !plausible(b) || a.front() != b.front()) return theirs;
  const auto problem = [](const std::string& line) {
    return line.substr(std::min(line.find('#'), line.size()));
  };
  std::set<std::string> known;
  std::vector<std::string> lines(a.begin(), a.end() - 1);
  for (const std::string& line : lines) known.insert(problem(line));
  for (auto line = b.begin() + 1; line != b.end() - 1; ++line)
    if (known.insert(problem(*line)).second) lines.push_back(*line);
  return join(lines, "\n") + "\n)\n";
}

/// Whether text that is no valid JSON begins as wisdom does, as far as it is there.
bool begins_as_wisdom(const std::string& text) {
  std::string letters;
  for (std::size_t i = 0; i < std::min<std::size_t>(text.size(), 64); ++i)
    if (std::isspace(static_cast<unsigned char>(text[i])) == 0) letters += text[i];
  const std::string head = "{\"" + std::string(version_key) + "\"";
  return letters.starts_with(head) || head.starts_with(letters);
}

/// They are only shown: what is wrong with them costs nothing else.
std::vector<Candidate> candidates_in(const Json& entry) {
  try {
    return candidates_of_json(entry.value("candidates", Json::array()));
  } catch (const Json::exception&) {
    return {};
  }
}

/// Throws exceptions of the JSON library, or `weft::Error`.
Wisdom read(const Json& json) {
  Wisdom wisdom;
  for (const auto& [machine, known] : json.value("problems", ByMachine<Json>()))
    for (const auto& [problem, entry] : known)
      wisdom.remember(
          machine, problem,
          {entry.at("options").get<std::map<std::string, std::string>>(), entry.at("seconds").get<double>(),
           entry.at("trials").get<int>(), entry.value("budget", 0.0), candidates_in(entry)});
  for (const auto& [machine, known] : json.value("constants", ByMachine<double>()))
    for (const auto& [name, value] : known) wisdom.remember_constant(machine, name, value);
  for (const auto& [machine, described] : json.value("descriptions", ByName<Json>()))
    wisdom.remember_description(machine, described.dump());
  for (const auto& [library, lines] : json.value("local_ffts", ByName<std::vector<std::string>>()))
    wisdom.remember_library(library, join(lines, "\n"));
  return wisdom;
}

}  // namespace

std::optional<WisdomEntry> Wisdom::find(const std::string& machine, const std::string& problem) const {
  return find_below(problems_, machine, problem);
}

void Wisdom::remember(const std::string& machine, const std::string& problem, const WisdomEntry& entry) {
  if (!std::isfinite(entry.seconds) || entry.seconds < 0)
    throw Error("wisdom", std::to_string(entry.seconds) + " seconds", "a time");
  if (!std::isfinite(entry.budget) || entry.budget < 0)
    throw Error("wisdom", "a budget of " + std::to_string(entry.budget) + " seconds", "a time");
  problems_[machine][problem] = entry;
}

std::optional<double> Wisdom::constant(const std::string& machine, const std::string& name) const {
  return find_below(constants_, machine, name);
}

void Wisdom::remember_constant(const std::string& machine, const std::string& name, double value) {
  if (!std::isfinite(value)) throw Error("wisdom", name + " = " + std::to_string(value), "a finite number");
  constants_[machine][name] = value;
}

void Wisdom::remember_description(const std::string& machine, const std::string& json) {
  const Json read = Json::parse(json, nullptr, false);
  if (read.is_discarded()) throw Error("wisdom", "a description of " + machine + " that is no JSON", "JSON");
  descriptions_[machine] = read.dump();
}

std::optional<std::string> Wisdom::library(const std::string& library) const {
  const auto found = libraries_.find(library);
  if (found == libraries_.end()) return std::nullopt;
  return found->second;
}

void Wisdom::remember_library(const std::string& library, const std::string& text) {
  libraries_[library] = join(split_lines(text), "\n") + "\n";
}

void Wisdom::merge(const Wisdom& other) {
  for (const auto& [machine, problems] : other.problems_)
    for (const auto& [problem, entry] : problems) {
      const auto [at, added] = problems_[machine].try_emplace(problem, entry);
      if (added) continue;
      const double mine = at->second.budget, theirs = entry.budget;
      if (entry.seconds < at->second.seconds) at->second = entry;
      at->second.budget = mine == 0 || theirs == 0 ? 0 : std::max(mine, theirs);
    }
  for (const auto& [machine, constants] : other.constants_)
    for (const auto& [name, value] : constants) constants_[machine][name] = value;
  for (const auto& [machine, json] : other.descriptions_) descriptions_[machine] = json;
  for (const auto& [library, text] : other.libraries_) {
    const auto [at, added] = libraries_.try_emplace(library, text);
    if (!added) at->second = put_together(at->second, text);
  }
}

Wisdom Wisdom::of(const std::string& machine, const std::string& hardware) const {
  Wisdom part;
  if (const auto found = problems_.find(machine); found != problems_.end()) part.problems_.insert(*found);
  if (const auto found = constants_.find(machine); found != constants_.end()) part.constants_.insert(*found);
  for (const auto& known : libraries_)
    if (known.first.starts_with(hardware + ", ")) part.libraries_.insert(known);
  for (const auto& known : descriptions_)
    if (known.first.starts_with(hardware + ", ")) part.descriptions_.insert(known);
  return part;
}

std::string Wisdom::to_json() const {
  Json problems = Json::object(), libraries = Json::object(), descriptions = Json::object();
  for (const auto& [machine, known] : problems_)
    for (const auto& [problem, entry] : known) {
      Json& written = problems[machine][problem] = {
          {"options", entry.options}, {"seconds", entry.seconds}, {"trials", entry.trials}};
      if (entry.budget > 0) written["budget"] = entry.budget;
      if (!entry.candidates.empty()) written["candidates"] = json_of_candidates(entry.candidates);
    }
  for (const auto& [machine, json] : descriptions_) descriptions[machine] = Json::parse(json);
  for (const auto& [library, text] : libraries_) libraries[library] = split_lines(text);
  nlohmann::ordered_json all;  // the version comes first: it identifies a damaged file as wisdom
  all[version_key] = wisdom_version;
  all["problems"] = problems;
  all["constants"] = constants_;
  if (!descriptions.empty()) all["descriptions"] = descriptions;
  all["local_ffts"] = libraries;
  // Names of processors come from the system and may be invalid UTF-8.
  return all.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

Wisdom Wisdom::from_json(const std::string& text) {
  WisdomText read = read_wisdom_text(text);
  if (read.kind != WisdomText::Kind::wisdom)
    throw Error("wisdom", read.why.empty() ? "no text" : read.why, "text that export_wisdom wrote");
  return std::move(read.wisdom);
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
  if (written > wisdom_version)
    return {Kind::newer,
            {},
            "wisdom of version " + written.dump() + ", which a later Weft wrote; this one reads up to " +
                std::to_string(wisdom_version)};
  try {
    return {Kind::wisdom, read(json), ""};
  } catch (const nlohmann::json::exception& e) {
    return {Kind::damaged, {}, std::string("damaged wisdom: ") + e.what()};
  } catch (const Error& e) {
    return {Kind::damaged, {}, "damaged wisdom: " + e.got()};
  }
}

}  // namespace weft
