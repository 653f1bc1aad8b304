// What needs no ranks: boxes, options, memory, versions, what the library has.
#include <stdint.h>
#include <string.h>

#include "check.h"

static void test_boxes(void) {
  const weft_box box = {.ndim = 3, .lo = {0, 8, 0}, .hi = {4, 16, 32}};
  const weft_box other = {.ndim = 3, .lo = {1, 4, 30}, .hi = {2, 10, 40}}, flat = {.ndim = 2, .hi = {1, 1}};
  const weft_box wrong = {.ndim = 9};
  weft_box common = {0};
  char* text = NULL;
  CHECK(weft_box_count(&box) == 4 * 8 * 32);
  CHECK(weft_box_count(NULL) == 0 && weft_box_count(&wrong) == 0);
  const weft_box vast = {.ndim = 2, .lo = {INT64_MIN, 0}, .hi = {INT64_MAX, 1}};
  CHECK(weft_box_count(&vast) == -1);
  GOOD(weft_box_intersect(&box, &other, &common));
  CHECK(common.ndim == 3 && common.lo[1] == 8 && common.hi[1] == 10 && common.lo[2] == 30 &&
        common.hi[2] == 32);
  CHECK(weft_box_contains(&box, &common) && weft_box_contains(&other, &common));
  CHECK(!weft_box_contains(&box, &other) && !weft_box_contains(&box, &flat) &&
        !weft_box_contains(NULL, &box));
  GOOD(weft_box_text(&box, &text));
  CHECK(strcmp(text, "[0:4, 8:16, 0:32)") == 0);
  weft_free(text);
  FAILS(weft_box_intersect(&box, &flat, &common), WEFT_BAD_ARGUMENT, "3 and 2 axes");
  FAILS(weft_box_intersect(NULL, &flat, &common), WEFT_BAD_ARGUMENT, "a is NULL");
  FAILS(weft_box_text(&wrong, &text), WEFT_BAD_ARGUMENT, "9 axes");
}

static void test_options(void) {
  weft_options options = NULL;
  char* text = NULL;
  int is_set = -1;
  GOOD(weft_options_create(&options));
  GOOD(weft_options_set(options, "pipeline", "windowed"));
  GOOD(weft_options_set_int(options, "tile", 3));
  GOOD(weft_options_get(options, "tile", &text));
  CHECK(strcmp(text, "3") == 0);
  weft_free(text);
  GOOD(weft_options_is_set(options, "tile", &is_set));
  CHECK(is_set == 1);
  GOOD(weft_options_is_set(options, "window", &is_set));
  CHECK(is_set == 0);
  GOOD(weft_options_text(options, &text));
  CHECK(has_part(text, "\npipeline=windowed\n") && has_part(text, "\ntile=3\n") &&
        has_part(text, "\nthreads=1\n"));
  weft_free(text);
  text = NULL;
  FAILS(weft_options_set(options, "pipelines", "windowed"), WEFT_FAILURE, "pipeline");
  FAILS(weft_options_set(options, "pipeline", "wind"), WEFT_FAILURE, "windowed");
  FAILS(weft_options_set(options, NULL, "windowed"), WEFT_BAD_ARGUMENT, "name is NULL");
  FAILS(weft_options_set(options, "pipeline", NULL), WEFT_BAD_ARGUMENT, "value is NULL");
  FAILS(weft_options_get(options, "no such option", &text), WEFT_FAILURE, "no such option");
  CHECK(text == NULL);
  GOOD(weft_options_free(&options));
  FAILS(weft_options_set_int(options, "tile", 3), WEFT_BAD_HANDLE, "NULL");
}

static void test_memory(void) {
  void* memory = &memory;
  GOOD(weft_alloc(0, &memory));
  CHECK(memory == NULL);
  GOOD(weft_alloc(100, &memory));
  CHECK((uintptr_t)memory % 64 == 0);
  for (int i = 0; i < 100; ++i) CHECK(((const char*)memory)[i] == 0);
  weft_free(memory);
  weft_free(NULL);
  FAILS(weft_alloc(8, NULL), WEFT_BAD_ARGUMENT, "memory is NULL");
  FAILS(weft_alloc(SIZE_MAX - 4, &memory), WEFT_NO_MEMORY, "no memory");
}

static void test_messages(void) {
  FAILS(weft_comm_self(NULL), WEFT_BAD_ARGUMENT, "weft: comm: comm is NULL; expected a pointer");
  weft_error error = {.size = sizeof error};
  GOOD(weft_last_error(&error));
  CHECK(strcmp(error.operation, "comm") == 0 && strcmp(error.got, "comm is NULL") == 0);
  CHECK(strcmp(error.expected, "a pointer") == 0 && error.rank == -1 && error.size == sizeof error);
  error.size = 3;
  CHECK(weft_last_error(&error) == WEFT_BAD_ARGUMENT && weft_last_error(NULL) == WEFT_BAD_ARGUMENT);
  CHECK(has_part(weft_last_message(), "comm is NULL"));
  CHECK(strcmp(weft_status_name(WEFT_BAD_HANDLE), "WEFT_BAD_HANDLE") == 0);
  CHECK(has_part(weft_status_name((weft_status)99), "no status"));
}

static void test_information(void) {
  char* text = NULL;
  CHECK(strcmp(weft_version(), WEFT_VERSION) == 0);
  GOOD(weft_information_json(&text));
  CHECK(text[0] == '{' && has_part(text, "\"version\": \"" WEFT_VERSION "\"") && has_part(text, "\"fftw\""));
  CHECK(has_part(text, "\"WEFT_THREADS\"") && has_part(text, "\"hardware\"") && has_part(text, "\"gpu\""));
  CHECK(has_part(text, "\"numa_nodes\": \""));
  weft_free(text);
  FAILS(weft_information_json(NULL), WEFT_BAD_ARGUMENT, "text is NULL");
}

void test_values(void) {
  CHECK(strcmp(weft_last_message(), "") == 0);
  test_boxes();
  test_options();
  test_memory();
  test_messages();
  test_information();
}
