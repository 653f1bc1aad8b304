// heFFTe's containers in memory of the current GPU, and its copies to and from them. The program links CUDA's
// runtime.
#pragma once

#include "../../types.hpp"

// NOLINTBEGIN(readability-identifier-naming): the names are heFFTe's
namespace heffte {
namespace gpu {

/// Throws std::runtime_error with CUDA's reason unless `status` is success.
inline void check(cudaError_t status, const char* call) {
  if (status != cudaSuccess)
    throw std::runtime_error(std::string("heffte: ") + call + ": " + cudaGetErrorString(status));
}

/// Number of GPUs, the one that is current from now on, and waiting for the default stream.
inline int device_count() {
  int count = 0;
  check(cudaGetDeviceCount(&count), "cudaGetDeviceCount");
  return count;
}
inline void device_set(int active_device) {
  check(cudaSetDevice(active_device), "cudaSetDevice");
}
inline void synchronize_default_stream() {
  check(cudaStreamSynchronize(nullptr), "cudaStreamSynchronize");
}

/// Elements in memory of the GPU that is current when they are made; they are not initialised. Copies are
/// made on the stream, and are complete when they return.
template <typename T>
class vector {
 public:
  using value_type = T;
  using stream_type = cudaStream_t;

  explicit vector(std::size_t count = 0) : vector(cudaStream_t(nullptr), count) {}
  vector(cudaStream_t stream, std::size_t count) : stream_(stream), size_(count) {
    if (count == 0) return;
    void* memory = nullptr;
    check(cudaMalloc(&memory, count * sizeof(T)), "cudaMalloc");
    data_ = static_cast<T*>(memory);
  }
  /// Of elements in memory of the GPU.
  vector(T const* begin, T const* end) : vector(cudaStream_t(nullptr), begin, end) {}
  vector(cudaStream_t stream, T const* begin, T const* end)
      : vector(stream, static_cast<std::size_t>(end - begin)) {
    copy(begin, size_, data_, cudaMemcpyDeviceToDevice);
  }
  vector(vector const& other) : vector(other.stream_, other.data_, other.data_ + other.size_) {}
  vector(vector&& other) noexcept { swap(other); }
  /// Takes over memory of cudaMalloc.
  vector(T*&& memory, std::size_t count) : size_(count), data_(memory) { memory = nullptr; }
  ~vector() { cudaFree(data_); }
  vector& operator=(vector other) noexcept {
    swap(other);
    return *this;
  }

  T* data() { return data_; }
  T const* data() const { return data_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  cudaStream_t device_stream() const { return stream_; }
  /// The memory, which the caller frees by cudaFree; the vector is empty afterwards.
  T* release() {
    T* const memory = data_;
    data_ = nullptr;
    size_ = 0;
    return memory;
  }
  /// Copies elements on this vector's stream and waits.
  void copy(T const* from, std::size_t count, T* to, cudaMemcpyKind kind) const {
    if (count == 0) return;
    check(cudaMemcpyAsync(to, from, count * sizeof(T), kind, stream_), "cudaMemcpyAsync");
    check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize");
  }

 private:
  void swap(vector& other) noexcept {
    std::swap(stream_, other.stream_);
    std::swap(size_, other.size_);
    std::swap(data_, other.data_);
  }
  cudaStream_t stream_ = nullptr;
  std::size_t size_ = 0;
  T* data_ = nullptr;
};

/// Copies between host and GPU. They are complete when they return.
struct transfer {
  template <typename T>
  static vector<T> load(cudaStream_t stream, T const* source, std::size_t count) {
    vector<T> result(stream, count);
    result.copy(source, count, result.data(), cudaMemcpyHostToDevice);
    return result;
  }
  template <typename T>
  static vector<T> load(T const* source, std::size_t count) {
    return load(cudaStream_t(nullptr), source, count);
  }
  template <typename T>
  static vector<T> load(std::vector<T> const& source) {
    return load(source.data(), source.size());
  }
  template <typename T>
  static void load(cudaStream_t stream, T const* source, std::size_t count, T* destination) {
    vector<T>(stream, 0).copy(source, count, destination, cudaMemcpyHostToDevice);
  }
  template <typename T>
  static void load(std::vector<T> const& source, T* destination) {
    load(cudaStream_t(nullptr), source.data(), source.size(), destination);
  }
  template <typename T>
  static void unload(cudaStream_t stream, T const* source, std::size_t count, T* destination) {
    vector<T>(stream, 0).copy(source, count, destination, cudaMemcpyDeviceToHost);
  }
  template <typename T>
  static std::vector<T> unload(cudaStream_t stream, T const* source, std::size_t count) {
    std::vector<T> result(count);
    unload(stream, source, count, result.data());
    return result;
  }
  template <typename T>
  static std::vector<T> unload(T const* source, std::size_t count) {
    return unload(cudaStream_t(nullptr), source, count);
  }
  template <typename T>
  static void unload(vector<T> const& source, T* destination) {
    unload(source.device_stream(), source.data(), source.size(), destination);
  }
  template <typename T>
  static std::vector<T> unload(vector<T> const& source) {
    return unload(source.device_stream(), source.data(), source.size());
  }
  /// Takes over memory of cudaMalloc.
  template <typename T>
  static vector<T> capture(T*&& memory, std::size_t count) {
    return vector<T>(std::move(memory), count);
  }
};

}  // namespace gpu
}  // namespace heffte
// NOLINTEND(readability-identifier-naming)
