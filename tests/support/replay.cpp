#include "support/replay.hpp"

#include <algorithm>
#include <random>
#include <span>

#include "base/text.hpp"
#include "weft/error.hpp"

namespace weft::test {

namespace {

[[noreturn]] void fail(int rank, const std::string& what, const std::string& expected) {
  throw Error("replay", what, expected, rank);
}

/// A part of a tile, by the rank at its other end and its size.
struct Part {
  int peer;
  bool put;  ///< into the workspace of its receiver, by its sender; else a message
  Index bytes;
  ByteRange room = {};  ///< of a put: where it may write
};

struct CompactOp {
  OpKind kind;
  int reshape, tile, peer;
  Index first = 0, last = 0;  ///< of a put: where in the peer's workspace
  Index bytes = 0;            ///< of a put
  int access = -1;            ///< to memory that all ranks share, or none
};

/// What a local operation reads and writes of the memory that all ranks share: the numbers of its words of
/// eight bytes.
struct SharedAccess {
  std::vector<std::size_t> reads, writes;
  bool in_place = false;
};

/// Where the parts of a tile begin in CompactProgram::sends and receives. The next tile's are behind them.
struct CompactTile {
  std::size_t sends, receives;
};

/// What is left of a program for the replay: who says what to whom, in which order. The tiles of all reshapes
/// are numbered one after the other.
struct CompactProgram {
  std::vector<CompactOp> ops;
  std::vector<std::size_t> first_tile;  ///< [reshape]; the last entry is the number of all tiles
  std::vector<CompactTile> tiles;       ///< and one that only ends the last
  std::vector<Part> sends;              ///< messages only
  std::vector<Part> receives;           ///< of a tile by ascending peer
  std::vector<SharedAccess> accesses;
  Index shared_bytes = 0;  ///< as of the program
};

/// The words of a box, if it is in memory that all ranks share.
std::vector<std::size_t> shared_words(const Operand& o, const Shape& extents, int bytes) {
  std::vector<std::size_t> words;
  if (o.space != Space::shared) return words;
  constexpr Index word = 8;
  std::vector<Index> starts{o.offset};
  for (int a = 0; a < extents.size(); ++a) {
    std::vector<Index> more;
    for (const Index s : starts)
      for (Index i = 0; i < extents[a]; ++i) more.push_back(s + i * o.strides[a] * bytes);
    starts = std::move(more);
  }
  for (const Index s : starts)
    for (Index at = s; at < s + bytes; at += word) words.push_back(static_cast<std::size_t>(at / word));
  return words;
}

/// Of a local operation; nothing read or written if it has nothing to do with that memory.
SharedAccess shared_access(const Program& p, const Op& op) {
  if (op.kind == OpKind::fft) {
    const FftCall& f = p.ffts[static_cast<std::size_t>(op.call)];
    return {shared_words(f.from, f.from_box.extents(), f.from_bytes),
            shared_words(f.to, f.to_box.extents(), f.to_bytes),
            f.from.space == f.to.space && f.from.offset == f.to.offset};
  }
  const CopyCall& c = p.copies[static_cast<std::size_t>(op.call)];
  return {shared_words(c.from, c.box.extents(), c.element_bytes),
          shared_words(c.to, c.box.extents(), c.element_bytes)};
}

void add_tiles(CompactProgram& c, const ReshapeProgram& r, int rank) {
  const std::vector<TileMessages>& messages = r.sent.tiles;
  const std::vector<TileMessages>& puts = r.stored.tiles;
  for (std::size_t tile = 0; tile < std::max(messages.size(), puts.size()); ++tile) {
    const auto first = static_cast<std::ptrdiff_t>(c.receives.size());
    c.tiles.push_back({c.sends.size(), c.receives.size()});
    if (tile < messages.size()) {
      for (const Message& m : messages[tile].sends) c.sends.push_back({m.peer, false, m.bytes});
      for (const Message& m : messages[tile].receives) c.receives.push_back({m.peer, false, m.bytes});
    }
    if (tile < puts.size()) {
      const bool packed = puts[tile].to.empty();
      for (const Message& m : puts[tile].receives)
        c.receives.push_back(
            {m.peer, true, m.bytes, packed ? ByteRange{m.offset, m.offset + m.bytes} : puts[tile].landing});
    }
    const std::span<Part> parts(c.receives.begin() + first, c.receives.end());
    std::sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) { return a.peer < b.peer; });
    const auto twice = std::adjacent_find(parts.begin(), parts.end(),
                                          [](const Part& a, const Part& b) { return a.peer == b.peer; });
    if (twice != parts.end())
      fail(rank, "two parts of one tile from rank " + std::to_string(twice->peer), "one per peer and tile");
  }
}

