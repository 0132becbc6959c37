// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The time-stepper in joint coordinates and with all bodies: one step from the same state gives the same
// velocities where they are unique, and smooth motions approach each other at the order of the scheme.
#include "support/cmocka.h"
#include "support/shot.h"

#include <math.h>
#include <stdlib.h>

enum { N_MOST = 64 };

static double apart(int n, const double *a, const double *b)
{
    double worst = 0.0;
    for (int i = 0; i < n; i++) {
        worst = fmax(worst, fabs(a[i] - b[i]));
    }
    return worst;
}

static shot begin(const char *scene, perp_coordinates coordinates)
{
    shot s;
    shot_open(&s, scene);
    s.def.coordinates = coordinates;
    // contacts that form rings are accepted at ten times the tolerance where they stall (S8), and velocities of light
    // bodies differ by several times that
    s.def.tolerance = 1e-10;
    shot_start(&s);
    return s;
}

// All that the next step depends on: also what contacts that stick hold.
static void give_state(const perp_sim *from, perp_sim *to)
{
    size_t size = perp_sim_state_save_size(from);
    void *block = malloc(size);
    assert_int_equal(perp_sim_state_save(from, block, size), PERP_OK);
    assert_int_equal(perp_sim_state_restore(to, block, size), PERP_OK);
    free(block);
}

// Follows the motion in joint coordinates, whose joints are closed, and repeats every step with all bodies.
static void one_step(const char *scene, int steps)
{
    shot joint = begin(scene, PERP_COORDINATES_JOINT), body = begin(scene, PERP_COORDINATES_BODY);
    int nq, nv, compared = 0;
    double worst = 0.0, any = 0.0, q[N_MOST], nu[N_MOST], other[N_MOST];
    perp_sim_state_size(joint.sim, &nq, &nv);
    assert_true(nq <= N_MOST && nv <= N_MOST);
    for (int k = 0; k < steps; k++) {
        give_state(joint.sim, body.sim);
        assert_true(perp_sim_step(joint.sim, joint.h) >= 0);
        assert_true(perp_sim_step(body.sim, joint.h) >= 0);
        assert_int_equal(perp_sim_state_get(joint.sim, NULL, q, nu), PERP_OK);
        assert_int_equal(perp_sim_state_get(body.sim, NULL, q, other), PERP_OK);
        double d = apart(nv, nu, other);
        any = fmax(any, d);
        bool unique = perp_sim_info(joint.sim)->unique && perp_sim_info(body.sim)->unique;
        if (unique) {
            worst = fmax(worst, d);
            compared++;
        }
        if (unique && !(d <= 1e-9)) {
            fail_msg("%s, step %d: velocities differ by %.3g", scene, k, d);
        }
    }
    print_message("%-26s %4d of %4d steps, %.1e; all %.1e\n", scene, compared, steps, worst, any);
    assert_true(any <= 1e-8);  // what the solver accepts: impulses may be others, velocities not
    shot_close(&joint);
    shot_close(&body);
}

static void a_step_is_the_same(void **state)
{
    (void)state;
    static const char *const recipes[] = {"berard-4.1",
                                          "berard-4.2",
                                          "berard-4.3",
                                          "berard-4.4",
                                          "berard-4.5",
                                          "berard-4.6",
                                          "trinkle-prismatic-planar",
                                          "trinkle-prismatic-spatial",
                                          "trinkle-blimp",
                                          "trinkle-disc",
                                          "trinkle-pusher",
                                          "trinkle-robot",
                                          "trinkle-box",
                                          "trinkle-bodies",
                                          "tedrake-limit",
                                          "tedrake-two-limits",
                                          "tedrake-arm",
                                          "tedrake-driven",
                                          "tedrake-rolling",
                                          "four-bar-spatial",
                                          "sensor-arm",
                                          "arm-pushes",
                                          "quadruped-stands"};
    for (size_t i = 0; i < sizeof recipes / sizeof recipes[0]; i++) {
        one_step(recipes[i], 200);
    }
}

// Distance of the two motions at t for h, h/2, h/4.
static void approach(const char *scene, double h, double t)
{
    double d[3];
    for (int level = 0; level < 3; level++) {
        double q[2][N_MOST];
        int nq = 0;
        for (int which = 0; which < 2; which++) {
            shot s = begin(scene, which ? PERP_COORDINATES_JOINT : PERP_COORDINATES_BODY);
            s.h = h / (1 << level);
            perp_sim_state_size(s.sim, &nq, NULL);
            shot_run(&s, t);
            assert_int_equal(perp_sim_state_get(s.sim, NULL, q[which], NULL), PERP_OK);
            shot_close(&s);
        }
        d[level] = apart(nq, q[0], q[1]);
    }
    print_message("%-20s %.2e %.2e %.2e, order %.2f\n", scene, d[0], d[1], d[2],
                  0.5 * log2(d[0] / d[2]));
    assert_true(d[2] < 1e-12 || d[0] / d[2] > 3.0);
}

static void motions_approach_each_other(void **state)
{
    (void)state;
    approach("berard-4.1", 2e-3, 0.5);
    approach("pendulum-5", 1e-3, 0.375);
    approach("four-bar", 1e-3, 0.3);
    approach("tedrake-arm", 2e-3, 1.0);
    approach("tedrake-driven", 2e-3, 1.0);
    approach("lagrange-top", 5e-4, 0.2);
    approach("flyball-governor", 1e-3, 0.3);
    approach("bricard", 2e-3, 0.5);
    approach("arm-pushes", 2e-3, 0.3);
}

// A force that ends where no number is: the step fails with the state unchanged, and poses no problem.
static void a_step_without_numbers(void **state)
{
    (void)state;
    static const char text[] =
        "{\"bodies\": [{\"mass\": 1, \"inertia\": 1}],"
        " \"forces\": [{\"kind\": \"force\", \"body\": \"body1\", \"fx\": \"sqrt(0.05-t)\"}]}";
    shot s = {0};
    assert_int_equal(perp_scene_parse("numbers", text, sizeof text - 1, NULL, &s.scene, NULL),
                     PERP_OK);
    s.def = perp_scene_sim_def(s.scene);
    s.def.coordinates = PERP_COORDINATES_JOINT;
    shot_start(&s);
    perp_status status = PERP_OK;
    uint64_t hash = 0;
    for (int k = 0; k < 10 && status == PERP_OK; k++) {
        hash = perp_sim_state_hash(s.sim);
        status = perp_sim_step(s.sim, 0.01);
    }
    assert_int_equal(status, PERP_ERR_NUMERIC);
    assert_true(hash == perp_sim_state_hash(s.sim));
    perp_step_problem *problem;
    assert_int_equal(perp_sim_problem(s.sim, PERP_FORM_MCP, &problem), PERP_ERR_ARGUMENT);
    shot_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_step_is_the_same),
        cmocka_unit_test(motions_approach_each_other),
        cmocka_unit_test(a_step_without_numbers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
