// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Keyframes: bodies placed by coordinates of joints and by poses, starts that are corrected, resets, and states in joint
// coordinates of sims of either coordinates.
#include "support/cmocka.h"

#include <perp/io.h>
#include <perp/tree.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct run {
    perp_scene *scene;
    const perp_model *model;
    perp_sim *sim;
    perp_error error;
} run;

static perp_status begin_as(run *r, const char *text, perp_stepper stepper,
                            perp_coordinates coordinates)
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
    return perp_sim_create(r->model, &def, NULL, &r->sim, &r->error);
}

static void finish(run *r)
{
    perp_sim_destroy(r->sim);
    perp_scene_destroy(r->scene);
}

// Steppers and coordinates that go together.
static const struct {
    perp_stepper stepper;
    perp_coordinates coordinates;
} methods[] = {{PERP_STEPPER_STEWART_TRINKLE, PERP_COORDINATES_BODY},
               {PERP_STEPPER_STEWART_TRINKLE, PERP_COORDINATES_JOINT},
               {PERP_STEPPER_ANITESCU_POTRA, PERP_COORDINATES_JOINT},
               {PERP_STEPPER_MOREAU_JEAN, PERP_COORDINATES_BODY},
               {PERP_STEPPER_EVENT, PERP_COORDINATES_BODY}};
enum { METHODS = sizeof methods / sizeof methods[0] };

// ── Joints ───────────────────────────────────────────────────────────────────────────────────────

// Two links of 1 m in the plane, anchored at their ends; the angles of "bent" are several turns.
#define DOUBLE_ARM(more)                                                                           \
    "{\"gravity\": [0, 0], \"bodies\": ["                                                          \
    "{\"name\": \"upper\", \"mass\": 2, \"inertia\": 0.5, \"position\": [0.5, 0]},"                \
    "{\"name\": \"lower\", \"mass\": 1, \"inertia\": 0.1, \"position\": [1.5, 0]}],"               \
    "\"joints\": [{\"name\": \"shoulder\", \"kind\": \"revolute\", \"b\": \"upper\", \"at\": [0, " \
    "0]},{\"name\": \"elbow\", \"kind\": \"revolute\", \"a\": \"upper\", \"b\": \"lower\", "       \
    "\"at\": [1, 0], \"lower\": -8, \"upper\": 3}]," more "}"

#define BENT                                                                                       \
    "\"keyframes\": [{\"name\": \"bent\", \"time\": 2, \"joints\": {"                              \
    "\"shoulder\": {\"position\": \"400 deg\", \"rate\": 2}, \"elbow\": -7}}], \"keyframe\": "     \
    "\"bent\""

static void coordinates_place_bodies(void **state)
{
    (void)state;
    for (int k = 0; k < METHODS; k++) {
        run r;
        assert_int_equal(begin_as(&r, DOUBLE_ARM(BENT), methods[k].stepper, methods[k].coordinates),
                         PERP_OK);
        double a = 400.0 * 0.017453292519943295, b = a - 7.0;
        perp_vec3 p = perp_sim_body_position(r.sim, (perp_body){2});
        assert_string_equal(perp_sim_info(r.sim)->remark, "");
        assert_true(perp_sim_time(r.sim) == 2.0);
        assert_true(fabs(p.x - cos(a) - 0.5 * cos(b)) < 1e-13);
        assert_true(fabs(p.y - sin(a) - 0.5 * sin(b)) < 1e-13);
        assert_true(fabs(perp_sim_body_angle(r.sim, (perp_body){2}) - b) < 1e-13);
        // the shoulder turns, the elbow does not: all of the arm turns with 2 rad/s about the origin
        perp_twist v = perp_sim_body_twist(r.sim, (perp_body){2});
        assert_true(fabs(v.v_W.x + 2.0 * p.y) < 1e-13 && fabs(v.v_W.y - 2.0 * p.x) < 1e-13);
        assert_true(fabs(v.w_W.z - 2.0) < 1e-13);
        double t, q[2], qd[2];
        int nq, nv;
        assert_int_equal(perp_sim_tree_size(r.sim, &nq, &nv), PERP_OK);
        assert_true(nq == 2 && nv == 2);
        assert_int_equal(perp_sim_tree_state_get(r.sim, &t, q, qd), PERP_OK);
        assert_true(t == 2.0 && fabs(q[0] - a) < 1e-13 && fabs(q[1] + 7.0) < 1e-13);
        assert_true(fabs(qd[0] - 2.0) < 1e-13 && fabs(qd[1]) < 1e-13);
        finish(&r);
    }
}

