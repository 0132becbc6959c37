// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Common to all headers: export macro, version, status codes, error messages, host services.
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

// Negative: failure; the caller's data is unchanged unless the function says otherwise. Positive: success with
// reservations. One list, expanded here to the enum and in status.c to the texts.
//
//   X(name, value, word, text)    word appears in tables and JSON, for example of `perp solve`
#define PERP_STATUS_LIST(X)                                                                        \
    X(PERP_OK, 0, "solved", "success")                                                             \
    X(PERP_INEXACT, 1, "inexact", "solved, but only to a looser tolerance than requested")         \
    X(PERP_ERR_ARGUMENT, -1, "error", "invalid argument")                                          \
    X(PERP_ERR_DEF, -2, "error", "a definition was not initialised with perp_*_default()")         \
    X(PERP_ERR_MEMORY, -3, "error", "allocation failed")                                           \
    X(PERP_ERR_MODEL, -4, "error", "inconsistent model")                                           \
    X(PERP_ERR_NUMERIC, -5, "error", "NaN or overflow")                                            \
    X(PERP_ERR_RAY, -6, "ray", "pivoting ended on a secondary ray: no solution found")             \
    X(PERP_ERR_LIMIT, -7, "limit", "iteration, pivot or time limit: no solution found")            \
    X(PERP_ERR_IO, -8, "error", "reading or writing failed")                                       \
    X(PERP_ERR_INFEASIBLE, -9, "infeasible", "proved to have no solution")                         \
    X(PERP_ERR_SINGULAR, -10, "singular", "singular factorisation: no solution found")             \
    X(PERP_ERR_REFUSED, -11, "refused", "the problem is outside the class of this solver")         \
    X(PERP_ERR_FORMAT, -12, "error", "invalid file contents")                                      \
    X(PERP_ERR_STOPPED, -13, "stopped", "stopped by the caller")

#define PERP_X(name, value, word, text) name = value,
typedef enum perp_status { PERP_STATUS_LIST(PERP_X) } perp_status;
#undef PERP_X

// The version of the linked library; PERP_VERSION is that of the header.
PERP_API const char *perp_version(void);
// A human-readable description. Never NULL.
PERP_API const char *perp_status_text(perp_status status);
// One word, for tables and JSON: solved inexact infeasible ray limit singular refused stopped error.
PERP_API const char *perp_status_word(perp_status status);
// Escapes text for output to a terminal: control characters and bytes that are not UTF-8 become \xNN, other characters
// that move or hide text \uNNNN. Writes at most size bytes with the terminator; returns the full length without it.
// NULL is treated as "".
PERP_API size_t perp_text_escape(const char *text, char *out, size_t size);

// The reason of a failure. Functions that create or read something take a pointer to one, which may be NULL; objects
// keep that of their last failed call (perp_builder_status, perp_sim_error, perp_record_error); solvers return it in
// perp_comp_info. A `remark`, in contrast, belongs to a valid result.
typedef struct perp_error {
    perp_status status;
    int line, column;  // in the input file; 0: none
    char text[248];    // "matrix 'M': row 7 is outside 0..6"
} perp_error;

// Host services. {0}: libc heap, no logging, serial. Objects that keep it copy the struct.
typedef struct perp_env {
    void *(*alloc)(void *user, size_t size, size_t align);  // NULL on failure
    void (*free)(void *user, void *block, size_t size);
    void (*log)(void *user, int level, const char *text);
    void (*parallel_for)(void *user, int count, void (*task)(void *arg, int i), void *arg);
    // Asked many times during long computations; true ends the call under way with PERP_ERR_STOPPED, usually within a
    // fraction of a second. A stopped step leaves the state as it was before. Must be cheap; several threads may call
    // it at the same time. NULL: never.
    bool (*stop)(void *user);
    void *user;
} perp_env;
