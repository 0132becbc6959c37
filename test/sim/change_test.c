// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Changes between steps, by closed forms and in every stepper: gravity, friction, actuators, rates of joints, motions of
// kinematic bodies, and forces for one step; saved, taken back by failed steps and by resets.
#include "support/cmocka.h"

#include <perp/io.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct run {
    perp_scene *scene;
    const perp_model *model;
    perp_sim *sim;
    perp_error error;
} run;

static void begin_with(run *r, const char *text, perp_stepper stepper, perp_coordinates coordinates,
                       void (*on_control)(void *user, perp_sim *sim, double h))
{
    *r = (run){0};
    perp_status status = perp_scene_parse("scene", text, strlen(text), NULL, &r->scene, &r->error);
    if (status < 0) {
        print_error("%d:%d: %s\n", r->error.line, r->error.column, r->error.text);
    }
    assert_int_equal(status, PERP_OK);
    r->model = perp_scene_model(r->scene);
    perp_sim_def def = perp_scene_sim_def(r->scene);
    def.stepper = stepper;
    def.coordinates = coordinates;
    def.on_control = on_control;
    assert_int_equal(perp_sim_create(r->model, &def, NULL, &r->sim, &r->error), PERP_OK);
}

static const struct {
    perp_stepper stepper;
    perp_coordinates coordinates;
} methods[] = {{PERP_STEPPER_STEWART_TRINKLE, PERP_COORDINATES_BODY},
               {PERP_STEPPER_STEWART_TRINKLE, PERP_COORDINATES_JOINT},
               {PERP_STEPPER_ANITESCU_POTRA, PERP_COORDINATES_BODY},
               {PERP_STEPPER_MOREAU_JEAN, PERP_COORDINATES_BODY},
               {PERP_STEPPER_EVENT, PERP_COORDINATES_BODY}};
enum { METHODS = sizeof methods / sizeof methods[0] };

static void begin(run *r, const char *text, int method)
{
    begin_with(r, text, methods[method].stepper, methods[method].coordinates, NULL);
}

static void finish(run *r)
{
    perp_sim_destroy(r->sim);
    perp_scene_destroy(r->scene);
}

static void steps(run *r, int count)
{
    for (int i = 0; i < count; i++) {
        perp_status status = perp_sim_step(r->sim, 0.01);
        if (status != PERP_OK) {
            print_error("step %d: %d %s %s\n", i, status, perp_sim_error(r->sim)->text,
                        perp_sim_info(r->sim)->remark);
        }
        assert_int_equal(status, PERP_OK);
    }
}

static double vx(const run *r, int body)
{
    return perp_sim_body_twist(r->sim, (perp_body){body}).v_W.x;
}

// ── Parameters ───────────────────────────────────────────────────────────────────────────────────

static const char slide[] =
    "{\"shapes\": [{\"name\": \"floor\", \"kind\": \"halfplane\", \"mu\": 0.5}], \"bodies\": ["
    "{\"name\": \"box\", \"mass\": 2, \"inertia\": 1, \"position\": [0, 0.05], \"velocity\": [8, "
    "0], \"shapes\": [{\"kind\": \"box\", \"size\": [2, 0.1], \"mu\": 0.5}]},"
    "{\"name\": \"ball\", \"kind\": \"particle\", \"mass\": 1, \"position\": [0, 99]},"
    "{\"name\": \"sled\", \"mass\": 2, \"inertia\": 1, \"position\": [50, 0.05], \"velocity\": [8, "
    "0], \"shapes\": [{\"name\": \"ski\", \"kind\": \"box\", \"size\": [2, 0.1]}]}],"
    "\"pairs\": [{\"a\": \"floor\", \"b\": \"sled.ski\", \"mu\": 0.25}]}";

