#include "cuda/choose_device.hpp"

#include <cuda_runtime_api.h>

#include <algorithm>

#include "comm/agree.hpp"
#include "device/cuda/driver.hpp"

namespace weft::bench {

void choose_device(const Comm& comm) {
  CommImpl& c = comm.impl();
  agree(c, "--device", [&] {
    if (!cuda::missing().empty()) throw Error("--device", "cuda: " + cuda::missing(), "host, or a GPU");
    int devices = 0;
    cuda::check(cudaGetDeviceCount(&devices), "cudaGetDeviceCount");
    const auto mine = c.nodes().begin() + c.rank();
    const auto before = static_cast<int>(std::count(c.nodes().begin(), mine, *mine));
    cuda::check(cudaSetDevice(before % devices), "cudaSetDevice");
  });
}

}  // namespace weft::bench
