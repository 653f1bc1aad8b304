// The product of two fields whose state is modes, as the nonlinear terms of pseudo-spectral codes, without
// aliasing errors by the 3/2 rule: from modes to points, the product, and back to modes, in one execution on
// GPUs. Of the fields cos(a x) and cos(b x) it is (cos((a + b) x) + cos((a - b) x)) / 2, of which a + b is
// not among the modes that are kept. Without the rule it would appear as another mode.
//
//   mpirun -n 2 product_on_gpus [--grid N] [--comm mpi|threads:P] [--set OPTION=VALUE]...
#include <cuComplex.h>

#include <cmath>
#include <complex>

#include "cuda/memory.hpp"
#include "ranks.hpp"
#include "weft/cuda.hpp"

namespace {

using Complex = std::complex<double>;
using example::check, example::DeviceBuffer, example::Stream;

// [operator]
/// What is done with the two fields at a point.
struct Product {
  __device__ void operator()(const weft::CudaFields<double>& u, const weft::CudaIndex&) const {
    u[0] *= u[1];
  }
};
// [/operator]

bool run(const example::Ranks& ranks, const example::Settings& settings) {
  int devices = 0;
  check(cudaGetDeviceCount(&devices));
  check(cudaSetDevice(ranks.comm.rank() % devices));

  const weft::Index n = settings.grid, points = n / 2 * 3;
  // [plan]
  weft::Problem problem{.shape = {points, points, points}};
  problem.transforms = {weft::Transform::c2c, weft::Transform::c2c, weft::Transform::r2c};
  problem.modes = {n, n, n / 2 + 1};
  problem.between = weft::Between::points;
  problem.batch = 2;    // fields
  problem.results = 1;  // their product
  problem.forward_scale = weft::Scale::full;
  problem.memory = weft::MemoryKind::cuda;
  problem.input = problem.output = weft::Distribution::slab(1);
  const Stream stream;
  weft::Plan plan(ranks.comm, problem, settings.options);
  plan.set_stream(stream);
  // [/plan]

  // Of a real field only the modes k2 >= 0 are stored.
  const weft::Shape a{3, -2, 1}, b{n / 2 - 2, 1, 3};
  const weft::Shape difference{b[0] - a[0], b[1] - a[1], b[2] - a[2]};
  std::vector<double> k[3];
  for (int axis = 0; axis < 3; ++axis) k[axis] = weft::wavenumbers(plan, axis);
  const auto is = [&](const weft::Shape& at, const weft::Shape& lo, const weft::Shape& mode) {
    bool same = true;
    for (int axis = 0; axis < 3; ++axis)
      same =
          same && k[axis][static_cast<std::size_t>(at[axis] - lo[axis])] == static_cast<double>(mode[axis]);
    return same;
  };
  weft::Buffer<Complex> fields(plan.input_count()), result(plan.output_count());
  const auto second = static_cast<std::size_t>(plan.input_distance());
  weft::for_each_input(plan, [&](const weft::Shape& at, std::size_t position) {
    fields[position] = is(at, plan.input_box().lo, a) ? 0.5 : 0.0;
    fields[position + second] = is(at, plan.input_box().lo, b) ? 0.5 : 0.0;
  });

  const DeviceBuffer<Complex> modes(fields.size()), modes_of_product(result.size());
  check(cudaMemcpyAsync(modes.data(), fields.data(), fields.size() * sizeof(Complex), cudaMemcpyHostToDevice,
                        stream));
  // [apply]
  plan.apply(modes.data(), modes_of_product.data(),
             [](const weft::Block& block) { weft::for_each_element_on_gpu<double>(block, Product{}); });
  // [/apply]
  check(cudaMemcpyAsync(result.data(), modes_of_product.data(), result.size() * sizeof(Complex),
                        cudaMemcpyDeviceToHost, stream));
  check(cudaStreamSynchronize(stream));

  double squares = 0;
  weft::for_each_output(plan, [&](const weft::Shape& at, std::size_t position) {
    squares += std::norm(result[position] - (is(at, plan.output_box().lo, difference) ? 0.25 : 0.0));
  });
  return ranks.close("product on GPUs", {{"error", std::sqrt(ranks.sum(squares)), 1e-13}});
}

}  // namespace

int main(int argc, char** argv) {
  return example::run(example::parse(argc, argv, {"product_on_gpus", 96, "even, at least 16"}), run);
}
