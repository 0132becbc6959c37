// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// As much of cmocka as test/golden/hashes_test.c needs, where there is no setjmp: a failure ends the program.
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

struct CMUnitTest {
    const char *name;
    void (*run)(void **state);
};

#define cmocka_unit_test(test)                                                                     \
    {                                                                                              \
#test, test                                                                                \
    }
#define print_message(...)     printf(__VA_ARGS__)
#define print_error(...)       fprintf(stderr, __VA_ARGS__)
#define fail_msg(...)          (fprintf(stderr, __VA_ARGS__), putc('\n', stderr), exit(1))
#define assert_true(c)         ((c) ? (void)0 : fail_msg("%s:%d: %s", __FILE__, __LINE__, #c))
#define assert_non_null(p)     assert_true((p) != NULL)
#define assert_int_equal(a, b) assert_true((a) == (b))
#define cmocka_run_group_tests(tests, setup, teardown)                                             \
    run_tests(tests, sizeof(tests) / sizeof(tests)[0], setup, teardown)

static inline int run_tests(const struct CMUnitTest *test, size_t count, int (*setup)(void **),
                            int (*teardown)(void **))
{
    void *state = NULL;
    setup(&state);
    for (size_t k = 0; k < count; k++) {
        test[k].run(&state);
        printf("%s: passed\n", test[k].name);
    }
    return teardown(&state);
}
