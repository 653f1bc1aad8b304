// The part of the replay that looks at one rank's memory: who may touch what, and when.
#include <algorithm>

#include "base/arithmetic.hpp"
#include "geometry/layout.hpp"
#include "support/replay.hpp"
#include "traffic/placement.hpp"
#include "weft/error.hpp"

namespace weft::test {

namespace {

/// A span of memory that an operation reads or writes, or that an exchange owns from one operation on until
/// others have completed.
struct Access {
  int op = 0;
  std::vector<int> until;  ///< empty: the operation itself
  bool writes = false;
  Span span{};
  const Operand* in = nullptr;  ///< with `box` and `origin`: to tell disjoint boxes within one layout
  const Box* box = nullptr;
  Index origin = 0;  ///< where global index 0 would lie
  int bytes = 0;     ///< of an element
};

class Checker {
 public:
  explicit Checker(const Program& p)
      : p_(p),
        words_((p.ops.size() + 63) / 64),
        planes_(std::ranges::any_of(p.reshapes, [](const auto& r) { return r.leg.planes() != nullptr; })) {
    before_.resize(p.ops.size() * words_, 0);
    for (const Op& op : p.ops)
      if (op.kind == OpKind::fft) last_fft_stage_ = std::max(last_fft_stage_, op.stage);
    for (std::size_t i = 0; i < p.ops.size(); ++i)
      for (int d = p.ops[i].deps_begin; d < p.ops[i].deps_end; ++d) {
        const int dep = p.deps[static_cast<std::size_t>(d)];
        if (dep >= static_cast<int>(i)) fail(static_cast<int>(i), "depends on a later operation");
        for (std::size_t w = 0; w < words_; ++w)
          before_[i * words_ + w] |= before_[static_cast<std::size_t>(dep) * words_ + w];
        before_[i * words_ + static_cast<std::size_t>(dep) / 64] |= std::uint64_t{1} << (dep % 64);
      }
  }

  Index run() {
    collect();
    std::erase_if(accesses_, [](const Access& a) { return a.span.first >= a.span.last; });
    std::sort(accesses_.begin(), accesses_.end(), [](const Access& a, const Access& b) {
      return std::tuple(a.span.space, a.span.first) < std::tuple(b.span.space, b.span.first);
    });
    Index pairs = 0;
    for (std::size_t i = 0; i < accesses_.size(); ++i)
      for (std::size_t j = i + 1; j < accesses_.size(); ++j) {
        const Access &a = accesses_[i], &b = accesses_[j];
        if (a.span.space != b.span.space || b.span.first >= a.span.last) break;
        if ((!a.writes && !b.writes) || disjoint(a, b)) continue;
        if (a.op == b.op) {
          if (p_.ops[static_cast<std::size_t>(a.op)].kind == OpKind::post)
            fail(a.op, "sends from where it receives");
          continue;
        }
        ++pairs;
        check_pair(a, b);
      }
    check_flags();
    check_tiles();
    return pairs;
  }

 private:
  [[noreturn]] void fail(int op, const std::string& what) const {
    throw Error("program",
                "operation " + std::to_string(op) + " (" +
                    name_of(p_.ops[static_cast<std::size_t>(op)].kind) + ") " + what,
                "operations ordered by their dependencies", p_.rank);
  }

  bool precedes(int a, int b) const {
    return (before_[static_cast<std::size_t>(b) * words_ + static_cast<std::size_t>(a) / 64] >> (a % 64) &
            1u) != 0;
  }

  /// What comes first: by stage, and within a reshape by phase. Operations of equal rank may come in either
  /// order.
  std::pair<int, int> rank_of(const Access& a) const {
    const Op& op = p_.ops[static_cast<std::size_t>(a.op)];
    switch (op.kind) {
      case OpKind::post:
        return {op.stage, a.writes ? 2 : 1};
      case OpKind::unpack:
        return {op.stage, 3};
      case OpKind::copy:
        return {op.stage, op.reshape >= 0 ? 4 : 0};
      default:
        return {op.stage, 0};
    }
  }

