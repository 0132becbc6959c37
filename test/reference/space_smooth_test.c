// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Spatial bodies and machines without contact against closed forms (Jacobi's elliptic functions) and
// accurate integrations, in the limit of small steps; and what the gyroscopic options do to the energy.
#include "support/cmocka.h"
#include "support/converge.h"
#include "support/space.h"

#include <math.h>

static const double PI = 3.14159265358979323846;
static const perp_vec3 O = {0.0, 0.0, 0.0}, X = {1.0, 0.0, 0.0}, Y = {0.0, 1.0, 0.0},
                       Z = {0.0, 0.0, 1.0};

static int steps_to(double t, double h)
{
    return (int)floor(t / h + 0.5);
}

// ── Free bodies ──────────────────────────────────────────────────────────────────────────────────

// Principal moments 1, 2, 3; omega in body axes, which at the start are those of the world.
static perp_body open_free(plane *p, perp_vec3 omega)
{
    plane_open(p);
    perp_builder_set_gravity(p->builder, O);
    perp_body_def def = space_body(1.0, (perp_vec3){1.0, 2.0, 3.0}, O);
    def.omega_W = omega;
    return perp_builder_add_body(p->builder, &def);
}

static void run_free(perp_vec3 omega, double t, double h, double *out)
{
    plane p = {0};
    perp_body body = open_free(&p, omega);
    plane_start(&p);
    plane_run(&p, h, steps_to(t, h));
    perp_quat q = perp_sim_body_pose(p.sim, body).rot;
    perp_vec3 w = space_unrotate(q, perp_sim_body_twist(p.sim, body).w_W);
    double sign = q.w < 0.0 ? -1.0 : 1.0;
    const double found[] = {w.x, w.y, w.z, sign * q.w, sign * q.x, sign * q.y, sign * q.z};
    for (int i = 0; i < 7; i++) {
        out[i] = found[i];
    }
    plane_close(&p);
}

static void run_generic(double h, double *out)
{
    run_free((perp_vec3){0.6, 0.3, 1.1}, 2.0, h, out);
}

static void run_dzhanibekov(double h, double *out)
{
    run_free((perp_vec3){0.01, 1.0, 0.01}, 10.0, h, out);
}

static void free_bodies(void **state)
{
    (void)state;
    static const double generic[] = {-0.5726623497663406, 0.34936776205038256,  1.0951319809106588,
                                     0.35857931851339575, 0.009119108030019432, 0.24166658756475423,
                                     0.9016290671101792};
    static const double tumbling[] = {-0.8745734378885885, 0.48499618734556654, 0.5050012205464668,
                                      0.24270299091954747, 0.11814412672543115, -0.8227201467472326,
                                      -0.5002687114493582};
    converge_check("free body", run_generic, 0.01, 7, generic, 1e-3, 1e-7);
    converge_check("Dzhanibekov", run_dzhanibekov, 0.005, 7, tumbling, 1e-3, 1e-7);
}

// The midpoint rule keeps energy and the length of the angular momentum at any step; its direction to
// first order.
static void free_body_keeps_energy(void **state)
{
    (void)state;
    static const double steps[] = {0.001, 0.02, 0.1};
    for (int k = 0; k < 3; k++) {
        plane p = {0};
        perp_body body = open_free(&p, (perp_vec3){3.0, 5.0, 1.0});
        plane_start(&p);
        double energy = space_kinetic(&p, body), turn = space_length(space_momentum(&p, body));
        double worst = 0.0, drift = 0.0;
        for (int i = 0; i < 2000; i++) {
            plane_step(&p, steps[k]);
            worst = fmax(worst, fabs(space_kinetic(&p, body) / energy - 1.0));
            drift = fmax(drift, fabs(space_length(space_momentum(&p, body)) / turn - 1.0));
        }
        print_message("h = %g: energy off by %.1e, |L| by %.1e\n", steps[k], worst, drift);
        assert_true(worst < 1e-11 && drift < 1e-11);
        plane_close(&p);
    }
}

// The notes' explicit torque makes energy, in proportion to the step: 6 % in 2 s of 0.01 s. Steps are divided until
// what they make is within their limit, a millionth of the energy.
static void explicit_torque_gains_energy(void **state)
{
    (void)state;
    static const double steps[] = {0.01, 0.005, 0.001};
    double gain[3];
    for (int k = 0; k < 3; k++) {
        plane p = {0};
        perp_body body = open_free(&p, (perp_vec3){3.0, 5.0, 1.0});
        p.def.gyroscopic = PERP_GYROSCOPIC_EXPLICIT;
        plane_start(&p);
        double energy = space_kinetic(&p, body);
        plane_run(&p, steps[k], steps_to(2.0, steps[k]));
        gain[k] = space_kinetic(&p, body) / energy;
        print_message("explicit, h = %g: energy times %.4f in 2 s\n", steps[k], gain[k]);
        plane_close(&p);
    }
    for (int k = 0; k < 3; k++) {
        assert_true(gain[k] > 1.0 && gain[k] < 1.0 + 1e-5 * steps_to(2.0, steps[k]));
    }
}