static void gravity_and_friction_change(void **state)
{
    (void)state;
    for (int k = 0; k < METHODS; k++) {
        run r, other;
        begin(&r, slide, k);
        begin(&other, slide, k);
        perp_shape floor = perp_model_shape(r.model, "floor"),
                   box = perp_model_shape(r.model, "box.shape0"),
                   ski = perp_model_shape(r.model, "sled.ski");
        steps(&r, 10);
        assert_true(fabs(vx(&r, 1) - 8.0 + 0.5 * 9.81 * 0.1) < 1e-9);
        // twice the gravity, and the mean of 0.5 and 0.02 is 0.1
        assert_int_equal(perp_sim_gravity_set(r.sim, (perp_vec3){0.0, -19.62, 3.0}), PERP_OK);
        assert_true(perp_sim_gravity(r.sim).y == -19.62 && perp_sim_gravity(r.sim).z == 0.0);
        assert_int_equal(perp_sim_shape_friction_set(r.sim, floor, 0.02, 0.0, 0.0), PERP_OK);
        assert_true(fabs(perp_sim_pair_friction(r.sim, floor, box).mu - 0.1) < 1e-15);
        assert_true(perp_sim_pair_friction(r.sim, floor, ski).mu == 0.25);
        steps(&r, 10);
        assert_true(fabs(vx(&r, 1) - 8.0 + (0.5 + 0.1 * 2.0) * 9.81 * 0.1) < 1e-9);
        assert_true(fabs(vx(&r, 3) - 8.0 + (0.25 + 0.25 * 2.0) * 9.81 * 0.1) < 1e-9);
        double vy = perp_sim_body_twist(r.sim, (perp_body){2}).v_W.y;
        assert_true(fabs(vy + 3.0 * 9.81 * 0.1) < 1e-9);
        assert_int_equal(
            perp_sim_pair_friction_set(r.sim, ski, floor, (perp_friction){0.75, -1.0, 0.0, 0.0}),
            PERP_OK);
        steps(&r, 10);
        assert_true(fabs(vx(&r, 3) - 8.0 + (0.25 + (0.25 + 0.75) * 2.0) * 9.81 * 0.1) < 1e-9);
        // another sim of the same model does not see any of this
        steps(&other, 20);
        assert_true(fabs(vx(&other, 1) - 8.0 + 0.5 * 9.81 * 0.2) < 1e-9);
        assert_true(perp_sim_gravity(other.sim).y == -9.81);
        assert_ptr_equal(perp_sim_model(r.sim), r.model);
        // a reset takes everything back
        assert_int_equal(perp_sim_reset(r.sim, (perp_keyframe){-1}), PERP_OK);
        steps(&r, 20);
        assert_true(perp_sim_state_hash(r.sim) == perp_sim_state_hash(other.sim));
        finish(&r);
        finish(&other);
    }
}

// A slider of 2 kg: a motor with limits, and a servo whose gain becomes that of a spring.
static const char slider[] =
    "{\"gravity\": [0, 0], \"bodies\": [{\"name\": \"cart\", \"mass\": 2, \"inertia\": 1}, "
    "{\"name\": \"wheel\", \"mass\": 1, \"inertia\": 0.5}], \"joints\": [{\"name\": \"rail\", "
    "\"kind\": \"prismatic\", \"b\": \"cart\", \"axis\": [1, 0]}, {\"name\": \"hub\", \"kind\": "
    "\"revolute\", \"a\": \"cart\", \"b\": \"wheel\", \"rate\": 3}], \"inputs\": [{\"name\": "
    "\"u\", \"value\": 10}], \"actuators\": [{\"name\": \"motor\", \"kind\": \"motor\", \"joint\": "
    "\"rail\", \"control\": \"u\"}]}";

