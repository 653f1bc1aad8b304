/* Fortran arrays as their descriptors (TS 29113) say they lie: checked against the plan, then executed in
 * place. Also points Fortran pointers of any rank to memory with a plan's bounds. Dimensions of a descriptor
 * stand in memory order, the fastest first; plans count axes as C does.
 */
#include <ISO_Fortran_binding.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "weft/weft.h"

/* plan_facts of c_interface.f90: what a plan of Fortran knows besides its handle. */
typedef struct facts {
  int in_place, on_gpu;
  int padded_axis;  /* of the input, by r2c padding; -1: none */
  int64_t batch[2]; /* per side: an operator may leave another number of arrays */
  int64_t lower[2][WEFT_MAX_AXES], upper[2][WEFT_MAX_AXES]; /* halo per side and axis */
} facts;

/* What has an array on either side: a plan, or a gradient. */
typedef struct owner {
  const char* name; /* as users call it */
  int is_gradient;
  weft_plan plan;
  weft_gradient gradient;
  const facts* f;
} owner;

static owner owner_of_plan(weft_plan plan, const facts* f) {
  const owner o = {"plan", 0, plan, NULL, f};
  return o;
}
static owner owner_of_gradient(weft_gradient gradient, const facts* f) {
  const owner o = {"gradient", 1, NULL, gradient, f};
  return o;
}

/* The array of one side as a descriptor should have it. */
typedef struct expected {
  int rank, axes; /* with the dimension of the batch, if there is one, and without */
  CFI_type_t type;
  int64_t lower[WEFT_MAX_AXES + 1], extent[WEFT_MAX_AXES + 1], stride[WEFT_MAX_AXES + 1]; /* in elements */
  int64_t count;
  size_t element_bytes;
  int empty;
} expected;

enum { text_bytes = 512 };

int weft_fortran_fail(const char* operation, const char* got, const char* wanted) {
  return weft_set_last_error(WEFT_FAILURE, operation, got, wanted);
}

int weft_fortran_message_length(void) {
  return (int)strlen(weft_last_message());
}

/* ---------------------------------------------------------------------------------------------- what is
 * expected */

static CFI_type_t element_type(const weft_layout* layout) {
  if (layout->is_complex)
    return layout->element_bytes == 8 ? CFI_type_float_Complex : CFI_type_double_Complex;
  return layout->element_bytes == 4 ? CFI_type_float : CFI_type_double;
}

/* Points of halo and padding before and after the box, per axis. An empty box has none. Whether it is empty.
 */
int weft_fortran_margins(const facts* f, int side, const weft_layout* layout, int64_t* lower,
                         int64_t* upper) {
  const int empty = weft_box_count(&layout->box) == 0;
  for (int axis = 0; axis < layout->box.ndim; ++axis) {
    const int64_t n = layout->box.hi[axis] - layout->box.lo[axis];
    const int padded = side == WEFT_INPUT && axis == f->padded_axis;
    lower[axis] = empty ? 0 : f->lower[side][axis];
    upper[axis] = empty ? 0 : padded ? 2 * (n / 2 + 1) - n : f->upper[side][axis];
  }
  return empty;
}

/* A batch is the last dimension unless its arrays are interleaved: then it stands before the first dimension
 * of the array that steps over it. */
static void insert_batch(expected* e, int64_t batch, int64_t distance) {
  int at = e->axes;
  for (int d = e->axes - 1; d >= 0; --d)
    if (e->stride[d] > distance) at = d;
  for (int d = e->axes; d > at; --d) {
    e->lower[d] = e->lower[d - 1];
    e->extent[d] = e->extent[d - 1];
    e->stride[d] = e->stride[d - 1];
  }
  e->lower[at] = 1;
  e->extent[at] = batch;
  e->stride[at] = distance;
  e->rank = e->axes + 1;
}

