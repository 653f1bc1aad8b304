// What stays on a rank is copied from the result of an FFT to where the next stage reads it, and what peers
// get is packed, or put into their workspaces. Where the FFT can store it there at once, nothing need be
// copied. Pure data, computed from a program.
#pragma once

#include <vector>

#include "program/program.hpp"

namespace weft {

/// The results of FFTs that would be stored elsewhere, and the copies that are left out for them.
struct Diversion {
  static constexpr int most_pieces = 16;  ///< that kernels store

  struct Piece {
    Box box;              ///< the whole of the result along all axes but one
    Operand to;           ///< where the box goes
    int to_rank = -1;     ///< as in CopyCall
    int packed_for = -1;  ///< the peer whose message it is packed for, or -1
  };
  struct Part {
    int op = -1;                ///< the FFT, a position in the program
    int axis = -1;              ///< one that it transforms
    double scale = 1;           ///< what these modes are multiplied by
    std::vector<Piece> pieces;  ///< one behind the other along the axis, all with the same strides
  };
  int reshape = -1;
  std::vector<Part> parts;
  std::vector<int> copies;  ///< positions in the program
};

enum class Diverted {
  own,   ///< what is stored in the rank's own memory: what stays there, and what is packed
  puts,  ///< also what is put into the workspaces of peers
};

/// For each reshape of which it is possible: nothing else reads or writes that memory between the FFTs and
/// the copies, and whatever does so before them on the other stream is over when they begin. Either all parts
/// of a diversion are stored elsewhere, or none. With `Diverted::own` a diversion is of all that is packed
/// and of what stays, of either by itself where that is not possible.
///
/// With `Diverted::puts`, all that is put in the reshape has to be diverted, and the rank has to find room
/// for it at any time (`finds_room`, `finds_room_in_turn`), so that nothing is waited for before the FFTs.
std::vector<Diversion> diversions(const Program& program, Diverted what = Diverted::own);

}  // namespace weft
