// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Budgets of a step, and loose tolerances: the step is taken with the best answer, which says how good it is.
#include "support/cmocka.h"
#include "support/space.h"

#include <math.h>
#include <string.h>

static const double H = 0.01;

// Boxes dropped on each other, slightly turned; more than sixty contacts when they lie.
static void start(plane *p, perp_sim_def def)
{
    const perp_vec3 half = {0.1, 0.1, 0.1};
    plane_open(p);
    perp_builder_set_gravity(p->builder, (perp_vec3){0.0, 0.0, -9.81});
    space_halfspace(p, PLANE_GROUND, (perp_vec3){0.0, 0.0, 1.0}, 0.0, 0.5);
    for (int i = 0; i < 27; i++) {
        int layer = i / 9, row = i / 3 % 3;
        perp_vec3 at = {0.23 * (i % 3) + 0.01 * sin(i), 0.23 * row + 0.01 * cos(i),
                        0.15 + 0.25 * layer};
        perp_body_def body = space_body(1.0, space_box_inertia(1.0, half), at);
        body.rotation_WB = space_turn((perp_vec3){sin(i), cos(i), 0.5}, 0.1);
        space_box(p, perp_builder_add_body(p->builder, &body), half, 0.5);
    }
    p->def = def;
    plane_start(p);
}

static void a_tiny_budget_still_steps(void **state)
{
    (void)state;
    plane p = {0};
    perp_sim_def def = perp_sim_default();
    def.max_seconds = 1e-9;
    start(&p, def);
    int inexact = 0;
    for (int k = 0; k < 60; k++) {
        perp_status status = perp_sim_step(p.sim, H);
        const perp_step_info *info = perp_sim_info(p.sim);
        assert_true(status >= 0);
        assert_true(isfinite(info->certificate.residual));
        if (status == PERP_INEXACT && strstr(info->remark, "time or iteration limit reached")) {
            assert_true(info->certificate.residual > def.tolerance);
            inexact++;
        }
    }
    assert_true(inexact > 10);
    assert_true(fabs(perp_sim_time(p.sim) - 60 * H) < 1e-9);
    plane_close(&p);
}

static uint64_t run(perp_sim_def def, int steps, int *inexact, int *most)
{
    plane p = {0};
    start(&p, def);
    *inexact = *most = 0;
    for (int k = 0; k < steps; k++) {
        perp_status status = perp_sim_step(p.sim, H);
        const perp_step_info *info = perp_sim_info(p.sim);
        assert_true(status >= 0);
        *inexact += status == PERP_INEXACT;
        *most = info->iterations > *most ? info->iterations : *most;
    }
    uint64_t hash = perp_sim_state_hash(p.sim);
    plane_close(&p);
    return hash;
}

static void iterations_are_a_budget_with_the_same_bits(void **state)
{
    (void)state;
    perp_sim_def def = perp_sim_default();
    int inexact, most, again;
    def.max_iterations = 5;
    uint64_t hash = run(def, 60, &inexact, &most);
    assert_true(inexact > 0);
    assert_true(run(def, 60, &again, &most) == hash && again == inexact);
    def.max_iterations = 0;
    assert_true(run(def, 60, &inexact, &most) != hash);
    assert_int_equal(inexact, 0);
}

// A loose run that meets what it was asked for passes; it is not the exact one, and sinks little.
static void loose_runs_pass(void **state)
{
    (void)state;
    plane p = {0};
    perp_sim_def def = perp_sim_default();
    def.tolerance = 1e-3;
    start(&p, def);
    int swept = 0;
    for (int k = 0; k < 80; k++) {
        assert_int_equal(perp_sim_step(p.sim, H), PERP_OK);
        const perp_step_info *info = perp_sim_info(p.sim);
        assert_true(info->certificate.passed && info->certificate.residual <= 0.1);
        swept += info->solver && strcmp(info->solver, "sweeps") == 0;
    }
    assert_true(swept > 40);
    assert_true(perp_sim_info(p.sim)->certificate.gap < 1e-3);
    plane_close(&p);
}

