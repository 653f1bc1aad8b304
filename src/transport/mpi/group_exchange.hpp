// What the exchanges have in common that carry a tile by calls on an exchange group: its communicator and its
// members, and parts that are all there once the tile has been carried. `CountedGroup` adds what the
// collectives on counts and displacements need.
#pragma once

#include "comm/mpi_world.hpp"
#include "transport/mpi/types.hpp"

namespace weft {

class GroupExchange : public Carrier {
 public:
  explicit GroupExchange(const CarrierRequest& context);

  void connect() override { group_ = world_.group(colours_); }
  bool sent(int, Patience) override { return true; }
  int next_arrival(int tile, Queue&, Patience patience) override;

 protected:
  MPI_Comm group() const { return *group_; }
  MPI_Datatype type() const { return type_; }
  const MpiWorld& world() const { return world_; }
  /// Ranks of the group, ascending, and this rank's place among them.
  const std::vector<int>& members() const { return members_; }
  int place() const { return place_; }
  /// Where `rank` stands among the members.
  std::size_t place_of(int rank) const;
  /// A tile has been posted, which is the result: all its parts are to be returned again.
  bool restart(int tile) {
    arrivals_[static_cast<std::size_t>(tile)].returned = 0;
    return true;
  }

 private:
  struct Arrivals {
    std::size_t parts, returned;
  };

  MpiWorld& world_;
  std::vector<int> colours_;
  std::shared_ptr<const MPI_Comm> group_;
  MPI_Datatype type_;
  int place_ = 0;
  std::vector<int> members_;
  std::vector<Arrivals> arrivals_;  ///< per tile
};

class CountedGroup : public GroupExchange {
 public:
  /// Throws `weft::Error` for counts and displacements that do not fit MPI's int.
  explicit CountedGroup(const CarrierRequest& context);

 protected:
  /// Per member, in elements; displacements count from `start`, which keeps them small.
  struct Side {
    Index start = 0;
    std::vector<int> counts, displacements;
  };
  struct Tile {
    Side send, receive;
  };
  const Tile& tile_at(int tile) const { return tiles_[static_cast<std::size_t>(tile)]; }

 private:
  Side side_of(const std::vector<Message>& messages, Index start, int element_bytes) const;

  std::vector<Tile> tiles_;
};

}  // namespace weft
