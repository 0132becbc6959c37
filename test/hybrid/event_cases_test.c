// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Small scenes on which the stepper event went wrong: fast bodies and thin walls, seams between tiles, an edge
// that falls on its face, restitution with friction, a gripper that begins with all contacts closed.
#include "support/cmocka.h"

#include <math.h>
#include <perp/io.h>
#include <stdio.h>
#include <string.h>

typedef struct run {
    perp_scene *scene;
    perp_sim *sim;
    int events;
    char remark[120];  // the last that is not empty
} run;

static run start(const char *text)
{
    run r = {.events = 0};
    perp_error error = {0};
    if (perp_scene_parse("case", text, strlen(text), NULL, &r.scene, &error) < 0) {
        print_error("%s\n", error.text);
        fail();
    }
    perp_sim_def def = perp_scene_sim_def(r.scene);
    def.stepper = PERP_STEPPER_EVENT;
    if (perp_sim_create(perp_scene_model(r.scene), &def, NULL, &r.sim, &error) < 0) {
        print_error("%s\n", error.text);
        fail();
    }
    return r;
}

static void go_on(run *r, double h, double until)
{
    while (perp_sim_time(r->sim) < until - 0.5 * h) {
        int n = 0;
        if (perp_sim_step(r->sim, h) != PERP_OK) {
            print_error("%s %s\n", perp_sim_error(r->sim)->text, perp_sim_info(r->sim)->remark);
            fail();
        }
        const perp_event *event = perp_sim_events(r->sim, &n);
        for (int i = 0; i < n; i++) {
            if (event[i].remark[0]) {
                memcpy(r->remark, event[i].remark, sizeof r->remark);
            }
        }
        r->events += n;
    }
}

static void stop(run *r)
{
    perp_sim_destroy(r->sim);
    perp_scene_destroy(r->scene);
}

static void near(double got, double want, double tolerance)
{
    if (!(fabs(got - want) <= tolerance)) {
        print_error("got %.17g, want %.17g\n", got, want);
        fail();
    }
}

// A disc of 1 cm through a wall: it meets it, whatever the step, the speed and the thickness.
static void test_thin_walls(void **state)
{
    (void)state;
    static const double speed[] = {30.0, 3.0, 300.0, 30.0}, wall[] = {0.01, 0.001, 0.001, 1e-4};
    for (int k = 0; k < 4; k++) {
        char text[700];
        snprintf(text, sizeof text,
                 "{\"name\": \"wall\", \"gravity\": [0, -9.81], \"shapes\": [{\"kind\": \"box\", "
                 "\"size\": [%g, 10], \"position\": [0.5, 0], \"mu\": 0, \"restitution\": 0.5}], "
                 "\"bodies\": [{\"name\": \"b\", \"velocity\": [%g, 0], \"mass\": 1, \"inertia\": "
                 "0.01, \"shapes\": [{\"kind\": \"disc\", \"radius\": 0.01, \"mu\": 0, "
                 "\"restitution\": 0.5}]}]}",
                 wall[k], speed[k]);
        run r = start(text);
        double way = 0.5 - 0.5 * wall[k] - 0.01, t = way / speed[k], end = 3.0 * t;
        go_on(&r, end / 2.0, end);
        near(perp_sim_body_position(r.sim, (perp_body){1}).x, way - 0.5 * speed[k] * 2.0 * t, 1e-9);
        stop(&r);
    }
}

// The same in space, with the tip of a solid foremost: 1 cm from its centre.
static void test_thin_walls_in_space(void **state)
{
    (void)state;
    static const char *const solids[] = {
        "\"kind\": \"cone\", \"radius\": 0.008, \"length\": 0.02",
        "\"kind\": \"hull\", \"vertices\": [[0.01, 0, 0], [-0.01, 0, 0], [0, 0.01, 0], [0, -0.01, "
        "0], "
        "[0, 0, 0.01], [0, 0, -0.01]]",
        "\"kind\": \"ellipsoid\", \"radii\": [0.006, 0.008, 0.01]",
        "\"kind\": \"cylinder\", \"radius\": 0.005, \"length\": 0.02",
    };
    for (int k = 0; k < 4; k++) {
        const double speed = 30.0, wall = 1e-3;
        char text[1000];
        snprintf(
            text, sizeof text,
            "{\"name\": \"wall\", \"gravity\": [0, 0, 0], \"shapes\": [{\"kind\": \"box\", "
            "\"size\": [4, 4, %g], \"position\": [0, 0, 0.5], \"mu\": 0, \"restitution\": 0.5}], "
            "\"bodies\": [{\"name\": \"b\", \"kind\": \"solid\", \"velocity\": [0, 0, %g], "
            "\"mass\": 1, \"inertia\": [0.01, 0.01, 0.01], \"shapes\": [{%s, \"mu\": 0, "
            "\"restitution\": 0.5}]}]}",
            wall, speed, solids[k]);
        run r = start(text);
        double way = 0.5 - 0.5 * wall - 0.01, t = way / speed, end = 3.0 * t;
        go_on(&r, end / 2.0, end);
        near(perp_sim_body_position(r.sim, (perp_body){1}).z, way - 0.5 * speed * 2.0 * t, 1e-9);
        assert_true(r.events >= 1);
        stop(&r);
    }
}

