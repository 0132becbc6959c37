// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Sensors against closed forms, against the states and impulses that they come from, and in body against joint
// coordinates.
#include "support/cmocka.h"
#include "support/space.h"

#include <perp/perp.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

static const perp_vec3 UP = {0.0, 0.0, 1.0};

static perp_site site_on(plane *p, const char *name, perp_body body, perp_vec3 at, perp_quat turn)
{
    perp_site_def def = perp_site_default();
    def.name = name;
    def.body = body;
    def.position_B = at;
    def.rotation_BS = turn;
    return perp_builder_add_site(p->builder, &def);
}

static perp_sensor sense_at(plane *p, perp_sensor_kind kind, perp_site site, perp_joint joint)
{
    perp_sensor_def def = perp_sensor_default();
    def.kind = kind;
    def.site = site;
    def.joint = joint;
    return perp_builder_add_sensor(p->builder, &def);
}

static perp_sensor sense_body(plane *p, perp_sensor_kind kind, perp_body body)
{
    perp_sensor_def def = perp_sensor_default();
    def.kind = kind;
    def.body = body;
    return perp_builder_add_sensor(p->builder, &def);
}

static perp_sensor sense_joint(plane *p, perp_sensor_kind kind, perp_joint joint)
{
    perp_sensor_def def = perp_sensor_default();
    def.kind = kind;
    def.joint = joint;
    return perp_builder_add_sensor(p->builder, &def);
}

// Reads a sensor; all values that it does not have are 0.
static void read(const plane *p, perp_sensor sensor, double out[4])
{
    memset(out, 0, 4 * sizeof *out);
    assert_int_equal(perp_sim_sensor(p->sim, sensor, out, 4), PERP_OK);
}

static void reads(const plane *p, perp_sensor sensor, perp_vec3 want, double tolerance,
                  const char *what)
{
    double v[4];
    read(p, sensor, v);
    double off = fmax(fabs(v[0] - want.x), fmax(fabs(v[1] - want.y), fabs(v[2] - want.z)));
    if (!(off <= tolerance)) {
        fail_msg("%s: (%.15g %.15g %.15g), expected (%.15g %.15g %.15g), off by %.3g", what, v[0],
                 v[1], v[2], want.x, want.y, want.z, off);
    }
}

static const perp_stepper steppers[] = {PERP_STEPPER_STEWART_TRINKLE, PERP_STEPPER_ANITESCU_POTRA,
                                        PERP_STEPPER_MOREAU_JEAN, PERP_STEPPER_EVENT};
enum { STEPPERS = 4 };

// ── Rest and fall ────────────────────────────────────────────────────────────────────────────────

// A box on a floor and a ball that falls. At rest an accelerometer reads g upwards, in the axes of its site; in free
// fall it reads 0. The touch sensor reads the weight, its half region half of it.
static void rest_and_fall(void **state)
{
    (void)state;
    for (int k = 0; k < STEPPERS; k++) {
        plane p = {0};
        plane_open(&p);
        perp_vec3 half = {0.2, 0.2, 0.1};
        perp_body_def box =
            space_body(3.0, space_box_inertia(3.0, half), (perp_vec3){0.0, 0.0, 0.1});
        perp_body b = perp_builder_add_body(p.builder, &box);
        space_box(&p, b, half, 0.5);
        space_halfspace(&p, PLANE_GROUND, UP, 0.0, 0.5);
        perp_body_def ball =
            space_body(1.0, (perp_vec3){0.1, 0.1, 0.1}, (perp_vec3){3.0, 0.0, 9.0});
        perp_body f = perp_builder_add_body(p.builder, &ball);
        perp_quat turn = space_turn((perp_vec3){1.0, 0.0, 0.0}, 0.5 * acos(-1.0));
        perp_site tilted = site_on(&p, "tilted", b, (perp_vec3){0.1, 0.0, 0.05}, turn);
        perp_site_def foot = perp_site_default();
        foot.name = "foot";
        foot.body = b;
        foot.position_B = (perp_vec3){0.1, 0.0, -0.1};
        foot.half = (perp_vec3){0.1, 0.2, 0.01};
        perp_site right = perp_builder_add_site(p.builder, &foot);
        perp_joint none = {-1};
        perp_sensor at_rest = sense_at(&p, PERP_SENSOR_ACCELEROMETER, tilted, none);
        perp_sensor falling = sense_body(&p, PERP_SENSOR_ACCELEROMETER, f);
        perp_sensor seen = sense_body(&p, PERP_SENSOR_ACCELERATION, f);
        perp_sensor all = sense_body(&p, PERP_SENSOR_TOUCH, b);
        perp_sensor some = sense_at(&p, PERP_SENSOR_TOUCH, right, none);
        perp_sensor floor = sense_body(&p, PERP_SENSOR_TOUCH, PLANE_GROUND);
        p.def.stepper = steppers[k];
        plane_start(&p);
        reads(&p, at_rest, (perp_vec3){0}, 0.0, "before the first step");
        reads(&p, all, (perp_vec3){0}, 0.0, "touch before the first step");
        for (int i = 0; i < 20; i++) {
            plane_step(&p, 0.01);
        }
        const char *word = perp_stepper_word((int)steppers[k]);
        reads(&p, at_rest, (perp_vec3){0.0, 9.81, 0.0}, 1e-6, word);
        reads(&p, falling, (perp_vec3){0}, 1e-9, word);
        reads(&p, seen, (perp_vec3){0.0, 0.0, -9.81}, 1e-9, word);
        reads(&p, all, (perp_vec3){3.0 * 9.81, 0.0, 0.0}, 1e-5, word);
        reads(&p, floor, (perp_vec3){3.0 * 9.81, 0.0, 0.0}, 1e-5, word);
        reads(&p, some, (perp_vec3){1.5 * 9.81, 0.0, 0.0}, 1e-4, word);
        plane_close(&p);
    }
}

// ── Spinning ─────────────────────────────────────────────────────────────────────────────────────

