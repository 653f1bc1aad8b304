#include "weft/wisdom.hpp"

#include "base/warning.hpp"
#include "tune/wisdom_file.hpp"
#include "tune/wisdom_store.hpp"

namespace weft {

bool export_wisdom(const std::string& file) {
  const WisdomSaved done = add_to_file(file, WisdomStore::of_process().all());
  if (!done.remark.empty()) warn(done.remark);
  return done.saved;
}

bool import_wisdom(const std::string& file) {
  const WisdomText read = read_wisdom(file);
  std::string wrong = read.why;
  const bool wise = read.kind == WisdomText::Kind::wisdom;
  if (wise) wrong = WisdomStore::of_process().learn(read.wisdom);
  if (!wrong.empty()) warn("wisdom in " + file + ": " + wrong);
  return wise;
}

void forget_wisdom() {
  WisdomStore::of_process().forget();
}

}  // namespace weft