// Every kind of joint of a chain in space, with its full turns; the tree puts the same bodies at the same places.
#define SOLID(name)                                                                                \
    "{\"name\": \"" name "\", \"kind\": \"solid\", \"mass\": 1, \"inertia\": [1, 1, 1], "          \
    "\"position\": [0.1, 0.2, 0.3]}"
static const char all_kinds[] =
    "{\"gravity\": [0, 0, 0], \"bodies\": [" SOLID("a") "," SOLID("b") "," SOLID("c") "," SOLID(
        "d") "," SOLID("e") "," SOLID("f") "," SOLID("g") "],"
                                                          "\"joints\": [{\"name\": \"ja\", "
                                                          "\"kind\": \"revolute\", \"b\": \"a\", "
                                                          "\"axis\": [0, 0, 1]},"
                                                          "{\"name\": \"jb\", \"kind\": "
                                                          "\"prismatic\", \"a\": \"a\", \"b\": "
                                                          "\"b\", \"axis\": [1, 0, 0]},"
                                                          "{\"name\": \"jc\", \"kind\": \"screw\", "
                                                          "\"a\": \"b\", \"b\": \"c\", \"axis\": "
                                                          "[0, 1, 0], "
                                                          "\"pitch\": 0.1},"
                                                          "{\"name\": \"jd\", \"kind\": "
                                                          "\"cylindrical\", \"a\": \"c\", \"b\": "
                                                          "\"d\", \"axis\": [0, 1, "
                                                          "1]},"
                                                          "{\"name\": \"je\", \"kind\": "
                                                          "\"universal\", \"a\": \"d\", \"b\": "
                                                          "\"e\", \"axis\": [0, 0, 1]},"
                                                          "{\"name\": \"jf\", \"kind\": \"plane\", "
                                                          "\"a\": \"e\", \"b\": \"f\", "
                                                          "\"axis\": [1, 0, 0]},"
                                                          "{\"name\": \"jg\", \"kind\": "
                                                          "\"spherical\", \"a\": \"g\", \"b\": "
                                                          "\"f\"}],"
                                                          "\"keyframes\": [{\"name\": \"k\", "
                                                          "\"joints\": {\"ja\": \"200 deg\", "
                                                          "\"jb\": {\"position\": "
                                                          "\"12 cm\", \"rate\": \"3 mm/s\"}, "
                                                          "\"jc\": -9, \"jd\": [0.2, 0.7], \"je\": "
                                                          "{\"position\": "
                                                          "[4, 0.5], \"rate\": [0.1, -0.2]}, "
                                                          "\"jf\": [0.1, -0.1, 5], \"jg\": "
                                                          "{\"position\": [0.6, 0, "
                                                          "0.8, 0], \"rate\": [1, 2, 3]}}}]}";