static void actuators_and_rates_change(void **state)
{
    (void)state;
    static const double off[3] = {0.0, 0.0, 0.0}, push[3] = {1.5, 0.0, 0.0};
    for (int k = 0; k < METHODS; k++) {
        run r;
        perp_actuator motor = {0};
        begin(&r, slider, k);
        steps(&r, 10);
        assert_true(fabs(vx(&r, 1) - 10.0 * 0.1 / 3.0) < 1e-9);
        assert_int_equal(perp_sim_actuator_limits_set(r.sim, motor, -3.0, 3.0), PERP_OK);
        steps(&r, 10);
        assert_true(fabs(vx(&r, 1) - 13.0 * 0.1 / 3.0) < 1e-9);
        assert_true(perp_sim_actuator(r.sim, motor).limited);
        assert_int_equal(perp_sim_actuator_gains_set(r.sim, motor, 0.2, off), PERP_OK);
        perp_actuator_law law = perp_sim_actuator_law(r.sim, motor);
        assert_true(law.gain == 0.2 && law.upper == 3.0 && law.gear == 1.0 && law.joint.i == 0);
        steps(&r, 10);
        assert_true(fabs(vx(&r, 1) - 15.0 * 0.1 / 3.0) < 1e-9);
        assert_int_equal(perp_sim_actuator_gains_set(r.sim, motor, 0.0, push), PERP_OK);
        steps(&r, 10);
        assert_true(fabs(vx(&r, 1) - 16.5 * 0.1 / 3.0) < 1e-9);
        // the hub turns with 3 rad/s, then backwards as fast as 0.25 N m allow
        assert_true(fabs(perp_sim_joint(r.sim, (perp_joint){1}).rate - 3.0) < 1e-9);
        assert_int_equal(perp_sim_joint_rate_set(r.sim, (perp_joint){1}, -1.0, 0.25), PERP_OK);
        steps(&r, 10);
        assert_true(fabs(perp_sim_joint(r.sim, (perp_joint){1}).rate - 3.0 + 0.05) < 1e-9);
        assert_int_equal(perp_sim_joint_rate_set(r.sim, (perp_joint){1}, -1.0, (double)INFINITY),
                         PERP_OK);
        if (methods[k].stepper != PERP_STEPPER_EVENT) {  // which has no jumps of a rate
            steps(&r, 1);
            assert_true(fabs(perp_sim_joint(r.sim, (perp_joint){1}).rate + 1.0) < 1e-9);
        }
        finish(&r);
    }
}

// ── Kinematic bodies ─────────────────────────────────────────────────────────────────────────────

static const char lift[] =
    "{\"bodies\": [{\"name\": \"table\", \"drive\": {\"x\": \"0.1*t\"}, \"shapes\": [{\"kind\": "
    "\"box\", \"size\": [4, 0.2], \"mu\": 1}]}, {\"name\": \"box\", \"mass\": 1, \"inertia\": 0.1, "
    "\"position\": [0, 0.2], \"velocity\": [0.1, 0], \"shapes\": [{\"kind\": \"box\", \"size\": "
    "[0.4, 0.2], \"mu\": 1}]}]}";

static void kinematic_bodies_are_moved(void **state)
{
    (void)state;
    for (int k = 0; k < METHODS; k++) {
        run r;
        begin(&r, lift, k);
        steps(&r, 10);
        perp_body table = {1};
        // upwards; the box goes with it from the next step on
        perp_twist up = {{0.1, 0.5, 0.0}, {0.0, 0.0, 0.0}};
        assert_int_equal(perp_sim_body_motion_set(r.sim, table, NULL, &up), PERP_OK);
        steps(&r, 20);
        perp_vec3 p = perp_sim_body_position(r.sim, table),
                  b = perp_sim_body_position(r.sim, (perp_body){2});
        assert_true(fabs(p.x - 0.03) < 1e-12 && fabs(p.y - 0.1) < 1e-12);
        // the theta method takes half of the first step with the old velocity
        assert_true(fabs(b.y - 0.3) <
                    (methods[k].stepper == PERP_STEPPER_MOREAU_JEAN ? 1e-3 : 1e-9));
        assert_true(fabs(perp_sim_body_twist(r.sim, (perp_body){2}).v_W.y - 0.5) < 1e-9);
        // to another place, turned by half a turn and turning
        perp_pose there = {{5.0, -3.0, 0.0}, {cos(1.0), 0.0, 0.0, sin(1.0)}};
        perp_twist turn = {{0.0, 0.0, 0.0}, {0.0, 0.0, 2.0}};
        assert_int_equal(perp_sim_body_motion_set(r.sim, table, &there, &turn), PERP_OK);
        assert_true(perp_sim_body_position(r.sim, table).x == 5.0);
        steps(&r, 10);
        assert_true(fabs(perp_sim_body_angle(r.sim, table) - 2.2) < 1e-12);
        assert_true(fabs(perp_sim_body_twist(r.sim, table).w_W.z - 2.0) < 1e-12);
        finish(&r);
    }
}