// A free body that turns about its axis of symmetry: the gyro reads the spin in the axes of its site, an accelerometer
// off the axis the centripetal acceleration, to second order in the step.
static void spinning(void **state)
{
    (void)state;
    static const perp_stepper which[] = {PERP_STEPPER_STEWART_TRINKLE, PERP_STEPPER_MOREAU_JEAN,
                                         PERP_STEPPER_EVENT};
    for (int k = 0; k < 3; k++) {
        plane p = {0};
        plane_open(&p);
        perp_builder_set_gravity(p.builder, (perp_vec3){0});
        perp_body_def top = space_body(2.0, (perp_vec3){0.3, 0.3, 0.5}, (perp_vec3){1.0, 2.0, 3.0});
        top.omega_W = (perp_vec3){0.0, 0.0, 4.0};
        top.velocity_W = (perp_vec3){0.5, 0.0, 0.0};
        perp_body b = perp_builder_add_body(p.builder, &top);
        perp_vec3 at = {0.3, 0.0, 0.1};
        // x of the site is z of the body, z of the site is -x
        perp_site s =
            site_on(&p, "imu", b, at, space_turn((perp_vec3){0.0, 1.0, 0.0}, -0.5 * acos(-1.0)));
        perp_joint none = {-1};
        perp_sensor gyro = sense_at(&p, PERP_SENSOR_GYRO, s, none);
        perp_sensor spin = sense_at(&p, PERP_SENSOR_ANGULAR_VELOCITY, s, none);
        perp_sensor imu = sense_at(&p, PERP_SENSOR_ACCELEROMETER, s, none);
        perp_sensor place = sense_at(&p, PERP_SENSOR_POSITION, s, none);
        perp_sensor speed = sense_at(&p, PERP_SENSOR_VELOCITY, s, none);
        perp_sensor turned = sense_at(&p, PERP_SENSOR_ORIENTATION, s, none);
        perp_sensor change = sense_at(&p, PERP_SENSOR_ANGULAR_ACCELERATION, s, none);
        p.def.stepper = which[k];
        plane_start(&p);
        reads(&p, gyro, (perp_vec3){4.0, 0.0, 0.0}, 1e-12, "gyro at the start");
        for (int i = 0; i < 40; i++) {
            plane_step(&p, 0.01);
        }
        reads(&p, gyro, (perp_vec3){4.0, 0.0, 0.0}, 1e-9, "gyro");
        reads(&p, spin, (perp_vec3){0.0, 0.0, 4.0}, 1e-9, "angular velocity");
        reads(&p, change, (perp_vec3){0}, 1e-8, "angular acceleration");
        // -x of the body is z of the site; h^2 omega^2 / 24 of it is lost
        reads(&p, imu, (perp_vec3){0.0, 0.0, 4.0 * 4.0 * 0.3}, 4e-4, "centripetal acceleration");
        reads(&p, place, space_point_at(&p, b, at), 1e-12, "position");
        reads(&p, speed, space_speed_at(&p, b, at), 1e-12, "velocity");
        perp_pose X = perp_sim_site_pose(p.sim, s);
        double q[4];
        read(&p, turned, q);
        double same = fabs(q[0] * X.rot.w + q[1] * X.rot.x + q[2] * X.rot.y + q[3] * X.rot.z);
        space_near(same, 1.0, 1e-12, "orientation");
        assert_true(q[0] >= 0.0);
        assert_string_equal(perp_sensor_label(perp_model_sensor_size(p.model, turned), 0), "w");
        assert_string_equal(perp_sensor_label(perp_model_sensor_size(p.model, gyro), 0), "x");
        plane_close(&p);
    }
}

// ── Wrenches ─────────────────────────────────────────────────────────────────────────────────────

// A mass under a weld to a body that accelerates upwards by 2 m/s^2: the weld carries m (g + a), and the moment of that
// about a site beside the line of the force.
static void hanging_weld(void **state)
{
    (void)state;
    for (int k = 0; k < STEPPERS; k++) {
        plane p = {0};
        plane_open(&p);
        perp_body_def crane = perp_body_default();
        crane.kind = PERP_BODY_SPATIAL;
        crane.motion = PERP_MOTION_KINEMATIC;
        crane.position_W = (perp_vec3){0.0, 0.0, 5.0};
        crane.motion_x = "0";
        crane.motion_y = "0";
        crane.motion_z = "5 + t^2";
        perp_body a = perp_builder_add_body(p.builder, &crane);
        perp_body_def load =
            space_body(2.5, (perp_vec3){0.1, 0.1, 0.1}, (perp_vec3){0.0, 0.0, 4.0});
        perp_body b = perp_builder_add_body(p.builder, &load);
        perp_joint_def weld =
            space_joint(PERP_JOINT_WELD, a, (perp_vec3){0}, b, (perp_vec3){0.0, 0.0, 1.0}, UP);
        perp_joint j = perp_builder_add_joint(p.builder, &weld);
        perp_site on_b = site_on(&p, "on b", b, (perp_vec3){0.4, 0.0, 0.5},
                                 space_turn((perp_vec3){1.0, 0.0, 0.0}, 0.5 * acos(-1.0)));
        perp_site on_a = site_on(&p, "on a", a, (perp_vec3){0}, (perp_quat){1.0, 0.0, 0.0, 0.0});
        perp_sensor force = sense_at(&p, PERP_SENSOR_FORCE, on_b, j);
        perp_sensor torque = sense_at(&p, PERP_SENSOR_TORQUE, on_b, j);
        perp_sensor above = sense_at(&p, PERP_SENSOR_FORCE, on_a, j);
        perp_sensor felt = sense_body(&p, PERP_SENSOR_ACCELEROMETER, b);
        p.def.stepper = steppers[k];
        plane_start(&p);
        for (int i = 0; i < 10; i++) {
            plane_step(&p, 0.01);
        }
        const char *word = perp_stepper_word((int)steppers[k]);
        // the weld of the stepper event is stabilised, and settles; the others are exact
        double near = steppers[k] == PERP_STEPPER_EVENT ? 1e-4 : 1e-6, F = 2.5 * (9.81 + 2.0);
        reads(&p, above, (perp_vec3){0.0, 0.0, F}, near, word);
        reads(&p, force, (perp_vec3){0.0, F, 0.0}, near, word);  // z of the world is y of the site
        // about the site the force acts at x = -0.4: (-0.4, 0, .) x (0, 0, F) = (0, 0.4 F, 0), which is -z of the site
        reads(&p, torque, (perp_vec3){0.0, 0.0, -0.4 * F}, near, word);
        reads(&p, felt, (perp_vec3){0.0, 0.0, 11.81}, near, word);
        plane_close(&p);
    }
}

