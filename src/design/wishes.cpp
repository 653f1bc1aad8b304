#include "design/wishes.hpp"

namespace weft {

const char* name_of(Origin origin) {
  constexpr const char* names[] = {"rule", "option", "environment", "wisdom", "trial"};
  return names[static_cast<std::size_t>(origin)];
}

}  // namespace weft
