// Ring in chunks over several networks (multi-rail-multi-gpu-fft, sections III.A and III.B): in step k a rank
// sends to the rank k places behind it in its exchange group, and receives from the one k places before it.
// Parts are cut into transfers, each of which travels on a rail of its own (rail_table.hpp); on every rail a
// few are sent at a time, the earlier steps first, while parts are unpacked as they arrive. How a transfer
// travels, as a message or as a put, is a matter of its protocol (transfer.hpp).
#include <algorithm>
#include <cstring>
#include <thread>

#include "base/warning.hpp"
#include "comm/agree.hpp"
#include "kernels/cpu/varying_rows.hpp"
#include "transport/lost_network.hpp"
#include "transport/mpi/failure_notices.hpp"
#include "transport/ucx/rail_health.hpp"
#include "transport/ucx/rail_table.hpp"
#include "transport/ucx/rail_watch.hpp"
#include "transport/ucx/rails.hpp"
#include "transport/ucx/transfer.hpp"

namespace weft {

namespace {

using ucx::Operation;
using ucx::Transfer;
using Way = ucx::RailHealth::Way;

class UcxRing final : public Carrier {
 public:
  explicit UcxRing(const CarrierRequest& c)
      : comm_(c.comm),
        world_(*c.comm.mpi()),
        reshape_(c.reshape),
        settings_(c.rails),
        rails_(ucx::Rails::of(c.comm, c.rails)),
        members_(members_of(c)),
        device_(c.device),
        notices_(world_, waiting(c)) {
    place_ = place_of(rank());
    if (reshape_.most_tiles > most_tiles)
      throw Error("plan: option tile", std::to_string(reshape_.most_tiles) + " tiles with exchange ucx",
                  "at most " + std::to_string(most_tiles) + ": make tiles thicker");
    for (std::size_t k = 0; k < reshape_.tiles.size(); ++k) add_tile(static_cast<int>(k));
    make_room();
    if (device_) ucx::operate_in(device_);
    if (c.exposed) protocols_.push_back(ucx::make_puts(c, rails_));
    protocols_.push_back(ucx::make_messages(c, rails_));
  }

  /// Only once all ranks have got here, so that numbers are alike on all.
  void connect() override {
    tag_ = world_.take_tags(1);
    notices_.use(tag_.first());
    conversation_ = ucx::new_conversation(comm_);
    for (const auto& p : protocols_) p->connect();
    const int most_steps = -comm_.least(-steps());
    most_transfers_ = -comm_.least(-most_transfers_);
    const int tiles = -comm_.least(-static_cast<int>(tiles_.size()));
    const Index cells = Index{most_steps} * tiles * most_transfers_;
    if (cells > most_cells)
      throw Error("exchange ucx", std::to_string(cells) + " transfers of a rank",
                  "option chunk with more bytes", rank());
    RailTable table;
    agree(comm_, "exchange ucx", [&] {
      table = RailTable(most_steps, tiles * most_transfers_, rails_->count());
      use(table);
    });
    watch(table, most_steps);
  }

  /// Assigns rails to transfers, before the first execution or between two, on all ranks alike.
  void use(const RailTable& table) {
    for (Tile& t : tiles_)
      for (auto* transfers : {&t.sends, &t.receives})
        for (Transfer& x : *transfers) {
          x.lane = rails_->near(x.peer) ? rails_->memory_lane() : table.rail(x.of.step, number_of(x));
          x.protocol = std::find_if(protocols_.begin(), protocols_.end(), [&](const auto& p) {
                         return p->carries(x);
                       })->get();
        }
  }

  bool post(int tile, const Memory& memory, Queue& queue, Patience patience) override {
    const bool first = posted_ == 0 || posted_ == static_cast<int>(tiles_.size());
    if (first && !begin(patience)) return false;
    Tile& t = at(tiles_, tile);
    t.work = at(memory, Space::work);
    compact_parts(tile);
    const auto held = ucx::lock();
    if (first) posted_ = open_ = 0;
    t.place = posted_++;
    t.left = t.transfers;
    t.arrived.clear();
    t.returned = 0;
    t.unread = t.parts;
    t.unsent = t.sends.size();
    for (int stage = 0; stage < stages_of_tile(); ++stage)
      at(stages_, t.place * stages_of_tile() + stage) = at(t.of_stage, stage);
    for (Transfer& x : t.receives) x.protocol->receive(x, t.work);
    for (Transfer& x : t.sends) {
      x.protocol->announce(x);
      at(lanes_, x.lane).enqueue(x);
    }
    if (t.own_from >= 0) copy_own(t, at(reshape_.tiles, tile), queue);
    move_on();
    return true;
  }

