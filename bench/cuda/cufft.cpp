// Plain cuFFT on one GPU, that of rank 0, while the others wait: the whole array, in natural order.
#include <cuda_runtime_api.h>
#include <cufft.h>

#include <algorithm>
#include <vector>

#include "base/text.hpp"
#include "clock.hpp"
#include "comm/agree.hpp"
#include "device/device.hpp"
#include "device/gpu/maker.hpp"
#include "peers.hpp"

namespace weft::bench {

namespace {

constexpr const char* operation = "--peers cufft";

void check(cufftResult status, const char* call) {
  if (status != CUFFT_SUCCESS)
    throw Error(operation, std::string(call) + ": error " + std::to_string(static_cast<int>(status)),
                "success");
}

class Cufft final : public Peer {
 public:
  explicit Cufft(const Comm& comm) : comm_(comm) {}
  ~Cufft() override {
    if (planned_) cufftDestroy(plan_);
  }

  /// On rank 0.
  void prepare(const Case& c) {
    const Problem p = c.problem();
    wide_ = p.precision == Precision::float64;
    real_ = p.transforms.contains(Transform::r2c);
    std::vector<long long> n(p.shape.begin(), p.shape.end()), lines = n, modes = n;
    if (real_) modes.back() = modes.back() / 2 + 1;
    if (real_ && c.in_place) lines.back() = 2 * modes.back();
    const std::size_t real = wide_ ? 8 : 4;
    std::size_t in = real_ ? real : 2 * real, out = 2 * real;
    for (std::size_t a = 0; a < n.size(); ++a) {
      in *= static_cast<std::size_t>(lines[a]);
      out *= static_cast<std::size_t>(modes[a]);
    }
    check(cufftCreate(&plan_), "cufftCreate");
    planned_ = true;
    check(cufftSetAutoAllocation(plan_, 0), "cufftSetAutoAllocation");
    std::size_t work = 0;
    const cufftType type = real_ ? (wide_ ? CUFFT_D2Z : CUFFT_R2C) : (wide_ ? CUFFT_Z2Z : CUFFT_C2C);
    // Strides of a dense array are told all the same: without them a real one in place would not be padded.
    check(cufftMakePlanMany64(plan_, static_cast<int>(n.size()), n.data(), lines.data(), 1, 1, modes.data(),
                              1, 1, type, 1, &work),
          "cufftMakePlanMany64");
    const std::size_t needed = (c.in_place ? 0 : in) + out + work;
    std::size_t free = 0, total = 0;
    gpus::check(cudaMemGetInfo(&free, &total), "cudaMemGetInfo");
    if (needed > free)
      throw Error(operation,
                  human_bytes(static_cast<double>(needed)) + " on one GPU, of which " +
                      human_bytes(static_cast<double>(free)) + " are free",
                  "a smaller problem");
    const std::shared_ptr<Device> device = current_device();
    about_ = ", one GPU: " + device->name();
    out_ = device->allocate(out, operation);
    in_ = c.in_place ? out_ : device->allocate(in, operation);
    work_ = device->allocate(work, operation);
    in_bytes_ = in;
    if (work > 0) check(cufftSetWorkArea(plan_, work_.get()), "cufftSetWorkArea");
    make_numbers(*device);
    refill();
  }

  /// Numbers of size one, as Weft's input has: of zeros, a processor's clock runs faster.
  void refill() override {
    if (!in_) return;
    for (std::size_t at = 0; at < in_bytes_; at += numbers_bytes)
      gpus::check(cudaMemcpyAsync(in_.get() + at, numbers_.get(), std::min(numbers_bytes, in_bytes_ - at),
                                  cudaMemcpyDeviceToDevice, nullptr),
                  "cudaMemcpyAsync");
    gpus::check(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");
  }

  double run() override {
    comm_.barrier();
    double time = 0;
    agree(comm_.impl(), operation, [&] {
      if (comm_.rank() != 0) return;
      const double begin = seconds();
      check(execute(), "execution");
      gpus::check(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");
      time = seconds() - begin;
    });
    return time;
  }

  std::string about() const override {
    int version = 0;
    cufftGetVersion(&version);
    return "cuFFT " + std::to_string(version) + about_;
  }

 private:
  void make_numbers(Device& device) {
    std::vector<std::byte> numbers(numbers_bytes);
    const auto fill = [&]<class Real>(Real* at) {
      for (std::size_t i = 0; i < numbers_bytes / sizeof(Real); ++i)
        at[i] = static_cast<Real>(static_cast<int>(i * 31 % 17) - 8);
    };
    wide_ ? fill(reinterpret_cast<double*>(numbers.data())) : fill(reinterpret_cast<float*>(numbers.data()));
    numbers_ = device.allocate(numbers_bytes, operation);
    gpus::check(cudaMemcpy(numbers_.get(), numbers.data(), numbers_bytes, cudaMemcpyHostToDevice),
                "cudaMemcpy");
  }

  cufftResult execute() {
    void *in = in_.get(), *out = out_.get();
    if (wide_)
      return real_ ? cufftExecD2Z(plan_, static_cast<cufftDoubleReal*>(in),
                                  static_cast<cufftDoubleComplex*>(out))
                   : cufftExecZ2Z(plan_, static_cast<cufftDoubleComplex*>(in),
                                  static_cast<cufftDoubleComplex*>(out), CUFFT_FORWARD);
    return real_ ? cufftExecR2C(plan_, static_cast<cufftReal*>(in), static_cast<cufftComplex*>(out))
                 : cufftExecC2C(plan_, static_cast<cufftComplex*>(in), static_cast<cufftComplex*>(out),
                                CUFFT_FORWARD);
  }

  Comm comm_;
  cufftHandle plan_ = 0;
  bool planned_ = false, wide_ = true, real_ = false;
  std::string about_;
  std::shared_ptr<std::byte> in_, out_, work_;
  std::size_t in_bytes_ = 0;
  static constexpr std::size_t numbers_bytes = std::size_t{8} << 20;
  std::shared_ptr<std::byte> numbers_;
};

}  // namespace

std::unique_ptr<Peer> make_cufft(const Comm& comm, const Case& c) {
  auto cufft = std::make_unique<Cufft>(comm);
  // Only rank 0 works, and may fail.
  agree(comm.impl(), operation, [&] {
    if (comm.rank() == 0) cufft->prepare(c);
  });
  return cufft;
}

}  // namespace weft::bench
