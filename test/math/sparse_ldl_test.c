// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The sparse factorisation against dense LU on random block patterns: definite, indefinite, general,
// singular; the same pattern again costs no memory; every allocation may fail.
#include "math/math.h"
#include "support/cmocka.h"
#include "support/fault.h"
#include "support/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NODES_MOST = 60, SIZE_MOST = 6, ROWS_MOST = NODES_MOST * SIZE_MOST };

// A random matrix in blocks, beside its dense form.
typedef struct sample {
    int nodes, n;
    int size[NODES_MOST], first[NODES_MOST];
    int p[NODES_MOST + 1], i[NODES_MOST * NODES_MOST];
    double *x, *upper;  // values of the blocks
    double *A;          // n x n
} sample;

// WILD: general with a light diagonal, so that rows are exchanged.
typedef enum sort { DEFINITE, INDEFINITE, GENERAL, WILD } sort;

static void random_pattern(rng *r, sample *s, int nodes, int size, double density)
{
    int count = 0;
    *s = (sample){.nodes = nodes};
    for (int j = 0; j < nodes; j++) {
        s->size[j] = size > 0 ? size : 1 + rng_below(r, SIZE_MOST);
        s->first[j] = s->n;
        s->n += s->size[j];
    }
    for (int j = 0; j < nodes; j++) {
        s->p[j] = count;
        s->i[count++] = j;
        for (int i = nodes - 1; i > j; i--) {  // descending: any order will do
            bool near = i == j + 1 && rng_below(r, 4) > 0;
            if (near || rng_uniform(r, 0.0, 1.0) < density) {
                s->i[count++] = i;
            }
        }
    }
    s->p[nodes] = count;
}

// Values into the dense matrix; those of a definite or general one have a heavy diagonal.
static void random_values(rng *r, sample *s, sort kind)
{
    int n = s->n;
    s->A = calloc((size_t)n * (size_t)n, sizeof *s->A);
    assert_non_null(s->A);
    for (int j = 0; j < s->nodes; j++) {
        for (int k = s->p[j]; k < s->p[j + 1]; k++) {
            int i = s->i[k];
            for (int b = s->first[j]; b < s->first[j] + s->size[j]; b++) {
                for (int a = s->first[i]; a < s->first[i] + s->size[i]; a++) {
                    if (a >= b) {
                        s->A[a + b * n] = rng_uniform(r, -1.0, 1.0);
                        s->A[b + a * n] =
                            kind >= GENERAL ? rng_uniform(r, -1.0, 1.0) : s->A[a + b * n];
                    }
                }
            }
        }
    }
    for (int a = 0; a < n; a++) {
        double sum = 0.1;
        for (int b = 0; b < n; b++) {
            sum += fabs(s->A[a + b * n]);
        }
        bool negative = kind == INDEFINITE && rng_below(r, 2) == 0;
        double part = kind == WILD ? 0.1 : kind == GENERAL ? 0.5 : 1.0;
        s->A[a + a * n] = negative ? -sum : part * sum;
    }
}

static void to_blocks(sample *s, const int *at)
{
    int n = s->n, values = at[s->p[s->nodes]];
    s->x = calloc((size_t)values, sizeof *s->x);
    s->upper = calloc((size_t)values, sizeof *s->upper);
    assert_true(s->x && s->upper);
    for (int j = 0; j < s->nodes; j++) {
        for (int k = s->p[j]; k < s->p[j + 1]; k++) {
            int i = s->i[k], rows = s->size[i];
            for (int b = 0; b < s->size[j]; b++) {
                for (int a = 0; a < rows; a++) {
                    int row = s->first[i] + a, column = s->first[j] + b;
                    s->x[at[k] + a + b * rows] = s->A[row + column * n];
                    s->upper[at[k] + a + b * rows] = s->A[column + row * n];
                }
            }
        }
    }
}

static void release(sample *s)
{
    free(s->x);
    free(s->upper);
    free(s->A);
}

static pp_ldl_pattern pattern_of(const sample *s)
{
    return (pp_ldl_pattern){s->nodes, s->size, s->p, s->i};
}

// |A x - b| relative to |A| |x|
static double error_of(const sample *s, const double *x, const double *b)
{
    double error = 0.0, scale = 1e-300;
    for (int i = 0; i < s->n; i++) {
        double sum = -b[i], size = fabs(b[i]);
        for (int j = 0; j < s->n; j++) {
            sum += s->A[i + j * s->n] * x[j];
            size += fabs(s->A[i + j * s->n] * x[j]);
        }
        error = fmax(error, fabs(sum));
        scale = fmax(scale, size);
    }
    return error / scale;
}

