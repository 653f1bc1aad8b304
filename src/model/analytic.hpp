// The analytic models of the papers: closed formulas for messages, times and bounds of a distributed
// transform. They know ranks, grids and one link, and nothing of pipelines or of a machine. So they are quick
// to evaluate for any number of ranks, and show what a more careful model has to explain.
#pragma once

#include <array>
#include <optional>
#include <utility>
#include <vector>

#include "schedule/schedule.hpp"

namespace weft::analytic {

// ---- Messages (communication-tuning, Table II) ----

/// The reshapes of Table II, and one that a transform needs beside them. Bricks are cut along all three axes,
/// pencils along two, slabs along one.
enum class ReshapeType {
  brick_pencil,
  brick_slab,
  pencil_pencil,  ///< in the cube-root reading: along the side of P^2/3 ranks
  pencil_slab,    ///< the slab is cut along an axis that the pencil cuts too: its shorter side
  slab_slab,
  pencil_slab_across  ///< the slab is cut along the axis that the pencil holds whole; not in the table
};
inline constexpr std::array reshape_types{ReshapeType::brick_pencil,  ReshapeType::brick_slab,
                                          ReshapeType::pencil_pencil, ReshapeType::pencil_slab,
                                          ReshapeType::slab_slab,     ReshapeType::pencil_slab_across};
/// "brick - pencil"
const char* name_of(ReshapeType type);

/// What the pencils of the table are. `cube_root`: P^1/3 x P^2/3 ranks, from which the table's figures come.
/// `near_square`: P^1/2 x P^1/2 ranks, as in Table III of multi-gpu-fft-performance.
enum class Reading { cube_root, near_square };

/// The exponent e of the partners P^e of one rank, itself included (Table II; bricks are cut into P^1/3 parts
/// along each axis). After a pencil that is whole along one axis, a transform goes on with slabs that are
/// whole along both others. Such slabs are cut across: each pencil meets all P of them, in either reading.
double partner_exponent(ReshapeType type, Reading reading);

/// P^e for P ranks, exact where P^e is a whole number.
double table_partners(ReshapeType type, Reading reading, double ranks);

/// The type of a reshape between grids over three axes, in either direction; none if both are cut alike, or
/// if one is not cut at all.
std::optional<ReshapeType> type_of(const Grid& from, const Grid& to);

/// Grids of a type of reshape as the table has them. Bricks have the least surface. Pencils in the cube-root
/// reading have as many parts along one axis as the bricks have, where these are the fewest, and the others
/// along the other. The partners on these grids are `table_partners` exactly if P is a cube, in the
/// near-square reading a sixth power, and divides the lengths; else they are near.
std::pair<Grid, Grid> table_grids(ReshapeType type, Reading reading, const Shape& shape, int ranks);

/// The most ranks, itself included, with which a rank has points in common when the even split of `shape`
/// over grid `from` becomes that over grid `to`: the product over the axes of the most parts that one part
/// meets. Counts what Table II approximates, on any grids.
Index partners(const Shape& shape, const Grid& from, const Grid& to);

/// What a schedule does in one of its reshapes, at most over all ranks.
struct ReshapeCount {
  int stage = 0;          ///< number of the stage
  Index partners = 0;     ///< ranks with common points, itself included, as Table II counts
  Index messages = 0;     ///< sent to other ranks
  Index sent_points = 0;  ///< to other ranks
};

/// Counted over all ranks from `traffic`, for each reshape of a schedule.
std::vector<ReshapeCount> counted_messages(const Schedule& schedule);

// ---- Grids (multi-gpu-fft-performance, Table III; communication-tuning, "minimum surface partition") ----

/// The surface, in points, of the largest cell of a grid over a shape of three axes: what the minimum-surface
/// partition makes small.
double surface(const Shape& shape, const Grid& grid);

/// The grids of an experiment of Table III: bricks of least surface, pencils along the axes 0, 1 and 2 of
/// near-square grids, bricks. The table lists factors without regard to their order.
std::array<Grid, 5> grid_sequence(const Shape& shape, int ranks);

// ---- Times of exchanges ----

/// A link of one rank as the papers have it: seconds before the first byte of a message, and bytes per second
/// in one direction. The papers give each rank the whole bandwidth of its node.
struct Link {
  double latency = 0, bandwidth = 1;
};

/// Seconds that a rank spends on sending a share of its box to each of `partners` - 1 others, one after the
/// other: (n - 1) (L + V / (B P n)) for n partners among P ranks and an array of V bytes. Eqs. 2 and 3 of
/// multi-gpu-fft-performance are sums of this term, and so is eq. 2 of communication-tuning.
double exchange_time(double partners, double ranks, double bytes, const Link& link);

/// Seconds of the one exchange of slabs (multi-gpu-fft-performance, eq. 2). `bytes`: of the whole array, 16 N
/// for complex numbers in double precision.
double slab_time(double bytes, double ranks, const Link& link);

/// Seconds of the two exchanges of pencils on a grid of p x q ranks (the same paper, eq. 3).
double pencil_time(double bytes, double p, double q, const Link& link);

/// Bytes per second that a rank reaches if the exchange of slabs takes `seconds` (the same paper, eq. 4).
/// Throws `weft::Error` if there is one rank only, or if latency alone takes as long.
double slab_bandwidth(double bytes, double ranks, double seconds, double latency);

/// The same of the two exchanges of pencils (the same paper, eq. 5).
double pencil_bandwidth(double bytes, double p, double q, double seconds, double latency);

/// Seconds of several reshapes, one after the other, with these partners each (communication-tuning, eq. 2,
/// where a reshape is a number of messages times the time of one).
double sequence_time(const std::vector<double>& partners, double ranks, double bytes, const Link& link);

// ---- Slabs or pencils (communication-tuning, Figure 3; multi-gpu-fft-performance, Section IV-A) ----

/// How the times of both decompositions are found.
enum class PhaseModel {
  exchanges,    ///< slabs and pencils from end to end: multi-gpu-fft-performance, eqs. 2 and 3
  table,        ///< bricks to bricks: communication-tuning, eq. 2 with Table II as printed
  near_square,  ///< the same with near-square pencils and slabs that are cut across
  grids         ///< the same with the partners of the grids of `grid_sequence`
};

/// The prediction for n³ points on some ranks. Slabs need a plane for each rank, pencils a line.
struct Choice {
  double slab_s = 0, pencil_s = 0;  ///< seconds, also where there are too few planes or lines
  bool slabs_fit = true, pencils_fit = true;
  bool slabs_win() const { return slabs_fit && slab_s <= pencil_s; }
};

/// `point_bytes`: 16 for complex numbers in double precision. At least one rank and one point.
Choice choose(PhaseModel model, Index n, int ranks, const Link& link, double point_bytes = 16);

/// The number of ranks, in between whole numbers, up to which slabs are predicted to be faster. Grids are as
/// square as real numbers allow, and planes are not counted. 2 where pencils are always faster; none for
/// `grids`, and where slabs are always faster.
std::optional<double> tie(PhaseModel model, Index n, const Link& link, double point_bytes = 16);

// ---- Roofline (communication-tuning, Figure 10) ----

/// A node: bytes per second that it sends into the network, and its peak in flop/s.
struct Node {
  double bandwidth = 1, flops = 1;
};

/// What bounds a transform of N points on some nodes: every byte leaves its node, and computing hides behind
/// sending or sending behind computing.
struct Roof {
  double flops = 0;        ///< 5 N log2 N, as is customary
  double intensity = 0;    ///< flops per byte that is sent
  double wire_s = 0;       ///< seconds: bytes of all reshapes over the bandwidth of all nodes
  double compute_s = 0;    ///< seconds: flops over the peak of all nodes
  double flops_per_s = 0;  ///< the lower of both roofs
};
Roof roofline(double points, int nodes, int reshapes, const Node& node, double point_bytes = 16);

/// Eq. 3 of communication-tuning: 1.953 P log2 N. The paper calls it a time in seconds for P processes, which
/// it cannot be: it grows with P. The number is the roof in 1e9 flop/s of P nodes of 25 GB/s with the four
/// reshapes of pencils between bricks: 5 N log2 N / (4 · 16 N / (25 P)) = 1.953125 P log2 N.
double summit_curve(double nodes, double points);

// ---- Published figures of Summit ----

/// 25 GB/s of theoretical bandwidth and 1 µs of latency (communication-tuning, Section II-A, for its Figure
/// 3).
inline constexpr Link summit_theoretical{1e-6, 25e9};
/// 23.5 GB/s of practical bandwidth and 1 µs (multi-gpu-fft-performance, Section IV-A, for its prediction).
inline constexpr Link summit_practical{1e-6, 23.5e9};
/// 25 GB/s that a node injects, about 40 TFlop/s of its six GPUs (communication-tuning, Section III-A).
inline constexpr Node summit_node{25e9, 40e12};
/// V100 GPUs of a node, one rank each (both papers).
inline constexpr int summit_gpus = 6;

}  // namespace weft::analytic
