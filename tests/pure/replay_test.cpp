// Programs spoiled on purpose, to see that their check and the replay notice.
#include <gtest/gtest.h>

#include <algorithm>

#include "support/built.hpp"
#include "support/expect_error.hpp"
#include "support/replay.hpp"

namespace weft::test {

TEST(Replay, NoticesWhatIsWrong) {
  const Schedule s = schedule_of({12, 12, 12}, 3, Distribution::slab(0), Distribution::slab(1));
  const auto position = [](const Program& p, OpKind kind) {
    return std::find_if(p.ops.begin(), p.ops.end(), [&](const Op& op) { return op.kind == kind; }) -
           p.ops.begin();
  };
  const Built buffered = setup(s, "windowed", {{"tile", 3}, {"window", 1}}, traits::dense);
  const Built direct = setup(s, "windowed", {{"tile", 3}, {"window", 1}}, traits::stores);
  const auto spoiled = [&](const Built& made, auto change) {
    return replay(3,
                  [&](int r) {
                    Program p = made.program(r);
                    if (r == 1) change(p);
                    return p;
                  },
                  {3, false, 2});
  };
  const auto drop = [&](OpKind kind) {
    return [&, kind](Program& p) { p.ops.erase(p.ops.begin() + position(p, kind)); };
  };
  EXPECT_NO_THROW(spoiled(buffered, [](Program&) {}));
  expect_error([&] { spoiled(buffered, drop(OpKind::post)); }, "replay");
  expect_error([&] { spoiled(buffered, drop(OpKind::receive)); }, "never received");
  expect_error(
      [&] { spoiled(buffered, [](Program& p) { p.reshapes[0].sent.tiles[1].sends[0].bytes -= 16; }); },
      "equal sizes");
  const auto first_tile = [](Program& p) -> TileMessages& { return p.reshapes[0].sent.tiles[0]; };
  expect_error(
      [&] {
        spoiled(buffered, [&](Program& p) { first_tile(p).receives.erase(first_tile(p).receives.begin()); });
      },
      "that its receiver expects");
  expect_error([&] { spoiled(buffered, [&](Program& p) { first_tile(p).receives[0].peer = 2; }); },
               "two parts of one tile from rank 2");
  expect_error([&] { spoiled(buffered, [&](Program& p) { first_tile(p).sends[0].peer = 2; }); },
               "a second message to rank 2");
  expect_error(
      [&] {
        spoiled(buffered,
                [&](Program& p) { p.ops[static_cast<std::size_t>(position(p, OpKind::receive))].tile = 99; });
      },
      "a tile that is there");
  const Built planes = setup(s, "planes", {{"tile", 3}, {"subtile", 1}}, traits::stores);
  for (const Built* made : {&direct, &planes}) {
    expect_error([&] { spoiled(*made, drop(OpKind::signal_free)); }, "never ends");
    expect_error([&] { spoiled(*made, drop(OpKind::signal_full)); }, "never ends");
    expect_error([&] { spoiled(*made, drop(OpKind::put)); }, "");
    expect_error(
        [&] {
          spoiled(*made, [&](Program& p) {
            for (CopyCall& c : p.copies)
              if (c.to_rank >= 0) c.to.offset += 1 << 20;
          });
        },
        "outside the tile");
  }

  const auto without_deps = [&](const Built& made, OpKind kind) {
    Program p = made.program(1);
    Op& op = p.ops[static_cast<std::size_t>(position(p, kind))];
    op.deps_end = op.deps_begin;
    check_program(p);
  };
  EXPECT_NO_THROW(check_program(buffered.program(1)));
  for (OpKind kind : {OpKind::pack, OpKind::post, OpKind::unpack})
    expect_error([&] { without_deps(buffered, kind); }, "at the same time");
  EXPECT_NO_THROW(check_program(planes.program(1)));
  for (const Built* made : {&direct, &planes}) {
    expect_error([&] { without_deps(*made, OpKind::put); }, "operation");
    expect_error([&] { without_deps(*made, OpKind::signal_full); }, "operation");
  }
  expect_error([&] { without_deps(direct, OpKind::await_full); }, "signal_free");
  // An unpack that does not wait for the tile's sends would overwrite them.
  expect_error(
      [&] {
        Program p = buffered.program(1);
        const auto sent = static_cast<int>(position(p, OpKind::wait_sent));
        for (int& d : p.deps)
          if (d == sent) d = 0;
        check_program(p);
      },
      "at the same time");
}

TEST(Replay, NoticesWhatIsWrongInMemoryThatRanksShare) {
  const auto slab = [](int a) { return Distribution::slab(a); };
  const Built once = setup(schedule_of({8, 9, 10}, 3, slab(0), slab(1)), "shared", {}, traits::stores);
  const Built often = setup(schedule_of({8, 9, 10}, 12, Distribution::brick(), Distribution::brick()),
                            "shared", {}, traits::stores);
  ASSERT_EQ(once.choices.size(), 1U);
  ASSERT_GT(often.choices.size(), 2U);
  const auto without = [](const Built& made, OpKind kind, int reshape) {
    for (std::uint64_t seed = 1; seed <= 200; ++seed)
      replay(made.schedule.ranks,
             [&](int r) {
               Program p = made.program(r);
               std::erase_if(
                   p.ops, [&](const Op& op) { return r == 1 && op.kind == kind && op.reshape == reshape; });
               return p;
             },
             {seed, false, 3});
  };
  EXPECT_NO_THROW(without(often, OpKind::unpack, 0));
  expect_error([&] { without(once, OpKind::await_free, 0); }, "shared memory read");
  expect_error([&] { without(often, OpKind::await_free, 2); }, "shared memory read");
  expect_error([&] { without(often, OpKind::await_full, 1); }, "");
  expect_error([&] { without(often, OpKind::signal_full, 1); }, "never ends");
  expect_error([&] { without(often, OpKind::signal_free, 0); }, "never ends");
}

TEST(Replay, NoticesDataThatComesTooLateOrNotAtAll) {
  const Schedule s = schedule_of({12, 12, 12}, 3, Distribution::slab(0), Distribution::slab(1));
  const Built built = setup(s, "windowed", {{"tile", 3}, {"window", 1}}, traits::dense);
  // An FFT before its tile has been unpacked, with the unpacks ordered behind it.
  Program early = built.program(1);
  int fft = -1, first_unpack = -1;
  for (std::size_t i = 0; i < early.ops.size() && fft < 0; ++i) {
    if (early.ops[i].kind == OpKind::unpack && first_unpack < 0) first_unpack = static_cast<int>(i);
    if (early.ops[i].kind == OpKind::fft && early.ops[i].stage == 2) fft = static_cast<int>(i);
  }
  ASSERT_GT(fft, first_unpack);
  std::swap(early.ops[static_cast<std::size_t>(fft)], early.ops[static_cast<std::size_t>(first_unpack)]);
  Op& moved = early.ops[static_cast<std::size_t>(first_unpack)];
  moved.deps_end = moved.deps_begin;
  Op& late = early.ops[static_cast<std::size_t>(fft)];
  std::vector<int> deps(early.deps.begin() + late.deps_begin, early.deps.begin() + late.deps_end);
  deps.push_back(first_unpack);
  late.deps_begin = static_cast<int>(early.deps.size());
  early.deps.insert(early.deps.end(), deps.begin(), deps.end());
  late.deps_end = static_cast<int>(early.deps.size());
  expect_error([&] { check_program(early); }, "too early");
  // A part that is sent without having been packed.
  Program empty = built.program(1);
  for (CopyCall& c : empty.copies)
    if (c.to_rank < 0 && c.to.offset == empty.reshapes[0].sent.tiles[0].sends[0].offset) c.box.hi = c.box.lo;
  expect_error([&] { check_program(empty); }, "than was packed");
}

}  // namespace weft::test