  Index bytes_saved(int tile) const override { return at(tiles_, tile).saved; }

  bool sent(int tile, Patience patience) override {
    return notices_.await(patience, [&] {
      const auto held = ucx::lock();
      move_on();
      const Tile& t = at(tiles_, tile);
      return t.unsent == 0 && !is_needed() && (!t.copied || device_->passed(*t.copied));
    });
  }

  int next_arrival(int tile, Queue& queue, Patience patience) override {
    Tile& t = at(tiles_, tile);
    const auto look = [&] {
      if (t.returned < t.arrived.size()) return true;
      const auto held = ucx::lock();
      move_on();
      return t.returned < t.arrived.size() || (t.unread == 0 && !is_needed());
    };
    if (!notices_.await(patience, look)) return no_arrival_yet;
    if (t.returned == t.arrived.size()) return no_more_arrivals;
    const int position = t.arrived[t.returned++];
    if (t.copied && position == t.own_to) queue.stream->wait(*t.copied);
    const Message& part = at(at(reshape_.tiles, tile).receives, position);
    if (part.rows.rows > 0 && position != t.own_to)
      spread(part.rows, t.work + part.offset, at(t.received, position));
    return position;
  }

  /// Yielding lets a rank that shares this core look after its transfers.
  void progress() override {
    {
      const auto held = ucx::lock();
      move_on();
    }
    std::this_thread::yield();
  }

  /// Receives that nobody will complete are called back, so that late messages do not land in our memory.
  void cancel() noexcept override {
    if (!mpi_alive()) return;
    const auto held = ucx::lock();
    if (watch_) watch_->give_up();
    watch_.reset();  // a plan that has failed stays until the process ends
    for (Tile& t : tiles_)
      for (auto* transfers : {&t.receives, &t.sends})
        for (Transfer& x : *transfers)
          if (x.protocol != nullptr) x.protocol->call_back(x);
    notices_.tell();
  }

 private:
  static constexpr int most_tiles = 65000;
  // Transfers of a rank, by ring step and number; and how many of them are looked through between executions.
  static constexpr Index most_cells = 1 << 24, most_balanced = 1 << 14;

  struct Tile {
    std::vector<Transfer> sends = {}, receives = {};  ///< in ring order
    std::vector<int> transfers = {}, left = {};       ///< of each part that is received, and not there yet
    std::vector<Index> sent = {}, received = {};      ///< bytes of parts whose length varies, by position
    std::vector<int> of_stage = {};                   ///< transfers in both directions, by stage of the tile
    std::vector<int> arrived = {};                    ///< positions
    std::size_t parts = 0, unsent = 0, returned = 0, unread = 0;  ///< transfers; of `arrived`; parts
    int own_from = -1, own_to = -1;  ///< positions of the part that is copied here; -1: there is none
    std::unique_ptr<DeviceEvent> copied = {};  ///< that part is, in memory of devices
    Index saved = 0;                           ///< `bytes_saved`
    int place = 0;  ///< among the tiles of an execution, which all ranks post in one order
    std::byte* work = nullptr;
  };
  /// What is to be sent on a rail, in order.
  struct Lane {
    std::vector<Transfer*> queue;
    std::size_t next = 0;
    int under_way = 0;

    bool empty() const { return next == queue.size(); }
    /// Within the room that was made.
    void enqueue(Transfer& transfer) {
      if (next > 0) {
        queue.erase(queue.begin(), queue.begin() + static_cast<std::ptrdiff_t>(next));
        next = 0;
      }
      queue.push_back(&transfer);
    }
  };

  static std::vector<int> members_of(const CarrierRequest& c) {
    std::vector<int> members;
    for (int r = 0; r < c.comm.size(); ++r)
      if (at(c.groups, r) == at(c.groups, c.comm.rank())) members.push_back(r);
    return members;
  }
  /// The ranks that may wait for this one: in a barrier also those that it exchanges nothing with.
  static std::vector<int> waiting(const CarrierRequest& c) {
    if (!c.rails.barrier) return peers_of(c.reshape, c.comm.rank());
    std::vector<int> members = members_of(c);
    std::erase(members, c.comm.rank());
    return members;
  }