// Two rods swing, with a motor, an armature, a spring and a limit at the second joint. Whatever the scheme does, the
// momentum of the bodies beyond a joint changes by what the sensors read.
static void swinging_rods(void **state)
{
    (void)state;
    for (int k = 0; k < STEPPERS; k++) {
        plane p = {0};
        plane_open(&p);
        perp_body_def one = plane_rod(1.5, 1.0, 0.0, 0.0, 0.3),
                      two = plane_rod(0.8, 0.7, 0.0, 0.0, 1.0);
        two.position_W.x = cos(0.3) + 0.35 * cos(1.0);
        two.position_W.y = sin(0.3) + 0.35 * sin(1.0);
        perp_body a = perp_builder_add_body(p.builder, &one);
        perp_body b = perp_builder_add_body(p.builder, &two);
        perp_joint root =
            plane_pin(&p, PLANE_GROUND, (perp_vec3){0}, a, (perp_vec3){-0.5, 0.0, 0.0});
        perp_joint_def elbow = perp_joint_default();
        elbow.a = a;
        elbow.b = b;
        elbow.anchor_A = (perp_vec3){0.5, 0.0, 0.0};
        elbow.anchor_B = (perp_vec3){-0.35, 0.0, 0.0};
        elbow.stiffness = 3.0;
        elbow.damping = 0.1;
        elbow.rest = 0.7;
        elbow.armature = 0.02;
        elbow.friction = 0.05;
        elbow.lower = 0.5;
        elbow.upper = 2.0;
        perp_joint e = perp_builder_add_joint(p.builder, &elbow);
        perp_actuator_def motor = perp_actuator_default();
        motor.joint = e;
        motor.control = "-1 + 0*t";
        perp_builder_add_actuator(p.builder, &motor);
        perp_site base =
            site_on(&p, "base", PLANE_GROUND, (perp_vec3){0}, (perp_quat){1.0, 0.0, 0.0, 0.0});
        perp_sensor F = sense_at(&p, PERP_SENSOR_FORCE, base, root);
        perp_sensor_def at_b = perp_sensor_default();
        at_b.kind = PERP_SENSOR_TORQUE;
        at_b.body = b;
        at_b.joint = e;
        perp_sensor T = perp_builder_add_sensor(p.builder, &at_b);
        perp_sensor acc_a = sense_body(&p, PERP_SENSOR_ACCELERATION, a);
        perp_sensor acc_b = sense_body(&p, PERP_SENSOR_ACCELERATION, b);
        perp_sensor turn_b = sense_body(&p, PERP_SENSOR_ANGULAR_ACCELERATION, b);
        p.def.stepper = steppers[k];
        plane_start(&p);
        for (int i = 0; i < 60; i++) {
            plane_step(&p, 0.01);
            double fa[4], fb[4], t[4], alpha[4];
            read(&p, acc_a, fa);
            read(&p, acc_b, fb);
            read(&p, turn_b, alpha);
            const char *word = perp_stepper_word((int)steppers[k]);
            reads(&p, F,
                  (perp_vec3){1.5 * fa[0] + 0.8 * fb[0],
                              1.5 * (fa[1] + 9.81) + 0.8 * (fb[1] + 9.81), 0.0},
                  1e-7, word);
            read(&p, T, t);
            space_near(t[0], perp_model_inertia(p.model, b) * alpha[0], 1e-7, word);
        }
        plane_close(&p);
    }
}

// ── Efforts ──────────────────────────────────────────────────────────────────────────────────────

// A pendulum held at an angle by a servo, and one pushed into its upper limit by a motor: the joint carries the moment
// of the weight, of which the limit takes what the motor gives too much.
static void locked_pendulum(void **state)
{
    (void)state;
    for (int k = 0; k < STEPPERS; k++) {
        plane p = {0};
        plane_open(&p);
        perp_body_def rod = plane_rod(2.0, 1.0, 0.0, 0.0, 0.0);
        perp_body held = perp_builder_add_body(p.builder, &rod);
        rod.position_W.x += 3.0;
        perp_body stopped = perp_builder_add_body(p.builder, &rod);
        perp_joint first =
            plane_pin(&p, PLANE_GROUND, (perp_vec3){0}, held, (perp_vec3){-0.5, 0.0, 0.0});
        perp_joint_def def = perp_joint_default();
        def.b = stopped;
        def.anchor_A = (perp_vec3){3.0, 0.0, 0.0};
        def.anchor_B = (perp_vec3){-0.5, 0.0, 0.0};
        def.lower = -1.0;
        def.upper = 0.0;
        perp_joint second = perp_builder_add_joint(p.builder, &def);
        perp_actuator_def servo = perp_actuator_default();
        servo.kind = PERP_ACTUATOR_POSITION;
        servo.joint = first;
        servo.kp = 1e6;
        servo.kv = 1e4;
        servo.control = "0";
        perp_actuator drive = perp_builder_add_actuator(p.builder, &servo);
        perp_actuator_def motor = perp_actuator_default();
        motor.joint = second;
        motor.control = "25";
        perp_actuator push = perp_builder_add_actuator(p.builder, &motor);
        perp_sensor_def effort = perp_sensor_default();
        effort.kind = PERP_SENSOR_ACTUATOR_EFFORT;
        effort.actuator = drive;
        perp_sensor of_drive = perp_builder_add_sensor(p.builder, &effort);
        effort.actuator = push;
        perp_sensor of_push = perp_builder_add_sensor(p.builder, &effort);
        perp_sensor at_first = sense_joint(&p, PERP_SENSOR_JOINT_EFFORT, first);
        perp_sensor at_second = sense_joint(&p, PERP_SENSOR_JOINT_EFFORT, second);
        perp_sensor angle = sense_joint(&p, PERP_SENSOR_JOINT_POSITION, second);
        perp_sensor rate = sense_joint(&p, PERP_SENSOR_JOINT_RATE, second);
        p.def.stepper = steppers[k];
        plane_start(&p);
        plane_run(&p, 0.005, 200);
        const char *word = perp_stepper_word((int)steppers[k]);
        double got[4];
        read(&p, of_drive, got);
        reads(&p, at_first, (perp_vec3){got[0], 0.0, 0.0}, 1e-9, word);
        space_near(got[0], 2.0 * 9.81 * 0.5, 1e-4, word);
        reads(&p, of_push, (perp_vec3){25.0, 0.0, 0.0}, 1e-9, word);
        reads(&p, at_second, (perp_vec3){2.0 * 9.81 * 0.5, 0.0, 0.0}, 1e-6, word);
        perp_joint_state s = perp_sim_joint(p.sim, second);
        reads(&p, angle, (perp_vec3){s.coordinate, 0.0, 0.0}, 0.0, word);
        reads(&p, rate, (perp_vec3){s.rate, 0.0, 0.0}, 0.0, word);
        assert_string_equal(perp_model_sensor_unit(p.model, at_second), "N m");
        assert_string_equal(perp_model_sensor_unit(p.model, angle), "rad");
        plane_close(&p);
    }
}