  void check_pair(const Access& a, const Access& b) const {
    const auto ra = rank_of(a), rb = rank_of(b);
    // Scratch memory is used again and again, and so is what all ranks share, in the order of its reshapes.
    const bool turns = takes_turns(a) && takes_turns(b) && intersect(*a.box, *b.box).empty();
    const bool either = ra == rb || a.span.space == Space::scratch || a.span.space == Space::shared || turns;
    const bool good = either ? ordered(a, b) || ordered(b, a) : ra < rb ? ordered(a, b) : ordered(b, a);
    if (!good)
      fail(std::max(a.op, b.op), "may touch the memory of operation " + std::to_string(std::min(a.op, b.op)) +
                                     " too early or at the same time");
    if (!turns || a.writes == b.writes) return;
    const Access &read = a.writes ? b : a, &write = a.writes ? a : b;
    if (ordered(read, write)) return;
    // What is read has to have come after the other part, or as the result of the FFT that destroys that.
    const bool made_since = std::ranges::any_of(accesses_, [&](const Access& made) {
      return made.writes && made.op != read.op && takes_turns(made) && made.span.first < read.span.last &&
             read.span.first < made.span.last && !intersect(*made.box, *read.box).empty() &&
             (write.op == made.op || ordered(write, made)) && ordered(made, read);
    });
    if (!made_since) fail(write.op, "overwrites what operation " + std::to_string(read.op) + " reads");
  }

  /// Whether memory is behind the halves, where what departs of a tile takes the place of another one's, or
  /// where the last pass puts tile after tile in order, in the half that the last reshape does not bring to.
  bool takes_turns(const Access& a) const {
    if (!planes_ || a.span.space != Space::work || a.box == nullptr) return false;
    const auto last = static_cast<int>(p_.reshapes.size()) - 1;
    const Index half = aligned(p_.largest_box_bytes);
    if (a.span.first >= (last > 0 ? 2 : 1) * half) return true;
    if (last == 0 || (a.span.first < half) != (last % 2 == 1)) return false;
    const Op& op = p_.ops[static_cast<std::size_t>(a.op)];
    const bool gathers = a.writes && (op.kind == OpKind::unpack || op.kind == OpKind::copy);
    return gathers ? op.reshape == last : op.kind == OpKind::fft && op.stage == last_fft_stage_;
  }

  /// Whether a is over before b begins.
  bool ordered(const Access& a, const Access& b) const {
    if (a.until.empty()) return precedes(a.op, b.op);
    if (is_posted_on_device(a.op)) return is_over_on_device(a.op, b.op);
    return std::all_of(a.until.begin(), a.until.end(),
                       [&](int end) { return end == b.op || precedes(end, b.op); });
  }

  bool is_posted_on_device(int id) const {
    const Op& op = p_.ops[static_cast<std::size_t>(id)];
    return op.kind == OpKind::post && reshape_of(op).leg.traits.by_device;
  }

  /// Devices carry one post after the other: one is over when another that follows it begins, and when one of
  /// these, or it, has been completed.
  bool is_over_on_device(int post, int next) const {
    const auto tells = [&](int id) {
      const Op& op = p_.ops[static_cast<std::size_t>(id)];
      if (is_posted_on_device(id)) return precedes(post, id);
      if (op.kind != OpKind::receive && op.kind != OpKind::wait_sent) return false;
      const std::vector<int> completed = find(op, OpKind::post);
      return completed.size() == 1 && is_posted_on_device(completed[0]) &&
             (completed[0] == post || precedes(post, completed[0]));
    };
    for (int id = 0; id < static_cast<int>(p_.ops.size()); ++id)
      if ((id == next || precedes(id, next)) && tells(id)) return true;
    return false;
  }

