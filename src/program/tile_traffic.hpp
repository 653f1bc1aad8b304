// How the tiles of pipelines planes and two-front get from rank to rank. What a sub-tile leaves in the cache
// is stored in its receiver's workspace where the exchange is direct, else packed where it waits for its
// departure; a tile is told of, or posted, once all of it is there. What is sent packed stays packed where it
// arrives, and is read from there sub-tile by sub-tile, unless the exchange can leave it where it belongs.
// The halves of the workspace take turns as the place of arrival, and behind them lies what departs. For
// streams a tile departs as a whole: a pass leaves its result behind the halves, and what goes to other ranks
// is taken from there while the next tile is transformed.
#pragma once

#include <map>
#include <vector>

#include "program/passes.hpp"
#include "program/tile_cut.hpp"

namespace weft {

class TileTraffic : public Passes {
 public:
  TileTraffic(const Schedule& schedule, const std::vector<ReshapeChoice>& choices,
              const ProgramRequest& request);

 protected:
  /// What this rank sends and receives in a reshape; for all of them before anything else.
  void open(int j);
  /// The result of a reshape in a rank's workspace. What arrives packed takes as much room.
  Place landing(int j, int rank) const;
  bool arrives_packed(int j) const { return sends_packed(j) && !at(j).arrives_lying; }

  /// Tells peers that they may put.
  void free(int j);
  /// For streams: where a pass leaves what a reshape sends.
  Place departing(int j) const {
    return place_.dense(place_.field_before(j), rank_, halves() * place_.staging_base(rank_));
  }
  /// In how many pieces a part of what is sent goes to other ranks, and to this one.
  std::size_t pieces(int j, const Box& part) const;
  /// Brings a part of what is sent, that lies at `from`, on its way.
  void put(int j, const Place& from, const Box& part);
  /// Tells of all tiles that have become complete, in order.
  void tell_complete(int j);
  /// Waits for all tiles that touch a part of the result.
  void await(int j, const Box& part);
  void await_all(int j) { await_tiles(j, tiles(j)); }
  /// Copies a part of what has arrived packed to its place at `to`.
  void gather(int j, const Box& part, const Place& to);
  /// Waits until everything has left.
  void settle_all();

  void read(const Pass& pass, const Box& part, const Place& to) override;

  TileCut cut_;

 private:
  /// What goes to a rank, or comes from it, in a tile.
  struct Part {
    int rank, tile;
    Box box;
    Index offset = 0;    ///< where it lies packed
    bool asked = false;  ///< whether its receiver has been waited for
  };
  struct Traffic {
    std::vector<Part> sends, receives;
    std::vector<Index> left;   ///< per tile, points that have not been put yet
    Place departing;           ///< for streams: where all tiles lie
    std::vector<int> members;  ///< padded: of the exchange group
    Ids posts;                 ///< per tile
    bool arrives_lying = false;
    int told = 0, awaited = 0;
    std::map<int, Place> landings;  ///< of peers
  };
  /// A tile that has been posted and may not have left yet.
  struct Leaving {
    int j, tile, post;
    Index first, last;  ///< bytes
  };

  Traffic& at(int j) { return traffic_[static_cast<std::size_t>(j)]; }
  const Traffic& at(int j) const { return traffic_[static_cast<std::size_t>(j)]; }
  int tiles(int j) const { return static_cast<int>(at(j).left.size()); }
  TileMessages& messages(int j, int k);
  /// What goes by messages: everything, or beside a direct exchange what goes to other machines.
  TileMessages& posted(int j, int k);
  bool posts(int j, int k);
  bool sends_packed(int j) const {
    return choice(j).carry == Carry::packed || choice(j).carry == Carry::padded;
  }
  /// Whether all that other ranks send arrives where it belongs, each part one piece of memory.
  bool can_arrive_lying(int j) const;
  /// Whether all that a tile sends to other ranks goes from where the pass has left it, likewise.
  bool departs_lying(int j, int k) const;
  /// Whether this rank stores into the workspace of another, or that one into its own.
  bool stores(int j, int rank) const {
    const Carry carry = choice(j).carry;
    return rank == rank_ ? carry != Carry::padded : carry == Carry::direct && near(rank);
  }
  /// Whether tiles that are complete at the same time go there as one.
  bool at_once(int j, int rank) const { return !request_.streams && stores(j, rank); }
  const Place& peer_landing(int j, int rank);
  Place packed(int j, const Part& part, int receiver) const;
  int halves() const { return place_.reshapes() > 1 ? 2 : 1; }
  /// Of messages.
  Index departure_base() const {
    return (halves() + (request_.streams ? 1 : 0)) * place_.staging_base(rank_);
  }

  void pad(int j);
  void open_receives(int j);
  void open_sends(int j);
  void bring(int j, Part& send, const Place& from, const Box& piece);
  void put_near(int j, Part& send, const Place& from, const Box& piece);
  void pack(int j, const Part& send, const Place& from, const Box& piece);
  void tell(int j, int k);
  void send_lying(int j, int k);
  void await_tiles(int j, int wanted);
  /// What completes a post: on streams it waits for that post, not for what has been posted since.
  void complete(const Op& op, int post);
  /// Waits until nothing of what has been posted is still to leave these bytes.
  void settle(Index first, Index last);

  std::vector<Traffic> traffic_;
  std::vector<Leaving> leaving_;
};

}  // namespace weft