// A ball that rolls and slides over flush tiles: as over one floor.
static void test_tiles(void **state)
{
    (void)state;
    perp_vec3 at[2];
    for (int k = 0; k < 2; k++) {
        char text[2000], tiles[1400] = "{\"kind\": \"halfspace\", \"mu\": 0.3}";
        size_t used = 0;
        for (int i = 0; k == 1 && i < 6; i++) {
            used +=
                (size_t)snprintf(tiles + used, sizeof tiles - used,
                                 "%s{\"kind\": \"box\", \"size\": [0.37, 3, 0.2], \"position\": "
                                 "[%.17g, 0, -0.1], \"mu\": 0.3}",
                                 i > 0 ? ", " : "", -0.4 + 0.37 * i);
        }
        snprintf(text, sizeof text,
                 "{\"name\": \"tiles\", \"shapes\": [%s], \"bodies\": [{\"name\": \"b\", \"kind\": "
                 "\"solid\", \"velocity\": [2.0, 0.3, 0], \"mass\": 1, \"position\": [0, 0, 0.15], "
                 "\"inertia\": [0.009, 0.009, 0.009], \"shapes\": [{\"kind\": \"sphere\", "
                 "\"radius\": 0.15, \"mu\": 0.3}]}]}",
                 tiles);
        run r = start(text);
        go_on(&r, 0.01, 0.8);
        at[k] = perp_sim_body_position(r.sim, (perp_body){1});
        stop(&r);
    }
    near(at[1].x, at[0].x, 1e-10);
    near(at[1].y, at[0].y, 1e-10);
    near(at[1].z, at[0].z, 1e-10);
}

// A box dropped on a corner comes to rest on a face, on four contacts.
static void test_box_rests(void **state)
{
    (void)state;
    run r = start("{\"name\": \"box\", \"shapes\": [{\"kind\": \"halfspace\", \"mu\": 0.5}], "
                  "\"bodies\": [{\"name\": \"b\", \"kind\": \"solid\", \"position\": [0, 0, 1.2], "
                  "\"rotation\": {\"axis\": [-1.28, 0.97, -0.36], \"angle\": 2.14}, \"velocity\": "
                  "[0.5, 0.2, 0], \"spin\": [-2.27, 0.84, -2.11], \"shapes\": [{\"kind\": \"box\", "
                  "\"size\": [1, 0.8, 0.6], \"density\": 10, \"mu\": 0.5}]}]}");
    go_on(&r, 0.01, 3.0);
    int contacts = 0, closed = 0;
    const perp_contact *c = perp_sim_contacts(r.sim, &contacts);
    for (int i = 0; i < contacts; i++) {
        closed += c[i].mode == PERP_CONTACT_STICK;
    }
    assert_int_equal(closed, 4);
    assert_true(perp_sim_info(r.sim)->energy.kinetic < 1e-12);
    stop(&r);
}

// Newton's law with e = 1 and friction: kept where it creates no energy; where it would, the event says what
// took its place.
static void test_newton_says(void **state)
{
    (void)state;
    static const double mu[] = {0.0, 0.1};
    for (int k = 0; k < 2; k++) {
        char text[700];
        snprintf(text, sizeof text,
                 "{\"name\": \"rod\", \"gravity\": [0, 0], \"impact\": \"newton\", \"shapes\": "
                 "[{\"kind\": \"halfplane\", \"mu\": %g, \"restitution\": 1}], \"bodies\": "
                 "[{\"name\": \"rod\", \"position\": [0.46984631039295421, 0.17101007166283436], "
                 "\"angle\": \"20 deg\", \"velocity\": [0.7, -2.0], \"spin\": 0.5, \"mass\": 1, "
                 "\"inertia\": 0.083333333333333333, \"shapes\": [{\"kind\": \"point\", "
                 "\"position\": [-0.5, 0], \"mu\": %g, \"restitution\": 1}]}]}",
                 mu[k], mu[k]);
        run r = start(text);
        go_on(&r, 0.001, 0.001);
        assert_int_equal(r.events, 1);
        assert_int_equal(strstr(r.remark, "Poisson") != NULL, k == 1);
        assert_int_equal(perp_sim_info(r.sim)->tempered, k == 1);
        stop(&r);
    }
}