// In space the body turns about the axis of its velocity.
static void solid_bodies_are_moved(void **state)
{
    (void)state;
    static const char text[] =
        "{\"gravity\": [0, 0, 0], \"bodies\": [{\"name\": \"hand\", \"kind\": \"solid\", "
        "\"drive\": {\"z\": 1}}, {\"name\": \"ball\", \"kind\": \"solid\", \"mass\": 1, "
        "\"inertia\": [1, 1, 1], \"position\": [1, 0, 1]}], \"joints\": [{\"name\": \"grip\", "
        "\"kind\": \"weld\", \"a\": \"hand\", \"b\": \"ball\", \"at\": [0, 0, 1]}]}";
    for (int k = 0; k < METHODS; k++) {
        run r;
        begin(&r, text, k);
        perp_twist turn = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.5}};
        if (methods[k].stepper == PERP_STEPPER_EVENT) {  // a rate does not jump within a step
            perp_sim_destroy(r.sim);
            perp_scene_destroy(r.scene);
            continue;
        }
        assert_int_equal(perp_sim_body_motion_set(r.sim, (perp_body){1}, NULL, &turn), PERP_OK);
        for (int i = 0; i < 100; i++) {
            assert_true(perp_sim_step(r.sim, 0.01) >= 0);
        }
        perp_pose hand = perp_sim_body_pose(r.sim, (perp_body){1});
        assert_true(fabs(hand.rot.w - cos(0.25)) < 1e-12 && fabs(hand.rot.z - sin(0.25)) < 1e-12);
        perp_vec3 p = perp_sim_body_position(r.sim, (perp_body){2});
        assert_true(fabs(p.x - cos(0.5)) < 2e-3 && fabs(p.y - sin(0.5)) < 2e-3);
        finish(&r);
    }
}

// ── Forces for the next step ─────────────────────────────────────────────────────────────────────

static const char two_links[] =
    "{\"gravity\": [0, 0], \"bodies\": ["
    "{\"name\": \"upper\", \"mass\": 2, \"inertia\": 0.5, \"position\": [0.5, 0]},"
    "{\"name\": \"lower\", \"mass\": 1, \"inertia\": 0.1, \"position\": [1.3, 0.4], \"angle\": "
    "0.7}, {\"name\": \"puck\", \"mass\": 2, \"inertia\": 0.4, \"position\": [5, 5]}], \"joints\": "
    "[{\"name\": \"shoulder\", \"kind\": \"revolute\", \"b\": \"upper\", \"at\": [0, 0]},"
    "{\"name\": \"elbow\", \"kind\": \"prismatic\", \"a\": \"upper\", \"b\": \"lower\", \"at\": "
    "[1, 0], \"axis\": [0, 1], \"angle\": 0.7}], \"inputs\": [{\"name\": \"u\"}, {\"name\": "
    "\"v\"}], \"actuators\": [{\"name\": \"m\", \"kind\": \"motor\", \"joint\": \"shoulder\", "
    "\"control\": \"u\"}, {\"name\": \"n\", \"kind\": \"motor\", \"joint\": \"elbow\", "
    "\"control\": \"v\"}]}";

static void efforts_act_as_actuators_do(void **state)
{
    (void)state;
    for (int k = 0; k < METHODS; k++) {
        run r, other;
        double q[9], nu[9], qo[9], nuo[9];
        begin(&r, two_links, k);
        begin(&other, two_links, k);
        assert_int_equal(perp_sim_joint_apply(r.sim, (perp_joint){0}, 3.0), PERP_OK);
        assert_int_equal(perp_sim_joint_apply(r.sim, (perp_joint){1}, -2.0), PERP_OK);
        assert_int_equal(perp_sim_inputs_set(other.sim, (double[]){3.0, -2.0}, 2), PERP_OK);
        perp_sim_body_apply_at(r.sim, (perp_body){3}, (perp_vec3){0.0, 4.0, 0.0},
                               (perp_vec3){5.5, 7.0, 0.0});
        assert_true(perp_sim_step(r.sim, 1e-4) >= 0 && perp_sim_step(other.sim, 1e-4) >= 0);
        assert_int_equal(perp_sim_state_get(r.sim, NULL, q, nu), PERP_OK);
        assert_int_equal(perp_sim_state_get(other.sim, NULL, qo, nuo), PERP_OK);
        for (int i = 0; i < 6; i++) {
            // of the order of h a, up to the turn of the links within the step
            assert_true(fabs(nu[i] - nuo[i]) < 1e-9);
        }
        assert_true(fabs(nu[0]) + fabs(nu[1]) + fabs(nu[2]) > 1e-4);
        // puck: 4 N at 0.5 m beside its centre
        assert_true(fabs(nu[7] - 2e-4) < 1e-12 && fabs(nu[8] - 0.5 * 4.0 / 0.4 * 1e-4) < 1e-12);
        // used up
        assert_true(perp_sim_step(r.sim, 1e-4) >= 0);
        assert_true(fabs(perp_sim_body_twist(r.sim, (perp_body){3}).v_W.y - 2e-4) < 1e-12);
        finish(&r);
        finish(&other);
    }
}