// ── Tops ─────────────────────────────────────────────────────────────────────────────────────────

static void run_top(perp_body_def def, perp_vec3 foot_B, double t, double h, double *out)
{
    plane p = {0};
    plane_open(&p);
    perp_body top = perp_builder_add_body(p.builder, &def);
    perp_joint_def foot = space_joint(PERP_JOINT_SPHERICAL, PLANE_GROUND, O, top, foot_B, Z);
    perp_builder_add_joint(p.builder, &foot);
    plane_start(&p);
    plane_run(&p, h, steps_to(t, h));
    perp_vec3 x = perp_sim_body_position(p.sim, top);
    out[0] = x.x;
    out[1] = x.y;
    out[2] = x.z;
    plane_close(&p);
}

// Pure spin of 40 rad/s at a tilt of 0.5 rad; centre of mass 0.5 m from the foot.
static void run_lagrange(double h, double *out)
{
    perp_quat tilt = space_turn(X, 0.5);
    perp_body_def def = space_body(1.0, (perp_vec3){0.1, 0.1, 0.08},
                                   space_rotate(tilt, (perp_vec3){0.0, 0.0, 0.5}));
    def.rotation_WB = tilt;
    def.omega_W = space_rotate(tilt, (perp_vec3){0.0, 0.0, 40.0});
    run_top(def, (perp_vec3){0.0, 0.0, -0.5}, 0.5, h, out);
}

static void lagrange_top(void **state)
{
    (void)state;
    static const double want[] = {0.27597150612598337, -0.216443821771278, 0.3563590883134573};
    converge_check("Lagrange top", run_lagrange, 0.001, 3, want, 1e-3, 1e-6);
}

static void run_cardona(double h, double *out)
{
    perp_body_def def = space_body(15.0, (perp_vec3){0.234375, 0.46875, 0.234375}, Y);
    def.omega_W = (perp_vec3){0.0, 150.0, -4.61538};
    def.velocity_W = space_cross(def.omega_W, Y);
    run_top(def, (perp_vec3){0.0, -1.0, 0.0}, 0.2, h, out);
}

static void cardona_top(void **state)
{
    (void)state;
    static const double want[] = {0.6055505613770896, 0.5989576817949357, -0.5239830274300227};
    converge_check("heavy top", run_cardona, 0.0005, 3, want, 1e-2, 5e-5);
}

// ── Machines with more equations than they need ──────────────────────────────────────────────────

// A slender bar from `from` to `to`, its x axis along it, its z axis along `up`.
static perp_body_def bar(double mass, perp_vec3 inertia, perp_vec3 from, perp_vec3 to, perp_vec3 up)
{
    perp_body_def def = space_body(mass, inertia, space_scale(0.5, space_add(from, to)));
    perp_vec3 along = space_sub(to, from);
    along = space_scale(1.0 / space_length(along), along);
    perp_quat first = space_mul(space_z_to(along), space_turn(Y, -0.5 * PI));  // x to along
    perp_vec3 z = space_rotate(first, Z);
    double angle = atan2(space_dot(along, space_cross(z, up)), space_dot(z, up));
    def.rotation_WB = space_mul(space_turn(along, angle), first);
    return def;
}

static perp_vec3 to_body(const perp_body_def *def, perp_vec3 at_W)
{
    return space_unrotate(def->rotation_WB, space_sub(at_W, def->position_W));
}

// A joint at a point of the world about an axis of the world.
static void hinge(plane *p, const perp_body_def *a, perp_body body_a, const perp_body_def *b,
                  perp_body body_b, perp_vec3 at, perp_vec3 axis)
{
    perp_joint_def def =
        space_joint(PERP_JOINT_REVOLUTE, body_a, a ? to_body(a, at) : at, body_b,
                    b ? to_body(b, at) : at, a ? space_unrotate(a->rotation_WB, axis) : axis);
    perp_builder_add_joint(p->builder, &def);
}

