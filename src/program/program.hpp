// A program: what one rank does to carry out a schedule, as a list of operations with their dependencies. It
// is data: the host interpreter runs it, tests replay it, printing shows it. Operations stand in an order in
// which one thread can execute them; the dependencies say which of them may also run at the same time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "schedule/schedule.hpp"
#include "traffic/leg.hpp"
#include "traffic/messages.hpp"

namespace weft {

/// The side of a copy that is coded in rows (codec/codec.hpp). Its strides are in bytes.
struct CodedRows {
  Codec codec;
  bool encodes = false;  ///< the copy's destination is coded, not its source
  int axis = -1;         ///< of the rows
  Index points = 0;      ///< of a row
  Index first = 0;       ///< where in its row the copied box begins; encoding takes whole blocks
};

/// Copy `extents` elements from one strided box to another. Packing, unpacking, putting into a peer's
/// workspace and permuting locally are all this.
struct CopyCall {
  int element_bytes = 0;  ///< of the side that is not coded
  Operand from, to;
  CodedRows coded = {};     ///< of the side that is coded, if there is one
  int to_rank = -1;         ///< -1: own memory, else the peer in whose workspace `to` lies
  Box box;                  ///< the global indices copied
  int real_bytes = 8;       ///< size of a real number
  double scale = 1;         ///< what the elements are multiplied by on the way
  bool store_past = false;  ///< past the cache: what is written is not read again soon
  bool load_ahead = false;  ///< what is read lies in memory, not in the cache
};

/// One local FFT over `axes` of a box; the other axes are loops. Either all of its axes are r2r, or none is,
/// unless it is resized.
struct FftCall {
  AxisVector<int> axes;
  AxisVector<Transform> r2r;  ///< of r2r axes: what to compute along each of `axes`; else empty
  /// Of a call that leaves out modes or adds zeros: the forward transform along each of `axes`, which are of
  /// any kind then; else empty.
  AxisVector<Transform> resized;
  /// Of a call with an operator between an FFT and its inverse, which is resized: the lengths along `axes`
  /// where the operator is, along others any; else empty. `direction` is that of the first FFT.
  Shape between{};
  double scale_between = 1;  ///< what the operator's elements are multiplied by before it
  int real_axis = -1;
  Direction direction = Direction::forward;
  Shape extents;  ///< logical: along an axis of the call the length of its transform
  Operand from, to;
  int from_bytes = 0, to_bytes = 0;  ///< element sizes
  Box from_box, to_box;              ///< the global indices read and written
  bool may_destroy_input = true;
  Element element = Element::complex;       ///< of an r2r call
  double scale = 1;                         ///< what the result is multiplied by
  ColumnsPart columns = ColumnsPart::none;  ///< of a resized call
  Halves halves = Halves::none;             ///< of a resized call
  bool store_past = false;                  ///< of a resized call: what it copies to `to` goes past the cache
  bool twiddles = false;  ///< each result is multiplied by its factor between the axes of the line
};

enum class OpKind : std::uint8_t {
  fft,          ///< ffts[call]
  copy,         ///< copies[call], within this rank
  pack,         ///< copies[call], into the send buffer of a tile
  put,          ///< copies[call], into the workspace of `peer` (direct exchange)
  keep,         ///< copies[call], the rank's own part of a tile, to its place without the exchange
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
  Lane lane = Lane::compute;
  int deps_begin = 0, deps_end = 0;  ///< range in Program::deps
};

/// What a rank sends and receives in a reshape, by either route.
struct ReshapeProgram {
  Leg leg;
  ReshapeMessages sent;    ///< what posts and receives are about
  ReshapeMessages stored;  ///< what is put into the workspaces of other ranks, and by them into this one
};

struct Program {
  int rank = 0, ranks = 1;
  bool in_place = false;
  std::vector<Op> ops;
  std::vector<int> deps;
  std::vector<CopyCall> copies;
  std::vector<FftCall> ffts;
  std::vector<ReshapeProgram> reshapes;
  AxisVector<int> line;                         ///< the axes of `Problem::line`, or none
  int batch_axis = -1;                          ///< the axis that stands for the batch, or -1
  Index line_points = 0;                        ///< its length
  int halves_axis = -1;                         ///< the axis of the halves of a real line, or -1
  ModesNyquist nyquist = ModesNyquist::shared;  ///< of calls that are resized
  ModeColumnsPtr columns = {};                  ///< if modes are given by columns
  Index largest_box_bytes = 0;                  ///< of any stage, on this rank
  Index shared_bytes = 0;                       ///< that all ranks share, in the workspace of rank 0
  Index scratch_offset = 0;                     ///< where in the workspace the scratch memory begins
  /// At most twice that, both halves rounded up to 64 bytes, and behind them what planes and what is stored
  /// and coded need.
  Index workspace_bytes = 0;
};

const char* name_of(OpKind kind);
/// What its time counts as: the name of a local operation; "exchange" for what starts a tile or sets a flag;
/// "wait" for what waits for other ranks.
const char* activity_of(OpKind kind);
/// One line per operation.
std::string to_string(const Program& program);

/// The memory that the two sides of a copy touch.
Span read_by(const CopyCall& copy);
Span written_by(const CopyCall& copy);
/// The bytes that a side takes: of a part of a coded row, its share of the row.
Index bytes_read(const CopyCall& copy);
Index bytes_written(const CopyCall& copy);

/// The bytes that an operation of one rank alone reads and writes, and those of them that are in arrays and
/// workspace: scratch memory stays in the cache. An FFT counts as one pass, whatever happens in it.
struct LocalBytes {
  Index read = 0, written = 0, memory_read = 0, memory_written = 0;
};
LocalBytes local_bytes(const Program& program, const Op& op);

/// One past the last byte of the workspace that the program, or a peer on its behalf, touches.
Index workspace_end(const Program& program);

}  // namespace weft
