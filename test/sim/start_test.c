// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Starts that overlap, are open or past a limit: mended without motion, or refused with names; and steps that are worth
// nothing are not taken.
#include "support/cmocka.h"
#include "support/folder.h"

#include <perp/io.h>
#include <perp/tree.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct run {
    perp_scene *scene;
    perp_sim *sim;
    perp_status status;
    perp_error error;
} run;

static run begin(const char *text)
{
    run r = {0};
    assert_int_equal(perp_scene_parse("scene", text, strlen(text), NULL, &r.scene, &r.error),
                     PERP_OK);
    perp_sim_def def = perp_scene_sim_def(r.scene);
    r.status = perp_sim_create(perp_scene_model(r.scene), &def, NULL, &r.sim, &r.error);
    return r;
}

static void finish(run *r)
{
    perp_sim_destroy(r->sim);
    perp_scene_destroy(r->scene);
}

#define CUBE(more)                                                                                 \
    "{" more                                                                                       \
    "\"shapes\": [{\"name\": \"floor\", \"kind\": \"halfspace\"}], \"bodies\": [{\"name\": "       \
    "\"a\", \"kind\": \"solid\", \"position\": [0, 0, 0.4], \"shapes\": [{\"kind\": \"box\", "     \
    "\"size\": [1, 1, 1], \"density\": 1}]}]}"

// A cube a tenth of its size inside the floor stands on it, at rest, from the first step on.
static void overlaps_are_removed(void **state)
{
    (void)state;
    run r = begin(CUBE(""));
    assert_int_equal(r.status, PERP_OK);
    assert_non_null(strstr(perp_sim_info(r.sim)->remark, "overlapped by 0.1 m"));
    assert_true(fabs(perp_sim_body_position(r.sim, (perp_body){1}).z - 0.5) < 1e-9);
    for (int k = 0; k < 20; k++) {
        assert_int_equal(perp_sim_step(r.sim, 1e-3), PERP_OK);
        assert_true(perp_sim_info(r.sim)->energy.kinetic < 1e-15);
    }
    finish(&r);
}

static const char *const time_steppers[] = {"stewart-trinkle", "anitescu-potra", "moreau-jean"};

// Kept, an overlap goes by a twentieth of the thickness a step. Nothing gains speed, the certificate counts the lift
// m g d as energy created, and once nothing overlaps all steps pass.
static void overlaps_as_given_are_worked_off(void **state)
{
    (void)state;
    for (int k = 0; k < 6; k++) {
        char text[800];
        bool joints = k >= 3;
        snprintf(text, sizeof text,
                 "{\"start\": \"as given\", \"stepper\": \"%s\", \"coordinates\": \"%s\", "
                 "\"shapes\": [{\"name\": \"floor\", \"kind\": \"halfspace\"}], \"bodies\": "
                 "[{\"name\": \"a\", \"kind\": \"solid\", \"position\": [0, 0, 0.3], \"shapes\": "
                 "[{\"kind\": \"box\", \"size\": [1, 1, 1], \"density\": 1}]}]}",
                 joints ? "stewart-trinkle" : time_steppers[k], joints ? "joint" : "body");
        run r = begin(text);
        assert_int_equal(r.status, PERP_OK);
        assert_string_equal(perp_sim_info(r.sim)->remark, "");
        for (int i = 1; i <= 20; i++) {
            perp_status status = perp_sim_step(r.sim, 1e-3);
            const perp_step_info *info = perp_sim_info(r.sim);
            double depth = 0.5 - perp_sim_body_position(r.sim, (perp_body){1}).z;
            assert_true(info->energy.kinetic < 1e-15);
            assert_true(fabs(depth - fmax(0.0, 0.2 - 0.05 * i)) < 1e-9);
            assert_int_equal(status, i <= 4 ? PERP_INEXACT : PERP_OK);
            double created = i <= 4 ? 9.81 * 0.05 : 0.0;
            assert_true(fabs(info->certificate.energy_created - created) < 1e-3);
            assert_true(i > 4 || strstr(info->remark, "'floor' and 'a.shape0' overlapped"));
        }
        finish(&r);
    }
}

