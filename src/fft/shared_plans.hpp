// Existing plans by problem. Equal problems share one plan, so that they are planned once and give bitwise
// equal results. A plan lives as long as it is in use.
#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "fft/local_fft.hpp"

namespace weft {

class SharedPlans {
 public:
  /// The plan of `problem`, made by `make()` if there is none. One thread at a time plans.
  template <class Make>
  std::shared_ptr<const LocalFft> get(const FftProblem& problem, const Make& make) {
    const std::lock_guard lock(mutex_);
    std::erase_if(known_, [](const auto& entry) { return entry.second.expired(); });
    if (const auto found = known_.find(problem); found != known_.end())
      if (auto plan = found->second.lock()) return plan;
    std::shared_ptr<const LocalFft> made = make();
    known_[problem] = made;
    return made;
  }

 private:
  std::mutex mutex_;
  std::map<FftProblem, std::weak_ptr<const LocalFft>> known_;
};

}  // namespace weft