static void run_bricard(double h, double *out)
{
    static const perp_vec3 P[] = {{0, 0, 0},  {1, 0, 0},  {1, -1, 0},
                                  {1, -1, 1}, {0, -1, 1}, {0, 0, 1}};
    const perp_vec3 axis[] = {Y, Z, X, Y, Z, X};
    double thin = 0.02 / 12.0, wide = 1.01 / 12.0;
    plane p = {0};
    perp_body_def def[5];
    perp_body rod[5];
    plane_open(&p);
    perp_builder_set_gravity(p.builder, (perp_vec3){0.0, -9.81, 0.0});
    for (int i = 0; i < 5; i++) {
        perp_vec3 up = fabs(P[i + 1].z - P[i].z) > 0.5 ? X : Z;
        def[i] = bar(1.0, (perp_vec3){thin, wide, wide}, P[i], P[i + 1], up);
        rod[i] = perp_builder_add_body(p.builder, &def[i]);
    }
    hinge(&p, NULL, PLANE_GROUND, &def[0], rod[0], P[0], axis[0]);
    for (int i = 1; i < 5; i++) {
        hinge(&p, &def[i - 1], rod[i - 1], &def[i], rod[i], P[i], axis[i]);
    }
    hinge(&p, &def[4], rod[4], NULL, PLANE_GROUND, P[5], axis[5]);
    plane_start(&p);
    plane_run(&p, h, steps_to(0.5, h));
    const perp_step_info *info = perp_sim_info(p.sim);
    assert_int_equal(info->joint_rows, 30);
    assert_int_equal(info->redundant_rows, 1);
    assert_true(p.worst.joint < 1e-2);
    perp_vec3 x = space_point_at(&p, rod[1], to_body(&def[1], P[2]));
    out[0] = x.x;
    out[1] = x.y;
    out[2] = x.z;
    plane_close(&p);
}

static void bricard(void **state)
{
    (void)state;
    static const double want[] = {0.7747178080392332, -0.9798150476556706, -0.19990615895344363};
    converge_check("Bricard", run_bricard, 0.002, 3, want, 1e-3, 1e-6);
}

// Crank 0.3, coupler 0.7, rocker 0.6, ground 0.8 m by four hinges about z: 20 rows of rank 17.
static void run_four_bar(double h, double *out)
{
    plane p = {0};
    double mass[] = {0.5, 1.0, 0.8}, length[] = {0.3, 0.7, 0.6}, rate[3] = {2.0, 0.0, 0.0};
    perp_vec3 A = {0.3 * cos(1.0), 0.3 * sin(1.0), 0.0}, D = {0.8, 0.0, 0.0};
    perp_vec3 AD = space_sub(D, A);
    double d = space_length(AD), cosine = (d * d + 0.49 - 0.36) / (2.0 * d * 0.7);
    double angle = atan2(AD.y, AD.x) + acos(cosine);
    perp_vec3 B = {A.x + 0.7 * cos(angle), A.y + 0.7 * sin(angle), 0.0};
    const perp_vec3 P[] = {O, A, B, D};
    // Rates of coupler and rocker: v_B = v_A + w1 z x AB = w2 z x DB.
    perp_vec3 speed_A = space_scale(2.0, space_cross(Z, A)), AB = space_sub(B, A),
              DB = space_sub(B, D);
    rate[1] = -space_dot(speed_A, DB) / space_dot(space_cross(Z, AB), DB);
    perp_vec3 speed_B = space_add(speed_A, space_scale(rate[1], space_cross(Z, AB)));
    rate[2] = space_dot(speed_B, space_cross(Z, DB)) / space_dot(DB, DB);
    const perp_vec3 v[] = {space_scale(0.5, speed_A), space_scale(0.5, space_add(speed_A, speed_B)),
                           space_scale(0.5, speed_B)};
    perp_body_def def[3];
    perp_body rod[3];
    plane_open(&p);
    perp_builder_set_gravity(p.builder, (perp_vec3){0.0, -9.81, 0.0});
    for (int i = 0; i < 3; i++) {
        double wide = mass[i] * length[i] * length[i] / 12.0, extra = 1e-4 * mass[i];
        def[i] = bar(mass[i], (perp_vec3){extra, wide + extra, wide + extra}, P[i], P[i + 1], Z);
        def[i].velocity_W = v[i];
        def[i].omega_W = (perp_vec3){0.0, 0.0, rate[i]};
        rod[i] = perp_builder_add_body(p.builder, &def[i]);
    }
    hinge(&p, NULL, PLANE_GROUND, &def[0], rod[0], O, Z);
    hinge(&p, &def[0], rod[0], &def[1], rod[1], A, Z);
    hinge(&p, &def[1], rod[1], &def[2], rod[2], B, Z);
    hinge(&p, &def[2], rod[2], NULL, PLANE_GROUND, D, Z);
    plane_start(&p);
    plane_run(&p, h, steps_to(0.5, h));
    assert_int_equal(perp_sim_info(p.sim)->joint_rows, 20);
    assert_int_equal(perp_sim_info(p.sim)->redundant_rows, 3);
    perp_vec3 tip = space_point_at(&p, rod[0], to_body(&def[0], A));
    out[0] = atan2(tip.y, tip.x);
    out[1] = perp_sim_body_twist(p.sim, rod[0]).w_W.z;
    out[2] = tip.z;
    plane_close(&p);
}

