// A local transform that is longer along some axes than its arrays (Problem::points, Problem::modes): points
// and modes that are not there are zero where they are read, and left out where they would be written. It is
// done a block at a time, in work memory of the size of the cache if its axes fit there together. Of the
// lines along an axis only those are transformed that have something in them and of whose result something is
// kept. Where an operator comes between a transform and its inverse, it gets each block between the two.
#pragma once

#include <vector>

#include "fft/threads/block_steps.hpp"

namespace weft {

class ResizedFft final : public HostFft {
 public:
  /// Throws `weft::Error`. `plan` as of `ParallelFft`.
  ResizedFft(const ResizedProblem& problem, std::span<const FftRow* const> rows, int threads,
             PlannedFft (*plan)(std::span<const FftRow* const>, const FftProblem&) = plan_fft);

  Index work_bytes() const override { return work_bytes_; }
  void execute(std::byte* from, std::byte* to, std::byte* work, ThreadPool* pool,
               const Middle& middle) const override;
  const FftRow& row() const override { return *row_; }

 private:
  /// Steps of a block, and where the blocks like it are.
  struct Blocks {
    struct Place {
      int axis;
      Index n, step;                 ///< so many blocks, and elements from one to the next
      Index from_stride, to_stride;  ///< bytes
    };
    std::vector<BlockStep> steps;
    std::vector<Place> places;  ///< the first is the outermost
    Place first = {};           ///< one step along an axis to the first block
  };
  /// What a block is done with.
  struct Run {
    std::byte *from, *to, *work;
    ThreadPool* pool;
    const Middle& middle;
    Shape at;  ///< where the block begins, from where the call does
  };

  void each(const Blocks& blocks, std::size_t place, const Run& run) const;
  void block(const Blocks& blocks, const Run& run) const;
  template <class Real>
  void fold(const NyquistStep& step, std::byte* work, int part, int parts) const;
  template <class Real>
  void copy_columns(const ColumnsStep& step, const Run& run, int part, int parts) const;
  void operate(const OperatorStep& step, const Run& run, int part, int parts) const;

  Precision precision_;
  int threads_;
  std::vector<Blocks> blocks_;
  Index work_bytes_ = 0;
  const FftRow* row_ = nullptr;
};

}  // namespace weft
