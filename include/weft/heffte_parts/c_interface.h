/* heFFTe's C interface (version 2.4) over Weft: its names and calls. In the library the functions have names
   that begin with weft_, so that heFFTe itself can be linked into the same program. */
#ifndef WEFT_HEFFTE_PARTS_C_INTERFACE_H
#define WEFT_HEFFTE_PARTS_C_INTERFACE_H

#include <mpi.h>

#include "../export.hpp"
#include "config.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Backends: all but CUFFT have arrays on the host. MKL asks for MKL as the local FFT, which may be missing.
 */
#define Heffte_BACKEND_STOCK 0
#define Heffte_BACKEND_FFTW 1
#define Heffte_BACKEND_MKL 2
#define Heffte_BACKEND_CUFFT 10

/* What functions return: success, or 1 for a backend that is not there, 2 for anything else.
   `weft_heffte_error` says more. */
#define Heffte_SUCCESS 0

/* How parts travel; see reshape_algorithm in heffte.h. */
#define Heffte_RESHAPE_ALGORITHM_ALLTOALLV 0
#define Heffte_RESHAPE_ALGORITHM_P2P_PLINED 1
#define Heffte_RESHAPE_ALGORITHM_P2P 2
#define Heffte_RESHAPE_ALGORITHM_ALLTOALL 3

/* The factor of a result. */
#define Heffte_SCALE_NONE 0
#define Heffte_SCALE_FULL 1
#define Heffte_SCALE_SYMMETRIC 2

/* As plan_options in heffte.h; numbers that are not 0 are true. */
typedef struct {
  int use_reorder;
  int algorithm;
  int use_pencils;
  int use_gpu_aware;
} heffte_plan_options;

/* A transform. `fft` is Weft's own. */
typedef struct {
  int backend_type;
  int using_r2c;
  void* fft;
} heffte_fft_plan;
typedef heffte_fft_plan* heffte_plan;

#define heffte_set_default_options weft_heffte_set_default_options
#define heffte_plan_create weft_heffte_plan_create
#define heffte_plan_create_r2c weft_heffte_plan_create_r2c
#define heffte_plan_destroy weft_heffte_plan_destroy
#define heffte_size_inbox weft_heffte_size_inbox
#define heffte_size_outbox weft_heffte_size_outbox
#define heffte_size_workspace weft_heffte_size_workspace
#define heffte_get_backend weft_heffte_get_backend
#define heffte_is_r2c weft_heffte_is_r2c
#define heffte_forward_s2c weft_heffte_forward_s2c
#define heffte_forward_c2c weft_heffte_forward_c2c
#define heffte_forward_d2z weft_heffte_forward_d2z
#define heffte_forward_z2z weft_heffte_forward_z2z
#define heffte_forward_s2c_buffered weft_heffte_forward_s2c_buffered
#define heffte_forward_c2c_buffered weft_heffte_forward_c2c_buffered
#define heffte_forward_d2z_buffered weft_heffte_forward_d2z_buffered
#define heffte_forward_z2z_buffered weft_heffte_forward_z2z_buffered
#define heffte_backward_c2s weft_heffte_backward_c2s
#define heffte_backward_c2c weft_heffte_backward_c2c
#define heffte_backward_z2d weft_heffte_backward_z2d
#define heffte_backward_z2z weft_heffte_backward_z2z
#define heffte_backward_c2s_buffered weft_heffte_backward_c2s_buffered
#define heffte_backward_c2c_buffered weft_heffte_backward_c2c_buffered
#define heffte_backward_z2d_buffered weft_heffte_backward_z2d_buffered
#define heffte_backward_z2z_buffered weft_heffte_backward_z2z_buffered

/* Writes the defaults of a backend. Local. */
WEFT_API int weft_heffte_set_default_options(int backend, heffte_plan_options* options);

/* Makes a transform of complex data, or of real data whose result is complex and whole. Corners are
   inclusive. An order may be NULL, for axis 0 the fastest, and so may be the options. Collective over `comm`,
   which must live as long as the plan. If it fails, it does so on all ranks, and the plan is NULL. */
