// Kinds of plans of arrays in device memory, which get what they need in different ways, each small; and what
// has to come of them, which a plan on the host has found.
#pragma once

#include <string>
#include <vector>

#include "support/device_mirror.hpp"
#include "weft/comm.hpp"
#include "weft/options.hpp"
#include "weft/plan.hpp"
#include "weft/problem.hpp"

namespace weft::test {

struct DeviceKind {
  const char* name;
  int ranks, devices;
  Problem problem;
  Options options;
  double error = 0;  ///< of a codec
  int reach = 0;     ///< as of ScopedDevices
};

/// From slabs to slabs across another axis.
Problem device_cube(const Shape& shape);
Options device_exchange(const char* name);

/// Of thread ranks, as far as there are devices for them; and of MPI ranks, with the `ranks` that there are.
std::vector<DeviceKind> thread_device_kinds();
std::vector<DeviceKind> mpi_device_kinds(int ranks);
/// Of the moments at which something can happen to them, every how manieth a test tries: all, but not on
/// GPUs, where plans take longer, nor with sanitizers.
int moments_apart();
/// The file in which some of them draw what they do. No two processes have the same.
std::string trace_of_device_kinds();

/// What a rank transforms, and what comes of it, which is complex.
struct HostAnswer {
  std::vector<double> in, out;
};
/// Collective.
HostAnswer answer_on_host(const Comm& comm, Problem problem);

/// Arrays on the device, and what becomes of them.
class DeviceArrays {
 public:
  DeviceArrays(const DeviceKind& kind, const HostAnswer& answer);
  void forward(Plan& plan);
  void expect_answer();

 private:
  const DeviceKind& kind_;
  const HostAnswer& answer_;
  DeviceMirror mirror_;
  std::byte *in_ = nullptr, *out_ = nullptr;
};

/// Makes a plan, executes it and looks at what comes of it. Collective.
void execute(const Comm& comm, const DeviceKind& kind, const HostAnswer& answer);

/// Whether this says that there was no memory, and for what.
bool says_no_memory(const std::string& message);

}  // namespace weft::test
