#include "weft/options.hpp"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <functional>

#include "api/option_table.hpp"
#include "base/arithmetic.hpp"
#include "base/environment.hpp"
#include "base/nearest_name.hpp"
#include "base/text.hpp"
#include "fft/local_fft.hpp"
#include "program/pipeline.hpp"
#include "transport/transport.hpp"

namespace weft {

namespace {

/// What wisdom and trials have to do with an option.
enum class Role : std::uint8_t {
  given,     ///< the user alone chooses it, and the fastest choices may depend on it
  open,      ///< trials choose it where the user leaves it at its default
  planning,  ///< it says how a plan is made; the fastest choices do not depend on it
};

struct OptionRow {
  std::string name;
  Role role;
  std::string standard;
  /// Parses a value into the wishes. Throws `weft::Error` for one that does not exist.
  std::function<void(const std::string& text, Origin origin, Wishes& wishes)> take;
  /// Of an option that is given: whether others open it; null: never.
  bool (*opened)(const Options& options) = nullptr;
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

/// `parse` makes the value of the option's name and text, and throws `weft::Error` if the text is none.
template <class T, class Parse>
OptionRow row(const std::string& name, Role role, const std::string& standard, Wish<T> Wishes::*wish,
              const Parse& parse) {
  return {name, role, standard, [=](const std::string& text, Origin origin, Wishes& wishes) {
            wishes.*wish = {parse(name, text), origin};
          }};
}

/// One of several names, the first of them by default.
template <class T>
OptionRow choice(const std::string& name, Role role, Wish<T> Wishes::*wish, const Names<T>& names) {
  return row(name, role, names.front().first, wish, [=](const std::string& option, const std::string& text) {
    return chosen(option, text, text, names);
  });
}

template <class Table>
Names<std::string> names_of(const Table& table) {
  Names<std::string> names{{"auto", "auto"}};
  for (const auto& row : table) names.emplace_back(row.name, row.name);
  return names;
}

/// One or several names of exchanges, separated by commas.
std::vector<std::string> exchanges(const std::string& name, const std::string& text) {
  std::vector<std::string> parts = split(text, ',');
  for (const std::string& part : parts) chosen(name, text, part, names_of(exchange_table()));
  return parts;
}

/// One or several codecs, separated by commas.
std::vector<Codec> codecs(const std::string&, const std::string& text) {
  std::vector<Codec> all;
  for (const std::string& part : split(text, ',')) all.push_back(find_codec(part));
  return all;
}

template <class T>
std::optional<T> number(const std::string& text) {
  T value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end ? std::optional(value) : std::nullopt;
}

template <class T>
T needed(const std::optional<T>& value, const std::string& name, const std::string& text,
         const char* expected) {
  if (!value) throw Error("options: " + name, "\"" + text + "\"", expected);
  return *value;
}

Index whole_number(const std::string& name, const std::string& text) {
  return needed(number<Index>(text), name, text, "a whole number");
}

Index executions(const std::string& name, const std::string& text) {
  auto value = number<Index>(text);
  if (value && !(*value >= 0 && *value <= 1'000'000)) value.reset();
  return needed(value, name, text, "a number of executions from 0 to 1000000");
}

/// "30", "30s", "0.5"
double seconds(const std::string& name, const std::string& text) {
  auto value = number<double>(text.substr(0, text.size() - (text.ends_with('s') ? 1 : 0)));
  if (value && !(*value >= 0 && *value <= 1e9)) value.reset();
  return needed(value, name, text, "a time in seconds, such as 30 or 0.5s");
}

/// "1e-6"
double tolerance(const std::string& name, const std::string& text) {
  auto value = number<double>(text);
  if (value && !(*value > 0 && *value < 1)) value.reset();
  return needed(value, name, text, "a relative error between 0 and 1, such as 1e-6");
}

/// The numbers of "2x4"; none for "auto".
AxisVector<int> grid(const std::string& name, const std::string& text) {
  if (text == "auto") return {};
  const std::size_t x = text.find('x');
  const auto p = number<int>(text.substr(0, x));
  const auto q = x == std::string::npos ? std::nullopt : number<int>(text.substr(x + 1));
  if (p && q && *p > 0 && *q > 0) return {*p, *q};
  throw Error("options: " + name, "\"" + text + "\"", "auto, or two numbers of ranks, such as 2x4");
}

/// A number of ranks; none for "auto".
std::optional<Index> ranks_or_auto(const std::string& name, const std::string& text) {
  if (text == "auto") return std::nullopt;
  return needed(number<Index>(text), name, text, "auto, or a number of ranks");
}

/// "auto", "2", "eth0,eth1"; the names are looked for once there are ranks.
std::string rails(const std::string& name, const std::string& text) {
  const auto several = number<int>(text);
  const std::vector<std::string> parts = split(text, ',');
  const auto is_name = [](const std::string& part) {
    return !part.empty() && std::all_of(part.begin(), part.end(), [](unsigned char c) {
      return std::isalnum(c) != 0 || std::string("_-.:@").find(static_cast<char>(c)) != std::string::npos;
    });
  };
  if ((several && *several < 1) || !std::all_of(parts.begin(), parts.end(), is_name) || any_equal(parts))
    throw Error("options: " + name, "\"" + text + "\"",
                "auto, a number from 1, or different names of network devices separated by commas");
  return text;
}

/// "65536", "64KiB", "1MiB", "auto". TCP carries nothing faster in transfers of less than 1 KiB.
Index chunk(const std::string& name, const std::string& text) {
  constexpr Index kib = 1024;
  constexpr Index most = kib * kib * kib;
  if (text == "auto") return RailSettings().chunk;
  const std::string unit = text.substr(std::min(text.find_first_not_of("0123456789"), text.size()));
  const Names<Index> units{{"", 1}, {"KiB", kib}, {"MiB", kib * kib}};
  const auto known = std::find_if(units.begin(), units.end(), [&](const auto& u) { return u.first == unit; });
  auto value = number<Index>(text.substr(0, text.size() - unit.size()));
  if (known == units.end() || (value && *value > most)) value.reset();
  if (value) *value *= known->second;
  if (value && (*value < kib || *value > most)) value.reset();
  return needed(value, name, text, "auto, or a number of bytes from 1 KiB to 1 GiB, such as 65536 or 64KiB");
}

int transfers(const std::string& name, const std::string& text) {
  constexpr int most = 1024;
  auto value = number<int>(text);
  if (value && !(*value >= 1 && *value <= most)) value.reset();
  return needed(value, name, text, "a whole number from 1 to 1024");
}

int ring_steps(const std::string& name, const std::string& text) {
  if (text == "off") return 0;
  if (text == "on") return 1;
  auto value = number<int>(text);
  if (value && *value < 1) value.reset();
  return needed(value, name, text, "off, on, or a number of ring steps");
}

double times_sooner(const std::string& name, const std::string& text) {
  constexpr double most = 100;
  if (text == "off") return 0;
  auto value = number<double>(text);
  if (value && !(*value >= 1 && *value <= most)) value.reset();
  return needed(value, name, text, "off, or a number from 1 to 100");
}

OptionRow opened(OptionRow row, bool (*opened)(const Options&)) {
  row.opened = opened;
  return row;
}

/// Whether trials, predictions and wisdom may choose a value.
bool is_open(const OptionRow& row, const Options& options) {
  if (row.opened != nullptr && row.opened(options)) return true;
  return row.role == Role::open && options.get(row.name) == row.standard;
}

/// A number that belongs to a pipeline, or one per reshape, separated by commas.
OptionRow parameter(const std::string& name) {
  return {name, Role::open, "", [=](const std::string& text, Origin origin, Wishes& wishes) {
            std::vector<Index> values;
            for (const std::string& part : split(text, ','))
              values.push_back(needed(number<Index>(part), name, part, "a whole number, or one per reshape"));
            wishes.parameters.insert_or_assign(name, AskedParameter(values, name_of(origin)));
          }};
}

const std::vector<OptionRow>& option_table() {
  static const std::vector<OptionRow> table = [] {
    using enum Role;
    using D = Decomposition;
    using L = LayoutWish;
    const Names<Switch> switches{{"auto", Switch::automatic}, {"on", Switch::on}, {"off", Switch::off}};
    const auto file = [](const std::string&, const std::string& text) { return text; };
    std::vector<OptionRow> t{
        choice("decomposition", open, &Wishes::decomposition,
               {{"auto", D::automatic}, {"slab", D::slab}, {"pencil", D::pencil}, {"brick", D::brick}}),
        row("grid", open, "auto", &Wishes::grid, grid),
        opened(row("shrink", given, "", &Wishes::shrink, ranks_or_auto),
               [](const Options& o) { return o.get("shrink") == "auto"; }),
        choice("fft_stage", open, &Wishes::fft_stage,
               {{"auto", FftStage::automatic},
                {"early", FftStage::early},
                {"next", FftStage::next},
                {"last", FftStage::last}}),
        choice("pipeline", open, &Wishes::pipeline, names_of(pipeline_table())),
        choice("overlap", given, &Wishes::overlap, {{"on", true}, {"off", false}}),
        row("exchange", open, "auto", &Wishes::exchange, exchanges),
        opened(row("codec", given, "none", &Wishes::codec, codecs),
               [](const Options& o) { return !o.is_set("codec") && !o.get("tolerance").empty(); }),
        row("tolerance", given, "", &Wishes::tolerance, tolerance),
        row("rails", given, "", &Wishes::rails, rails),
        opened(row("chunk", open, "", &Wishes::chunk, chunk),
               [](const Options& options) { return options.get("chunk") == "auto"; }),
        row("inflight", open, "", &Wishes::in_flight, transfers),
        row("barrier", given, "", &Wishes::barrier, ring_steps),
        row("rebalance", given, "", &Wishes::rebalance, times_sooner),
        choice("one_sided", given, &Wishes::one_sided,
               {{"auto", OneSided::automatic}, {"on", OneSided::on}, {"off", OneSided::off}}),
        choice("staging", given, &Wishes::staging, switches),
        choice("layout", open, &Wishes::layout,
               {{"auto", L::automatic}, {"contiguous", L::contiguous}, {"strided", L::strided}}),
        choice("puts", given, &Wishes::puts,
               {{"auto", Puts::automatic}, {"kernel", Puts::kernel}, {"engine", Puts::engine}}),
        choice("graph", given, &Wishes::graph, switches),
        choice("fft", given, &Wishes::fft, names_of(fft_table())),
        choice("effort", planning, &Wishes::effort,
               {{"estimate", Effort::estimate},
                {"measure", Effort::measure},
                {"patient", Effort::patient},
                {"online", Effort::online}}),
        choice("fft_effort", planning, &Wishes::fft_effort,
               {{"auto", std::nullopt},
                {"estimate", Effort::estimate},
                {"measure", Effort::measure},
                {"patient", Effort::patient}}),
        row("trials", planning, "40", &Wishes::trials, whole_number),
        row("budget", planning, "", &Wishes::budget, seconds),
        row("online", planning, "20", &Wishes::online, executions),
        choice("search", planning, &Wishes::random_search, {{"nelder-mead", false}, {"random", true}}),
        row("wisdom", planning, "", &Wishes::wisdom, file),
        row("machine", planning, "", &Wishes::machine, file),
        row("trace", planning, "", &Wishes::trace, file),
        row("threads", given, "1", &Wishes::threads, whole_number),
        choice("workspace", given, &Wishes::users_workspace, {{"plan", false}, {"user", true}}),
        choice("check", planning, &Wishes::collective_check, {{"local", false}, {"collective", true}}),
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

std::vector<std::pair<std::string, std::string>> Options::all() const {
  std::vector<std::pair<std::string, std::string>> result;
  for (const OptionRow& row : option_table()) result.emplace_back(row.name, get(row.name));
  return result;
}

Wishes wishes_of(const Options& options, const std::map<std::string, std::string>& learnt, Origin learnt_by) {
  Wishes wishes;
  for (const OptionRow& row : option_table()) {
    const auto found = learnt.find(row.name);
    const std::string text = found != learnt.end() ? found->second : options.get(row.name);
    const Origin origin = found != learnt.end()        ? learnt_by
                          : options.is_set(row.name)   ? Origin::option
                          : from_environment(row.name) ? Origin::environment
                                                       : Origin::rule;
    if (!text.empty()) row.take(text, origin, wishes);
  }
  return wishes;
}

void check_learnt(const Options& options, const std::map<std::string, std::string>& learnt) {
  for (const auto& [name, value] : learnt) {
    const OptionRow& row = find_row(name);
    check_value(row, value);
    if (!is_open(row, options))
      throw Error("wisdom", name + " " + value, "no value for an option that is not left open");
  }
}

bool is_left_open(const Options& options, const std::string& name) {
  return is_open(find_row(name), options);
}

std::vector<std::string> describe(const Options& options, bool of_problem) {
  std::vector<std::string> lines;
  for (const auto& [name, value] : options.all())
    if (!of_problem || (!value.empty() && find_row(name).role != Role::planning))
      lines.push_back("option " + name + " " + value);
  return lines;
}

}  // namespace weft
