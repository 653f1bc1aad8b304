// Intel MKL's Fourier transforms (DFTI), by function pointers that are looked up at run time. Types and
// constants are repeated here, so that the build does not need MKL.
#pragma once

#include <string>

namespace weft::dfti {

/// MKL_LONG of 64-bit Linux, for all of MKL's interface layers.
using Long = long;
struct Descriptor;

/// Settings of a descriptor and their values, with the numbers of mkl_dfti.h.
inline constexpr int forward_scale = 4, backward_scale = 5, number_of_transforms = 7;
inline constexpr int conjugate_even_storage = 10, placement = 11;
inline constexpr int input_strides = 12, output_strides = 13, input_distance = 14, output_distance = 15;
inline constexpr int thread_limit = 27;
inline constexpr int fwd_distance = 58, bwd_distance = 59, fwd_strides = 60, bwd_strides = 61;
inline constexpr int complex_domain = 32, real_domain = 33, single_precision = 35, double_precision = 36;
inline constexpr int complex_complex = 39, inplace = 43, not_inplace = 44;
/// DFTI's own limit.
inline constexpr int max_dimensions = 7;

/// A status of 0 is success. Variadic arguments are int for the named values, Long, Long* or double.
struct Functions {
  Long (*create)(Descriptor**, int precision, int domain, Long dimensions, ... /* Long or Long* */);
  Long (*set)(Descriptor*, int parameter, ...);
  Long (*commit)(Descriptor*);
  Long (*forward)(Descriptor*, void* from, ... /* void* to */);
  Long (*backward)(Descriptor*, void* from, ... /* void* to */);
  Long (*free)(Descriptor**);
  char* (*message)(Long status);
  void (*set_threads)(int threads);  ///< the most threads of this process; by default one under MPI
  int (*most_threads)();
};

struct Found {
  std::string file;     ///< of libmkl_rt; empty if it was not found
  std::string missing;  ///< why it was not found, or empty
};
/// Looks for libmkl_rt, in the order that docs/options.md gives. Libraries that it opens are closed again.
Found look();
/// The last step of look(): in the folders that the loader does not search.
Found look_in_folders();

/// Why MKL cannot be used in this process; empty if it can. The first call looks for libmkl_rt and opens it,
/// which loads little and puts no symbols into the global scope.
const std::string& missing();

/// The file of libmkl_rt; empty if it was not found.
const std::string& file();

/// MKL's functions. The first call makes MKL load its parts, after FFTW's symbols have been protected from
/// them. Throws `weft::Error` if MKL is missing or does not work.
const Functions& functions();

/// Throws `weft::Error` with MKL's message unless `status` is 0.
void check(const Functions& functions, Long status, const char* operation);

}  // namespace weft::dfti