// ── States, failures, refusals ───────────────────────────────────────────────────────────────────

static void changes_are_saved(void **state)
{
    (void)state;
    for (int k = 0; k < METHODS; k++) {
        run r, other;
        static unsigned char block[2][8192];
        begin(&r, slide, k);
        begin(&other, slide, k);
        assert_true(perp_sim_state_save_size(r.sim) < sizeof block[0]);
        assert_int_equal(perp_sim_state_save(r.sim, block[0], sizeof block[0]), PERP_OK);
        assert_int_equal(perp_sim_gravity_set(r.sim, (perp_vec3){0.0, -2.0, 0.0}), PERP_OK);
        assert_int_equal(perp_sim_shape_friction_set(r.sim, (perp_shape){0}, 0.1, 0.0, 0.0),
                         PERP_OK);
        steps(&r, 5);
        assert_true(perp_sim_state_save_size(r.sim) < sizeof block[1]);
        assert_int_equal(perp_sim_state_save(r.sim, block[1], sizeof block[1]), PERP_OK);
        assert_int_equal(perp_sim_state_restore(other.sim, block[1], sizeof block[1]), PERP_OK);
        assert_true(perp_sim_gravity(other.sim).y == -2.0);
        steps(&r, 10);
        steps(&other, 10);
        assert_true(perp_sim_state_hash(r.sim) == perp_sim_state_hash(other.sim));
        // a state without changes takes them back
        assert_int_equal(perp_sim_state_restore(r.sim, block[0], sizeof block[0]), PERP_OK);
        assert_true(perp_sim_gravity(r.sim).y == -9.81);
        assert_true(perp_sim_pair_friction(r.sim, (perp_shape){0}, (perp_shape){1}).mu == 0.5);
        finish(&r);
        finish(&other);
    }
}

static int call;

static void change_and_fail(void *user, perp_sim *sim, double h)
{
    (void)user;
    (void)h;
    call++;
    assert_int_equal(perp_sim_gravity_set(sim, (perp_vec3){0.0, (double)-call, 0.0}), PERP_OK);
    assert_int_equal(perp_sim_shape_friction_set(sim, (perp_shape){0}, 0.3, 0.0, 0.0), PERP_OK);
    if (call == 2 || call == 4) {
        perp_sim_body_apply(sim, (perp_body){1}, (perp_wrench){.f_W = {.x = (double)NAN}});
    }
}

static void failed_steps_take_changes_back(void **state)
{
    (void)state;
    for (int k = 0; k < METHODS; k++) {
        run r;
        call = 0;
        begin_with(&r, slide, methods[k].stepper, methods[k].coordinates, change_and_fail);
        steps(&r, 1);
        assert_true(perp_sim_gravity(r.sim).y == -1.0);
        assert_int_equal(perp_sim_step(r.sim, 0.01), PERP_ERR_ARGUMENT);
        assert_true(perp_sim_gravity(r.sim).y == -1.0);
        steps(&r, 1);
        assert_true(perp_sim_gravity(r.sim).y == -3.0);
        // the first changes of a sim, in a step that fails
        assert_int_equal(perp_sim_reset(r.sim, (perp_keyframe){-1}), PERP_OK);
        assert_int_equal(perp_sim_step(r.sim, 0.01), PERP_ERR_ARGUMENT);
        assert_true(perp_sim_gravity(r.sim).y == -9.81);
        assert_true(perp_sim_pair_friction(r.sim, (perp_shape){0}, (perp_shape){1}).mu == 0.5);
        finish(&r);
    }
}

