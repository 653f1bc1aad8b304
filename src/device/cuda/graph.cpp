#include "device/cuda/graph.hpp"

#include "device/cuda/driver.hpp"

namespace weft::cuda {

Graph::~Graph() {
  if (executable_ != nullptr) cudaGraphExecDestroy(executable_);
  cudaGraphDestroy(captured_);
}

void Graph::launch(DeviceStream& stream) {
  if (executable_ == nullptr) check(cudaGraphInstantiate(&executable_, captured_, 0), "cudaGraphInstantiate");
  check(cudaGraphLaunch(executable_, static_cast<cudaStream_t>(stream.native())), "cudaGraphLaunch");
}

bool Graph::update(DeviceGraph& captured) {
  if (executable_ == nullptr) return false;
  cudaGraphExecUpdateResultInfo result{};
  if (cudaGraphExecUpdate(executable_, static_cast<Graph&>(captured).captured_, &result) == cudaSuccess)
    return true;
  cudaGetLastError();  // clears it, so that the user's next call does not report it
  return false;
}

}  // namespace weft::cuda
