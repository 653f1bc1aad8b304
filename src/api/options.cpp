#include "weft/options.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>

#include "api/option_table.hpp"
#include "api/schedule_options.hpp"
#include "base/environment.hpp"
#include "base/nearest_name.hpp"
#include "base/text.hpp"
#include "fft/local_fft.hpp"
#include "program/pipeline.hpp"
#include "transport/transport.hpp"

namespace weft {

namespace {

using Names = std::vector<std::string>;

template <class Table>
Names names_of(const Table& table) {
  Names names{"auto"};
  for (const auto& row : table) names.emplace_back(row.name);
  return names;
}

struct OptionRow {
  enum class Kind {
    choice,     ///< one of `values`
    exchanges,  ///< one or several names of the table, separated by commas
    number,     ///< a whole number
    grid,       ///< "auto", or two numbers of ranks: "2x4"
    seconds,    ///< a time: "30", "30s", "0.5"
    file,       ///< a name
    parameter,  ///< a number that belongs to a pipeline, or one per reshape, separated by commas
  };
  std::string name, standard;
  Kind kind;
  Names values;
};

const std::vector<OptionRow>& option_table() {
  using enum OptionRow::Kind;
  static const std::vector<OptionRow> table = [] {
    std::vector<OptionRow> t{{"decomposition", "auto", choice, {"auto", "slab", "pencil", "brick"}},
                             {"grid", "auto", grid, {}},
                             {"shrink", "", number, {}},
                             {"pipeline", "auto", choice, names_of(pipeline_table())},
                             {"overlap", "on", choice, {"on", "off"}},
                             {"exchange", "auto", exchanges, {}},
                             {"staging", "auto", choice, {"auto", "on", "off"}},
                             {"layout", "auto", choice, {"auto", "contiguous", "strided"}},
                             {"puts", "auto", choice, {"auto", "kernel", "engine"}},
                             {"graph", "auto", choice, {"auto", "on", "off"}},
                             {"fft", "auto", choice, names_of(fft_table())},
                             {"effort", "estimate", choice, {"estimate", "measure", "patient"}},
                             {"trials", "40", number, {}},
                             {"budget", "", seconds, {}},
                             {"search", "nelder-mead", choice, {"nelder-mead", "random"}},
                             {"wisdom", "", file, {}},
                             {"threads", "1", number, {}},
                             {"workspace", "plan", choice, {"plan", "user"}},
                             {"check", "local", choice, {"local", "collective"}}};
    for (const Pipeline& p : pipeline_table())
      for (const PipelineParameter& q : p.parameters)
        if (std::none_of(t.begin(), t.end(), [&](const OptionRow& row) { return row.name == q.name; }))
          t.push_back({q.name, "", parameter, {}});
    return t;
  }();
  return table;
}

const OptionRow& find_row(const std::string& name) {
  Names names;
  for (const OptionRow& row : option_table()) {
    if (row.name == name) return row;
    names.push_back(row.name);
  }
  throw Error("options", "unknown option \"" + name + "\"", one_of(names, name));
}

Index parsed(const std::string& name, const std::string& text) {
  Index value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end)
    throw Error("options: " + name, "\"" + text + "\"", "a whole number");
  return value;
}

double parsed_seconds(const std::string& name, const std::string& text) {
  double value = 0;
  const char* end = text.data() + text.size() - (text.ends_with('s') ? 1 : 0);
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || !(value >= 0) || value > 1e9)
    throw Error("options: " + name, "\"" + text + "\"", "a time in seconds, such as 30 or 0.5s");
  return value;
}

std::vector<Index> parsed_list(const std::string& name, const std::string& text) {
  std::vector<Index> values;
  for (const std::string& part : split_at_commas(text)) {
    Index value = 0;
    const char* end = part.data() + part.size();
    const auto [stop, error] = std::from_chars(part.data(), end, value);
    if (error != std::errc() || stop != end)
      throw Error("options: " + name, "\"" + text + "\"", "a whole number, or one per reshape");
    values.push_back(value);
  }
  return values;
}