bool stays_on_the_rank(const Op& op, int rank) {
  return op.kind == OpKind::fft || op.kind == OpKind::copy || op.kind == OpKind::pack ||
         op.kind == OpKind::unpack || op.kind == OpKind::keep || (op.kind == OpKind::put && op.peer == rank);
}

CompactProgram compact(const Program& p) {
  CompactProgram c;
  for (const ReshapeProgram& r : p.reshapes) {
    c.first_tile.push_back(c.tiles.size());
    add_tiles(c, r, p.rank);
  }
  c.first_tile.push_back(c.tiles.size());
  c.tiles.push_back({c.sends.size(), c.receives.size()});
  c.shared_bytes = p.shared_bytes;
  for (const Op& op : p.ops) {
    if (stays_on_the_rank(op, p.rank)) {
      if (p.shared_bytes == 0) continue;
      SharedAccess access = shared_access(p, op);
      if (access.reads.empty() && access.writes.empty()) continue;
      CompactOp kept{op.kind, op.reshape, op.tile, op.peer};
      kept.access = static_cast<int>(c.accesses.size());
      c.accesses.push_back(std::move(access));
      c.ops.push_back(kept);
      continue;
    }
    const auto reshape = static_cast<std::size_t>(op.reshape);
    if (c.first_tile[reshape] + static_cast<std::size_t>(op.tile) >= c.first_tile[reshape + 1])
      fail(p.rank, std::string(name_of(op.kind)) + " of tile " + std::to_string(op.tile),
           "a tile that is there");
    CompactOp kept{op.kind, op.reshape, op.tile, op.peer};
    if (op.kind == OpKind::put) {
      const CopyCall& call = p.copies[static_cast<std::size_t>(op.call)];
      const Span span = written_by(call);
      kept.first = span.first;
      kept.last = span.last;
      kept.bytes = bytes_written(call);
    }
    c.ops.push_back(kept);
  }
  return c;
}

/// A rank's program, how far it has come, and what has been done to its tiles and parts in each execution:
/// other ranks may be an execution ahead or behind.
class Rank {
 public:
  Rank(const CompactProgram& program, int executions)
      : program_(program), executions_(static_cast<std::size_t>(executions)) {
    posted_.resize(executions_ * program_.tiles.size());
    freed_.resize(posted_.size());
    full_.resize(executions_ * program_.receives.size());
    under_way_.resize(full_.size(), nothing);
  }

  bool finished() const { return program_.ops.empty() || execution_ == executions_; }
  const CompactOp& op() const { return program_.ops[position_]; }
  std::size_t execution() const { return execution_; }
  void go_on() {
    begun = false;
    if (++position_ < program_.ops.size()) return;
    position_ = 0;
    ++execution_;
    last_reshape = -1;
  }
  const SharedAccess& access(const CompactOp& op) const {
    return program_.accesses[static_cast<std::size_t>(op.access)];
  }
  bool shares() const { return program_.shared_bytes > 0; }

  /// The parts of a tile that go by messages, and those that come, one way or the other. Empty if this rank
  /// has no such tile.
  std::span<const Part> sends(const CompactOp& op) const {
    const std::size_t t = tile(op);
    if (t == no_tile()) return {};
    return {program_.sends.data() + program_.tiles[t].sends,
            program_.sends.data() + program_.tiles[t + 1].sends};
  }
  std::span<const Part> receives(const CompactOp& op) const {
    const std::size_t t = tile(op);
    if (t == no_tile()) return {};
    return {program_.receives.data() + program_.tiles[t].receives,
            program_.receives.data() + program_.tiles[t + 1].receives};
  }
  /// The part of a tile that comes from `peer` by this kind of operation, or null.
  const Part* part_from(int peer, const CompactOp& op) const {
    const std::span<const Part> parts = receives(op);
    const auto p = std::lower_bound(parts.begin(), parts.end(), peer,
                                    [](const Part& part, int rank) { return part.peer < rank; });
    const bool put =
        op.kind == OpKind::put || op.kind == OpKind::signal_full || op.kind == OpKind::await_full;
    return p != parts.end() && p->peer == peer && p->put == put ? &*p : nullptr;
  }

  // What is true of a tile or a part in an execution. A tile that this rank has not is never posted or freed.
  std::vector<bool>::reference posted(std::size_t execution, const CompactOp& op) {
    return posted_[execution * program_.tiles.size() + tile(op)];
  }
  std::vector<bool>::reference freed(std::size_t execution, const CompactOp& op) {
    return freed_[execution * program_.tiles.size() + tile(op)];
  }
  std::vector<bool>::reference full(std::size_t execution, const Part& part) {
    return full_[index(execution, part)];
  }
  /// Bytes that have been sent and not been received.
  Index& under_way(std::size_t execution, const Part& part) { return under_way_[index(execution, part)]; }

