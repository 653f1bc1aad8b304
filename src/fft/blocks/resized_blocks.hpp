// Cuts a local transform that is longer along some axes than its arrays, or that is followed by an operator
// and its own inverse, into blocks that are done one after the other in the same work memory. Pure data.
#pragma once

#include <vector>

#include "fft/blocks/block_steps.hpp"

namespace weft {

/// What blocks are made for.
struct BlockManner {
  Index bytes = 0;         ///< of work memory, as far as loops can be cut
  Index shortest_run = 0;  ///< bytes of neighbours in memory that a block takes at least
  WorkManner work = {};    ///< of `write_block`
  bool rows = false;       ///< steps are those of `write_rows`
};

/// Steps of a block, and where the blocks like it are.
struct LikeBlocks {
  struct Place {
    int axis;
    Index n, step;                 ///< so many blocks, and elements from one to the next
    Index from_stride, to_stride;  ///< bytes
  };
  /// The first of them.
  struct Begin {
    Shape at = Shape(max_axes, 0);         ///< its index, from where the call begins
    Index from_stride = 0, to_stride = 0;  ///< bytes
  };
  std::vector<BlockStep> steps;
  std::vector<Place> places;  ///< the first is the outermost
  Begin first = {};
};

struct ResizedBlocks {
  std::vector<LikeBlocks> all;
  Index work_bytes = 0;  ///< of the largest block
};

ResizedBlocks cut_blocks(const ResizedProblem& problem, const BlockManner& manner);

/// Calls f(from, to, at) for every block: where it begins in the arrays of the call, and its global index
/// from where the call begins.
template <class F>
void for_each_block(const LikeBlocks& blocks, std::byte* from, std::byte* to, const F& f) {
  Shape at = blocks.first.at;
  const auto walk = [&](const auto& self, std::size_t place, std::byte* read, std::byte* write) -> void {
    if (place == blocks.places.size()) return f(read, write, static_cast<const Shape&>(at));
    const LikeBlocks::Place& p = blocks.places[place];
    const Index begin = at[p.axis];
    for (Index i = 0; i < p.n; ++i, at[p.axis] += p.step)
      self(self, place + 1, read + i * p.from_stride, write + i * p.to_stride);
    at[p.axis] = begin;
  };
  walk(walk, 0, from + blocks.first.from_stride, to + blocks.first.to_stride);
}

}  // namespace weft
