// What tests in C are written with: checks that count what is wrong and go on, so that no rank is left alone.
#ifndef WEFT_TESTS_C_CHECK_H
#define WEFT_TESTS_C_CHECK_H

#include "weft/weft.h"

// Counts a failure and prints it with the place, unless the condition holds. The value is that of the
// condition.
#define CHECK(condition) check_that((condition) != 0, #condition, "", __FILE__, __LINE__)
// The call returns WEFT_SUCCESS.
#define GOOD(call) check_status((call), WEFT_SUCCESS, "", #call, __FILE__, __LINE__)
// The call returns this status, and the message of this thread has this part.
#define FAILS(call, status, part) check_status((call), (status), (part), #call, __FILE__, __LINE__)

int check_that(int holds, const char* text, const char* more, const char* file, int line);
int check_status(weft_status status, weft_status expected, const char* part, const char* text,
                 const char* file, int line);
// Whether `text` has this part.
int has_part(const char* text, const char* part);

// Failures of this process so far.
int failures(void);

// The tests. Each is collective over its communicator, but for those without one.
void test_values(void);
void test_teams(void);
void test_handles(void);
void test_transforms(weft_comm comm);
void test_errors(weft_comm comm);
void test_findings(weft_comm comm);
void test_lines(weft_comm comm);
void test_mode_operators(weft_comm comm);
void test_gradients(weft_comm comm);
void test_trials(weft_comm comm);
// All of those that take a communicator.
void test_on(weft_comm comm);

#endif
