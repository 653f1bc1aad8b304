// A local transform that is longer along some axes than its arrays (Problem::points, Problem::modes): points
// and modes that are not there are zero where they are read, and left out where they would be written. It is
// done a block at a time, in work memory of the size of the cache if its axes fit there together. Of the
// lines along an axis only those are transformed that have something in them and of whose result something is
// kept. Where an operator comes between a transform and its inverse, it gets each block between the two.
#pragma once

#include <memory>
#include <span>
#include <variant>
#include <vector>

#include "fft/blocks/resized_blocks.hpp"
#include "fft/threads/parallel_fft.hpp"
#include "kernels/cpu/permute_copy.hpp"

namespace weft {

class ResizedFft final : public HostFft {
 public:
  /// Throws `weft::Error`. `plan` as of `ParallelFft`.
  ResizedFft(const ResizedProblem& problem, std::span<const FftRow* const> rows, int threads,
             PlannedFft (*plan)(std::span<const FftRow* const>, const FftProblem&) = plan_fft);

  Index work_bytes() const override { return block_bytes_ + lines_bytes_; }
  void execute(std::byte* from, std::byte* to, std::byte* work, ThreadPool* pool,
               const FftContext& context) const override;
  const FftRow& row() const override { return *row_; }

 private:
  struct Lines {
    std::shared_ptr<const ParallelFft> fft;
    BlockPlace from, to;
  };
  struct Copy {
    PermuteCopy copy;
    BlockPlace from, to;
  };
  struct Operation {
    OperatorStep step;
    int divided;  ///< the axis along which threads share the box
  };
  using Step = std::variant<Lines, Copy, ZeroStep, NyquistStep, MirrorStep, ColumnsStep, Operation>;
  /// What a block is done with.
  struct Run {
    std::byte *from, *to, *work;
    ThreadPool* pool;
    const FftContext& context;
    const Shape& at;  ///< where the block begins, from where the call does
  };

  template <class Any>
  Step bind(Any& step, std::span<const FftRow* const> rows,
            PlannedFft (*plan)(std::span<const FftRow* const>, const FftProblem&));
  void block(const std::vector<Step>& steps, const Run& run) const;
  template <class Real>
  void fold(const NyquistStep& step, std::byte* work, int part, int parts) const;
  template <class Real>
  void mirror(const MirrorStep& step, const std::byte* from, std::byte* to, int part, int parts) const;
  template <class Real>
  void copy_columns(const ColumnsStep& step, const Run& run, int part, int parts) const;
  void operate(const Operation& operation, const Run& run, int part, int parts) const;

  Precision precision_;
  int threads_;
  std::vector<LikeBlocks> blocks_;        ///< without their steps
  std::vector<std::vector<Step>> bound_;  ///< which are here
  Index block_bytes_ = 0;  ///< of work memory for a block, and behind it for transforms along lines
  Index lines_bytes_ = 0;
  const FftRow* row_;
};

}  // namespace weft
