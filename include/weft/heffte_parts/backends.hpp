// heFFTe's backends. A backend says where arrays are and which transform is meant; the local FFT is the one
// that Weft takes, but for mkl, which asks for MKL.
#pragma once

#include "engine.hpp"
#include "types.hpp"
#ifdef Heffte_ENABLE_CUDA
#include "gpu/cuda/runtime.hpp"
#endif

// NOLINTBEGIN(readability-identifier-naming): the names are heFFTe's
namespace heffte {

namespace tag {
/// Arrays in memory of the host, and of the current GPU.
struct cpu {};
struct gpu {};
}  // namespace tag

namespace backend {

/// The tags. Without a suffix: the Fourier transform. _cos and _sin: DCT and DST of type 2 forward and 3
/// backward; _cos1 and _sin1: of type 1.
struct stock {};
struct stock_cos {};
struct stock_sin {};
struct stock_cos1 {};
struct fftw {};
struct fftw_cos {};
struct fftw_sin {};
struct fftw_cos1 {};
struct fftw_sin1 {};
struct mkl {};
struct mkl_cos {};
struct mkl_sin {};
struct cufft {};
struct cufft_cos {};
struct cufft_sin {};
struct cufft_cos1 {};
/// These have no counterpart: Weft knows NVIDIA's GPUs only.
struct rocfft {};
struct rocfft_cos {};
struct rocfft_sin {};
struct rocfft_cos1 {};
struct onemkl {};
struct onemkl_cos {};
struct onemkl_sin {};

/// What a backend is over Weft: where its arrays are, its transform, by how much its backward is larger than
/// Weft's, the library of the local FFT that it asks for ("" for Weft's choice), and whether heFFTe's plans
/// reorder by default.
template <typename Location, weft::HeffteTransform Kind, int Factor, bool Reorder>
struct Facts {
  using location = Location;
  static constexpr weft::HeffteTransform transform = Kind;
  static constexpr int backward_factor = Factor;
  static constexpr bool use_reorder = Reorder;
  static constexpr bool exists = true;
};
template <typename Tag>
struct facts {
  using location = tag::cpu;
  static constexpr bool exists = false;
};
template <>
struct facts<stock> : Facts<tag::cpu, weft::HeffteTransform::fourier, 1, true> {};
template <>
struct facts<stock_cos> : Facts<tag::cpu, weft::HeffteTransform::cosine2, 8, true> {};
template <>
struct facts<stock_sin> : Facts<tag::cpu, weft::HeffteTransform::sine2, 8, true> {};
template <>
struct facts<stock_cos1> : Facts<tag::cpu, weft::HeffteTransform::cosine1, 8, true> {};
template <>
struct facts<fftw> : Facts<tag::cpu, weft::HeffteTransform::fourier, 1, true> {};
template <>
struct facts<fftw_cos> : Facts<tag::cpu, weft::HeffteTransform::cosine2, 1, true> {};
template <>
struct facts<fftw_sin> : Facts<tag::cpu, weft::HeffteTransform::sine2, 1, true> {};
template <>
struct facts<fftw_cos1> : Facts<tag::cpu, weft::HeffteTransform::cosine1, 1, true> {};
template <>
struct facts<fftw_sin1> : Facts<tag::cpu, weft::HeffteTransform::sine1, 1, true> {};
template <>
struct facts<mkl> : Facts<tag::cpu, weft::HeffteTransform::fourier, 1, false> {};
template <>
struct facts<mkl_cos> : Facts<tag::cpu, weft::HeffteTransform::cosine2, 8, true> {};
template <>
struct facts<mkl_sin> : Facts<tag::cpu, weft::HeffteTransform::sine2, 8, true> {};
#ifdef Heffte_ENABLE_CUDA
template <>
struct facts<cufft> : Facts<tag::gpu, weft::HeffteTransform::fourier, 1, false> {};
template <>
struct facts<cufft_cos> : Facts<tag::gpu, weft::HeffteTransform::cosine2, 8, true> {};
template <>
struct facts<cufft_sin> : Facts<tag::gpu, weft::HeffteTransform::sine2, 8, true> {};
template <>
struct facts<cufft_cos1> : Facts<tag::gpu, weft::HeffteTransform::cosine1, 8, true> {};
#endif

/// Whether a backend can be used.
template <typename Tag>
struct is_enabled : std::integral_constant<bool, facts<Tag>::exists> {};

/// Whether a backend is for arrays in memory of GPUs.
template <typename Tag>
struct uses_gpu : std::is_same<typename facts<Tag>::location, tag::gpu> {};

/// Where the arrays of a backend are, and containers for them.
template <typename Tag, typename Location = typename facts<Tag>::location>
struct buffer_traits {
  using location = tag::cpu;
  template <typename T>
  using container = std::vector<T>;
};

/// The backend of a location.
template <typename Location>
struct default_backend {
  using type = fftw;
};

/// The stream of a transform. For arrays on the host there is none.
template <typename Location>
struct device_instance {
  using stream_type = void*;
  explicit device_instance(void* = nullptr) {}
  void* stream() const { return nullptr; }
  void synchronize_device() const {}
};

#ifdef Heffte_ENABLE_CUDA
template <typename Tag>
struct buffer_traits<Tag, tag::gpu> {
  using location = tag::gpu;
  template <typename T>
  using container = gpu::vector<T>;
};
template <>
struct default_backend<tag::gpu> {
  using type = cufft;
};
template <>
struct device_instance<tag::gpu> {
  using stream_type = cudaStream_t;
  explicit device_instance(cudaStream_t stream = nullptr) : stream_(stream) {}
  cudaStream_t stream() const { return stream_; }
  /// Waits for the stream. Throws std::runtime_error if CUDA reports a failure.
  void synchronize_device() const { gpu::check(cudaStreamSynchronize(stream_), "cudaStreamSynchronize"); }

