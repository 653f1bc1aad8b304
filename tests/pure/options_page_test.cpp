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

/// The rows of the page's tables with this many columns, by their first cell.
std::map<std::string, Row> rows(std::size_t columns) {
  std::ifstream page(WEFT_OPTIONS_PAGE);
  EXPECT_TRUE(page.good()) << WEFT_OPTIONS_PAGE;
  std::map<std::string, Row> result;
  for (std::string line; std::getline(page, line);) {
    if (!line.starts_with("| `")) continue;
    const Row row = cells(line);
    if (row.size() != columns) continue;
    EXPECT_TRUE(result.emplace(row.front(), row).second) << row.front() << " has two rows";
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
  if (option == "wisdom") return "none";
  return value.empty() ? "all ranks" : value;
}

std::set<std::string> names_of(const std::map<std::string, Row>& table) {
  std::set<std::string> names;
  for (const auto& [name, row] : table) names.insert(name);
  return names;
}

}  // namespace

// Option | variable | values | default | meaning.
TEST(OptionsPage, ListsEveryOptionWithItsValuesAndItsDefault) {
  const std::map<std::string, Row> page = rows(5);
  std::set<std::string> names;
  for (const auto& [name, value] : Options().all()) {
    names.insert(name);
    if (!page.contains(name)) continue;
    const Row& row = page.at(name);
    const std::string wanted = accepted(name), prefix = "one of ";
    if (!wanted.starts_with(prefix)) {
      EXPECT_EQ(row[2], wanted) << name;
#ifndef WEFT_WITH_MPI
    } else if (name == "exchange") {  // those of MPI are missing here
#endif
#ifndef WEFT_WITH_CUDA
    } else if (name == "fft") {  // cuFFT is missing here
#endif
    } else {
      std::set<std::string> listed = words(row[2]);
#ifndef WEFT_WITH_CUDA
      listed.erase("cufft");
#endif
      EXPECT_EQ(listed, words(wanted.substr(prefix.size()))) << name;
    }
    if (row[1].empty() || std::getenv(row[1].c_str()) == nullptr) {
      EXPECT_EQ(row[3], standard(name, value)) << name;
    }
  }
  EXPECT_EQ(names_of(page), names);
}

// Variable | meaning.
TEST(OptionsPage, ListsEveryVariable) {
  std::set<std::string> on_page = names_of(rows(2)), known;
  for (const auto& [name, row] : rows(5))
    if (!row[1].empty()) on_page.insert(row[1]);
  for (const EnvironmentVariable& v : environment_table()) known.insert(v.name);
  EXPECT_EQ(on_page, known);
}

}  // namespace weft::test
