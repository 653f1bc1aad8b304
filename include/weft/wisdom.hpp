// Wisdom: what planning has found out by trying, kept in a file for the programs that come later. It is about
// a problem on a machine; on another machine, or with other ranks, it is kept but not used.
#pragma once

#include <string>

#include "weft/export.hpp"

namespace weft {

/// Adds what this process has learnt, and what FFTW has learnt in it, to a file, which need not exist. What
/// the file knows already stays; of two findings for one problem the faster one. Several processes may do so
/// at once. Not collective: call it on one rank.
///
/// True if the file holds it now. Otherwise false, the file is as it was, and a warning on standard error
/// says why: the file or its folder is read-only or missing, the disk is full, the file is something else, or
/// a later version of Weft wrote it. A damaged file is moved out of the way, to FILE.corrupt, with a warning.
WEFT_API bool export_wisdom(const std::string& file);

/// Takes over what a file holds, beside what this process knows already, for all plans made from now on; for
/// FFTW's plans of all the process. Not collective: plans go by what rank 0's process knows, so that it is
/// enough to call it there. No thread may plan with FFTW itself in the meantime.
///
/// True if the file was read; false if there is none, or, with a warning on standard error, if it cannot be
/// used: it is unreadable, damaged, something else, or of a later version of Weft.
WEFT_API bool import_wisdom(const std::string& file);

/// Forgets all wisdom of this process, also what FFTW has learnt, even by plans that are not Weft's. Plans
/// that are alive stay as they are. No thread may plan with FFTW itself in the meantime.
WEFT_API void forget_wisdom();

}  // namespace weft
