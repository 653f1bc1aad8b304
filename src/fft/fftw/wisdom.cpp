#include "fft/fftw/wisdom.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <sstream>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/text.hpp"
#include "fft/fftw/names.hpp"

namespace weft::fftw {

namespace {

template <class Real>
std::string exported() {
  const std::unique_ptr<char, decltype(&std::free)> text(Fftw<Real>::export_wisdom(), &std::free);
  if (text == nullptr) throw std::bad_alloc();
  const std::string all = text.get();
  // FFTW's text without any entry is a head and a bracket.
  return all.find("\n  (") == std::string::npos ? "" : all;
}

/// Whether a word is "#x" and hexadecimal digits of a number below 2^bits.
bool is_number(std::string_view word, int bits) {
  if (!word.starts_with("#x")) return false;
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(word.data() + 2, word.data() + word.size(), value, 16);
  return error == std::errc() && end == word.data() + word.size() && value >> bits == 0;
}

/// A line " (solver index #flags #flags #flags #problem #problem #problem #problem)" whose numbers fit FFTW's
/// fields. FFTW ends the process if one does not, so text is checked before FFTW reads it.
bool is_line(std::string_view line) {
  if (!line.starts_with("  (") || !line.ends_with(")")) return false;
  constexpr std::array bits{20, 20, 9, 32, 32, 32, 32};
  std::istringstream words(std::string(line.substr(3, line.size() - 4)));
  std::string word;
  int index = -1;
  if (!(words >> word >> index) || index < 0) return false;
  for (const int b : bits)
    if (!(words >> word) || !is_number(word, b)) return false;
  return !(words >> word);
}

bool is_wisdom(const std::string& text) {
  const std::vector<std::string> lines = split_lines(text);
  return lines.size() >= 2 && lines.front().starts_with("(fftw-") && lines.back() == ")" &&
         std::all_of(lines.begin() + 1, lines.end() - 1, is_line);
}

}  // namespace

std::mutex& planner_mutex() {
  static std::mutex mutex;
  return mutex;
}

std::string export_wisdom(Precision precision) {
  const std::lock_guard lock(planner_mutex());
  return precision == Precision::float64 ? exported<double>() : exported<float>();
}

bool import_wisdom(Precision precision, const std::string& text) {
  if (!is_wisdom(text)) return false;
  const std::lock_guard lock(planner_mutex());
  const auto take =
      precision == Precision::float64 ? Fftw<double>::import_wisdom : Fftw<float>::import_wisdom;
  return take(text.c_str()) != 0;
}

void forget_wisdom() {
  const std::lock_guard lock(planner_mutex());
  Fftw<double>::forget_wisdom();
  Fftw<float>::forget_wisdom();
}

}  // namespace weft::fftw
