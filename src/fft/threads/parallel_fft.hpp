// A local FFT for the threads of a rank: the plans of its pieces, and their execution on a pool. Pieces are
// cut here and not by the FFT libraries, so that all libraries can use Weft's pool, and results do not depend
// on which thread runs which piece.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "base/thread_pool.hpp"
#include "fft/fft_context.hpp"
#include "fft/local_fft.hpp"
#include "fft/threads/fft_split.hpp"

namespace weft {

/// A local FFT of a rank with threads, on the host.
class HostFft {
 public:
  virtual ~HostFft() = default;
  /// Bytes of work memory that it needs, at a multiple of 64 bytes.
  virtual Index work_bytes() const { return 0; }
  /// Executes on a pool of any number of threads; without a pool the caller does all. The arrays have the
  /// alignment and overlap that the problem says. The bits of the result depend on the number of threads in
  /// planning, not on the pool. Allocates nothing.
  virtual void execute(std::byte* from, std::byte* to, std::byte* work, ThreadPool* pool,
                       const FftContext& context) const = 0;
  /// The library that does the transform; that of its first part, should they differ.
  virtual const FftRow& row() const = 0;
};

class ParallelFft final : public HostFft {
 public:
  /// Plans `problem`, cut by `split_fft`, each piece with `plan` (`plan_fft` or `plan_fastest_fft`). Throws
  /// `weft::Error`.
  ParallelFft(const FftProblem& problem, std::span<const FftRow* const> rows, int threads,
              PlannedFft (*plan)(std::span<const FftRow* const>, const FftProblem&) = plan_fft);

  Index work_bytes() const override { return work_bytes_; }
  void execute(std::byte* from, std::byte* to, std::byte* work, ThreadPool* pool,
               const FftContext& context) const override;
  const FftRow& row() const override { return *row_; }

 private:
  struct Piece {
    std::shared_ptr<const LocalFft> fft;
    Index from_offset, to_offset;
    Index work_offset;  ///< in work memory, as pieces are done at the same time
  };
  struct Step {
    FftStep::Sides sides;
    std::vector<Piece> pieces;
  };

  std::vector<Step> steps_;
  Index work_bytes_ = 0;
  const FftRow* row_ = nullptr;
};

}  // namespace weft
