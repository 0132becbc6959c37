// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Verdicts of random scenes that an independent program found wrong: what passed and should not, and what is right and was
// refused, each as small as it can be made.
#include "support/cmocka.h"
#include "support/space.h"

#include "certify/certify.h"

#include <perp/io.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct world {
    perp_scene *scene;
    perp_sim *sim;
} world;

static world open_world(const char *text)
{
    world w = {NULL, NULL};
    perp_error error = {0};
    if (perp_scene_parse("test", text, strlen(text), NULL, &w.scene, &error) < 0) {
        fail_msg("%d:%d: %s", error.line, error.column, error.text);
    }
    perp_sim_def def = perp_scene_sim_def(w.scene);
    if (perp_sim_create(perp_scene_model(w.scene), &def, NULL, &w.sim, &error) < 0) {
        fail_msg("%s", error.text);
    }
    return w;
}

static void close_world(world w)
{
    perp_sim_destroy(w.sim);
    perp_scene_destroy(w.scene);
}

static perp_body body_of(const world *w, const char *name)
{
    return perp_model_body(perp_scene_model(w->scene), name);
}

// The worst share of a limit in some steps, all of which must be taken.
static double worst_of(perp_sim *sim, double h, int steps, perp_judged row)
{
    double worst = 0.0;
    for (int k = 0; k < steps; k++) {
        if (perp_sim_step(sim, h) < 0) {
            fail_msg("step %d: %s", k, perp_sim_error(sim)->text);
        }
        worst = fmax(worst, perp_sim_info(sim)->certificate.relative[row]);
    }
    return worst;
}

// A pushed box moves as fast as what pushes it, and that is no sign that nothing holds it.
static void fast_pushers_hold_what_they_push(void **state)
{
    (void)state;
    static const double speed[] = {0.1, 10.0, 1000.0};
    for (int k = 0; k < 3; k++) {
        char text[600];
        (void)snprintf(
            text, sizeof text,
            "{\"stepper\": \"quasistatic\", \"shapes\": [{\"name\": \"floor\", \"kind\": "
            "\"halfplane\", \"mu\": 0.2}],\n"
            " \"bodies\": [{\"name\": \"wall\", \"position\": [0, 0.1], \"drive\": {\"x\": "
            "\"%g*t\"},\n   \"shapes\": [{\"kind\": \"box\", \"size\": [0.02, 0.2], "
            "\"mu\": 0}]},\n"
            "  {\"name\": \"box\", \"position\": [0.06, 0.05], \"mass\": 0.2, "
            "\"inertia\": 3e-4,\n"
            "   \"shapes\": [{\"kind\": \"box\", \"size\": [0.1, 0.1], \"mu\": 0.2}]}]}",
            speed[k]);
        world w = open_world(text);
        double h = 1e-3 / speed[k];
        (void)worst_of(w.sim, h, 20, PERP_JUDGED_GAP);
        assert_true(fabs(perp_sim_body_twist(w.sim, body_of(&w, "box")).v_W.x - speed[k]) <
                    1e-6 * speed[k]);
        close_world(w);
    }
}

// A point is judged by the thickness of the wall that it is in, not by the length of that wall.
static void points_in_thin_walls_are_seen(void **state)
{
    (void)state;
    static const char text[] =
        "{\"gravity\": [0, 0],\n"
        " \"shapes\": [{\"name\": \"wall\", \"kind\": \"box\", \"size\": [30, 0.1], \"position\": "
        "[0, "
        "-0.05]}],\n"
        " \"bodies\": [{\"name\": \"b\", \"position\": [0, 0.2], \"mass\": 1, \"inertia\": 0.1,\n"
        "   \"shapes\": [{\"kind\": \"point\", \"position\": [0, -0.204]}]}]}";
    world w = open_world(text);
    const perp_model *m = perp_scene_model(w.scene);
    assert_true(fabs(pp_scale_overlap(m, 0, 1) - 1e-2 * 0.1) < 1e-15);
    assert_true(fabs(pp_scale_overlap(m, 1, 0) - 1e-2 * 0.1) < 1e-15);
    close_world(w);
}

