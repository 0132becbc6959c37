// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Vectors that prove a jam, or that nothing holds: right ones are taken, tampered ones are not.
#include "assemble/assemble.h"
#include "support/cmocka.h"
#include "support/plane.h"
#include "support/random.h"

#include <math.h>
#include <string.h>

enum { MOST = 8 };

static const double H = 0.01;

typedef struct bench {
    plane p;
    pp_arena *arena;
    pp_row n[MOST], b[MOST], t[MOST];
    pp_friction group[MOST];
    int contact[MOST], friction[MOST], grouped[MOST];
    pp_rows rows;
    double yn[MOST], yb[MOST];
} bench;

static void bench_open(bench *k, int bodies)
{
    memset(k, 0, sizeof *k);
    plane_open(&k->p);
    for (int i = 0; i < bodies; i++) {
        perp_body_def def = plane_body(1.0, 0.1, i, 0.0, 0.0);
        perp_builder_add_body(k->p.builder, &def);
    }
    plane_start(&k->p);
    k->arena = pp_arena_create(NULL);
    assert_non_null(k->arena);
    k->rows = (pp_rows){.n = k->n,
                        .b = k->b,
                        .t = k->t,
                        .group = k->group,
                        .contact = k->contact,
                        .friction = k->friction,
                        .grouped = k->grouped};
}

static void bench_close(bench *k)
{
    pp_arena_destroy(k->arena);
    plane_close(&k->p);
}

static pp_row row_of(int body, double x, double y, double turn, double c)
{
    pp_row row = {.count = 1, .body = {body}, .J = {{x, y, turn}}, .bias = c};
    return row;
}

static double judged(bench *k)
{
    return pp_rows_contradiction(k->p.model, &k->rows, H, k->yn, k->yb, k->arena);
}

// J of the last row is what makes sum y J vanish, its right side what makes sum y c = -gap: random proofs.
static void random_proof(bench *k, rng *r)
{
    double J[3] = {0.0, 0.0, 0.0}, value = 0.0;
    k->rows.nn = 2 + rng_below(r, 4);
    k->rows.nb = rng_below(r, 3);
    for (int i = 0; i < k->rows.nn + k->rows.nb - 1; i++) {
        bool joint = i >= k->rows.nn - 1;
        pp_row *row = joint ? &k->b[i - k->rows.nn + 1] : &k->n[i];
        double y = joint ? rng_normal(r) : rng_uniform(r, 0.1, 2.0);
        *row = row_of(1, rng_normal(r), rng_normal(r), rng_normal(r), rng_normal(r));
        *(joint ? &k->yb[i - k->rows.nn + 1] : &k->yn[i]) = y;
        for (int v = 0; v < 3; v++) {
            J[v] -= y * row->J[0][v];
        }
        value += y * row->bias;
    }
    int last = k->rows.nn - 1;
    k->n[last] = row_of(1, J[0], J[1], J[2], -value - rng_uniform(r, 0.01, 1.0));
    k->yn[last] = 1.0;
}

static void tampered_proofs_are_refused(void **state)
{
    (void)state;
    FOR_SEEDS(seed, 500)
    {
        rng r = rng_seed(seed);
        bench k;
        bench_open(&k, 1);
        random_proof(&k, &r);
        CHECK(judged(&k) < 0.0, seed);
        int i = rng_below(&r, k.rows.nn);
        double kept = k.yn[i];
        static const double changes[] = {0.0, -1.0, 0.5, 1.0 + 1e-6, 1.0 - 1e-6};
        for (size_t c = 0; c < sizeof changes / sizeof changes[0]; c++) {
            k.yn[i] = changes[c] * kept;
            CHECK(judged(&k) == PP_INF, seed);
        }
        k.yn[i] = NAN;
        CHECK(judged(&k) == PP_INF, seed);
        k.yn[i] = kept;
        double c = k.n[i].bias;
        k.n[i].bias += 3.0 / kept;  // the same weights of rows that do not contradict each other
        CHECK(judged(&k) == PP_INF, seed);
        k.n[i].bias = c;
        k.n[i].J[0][2] += 1e-6;  // and of rows with an effect
        CHECK(judged(&k) == PP_INF, seed);
        k.n[i].J[0][2] -= 1e-6;
        k.n[i].gamma = 1e-9;  // what gives way contradicts nothing
        CHECK(judged(&k) == PP_INF, seed);
        bench_close(&k);
    }
}

// A ball between two walls 1 m apart: a rebound that would reach the other wall within the step is no jam, a wall
// that moves in further than there is room for is one.
static void rebounds_are_no_jam(void **state)
{
    (void)state;
    bench k;
    bench_open(&k, 1);
    k.rows.nn = 2;
    k.yn[0] = k.yn[1] = 1.0;
    k.n[0] = row_of(1, 1.0, 0.0, 0.0, -200.0);
    k.n[0].bounces = true;
    k.n[0].value = 0.0;
    k.n[1] = row_of(1, -1.0, 0.0, 0.0, 1.0 / H);
    k.n[1].value = 1.0;
    assert_true(judged(&k) == PP_INF);
    k.n[0].bounces = false;
    assert_true(judged(&k) < 0.0);
    k.n[0].bounces = true;
    k.n[1].rate = -3.0 / H;
    assert_true(judged(&k) < 0.0);
    bench_close(&k);
}

// A block on a plane turned by `angle`, one point of it: held up to tan(angle) = mu.
static void incline(bench *k, double angle, double mu)
{
    k->rows.nn = k->rows.nt = k->rows.ng = 1;
    k->n[0] = row_of(1, -sin(angle), cos(angle), 0.0, 0.0);
    k->t[0] = row_of(1, cos(angle), sin(angle), 0.0, 0.0);
    k->group[0] = (pp_friction){.size = 1, .directions = 2, .mu = mu};
    k->grouped[0] = 1;
}

static void motions_that_nothing_holds(void **state)
{
    (void)state;
    const double p_ext[3] = {0.0, -1.0, 0.0};
    for (int steep = 1; steep < 30; steep++) {
        for (int rough = 0; rough < 12; rough++) {
            double angle = 0.05 * steep, mu = 0.25 * rough;
            bench k;
            bench_open(&k, 1);
            incline(&k, angle, mu);
            double best = 0.0;
            for (int i = 0; i < 720; i++) {  // any direction that proves it
                double a = acos(-1.0) * i / 360.0, d[3] = {cos(a), sin(a), 0.0};
                best = fmax(best, pp_rows_unbounded_motion(k.p.model, &k.rows, p_ext, d));
            }
            bool slides = tan(angle) > mu * 1.05, holds = tan(angle) <= mu;
            assert_false(holds && best > 0.0);
            assert_false(slides && tan(angle) > mu + 0.05 && !(best > 0.0));
            double nan[3] = {NAN, 0.0, 0.0};
            assert_false(pp_rows_unbounded_motion(k.p.model, &k.rows, p_ext, nan) > 0.0);
            k.rows.nb = 1;  // a joint in the way
            k.b[0] = row_of(1, 0.3, -0.7, 0.0, 0.0);
            const double across[3] = {-sin(angle) * 0.1 - cos(angle), -1.0, 0.0};
            assert_false(pp_rows_unbounded_motion(k.p.model, &k.rows, p_ext, across) > 0.0);
            bench_close(&k);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tampered_proofs_are_refused),
        cmocka_unit_test(rebounds_are_no_jam),
        cmocka_unit_test(motions_that_nothing_holds),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