static weft_status expect(const owner* o, int side, expected* e) {
  const facts* const f = o->f;
  weft_layout layout;
  layout.size = sizeof layout;
  const weft_status status = o->is_gradient ? weft_gradient_layout(o->gradient, (weft_side)side, &layout)
                                            : weft_plan_layout(o->plan, (weft_side)side, &layout);
  if (status != WEFT_SUCCESS) return status;
  e->rank = e->axes = layout.box.ndim;
  e->type = element_type(&layout);
  e->count = layout.count;
  e->element_bytes = layout.element_bytes;
  int64_t lower[WEFT_MAX_AXES], upper[WEFT_MAX_AXES];
  e->empty = weft_fortran_margins(f, side, &layout, lower, upper);
  for (int d = 0; d < e->axes; ++d) {
    const int axis = layout.order[e->axes - 1 - d];
    const int64_t lo = layout.box.lo[axis], hi = layout.box.hi[axis];
    e->lower[d] = lo + 1 - lower[axis];
    e->extent[d] = lower[axis] + hi - lo + upper[axis];
    e->stride[d] = layout.strides[axis];
  }
  if (f->batch[side] > 1) insert_batch(e, f->batch[side], layout.distance);
  return WEFT_SUCCESS;
}

/* The modes between two transforms, as an operator `product` takes them. */
static weft_status expect_modes(weft_plan plan, expected* e) {
  weft_layout layout;
  weft_box box;
  layout.size = sizeof layout;
  weft_status status = weft_plan_between_box(plan, &box);
  if (status == WEFT_SUCCESS) status = weft_plan_layout(plan, WEFT_INPUT, &layout);
  if (status != WEFT_SUCCESS) return status;
  e->element_bytes = layout.element_bytes * (layout.is_complex ? 1 : 2);
  layout.is_complex = 1;
  layout.element_bytes = e->element_bytes;
  e->type = element_type(&layout);
  e->rank = e->axes = box.ndim;
  e->count = weft_box_count(&box);
  e->empty = e->count == 0;
  int64_t step = 1;
  for (int d = 0; d < e->axes; ++d) {
    const int axis = e->axes - 1 - d;
    e->lower[d] = box.lo[axis] + 1;
    e->extent[d] = box.hi[axis] - box.lo[axis];
    e->stride[d] = step;
    step *= e->extent[d];
  }
  return WEFT_SUCCESS;
}

/* -----------------------------------------------------------------------------------------------------
 * checking */

/* Elements of other types may have no bytes. */
static int64_t stride_of(const CFI_cdesc_t* array, int d) {
  return array->elem_len > 0 ? array->dim[d].sm / (CFI_index_t)array->elem_len : 0;
}

static int is_whole(const CFI_cdesc_t* array, int d) {
  return array->elem_len > 0 && array->dim[d].sm % (CFI_index_t)array->elem_len == 0;
}

/* The last dimension of an array with assumed size has extent -1. */
static int assumed_size(const CFI_cdesc_t* array) {
  return array->rank > 0 && array->dim[array->rank - 1].extent == -1;
}

/* The first dimension from `d` on that has another extent than 1. The others are not compared: their strides
 * say nothing, nor does where they stand. */
static int next_extent(const CFI_cdesc_t* array, int d) {
  while (d < array->rank && array->dim[d].extent == 1) ++d;
  return d;
}
static int next_expected(const expected* e, int d) {
  while (d < e->rank && e->extent[d] == 1) ++d;
  return d;
}

static int shape_fits(const CFI_cdesc_t* array, const expected* e, int with_strides) {
  const int one_more =
      array->rank == e->axes + 1 && (array->dim[e->axes].extent == 1 || array->dim[e->axes].extent == -1);
  if (array->rank != e->rank && !one_more) return 0;
  int a = next_extent(array, 0), d = next_expected(e, 0);
  for (; a < array->rank && d < e->rank; a = next_extent(array, a + 1), d = next_expected(e, d + 1)) {
    if (array->dim[a].extent != e->extent[d] && array->dim[a].extent != -1) return 0;
    if (with_strides && (!is_whole(array, a) || stride_of(array, a) != e->stride[d])) return 0;
  }
  return d == e->rank && (a == array->rank || array->dim[a].extent == -1);
}

