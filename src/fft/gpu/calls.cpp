// cuFFT as local FFT: each call (fft/calls) is a plan of cuFFT. The executor provides the work area. A plan
// belongs to the device that the thread had entered when it was made.
#include <cufftXt.h>

#include "base/text.hpp"
#include "device/cuda/driver.hpp"
#include "fft/calls/run_calls.hpp"
#include "weft/error.hpp"

namespace weft {

namespace {

const char* message(cufftResult status) {
  switch (status) {
    case CUFFT_INVALID_PLAN:
      return "invalid plan";
    case CUFFT_ALLOC_FAILED:
      return "no memory on the device or the host";
    case CUFFT_INVALID_VALUE:
      return "invalid value";
    case CUFFT_INTERNAL_ERROR:
      return "internal error";
    case CUFFT_EXEC_FAILED:
      return "execution failed";
    case CUFFT_SETUP_FAILED:
      return "the library could not be set up";
    case CUFFT_INVALID_SIZE:
      return "a size that cuFFT does not support";
    case CUFFT_INVALID_DEVICE:
      return "a plan of another device";
    case CUFFT_NOT_SUPPORTED:
      return "not supported";
    default:
      return "an error";
  }
}

/// cuFFT calls it an internal error, too, if it has no memory for what it keeps on a device itself.
std::string if_memory_is_scarce() {
  constexpr std::size_t little = std::size_t{256} << 20;
  std::size_t free = 0, total = 0;
  if (cudaMemGetInfo(&free, &total) != cudaSuccess) {
    cudaGetLastError();
    return "";
  }
  if (free > little) return "";
  return ", perhaps for want of memory, of which " + human_bytes(static_cast<double>(free)) + " are free";
}

void check(cufftResult status, const char* call) {
  if (status != CUFFT_SUCCESS)
    throw Error(std::string("cufft: ") + call,
                std::string(message(status)) + " (" + std::to_string(static_cast<int>(status)) + ")" +
                    if_memory_is_scarce(),
                "success");
}

class CufftPlan final : public StreamFft {
 public:
  explicit CufftPlan(const CufftCall& call)
      : type_(type_of(call)), inverse_(call.direction == Direction::backward) {
    check(cufftCreate(&plan_), "cufftCreate");
    try {
      check(cufftSetAutoAllocation(plan_, 0), "cufftSetAutoAllocation");
      long long n[3], from[3], to[3];
      for (std::size_t i = 0; i < 3; ++i) {
        n[i] = call.n[i];
        from[i] = call.from.embed[i];
        to[i] = call.to.embed[i];
      }
      check(cufftMakePlanMany64(plan_, call.axes, n, from, call.from.stride, call.from.distance, to,
                                call.to.stride, call.to.distance, type_, call.batch, &work_bytes_),
            ("cufftMakePlanMany64 of " + to_string(call)).c_str());
    } catch (...) {
      cufftDestroy(plan_);
      throw;
    }
  }
  ~CufftPlan() override { cufftDestroy(plan_); }
  CufftPlan(const CufftPlan&) = delete;
  CufftPlan& operator=(const CufftPlan&) = delete;

  std::size_t work_bytes() const override { return work_bytes_; }

  void enqueue(DeviceStream& stream, std::byte* from, std::byte* to, std::byte* work,
               const FftContext& /*context*/) override {
    check(cufftSetStream(plan_, static_cast<cudaStream_t>(stream.native())), "cufftSetStream");
    if (work_bytes_ > 0) check(cufftSetWorkArea(plan_, work), "cufftSetWorkArea");
    check(execute(from, to), "execute");
  }

 private:
  static cufftType type_of(const CufftCall& call) {
    const bool wide = call.precision == Precision::float64;
    if (call.kind == FftKind::c2c) return wide ? CUFFT_Z2Z : CUFFT_C2C;
    if (call.direction == Direction::forward) return wide ? CUFFT_D2Z : CUFFT_R2C;
    return wide ? CUFFT_Z2D : CUFFT_C2R;
  }

  cufftResult execute(void* from, void* to) const {
    const int direction = inverse_ ? CUFFT_INVERSE : CUFFT_FORWARD;
    switch (type_) {
      case CUFFT_Z2Z:
        return cufftExecZ2Z(plan_, static_cast<cufftDoubleComplex*>(from),
                            static_cast<cufftDoubleComplex*>(to), direction);
      case CUFFT_C2C:
        return cufftExecC2C(plan_, static_cast<cufftComplex*>(from), static_cast<cufftComplex*>(to),
                            direction);
      case CUFFT_D2Z:
        return cufftExecD2Z(plan_, static_cast<cufftDoubleReal*>(from), static_cast<cufftDoubleComplex*>(to));
      case CUFFT_R2C:
        return cufftExecR2C(plan_, static_cast<cufftReal*>(from), static_cast<cufftComplex*>(to));
      case CUFFT_Z2D:
        return cufftExecZ2D(plan_, static_cast<cufftDoubleComplex*>(from), static_cast<cufftDoubleReal*>(to));
      case CUFFT_C2R:
        return cufftExecC2R(plan_, static_cast<cufftComplex*>(from), static_cast<cufftReal*>(to));
    }
    return CUFFT_INVALID_PLAN;
  }

  cufftHandle plan_ = 0;
  cufftType type_;
  bool inverse_;
  std::size_t work_bytes_ = 0;
};

std::shared_ptr<StreamFft> plan_on(Device& device, const FftProblem& problem) {
  const MakeCallPlan make = [](const CufftCall& call) { return std::make_shared<CufftPlan>(call); };
  return make_fastest_fft_of_calls(device, problem, make);
}

std::string version() {
  int number = 0;
  check(cufftGetVersion(&number), "cufftGetVersion");
  return "cuFFT " + std::to_string(number / 1000) + "." + std::to_string(number / 100 % 10) + "." +
         std::to_string(number % 100);
}

}  // namespace

FftRow cufft_row() {
  FftRow row{.name = "cufft",
             .missing = [] { return cuda::missing(); },
             .unable = unable_in_calls,
             .plan = nullptr,
             .file = [] { return std::string(); },
             .version = version};
  row.memory = MemoryKind::cuda;
  row.plan_on = plan_on;
  return row;
}

}  // namespace weft
