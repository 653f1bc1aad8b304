// What random tests do to every execution: spoil the workspace, and, if asked to, delay ranks at random, and
// have blocks of so many bytes (`TestHook::block_bytes`).
#pragma once

#include "base/test_hook.hpp"

namespace weft::test {

TestHook disturbance(bool delays, std::ptrdiff_t block_bytes = 0);

}  // namespace weft::test
