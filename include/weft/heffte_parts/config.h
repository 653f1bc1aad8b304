/* What programs ask of heFFTe's configuration by macros. */
#ifndef WEFT_HEFFTE_PARTS_CONFIG_H
#define WEFT_HEFFTE_PARTS_CONFIG_H

/* The version of heFFTe whose interface this is. */
#define Heffte_VERSION_MAJOR 2
#define Heffte_VERSION_MINOR 4
#define Heffte_VERSION_PATCH 1

/* Backend fftw can be named whichever local FFT Weft takes. Backend mkl can be named too, and asks for MKL
   when a plan is made; the macro Heffte_ENABLE_MKL is left to the program. */
#define Heffte_ENABLE_FFTW

/* Arrays in memory of GPUs need a Weft that was built with CUDA, and CUDA's header at hand. */
#if defined(WEFT_WITH_CUDA) && defined(__has_include)
#if __has_include(<cuda_runtime_api.h>)
#define Heffte_ENABLE_CUDA
#define Heffte_ENABLE_GPU
#endif
#endif

#endif
