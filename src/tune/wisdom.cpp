#include "tune/wisdom.hpp"

#include <algorithm>
#include <cmath>
#include <set>
#include <vector>

#include "base/text.hpp"
#include "weft/error.hpp"

namespace weft {

namespace {

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
  return part;
}

Wisdom Wisdom::from_json(const std::string& text) {
  WisdomText read = read_wisdom_text(text);
  if (read.kind != WisdomText::Kind::wisdom)
    throw Error("wisdom", read.why.empty() ? "no text" : read.why, "text that export_wisdom wrote");
  return std::move(read.wisdom);
}

}  // namespace weft
