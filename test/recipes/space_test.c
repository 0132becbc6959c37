// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The spatial scenes with closed forms or accurate solutions, run as their files say: where things end.
// Every step must pass its certificate.
#include "support/cmocka.h"
#include "support/space.h"

#include <math.h>
#include <stdio.h>

static const double G = 9.81, PI = 3.14159265358979323846;

typedef struct run {
    perp_scene *scene;
    plane p;
} run;

static run finish(const char *name)
{
    char path[128];
    snprintf(path, sizeof path, "scenes/%s.json", name);
    run r = {0};
    perp_error error;
    if (perp_scene_load(path, NULL, &r.scene, &error) < 0) {
        fail_msg("%s:%d:%d: %s", path, error.line, error.column, error.text);
    }
    perp_sim_def def = perp_scene_sim_def(r.scene);
    assert_int_equal(perp_sim_create(perp_scene_model(r.scene), &def, NULL, &r.p.sim, &error),
                     PERP_OK);
    double h = perp_scene_step(r.scene);
    plane_run(&r.p, h, (int)lround(perp_scene_until(r.scene) / h));
    assert_int_equal(r.p.inexact, 0);
    return r;
}

static void end(run *r)
{
    perp_sim_destroy(r->p.sim);
    perp_scene_destroy(r->scene);
}

static perp_body body(const run *r, const char *name)
{
    perp_body b = perp_model_body(perp_scene_model(r->scene), name);
    assert_true(b.i >= 0);
    return b;
}

static void near3(perp_vec3 got, perp_vec3 want, double tolerance, const char *what)
{
    double off = space_length(space_sub(got, want));
    if (!(off <= tolerance)) {
        fail_msg("%s = (%g %g %g), off by %.3g", what, got.x, got.y, got.z, off);
    }
}

static void without_contact(void **state)
{
    (void)state;
    run r = finish("dzhanibekov");
    perp_body b = body(&r, "body");
    perp_quat R = perp_sim_body_pose(r.p.sim, b).rot;
    near3(space_unrotate(R, perp_sim_body_twist(r.p.sim, b).w_W),
          (perp_vec3){-0.8745734378885885, 0.48499618734556654, 0.5050012205464668}, 1e-3,
          "omega in body axes");
    end(&r);
    r = finish("lagrange-top");
    near3(perp_sim_body_position(r.p.sim, body(&r, "top")),
          (perp_vec3){0.27597150612598337, -0.216443821771278, 0.3563590883134573}, 2e-3, "top");
    end(&r);
    r = finish("bricard");
    near3(space_point_at(&r.p, body(&r, "rod 2"), (perp_vec3){0.0, -0.5, 0.0}),
          (perp_vec3){0.7747178080392332, -0.9798150476556706, -0.19990615895344363}, 1e-3, "P3");
    assert_int_equal(perp_sim_info(r.p.sim)->redundant_rows, 1);
    end(&r);
    r = finish("flyball-governor");
    space_near(perp_sim_body_position(r.p.sim, body(&r, "slider")).z, 0.7432494247804547, 2e-3,
               "slider");
    space_near(perp_sim_body_twist(r.p.sim, body(&r, "shaft")).w_W.z, 5.103415421891388, 5e-3,
               "shaft");
    end(&r);
    r = finish("screw");
    space_near(perp_sim_body_twist(r.p.sim, body(&r, "nut")).v_W.z, -G * 0.08 / 0.38, 1e-9, "nut");
    end(&r);
}

static void rolling_and_sliding(void **state)
{
    (void)state;
    run r = finish("ball-rolls");
    near3(perp_sim_body_twist(r.p.sim, body(&r, "ball")).v_W,
          (perp_vec3){1.8 * 5.0 / 7.0, 2.4 * 5.0 / 7.0, 0.0}, 1e-7, "5/7 of its speed");
    end(&r);
    r = finish("box-heading");
    perp_vec3 x = perp_sim_body_position(r.p.sim, body(&r, "box"));
    space_near(atan2(x.y, x.x), 17.0 * PI / 180.0, 1e-6, "heading");
    end(&r);
    r = finish("turntable");
    perp_vec3 v = perp_sim_body_twist(r.p.sim, body(&r, "ball")).v_W;
    double turned = 2.0 / 7.0 * 3.0 * 2.0;
    near3(v, (perp_vec3){-0.2 * sin(turned), 0.2 * cos(turned), 0.0}, 2e-3, "velocity");
    end(&r);
    r = finish("rattleback");
    assert_true(perp_sim_body_twist(r.p.sim, body(&r, "stone")).w_W.z > 4.0);
    end(&r);
    r = finish("euler-disc");
    x = perp_sim_body_position(r.p.sim, body(&r, "disc"));
    assert_true(hypot(x.x, x.y) < 5e-4);
    space_near(x.z, 0.05, 2e-4, "height");
    end(&r);
}

// A flat mesh is a plane: no inner edge of its triangles is felt.
static void on_a_mesh(void **state)
{
    (void)state;
    run r = finish("mesh-ramp");
    double a = 15.0 * PI / 180.0, t = perp_scene_until(r.scene);
    perp_vec3 down = {cos(a), 0.0, -sin(a)};
    perp_twist ball = perp_sim_body_twist(r.p.sim, body(&r, "ball"));
    near3(ball.v_W, space_scale(5.0 / 7.0 * G * sin(a) * t, down), 1e-12, "the ball rolls");
    near3(ball.w_W, (perp_vec3){0.0, 5.0 / 7.0 * G * sin(a) * t / 0.1, 0.0}, 1e-11, "and turns");
    perp_twist box = perp_sim_body_twist(r.p.sim, body(&r, "box"));
    near3(box.v_W, space_scale(G * (sin(a) - 0.1 * cos(a)) * t, down), 1e-12, "the box slides");
    near3(box.w_W, (perp_vec3){0.0, 0.0, 0.0}, 1e-12, "and does not turn");
    end(&r);
}

static void standing(void **state)
{
    (void)state;
    run r = finish("slope-sticks");
    double a = 20.0 * PI / 180.0;
    near3(perp_sim_body_position(r.p.sim, body(&r, "box")),
          (perp_vec3){-0.1 * sin(a), 0.0, 0.1 * cos(a)}, 1e-10, "box");
    end(&r);
    r = finish("heavy-stack");
    near3(perp_sim_body_position(r.p.sim, body(&r, "box 10")), (perp_vec3){0.0, 0.0, 1.9}, 1e-8,
          "top");
    end(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_contact),
        cmocka_unit_test(rolling_and_sliding),
        cmocka_unit_test(on_a_mesh),
        cmocka_unit_test(standing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
