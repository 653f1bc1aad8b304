#include "support/bad_input.hpp"

#include <complex>
#include <cstdlib>

#include "weft/buffer.hpp"
#include "weft/plan.hpp"

namespace weft::test {

namespace {

using Complex = std::complex<double>;

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
      {"a distributed line", "one-dimensional transforms are not distributed", 2,
       [=](const Comm& c) {
         Problem p;
         p.shape = {64};
         plan(c, p);
       }},
      {"an unknown option", "unknown option \"speed\"", 1,
       [](const Comm&) { Options().set("speed", "high"); }},
      {"an unknown pipeline", "auto, sequential, windowed", 1,
       [](const Comm&) { Options().set("pipeline", "fast"); }},
      {"a tile that is no number", "a whole number", 1, [](const Comm&) { Options().set("tile", "thin"); }},
      {"a window of zero", "1 to", 1,
       [=](const Comm& c) { plan(c, cube(), Options().set("pipeline", "windowed").set("window", 0)); }},
      {"a tile without a pipeline that has one", "no such option with pipeline sequential", 1,
       [=](const Comm& c) { plan(c, cube(), Options().set("pipeline", "sequential").set("tile", 2)); }},
  };
}

/// A plan and arrays that fit it, to be misused.
struct Fixture {
  explicit Fixture(const Comm& c, Options o = {}, const Problem& p = cube())
      : plan(c, p, o.set("check", "collective")), in(plan.input_count()), out(plan.output_count()) {}
  Plan plan;
  Buffer<Complex> in, out;
};

std::vector<BadInput> execution() {
  const auto users = [] { return Options().set("workspace", "user"); };
  return {
      {"a null input on one rank", "in is null", 1,
       [](const Comm& c) {
         Fixture f(c);
         f.plan.forward(static_cast<const Complex*>(c.rank() == c.size() - 1 ? nullptr : f.in.data()),
                        f.out.data());
       }},
      {"a null output", "out is null", 1,
       [](const Comm& c) {
         Fixture f(c);
         f.plan.backward(static_cast<const Complex*>(f.out.data()), static_cast<Complex*>(nullptr));
       }},
      {"overlapping arrays", "in and out overlap", 1,
       [](const Comm& c) {
         Fixture f(c);
         f.plan.forward(static_cast<const Complex*>(f.in.data()), f.in.data());
       }},
      {"two arrays in place", "in == out", 1,
       [](const Comm& c) {
         Problem p = cube();
         p.in_place = true;
         Fixture f(c, {}, p);
         f.plan.forward(static_cast<const Complex*>(f.in.data()), f.out.data());
       }},
      {"elements of the wrong type", "elements of std::complex<float>; expected std::complex<double>", 1,
       [](const Comm& c) {
         Fixture f(c);
         f.plan.forward(reinterpret_cast<const std::complex<float>*>(f.in.data()), f.out.data());
       }},
      {"workspace too small", "bytes of workspace", 2,
       [=](const Comm& c) {
         Fixture f(c, users());
         Buffer<char> work(f.plan.workspace_bytes() - 64);
         f.plan.forward(static_cast<const Complex*>(f.in.data()), f.out.data(), work.data(), work.size());
       }},
      {"no workspace", "0 bytes of workspace", 2,
       [=](const Comm& c) {
         Fixture f(c, users());
         f.plan.forward(static_cast<const Complex*>(f.in.data()), f.out.data());
       }},
      {"workspace off its alignment", "multiple of 16", 2,
       [=](const Comm& c) {
         Fixture f(c, users());
         Buffer<char> work(f.plan.workspace_bytes() + 8);
         f.plan.forward(static_cast<const Complex*>(f.in.data()), f.out.data(), work.data() + 8,
                        work.size() - 8);
       }},
      {"workspace that overlaps an array", "overlaps in or out", 2,
       [=](const Comm& c) {
         Fixture f(c, users());
         Buffer<Complex> large(f.plan.workspace_bytes());
         f.plan.forward(static_cast<const Complex*>(large.data()), f.out.data(), large.data(),
                        f.plan.workspace_bytes());
       }},
      {"workspace where the plan has its own", "owns its own", 1,
       [](const Comm& c) {
         Fixture f(c);
         Buffer<char> work(4096);
         f.plan.forward(static_cast<const Complex*>(f.in.data()), f.out.data(), work.data(), work.size());
       }},
  };
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
    for (BadInput& b : execution()) list.push_back(std::move(b));
    return list;
  }();
  return all;
}

}  // namespace weft::test
