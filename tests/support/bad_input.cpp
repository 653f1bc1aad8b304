#include "support/bad_input.hpp"

#include <limits>

#include "fft/local_fft.hpp"
#include "weft/plan.hpp"

namespace weft::test {

namespace {

Problem cube(Index n = 24) {
  Problem p;
  p.shape = {n, n, n};
  p.output = Distribution::slab(1);
  return p;
}

/// Slabs along axis 0 of a 24 x 24 x 24 array, to be spoiled.
std::vector<Box> slabs(int ranks) {
  std::vector<Box> boxes;
  for (int r = 0; r < ranks; ++r) boxes.push_back({{24 * r / ranks, 0, 0}, {24 * (r + 1) / ranks, 24, 24}});
  return boxes;
}

Problem with_boxes(std::vector<Box> boxes) {
  Problem p = cube();
  p.input = Distribution::boxes(std::move(boxes));
  return p;
}

std::vector<BadInput> planning() {
  const auto plan = [](const Comm& c, const Problem& p, const Options& o = {}) { Plan made(c, p, o); };
  return {
      {"overlapping boxes", "both hold", 2,
       [=](const Comm& c) {
         auto b = slabs(c.size());
         b[1].lo[0] = 0;
         plan(c, with_boxes(b));
       }},
      {"a hole", "points of 24x24x24", 1,
       [=](const Comm& c) {
         auto b = slabs(c.size());
         b[0].hi[2] = 23;
         plan(c, with_boxes(b));
       }},
      {"a box outside the array", "inside the array", 1,
       [=](const Comm& c) {
         auto b = slabs(c.size());
         b.back().hi[1] = 25;
         plan(c, with_boxes(b));
       }},
      {"own boxes that overlap", "both hold", 2,
       [=](const Comm& c) {
         Problem p = cube();
         p.input = Distribution::box(Box::whole(p.shape));
         plan(c, p);
       }},
      {"another shape on one rank", "shape 24x24x24 as on rank 0", 2,
       [=](const Comm& c) { plan(c, c.rank() == c.size() - 1 ? cube(23) : cube()); }},
      {"another option on one rank", "option tile 3; expected option tile 2 as on rank 0", 2,
       [=](const Comm& c) { plan(c, cube(), Options().set("tile", c.rank() == 1 ? 3 : 2)); }},
      {"a zero extent", "at least 1 point along every axis", 1,
       [=](const Comm& c) {
         Problem p = cube();
         p.shape = {8, 0, 8};
         plan(c, p);
       }},
      {"a negative extent", "at least 1 point along every axis", 1,
       [=](const Comm& c) {
         Problem p = cube();
         p.shape = {8, -8, 8};
         plan(c, p);
       }},
      {"an array too large to count", "63 bits", 1,
       [=](const Comm& c) {
         Problem p = cube();
         p.shape = {Index{1} << 30, Index{1} << 30, Index{1} << 30};
         plan(c, p);
       }},
      {"boxes with inclusive corners", "they tile the array with inclusive corners", 1,
       [=](const Comm& c) {
         auto b = slabs(c.size());
         for (Box& box : b)
           for (int a = 0; a < 3; ++a) --box.hi[a];
         plan(c, with_boxes(b));
       }},
      {"own boxes with inclusive corners, in an r2c output", "they tile the array with inclusive corners", 2,
       [=](const Comm& c) {
         Problem p = cube();
         p.transforms = {Transform::c2c, Transform::c2c, Transform::r2c};
         Box mine = slabs(c.size())[static_cast<std::size_t>(c.rank())];
         mine.hi = {mine.hi[0] - 1, 23, 12};
         p.output = Distribution::box(mine);
         plan(c, p);
       }},
      {"too many boxes", "one per rank", 1,
       [=](const Comm& c) {
         auto b = slabs(c.size());
         b.push_back({{0, 0, 0}, {0, 0, 0}});
         plan(c, with_boxes(b));
       }},
      {"too few boxes", "one per rank", 2,
       [=](const Comm& c) {
         auto b = slabs(c.size());
         b.pop_back();
         plan(c, with_boxes(b));
       }},
      {"r2c boxes of the wrong half-length", "24/2+1 = 13 points", 1,
       [=](const Comm& c) {
         Problem p = cube();
         p.transforms = {Transform::c2c, Transform::c2c, Transform::r2c};
         p.output = Distribution::boxes(slabs(c.size()));
         plan(c, p);
       }},
      {"two r2c axes", "at most one axis", 1,
       [=](const Comm& c) {
         Problem p = cube();
         p.transforms = {Transform::r2c, Transform::c2c, Transform::r2c};
         plan(c, p);
       }},
      {"arrays too many to count", "plan: batch", 1,
       [=](const Comm& c) {
         Problem p = cube();
         p.batch = std::numeric_limits<Index>::max() - 1;
         plan(c, p);
       }},
      {"a batch that makes arrays too large to count", "plan: batch", 1,
       [=](const Comm& c) {
         Problem p = cube();
         p.batch = Index{1} << 50;
         plan(c, p);
       }},
      {"too few transforms", "one per axis", 1,
       [=](const Comm& c) {
         Problem p = cube();
         p.transforms = {Transform::c2c};
         plan(c, p);
       }},
      {"a memory order that names an axis twice", "slowest first", 1,
       [=](const Comm& c) {
         Problem p = cube();
         p.input = Distribution::slab(0).with_order({0, 0, 1});
         plan(c, p);
       }},
      {"pencils of two axes", "at least 3 axes", 1,
       [=](const Comm& c) {
         Problem p = cube();
         p.shape = {8, 8};
         p.output = Distribution::slab(1);
         plan(c, p, Options().set("decomposition", "pencil"));
       }},
      {"a grid that is none", "such as 2x4", 1, [](const Comm&) { Options().set("grid", "2x"); }},
      {"a grid of other ranks", "two factors of ", 1,
       [=](const Comm& c) { plan(c, cube(), Options().set("grid", "7x11")); }},
      {"a grid of slabs", "decomposition auto, pencil or brick", 1,
       [=](const Comm& c) { plan(c, cube(), Options().set("grid", "1x1").set("decomposition", "slab")); }},
      {"a distributed line", "one-dimensional transforms are not distributed", 2,
       [=](const Comm& c) {
         Problem p;
         p.shape = {64};
         plan(c, p);
       }},
      {"an unknown option", "unknown option \"speed\"", 1,
       [](const Comm&) { Options().set("speed", "high"); }},
      {"an unknown pipeline", "auto, sequential, th, windowed", 1,
       [](const Comm&) { Options().set("pipeline", "fast"); }},
      {"a tile that is no number", "a whole number", 1, [](const Comm&) { Options().set("tile", "thin"); }},
      {"a window of zero", "1 to", 1,
       [=](const Comm& c) { plan(c, cube(), Options().set("pipeline", "windowed").set("window", 0)); }},
      {"a tile without a pipeline that has one", "no such option with pipeline sequential", 1,
       [=](const Comm& c) { plan(c, cube(), Options().set("pipeline", "sequential").set("tile", 2)); }},
  };
}

Problem r2c_in_place(const Distribution& input, const Distribution& output = Distribution::slab(0)) {
  Problem p = cube();
  p.transforms = {Transform::c2c, Transform::c2c, Transform::r2c};
  p.in_place = true;
  p.input = input;
  p.output = output;
  return p;
}

std::vector<BadInput> transforms() {
  const auto plan = [](const Comm& c, const Problem& p, const Options& o = {}) { Plan made(c, p, o); };
  const auto with = [=](AxisVector<Transform> t, std::optional<Element> element = {}) {
    return [=](const Comm& c) {
      Problem p = cube();
      p.shape = {24, 24, 1};
      p.transforms = t;
      p.element = element;
      plan(c, p);
    };
  };
  using enum Transform;
  return {
      {"a DCT-I of length 1", "dct1 of length 1 along axis 2", 1, with({c2c, c2c, dct1})},
      {"c2c of real data", "an r2c axis, or complex data", 1, with({dct2, c2c, none}, Element::real)},
      {"r2c of complex data", "no r2c axis, or real data", 1, with({dct2, r2c, none}, Element::complex)},
      {"an empty batch", "at least 1 array", 1,
       [=](const Comm& c) {
         Problem p = cube();
         p.batch = 0;
         plan(c, p);
       }},
      {"a batch of arrays with eight axes", "at most 7 axes", 1,
       [=](const Comm& c) {
         Problem p;
         p.shape = {2, 2, 2, 2, 2, 2, 2, 2};
         p.batch = 2;
         plan(c, p);
       }},
      {"a distance shorter than an array", "strides without overlap", 1,
       [=](const Comm& c) {
         Problem p = cube();
         p.batch = 2;
         p.output_distance = 5;
         plan(c, p);
       }},
      {"a negative distance", "positive number of elements", 1,
       [=](const Comm& c) {
         Problem p = cube();
         p.batch = 2;
         p.input_distance = -24;
         plan(c, p);
       }},
      {"another batch on one rank", "batch 2 as on rank 0", 2,
       [=](const Comm& c) {
         Problem p = cube();
         p.batch = c.rank() == 1 ? 3 : 2;
         plan(c, p);
       }},
  };
}

/// Numbers that no enumerator has, as a binding to another language may pass them.
std::vector<BadInput> enumerations() {
  const auto spoilt = [](const auto& spoil) {
    return [=](const Comm& c) {
      Problem p = cube();
      spoil(p);
      Plan made(c, p);
    };
  };
  return {
      {"a precision that is none", "plan: precision: 2; expected float32 (0) or float64 (1)", 1,
       spoilt([](Problem& p) { p.precision = static_cast<Precision>(2); })},
      {"a forward scale that is none", "plan: forward scale: 3; expected none (0)", 1,
       spoilt([](Problem& p) { p.forward_scale = static_cast<Scale>(3); })},
      {"a backward scale that is none", "plan: backward scale: -1; expected none (0)", 1,
       spoilt([](Problem& p) { p.backward_scale = static_cast<Scale>(-1); })},
      {"a transform that is none", "plan: transforms: 11 along axis 1; expected none (0)", 1,
       spoilt([](Problem& p) {
         p.transforms = {Transform::c2c, static_cast<Transform>(11), Transform::c2c};
       })},
      {"elements that are none", "plan: element: 2; expected real (0) or complex (1)", 1,
       spoilt([](Problem& p) { p.element = static_cast<Element>(2); })},
      {"a kind of memory that is none", "plan: memory: 2; expected host (0) or cuda (1)", 1,
       spoilt([](Problem& p) { p.memory = static_cast<MemoryKind>(2); })},
  };
}

std::vector<BadInput> memory() {
  const auto plan = [](const Comm& c, const Problem& p, const Options& o = {}) { Plan made(c, p, o); };
  const auto input = [=](const Distribution& d) {
    return [=](const Comm& c) {
      Problem p = cube();
      p.input = d;
      plan(c, p);
    };
  };
  const auto slab = Distribution::slab(0);
  return {
      {"in place with lines too short for r2c", "room for 2(n/2+1) = 26", 1,
       [=](const Comm& c) {
         plan(c, r2c_in_place(slab.with_strides({25 * 24, 25, 1})));
       }},
      {"in place with padding on one side only", "coincide in bytes", 1,
       [=](const Comm& c) {
         plan(c, r2c_in_place(slab.with_halo({0, 0, 0}, {0, 0, 6})));
       }},
      {"in place with another padding on either side", "coincide in bytes", 1,
       [=](const Comm& c) {
         Problem p = cube();
         p.in_place = true;
         p.input = slab.with_halo({0, 0, 1}, {0, 0, 1});
         p.output = slab.with_halo({0, 0, 0}, {0, 0, 2});
         plan(c, p);
       }},
      {"strides that overlap", "strides without overlap: along axis 1 at least 24", 1,
       input(slab.with_strides({24 * 24, 23, 1}))},
      {"strides of zero", "positive strides", 1, input(slab.with_strides({24 * 24, 0, 1}))},
      {"strides beyond all memory", "63 bits", 1, input(slab.with_strides({Index{1} << 61, 24, 1}))},
      {"a halo beyond all memory", "63 bits", 1,
       input(slab.with_halo({1 << 30, 1 << 30, 1 << 30}, {0, 0, 0}))},
      {"too few strides", "one number per axis, 3", 1, input(slab.with_strides({24, 1}))},
      {"strides and an order", "strides alone", 1,
       input(slab.with_strides({24 * 24, 24, 1}).with_order({0, 1, 2}))},
      {"a halo of two axes", "one number per axis, 3", 1, input(slab.with_halo({1, 1}, {1, 1}))},
      {"a negative halo", "no negative width", 1, input(slab.with_halo({0, 0, 0}, {0, -1, 0}))},
      {"r2c padding without r2c", "a problem with an r2c axis", 1, input(slab.with_r2c_padding())},
      {"r2c padding along a slow axis", "not the fastest", 1,
       [=](const Comm& c) {
         plan(c, r2c_in_place(slab.with_order({2, 1, 0}).with_r2c_padding()));
       }},
  };
}

std::vector<BadInput> ranks() {
  const auto plan = [](const Comm& c, const Problem& p, const Options& o = {}) { Plan made(c, p, o); };
  const auto option = [=](const char* name, Index value, Index per_rank = 0) {
    return [=](const Comm& c) { plan(c, cube(), Options().set(name, value + per_rank * c.size())); };
  };
  std::vector<BadInput> list{
      {"a communicator that misses ranks with data", "every rank that holds points", 2,
       [=](const Comm& c) {
         // Boxes for all ranks, but the last one is not in the communicator that plans.
         const Comm part = c.split(c.rank() == c.size() - 1 ? 1 : 0);
         Problem p = cube();
         p.input = Distribution::box(slabs(c.size())[static_cast<std::size_t>(c.rank())]);
         plan(part, p);
       }},
      {"shrinking to nobody", "the ranks there are", 1, option("shrink", 0)},
      {"shrinking to more ranks than there are", "the ranks there are", 1, option("shrink", 1, 1)},
      {"no threads", "1 to 1024 threads", 1, option("threads", 0)},
      {"too many exchanges", "one per reshape, of which there are 1", 2,
       [=](const Comm& c) { plan(c, cube(), Options().set("exchange", "auto,auto")); }},
      {"bricks of two axes", "at least 3 axes", 2,
       [=](const Comm& c) {
         Problem p = cube();
         p.shape = {24, 24};
         p.output = Distribution::slab(1);
         plan(c, p, Options().set("decomposition", "brick"));
       }},
#ifdef WEFT_WITH_MPI
      {"an exchange of another medium", "among ranks of medium", 1,
       [=](const Comm& c) {
         const bool mpi = std::string(c.medium()) == "mpi";
         plan(c, cube(), Options().set("exchange", mpi ? "copy" : "alltoallw"));
       }},
#endif
  };
  for (const FftRow& row : fft_table())
    if (!row.missing().empty())
      list.push_back({std::string(row.name) + " where it is not installed", row.name, 1,
                      [=](const Comm& c) { plan(c, cube(), Options().set("fft", row.name)); }});
  return list;
}

}  // namespace

Problem small_cube() {
  Problem p;
  p.shape = {12, 12, 12};
  p.output = Distribution::slab(1);
  return p;
}

const std::vector<BadInput>& bad_inputs() {
  static const std::vector<BadInput> all = [] {
    std::vector<BadInput> list = planning();
    for (const auto& part : {transforms(), enumerations(), memory(), ranks(), bad_executions()})
      list.insert(list.end(), part.begin(), part.end());
    return list;
  }();
  return all;
}

}  // namespace weft::test
