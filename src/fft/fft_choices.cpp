// Chooses between local FFT libraries by timing them, as none is the fastest for all lengths and strides. The
// choices are kept for the whole process, so that each transform is timed once, and are written as text.

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <string_view>

#include "base/text.hpp"
#include "base/timing.hpp"
#include "fft/local_fft.hpp"
#include "geometry/transform.hpp"
#include "weft/buffer.hpp"
#include "weft/error.hpp"

namespace weft {

namespace {

constexpr const char* head = "(weft-fastest-1";

struct Choices {
  std::mutex mutex;
  std::map<FftProblem, const FftRow*> rows;
};

Choices& choices() {
  static Choices all;
  return all;
}

constexpr std::array kinds{"c2c", "real", "r2r"};
constexpr std::array precisions{"float32", "float64"};
constexpr std::array directions{"forward", "backward"};
constexpr std::array places{"out-of-place", "in-place"};
constexpr std::array inputs{"keeps", "destroys"};
constexpr std::array alignments{"anywhere", "aligned"};
constexpr std::array efforts{"estimate", "measure", "patient"};

std::string text_of(double value) {
  std::array<char, 32> text{};
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

/// "64:1:1,32:64:128:dct2", or "-".
std::string text_of(const std::vector<FftDimension>& dimensions) {
  std::string text;
  for (const FftDimension& d : dimensions) {
    text += (text.empty() ? "" : ",") + std::to_string(d.n) + ":" + std::to_string(d.from_stride) + ":" +
            std::to_string(d.to_stride);
    if (d.transform != Transform::c2c) text += std::string(":") + name_of(d.transform);
  }
  return text.empty() ? "-" : text;
}

std::string text_of(const FftProblem& p) {
  const auto at = [](const auto& names, auto value) { return names[static_cast<std::size_t>(value)]; };
  return join(
      std::vector<std::string>{at(kinds, p.kind), at(precisions, p.precision), at(directions, p.direction),
                               at(places, p.in_place), at(inputs, p.may_destroy_input),
                               at(alignments, p.aligned), at(efforts, p.effort), text_of(p.scale),
                               text_of(p.dimensions), text_of(p.loops)},
      " ");
}

/// Reads the words of a line. After a word that is not valid, `complete` is false.
class LineReader {
 public:
  explicit LineReader(const std::string& line) : words_(split_words(line)) {}

  template <class Names, class Value>
  void operator()(const Names& names, Value& value) {
    const std::string name = word();
    const auto found = std::find(names.begin(), names.end(), name);
    good_ = good_ && found != names.end();
    if (good_) value = static_cast<Value>(found - names.begin());
  }

  void operator()(double& value) {
    number(word(), value);
    good_ = good_ && std::isfinite(value);
  }

  void operator()(std::vector<FftDimension>& dimensions) {
    const std::string list = word();
    if (list == "-") return;
    for (const std::string& part : split(list, ',')) {
      std::vector<std::string> field = split(part, ':');
      good_ = good_ && (field.size() == 3 || field.size() == 4);
      field.resize(4);
      FftDimension& d = dimensions.emplace_back();
      number(field[0], d.n);
      number(field[1], d.from_stride);
      number(field[2], d.to_stride);
      if (!field[3].empty()) read(field[3], d.transform);
    }
  }

  bool complete() const { return good_ && next_ == words_.size(); }

 private:
  std::string word() {
    good_ = good_ && next_ < words_.size();
    return good_ ? words_[next_++] : "";
  }

  template <class Number>
  void number(std::string_view text, Number& value) {
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    good_ = good_ && error == std::errc() && end == text.data() + text.size();
  }

  void read(const std::string& name, Transform& transform) {
    for (int t = 0; t <= static_cast<int>(Transform::dst4); ++t)
      if (name == name_of(static_cast<Transform>(t))) {
        transform = static_cast<Transform>(t);
        return;
      }
    good_ = false;
  }

  std::vector<std::string> words_;
  std::size_t next_ = 0;
  bool good_ = true;
};

std::optional<FftProblem> problem_in(const std::string& text) {
  FftProblem p;
  LineReader read(text);
  read(kinds, p.kind);
  read(precisions, p.precision);
  read(directions, p.direction);
  read(places, p.in_place);
  read(inputs, p.may_destroy_input);
  read(alignments, p.aligned);
  read(efforts, p.effort);
  read(p.scale);
  read(p.dimensions);
  read(p.loops);
  if (!read.complete()) return std::nullopt;
  return p;
}

const FftRow* row_named(std::string_view name) {
  for (const FftRow& row : fft_table())
    if (name == row.name && row.memory == MemoryKind::host && row.missing().empty()) return &row;
  return nullptr;
}

/// The problem without the members that do not affect which library is fastest.
FftProblem key_of(FftProblem problem) {
  problem.planning_seconds = 0;
  return problem;
}

/// The fastest library; null if the transform has not been timed.
const FftRow* known_fft_choice(const FftProblem& problem) {
  const std::lock_guard lock(choices().mutex);
  const auto found = choices().rows.find(key_of(problem));
  return found == choices().rows.end() ? nullptr : found->second;
}

void remember_fft_choice(const FftProblem& problem, const FftRow& row) {
  const std::lock_guard lock(choices().mutex);
  choices().rows[key_of(problem)] = &row;
}

struct Candidate {
  PlannedFft planned;
  double best = std::numeric_limits<double>::max();  ///< seconds
};

/// Times the candidates in turns, so that disturbances affect all of them, and compares their shortest times.
PlannedFft fastest(std::vector<Candidate>& candidates, const FftProblem& problem) {
  constexpr double long_enough = 2e-3;
  constexpr int least_turns = 3, most_turns = 50;
  const std::size_t from_size = span_read(problem), to_size = span_written(problem);
  Buffer<std::byte> from(problem.in_place ? std::max(from_size, to_size) : from_size);
  Buffer<std::byte> to(problem.in_place ? 0 : to_size);
  Index work_bytes = 0;
  for (const Candidate& c : candidates) work_bytes = std::max(work_bytes, c.planned.fft->work_bytes());
  Buffer<std::byte> work(static_cast<std::size_t>(work_bytes));
  double spent = 0;
  for (int turn = 0; turn < most_turns && (turn < least_turns || spent < long_enough); ++turn)
    for (Candidate& c : candidates) {
      const double begin = seconds_now();
      c.planned.fft->execute(from.data(), problem.in_place ? from.data() : to.data(), work.data());
      c.best = std::min(c.best, seconds_now() - begin);
      spent += c.best;
    }
  return std::min_element(candidates.begin(), candidates.end(),
                          [](const Candidate& a, const Candidate& b) { return a.best < b.best; })
      ->planned;
}

}  // namespace

PlannedFft plan_fastest_fft(std::span<const FftRow* const> rows, const FftProblem& problem) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  const FftRow* const known = known_fft_choice(problem);
  if (std::find(rows.begin(), rows.end(), known) != rows.end() && known->unable(problem).empty()) {
    try {
      return {known->plan(problem), known};
    } catch (const Error&) {  // a choice from a file may be wrong: all are tried
    }
  }
  std::vector<Candidate> candidates;
  for (const FftRow* row : rows) {
    if (!row->unable(problem).empty()) continue;
    try {
      candidates.push_back({{row->plan(problem), row}});
    } catch (const Error&) {  // another library may be able to
    }
  }
  if (candidates.empty()) return plan_fft(rows, problem);
  if (candidates.size() == 1) return candidates.front().planned;
  PlannedFft chosen = fastest(candidates, problem);
  remember_fft_choice(problem, *chosen.row);
  return chosen;
}

std::string export_fft_choices() {
  std::vector<std::string> lines;
  {
    const std::lock_guard lock(choices().mutex);
    for (const auto& [problem, row] : choices().rows)
      lines.push_back(std::string("  (") + row->name + " #" + text_of(problem) + ")");
  }
  if (lines.empty()) return "";
  std::sort(lines.begin(), lines.end());
  return std::string(head) + "\n" + join(lines, "\n") + "\n)\n";
}

bool import_fft_choices(const std::string& text) {
  const std::vector<std::string> lines = split_lines(text);
  if (lines.size() < 2 || lines.front() != head || lines.back() != ")") return false;
  for (std::size_t i = 1; i + 1 < lines.size(); ++i) {
    const std::string& line = lines[i];
    const std::size_t hash = line.find(" #");
    if (!line.starts_with("  (") || !line.ends_with(")") || hash == std::string::npos) continue;
    const FftRow* const row = row_named(std::string_view(line).substr(3, hash - 3));
    const auto problem = problem_in(line.substr(hash + 2, line.size() - hash - 3));
    if (row != nullptr && problem) remember_fft_choice(*problem, *row);
  }
  return true;
}

void forget_fft_choices() {
  const std::lock_guard lock(choices().mutex);
  choices().rows.clear();
}

}  // namespace weft