// ── Impacts ──────────────────────────────────────────────────────────────────────────────────────

// A ball that bounces under a ball that falls on it: steps are divided, and in each of them the touch sensor reads the
// change of momentum less the weight.
static void divided_steps(void **state)
{
    (void)state;
    int divided = 0;
    for (int k = 0; k < STEPPERS; k++) {
        plane p = {0};
        plane_open(&p);
        perp_body ball[2];
        perp_shape_def round = perp_shape_default();
        round.radius = 0.1;
        round.restitution = 0.8;
        round.mu = 0.0;
        for (int i = 0; i < 2; i++) {
            perp_body_def def = plane_body(1.0, 0.1, 0.0, 0.3 + 0.25 * i, 0.0);
            ball[i] = perp_builder_add_body(p.builder, &def);
            perp_builder_add_shape(p.builder, ball[i], &round);
        }
        plane_halfplane(&p, PLANE_GROUND, 0.0, 0.0, 0.0, 0.0);
        perp_sensor ground = sense_body(&p, PERP_SENSOR_TOUCH, PLANE_GROUND);
        perp_sensor acc[2] = {sense_body(&p, PERP_SENSOR_ACCELEROMETER, ball[0]),
                              sense_body(&p, PERP_SENSOR_ACCELEROMETER, ball[1])};
        p.def.stepper = steppers[k];
        plane_start(&p);
        for (int i = 0; i < 100; i++) {
            plane_step(&p, 0.01);
            double one[4], two[4];
            read(&p, acc[0], one);
            read(&p, acc[1], two);
            reads(&p, ground, (perp_vec3){one[1] + two[1], 0.0, 0.0}, 1e-6, "all that pushes up");
            divided += perp_sim_info(p.sim)->parts > 1;
        }
        plane_close(&p);
    }
    assert_true(divided > 0);
}

// ── Rays ─────────────────────────────────────────────────────────────────────────────────────────

// A body above a tilted plane, through its own shape; along an axis that hits nothing; and too far.
static void ranges(void **state)
{
    (void)state;
    plane p = {0};
    plane_open(&p);
    perp_body_def drone = space_body(1.0, (perp_vec3){0.1, 0.1, 0.1}, (perp_vec3){0.3, 0.0, 2.0});
    perp_body b = perp_builder_add_body(p.builder, &drone);
    space_sphere(&p, b, 0.2, 0.0);
    perp_vec3 normal = {0.6, 0.0, 0.8};
    space_halfspace(&p, PLANE_GROUND, normal, 0.0, 0.0);
    perp_site s = site_on(&p, "eye", b, (perp_vec3){0.0, 0.0, -0.1},
                          space_turn((perp_vec3){1.0, 0.0, 0.0}, acos(-1.0)));  // z is down
    perp_site fixed = site_on(&p, "post", PLANE_GROUND, (perp_vec3){0.0, 0.0, 1.0},
                              space_turn((perp_vec3){1.0, 0.0, 0.0}, acos(-1.0)));
    perp_sensor_def def = perp_sensor_default();
    def.kind = PERP_SENSOR_RANGE;
    def.site = s;
    perp_sensor down = perp_builder_add_sensor(p.builder, &def);
    def.max_range = 1.0;
    perp_sensor near = perp_builder_add_sensor(p.builder, &def);
    def.max_range = 1e9;
    def.axis_S = (perp_vec3){0.0, 0.0, -3.0};
    perp_sensor up = perp_builder_add_sensor(p.builder, &def);
    def = perp_sensor_default();
    def.kind = PERP_SENSOR_RANGE;
    def.site = fixed;
    perp_sensor post = perp_builder_add_sensor(p.builder, &def);
    plane_start(&p);
    // the plane is at z = -0.75 x below the drone
    reads(&p, down, (perp_vec3){1.9 + 0.75 * 0.3, 0.0, 0.0}, 1e-12, "down");
    reads(&p, near, (perp_vec3){-1.0, 0.0, 0.0}, 0.0, "too far");
    reads(&p, up, (perp_vec3){-1.0, 0.0, 0.0}, 0.0, "nothing above");
    reads(&p, post, (perp_vec3){1.0, 0.0, 0.0}, 1e-12, "the ground from a site in the world");
    plane_close(&p);
}

// ── In the plane ─────────────────────────────────────────────────────────────────────────────────

