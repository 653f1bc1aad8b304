// For programs in CUDA C++: what operators between two transforms (Plan::apply) do with blocks in memory of a
// GPU, as a function of one element.
#pragma once

#if !defined(__CUDACC__)
#error "weft/cuda.hpp is for files that nvcc compiles"
#endif

#include <cuda_runtime.h>

#include <string>

#include "weft/block.hpp"

namespace weft {

/// The global index of an element, one number per axis.
struct CudaIndex {
  Index at[max_axes];
  __device__ Index operator[](int axis) const { return at[axis]; }
};

/// The fields of one element: fields[i] is that of the i-th array.
template <class T>
struct CudaFields {
  T* first;
  Index stride;
  __device__ T& operator[](Index i) const { return first[i * stride]; }
};

namespace cuda_detail {

/// The loops over a block, the fastest in memory first.
struct Loops {
  int count;
  int axis[max_axes];
  Index n[max_axes], stride[max_axes], lo[max_axes];
  Index total, field_stride;
};

/// The kernel: a thread for each element.
template <class T, class F>
__global__ void each_element(Loops loops, T* data, F f) {
  Index position = static_cast<Index>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (position >= loops.total) return;
  CudaIndex index;
  T* at = data;
  for (int i = 0; i < loops.count; ++i) {
    const Index rest = position / loops.n[i], k = position - rest * loops.n[i];
    position = rest;
    at += k * loops.stride[i];
    index.at[loops.axis[i]] = loops.lo[i] + k;
  }
  f(CudaFields<T>{at, loops.field_stride}, static_cast<const CudaIndex&>(index));
}

}  // namespace cuda_detail

/// Enqueues f(fields, index) for every element of a block on the block's stream: a function object that can
/// be called on the device with `CudaFields<T>` and `const CudaIndex&`. T is a type of the elements' size,
/// such as double, cuDoubleComplex, or cuda::std::complex<double>. Throws `weft::Error` for elements of
/// another size, for a block in memory of the host, and if the kernel cannot be launched. Local.
template <class T, class F>
void for_each_element_on_gpu(const Block& block, const F& f) {
  constexpr const char* operation = "operator";
  if (block.memory != MemoryKind::cuda)
    throw Error(operation, "a block in memory of the host", "a plan of a problem whose memory is cuda");
  const std::size_t real = block.precision == Precision::float64 ? 8 : 4;
  if (sizeof(T) != (block.element == Element::complex ? 2 : 1) * real)
    throw Error(operation, "elements of " + std::to_string(sizeof(T)) + " bytes",
                "those between the transforms of the plan");
  if (block.box.empty()) return;
  cuda_detail::Loops loops{};
  loops.count = block.box.ndim();
  loops.total = block.box.count();
  loops.field_stride = block.field_stride;
  for (int a = 0; a < loops.count; ++a) {
    // Along an axis of one element the stride says nothing.
    const auto slower = [&](int b) {
      return block.box.extent(a) > 1 && (loops.n[b] == 1 || loops.stride[b] > block.strides[a]);
    };
    int i = a;
    for (; i > 0 && slower(i - 1); --i) {
      loops.axis[i] = loops.axis[i - 1];
      loops.n[i] = loops.n[i - 1];
      loops.stride[i] = loops.stride[i - 1];
      loops.lo[i] = loops.lo[i - 1];
    }
    loops.axis[i] = a;
    loops.n[i] = block.box.extent(a);
    loops.stride[i] = block.strides[a];
    loops.lo[i] = block.box.lo[a];
  }
  constexpr int threads = 256;
  const Index blocks = (loops.total + threads - 1) / threads;
  cuda_detail::
      each_element<<<static_cast<unsigned>(blocks), threads, 0, static_cast<cudaStream_t>(block.stream)>>>(
          loops, static_cast<T*>(block.data), f);
  if (const cudaError_t status = cudaGetLastError(); status != cudaSuccess)
    throw Error(operation, cudaGetErrorString(status), "a kernel that can be launched");
}

}  // namespace weft