  int rank() const { return comm_.rank(); }
  int size() const { return static_cast<int>(members_.size()); }
  int steps() const { return size() - 1; }
  int place_of(int member) const {
    return static_cast<int>(std::lower_bound(members_.begin(), members_.end(), member) - members_.begin());
  }
  int member(int place) const { return at(members_, (place + size()) % size()); }
  /// Among the transfers of all tiles in the same ring step.
  int number_of(const Transfer& x) const { return x.of.tile * most_transfers_ + x.number; }
  /// A stage is as many ring steps of a tile as lie between two barriers.
  int stage_of(int step) const { return (step - 1) / std::max(settings_.barrier, 1); }
  int stages_of_tile() const { return steps() == 0 ? 0 : stage_of(steps()) + 1; }
  int stage_of(const Tile& tile, int step) const { return tile.place * stages_of_tile() + stage_of(step); }

  void add_tile(int number) {
    const TileMessages& m = at(reshape_.tiles, number);
    Tile t;
    t.transfers.resize(m.receives.size());
    t.sent.resize(m.sends.size());
    t.received.resize(m.receives.size());
    t.of_stage.resize(static_cast<std::size_t>(stages_of_tile()));
    t.own_from = position_of(m.sends, rank());
    t.own_to = position_of(m.receives, rank());
    if (device_ && t.own_from >= 0) t.copied = device_->make_event(false);
    for (int step = 1; step <= steps(); ++step) {
      if (const int i = position_of(m.sends, member(place_ + step)); i >= 0)
        cut(at(m.sends, i), {true, number, i, step}, t.sends);
      if (const int i = position_of(m.receives, member(place_ - step)); i >= 0) {
        const int count = cut(at(m.receives, i), {false, number, i, step}, t.receives);
        at(t.transfers, i) = count;
        t.parts += count > 0 ? 1 : 0;
      }
    }
    for (const auto* transfers : {&t.sends, &t.receives})
      for (const Transfer& x : *transfers) ++at(t.of_stage, stage_of(x.of.step));
    t.left = t.transfers;
    t.arrived.reserve(m.receives.size());
    tiles_.push_back(std::move(t));
  }

  static int position_of(const std::vector<Message>& messages, int peer) {
    const auto found =
        std::find_if(messages.begin(), messages.end(), [&](const Message& x) { return x.peer == peer; });
    return found == messages.end() ? -1 : static_cast<int>(found - messages.begin());
  }

  /// Pieces of one size but the last, which begin at multiples of 64 bytes in the part. A part whose length
  /// varies is cut as if it filled its room: the pieces behind its end are empty.
  int cut(const Message& part, const Transfer::Part& of, std::vector<Transfer>& transfers) {
    const int wanted = transfers_of(part.bytes, settings_, std::max(rails_->count(), 1));
    if (wanted == 0) return 0;
    const Index each = rounded_up<Index>(divided_up<Index>(part.bytes, wanted), 64);
    const auto count = static_cast<int>(divided_up(part.bytes, each));
    Transfer like;
    like.list = &done_;
    like.of = of;
    like.peer = part.peer;
    for (int i = 0; i < count; ++i) {
      like.number = i;
      like.offset = part.offset + i * each;
      like.bytes = std::min(each, part.bytes - i * each);
      if (part.rows.rows > 0) like.begin = i * each;
      transfers.push_back(like);
    }
    most_transfers_ = std::max(most_transfers_, count);
    return count;
  }

  /// For all that executions note, so that they allocate nothing.
  void make_room() {
    std::size_t sends = 0, all = 0;
    for (const Tile& t : tiles_) {
      sends += t.sends.size();
      all += t.sends.size() + t.receives.size();
    }
    done_.operations.reserve(all);
    transfers_in_all_ = all;
    lanes_.resize(static_cast<std::size_t>(rails_->lanes()));
    for (Lane& lane : lanes_) lane.queue.reserve(sends);
    stages_.resize(tiles_.size() * static_cast<std::size_t>(stages_of_tile()));
    for (const int peer : peers_of(reshape_, rank()))
      for (int lane = 0; lane < rails_->lanes(); ++lane)
        if ((lane == rails_->memory_lane()) == rails_->near(peer)) health_.add({lane, peer});
    health_.leave_out([this](int lane) { return has_left(lane); });
    token_out_.list = token_in_.list = &tokens_;
    tokens_.operations.reserve(2);
  }

