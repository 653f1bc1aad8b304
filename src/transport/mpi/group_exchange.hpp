// What the exchanges have in common that carry a tile by calls on the communicator of an exchange group.
#pragma once

#include <algorithm>

#include "comm/mpi_world.hpp"
#include "transport/mpi/types.hpp"

namespace weft {

class GroupExchange : public WholeTiles {
 public:
  explicit GroupExchange(const CarrierRequest& c, MpiWorld::Calls calls = MpiWorld::Calls::that_wait)
      : WholeTiles(c.reshape), world_(*c.comm.mpi()), colours_(c.groups), calls_(calls) {
    for (int r = 0; r < c.comm.size(); ++r)
      if (at(colours_, r) == at(colours_, c.comm.rank())) members_.push_back(r);
  }
  void connect() override { group_ = world_.group(colours_, calls_); }

 protected:
  MPI_Comm group() const { return group_->comm; }
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
  MpiWorld::Calls calls_;

 protected:
  std::shared_ptr<MpiGroup> group_;
};

}  // namespace weft
