// What random tests do to every execution: spoil the workspace, and, if asked to, delay ranks at random.
#pragma once

#include "base/test_hook.hpp"

namespace weft::test {

TestHook disturbance(bool delays);

}  // namespace weft::test
