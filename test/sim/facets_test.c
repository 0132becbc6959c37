// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// A step with friction polygons and many contacts: the forms MCP, LCP and cone are one problem, and what the
// first two report is a solution of the matrices that are printed.
#include "support/cmocka.h"
#include "support/random.h"
#include "support/space.h"

#include <math.h>
#include <stdlib.h>

enum { ROWS = 4, COLUMNS = 4, BRICKS = ROWS * COLUMNS };

static const perp_vec3 HALF = {0.5, 0.25, 0.25};

typedef struct wall_options {
    double mu;
    int facets;
    double speed;  // of the bricks, each its own way
    perp_form form;
} wall_options;

static void wall_open(plane *p, const wall_options *o, rng *r)
{
    plane_open(p);
    p->def.form = o->form;
    p->def.friction = PERP_FRICTION_PYRAMID;
    p->def.facets = o->facets;
    space_halfspace(p, PLANE_GROUND, (perp_vec3){0.0, 0.0, 1.0}, 0.0, o->mu);
    perp_builder_set_gravity(p->builder, (perp_vec3){0.0, 0.0, -9.81});
    for (int i = 0; i < BRICKS; i++) {
        int row = i / COLUMNS, column = i % COLUMNS;
        perp_vec3 at = {1.01 * column + (row % 2 ? 0.3 : 0.0), 0.0, 0.25 + 0.5 * row};
        perp_body_def def = space_body(1.0, space_box_inertia(1.0, HALF), at);
        def.velocity_W.x = o->speed * rng_uniform(r, -1.0, 1.0);
        def.velocity_W.y = o->speed * rng_uniform(r, -1.0, 1.0);
        space_box(p, perp_builder_add_body(p->builder, &def), HALF, o->mu);
    }
    plane_start(p);
}

static double apart(const plane *a, const plane *b)
{
    double worst = 0.0;
    for (int i = 1; i <= BRICKS; i++) {
        perp_twist x = perp_sim_body_twist(a->sim, (perp_body){i});
        perp_twist y = perp_sim_body_twist(b->sim, (perp_body){i});
        worst = fmax(worst, space_length(space_sub(x.v_W, y.v_W)));
        worst = fmax(worst, space_length(space_sub(x.w_W, y.w_W)));
    }
    return worst;
}

// The answer against the matrices of the form, as they are printed.
static void check_printed(const plane *p, perp_form form, uint64_t seed)
{
    perp_step_problem *problem = NULL;
    perp_mcp_residuals e;
    assert_int_equal(perp_sim_problem(p->sim, form, &problem), PERP_OK);
    assert_int_equal(perp_mcp_judge(&problem->mcp, problem->z, NULL, &e), PERP_OK);
    CHECK(e.plain < 1e-8 && e.scaled < 1e-8 && e.bound < 1e-14, seed);
    perp_step_problem_destroy(problem);
}

static void forms_are_one_problem(void **state)
{
    (void)state;
    static const int facets[] = {4, 8, 16};
    static const perp_form forms[] = {PERP_FORM_LCP, PERP_FORM_MCP, PERP_FORM_CONE};
    FOR_SEEDS(seed, 6)
    {
        plane p[3] = {0};
        for (int k = 0; k < 3; k++) {
            rng r = rng_seed(seed);
            wall_options o = {0.5, facets[seed % 3], seed % 2 ? 0.3 : 0.0, forms[k]};
            wall_open(&p[k], &o, &r);
        }
        for (int step = 0; step < 3; step++) {
            for (int k = 0; k < 3; k++) {
                plane_step(&p[k], 0.005);
                CHECK(perp_sim_info(p[k].sim)->form == forms[k], seed);
                CHECK(perp_sim_info(p[k].sim)->certificate.residual < 1e-8, seed);
            }
            check_printed(&p[0], PERP_FORM_LCP, seed);
            check_printed(&p[1], PERP_FORM_MCP, seed);
            CHECK(apart(&p[0], &p[1]) < 1e-9, seed);
            // In the plane the cone form is the same problem, of which a wall that bounces has several answers.
            check_printed(&p[2], PERP_FORM_LCP, seed);
        }
        for (int k = 0; k < 3; k++) {
            plane_close(&p[k]);
        }
    }
}

// Without friction, and with more than any contact can use.
static void odd_friction(void **state)
{
    (void)state;
    static const double mu[] = {0.0, 100.0, 1e-9};
    FOR_SEEDS(seed, 3)
    {
        plane p = {0};
        rng r = rng_seed(seed);
        wall_options o = {mu[seed % 3], 8, 0.1, seed % 2 ? PERP_FORM_LCP : PERP_FORM_MCP};
        wall_open(&p, &o, &r);
        plane_run(&p, 0.005, 3);
        // with mu = 100 matrices have entries 1e4 times as large as others, which pivoting leaves rounding of
        CHECK(p.worst.residual < 3e-7, seed);
        plane_close(&p);
    }
}

// In the plane the polygons are exact: a wall of bricks, LCP and cone.
static void planar_forms_agree(void **state)
{
    (void)state;
    plane p[2] = {0};
    for (int k = 0; k < 2; k++) {
        plane_open(&p[k]);
        p[k].def.form = k ? PERP_FORM_CONE : PERP_FORM_LCP;
        plane_halfplane(&p[k], PLANE_GROUND, 0.0, 0.0, 0.0, 0.5);
        perp_builder_set_gravity(p[k].builder, (perp_vec3){0.0, -9.81, 0.0});
        for (int i = 0; i < BRICKS; i++) {
            int row = i / COLUMNS, column = i % COLUMNS;
            perp_body_def def =
                plane_body(1.0, 0.1, 1.01 * column + (row % 2 ? 0.3 : 0.0), 0.25 + 0.5 * row, 0.0);
            def.velocity_W.x = row == ROWS - 1 ? 0.5 : 0.0;
            plane_box(&p[k], perp_builder_add_body(p[k].builder, &def), 0.5, 0.25, 0.5);
        }
        plane_start(&p[k]);
        plane_run(&p[k], 0.005, 5);
        assert_true(p[k].worst.residual < 1e-8);
    }
    assert_true(apart(&p[0], &p[1]) < 1e-8);
    plane_close(&p[0]);
    plane_close(&p[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(forms_are_one_problem),
        cmocka_unit_test(odd_friction),
        cmocka_unit_test(planar_forms_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
