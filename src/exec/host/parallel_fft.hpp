// A local FFT for the threads of a rank: the plans of its pieces, and their execution on a pool. Cutting here
// and not inside the back ends gives threads to all of them, our own pool, and results that do not depend on
// who runs which piece.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "base/thread_pool.hpp"
#include "exec/host/fft_split.hpp"
#include "fft/local_fft.hpp"

namespace weft {

class ParallelFft {
 public:
  /// Plans `problem`, cut by `split_fft`, each piece with `plan` (`plan_fft` or `plan_fastest_fft`). Throws
  /// `weft::Error`.
  ParallelFft(const FftProblem& problem, std::span<const FftRow* const> rows, int threads,
              PlannedFft (*plan)(std::span<const FftRow* const>, const FftProblem&) = plan_fft);

  /// The pool may have any number of threads; without one the caller does all pieces. Alignment and overlap
  /// of the arrays are as the problem says; the bits of the result depend on the number of threads that it
  /// was planned for, not on the pool. Allocates nothing.
  void execute(std::byte* from, std::byte* to, ThreadPool* pool) const;

  /// The back end that does it (the first piece, should they differ).
  const FftRow& row() const { return *row_; }

 private:
  struct Piece {
    std::shared_ptr<const LocalFft> fft;
    Index from_offset, to_offset;
  };
  struct Step {
    FftStep::Sides sides;
    std::vector<Piece> pieces;
  };

  std::vector<Step> steps_;
  const FftRow* row_ = nullptr;
};

}  // namespace weft
