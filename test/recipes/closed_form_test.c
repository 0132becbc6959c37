// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The scenes with closed forms, run as their files say: where things end, against the formula. Every step
// must pass its certificate.
#include "support/cmocka.h"

#include <perp/io.h>

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static const double G = 9.81, PI = 3.141592653589793;

typedef struct run {
    perp_scene *scene;
    perp_sim *sim;
    double h;
} run;

static run start(const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "scenes/%s.json", name);
    run r = {0};
    perp_error error;
    if (perp_scene_load(path, NULL, &r.scene, &error) < 0) {
        print_error("%s:%d:%d: %s\n", path, error.line, error.column, error.text);
        fail();
    }
    perp_sim_def def = perp_scene_sim_def(r.scene);
    assert_int_equal(perp_sim_create(perp_scene_model(r.scene), &def, NULL, &r.sim, NULL), PERP_OK);
    r.h = perp_scene_step(r.scene);
    return r;
}

static void step(const run *r)
{
    if (perp_sim_step(r->sim, r->h) != PERP_OK) {
        print_error("%s, t = %g: %s %s\n", perp_scene_name(r->scene), perp_sim_time(r->sim),
                    perp_sim_error(r->sim)->text, perp_sim_info(r->sim)->remark);
        fail();
    }
}

static run finish(const char *name)
{
    run r = start(name);
    int steps = (int)lround(perp_scene_until(r.scene) / r.h);
    for (int k = 0; k < steps; k++) {
        step(&r);
    }
    return r;
}

static void end(run *r)
{
    perp_sim_destroy(r->sim);
    perp_scene_destroy(r->scene);
}

// x y a: place; u v w: velocity.
static double quantity(const run *r, const char *body, char what)
{
    perp_body b = perp_model_body(perp_scene_model(r->scene), body);
    assert_true(b.i >= 0);
    perp_vec3 p = perp_sim_body_position(r->sim, b);
    perp_twist t = perp_sim_body_twist(r->sim, b);
    switch (what) {
    case 'x':
        return p.x;
    case 'y':
        return p.y;
    case 'a':
        return perp_sim_body_angle(r->sim, b);
    case 'u':
        return t.v_W.x;
    case 'v':
        return t.v_W.y;
    default:
        return t.w_W.z;
    }
}

static void near(const run *r, const char *body, char what, double want, double tolerance)
{
    double found = quantity(r, body, what);
    if (!(fabs(found - want) <= tolerance)) {
        print_error("%s, %s: %c = %.12g, not %.12g (off by %.1e, allowed %.1e)\n",
                    perp_scene_name(r->scene), body, what, found, want, found - want, tolerance);
        fail();
    }
}

// ── Sliding ──────────────────────────────────────────────────────────────────────────────────────

static void sliding(void **state)
{
    (void)state;
    run r = finish("block-stops");
    near(&r, "block", 'u', 0.0, 1e-14);
    near(&r, "block", 'x', 4.0 / (0.6 * G), 2.0 * r.h);
    end(&r);
    r = finish("particle-2018");
    near(&r, "particle", 'u', 0.0, 1e-14);
    near(&r, "particle", 'x', 1.0 / (0.6 * G), r.h);
    end(&r);
    r = finish("incline-slips");
    double v = G * (sin(0.7) - 0.5 * cos(0.7));
    near(&r, "block", 'u', -v * cos(0.7), 1e-12);
    near(&r, "block", 'v', -v * sin(0.7), 1e-12);
    end(&r);
    r = finish("incline-sticks");
    near(&r, "block", 'x', -0.1 * sin(26.5 * PI / 180.0), 1e-13);
    end(&r);
    r = finish("conveyor");
    double slips = 1.5 / (0.25 * G);
    near(&r, "block", 'u', 1.5, 1e-13);
    near(&r, "block", 'x', 0.75 * slips + 1.5 * (1.0 - slips), 2.0 * r.h);
    end(&r);
}

static void pushing(void **state)
{
    (void)state;
    run r = finish("pusher");
    perp_body pusher = perp_model_body(perp_scene_model(r.scene), "pusher");
    double force = perp_sim_body_drive_impulse(r.sim, pusher).f_W.x / r.h;
    // The gap is closed in one step: two roundings of a place of 0.5 m, over h.
    near(&r, "block", 'u', 0.2, 2.0 * 0.5 * DBL_EPSILON / r.h);
    assert_true(fabs(force - 0.4 * 2.0 * G) < 1e-9);
    end(&r);
    r = finish("box-slides");
    near(&r, "box", 'u', 0.5 * (6.2 - 0.3 * 2.0 * G) / 2.0, 1e-12);
    near(&r, "box", 'a', 0.0, 1e-12);
    end(&r);
    r = finish("box-tips");
    assert_true(quantity(&r, "box", 'a') < -0.02);
    end(&r);
}

static void standing(void **state)
{
    (void)state;
    run r = finish("ladder-stands");
    near(&r, "ladder", 'a', -51.4 * PI / 180.0, 1e-12);
    end(&r);
    r = finish("ladder-slips");
    assert_true(quantity(&r, "ladder", 'a') > -51.0 * PI / 180.0);
    end(&r);
    r = finish("heavy-on-light");
    near(&r, "light", 'y', 0.25, 1e-9);
    near(&r, "heavy", 'y', 0.75, 1e-9);
    end(&r);
}

static void rolling(void **state)
{
    (void)state;
    run r = finish("disc-rolls");
    near(&r, "disc", 'u', 2.0, 1e-12);
    near(&r, "disc", 'w', -20.0, 1e-11);
    end(&r);
    r = finish("disc-backspin");
    near(&r, "disc", 'u', 0.0, 1e-12);
    near(&r, "disc", 'w', 0.0, 1e-11);
    end(&r);
}

