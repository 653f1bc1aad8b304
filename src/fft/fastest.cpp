// Chooses between local FFT libraries by timing them, as none is the fastest for all lengths and strides.
#include <algorithm>
#include <chrono>
#include <mutex>

#include "fft/fft_choices.hpp"
#include "fft/local_fft.hpp"
#include "weft/buffer.hpp"
#include "weft/error.hpp"

namespace weft {

namespace {

struct Candidate {
  PlannedFft planned;
  double best = 0;  ///< seconds
};

void try_once(Candidate& c, std::byte* from, std::byte* to, bool first) {
  const auto begin = std::chrono::steady_clock::now();
  c.planned.fft->execute(from, to);
  const double time = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  c.best = first ? time : std::min(c.best, time);
}

/// Times the candidates in turns, so that disturbances affect all of them, and compares their shortest times.
PlannedFft fastest(std::vector<Candidate>& candidates, const FftProblem& problem) {
  constexpr double long_enough = 2e-3;
  constexpr int least_turns = 3, most_turns = 50;
  const std::size_t from_size = span_read(problem), to_size = span_written(problem);
  Buffer<std::byte> from(problem.in_place ? std::max(from_size, to_size) : from_size);
  Buffer<std::byte> to(problem.in_place ? 0 : to_size);
  double spent = 0;
  for (int turn = 0; turn < most_turns && (turn < least_turns || spent < long_enough); ++turn)
    for (Candidate& c : candidates) {
      try_once(c, from.data(), problem.in_place ? from.data() : to.data(), turn == 0);
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
      candidates.push_back({{row->plan(problem), row}, 0});
    } catch (const Error&) {  // another library may be able to
    }
  }
  if (candidates.empty()) return plan_fft(rows, problem);
  if (candidates.size() == 1) return candidates.front().planned;
  PlannedFft chosen = fastest(candidates, problem);
  remember_fft_choice(problem, *chosen.row);
  return chosen;
}

}  // namespace weft
