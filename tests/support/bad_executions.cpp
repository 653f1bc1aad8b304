// What users get wrong when they execute a plan that is good.
#include <complex>

#include "support/bad_input.hpp"
#include "weft/buffer.hpp"
#include "weft/plan.hpp"

namespace weft::test {

namespace {

using Complex = std::complex<double>;

/// A plan and arrays that fit it, to be misused.
struct Fixture {
  explicit Fixture(const Comm& c, Options o = {}, const Problem& p = small_cube())
      : plan(c, p, o.set("check", "collective")), in(plan.input_count()), out(plan.output_count()) {}
  Plan plan;
  Buffer<Complex> in, out;
};

}  // namespace

std::vector<BadInput> bad_executions() {
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
         Problem p = small_cube();
         p.in_place = true;
         Fixture f(c, {}, p);
         f.plan.forward(static_cast<const Complex*>(f.in.data()), f.out.data());
       }},
      {"elements of the wrong type", "elements of std::complex<float>; expected std::complex<double>", 1,
       [](const Comm& c) {
         Fixture f(c);
         f.plan.forward(reinterpret_cast<const std::complex<float>*>(f.in.data()), f.out.data());
       }},
      {"an input off the alignment of its elements", "in is not on a multiple of 8 bytes", 1,
       [](const Comm& c) {
         Fixture f(c);
         const Buffer<char> shifted(f.in.size() * sizeof(Complex) + 4);
         f.plan.forward(static_cast<const void*>(shifted.data() + 4), f.out.data());
       }},
      {"a float output off the alignment of its elements", "out is not on a multiple of 4 bytes", 1,
       [](const Comm& c) {
         Problem p = small_cube();
         p.precision = Precision::float32;
         Fixture f(c, {}, p);
         Buffer<char> shifted(f.out.size() * sizeof(Complex) + 2);
         f.plan.forward(static_cast<const void*>(f.in.data()), static_cast<void*>(shifted.data() + 2));
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

}  // namespace weft::test
