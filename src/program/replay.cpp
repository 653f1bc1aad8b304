#include "program/replay.hpp"

#include <algorithm>
#include <map>
#include <random>
#include <set>

#include "base/text.hpp"
#include "weft/error.hpp"

namespace weft {

namespace {

[[noreturn]] void fail(int rank, const std::string& what, const std::string& expected) {
  throw Error("replay", what, expected, rank);
}

/// A message of one tile, by its peer and size.
struct Part {
  int peer;
  Index bytes;
};

struct CompactOp {
  OpKind kind;
  int reshape, tile, peer;
  Span put;         ///< of a put: where in the peer's workspace
  Index bytes = 0;  ///< of a put
};

/// What is left of a program for the replay: who says what to whom, in which order.
struct CompactProgram {
  std::vector<CompactOp> ops;
  /// [reshape][tile]; of a direct exchange the sends and receives among machines come by themselves
  std::vector<std::vector<std::vector<Part>>> sends, receives, far_sends, far_receives;
  std::vector<std::vector<ByteRange>> landing;  ///< [reshape][tile]
};

CompactProgram compact(const Program& p) {
  CompactProgram c;
  for (const Op& op : p.ops) {
    const bool local = op.kind == OpKind::fft || op.kind == OpKind::copy || op.kind == OpKind::pack ||
                       op.kind == OpKind::unpack || op.kind == OpKind::keep ||
                       (op.kind == OpKind::put && op.peer == p.rank);
    if (local) continue;
    CompactOp kept{op.kind, op.reshape, op.tile, op.peer, {}, 0};
    if (op.kind == OpKind::put) {
      const CopyCall& call = p.copies[static_cast<std::size_t>(op.call)];
      kept.put = span_of(call.to, call.box.extents(), call.element_bytes);
      kept.bytes = call.box.count() * call.element_bytes;
    }
    c.ops.push_back(kept);
  }
  const auto parts = [](const std::vector<Message>& messages) {
    std::vector<Part> result;
    for (const Message& m : messages) result.push_back({m.peer, m.bytes});
    return result;
  };
  for (const ReshapeProgram& r : p.reshapes) {
    c.sends.emplace_back();
    c.receives.emplace_back();
    c.landing.emplace_back();
    c.far_sends.emplace_back();
    c.far_receives.emplace_back();
    for (const TileMessages& t : r.messages.tiles) {
      c.sends.back().push_back(parts(t.sends));
      c.receives.back().push_back(parts(t.receives));
      c.landing.back().push_back(t.landing);
    }
    for (const TileMessages& t : r.messages_of(OpKind::post).tiles) {
      c.far_sends.back().push_back(parts(t.sends));
      c.far_receives.back().push_back(parts(t.receives));
    }
  }
  return c;
}

class Replay {
 public:
  Replay(int ranks, const std::function<Program(int)>& program_of, const ReplaySettings& settings)
      : settings_(settings) {
    for (int r = 0; r < ranks; ++r) {
      const Program p = program_of(r);
      programs_.push_back(compact(p));
    }
    position_.resize(programs_.size(), 0);
    posted_.resize(programs_.size());
    freed_.resize(programs_.size());
    full_.resize(programs_.size());
    begun_.resize(programs_.size(), false);
    execution_.resize(programs_.size(), 0);
  }

  ReplayReport run() {
    std::mt19937_64 random(settings_.seed);
    std::vector<int> running;
    for (std::size_t r = 0; r < programs_.size(); ++r) running.push_back(static_cast<int>(r));
    while (!running.empty()) {
      bool moved = false;
      std::shuffle(running.begin(), running.end(), random);
      for (int r : running) moved = advance(r, 1 + static_cast<int>(random() % 8)) || moved;
      const auto finished = [&](int r) {
        return number(r) == settings_.executions || program(r).ops.empty();
      };
      running.erase(std::remove_if(running.begin(), running.end(), finished), running.end());
      if (!moved && !running.empty()) {
        const CompactOp& op = program(running.front()).ops[at(running.front())];
        fail(running.front(),
             std::string(name_of(op.kind)) + " of reshape " + std::to_string(op.reshape) + " tile " +
                 std::to_string(op.tile) + " never ends",
             "a program without deadlock");
      }
    }
    if (!in_flight_.empty())
      fail(-1, std::to_string(in_flight_.size()) + " messages are never received", "none");
    return report_;
  }

 private:
  using Key = std::tuple<int, int, int, int, int>;  // execution, reshape, tile, from, to
  const CompactProgram& program(int r) const { return programs_[static_cast<std::size_t>(r)]; }
  std::size_t& at(int r) { return position_[static_cast<std::size_t>(r)]; }
  int& number(int r) { return execution_[static_cast<std::size_t>(r)]; }
  int number(int r) const { return execution_[static_cast<std::size_t>(r)]; }

  bool advance(int r, int steps) {
    bool moved = false;
    if (program(r).ops.empty()) return false;
    while (steps-- > 0 && number(r) < settings_.executions && step(r, program(r).ops[at(r)])) {
      begun_[static_cast<std::size_t>(r)] = false;
      moved = true;
      if (++at(r) < program(r).ops.size()) continue;
      at(r) = 0;
      ++number(r);
    }
    return moved;
  }