// A box that falls on its face bounces on as a ball does: the points of a face meet at one instant, which is one
// bounce and not several that follow each other in no time.
static void test_flat_bounces(void **state)
{
    (void)state;
    static const char *kind[] = {"body", "solid"}, *size[] = {"[0.4, 0.2]", "[0.4, 0.3, 0.2]"};
    static const char *floor[] = {"halfplane", "halfspace"}, *up[] = {"[0, 1.1]", "[0, 0, 1.1]"};
    const double e = 0.8, g = 10.0, first = sqrt(2.0 * 1.0 / g);
    for (int k = 0; k < 2; k++) {
        char text[700];
        snprintf(text, sizeof text,
                 "{\"name\": \"flat\", \"gravity\": %s, \"shapes\": [{\"kind\": \"%s\", "
                 "\"mu\": 0.3, \"restitution\": %g}], \"bodies\": [{\"name\": \"b\", "
                 "\"kind\": \"%s\", \"position\": %s, \"shapes\": [{\"kind\": \"box\", "
                 "\"size\": %s, \"density\": 10, \"mu\": 0.3, \"restitution\": %g}]}]}",
                 k == 0 ? "[0, -10]" : "[0, 0, -10]", floor[k], e, kind[k], up[k], size[k], e);
        double t = first, way = first;
        for (int bounce = 0; bounce < 4; bounce++) {
            way *= e;
            t += 2.0 * way;
        }
        run r = start(text);
        go_on(&r, (t + e * way) / 3.0, t + e * way);
        perp_vec3 at = perp_sim_body_position(r.sim, (perp_body){1});
        near(k == 0 ? at.y : at.z, 0.1 + 0.5 * g * e * e * way * way, 1e-8);
        stop(&r);
    }
}

// Fingers that hold a cube, all contacts closed from the start: no events without end.
static void test_grasp(void **state)
{
    (void)state;
    run r = start(
        "{\"name\": \"grasp\", \"shapes\": [{\"kind\": \"halfspace\", \"mu\": 0.8}], \"bodies\": ["
        "{\"name\": \"left\", \"kind\": \"solid\", \"position\": [-0.025, 0, 0.1], \"mass\": 0.2, "
        "\"inertia\": [6.7e-4, 6.7e-4, 8.3e-6], \"shapes\": [{\"kind\": \"box\", \"size\": [0.01, "
        "0.02, 0.19], \"mu\": 0.8}]}, {\"name\": \"right\", \"kind\": \"solid\", \"position\": "
        "[0.025, 0, 0.1], \"mass\": 0.2, \"inertia\": [6.7e-4, 6.7e-4, 8.3e-6], \"shapes\": "
        "[{\"kind\": \"box\", \"size\": [0.01, 0.02, 0.19], \"mu\": 0.8}]}, {\"name\": \"cube\", "
        "\"kind\": \"solid\", \"position\": [0, 0, 0.02], \"mass\": 0.1, \"inertia\": [2.7e-5, "
        "2.7e-5, 2.7e-5], \"shapes\": [{\"kind\": \"box\", \"size\": [0.04, 0.04, 0.04], \"mu\": "
        "0.8}]}], \"joints\": [{\"kind\": \"prismatic\", \"a\": \"ground\", \"b\": \"left\", "
        "\"at\": [-0.025, 0, 0.1], \"axis\": [1, 0, 0], \"stiffness\": 1000, \"damping\": 20, "
        "\"rest\": 0.02}, {\"kind\": \"prismatic\", \"a\": \"ground\", \"b\": \"right\", \"at\": "
        "[0.025, 0, 0.1], \"axis\": [-1, 0, 0], \"stiffness\": 1000, \"damping\": 20, \"rest\": "
        "0.02}]}");
    go_on(&r, 0.001, 0.01);
    assert_true(r.events < 10);
    near(perp_sim_body_position(r.sim, (perp_body){3}).z, 0.02, 1e-9);
    stop(&r);
}

// A slider that bounces on its lower limit: as many impacts, and the same motion, at every scale. What
// is left is the integrator's absolute tolerance.
static void test_limits_at_scales(void **state)
{
    static const double scales[] = {1.0, 1e-3, 1e-6};
    int events = 0;
    double last = 0.0;
    (void)state;
    for (int k = 0; k < 3; k++) {
        double L = scales[k], unit = sqrt(L);
        char text[800];
        snprintf(text, sizeof text,
                 "{\"gravity\": [0, -9.81], \"bodies\": ["
                 "{\"name\": \"a\", \"position\": [0, 0], \"mass\": 1, \"inertia\": 1}],"
                 "\"joints\": [{\"name\": \"s\", \"kind\": \"prismatic\", \"a\": \"ground\", "
                 "\"b\": \"a\", \"at\": [0, 0], \"axis\": [0, 1], \"lower\": %.17g, "
                 "\"upper\": %.17g, \"limit_restitution\": 0.5}],"
                 "\"shapes\": [{\"body\": \"a\", \"kind\": \"disc\", \"radius\": %.17g, "
                 "\"density\": 0}]}",
                 -0.5 * L, 0.3 * L, 0.1 * L);
        run r = start(text);
        go_on(&r, 0.01 * unit, 0.75 * unit);
        double height = perp_sim_joint(r.sim, (perp_joint){0}).coordinate / L;
        if (k == 0) {
            events = r.events;
            last = height;
        }
        assert_int_equal(r.events, events);
        near(height, last, 1e-5);
        stop(&r);
    }
    assert_true(events >= 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_thin_walls),   cmocka_unit_test(test_thin_walls_in_space),
        cmocka_unit_test(test_tiles),        cmocka_unit_test(test_box_rests),
        cmocka_unit_test(test_newton_says),  cmocka_unit_test(test_grasp),
        cmocka_unit_test(test_flat_bounces), cmocka_unit_test(test_limits_at_scales),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
