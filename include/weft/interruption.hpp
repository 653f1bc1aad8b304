// How a program ends trials that take too long for it, as Ctrl-C does in an interpreter.
#pragma once

#include "weft/export.hpp"

namespace weft {

/// Lets planning with effort measure or patient call `asked` between trials, on the thread of every rank that
/// plans. If it returns true on one of them, planning throws `weft::Error` on all. It must not throw, and may
/// take long on no rank, because all wait for it. Null, as at first: nobody is asked. Holds for the whole
/// process, at once. Local.
WEFT_API void interrupt_trials_if(bool (*asked)()) noexcept;

}  // namespace weft