static void all_kinds_are_placed(void **state)
{
    (void)state;
    for (int k = 0; k < METHODS; k++) {
        run r;
        perp_tree *tree;
        assert_int_equal(begin_as(&r, all_kinds, methods[k].stepper, methods[k].coordinates),
                         PERP_OK);
        assert_int_equal(perp_sim_reset(r.sim, perp_model_keyframe(r.model, "k")), PERP_OK);
        assert_int_equal(perp_tree_create(r.model, NULL, 0, NULL, &tree, &r.error), PERP_OK);
        // g is carried by f: the child is a of the joint, whose rotation in b is the inverse
        const double c = 0.6 * 0.6 - 0.8 * 0.8, s = 2.0 * 0.6 * 0.8;
        const double q[15] = {200.0 * 0.017453292519943295,
                              0.12,
                              -9.0,
                              0.2,
                              0.7,
                              4.0,
                              0.5,
                              0.1,
                              -0.1,
                              5.0,
                              0.6,
                              0.0,
                              -0.8,
                              0.0};
        const double qd[14] = {0.0,
                               0.003,
                               0.0,
                               0.0,
                               0.0,
                               0.1,
                               -0.2,
                               0.0,
                               0.0,
                               0.0,
                               -(c * 1.0 + s * 3.0),
                               -2.0,
                               -(c * 3.0 - s * 1.0)};
        int nq, nv;
        perp_tree_size(tree, &nq, &nv);
        assert_true(nq == 14 && nv == 13);
        assert_int_equal(perp_tree_set(tree, 0.0, q, qd), PERP_OK);
        for (int i = 1; i < 8; i++) {
            perp_pose a = perp_tree_pose(tree, (perp_body){i}),
                      b = perp_sim_body_pose(r.sim, (perp_body){i});
            perp_twist v = perp_tree_twist(tree, (perp_body){i}),
                       w = perp_sim_body_twist(r.sim, (perp_body){i});
            double same =
                a.rot.w * b.rot.w + a.rot.x * b.rot.x + a.rot.y * b.rot.y + a.rot.z * b.rot.z;
            assert_true(fabs(a.p.x - b.p.x) < 1e-12 && fabs(a.p.y - b.p.y) < 1e-12 &&
                        fabs(a.p.z - b.p.z) < 1e-12 && fabs(fabs(same) - 1.0) < 1e-12);
            assert_true(fabs(v.v_W.x - w.v_W.x) < 1e-12 && fabs(v.v_W.y - w.v_W.y) < 1e-12 &&
                        fabs(v.v_W.z - w.v_W.z) < 1e-12 && fabs(v.w_W.x - w.w_W.x) < 1e-12 &&
                        fabs(v.w_W.y - w.w_W.y) < 1e-12 && fabs(v.w_W.z - w.w_W.z) < 1e-12);
        }
        double found[14];
        assert_int_equal(perp_sim_tree_state_get(r.sim, NULL, found, NULL), PERP_OK);
        for (int i = 0; i < 10; i++) {
            assert_true(fabs(found[i] - q[i]) < 1e-12);
        }
        perp_tree_destroy(tree);
        finish(&r);
    }
}

// ── Bodies ───────────────────────────────────────────────────────────────────────────────────────

// A floating pair, placed by its second body; the first follows through the joint.
static const char floating[] =
    "{\"gravity\": [0, 0], \"bodies\": ["
    "{\"name\": \"torso\", \"mass\": 2, \"inertia\": 0.5},"
    "{\"name\": \"foot\", \"mass\": 1, \"inertia\": 0.1, \"position\": [0, -1]},"
    "{\"name\": \"ball\", \"kind\": \"particle\", \"mass\": 1}],"
    "\"joints\": [{\"name\": \"hip\", \"kind\": \"revolute\", \"a\": \"torso\", \"b\": \"foot\", "
    "\"at\": [0, -0.5]}], \"inputs\": [{\"name\": \"u\", \"value\": 1}, {\"name\": \"v\", "
    "\"value\": \"t\"}], \"keyframes\": [{\"name\": \"k\", \"joints\": {\"hip\": {\"position\": "
    "\"90 deg\", \"rate\": 1}}, \"bodies\": {\"foot\": {\"position\": [3, 4], \"angle\": \"450 "
    "deg\", \"velocity\": [1, 0], \"spin\": 1}, \"ball\": {\"position\": [\"20 cm\", 5], "
    "\"velocity\": [0, 7]}}, \"inputs\": {\"u\": 3, \"v\": 8}}]}";

