// heFFTe's transforms of arrays in memory of GPUs. Ranks share the GPUs that there are, each with a stream of
// its own.
#include <gtest/gtest.h>

#include "../world.hpp"

namespace weft::test {

namespace gpu = heffte::gpu;
using heffte::scale;
using heffte::backend::cufft;

namespace {

class HeffteGpu : public testing::Test {
 protected:
  HeffteGpu() {
    gpu::device_set(rank() % gpu::device_count());
    gpu::check(cudaStreamCreate(&stream_), "cudaStreamCreate");
  }
  ~HeffteGpu() override { cudaStreamDestroy(stream_); }

  cudaStream_t stream_ = nullptr;
};

}  // namespace

TEST_F(HeffteGpu, ComplexTransforms) {
  const World before = some_world({5, 6, 9}, false), after = fourier(before);
  heffte::fft3d<cufft> fft(stream_, brick(before.box()), pencil(before.box(), 0, {2, 1, 0}), MPI_COMM_WORLD);
  const auto in = part<std::complex<double>>(before, fft.inbox());
  const gpu::vector<std::complex<double>> on_gpu = gpu::transfer::load(stream_, in.data(), in.size());
  gpu::vector<std::complex<double>> out(stream_, static_cast<std::size_t>(fft.size_outbox()));
  heffte::fft3d<cufft>::buffer_container<std::complex<double>> workspace(fft.size_workspace());
  fft.forward(on_gpu.data(), out.data(), workspace.data(), scale::full);
  fft.synchronize_device();
  EXPECT_LT(difference(after, fft.outbox(), gpu::transfer::unload(out).data(), 1. / 270), allowed<double>());
  const auto again = fft.backward(out);
  fft.synchronize_device();
  EXPECT_LT(difference(before, fft.inbox(), gpu::transfer::unload(again).data()), allowed<double>());
}

TEST_F(HeffteGpu, BatchesOfRealTransforms) {
  const World before = some_world({5, 6, 9}, true), after = fourier(before, 2);
  const heffte::fft3d_r2c<cufft> fft(stream_, brick(before.box()), brick(after.box()), 2, MPI_COMM_WORLD);
  std::vector<float> in = part<float>(before, fft.inbox());
  const std::size_t points = in.size(), modes = static_cast<std::size_t>(fft.size_outbox());
  in.insert(in.end(), in.begin(), in.begin() + static_cast<std::ptrdiff_t>(points));
  gpu::vector<float> on_gpu = gpu::transfer::load(stream_, in.data(), in.size());
  gpu::vector<std::complex<float>> out(stream_, 2 * modes);
  fft.forward(2, on_gpu.data(), out.data());
  fft.synchronize_device();
  const std::vector<std::complex<float>> result = gpu::transfer::unload(out);
  EXPECT_LT(difference(after, fft.outbox(), result.data()), allowed<float>());
  EXPECT_LT(difference(after, fft.outbox(), result.data() + modes), allowed<float>());
  fft.backward(2, out.data(), on_gpu.data(), scale::full);
  fft.synchronize_device();
  const std::vector<float> again = gpu::transfer::unload(on_gpu);
  EXPECT_LT(difference(before, fft.inbox(), again.data() + points), allowed<float>());
}

TEST_F(HeffteGpu, CosinesScaleWhereWeftCan) {
  const World before = some_world({4, 5, 7}, true);
  World after = before;
  for (std::size_t a = 0; a < 3; ++a)
    after = transformed(after, a, after.size[a],
                        [](int j, int k, int n) { return Complex(2 * std::cos(M_PI * (j + .5) * k / n)); });
  const heffte::rtransform<heffte::backend::cufft_cos> fft(stream_, brick(before.box()), brick(before.box()),
                                                           MPI_COMM_WORLD);
  const auto in = part<double>(before, fft.inbox());
  gpu::vector<double> both = gpu::transfer::load(stream_, in.data(), in.size());
  fft.forward(both.data(), both.data());
  fft.synchronize_device();
  EXPECT_LT(difference(after, fft.outbox(), gpu::transfer::unload(both).data()), allowed<double>());
  EXPECT_THROW(fft.backward(both.data(), both.data()), std::runtime_error);
  fft.backward(both.data(), both.data(), scale::full);
  fft.synchronize_device();
  EXPECT_LT(difference(before, fft.inbox(), gpu::transfer::unload(both).data()), allowed<double>());
}

}  // namespace weft::test