// A hundred cubes of 1 m fall into a bin, which they do not leave room in. They are swept while they move, and come to rest
// all the same: gaps that sweeps leave over count as touching, and do not move them again.
static void a_swept_pile_comes_to_rest(void **state)
{
    (void)state;
    enum { SIDE = 5, STEPS = 500, LAST = 10 };
    const perp_vec3 half = {0.5, 0.5, 0.5}, up = {0.0, 0.0, 1.0};
    const double room = 1.8;
    plane p = {0};
    plane_open(&p);
    p.def = perp_sim_default();
    p.def.tolerance = 1e-6;
    perp_builder_set_gravity(p.builder, (perp_vec3){0.0, 0.0, -9.81});
    space_halfspace(&p, PLANE_GROUND, up, 0.0, 0.5);
    for (int j = 0; j < 4; j++) {
        double side = j % 2 ? -1.0 : 1.0;
        perp_vec3 normal = {j < 2 ? side : 0.0, j < 2 ? 0.0 : side, 0.0};
        space_halfspace(&p, PLANE_GROUND, normal, -0.5 * SIDE * room, 0.5);
    }
    for (int i = 0; i < 100; i++) {
        int column = i % SIDE, row = i / SIDE % SIDE, layer = i / (SIDE * SIDE);
        perp_vec3 at = {(column - 2) * room + 0.04 * sin(12.9898 * i + 0.1),
                        (row - 2) * room + 0.04 * sin(78.233 * i + 0.2),
                        0.5 * room + 0.1 + layer * room};
        perp_body_def body = space_body(1.0, space_box_inertia(1.0, half), at);
        perp_vec3 axis = {sin(i + 0.3), sin(2.0 * i + 1.1), sin(3.0 * i + 2.3)};
        body.rotation_WB = space_turn(axis, 1.5 * sin(5.0 * i + 0.7));
        space_box(&p, perp_builder_add_body(p.builder, &body), half, 0.5);
    }
    plane_start(&p);
    int swept = 0;
    for (int k = 0; k < STEPS; k++) {
        assert_int_equal(perp_sim_step(p.sim, H), PERP_OK);
        const perp_step_info *info = perp_sim_info(p.sim);
        assert_true(info->certificate.passed);
        swept += strcmp(info->solver, "sweeps") == 0;
        assert_true(k < STEPS - LAST || info->iterations == 0);
    }
    assert_true(swept > 100);
    plane_close(&p);
}

// A limit that was set stands, whatever the tolerance.
static void limits_that_were_set_stand(void **state)
{
    (void)state;
    perp_sim_def def = perp_sim_default();
    int inexact, most;
    def.tolerance = 1e-3;
    def.limits.residual = 1e-7;
    run(def, 60, &inexact, &most);
    assert_true(inexact > 0);
}

// The plane, joints, polygons: every form has an answer when the budget is over.
static void every_form_has_a_best_answer(void **state)
{
    (void)state;
    for (int form = PERP_FORM_AUTO; form <= PERP_FORM_CONE; form++) {
        plane p = {0};
        perp_body last = PLANE_GROUND;
        plane_open(&p);
        p.def.form = (perp_form)form;
        p.def.max_iterations = 1;
        p.def.max_seconds = 1e-9;
        plane_halfplane(&p, PLANE_GROUND, 0.0, 0.0, 0.0, 0.5);
        for (int k = 0; k < 4; k++) {
            perp_body_def def = plane_body(1.0, 0.01, 0.3 * k, 0.12, 0.2);
            perp_body body = perp_builder_add_body(p.builder, &def);
            plane_box(&p, body, 0.1, 0.1, 0.5);
            if (k == 1) {
                plane_pin(&p, last, (perp_vec3){0.15, 0.0, 0.0}, body,
                          (perp_vec3){-0.15, 0.0, 0.0});
            }
            last = body;
        }
        plane_start(&p);
        for (int k = 0; k < 20; k++) {
            perp_status status = perp_sim_step(p.sim, H);  // or worth nothing, and not taken
            assert_true(status >= 0 || status == PERP_ERR_LIMIT);
            assert_true(isfinite(perp_sim_info(p.sim)->certificate.residual));
        }
        plane_close(&p);
    }
}

static void budgets_are_not_negative(void **state)
{
    (void)state;
    perp_builder *b = perp_builder_create(NULL);
    perp_model *model = NULL;
    perp_sim *sim = NULL;
    perp_error error;
    assert_true(perp_model_create(b, &model, &error) >= 0);
    perp_sim_def def = perp_sim_default();
    def.max_seconds = -1.0;
    assert_int_equal(perp_sim_create(model, &def, NULL, &sim, &error), PERP_ERR_ARGUMENT);
    assert_non_null(strstr(error.text, "max_seconds"));
    def.max_seconds = 0.0;
    def.max_iterations = -1;
    assert_int_equal(perp_sim_create(model, &def, NULL, &sim, &error), PERP_ERR_ARGUMENT);
    def.max_iterations = 0;
    def.max_work = NAN;
    assert_int_equal(perp_sim_create(model, &def, NULL, &sim, &error), PERP_ERR_ARGUMENT);
    perp_model_destroy(model);
    perp_builder_destroy(b);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tiny_budget_still_steps),
        cmocka_unit_test(iterations_are_a_budget_with_the_same_bits),
        cmocka_unit_test(loose_runs_pass),
        cmocka_unit_test(a_swept_pile_comes_to_rest),
        cmocka_unit_test(limits_that_were_set_stand),
        cmocka_unit_test(every_form_has_a_best_answer),
        cmocka_unit_test(budgets_are_not_negative),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
