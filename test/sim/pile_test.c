// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Piles of cubes: many contacts that share loads redundantly, and disagree by what the step before left over.
#include "support/cmocka.h"
#include "support/fault.h"

#include <perp/io.h>

#include <stdio.h>
#include <string.h>

static perp_scene *pile(const char *bodies, const char *cubes)
{
    perp_generator_option options[] = {{"bodies", bodies}, {"cubes", cubes}};
    perp_scene *scene = NULL;
    assert_int_equal(perp_scene_generate("pile3", options, 2, NULL, &scene, NULL), PERP_OK);
    return scene;
}

// While the pile settles most steps are solved from the impulses of the step before, in not many more steps of
// Newton's than there are islands; none is left above the tolerance by much.
static void most_steps_go_by_modes(void **state)
{
    (void)state;
    perp_scene *scene = pile("50", "1");
    perp_sim_def def = perp_scene_sim_def(scene);
    perp_sim *sim = NULL;
    int many = 0, by_modes = 0;
    assert_int_equal(perp_sim_create(perp_scene_model(scene), &def, NULL, &sim, NULL), PERP_OK);
    for (int k = 0; k < 200; k++) {
        assert_true(perp_sim_step(sim, 0.01) >= 0);
        const perp_step_info *info = perp_sim_info(sim);
        assert_true(info->certificate.residual < 1e-6);
        assert_true(info->certificate.gap < 1e-2);
        many += info->contacts > 80;
        by_modes += info->contacts > 80 && strcmp(info->solver, "modes") == 0;
    }
    assert_true(many > 100);
    assert_true(3 * by_modes > many);
    perp_sim_destroy(sim);
    perp_scene_destroy(scene);
}

// A heap packed into a bin starts from rest and moves: all steps but the first, and one whose sweeps may cycle, are swept
// without a factorisation, at a tolerance that sweeps come to only where momentum does not diverge.
static void let_a_crowd_move(const perp_generator_option *options, int size, double tolerance,
                             int steps)
{
    perp_scene *scene = NULL;
    perp_sim *sim = NULL;
    assert_int_equal(perp_scene_generate("heap3", options, size, NULL, &scene, NULL), PERP_OK);
    perp_sim_def def = perp_scene_sim_def(scene);
    def.tolerance = tolerance;
    assert_int_equal(perp_sim_create(perp_scene_model(scene), &def, NULL, &sim, NULL), PERP_OK);
    int others = 0;
    for (int k = 0; k < steps; k++) {
        assert_int_equal(perp_sim_step(sim, perp_scene_step(scene)), PERP_OK);
        const perp_step_info *info = perp_sim_info(sim);
        assert_true(info->certificate.passed);
        others += strcmp(info->solver, "sweeps") != 0 || info->effort.factorisations > 0;
    }
    assert_true(others <= 2);
    perp_sim_destroy(sim);
    perp_scene_destroy(scene);
}

static void crowds_that_move_are_swept(void **state)
{
    (void)state;
    perp_generator_option cubes[] = {{"bodies", "150"}, {"cubes", "1"}};
    let_a_crowd_move(cubes, 2, 1e-4, 10);
    let_a_crowd_move(cubes, 2, 1e-6, 8);
    perp_generator_option smooth[] = {{"bodies", "200"}, {"mu", "0"}};
    let_a_crowd_move(smooth, 2, 1e-6, 6);
    let_a_crowd_move(smooth, 2, 1e-8, 6);
}

// Steps of a heap: with more than 60 contacts, by other solvers than modes, and with more than 150 factorisations.
typedef struct counts {
    int many, others, hard;
} counts;

// 60 steps of a heap, all of which pass.
static counts let_fall(const perp_generator_option *options, int size)
{
    perp_scene *scene = NULL;
    perp_sim *sim = NULL;
    counts n = {0, 0, 0};
    assert_int_equal(perp_scene_generate("heap3", options, size, NULL, &scene, NULL), PERP_OK);
    perp_sim_def def = perp_scene_sim_def(scene);
    assert_int_equal(perp_sim_create(perp_scene_model(scene), &def, NULL, &sim, NULL), PERP_OK);
    for (int k = 0; k < 60; k++) {
        assert_int_equal(perp_sim_step(sim, perp_scene_step(scene)), PERP_OK);
        const perp_step_info *info = perp_sim_info(sim);
        assert_true(info->certificate.passed);
        n.many += info->contacts > 60;
        n.others += strcmp(info->solver, "modes") != 0 && strcmp(info->solver, "linear") != 0;
        n.hard += info->effort.factorisations > 150;
    }
    perp_sim_destroy(sim);
    perp_scene_destroy(scene);
    return n;
}

