// FFTW's own wisdom, which all of the process shares, the program's own use of FFTW included, and the lock
// under which Weft touches FFTW's planner.
#pragma once

#include <mutex>
#include <string>

#include "weft/problem.hpp"

namespace weft::fftw {

/// Held by whoever plans, destroys plans, or looks at wisdom. FFTW locks its planner against the program's
/// own calls while it plans, but not while wisdom is read or written: that is for the program to keep apart.
std::mutex& planner_mutex();

/// Empty if there is none. Throws `std::bad_alloc` if there is no memory for the text.
std::string export_wisdom(Precision precision);
/// False if the text is none of this version and build of FFTW, or damaged; then nothing has changed.
bool import_wisdom(Precision precision, const std::string& text);
/// Both precisions.
void forget_wisdom();

}  // namespace weft::fftw
