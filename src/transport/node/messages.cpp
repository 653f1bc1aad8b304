// One message for each pair of machines and tile, and for each rail. Ranks of a machine pack what goes to
// another one into a slot of shared memory; once all of them have, the owner of the slot sends it. The owner
// of a slot of the other machine receives it, and the ranks there take their parts out. Within a machine
// ranks store into each other's workspace (shm/direct.cpp). The machines are shared out among the ranks, so
// that all of them send. How a slot travels is a matter of its wire (`NodeWire`).
//
// An owner has parts in its slots: it waits in no tile that it would not wait in for itself. It sends in
// the first call that it makes of this carrier after the last part is there, and its tile is not complete
// before.
//
// Two counters guard a slot, each in a cache line of its own. They only grow and are numbered by executions:
// of what is sent, *filled* counts ranks that have packed, and *sent* says that they may again; of what is
// received, *arrived* says that parts may be taken, and *taken* counts ranks that have.
#include <algorithm>
#include <atomic>
#include <cstdint>
#include <map>
#include <set>
#include <thread>

#include "comm/shared_memory.hpp"
#include "geometry/layout.hpp"
#include "kernels/cpu/permute_copy.hpp"
#include "transport/mpi/failure_notices.hpp"
#include "transport/mpi/told_offsets.hpp"
#include "transport/mpi/types.hpp"
#include "transport/node/messages.hpp"
#include "transport/node/slots.hpp"

namespace weft {

namespace {

using Word = std::uint64_t;

/// The ranks of a machine, ascending.
std::vector<int> ranks_of(const std::vector<int>& machines, int machine) {
  std::vector<int> ranks;
  for (std::size_t r = 0; r < machines.size(); ++r)
    if (machines[r] == machine) ranks.push_back(static_cast<int>(r));
  return ranks;
}

/// Who may wait for this rank: the ranks of its machine, and of those that it exchanges with.
std::vector<int> waiting_ranks(const ReshapeMessages& reshape, const std::vector<int>& machines, int rank) {
  std::set<int> exchange{at(machines, rank)};
  for (const int peer : peers_of(reshape, rank)) exchange.insert(at(machines, peer));
  std::vector<int> ranks;
  for (int r = 0; r < static_cast<int>(machines.size()); ++r)
    if (r != rank && exchange.contains(at(machines, r))) ranks.push_back(r);
  return ranks;
}

class NodeMessages final : public Carrier {
 public:
  NodeMessages(const CarrierRequest& c, std::unique_ptr<NodeWire> wire)
      : comm_(c.comm),
        world_(*c.comm.mpi()),
        reshape_(c.reshape),
        wire_(std::move(wire)),
        machines_(numbered(world_.nodes())),
        rails_(machines_, wire_->rails()),
        mates_(ranks_of(machines_, machine_of(world_.rank()))),
        tiles_(reshape_.tiles.size()),
        notices_(world_, waiting_ranks(reshape_, machines_, world_.rank())) {
    world_.check_tags(reshape_.most_tiles + 1);
  }

  void connect() override {
    tags_ = world_.take_tags(reshape_.most_tiles + 1);
    notices_.use(tags_.first() + reshape_.most_tiles);
    const NodeSlots mine = node_slots(traffic_of_machine(), static_cast<int>(mates_.size()), place_);
    memory_ = comm_.share(static_cast<std::size_t>(mine.bytes));
    for (const NodeSlot& slot : mine.slots) add_slot(slot);
    meet_other_machines();
    std::vector<Travel> travels;
    for (Slot& slot : slots_) {
      if (slot.is.owner != place_) continue;
      slot.travel = travels.size();
      travels.push_back({slot.is.sends, slot.other, slot.is.rail, slot.is.tile, slot.bytes, slot.is.bytes});
    }
    wire_->connect(travels, tags_.first());
    // The machines behind this one come first, so that not all send to the same one at the same time.
    for (Tile& t : tiles_)
      std::stable_partition(t.sends.begin(), t.sends.end(),
                            [&](std::size_t i) { return slots_[i].is.machine > machine_of(world_.rank()); });
    due_.reserve(slots_.size());
  }