/* One dimension that holds all elements as they lie. */
static int is_line(const CFI_cdesc_t* array, int64_t count) {
  if (array->rank != 1) return 0;
  const int64_t extent = array->dim[0].extent;
  return (extent <= 1 && extent >= 0 ? 1 : stride_of(array, 0) == 1) && (extent >= count || extent == -1);
}

static int fits(const CFI_cdesc_t* array, const expected* e) {
  return array->type == e->type && (shape_fits(array, e, 1) || is_line(array, e->count));
}

/* Bytes from the first element to the end of the last. Assumed size does not tell: any number. */
static size_t reach(const CFI_cdesc_t* array) {
  size_t bytes = array->elem_len;
  if (assumed_size(array)) return SIZE_MAX;
  for (int d = 0; d < array->rank; ++d)
    if (array->dim[d].extent == 0) return 0;
  for (int d = 0; d < array->rank; ++d) bytes += (size_t)((array->dim[d].extent - 1) * array->dim[d].sm);
  return bytes;
}

/* -----------------------------------------------------------------------------------------------------
 * messages */

static void append(char* text, const char* format, int64_t value) {
  const size_t used = strlen(text);
  snprintf(text + used, text_bytes - used, format, value);
}

static void append_list(char* text, const int64_t* values, int rank, const char* between) {
  for (int d = 0; d < rank; ++d) {
    if (d > 0) strncat(text, between, text_bytes - strlen(text) - 1);
    append(text, "%" PRId64, values[d]);
  }
}

static void append_type(char* text, CFI_type_t type, size_t bytes) {
  const char* name = type == CFI_type_float            ? "real(real32)"
                     : type == CFI_type_double         ? "real(real64)"
                     : type == CFI_type_float_Complex  ? "complex(real32)"
                     : type == CFI_type_double_Complex ? "complex(real64)"
                                                       : NULL;
  if (name)
    strncat(text, name, text_bytes - strlen(text) - 1);
  else
    append(text, "elements of another type, of %" PRId64 " bytes", (int64_t)bytes);
}

static void append_shape(char* text, const int64_t* extents, const int64_t* strides, int rank) {
  append(text, ", rank %" PRId64, rank);
  if (rank == 0) return;
  strncat(text, ", extents ", text_bytes - strlen(text) - 1);
  append_list(text, extents, rank, " x ");
  strncat(text, rank == 1 ? ", stride " : ", strides ", text_bytes - strlen(text) - 1);
  append_list(text, strides, rank, ", ");
}

static void describe(char* text, const CFI_cdesc_t* array) {
  int64_t extents[CFI_MAX_RANK], strides[CFI_MAX_RANK];
  for (int d = 0; d < array->rank; ++d) {
    extents[d] = array->dim[d].extent;
    strides[d] = stride_of(array, d);
  }
  text[0] = 0;
  append_type(text, array->type, array->elem_len);
  append_shape(text, extents, strides, array->rank);
}

static void describe_expected(char* text, const expected* e) {
  append_type(text, e->type, e->element_bytes);
  append_shape(text, e->extent, e->stride, e->rank);
  append(text, ", or rank 1, contiguous, at least %" PRId64 " elements", e->count);
}

/* The error of an array that does not fit. For strides of one side of a plan it says how to make one that
 * takes them; `side` is -1 for other arrays. */
static weft_status refuse(const char* what, const CFI_cdesc_t* array, const expected* e, int side) {
  char got[text_bytes], wanted[text_bytes] = "";
  describe(got, array);
  describe_expected(wanted, e);
  if (side >= 0 && array->type == e->type && shape_fits(array, e, 0) && array->rank > 0) {
    char advice[text_bytes];
    snprintf(advice, sizeof advice,
             "; for these strides make the plan after call problem%%%s%%set_strides_of(array)",
             side == WEFT_INPUT ? "input" : "output");
    strncat(wanted, advice, text_bytes - strlen(wanted) - 1);
  }
  return weft_set_last_error(WEFT_FAILURE, what, got, wanted);
}

