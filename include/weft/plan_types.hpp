// Types that the public `Plan` and the internal headers share.
#pragma once

namespace weft {

/// Forward transforms from input to output, backward from output to input.
enum class Direction { forward, backward };

}  // namespace weft
