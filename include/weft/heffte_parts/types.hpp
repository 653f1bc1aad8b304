// heFFTe's helpers for MPI and for the types of elements.
#pragma once

#include <mpi.h>

// Programs that include heFFTe's header find these through it.
#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <fstream>
#include <functional>
#include <initializer_list>
#include <iomanip>
#include <iostream>
#include <limits>
#include <memory>
#include <numeric>
#include <ostream>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <valarray>
#include <vector>

#include "config.h"
#ifdef Heffte_ENABLE_CUDA
#include "gpu/cuda/types.hpp"
#endif

// NOLINTBEGIN(readability-identifier-naming): the names are heFFTe's
namespace heffte {

namespace mpi {

/// The calling rank in a communicator, and the number of its ranks.
inline int comm_rank(MPI_Comm const comm) {
  int rank = 0;
  MPI_Comm_rank(comm, &rank);
  return rank;
}
inline int comm_size(MPI_Comm const comm) {
  int size = 0;
  MPI_Comm_size(comm, &size);
  return size;
}

/// The calling rank in MPI_COMM_WORLD, and whether it is that one.
inline int world_rank() {
  return comm_rank(MPI_COMM_WORLD);
}
inline bool world_rank(int rank) {
  return world_rank() == rank;
}

/// Prints a message and the entries of `x` on rank `rank` of MPI_COMM_WORLD, or on all if it is negative.
template <typename Vector>
void dump(int rank, Vector const& x, std::string const& message) {
  if (rank >= 0 && !world_rank(rank)) return;
  std::cout << message << '\n';
  for (const auto& entry : x) std::cout << entry << "  ";
  std::cout << std::endl;
}

/// A communicator of the listed ranks of another one, MPI_COMM_NULL on the others. Collective over `comm`.
inline MPI_Comm new_comm_from_group(std::vector<int> const& ranks, MPI_Comm const comm) {
  MPI_Group all = MPI_GROUP_NULL, some = MPI_GROUP_NULL;
  MPI_Comm result = MPI_COMM_NULL;
  MPI_Comm_group(comm, &all);
  MPI_Group_incl(all, static_cast<int>(ranks.size()), ranks.data(), &some);
  MPI_Comm_create(comm, some, &result);
  MPI_Group_free(&all);
  MPI_Group_free(&some);
  return result;
}

/// Frees a communicator. Collective over it. Throws std::runtime_error if MPI cannot.
inline void comm_free(MPI_Comm const comm) {
  MPI_Comm freed = comm;
  if (MPI_Comm_free(&freed) != MPI_SUCCESS) throw std::runtime_error("heffte: MPI_Comm_free failed");
}

/// MPI's name of int, float, double or std::complex of them; other types do not compile.
template <typename Scalar>
inline MPI_Datatype type_from() {
  static_assert(!std::is_same<Scalar, Scalar>::value,
                "mpi::type_from knows int, float, double and std::complex of them");
  return MPI_BYTE;
}
template <>
inline MPI_Datatype type_from<int>() {
  return MPI_INT;
}
template <>
inline MPI_Datatype type_from<float>() {
  return MPI_FLOAT;
}
template <>
inline MPI_Datatype type_from<double>() {
  return MPI_DOUBLE;
}
template <>
inline MPI_Datatype type_from<std::complex<float>>() {
  return MPI_C_COMPLEX;
}
template <>
inline MPI_Datatype type_from<std::complex<double>>() {
  return MPI_C_DOUBLE_COMPLEX;
}

}  // namespace mpi

/// Whether a type is laid out as std::complex<float>, or as std::complex<double>. Programs specialise them
/// for types of their own.
template <typename Scalar>
struct is_ccomplex : std::false_type {};
template <typename Scalar>
struct is_zcomplex : std::false_type {};
template <>
struct is_ccomplex<std::complex<float>> : std::true_type {};
template <>
struct is_zcomplex<std::complex<double>> : std::true_type {};
/// fftwf_complex and fftw_complex.
template <>
struct is_ccomplex<float[2]> : std::true_type {};
template <>
struct is_zcomplex<double[2]> : std::true_type {};
#ifdef __GNUC__
/// C's complex types, as MKL and FFTW with <complex.h> have them.
__extension__ typedef __complex__ float c_complex_float;
__extension__ typedef __complex__ double c_complex_double;
template <>
struct is_ccomplex<c_complex_float> : std::true_type {};
template <>
struct is_zcomplex<c_complex_double> : std::true_type {};
#endif
#ifdef Heffte_ENABLE_CUDA
/// cufftComplex and cufftDoubleComplex.
template <>
struct is_ccomplex<float2> : std::true_type {};
template <>
struct is_zcomplex<double2> : std::true_type {};
#endif

/// The C++ type that a type is laid out as: float, double or std::complex of them.
template <typename Scalar, typename = void>
struct define_standard_type {};
template <>
struct define_standard_type<float, void> {
  using type = float;
};
template <>
struct define_standard_type<double, void> {
  using type = double;
};
template <typename Scalar>
struct define_standard_type<Scalar, typename std::enable_if<is_ccomplex<Scalar>::value>::type> {
  using type = std::complex<float>;
};
template <typename Scalar>
struct define_standard_type<Scalar, typename std::enable_if<is_zcomplex<Scalar>::value>::type> {
  using type = std::complex<double>;
};

/// The same array as one of the C++ type.
template <typename Scalar>
typename define_standard_type<Scalar>::type* convert_to_standard(Scalar input[]) {
  return reinterpret_cast<typename define_standard_type<Scalar>::type*>(input);
}
template <typename Scalar>
typename define_standard_type<Scalar>::type const* convert_to_standard(Scalar const input[]) {
  return reinterpret_cast<typename define_standard_type<Scalar>::type const*>(input);
}

/// heFFTe's own timeline is replaced by Weft's: set WEFT_TRACE to the name of a file. These do nothing.
inline void init_tracing(std::string const&) {}
inline void finalize_tracing() {}
struct add_trace {
  explicit add_trace(std::string const&) {}
};

}  // namespace heffte
// NOLINTEND(readability-identifier-naming)
