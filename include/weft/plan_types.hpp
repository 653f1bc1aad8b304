// Types that the public plan and the rooms below it share.
#pragma once

namespace weft {

/// Which way a transform goes.
enum class Direction { forward, backward };

}  // namespace weft
