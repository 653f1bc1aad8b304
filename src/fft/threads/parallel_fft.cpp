#include "fft/threads/parallel_fft.hpp"

namespace weft {

ParallelFft::ParallelFft(const FftProblem& problem, std::span<const FftRow* const> rows, int threads,
                         PlannedFft (*plan)(std::span<const FftRow* const>, const FftProblem&)) {
  for (const FftStep& step : split_fft(problem, threads)) {
    Step bound{step.sides, {}};
    for (const FftPiece& piece : step.pieces) {
      PlannedFft planned = plan(rows, piece.problem);
      if (row_ == nullptr) row_ = planned.row;
      bound.pieces.push_back({std::move(planned.fft), piece.from_offset, piece.to_offset});
    }
    steps_.push_back(std::move(bound));
  }
}

void ParallelFft::execute(std::byte* from, std::byte* to, std::byte* /*work*/, ThreadPool* pool,
                          const FftContext& /*context*/) const {
  for (const Step& step : steps_) {
    std::byte* const read = step.sides == FftStep::Sides::to_only ? to : from;
    std::byte* const write = step.sides == FftStep::Sides::from_only ? from : to;
    const auto run = [&](int i) {
      const Piece& piece = step.pieces[static_cast<std::size_t>(i)];
      piece.fft->execute(read + piece.from_offset, write + piece.to_offset);
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
