// Weft for C: all that the C++ interface offers, by opaque handles, plain structs and status codes. For MPI
// include <weft/weft_mpi.h> as well.
//
// Functions return a status. WEFT_SUCCESS is 0; after any other value `weft_last_message` says what failed,
// what was given, what is expected, and on which rank. Functions write to their output arguments only when
// they succeed.
//
// Handles are values. A function that makes one stores it; `weft_..._free` ends it and sets the caller's
// variable to NULL. Using a handle that was freed, or of another kind, returns WEFT_BAD_HANDLE. A
// communicator may be freed before the plans that were made on it. Freeing NULL does nothing.
//
// A struct that the caller fills begins with its size, so that later versions can add members:
//
//     weft_problem problem = {.size = sizeof problem};
//
// Every member that is zero, or NULL, has the default that its comment gives. Members that this version of
// the library does not know must be zero. A struct that the library fills has its size set by the caller
// first, too.
//
// Axes are numbered from 0, and memory order is C order unless `order` says otherwise: the last axis varies
// fastest. Boxes are half-open: lo <= i < hi. Lengths, positions, strides and distances are in elements, 64
// bits wide.
#ifndef WEFT_WEFT_H
#define WEFT_WEFT_H

#include <stddef.h>
#include <stdint.h>

#include "weft/export.hpp"
#include "weft/version.hpp"