static void poses_place_what_floats(void **state)
{
    (void)state;
    for (int k = 0; k < METHODS; k++) {
        run r;
        assert_int_equal(begin_as(&r, floating, methods[k].stepper, methods[k].coordinates),
                         PERP_OK);
        assert_int_equal(perp_sim_reset(r.sim, (perp_keyframe){0}), PERP_OK);
        perp_vec3 p = perp_sim_body_position(r.sim, (perp_body){2});
        assert_true(p.x == 3.0 && p.y == 4.0);
        // the foot is at 450 deg = 90 deg, the torso at 360 deg; the hip is 0.5 from both
        p = perp_sim_body_position(r.sim, (perp_body){1});
        assert_true(fabs(p.x - 2.5) < 1e-12 && fabs(p.y - 4.5) < 1e-12);
        assert_true(fabs(perp_sim_body_angle(r.sim, (perp_body){1}) - 6.283185307179586) < 1e-12);
        perp_twist v = perp_sim_body_twist(r.sim, (perp_body){1});
        assert_true(fabs(v.w_W.z) < 1e-12);
        // the hip, at (2.5, 4), has the foot's velocity plus 1 x (-0.5, 0)
        assert_true(fabs(v.v_W.x - 1.0) < 1e-12 && fabs(v.v_W.y + 0.5) < 1e-12);
        p = perp_sim_body_position(r.sim, (perp_body){3});
        assert_true(p.x == 0.2 && p.y == 5.0);
        assert_true(perp_sim_body_twist(r.sim, (perp_body){3}).v_W.y == 7.0);
        assert_true(perp_sim_input(r.sim, (perp_input){0}) == 3.0);
        assert_true(perp_sim_step(r.sim, 0.01) >= 0);
        assert_true(perp_sim_input(r.sim, (perp_input){1}) == 8.0);
        // the initial state again, with the source of v
        assert_int_equal(perp_sim_reset(r.sim, (perp_keyframe){-1}), PERP_OK);
        assert_true(perp_sim_input(r.sim, (perp_input){0}) == 1.0);
        assert_true(perp_sim_step(r.sim, 0.01) >= 0);
        assert_true(perp_sim_input(r.sim, (perp_input){1}) == 0.0);
        finish(&r);
    }
}

// A group that floats, whose first named joint begins at a massless body.
static void massless_bodies_are_no_roots(void **state)
{
    (void)state;
    static const char text[] =
        "{\"gravity\": [0, 0], \"bodies\": [{\"name\": \"torso\", \"mass\": 1, \"inertia\": 1}, "
        "{\"name\": \"frame\", \"massless\": true}, {\"name\": \"leg\", \"mass\": 1, "
        "\"inertia\": 1}], \"joints\": [{\"name\": \"slide\", \"kind\": \"prismatic\", \"a\": "
        "\"torso\", \"b\": \"frame\", \"axis\": [1, 0]}, {\"name\": \"hinge\", \"kind\": "
        "\"revolute\", \"a\": \"frame\", \"b\": \"leg\"}], \"keyframes\": [{\"name\": \"k\", "
        "\"joints\": {\"hinge\": 1, \"slide\": 2}}]}";
    run r;
    assert_int_equal(begin_as(&r, text, PERP_STEPPER_STEWART_TRINKLE, PERP_COORDINATES_JOINT),
                     PERP_OK);
    assert_int_equal(perp_sim_reset(r.sim, (perp_keyframe){0}), PERP_OK);
    assert_true(fabs(perp_sim_body_position(r.sim, (perp_body){3}).x - 2.0) < 1e-12);
    assert_true(fabs(perp_sim_body_angle(r.sim, (perp_body){3}) - 1.0) < 1e-12);
    finish(&r);
}

// ── Corrections ──────────────────────────────────────────────────────────────────────────────────

