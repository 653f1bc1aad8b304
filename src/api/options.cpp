#include "weft/options.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <functional>

#include "api/option_table.hpp"
#include "base/environment.hpp"
#include "base/nearest_name.hpp"
#include "base/text.hpp"
#include "fft/local_fft.hpp"
#include "program/pipeline.hpp"
#include "transport/transport.hpp"

namespace weft {

namespace {

struct OptionRow {
  std::string name, standard;
  /// Parses a value into the wishes. Throws `weft::Error` for one that does not exist.
  std::function<void(const std::string& text, Origin origin, Wishes& wishes)> take;
};

template <class T>
using Names = std::vector<std::pair<std::string, T>>;

template <class T>
T chosen(const std::string& option, const std::string& text, const std::string& part, const Names<T>& names) {
  std::vector<std::string> all;
  for (const auto& [name, value] : names) {
    if (name == part) return value;
    all.push_back(name);
  }
  throw Error("options: " + option, "\"" + text + "\"", one_of(all, part));
}

/// One of several names, the first of them by default.
template <class T>
OptionRow choice(const std::string& name, Wish<T> Wishes::*wish, const Names<T>& names) {
  return {name, names.front().first, [=](const std::string& text, Origin origin, Wishes& wishes) {
            wishes.*wish = {chosen(name, text, text, names), origin};
          }};
}

template <class Table>
Names<std::string> names_of(const Table& table) {
  Names<std::string> names{{"auto", "auto"}};
  for (const auto& row : table) names.emplace_back(row.name, row.name);
  return names;
}

/// One or several names of the table, separated by commas.
OptionRow exchanges(const std::string& name, Wish<std::vector<std::string>> Wishes::*wish) {
  return {name, "auto", [=](const std::string& text, Origin origin, Wishes& wishes) {
            wishes.*wish = {split_at_commas(text), origin};
            const Names<std::string> names = names_of(exchange_table());
            for (const std::string& part : (wishes.*wish).value) chosen(name, text, part, names);
          }};
}

template <class T>
T number_in(const std::string& name, const std::string& text, const char* expected) {
  T value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end) throw Error("options: " + name, "\"" + text + "\"", expected);
  return value;
}

Index parsed(const std::string& name, const std::string& text) {
  return number_in<Index>(name, text, "a whole number");
}

/// "30", "30s", "0.5"
double parsed_seconds(const std::string& name, const std::string& text) {
  constexpr const char* expected = "a time in seconds, such as 30 or 0.5s";
  const double value =
      number_in<double>(name, text.substr(0, text.size() - (text.ends_with('s') ? 1 : 0)), expected);
  if (!(value >= 0) || value > 1e9) throw Error("options: " + name, "\"" + text + "\"", expected);
  return value;
}

/// A value that `parse` makes of the text.
template <class T, class Parse>
OptionRow value(const std::string& name, const std::string& standard, Wish<T> Wishes::*wish,
                const Parse& parse) {
  return {name, standard, [=](const std::string& text, Origin origin, Wishes& wishes) {
            wishes.*wish = {parse(name, text), origin};
          }};
}

/// The numbers of "2x4"; nothing for "auto".
AxisVector<int> parsed_grid(const std::string& name, const std::string& text) {
  if (text == "auto") return {};
  int p = 0, q = 0;
  const char* end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, p);
  if (first.ec == std::errc() && first.ptr != end && *first.ptr == 'x') {
    const auto second = std::from_chars(first.ptr + 1, end, q);
    if (second.ec == std::errc() && second.ptr == end && p > 0 && q > 0) return {p, q};
  }
  throw Error("options: " + name, "\"" + text + "\"", "auto, or two numbers of ranks, such as 2x4");
}

std::vector<Index> parsed_list(const std::string& name, const std::string& text) {
  std::vector<Index> values;
  for (const std::string& part : split_at_commas(text))
    values.push_back(number_in<Index>(name, part, "a whole number, or one per reshape"));
  return values;
}

/// A number that belongs to a pipeline, or one per reshape, separated by commas.
OptionRow parameter(const std::string& name) {
  return {name, "", [=](const std::string& text, Origin origin, Wishes& wishes) {
            wishes.parameters.insert_or_assign(name,
                                               AskedParameter(parsed_list(name, text), name_of(origin)));
          }};
}