static void in_the_plane(void **state)
{
    (void)state;
    static const int sizes[] = {1, 1, 2, 1, 2, 1, 1, 1, 2, 1, 2, 1, 1, 2, 1, 1};
    plane p = {0};
    plane_open(&p);
    perp_body_def rod = plane_rod(1.0, 2.0, 0.0, 0.0, 0.0);
    perp_body b = perp_builder_add_body(p.builder, &rod);
    perp_joint j = plane_pin(&p, PLANE_GROUND, (perp_vec3){0}, b, (perp_vec3){-1.0, 0.0, 0.0});
    plane_halfplane(&p, PLANE_GROUND, 0.0, -3.0, 0.0, 0.0);
    perp_actuator_def motor = perp_actuator_default();
    motor.joint = j;
    perp_actuator drive = perp_builder_add_actuator(p.builder, &motor);
    perp_site_def tip = perp_site_default();
    tip.name = "tip";
    tip.body = b;
    tip.position_B = (perp_vec3){1.0, 0.0, 7.0};
    tip.angle = -0.5 * acos(-1.0);
    tip.radius = 0.1;
    perp_site s = perp_builder_add_site(p.builder, &tip);
    perp_sensor sensor[16];
    for (int kind = 0; kind < 16; kind++) {
        perp_sensor_def def = perp_sensor_default();
        def.kind = (perp_sensor_kind)kind;
        def.joint = j;
        def.actuator = drive;
        def.site = s;
        sensor[kind] = perp_builder_add_sensor(p.builder, &def);
    }
    plane_start(&p);
    for (int kind = 0; kind < 16; kind++) {
        assert_int_equal(perp_model_sensor_size(p.model, sensor[kind]), sizes[kind]);
        assert_int_equal(perp_model_sensor_kind(p.model, sensor[kind]), kind);
    }
    reads(&p, sensor[PERP_SENSOR_POSITION], (perp_vec3){2.0, 0.0, 0.0}, 1e-15, "tip");
    reads(&p, sensor[PERP_SENSOR_ORIENTATION], (perp_vec3){tip.angle, 0.0, 0.0}, 1e-15, "angle");
    reads(&p, sensor[PERP_SENSOR_RANGE], (perp_vec3){3.0, 0.0, 0.0}, 1e-12,
          "x of the site is down");
    assert_string_equal(perp_model_sensor_unit(p.model, sensor[PERP_SENSOR_ORIENTATION]), "rad");
    assert_string_equal(
        perp_sensor_label(perp_model_sensor_size(p.model, sensor[PERP_SENSOR_POSITION]), 1), "y");
    assert_string_equal(
        perp_sensor_label(perp_model_sensor_size(p.model, sensor[PERP_SENSOR_TORQUE]), 0), "");
    plane_step(&p, 1e-3);
    double alpha = -1.5 * 9.81 / 2.0;  // of a rod of length 2 released level
    reads(&p, sensor[PERP_SENSOR_ANGULAR_ACCELERATION], (perp_vec3){alpha, 0.0, 0.0}, 1e-9,
          "alpha");
    reads(&p, sensor[PERP_SENSOR_ACCELERATION], (perp_vec3){0.0, 2.0 * alpha, 0.0}, 1e-3,
          "a of the tip");
    // x of the site is down: what is felt there is along -x
    reads(&p, sensor[PERP_SENSOR_ACCELEROMETER], (perp_vec3){-(2.0 * alpha + 9.81), 0.0, 0.0}, 1e-2,
          "felt");
    // a quarter of the weight, upwards at x = -2 from the tip
    reads(&p, sensor[PERP_SENSOR_FORCE], (perp_vec3){-0.25 * 9.81, 0.0, 0.0}, 1e-9, "pin");
    reads(&p, sensor[PERP_SENSOR_TORQUE], (perp_vec3){-2.0 * 0.25 * 9.81, 0.0, 0.0}, 1e-9,
          "about the tip");
    reads(&p, sensor[PERP_SENSOR_TOUCH], (perp_vec3){0}, 0.0, "no contact");
    plane_close(&p);
}

// ── Coordinates ──────────────────────────────────────────────────────────────────────────────────

enum { ARM_SENSORS = 64 };

// A three-link arm in space on a turning base, with a welded tool, motors, a rotor and a spring, whose links 1 and 3 are
// also tied by a distance, which closes a loop.
static int open_arm(plane *p, bool loop, perp_sensor *sensor)
{
    perp_joint joint[4];
    perp_body link[4], before = PLANE_GROUND;
    int count = 0;
    static const perp_vec3 axis[4] = {
        {0.0, 0.0, 1.0}, {0.0, 1.0, 0.0}, {0.0, 1.0, 0.2}, {1.0, 0.0, 0.0}};
    plane_open(p);
    for (int i = 0; i < 4; i++) {
        perp_body_def def = space_body(1.0 - 0.2 * i, (perp_vec3){0.02, 0.05, 0.06},
                                       (perp_vec3){0.25 + 0.5 * i, 0.0, 1.0});
        def.omega_W = (perp_vec3){0.0, 0.0, 2.0};  // all turn about the base
        def.velocity_W = (perp_vec3){0.0, 2.0 * def.position_W.x, 0.0};
        link[i] = perp_builder_add_body(p->builder, &def);
        perp_joint_def j =
            space_joint(i == 3 ? PERP_JOINT_WELD : PERP_JOINT_REVOLUTE, before,
                        i == 0 ? (perp_vec3){0.0, 0.0, 1.0} : (perp_vec3){0.25, 0.0, 0.0}, link[i],
                        (perp_vec3){-0.25, 0.0, 0.0}, axis[i]);
        j.armature = i == 1 ? 0.05 : 0.0;
        j.stiffness = i == 2 ? 2.0 : 0.0;
        j.damping = i == 2 ? 0.3 : 0.0;
        joint[i] = perp_builder_add_joint(p->builder, &j);
        before = link[i];
    }
    if (loop) {
        perp_joint_def tie = space_joint(PERP_JOINT_DISTANCE, link[0], (perp_vec3){0.0, 0.0, 0.1},
                                         link[2], (perp_vec3){0.0, 0.0, 0.1}, UP);
        tie.length = 1.0;
        perp_joint t = perp_builder_add_joint(p->builder, &tie);
        sensor[count++] = sense_joint(p, PERP_SENSOR_JOINT_EFFORT, t);
    }
    perp_actuator_def motor = perp_actuator_default();
    motor.joint = joint[0];
    motor.control = "3*cos(4*t)";
    perp_actuator drive = perp_builder_add_actuator(p->builder, &motor);
    perp_sensor_def effort = perp_sensor_default();
    effort.kind = PERP_SENSOR_ACTUATOR_EFFORT;
    effort.actuator = drive;
    sensor[count++] = perp_builder_add_sensor(p->builder, &effort);
    static const perp_sensor_kind kinds[] = {PERP_SENSOR_FORCE, PERP_SENSOR_TORQUE,
                                             PERP_SENSOR_ACCELEROMETER, PERP_SENSOR_GYRO,
                                             PERP_SENSOR_ANGULAR_ACCELERATION};
    for (int i = 0; i < 4; i++) {
        char name[16];
        if (snprintf(name, sizeof name, "s%d", i) < 0) {
            fail();
        }
        perp_site s = site_on(p, name, link[i], (perp_vec3){0.1, 0.05, -0.1},
                              space_turn((perp_vec3){1.0, 1.0, 0.0}, 0.7));
        for (int k = 0; k < 5; k++) {
            sensor[count++] = sense_at(p, kinds[k], s, joint[i]);
        }
        if (i < 3) {
            sensor[count++] = sense_joint(p, PERP_SENSOR_JOINT_EFFORT, joint[i]);
        }
    }
    return count;
}

