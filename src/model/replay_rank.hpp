// What the timed replay keeps of a rank: its program, how far it has come, its parts tile by tile, and which
// memory it has just touched.
#pragma once

#include <deque>
#include <limits>
#include <vector>

#include "model/timed_replay.hpp"

namespace weft {

/// Later than anything: what has not happened yet.
inline constexpr double not_yet = std::numeric_limits<double>::infinity();

/// A part of a tile, by the rank at its other end.
struct ReplayPart {
  int peer;
  Index bytes;
};

/// Who gets a part that a rank sends: a replayed rank, and the part's position among what that one receives
/// and among what this one sends.
struct Destination {
  int rank, receive, send;
};

/// A part leaves its sender: when its first byte can, when it would if those before it went alone, and when
/// its last byte has.
struct Departure {
  double first, turn, last;
};

/// A tile of a reshape on one rank. What goes to other ranks is in the order of a ring that begins behind the
/// rank: carriers send in this order.
struct ReplayTile {
  std::vector<ReplayPart> sends;     ///< to other ranks, in messages
  std::vector<ReplayPart> receives;  ///< messages, in the order of the program, the rank's own among them
  std::vector<ReplayPart> stores;    ///< into other ranks' memory
  std::vector<ReplayPart> stored;    ///< by other ranks into this one's
  std::vector<Destination> to;
  Index own_bytes = 0;
  // What has happened.
  double freed = not_yet, sent = 0;
  int free_number = -1;                         ///< of the operation that did it
  std::vector<Departure> departed;              ///< per receive
  std::vector<double> arrived;                  ///< per receive
  std::vector<char> taken;                      ///< per receive
  std::vector<std::pair<int, int>> arrival_of;  ///< per receive: the rank and number of its post
  std::vector<double> full;                     ///< per store
  std::vector<int> full_number;                 ///< per store
};

/// The memory that a rank has touched last, to tell what is still in its cache.
class RecentMemory {
 public:
  explicit RecentMemory(double cache_bytes) : cache_bytes_(cache_bytes) {}
  /// The bytes gone through since `box` of this space was touched, `far` if that is long ago.
  double distance(Space space, const Box& box, double far) const;
  void touch(Space space, const Box& box, double bytes);

 private:
  struct Touched {
    Space space;
    Box box;
    double bytes;
  };
  double cache_bytes_;
  double sum_ = 0;            ///< of `last_`
  std::deque<Touched> last_;  ///< the newest first
};

struct ReplayRank {
  Program program;
  Costs costs;
  RankTimeline timeline;
  std::vector<std::vector<ReplayTile>> tiles;  ///< [reshape][tile]
  std::size_t at = 0;                          ///< the operation that comes next
  std::size_t event = 0;                       ///< the newest of its events, which alone counts
  bool under_way = false;                      ///< it has begun and waits
  double begun = 0;
  double clock = 0;
  double out_free = 0, in_free = 0;  ///< when what the rank sends and receives over the network is through
  RecentMemory recent;
  double slowdown = 1;              ///< of what it computes, as others share its cores
  double footprint;                 ///< bytes that a pass over the rank's box goes through
  std::vector<int> waiting;         ///< the ranks that wait for what this one does next
  int cause_rank = -1, cause = -1;  ///< what ended the wait of the operation under way

  ReplayRank(Program p, const ReplayRequest& request, int ranks_of_machine);
  bool finished() const { return at == program.ops.size(); }
  const Op& op() const { return program.ops[at]; }
  ReplayTile& tile(const Op& o) {
    return tiles[static_cast<std::size_t>(o.reshape)][static_cast<std::size_t>(o.tile)];
  }
  /// The time that an operation of this rank alone takes; what it touches is in the cache afterwards.
  double local_seconds(const Op& o);
  /// Notes an operation; returns its number.
  int note(const Op& o, double begin, double end, const LocalBytes& bytes = {});

 private:
  double fft_seconds(const FftCall& call);
  double copy_seconds(const CopyCall& call);
};

/// How far `peer` is behind `rank` in the ring of all ranks.
inline int ring_distance(int rank, int peer, int ranks) {
  return (peer - rank + ranks) % ranks;
}

}  // namespace weft
