#include "weft/version.hpp"

namespace weft {

const char* version() noexcept {
  return WEFT_VERSION;
}

}  // namespace weft
