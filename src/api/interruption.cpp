#include "api/interruption.hpp"

#include <atomic>

#include "weft/interruption.hpp"

namespace weft {

namespace {
std::atomic<bool (*)()> interruption_function{nullptr};
}  // namespace

void interrupt_trials_if(bool (*asked)()) noexcept {
  interruption_function = asked;
}

bool interruption_asked() {
  bool (*const asked)() = interruption_function;
  return asked != nullptr && asked();
}

}  // namespace weft
