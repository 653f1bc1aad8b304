#include "gpu/choose_device.hpp"

#include <algorithm>

#include "comm/agree.hpp"
#include "device/gpu/maker.hpp"

namespace weft::bench {

void choose_device(const Comm& comm) {
  CommImpl& c = comm.impl();
  agree(c, "--device", [&] {
    if (!gpus::missing().empty())
      throw Error("--device", std::string(gpus::name) + ": " + gpus::missing(), "host, or a GPU");
    int devices = 0;
    WEFT_GPU_CALL(GetDeviceCount, &devices);
    const auto mine = c.nodes().begin() + c.rank();
    const auto before = static_cast<int>(std::count(c.nodes().begin(), mine, *mine));
    WEFT_GPU_CALL(SetDevice, before % devices);
  });
}

}  // namespace weft::bench