  /// Lets the ranks exchange rails. Collective.
  void watch(const RailTable& table, int most_steps) {
    const int rails = rails_->count();
    if (settings_.rebalance <= 0 || rails < 2) return;
    if (rails > RailWatch::most_rails) {
      if (rank() == 0)
        warn("exchange ucx: with more than " + std::to_string(RailWatch::most_rails) +
             " rails, which of them carries what stays as it is");
      return;
    }
    // A rank without points in this reshape begins no execution of it, and could not take part in decisions.
    if (comm_.least(tiles_.empty() ? 0 : 1) == 0) return;
    const Index cells = Index{most_steps} * table.transfers();
    if (cells > most_balanced) {
      if (rank() == 0)
        warn("exchange ucx: with " + std::to_string(cells) +
             " transfers of a rank, which rail carries what stays as it is; option chunk makes them fewer");
      return;
    }
    std::vector<Index> loads;
    agree(comm_, "exchange ucx", [&] {
      loads.resize(static_cast<std::size_t>(cells));
      for (const Tile& t : tiles_)
        for (const Transfer& x : t.sends)
          if (!rails_->near(x.peer)) at(loads, (x.of.step - 1) * table.transfers() + number_of(x)) += x.bytes;
    });
    watch_ =
        std::make_unique<RailWatch>(comm_, table, most_steps, rails, std::move(loads), settings_.rebalance);
  }

  /// Before the first tile of an execution. False if it would have to wait.
  bool begin(Patience patience) {
    if (watch_ && !decide(patience)) return false;
    unfinished_ = transfers_in_all_;
    running_ = true;
    if (watch_) watch_->begin();
    return true;
  }

  /// The rails of the execution that begins, from what the last one took. False if not all have told that.
  bool decide(Patience patience) {
    const auto decided = [&] {
      if (watch_->decided()) return true;
      const auto held = ucx::lock();
      rails_->progress();
      return false;
    };
    if (!notices_.await(patience, decided)) return false;
    if (watch_->changed()) use(watch_->table());
    for (const int rail : watch_->newly_left())
      if (rank() == 0)
        warn("exchange ucx: rail " + rails_->device(rail) + " has failed, and is used no longer");
    if (watch_->has_left_all())
      throw LostNetwork("exchange ucx", "rails that have all failed", "a network that is there", rank());
    return true;
  }

  void copy_own(Tile& t, const TileMessages& m, const Queue& queue) {
    const Message& part = at(m.sends, t.own_from);
    const std::byte* const from = t.work + part.offset;
    std::byte* const to = t.work + at(m.receives, t.own_to).offset;
    const auto bytes = static_cast<std::size_t>(part.bytes);
    if (t.copied) {
      queue.stream->copy(to, from, bytes);
      queue.stream->record(*t.copied);
    } else {
      std::memcpy(to, from, bytes);
    }
    t.arrived.push_back(t.own_to);
  }

  /// Of what the tile sends, parts whose length varies; no bytes of those that it receives have arrived.
  void compact_parts(int tile) {
    Tile& t = at(tiles_, tile);
    const std::vector<Message>& parts = at(reshape_.tiles, tile).sends;
    std::fill(t.received.begin(), t.received.end(), 0);
    t.saved = 0;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      if (parts[i].rows.rows == 0 || static_cast<int>(i) == t.own_from) continue;
      t.sent[i] = compact(parts[i].rows, t.work + parts[i].offset);
      t.saved += parts[i].bytes - t.sent[i];
    }
  }

  /// Lets transfers move, notes those that are complete and starts others. The lock is held, as in all below.
  void move_on() {
    rails_->progress();
    health_.look();
    do {
      if (!done_.operations.empty() && measures()) time_transfers();
      for (Operation* operation : done_.operations) note(static_cast<Transfer&>(*operation));
      done_.operations.clear();
      if (settings_.barrier) pass_barrier();
      start_sends();
    } while (!done_.operations.empty());
    if (running_ && unfinished_ == 0 && posted_ == static_cast<int>(tiles_.size())) end();
  }

  bool measures() const { return watch_ && watch_->measures(); }

  void time_transfers() {
    const double now = seconds_now();
    for (const Operation* operation : done_.operations) {
      const auto& x = static_cast<const Transfer&>(*operation);
      if (x.lane != rails_->memory_lane()) watch_->complete(x.lane, x.of.step, x.of.sends ? x.began : 0, now);
    }
  }

  /// All transfers of an execution are complete.
  void end() {
    running_ = false;
    if (!watch_) return;
    if (watch_->measures()) {
      for (const auto& [lane, peer] : health_.ways())
        if (lane != rails_->memory_lane() && rails_->endpoint(lane, peer).failed) watch_->has_failed(lane);
      for (int lane = 0; lane < rails_->count(); ++lane)
        if (health_.has_lost_link(lane)) watch_->has_failed(lane);
    }
    watch_->end();
  }

  /// Nothing is sent on it any more.
  bool has_left(int lane) const { return watch_ && lane < rails_->count() && watch_->has_left(lane); }

