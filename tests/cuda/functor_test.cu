// An operator of the user's in CUDA C++ (weft/cuda.hpp), beside the same on the host.
#include <cuComplex.h>
#include <gtest/gtest.h>

#include <complex>
#include <vector>

#include "weft/cuda.hpp"
#include "weft/weft.hpp"

namespace weft::test {

namespace {

double factor_at(Index i, Index j, Index k) {
  return static_cast<double>(1 + i + 2 * j + 3 * k);
}

struct Multiply {
  __device__ void operator()(const CudaFields<cuDoubleComplex>& u, const CudaIndex& k) const {
    const auto factor = static_cast<double>(1 + k[0] + 2 * k[1] + 3 * k[2]);
    for (int f = 0; f < 2; ++f) {
      u[f].x *= factor;
      u[f].y *= factor;
    }
  }
};

}  // namespace

TEST(CudaFunctors, WorkOnEveryElementOfABlock) {
  Problem p;
  p.shape = {6, 10, 9};
  p.batch = 2;
  p.between = Between::modes;
  p.backward_scale = Scale::full;
  Plan host(Comm::self(), p);
  p.memory = MemoryKind::cuda;
  Plan plan(Comm::self(), p);
  using Complex = std::complex<double>;
  std::vector<Complex> in(plan.input_count()), expected(in.size()), out(in.size());
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = std::polar(1.0, static_cast<double>(i * i % 1000));
  host.apply(in.data(), expected.data(), [](const Block& block) {
    for_each_element<Complex>(block, [](const Fields<Complex>& u, const Shape& k) {
      for (int f = 0; f < 2; ++f) u[f] *= factor_at(k[0], k[1], k[2]);
    });
  });
  const std::size_t bytes = in.size() * sizeof(Complex);
  void *from = nullptr, *to = nullptr;
  ASSERT_EQ(cudaMalloc(&from, bytes), cudaSuccess);
  ASSERT_EQ(cudaMalloc(&to, bytes), cudaSuccess);
  ASSERT_EQ(cudaMemcpy(from, in.data(), bytes, cudaMemcpyHostToDevice), cudaSuccess);
  plan.apply(static_cast<const void*>(from), to,
             [](const Block& block) { for_each_element_on_gpu<cuDoubleComplex>(block, Multiply{}); });
  plan.wait();
  ASSERT_EQ(cudaDeviceSynchronize(), cudaSuccess);
  ASSERT_EQ(cudaMemcpy(out.data(), to, bytes, cudaMemcpyDeviceToHost), cudaSuccess);
  for (std::size_t i = 0; i < out.size(); ++i) ASSERT_LT(std::abs(out[i] - expected[i]), 1e-11);
  cudaFree(from);
  cudaFree(to);
}

}  // namespace weft::test
