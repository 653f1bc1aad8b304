// What a call of FFTW's MPI interface asks for, and what that is in Weft's words: a problem with a box for
// each rank, options, and the direction. Pure: nothing here communicates or knows an array, so that every
// rank computes the same.
#pragma once

#include <fftw3.h>
#include <cstddef>

#include "weft/fftw3-mpi.h"

#include "weft/options.hpp"
#include "weft/plan_types.hpp"
#include "weft/problem.hpp"

namespace weft::fftw3_mpi {

enum class Kind { dft, r2c, c2r, r2r, transpose };

/// The arguments of a planning function that have nothing to do with ranks and memory.
struct Request {
  Kind kind;
  Precision precision;
  int rank;            ///< number of dimensions
  const ptrdiff_t* n;  ///< their lengths; of r2c and c2r those of the real array
  ptrdiff_t howmany;   ///< numbers of a point, neighbours in memory
  ptrdiff_t in_block, out_block;
  int sign;                    ///< dft only
  const fftw_r2r_kind* kinds;  ///< r2r only, one per dimension
  unsigned flags;
};

/// Rows of one dimension: those that a rank holds.
struct Rows {
  Index start, count;
};

/// The rows of `rank` where `n` are cut into blocks of `block`, or evenly (0). {0, 0} for a rank without any.
Rows rows_of(Index n, Index block, int ranks, int rank);

/// Whether a transform of one dimension is divided among ranks as those of more dimensions are, in blocks of
/// its points, as in FFTW: there are enough numbers in a point to share them out for the transform itself.
inline bool has_wide_points(ptrdiff_t howmany, int ranks, unsigned flags) {
  return howmany >= ranks && (flags & (FFTW_MPI_SCRAMBLED_IN | FFTW_MPI_SCRAMBLED_OUT)) == 0;
}

/// How another c2c transform of one dimension is spread over several ranks: as a line (Problem::line) whose
/// points are rows of an array of two axes, and its modes in their natural order rows of the transposed one.
/// Lengths that are no product of two are on the first rank.
struct Line {
  Shape shape;  ///< of two axes; {n, 1}: on the first rank
  /// The rows of `rank` that hold points, or modes, and the length of such a row.
  Rows rows(bool modes, int ranks, int rank) const;
  Index row(bool modes) const { return shape[modes ? 0 : 1]; }
};
/// Of the products, that which leaves the rank with most the least; of equal ones the one nearest to a
/// square.
Line line_of(Index n, int ranks);

/// What Weft is asked for instead.
struct Translation {
  Problem problem;
  Options options;
  Direction direction;
  /// The layouts of an in-place real transform do not coincide on every rank, so that the plan transforms
  /// into an array of its own, which is then copied into the user's.
  bool relayed;
  /// Boxes of all ranks on the side that executions read, and on the one that they write.
  std::vector<Box> from, to;
};

/// `threads`: what fftw_plan_with_nthreads was given. Throws `weft::Error` for what Weft cannot do.
Translation translate(const Request& request, bool in_place, int ranks, int threads);

/// Floating-point operations of `rank`'s part by the usual count, 5 N log2 N for complex data and half of
/// that for real.
double nominal_flops(const Translation& translation, int rank);

}  // namespace weft::fftw3_mpi