// A limit that the keyframe crosses, and a box in the floor: both are corrected without motion, and named.
static void crossed_limits_are_corrected(void **state)
{
    (void)state;
    for (int k = 0; k < METHODS; k++) {
        run r;
        assert_int_equal(
            begin_as(&r,
                     DOUBLE_ARM("\"keyframes\": [{\"name\": \"far\", \"joints\": {\"elbow\": 3.2, "
                                "\"shoulder\": 0.5}}], \"keyframe\": \"far\""),
                     methods[k].stepper, methods[k].coordinates),
            PERP_OK);
        assert_non_null(
            strstr(perp_sim_info(r.sim)->remark, "joint 'elbow' was beyond a limit by 0.2"));
        assert_non_null(strstr(perp_sim_info(r.sim)->remark, "body '"));
        double q[2], qd[2];
        assert_int_equal(perp_sim_tree_state_get(r.sim, NULL, q, qd), PERP_OK);
        assert_true(fabs(q[1] - 3.0) < 1e-7 && qd[0] == 0.0 && qd[1] == 0.0);
        for (int i = 0; i < 10; i++) {
            assert_true(perp_sim_step(r.sim, 0.01) >= 0);
            assert_true(perp_sim_info(r.sim)->energy.kinetic < 1e-15);
        }
        finish(&r);
    }
}

// A box in the floor, a joint beyond a limit and an open loop: the remark names the worst and counts all, the points of
// one pair of shapes once.
static void all_errors_are_counted(void **state)
{
    (void)state;
    static const char text[] =
        "{\"gravity\": [0, 0], \"shapes\": [{\"kind\": \"halfplane\"}], \"bodies\": ["
        "{\"name\": \"a\", \"position\": [0, 1], \"mass\": 1, \"inertia\": 0.1},"
        "{\"name\": \"b\", \"position\": [1, 1], \"mass\": 1, \"inertia\": 0.1},"
        "{\"name\": \"c\", \"position\": [4, 1], \"mass\": 1, \"inertia\": 0.1},"
        "{\"name\": \"box\", \"position\": [8, 0.2], \"shapes\": [{\"kind\": \"box\", \"size\": "
        "[0.4, "
        "0.4], \"density\": 10}]}],"
        "\"joints\": [{\"name\": \"j1\", \"kind\": \"revolute\", \"b\": \"a\", \"at\": [0, 1]},"
        "{\"name\": \"j2\", \"kind\": \"revolute\", \"a\": \"a\", \"b\": \"b\", \"at\": [0.5, 1]},"
        "{\"name\": \"loop\", \"kind\": \"point_on_line\", \"b\": \"b\", \"at\": [1, 1]},"
        "{\"name\": \"j3\", \"kind\": \"revolute\", \"b\": \"c\", \"at\": [4, 1], \"upper\": 0.2}],"
        "\"keyframes\": [{\"name\": \"k\", \"joints\": {\"j1\": 0.02, \"j3\": 0.8}, "
        "\"bodies\": {\"box\": {\"position\": [8, 0.19]}}}], \"keyframe\": \"k\"}";
    for (int k = 0; k < METHODS; k++) {
        run r;
        assert_int_equal(begin_as(&r, text, methods[k].stepper, methods[k].coordinates), PERP_OK);
        const char *remark = perp_sim_info(r.sim)->remark;
        if (!strstr(remark, "joint 'j3' was beyond a limit by 0.6 m or rad (worst of 3); body '")) {
            fail_msg("%s", remark);
        }
        assert_true(perp_sim_step(r.sim, 1e-3) >= 0);
        assert_true(perp_sim_info(r.sim)->energy.kinetic < 1e-15);
        finish(&r);
    }
}

// A four-bar linkage by one of its angles: the loop is closed by the least motion of the bodies.
static const char four_bar[] =
    "{\"gravity\": [0, 0], \"bodies\": ["
    "{\"name\": \"crank\", \"mass\": 1, \"inertia\": 0.1, \"position\": [0, 0.5], \"angle\": \"90 "
    "deg\"}, {\"name\": \"rod\", \"mass\": 1, \"inertia\": 0.1, \"position\": [1, 1]},"
    "{\"name\": \"rocker\", \"mass\": 1, \"inertia\": 0.1, \"position\": [2, 0.5], \"angle\": "
    "\"90 deg\"}],"
    "\"joints\": [{\"name\": \"j1\", \"kind\": \"revolute\", \"b\": \"crank\", \"at\": [0, 0]},"
    "{\"name\": \"j2\", \"kind\": \"revolute\", \"a\": \"crank\", \"b\": \"rod\", \"at\": [0, 1]},"
    "{\"name\": \"j3\", \"kind\": \"revolute\", \"a\": \"rod\", \"b\": \"rocker\", \"at\": [2, 1]},"
    "{\"name\": \"j4\", \"kind\": \"revolute\", \"b\": \"rocker\", \"at\": [2, 0]}],"
    "\"keyframes\": [{\"name\": \"k\", \"joints\": {\"j1\": 1.2, \"j4\": 1.1}}]}";

