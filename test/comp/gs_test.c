// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// `gs` on heaps and piles of every law, both forms, against Lemke where the law is polygonal.
#include "support/cmocka.h"
#include "support/data.h"
#include "support/families.h"
#include "support/heap.h"

#include <perp/io.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { ROOM = 600 };

static perp_comp_info run(const char *solver, const perp_fcp *fcp, double tolerance, double *r,
                          double *v)
{
    perp_comp_options options = perp_comp_options_default();
    perp_comp_info info;
    options.tolerance = tolerance;
    perp_status status = perp_fcp_solve(solver, fcp, &options, NULL, r, v, &info);
    assert_int_equal(status, info.error.status);
    return info;
}

// Velocities at the contacts of the local form: unique where reactions are not.
static double velocity_gap(const perp_fcp *local, const double *r, const double *s)
{
    double worst = 0.0;
    int n = local->nc * local->dim;
    for (int i = 0; i < n; i++) {
        double gap = 0.0;
        for (int j = 0; j < n; j++) {
            for (int k = local->W.p[j]; k < local->W.p[j + 1]; k++) {
                gap += local->W.i[k] == i ? local->W.x[k] * (r[j] - s[j]) : 0.0;
            }
        }
        worst = fmax(worst, fabs(gap));
    }
    return worst;
}

static void trees_of_every_law(void **state)
{
    (void)state;
    static const int facets[] = {0, 3, 4, 8, 16};
    for (int dim = 2; dim <= 6; dim++) {
        for (int k = 0; k < (dim == 2 ? 1 : 5); k++) {
            FOR_SEEDS(seed, 6)
            {
                heap *h = heap_create(12, 1, dim, facets[k], seed);
                double r[ROOM], s[ROOM], v[ROOM];
                assert_non_null(h);
                perp_comp_info local = run("gs", &h->local, 1e-10, r, NULL);
                perp_comp_info global = run("gs", &h->global, 1e-10, s, v);
                CHECK(local.error.status == PERP_OK && global.error.status == PERP_OK, seed);
                CHECK(global.residual_dynamics < 1e-12, seed);
                CHECK(velocity_gap(&h->local, r, s) < 1e-7, seed);
                heap_destroy(h);
            }
        }
    }
}

// Wedged heaps are at the edge of what a first-order method can do: most, not all.
static void wedged_heaps(void **state)
{
    (void)state;
    int solved = 0, tried = 0;
    for (int dim = 2; dim <= 3; dim++) {
        FOR_SEEDS(seed, 20)
        {
            heap *h = heap_create(6, 2, dim, 0, seed);
            double r[ROOM], v[ROOM];
            perp_comp_info info = run("gs", &h->global, 1e-6, r, v);
            CHECK(isfinite(info.residual) && info.residual < 1e-2, seed);
            solved += info.error.status == PERP_OK;
            tried++;
            heap_destroy(h);
        }
    }
    assert_true(solved >= tried * 8 / 10);
}

// Both find the same motion of one ball or box, whose velocity is unique for these loads.
static void pyramids_agree_with_lemke(void **state)
{
    (void)state;
    static const int facets[] = {3, 4, 8, 16};
    for (int k = 0; k < 4; k++) {
        FOR_SEEDS(seed, 10)
        {
            heap *h = heap_create(3, 1, 3, facets[k], seed);
            double r[ROOM], s[ROOM];
            assert_int_equal(run("gs", &h->local, 1e-10, r, NULL).error.status, PERP_OK);
            assert_int_equal(run("lemke", &h->local, 1e-10, s, NULL).error.status, PERP_OK);
            CHECK(velocity_gap(&h->local, r, s) < 1e-7, seed);
            heap_destroy(h);
        }
    }
}

static void piles_of_boxes(void **state)
{
    (void)state;
    static const double push[3] = {0.3, 0.1, 0.0};
    for (int contacts = 4; contacts <= 8; contacts += 4) {
        for (int boxes = 1; boxes <= 3; boxes++) {
            pile *p = family_pile(boxes, contacts, 2.0, 0.5, push);
            double r[ROOM], v[ROOM];
            assert_int_equal(run("gs", &p->local, 1e-8, r, NULL).error.status, PERP_OK);
            assert_int_equal(run("gs", &p->global, 1e-8, r, v).error.status, PERP_OK);
            pile_destroy(p);
        }
    }
}

