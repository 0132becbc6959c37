// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Generated scenes that grow: heaps start without overlap and come to rest where they are; ladders are
// closed, with one freedom a rung, and conserve their energy.
#include "support/cmocka.h"

#include <perp/io.h>

#include <math.h>
#include <stdio.h>

static perp_sim *start(const char *name, const perp_generator_option *options, int count,
                       perp_scene **scene)
{
    perp_sim *sim = NULL;
    perp_error error;
    if (perp_scene_generate(name, options, count, NULL, scene, &error) < 0) {
        fail_msg("%s", error.text);
    }
    perp_sim_def def = perp_scene_sim_def(*scene);
    assert_int_equal(perp_sim_create(perp_scene_model(*scene), &def, NULL, &sim, &error), PERP_OK);
    return sim;
}

static void stop(perp_sim *sim, perp_scene *scene)
{
    perp_sim_destroy(sim);
    perp_scene_destroy(scene);
}

// loose: in percent. A layer of four by four below, and some of the next.
static void heap_rests(const char *cubes, const char *layers, int loose)
{
    char part[16];
    snprintf(part, sizeof part, "0.%02d", loose);
    perp_generator_option options[] = {
        {"bodies", "20"}, {"cubes", cubes}, {"layers", layers}, {"loose", part}};
    perp_scene *scene;
    perp_sim *sim = start("heap3", options, 4, &scene);
    assert_true(perp_sim_step(sim, 1e-6) >= 0);
    int count;
    const perp_contact *contact = perp_sim_contacts(sim, &count);
    for (int i = 0; i < count; i++) {
        assert_true(contact[i].gap > -1e-9);
    }
    double potential = perp_sim_info(sim)->energy.potential, most = 0.0;
    for (int k = 0; k < 40; k++) {
        assert_true(perp_sim_step(sim, 0.01) >= 0);
        assert_true(perp_sim_info(sim)->contacts >= 20);
        most = fmax(most, perp_sim_info(sim)->energy.kinetic);
    }
    // Twenty bodies of about a kilogram drop by the looseness, and a little for leaning.
    double drop = potential - perp_sim_info(sim)->energy.potential;
    assert_true(drop >= 0.0 && drop < 20.0 * 9.81 * 0.05 * loose);
    assert_true(perp_sim_info(sim)->energy.kinetic < 0.1 * most + 1e-9);
    stop(sim, scene);
}

static void heaps_rest(void **state)
{
    (void)state;
    heap_rests("0", "0", 1);
    heap_rests("0", "2", 1);
    heap_rests("1", "0", 1);
    heap_rests("1", "2", 1);
}

static void ladders_are_closed(void **state)
{
    (void)state;
    perp_generator_option options[] = {{"rungs", "7"}, {"step", "0.0005"}};
    perp_scene *scene;
    perp_sim *sim = start("ladder", options, 2, &scene);
    double begin = 0.0, worst = 0.0;
    assert_int_equal(perp_model_bodies(perp_scene_model(scene)), 1 + 3 * 7);
    for (int k = 0; k < 400; k++) {
        assert_int_equal(perp_sim_step(sim, perp_scene_step(scene)), PERP_OK);
        const perp_step_info *info = perp_sim_info(sim);
        double energy = info->energy.kinetic + info->energy.potential;
        begin = k == 0 ? energy : begin;
        worst = fmax(worst, fabs(energy - begin));
        assert_int_equal(info->joint_rows, 8 * 7);  // of 9 velocities a rung
        assert_int_equal(info->redundant_rows, 0);
        assert_true(info->certificate.joint < 1e-5);
    }
    // Rods of 1 kg/m: 7 kg of 1 m a rung, which swing; the scheme is of first order.
    assert_true(perp_sim_info(sim)->energy.kinetic > 1.0);
    assert_true(worst < 0.02 * perp_sim_info(sim)->energy.kinetic);
    stop(sim, scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heaps_rest),
        cmocka_unit_test(ladders_are_closed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
