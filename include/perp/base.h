// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// What every other header needs: export macro, version, status codes, error messages, host services.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
#define PERP_EXTERN extern "C"
#else
#define PERP_EXTERN extern
#endif

#if defined(__GNUC__)
#define PERP_API  PERP_EXTERN __attribute__((visibility("default")))
#define PERP_MUST __attribute__((warn_unused_result))
#else
#define PERP_API PERP_EXTERN
#define PERP_MUST
#endif

#define PERP_VERSION_MAJOR 0
#define PERP_VERSION_MINOR 1
#define PERP_VERSION_PATCH 0
#define PERP_VERSION       "0.1.0"

// Negative: failed, nothing of the caller's changed but what the function says. Positive: done, with a
// remark. One list, expanded here to the enum and in status.c to the texts.
//
//   X(name, value, word, text)    word is what tools print: `perp solve --json`, tables
#define PERP_STATUS_LIST(X)                                                                        \
    X(PERP_OK, 0, "solved", "success")                                                             \
    X(PERP_INEXACT, 1, "inexact", "solved, but only to a looser tolerance than asked for")         \
    X(PERP_ERR_ARGUMENT, -1, "error", "invalid argument")                                          \
    X(PERP_ERR_DEF, -2, "error", "a definition was not initialised by its perp_*_default()")       \
    X(PERP_ERR_MEMORY, -3, "error", "allocation failed")                                           \
    X(PERP_ERR_MODEL, -4, "error", "inconsistent model")                                           \
    X(PERP_ERR_NUMERIC, -5, "error", "not a number, or an overflow")                               \
    X(PERP_ERR_RAY, -6, "ray", "pivoting ended on a secondary ray: no solution found")             \
    X(PERP_ERR_LIMIT, -7, "limit", "iteration, pivot or time limit: no solution found")            \
    X(PERP_ERR_IO, -8, "error", "reading or writing failed")                                       \
    X(PERP_ERR_INFEASIBLE, -9, "infeasible", "proved to have no solution")                         \
    X(PERP_ERR_SINGULAR, -10, "singular", "a singular factorisation: no solution found")           \
    X(PERP_ERR_REFUSED, -11, "refused", "the problem is outside the class this solver is for")     \
    X(PERP_ERR_FORMAT, -12, "error", "the file is not what it should be")

#define PERP_X(name, value, word, text) name = value,
typedef enum perp_status { PERP_STATUS_LIST(PERP_X) } perp_status;
#undef PERP_X

// The version of the library that is linked; PERP_VERSION is the header's.
PERP_API const char *perp_version(void);
// A sentence, for people. Never NULL.
PERP_API const char *perp_status_text(perp_status status);
// One word, for tables and JSON: solved inexact infeasible ray limit singular refused error.
PERP_API const char *perp_status_word(perp_status status);
// The text with everything in it that could command a terminal escaped: control characters and bytes that are
// no UTF-8 as \xNN, other characters that move or hide text as \uNNNN. At most size bytes, terminated; returns
// how many it takes without the terminator. NULL is "".
PERP_API size_t perp_text_escape(const char *text, char *out, size_t size);

// The one form in which a failure gives its reason. A function that makes or reads something takes one by
// pointer, and accepts NULL; an object keeps that of its last failed call (perp_builder_status, perp_sim_error,
// perp_record_error); a solver returns it in perp_comp_info. A `remark` is about a result that stands.
typedef struct perp_error {
    perp_status status;
    int line, column;  // of the input file, 0 when there is none
    char text[248];    // "matrix 'M': row 7 is outside 0..6"
} perp_error;

// Host services. {0} means libc heap, silent, serial. The struct is copied by whoever keeps it.
typedef struct perp_env {
    void *(*alloc)(void *user, size_t size, size_t align);  // NULL on failure
    void (*free)(void *user, void *block, size_t size);
    void (*log)(void *user, int level, const char *text);
    void (*parallel_for)(void *user, int count, void (*task)(void *arg, int i), void *arg);
    void *user;
} perp_env;