// The first step has the same equations in both coordinates; the places where it ends are of the second order in h
// apart. With exact positions they agree as well as these are found, to 1e-11 m, which accelerations divide by h^2.
static void same_in_joint_coordinates(void **state)
{
    (void)state;
    for (int trial = 0; trial < 4; trial++) {
        plane body = {0}, joint = {0};
        perp_sensor sensor[ARM_SENSORS];
        bool loop = trial % 2 == 1, exact = trial >= 2;
        int count = open_arm(&body, loop, sensor);
        assert_int_equal(open_arm(&joint, loop, sensor), count);
        joint.def.coordinates = PERP_COORDINATES_JOINT;
        body.def.positions = joint.def.positions =
            exact ? PERP_POSITIONS_EXACT : PERP_POSITIONS_LINEAR;
        plane_start(&body);
        plane_start(&joint);
        int steps = exact ? 40 : 1;
        for (int i = 0; i < steps; i++) {
            plane_step(&body, 0.005);
            plane_step(&joint, 0.005);
            for (int k = 0; k < count; k++) {
                double want[4];
                read(&body, sensor[k], want);
                char what[60];
                int kind = (int)perp_model_sensor_kind(body.model, sensor[k]);
                if (snprintf(what, sizeof what, "step %d, %s of sensor %d", i,
                             perp_sensor_kind_word(kind), k) < 0) {
                    fail();
                }
                double size = fmax(1.0, fabs(want[0]) + fabs(want[1]) + fabs(want[2]));
                double tolerance = exact ? 1e-6 : 1e-9;
                if (kind == PERP_SENSOR_ACCELEROMETER || kind == PERP_SENSOR_GYRO) {
                    tolerance = exact ? 1e-6 : 1e-3;
                }
                reads(&joint, sensor[k], (perp_vec3){want[0], want[1], want[2]}, tolerance * size,
                      what);
            }
        }
        plane_close(&body);
        plane_close(&joint);
    }
}

// ── Forms, steps without inertia, couplings ──────────────────────────────────────────────────────

// A box on a floor and a mass under a weld, in every form and without inertia.
static void weights(void **state)
{
    (void)state;
    static const struct {
        perp_form form;
        perp_stepper stepper;
    } cases[] = {{PERP_FORM_MCP, PERP_STEPPER_STEWART_TRINKLE},
                 {PERP_FORM_LCP, PERP_STEPPER_STEWART_TRINKLE},
                 {PERP_FORM_CONE, PERP_STEPPER_STEWART_TRINKLE},
                 {PERP_FORM_AUTO, PERP_STEPPER_QUASISTATIC}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        plane p = {0};
        plane_open(&p);
        perp_body_def box = plane_body(3.0, 0.1, 0.0, 0.2, 0.0), load = box;
        perp_body b = perp_builder_add_body(p.builder, &box);
        plane_box(&p, b, 0.2, 0.2, 0.5);
        plane_halfplane(&p, PLANE_GROUND, 0.0, 0.0, 0.0, 0.5);
        load.position_W = (perp_vec3){5.0, 3.0, 0.0};
        perp_body hung = perp_builder_add_body(p.builder, &load);
        perp_joint_def weld = perp_joint_default();
        weld.kind = PERP_JOINT_WELD;
        weld.b = hung;
        weld.anchor_A = (perp_vec3){4.0, 3.0, 0.0};
        weld.anchor_B = (perp_vec3){-1.0, 0.0, 0.0};
        perp_joint j = perp_builder_add_joint(p.builder, &weld);
        perp_sensor_def def = perp_sensor_default();
        def.kind = PERP_SENSOR_TORQUE;
        def.joint = j;
        def.body = hung;
        perp_sensor torque = perp_builder_add_sensor(p.builder, &def);
        def.kind = PERP_SENSOR_FORCE;
        perp_sensor force = perp_builder_add_sensor(p.builder, &def);
        perp_sensor touch = sense_body(&p, PERP_SENSOR_TOUCH, b);
        p.def.form = cases[k].form;
        p.def.stepper = cases[k].stepper;
        plane_start(&p);
        plane_run(&p, 0.01, 5);
        reads(&p, touch, (perp_vec3){3.0 * 9.81, 0.0, 0.0}, 1e-6, "touch");
        reads(&p, force, (perp_vec3){0.0, 3.0 * 9.81, 0.0}, 1e-6, "force");
        reads(&p, torque, (perp_vec3){0}, 1e-6, "torque about the centre of mass");
        plane_close(&p);
    }
}