// A pin apart and a slider past its end: likewise, and a state that is set is looked at anew.
static void joints_as_given_are_worked_off(void **state)
{
    (void)state;
    static const char *const joints[] = {
        "\"kind\": \"revolute\", \"b\": \"rod\", \"anchor_b\": [-0.5, 0]",
        "\"kind\": \"prismatic\", \"b\": \"rod\", \"axis\": [0, 1], \"lower\": -0.1, \"upper\": "
        "0.1"};
    for (int k = 0; k < 6; k++) {
        char text[800];
        snprintf(text, sizeof text,
                 "{\"start\": \"as given\", \"stepper\": \"%s\", \"gravity\": [0, 0], \"bodies\": "
                 "[{\"name\": \"rod\", \"position\": [%g, 0.2], \"mass\": 1, \"inertia\": "
                 "0.0833, \"shapes\": [{\"kind\": \"box\", \"size\": [1, 0.1]}]}], \"joints\": "
                 "[{\"name\": \"pin\", %s}]}",
                 time_steppers[k % 3], k < 3 ? 0.5 : 0.0, joints[k / 3]);
        run r = begin(text);
        assert_int_equal(r.status, PERP_OK);
        double q[3], nu[3], last = HUGE_VAL;
        assert_int_equal(perp_sim_state_get(r.sim, NULL, q, nu), PERP_OK);
        for (int turn = 0; turn < 2; turn++, last = HUGE_VAL) {
            int steps = 0;
            while (perp_sim_step(r.sim, 1e-3) == PERP_INEXACT && steps < 100) {
                double error = perp_sim_joint(r.sim, (perp_joint){0}).error;
                assert_true(k >= 3 || error < last);
                last = error;
                steps++;
            }
            assert_true(steps > 1 && steps < 100);
            assert_true(perp_sim_info(r.sim)->energy.kinetic < 1e-15);
            assert_int_equal(perp_sim_step(r.sim, 1e-3), PERP_OK);
            assert_int_equal(perp_sim_state_set(r.sim, 0.0, q, nu), PERP_OK);
        }
        finish(&r);
    }
}

// A run of a start as given, recorded: steps that are violated, and the verdict of the recording.
static int count_violated(const char *text, const char *directory, bool *checked)
{
    run r = begin(text);
    perp_record *record = NULL;
    perp_record_def to = perp_record_default();
    int violated = 0;
    to.scene = text;
    to.h = 1e-3;
    if (r.status < 0 || perp_record_create(directory, r.sim, &to, NULL, &record, &r.error) < 0) {
        fail_msg("%s", r.error.text);
    }
    for (int i = 0; i < 40; i++) {
        assert_true(perp_sim_step(r.sim, 1e-3) >= 0);
        assert_true(perp_record_step(record, r.sim) >= 0);
        violated += !perp_sim_info(r.sim)->certificate.passed;
    }
    assert_int_equal(perp_record_finish(record, r.sim), PERP_OK);
    perp_record_destroy(record);
    finish(&r);
    perp_recording *back = NULL;
    perp_check check = {0};
    assert_int_equal(perp_recording_open(directory, NULL, &back, NULL), PERP_OK);
    assert_int_equal(perp_recording_check(back, NULL, &check, NULL), PERP_OK);
    *checked = check.passed;
    perp_recording_close(back);
    return violated;
}

