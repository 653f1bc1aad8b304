// Types that the public plan and the rooms below it share.
#pragma once

namespace weft {

enum class Direction { forward, backward };

}  // namespace weft
