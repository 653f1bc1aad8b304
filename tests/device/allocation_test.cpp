// Execution in memory of devices allocates nothing: what the process gets from the C library is counted while
// plans are enqueued. What the double of the device seam does for itself is not.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <string>
#include <utility>

#include "support/allocations.hpp"
#include "support/device_double.hpp"
#include "support/device_mirror.hpp"
#include "support/scoped_variable.hpp"
#include "weft/operators.hpp"
#include "weft/weft.hpp"

namespace weft::test {

namespace {

struct Variant {
  const char *exchange, *pipeline;
  bool in_place, cosines;
  const char* graph;
};

void execute_and_count(const Comm& comm, const Variant& v) {
  using Complex = std::complex<double>;
  Problem p;
  p.shape = {16, 16, 16};
  p.transforms = {Transform::c2c, Transform::c2c, Transform::r2c};
  if (v.cosines) p.transforms = {Transform::dct2, Transform::dst4, Transform::r2c};
  p.in_place = v.in_place;
  p.backward_scale = Scale::full;
  p.memory = MemoryKind::cuda;
  Options o;
  o.set("pipeline", v.pipeline).set("exchange", v.exchange).set("graph", v.graph);
  if (std::string(v.pipeline) != "sequential") o.set("tile", 2);
  DeviceMirror mirror;
  Plan plan(comm, p, o);
  plan.set_stream(static_cast<CUstream_st*>(mirror.stream().native()));
  auto* out = reinterpret_cast<Complex*>(mirror.fresh(plan.buffer_bytes()));
  auto* in = v.in_place ? reinterpret_cast<double*>(out)
                        : reinterpret_cast<double*>(mirror.fresh(plan.buffer_bytes()));
  const auto both = [&] {
    plan.forward(in, out);
    plan.start_backward(out, in);
    plan.test();
    plan.wait();
  };
  EXPECT_EQ(allocations_of(comm, both), 0)
      << v.exchange << " " << v.pipeline << " graph " << v.graph << " on " << comm.size() << " ranks";
}

}  // namespace

TEST(DeviceExecution, AllocatesNothing) {
  for (const auto& [ranks, reach] : {std::pair{1, 0}, {4, 0}, {4, 2}}) {
    DoubleManner manner;
    manner.aside = stand_aside;
    manner.reach = reach;
    const ScopedDeviceDouble device_double(manner);
    ThreadTeam team(ranks);
    for (const char* pipeline : {"sequential", "windowed", "planes", "two-front"})
      for (const auto& [exchange, graph] : {std::pair{"direct", "off"}, {"direct", "on"}, {"copy", "off"}})
        for (const bool in_place : {false, true})
          for (const bool cosines : {false, true}) {
            if (reach > 0 && std::string(graph) == "on") continue;
            const Variant variant{exchange, pipeline, in_place, cosines, graph};
            team.run([&](const Comm& comm) {
              set_double_device(comm.rank());
              execute_and_count(comm, variant);
            });
          }
  }
}

TEST(DeviceExecution, OfWhatSolversDoAllocatesNothing) {
  DoubleManner manner;
  manner.aside = stand_aside;
  const ScopedDeviceDouble device_double(manner);
  for (const int ranks : {1, 2, 4})
    ThreadTeam(ranks).run([&](const Comm& comm) {
      set_double_device(comm.rank());
      DeviceMirror mirror;
      Problem p{.shape = {12, 16, 8}};
      p.memory = MemoryKind::cuda;
      Problem cut = p, between = p, line = p, sphere = p, real_line = p;
      cut.modes = {8, 11, 5};
      between.between = Between::modes;
      between.backward_scale = Scale::full;
      line.line = {0, 1};
      real_line.transforms = {Transform::none, Transform::c2c, Transform::r2c};
      real_line.line = {1, 2};
      sphere.output = Distribution::sphere(3);
      for (const Problem& problem : {cut, between, line, sphere, real_line}) {
        Plan plan(comm, problem);
        plan.set_stream(static_cast<CUstream_st*>(mirror.stream().native()));
        const void* const in = mirror.fresh(plan.input_count() * 16);
        void* const out = mirror.fresh(plan.output_count() * 16);
        const ModeOperator smooth = inverse_helmholtz(between, 1);
        const auto execute = [&] {
          if (problem.between == Between::none)
            plan.forward(in, out);
          else
            plan.apply(in, out, smooth);
        };
        EXPECT_EQ(allocations_of(comm, execute), 0) << plan.to_string();
      }
    });
}

TEST(DeviceExecution, OfTracedPlansAllocatesNothing) {
  DoubleManner manner;
  manner.aside = stand_aside;
  const ScopedDeviceDouble device_double(manner);
  const std::string file = testing::TempDir() + "/weft-device-allocation-trace-" + std::to_string(getpid());
  const ScopedVariable variable("WEFT_TRACE", file);
  for (const char* exchange : {"direct", "copy"})
    ThreadTeam(4).run([&](const Comm& comm) {
      set_double_device(comm.rank());
      execute_and_count(comm, {exchange, "two-front", false, false, "off"});
    });
  EXPECT_EQ(std::remove(file.c_str()), 0);
}

}  // namespace weft::test