// Overlaps and open joints within the limits of the certificate, each taken back by a part of the step with its own certificate,
// in all schemes and coordinates; beyond these limits steps are violated, and recordings show the same.
static void small_faults_as_given_pass(void **state)
{
    (void)state;
    static const char *const by[] = {"stewart-trinkle", "anitescu-potra", "moreau-jean",
                                     "implicit"};
    static const double of[] = {1e-4, 0.008, 0.04};  // of the thickness, or of the arm
    for (int k = 0; k < 24; k++) {
        char text[1200];
        bool tree = k >= 12 && k % 4 != 2;
        double off = of[k % 12 / 4];
        snprintf(
            text, sizeof text,
            "{\"start\": \"as given\", \"stepper\": \"%s\", \"coordinates\": \"%s\", "
            "\"step\": 0.001, \"shapes\": [{\"name\": \"floor\", \"kind\": \"halfspace\"}], "
            "\"bodies\": [{\"name\": \"a\", \"kind\": \"solid\", \"position\": [0, 0, %.17g], "
            "\"shapes\": [{\"kind\": \"box\", \"size\": [1, 1, 1], \"density\": 1}]}, {\"name\": "
            "\"rod\", \"kind\": \"solid\", \"position\": [5, 0, 3], \"mass\": 1, \"inertia\": "
            "[0.01, 0.1, 0.1]}, {\"name\": \"tip\", \"kind\": \"solid\", \"position\": [6, 0, 3], "
            "\"mass\": 1, \"inertia\": [0.01, 0.1, 0.1]}], \"joints\": [{\"kind\": \"revolute\", "
            "\"b\": \"rod\", \"anchor_a\": [4.5, 0, 3], \"anchor_b\": [-0.5, 0, 0], \"axis\": "
            "[0, 1, 0], \"lower\": %.17g, \"upper\": 1}, {\"kind\": \"spherical\", \"a\": "
            "\"rod\", \"b\": \"tip\", \"anchor_a\": [0.5, 0, 0], \"anchor_b\": [-0.5, 0, %.17g]}]}",
            by[k % 4], tree ? "joint" : "body", 0.5 - off, 0.5 * off, tree ? 0.0 : 0.5 * off);
        folder place = folder_create();
        bool checked = false;
        int violated = count_violated(text, folder_at(&place, "run"), &checked);
        folder_remove(&place);
        if ((violated > 0) != (off > 0.01) || checked != (violated == 0)) {
            fail_msg("%s %d: %d violated, check %d", text, k, violated, checked);
        }
    }
}

// A run that goes on from a saved state is the same run, on the way and after it.
static void starts_as_given_are_saved(void **state)
{
    (void)state;
    run r = begin(CUBE("\"start\": \"as given\", "));
    char block[4096];
    uint64_t hash[2];
    for (int i = 0; i < 12; i++) {
        size_t size = perp_sim_state_save_size(r.sim);
        assert_true(size <= sizeof block);
        assert_int_equal(perp_sim_state_save(r.sim, block, size), PERP_OK);
        for (int k = 0; k < 2; k++) {
            assert_true(perp_sim_step(r.sim, 1e-3) >= 0);
            hash[k] = perp_sim_state_hash(r.sim);
            assert_int_equal(perp_sim_state_restore(r.sim, block, size), PERP_OK);
        }
        assert_true(hash[0] == hash[1]);
        assert_true(perp_sim_step(r.sim, 1e-3) >= 0);
    }
    finish(&r);
}

// Event has equations of smooth motion, which hold from a start that fits.
static void events_need_a_start_that_fits(void **state)
{
    (void)state;
    run r = begin(CUBE("\"start\": \"as given\", \"stepper\": \"event\", "));
    assert_int_equal(r.status, PERP_ERR_ARGUMENT);
    assert_non_null(strstr(r.error.text, "'floor' and 'a.shape0' overlapped by 0.1 m"));
    finish(&r);
}

