// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Door of base/: memory, messages, time. Nothing here knows what the rest of perp is for.
#pragma once

#include <perp/base.h>

#include <stdarg.h>

#if defined(__FAST_MATH__)
#error "perp's certificates need IEEE arithmetic: build without -ffast-math"
#endif

#if defined(NDEBUG) && !defined(PERP_ASSERTS)
#define pp_assert(condition) ((void)0)
#else
#include <assert.h>
#define pp_assert(condition) assert(condition)
#endif

// ── Memory ───────────────────────────────────────────────────────────────────────────────────────
// The heap is reached through perp_env only; env == NULL means libc. Blocks are 64-byte aligned.

void *pp_alloc(const perp_env *env, size_t size);
void pp_free(const perp_env *env, void *block, size_t size);
// A block of `size` bytes that begins with the first `used` of the old one, which is freed. NULL: memory
// is out, and the old block stays as it was.
void *pp_block_move(const perp_env *env, void *block, size_t old_size, size_t used, size_t size);

// A stack of chunks: allocation moves a pointer, release moves it back, reset keeps the memory and
// merges the chunks into one, so that repeating the same work allocates nothing.
typedef struct pp_arena pp_arena;
typedef struct pp_mark {
    void *chunk;
    size_t used;
} pp_mark;

pp_arena *pp_arena_create(const perp_env *env);
// An arena whose first chunk is the given memory, 64-byte aligned: the heap is used only past its size.
pp_arena *pp_arena_place(void *memory, size_t size, const perp_env *env);
void pp_arena_destroy(pp_arena *arena);
void pp_arena_reset(pp_arena *arena);
pp_mark pp_arena_mark(const pp_arena *arena);
void pp_arena_release(pp_arena *arena, pp_mark mark);

// n objects of the given size, uninitialised; NULL on overflow or when memory is out. n = 0 is fine.
void *pp_arena_array(pp_arena *arena, size_t n, size_t size);
void *pp_arena_zeros(pp_arena *arena, size_t n, size_t size);

#define PP_ARRAY(arena, type, n) ((type *)pp_arena_array((arena), (size_t)(n), sizeof(type)))
#define PP_ZEROS(arena, type, n) ((type *)pp_arena_zeros((arena), (size_t)(n), sizeof(type)))

// ── Threads (team.c) ─────────────────────────────────────────────────────────────────────────────

// Who works at the same time; NULL where one is passed: one lane.
enum { PP_THREADS_MOST = 256 };
typedef struct pp_team {
    perp_env env;
    int lanes;
} pp_team;

// task(arg, 0), … task(arg, lanes - 1), at the same time where there are threads; back when all are done.
// Lanes may also run one after the other: none may wait for another.
void pp_team_run(const pp_team *team, int lanes, void (*task)(void *arg, int lane), void *arg);
// task(arg, from, to) over all of 0 .. count - 1 in pieces of `grain`, by whoever is free. Few pieces are
// done by the caller alone: waking threads takes some microseconds.
void pp_team_share(const pp_team *team, int count, int grain,
                   void (*task)(void *arg, int from, int to), void *arg);

// The double that INFINITY (a float) stands for; needs <math.h>.
#define PP_INF HUGE_VAL

// ── Messages ─────────────────────────────────────────────────────────────────────────────────────

#if defined(__GNUC__)
#define PP_FORMAT(f, a) __attribute__((format(printf, f, a)))
#else
#define PP_FORMAT(f, a)
#endif

// Fills *error (NULL is fine) and returns status, so that `return pp_fail(…)` reads in one line.
perp_status pp_fail(perp_error *error, perp_status status, const char *format, ...) PP_FORMAT(3, 4);
// snprintf that never fails: truncates, always terminates.
void pp_print(char *text, size_t size, const char *format, ...) PP_FORMAT(3, 4);
void pp_print_list(char *text, size_t size, const char *format, va_list list) PP_FORMAT(3, 0);

// ── Numbers in text (number.c): the same whatever the locale ─────────────────────────────────────

typedef enum pp_number {
    PP_NUMBER_FINITE,
    PP_NUMBER_INFINITE,  // inf, -inf, infinity
    PP_NUMBER_NAN,
    PP_NUMBER_OVERFLOW,  // digits whose value no double can hold
    PP_NUMBER_NOT,       // no number at all
} pp_number;

// The number that the `length` bytes at text spell, nearest double, ties to even.
pp_number pp_number_parse(const char *text, size_t length, double *value);
// The integer they spell; false when they spell none, or one outside low..high.
bool pp_number_parse_int(const char *text, size_t length, int low, int high, int *value);
// 17 significant digits, "inf" or "-inf": what pp_number_parse reads back exactly. size >= 32.
void pp_number_print(char *text, size_t size, double value);
// The same with 15 or 16 digits where they are enough: for people's eyes.
void pp_number_print_short(char *text, size_t size, double value);

// ── Words ────────────────────────────────────────────────────────────────────────────────────────

// The one of count words (NULLs are skipped) that is nearest to the misspelt one, for "did you mean …?";
// NULL when none is near enough.
const char *pp_nearest(const char *word, size_t length, const char *const *words, int count);

// ── Time and hashing ─────────────────────────────────────────────────────────────────────────────

double pp_seconds(void);                                         // monotonic wall clock [s]
uint64_t pp_hash(uint64_t seed, const void *data, size_t size);  // FNV-1a, 64 bits
