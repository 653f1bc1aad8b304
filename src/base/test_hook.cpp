#include "base/test_hook.hpp"

namespace weft {

std::atomic<const TestHook*> detail::test_hook{nullptr};

}  // namespace weft