  /// Two parts of one strided box, whose spans may interleave without meeting. Rows of real numbers may lie
  /// in complex ones: then they are different rows.
  static bool disjoint(const Access& a, const Access& b) {
    if (a.box == nullptr || b.box == nullptr || a.origin != b.origin || !(a.in->cells == b.in->cells))
      return false;
    bool apart = false;
    for (int axis = 0; axis < a.box->ndim(); ++axis) {
      const Index mine = a.in->strides[axis], other = b.in->strides[axis];
      if (a.bytes != b.bytes && mine == 1 && other == 1) continue;
      if (mine * a.bytes != other * b.bytes) return false;
      apart = apart || a.box->hi[axis] <= b.box->lo[axis] || b.box->hi[axis] <= a.box->lo[axis];
    }
    return apart;
  }

  static Access access(int op, const Operand& o, const Shape& extents, int bytes, bool writes,
                       const Box& box) {
    Access a{op, {}, writes, span_of(o, extents, bytes), &o, &box, o.offset, bytes};
    for (int i = 0; i < box.ndim(); ++i) a.origin -= o.cells.elements_to(i, box.lo[i], o.strides[i]) * bytes;
    return a;
  }
  void add(int op, const Operand& o, const Shape& extents, int bytes, bool writes, const Box& box) {
    accesses_.push_back(access(op, o, extents, bytes, writes, box));
  }

  /// One side of a copy. The strides of coded rows are in bytes.
  void add_side(int op, const CopyCall& c, const Operand& o, const Span& span, bool coded, bool writes) {
    accesses_.push_back(access(op, o, c.box.extents(), coded ? 1 : c.element_bytes, writes, c.box));
    accesses_.back().span = span;
  }

  void collect() {
    for (std::size_t i = 0; i < p_.ops.size(); ++i) {
      const Op& op = p_.ops[i];
      const int id = static_cast<int>(i);
      if (op.kind == OpKind::fft) {
        const FftCall& f = p_.ffts[static_cast<std::size_t>(op.call)];
        add(id, f.from, f.from_box.extents(), f.from_bytes, f.may_destroy_input, f.from_box);
        add(id, f.to, f.to_box.extents(), f.to_bytes, true, f.to_box);
      } else if (op.call >= 0) {
        const CopyCall& c = p_.copies[static_cast<std::size_t>(op.call)];
        add_side(id, c, c.from, read_by(c), c.coded.codec && !c.coded.encodes, false);
        if (c.to_rank < 0) add_side(id, c, c.to, written_by(c), c.coded.codec && c.coded.encodes, true);
      } else if (op.kind == OpKind::post) {
        const TileMessages& m = messages(op);
        if (sends_boxes(op)) {
          own_boxes(id, m.from, false, find(op, OpKind::wait_sent));
          own_boxes(id, m.to, true, find(op, OpKind::receive));
        } else if (reshape_of(op).leg.traits.form == Form::padded) {
          const Index bytes = m.padded_parts * m.padded_bytes;
          own(id, {{-1, m.send_start, bytes}}, false, find(op, OpKind::wait_sent));
          own(id, {{-1, m.receive_start, bytes}}, true, find(op, OpKind::receive));
        } else {
          const std::vector<int> sent = find(op, OpKind::wait_sent), there = find(op, OpKind::receive);
          m.from.empty() ? own(id, m.sends, false, sent) : own_boxes(id, m.from, false, sent);
          m.to.empty() ? own(id, m.receives, true, there) : own_boxes(id, m.to, true, there);
        }
      }
    }
  }

  const ReshapeProgram& reshape_of(const Op& op) const {
    return p_.reshapes[static_cast<std::size_t>(op.reshape)];
  }
  bool sends_boxes(const Op& op) const { return reshape_of(op).leg.traits.form == Form::boxes; }