/* ---------------------------------------------------------------------------------------- memory of plans */

/* What plan%allocate has allocated. In place an array may have more room than the side has that it is seen
 * as, which its descriptor does not tell. */
typedef struct room {
  void* memory;
  size_t bytes;
  struct room* next;
} room;

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* of what follows */
static room* rooms = NULL;

/* The link to the room that begins at `memory`, or the last link. */
static room** find_room(const void* memory) {
  room** link = &rooms;
  while (*link && (*link)->memory != memory) link = &(*link)->next;
  return link;
}

static size_t room_at(const void* memory) {
  pthread_mutex_lock(&mutex);
  const room* const found = *find_room(memory);
  const size_t bytes = found ? found->bytes : 0;
  pthread_mutex_unlock(&mutex);
  return bytes;
}

/* Without a byte there would be no address, and a pointer to it would not be associated. */
static weft_status allocate_room(size_t bytes, void** memory) {
  room* const made = malloc(sizeof *made);
  weft_status status = weft_alloc(bytes ? bytes : 1, memory);
  if (status == WEFT_SUCCESS && !made) {
    weft_free(*memory);
    status = weft_set_last_error(WEFT_NO_MEMORY, "plan%allocate", "no memory left", "fewer points per rank");
  }
  if (status != WEFT_SUCCESS) {
    free(made);
    return status;
  }
  pthread_mutex_lock(&mutex);
  *made = (room){*memory, bytes, rooms};
  rooms = made;
  pthread_mutex_unlock(&mutex);
  return WEFT_SUCCESS;
}

static void free_room(void* memory) {
  pthread_mutex_lock(&mutex);
  room** const link = find_room(memory);
  room* const found = *link;
  if (found) *link = found->next;
  pthread_mutex_unlock(&mutex);
  free(found);
  weft_free(memory);
}

/* ----------------------------------------------------------------------------------- arrays of executions */

/* One array in place: of either side, and large enough for both. */
static weft_status check_in_place(const CFI_cdesc_t* array, const expected* sides, weft_plan plan) {
  const char* what = "array in place";
  size_t bytes = 0;
  const weft_status status = weft_plan_buffer_bytes(plan, &bytes);
  if (status != WEFT_SUCCESS) return status;
  if (bytes == 0) return WEFT_SUCCESS;
  const int as_input = fits(array, &sides[WEFT_INPUT]);
  if (!as_input && !fits(array, &sides[WEFT_OUTPUT]))
    return refuse(what, array, &sides[array->type == sides[WEFT_INPUT].type ? WEFT_INPUT : WEFT_OUTPUT],
                  array->type == sides[WEFT_INPUT].type ? WEFT_INPUT : WEFT_OUTPUT);
  if (reach(array) >= bytes || room_at(array->base_addr) >= bytes) return WEFT_SUCCESS;
  char got[text_bytes], wanted[text_bytes] = "";
  describe(got, array);
  append(got, ", %" PRId64 " bytes", (int64_t)reach(array));
  append(wanted, "%" PRId64 " bytes, plan%%buffer_bytes(): of rank 1, or from plan%%allocate",
         (int64_t)bytes);
  return weft_set_last_error(WEFT_FAILURE, what, got, wanted);
}

static weft_status check_workspace(const CFI_cdesc_t* workspace, size_t* bytes) {
  *bytes = 0;
  if (!workspace) return WEFT_SUCCESS;
  *bytes = reach(workspace);
  if (assumed_size(workspace) || CFI_is_contiguous(workspace)) return WEFT_SUCCESS;
  char got[text_bytes];
  describe(got, workspace);
  return weft_set_last_error(WEFT_FAILURE, "workspace", got, "a contiguous array");
}