  bool post(int tile, const Memory& memory, Queue&, Patience patience) override {
    Tile& t = at(tiles_, tile);
    const auto free = [&] {
      move_on();
      return std::all_of(t.sends.begin(), t.sends.end(), [&](std::size_t i) {
        return slots_[i].second().load(std::memory_order_acquire) >= t.turn;
      });
    };
    if (!notices_.await(patience, free)) return false;
    ++t.turn;
    t.memory = memory;
    for (const std::size_t i : t.receives) begin(i, t.turn);
    move_on();
    for (const std::size_t i : t.sends) {
      begin(i, t.turn);
      Slot& slot = slots_[i];
      for (std::size_t p = slot.first_part; p < slot.last_part; ++p)
        parts_[p].copy.run(parts_[p].in(memory), slot.bytes + parts_[p].offset);
      slot.first().fetch_add(1, std::memory_order_acq_rel);
    }
    move_on();
    return true;
  }

  bool sent(int tile, Patience patience) override {
    return notices_.await(patience, [&] {
      move_on();
      return all_sends(tile, State::done);
    });
  }

  int next_arrival(int tile, Queue&, Patience patience) override {
    Tile& t = at(tiles_, tile);
    Slot* from = nullptr;
    const auto look = [&] {
      from = slot_with_parts(t);
      if (from != nullptr) return true;
      move_on();
      from = slot_with_parts(t);
      return from != nullptr || (t.left == 0 && all_sends(tile, State::under_way));
    };
    if (!notices_.await(patience, look)) return no_arrival_yet;
    if (from == nullptr) return no_more_arrivals;
    const Part& part = parts_[from->next++];
    part.copy.run(from->bytes + part.offset, part.in(t.memory));
    --t.left;
    if (from->next == from->last_part) from->second().fetch_add(1, std::memory_order_acq_rel);
    return part.position;
  }

  void progress() override {
    move_on();
    std::this_thread::yield();
  }

  /// What is being sent stays where it is: the memory is kept.
  void cancel() noexcept override {
    if (!mpi_alive()) return;
    wire_->call_back();
    due_.clear();
    notices_.tell();
  }

 private:
  /// Of a slot for its owner: it waits for ranks of this machine, is sent or received, is through.
  enum class State : std::uint8_t { waiting, under_way, done };

  struct Slot {
    NodeSlot is;
    int other = -1;  ///< who receives it on the other machine, or sends it
    std::byte *flags = nullptr, *bytes = nullptr;
    std::size_t first_part = 0, last_part = 0;  ///< of this rank
    std::size_t travel = 0;                     ///< its number on the wire, for its owner
    // Of the execution under way:
    std::size_t next = 0;  ///< part to be taken
    Word turn = 0;
    State state = State::done;

    /// *filled* or *arrived*, which come first, and *sent* or *taken*.
    std::atomic_ref<Word> first() const { return flag(0); }
    std::atomic_ref<Word> second() const { return flag(slot_flags_bytes / 2); }

   private:
    std::atomic_ref<Word> flag(Index where) const {
      return std::atomic_ref<Word>(*reinterpret_cast<Word*>(flags + where));
    }
  };
  /// A part of a tile, in its slot and where it is on this rank.
  struct Part {
    int position;
    Index offset;
    Space space;
    Index start;
    PermuteCopy copy;

    std::byte* in(const Memory& memory) const { return at(memory, space) + start; }
  };
  struct Tile {
    std::vector<std::size_t> sends = {}, receives = {};  ///< slots
    Word turn = 0;                                       ///< executions that have posted it
    std::size_t left = 0;                                ///< parts that have not been taken
    Memory memory{};
  };

  int place() const {
    return static_cast<int>(std::lower_bound(mates_.begin(), mates_.end(), world_.rank()) - mates_.begin());
  }
  int machine_of(int rank) const { return at(machines_, rank); }