static void a_warm_start_from_the_answer_is_the_answer(void **state)
{
    (void)state;
    heap *h = heap_create(10, 1, 3, 0, 7);
    double r[ROOM], again[ROOM], v[ROOM];
    perp_comp_options options = perp_comp_options_default();
    perp_comp_info info;
    assert_int_equal(run("gs", &h->global, 1e-8, r, v).error.status, PERP_OK);
    memcpy(again, r, sizeof r);
    options.warm_start = true;
    assert_int_equal(perp_fcp_solve("gs", &h->global, &options, NULL, again, v, &info), PERP_OK);
    assert_int_equal(info.iterations, 0);
    assert_memory_equal(again, r, (size_t)(h->global.nc * 3) * sizeof *r);
    heap_destroy(h);
}

static void limits_are_obeyed(void **state)
{
    (void)state;
    heap *h = heap_create(30, 3, 3, 0, 3);
    double r[ROOM];
    perp_comp_options options = perp_comp_options_default();
    perp_comp_info info;
    options.tolerance = 1e-14;
    options.max_iterations = 3;
    assert_int_equal(perp_fcp_solve("gs", &h->local, &options, NULL, r, NULL, &info),
                     PERP_ERR_LIMIT);
    assert_int_equal(info.iterations, 3);
    assert_true(isfinite(info.residual) && info.residual < 1.0 && strlen(info.error.text) > 10);
    options.max_iterations = 0;
    options.max_seconds = 1e-9;
    assert_int_equal(perp_fcp_solve("gs", &h->local, &options, NULL, r, NULL, &info),
                     PERP_ERR_LIMIT);
    assert_int_equal(info.iterations, 1);
    heap_destroy(h);
}

// Contacts without friction, and a contact between two fixed bodies: its block of W is zero.
static void degenerate_contacts(void **state)
{
    (void)state;
    static const int p[] = {0, 1, 2, 3, 3, 3, 3}, i[] = {0, 1, 2};
    static const double x[] = {1.0, 1.0, 1.0}, mu[] = {0.0, 0.5};
    double q[] = {-1.0, 0.5, 0.25, 0.0, 1.0, 0.0}, r[6];
    perp_fcp fcp = {.nc = 2, .dim = 3, .mu = mu, .q = q, .W = perp_matrix_csc(6, 6, p, i, x)};
    assert_int_equal(run("gs", &fcp, 1e-10, r, NULL).error.status, PERP_OK);
    assert_true(r[0] == 1.0 && r[1] == 0.0 && r[3] == 0.0);
    q[3] = -1.0;  // now the fixed contact closes: no solution, but an answer of finite numbers
    perp_comp_info info = run("gs", &fcp, 1e-10, r, NULL);
    assert_true(info.error.status < 0);
    for (int k = 0; k < 6; k++) {
        assert_true(isfinite(r[k]));
    }
}

static void granular_flow_of_7002_contacts(void **state)
{
    (void)state;
    char path[1024];
    perp_problem *flow = NULL;
    if (!data_path("problems/ncx/fc/fc2d_granularflowonwall_07002_00801.ncx", path, sizeof path)) {
        print_message("no data: skipped\n");
        skip();
    }
    assert_int_equal(perp_problem_read(path, NULL, &flow, NULL), PERP_OK);
    const perp_fcp *fcp = perp_problem_fcp(flow);
    double *r = malloc((size_t)(fcp->nc * fcp->dim) * sizeof *r);
    perp_comp_info info = run("gs", fcp, 1e-6, r, NULL);
    assert_int_equal(info.error.status, PERP_OK);
    assert_true(info.iterations < 3000);
    free(r);
    perp_problem_destroy(flow);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trees_of_every_law),
        cmocka_unit_test(wedged_heaps),
        cmocka_unit_test(pyramids_agree_with_lemke),
        cmocka_unit_test(piles_of_boxes),
        cmocka_unit_test(a_warm_start_from_the_answer_is_the_answer),
        cmocka_unit_test(limits_are_obeyed),
        cmocka_unit_test(degenerate_contacts),
        cmocka_unit_test(granular_flow_of_7002_contacts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
