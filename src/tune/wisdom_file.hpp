// The wisdom file. Several jobs may add to one file at once and any of them may be killed: whoever writes
// holds a lock (FILE.lock, which stays behind empty), puts what the file holds and what it brings together,
// and replaces the file in one step. Nothing is thrown: a file that cannot be used is no reason for planning
// to fail.
#pragma once

#include <string>

#include "tune/wisdom.hpp"

namespace weft {

/// What a file holds. One that does not exist holds nothing, which is no mistake.
WisdomText read_wisdom(const std::string& file);

struct WisdomSaved {
  bool saved = false;
  std::string remark;  ///< why not, or what else there is to say; often nothing
};

/// Adds `wisdom` to a file, which need not exist; its folder has to. A file that is no wisdom, or that a
/// later version of Weft wrote, is left as it is. A damaged one is kept beside the new one, as FILE.corrupt.
/// The file that a symbolic link points to is replaced, not the link. Waits at most 30 s for others that
/// write.
WisdomSaved add_to_file(const std::string& file, const Wisdom& wisdom);

}  // namespace weft
