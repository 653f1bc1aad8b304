#include "base/nearest_name.hpp"

#include <algorithm>
#include <cctype>
#include <cstddef>

#include "base/text.hpp"

namespace weft {

namespace {

/// The edit distance in which two exchanged neighbours count as one mistake (optimal string alignment).
std::size_t mistakes_between(const std::string& a, const std::string& b) {
  const auto differ = [](char x, char y) {
    return std::tolower(static_cast<unsigned char>(x)) != std::tolower(static_cast<unsigned char>(y));
  };
  std::vector<std::vector<std::size_t>> d(a.size() + 1, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t i = 0; i <= a.size(); ++i)
    for (std::size_t j = 0; j <= b.size(); ++j) {
      if (i == 0 || j == 0) {
        d[i][j] = i + j;
        continue;
      }
      const std::size_t replaced = d[i - 1][j - 1] + (differ(a[i - 1], b[j - 1]) ? 1 : 0);
      d[i][j] = std::min({d[i - 1][j] + 1, d[i][j - 1] + 1, replaced});
      if (i > 1 && j > 1 && !differ(a[i - 1], b[j - 2]) && !differ(a[i - 2], b[j - 1]))
        d[i][j] = std::min(d[i][j], d[i - 2][j - 2] + 1);
    }
  return d[a.size()][b.size()];
}

}  // namespace

std::string nearest_name(const std::string& name, const std::vector<std::string>& names) {
  std::string nearest;
  std::size_t fewest = name.size() / 3 + 1;
  for (const std::string& known : names)
    if (const std::size_t mistakes = mistakes_between(name, known); mistakes < fewest) {
      fewest = mistakes;
      nearest = known;
    }
  return nearest;
}

std::string one_of(const std::vector<std::string>& names, const std::string& name) {
  const std::string nearest = nearest_name(name, names);
  return "one of " + join(names, ", ") + (nearest.empty() ? "" : "; the nearest is " + nearest);
}

}  // namespace weft
