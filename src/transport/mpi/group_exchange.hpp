// What the exchanges have in common that carry a tile by calls on an exchange group: its communicator, the
// counts and displacements of every tile, and parts that are all there once the tile has been carried.
#pragma once

#include "comm/mpi_world.hpp"
#include "transport/mpi/counts.hpp"

namespace weft {

class GroupExchange : public BufferedExchange {
 public:
  explicit GroupExchange(const ExchangeContext& context);

  void connect() override { group_ = world_.group(colours_); }
  void wait_sent(int) override {}
  int next_arrival(int tile) override;

 protected:
  /// Per member of the group, in elements; displacements count from `start`, which keeps them small.
  struct Side {
    Index start = 0;
    std::vector<int> counts, displacements;
  };
  struct Tile {
    Side send, receive;
    std::size_t parts, returned;
  };

  Tile& tile_at(int tile) { return tiles_[static_cast<std::size_t>(tile)]; }
  MPI_Comm group() const { return group_; }
  MPI_Datatype type() const { return type_; }
  /// This rank's place in its group, and the size of that.
  int place() const { return place_; }
  int members() const { return members_; }

 private:
  MpiWorld& world_;
  std::vector<int> colours_;
  MPI_Comm group_ = MPI_COMM_NULL;
  MPI_Datatype type_;
  int place_ = 0, members_ = 1;
  std::vector<Tile> tiles_;
};

}  // namespace weft
