// For programs in CUDA C++: what operators between two transforms (Plan::apply) do with blocks in memory of a
// GPU, as a function of one element. nvcc compiles it as C++20 (-std=c++20), and lambdas with
// --extended-lambda.
#pragma once

#if !defined(__CUDACC__)
#error "weft/cuda.hpp is for files that nvcc compiles"
#endif

#include <cuda_runtime.h>

#include <type_traits>

#include "weft/block.hpp"

namespace weft {

/// The global index of an element, one number per axis.
struct CudaIndex {
  Index at[max_axes];  ///< by axis
  /// The index along an axis.
  __device__ Index operator[](int axis) const { return at[axis]; }
};

/// The fields of one element: fields[i] is that of the i-th array.
template <class T>
struct CudaFields {
  T* first;      ///< that of the first array
  Index stride;  ///< elements from one to the next
  /// The element of the i-th array.
  __device__ T& operator[](Index i) const { return first[i * stride]; }
};

namespace cuda_detail {

/// The loops over a block, the fastest in memory first.
struct Loops {
  int count;               ///< how many
  int axis[max_axes];      ///< of each
  Index n[max_axes];       ///< its length
  Index stride[max_axes];  ///< its step in memory, in elements
  Index lo[max_axes];      ///< the global index that it begins at
  Index total;             ///< elements of a field
  Index field_stride;      ///< from field to field, in elements
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
/// be called on the device with `CudaFields<T>` and `const CudaIndex&`. T is float or double for real
/// elements, and for complex ones a type of two of them, such as cuDoubleComplex or
/// cuda::std::complex<double>. Throws `weft::Error` for elements of another type, for a block in memory of
/// the host, and if the kernel cannot be launched. Local.
template <class T, class F>
void for_each_element_on_gpu(const Block& block, const F& f) {
  constexpr const char* operation = "operator";
  if (block.memory != MemoryKind::cuda)
    throw Error(operation, "a block in memory of the host", "a plan of a problem whose memory is cuda");
  const bool real = block.element == Element::real, wide = block.precision == Precision::float64;
  if (std::is_floating_point_v<T> != real || sizeof(T) != (real ? 1u : 2u) * (wide ? 8u : 4u) ||
      alignof(T) < (wide && real ? 8u : 4u))
    throw Error(operation, "elements of another type", "those between the transforms of the plan");
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
  cudaLaunchConfig_t launch{};
  launch.gridDim = static_cast<unsigned>(blocks);
  launch.blockDim = threads;
  launch.stream = static_cast<cudaStream_t>(block.stream);
  const cudaError_t status =
      cudaLaunchKernelEx(&launch, cuda_detail::each_element<T, F>, loops, static_cast<T*>(block.data), f);
  if (status != cudaSuccess)
    throw Error(operation, cudaGetErrorString(status), "a kernel that can be launched");
}

}  // namespace weft
