// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Velocities and momenta of a tree against differences of its poses, and bodies whose frame is moved to the
// centre of mass: shapes, springs and momenta stay where they were given.
#include "support/cmocka.h"
#include "support/plane.h"
#include "support/random.h"
#include "support/space.h"

#include <math.h>
#include <perp/io.h>
#include <stdio.h>

enum { MOST = 64 };

static void near(double got, double want, double tolerance, const char *what)
{
    if (!(fabs(got - want) <= tolerance)) {
        fail_msg("%s: %.12g, should be %.12g", what, got, want);
    }
}

static void near3(perp_vec3 got, perp_vec3 want, double tolerance, const char *what)
{
    near(got.x, want.x, tolerance, what);
    near(got.y, want.y, tolerance, what);
    near(got.z, want.z, tolerance, what);
}

// The angular velocity that leads from a to b within dt: 2 vec(b a*) / dt.
static perp_vec3 turning(perp_quat a, perp_quat b, double dt)
{
    perp_quat back = {a.w, -a.x, -a.y, -a.z}, d = space_mul(b, back);
    double sign = d.w < 0.0 ? -2.0 / dt : 2.0 / dt;
    return (perp_vec3){sign * d.x, sign * d.y, sign * d.z};
}

// I_W w of a body, with the moments in its own axes.
static perp_vec3 spin_momentum(const perp_model *model, perp_body body, perp_quat q, perp_vec3 w)
{
    double I[6];
    perp_model_inertia_tensor(model, body, I);
    perp_vec3 v = space_unrotate(q, w);
    perp_vec3 own = {I[0] * v.x + I[3] * v.y + I[4] * v.z, I[3] * v.x + I[1] * v.y + I[5] * v.z,
                     I[4] * v.x + I[5] * v.y + I[2] * v.z};
    return space_rotate(q, own);
}

// A random state of a scene: poses a moment before and after give the velocities by central differences.
static void compare_tree(const char *name, rng *r)
{
    const double dt = 1e-5;
    char path[100];
    perp_scene *scene = NULL;
    perp_tree *tree = NULL;
    double q[MOST], qd[MOST], q_dot[MOST], moved[MOST];
    int nq, nv;
    snprintf(path, sizeof path, "scenes/%s.json", name);
    assert_int_equal(perp_scene_load(path, NULL, &scene, NULL), PERP_OK);
    const perp_model *model = perp_scene_model(scene);
    assert_int_equal(perp_tree_create(model, NULL, 0, NULL, &tree, NULL), PERP_OK);
    assert_ptr_equal(perp_tree_model(tree), model);
    perp_tree_size(tree, &nq, &nv);
    assert_true(nq <= MOST);
    perp_tree_get(tree, NULL, q, qd);
    for (int k = 0; k < nv; k++) {
        qd[k] = rng_uniform(r, -1.0, 1.0);
    }
    perp_pose before[MOST], after[MOST];
    int bodies = perp_model_bodies(model);
    for (int side = -1; side <= 1; side += 2) {
        assert_int_equal(perp_tree_set(tree, 0.0, q, qd), PERP_OK);
        perp_tree_coordinate_rates(tree, q_dot);
        for (int k = 0; k < nq; k++) {
            moved[k] = q[k] + side * dt * q_dot[k];
        }
        assert_int_equal(perp_tree_set(tree, 0.0, moved, qd), PERP_OK);
        for (int i = 0; i < bodies; i++) {
            *(side < 0 ? &before[i] : &after[i]) = perp_tree_pose(tree, (perp_body){i});
        }
    }
    assert_int_equal(perp_tree_set(tree, 0.0, q, qd), PERP_OK);
    perp_vec3 p = {0.0, 0.0, 0.0}, L = {0.0, 0.0, 0.0};
    double size = 1.0;
    for (int i = 1; i < bodies; i++) {
        perp_body body = {i};
        perp_pose at = perp_tree_pose(tree, body);
        perp_twist twist = perp_tree_twist(tree, body);
        perp_vec3 v = space_scale(0.5 / dt, space_sub(after[i].p, before[i].p));
        near3(twist.v_W, v, 1e-7, name);
        near3(twist.w_W, turning(before[i].rot, after[i].rot, 2.0 * dt), 1e-7, name);
        double m = perp_model_motion(model, body) == PERP_MOTION_DYNAMIC
                       ? perp_model_mass(model, body)
                       : 0.0;
        perp_vec3 own =
            m > 0.0 ? spin_momentum(model, body, at.rot, twist.w_W) : (perp_vec3){0.0, 0.0, 0.0};
        p = space_add(p, space_scale(m, twist.v_W));
        L = space_add(L, space_add(own, space_cross(at.p, space_scale(m, twist.v_W))));
        size += m;
    }
    perp_twist momentum = perp_tree_momentum(tree);
    near3(momentum.v_W, p, 1e-12 * size, name);
    near3(momentum.w_W, L, 1e-12 * size, name);
    perp_tree_destroy(tree);
    perp_scene_destroy(scene);
}

