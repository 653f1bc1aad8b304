#include "support/device_kinds.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "support/device_problem.hpp"
#include "support/devices.hpp"
#include "support/random_problem.hpp"
#include "support/reference.hpp"
#include "transport/nccl/library.hpp"

namespace weft::test {

namespace {

Problem real_in_place() {
  Problem p = device_cube({8, 6, 10});
  p.transforms = {Transform::c2c, Transform::c2c, Transform::r2c};
  p.input = Distribution::slab(0).with_r2c_padding();
  p.in_place = true;
  return p;
}

Problem batch_of_cosines() {
  Problem p = device_cube({6, 8, 7});
  p.transforms = {Transform::dct2, Transform::c2c, Transform::dst4};
  p.batch = 3;
  return p;
}

Problem sphere() {
  Problem p = device_cube({8, 8, 8});
  p.output = Distribution::sphere(3);
  return p;
}

}  // namespace

Problem device_cube(const Shape& shape) {
  Problem p = on_device();
  p.shape = shape;
  p.output = Distribution::slab(1);
  return p;
}

Options device_exchange(const char* name) {
  return Options().set("exchange", name).set("graph", "off");
}

int moments_apart() {
  return ScopedDevices::are_on_host() ? std::max(1, 8 / problem_count(8)) : 5;
}

std::string trace_of_device_kinds() {
  return testing::TempDir() + "/weft-kinds-trace-" + std::to_string(getpid()) + ".json";
}

// Lines of 10 lie apart and are done by kernels of Weft on the double, with tables of their own.
std::vector<DeviceKind> thread_device_kinds() {
  const ScopedDevices devices;
  const auto by = device_exchange;
  std::vector<DeviceKind> all{
      {"stored by kernels", 2, 2, device_cube({10, 12, 6}), by("direct").set("puts", "kernel")},
      {"stored by copy engines, as graphs", 3, 3, device_cube({9, 8, 6}),
       by("direct").set("puts", "engine").set("graph", "on").set("pipeline", "two-front").set("tile", 1)},
      {"through pinned memory, on one device", 2, 1, device_cube({10, 6, 8}), by("copy")},
      {"some pairs through pinned memory", 4, 4, device_cube({8, 8, 6}), by("direct"), 0, 2},
      {"coded", 2, 2, device_cube({6, 10, 8}), by("direct").set("codec", "fp32"), 1e-7},
      {"real, in place", 3, 2, real_in_place(), by("copy").set("pipeline", "windowed").set("tile", 1)},
      {"a batch of cosines", 2, 2, batch_of_cosines(), by("direct").set("pipeline", "planes")},
      {"a sphere of modes", 2, 2, sphere(), by("direct")},
      {"alone", 1, 1, device_cube({10, 6, 8}), Options().set("graph", "on")},
      {"traced", 2, 2, device_cube({8, 6, 6}), by("direct").set("trace", trace_of_device_kinds())},
  };
  if (nccl::missing().empty())
    all.push_back({"nccl, coded", 2, 2, device_cube({8, 10, 6}), by("nccl").set("codec", "fp32"), 1e-7});
  std::erase_if(all, [](const DeviceKind& k) { return k.devices > ScopedDevices::count(); });
  return all;
}

std::vector<DeviceKind> mpi_device_kinds(int ranks) {
  const ScopedDevices devices({.processes = true});
  const int all = std::min(ranks, ScopedDevices::count());
  const auto by = device_exchange;
  return {
      {"stored", ranks, all, device_cube({10, 12, 6}), by("direct")},
      {"stored and coded", ranks, all, device_cube({6, 10, 8}), by("direct").set("codec", "fp32"), 1e-7},
      {"messages, some ranks on one device", ranks, std::max(1, all - 1), real_in_place(), by("p2p")},
      {"collective messages", ranks, all, batch_of_cosines(), by("alltoallv")},
  };
}

HostAnswer answer_on_host(const Comm& comm, Problem problem) {
  problem.memory = MemoryKind::host;
  Plan plan(comm, problem);
  const std::size_t count = plan.buffer_bytes() / sizeof(double);
  HostAnswer a{std::vector<double>(count), std::vector<double>(count)};
  for (std::size_t i = 0; i < count; ++i) a.in[i] = std::sin(static_cast<double>(i * 7) + comm.rank());
  if (problem.in_place) a.out = a.in;
  std::vector<double> in = a.in;
  void* const from = problem.in_place ? a.out.data() : in.data();
  plan.forward(from, static_cast<void*>(a.out.data()));
  a.out.resize(2 * plan.output_count());
  return a;
}

DeviceArrays::DeviceArrays(const DeviceKind& kind, const HostAnswer& answer) : kind_(kind), answer_(answer) {
  const std::size_t bytes = answer.in.size() * sizeof(double);
  in_ = mirror_.upload(answer.in.data(), bytes);
  out_ = kind.problem.in_place ? in_ : mirror_.fresh(bytes);
}

void DeviceArrays::forward(Plan& plan) {
  plan.set_stream(static_cast<CUstream_st*>(mirror_.stream().native()));
  plan.forward(static_cast<const void*>(in_), static_cast<void*>(out_));
  plan.wait();
}

void DeviceArrays::expect_answer() {
  std::vector<double> out(answer_.out.size());
  mirror_.download(out.data(), out_, out.size() * sizeof(double));
  double error = 0, norm = 0;
  for (std::size_t i = 0; i < out.size(); ++i) {
    error += std::pow(out[i] - answer_.out[i], 2);
    norm += std::pow(answer_.out[i], 2);
  }
  EXPECT_LE(std::sqrt(error), std::sqrt(norm) * (8 * error_bound(kind_.problem, 0) + 4 * kind_.error));
}

void execute(const Comm& comm, const DeviceKind& kind, const HostAnswer& answer) {
  DeviceArrays arrays(kind, answer);
  Plan plan(comm, kind.problem, kind.options);
  arrays.forward(plan);
  arrays.expect_answer();
}

bool says_no_memory(const std::string& message) {
  return message.find(" memory for ") != std::string::npos ||
         message.find(": out of memory") != std::string::npos;
}

}  // namespace weft::test