WEFT_API int weft_heffte_plan_create(int backend, const int inbox_low[3], const int inbox_high[3],
                                     const int* inbox_order, const int outbox_low[3],
                                     const int outbox_high[3], const int* outbox_order, MPI_Comm comm,
                                     const heffte_plan_options* options, heffte_plan* plan);

/* The same of real data with n/2+1 points of the result along axis `r2c_direction`, which is 0, 1 or 2. */
WEFT_API int weft_heffte_plan_create_r2c(int backend, const int inbox_low[3], const int inbox_high[3],
                                         const int* inbox_order, const int outbox_low[3],
                                         const int outbox_high[3], const int* outbox_order, int r2c_direction,
                                         MPI_Comm comm, const heffte_plan_options* options,
                                         heffte_plan* plan);

/* Frees a plan. NULL is accepted. */
WEFT_API int weft_heffte_plan_destroy(heffte_plan plan);

/* Points of this rank before and after forward. The workspace has no elements: one that is given is not used.
 */
WEFT_API int weft_heffte_size_inbox(heffte_plan plan);
WEFT_API int weft_heffte_size_outbox(heffte_plan plan);
WEFT_API int weft_heffte_size_workspace(heffte_plan plan);
/* The backend, and whether the plan is r2c. */
WEFT_API int weft_heffte_get_backend(heffte_plan plan);
WEFT_API int weft_heffte_is_r2c(heffte_plan plan);

/* Why the last function that returned a status failed in this thread; "" if none did. */
WEFT_API const char* weft_heffte_error(void);

/* Transforms: s and d are real numbers of type float and double, c and z complex ones of them. Collective.
   They return nothing: where one fails, for instance c2c with an r2c plan, the reason is written to standard
   error and the program ends by MPI_Abort. */
WEFT_API void weft_heffte_forward_s2c(heffte_plan plan, const float* input, void* output, int scale);
WEFT_API void weft_heffte_forward_c2c(heffte_plan plan, const void* input, void* output, int scale);
WEFT_API void weft_heffte_forward_d2z(heffte_plan plan, const double* input, void* output, int scale);
WEFT_API void weft_heffte_forward_z2z(heffte_plan plan, const void* input, void* output, int scale);
WEFT_API void weft_heffte_backward_c2s(heffte_plan plan, const void* input, float* output, int scale);
WEFT_API void weft_heffte_backward_c2c(heffte_plan plan, const void* input, void* output, int scale);
WEFT_API void weft_heffte_backward_z2d(heffte_plan plan, const void* input, double* output, int scale);
WEFT_API void weft_heffte_backward_z2z(heffte_plan plan, const void* input, void* output, int scale);

/* The same with a workspace, which is left as it is. */
WEFT_API void weft_heffte_forward_s2c_buffered(heffte_plan plan, const float* input, void* output,
                                               void* workspace, int scale);
WEFT_API void weft_heffte_forward_c2c_buffered(heffte_plan plan, const void* input, void* output,
                                               void* workspace, int scale);
WEFT_API void weft_heffte_forward_d2z_buffered(heffte_plan plan, const double* input, void* output,
                                               void* workspace, int scale);
WEFT_API void weft_heffte_forward_z2z_buffered(heffte_plan plan, const void* input, void* output,
                                               void* workspace, int scale);
WEFT_API void weft_heffte_backward_c2s_buffered(heffte_plan plan, const void* input, float* output,
                                                void* workspace, int scale);
WEFT_API void weft_heffte_backward_c2c_buffered(heffte_plan plan, const void* input, void* output,
                                                void* workspace, int scale);
WEFT_API void weft_heffte_backward_z2d_buffered(heffte_plan plan, const void* input, double* output,
                                                void* workspace, int scale);
WEFT_API void weft_heffte_backward_z2z_buffered(heffte_plan plan, const void* input, void* output,
                                                void* workspace, int scale);

#ifdef __cplusplus
}
#endif

#endif
