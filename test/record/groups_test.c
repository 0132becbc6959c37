// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// What one group of bodies loses does not pay for another: two links that whirl and are given energy in long steps, far above a
// heavy box that slides and loses more. Neither its losses nor its contacts, which parts of steps do not divide, hide
// the links, from the certificate or from the judge of the recording.                  theory (K4), (P16)
#include "support/cmocka.h"
#include "support/folder.h"
#include "support/recorded.h"

#include <stdio.h>

static const char scene[] =
    "{\"name\": \"apart\", \"step\": 0.004, \"until\": 1, \"gravity\": [0, 0, -9.81], \"shapes\": ["
    "{\"name\": \"floor\", \"kind\": \"halfspace\", \"position\": [0, 0, -50], \"mu\": 0.5}],"
    "\"bodies\": [{\"name\": \"l0\", \"kind\": \"solid\", \"position\": [0.5, 0, 0], \"mass\": 1, "
    "\"inertia\": [0.0833, 0.0833, 0.0833]},"
    "{\"name\": \"l1\", \"kind\": \"solid\", \"position\": [1.5, 0, 0], \"mass\": 2.5, "
    "\"inertia\": [0.208, 0.208, 0.208], \"velocity\": [-45, -75, 18]}%s],"
    "\"joints\": [{\"name\": \"p0\", \"kind\": \"revolute\", \"b\": \"l0\", \"at\": [0, 0, 0], "
    "\"axis\": [0, 1, 0]}, {\"name\": \"p1\", \"kind\": \"spherical\", \"a\": \"l0\", "
    "\"b\": \"l1\", \"at\": [1, 0, 0]}]}";

static const char box[] =
    ", {\"name\": \"box\", \"kind\": \"solid\", \"position\": [0, 0, -49.5], \"velocity\": "
    "[300, 0, 0], \"shapes\": [{\"kind\": \"box\", \"size\": [1, 1, 1], \"density\": 1000, "
    "\"mu\": 0.5}]}";

typedef struct verdicts {
    int violated;   // steps
    double energy;  // of the recording, over its limit
} verdicts;

static verdicts judge_twice(bool beside, double h, int steps)
{
    char text[2000];
    snprintf(text, sizeof text, scene, beside ? box : "");
    folder place = folder_create();
    recorded_run how = {.stepper = PERP_STEPPER_MOREAU_JEAN, .h = h, .steps = steps};
    verdicts out = {.violated = recorded_scene(text, place.path, how).violated};
    out.energy = recorded_check(place.path).item[PERP_CHECK_ENERGY].over;
    print_message("h = %g, %s: %d violated, check %.3g of its limit\n", h,
                  beside ? "beside" : "alone", out.violated, out.energy);
    folder_remove(&place);
    return out;
}

static void losses_of_others_do_not_pay(void **state)
{
    (void)state;
    for (int beside = 0; beside < 2; beside++) {
        verdicts coarse = judge_twice(beside, 0.004, 20);
        assert_true(coarse.violated > 0);
        assert_true(coarse.energy > 1.0);
        verdicts fine = judge_twice(beside, 0.0002, 200);
        assert_int_equal(fine.violated, 0);
        assert_true(fine.energy <= 1.0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(losses_of_others_do_not_pay)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