  /// What an exchange owns without packing: parts of strided boxes.
  void own_boxes(int op, const std::vector<StridedPart>& parts, bool writes, const std::vector<int>& until) {
    if (until.size() != 1) fail(op, "is completed by " + std::to_string(until.size()) + " operations");
    const int bytes = reshape_of(p_.ops[static_cast<std::size_t>(op)]).sent.element_bytes;
    for (const StridedPart& s : parts) {
      add(op, s.at, s.box.extents(), bytes, writes, s.box);
      accesses_.back().until = until;
    }
  }

  const TileMessages& messages(const Op& op) const {
    const ReshapeProgram& r = reshape_of(op);
    const bool stored = op.kind == OpKind::signal_free;
    return at(stored ? r.stored.tiles : r.sent.tiles, op.tile);
  }

  /// All operations of a kind in the tile of `op`.
  std::vector<int> find(const Op& op, OpKind kind) const {
    std::vector<int> found;
    for (std::size_t i = 0; i < p_.ops.size(); ++i)
      if (p_.ops[i].kind == kind && p_.ops[i].reshape == op.reshape && p_.ops[i].tile == op.tile)
        found.push_back(static_cast<int>(i));
    return found;
  }

  void own(int op, const std::vector<Message>& parts, bool writes, const std::vector<int>& until) {
    if (until.size() != 1) fail(op, "is completed by " + std::to_string(until.size()) + " operations");
    for (const Message& m : parts) accesses_.push_back(packed(op, until, m, writes));
  }
  static Access packed(int op, const std::vector<int>& until, const Message& m, bool writes) {
    return {op, until, writes, {Space::work, m.offset, m.offset + m.bytes}, nullptr, nullptr, 0};
  }

  /// Direct exchange: between signal_free and the last await_full the tile belongs to the peers; a put comes
  /// between await_free and signal_full of its peer.
  void check_flags() {
    for (std::size_t i = 0; i < p_.ops.size(); ++i) {
      const Op& op = p_.ops[i];
      const int id = static_cast<int>(i);
      if (op.kind == OpKind::put && op.peer != p_.rank) {
        check_one(id, find(op, OpKind::await_free), op.peer, true);
        check_one(id, find(op, OpKind::signal_full), op.peer, false);
      } else if (op.kind == OpKind::signal_free) {
        const std::vector<int> full = find(op, OpKind::await_full);
        for (int f : full)
          if (!precedes(id, f)) fail(f, "does not follow signal_free");
        std::size_t others = 0;
        for (const Message& m : messages(op).receives) others += m.peer != p_.rank ? 1 : 0;
        if (full.size() != others) fail(id, "has " + std::to_string(full.size()) + " await_full");
        if (p_.shared_bytes > 0) continue;  // nothing is stored in this rank's workspace
        if (messages(op).to.empty()) check_unpacks(op, id);
        landing_readers(id, op, full);
      }
    }
  }

  void check_one(int id, const std::vector<int>& candidates, int peer, bool first) const {
    int found = 0;
    for (int c : candidates) {
      if (p_.ops[static_cast<std::size_t>(c)].peer != peer) continue;
      ++found;
      if (!(first ? precedes(c, id) : precedes(id, c))) fail(id, "is not ordered with its flag");
    }
    if (found != 1) fail(id, "has " + std::to_string(found) + " flags of its peer");
  }

  /// Whoever touches what a tile of a direct reshape brings does so before it is freed or after all its parts
  /// arrived.
  void landing_readers(int free, const Op& op, const std::vector<int>& full) {
    std::vector<Access> tile;
    const TileMessages& m = messages(op);
    for (const StridedPart& s : m.to)
      tile.push_back(access(free, s.at, s.box.extents(), reshape_of(op).sent.element_bytes, true, s.box));
    for (const Message& part : m.receives)
      if (m.to.empty() && part.peer != p_.rank) tile.push_back(packed(free, {}, part, true));
    const auto meets = [](const Access& a, const Access& b) {
      return a.span.first < b.span.last && b.span.first < a.span.last && !disjoint(a, b);
    };
    for (const Access& a : accesses_) {
      if (a.span.space != Space::work ||
          std::none_of(tile.begin(), tile.end(), [&](const Access& part) { return meets(a, part); }))
        continue;
      // The rank's own part, and what other machines send, come beside those of peers.
      const OpKind kind = p_.ops[static_cast<std::size_t>(a.op)].kind;
      if (kind == OpKind::put || kind == OpKind::post) continue;
      if (a.op == free || precedes(a.op, free) || is_apart(a, op)) continue;
      for (int f : full)
        if (!precedes(f, a.op)) fail(a.op, "touches a tile that peers may still put");
    }
  }

