// Both reshapes of a transform land in the halves of one workspace in turn, and FFTs put without waiting for
// room: ranks take their steps in any order, and what they read is tagged.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "design/design.hpp"
#include "program/diversions.hpp"
#include "program/stream_plan.hpp"
#include "support/design_of.hpp"
#include "support/made_settings.hpp"
#include "traffic/placement.hpp"

namespace weft::test {

namespace {

constexpr Index element_bytes = 16;

/// Calls `run` with the number of every element of a box.
template <class Run>
void for_each_element(const Operand& o, const Box& box, const Run& run) {
  const auto visit = [&](const auto& self, int axis, Index at) -> void {
    if (axis == box.ndim()) return run(at);
    for (Index i = 0; i < box.extent(axis); ++i) self(self, axis + 1, at + i * o.strides[axis]);
  };
  visit(visit, 0, o.offset / element_bytes);
}

/// The programs of one rank, and where it is in them.
struct Rank {
  std::vector<Program> programs;  ///< by direction
  std::vector<StreamPlan> plans;
  std::vector<std::map<int, const Diversion::Part*>> parts;  ///< per direction, by the FFT
  std::vector<std::map<int, int>> reshapes;                  ///< the same: for which
  std::vector<std::vector<Diversion>> diversions;
  std::vector<int> memory;                  ///< tags: 2 times the execution, plus the reshape, plus 2
  std::map<std::pair<int, int>, int> full;  ///< by reshape and sender: the newest execution that was told
  int execution = 0;
  std::size_t position = 0, within = 0;
};

class Ranks {
 public:
  Ranks(std::vector<Rank> ranks, std::uint64_t seed) : ranks_(std::move(ranks)), random_(seed) {
    for (Rank& r : ranks_) {
      for (const Program& p : r.programs) {
        r.plans.push_back(plan_streams(p, 2));
        r.diversions.push_back(diversions(p, Diverted::puts));
      }
      for (const std::vector<Diversion>& all : r.diversions) {
        r.parts.emplace_back();
        r.reshapes.emplace_back();
        for (const Diversion& d : all)
          for (const Diversion::Part& part : d.parts) {
            r.parts.back()[part.op] = &part;
            r.reshapes.back()[part.op] = d.reshape;
          }
      }
      r.memory.assign(static_cast<std::size_t>(r.programs[0].workspace_bytes / element_bytes), 0);
    }
    for (int e = 0; e < executions; ++e) directions_.push_back(random_() % r_count());
  }

  /// What went wrong; empty: nothing.
  std::string run() {
    for (std::size_t idle = 0; idle < 1000 * ranks_.size();) {
      Rank& r = ranks_[random_() % ranks_.size()];
      if (r.execution == executions) {
        ++idle;
        continue;
      }
      idle = step(r) ? 0 : idle + 1;
      if (!wrong_.empty()) return wrong_;
    }
    for (const Rank& r : ranks_)
      if (r.execution < executions) return "a rank that waits for ever";
    return "";
  }

 private:
  static constexpr int executions = 5;

  std::size_t r_count() const { return ranks_[0].programs.size(); }

  /// Whether the rank has done anything.
  bool step(Rank& r) {
    const std::size_t d = directions_[static_cast<std::size_t>(r.execution)];
    const Program& p = r.programs[d];
    const std::vector<int>& order = r.plans[d].order;
    if (r.position == order.size()) {
      r.position = 0;
      ++r.execution;
      return true;
    }
    const int id = order[r.position];
    const Op& op = p.ops[static_cast<std::size_t>(id)];
    if (op.kind == OpKind::await_full) {
      const int told = r.full.contains({op.reshape, op.peer}) ? r.full.at({op.reshape, op.peer}) : -1;
      if (told > r.execution) wrong_ = "a flag that is raised again before it was seen";
      if (told < r.execution) return false;
    }
    if (op.kind == OpKind::signal_full)
      ranks_[static_cast<std::size_t>(op.peer)].full[{op.reshape, p.rank}] = r.execution;
    if (op.kind == OpKind::signal_free || op.kind == OpKind::await_free) wrong_ = "waits for room";
    if (op.kind == OpKind::fft && !transform(r, d, id)) return true;
    ++r.position;
    r.within = 0;
    return true;
  }

