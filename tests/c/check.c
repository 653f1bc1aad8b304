#include "check.h"

#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static atomic_int count;

int check_that(int holds, const char* text, const char* more, const char* file, int line) {
  if (!holds) {
    ++count;
    fprintf(stderr, "%s:%d: not so: %s %s\n", file, line, text, more);
  }
  return holds;
}

int check_status(weft_status status, weft_status expected, const char* part, const char* text,
                 const char* file, int line) {
  if (status != expected) {
    fprintf(stderr, "%s instead of %s: ", weft_status_name(status), weft_status_name(expected));
    return check_that(0, text, status == WEFT_SUCCESS ? "" : weft_last_message(), file, line);
  }
  return check_that(has_part(weft_last_message(), part), text, weft_last_message(), file, line);
}

int has_part(const char* text, const char* part) {
  return strstr(text, part) != NULL;
}

int failures(void) {
  return count;
}

void test_on(weft_comm comm) {
  test_transforms(comm);
  test_errors(comm);
  test_findings(comm);
  test_lines(comm);
  test_mode_operators(comm);
  test_gradients(comm);
  test_trials(comm);
}
