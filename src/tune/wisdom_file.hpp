// The wisdom file. Several jobs may add to one file at once, and any of them may be killed. Therefore a
// writer takes a lock (FILE.lock, an empty file that stays), merges the file's wisdom with its own, and
// replaces the file in one step. Nothing throws, as planning shall not fail because of a wisdom file.
#pragma once

#include <string>

#include "tune/wisdom.hpp"

namespace weft {

/// Reads a file. A file that does not exist is empty wisdom and no error.
WisdomText read_wisdom(const std::string& file);

struct WisdomSaved {
  bool saved = false;
  std::string remark;  ///< why not, or another remark; usually empty
};

/// Adds `wisdom` to a file, which need not exist, in a folder that must. A file that is no wisdom, or is from
/// a later version of Weft, is not changed. A damaged file is renamed to FILE.corrupt. Symbolic links are
/// followed, and their target is replaced. Waits at most 30 s for other writers.
WisdomSaved add_to_file(const std::string& file, const Wisdom& wisdom);

}  // namespace weft
