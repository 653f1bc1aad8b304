#include "api/trial_progress.hpp"

#include <atomic>

namespace weft {

namespace {
std::atomic<void (*)(const TrialProgress&)> progress_function{nullptr};
}  // namespace

void report_trials_to(void (*told)(const TrialProgress&)) noexcept {
  progress_function = told;
}

void tell(const TrialProgress& progress) {
  void (*const told)(const TrialProgress&) = progress_function;
  if (told != nullptr) told(progress);
}

}  // namespace weft
