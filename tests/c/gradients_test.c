// Gradients by one transform along each axis: of plane waves against their exact derivatives.
#include <string.h>

#include "check.h"
#include "check_problem.h"
#include "plane_wave.h"

static const double exact = 1e-11;

/* The derivatives of two fields along the axes 0 and `last`, in both orders. */
static void test_derivatives(weft_comm comm, int rank, int size, weft_components components) {
  const int axes_expected[2][2] = {{0, 2}, {2, 0}};
  const int* const along = axes_expected[components];
  const wave fields[2] = {{1, 0, 7}, {0, 3, -1}};
  weft_problem problem = problem_of_waves();
  weft_distribution columns = {.size = sizeof columns, .cut = WEFT_SLAB, .axis = 2, .order = {1, 0, 2}};
  weft_distribution with_halo = {.size = sizeof with_halo, .halo_lower = {0, 2, 1}, .halo_upper = {1, 0, 0}};
  problem.transforms[1] = WEFT_NONE;
  problem.batch = 2;
  problem.input = &with_halo;
  problem.output = &columns;
  weft_gradient gradient = NULL;
  weft_layout in = {.size = sizeof in}, out = {.size = sizeof out};
  int axes[WEFT_MAX_AXES], count = 0;
  GOOD(weft_gradient_create(comm, &problem, NULL, wave_lengths, components, &gradient));
  GOOD(weft_gradient_axes(gradient, axes, &count));
  CHECK(count == 2 && axes[0] == along[0] && axes[1] == along[1]);
  GOOD(weft_gradient_layout(gradient, WEFT_INPUT, &in));
  GOOD(weft_gradient_layout(gradient, WEFT_OUTPUT, &out));
  const weft_box slab = slab_of(&problem, 2, rank, size), whole = slab_of(&problem, 0, rank, size);
  CHECK(memcmp(&out.box, &slab, sizeof slab) == 0 && memcmp(&in.box, &whole, sizeof whole) == 0);
  const int64_t points = weft_box_count(&slab);
  CHECK(out.count == 4 * points && out.distance == points && out.offset == 0);
  CHECK(out.order[0] == 1 && out.order[1] == 0 && out.order[2] == 2);
  CHECK(in.element_bytes == 8 && in.is_complex == 0 && out.element_bytes == 8 && out.is_complex == 0);
  if (weft_box_count(&whole) > 0) /* 2 x 11 points of halo and points before the first one */
    CHECK(in.offset == 2 * 11 + 1 && in.distance == (whole.hi[0] - whole.lo[0] + 1) * 8 * 11);
  double *x = NULL, *y = NULL;
  GOOD(weft_alloc((size_t)in.count * sizeof *x, (void**)&x));
  GOOD(weft_alloc((size_t)out.count * sizeof *y, (void**)&y));
  fill_waves(&in, fields, 2, x);
  wave expected[4];
  for (int i = 0; i < 2; ++i) {
    const double k = wave_k[along[i]];
    expected[i] = (wave){0, k, 0};
    expected[2 + i] = (wave){-3 * k, 0, 0};
  }
  GOOD(weft_gradient_execute(gradient, x, y));
  CHECK(error_of_waves(&out, expected, 4, y) < exact);
  weft_free(x);
  weft_free(y);
  GOOD(weft_gradient_free(&gradient));
  CHECK(gradient == NULL);
}

