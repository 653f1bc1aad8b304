// Transforms of all kinds, against sums.
#include "check.h"
#include "check_problem.h"

static const weft_distribution slabs_1 = {.size = sizeof slabs_1, .cut = WEFT_SLAB, .axis = 1};
static const weft_distribution lines_0 = {.size = sizeof lines_0, .cut = WEFT_PENCIL, .axis = 0};
static const weft_distribution lines_2 = {
    .size = sizeof lines_2, .cut = WEFT_PENCIL, .axis = 2, .order = {2, 1, 0}};
static const weft_distribution bricks = {.size = sizeof bricks, .cut = WEFT_BRICK};
static const weft_distribution fastest = {.size = sizeof fastest, .cut = WEFT_FASTEST};

static weft_problem with(weft_transform first, weft_transform second, weft_transform third) {
  weft_problem problem = small_problem();
  problem.transforms[0] = first;
  problem.transforms[1] = second;
  problem.transforms[2] = third;
  problem.output = &slabs_1;
  return problem;
}

static void test_kinds(weft_comm comm) {
  const weft_transform kinds[][3] = {
      {WEFT_C2C, WEFT_C2C, WEFT_C2C},    {WEFT_C2C, WEFT_C2C, WEFT_R2C},    {WEFT_R2C, WEFT_C2C, WEFT_DST1},
      {WEFT_DCT1, WEFT_DCT2, WEFT_DCT3}, {WEFT_DCT4, WEFT_DST1, WEFT_DST2}, {WEFT_DST3, WEFT_DST4, WEFT_NONE},
      {WEFT_C2C, WEFT_C2C, WEFT_DCT1},   {WEFT_NONE, WEFT_DST3, WEFT_C2C},
  };
  for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; ++i) {
    weft_problem problem = with(kinds[i][0], kinds[i][1], kinds[i][2]);
    check_problem(comm, &problem, PLAIN, "of all kinds, double");
    problem.precision = WEFT_FLOAT32;
    check_problem(comm, &problem, PLAIN, "of all kinds, float");
  }
  weft_problem problem = with(WEFT_DCT2, WEFT_NONE, WEFT_DST2);
  problem.element = WEFT_COMPLEX;
  check_problem(comm, &problem, PLAIN, "DCTs of complex data");
}

static void test_distributions(weft_comm comm, int rank, int size) {
  weft_problem problem = with(WEFT_C2C, WEFT_C2C, WEFT_R2C);
  problem.input = &lines_2;
  problem.output = &lines_0;
  check_problem(comm, &problem, PLAIN, "pencils, Fortran order before");
  problem.input = &bricks;
  problem.output = &fastest;
  check_problem(comm, &problem, PLAIN, "bricks, what is fastest");

  const weft_distribution grid = {
      .size = sizeof grid, .cut = WEFT_GRID, .parts = {1, size >= 4 ? 2 : 1, size / 2 + size % 2}};
  weft_box boxes[16], mine;
  problem = small_problem();
  for (int r = 0; r < size; ++r) boxes[r] = slab_of(&problem, 2, size - 1 - r, size);
  const weft_distribution list = {
      .size = sizeof list, .cut = WEFT_BOXES, .boxes = boxes, .box_count = (size_t)size};
  problem.input = &grid;
  problem.output = &list;
  check_problem(comm, &problem, PLAIN, "a grid, a list of boxes");

  mine = slab_of(&problem, 1, rank, size);
  const weft_distribution own = {.size = sizeof own, .cut = WEFT_BOX, .boxes = &mine};
  const weft_distribution halo = {.size = sizeof halo, .halo_lower = {1, 0, 2}, .halo_upper = {0, 3, 1}};
  problem.input = &own;
  problem.output = &halo;
  check_problem(comm, &problem, PLAIN, "the box of each rank, a halo");

  weft_problem thin = {.size = sizeof thin, .ndim = 4, .shape = {3, 2, 1, 5}};
  check_problem(comm, &thin, PLAIN, "four axes, ranks without points");
  weft_problem flat = {.size = sizeof flat, .ndim = 2, .shape = {7, 9}, .transforms = {WEFT_C2C, WEFT_R2C}};
  check_problem(comm, &flat, PLAIN, "two axes");
  flat.ndim = 1;
  if (size == 1) check_problem(comm, &flat, PLAIN, "one axis");
}

static void test_memory(weft_comm comm, int rank, int size) {
  weft_problem problem = small_problem();
  problem.in_place = 1;
  check_problem(comm, &problem, PLAIN, "in place");
  problem.transforms[2] = WEFT_R2C;
  const weft_distribution padded = {.size = sizeof padded, .r2c_padding = 1};
  problem.input = &padded;
  problem.output = &slabs_1;
  check_problem(comm, &problem, PLAIN, "in place, r2c with padding");

  problem = with(WEFT_C2C, WEFT_DCT2, WEFT_C2C);
  problem.batch = 3;
  check_problem(comm, &problem, PLAIN, "a batch");
  weft_box mine = slab_of(&problem, 0, rank, size);
  const int64_t items = problem.batch, third = items * problem.shape[2];
  const weft_distribution interleaved = {.size = sizeof interleaved,
                                         .cut = WEFT_BOX,
                                         .boxes = &mine,
                                         .strides = {third * problem.shape[1], third, items}};
  problem.input = &interleaved;
  problem.input_distance = 1;
  check_problem(comm, &problem, PLAIN, "an interleaved batch");

  problem = small_problem();
  problem.forward_scale = WEFT_SYMMETRIC;
  problem.backward_scale = WEFT_FULL;
  check_problem(comm, &problem, PLAIN, "scaled");
}

void test_transforms(weft_comm comm) {
  int rank = -1, size = 0;
  GOOD(weft_comm_rank(comm, &rank));
  GOOD(weft_comm_size(comm, &size));
  test_kinds(comm);
  test_distributions(comm, rank, size);
  test_memory(comm, rank, size);
  weft_problem problem = with(WEFT_C2C, WEFT_C2C, WEFT_R2C);
  check_problem(comm, &problem, OWN_WORKSPACE, "a workspace of the caller");
  check_problem(comm, &problem, STARTED, "started");
}