// A joint that starts a centimetre apart is closed; nothing moves after that, in any scheme.
static void open_joints_are_closed(void **state)
{
    (void)state;
    static const char *const steppers[] = {"stewart-trinkle", "anitescu-potra", "moreau-jean",
                                           "event"};
    for (size_t k = 0; k < sizeof steppers / sizeof steppers[0]; k++) {
        char text[600];
        snprintf(text, sizeof text,
                 "{\"stepper\": \"%s\", \"gravity\": [0, 0], \"bodies\": [{\"name\": \"rod\", "
                 "\"position\": [0.5, 0.01], \"mass\": 1, \"inertia\": 0.0833}], \"joints\": "
                 "[{\"name\": \"pin\", \"kind\": \"revolute\", \"b\": \"rod\", \"anchor_b\": "
                 "[-0.5, 0]}]}",
                 steppers[k]);
        run r = begin(text);
        assert_int_equal(r.status, PERP_OK);
        assert_non_null(strstr(perp_sim_info(r.sim)->remark, "pin"));
        for (int i = 0; i < 10; i++) {
            assert_int_equal(perp_sim_step(r.sim, 1e-4), PERP_OK);
        }
        assert_true(perp_sim_info(r.sim)->energy.kinetic < 1e-15);
        assert_true(perp_sim_joint(r.sim, (perp_joint){0}).error < 1e-9);
        finish(&r);
    }
}

// Two walls nearer to each other than a disc is wide: there is no place for it, and both are named.
static void impossible_starts_are_refused(void **state)
{
    (void)state;
    run r =
        begin("{\"gravity\": [0, 0], \"shapes\": [{\"name\": \"left\", \"kind\": \"halfplane\", "
              "\"angle\": \"-90 deg\", \"position\": [-0.1, 0]}, {\"name\": \"right\", \"kind\": "
              "\"halfplane\", \"angle\": \"90 deg\", \"position\": [0.1, 0]}], \"bodies\": "
              "[{\"name\": \"d\", \"shapes\": [{\"kind\": \"disc\", \"radius\": 0.2, "
              "\"density\": 1}]}]}");
    assert_true(r.status < 0);
    assert_null(r.sim);
    assert_non_null(strstr(r.error.text, "overlap"));
    assert_true(strstr(r.error.text, "left") || strstr(r.error.text, "right"));
    finish(&r);
}

// A heavy load on light links, released level, in joint coordinates and steps too long for it: they are divided, and the
// load swings without more energy than it had, up to a hundredth of m g L.
static void heavy_chains_gain_no_energy(void **state)
{
    (void)state;
    char text[4000];
    size_t at = (size_t)snprintf(text, sizeof text, "{\"coordinates\": \"joint\", \"bodies\": [");
    for (int k = 1; k <= 5; k++) {
        double mass = k < 5 ? 1.0 : 50000.0;
        at += (size_t)snprintf(
            text + at, sizeof text - at,
            "%s{\"name\": \"rod %d\", \"kind\": \"solid\", \"position\": [%.17g, 0, 0], "
            "\"mass\": %g, \"inertia\": [%g, %g, %g]}",
            k > 1 ? ", " : "", k, 0.2 * k - 0.1, mass, 0.00125 * mass, 0.0033 * mass,
            0.0033 * mass);
    }
    at += (size_t)snprintf(text + at, sizeof text - at, "], \"joints\": [");
    for (int k = 1; k <= 5; k++) {
        char a[40] = "";
        if (k > 1) {
            snprintf(a, sizeof a, "\"a\": \"rod %d\", ", k - 1);
        }
        at +=
            (size_t)snprintf(text + at, sizeof text - at,
                             "%s{\"kind\": \"spherical\", %s\"b\": \"rod %d\", \"at\": [%g, 0, 0]}",
                             k > 1 ? ", " : "", a, k, 0.2 * (k - 1));
    }
    snprintf(text + at, sizeof text - at, "]}");
    run r = begin(text);
    assert_int_equal(r.status, PERP_OK);
    double most = 0.0;
    for (int k = 0; k < 500; k++) {
        assert_int_equal(perp_sim_step(r.sim, 1e-3), PERP_OK);
        perp_energy e = perp_sim_info(r.sim)->energy;
        most = fmax(most, e.kinetic + e.potential);
    }
    assert_true(most < 0.01 * 50000.0 * 9.81);
    finish(&r);
}