  /// A part of what an FFT does: it reads all, one half after the other, and stores piece after piece.
  /// Whether that was the last part.
  bool transform(Rank& r, std::size_t d, int id) {
    const Program& p = r.programs[d];
    const FftCall& f = p.ffts[static_cast<std::size_t>(p.ops[static_cast<std::size_t>(id)].call)];
    const auto found = r.parts[d].find(id);
    const bool diverts = found != r.parts[d].end();
    const int reshape = diverts ? r.reshapes[d].at(id) : static_cast<int>(p.reshapes.size());
    const auto tag = [&](int j) { return 2 * r.execution + j + 2; };
    const std::size_t pieces = diverts ? found->second->pieces.size() : 0;
    // Pieces are stored while the rest is read.
    if (r.within < 2 && f.from.space == Space::work) {
      Index count = 0;
      const Index half = f.from_box.count() / 2;
      for_each_element(f.from, f.from_box, [&](Index at) {
        const bool mine = (count++ < half) == (r.within == 0);
        if (mine && r.memory[static_cast<std::size_t>(at)] != tag(reshape - 1))
          wrong_ = "reads what is not there";
      });
    }
    if (r.within >= 1 && r.within <= pieces) {
      const Diversion::Piece& piece = found->second->pieces[r.within - 1];
      Rank& to = piece.to_rank < 0 ? r : ranks_[static_cast<std::size_t>(piece.to_rank)];
      for_each_element(piece.to, piece.box,
                       [&](Index at) { to.memory[static_cast<std::size_t>(at)] = tag(reshape); });
    }
    return ++r.within > std::max<std::size_t>(2, pieces);
  }

  std::vector<Rank> ranks_;
  std::mt19937_64 random_;
  std::vector<std::size_t> directions_;
  std::string wrong_;
};

std::vector<Rank> ranks_of(const Design& design) {
  std::vector<Rank> ranks;
  for (int r = 0; r < design.schedules[0].ranks; ++r) {
    Rank& rank = ranks.emplace_back();
    for (const Direction d : {Direction::forward, Direction::backward})
      rank.programs.push_back(program_of(design, d, r));
  }
  return ranks;
}

bool all_find_room(const std::vector<Rank>& ranks) {
  return std::ranges::all_of(ranks, [](const Rank& r) {
    return std::ranges::all_of(r.programs, [&](const Program& p) {
      return std::ranges::all_of(r.programs, [&](const Program& q) { return finds_room_in_turn(p, q); });
    });
  });
}

std::string first_wrong(const std::vector<Rank>& ranks) {
  for (std::uint64_t seed = 1; seed <= 200; ++seed)
    if (std::string wrong = Ranks(ranks, seed).run(); !wrong.empty()) return wrong;
  return "";
}

Problem slabs_of(const Shape& shape) {
  Problem p = bricks_of_cube(1);
  p.shape = shape;
  p.input = p.output = Distribution::slab(0);
  return p;
}

}  // namespace

TEST(InTurn, NoRankReadsWhatIsNotThere) {
  for (const int ranks : {2, 3, 4}) {
    const Index n = ranks == 3 ? 6 : 4;
    for (const bool in_place : {false, true}) {
      Problem p = slabs_of({n, n, 8});
      p.in_place = in_place;
      const Design d = design_for(p, gpus(ranks, ranks));
      ASSERT_TRUE(lands_in_turn(d)) << to_string(d);
      const std::vector<Rank> made = ranks_of(d);
      EXPECT_TRUE(all_find_room(made));
      for (const Rank& r : made)
        for (const Program& program : r.programs) {
          EXPECT_EQ(diversions(program, Diverted::puts).size(), 2U);
          EXPECT_EQ(program.workspace_bytes, 2 * aligned(program.largest_box_bytes));
        }
      EXPECT_EQ(first_wrong(made), "");
    }
  }
}

/// The test notices landing in one place, and peers that have not been heard of.
TEST(InTurn, RanksWouldOverrunEachOther) {
  Design d = design_for(slabs_of({4, 4, 8}), gpus(2, 2));
  for (std::vector<Leg>& legs : d.legs)
    for (Leg& leg : legs) std::get<Windowed>(leg.cut).in_turn = false;
  EXPECT_FALSE(all_find_room(ranks_of(d)));
  EXPECT_NE(first_wrong(ranks_of(d)), "");

  Problem p = bricks_of_cube(1);
  p.shape = {4, 4, 4, 2};
  p.transforms = AxisVector<Transform>(4, Transform::c2c);
  p.input = Distribution::grid({2, 2, 1, 1});
  p.output = Distribution::grid({1, 2, 2, 1});
  Design among_pairs = design_for(p, gpus(4, 4), Options().set("decomposition", "pencil"));
  EXPECT_FALSE(lands_in_turn(among_pairs)) << "the rule knows";
  among_pairs.legs = design_for(slabs_of({4, 4, 8}), gpus(4, 4)).legs;
  for (Schedule& s : among_pairs.schedules) ASSERT_TRUE(transform_what_is_cut(s));
  EXPECT_FALSE(all_find_room(ranks_of(among_pairs)));
  EXPECT_NE(first_wrong(ranks_of(among_pairs)), "");
}

}  // namespace weft::test
