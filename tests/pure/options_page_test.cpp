// The page docs/options.md is written by hand; here it is compared with the tables that it describes.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <map>
#include <set>
#include <vector>

#include "base/environment.hpp"
#include "program/pipeline.hpp"
#include "traffic/rail_settings.hpp"
#include "weft/error.hpp"
#include "weft/options.hpp"

namespace weft::test {

namespace {

using Row = std::vector<std::string>;

/// The cells of a line of a Markdown table, without blanks and backticks around them.
Row cells(const std::string& line) {
  Row row;
  for (std::size_t from = 1; from < line.size();) {
    const std::size_t to = std::min(line.find('|', from), line.size());
    const std::string cell = line.substr(from, to - from);
    const std::size_t first = cell.find_first_not_of(" `"), last = cell.find_last_not_of(" `");
    row.push_back(first == std::string::npos ? "" : cell.substr(first, last - first + 1));
    from = to + 1;
  }
  return row;
}

/// The rows of the page's tables with this many columns whose first cell is a name in backticks.
std::vector<Row> rows(std::size_t columns) {
  std::ifstream page(WEFT_OPTIONS_PAGE);
  EXPECT_TRUE(page.good()) << WEFT_OPTIONS_PAGE;
  std::vector<Row> result;
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with("| `")) continue;
    Row row = cells(line);
    if (row.size() == columns) result.push_back(std::move(row));
  }
  return result;
}

/// What the page says of an option.
struct OptionOnPage {
  std::string variable;  ///< or nothing
  std::string values;
  std::string standard;  ///< its default, in bold
};

/// The page's options by name. A row is "`name`<br>`VARIABLE` | values, **default** | meaning". A default
/// that is not one of the values stands behind them, after a semicolon.
std::map<std::string, OptionOnPage> options_on_page() {
  std::map<std::string, OptionOnPage> result;
  for (const Row& row : rows(3)) {
    const std::string between = "`<br>`";
    const std::size_t end = row[0].find(between);
    const std::string name = row[0].substr(0, end);
    OptionOnPage option;
    if (end != std::string::npos) option.variable = row[0].substr(end + between.size());
    const std::size_t open = row[1].find("**"), close = row[1].find("**", open + 2);
    if (close == std::string::npos) {
      ADD_FAILURE() << name << " has no default in bold";
      continue;
    }
    option.standard = row[1].substr(open + 2, close - open - 2);
    option.values = row[1].substr(0, open);
    if (option.values.ends_with("; "))
      option.values.resize(open - 2);
    else
      option.values += option.standard + row[1].substr(close + 2);
    EXPECT_TRUE(result.emplace(name, option).second) << name << " has two rows";
  }
  return result;
}

std::set<std::string> words(const std::string& text) {
  std::set<std::string> result;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t to = std::min(text.find(", ", from), text.size());
    result.insert(text.substr(from, to - from));
    from = to + 2;
  }
  return result;
}

/// What an option accepts, in the words of its error.
std::string accepted(const std::string& option) {
  try {
    Options().set(option, "?");
  } catch (const Error& e) {
    return e.expected();
  }
  return "a file";
}

std::string standard(const std::string& option, const std::string& value) {
  for (const Pipeline& p : pipeline_table())
    for (const PipelineParameter& q : p.parameters)
      if (option == q.name) return "by rule";
  if (option == "budget") return "by effort";
  if (option == "rails") return RailSettings().rails;
  if (option == "chunk") return "auto";
  if (option == "inflight") return std::to_string(RailSettings().in_flight);
  if (option == "barrier") return "off";
  if (option == "rebalance") return "1.1";
  if (option == "wisdom" || option == "trace") return "none";
  if (option == "machine") return "as wisdom has it";
  if (option == "tolerance") return "exact";
  return value.empty() ? "all ranks" : value;
}

}  // namespace

TEST(OptionsPage, ListsEveryOptionWithItsValuesAndItsDefault) {
  std::map<std::string, OptionOnPage> page = options_on_page();
  for (const auto& [name, value] : Options().all()) {
    const auto found = page.find(name);
    if (found == page.end()) {
      ADD_FAILURE() << name << " is not on the page";
      continue;
    }
    const OptionOnPage option = found->second;
    page.erase(found);
    const std::string wanted = accepted(name), prefix = "one of ";
    if (!wanted.starts_with(prefix)) {
      EXPECT_EQ(option.values, wanted) << name;
#ifndef WEFT_WITH_MPI
    } else if (name == "exchange") {  // those of MPI are missing here
#endif
#ifndef WEFT_WITH_CUDA
    } else if (name == "fft") {  // cuFFT is missing here
#endif
    } else {
      std::set<std::string> listed = words(option.values);
#ifndef WEFT_WITH_CUDA
      listed.erase("cufft");
#endif
      listed.erase("hipfft");  // in the place of cuFFT in a build with HIP
      EXPECT_EQ(listed, words(wanted.substr(prefix.size()))) << name;
    }
    if (option.variable.empty() || std::getenv(option.variable.c_str()) == nullptr) {
      EXPECT_EQ(option.standard, standard(name, value)) << name;
    }
  }
  for (const auto& [name, option] : page) ADD_FAILURE() << name << " is on the page, but is no option";
}

TEST(OptionsPage, ListsEveryVariable) {
  std::multiset<std::string> on_page, known;
  for (const Row& row : rows(2)) on_page.insert(row.front());  // variable | meaning
  for (const auto& [name, option] : options_on_page())
    if (!option.variable.empty()) on_page.insert(option.variable);
  for (const EnvironmentVariable& v : environment_table()) known.insert(v.name);
  EXPECT_EQ(on_page, known);
}

}  // namespace weft::test