  // Planning ----------------------------------------------------------------------------------------------

  /// What all ranks of this machine exchange with others. Collective.
  NodeTraffic traffic_of_machine() {
    NodeTraffic mine(1, reshape_.most_tiles, rails_.machines(), rails_.count()),
        all(static_cast<int>(mates_.size()), reshape_.most_tiles, rails_.machines(), rails_.count());
    mine.add(0, world_.rank(), reshape_, rails_);
    const std::shared_ptr<MpiGroup> group = world_.group(machines_, MpiWorld::Calls::that_wait);
    const int count = mpi_count(mine.of_a_rank() * Index{sizeof(Index)}, 1);
    world_.barrier();  // whose wait looks, which MPI_Allgather does not
    const auto lock = world_.lock();
    check_mpi(MPI_Allgather(mine.numbers().data(), count, MPI_BYTE, all.numbers().data(), count, MPI_BYTE,
                            group->comm),
              "MPI_Allgather");
    return all;
  }

  void add_slot(const NodeSlot& is) {
    Slot slot{is};
    std::byte* const memory = memory_->of(at(mates_, is.owner));
    slot.flags = memory + is.flags;
    slot.bytes = memory + is.data;
    slot.first_part = parts_.size();
    const TileMessages& tile = at(reshape_.tiles, is.tile);
    const std::vector<Message>& messages = is.sends ? tile.sends : tile.receives;
    Index offset = is.first;
    for (std::size_t i = 0; i < messages.size(); ++i) {
      const int peer = messages[i].peer, self = world_.rank();
      if (machine_of(peer) != is.machine ||
          is.rail != (is.sends ? rails_.between(self, peer) : rails_.between(peer, self)))
        continue;
      parts_.push_back(part_of(is, static_cast<int>(i), offset));
      offset += messages[i].bytes;
    }
    slot.last_part = parts_.size();
    (is.sends ? at(tiles_, is.tile).sends : at(tiles_, is.tile).receives).push_back(slots_.size());
    slots_.push_back(slot);
  }

  /// Where a part that is received begins in its slot is what its sender says.
  Part part_of(const NodeSlot& slot, int position, Index offset) const {
    const TileMessages& tile = at(reshape_.tiles, slot.tile);
    const Message& message = at(slot.sends ? tile.sends : tile.receives, position);
    const std::vector<StridedPart>& boxes = slot.sends ? tile.from : tile.to;
    const int bytes = reshape_.element_bytes;
    const auto copy = [&](const Shape& extents, const Strides& here, const Strides& packed) {
      return slot.sends ? PermuteCopy(extents, here, packed, bytes)
                        : PermuteCopy(extents, packed, here, bytes);
    };
    if (boxes.empty())
      return {position, offset, Space::work, message.offset, copy({message.bytes / bytes}, {1}, {1})};
    const StridedPart& box = at(boxes, position);
    const Shape extents = box.box.extents();
    return {position, offset, box.at.space, box.at.offset,
            copy(extents, box.at.strides, dense_strides(extents, box.order))};
  }

  /// Senders tell receivers where their parts begin in their slots, and who sends those; receivers answer who
  /// receives them. Both go through their parts tile by tile.
  void meet_other_machines() {
    OffsetsByRank told, heard, answers, answered;
    for_parts([&](const Slot& slot, const Part& part, int peer) {
      if (slot.is.sends) {
        told[peer].insert(told[peer].end(), {part.offset, at(mates_, slot.is.owner)});
        answered[peer].push_back(-1);
      } else {
        heard[peer].resize(heard[peer].size() + 2);
        answers[peer].push_back(at(mates_, slot.is.owner));
      }
    });
    heard = tell_offsets(world_, tags_.first(), std::move(told), std::move(heard));
    answered = tell_offsets(world_, tags_.first(), std::move(answers), std::move(answered));
    std::map<int, std::size_t> next_heard, next_answered;
    for_parts([&](Slot& slot, Part& part, int peer) {
      if (slot.is.sends) {
        slot.other = static_cast<int>(answered[peer][next_answered[peer]++]);
      } else {
        part.offset = heard[peer][next_heard[peer]++];
        slot.other = static_cast<int>(heard[peer][next_heard[peer]++]);
      }
    });
  }

