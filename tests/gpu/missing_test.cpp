// A build for GPUs where no GPU is visible: arrays in its memory are an error, all else is as ever.
#include <gtest/gtest.h>

#include "device/device.hpp"
#include "support/expect_error.hpp"
#include "weft/weft.hpp"

namespace weft::test {

TEST(NoDevice, IsAClearErrorOnAllRanksAndTheHostIsUntouched) {
  if (device_row()->missing().empty()) GTEST_SKIP() << "a GPU is visible";
  ThreadTeam(3).run([](const Comm& comm) {
    Problem p;
    p.shape = {8, 8, 8};
    p.memory = MemoryKind::cuda;
    expect_error([&] { const Plan plan(comm, p); },
                 std::string("plan: memory: ") + device_row()->name + ": ");
    p.memory = MemoryKind::host;
    Plan plan(comm, p);
    Buffer<std::complex<double>> in(plan.input_count()), out(plan.output_count());
    plan.forward(in.data(), out.data());
  });
}

}  // namespace weft::test
