#include "fft/threads/parallel_fft.hpp"

#include <algorithm>

#include "base/arithmetic.hpp"

namespace weft {

ParallelFft::ParallelFft(const FftProblem& problem, std::span<const FftRow* const> rows, int threads,
                         PlannedFft (*plan)(std::span<const FftRow* const>, const FftProblem&)) {
  for (const FftStep& step : split_fft(problem, threads)) {
    Step bound{step.sides, {}};
    Index work = 0;
    for (const FftPiece& piece : step.pieces) {
      PlannedFft planned = plan(rows, piece.problem);
      if (row_ == nullptr) row_ = planned.row;
      const Index bytes = rounded_up<Index>(planned.fft->work_bytes(), 64);
      bound.pieces.push_back({std::move(planned.fft), piece.from_offset, piece.to_offset, work});
      work += bytes;
    }
    work_bytes_ = std::max(work_bytes_, work);
    steps_.push_back(std::move(bound));
  }
}

void ParallelFft::execute(std::byte* from, std::byte* to, std::byte* work, ThreadPool* pool,
                          const FftContext& /*context*/) const {
  for (const Step& step : steps_) {
    std::byte* const read = step.sides == FftStep::Sides::to_only ? to : from;
    std::byte* const write = step.sides == FftStep::Sides::from_only ? from : to;
    const auto run = [&](int i) {
      const Piece& piece = step.pieces[static_cast<std::size_t>(i)];
      piece.fft->execute(read + piece.from_offset, write + piece.to_offset,
                         work == nullptr ? nullptr : work + piece.work_offset);
    };
    const int pieces = static_cast<int>(step.pieces.size());
    if (pool != nullptr) {
      pool->run(pieces, run);
    } else {
      for (int i = 0; i < pieces; ++i) run(i);
    }
  }
}

}  // namespace weft
