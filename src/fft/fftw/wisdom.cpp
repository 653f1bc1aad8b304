#include "fft/fftw/wisdom.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <exception>
#include <string_view>
#include <system_error>
#include <vector>

#include "base/text.hpp"
#include "fft/fftw/names.hpp"

namespace weft::fftw {

namespace {

template <class Real>
std::string exported() {
  // Not as a string of FFTW's own, which is as long as wisdom was before: another thread of the program may
  // learn more in the meantime.
  struct Text {
    std::string all;
    std::exception_ptr failure;  // which must not pass through FFTW
  } text;
  const auto take = [](char c, void* to) noexcept {
    Text& t = *static_cast<Text*>(to);
    try {
      if (!t.failure) t.all.push_back(c);
    } catch (...) {
      t.failure = std::current_exception();
    }
  };
  Fftw<Real>::export_wisdom(take, &text);
  if (text.failure) std::rethrow_exception(text.failure);
  const std::string& all = text.all;
  // FFTW's text without any entry is a head and a bracket.
  return all.find("\n  (") == std::string::npos ? "" : all;
}

/// Whether text is the digits of a number below 2^bits.
bool is_number(std::string_view text, int base, int bits) {
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  return error == std::errc() && end == text.data() + text.size() && value >> bits == 0;
}

/// A line " (solver index #flags #flags #flags #problem #problem #problem #problem)" whose numbers fit FFTW's
/// fields. FFTW ends the process if one does not, so text is checked before FFTW reads it.
bool is_line(const std::string& line) {
  if (!line.starts_with("  (") || !line.ends_with(")")) return false;
  constexpr std::array bits{20, 20, 9, 32, 32, 32, 32};
  const std::vector<std::string> words = split_words(line.substr(3, line.size() - 4));
  if (words.size() != 2 + bits.size() || !is_number(words[1], 10, 31)) return false;
  return std::equal(bits.begin(), bits.end(), words.begin() + 2, [](int b, const std::string& word) {
    return word.starts_with("#x") && is_number(std::string_view(word).substr(2), 16, b);
  });
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

void make_ready() {
  static const bool once = [] {
    // Else the first fftw_plan_with_nthreads of anybody in this process, as in mpi4py-fft, makes FFTW forget
    // what all plans are built of, and destroying one of Weft's crashes.
    Fftw<double>::init_threads();
    Fftw<float>::init_threads();
    Fftw<double>::make_thread_safe();
    Fftw<float>::make_thread_safe();
    return true;
  }();
  static_cast<void>(once);
}

std::string export_wisdom(Precision precision) {
  make_ready();
  const std::lock_guard lock(planner_mutex());
  return precision == Precision::float64 ? exported<double>() : exported<float>();
}

bool import_wisdom(Precision precision, const std::string& text) {
  if (!is_wisdom(text)) return false;
  make_ready();
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