static void open_loops_are_closed(void **state)
{
    (void)state;
    for (int k = 0; k < METHODS; k++) {
        run r;
        assert_int_equal(begin_as(&r, four_bar, methods[k].stepper, methods[k].coordinates),
                         PERP_OK);
        assert_int_equal(perp_sim_reset(r.sim, (perp_keyframe){0}), PERP_OK);
        assert_non_null(strstr(perp_sim_info(r.sim)->remark, "body '"));
        assert_true(perp_sim_step(r.sim, 1e-3) >= 0);
        assert_true(perp_sim_info(r.sim)->energy.kinetic < 1e-15);
        for (int i = 0; i < 4; i++) {
            assert_true(perp_sim_joint(r.sim, (perp_joint){i}).error < 1e-9);
        }
        double crank = perp_sim_body_angle(r.sim, (perp_body){1});
        assert_true(crank > 1.0 && crank < 1.3);
        finish(&r);
    }
}

// ── Resets ───────────────────────────────────────────────────────────────────────────────────────

// A sim that is reset goes on as a new one, bit for bit, whatever it did before.
static void resets_repeat_a_new_sim(void **state)
{
    (void)state;
    for (int k = 0; k < METHODS; k++) {
        run r, fresh;
        assert_int_equal(begin_as(&r, DOUBLE_ARM(BENT), methods[k].stepper, methods[k].coordinates),
                         PERP_OK);
        assert_int_equal(
            begin_as(&fresh, DOUBLE_ARM(BENT), methods[k].stepper, methods[k].coordinates),
            PERP_OK);
        for (int i = 0; i < 50; i++) {
            assert_true(perp_sim_step(r.sim, 0.01) >= 0);
        }
        assert_int_equal(perp_sim_reset(r.sim, perp_model_keyframe(r.model, "bent")), PERP_OK);
        for (int i = 0; i < 100; i++) {
            assert_true(perp_sim_state_hash(r.sim) == perp_sim_state_hash(fresh.sim));
            assert_true(perp_sim_step(r.sim, 0.01) >= 0);
            assert_true(perp_sim_step(fresh.sim, 0.01) >= 0);
        }
        finish(&r);
        finish(&fresh);
    }
}

// A keyframe that cannot be reached leaves the sim where it was.
static void impossible_resets_change_nothing(void **state)
{
    (void)state;
    static const char text[] =
        "{\"gravity\": [0, 0], \"bodies\": [{\"name\": \"bar\", \"mass\": 1, \"inertia\": 1, "
        "\"spin\": 1}, {\"name\": \"other\", \"mass\": 1, \"inertia\": 1, \"position\": [1, 0]}], "
        "\"joints\": [{\"name\": \"pin\", \"kind\": \"revolute\", \"b\": \"bar\"}, {\"name\": "
        "\"rod\", \"kind\": \"distance\", \"a\": \"bar\", \"b\": \"other\", \"length\": 1}], "
        "\"keyframes\": [{\"name\": \"far\", \"bodies\": {\"other\": {\"position\": [1e9, 0]}}}]}";
    run r;
    assert_int_equal(begin_as(&r, text, PERP_STEPPER_STEWART_TRINKLE, PERP_COORDINATES_BODY),
                     PERP_OK);
    for (int i = 0; i < 5; i++) {
        assert_true(perp_sim_step(r.sim, 0.01) >= 0);
    }
    uint64_t before = perp_sim_state_hash(r.sim);
    assert_int_equal(perp_sim_reset(r.sim, (perp_keyframe){0}), PERP_ERR_ARGUMENT);
    assert_non_null(strstr(perp_sim_error(r.sim)->text, "start: "));
    assert_true(perp_sim_state_hash(r.sim) == before);
    assert_int_equal(perp_sim_reset(r.sim, (perp_keyframe){1}), PERP_ERR_ARGUMENT);
    assert_non_null(strstr(perp_sim_error(r.sim)->text, "keyframe 1 does not exist"));
    assert_true(perp_sim_state_hash(r.sim) == before);
    assert_true(perp_sim_step(r.sim, 0.01) >= 0);
    perp_sim_def def = perp_sim_default();
    perp_sim *none;
    def.keyframe.i = 7;
    assert_int_equal(perp_sim_create(r.model, &def, NULL, &none, &r.error), PERP_ERR_ARGUMENT);
    finish(&r);
}