static void four_bar(void **state)
{
    (void)state;
    static const double want[] = {0.4375373858650284, -6.594033479544062, 0.0};
    converge_check("four-bar", run_four_bar, 0.0005, 3, want, 1e-2, 2e-5);
}

// ── Flyball governor ─────────────────────────────────────────────────────────────────────────────

static void add_arm(plane *p, perp_body shaft, perp_body slider, double side)
{
    // A rod of 0.3 kg and 1 m with 5 kg at its end, 30 degrees below the horizontal.
    double beta = PI / 6.0, mass = 5.3, c = (0.15 + 5.0) / mass, section = 1e-4 * 0.3 / 12.0;
    double wide =
        0.3 * (1.0 + 1e-4) / 12.0 + 0.3 * (c - 0.5) * (c - 0.5) + 5.0 * (1.0 - c) * (1.0 - c);
    perp_vec3 pin = {0.05 * side, 0.0, 1.0}, along = {side * cos(beta), 0.0, -sin(beta)};
    perp_vec3 centre = space_add(pin, space_scale(c, along));
    perp_body_def def = space_body(mass, (perp_vec3){2.0 * section, wide, wide}, centre);
    def.rotation_WB =
        side > 0.0 ? space_turn(Y, beta) : space_mul(space_turn(Z, PI), space_turn(Y, beta));
    def.omega_W = (perp_vec3){0.0, 0.0, 2.0 * PI};
    def.velocity_W = space_cross(def.omega_W, centre);
    perp_body rod = perp_builder_add_body(p->builder, &def);
    perp_joint_def joint =
        space_joint(PERP_JOINT_REVOLUTE, shaft, (perp_vec3){0.05 * side, 0.0, 0.5}, rod,
                    (perp_vec3){-c, 0.0, 0.0}, Y);
    perp_builder_add_joint(p->builder, &joint);
    perp_force_def spring = perp_force_default();
    spring.kind = PERP_FORCE_SPRING;
    spring.a = slider;
    spring.b = rod;
    spring.anchor_A = (perp_vec3){0.05 * side, 0.0, 0.0};
    spring.anchor_B = (perp_vec3){0.5 - c, 0.0, 0.0};
    spring.stiffness = 8e5;
    spring.damping = 4e4;
    spring.rest = 0.5;
    spring.implicit = true;
    perp_builder_add_force(p->builder, &spring);
}

static void run_governor(double h, double *out)
{
    plane p = {0};
    plane_open(&p);
    double wide = 0.3 * (1.0 + 1e-4) / 12.0, thin = 0.3 * 2e-4 / 12.0, cube = 3.0 * 0.01 / 6.0;
    perp_body_def def = space_body(0.3, (perp_vec3){wide, wide, thin}, (perp_vec3){0.0, 0.0, 0.5});
    def.omega_W = (perp_vec3){0.0, 0.0, 2.0 * PI};
    perp_body shaft = perp_builder_add_body(p.builder, &def);
    def = space_body(3.0, (perp_vec3){cube, cube, cube}, (perp_vec3){0.0, 0.0, 0.5});
    def.omega_W = (perp_vec3){0.0, 0.0, 2.0 * PI};
    perp_body slider = perp_builder_add_body(p.builder, &def);
    perp_joint_def bearing =
        space_joint(PERP_JOINT_REVOLUTE, PLANE_GROUND, O, shaft, (perp_vec3){0.0, 0.0, -0.5}, Z);
    perp_builder_add_joint(p.builder, &bearing);
    perp_joint_def guide = space_joint(PERP_JOINT_PRISMATIC, shaft, O, slider, O, Z);
    perp_joint slide = perp_builder_add_joint(p.builder, &guide);
    add_arm(&p, shaft, slider, 1.0);
    add_arm(&p, shaft, slider, -1.0);
    plane_start(&p);
    plane_run(&p, h, steps_to(0.5, h));
    out[0] = perp_sim_body_position(p.sim, slider).z;
    out[1] = perp_sim_body_twist(p.sim, shaft).w_W.z;
    space_near(perp_sim_joint(p.sim, slide).coordinate, out[0] - 0.5, 1e-4, "slide");
    plane_close(&p);
}

static void flyball_governor(void **state)
{
    (void)state;
    static const double want[] = {0.7432494247804547, 5.103415421891388};
    converge_check("governor", run_governor, 0.002, 2, want, 5e-3, 1e-5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(free_bodies),
        cmocka_unit_test(free_body_keeps_energy),
        cmocka_unit_test(explicit_torque_gains_energy),
        cmocka_unit_test(lagrange_top),
        cmocka_unit_test(cardona_top),
        cmocka_unit_test(bricard),
        cmocka_unit_test(four_bar),
        cmocka_unit_test(flyball_governor),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