// A loose heap falls together: contacts far from their answer, which are found without the solvers of comp/.
static void a_heap_falls_by_modes(void **state)
{
    (void)state;
    perp_generator_option options[] = {
        {"bodies", "40"}, {"cubes", "1"}, {"layers", "4"}, {"loose", "0.05"}};
    counts n = let_fall(options, 4);
    assert_true(n.many > 20);
    assert_true(n.others <= 3);
}

// Packed balls that fall apart: contacts far from their answer, in islands of 60 and more. The central path leads there in
// all but single steps, without the solvers of comp/, which answered nine of these steps before.
static void packed_balls_follow_their_path(void **state)
{
    (void)state;
    perp_generator_option options[] = {{"bodies", "40"}, {"layers", "4"}};
    counts n = let_fall(options, 2);
    assert_true(n.many > 40);
    assert_true(n.others <= 2);
    assert_true(n.hard <= 4);
}

// The load of a settled wall: a step that changes nothing takes next to nothing, and stays.
static void a_wall_stays(void **state)
{
    (void)state;
    perp_generator_option options[] = {{"rows", "6"}, {"columns", "4"}};
    perp_scene *scene = NULL;
    perp_sim *sim = NULL;
    assert_int_equal(perp_scene_generate("wall3", options, 2, NULL, &scene, NULL), PERP_OK);
    perp_sim_def def = perp_scene_sim_def(scene);
    assert_int_equal(perp_sim_create(perp_scene_model(scene), &def, NULL, &sim, NULL), PERP_OK);
    for (int k = 0; k < 20; k++) {
        assert_int_equal(perp_sim_step(sim, 0.01), PERP_OK);
        assert_true(perp_sim_info(sim)->certificate.residual < 1e-12);
        assert_true(k < 2 || perp_sim_info(sim)->effort.factorisations <= 8);
    }
    perp_sim_destroy(sim);
    perp_scene_destroy(scene);
}

// A pyramid of boxes side by side, layers of n^2 to 1, a little apart at first.
static perp_scene *pyramid(int n)
{
    static char text[20000];
    int used = snprintf(text, sizeof text,
                        "{\"gravity\": [0, 0, -9.81], \"shapes\": [{\"name\": \"floor\", \"kind\": "
                        "\"halfspace\", \"mu\": 0.5}], \"bodies\": [");
    for (int layer = 0; layer < n; layer++) {
        for (int k = 0; k < (n - layer) * (n - layer); k++) {
            int i = k / (n - layer), j = k % (n - layer);
            used +=
                snprintf(text + used, sizeof text - (size_t)used,
                         "%s{\"name\": \"b%d_%d_%d\", \"kind\": \"solid\", \"position\": [%g, %g, "
                         "%g], \"shapes\": [{\"name\": \"s%d_%d_%d\", \"kind\": \"box\", \"size\": "
                         "[1, 1, 1], \"mu\": 0.5, \"density\": 1000}]}",
                         layer + k > 0 ? ", " : "", layer, i, j, i + 0.5 * layer, j + 0.5 * layer,
                         0.5 + 1.01 * layer, layer, i, j);
        }
    }
    used += snprintf(text + used, sizeof text - (size_t)used, "]}");
    perp_scene *scene = NULL;
    perp_error error = {0};
    if (perp_scene_parse("pyramid", text, (size_t)used, NULL, &scene, &error) < 0) {
        fail_msg("%s", error.text);
    }
    return scene;
}