static void reset_inside(void *user, perp_sim *sim, double h)
{
    double q[2] = {0.0, 0.0};
    (void)h;
    *(perp_status *)user = perp_sim_reset(sim, (perp_keyframe){-1});
    assert_int_equal(perp_sim_tree_state_set(sim, 0.0, q, q), PERP_ERR_ARGUMENT);
}

static void callbacks_do_not_reset(void **state)
{
    (void)state;
    run r;
    perp_sim *sim;
    perp_status inside = PERP_OK;
    begin_as(&r, DOUBLE_ARM(BENT), PERP_STEPPER_STEWART_TRINKLE, PERP_COORDINATES_BODY);
    perp_sim_def def = perp_scene_sim_def(r.scene);
    def.on_control = reset_inside;
    def.user = &inside;
    assert_int_equal(perp_sim_create(r.model, &def, NULL, &sim, &r.error), PERP_OK);
    assert_true(perp_sim_step(sim, 0.01) >= 0);
    assert_int_equal(inside, PERP_ERR_ARGUMENT);
    perp_sim_destroy(sim);
    finish(&r);
}

// ── States in joint coordinates ──────────────────────────────────────────────────────────────────

static void tree_states_come_back(void **state)
{
    (void)state;
    static const double q[2] = {9.0, -7.5}, qd[2] = {0.5, -1.5};
    for (int k = 0; k < METHODS; k++) {
        run r;
        double t, found[2], rate[2];
        begin_as(&r, DOUBLE_ARM(BENT), methods[k].stepper, methods[k].coordinates);
        assert_int_equal(perp_sim_tree_state_set(r.sim, 3.0, q, qd), PERP_OK);
        assert_int_equal(perp_sim_tree_state_get(r.sim, &t, found, rate), PERP_OK);
        for (int i = 0; i < 2; i++) {
            assert_true(fabs(found[i] - q[i]) < 1e-13 && fabs(rate[i] - qd[i]) < 1e-13);
        }
        assert_true(t == 3.0);
        assert_true(perp_sim_step(r.sim, 1e-3) >= 0);
        assert_true(fabs(perp_sim_joint(r.sim, (perp_joint){1}).coordinate + 7.5015) < 1e-4);
        uint64_t before = perp_sim_state_hash(r.sim);
        assert_int_equal(perp_sim_tree_state_set(r.sim, 0.0, NULL, qd), PERP_ERR_ARGUMENT);
        assert_int_equal(perp_sim_tree_state_set(r.sim, (double)NAN, q, qd), PERP_ERR_ARGUMENT);
        assert_int_equal(perp_sim_tree_state_set(r.sim, 0.0, (double[]){0.0, (double)INFINITY}, qd),
                         PERP_ERR_ARGUMENT);
        assert_true(perp_sim_state_hash(r.sim) == before);
        finish(&r);
    }
}

// ── Building ─────────────────────────────────────────────────────────────────────────────────────

