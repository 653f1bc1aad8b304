// Wisdom: what planning has found out by trying, kept in a file for later programs. An entry is about one
// problem on one machine with its ranks; elsewhere it is kept but not used.
#pragma once

#include <string>

#include "weft/export.hpp"

namespace weft {

/// Adds the wisdom of this process, FFTW's included, to a file, which need not exist. Entries of the file
/// stay; of two entries for one problem the faster one is kept. Several processes may do so at once. Not
/// collective: call it on one rank.
///
/// Returns true if the file now holds this wisdom. Otherwise the file is unchanged, and a warning on standard
/// error says why: the file is read-only, its folder is read-only or missing, the disk is full, the file is
/// no wisdom, or a later version of Weft wrote it. A damaged file is renamed to FILE.corrupt, with a warning.
WEFT_API bool export_wisdom(const std::string& file);

/// Adds the wisdom of a file to that of this process, for all later plans; FFTW's part also serves other
/// users of FFTW in this process. Not collective: plans use the wisdom of rank 0's process, so that a call
/// there is enough. No thread may plan with FFTW itself during the call.
///
/// Returns true if the file was read. Returns false if it does not exist, and, with a warning on standard
/// error, if it is unreadable, damaged, no wisdom, or from a later version of Weft.
WEFT_API bool import_wisdom(const std::string& file);

/// Forgets all wisdom of this process, FFTW's included, also that from plans that are not Weft's. Existing
/// plans stay as they are. Local. No thread may plan with FFTW itself during the call.
WEFT_API void forget_wisdom();

}  // namespace weft