  /// Whether a tile says where the parts of peers land, and an access has nothing of them.
  bool is_apart(const Access& a, const Op& tile) const {
    const std::vector<StridedPart>& parts = messages(tile).to;
    const int bytes = reshape_of(tile).sent.element_bytes;
    return !parts.empty() && std::all_of(parts.begin(), parts.end(), [&](const StridedPart& s) {
      return disjoint(a, access(-1, s.at, s.box.extents(), bytes, true, s.box));
    });
  }

  /// Every part that a tile sends is packed once, where its message is taken from.
  void check_packs(const Op& post, int id) const {
    std::vector<const CopyCall*> packs;
    for (const Op& op : p_.ops)
      if (op.kind == OpKind::pack && op.reshape == post.reshape && op.tile == post.tile)
        packs.push_back(&p_.copies[static_cast<std::size_t>(op.call)]);
    const std::vector<Message>& sends = messages(post).sends;
    const bool lies = !sends_boxes(post) && !messages(post).from.empty();
    if (lies && !packs.empty()) fail(id, "packs what is sent from where it lies");
    if (lies) return check_pieces(sends, messages(post).from, bytes_of(post), id);
    if (sends_boxes(post)) {
      check_boxes(messages(post), reshape_of(post).sent.element_bytes, id);
      Index packed = 0, sent = 0;
      for (const CopyCall* c : packs) packed += bytes_written(*c);
      for (const Message& m : sends) sent += m.bytes;
      // Planes keep what departs aside; the other pipelines leave it where it is.
      const bool aside = reshape_of(post).leg.planes() != nullptr;
      if (aside && packed != sent) fail(id, "sends other parts than were packed");
      if (!aside && !packs.empty()) fail(id, "packs what is sent from where it lies");
      return;
    }
    Index packed = 0, sent = 0;
    std::vector<Piece> pieces;
    for (const CopyCall* c : packs) {
      pieces.push_back({c->to.offset, bytes_written(*c)});
      packed += pieces.back().bytes;
    }
    for (const Message& m : sends) {
      sent += m.bytes;
      if (bytes_in(m, pieces) != m.bytes) fail(id, "sends something else than was packed");
    }
    if (packed != sent) fail(id, "sends other parts than were packed");
  }

  /// What an operation reads or writes of messages: where it begins, and how many bytes.
  struct Piece {
    Index offset, bytes;
  };
  /// Bytes of the pieces that lie in a message.
  static Index bytes_in(const Message& m, const std::vector<Piece>& pieces) {
    Index bytes = 0;
    for (const Piece& p : pieces)
      if (p.offset >= m.offset && p.offset < m.offset + m.bytes) bytes += p.bytes;
    return bytes;
  }

  int bytes_of(const Op& op) const { return reshape_of(op).sent.element_bytes; }

  /// Parts that are not packed are pieces of memory of the size of their messages.
  void check_pieces(const std::vector<Message>& parts, const std::vector<StridedPart>& boxes, int bytes,
                    int id) const {
    bool good = parts.size() == boxes.size();
    for (std::size_t i = 0; good && i < parts.size(); ++i) {
      const StridedPart& s = boxes[i];
      const Strides dense = dense_strides(s.box.extents(), s.order);
      good = s.box.count() * bytes == parts[i].bytes;
      for (int a = 0; a < s.box.ndim(); ++a)
        good = good && (s.box.extent(a) == 1 || s.at.strides[a] == dense[a]);
    }
    if (!good) fail(id, "sends or receives parts that are not in one piece");
  }

