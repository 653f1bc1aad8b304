// A transform in memory of GPUs: the spectrum of a wave. Ranks are processes with a GPU each, or the threads
// of one process that drives all of them; where there are fewer GPUs than ranks, ranks share them.
//
//   mpirun -n 4 gpus [--grid N] [--comm mpi|threads:P] [--set OPTION=VALUE]...
#include <cmath>
#include <complex>
#include <numbers>

#include "cuda/memory.hpp"
#include "ranks.hpp"

namespace {

using Complex = std::complex<double>;

using example::check, example::DeviceBuffer, example::Stream;

/// This rank's part of the wave, in memory of the host.
weft::Buffer<double> wave_of(const weft::Plan& plan, const weft::Shape& wave, weft::Index n) {
  weft::Buffer<double> field(plan.input_count());
  weft::for_each_input(plan, [&](const weft::Shape& x, std::size_t position) {
    const auto phase = static_cast<double>((wave[0] * x[0] + wave[1] * x[1] + wave[2] * x[2]) % n);
    field[position] = std::cos(2 * std::numbers::pi * phase / static_cast<double>(n));
  });
  return field;
}

bool run(const example::Ranks& ranks, const example::Settings& settings) {
  const weft::Index n = settings.grid;
  const weft::Shape wave = {3, n - 2, 1};

  // [device]
  int devices = 0;
  check(cudaGetDeviceCount(&devices));
  check(cudaSetDevice(ranks.comm.rank() % devices));
  // [/device]

  // [plan]
  weft::Problem problem{.shape = {n, n, n}};
  problem.transforms = {weft::Transform::c2c, weft::Transform::c2c, weft::Transform::r2c};
  problem.memory = weft::MemoryKind::cuda;
  problem.output = weft::Distribution::slab(1);
  const Stream stream;
  weft::Plan plan(ranks.comm, problem, settings.options);
  plan.set_stream(stream);
  // [/plan]

  const weft::Buffer<double> points = wave_of(plan, wave, n);
  weft::Buffer<Complex> result(plan.output_count());
  // [forward]
  const DeviceBuffer<double> field(plan.input_count());
  const DeviceBuffer<Complex> modes(plan.output_count());
  const std::size_t in_bytes = plan.input_count() * sizeof(double);
  const std::size_t out_bytes = plan.output_count() * sizeof(Complex);
  check(cudaMemcpyAsync(field.data(), points.data(), in_bytes, cudaMemcpyHostToDevice, stream));
  plan.forward(field.data(), modes.data());
  check(cudaMemcpyAsync(result.data(), modes.data(), out_bytes, cudaMemcpyDeviceToHost, stream));
  check(cudaStreamSynchronize(stream));
  // [/forward]

  const double peak = plan.scale_factor() / 2;
  double squares = 0;
  weft::for_each_output(plan, [&](const weft::Shape& k, std::size_t position) {
    squares += std::norm(result[position] - (k == wave ? peak : 0.0));
  });
  const double error = std::sqrt(ranks.sum(squares)) / peak;
  return ranks.close("gpus", {{"error", error, 1e-13}});
}

}  // namespace

int main(int argc, char** argv) {
  return example::run(example::parse(argc, argv, {"gpus", 128, "at least 8"}), run);
}