static weft_status check_arrays(const owner* o, int from, const CFI_cdesc_t* in, const CFI_cdesc_t* out) {
  expected sides[2];
  weft_status status = expect(o, WEFT_INPUT, &sides[WEFT_INPUT]);
  if (status == WEFT_SUCCESS) status = expect(o, WEFT_OUTPUT, &sides[WEFT_OUTPUT]);
  if (status != WEFT_SUCCESS) return status;
  if (!out) {
    if (o->f->in_place) return check_in_place(in, sides, o->plan);
    if (sides[WEFT_INPUT].empty && sides[WEFT_OUTPUT].empty) return WEFT_SUCCESS;
    return weft_set_last_error(WEFT_FAILURE, "execution of a plan that is out of place", "one array",
                               "two: in and out; or a problem with in_place = .true.");
  }
  if (!sides[from].empty && !fits(in, &sides[from])) return refuse("argument in", in, &sides[from], from);
  if (!sides[!from].empty && !fits(out, &sides[!from]))
    return refuse("argument out", out, &sides[!from], !from);
  return WEFT_SUCCESS;
}

/* ---------------------------------------------------------------------------------------------------
 * executions */

/* What is to be executed. */
typedef struct execution {
  owner of; /* a gradient is its only execution */
  weft_direction direction;
  enum { TRANSFORM, START, APPLY, APPLY_READY_MADE } how;
  weft_operator op; /* of APPLY */
  void* user;
  weft_mode_operator ready_made;
} execution;

static weft_status execute(const execution* e, const void* in, void* out, void* workspace, size_t bytes) {
  const weft_plan plan = e->of.plan;
  if (e->of.is_gradient) return weft_gradient_execute(e->of.gradient, in, out);
  switch (e->how) {
    case START:
      return weft_start(plan, e->direction, in, out, workspace, bytes);
    case APPLY:
      return weft_apply(plan, e->direction, in, out, e->op, e->user, workspace, bytes);
    case APPLY_READY_MADE:
      return weft_apply_mode_operator(plan, e->direction, in, out, e->ready_made, workspace, bytes);
    case TRANSFORM:
      break;
  }
  return weft_execute(plan, e->direction, in, out, workspace, bytes);
}

/* What is wrong here is found here, but the library has to be told: it lets the other ranks fail as well
 * where the plan promises that. Two null pointers are misuse on a rank that holds something. The message is
 * this rank's own. */
static weft_status checked(const execution* e, const CFI_cdesc_t* in, const CFI_cdesc_t* out,
                           const CFI_cdesc_t* workspace) {
  const int from = e->direction == WEFT_FORWARD ? WEFT_INPUT : WEFT_OUTPUT;
  size_t bytes = 0;
  weft_status status = check_arrays(&e->of, from, in, out);
  if (status == WEFT_SUCCESS) status = check_workspace(workspace, &bytes);
  if (status == WEFT_SUCCESS)
    return execute(e, in->base_addr, out ? out->base_addr : in->base_addr,
                   workspace ? workspace->base_addr : NULL, bytes);
  if (status == WEFT_BAD_HANDLE) return status;
  /* It succeeds where this rank holds nothing, and must not be left under way then. */
  if (execute(e, NULL, NULL, NULL, 0) == WEFT_SUCCESS && !e->of.is_gradient) weft_wait(e->of.plan);
  return check_arrays(&e->of, from, in, out) != WEFT_SUCCESS ? status : check_workspace(workspace, &bytes);
}

int weft_fortran_execute(weft_plan plan, const facts* f, int direction, int starts, const CFI_cdesc_t* in,
                         const CFI_cdesc_t* out, const CFI_cdesc_t* workspace) {
  const execution e = {
      owner_of_plan(plan, f), (weft_direction)direction, starts ? START : TRANSFORM, NULL, NULL, NULL};
  return checked(&e, in, out, workspace);
}

int weft_fortran_apply(weft_plan plan, const facts* f, int direction, weft_operator op, void* user,
                       const CFI_cdesc_t* in, const CFI_cdesc_t* out, const CFI_cdesc_t* workspace) {
  const execution e = {owner_of_plan(plan, f), (weft_direction)direction, APPLY, op, user, NULL};
  return checked(&e, in, out, workspace);
}