  static constexpr Index nothing = -1;
  bool begun = false;  ///< whether `op` has posted its messages already
  /// Of memory that all ranks share: the newest reshape that this rank has written for, or is to read from.
  int last_reshape = -1;

 private:
  std::size_t no_tile() const { return program_.tiles.size() - 1; }
  std::size_t tile(const CompactOp& op) const {
    const auto reshape = static_cast<std::size_t>(op.reshape);
    const std::size_t t = program_.first_tile[reshape] + static_cast<std::size_t>(op.tile);
    return t < program_.first_tile[reshape + 1] ? t : no_tile();
  }
  std::size_t index(std::size_t execution, const Part& part) const {
    return execution * program_.receives.size() + static_cast<std::size_t>(&part - program_.receives.data());
  }

  const CompactProgram& program_;
  std::size_t executions_, execution_ = 0, position_ = 0;
  std::vector<bool> posted_, freed_, full_;
  std::vector<Index> under_way_;
};

class Replay {
 public:
  Replay(const std::vector<CompactProgram>& programs, const ReplaySettings& settings) : settings_(settings) {
    for (const CompactProgram& p : programs) ranks_.emplace_back(p, settings.executions);
    if (!programs.empty()) written_.resize(static_cast<std::size_t>(programs[0].shared_bytes / 8));
  }

  ReplayReport run() {
    std::mt19937_64 random(settings_.seed);
    std::vector<int> running;
    for (std::size_t r = 0; r < ranks_.size(); ++r) running.push_back(static_cast<int>(r));
    while (!running.empty()) {
      bool moved = false;
      std::shuffle(running.begin(), running.end(), random);
      for (int r : running) moved = advance(r, 1 + static_cast<int>(random() % 8)) || moved;
      std::erase_if(running, [&](int r) { return rank(r).finished(); });
      if (!moved && !running.empty()) {
        const CompactOp& op = rank(running.front()).op();
        fail(running.front(),
             std::string(name_of(op.kind)) + " of reshape " + std::to_string(op.reshape) + " tile " +
                 std::to_string(op.tile) + " never ends",
             "a program without deadlock");
      }
    }
    if (under_way_ > 0) fail(-1, std::to_string(under_way_) + " messages are never received", "none");
    return report_;
  }

 private:
  Rank& rank(int r) { return ranks_[static_cast<std::size_t>(r)]; }

  bool advance(int r, int steps) {
    bool moved = false;
    while (steps-- > 0 && !rank(r).finished() && step(r, rank(r).op())) {
      rank(r).go_on();
      moved = true;
    }
    return moved;
  }

  bool step(int r, const CompactOp& op) {
    const std::size_t execution = rank(r).execution();
    if (op.access >= 0) {
      use_shared(r, op);
      return true;
    }
    switch (op.kind) {
      case OpKind::post:
        return post(r, op);
      case OpKind::wait_sent:
        return have_posted(rank(r).sends(op), execution, op);
      case OpKind::receive:
        return receive(r, op);
      case OpKind::signal_free:
        rank(r).freed(execution, op) = true;
        return true;
      case OpKind::await_free:
        return rank(op.peer).freed(execution, op);
      case OpKind::put:
        put(r, op);
        return true;
      case OpKind::signal_full:
        if (rank(r).shares()) announce(r, op);
        rank(op.peer).full(execution, sent_part(r, op.peer, op)) = true;
        return true;
      case OpKind::await_full:
        return await_full(r, op);
      default:
        return true;
    }
  }

  /// What a rank reads has to be what was written for that reshape in this execution, and nothing newer.
  void use_shared(int r, const CompactOp& op) {
    Rank& self = rank(r);
    const SharedAccess& access = self.access(op);
    for (const std::size_t word : access.reads)
      if (written_[word] != std::pair(self.execution() + 1, self.last_reshape))
        fail(r,
             "shared memory read in execution " + std::to_string(self.execution() + 1) + " for reshape " +
                 std::to_string(self.last_reshape) + ", written in execution " +
                 std::to_string(written_[word].first) + " for reshape " +
                 std::to_string(written_[word].second),
             "what was written for it");
    if (access.writes.empty()) return;
    if (!access.in_place) ++self.last_reshape;
    for (const std::size_t word : access.writes) written_[word] = {self.execution() + 1, self.last_reshape};
  }

  /// A part that its receiver reads where it is.
  void announce(int r, const CompactOp& op) {
    const Part& part = sent_part(r, op.peer, op);
    rank(op.peer).under_way(rank(r).execution(), part) = part.bytes;
    ++under_way_;
    ++report_.messages;
    report_.bytes_sent += part.bytes;
  }