void check_value(const OptionRow& row, const std::string& value) {
  const Names values = row.kind == OptionRow::Kind::exchanges ? names_of(exchange_table()) : row.values;
  const auto known = [&](const std::string& v) {
    return std::find(values.begin(), values.end(), v) != values.end();
  };
  switch (row.kind) {
    case OptionRow::Kind::choice:
    case OptionRow::Kind::exchanges:
      for (const std::string& v : row.kind == OptionRow::Kind::choice ? Names{value} : split_at_commas(value))
        if (!known(v)) throw Error("options: " + row.name, "\"" + value + "\"", one_of(values, v));
      break;
    case OptionRow::Kind::number:
      parsed(row.name, value);
      break;
    case OptionRow::Kind::grid:
      parsed_grid(value);
      break;
    case OptionRow::Kind::seconds:
      parsed_seconds(row.name, value);
      break;
    case OptionRow::Kind::file:
      break;
    case OptionRow::Kind::parameter:
      parsed_list(row.name, value);
      break;
  }
}

std::optional<std::string> from_environment(const OptionRow& row) {
  std::string variable = "WEFT_";
  for (char c : row.name) variable += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  const auto known = environment_table();
  if (std::none_of(known.begin(), known.end(), [&](const auto& v) { return variable == v.name; }))
    return std::nullopt;
  std::optional<std::string> value = environment_value(variable.c_str());
  if (value) check_value(row, *value);
  return value;
}

}  // namespace

Options& Options::set(const std::string& name, const std::string& value) {
  check_value(find_row(name), value);
  values_[name] = value;
  return *this;
}

std::string Options::get(const std::string& name) const {
  const OptionRow& row = find_row(name);
  const auto mine = values_.find(name);
  if (mine != values_.end()) return mine->second;
  return from_environment(row).value_or(row.standard);
}

std::optional<Index> Options::number(const std::string& name) const {
  const std::string text = get(name);
  if (text.empty()) return std::nullopt;
  return parsed(name, text);
}

std::optional<double> Options::seconds(const std::string& name) const {
  const std::string text = get(name);
  if (text.empty()) return std::nullopt;
  return parsed_seconds(name, text);
}

std::map<std::string, std::vector<Index>> Options::parameters() const {
  std::map<std::string, std::vector<Index>> result;
  for (const auto& [name, value] : values_)
    if (find_row(name).kind == OptionRow::Kind::parameter) result[name] = parsed_list(name, value);
  return result;
}

std::vector<std::pair<std::string, std::string>> Options::all() const {
  std::vector<std::pair<std::string, std::string>> result;
  for (const OptionRow& row : option_table()) result.emplace_back(row.name, get(row.name));
  return result;
}

double trial_seconds(const Options& options) {
  return options.seconds("budget").value_or(options.get("effort") == "patient" ? 60 : 10);
}

PipelineChoice choose_pipeline_option(const Options& options, const char* preferred) {
  PipelineParameters values;
  for (const auto& [parameter, each] : options.parameters()) values.emplace(parameter, each);
  std::string name = options.get("pipeline");
  if (name == "auto") {
    // Another pipeline, if parameters are set that the preferred one does not have.
    const auto lacks = [&](const Pipeline& p, const std::string& parameter) {
      return std::none_of(p.parameters.begin(), p.parameters.end(),
                          [&](const PipelineParameter& q) { return parameter == q.name; });
    };
    const auto serves = [&](const Pipeline& p) {
      for (const OptionRow& row : option_table())
        if (row.kind == OptionRow::Kind::parameter && !options.get(row.name).empty() && lacks(p, row.name))
          return false;
      return true;
    };
    name = preferred;
    if (!serves(find_pipeline(name))) {
      const auto table = pipeline_table();
      const auto first = std::find_if(table.begin(), table.end(),
                                      [&](const Pipeline& p) { return p.worth_trying && serves(p); });
      if (first != table.end()) name = first->name;
    }
  }
  const Pipeline& pipeline = find_pipeline(name);
  for (const PipelineParameter& p : pipeline.parameters) {
    const std::string text = options.get(p.name);
    if (text.empty() || values.contains(p.name)) continue;
    values.emplace(p.name, AskedParameter(parsed_list(p.name, text), "environment"));
  }
  return {&pipeline, values};
}

}  // namespace weft
