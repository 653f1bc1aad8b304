// cuFFT and hipFFT as local FFT: each call (fft/calls) is a plan of the library. The executor provides the
// work area. A plan belongs to the device that the thread had entered when it was made.
#include "base/text.hpp"
#include "device/gpu/maker.hpp"
#include "fft/calls/run_calls.hpp"
#include "fft/gpu/library.hpp"
#include "weft/error.hpp"

namespace weft {

namespace {

const char* message(WEFT_FFT(Result) status) {
  switch (status) {
    case WEFT_FFT_CODE(INVALID_PLAN):
      return "invalid plan";
    case WEFT_FFT_CODE(ALLOC_FAILED):
      return "no memory on the device or the host";
    case WEFT_FFT_CODE(INVALID_VALUE):
      return "invalid value";
    case WEFT_FFT_CODE(INTERNAL_ERROR):
      return "internal error";
    case WEFT_FFT_CODE(EXEC_FAILED):
      return "execution failed";
    case WEFT_FFT_CODE(SETUP_FAILED):
      return "the library could not be set up";
    case WEFT_FFT_CODE(INVALID_SIZE):
      return "a size that the library does not support";
    case WEFT_FFT_CODE(INVALID_DEVICE):
      return "a plan of another device";
    case WEFT_FFT_CODE(NOT_SUPPORTED):
      return "not supported";
    default:
      return "an error";
  }
}

/// The library calls it an internal error, too, if it has no memory for what it keeps on a device itself.
std::string if_memory_is_scarce() {
  constexpr std::size_t little = std::size_t{256} << 20;
  std::size_t free = 0, total = 0;
  if (WEFT_GPU(MemGetInfo)(&free, &total) != gpus::success) {
    static_cast<void>(gpus::last_status());
    return "";
  }
  if (free > little) return "";
  return ", perhaps for want of memory, of which " + human_bytes(static_cast<double>(free)) + " are free";
}

void check(WEFT_FFT(Result) status, const char* call) {
  if (status != WEFT_FFT_CODE(SUCCESS))
    throw Error(std::string(gpus::fft_name) + ": " + call,
                std::string(message(status)) + " (" + std::to_string(static_cast<int>(status)) + ")" +
                    if_memory_is_scarce(),
                "success");
}

class LibraryPlan final : public StreamFft {
 public:
  explicit LibraryPlan(const CufftCall& call)
      : type_(type_of(call)), inverse_(call.direction == Direction::backward) {
    check(WEFT_FFT(Create)(&plan_), WEFT_FFT_NAME(Create));
    try {
      check(WEFT_FFT(SetAutoAllocation)(plan_, 0), WEFT_FFT_NAME(SetAutoAllocation));
      long long n[3], from[3], to[3];
      for (std::size_t i = 0; i < 3; ++i) {
        n[i] = call.n[i];
        from[i] = call.from.embed[i];
        to[i] = call.to.embed[i];
      }
      check(WEFT_FFT(MakePlanMany64)(plan_, call.axes, n, from, call.from.stride, call.from.distance, to,
                                     call.to.stride, call.to.distance, type_, call.batch, &work_bytes_),
            (WEFT_FFT_NAME(MakePlanMany64) " of " + to_string(call)).c_str());
    } catch (...) {
      static_cast<void>(WEFT_FFT(Destroy)(plan_));
      throw;
    }
  }
  ~LibraryPlan() override { static_cast<void>(WEFT_FFT(Destroy)(plan_)); }
  LibraryPlan(const LibraryPlan&) = delete;
  LibraryPlan& operator=(const LibraryPlan&) = delete;

  std::size_t work_bytes() const override { return work_bytes_; }

  void enqueue(DeviceStream& stream, std::byte* from, std::byte* to, std::byte* work,
               const FftContext& /*context*/) override {
    check(WEFT_FFT(SetStream)(plan_, static_cast<gpus::StreamHandle>(stream.native())),
          WEFT_FFT_NAME(SetStream));
    if (work_bytes_ > 0) check(WEFT_FFT(SetWorkArea)(plan_, work), WEFT_FFT_NAME(SetWorkArea));
    check(execute(from, to), "execute");
  }

 private:
  static WEFT_FFT(Type) type_of(const CufftCall& call) {
    const bool wide = call.precision == Precision::float64;
    if (call.kind == FftKind::c2c) return wide ? WEFT_FFT_CODE(Z2Z) : WEFT_FFT_CODE(C2C);
    if (call.direction == Direction::forward) return wide ? WEFT_FFT_CODE(D2Z) : WEFT_FFT_CODE(R2C);
    return wide ? WEFT_FFT_CODE(Z2D) : WEFT_FFT_CODE(C2R);
  }

  WEFT_FFT(Result) execute(void* from, void* to) const {
    const int direction = inverse_ ? gpus::inverse : WEFT_FFT_CODE(FORWARD);
    switch (type_) {
      case WEFT_FFT_CODE(Z2Z):
        return WEFT_FFT(ExecZ2Z)(plan_, static_cast<WEFT_FFT(DoubleComplex)*>(from),
                                 static_cast<WEFT_FFT(DoubleComplex)*>(to), direction);
      case WEFT_FFT_CODE(C2C):
        return WEFT_FFT(ExecC2C)(plan_, static_cast<WEFT_FFT(Complex)*>(from),
                                 static_cast<WEFT_FFT(Complex)*>(to), direction);
      case WEFT_FFT_CODE(D2Z):
        return WEFT_FFT(ExecD2Z)(plan_, static_cast<WEFT_FFT(DoubleReal)*>(from),
                                 static_cast<WEFT_FFT(DoubleComplex)*>(to));
      case WEFT_FFT_CODE(R2C):
        return WEFT_FFT(ExecR2C)(plan_, static_cast<WEFT_FFT(Real)*>(from),
                                 static_cast<WEFT_FFT(Complex)*>(to));
      case WEFT_FFT_CODE(Z2D):
        return WEFT_FFT(ExecZ2D)(plan_, static_cast<WEFT_FFT(DoubleComplex)*>(from),
                                 static_cast<WEFT_FFT(DoubleReal)*>(to));
      case WEFT_FFT_CODE(C2R):
        return WEFT_FFT(ExecC2R)(plan_, static_cast<WEFT_FFT(Complex)*>(from),
                                 static_cast<WEFT_FFT(Real)*>(to));
    }
    return WEFT_FFT_CODE(INVALID_PLAN);
  }

  WEFT_FFT(Handle) plan_{};
  WEFT_FFT(Type) type_;
  bool inverse_;
  std::size_t work_bytes_ = 0;
};

std::shared_ptr<StreamFft> plan_on(Device& device, const FftProblem& problem) {
  const MakeCallPlan make = [](const CufftCall& call) { return std::make_shared<LibraryPlan>(call); };
  return make_fastest_fft_of_calls(device, problem, make);
}

std::string version() {
  int number = 0;
  check(WEFT_FFT(GetVersion)(&number), WEFT_FFT_NAME(GetVersion));
  return gpus::fft_version(number);
}

}  // namespace

FftRow gpu_fft_row() {
  FftRow row{.name = gpus::fft_name,
             .missing = [] { return gpus::missing(); },
             .unable = unable_in_calls,
             .plan = nullptr,
             .file = [] { return std::string(); },
             .version = version};
  row.memory = MemoryKind::cuda;
  row.plan_on = plan_on;
  return row;
}

}  // namespace weft