  template <class Use>
  void for_parts(const Use& use) {
    for (Slot& slot : slots_)
      for (std::size_t p = slot.first_part; p < slot.last_part; ++p) {
        const TileMessages& tile = at(reshape_.tiles, slot.is.tile);
        use(slot, parts_[p], at(slot.is.sends ? tile.sends : tile.receives, parts_[p].position).peer);
      }
  }

  // Executing ---------------------------------------------------------------------------------------------

  void begin(std::size_t i, Word turn) {
    Slot& slot = slots_[i];
    slot.turn = turn;
    slot.next = slot.first_part;
    if (!slot.is.sends) at(tiles_, slot.is.tile).left += slot.last_part - slot.first_part;
    if (slot.is.owner != place_) return;
    slot.state = State::waiting;
    due_.push_back(i);
  }

  /// Sends and receives what this rank owns, as far as possible without waiting.
  void move_on() {
    wire_->progress();
    std::erase_if(due_, [&](std::size_t i) { return advance(slots_[i]); });
  }

  /// Whether the slot is through.
  bool advance(Slot& slot) {
    if (slot.state == State::waiting) {
      // What is received waits until all that came in the execution before has been taken.
      const std::atomic_ref<Word> count = slot.is.sends ? slot.first() : slot.second();
      const Word wanted = (slot.turn - (slot.is.sends ? 0 : 1)) * static_cast<Word>(slot.is.ranks);
      if (count.load(std::memory_order_acquire) < wanted) return false;
      wire_->start(slot.travel);
      slot.state = State::under_way;
    }
    if (!wire_->complete(slot.travel)) return false;
    slot.state = State::done;
    (slot.is.sends ? slot.second() : slot.first()).store(slot.turn, std::memory_order_release);
    return true;
  }

  /// Whether all slots of a tile that this rank sends have come so far.
  bool all_sends(int tile, State state) const {
    const std::vector<std::size_t>& sends = at(tiles_, tile).sends;
    return std::all_of(sends.begin(), sends.end(), [&](std::size_t i) { return slots_[i].state >= state; });
  }

  /// One that has arrived and has parts that this rank has not taken.
  Slot* slot_with_parts(Tile& t) {
    for (const std::size_t i : t.receives) {
      Slot& slot = slots_[i];
      if (slot.next < slot.last_part && slot.first().load(std::memory_order_acquire) >= slot.turn)
        return &slot;
    }
    return nullptr;
  }

  CommImpl& comm_;
  MpiWorld& world_;
  const ReshapeMessages& reshape_;
  std::unique_ptr<NodeWire> wire_;
  std::vector<int> machines_;  ///< per rank
  NodeRails rails_;
  std::vector<int> mates_;  ///< the ranks of this machine
  int place_ = place();     ///< of this rank among them
  std::vector<Tile> tiles_;
  TagRange tags_;
  FailureNotices notices_;
  std::shared_ptr<SharedMemory> memory_;
  std::vector<Slot> slots_;       ///< in which this rank has parts
  std::vector<Part> parts_;       ///< slot by slot
  std::vector<std::size_t> due_;  ///< slots of this rank that are not through
};

}  // namespace

ExchangeRow node_row(const char* name, const char* meaning) {
  ExchangeRow row = direct_row();
  row.name = name;
  row.meaning = meaning;
  row.traits.among = Among::processes;
  row.traits.gathers = true;
  row.traits.in_graphs = false;
  row.takes_devices = nullptr;
  return row;
}

std::unique_ptr<Carrier> make_node_messages(const CarrierRequest& request, std::unique_ptr<NodeWire> wire) {
  return std::make_unique<NodeMessages>(request, std::move(wire));
}

}  // namespace weft