const std::vector<OptionRow>& option_table() {
  static const std::vector<OptionRow> table = [] {
    using D = Decomposition;
    const Names<Switch> switches{{"auto", Switch::automatic}, {"on", Switch::on}, {"off", Switch::off}};
    const auto text = [](const std::string&, const std::string& same) { return same; };
    std::vector<OptionRow> t{
        choice("decomposition", &Wishes::decomposition,
               {{"auto", D::automatic}, {"slab", D::slab}, {"pencil", D::pencil}, {"brick", D::brick}}),
        value("grid", "auto", &Wishes::grid, parsed_grid),
        value("shrink", "", &Wishes::shrink, parsed),
        choice("pipeline", &Wishes::pipeline, names_of(pipeline_table())),
        choice("overlap", &Wishes::overlap, {{"on", true}, {"off", false}}),
        exchanges("exchange", &Wishes::exchange),
        choice("staging", &Wishes::staging, switches),
        choice("layout", &Wishes::layout,
               {{"auto", LayoutWish::automatic},
                {"contiguous", LayoutWish::contiguous},
                {"strided", LayoutWish::strided}}),
        choice("puts", &Wishes::puts,
               {{"auto", Puts::automatic}, {"kernel", Puts::kernel}, {"engine", Puts::engine}}),
        choice("graph", &Wishes::graph, switches),
        choice("fft", &Wishes::fft, names_of(fft_table())),
        choice("effort", &Wishes::effort,
               {{"estimate", Effort::estimate}, {"measure", Effort::measure}, {"patient", Effort::patient}}),
        value("trials", "40", &Wishes::trials, parsed),
        value("budget", "", &Wishes::budget, parsed_seconds),
        choice("search", &Wishes::random_search, {{"nelder-mead", false}, {"random", true}}),
        value("wisdom", "", &Wishes::wisdom, text),
        value("threads", "1", &Wishes::threads, parsed),
        choice("workspace", &Wishes::users_workspace, {{"plan", false}, {"user", true}}),
        choice("check", &Wishes::collective_check, {{"local", false}, {"collective", true}}),
    };
    for (const Pipeline& p : pipeline_table())
      for (const PipelineParameter& q : p.parameters)
        if (std::none_of(t.begin(), t.end(), [&](const OptionRow& row) { return row.name == q.name; }))
          t.push_back(parameter(q.name));
    return t;
  }();
  return table;
}

const OptionRow& find_row(const std::string& name) {
  std::vector<std::string> names;
  for (const OptionRow& row : option_table()) {
    if (row.name == name) return row;
    names.push_back(row.name);
  }
  throw Error("options", "unknown option \"" + name + "\"", one_of(names, name));
}

/// Throws `weft::Error` for a value that does not exist.
void check_value(const OptionRow& row, const std::string& text) {
  Wishes unused;
  row.take(text, Origin::option, unused);
}

std::optional<std::string> from_environment(const std::string& name) {
  std::string variable = "WEFT_";
  for (char c : name) variable += static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  const auto known = environment_table();
  if (std::none_of(known.begin(), known.end(), [&](const auto& v) { return variable == v.name; }))
    return std::nullopt;
  return environment_value(variable.c_str());
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
  const std::optional<std::string> variable = from_environment(name);
  if (variable) check_value(row, *variable);
  return variable.value_or(row.standard);
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
  Wishes wishes;
  for (const auto& [name, value] : values_) find_row(name).take(value, Origin::option, wishes);
  std::map<std::string, std::vector<Index>> result;
  for (const auto& [name, asked] : wishes.parameters) result[name] = asked.values;
  return result;
}

std::vector<std::pair<std::string, std::string>> Options::all() const {
  std::vector<std::pair<std::string, std::string>> result;
  for (const OptionRow& row : option_table()) result.emplace_back(row.name, get(row.name));
  return result;
}

Wishes wishes_of(const Options& options, const std::map<std::string, std::string>& learnt, Origin learnt_by) {
  Wishes wishes;
  for (const OptionRow& row : option_table()) {
    if (const auto found = learnt.find(row.name); found != learnt.end()) {
      row.take(found->second, learnt_by, wishes);
    } else if (options.is_set(row.name)) {
      row.take(options.get(row.name), Origin::option, wishes);
    } else if (const auto variable = from_environment(row.name)) {
      row.take(*variable, Origin::environment, wishes);
    } else if (!row.standard.empty()) {
      row.take(row.standard, Origin::rule, wishes);
    }
  }
  return wishes;
}

}  // namespace weft
