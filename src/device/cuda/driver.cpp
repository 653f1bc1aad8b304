#include "device/cuda/driver.hpp"

#include "weft/error.hpp"

namespace weft::cuda {

namespace {

/// The version of the driver's interface that this code is written for.
constexpr unsigned version = 12000;

template <class Function>
void find(Function& function, const char* name, std::string& missing) {
  cudaDriverEntryPointQueryResult result{};
  void* address = nullptr;
  const cudaError_t status =
      cudaGetDriverEntryPointByVersion(name, &address, version, cudaEnableDefault, &result);
  if (status != cudaSuccess || result != cudaDriverEntryPointSuccess || address == nullptr) {
    missing = std::string("the driver lacks ") + name + ", CUDA 12 or later is needed";
    return;
  }
  function = reinterpret_cast<Function>(address);
}

std::string text_of(int version_number) {
  return std::to_string(version_number / 1000) + "." + std::to_string(version_number % 1000 / 10);
}

/// The reason in words. CUDA's own text speaks of an old driver even where none is installed.
std::string reason_of(cudaError_t status) {
  int driver = 0;
  if (status != cudaErrorInsufficientDriver || cudaDriverGetVersion(&driver) != cudaSuccess)
    return cudaGetErrorString(status);
  if (driver == 0) return "no NVIDIA driver is installed";
  return "the NVIDIA driver is for CUDA " + text_of(driver) + ", and this Weft was built with CUDA " +
         text_of(CUDART_VERSION);
}

struct Found {
  Driver driver{};
  std::string missing;

  Found() {
    int devices = 0;
    const cudaError_t status = cudaGetDeviceCount(&devices);
    if (status != cudaSuccess || devices == 0) {
      cudaGetLastError();  // clears it, so that the user's next call does not report it
      missing = status != cudaSuccess ? reason_of(status) : "no GPU is visible";
      return;
    }
    find(driver.error_string, "cuGetErrorString", missing);
    find(driver.current_context, "cuCtxGetCurrent", missing);
    find(driver.push_context, "cuCtxPushCurrent", missing);
    find(driver.pop_context, "cuCtxPopCurrent", missing);
    find(driver.pointer_attributes, "cuPointerGetAttributes", missing);
    find(driver.memory_operations, "cuStreamBatchMemOp", missing);
  }
};

const Found& found() {
  static const Found instance;
  return instance;
}

[[noreturn]] void fail(const char* call, const std::string& message) {
  throw Error(std::string("cuda: ") + call, message, "success");
}

}  // namespace

const std::string& missing() {
  return found().missing;
}

const Driver& driver() {
  if (!missing().empty()) fail("driver", missing());
  return found().driver;
}

void check(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  cudaGetLastError();
  fail(call, std::string(cudaGetErrorName(status)) + ": " + cudaGetErrorString(status));
}

void check(CUresult status, const char* call) {
  if (status == CUDA_SUCCESS) return;
  const char* text = nullptr;
  driver().error_string(status, &text);
  fail(call, text != nullptr ? text : "error " + std::to_string(status));
}

}  // namespace weft::cuda