#ifdef __cplusplus
extern "C" {
#endif

// NOLINTBEGIN(readability-identifier-naming): names of C

/// The most axes that an array can have.
#define WEFT_MAX_AXES 8

// ---------------------------------------------------------------------------------------------------- status

/// What a function returns.
typedef enum weft_status {
  WEFT_SUCCESS = 0,
  WEFT_FAILURE = 1,       ///< misuse or a failure; in C++ the exception weft::Error
  WEFT_BAD_HANDLE = 2,    ///< a handle is NULL, freed, or of another kind
  WEFT_BAD_ARGUMENT = 3,  ///< a NULL pointer, a struct of an unknown size, a value that no enumerator has
  WEFT_NO_MEMORY = 4,     ///< memory of the host does not suffice
  WEFT_INTERNAL = 5       ///< any other failure: please report it
} weft_status;

/// The name of a status: "WEFT_BAD_HANDLE".
WEFT_API const char* weft_status_name(weft_status status);

/// The message of the last call in this thread that did not return WEFT_SUCCESS; "" before the first. It
/// stays valid until the next failure in this thread.
WEFT_API const char* weft_last_message(void);

/// The parts of that message. The texts stay valid as long as it.
typedef struct weft_error {
  size_t size;            ///< sizeof(weft_error)
  const char* operation;  ///< what was being done
  const char* got;        ///< what was given, or happened
  const char* expected;   ///< what would have been accepted, or what can be done
  int rank;               ///< the rank at fault, or -1
} weft_error;
/// Stores them. A failure of this call leaves the message as it is.
WEFT_API weft_status weft_last_error(weft_error* error);
/* For bindings and programs above this interface: makes a failure of their own the last one of this thread,
 * at no particular rank, and returns `status`, which is not WEFT_SUCCESS. The texts are copied; NULL is "".
 */
WEFT_API weft_status weft_set_last_error(weft_status status, const char* operation, const char* got,
                                         const char* expected);

/// The version of the library that the program runs with, "0.1.0"; WEFT_VERSION is that of the headers.
WEFT_API const char* weft_version(void);

// ---------------------------------------------------------------------------------------------------- memory

/// `bytes` zeroed bytes of host memory at a multiple of 64, to be freed with weft_free. 0 bytes: NULL is
/// stored.
WEFT_API weft_status weft_alloc(size_t bytes, void** memory);
/// Frees what weft_alloc, or a function that returns a text, has stored. NULL is allowed.
WEFT_API void weft_free(void* memory);

// --------------------------------------------------------------------------------------------- communicators

/// The ranks that take part in a transform.
typedef struct weft_comm_handle* weft_comm;

/// The calling thread as the only rank, without MPI. Local. Ranks of MPI: weft_comm_mpi in <weft/weft_mpi.h>.
WEFT_API weft_status weft_comm_self(weft_comm* comm);
/// A new communicator of the ranks that give the same `colour`, in rank order. Collective over `comm`.
WEFT_API weft_status weft_comm_split(weft_comm comm, int colour, weft_comm* part);
/// This rank's number and the number of ranks. Local.
WEFT_API weft_status weft_comm_rank(weft_comm comm, int* rank);
WEFT_API weft_status weft_comm_size(weft_comm comm, int* size);
/// "mpi" or "threads". Local. The text need not be freed.
WEFT_API weft_status weft_comm_medium(weft_comm comm, const char** medium);
/// Waits for all ranks. Collective.
WEFT_API weft_status weft_comm_barrier(weft_comm comm);
/// Local. Plans that were made on it go on.
WEFT_API weft_status weft_comm_free(weft_comm* comm);

/// Threads of this process as ranks, which need no MPI.
typedef struct weft_team_handle* weft_team;

/// Starts `size` threads, which live until the team is freed.
WEFT_API weft_status weft_team_create(int size, weft_team* team);
/// Number of threads.
WEFT_API weft_status weft_team_size(weft_team team, int* size);
/// Calls `body` on every thread with that thread's communicator, which lives as long as the call, and `data`,
/// and returns when all calls have returned. A body that returns another value than 0 has failed: ranks that
/// wait for it get WEFT_FAILURE, and weft_team_run returns WEFT_FAILURE with what the first rank that failed
/// returned and with its last message. The team can be used again. Not from inside a body, nor by two threads
/// at once.
WEFT_API weft_status weft_team_run(weft_team team, int (*body)(weft_comm comm, void* data), void* data);
/// Ends the threads. A failure while the team runs.
WEFT_API weft_status weft_team_free(weft_team* team);

// -------------------------------------------------------------------------------------------------- problems

/// The indices i with lo[a] <= i[a] < hi[a] on every axis a < ndim.
typedef struct weft_box {
  int ndim;                                      ///< number of axes
  int64_t lo[WEFT_MAX_AXES], hi[WEFT_MAX_AXES];  ///< first index, and one past the last, per axis
} weft_box;

/// Number of points; 0 for an empty box, for NULL and for numbers of axes that no array has; -1 for more than
/// 2^63 - 1.
WEFT_API int64_t weft_box_count(const weft_box* box);
/// Whether all points of `part` are in `box`, which has equally many axes: 1 or 0.
WEFT_API int weft_box_contains(const weft_box* box, const weft_box* part);
/// The common part of two boxes with equally many axes; an empty box if they have no point in common.
WEFT_API weft_status weft_box_intersect(const weft_box* a, const weft_box* b, weft_box* common);
/// "[0:4, 8:16, 0:32)", to be freed with weft_free.
WEFT_API weft_status weft_box_text(const weft_box* box, char** text);

/// The transform along one axis, as class Transform of C++ defines them (include/weft/problem.hpp has the
/// formulas): FFTW's REDFT00, 10, 01, 11 are dct1 to dct4, RODFT00, 10, 01, 11 are dst1 to dst4. Nothing is
/// scaled by itself.
typedef enum weft_transform {
  WEFT_C2C = 0,
  WEFT_R2C = 1,  ///< n real points become n/2+1 complex ones; on at most one axis; backward is c2r
  WEFT_DCT1 = 2,
  WEFT_DCT2 = 3,
  WEFT_DCT3 = 4,
  WEFT_DCT4 = 5,
  WEFT_DST1 = 6,
  WEFT_DST2 = 7,
  WEFT_DST3 = 8,
  WEFT_DST4 = 9,
  WEFT_NONE = 10  ///< the axis is not transformed
} weft_transform;

/// The type of real numbers, and of the parts of complex ones: double or float.
typedef enum weft_precision { WEFT_FLOAT64 = 0, WEFT_FLOAT32 = 1 } weft_precision;

/// Where arrays lie. WEFT_CUDA: memory of the GPU that is current in the calling thread while the plan is
/// made, AMD's with HIP, too.
typedef enum weft_memory { WEFT_HOST = 0, WEFT_CUDA = 1 } weft_memory;

/// The elements of the input. WEFT_ELEMENT_AUTO: real if an axis is r2c, or if there are DCTs or DSTs and no
/// c2c; else complex. The output is complex if the input is complex or an axis is r2c.
typedef enum weft_element { WEFT_ELEMENT_AUTO = 0, WEFT_REAL = 1, WEFT_COMPLEX = 2 } weft_element;

/// Of an even number m of kept modes, what the mode m/2 stands for.
typedef enum weft_modes_nyquist {
  WEFT_NYQUIST_SHARED = 0,  ///< m/2 periods and -m/2 alike; m modes of r2c count as those of 2(m-1) points
  WEFT_NYQUIST_ODD = 1,     ///< the same, but m modes of r2c count as those of 2m-1 points
  WEFT_NYQUIST_SINGLE = 2   ///< -m/2 alone, and all modes of r2c themselves
} weft_modes_nyquist;

/// What an execution passes through (weft_problem.between). WEFT_BETWEEN_NONE: it is a transform.
typedef enum weft_between {
  WEFT_BETWEEN_NONE = 0,
  WEFT_BETWEEN_MODES = 1,  ///< from points to modes, where an operator may change them, and back to points
  WEFT_BETWEEN_POINTS = 2  ///< from modes to points, where an operator may change them, and back to modes
} weft_between;

/// The factor of a result: 1, 1/sqrt(N) or 1/N, where N is the product of the logical lengths of the
/// transformed axes.
typedef enum weft_scale { WEFT_UNSCALED = 0, WEFT_SYMMETRIC = 1, WEFT_FULL = 2 } weft_scale;

/// How a distribution cuts the array. Even cuts give the larger parts to the first ranks.
typedef enum weft_cut {
  WEFT_SLAB = 0,     ///< along `axis` only
  WEFT_PENCIL = 1,   ///< whole lines along `axis`; cut along the first two other axes, nearly square
  WEFT_BRICK = 2,    ///< along the first three axes (or both of two), with the smallest surface per rank
  WEFT_GRID = 3,     ///< into parts[a] parts along axis a; rank numbers run through the grid in C order
  WEFT_BOXES = 4,    ///< one box per rank: `box_count` of them in `boxes`, the same on every rank
  WEFT_BOX = 5,      ///< the box of the calling rank alone, boxes[0]; planning gathers those of all ranks
  WEFT_FASTEST = 6,  ///< boxes, and unless `order` is given memory order, that make the transform fastest
  WEFT_COLUMNS = 7,  ///< of modes: the `column_count` columns of the calling rank, and no other modes
  WEFT_SPHERE = 8    ///< of modes: those of at most `radius` periods over all axes, shared out by columns
} weft_cut;

/// Some of the modes along the first axis, one after the other: first[0], first[0] + 1 and so on, `count` of
/// them, with the numbers first[1], first[2] and so on along the other axes. Numbers are periods, from -n/2
/// to n-1; -3 and n - 3 are the same mode. Along an r2c axis they are from 0 to n/2.
typedef struct weft_mode_column {
  int64_t first[WEFT_MAX_AXES];  ///< the first mode, one number per axis
  int64_t count;                 ///< 1 to the length of the first axis
} weft_mode_column;

/// Which rank holds which part of an array, and in which memory order. All zeros: slabs along axis 0, in C
/// order. Order, strides and halo may differ from rank to rank.
typedef struct weft_distribution {
  size_t size;               ///< sizeof(weft_distribution)
  weft_cut cut;              ///< 0: slabs
  int axis;                  ///< of WEFT_SLAB and WEFT_PENCIL
  int parts[WEFT_MAX_AXES];  ///< of WEFT_GRID
  const weft_box* boxes;     ///< of WEFT_BOXES and WEFT_BOX; read while the plan is made only
  size_t box_count;          ///< of WEFT_BOXES: the number of ranks
  /// The axes from slowest to fastest varying; {2, 1, 0} is Fortran order. All zeros: C order.
  int order[WEFT_MAX_AXES];
  /// Strides of the calling rank's array, one per axis. All zeros: dense. The pointer given to an execution
  /// points to the first element of the box.
  int64_t strides[WEFT_MAX_AXES];
  /// Points before and after the calling rank's box along each axis. The array with its halo is dense, and
  /// the pointer points to its first element, in the halo.
  int64_t halo_lower[WEFT_MAX_AXES], halo_upper[WEFT_MAX_AXES];
  /// Not 0: FFTW's in-place layout of real data, lines of 2(n/2+1) real numbers. Only for the input of r2c.
  int r2c_padding;
  /// Of WEFT_COLUMNS: the columns of the calling rank; read while the plan is made only. No two of all ranks
  /// have the same numbers along the axes behind the first. The rank's array has one axis: its columns one
  /// after the other. Modes of which no column is given are left out, and taken as zero. As the output, or
  /// with WEFT_BETWEEN_POINTS as both sides; c2c along every axis, or r2c along the last; out of
  /// place, without order, strides and halo.
  const weft_mode_column* columns;
  size_t column_count;
  double radius;  ///< of WEFT_SPHERE; weft_plan_columns tells which columns are the calling rank's
} weft_distribution;

/// What is computed. All ranks give the same values, except for their own box or columns, memory orders,
/// strides, halos and distances.
typedef struct weft_problem {
  size_t size;                               ///< sizeof(weft_problem)
  int ndim;                                  ///< 1 to 8 axes (7 with a batch); several ranks need at least 2
  int64_t shape[WEFT_MAX_AXES];              ///< global lengths; for r2c those of the real array
  weft_transform transforms[WEFT_MAX_AXES];  ///< zeros: c2c along every axis
  weft_precision precision;                  ///< of input and output; 0: double
  weft_memory memory;                        ///< of input and output; 0: of the host
  weft_element element;                      ///< of the input; 0: as the transforms say
  const weft_distribution* input;            ///< before forward; NULL: slabs along axis 0
  const weft_distribution* output;           ///< after forward; NULL: slabs along axis 0
  int in_place;               ///< not 0: input and output are one array of weft_plan_buffer_bytes
  int64_t batch;              ///< arrays that are transformed together; 0: one
  int64_t input_distance;     ///< from one array of the batch to the next; 0: one follows the other
  int64_t output_distance;    ///< the same for the output
  weft_scale forward_scale;   ///< of the result of forward; 0: none
  weft_scale backward_scale;  ///< of the result of backward; 0: none
  /// Two different axes {a, b} that are one line of n = shape[a] * shape[b] points: its one-dimensional
  /// transform. Before forward point j has the indices j / shape[b] along a and j % shape[b] along b; after
  /// it mode k has k % shape[a] along a and k / shape[a] along b. Both are c2c, or, of a real line, one is
  /// r2c: b for the modes 0 to n/2, with some behind them that fill the rows; a for those of which k or n - k
  /// has a remainder k % shape[a] of at most shape[a]/2. {0, 0}: none.
  int line[2];
  weft_modes_nyquist modes_nyquist;  ///< where not all modes are kept; 0: shared
  /// The length of the output along each axis, where not all modes are kept: those of the lowest frequencies.
  /// Forward leaves the others out, backward takes them as zero. Of a c2c axis the m kept modes are 0 to
  /// (m+1)/2 - 1, then -(m/2) to -1; of r2c and of DCTs and DSTs they are the first m. Scale factors are
  /// those of `shape`. 0: all modes of the axis.
  int64_t modes[WEFT_MAX_AXES];
  /// The length of the input along each axis, if it is shorter than `shape`, which then has the lengths of
  /// the transforms: forward takes the points behind as zero, backward leaves them out.
  /// 0: all points of the axis.
  int64_t points[WEFT_MAX_AXES];
  /// With `between`, the number of arrays after the operator, if it is not that of `batch` before it: 3 of 1
  /// for a gradient. 0: as many.
  int64_t results;
  /// Not WEFT_BETWEEN_NONE: the plan is one for weft_apply. Input and output are both points
  /// (WEFT_BETWEEN_MODES) or both modes (WEFT_BETWEEN_POINTS), and what lies between is never stored. Not
  /// with a line.
  weft_between between;
} weft_problem;

/// Two lengths whose product is n, as nearly equal as they can be: the axes of a line. A prime is a failure.
WEFT_API weft_status weft_line_shape(int64_t n, int64_t shape[2]);

// --------------------------------------------------------------------------------------------------- options

/// Options of plans. NULL stands for none.
typedef struct weft_options_handle* weft_options;

/// Options by name, docs/options.md has them all. Local. Freed options do not affect plans made with them.
WEFT_API weft_status weft_options_create(weft_options* options);
/// Sets an option. Unknown names and values are a failure whose message lists the known ones.
WEFT_API weft_status weft_options_set(weft_options options, const char* name, const char* value);
WEFT_API weft_status weft_options_set_int(weft_options options, const char* name, int64_t value);
/// The value as set, else from the environment, else the default; to be freed with weft_free.
WEFT_API weft_status weft_options_get(weft_options options, const char* name, char** value);
/// Whether the program has set the option: 1 or 0.
WEFT_API weft_status weft_options_is_set(weft_options options, const char* name, int* is_set);
/// All names with their values after environment and defaults, a line "name=value" each; to be freed with
/// weft_free.
WEFT_API weft_status weft_options_text(weft_options options, char** text);
/// Local.
WEFT_API weft_status weft_options_free(weft_options* options);

// ----------------------------------------------------------------------------------------------------- plans

/// A transform, forward and backward, ready to be executed.
typedef struct weft_plan_handle* weft_plan;

/// Forward transforms from input to output, backward from output to input.
typedef enum weft_direction { WEFT_FORWARD = 0, WEFT_BACKWARD = 1 } weft_direction;
/// The array before forward, or after it.
typedef enum weft_side { WEFT_INPUT = 0, WEFT_OUTPUT = 1 } weft_side;

/// Makes a plan. Collective over `comm`; all ranks give the same options (NULL: none). If planning fails on
/// any rank, it fails on every rank, also if a rank's arguments after `comm` are wrong by themselves.
WEFT_API weft_status weft_plan_create(weft_comm comm, const weft_problem* problem, weft_options options,
                                      weft_plan* plan);
/// Local. A plan whose execution is under way must not be freed: see class Plan of C++.
WEFT_API weft_status weft_plan_free(weft_plan* plan);

/// Transforms `in`, this rank's input box, into `out`, its output box. Collective. Out of place the arrays
/// must not overlap, and `in` is left as it was; in place both pointers are the same. A rank whose box is
/// empty may pass NULL. The elements are float, double, or pairs of them (float _Complex, double _Complex,
/// fftw_complex), as the problem says; they are not checked. Which threads may call, and what happens after a
/// failure, is as for class Plan of C++.
WEFT_API weft_status weft_forward(weft_plan plan, const void* in, void* out);
/// The same from the output box to the input box. Unscaled, forward and backward multiply by
/// weft_plan_scale_factor.
WEFT_API weft_status weft_backward(weft_plan plan, const void* in, void* out);
/// The same in the given direction with a workspace of the caller (option workspace=user):
/// weft_plan_workspace_bytes bytes on a multiple of 16.
WEFT_API weft_status weft_execute(weft_plan plan, weft_direction direction, const void* in, void* out,
                                  void* workspace, size_t workspace_bytes);

/// What an operator works on: all fields of some of the elements between two transforms. It finds `fields`
/// arrays there, as many as the batch has, and leaves `results` ones, in the same memory. Element (i, j, ...)
/// of field f, counted from `lo`, is at data + f * field_stride + i * strides[0] + j * strides[1] + ..., in
/// elements.
typedef struct weft_block {
  size_t size;                     ///< sizeof(weft_block) of the library
  int ndim;                        ///< axes
  weft_element element;            ///< WEFT_REAL or WEFT_COMPLEX
  weft_precision precision;        ///< of the elements
  int64_t lo[WEFT_MAX_AXES];       ///< global indices of the elements: from lo[a]
  int64_t hi[WEFT_MAX_AXES];       ///< to hi[a] - 1
  int64_t strides[WEFT_MAX_AXES];  ///< from element to element
  void* data;                      ///< the first element of the first field
  int64_t fields;                  ///< arrays that are there
  int64_t results;                 ///< arrays to be left
  int64_t field_stride;            ///< from field to field
  weft_memory memory;              ///< what `data` is in
  void* stream;  ///< in memory of a GPU: the cudaStream_t or hipStream_t on which the operator enqueues
} weft_block;

/// Changes a block in place. Not 0: it has failed, and so does the execution, on all ranks. It is called by
/// several threads of the rank at the same time, with different blocks, if the plan has threads, and must not
/// call Weft.
typedef int (*weft_operator)(const weft_block* block, void* user);

/// Of a plan with something between: transforms `in`, calls `op` with blocks of the modes, or points, until
/// it has had all elements of this rank once, and transforms the result into `out`. Collective. `user` is
/// passed on to `op`. WEFT_BACKWARD goes from the output box to the input box, by the same transforms in the
/// same order. `workspace` as of weft_execute; NULL, 0: none. weft_plan_wavenumbers gives all wavenumbers of
/// such a plan, by global index.
WEFT_API weft_status weft_apply(weft_plan plan, weft_direction direction, const void* in, void* out,
                                weft_operator op, void* user, void* workspace, size_t workspace_bytes);

/// As weft_execute (without a workspace of the caller: NULL, 0), but returns as soon as the execution would
/// have to wait for another rank. Collective. Until `weft_test` says that it is complete or `weft_wait`
/// returns, the program must not touch the arrays. No thread runs in the background.
WEFT_API weft_status weft_start(weft_plan plan, weft_direction direction, const void* in, void* out,
                                void* workspace, size_t workspace_bytes);
/// Takes the execution under way as far as possible; `complete`: 1 if it is complete or none is under way,
/// else 0.
WEFT_API weft_status weft_test(weft_plan plan, int* complete);
/// Completes the execution under way, if there is one.
WEFT_API weft_status weft_wait(weft_plan plan);

/// For arrays in memory of a GPU: later executions are enqueued on this cudaStream_t or hipStream_t.
WEFT_API weft_status weft_plan_set_stream(weft_plan plan, void* stream);

/// This rank's array of one side.
typedef struct weft_layout {
  size_t size;                     ///< sizeof(weft_layout)
  weft_box box;                    ///< the part of the global array that this rank holds
  int order[WEFT_MAX_AXES];        ///< the axes from slowest to fastest varying
  int64_t strides[WEFT_MAX_AXES];  ///< per axis
  int64_t offset;                  ///< from the pointer to the first point of the box
  int64_t distance;                ///< from one array of a batch to the next
  int64_t count;                   ///< elements, with the whole batch, halo and padding
  size_t element_bytes;            ///< 4, 8 or 16
  int is_complex;                  ///< 1 or 0
} weft_layout;
/// Local.
WEFT_API weft_status weft_plan_layout(weft_plan plan, weft_side side, weft_layout* layout);

/// What of the modes, or points, between two transforms an operator gets on this rank. A failure for a plan
/// with nothing between. Local.
WEFT_API weft_status weft_plan_between_box(weft_plan plan, weft_box* box);

/// Bytes of an array that serves in place: the larger of input and output.
WEFT_API weft_status weft_plan_buffer_bytes(weft_plan plan, size_t* bytes);
/// Bytes of workspace on this rank.
WEFT_API weft_status weft_plan_workspace_bytes(weft_plan plan, size_t* bytes);
/// The product of the logical lengths of the transformed axes.
WEFT_API weft_status weft_plan_scale_factor(weft_plan plan, double* factor);

/// The columns of this rank (WEFT_COLUMNS, WEFT_SPHERE) in the order of its array, to be freed with
/// weft_free. Along c2c axes the numbers of their first modes are from -n/2 to (n-1)/2; those behind them go
/// on, and may be larger: weft_plan_wavenumbers has those of all modes. The boxes of such a side have one
/// axis: it counts the modes of all ranks, rank after rank. A failure for other plans.
WEFT_API weft_status weft_plan_columns(weft_plan plan, weft_mode_column** columns, size_t* count);

/// The period of the transform along an axis, in points, from which wavenumbers are counted: n for c2c and
/// r2c, 2(n-1) for dct1, 2(n+1) for dst1, 2n for the other DCTs and DSTs; 1 for an axis that is not
/// transformed.
WEFT_API weft_status weft_plan_logical_length(weft_plan plan, int axis, int64_t* length);
/// What the mode n/2 of a c2c or r2c axis of even length n counts as. It stands for n/2 periods and for -n/2
/// alike, so that a derivative of odd order has to leave it out.
typedef enum weft_nyquist { WEFT_NYQUIST_KEPT = 0, WEFT_NYQUIST_ZERO = 1 } weft_nyquist;
/// The wavenumbers of this rank's modes along an axis, one for each index of the output's box, from its
/// first: how many periods a mode has in the logical length L. Times 2 pi / (L * spacing) they are angular
/// wavenumbers. Of c2c those from n/2 on are negative; dct3 and dst3, dct4 and dst4 have halves. Zeros along
/// an axis that is not transformed. The caller frees `values` with weft_free; so in the functions below.
/// Local.
WEFT_API weft_status weft_plan_wavenumbers(weft_plan plan, int axis, weft_nyquist nyquist, double** values,
                                           size_t* count);
/// How often modes count in a sum over all of them: 2 along an r2c axis, which leaves out the modes that are
/// conjugates of others, but 1 for mode 0 and for n/2 of even n; 1 along other axes. Local.
WEFT_API weft_status weft_plan_hermitian_weights(weft_plan plan, int axis, double** values, size_t* count);
/// 1 for modes whose wavenumber is less than `fraction` of the largest, L/2; 0 for others. With 2/3, products
/// of two fields have no aliasing errors in the modes that are kept (Orszag, J. Atmos. Sci. 28, 1971). Local.
WEFT_API weft_status weft_plan_dealiasing_mask(weft_plan plan, int axis, double fraction, double** values,
                                               size_t* count);
/// The squares of modes summed up by shell: sums[s] is the sum of |mode|^2 over all modes of all ranks, and
/// all arrays of a batch, whose |k| is nearest to s; each counts as often as weft_plan_hermitian_weights
/// says. k has the wavenumbers times `units`, one for each axis (NULL: 1). `modes`: this rank's output array,
/// on the host. Collective; all ranks return the same, and fail together.
WEFT_API weft_status weft_plan_shell_spectrum(weft_plan plan, const void* modes, const double* units,
                                              double** sums, size_t* count);

/// A period of time in which an operation ran; an operation that was interrupted has several.
typedef struct weft_operation_time {
  const char* kind;   ///< "fft", "copy", "pack", "put", "keep", "exchange", "wait", "unpack"; not to be freed
  int stage;          ///< number in the printed schedule, from 0
  int reshape;        ///< number, from 0; -1: none
  int tile;           ///< number within the reshape
  int stream;         ///< on GPUs: 0 computes, 1 moves data to other ranks
  int peer;           ///< the other rank, if the operation is about one, else -1
  double begin, end;  ///< seconds since the execution began
  int64_t bytes;      ///< written, or sent to other ranks
  int64_t memory_read, memory_written;  ///< bytes of arrays and workspace
} weft_operation_time;
/// Whether executions record the time of every operation; off at first.
WEFT_API weft_status weft_plan_record_times(weft_plan plan, int on);
/// The operations of the last recorded execution, in order: stores an array, to be freed with weft_free, and
/// its length. `element_size` is sizeof(weft_operation_time), by which the library knows the caller's
/// version.
WEFT_API weft_status weft_plan_operation_times(weft_plan plan, size_t element_size,
                                               weft_operation_time** times, size_t* count);

/// The error that codecs make for the data in `in`, over all points of all ranks.
typedef struct weft_accuracy {
  size_t size;     ///< sizeof(weft_accuracy)
  double l2;       ///< 2-norm of the difference over that of the exact result
  double maximum;  ///< its largest element over that of the exact result
  double bound;    ///< what l2 is at most
} weft_accuracy;
/// Collective; all ranks get the same. Costs planning and two executions. For arrays on the host.
WEFT_API weft_status weft_plan_measured_error(weft_plan plan, weft_direction direction, const void* in,
                                              weft_accuracy* accuracy);

/// Texts for people, to be freed with weft_free: the plan on one screen, why it is as it is, and the
/// operations of this rank in one direction, one per line. Local.
WEFT_API weft_status weft_plan_text(weft_plan plan, char** text);
WEFT_API weft_status weft_plan_explain(weft_plan plan, char** text);
WEFT_API weft_status weft_plan_program(weft_plan plan, weft_direction direction, char** text);
/// The explanation as JSON: chosen, bound, advice, predicted_s, compute_s, wire_s, hangs_on, and candidates
/// with their options, summary, predicted_s, measured_s and why, as struct Explanation of C++ has them. What
/// is not known of a candidate is left out.
WEFT_API weft_status weft_plan_explain_json(weft_plan plan, char** text);

// ---------------------------------------------------------------------------------------- operators on modes

/// A ready-made operator on the modes of a problem with WEFT_BETWEEN_MODES: derivatives and what is made of
/// them, filters and shifts. It is made for a problem, and serves any plan of it.
///
/// All of them count modes by angular wavenumbers, 2 pi / L times those of weft_plan_wavenumbers. `lengths`
/// are the periods L of the transforms, one for each axis of the problem, in the user's unit: the length of
/// the domain along a c2c or r2c axis, and its logical length times the spacing along a DCT or DST axis
/// (twice the domain of dct2). NULL: 2 pi each. None of them scales: give the problem a scale factor, for
/// which a backward_scale of WEFT_FULL is usual. They serve arrays in memory of a GPU, too, except where it
/// is said.
///
/// They fail for a problem without modes between, an axis that it does not have, an axis with a DCT or DST
/// where a derivative of odd order would make it a DST or DCT, and lengths that are not positive. Numbers of
/// fields (batch, results) that do not fit are found by weft_apply_mode_operator. Local.
typedef struct weft_mode_operator_handle* weft_mode_operator;

/// Of vectors, and of derivatives along several axes: which comes first. WEFT_FIRST_AXIS_FIRST: component c
/// belongs to axis c. WEFT_LAST_AXIS_FIRST: component c belongs to axis ndim - 1 - c, for arrays a[z][y][x]
/// of vectors (x, y, z), and for Fortran. A curl is right-handed in the order of the components.
typedef enum weft_components { WEFT_FIRST_AXIS_FIRST = 0, WEFT_LAST_AXIS_FIRST = 1 } weft_components;

/// The derivative of an order along an axis, of every field. Of an odd order the modes that stand for n/2
/// periods and -n/2 alike become zero.
WEFT_API weft_status weft_mode_operator_derivative(const weft_problem* problem, int axis, int order,
                                                   const double* lengths, weft_mode_operator* op);
/// The derivatives along all n axes: of m fields m n results, those of the first field first.
WEFT_API weft_status weft_mode_operator_gradient(const weft_problem* problem, const double* lengths,
                                                 weft_components components, weft_mode_operator* op);
/// The sum of the derivatives of n components along the n axes: of m n fields m results.
WEFT_API weft_status weft_mode_operator_divergence(const weft_problem* problem, const double* lengths,
                                                   weft_components components, weft_mode_operator* op);
/// Of three components along three axes, or of several such fields one after the other: as many results.
WEFT_API weft_status weft_mode_operator_curl(const weft_problem* problem, const double* lengths,
                                             weft_components components, weft_mode_operator* op);
/// What of n components along the n axes has no divergence (Helmholtz, Leray): u - k (k u) / k^2. Mode 0
/// stays.
WEFT_API weft_status weft_mode_operator_solenoidal_part(const weft_problem* problem, const double* lengths,
                                                        weft_components components, weft_mode_operator* op);
/// The sum of the second derivatives, of every field: times -k^2.
WEFT_API weft_status weft_mode_operator_laplacian(const weft_problem* problem, const double* lengths,
                                                  weft_mode_operator* op);
/// The solution u of (shift - laplacian) u = f, of every field: divided by k^2 + shift. Where that is zero,
/// as for mode 0 with a shift of 0, the mode becomes zero. Poisson's equation -laplacian u = f with 0.
WEFT_API weft_status weft_mode_operator_inverse_helmholtz(const weft_problem* problem, double shift,
                                                          const double* lengths, weft_mode_operator* op);
/// f(x + distances), of every field: times exp(i k distances), one distance for each axis, in the unit of
/// `lengths`. Modes that stand for n/2 and -n/2 alike get the cosine, so that real data stay real.
WEFT_API weft_status weft_mode_operator_shift(const weft_problem* problem, const double* distances,
                                              const double* lengths, weft_mode_operator* op);
/// Times `factor` of |k|, of every field. `factor` is called with `user` by several threads, and must not
/// call Weft. `user` must live until the executions with the operator are complete. For arrays on the host:
/// with others weft_apply_mode_operator fails.
WEFT_API weft_status weft_mode_operator_filter(const weft_problem* problem,
                                               double (*factor)(double k, void* user), void* user,
                                               const double* lengths, weft_mode_operator* op);
/// Times an array of modes, element by element, of every field: a cyclic convolution with the array that the
/// modes are of, or with `points` of the problem a linear one; `conjugated` not 0: the correlation. `modes`
/// is this rank's array of the modes in weft_plan_between_box, in C order: the output of a plan for the
/// kernel, with the same shape, transforms, kept modes and modes_nyquist, and that box (WEFT_BOX). They are
/// complex numbers of the plan's precision, which is not checked, in the kind of memory that the plan's
/// arrays are in, on a GPU on a multiple of 16 bytes, and must live until the executions with the operator
/// are complete. NULL is allowed if the box is empty.
WEFT_API weft_status weft_mode_operator_product(weft_plan plan, const void* modes, int conjugated,
                                                weft_mode_operator* op);
/// Local. Not while an execution with it is under way.
WEFT_API weft_status weft_mode_operator_free(weft_mode_operator* op);

/// weft_apply with a ready-made operator. A failure before any data move if it is none for the plan: of
/// another problem's modes, or for another number of fields or results.
WEFT_API weft_status weft_apply_mode_operator(weft_plan plan, weft_direction direction, const void* in,
                                              void* out, weft_mode_operator op, void* workspace,
                                              size_t workspace_bytes);

// ------------------------------------------------------------------------------------------------- gradients

/// The derivatives of fields along all axes that are transformed, each by a transform along that axis alone
/// and back: half of the work of weft_mode_operator_gradient.
typedef struct weft_gradient_handle* weft_gradient;

/// Makes one. Collective over `comm`; all ranks give the same options (NULL: none). `problem`: points before
/// and behind, as for a plan: shape, transforms (c2c, or r2c for real points, of which no axis is special
/// here, or none), precision, memory, batch, and who holds which points of the fields (`input`) and of each
/// derivative (`output`, which may have other boxes and strides). `output_distance` is that from one
/// derivative to the next. Scale factors do not count: the results are the derivatives. `lengths`: the
/// periods along each axis of the problem, in the user's unit; NULL: 2 pi each. The modes that stand for n/2
/// periods and -n/2 alike count as zero. `components`: which derivative comes first.
///
/// Fails, on all ranks alike, for DCTs and DSTs, in place, kept modes, given points, a line, something
/// between, no transformed axis, distributions by columns and fastest, option workspace=user, lengths that
/// are not positive, and where weft_plan_create fails.
WEFT_API weft_status weft_gradient_create(weft_comm comm, const weft_problem* problem, weft_options options,
                                          const double* lengths, weft_components components,
                                          weft_gradient* gradient);
/// Local.
WEFT_API weft_status weft_gradient_free(weft_gradient* gradient);

/// Of m fields (the batch) and n transformed axes m n derivatives: those of the first field first, in the
/// order of weft_gradient_axes. Collective. `in` is left as it was, and must not overlap `out`. A rank whose
/// box is empty may pass NULL. Elements are of the problem's precision, real or complex as its points are;
/// they are not checked. Errors are those of weft_apply.
WEFT_API weft_status weft_gradient_execute(weft_gradient gradient, const void* in, void* out);
/// For arrays in memory of a GPU: later executions are enqueued on this cudaStream_t or hipStream_t.
WEFT_API weft_status weft_gradient_set_stream(weft_gradient gradient, void* stream);

/// This rank's array of the fields (WEFT_INPUT), or of all derivatives (WEFT_OUTPUT): there `distance` is
/// from one derivative to the next. Local, as all that follow.
WEFT_API weft_status weft_gradient_layout(weft_gradient gradient, weft_side side, weft_layout* layout);
/// The axes that are transformed, in the order of the derivatives; `axes` has room for WEFT_MAX_AXES.
WEFT_API weft_status weft_gradient_axes(weft_gradient gradient, int* axes, int* count);
/// Bytes of workspace on this rank.
WEFT_API weft_status weft_gradient_workspace_bytes(weft_gradient gradient, size_t* bytes);
/// What each derivative does, for people, to be freed with weft_free.
WEFT_API weft_status weft_gradient_text(weft_gradient gradient, char** text);

// -------------------------------------------------------------------------------------------- wisdom, trials

/// Adds the wisdom of this process to a file, or that of a file to this process. Not collective: call them on
/// rank 0. `done` (may be NULL): 1 if it was, 0 if not; a warning on standard error then says why, except
/// that importing a file that does not exist gives none.
WEFT_API weft_status weft_export_wisdom(const char* file, int* done);
WEFT_API weft_status weft_import_wisdom(const char* file, int* done);
/// Forgets all wisdom of this process, FFTW's included.
WEFT_API weft_status weft_forget_wisdom(void);

/// Lets planning with effort measure or patient call `asked` between trials, on every rank's thread. If it
/// returns another value than 0 on one of them, planning fails on all. NULL, as at first: nobody is asked.
WEFT_API weft_status weft_interrupt_trials_if(int (*asked)(void));

/// What a trial timed last. The texts are valid during the call.
typedef struct weft_trial_progress {
  size_t size;               ///< sizeof(weft_trial_progress)
  const char* round;         ///< candidate, play-off, point, final (docs/tuning.md)
  int trial;                 ///< candidates and points so far
  int most_trials;           ///< how many there are at most
  const char* options;       ///< what was timed, "name=value" separated by spaces
  double seconds;            ///< forward and backward on the slowest rank; infinite: impossible
  const char* best_options;  ///< of the best of its round so far
  double best_seconds;       ///< its seconds
  int is_best;               ///< whether the best is what was timed last
  double seconds_left;       ///< of the budget
} weft_trial_progress;
/// Lets planning call `told` whenever something has been timed, on rank 0's thread. NULL: nobody is told.
WEFT_API weft_status weft_report_trials_to(void (*told)(const weft_trial_progress* progress));

/// What this library has and where it runs, as JSON, to be freed with weft_free: "version", "hardware",
/// "numa_nodes", "gpu" (name, missing), "fft_libraries" (name, version, missing, on_gpus), "environment"
/// (name, meaning, value).
WEFT_API weft_status weft_information_json(char** text);

// NOLINTEND(readability-identifier-naming)

#ifdef __cplusplus
}
#endif

#endif