static void check_sample(rng *r, sample *s, sort kind, uint64_t seed)
{
    double b[ROWS_MOST], x[ROWS_MOST];
    pp_ldl *ldl = pp_ldl_create(NULL);
    pp_ldl_pattern pattern = pattern_of(s);
    assert_int_equal(pp_ldl_analyse(ldl, &pattern), PERP_OK);
    to_blocks(s, pp_ldl_places(ldl));
    for (int i = 0; i < s->n; i++) {
        x[i] = b[i] = rng_uniform(r, -1.0, 1.0);
    }
    if (kind < GENERAL) {
        CHECK(pp_ldl_factor(ldl, s->x, 1e-14) == 0, seed);
        CHECK(pp_ldl_solve(ldl, x), seed);
        CHECK(error_of(s, x, b) < 1e-13, seed);
        const double *D = pp_ldl_pivots(ldl);
        for (int i = 0; i < s->n; i++) {
            CHECK(kind == DEFINITE ? D[i] > 0.0 : D[i] != 0.0, seed);
            CHECK((D[i] > 0.0) == (s->A[i + i * s->n] > 0.0), seed);
        }
    }
    memcpy(x, b, (size_t)s->n * sizeof *x);
    CHECK(pp_ldl_factor_lu(ldl, s->x, s->upper) == PERP_OK, seed);
    CHECK(pp_ldl_solve(ldl, x), seed);
    CHECK(error_of(s, x, b) < (kind == WILD ? 1e-9 : kind == GENERAL ? 1e-11 : 1e-13), seed);
    CHECK(pp_ldl_growth(ldl) < (kind == WILD ? 1e8 : 1e4), seed);
    pp_ldl_destroy(ldl);
}

static void test_random(void **state)
{
    (void)state;
    static const int sizes[] = {1, 3, 6, 0};
    FOR_SEEDS(seed, 120)
    {
        rng r = rng_seed(seed);
        static sample s;
        int nodes = 1 + rng_below(&r, NODES_MOST);
        random_pattern(&r, &s, nodes, sizes[seed % 4], rng_uniform(&r, 0.0, 0.15));
        sort kind = (sort)(seed % 3);
        random_values(&r, &s, kind);
        check_sample(&r, &s, kind, seed);
        release(&s);
    }
}

// Wide fronts with rows below them, eliminated stripe by stripe with exchanges across stripes.
static void test_exchanges(void **state)
{
    (void)state;
    FOR_SEEDS(seed, 20)
    {
        rng r = rng_seed(seed);
        static sample s;
        random_pattern(&r, &s, NODES_MOST, SIZE_MOST, 0.1);
        random_values(&r, &s, WILD);
        check_sample(&r, &s, WILD, seed);
        release(&s);
    }
}

static void test_empty_and_dense(void **state)
{
    (void)state;
    static sample s;
    rng r = rng_seed(7);
    pp_ldl *ldl = pp_ldl_create(NULL);
    int none = 0;
    pp_ldl_pattern empty = {0, &none, &none, &none};
    assert_int_equal(pp_ldl_analyse(ldl, &empty), PERP_OK);
    assert_int_equal(pp_ldl_factor(ldl, NULL, 0.0), 0);
    pp_ldl_destroy(ldl);
    random_pattern(&r, &s, 40, 3, 1.1);
    random_values(&r, &s, GENERAL);
    check_sample(&r, &s, GENERAL, 7);
    release(&s);
}

// S = J J' with repeated rows: as many zero pivots as rows follow from others, and a solution all the same.
static void test_redundant(void **state)
{
    (void)state;
    FOR_SEEDS(seed, 40)
    {
        rng r = rng_seed(seed);
        static sample s;
        enum { ROWS = 12, COLUMNS = 20 };
        double J[ROWS][COLUMNS], y[ROWS], b[ROWS], x[ROWS];
        int follow = rng_below(&r, 5);
        random_pattern(&r, &s, ROWS / 2, 2, 1.1);
        s.A = calloc((size_t)ROWS * ROWS, sizeof *s.A);
        for (int i = 0; i < ROWS; i++) {
            int from = i >= ROWS - follow ? rng_below(&r, ROWS - follow) : i;
            for (int j = 0; j < COLUMNS; j++) {
                J[i][j] = from < i ? -2.0 * J[from][j] : rng_uniform(&r, -1.0, 1.0);
            }
            y[i] = rng_uniform(&r, -1.0, 1.0);
        }
        for (int i = 0; i < ROWS; i++) {
            b[i] = 0.0;
            for (int k = 0; k < ROWS; k++) {
                for (int j = 0; j < COLUMNS; j++) {
                    s.A[i + k * ROWS] += J[i][j] * J[k][j];
                }
                b[i] += s.A[i + k * ROWS] * y[k];
            }
            x[i] = b[i];
        }
        pp_ldl *ldl = pp_ldl_create(NULL);
        pp_ldl_pattern pattern = pattern_of(&s);
        assert_int_equal(pp_ldl_analyse(ldl, &pattern), PERP_OK);
        to_blocks(&s, pp_ldl_places(ldl));
        CHECK(pp_ldl_factor(ldl, s.x, 1e-12) == follow, seed);
        int zeros = 0;
        for (int i = 0; i < ROWS; i++) {
            zeros += pp_ldl_pivots(ldl)[i] == 0.0;
        }
        CHECK(zeros == follow, seed);
        CHECK(pp_ldl_solve(ldl, x), seed);
        CHECK(error_of(&s, x, b) < 1e-11, seed);
        pp_ldl_destroy(ldl);
        release(&s);
    }
}

