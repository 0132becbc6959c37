// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The certificate of a run and the judge of its recording reach one verdict. Scenes on which they once differed
// (test/data/agree): joints closed exactly, contacts of the theta method that are gone where the step ends or that the
// recorded rates do not fit, loads that swing on light links, parts without impulses, small scenes with events, rebounds by
// Poisson's law, slip without friction, rolling friction by polygons, motors whose impulse a stop takes back, links that turn
// by radians in a step, bodies without inertia, turns by more than a half in joint coordinates, stiff springs on light bodies
// and where the implicit step ends.
#include "support/cmocka.h"
#include "support/folder.h"
#include "support/recorded.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

static folder place;

typedef struct verdicts {
    int violated;  // steps
    perp_check check;
} verdicts;

// Runs the scene of a file as it asks to be run, records it, and judges the recording.
static verdicts judge_twice(const char *name)
{
    char path[200], text[8192];
    snprintf(path, sizeof path, "test/data/agree/%s.json", name);
    perp_scene *scene = NULL;
    perp_error error = {0};
    if (perp_scene_load(path, NULL, &scene, &error) < 0) {
        fail_msg("%s: %s", path, error.text);
    }
    size_t size = 0;
    const char *whole = perp_scene_text(scene, &size);
    assert_true(size < sizeof text);
    memcpy(text, whole, size);
    text[size] = '\0';
    recorded_run run = {.stepper = perp_scene_sim_def(scene).stepper,
                        .steps =
                            (int)floor(perp_scene_until(scene) / perp_scene_step(scene) + 0.5)};
    perp_scene_destroy(scene);
    verdicts out = {.violated = recorded_scene(text, place.path, run).violated};
    out.check = recorded_check(place.path);
    return out;
}

static void both_judges_agree(void **state)
{
    (void)state;
    static const char *const names[] = {"exact-chain",     "exact-pair",
                                        "tiles-middle",    "heavy-middle",
                                        "light-bars",      "small-event",
                                        "tipping-boxes",   "open-chain",
                                        "parts-at-rest",   "limb",
                                        "two-phases",      "as-given-implicit",
                                        "two-on-a-hill",   "frictionless-edge",
                                        "rolling-polygon", "motor-on-stop",
                                        "tiny-bars",       "light-pushers",
                                        "whirling-box",    "light-between-springs",
                                        "stiff-spring",    "far-in-a-bin"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        place = folder_create();
        verdicts v = judge_twice(names[k]);
        if (v.check.passed != (v.violated == 0)) {
            for (int i = 0; i < PERP_CHECK_COUNT; i++) {
                print_message("%s: %g of limit\n", v.check.item[i].name, v.check.item[i].over);
            }
            fail_msg("%s: %d steps violated, the recording is judged %s", names[k], v.violated,
                     v.check.passed ? "passed" : "violated");
        }
        folder_remove(&place);
    }
}

// Which contacts pushed in the second phase of Poisson's law is not recorded: the verdict says that it was not judged.
static void sums_of_two_phases_are_partly_judged(void **state)
{
    (void)state;
    place = folder_create();
    verdicts v = judge_twice("two-phases");
    assert_true(v.check.partly);
    assert_false(v.check.item[PERP_CHECK_PUSH].done || v.check.item[PERP_CHECK_SLIP].done);
    assert_true(v.check.item[PERP_CHECK_CLOSE].done);
    folder_remove(&place);
}

// A rod on a pin falls on a floor, tip first, and friction locks it: no velocity takes back what the pin has drifted, nor is
// there a rebound. It stays, and the steps are certified.                              theory (P15), (P20)
static void locked_limbs_stay(void **state)
{
    (void)state;
    static const char *const names[] = {"limb-locks", "limb-rebounds", "limb-large"};
    for (int k = 0; k < 3; k++) {
        place = folder_create();
        verdicts v = judge_twice(names[k]);
        assert_int_equal(v.violated, 0);
        assert_true(v.check.passed);
        folder_remove(&place);
    }
}

// Rows of rates do not take back what bodies that turn overlap or are open by: a hundredth of what is allowed in each part, until
// more is there than is allowed. Closings do, also within the skin of points and segments.   theory (K8), (P21)
static void grown_errors_are_taken_back(void **state)
{
    (void)state;
    static const char *const names[] = {"disc-on-rod", "points-on-rod", "ball-on-edge",
                                        "cradle-of-rates"};
    for (int k = 0; k < 4; k++) {
        place = folder_create();
        verdicts v = judge_twice(names[k]);
        assert_int_equal(v.violated, 0);
        assert_true(v.check.passed);
        folder_remove(&place);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_judges_agree), cmocka_unit_test(sums_of_two_phases_are_partly_judged),
        cmocka_unit_test(locked_limbs_stay), cmocka_unit_test(grown_errors_are_taken_back)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