  /// Whether all peers that exchange messages in these parts have posted the tile.
  bool have_posted(std::span<const Part> parts, std::size_t execution, const CompactOp& op) {
    return std::all_of(parts.begin(), parts.end(),
                       [&](const Part& p) { return p.put || rank(p.peer).posted(execution, op); });
  }

  bool post(int r, const CompactOp& op) {
    Rank& self = rank(r);
    if (!self.begun) {
      self.begun = true;
      self.posted(self.execution(), op) = true;
      for (const Part& p : self.sends(op)) send(r, p, op);
    }
    return !settings_.blocking_post || (have_posted(self.sends(op), self.execution(), op) &&
                                        have_posted(self.receives(op), self.execution(), op));
  }

  /// The part at its receiver that rank `r` sends, puts or announces there.
  const Part& sent_part(int r, int receiver, const CompactOp& op) {
    const Part* const part = rank(receiver).part_from(r, op);
    if (part == nullptr)
      fail(r, std::string(name_of(op.kind)) + " of a part to rank " + std::to_string(receiver),
           "one that its receiver expects");
    return *part;
  }

  void send(int r, const Part& p, const CompactOp& op) {
    Index& bytes = rank(p.peer).under_way(rank(r).execution(), sent_part(r, p.peer, op));
    if (bytes != Rank::nothing)
      fail(r, "a second message to rank " + std::to_string(p.peer), "one per peer and tile");
    bytes = p.bytes;
    ++under_way_;
    if (p.peer == r) return;
    report_.bytes_sent += p.bytes;
    ++report_.messages;
  }

  bool receive(int r, const CompactOp& op) {
    Rank& self = rank(r);
    if (!self.posted(self.execution(), op)) fail(r, "receive before post", "post first");
    for (const Part& p : self.receives(op))
      if (!p.put && self.under_way(self.execution(), p) == Rank::nothing) return false;
    for (const Part& p : self.receives(op))
      if (!p.put) take(p, r);
    return true;
  }

  bool await_full(int r, const CompactOp& op) {
    const Part& part = sent_part(op.peer, r, op);
    if (!rank(r).full(rank(r).execution(), part)) return false;
    if (rank(r).shares()) rank(r).last_reshape = std::max(rank(r).last_reshape, op.reshape);
    take(part, r);
    return true;
  }

  /// What has been sent has to be of the size that rank `r` expects.
  void take(const Part& part, int r) {
    Index& bytes = rank(r).under_way(rank(r).execution(), part);
    if (bytes != part.bytes)
      fail(r, "a message of rank " + std::to_string(part.peer) + " that does not match",
           "equal sizes on both sides");
    if (part.peer != r) report_.bytes_received += bytes;
    bytes = Rank::nothing;
    --under_way_;
  }

  void put(int r, const CompactOp& op) {
    Rank& receiver = rank(op.peer);
    const std::size_t execution = rank(r).execution();
    if (!receiver.freed(execution, op))
      fail(r, "a put into rank " + std::to_string(op.peer), "a tile that is free");
    const Part& part = sent_part(r, op.peer, op);
    if (op.first < part.room.first || op.last > part.room.last)
      fail(r, "a put outside the tile of rank " + std::to_string(op.peer), "addresses within it");
    Index& bytes = receiver.under_way(execution, part);
    if (bytes == Rank::nothing) {  // the first of possibly several puts of the part
      bytes = 0;
      ++under_way_;
      ++report_.messages;
    }
    bytes += op.bytes;
    report_.bytes_sent += op.bytes;
  }

  ReplaySettings settings_;
  std::vector<Rank> ranks_;
  Index under_way_ = 0;  ///< messages that have been sent and not been received
  /// Of the memory that all ranks share, per word: the execution, counted from 1, and the reshape for which
  /// it was written last.
  std::vector<std::pair<std::size_t, int>> written_;
  ReplayReport report_;
};

}  // namespace

std::vector<ReplayReport> replay(int ranks, const std::function<Program(int rank)>& program_of,
                                 const std::vector<ReplaySettings>& settings) {
  std::vector<CompactProgram> programs;
  for (int r = 0; r < ranks; ++r) programs.push_back(compact(program_of(r)));
  std::vector<ReplayReport> reports;
  for (const ReplaySettings& s : settings) reports.push_back(Replay(programs, s).run());
  return reports;
}

ReplayReport replay(int ranks, const std::function<Program(int rank)>& program_of,
                    const ReplaySettings& settings) {
  return replay(ranks, program_of, std::vector{settings}).front();
}

}  // namespace weft::test