 private:
  cudaStream_t stream_;
};
#endif

/// The name of a backend or of a location.
template <typename Tag>
inline std::string name() {
  return "unknown";
}
template <>
inline std::string name<stock>() {
  return "stock";
}
template <>
inline std::string name<stock_cos>() {
  return "stock-cos-type-II";
}
template <>
inline std::string name<stock_sin>() {
  return "stock-sin-type-II";
}
template <>
inline std::string name<stock_cos1>() {
  return "stock-cos-type-I";
}
template <>
inline std::string name<fftw>() {
  return "fftw";
}
template <>
inline std::string name<fftw_cos>() {
  return "fftw-cos-type-II";
}
template <>
inline std::string name<fftw_sin>() {
  return "fftw-sin-type-II";
}
template <>
inline std::string name<fftw_cos1>() {
  return "fftw-cos-type-I";
}
template <>
inline std::string name<fftw_sin1>() {
  return "fftw-sin-type-I";
}
template <>
inline std::string name<mkl>() {
  return "mkl";
}
template <>
inline std::string name<mkl_cos>() {
  return "mkl-cos";
}
template <>
inline std::string name<mkl_sin>() {
  return "mkl-sin";
}
template <>
inline std::string name<cufft>() {
  return "cufft";
}
template <>
inline std::string name<cufft_cos>() {
  return "cufft-cos-type-II";
}
template <>
inline std::string name<cufft_sin>() {
  return "cufft-sin-type-II";
}
template <>
inline std::string name<cufft_cos1>() {
  return "cufft-cos-type-I";
}
template <>
inline std::string name<tag::cpu>() {
  return "cpu";
}
template <>
inline std::string name<tag::gpu>() {
  return "gpu";
}

/// Whether a backend is for the Fourier transform, and not for cosines or sines.
template <typename Tag, bool Exists = facts<Tag>::exists>
struct uses_fft_types : std::true_type {};
template <typename Tag>
struct uses_fft_types<Tag, true>
    : std::integral_constant<bool, facts<Tag>::transform == weft::HeffteTransform::fourier> {};

/// Whether forward of a backend's `fft3d` takes arrays of these types.
template <typename Tag, typename Input, typename Output>
struct check_types
    : std::integral_constant<
          bool, uses_fft_types<Tag>::value
                    ? (is_ccomplex<Output>::value &&
                       (is_ccomplex<Input>::value || std::is_same<Input, float>::value)) ||
                          (is_zcomplex<Output>::value &&
                           (is_zcomplex<Input>::value || std::is_same<Input, double>::value))
                    : std::is_same<Input, Output>::value &&
                          (std::is_same<Input, float>::value || std::is_same<Input, double>::value)> {};

/// The name of Weft's option fft that a backend asks for; empty: Weft's choice.
template <typename Tag>
inline std::string local_fft() {
  return std::is_same<Tag, mkl>::value || std::is_same<Tag, mkl_cos>::value ||
                 std::is_same<Tag, mkl_sin>::value
             ? "mkl"
             : "";
}

}  // namespace backend

/// A container of `size` elements for arrays on the host.
template <typename T>
std::vector<T> make_buffer_container(void*, std::size_t size) {
  return std::vector<T>(size);
}
#ifdef Heffte_ENABLE_CUDA
/// A container of `size` elements in memory of the current GPU.
template <typename T>
gpu::vector<T> make_buffer_container(cudaStream_t stream, std::size_t size) {
  return gpu::vector<T>(stream, size);
}
#endif

}  // namespace heffte
// NOLINTEND(readability-identifier-naming)
