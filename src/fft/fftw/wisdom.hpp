// FFTW's own wisdom, which the whole process shares, other users of FFTW included, and the lock under which
// Weft uses FFTW's planner.
#pragma once

#include <mutex>
#include <string>

#include "weft/problem.hpp"

namespace weft::fftw {

/// Held while Weft plans, destroys plans, or accesses wisdom. FFTW locks its planner against calls of the
/// program while it plans, but not while wisdom is accessed: the program has to avoid that.
std::mutex& planner_mutex();

/// Makes FFTW ready for threads, once in the life of the process, before anything else is asked of it. FFTW's
/// wisdom from before is not that from after: either refuses the other's.
void make_ready();

/// FFTW's wisdom as text; empty if there is none. Throws `std::bad_alloc` if memory does not suffice.
std::string export_wisdom(Precision precision);
/// Returns false, and changes nothing, if the text is damaged or from another version or build of FFTW.
bool import_wisdom(Precision precision, const std::string& text);
/// Forgets the wisdom of both precisions.
void forget_wisdom();

}  // namespace weft::fftw
