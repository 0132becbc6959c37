// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// `eg` on trees of balls of every law and piles of boxes, both forms, and against `gs`.
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

static void trees_of_every_law(void **state)
{
    (void)state;
    static const int facets[] = {0, 3, 4, 8, 16};
    for (int dim = 2; dim <= 6; dim++) {
        for (int k = 0; k < (dim == 2 ? 1 : 5); k++) {
            FOR_SEEDS(seed, 4)
            {
                heap *h = heap_create(12, 1, dim, facets[k], seed);
                double r[ROOM], v[ROOM], w[ROOM];
                assert_non_null(h);
                perp_comp_info local = run("eg", &h->local, 1e-8, r, NULL);
                perp_comp_info global = run("eg", &h->global, 1e-8, r, v);
                CHECK(local.error.status == PERP_OK && global.error.status == PERP_OK, seed);
                CHECK(run("gs", &h->global, 1e-10, r, w).error.status == PERP_OK, seed);
                for (int i = 0; i < h->global.nv; i++) {
                    CHECK(fabs(v[i] - w[i]) < 1e-5, seed);
                }
                heap_destroy(h);
            }
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
            assert_int_equal(run("eg", &p->local, 1e-4, r, NULL).error.status, PERP_OK);
            assert_int_equal(run("eg", &p->global, 1e-4, r, v).error.status, PERP_OK);
            pile_destroy(p);
        }
    }
}

static void limits_and_warm_start(void **state)
{
    (void)state;
    heap *h = heap_create(20, 1, 3, 0, 3);
    double r[ROOM];
    perp_comp_options options = perp_comp_options_default();
    perp_comp_info info;
    options.max_iterations = 2;
    assert_true(perp_fcp_solve("eg", &h->local, &options, NULL, r, NULL, &info) != PERP_OK);
    assert_int_equal(info.iterations, 2);
    assert_true(isfinite(info.residual));
    assert_int_equal(run("eg", &h->local, 1e-8, r, NULL).error.status, PERP_OK);
    options.warm_start = true;
    assert_int_equal(perp_fcp_solve("eg", &h->local, &options, NULL, r, NULL, &info), PERP_OK);
    assert_int_equal(info.iterations, 0);
    heap_destroy(h);
}

static void capsules_to_a_loose_tolerance(void **state)
{
    (void)state;
    char path[1024];
    perp_problem *capsules = NULL;
    if (!data_path("problems/ncx/fc/Capsules-i100-1090.ncx", path, sizeof path)) {
        print_message("no data: skipped\n");
        skip();
    }
    assert_int_equal(perp_problem_read(path, NULL, &capsules, NULL), PERP_OK);
    const perp_fcp *fcp = perp_problem_fcp(capsules);
    double *r = malloc((size_t)(fcp->nc * fcp->dim) * sizeof *r);
    perp_comp_info info = run("eg", fcp, 1e-4, r, NULL);
    assert_int_equal(info.error.status, PERP_OK);
    assert_true(info.iterations < 600);  // 45 for all contacts together, 434 for each of them
    free(r);
    perp_problem_destroy(capsules);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trees_of_every_law),
        cmocka_unit_test(piles_of_boxes),
        cmocka_unit_test(limits_and_warm_start),
        cmocka_unit_test(capsules_to_a_loose_tolerance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