int weft_fortran_apply_mode_operator(weft_plan plan, const facts* f, int direction, weft_mode_operator op,
                                     const CFI_cdesc_t* in, const CFI_cdesc_t* out,
                                     const CFI_cdesc_t* workspace) {
  const execution e = {owner_of_plan(plan, f), (weft_direction)direction, APPLY_READY_MADE, NULL, NULL, op};
  return checked(&e, in, out, workspace);
}

int weft_fortran_gradient_apply(weft_gradient gradient, const facts* f, const CFI_cdesc_t* in,
                                const CFI_cdesc_t* out) {
  const execution e = {owner_of_gradient(gradient, f), WEFT_FORWARD, TRANSFORM, NULL, NULL, NULL};
  return checked(&e, in, out, NULL);
}

int weft_fortran_product(weft_plan plan, const CFI_cdesc_t* modes, int conjugated, weft_mode_operator* op) {
  expected e;
  const weft_status status = expect_modes(plan, &e);
  /* A plan without modes between is refused below. */
  if (status == WEFT_SUCCESS && !e.empty && !fits(modes, &e)) return refuse("argument modes", modes, &e, -1);
  return weft_mode_operator_product(plan, modes->base_addr, conjugated, op);
}

int weft_fortran_measured_error(weft_plan plan, const facts* f, int direction, const CFI_cdesc_t* in,
                                weft_accuracy* accuracy) {
  const int side = direction == WEFT_FORWARD ? WEFT_INPUT : WEFT_OUTPUT;
  expected e;
  const owner o = owner_of_plan(plan, f);
  const weft_status status = expect(&o, side, &e);
  if (status != WEFT_SUCCESS) return status;
  if (e.empty || fits(in, &e))
    return weft_plan_measured_error(plan, (weft_direction)direction, in->base_addr, accuracy);
  weft_plan_measured_error(plan, (weft_direction)direction, NULL, accuracy);
  return refuse("argument in", in, &e, side);
}

int weft_fortran_shell_spectrum(weft_plan plan, const facts* f, const CFI_cdesc_t* modes, const double* units,
                                int unit_count, double** sums, size_t* count) {
  expected e;
  const owner o = owner_of_plan(plan, f);
  const weft_status status = expect(&o, WEFT_OUTPUT, &e);
  if (status != WEFT_SUCCESS) return status;
  if (units && unit_count != e.axes) {
    char got[text_bytes];
    snprintf(got, sizeof got, "%d units", unit_count);
    weft_plan_shell_spectrum(plan, modes->base_addr, NULL, NULL, NULL); /* fails on all ranks */
    return weft_set_last_error(WEFT_FAILURE, "shell spectrum", got, "one for each dimension, or none");
  }
  if (e.empty || fits(modes, &e)) return weft_plan_shell_spectrum(plan, modes->base_addr, units, sums, count);
  weft_plan_shell_spectrum(plan, NULL, units, sums, count);
  return refuse("argument modes", modes, &e, WEFT_OUTPUT);
}

/* ---------------------------------------------------------------------------------------- strides, pointers,
 * memory */

int weft_fortran_strides(const CFI_cdesc_t* array, int* rank, int64_t* strides) {
  if (array->rank < 1 || array->rank > WEFT_MAX_AXES) {
    char got[text_bytes];
    describe(got, array);
    return weft_set_last_error(WEFT_FAILURE, "set_strides_of", got, "an array of 1 to 8 dimensions");
  }
  *rank = array->rank;
  for (int d = 0; d < array->rank; ++d) {
    if (!is_whole(array, d)) {
      char got[text_bytes];
      snprintf(got, sizeof got, "a step of %" PRId64 " bytes along dimension %d, and elements of %zu bytes",
               (int64_t)array->dim[d].sm, d + 1, array->elem_len);
      return weft_set_last_error(WEFT_FAILURE, "set_strides_of", got, "steps of whole elements");
    }
    strides[d] = stride_of(array, d);
  }
  return WEFT_SUCCESS;
}

