// What stays on a rank is copied from the result of an FFT to where the next stage reads it. Where the FFT
// can store it there at once, the copy need not be done. Pure data, computed from a program.
#pragma once

#include <vector>

#include "program/program.hpp"

namespace weft {

/// The results of FFTs that would be stored elsewhere, and the copies that are left out for them.
struct Diversion {
  struct Part {
    int op;      ///< the FFT, a position in the program
    int axis;    ///< one that it transforms
    Box box;     ///< of its result: the whole of it along all other axes
    Operand to;  ///< where the box goes
  };
  std::vector<Part> parts;
  std::vector<int> copies;  ///< positions in the program
};

/// For each reshape of which it is possible: nothing else reads or writes that memory between the FFTs and
/// the copies, and whatever does so before them on the other stream is over when they begin. Either all parts
/// of a diversion are stored elsewhere, or none. Copies that scale are not left out.
std::vector<Diversion> diversions(const Program& program);

}  // namespace weft
