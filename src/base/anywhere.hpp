// Functions for code that runs on the host and on devices alike.
#pragma once

/// The compiler of a GPU's maker is at work, for the host or for a device: nvcc or hipcc.
#if defined(__CUDACC__) || defined(__HIPCC__)
#define WEFT_DEVICE_COMPILER
#endif
/// It compiles for a device.
#if defined(__CUDA_ARCH__) || defined(__HIP_DEVICE_COMPILE__)
#define WEFT_ON_DEVICE
#endif

#if defined(WEFT_DEVICE_COMPILER)
#define WEFT_ANYWHERE __host__ __device__
#else
#define WEFT_ANYWHERE
#endif

// Of kernels that are compiled for several instruction sets: what they call has to become part of each. Where
// they are to be compiled soon rather than to be fast, functions stay functions (WEFT_KEEPS_FUNCTIONS), and
// loops loops.
#if defined(WEFT_KEEPS_FUNCTIONS)
#define WEFT_INLINE WEFT_ANYWHERE inline
#elif defined(__CUDACC__)
#define WEFT_INLINE __host__ __device__ __forceinline__
#elif defined(WEFT_DEVICE_COMPILER)
#define WEFT_INLINE __host__ __device__ __attribute__((always_inline)) inline
#elif defined(__GNUC__)
#define WEFT_INLINE __attribute__((always_inline)) inline
#else
#define WEFT_INLINE inline
#endif

/// A function that is rarely called: it does not become part of what calls it, whose registers it would take.
#if defined(__CUDACC__)
#define WEFT_RARE __host__ __device__ __noinline__
#elif defined(WEFT_DEVICE_COMPILER)
#define WEFT_RARE __host__ __device__ __attribute__((noinline))
#elif defined(__GNUC__)
#define WEFT_RARE __attribute__((noinline))
#else
#define WEFT_RARE
#endif

/// In front of a loop: compilers of devices write out its turns, since registers cannot be indexed; or do
/// not, since that takes registers.
#if defined(WEFT_ON_DEVICE) && !defined(WEFT_KEEPS_FUNCTIONS)
#define WEFT_UNROLL _Pragma("unroll")
#define WEFT_KEEP_LOOP _Pragma("unroll 1")
#else
#define WEFT_UNROLL
#define WEFT_KEEP_LOOP
#endif
