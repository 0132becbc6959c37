// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Starts that overlap, are open or past a limit: mended without motion, or refused with names; and steps that are worth
// nothing are not taken.
#include "support/cmocka.h"

#include <perp/perp.h>

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
    assert_true(fabs(perp_body_position(r.sim, (perp_body){1}).z - 0.5) < 1e-9);
    for (int k = 0; k < 20; k++) {
        assert_int_equal(perp_step(r.sim, 1e-3), PERP_OK);
        assert_true(perp_sim_info(r.sim)->energy.kinetic < 1e-15);
    }
    finish(&r);
}

// Kept, it makes energy when it is pushed out, and the certificate counts it.
static void overlaps_as_given_are_violations(void **state)
{
    (void)state;
    run r = begin(CUBE("\"start\": \"as given\", "));
    assert_int_equal(r.status, PERP_OK);
    assert_string_equal(perp_sim_info(r.sim)->remark, "");
    perp_status status = perp_step(r.sim, 1e-3);
    assert_true(status != PERP_OK);
    assert_false(perp_sim_info(r.sim)->certificate.passed);
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
            assert_int_equal(perp_step(r.sim, 1e-4), PERP_OK);
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

// A heavy load on light links, released level, in joint coordinates and steps too long for it: not passed.
static void heavy_chains_do_not_pass(void **state)
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
    int passed = 0, steps = 0;
    for (; steps < 500; steps++) {
        perp_status status = perp_step(r.sim, 1e-3);
        passed += status == PERP_OK;
        if (status < 0) {
            break;
        }
    }
    assert_true(passed < steps);
    finish(&r);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(overlaps_are_removed),
        cmocka_unit_test(overlaps_as_given_are_violations),
        cmocka_unit_test(open_joints_are_closed),
        cmocka_unit_test(impossible_starts_are_refused),
        cmocka_unit_test(heavy_chains_do_not_pass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
