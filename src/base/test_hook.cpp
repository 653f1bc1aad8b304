#include "base/test_hook.hpp"

namespace weft {

std::atomic<const TestHook*> detail::test_hook{nullptr};

ScopedTestHook::ScopedTestHook(TestHook hook) : hook_(std::move(hook)) {
  detail::test_hook.store(&hook_);
}

ScopedTestHook::~ScopedTestHook() {
  detail::test_hook.store(nullptr);
}

}  // namespace weft