static void test_facts(weft_comm comm) {
  const weft_problem problem = problem_of_waves();
  weft_gradient gradient = NULL;
  weft_layout layout = {.size = sizeof layout};
  int axes[WEFT_MAX_AXES], count = 0, size = 0;
  size_t bytes = 77;
  char* text = NULL;
  GOOD(weft_comm_size(comm, &size));
  GOOD(weft_gradient_create(comm, &problem, NULL, NULL, WEFT_FIRST_AXIS_FIRST, &gradient));
  GOOD(weft_gradient_workspace_bytes(gradient, &bytes));
  CHECK(bytes != 77 && (size == 1 || bytes > 0));
  GOOD(weft_gradient_text(gradient, &text));
  CHECK(has_part(text, "weft gradient: derivatives along axes 0,1,2") && has_part(text, "axis 1"));
  weft_free(text);
  FAILS(weft_gradient_text(gradient, NULL), WEFT_BAD_ARGUMENT, "text is NULL");
  FAILS(weft_gradient_workspace_bytes(gradient, NULL), WEFT_BAD_ARGUMENT, "bytes is NULL");
  FAILS(weft_gradient_axes(gradient, NULL, &count), WEFT_BAD_ARGUMENT, "axes is NULL");
  FAILS(weft_gradient_axes(gradient, axes, NULL), WEFT_BAD_ARGUMENT, "count is NULL");
  FAILS(weft_gradient_layout(gradient, WEFT_INPUT, NULL), WEFT_BAD_ARGUMENT, "layout is NULL");
  FAILS(weft_gradient_layout(gradient, (weft_side)2, &layout), WEFT_BAD_ARGUMENT, "weft_side");
  layout.size = 4;
  FAILS(weft_gradient_layout(gradient, WEFT_INPUT, &layout), WEFT_BAD_ARGUMENT, "weft_layout has the size 4");
  FAILS(weft_gradient_set_stream(gradient, NULL), WEFT_FAILURE, "host");
  FAILS(weft_wait((weft_plan)(void*)gradient), WEFT_BAD_HANDLE, "a gradient; expected a plan");
  FAILS(weft_gradient_execute(gradient, NULL, NULL), WEFT_FAILURE, "in is null");  // every rank has points
  const weft_gradient copy = gradient;
  GOOD(weft_gradient_free(&gradient));
  gradient = copy;
  FAILS(weft_gradient_execute(gradient, NULL, NULL), WEFT_BAD_HANDLE, "a gradient that was freed");
  FAILS(weft_gradient_free(&gradient), WEFT_BAD_HANDLE, "a gradient that was freed");
  FAILS(weft_gradient_execute(NULL, NULL, NULL), WEFT_BAD_HANDLE, "NULL; expected a gradient");
}

/* What is wrong on one rank fails on all, and says the same there. */
static void test_mistakes(weft_comm comm, int rank, int size, int wrong) {
  const double negative[3] = {1, 1, -1};
  weft_problem problem = problem_of_waves();
  weft_options freed = NULL;
  weft_gradient gradient = NULL;
  const int mine = rank == wrong;
  const weft_status bad = mine ? WEFT_BAD_ARGUMENT : WEFT_FAILURE;
  FAILS(weft_gradient_create(comm, mine ? NULL : &problem, NULL, NULL, WEFT_FIRST_AXIS_FIRST, &gradient), bad,
        "problem is NULL");
  FAILS(weft_gradient_create(comm, &problem, NULL, NULL, mine ? (weft_components)7 : WEFT_FIRST_AXIS_FIRST,
                             &gradient),
        bad, "gradient: 7; expected a value of weft_components");
  FAILS(weft_gradient_create(comm, &problem, NULL, NULL, WEFT_FIRST_AXIS_FIRST, mine ? NULL : &gradient), bad,
        "gradient is NULL");
  GOOD(weft_options_create(&freed));
  const weft_options copy = freed;
  GOOD(weft_options_free(&freed));
  FAILS(weft_gradient_create(comm, &problem, mine ? copy : NULL, NULL, WEFT_FIRST_AXIS_FIRST, &gradient),
        mine ? WEFT_BAD_HANDLE : WEFT_FAILURE, "options that was freed");
  FAILS(weft_gradient_create(comm, &problem, NULL, mine ? negative : NULL, WEFT_FIRST_AXIS_FIRST, &gradient),
        WEFT_FAILURE, "lengths {1");
  if (size > 1) {
    FAILS(weft_gradient_create(comm, &problem, NULL, NULL,
                               mine ? WEFT_LAST_AXIS_FIRST : WEFT_FIRST_AXIS_FIRST, &gradient),
          WEFT_FAILURE, "derivatives of the last axis first");
  }
  problem.transforms[1] = mine ? WEFT_DCT1 : WEFT_C2C;
  FAILS(weft_gradient_create(comm, &problem, NULL, NULL, WEFT_FIRST_AXIS_FIRST, &gradient), WEFT_FAILURE,
        "gradient: dct1 along axis 1");
  problem.transforms[1] = WEFT_C2C;
  problem.in_place = 1;
  FAILS(weft_gradient_create(comm, &problem, NULL, NULL, WEFT_FIRST_AXIS_FIRST, &gradient), WEFT_FAILURE,
        "gradient: in place");
  CHECK(gradient == NULL);
  GOOD(weft_comm_barrier(comm));
}

void test_gradients(weft_comm comm) {
  int rank = -1, size = 0;
  GOOD(weft_comm_rank(comm, &rank));
  GOOD(weft_comm_size(comm, &size));
  test_derivatives(comm, rank, size, WEFT_FIRST_AXIS_FIRST);
  test_derivatives(comm, rank, size, WEFT_LAST_AXIS_FIRST);
  test_facts(comm);
  test_mistakes(comm, rank, size, size - 1);
  if (size > 1) test_mistakes(comm, rank, size, 0);
}