// Similar pendulums have the same verdict, whatever their size: two rods, released level, time scaled with the root of the length.
static void joints_are_judged_alike_at_all_sizes(void **state)
{
    (void)state;
    static const double size[] = {1e-6, 1e-3, 1.0, 1e3, 1e6};
    double share[5][2];
    for (int k = 0; k < 5; k++) {
        char text[900];
        double L = size[k];
        (void)snprintf(
            text, sizeof text,
            "{\"bodies\": [{\"name\": \"a\", \"kind\": \"solid\", \"position\": [%.17g, 0, 0], "
            "\"mass\": 1, \"inertia\": [%.17g, %.17g, %.17g]},\n"
            "  {\"name\": \"b\", \"kind\": \"solid\", \"position\": [%.17g, 0, 0], \"mass\": 1, "
            "\"inertia\": [%.17g, %.17g, %.17g]}],\n"
            " \"joints\": [{\"kind\": \"revolute\", \"b\": \"a\", \"at\": [0, 0, 0], \"axis\": [0, "
            "1, "
            "0]},\n  {\"kind\": \"revolute\", \"a\": \"a\", \"b\": \"b\", \"at\": [%.17g, 0, 0], "
            "\"axis\": [0, 1, 0]}]}",
            0.5 * L, 0.1 * L * L, 0.1 * L * L, 0.1 * L * L, 1.5 * L, 0.1 * L * L, 0.1 * L * L,
            0.1 * L * L, L);
        world w = open_world(text);
        double h = 0.004 * sqrt(L);
        for (int i = 0; i < 2; i++) {
            perp_judged row = i == 0 ? PERP_JUDGED_ENERGY : PERP_JUDGED_JOINT;
            share[k][i] = worst_of(w.sim, h, 100, row);
            assert_true(share[k][i] <= 1.0);
            assert_true(fabs(share[k][i] - share[0][i]) <= 1e-3 * (share[0][i] + 1e-3));
        }
        close_world(w);
    }
}

// Angular momentum of a body with these principal moments.
static perp_vec3 spin_of(const world *w, perp_vec3 J)
{
    perp_quat q = perp_sim_body_pose(w->sim, body_of(w, "b")).rot;
    perp_vec3 w_B = space_unrotate(q, perp_sim_body_twist(w->sim, body_of(w, "b")).w_W);
    return space_rotate(q, (perp_vec3){J.x * w_B.x, J.y * w_B.y, J.z * w_B.z});
}

// The angular momentum of what flies freely stays, also where a step is a turn or more: steps are divided until it does,
// within what their order loses, or do not pass.
static void spin_is_kept_in_flight(void **state)
{
    (void)state;
    static const char text[] = "{\"gravity\": [0, 0, 0], \"bodies\": [{\"name\": \"b\", \"kind\": "
                               "\"solid\", \"mass\": 1,\n"
                               "   \"inertia\": [1, 2, 2.5], \"spin\": [3, 1, 2]}]}";
    static const perp_vec3 J = {1.0, 2.0, 2.5};
    static const double step[] = {0.01, 0.1, 0.3, 1.0, 3.0};
    for (int k = 0; k < 5; k++) {
        world w = open_world(text);
        for (int i = 0; i < 10; i++) {
            perp_vec3 had = spin_of(&w, J);
            if (perp_sim_step(w.sim, step[k]) != PERP_OK) {
                continue;
            }
            double lost = space_length(space_sub(spin_of(&w, J), had)) / space_length(had);
            assert_true(lost <= 0.1 * perp_sim_info(w.sim)->parts);
        }
        close_world(w);
    }
}

// A rod on a pin that bounces without loss has its energy after the bounce, in joint coordinates as with bodies by themselves.
static void links_bounce_with_the_speed_they_come_with(void **state)
{
    (void)state;
    static const char *const stepper[] = {"stewart-trinkle", "anitescu-potra"};
    for (int k = 0; k < 2; k++) {
        char text[700];
        (void)snprintf(text, sizeof text,
                       "{\"stepper\": \"%s\", \"coordinates\": \"joint\",\n"
                       " \"shapes\": [{\"name\": \"floor\", \"kind\": \"halfplane\", \"mu\": 0}],\n"
                       " \"bodies\": [{\"name\": \"rod\", \"position\": [0.5, 0.6], \"mass\": 1, "
                       "\"inertia\": 0.08,\n   \"shapes\": [{\"kind\": \"capsule\", \"length\": 1, "
                       "\"radius\": 0.05, \"mu\": 0, \"restitution\": 1}]}],\n"
                       " \"joints\": [{\"kind\": \"revolute\", \"b\": \"rod\", \"at\": [0, 0.6]}]}",
                       stepper[k]);
        world w = open_world(text);
        double before = 0.0;
        bool bounced = false;
        for (int i = 0; i < 100 && !bounced; i++) {
            double spin = perp_sim_body_twist(w.sim, body_of(&w, "rod")).w_W.z;
            assert_int_equal(perp_sim_step(w.sim, 0.005), PERP_OK);
            before = spin;
            bounced = perp_sim_body_twist(w.sim, body_of(&w, "rod")).w_W.z > 0.0;
        }
        assert_true(bounced);
        double after = perp_sim_body_twist(w.sim, body_of(&w, "rod")).w_W.z;
        assert_true(after <= -before * (1.0 + 1e-12));
        assert_true(after >= -before * (1.0 - 0.02));
        close_world(w);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fast_pushers_hold_what_they_push),
        cmocka_unit_test(points_in_thin_walls_are_seen),
        cmocka_unit_test(joints_are_judged_alike_at_all_sizes),
        cmocka_unit_test(spin_is_kept_in_flight),
        cmocka_unit_test(links_bounce_with_the_speed_they_come_with),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
