// The arrays that trials work on, in either kind of memory. They are zeros, which all transforms keep, and
// only grow: a search takes memory a few times, and not for every plan.
#pragma once

#include <memory>

#include "exec/bound_plan.hpp"
#include "weft/buffer.hpp"

namespace weft {

class TrialArrays {
 public:
  struct Pointers {
    std::byte *in, *out, *workspace;
  };

  TrialArrays() = default;
  ~TrialArrays();
  TrialArrays(const TrialArrays&) = delete;
  TrialArrays& operator=(const TrialArrays&) = delete;

  /// Has arrays for the plan, where it wants them. On a device it runs on a stream of the trials, so that it
  /// waits for nothing of the user's. Throws std::bad_alloc or `weft::Error` if there is no memory.
  void provide(BoundPlan& plan);
  /// For an execution of a plan that has been provided for.
  Pointers of(const BoundPlan& plan, Direction direction);

  /// Whether the workspace of so many plans like this one can be had beside it on all ranks that share its
  /// memory, and leaves half of what there is to others.
  static bool room_for(const BoundPlan& plan, std::size_t more);

 private:
  struct Block {
    std::shared_ptr<std::byte> memory;
    std::size_t bytes = 0;
  };

  void grow(Block& block, std::size_t bytes);

  std::shared_ptr<Device> device_;  ///< null: on the host
  std::unique_ptr<DeviceStream> stream_;
  std::unique_ptr<DeviceEvent> filled_;
  Block in_, out_, work_;
};

}  // namespace weft