// An arm in space whose joint starts at 4 rad, within its limits of 3.5 and 5: more than half a turn from 0. It used to
// start at 4 - 2 pi, beyond the lower limit, and was moved there.
#define FAR_ARM(stepper, coordinates)                                                              \
    "{\"gravity\": [0, 0, 0], \"stepper\": \"" stepper "\", \"coordinates\": \"" coordinates       \
    "\", \"bodies\": [{\"name\": \"arm\", \"kind\": \"solid\", \"mass\": 2, \"inertia\": [1, 1, "  \
    "1], \"spin\": [0, 0, 0.5]}], \"joints\": [{\"name\": \"hinge\", \"kind\": \"revolute\", "     \
    "\"a\": \"ground\", \"b\": \"arm\", \"axis\": [0, 0, 1], \"angle\": -4, \"lower\": 3.5, "      \
    "\"upper\": 5}]}"

static void starts_beyond_half_a_turn_are_kept(void **state)
{
    (void)state;
    static const char *const texts[] = {FAR_ARM("stewart-trinkle", "body"),
                                        FAR_ARM("stewart-trinkle", "joint"),
                                        FAR_ARM("moreau-jean", "body"), FAR_ARM("event", "body")};
    for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++) {
        run r = begin(texts[k]);
        assert_int_equal(r.status, PERP_OK);
        assert_string_equal(perp_sim_info(r.sim)->remark, "");
        for (int i = 0; i < 100; i++) {
            assert_true(perp_sim_step(r.sim, 0.01) >= 0);
        }
        assert_true(fabs(perp_sim_joint(r.sim, (perp_joint){0}).coordinate - 4.5) < 1e-9);
        perp_tree *tree;
        double q, qd;
        assert_int_equal(
            perp_tree_create(perp_scene_model(r.scene), NULL, 0, NULL, &tree, &r.error), PERP_OK);
        perp_tree_get(tree, NULL, &q, &qd);
        assert_true(fabs(q - 4.0) < 1e-12 && fabs(qd - 0.5) < 1e-12);
        perp_tree_destroy(tree);
        finish(&r);
    }
}

// A rod on a pin whose centre moves away from the pin. The theta method would turn that rate around in every step; it is
// taken away before the first one, and the rate across the arm shared between velocity and spin.
static void rates_that_joints_do_not_allow_are_removed(void **state)
{
    (void)state;
    run r =
        begin("{\"gravity\": [0, 0], \"stepper\": \"moreau-jean\", \"bodies\": [{\"name\": \"A\", "
              "\"mass\": 1, \"inertia\": 1, \"position\": [1, 0], \"velocity\": [1, 2]}], "
              "\"joints\": [{\"name\": \"pin\", \"kind\": \"revolute\", \"b\": \"A\", \"at\": "
              "[0, 0]}]}");
    assert_int_equal(r.status, PERP_OK);
    assert_non_null(strstr(perp_sim_info(r.sim)->remark, "pin"));
    perp_body a = perp_model_body(perp_scene_model(r.scene), "A");
    perp_twist v = perp_sim_body_twist(r.sim, a);
    // momentum about the pin is kept: m r v = 2 = (m r^2 + I) w
    assert_true(fabs(v.v_W.x) < 1e-14 && fabs(v.v_W.y - 1.0) < 1e-14);
    assert_true(fabs(v.w_W.z - 1.0) < 1e-14);
    for (int k = 0; k < 100; k++) {
        assert_int_equal(perp_sim_step(r.sim, 0.01), PERP_OK);
        assert_true(fabs(perp_sim_body_twist(r.sim, a).w_W.z - 1.0) < 1e-3);
    }
    finish(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(overlaps_are_removed),
        cmocka_unit_test(rates_that_joints_do_not_allow_are_removed),
        cmocka_unit_test(overlaps_as_given_are_worked_off),
        cmocka_unit_test(joints_as_given_are_worked_off),
        cmocka_unit_test(small_faults_as_given_pass),
        cmocka_unit_test(starts_as_given_are_saved),
        cmocka_unit_test(events_need_a_start_that_fits),
        cmocka_unit_test(open_joints_are_closed),
        cmocka_unit_test(impossible_starts_are_refused),
        cmocka_unit_test(heavy_chains_gain_no_energy),
        cmocka_unit_test(starts_beyond_half_a_turn_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
