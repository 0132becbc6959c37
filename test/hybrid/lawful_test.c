// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Forces that the equations of modes leave undetermined: pp_law_forces against the least non-negative ones, found by
// going through all sets of contacts that carry nothing; and that they depend continuously on the state.
#include "support/cmocka.h"
#include "support/random.h"

#include "hybrid/law.h"

#include <math.h>
#include <string.h>

enum { CONTACTS = 6, DOF = 3, ROWS = 3 * CONTACTS };

// A block of three degrees of freedom (up, and turning about two axes) that slides on six points with known directions of
// friction: six normal forces, three equations.
typedef struct face {
    double A[ROWS * ROWS], b[ROWS];
    pp_law law[CONTACTS];
    pp_laws laws;
} face;

static void make_face(rng *r, double mu, face *f)
{
    double J[DOF + 2][ROWS];  // two more: sliding along x and y
    memset(f, 0, sizeof *f);
    for (int i = 0; i < CONTACTS; i++) {
        double x = rng_uniform(r, -1.0, 1.0), y = rng_uniform(r, -1.0, 1.0);
        double turn = rng_uniform(r, -3.0, 3.0), height = 0.3;
        const double normal[5] = {1.0, y, -x, 0.0, 0.0};
        const double along[5] = {0.0, 0.0, height, 1.0, 0.0};
        const double across[5] = {0.0, -height, 0.0, 0.0, 1.0};
        for (int k = 0; k < 5; k++) {
            J[k][3 * i] = normal[k];
            J[k][3 * i + 1] = along[k];
            J[k][3 * i + 2] = across[k];
        }
        f->law[i] = (pp_law){.kind = PP_LAW_SLIDING,
                             .at = 3 * i,
                             .size = 3,
                             .mu = mu,
                             .d = {cos(turn), sin(turn)},
                             .mode = PP_SLIDES};
    }
    double a[5] = {rng_uniform(r, -2.0, -0.5), rng_uniform(r, -0.6, 0.6), rng_uniform(r, -0.6, 0.6),
                   0.3, -0.2};
    for (int i = 0; i < ROWS; i++) {
        for (int k = 0; k < 5; k++) {
            f->b[i] += J[k][i] * a[k];
            for (int j = 0; j < ROWS; j++) {
                f->A[i + j * ROWS] += J[k][i] * J[k][j];
            }
        }
    }
    f->laws = (pp_laws){
        .count = CONTACTS, .rows = ROWS, .law = f->law, .A = f->A, .b = f->b, .tolerance = 1e-9};
}

// Normal accelerations that normal forces x leave, with their friction.
static void normal_rates(const face *f, const double *x, double *u)
{
    double r[ROWS], all[ROWS];
    for (int i = 0; i < CONTACTS; i++) {
        r[3 * i] = x[i];
        r[3 * i + 1] = -f->law[i].mu * f->law[i].d[0] * x[i];
        r[3 * i + 2] = -f->law[i].mu * f->law[i].d[1] * x[i];
    }
    pp_law_rates(&f->laws, r, all);
    for (int i = 0; i < CONTACTS; i++) {
        u[i] = all[3 * i];
    }
}

// The shortest x with zero rates whose entries outside of `set` vanish; its norm, infinite where there is none.
static double shortest_of(const face *f, unsigned set, double *x, pp_arena *arena)
{
    double zero[CONTACTS] = {0.0}, u0[CONTACTS], u[CONTACTS], M[CONTACTS * CONTACTS], b[CONTACTS],
           norm = 0.0;
    normal_rates(f, zero, u0);
    for (int j = 0; j < CONTACTS; j++) {
        memset(zero, 0, sizeof zero);
        zero[j] = (set >> j) & 1u ? 1.0 : 0.0;
        normal_rates(f, zero, u);
        for (int i = 0; i < CONTACTS; i++) {
            M[i + j * CONTACTS] = u[i] - u0[i];
        }
        b[j] = -u0[j];
    }
    pp_least_solve(CONTACTS, M, b, x, NULL, 1e-10, arena);
    normal_rates(f, x, u);
    for (int i = 0; i < CONTACTS; i++) {
        if (x[i] < -1e-9 || fabs(u[i]) > 1e-9) {
            return PP_INF;
        }
        norm += x[i] * x[i];
    }
    return sqrt(norm);
}

static pp_arena *arena_new(void)
{
    pp_arena *arena = pp_arena_create(NULL);
    assert_non_null(arena);
    return arena;
}

static void test_least_lawful(void **state)
{
    (void)state;
    rng r = rng_seed(rng_test_seed(1));
    pp_arena *arena = arena_new();
    int lawful = 0, moved = 0;
    for (int run = 0; run < 400; run++) {
        face f;
        double x[CONTACTS], best[CONTACTS] = {0.0}, least = PP_INF, out[ROWS], shortest[ROWS];
        pp_law_info info;
        make_face(&r, rng_uniform(&r, 0.0, 0.4), &f);
        for (unsigned set = 1; set < 1u << CONTACTS; set++) {
            double norm = shortest_of(&f, set, x, arena);
            if (norm < least - 1e-12) {
                least = norm;
                memcpy(best, x, sizeof best);
            }
        }
        assert_int_equal(pp_law_forces(&f.laws, out, &info, arena), PERP_OK);
        assert_true(info.rank < info.equations);
        if (least == PP_INF) {
            continue;
        }
        assert_int_equal(pp_law_linear(&f.laws, shortest, &info, arena), PERP_OK);
        lawful++;
        for (int i = 0; i < CONTACTS; i++) {
            moved += shortest[3 * i] < -1e-6;
            assert_true(fabs(out[3 * i] - best[i]) <= 1e-7 * (1.0 + least));
            assert_true(out[3 * i] >= -1e-11 * (1.0 + least));
        }
    }
    assert_true(lawful > 100 && moved > 50);  // both kinds were met
    pp_arena_destroy(arena);
}

// From a state with lawful forces to one without: no jump, also where they end.
static void test_continuous(void **state)
{
    (void)state;
    rng r = rng_seed(rng_test_seed(1));
    pp_arena *arena = arena_new();
    for (int run = 0; run < 20; run++) {
        face from, to, at;
        enum { STEPS = 2000 };
        double last[ROWS], out[ROWS];
        pp_law_info info;
        make_face(&r, 0.3, &from);
        to = from;
        for (int i = 0; i < CONTACTS; i++) {  // turns over: no forces that push hold it
            to.b[3 * i] += 3.0 * (from.A[3 * i + 3 * ROWS] - from.A[3 * i]);
        }
        for (int k = 0; k <= STEPS; k++) {
            double s = (double)k / STEPS;
            at = from;
            at.laws.law = at.law;
            at.laws.A = at.A;
            at.laws.b = at.b;
            for (int i = 0; i < ROWS; i++) {
                at.b[i] = (1.0 - s) * from.b[i] + s * to.b[i];
            }
            assert_int_equal(pp_law_forces(&at.laws, out, &info, arena), PERP_OK);
            for (int i = 0; i < ROWS && k > 0; i++) {
                assert_true(fabs(out[i] - last[i]) < 0.5);
            }
            memcpy(last, out, sizeof last);
        }
    }
    pp_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_least_lawful),
        cmocka_unit_test(test_continuous),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
