// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The path F(x) = lambda F(x_0) of contact problems with polygonal friction, theory (C39): from any start it
// ends in a solution by the independent judge, or reports that it does not.
#include "comp/newton/ssn.h"
#include "support/cmocka.h"
#include "support/heap.h"
#include "support/random.h"

#include <math.h>
#include <stdlib.h>

typedef struct tally {
    int arrived, rays, others;
    double worst;
} tally;

// From one random start: impulses that press, slide and pull.
static void walk_once(const perp_fcp *fcp, rng *r, pp_arena *arena, tally *all)
{
    perp_comp_options options = perp_comp_options_default();
    pp_job job = {.options = &options, .arena = arena, .deadline = PP_INF};
    pp_ssn *ssn = NULL;
    pp_ssn_linear *linear = NULL;
    pp_ssn_homotopy *walk = NULL;
    int steps = 0;
    assert_int_equal(pp_ssn_create(fcp, NULL, arena, &ssn), PERP_OK);
    assert_int_equal(pp_ssn_linear_create(ssn, &job, &linear), PERP_OK);
    assert_int_equal(pp_ssn_homotopy_create(ssn, linear, arena, &walk), PERP_OK);
    double *x = PP_ZEROS(arena, double, ssn->n), size = 1.0 + pp_norm2(ssn->n, ssn->q);
    for (int i = 0; i < ssn->n; i++) {
        x[i] = size * rng_uniform(r, -0.5, 1.0);
    }
    pp_ssn_homotopy_begin(walk, 1e-8, x);
    perp_status status = pp_ssn_homotopy_run(walk, 2000, &steps, x);
    assert_true(steps > 0 && steps <= 2000);
    if (status == PERP_OK) {
        perp_fcp_residuals residuals;
        for (int i = 0; i < ssn->n; i++) {
            x[i] *= ssn->scale[i];
        }
        assert_int_equal(perp_fcp_judge(fcp, x, NULL, NULL, &residuals), PERP_OK);
        all->worst = fmax(all->worst, fmax(residuals.plain, residuals.scaled));
        all->arrived++;
    } else {
        assert_true(status == PERP_ERR_RAY || status == PERP_ERR_LIMIT ||
                    status == PERP_ERR_SINGULAR);
        all->rays += status == PERP_ERR_RAY;
        all->others += status != PERP_ERR_RAY;
    }
    pp_ssn_linear_destroy(linear);
}

static void paths_end_in_solutions(void **state)
{
    (void)state;
    static const int dims[] = {2, 3, 4, 6};
    int starts = 0;
    tally all = {0};
    FOR_SEEDS(seed, 12)
    {
        rng r = rng_seed(seed);
        for (int k = 0; k < 4; k++) {
            int nd = dims[k] == 2 ? 0 : 3 + rng_below(&r, 6);
            heap *h = heap_create(3, 2, dims[k], nd, seed);
            for (int i = 0; i < 3; i++, starts++) {
                pp_arena *arena = pp_arena_create(NULL);
                walk_once(&h->local, &r, arena, &all);
                pp_arena_destroy(arena);
            }
            heap_destroy(h);
        }
        // the proximal term is 1e-8 of the problem
        CHECK(all.worst < 1e-6, seed);
    }
    print_message("%d of %d paths arrive, %d are unbounded; worst residual %.1e\n", all.arrived,
                  starts, all.rays, all.worst);
    assert_true(10 * all.arrived > 7 * starts);
}

// One piece is not enough, and is reported as such.
static void pieces_are_limited(void **state)
{
    (void)state;
    heap *h = heap_create(3, 2, 3, 4, 1);
    pp_arena *arena = pp_arena_create(NULL);
    perp_comp_options options = perp_comp_options_default();
    pp_job job = {.options = &options, .arena = arena, .deadline = PP_INF};
    pp_ssn *ssn = NULL;
    pp_ssn_linear *linear = NULL;
    pp_ssn_homotopy *walk = NULL;
    int steps = 0;
    assert_int_equal(pp_ssn_create(&h->local, NULL, arena, &ssn), PERP_OK);
    assert_int_equal(pp_ssn_linear_create(ssn, &job, &linear), PERP_OK);
    assert_int_equal(pp_ssn_homotopy_create(ssn, linear, arena, &walk), PERP_OK);
    double *x = PP_ZEROS(arena, double, ssn->n);
    pp_ssn_homotopy_begin(walk, 1e-8, x);
    assert_int_equal(pp_ssn_homotopy_run(walk, 1, &steps, x), PERP_ERR_LIMIT);
    assert_int_equal(steps, 1);
    pp_ssn_linear_destroy(linear);
    pp_arena_destroy(arena);
    heap_destroy(h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_end_in_solutions),
        cmocka_unit_test(pieces_are_limited),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