  void check_boxes(const TileMessages& m, int bytes, int id) const {
    const auto fit = [&](const std::vector<Message>& parts, const std::vector<StridedPart>& boxes) {
      bool good = parts.size() == boxes.size();
      for (std::size_t i = 0; good && i < parts.size(); ++i)
        good = boxes[i].box.count() * bytes == parts[i].bytes;
      return good;
    };
    if (!fit(m.sends, m.from) || !fit(m.receives, m.to)) fail(id, "sends or receives other boxes than parts");
  }

  /// Every part that a tile expects is unpacked once, with its full size.
  void check_tiles() {
    for (std::size_t i = 0; i < p_.ops.size(); ++i) {
      const Op& op = p_.ops[i];
      if (op.kind == OpKind::post) check_packs(op, static_cast<int>(i));
      if (op.kind != OpKind::receive) continue;
      const std::vector<Message>& parts = messages(op).receives;
      if (sends_boxes(op) && op.count == 0) continue;
      check_unpacks(op, static_cast<int>(i));
      if (op.count == 0) continue;
      if (op.count != static_cast<int>(parts.size()))
        fail(static_cast<int>(i), "counts other parts than it receives");
      for (std::size_t k = 0; k < parts.size(); ++k) {
        const Op& unpack = p_.ops[i + 1 + k];
        if (unpack.kind != OpKind::unpack || unpack.peer != parts[k].peer)
          fail(static_cast<int>(i), "is not followed by its unpacks");
      }
    }
  }

  /// Of those that are received in messages, or stored by peers: by copies; or, in planes, by FFTs of the
  /// next stage, which read nothing else where parts arrive packed.
  void check_unpacks(const Op& receive, int id) const {
    std::vector<Piece> unpacks;
    Index unpacked = 0, received = 0;
    const bool reads_packed = planes_ && receive.kind == OpKind::receive && messages(receive).to.empty();
    for (const Op& op : p_.ops) {
      if (op.kind == OpKind::unpack && op.reshape == receive.reshape && op.tile == receive.tile) {
        const CopyCall& c = p_.copies[static_cast<std::size_t>(op.call)];
        unpacks.push_back({c.from.offset, bytes_read(c)});
      } else if (reads_packed && op.kind == OpKind::fft && op.stage == receive.stage + 1) {
        const FftCall& f = p_.ffts[static_cast<std::size_t>(op.call)];
        const Piece piece{f.from.offset, f.from_box.count() * f.from_bytes};
        const bool is_of_tile = f.from.space == Space::work &&
                                std::ranges::any_of(messages(receive).receives, [&](const Message& m) {
                                  return bytes_in(m, {piece}) > 0;
                                });
        if (!is_of_tile) continue;
        unpacks.push_back(piece);
      } else {
        continue;
      }
      unpacked += unpacks.back().bytes;
    }
    if (!messages(receive).to.empty()) {
      if (!unpacks.empty()) fail(id, "is followed by unpacks of what has come where it belongs");
      return check_pieces(messages(receive).receives, messages(receive).to, bytes_of(receive), id);
    }
    for (const Message& m : messages(receive).receives) {
      if (receive.kind == OpKind::signal_free && m.peer == p_.rank) continue;
      received += m.bytes;
      if (bytes_in(m, unpacks) != m.bytes)
        fail(id, "is followed by unpacks of something else than its message");
    }
    if (unpacked != received) fail(id, "is followed by unpacks of something else than its messages");
  }

  const Program& p_;
  std::size_t words_;
  bool planes_;
  int last_fft_stage_ = -1;
  std::vector<std::uint64_t> before_;  ///< [op][bit]: transitive dependencies
  std::vector<Access> accesses_;
};

}  // namespace

Index check_program(const Program& program) {
  return Checker(program).run();
}

}  // namespace weft::test
