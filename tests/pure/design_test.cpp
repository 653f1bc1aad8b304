// Designs of machines that are not here: no ranks, no devices, no memory.
#include "design/design.hpp"
#include "kernels/lines/step.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "api/option_table.hpp"
#include "api/problem_check.hpp"
#include "api/tuning.hpp"
#include "design_json.hpp"
#include "program/diversions.hpp"
#include "support/design_of.hpp"
#include "support/expect_error.hpp"
#include "support/made_settings.hpp"
#include "support/says.hpp"
#include "support/scoped_variable.hpp"

namespace weft::test {

TEST(Wishes, AreParsedOnceAndKnowWhoChose) {
  const ScopedVariable window("WEFT_WINDOW", "3"), layout("WEFT_LAYOUT", "strided");
  const Options options = Options().set("tile", "16,8").set("exchange", "p2p,direct").set("budget", "2s");
  const Wishes w = wishes_of(options, {{"pipeline", "windowed"}}, Origin::wisdom);
  EXPECT_EQ(w.exchange.value, (std::vector<std::string>{"p2p", "direct"}));
  EXPECT_EQ(w.exchange.origin, Origin::option);
  EXPECT_EQ(w.budget.value, 2);
  EXPECT_EQ(w.layout.value, LayoutWish::strided);
  EXPECT_EQ(w.layout.origin, Origin::environment);
  EXPECT_EQ(w.pipeline.value, "windowed");
  EXPECT_TRUE(w.pipeline.learnt());
  EXPECT_EQ(w.effort.value, Effort::estimate);
  EXPECT_EQ(w.effort.origin, Origin::rule);
  EXPECT_EQ(w.parameters.at("tile").values, (std::vector<Index>{16, 8}));
  EXPECT_EQ(w.parameters.at("tile").origin, "option");
  EXPECT_EQ(w.parameters.at("window").origin, "environment");
  EXPECT_EQ(w.parameters.size(), 2u);
  EXPECT_FALSE(w.any_exchange());
  EXPECT_TRUE(wishes_of({}).any_exchange());
}

TEST(Wishes, OfTheProgramBeatTheEnvironmentAndWhatWasLearntBeatsBoth) {
  const ScopedVariable variable("WEFT_LAYOUT", "strided");
  const Options options = Options().set("layout", "contiguous");
  EXPECT_EQ(wishes_of(options).layout.value, LayoutWish::contiguous);
  const Wishes learnt = wishes_of(options, {{"layout", "strided"}}, Origin::trial);
  EXPECT_EQ(learnt.layout.value, LayoutWish::strided);
  EXPECT_EQ(learnt.layout.origin, Origin::trial);
}

TEST(Design, OfOneMachineStoresAndSendsPlanes) {
  const Design d = design_for(bricks_of_cube(128), processes(8, 8));
  for (const auto& legs : d.legs)
    for (const Leg& leg : legs) {
      EXPECT_EQ(leg.exchange, "direct");
      EXPECT_EQ(leg.pipeline, "planes");
    }
  EXPECT_FALSE(d.contiguous.value);
  EXPECT_EQ(d.contiguous.origin, Origin::rule);
  EXPECT_TRUE(d.memory.far.empty());
  EXPECT_TRUE(d.memory.may_not_share);
  EXPECT_EQ(d.plain_executions.value, std::nullopt);
}

TEST(Design, OfBoxesThatStayInTheCacheHasNoTiles) {
  Setting setting = processes(8, 8);
  setting.cache_bytes = {1 << 20};  // 64^3 on 8 ranks: 512 KiB before and behind each exchange
  EXPECT_EQ(first_leg(design_for(bricks_of_cube(64), setting)).pipeline, "shared");
  setting.cache_bytes = {(1 << 20) - 1};
  EXPECT_EQ(first_leg(design_for(bricks_of_cube(64), setting)).pipeline, "planes");
  EXPECT_EQ(first_leg(design_for(bricks_of_cube(16), setting, Options().set("tile", 2))).pipeline, "planes");
}

TEST(Design, WithoutRoomForSharedMemoryIsAnother) {
  Setting setting = processes(8, 8);
  setting.closed.sharing = "no room";
  const Design d = design_for(bricks_of_cube(64), setting);
  EXPECT_EQ(first_leg(d).exchange, "p2pw");
  EXPECT_EQ(first_leg(d).pipeline, "sequential");
}

TEST(Design, OfSeveralMachinesStoresWithinEachAndSendsBetween) {
  const Design d = design_for(bricks_of_cube(64), processes(8, 4));
  EXPECT_EQ(first_leg(d).exchange, "direct");
  EXPECT_EQ(first_leg(d).pipeline, "two-front");
  EXPECT_EQ(d.memory.far, "p2pw");
  EXPECT_EQ(d.program.nodes, (std::vector<int>{0, 0, 0, 0, 1, 1, 1, 1}));
  EXPECT_EQ(first_leg(design_for(bricks_of_cube(64), processes(8, 1))).exchange, "p2pw");
  const Design packed =
      design_for(bricks_of_cube(64), processes(8, 1), Options().set("pipeline", "windowed"));
  EXPECT_EQ(first_leg(packed).exchange, "p2p");
  EXPECT_TRUE(packed.contiguous.value);
}

TEST(Design, OfShortMessagesBetweenMachinesCutsNone) {
  const auto pipeline = [](Index n, const Setting& setting, const Options& options = {}) {
    return first_leg(design_for(bricks_of_cube(n), setting, options)).pipeline;
  };
  // On 8 ranks messages of 32 KiB, and of 256 KiB.
  EXPECT_EQ(pipeline(32, processes(8, 4)), "sequential");
  EXPECT_EQ(pipeline(64, processes(8, 4)), "two-front");
  EXPECT_EQ(pipeline(32, processes(8, 4), Options().set("tile", "2")), "two-front");
  EXPECT_EQ(pipeline(32, processes(8, 4), Options().set("pipeline", "th")), "th");
  EXPECT_EQ(first_leg(design_for(bricks_of_cube(32), processes(8, 4))).exchange, "p2p");
}

TEST(Design, OfTheShortestMessagesGathersThemForOtherMachines) {
  Setting setting = processes(8, 4);
  setting.offers.push_back(
      {"node", {.form = Form::boxes, .stores = true, .beside_stores = true, .gathers = true}, ""});
  const auto leg = [&](Index n) { return first_leg(design_for(bricks_of_cube(n), setting)); };
  EXPECT_EQ(leg(8).exchange, "node");  // messages of half a KiB
  EXPECT_EQ(leg(8).pipeline, "sequential");
  EXPECT_EQ(leg(8).exchange_reason.find("auto: short messages are gathered"), 0U) << leg(8).exchange_reason;
  EXPECT_EQ(leg(32).exchange, "p2p");
  setting.closed.sharing = "no room";
  EXPECT_EQ(leg(8).exchange, "p2p");
}

TEST(Design, HasHalfAsManyTilesWhereReceiversAskForThem) {
  Setting setting = processes(4, 1);
  setting.offers.push_back(
      {"ring", {.asked_for = true, .own_workspace = true, .by_name_only = true}, "", true});
  const auto tile = [&](const char* exchange) {
    const Design d = design_for(bricks_of_cube(128), setting, Options().set("exchange", exchange));
    EXPECT_EQ(first_leg(d).pipeline, "two-front") << exchange;
    return first_leg(d).tile;
  };
  EXPECT_EQ(tile("p2p"), 4);
  EXPECT_EQ(tile("ring"), 8);
}

TEST(Design, OfAHundredThousandRanksIsMadeHereAsAreItsPrograms) {
  const int ranks = 100000;
  const Design d = design_for(bricks_of_cube(4096), processes(ranks, 100));
  EXPECT_EQ(d.schedules[0].ranks, ranks);
  EXPECT_FALSE(d.legs[0].empty());
  EXPECT_EQ(d.memory.far, "p2pw");
  for (const int rank : {0, 54321, ranks - 1}) {
    const Program p = program_of(d, Direction::forward, rank);
    EXPECT_EQ(p.rank, rank);
    EXPECT_LE(p.largest_box_bytes, d.memory.largest_box);
    EXPECT_FALSE(p.ops.empty());
  }
}

TEST(Design, IsAValue) {
  const Design d = design_for(bricks_of_cube(64), processes(8, 4));
  EXPECT_EQ(d, design_for(bricks_of_cube(64), processes(8, 4)));
  EXPECT_NE(d, design_for(bricks_of_cube(65), processes(8, 4)));
  EXPECT_NE(d, design_for(bricks_of_cube(64), processes(8, 4), Options().set("layout", "contiguous")));
  const Design same_layout =
      design_for(bricks_of_cube(64), processes(8, 4), Options().set("layout", "strided"));
  EXPECT_NE(d, same_layout);  // chosen by somebody else
  EXPECT_EQ(d.legs, same_layout.legs);
}

TEST(Design, KnowsReasonsAndOrigins) {
  const ScopedVariable variable("WEFT_THREADS", "40");
  const Design d =
      design_for(bricks_of_cube(64), processes(8, 4), Options().set("layout", "contiguous").set("tile", 4));
  EXPECT_EQ(d.contiguous.origin, Origin::option);
  EXPECT_EQ(d.threads.value, 40);
  EXPECT_EQ(d.threads.origin, Origin::environment);
  const auto tile = find_parameter(first_leg(d), "tile");
  ASSERT_TRUE(tile);
  EXPECT_EQ(tile->value, 4);
  EXPECT_EQ(tile->origin, "option");
}

TEST(Design, IsWrittenAsJson) {
  const Design d = design_for(bricks_of_cube(64), processes(8, 4), Options().set("threads", 2));
  const auto j = bench::json_of(d);
  EXPECT_EQ(j["layout"]["value"], "strided");
  EXPECT_EQ(j["threads"]["value"], 2);
  EXPECT_EQ(j["threads"]["origin"], "option");
  EXPECT_EQ(j["memory"]["exchange_between_far_ranks"], "p2pw");
  EXPECT_EQ(j["forward"]["reshapes"].size(), d.legs[0].size());
  EXPECT_EQ(j["backward"]["stages"].size(), d.schedules[1].stages.size());
  EXPECT_EQ(j["forward"]["reshapes"][0]["pipeline"], first_leg(d).pipeline);
}

TEST(Design, SaysWhatTheErrorOfCodecsIsRelativeTo) {
  const Setting several = processes(8, 4);
  Problem p = bricks_of_cube(64);
  p.input = Distribution::slab(0);
  p.output = Distribution::slab(1);
  const auto coded = [&](const char* codec) { return design_for(p, several, Options().set("codec", codec)); };
  const auto error = [](const Design& d, Direction direction) { return codec_error(d, direction) * 2048; };
  using enum Direction;
  const Design whole = coded("fp16");
  EXPECT_FALSE(leaves_out(whole, forward) || leaves_out(whole, backward));
  EXPECT_FALSE(says(to_string(whole), "left out"));
  EXPECT_NEAR(codec_error_of_input(whole, forward) * 2048, std::pow(64, 1.5), 1);
  // Modes are left out behind the exchange along axis 0, before it along the others.
  p.modes = {64, 33, 33};
  EXPECT_FALSE(leaves_out(coded("fp16"), forward));
  p.modes = {33, 64, 64};
  const Design odd = coded("fp16");
  EXPECT_TRUE(leaves_out(odd, forward));
  EXPECT_FALSE(leaves_out(odd, backward));
  EXPECT_FALSE(leaves_out(coded("none"), forward));
  EXPECT_TRUE(
      says(to_string(odd), "4.9e-04 forward (of all modes, also those left out), 4.9e-04 backward\n"));
  EXPECT_NEAR(error(odd, forward), 1, 1e-3);
  // The last one of an even number is the sum of two. Backward it is spread over both, which enlarges the
  // errors that it shares with its neighbours.
  p.modes = {32, 64, 64};
  EXPECT_NEAR(error(coded("fp16"), forward), std::sqrt(2), 1e-3);
  EXPECT_NEAR(codec_error_of_input(coded("fp16"), forward) * 2048, std::sqrt(2) * std::pow(64, 1.5), 1);
  p.modes_nyquist = ModesNyquist::single;
  EXPECT_NEAR(error(coded("fp16"), forward), 1, 1e-3);
  p.modes_nyquist = ModesNyquist::shared;
  p.modes = {64, 32, 64};
  EXPECT_NEAR(error(coded("fp16"), backward), 1, 1e-3);
  EXPECT_NEAR(error(coded("zfp:19"), backward), std::sqrt(2), 1e-3);
  p.modes = {};
  p.points = {64, 40, 64};
  const Design padded = coded("fp16");
  EXPECT_FALSE(leaves_out(padded, forward));
  EXPECT_TRUE(leaves_out(padded, backward));
  EXPECT_TRUE(says(to_string(padded), "backward (of all points, also those left out)\n"));
}

TEST(Design, TakesTheShortestCodecThatKeepsATolerance) {
  const auto codecs = [](const Setting& setting, const Options& options, const Problem& problem) {
    const Design d = design_for(problem, setting, options);
    std::string names;
    for (const Leg& leg : d.legs[0]) names += to_string(leg.codec) + " ";
    return names;
  };
  const Setting several = processes(8, 4);
  Problem slabs = bricks_of_cube(64);
  slabs.input = Distribution::slab(0);
  slabs.output = Distribution::slab(1);
  for (const auto& [tolerance, codec] : {std::pair("0.1", "fp16 "),
                                         {"1e-3", "fp16 "},
                                         {"4e-4", "trim:12 "},
                                         {"1e-6", "fp32 "},
                                         {"1e-8", "trim:28 "},
                                         {"1e-13", "trim:44 "},
                                         {"4e-15", "none "}})
    EXPECT_EQ(codecs(several, Options().set("tolerance", tolerance), slabs), codec) << tolerance;
  // Errors of several exchanges add.
  const Design bricks = design_for(bricks_of_cube(64), several, Options().set("tolerance", "2e-3"));
  EXPECT_GT(bricks.legs[0].size(), 1u);
  for (const Direction d : {Direction::forward, Direction::backward}) {
    EXPECT_GT(codec_error(bricks, d), 0);
    EXPECT_LE(codec_error(bricks, d), 2e-3);
  }
  EXPECT_EQ(first_leg(bricks).exchange, "p2p");
  // Each exchange adds its error to what has those of the others: three of 2^-11 are more than 3 / 2048.
  const Design close = design_for(bricks_of_cube(64), several, Options().set("tolerance", "1.465e-3"));
  EXPECT_EQ(close.legs[0].size(), 3u);
  EXPECT_LE(codec_error(close, Direction::forward), 1.465e-3);
  // What is stored of a half spectrum may have half of the energy.
  Problem real = slabs;
  real.transforms = {Transform::c2c, Transform::c2c, Transform::r2c};
  const Design half = design_for(real, several, Options().set("codec", "fp16"));
  EXPECT_NEAR(codec_error(half, Direction::forward), std::sqrt(2) / 2048, 1e-6);
  EXPECT_NEAR(codec_error(half, Direction::backward), 1.0 / 2048, 1e-6);
  // DCTs and DSTs of which some amplitudes weigh more than others.
  Problem cosines = slabs;
  cosines.transforms = {Transform::dct1, Transform::dct2, Transform::dst4};
  cosines.element = Element::real;
  const Design walls = design_for(cosines, several, Options().set("codec", "fp32"));
  EXPECT_NEAR(codec_error(walls, Direction::forward) * (1 << 24), 2, 1e-6);  // axis 0 is left
  // Zfp, which may not be there, is taken only by its name.
  EXPECT_EQ(codecs(several, Options().set("tolerance", "1e-2").set("codec", "zfp:20"), slabs), "zfp:20 ");
  EXPECT_EQ(first_leg(design_for(slabs, several, Options().set("codec", "zfp:20"))).codec_reason,
            "as asked for: 20 of 64 bits, relative error at most 2.4e-04");
  expect_error([&] { design_for(slabs, gpus(4, 4), Options().set("codec", "zfp:20")); },
               "zfp:20 with arrays in memory of a GPU");
  const Options accuracy = Options().set("codec", "zfp-accuracy:21");
  EXPECT_EQ(first_leg(design_for(slabs, several, accuracy)).exchange, "p2p");
  EXPECT_EQ(first_leg(design_for(slabs, several, accuracy)).codec_reason,
            "as asked for: at most 4 of 8 bytes, relative error at most 1.9e-06");
  expect_error([&] { design_for(slabs, several, Options(accuracy).set("exchange", "alltoallv")); },
               "zfp-accuracy:21 with exchange alltoallv, which sends parts of a fixed length");
  expect_error([&] { design_for(slabs, gpus(4, 4), accuracy); },
               "zfp-accuracy:21 with arrays in memory of a GPU");
  // Shared memory is faster than codecs.
  EXPECT_EQ(codecs(processes(8, 8), Options().set("tolerance", "1e-3"), slabs), "none ");
  EXPECT_EQ(first_leg(design_for(slabs, processes(8, 8), Options().set("tolerance", "1e-3"))).exchange,
            "direct");
  EXPECT_EQ(codecs(gpus(4, 4), Options().set("tolerance", "1e-3"), slabs), "none ");
  Problem narrow = slabs;
  narrow.precision = Precision::float32;
  EXPECT_EQ(codecs(several, Options().set("tolerance", "1e-4"), narrow), "trim:15 ");
}

/// The words of printed plans for what rules choose; other tests look at the choices.
TEST(Design, IsExplainedInWords) {
  const Setting one = processes(8, 8), several = processes(8, 4);
  const auto text = [](const Setting& setting, const Options& options = {}, Index n = 64) {
    return to_string(design_for(bricks_of_cube(n), setting, options));
  };
  const std::string threads = text(several, Options().set("threads", 40));
  for (const char* line :
       {"decomposition auto: ",
        "\nforward reshape 1: exchange direct (auto: nothing is packed; p2pw between machines), pipeline "
        "two-front along axis ",
        "\nlayout strided (auto: nothing is packed)\n",
        "\nthreads 40 per rank, over-subscribed: 4 ranks of 40 threads on a machine that has 64\n"})
    EXPECT_TRUE(says(threads, line));
  const auto exchange = [](const Setting& setting, const Options& options = {}, Index n = 64) {
    return first_leg(design_for(bricks_of_cube(n), setting, options)).exchange_reason;
  };
  Setting full = one;
  full.closed.sharing = "no room";
  EXPECT_EQ(exchange(one), "auto: nothing is packed");
  EXPECT_EQ(exchange(full), "auto: nothing is packed; not direct: no room");
  EXPECT_EQ(exchange(processes(8, 1), Options().set("pipeline", "windowed")),
            "auto: it moves on while these ranks compute");
  EXPECT_EQ(exchange(one, Options().set("exchange", "p2p")), "as asked for");
  const std::string pinned =
      "; through pinned memory (p2p) between ranks 0-1 and 2-3: two halves; puts are kernels";
  EXPECT_EQ(exchange(gpus(4, 2)), "auto: nothing is packed" + pinned);
  EXPECT_EQ(exchange(gpus(4, 2), Options().set("exchange", "direct")), "as asked for" + pinned);
  EXPECT_EQ(exchange(gpus(4, 4), Options().set("exchange", "p2p")), "as asked for; through pinned memory");
  Setting apart = gpus(4, 2);
  apart.devices->islands =
      islands_of(apart.nodes, [](int a, int b) { return a == b || std::pair(a, b) == std::pair(1, 2); });
  EXPECT_TRUE(says(exchange(apart), " between ranks 0 and 1-2 and 3: two halves"));
  Setting lean = gpus(4, 4);
  lean.closed.roomy = "two-front leaves too little memory";
  EXPECT_TRUE(first_leg(design_for(bricks_of_cube(1024), lean))
                  .reason.ends_with("; two-front leaves too little memory"));
  Setting of_threads = gpus(4, 4);
  of_threads.threads = true;
  Setting uncaptured = of_threads;
  uncaptured.devices->captures_flags = false;
  for (const auto& [reason, setting, options, n] :
       {std::tuple("on (auto: small boxes; recorded once the same arrays are given again)", gpus(4, 4),
                   Options(), 64),
        {"off (auto: copy engines that write to the memory of other processes)", gpus(4, 4), Options(), 512},
        {"off (auto: ranks that do not reach each other)", gpus(4, 2), Options(), 64},
        {"off (auto: exchange p2p)", gpus(4, 4), Options().set("exchange", "p2p"), 64},
        {"off (auto: the GPU takes longer than the host that starts its work)", of_threads, Options(), 1024},
        {"on (auto: small boxes; recorded once the same arrays are given again)", of_threads, Options(), 64},
        {"off (auto: devices whose flags graphs do not capture)", uncaptured, Options(), 64},
        {"on (as asked for)", of_threads, Options().set("graph", "on"), 64},
        {"off (as asked for)", of_threads, Options().set("graph", "off"), 64}})
    EXPECT_TRUE(says(text(setting, options, n), std::string("\ngraph ") + reason + "\n"));
  EXPECT_TRUE(says(text(one, Options().set("exchange", "p2p")),
                   "\nlayout contiguous (auto: unpacking makes lines contiguous)\n"));
  EXPECT_TRUE(says(text(one, Options().set("layout", "strided")), "\nlayout strided (as asked for)\n"));
  EXPECT_TRUE(says(text(several, Options().set("codec", "fp32")),
                   ", codec fp32 (as asked for: 4 of 8 bytes, relative error at most 6.0e-08), pipeline "));
  EXPECT_TRUE(says(text(one, Options().set("codec", "fp32")),
                   "exchange direct (auto: nothing is packed), codec fp32 "));
  EXPECT_TRUE(says(text(several, Options().set("tolerance", "4e-15")),
                   ", codec none (tolerance: no codec has so small an error), pipeline "));
  EXPECT_TRUE(says(text(one, Options().set("tolerance", "1e-6")),
                   ", codec none (tolerance: exact, as nothing is packed for this exchange), pipeline "));
}

TEST(Design, RefusesWhatCannotBe) {
  const Setting one = processes(8, 8);
  const auto refuses = [&](const Options& options, const std::string& text, const Setting& setting) {
    expect_error([&] { design_for(bricks_of_cube(64), setting, options); }, text);
  };
  refuses(Options().set("exchange", "nccl"), "\"nccl\" with arrays on the host", one);
  refuses(Options().set("exchange", "direct").set("workspace", "user"), "with workspace given by the user",
          one);
  refuses(Options().set("exchange", "p2p,p2p,p2p,p2p,p2p,p2p,p2p"), "7 exchanges", one);
  refuses(Options().set("puts", "kernel"), "kernel with arrays on the host", one);
  refuses(Options().set("staging", "off"), "off with arrays on the host", one);
  refuses(Options().set("graph", "on"), "on with arrays on the host", one);
  refuses(Options().set("threads", 2), "2 with arrays in memory of a GPU", gpus(4, 4));
  refuses(Options().set("shrink", 9), "1 to 8", one);
  refuses(Options().set("codec", "fp32").set("exchange", "p2pw"), "fp32 with exchange p2pw", one);
  refuses(Options().set("codec", "fp32").set("exchange", "direct"),
          "fp32 with exchange direct among ranks some of which do not reach", processes(8, 4));
  refuses(Options().set("codec", "fp32").set("exchange", "direct"), "fp32 with exchange direct", gpus(4, 2));
  refuses(Options().set("codec", "fp32,none,none,none,none,none,none"), "7 codecs", one);
  refuses(Options().set("codec", "zfp:16"), "zfp:16 with arrays in memory of a GPU", gpus(4, 4));
  refuses(Options().set("tolerance", "1e-15"), "at least 1.9e-15", processes(8, 4));
  refuses(Options().set("tolerance", "1e-6").set("codec", "fp16"), "at most the tolerance of 1.0e-06", one);
  refuses(Options().set("grid", "3x3"), "two factors of 8", one);
  refuses(Options().set("exchange", "direct,nvshmem"),
          "nvshmem beside direct; expected one exchange that lays", gpus(4, 4));
  refuses(Options().set("exchange", "nvshmem").set("workspace", "user"), "with workspace given by the user",
          gpus(4, 4));
  Setting broken = gpus(4, 4);
  for (Offer& offer : broken.offers)
    if (offer.name == "nccl") offer.missing = "no such library";
  refuses(Options().set("exchange", "nccl"), "\"nccl\": no such library", broken);
}

}  // namespace weft::test
