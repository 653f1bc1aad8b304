// What the exchanges have in common that carry a tile by calls on the communicator of an exchange group.
#pragma once

#include <algorithm>

#include "comm/mpi_world.hpp"
#include "transport/mpi/types.hpp"

namespace weft {

class GroupExchange : public WholeTiles {
 public:
  explicit GroupExchange(const CarrierRequest& c)
      : WholeTiles(c.reshape), world_(*c.comm.mpi()), colours_(c.groups) {
    for (int r = 0; r < c.comm.size(); ++r)
      if (at(colours_, r) == at(colours_, c.comm.rank())) members_.push_back(r);
  }
  void connect() override { group_ = world_.group(colours_); }

 protected:
  /// Throws `weft::Error` if the ranks of the group are out of step.
  MPI_Comm group() const {
    if (group_->out_of_step)
      throw Error(
          "exchange by collective calls",
          "ranks that have not made the same calls, as an execution of theirs has failed in the middle",
          "a new plan", world_.rank());
    return group_->comm;
  }
  /// This rank makes none of the calls any more that are left of an execution, or others do not.
  void leave_step() noexcept {
    if (group_) group_->out_of_step = true;
  }
  MpiWorld& world() const { return world_; }
  /// The ranks of the group, ascending.
  const std::vector<int>& members() const { return members_; }
  std::size_t place_of(int rank) const {
    return static_cast<std::size_t>(std::lower_bound(members_.begin(), members_.end(), rank) -
                                    members_.begin());
  }

 private:
  MpiWorld& world_;
  std::vector<int> colours_, members_;
  std::shared_ptr<MpiGroup> group_;
};

}  // namespace weft