  void note(Transfer& x) {
    if (x.status != UCS_OK) health_.fail({x.lane, x.peer}, ucx::text_of(x.status));
    Tile& t = at(tiles_, x.of.tile);
    --at(stages_, stage_of(t, x.of.step));
    --unfinished_;
    if (x.of.sends) {
      --at(lanes_, x.lane).under_way;
      --t.unsent;
      return;
    }
    if (x.begin >= 0) at(t.received, x.of.position) += static_cast<Index>(x.arrived);
    if (--at(t.left, x.of.position) > 0) return;
    --t.unread;
    t.arrived.push_back(x.of.position);
  }

  void start_sends() {
    for (Lane& lane : lanes_)
      while (!lane.empty() && lane.under_way < settings_.in_flight) {
        Transfer& x = *lane.queue[lane.next];
        const Tile& t = at(tiles_, x.of.tile);
        if (settings_.barrier && stage_of(t, x.of.step) > open_) break;
        ++lane.next;
        ++lane.under_way;
        if (measures()) x.began = seconds_now();
        const Index bytes =
            x.begin < 0 ? x.bytes : std::clamp<Index>(at(t.sent, x.of.position) - x.begin, 0, x.bytes);
        x.protocol->send(x, t.work, bytes);
      }
  }

  // ---- The barrier between stages: in round i each rank tells the one 2^i
  // places behind it that it, and all that it has heard of, have completed the stage.

  void pass_barrier() {
    const int last = static_cast<int>(stages_.size()) - 1;
    while (open_ < last) {
      if (round_ < 0) {
        if (open_ >= posted_ * stages_of_tile() || at(stages_, open_) > 0) return;
        start_round(0);
      }
      if (token_in_.request != nullptr || token_out_.request != nullptr) return;
      for (const auto& [token, way] : {std::pair(&token_in_, token_from_), {&token_out_, token_to_}})
        if (token->status != UCS_OK) health_.fail(way, ucx::text_of(token->status));
      if (1 << (round_ + 1) < size()) {
        start_round(round_ + 1);
      } else {
        round_ = -1;
        ++open_;
      }
    }
  }

  /// Whether other ranks wait for this one in the barrier, though it has nothing more to send or to receive.
  bool is_needed() const {
    return settings_.barrier && posted_ == static_cast<int>(tiles_.size()) &&
           open_ + 1 < static_cast<int>(stages_.size());
  }

  void start_round(int round) {
    round_ = round;
    tokens_.operations.clear();
    const int to = member(place_ + (1 << round)), from = member(place_ - (1 << round));
    int first = 0;
    while (has_left(first)) ++first;
    const auto way = [&](int peer) { return Way{rails_->near(peer) ? rails_->memory_lane() : first, peer}; };
    token_from_ = way(from);
    token_to_ = way(to);
    rails_->worker(token_from_.lane)->receive(nullptr, 0, ucx::tag_of(conversation_, from, round), token_in_);
    rails_->worker(token_to_.lane)
        ->send(rails_->endpoint(token_to_.lane, to), nullptr, 0, ucx::tag_of(conversation_, rank(), round),
               token_out_);
  }

  CommImpl& comm_;
  MpiWorld& world_;
  const ReshapeMessages& reshape_;
  RailSettings settings_;
  std::shared_ptr<ucx::Rails> rails_;
  ucx::RailHealth health_{"exchange ucx", rails_, comm_.rank()};
  TagRange tag_;
  std::vector<int> members_;        ///< of the exchange group, ascending
  std::shared_ptr<Device> device_;  ///< in whose memory parts are; null: the host's
  FailureNotices notices_;
  int place_ = 0;           ///< of this rank among them
  int most_transfers_ = 0;  ///< of any part; once connected, of any rank
  int conversation_ = 0;    ///< of the barrier: kinds of messages are its rounds
  std::vector<std::unique_ptr<ucx::Protocol>> protocols_;  ///< the preferred ones first
  std::vector<Tile> tiles_;
  std::vector<Lane> lanes_;
  ucx::DoneList done_, tokens_;
  // The barrier:
  std::vector<int> stages_;                 ///< transfers that are not complete, by stage
  int open_ = 0, posted_ = 0, round_ = -1;  ///< the last stage that may be sent; tiles; -1: in no round
  Operation token_in_, token_out_;
  Way token_from_ = {}, token_to_ = {};
  // The exchange of rails:
  std::unique_ptr<RailWatch> watch_;                   ///< null: they stay as they are
  std::size_t transfers_in_all_ = 0, unfinished_ = 0;  ///< of all tiles; of those, not complete
  bool running_ = false;
};

}  // namespace

std::unique_ptr<Carrier> make_ucx_ring(const CarrierRequest& request) {
  return std::make_unique<UcxRing>(request);
}

}  // namespace weft
