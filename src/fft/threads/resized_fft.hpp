// A local transform that is longer along some axes than its arrays (Problem::points, Problem::modes): points
// and modes that are not there are zero where they are read, and left out where they would be written. It is
// done a block at a time, in work memory of the size of the cache if its axes fit there together. Of the
// lines along an axis only those are transformed that have something in them and of whose result something is
// kept.
#pragma once

#include <memory>
#include <variant>
#include <vector>

#include "fft/threads/parallel_fft.hpp"
#include "kernels/cpu/permute_copy.hpp"

namespace weft {

/// Strides are in elements of their side; modes are counted as `Problem::modes` says.
struct ResizedAxis {
  Transform transform = Transform::c2c;  ///< of the forward direction
  Index length = 1;                      ///< of the transform
  Index points = 1, modes = 1;           ///< of the arrays: the first of all points; the kept modes
  Index from_stride = 1, to_stride = 1;
  friend auto operator<=>(const ResizedAxis&, const ResizedAxis&) = default;
};

struct ResizedProblem {
  Precision precision = Precision::float64;
  Direction direction = Direction::forward;
  Element points = Element::complex;  ///< modes are complex if these are, or an axis is r2c
  ModesNyquist nyquist = ModesNyquist::shared;
  bool aligned = true;  ///< both sides start on multiples of 16 bytes at every execution
  Effort effort = Effort::estimate;
  double planning_seconds = 0;
  double scale = 1;
  std::vector<ResizedAxis> axes;
  std::vector<FftDimension> loops;
  friend auto operator<=>(const ResizedProblem&, const ResizedProblem&) = default;
};

class ResizedFft final : public HostFft {
 public:
  /// Throws `weft::Error`. `plan` as of `ParallelFft`.
  ResizedFft(const ResizedProblem& problem, std::span<const FftRow* const> rows, int threads,
             PlannedFft (*plan)(std::span<const FftRow* const>, const FftProblem&) = plan_fft);

  Index work_bytes() const override { return work_bytes_; }
  void execute(std::byte* from, std::byte* to, std::byte* work, ThreadPool* pool) const override;
  const FftRow& row() const override { return *row_; }

  /// Where a step finds its data.
  enum class Side { input, output, work };
  struct Place {
    Side side = Side::work;
    Index offset = 0;  ///< in bytes
  };
  struct FftOfLines {
    std::shared_ptr<const ParallelFft> fft;
    Place from, to;
  };
  struct Copy {
    PermuteCopy copy;
    Place from, to;
  };
  /// Sets elements of the work memory to zero.
  struct Zero {
    std::vector<FftDimension> loops;  ///< strides in bytes, the innermost one a run of bytes
    Index offset = 0;
  };
  /// What the mode m/2 of an even number m of kept modes stands for: of c2c the mode m/2 and the mode -m/2 of
  /// all, which lies `other` bytes behind it; of r2c, where they are conjugates, both in one. Forward adds
  /// them up, backward gives each one half.
  struct Nyquist {
    std::vector<FftDimension> loops;  ///< strides in bytes, over complex numbers
    Index offset = 0, other = 0;      ///< 0: r2c
  };
  using Step = std::variant<FftOfLines, Copy, Zero, Nyquist>;
  /// The steps of a block, and where the blocks like it begin.
  struct Blocks {
    std::vector<Step> steps;
    std::vector<FftDimension> places;  ///< strides in bytes
    Index from_offset = 0, to_offset = 0;
  };

 private:
  void run(const Blocks& blocks, std::byte* from, std::byte* to, std::byte* work, ThreadPool* pool) const;
  template <class Real>
  void fold(const Nyquist& step, std::byte* work, int part, int parts) const;

  Precision precision_;
  Direction direction_;
  int threads_;
  std::vector<Blocks> blocks_;
  Index work_bytes_ = 0;
  const FftRow* row_ = nullptr;
};

}  // namespace weft