  const std::vector<Part>& parts(bool sends, int r, const CompactOp& op) const {
    const CompactProgram& p = program(r);
    const bool direct = op.kind == OpKind::put || op.kind == OpKind::await_full;
    const auto& all = direct ? (sends ? p.sends : p.receives) : (sends ? p.far_sends : p.far_receives);
    return all[static_cast<std::size_t>(op.reshape)][static_cast<std::size_t>(op.tile)];
  }

  using Tile = std::tuple<int, int, int>;  // execution, reshape, tile
  /// A tile of the execution that `r` is in; what other ranks did in earlier or later ones is something else.
  Tile tile_of(int r, const CompactOp& op) const { return {number(r), op.reshape, op.tile}; }

  bool has_posted(int r, const Tile& tile) const {
    return posted_[static_cast<std::size_t>(r)].contains(tile);
  }

  bool step(int r, const CompactOp& op) {
    switch (op.kind) {
      case OpKind::post:
        return post(r, op);
      case OpKind::wait_sent:
        return std::all_of(parts(true, r, op).begin(), parts(true, r, op).end(),
                           [&](const Part& p) { return has_posted(p.peer, tile_of(r, op)); });
      case OpKind::receive:
        return receive(r, op);
      case OpKind::signal_free:
        freed_[static_cast<std::size_t>(r)].insert(tile_of(r, op));
        return true;
      case OpKind::await_free:
        return freed_[static_cast<std::size_t>(op.peer)].contains(tile_of(r, op));
      case OpKind::put:
        return put(r, op);
      case OpKind::signal_full:
        full_[static_cast<std::size_t>(op.peer)].insert({tile_of(r, op), r});
        return true;
      case OpKind::await_full:
        if (!full_[static_cast<std::size_t>(r)].contains({tile_of(r, op), op.peer})) return false;
        take(op.peer, r, op);
        return true;
      default:
        return true;
    }
  }

  bool post(int r, const CompactOp& op) {
    if (!begun_[static_cast<std::size_t>(r)]) {
      begun_[static_cast<std::size_t>(r)] = true;
      posted_[static_cast<std::size_t>(r)].insert(tile_of(r, op));
      for (const Part& p : parts(true, r, op)) send(r, p, op);
    }
    if (!settings_.blocking_post) return true;
    for (bool sends : {true, false})
      for (const Part& p : parts(sends, r, op))
        if (!has_posted(p.peer, tile_of(r, op))) return false;
    return true;
  }

  void send(int r, const Part& p, const CompactOp& op) {
    if (!in_flight_.emplace(Key{number(r), op.reshape, op.tile, r, p.peer}, p.bytes).second)
      fail(r, "a second message to rank " + std::to_string(p.peer), "one per peer and tile");
    if (p.peer == r) return;
    report_.bytes_sent += p.bytes;
    ++report_.messages;
  }

  bool receive(int r, const CompactOp& op) {
    if (!has_posted(r, tile_of(r, op))) fail(r, "receive before post", "post first");
    for (const Part& p : parts(false, r, op))
      if (!in_flight_.contains({number(r), op.reshape, op.tile, p.peer, r})) return false;
    for (const Part& p : parts(false, r, op)) take(p.peer, r, op);
    return true;
  }

  /// The message of `from` in a tile has to be of the size that `to` expects.
  void take(int from, int to, const CompactOp& op) {
    const auto m = in_flight_.find({number(to), op.reshape, op.tile, from, to});
    const std::vector<Part>& expected = parts(false, to, op);
    const auto p =
        std::find_if(expected.begin(), expected.end(), [&](const Part& q) { return q.peer == from; });
    if (m == in_flight_.end() || p == expected.end() || p->bytes != m->second)
      fail(to, "a message of rank " + std::to_string(from) + " that does not match",
           "equal sizes on both sides");
    if (from != to) report_.bytes_received += m->second;
    in_flight_.erase(m);
  }

  bool put(int r, const CompactOp& op) {
    if (!freed_[static_cast<std::size_t>(op.peer)].contains(tile_of(r, op)))
      fail(r, "a put into rank " + std::to_string(op.peer), "a tile that is free");
    const ByteRange& landing =
        program(op.peer).landing[static_cast<std::size_t>(op.reshape)][static_cast<std::size_t>(op.tile)];
    if (op.put.first < landing.first || op.put.last > landing.last)
      fail(r, "a put outside the tile of rank " + std::to_string(op.peer), "addresses within it");
    // A tile may be put in several parts.
    const auto [message, first] =
        in_flight_.emplace(Key{number(r), op.reshape, op.tile, r, op.peer}, Index{0});
    message->second += op.bytes;
    report_.bytes_sent += op.bytes;
    if (first) ++report_.messages;
    return true;
  }

  ReplaySettings settings_;
  std::vector<CompactProgram> programs_;
  std::vector<std::size_t> position_;
  std::vector<bool> begun_;
  std::vector<int> execution_;
  std::vector<std::set<Tile>> posted_, freed_;
  std::vector<std::set<std::pair<Tile, int>>> full_;
  std::map<Key, Index> in_flight_;
  ReplayReport report_;
};

}  // namespace

ReplayReport replay(int ranks, const std::function<Program(int)>& program_of,
                    const ReplaySettings& settings) {
  return Replay(ranks, program_of, settings).run();
}

}  // namespace weft