// Edges of neighbours coincide, and boxes that are diagonal to each other touch along an edge. Their contacts stay the
// same from step to step, so that the pyramid comes to rest, and then many steps factor nothing.
static void a_pyramid_rests(void **state)
{
    (void)state;
    perp_scene *scene = pyramid(4);
    perp_sim_def def = perp_scene_sim_def(scene);
    perp_sim *sim = NULL;
    int idle = 0, matched = 0, factorisations = 0;
    enum { SETTLES = 80, STEPS = 160 };
    assert_int_equal(perp_sim_create(perp_scene_model(scene), &def, NULL, &sim, NULL), PERP_OK);
    for (int k = 0; k < STEPS; k++) {
        assert_int_equal(perp_sim_step(sim, 0.01), PERP_OK);
        const perp_step_info *info = perp_sim_info(sim);
        assert_true(info->certificate.residual < 1e-6);
        if (k < SETTLES) {
            continue;
        }
        assert_true(info->contacts > 300);
        assert_true(info->energy.kinetic < 1e-8);
        idle += info->effort.factorisations == 0;
        factorisations += info->effort.factorisations;
        matched += info->effort.warm_started == info->contacts;
    }
    assert_true(idle > (STEPS - SETTLES) / 3);
    assert_true(factorisations < 3 * (STEPS - SETTLES));
    assert_true(matched > (STEPS - SETTLES) * 9 / 10);
    assert_true(perp_sim_info(sim)->repeats);  // in the end nothing moves, to the last bit
    perp_sim_destroy(sim);
    perp_scene_destroy(scene);
}

// The implicit step of a wall at rest is the linear one. Many contacts are solved with gaps within a slop, which the rounds
// have to accept: steps were divided, 10 of 200, where they asked for less than the solver leaves.
static void a_wall_rests_in_whole_steps(void **state)
{
    (void)state;
    perp_error error = {0};
    perp_scene *scene = NULL;
    assert_int_equal(perp_scene_generate("wall", NULL, 0, NULL, &scene, &error), PERP_OK);
    perp_sim_def def = perp_scene_sim_def(scene);
    def.stepper = PERP_STEPPER_IMPLICIT;
    perp_sim *sim = NULL;
    int rounds = 0;
    enum { STEPS = 300 };
    assert_int_equal(perp_sim_create(perp_scene_model(scene), &def, NULL, &sim, NULL), PERP_OK);
    for (int k = 0; k < STEPS; k++) {
        assert_int_equal(perp_sim_step(sim, 0.01), PERP_OK);
        const perp_step_info *info = perp_sim_info(sim);
        assert_int_equal(info->parts, 1);
        assert_true(info->certificate.gap < 1e-9);
        rounds += info->rounds;
    }
    assert_true(rounds < STEPS / 10);
    perp_sim_destroy(sim);
    perp_scene_destroy(scene);
}

// Contacts that land all at once, from afar and by modes: whatever allocation fails, the step reports it and can
// be taken again.
static void every_allocation_may_fail(void **state)
{
    (void)state;
    perp_scene *scene = pile("27", "1");
    perp_sim_def def = perp_scene_sim_def(scene);
    perp_sim *sim = NULL;
    fault f = {0};
    perp_env env = fault_env(&f);
    assert_int_equal(perp_sim_create(perp_scene_model(scene), &def, &env, &sim, NULL), PERP_OK);
    int failures = 0;
    for (int k = 0; k < 80; k++) {
        // One that fails in every fifth step, a later one each time: a step takes few once it has its room.
        f.happened = false;
        f.calls = 0;
        f.fail_at = k % 5 == 4 ? 1 + k / 10 : 0;
        perp_status status = perp_sim_step(sim, 0.01);
        if (f.happened && status < 0) {
            assert_int_equal(status, PERP_ERR_MEMORY);
            failures++;
            f.fail_at = 0;
            status = perp_sim_step(sim, 0.01);
        }
        assert_true(status >= 0);
    }
    assert_true(failures > 0);
    perp_sim_destroy(sim);
    perp_scene_destroy(scene);
    assert_int_equal(f.live, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(most_steps_go_by_modes),
        cmocka_unit_test(crowds_that_move_are_swept),
        cmocka_unit_test(a_heap_falls_by_modes),
        cmocka_unit_test(packed_balls_follow_their_path),
        cmocka_unit_test(a_wall_stays),
        cmocka_unit_test(a_pyramid_rests),
        cmocka_unit_test(a_wall_rests_in_whole_steps),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
