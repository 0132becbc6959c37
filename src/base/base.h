// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Door of base/: memory, messages, numbers in text, threads, time. Nothing here knows about
// mechanics.
#pragma once

#include <perp/base.h>

#include <stdarg.h>
#include <string.h>

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
// The heap is reached through perp_env only; env NULL means the C library. Blocks are 64-byte
// aligned, for vector instructions and so that threads do not share cache lines.

// The size given to pp_free is that of the allocation: allocators of a caller may need it.
void *pp_alloc(const perp_env *env, size_t size);
void pp_free(const perp_env *env, void *block, size_t size);
// A block of `size` bytes that begins with the first `used` of the old one, which is freed. NULL: memory
// is out, and the old block stays as it was.
void *pp_block_move(const perp_env *env, void *block, size_t old_size, size_t used, size_t size);

// A stack of chunks: allocation advances a pointer, release sets it back. Reset keeps the memory
// and merges the chunks into one, so that repeating the same work allocates nothing.
typedef struct pp_arena pp_arena;
typedef struct pp_mark {
    void *chunk;
    size_t used;
} pp_mark;

pp_arena *pp_arena_create(const perp_env *env);
// An arena in given memory, 64-byte aligned: the heap is used only beyond its size.
pp_arena *pp_arena_place(void *memory, size_t size, const perp_env *env);
void pp_arena_destroy(pp_arena *arena);
void pp_arena_reset(pp_arena *arena);
// Memory taken after a mark is given back by its release. Marks are released in reverse order.
pp_mark pp_arena_mark(const pp_arena *arena);
void pp_arena_release(pp_arena *arena, pp_mark mark);

// n objects of the given size, not initialised; NULL on overflow or without memory. n = 0 is
// allowed.
void *pp_arena_array(pp_arena *arena, size_t n, size_t size);
void *pp_arena_zeros(pp_arena *arena, size_t n, size_t size);

#define PP_ARRAY(arena, type, n) ((type *)pp_arena_array((arena), (size_t)(n), sizeof(type)))
#define PP_ZEROS(arena, type, n) ((type *)pp_arena_zeros((arena), (size_t)(n), sizeof(type)))

// ── Stopping ─────────────────────────────────────────────────────────────────────────────────────
// Computations that may take longer than some milliseconds ask at intervals, and return PERP_ERR_STOPPED with whatever
// they have: what asked them discards it.

bool pp_stopped(const perp_env *env);
bool pp_arena_stopped(const pp_arena *arena);  // the same for the services behind an arena

// Whether two objects have the same bytes: of numbers NaN is the same as itself, and -0 another one than 0.
static inline bool pp_same_bits(const void *a, const void *b, size_t bytes)
{
    return bytes == 0 || memcmp(a, b, bytes) == 0;
}
const perp_env *pp_arena_env(const pp_arena *arena);

// Failures after which nothing else is tried: memory is out, or the host wants to stop.
static inline bool pp_is_final(perp_status status)
{
    return status == PERP_ERR_MEMORY || status == PERP_ERR_STOPPED;
}

// ── Threads (team.c) ─────────────────────────────────────────────────────────────────────────────

// Lanes that work at the same time. A team that is NULL has one lane.
enum { PP_THREADS_MOST = 256 };
typedef struct pp_team {
    perp_env env;
    int lanes;
} pp_team;

// Runs task(arg, 0) to task(arg, lanes - 1), at the same time where there are threads, and returns
// when all are done. Lanes may also run one after the other, so that none may wait for another.
void pp_team_run(const pp_team *team, int lanes, void (*task)(void *arg, int lane), void *arg);
// Runs task(arg, from, to) over 0 .. count - 1 in pieces of `grain`, each by whichever lane is
// free. The caller does few pieces alone: waking threads takes some microseconds.
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

// Fills *error (may be NULL) and returns status, for `return pp_fail(...)`. The text is escaped, so
// that it is one printable line.
perp_status pp_fail(perp_error *error, perp_status status, const char *format, ...) PP_FORMAT(3, 4);
// snprintf that cannot fail: truncates, and always terminates.
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

// The number that the `length` bytes at text spell, rounded to the nearest double, ties to even.
pp_number pp_number_parse(const char *text, size_t length, double *value);
// The integer that they spell; false where they spell none, or one outside low..high.
bool pp_number_parse_int(const char *text, size_t length, int low, int high, int *value);
// 17 significant digits, "inf" or "-inf": pp_number_parse reads back the same bits. size >= 32.
void pp_number_print(char *text, size_t size, double value);
// 15 significant digits: for times, whose products k h are off by a rounding. size >= 32.
void pp_number_print_rounded(char *text, size_t size, double value);
// With 15 or 16 digits where these read back to the same bits: for people.
void pp_number_print_short(char *text, size_t size, double value);

// ── Words ────────────────────────────────────────────────────────────────────────────────────────

// Of count words (NULLs are skipped) the one nearest to a misspelt word, for "did you mean ...?";
// NULL: none is near enough.
const char *pp_nearest(const char *word, size_t length, const char *const *words, int count);

// ── Time and hashing ─────────────────────────────────────────────────────────────────────────────

double pp_seconds(void);                                         // monotonic wall clock [s]
uint64_t pp_hash(uint64_t seed, const void *data, size_t size);  // FNV-1a, 64 bits
