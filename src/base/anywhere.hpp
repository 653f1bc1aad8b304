// Functions for code that runs on the host and on devices alike.
#pragma once

#if defined(__CUDACC__)
#define WEFT_ANYWHERE __host__ __device__
#else
#define WEFT_ANYWHERE
#endif

// Of kernels that are compiled for several instruction sets: what they call has to become part of each.
#if defined(__CUDACC__)
#define WEFT_INLINE __host__ __device__ __forceinline__
#elif defined(__GNUC__)
#define WEFT_INLINE __attribute__((always_inline)) inline
#else
#define WEFT_INLINE inline
#endif
