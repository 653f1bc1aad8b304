// The device interface's graphs for CUDA.
#pragma once

#include <cuda_runtime_api.h>

#include "device/device.hpp"

namespace weft::cuda {

class Graph final : public DeviceGraph {
 public:
  /// Takes ownership of a captured graph.
  explicit Graph(cudaGraph_t captured) : captured_(captured) {}
  ~Graph() override;
  Graph(const Graph&) = delete;
  Graph& operator=(const Graph&) = delete;

  void launch(DeviceStream& stream) override;
  bool update(DeviceGraph& captured) override;

 private:
  cudaGraph_t captured_;
  cudaGraphExec_t executable_ = nullptr;  ///< instantiated by the first launch
};

}  // namespace weft::cuda