static int is_dense(const expected* e) {
  int64_t points = 1;
  for (int d = 0; d < e->rank; ++d) {
    if (e->extent[d] > 1 && e->stride[d] != points) return 0;
    points *= e->extent[d];
  }
  return 1;
}

/* Points a Fortran pointer to `memory`, or to memory that is allocated. */
static int view(const owner* o, int side, int allocates, void* memory, CFI_cdesc_t* array) {
  expected e;
  char what[text_bytes], advice[text_bytes];
  snprintf(what, sizeof what, "%s%%%s", o->name, allocates ? "allocate" : "view");
  weft_status status = expect(o, side, &e);
  if (status != WEFT_SUCCESS) return status;
  const int line = array->rank == 1 && e.rank > 1;
  if (array->type != e.type || (array->rank != e.rank && !line)) {
    char got[text_bytes] = "a pointer to ", wanted[text_bytes] = "one to ";
    append_type(got, array->type, array->elem_len);
    append(got, ", rank %" PRId64, array->rank);
    describe_expected(wanted, &e);
    return weft_set_last_error(WEFT_FAILURE, what, got, wanted);
  }
  if (allocates) {
    if (o->f->on_gpu) {
      snprintf(advice, sizeof advice, "memory of the program on the GPU, and %s%%execute, or %s%%view of it",
               o->name, o->name);
      return weft_set_last_error(WEFT_FAILURE, what, "a problem whose memory is that of a GPU", advice);
    }
    if (!is_dense(&e) && !e.empty) {
      snprintf(advice, sizeof advice, "an array of the program, or %s%%view of its memory", o->name);
      return weft_set_last_error(WEFT_FAILURE, what, "a side with strides of its own", advice);
    }
    size_t bytes = (size_t)e.count * e.element_bytes;
    if (o->f->in_place && (status = weft_plan_buffer_bytes(o->plan, &bytes)) != WEFT_SUCCESS) return status;
    if ((status = allocate_room(bytes, &memory)) != WEFT_SUCCESS) return status;
  } else if (!memory && e.count > 0) {
    snprintf(advice, sizeof advice, "an address, or %s%%allocate", o->name);
    return weft_set_last_error(WEFT_FAILURE, what, "memory that is c_null_ptr", advice);
  }
  array->base_addr = memory;
  for (int d = 0; d < array->rank; ++d) {
    array->dim[d].lower_bound = line ? 1 : e.lower[d];
    array->dim[d].extent = line ? e.count : e.extent[d];
    array->dim[d].sm = (line ? 1 : e.stride[d]) * (CFI_index_t)e.element_bytes;
  }
  return WEFT_SUCCESS;
}

static void deallocate(CFI_cdesc_t* array) {
  free_room(array->base_addr);
  array->base_addr = NULL;
}

/* Fortran has no pointer to any type: one name per type of the elements. */
#define POINTERS_TO(type)                                                                                \
  int weft_fortran_view_##type(weft_plan plan, const facts* f, int side, int allocates, void* memory,    \
                               CFI_cdesc_t* array) {                                                     \
    const owner o = owner_of_plan(plan, f);                                                              \
    return view(&o, side, allocates, memory, array);                                                     \
  }                                                                                                      \
  int weft_fortran_gradient_view_##type(weft_gradient gradient, const facts* f, int side, int allocates, \
                                        void* memory, CFI_cdesc_t* array) {                              \
    const owner o = owner_of_gradient(gradient, f);                                                      \
    return view(&o, side, allocates, memory, array);                                                     \
  }                                                                                                      \
  void weft_fortran_deallocate_##type(CFI_cdesc_t* array) {                                              \
    deallocate(array);                                                                                   \
  }
POINTERS_TO(real32)
POINTERS_TO(real64)
POINTERS_TO(complex32)
POINTERS_TO(complex64)