static perp_builder *two_bodies(perp_joint *joint)
{
    perp_builder *b = perp_builder_create(NULL);
    perp_body_def body = perp_body_default();
    body.mass = body.inertia_zz = 1.0;
    perp_joint_def def = perp_joint_default();
    def.b = perp_builder_add_body(b, &body);
    joint[0] = perp_builder_add_joint(b, &def);
    joint[1] = perp_builder_add_joint(b, &def);
    perp_builder_add_body(b, &body);
    return b;
}

static void expect_refusal(perp_builder *b, const char *why)
{
    perp_model *model;
    perp_error error = {0};
    assert_true(perp_model_create(b, &model, &error) < 0);
    if (!strstr(error.text, why)) {
        print_error("'%s', expected '%s'\n", error.text, why);
        fail();
    }
    perp_builder_destroy(b);
}

static void builders_refuse_what_is_wrong(void **state)
{
    (void)state;
    static const double number[4] = {1.0, 0.0, 0.0, 0.0};
    static const double bad[4] = {(double)NAN, 0.0, 0.0, 0.0};
    perp_joint joint[2];
    perp_builder *b = two_bodies(joint);
    perp_keyframe k = perp_builder_add_keyframe(b, "k");
    perp_builder_set_keyframe_joint(b, k, joint[0], number, NULL);
    perp_builder_set_keyframe_joint(b, k, joint[1], number, NULL);
    expect_refusal(b, "closes a loop");
    b = two_bodies(joint);
    perp_builder_add_keyframe(b, "k");
    perp_builder_add_keyframe(b, "k");
    expect_refusal(b, "already used");
    b = two_bodies(joint);
    perp_builder_set_keyframe_time(b, (perp_keyframe){0}, 1.0);
    expect_refusal(b, "keyframe 0 does not exist");
    b = two_bodies(joint);
    k = perp_builder_add_keyframe(b, "k");
    perp_builder_set_keyframe_joint(b, k, joint[0], bad, NULL);
    expect_refusal(b, "not finite");
    b = two_bodies(joint);
    k = perp_builder_add_keyframe(b, "k");
    perp_builder_set_keyframe_joint(b, k, (perp_joint){9}, number, NULL);
    expect_refusal(b, "joint 9 does not exist");
    b = two_bodies(joint);
    k = perp_builder_add_keyframe(b, "k");
    perp_builder_set_keyframe_input(b, k, (perp_input){0}, 1.0);
    expect_refusal(b, "input 0 does not exist");
    b = two_bodies(joint);
    k = perp_builder_add_keyframe(b, "k");
    perp_body_def at = perp_body_default();
    perp_builder_set_keyframe_body(b, k, (perp_body){1}, &at);
    expect_refusal(b, "give the coordinates of the joints");
    b = two_bodies(joint);
    k = perp_builder_add_keyframe(b, "k");
    perp_builder_set_keyframe_body(b, k, (perp_body){0}, &at);
    expect_refusal(b, "is not free");
    b = two_bodies(joint);
    k = perp_builder_add_keyframe(b, "k");
    at.angle = (double)NAN;
    perp_builder_set_keyframe_body(b, k, (perp_body){2}, &at);
    expect_refusal(b, "not finite");
    b = two_bodies(joint);
    k = perp_builder_add_keyframe(b, "k");
    perp_builder_set_keyframe_body(b, k, (perp_body){2}, NULL);
    expect_refusal(b, "perp_body_default");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(coordinates_place_bodies),
        cmocka_unit_test(all_kinds_are_placed),
        cmocka_unit_test(poses_place_what_floats),
        cmocka_unit_test(massless_bodies_are_no_roots),
        cmocka_unit_test(crossed_limits_are_corrected),
        cmocka_unit_test(all_errors_are_counted),
        cmocka_unit_test(open_loops_are_closed),
        cmocka_unit_test(resets_repeat_a_new_sim),
        cmocka_unit_test(impossible_resets_change_nothing),
        cmocka_unit_test(callbacks_do_not_reset),
        cmocka_unit_test(tree_states_come_back),
        cmocka_unit_test(builders_refuse_what_is_wrong),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