// The coordinate of a coupling is a function of others, and has its unit.
static void couplings(void **state)
{
    (void)state;
    static const char text[] =
        "{\"bodies\": [{\"name\": \"a\", \"position\": [0.5, 0], \"spin\": 1, \"velocity\": [0, "
        "0.5], \"mass\": 1, \"inertia\": 0.1}, {\"name\": \"b\", \"position\": [3, 0], \"mass\": "
        "1, \"inertia\": 1}],\n"
        " \"joints\": [{\"name\": \"pin\", \"kind\": \"revolute\", \"b\": \"a\", \"at\": [0, "
        "0]},\n"
        "  {\"name\": \"rail\", \"kind\": \"prismatic\", \"b\": \"b\", \"at\": [3, 0], \"axis\": "
        "[1, 0]},\n"
        "  {\"name\": \"both\", \"kind\": \"coupling\", \"coordinate\": \"2*q[pin] + "
        "q[rail]\"}],\n"
        " \"sensors\": [{\"name\": \"x\", \"kind\": \"joint-position\", \"joint\": \"both\"},\n"
        "  {\"name\": \"v\", \"kind\": \"joint-rate\", \"joint\": \"both\"},\n"
        "  {\"name\": \"turn\", \"kind\": \"joint-position\", \"joint\": \"pin\"}]}";
    perp_scene *scene = NULL;
    perp_sim *sim = NULL;
    perp_error error = {0};
    if (perp_scene_parse("x", text, strlen(text), NULL, &scene, &error) < 0) {
        fail_msg("%d:%d: %s", error.line, error.column, error.text);
    }
    const perp_model *model = perp_scene_model(scene);
    perp_sim_def def = perp_scene_sim_def(scene);
    assert_int_equal(perp_sim_create(model, &def, NULL, &sim, &error), PERP_OK);
    assert_int_equal(perp_sim_step(sim, 0.01), PERP_OK);
    double x, v, turn;
    assert_int_equal(perp_sim_sensor(sim, perp_model_sensor(model, "x"), &x, 1), PERP_OK);
    assert_int_equal(perp_sim_sensor(sim, perp_model_sensor(model, "v"), &v, 1), PERP_OK);
    assert_int_equal(perp_sim_sensor(sim, perp_model_sensor(model, "turn"), &turn, 1), PERP_OK);
    assert_true(fabs(x - 2.0 * turn) < 1e-12 && v > 1.0);
    assert_string_equal(perp_model_sensor_unit(model, perp_model_sensor(model, "x")), "1");
    assert_string_equal(perp_model_sensor_unit(model, perp_model_sensor(model, "v")), "1/s");
    perp_sim_destroy(sim);
    perp_scene_destroy(scene);
}

// ── States and failures ──────────────────────────────────────────────────────────────────────────

// Means belong to a step: a state that is set or restored has none, and a step that fails leaves them.
static void no_step(void **state)
{
    (void)state;
    plane p = {0};
    plane_open(&p);
    perp_body_def def = plane_body(1.0, 0.1, 0.0, 0.0, 0.0);
    perp_body b = perp_builder_add_body(p.builder, &def);
    perp_sensor seen = sense_body(&p, PERP_SENSOR_ACCELERATION, b);
    plane_start(&p);
    plane_step(&p, 0.1);
    reads(&p, seen, (perp_vec3){0.0, -9.81, 0.0}, 1e-9, "after a step");
    perp_sim_body_apply(p.sim, b, (perp_wrench){{INFINITY, 0.0, 0.0}, {0.0, 0.0, 0.0}});
    assert_true(perp_sim_step(p.sim, 0.1) < 0);
    reads(&p, seen, (perp_vec3){0.0, -9.81, 0.0}, 1e-9, "after a step that failed");
    char block[4096];
    assert_true(perp_sim_state_save_size(p.sim) <= sizeof block);
    assert_int_equal(perp_sim_state_save(p.sim, block, sizeof block), PERP_OK);
    assert_int_equal(perp_sim_state_restore(p.sim, block, sizeof block), PERP_OK);
    reads(&p, seen, (perp_vec3){0}, 0.0, "after a state was restored");
    plane_step(&p, 0.1);
    double q[3] = {1.0, 2.0, 0.0}, nu[3] = {0.0};
    assert_int_equal(perp_sim_state_set(p.sim, 0.0, q, nu), PERP_OK);
    reads(&p, seen, (perp_vec3){0}, 0.0, "after a state was set");
    double value[1];
    assert_int_equal(perp_sim_sensor(p.sim, seen, value, 1), PERP_ERR_ARGUMENT);
    assert_int_equal(perp_sim_sensor(p.sim, (perp_sensor){7}, value, 1), PERP_ERR_ARGUMENT);
    plane_close(&p);
}

// ── Definitions ──────────────────────────────────────────────────────────────────────────────────

typedef void change(perp_site_def *site, perp_sensor_def *sensor);

static void wrong_body(perp_site_def *site, perp_sensor_def *sensor)
{
    (void)sensor;
    site->body.i = 9;
}

static void two_regions(perp_site_def *site, perp_sensor_def *sensor)
{
    (void)sensor;
    site->radius = 1.0;
    site->half = (perp_vec3){1.0, 1.0, 1.0};
}

static void flat_region(perp_site_def *site, perp_sensor_def *sensor)
{
    (void)sensor;
    site->half = (perp_vec3){1.0, 0.0, 1.0};
}

static void long_quaternion(perp_site_def *site, perp_sensor_def *sensor)
{
    (void)sensor;
    site->rotation_BS.w = 2.0;
}

static void not_a_number(perp_site_def *site, perp_sensor_def *sensor)
{
    (void)sensor;
    site->position_B.x = NAN;
}

static void unknown_kind(perp_site_def *site, perp_sensor_def *sensor)
{
    (void)site;
    sensor->kind = (perp_sensor_kind)99;
}