static void test_singular(void **state)
{
    (void)state;
    static const int size[] = {2, 1}, p[] = {0, 2, 3}, i[] = {0, 1, 1};
    pp_ldl_pattern pattern = {2, size, p, i};
    pp_ldl *ldl = pp_ldl_create(NULL);
    assert_int_equal(pp_ldl_analyse(ldl, &pattern), PERP_OK);
    double zero[7] = {1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0};  // block 2 x 2, 1 x 2, 1 x 1
    assert_int_equal(pp_ldl_factor_lu(ldl, zero, zero), PERP_ERR_SINGULAR);
    assert_int_equal(pp_ldl_factor(ldl, zero, 0.0), 1);
    // Zero on the diagonal: no pivot for L D L', an exchange within the block for L U.
    double swap[7] = {0.0, 2.0, 2.0, 0.0, 0.0, 0.0, 1.0}, b[3] = {2.0, 4.0, 3.0};
    assert_int_equal(pp_ldl_factor_lu(ldl, swap, swap), PERP_OK);
    assert_true(pp_ldl_solve(ldl, b));
    assert_true(b[0] == 2.0 && b[1] == 1.0 && b[2] == 3.0);
    double bad[7] = {(double)NAN, 0.0, 0.0, 1.0, 0.5, 0.5, 1.0};
    assert_int_equal(pp_ldl_factor_lu(ldl, bad, bad), PERP_ERR_SINGULAR);
    pp_ldl_destroy(ldl);
}

static void run_backwards(void *user, int count, void (*task)(void *arg, int i), void *arg)
{
    (*(int *)user)++;
    for (int i = count - 1; i >= 0; i--) {
        task(arg, i);
    }
}

// Factors and solves with so many lanes; returns the status of the LU.
static perp_status factor_by(int lanes, int *calls, const sample *s, double *x, double tell[2])
{
    pp_team team = {{.parallel_for = run_backwards, .user = calls}, lanes};
    pp_ldl_pattern pattern = pattern_of(s);
    pp_ldl *ldl = pp_ldl_create(NULL);
    pp_ldl_share(ldl, &team);
    assert_int_equal(pp_ldl_analyse(ldl, &pattern), PERP_OK);
    for (int i = 0; i < s->n; i++) {
        x[i] = x[s->n + i] = cos(3.0 * i);
    }
    tell[0] = pp_ldl_factor(ldl, s->x, 1e-14) + pp_ldl_growth(ldl);
    pp_ldl_solve(ldl, x);
    perp_status status = pp_ldl_factor_lu(ldl, s->x, s->upper);
    tell[1] = pp_ldl_growth(ldl);
    if (status == PERP_OK) {
        assert_true(pp_ldl_solve(ldl, x + s->n));
    }
    pp_ldl_destroy(ldl);
    return status;
}

