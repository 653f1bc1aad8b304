#include "base/warning.hpp"

#include <cstdio>
#include <mutex>
#include <set>

#include "base/environment.hpp"

namespace weft {

void warn(const std::string& text) {
  if (environment_value("WEFT_WARNINGS") == "off") return;
  static std::mutex mutex;
  static std::set<std::string> said;
  const std::lock_guard lock(mutex);
  if (said.insert(text).second) std::fprintf(stderr, "weft: warning: %s\n", text.c_str());
}

}  // namespace weft