static void no_frame(perp_site_def *site, perp_sensor_def *sensor)
{
    (void)site;
    sensor->kind = PERP_SENSOR_GYRO;
}

static void two_frames(perp_site_def *site, perp_sensor_def *sensor)
{
    (void)site;
    sensor->kind = PERP_SENSOR_GYRO;
    sensor->site.i = 0;
    sensor->body.i = 1;
}

static void missing_site(perp_site_def *site, perp_sensor_def *sensor)
{
    (void)site;
    sensor->kind = PERP_SENSOR_GYRO;
    sensor->site.i = 5;
}

static void missing_body(perp_site_def *site, perp_sensor_def *sensor)
{
    (void)site;
    sensor->kind = PERP_SENSOR_GYRO;
    sensor->body.i = 5;
}

static void missing_joint(perp_site_def *site, perp_sensor_def *sensor)
{
    (void)site;
    sensor->joint.i = -1;
}

static void missing_actuator(perp_site_def *site, perp_sensor_def *sensor)
{
    (void)site;
    sensor->kind = PERP_SENSOR_ACTUATOR_EFFORT;
}

static void weld_angle(perp_site_def *site, perp_sensor_def *sensor)
{
    (void)site;
    sensor->joint.i = 0;
}

static void gear_force(perp_site_def *site, perp_sensor_def *sensor)
{
    (void)site;
    sensor->kind = PERP_SENSOR_FORCE;
    sensor->site.i = 0;
    sensor->joint.i = 3;
}

static void far_force(perp_site_def *site, perp_sensor_def *sensor)
{
    (void)site;
    sensor->kind = PERP_SENSOR_FORCE;
    sensor->site.i = 0;
    sensor->joint.i = 2;
}

static void no_region(perp_site_def *site, perp_sensor_def *sensor)
{
    (void)site;
    sensor->kind = PERP_SENSOR_TOUCH;
    sensor->site.i = 0;
}

static void no_range(perp_site_def *site, perp_sensor_def *sensor)
{
    (void)site;
    sensor->kind = PERP_SENSOR_RANGE;
    sensor->site.i = 0;
    sensor->max_range = 0.0;
}

static void no_cookie(perp_site_def *site, perp_sensor_def *sensor)
{
    (void)site;
    sensor->cookie = 0;
}

static void refused(void **state)
{
    (void)state;
    static const struct {
        change *spoil;
        const char *text;
    } cases[] = {
        {wrong_body, "site 's': body 9 does not exist"},
        {two_regions, "a sphere or a box, not both"},
        {flat_region, "half extents of its region must be positive"},
        {long_quaternion, "a quaternion of length 1, got 2"},
        {not_a_number, "position and angle must be finite"},
        {unknown_kind, "sensor 'm': unknown kind 99"},
        {no_frame, "sensor 'm': give a site or a body"},
        {two_frames, "give a site or a body, not both"},
        {missing_site, "site 5 does not exist"},
        {missing_body, "body 5 does not exist"},
        {missing_joint, "joint -1 does not exist"},
        {missing_actuator, "actuator -1 does not exist"},
        {weld_angle, "joint 'weld' has no coordinate; use force and torque"},
        {gear_force, "joint 'gear' couples others"},
        {far_force, "its site must be on one of the bodies of joint 'second'"},
        {no_region, "site 's' has no region; give it a radius or a size, or name a body"},
        {no_range, "the range positive"},
        {no_cookie, "initialise the definition with perp_sensor_default()"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        plane p = {0};
        plane_open(&p);
        perp_body body[3];
        for (int k = 0; k < 3; k++) {
            perp_body_def def =
                space_body(1.0, (perp_vec3){1.0, 1.0, 1.0}, (perp_vec3){k, 0.0, 0.0});
            body[k] = perp_builder_add_body(p.builder, &def);
        }
        perp_joint_def weld = space_joint(PERP_JOINT_WELD, body[0], (perp_vec3){0}, body[1],
                                          (perp_vec3){-1.0, 0.0, 0.0}, UP);
        weld.name = "weld";
        perp_builder_add_joint(p.builder, &weld);
        perp_joint_def pin = space_joint(PERP_JOINT_REVOLUTE, PLANE_GROUND, (perp_vec3){0}, body[0],
                                         (perp_vec3){0}, UP);
        pin.name = "first";
        perp_joint first = perp_builder_add_joint(p.builder, &pin);
        pin.name = "second";
        pin.b = body[2];
        pin.anchor_A.x = 2.0;
        perp_joint second = perp_builder_add_joint(p.builder, &pin);
        perp_joint_def gear = perp_joint_default();
        gear.name = "gear";
        gear.kind = PERP_JOINT_GEAR;
        gear.joint_a = first;
        gear.joint_b = second;
        perp_builder_add_joint(p.builder, &gear);
        perp_site_def site = perp_site_default();
        site.name = "s";
        site.body = body[0];
        perp_sensor_def sensor = perp_sensor_default();
        sensor.name = "m";
        sensor.joint = first;
        cases[i].spoil(&site, &sensor);
        perp_builder_add_site(p.builder, &site);
        perp_builder_add_sensor(p.builder, &sensor);
        perp_error error = {0};
        perp_status status = perp_builder_status(p.builder, &error);
        if (status >= 0 || !strstr(error.text, cases[i].text)) {
            fail_msg("'%s', expected '%s'", error.text, cases[i].text);
        }
        perp_builder_destroy(p.builder);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rest_and_fall),
        cmocka_unit_test(spinning),
        cmocka_unit_test(hanging_weld),
        cmocka_unit_test(swinging_rods),
        cmocka_unit_test(locked_pendulum),
        cmocka_unit_test(divided_steps),
        cmocka_unit_test(ranges),
        cmocka_unit_test(in_the_plane),
        cmocka_unit_test(no_step),
        cmocka_unit_test(refused),
        cmocka_unit_test(same_in_joint_coordinates),
        cmocka_unit_test(weights),
        cmocka_unit_test(couplings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