// The same bits for any number of lanes, in whatever order they work; a singular front in one of them ends
// all.
static void test_lanes(void **state)
{
    (void)state;
    static const double density[] = {0.01, 0.08, 0.5};
    FOR_SEEDS(seed, 12)
    {
        rng r = rng_seed(seed);
        static sample s;
        static double x[2 * ROWS_MOST], y[2 * ROWS_MOST];
        double told[2], tell[2];
        int none = 0, calls = 0;
        bool singular = seed % 4 == 3;
        random_pattern(&r, &s, NODES_MOST, SIZE_MOST, density[seed % 3]);
        random_values(&r, &s, GENERAL);
        if (singular) {
            int at = rng_below(&r, s.n);
            for (int i = 0; i < s.n; i++) {
                s.A[i + at * s.n] = s.A[at + i * s.n] = 0.0;
            }
        }
        pp_ldl *ldl = pp_ldl_create(NULL);
        pp_ldl_pattern pattern = pattern_of(&s);
        assert_int_equal(pp_ldl_analyse(ldl, &pattern), PERP_OK);
        to_blocks(&s, pp_ldl_places(ldl));
        pp_ldl_destroy(ldl);
        perp_status alone = factor_by(1, &none, &s, x, told);
        CHECK(alone == (singular ? PERP_ERR_SINGULAR : PERP_OK) && none == 0, seed);
        for (int lanes = 2; lanes <= 8; lanes *= 2) {
            CHECK(factor_by(lanes, &calls, &s, y, tell) == alone, seed);
            size_t count = (size_t)s.n * (singular ? 1 : 2);
            CHECK(memcmp(x, y, count * sizeof *x) == 0, seed);
            CHECK(tell[0] == told[0] && (singular || tell[1] == told[1]), seed);
        }
        CHECK(calls > 0 || density[seed % 3] < 0.02, seed);
        release(&s);
    }
}

// The whole life of an object; true when nothing failed.
static bool live(const perp_env *env, const sample *a, const sample *b, fault *f, int *again)
{
    pp_ldl *ldl = pp_ldl_create(env);
    pp_ldl_pattern first = pattern_of(a), second = pattern_of(b);
    bool ok = ldl && pp_ldl_analyse(ldl, &first) == PERP_OK &&
              pp_ldl_analyse(ldl, &second) == PERP_OK && pp_ldl_analyse(ldl, &first) == PERP_OK;
    if (ok) {
        int before = f->calls;
        double x[ROWS_MOST] = {0.0};
        ok = pp_ldl_analyse(ldl, &first) == PERP_OK;
        pp_ldl_factor(ldl, a->x, 0.0);
        ok = ok && pp_ldl_factor_lu(ldl, a->x, a->upper) == PERP_OK && pp_ldl_solve(ldl, x);
        *again = f->calls - before;
    }
    pp_ldl_destroy(ldl);
    return ok;
}

static void test_memory(void **state)
{
    (void)state;
    static sample a, b;
    rng r = rng_seed(3);
    int again = -1;
    random_pattern(&r, &a, 50, 0, 0.1);
    random_pattern(&r, &b, 60, 6, 0.2);
    random_values(&r, &a, GENERAL);
    pp_ldl *ldl = pp_ldl_create(NULL);
    pp_ldl_pattern pattern = pattern_of(&a);
    assert_int_equal(pp_ldl_analyse(ldl, &pattern), PERP_OK);
    to_blocks(&a, pp_ldl_places(ldl));
    pp_ldl_destroy(ldl);
    for (int k = 1; k < 1000; k++) {
        fault f = {.fail_at = k};
        perp_env env = fault_env(&f);
        fault_hook(&f);
        bool ok = live(&env, &a, &b, &f, &again);
        fault_hook(NULL);
        assert_int_equal(f.live, 0);
        assert_int_equal(f.confused, 0);
        if (!f.happened) {
            assert_true(ok);
            assert_int_equal(again, 0);
            release(&a);
            return;
        }
    }
    fail();
}

static void test_in_arena(void **state)
{
    (void)state;
    static sample s;
    rng r = rng_seed(5);
    pp_arena *arena = pp_arena_create(NULL);
    pp_ldl *ldl = pp_ldl_create_in(arena);
    double b[ROWS_MOST], x[ROWS_MOST];
    random_pattern(&r, &s, 30, 3, 0.1);
    random_values(&r, &s, DEFINITE);
    pp_ldl_pattern pattern = pattern_of(&s);
    assert_int_equal(pp_ldl_analyse(ldl, &pattern), PERP_OK);
    to_blocks(&s, pp_ldl_places(ldl));
    for (int i = 0; i < s.n; i++) {
        x[i] = b[i] = rng_uniform(&r, -1.0, 1.0);
    }
    assert_int_equal(pp_ldl_factor(ldl, s.x, 0.0), 0);
    assert_true(pp_ldl_solve(ldl, x));
    assert_true(error_of(&s, x, b) < 1e-13);
    pp_ldl_destroy(ldl);
    pp_arena_destroy(arena);
    release(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random),          cmocka_unit_test(test_exchanges),
        cmocka_unit_test(test_empty_and_dense), cmocka_unit_test(test_redundant),
        cmocka_unit_test(test_singular),        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_lanes),           cmocka_unit_test(test_in_arena),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
