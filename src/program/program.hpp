// A program: what one rank does to carry out a schedule, as a list of operations with their dependencies. It
// is data: the host interpreter runs it, tests replay it, printing shows it. Operations stand in an order in
// which one thread can execute them; the dependencies say which of them may also run at the same time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "program/messages.hpp"
#include "schedule/schedule.hpp"

namespace weft {

/// The bytes an operand of these extents touches: [first, last) in its space.
struct Span {
  Space space = Space::work;
  Index first = 0, last = 0;
};

/// Copy `extents` elements from one strided box to another. Packing, unpacking, putting into a peer's
/// workspace and permuting locally are all this.
struct CopyCall {
  int element_bytes = 0;
  Operand from, to;
  int to_rank = -1;         ///< -1: own memory, else the peer in whose workspace `to` lies
  Box box;                  ///< the global indices copied
  double scale = 1;         ///< what the elements are multiplied by on the way
  bool store_past = false;  ///< past the cache: what is written is not read again soon
  bool load_ahead = false;  ///< what is read lies in memory, not in the cache
};

/// One local FFT over `axes` of a box; the other axes are loops. Either all of its axes are r2r, or none is.
struct FftCall {
  AxisVector<int> axes;
  AxisVector<Transform> r2r;  ///< of r2r axes: what to compute along each of `axes`; else empty
  int real_axis = -1;
  Direction direction = Direction::forward;
  Shape extents;  ///< logical: along an r2c axis the real length
  Operand from, to;
  int from_bytes = 0, to_bytes = 0;  ///< element sizes
  Box from_box, to_box;              ///< the global indices read and written
  bool may_destroy_input = true;
  Element element = Element::complex;  ///< of an r2r call
  double scale = 1;                    ///< what the result is multiplied by
};

enum class OpKind : std::uint8_t {
  fft,          ///< ffts[call]
  copy,         ///< copies[call], within this rank
  pack,         ///< copies[call], into the send buffer of a tile
  put,          ///< copies[call], into the workspace of `peer` (direct exchange)
  keep,         ///< copies[call], the rank's own part of a tile, past the exchange to its place
  post,         ///< starts sends and receives of a tile
  wait_sent,    ///< the tile's send buffers may be overwritten afterwards
  receive,      ///< completes the tile's receives; each of the next `count` unpacks may run once its part is
                ///< there
  unpack,       ///< copies[call], from the receive buffer of a tile
  signal_free,  ///< tells the senders of a tile that they may put
  await_free,   ///< waits until `peer` has freed the tile
  signal_full,  ///< tells `peer` that this rank's part of the tile has been put
  await_full,   ///< waits until the part of `peer` has arrived
};

struct Op {
  OpKind kind = OpKind::fft;
  int stage = -1;    ///< stage of the schedule
  int reshape = -1;  ///< counted among the reshapes
  int tile = 0;
  int peer = -1;
  int call = -1;
  int count = 0;
  bool invariant = false;  ///< no parameter of a pipeline changes it: trials that compare them leave it out
  int tests = 1;           ///< how often the exchange that is under way is let move on afterwards
  int deps_begin = 0, deps_end = 0;  ///< range in Program::deps
};

/// One side of a reshape, tile by tile: the parts that are transformed and copied together while they are in
/// the cache, and how often that lets the exchange move on.
struct TileSide {
  int cross = -1;       ///< the axis that sub-tiles cut beside the one that tiles cut, or -1
  Index cross_by = 0;   ///< thickness along it; 0: whole
  Index along_by = 0;   ///< thickness along the axis that tiles cut; 0: as the tile
  int fft_tests = -1;   ///< calls into the exchange during the FFT of a tile; -1: after every operation
  int copy_tests = -1;  ///< the same while it is packed or unpacked
  bool cut() const { return cross_by > 0 || along_by > 0; }
};

/// A parameter of the pipeline, and who chose its value: "rule", or what an option's setter calls itself.
struct ChosenParameter {
  std::string name;
  Index value;
  std::string origin;
  Index most;  ///< the largest feasible value, whatever comes after it in the pipeline's table
};

/// How a reshape is carried out; equal on all ranks.
struct ReshapeChoice {
  Carry carry = Carry::packed;
  int axis = -1;  ///< the axis that tiles cut, or -1 for one tile
  /// An axis around that one, the batch, each of whose indices has tiles of its own; or -1.
  int item_axis = -1;
  std::string axis_name;  ///< what printing calls them
  Index tile = 0;         ///< thickness of a tile along `axis`
  int tiles = 1;          ///< on the rank that has most
  int window = 1;         ///< tiles in flight; 0: each is awaited before anything else is done
  TileSide before, after;
  bool hides_after = true;  ///< whether what follows the exchange of a tile is done beside that of others
  Index subtile = 0;        ///< planes: bytes of the parts that pass through the cache one by one
  bool cuts_after = false;  ///< planes: tiles cut what the receiver holds, not what the sender does
  int columns = -1;         ///< two-front: the axis along which the other side has a front and a rest
  Index front = 100;        ///< two-front: percent of it
  int rest = 0;             ///< two-front: how many of the tiles are of the rest
  bool any_place =
      false;  ///< packed: the exchange takes parts from anywhere in the workspace, and leaves them there
  bool stores = false;  ///< streams: puts are kernels where it computes, not copies beside that
  std::string pipeline = "sequential";
  std::vector<ChosenParameter> parameters;  ///< for printing
  std::string exchange, exchange_reason;
  std::string reason;  ///< of the pipeline
};

/// "exchange p2p, pipeline windowed along axis 2: behind both FFTs; tile 16 (rule), window 2 (option)"
std::string to_string(const ReshapeChoice& choice);

struct ReshapeProgram {
  ReshapeChoice choice;
  ReshapeMessages messages;
  /// Beside a direct exchange: what goes to ranks of other machines and comes from them, strided.
  ReshapeMessages far = {};

  /// What operations of this kind are about.
  const ReshapeMessages& messages_of(OpKind kind) const {
    const bool buffered =
        kind == OpKind::post || kind == OpKind::wait_sent || kind == OpKind::receive || kind == OpKind::pack;
    return choice.carry == Carry::direct && buffered ? far : messages;
  }
};

struct Program {
  int rank = 0, ranks = 1;
  bool in_place = false;
  std::vector<Op> ops;
  std::vector<int> deps;
  std::vector<CopyCall> copies;
  std::vector<FftCall> ffts;
  std::vector<ReshapeProgram> reshapes;
  Index largest_box_bytes = 0;  ///< of any stage, on this rank
  Index scratch_offset = 0;     ///< where in the workspace the scratch memory begins
  Index workspace_bytes = 0;  ///< at most twice that, both halves rounded up to 64 bytes, and scratch memory
};

const char* name_of(OpKind kind);
/// One line per operation.
std::string to_string(const Program& program);

/// One past the last byte of the workspace that the program, or a peer on its behalf, touches.
Index workspace_end(const Program& program);

/// What an operand of these extents touches.
Span span_of(const Operand& operand, const Shape& extents, int element_bytes);
/// The two sides of an FFT: along a real axis n points on the real side, n/2+1 on the complex one.
Shape from_extents(const FftCall& call);
Shape to_extents(const FftCall& call);

}  // namespace weft