static void wrong_changes_are_refused(void **state)
{
    (void)state;
    const double nan = (double)NAN, inf = (double)INFINITY;
    static const double bias[3] = {0.0, (double)INFINITY, 0.0};
    run r;
    begin(&r, slide, 0);
    perp_pose crooked = {{0.0, 0.0, 0.0}, {1.0, 1.0, 0.0, 0.0}};
    assert_int_equal(perp_sim_gravity_set(r.sim, (perp_vec3){nan, 0.0, 0.0}), PERP_ERR_ARGUMENT);
    assert_int_equal(perp_sim_shape_friction_set(r.sim, (perp_shape){0}, -0.1, 0.0, 0.0),
                     PERP_ERR_ARGUMENT);
    assert_int_equal(perp_sim_shape_friction_set(r.sim, (perp_shape){0}, 0.1, 0.1, 0.0),
                     PERP_ERR_ARGUMENT);
    assert_int_equal(perp_sim_shape_friction_set(r.sim, (perp_shape){9}, 0.1, 0.0, 0.0),
                     PERP_ERR_ARGUMENT);
    assert_int_equal(perp_sim_pair_friction_set(r.sim, (perp_shape){0}, (perp_shape){1},
                                                (perp_friction){.mu = 0.1}),
                     PERP_ERR_ARGUMENT);
    assert_non_null(strstr(perp_sim_error(r.sim)->text, "no rule"));
    assert_true(perp_sim_pair_friction(r.sim, (perp_shape){0}, (perp_shape){0}).mu == 0.0);
    assert_int_equal(perp_sim_body_motion_set(r.sim, (perp_body){1}, NULL, NULL),
                     PERP_ERR_ARGUMENT);
    assert_non_null(strstr(perp_sim_error(r.sim)->text, "body 'box' is not kinematic"));
    assert_int_equal(perp_sim_body_motion_set(r.sim, (perp_body){9}, NULL, NULL),
                     PERP_ERR_ARGUMENT);
    assert_int_equal(perp_sim_body_motion_set(r.sim, (perp_body){1}, &crooked, NULL),
                     PERP_ERR_ARGUMENT);
    assert_int_equal(perp_sim_joint_apply(r.sim, (perp_joint){0}, 1.0), PERP_ERR_ARGUMENT);
    assert_int_equal(perp_sim_joint_rate_set(r.sim, (perp_joint){0}, 1.0, 1.0), PERP_ERR_ARGUMENT);
    finish(&r);
    begin(&r, slider, 0);
    assert_int_equal(perp_sim_joint_rate_set(r.sim, (perp_joint){0}, 1.0, 1.0), PERP_ERR_ARGUMENT);
    assert_non_null(strstr(perp_sim_error(r.sim)->text, "joint 'rail' has no rate"));
    assert_int_equal(perp_sim_joint_rate_set(r.sim, (perp_joint){1}, nan, 1.0), PERP_ERR_ARGUMENT);
    assert_int_equal(perp_sim_joint_apply(r.sim, (perp_joint){0}, inf), PERP_ERR_ARGUMENT);
    assert_int_equal(perp_sim_actuator_limits_set(r.sim, (perp_actuator){0}, 1.0, inf),
                     PERP_ERR_ARGUMENT);
    assert_int_equal(perp_sim_actuator_limits_set(r.sim, (perp_actuator){1}, 0.0, 1.0),
                     PERP_ERR_ARGUMENT);
    assert_int_equal(perp_sim_actuator_gains_set(r.sim, (perp_actuator){0}, 1.0, bias),
                     PERP_ERR_ARGUMENT);
    assert_int_equal(perp_sim_actuator_gains_set(r.sim, (perp_actuator){0}, 1.0, NULL),
                     PERP_ERR_ARGUMENT);
    finish(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gravity_and_friction_change),
        cmocka_unit_test(actuators_and_rates_change),
        cmocka_unit_test(kinematic_bodies_are_moved),
        cmocka_unit_test(solid_bodies_are_moved),
        cmocka_unit_test(efforts_act_as_actuators_do),
        cmocka_unit_test(changes_are_saved),
        cmocka_unit_test(failed_steps_take_changes_back),
        cmocka_unit_test(wrong_changes_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