// ── Impacts ──────────────────────────────────────────────────────────────────────────────────────

// Housner's ratio at the first three impacts; a step of gravity blurs it a little.
static void rocking(void **state)
{
    (void)state;
    run r = start("rocking-block");
    double sine = sin(atan(0.2)), ratio = 1.0 - 1.5 * sine * sine, before = 0.0;
    int impacts = 0;
    for (int k = 0; k < 2000 && impacts < 3; k++) {
        step(&r);
        double now = quantity(&r, "block", 'w');
        if (fabs(before) > 0.1 && fabs(now) < 0.97 * fabs(before)) {
            assert_true(fabs(now / before - ratio) < 0.02);
            impacts++;
        }
        before = now;
    }
    assert_int_equal(impacts, 3);
    end(&r);
}

static void bouncing(void **state)
{
    (void)state;
    run r = finish("bouncing-ball");
    near(&r, "ball", 'y', 0.1, 1e-9);
    near(&r, "ball", 'v', 0.0, 1e-9);
    end(&r);
    r = finish("newtons-cradle");
    near(&r, "ball 1", 'u', -1.0 / 3.0, 1e-12);
    near(&r, "ball 2", 'u', 2.0 / 3.0, 1e-12);
    near(&r, "ball 3", 'u', 2.0 / 3.0, 1e-12);
    end(&r);
}

static void painleve(void **state)
{
    (void)state;
    run r = start("painleve-rod");
    step(&r);
    near(&r, "rod", 'u', -0.597057, 1e-12);
    near(&r, "rod", 'v', 0.2985285, 1e-12);
    near(&r, "rod", 'w', 0.6675300192210458, 1e-12);
    end(&r);
}

// ── Smooth motion and machines ───────────────────────────────────────────────────────────────────

static void springs(void **state)
{
    (void)state;
    run r = finish("spring-damper");
    double w = sqrt(99.0);
    near(&r, "mass", 'x', 1.0 + 0.1 * exp(-1.0) * (cos(w) + sin(w) / w), r.h);
    end(&r);
    r = finish("spring-stiff");
    near(&r, "mass", 'x', 1.0, 1e-12);
    end(&r);
}

static void pendulums(void **state)
{
    (void)state;
    run r = finish("pendulum");
    near(&r, "bob", 'x', -1.0, 1e-6);
    near(&r, "bob", 'y', 0.0, r.h);
    end(&r);
    r = finish("rod-pendulum");
    near(&r, "rod", 'a', 0.0, r.h);
    end(&r);
    r = finish("joint-limit");  // released from the stop with 3 g/2 sin(0.3)
    double since = 0.6 - 0.5390552657221818;
    near(&r, "rod", 'a', -0.5 * PI - 0.3 + 0.5 * 1.5 * G * sin(0.3) * since * since, 1e-3);
    end(&r);
}

static void machines(void **state)
{
    (void)state;
    run r = finish("four-bar");
    near(&r, "crank", 'a', 0.9094795237233544, 10.0 * r.h);
    end(&r);
    r = finish("slider-crank");
    double angle = 150.0 * perp_sim_time(r.sim), s = 0.15 * sin(angle);
    near(&r, "slider", 'x', 0.15 * cos(angle) + sqrt(0.09 - s * s), 20.0 * r.h);
    end(&r);
}

static void squeezer(void **state)
{
    (void)state;
    run r = finish("andrews-squeezer");
    near(&r, "K1", 'a', 8.184905889661726, 1e-3);
    near(&r, "K3", 'a', 0.20953691338467384, 1e-3);
    near(&r, "K7", 'a', 1.086275108599868, 1e-3);
    end(&r);
}

// A leg in joint coordinates stands on its foot: the floor carries its weight, the spring of the knee balances
// what floor and gravity do to the shank, and nothing turns the leg about the hip.
static void landing(void **state)
{
    (void)state;
    run r = finish("leg-lands");
    int count = 0;
    const perp_contact *foot = perp_sim_contacts(r.sim, &count);
    assert_int_equal(count, 1);
    assert_true(fabs(foot->pn / r.h - 12.0 * G) < 1e-9);
    double hip_x = quantity(&r, "hip", 'x'), hip_y = quantity(&r, "hip", 'y');
    double thigh = quantity(&r, "thigh", 'a'), shank = quantity(&r, "shank", 'a');
    double knee_x = hip_x + 0.4 * cos(thigh), knee_y = hip_y + 0.4 * sin(thigh);
    double Fx = foot->pf_W.x / r.h, Fy = foot->pn / r.h;
    double about_knee =
        (foot->point_W.x - knee_x) * Fy - (foot->point_W.y - knee_y) * Fx - 0.2 * cos(shank) * G;
    double spring = -120.0 * (shank - thigh + 40.0 * PI / 180.0);
    assert_true(fabs(about_knee + spring) < 1e-8);
    double about_hip = (foot->point_W.x - hip_x) * Fy - (foot->point_W.y - hip_y) * Fx -
                       0.2 * cos(thigh) * G - (0.4 * cos(thigh) + 0.2 * cos(shank)) * G;
    assert_true(fabs(about_hip) < 1e-8);
    near(&r, "hip", 'v', 0.0, 1e-9);
    end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sliding),  cmocka_unit_test(pushing),  cmocka_unit_test(standing),
        cmocka_unit_test(rolling),  cmocka_unit_test(rocking),  cmocka_unit_test(bouncing),
        cmocka_unit_test(painleve), cmocka_unit_test(springs),  cmocka_unit_test(pendulums),
        cmocka_unit_test(machines), cmocka_unit_test(squeezer), cmocka_unit_test(landing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