static void momenta(void **state)
{
    (void)state;
    static const char *const names[] = {"pendulum-5",   "bricard",     "lagrange-top",
                                        "tedrake-arm",  "dzhanibekov", "flyball-governor",
                                        "slider-crank", "screw"};
    rng r = rng_seed(7);
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
        compare_tree(names[k], &r);
    }
}

// Two cubes of side 1 at x = 0 and x = 3 in the given frame, the second of twice the density: the centre is at x = 2.
// A spring from above pulls at the first cube, given in the same frame: after one step the body has the velocities of
// a force at the arm from the centre of mass.
static void recentred_body(void **state)
{
    (void)state;
    const double K = 50.0, rest = 1.0, h = 1e-3;
    plane p = {0};
    plane_open(&p);
    perp_builder_set_gravity(p.builder, (perp_vec3){0.0, 0.0, 0.0});
    perp_body_def def = perp_body_default();
    def.kind = PERP_BODY_SPATIAL;
    def.position_W = (perp_vec3){5.0, 6.0, 7.0};
    def.recenter = true;
    perp_body body = perp_builder_add_body(p.builder, &def);
    perp_shape_def cube = perp_shape_default();
    cube.kind = PERP_SHAPE_BOX;
    cube.half = (perp_vec3){0.5, 0.5, 0.5};
    cube.density = 1.0;
    perp_builder_add_shape(p.builder, body, &cube);
    cube.density = 2.0;
    cube.position_B.x = 3.0;
    perp_builder_add_shape(p.builder, body, &cube);
    // the anchors are 3 m apart, one above the other
    perp_force_def spring = perp_force_default();
    spring.kind = PERP_FORCE_SPRING;
    spring.a = body;
    spring.anchor_A = (perp_vec3){0.0, 0.0, 0.5};
    spring.b = PLANE_GROUND;
    spring.anchor_B = (perp_vec3){5.0, 6.0, 10.5};
    spring.stiffness = K;
    spring.rest = rest;
    perp_builder_add_force(p.builder, &spring);
    plane_start(&p);
    near3(perp_model_center(p.model, body), (perp_vec3){2.0, 0.0, 0.0}, 1e-14, "centre");
    near3(perp_model_center(p.model, PLANE_GROUND), (perp_vec3){0.0, 0.0, 0.0}, 0.0, "ground");
    near3(perp_sim_body_position(p.sim, body), (perp_vec3){7.0, 6.0, 7.0}, 1e-14, "position");
    plane_step(&p, h);
    perp_twist twist = perp_sim_body_twist(p.sim, body);
    // I_yy = 3/6 + 1 * 2^2 + 2 * 1^2; the force acts at x = -2 from the centre
    const double F = K * (3.0 - rest), mass = 3.0, I = 0.5 + 4.0 + 2.0;
    near3(twist.v_W, (perp_vec3){0.0, 0.0, h * F / mass}, 1e-12, "velocity");
    near3(twist.w_W, (perp_vec3){0.0, h * 2.0 * F / I, 0.0}, 1e-9, "angular velocity");
    plane_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(momenta),
        cmocka_unit_test(recentred_body),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
