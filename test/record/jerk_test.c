// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// A drive brings a hanging chain to its rate within one long step. Links fold by more than a radian on their arcs and lift the
// load at the end by more than its speed; what the drive loses at once does not pay for that.
#include "support/cmocka.h"
#include "support/folder.h"
#include "support/recorded.h"

#include <stdio.h>

static folder place;

static const char chain[] =
    "{\"name\": \"chain\", \"step\": 0.0094, \"until\": 1, \"gravity\": [0, -9.81],"
    " \"coordinates\": \"joint\", \"bodies\": ["
    "{\"name\": \"l0\", \"position\": [0, -0.5], \"mass\": 1, \"inertia\": 0.0833},"
    "{\"name\": \"l1\", \"position\": [0, -1.5], \"mass\": 1, \"inertia\": 0.0833},"
    "{\"name\": \"l2\", \"position\": [0, -2.5], \"mass\": 362, \"inertia\": 30.2}],"
    "\"joints\": [{\"name\": \"p0\", \"kind\": \"revolute\", \"b\": \"l0\", \"at\": [0, 0]},"
    "{\"name\": \"p1\", \"kind\": \"revolute\", \"a\": \"l0\", \"b\": \"l1\", \"at\": [0, -1],"
    " \"rate\": %g},"
    "{\"name\": \"p2\", \"kind\": \"revolute\", \"a\": \"l1\", \"b\": \"l2\", \"at\": [0, -2]}]}";

// A rod on a pin with dry friction falls on a stop that gives all of its speed back.
static const char stop[] =
    "{\"name\": \"stop\", \"step\": 0.00359, \"until\": 1, \"gravity\": [0, -9.81],"
    " \"coordinates\": \"joint\", \"impact\": \"poisson\", \"bodies\": ["
    "{\"name\": \"b\", \"position\": [0.36572880805612357, 0], \"mass\": 0.7042036397916999,"
    " \"inertia\": 0.03537335322902245}],"
    "\"joints\": [{\"name\": \"j\", \"kind\": \"revolute\", \"b\": \"b\", \"at\": [0, 0],"
    " \"lower\": -0.1790764788157339, \"upper\": 0.46412623727342023, \"limit_restitution\": 1,"
    " \"friction\": 1.4004386258170192}]}";

// Returns how many of the steps are violated.
static int record(const char *text, double h, int steps, perp_stepper stepper)
{
    recorded_run run = {.stepper = stepper, .h = h, .steps = steps};
    return recorded_scene(text, place.path, run).violated;
}

static int record_chain(double rate, double h, int steps, perp_stepper stepper)
{
    char text[1200];
    snprintf(text, sizeof text, chain, rate);
    return record(text, h, steps, stepper);
}

static double energy_over(void)
{
    return recorded_check(place.path).item[PERP_CHECK_ENERGY].over;
}

static void drives_do_not_pay_for_arcs(void **state)
{
    (void)state;
    const perp_stepper steppers[] = {PERP_STEPPER_STEWART_TRINKLE, PERP_STEPPER_ANITESCU_POTRA};
    for (int k = 0; k < 2; k++) {
        place = folder_create();
        assert_int_equal(record_chain(280.0, 0.0094, 1, steppers[k]), 1);
        assert_true(energy_over() > 1.0);
        folder_remove(&place);
    }
}

// A rod that a drive brings to its rate within a step in which it turns by 2.8 rad. Exact positions leave it the chord as its
// velocity, which the pin gives it; the drive does not pay for that either.
static const char rod[] =
    "{\"name\": \"rod\", \"step\": 1.4, \"until\": 7, \"gravity\": [0, 0], \"positions\": "
    "\"exact\","
    " \"bodies\": [{\"name\": \"l\", \"position\": [0.5, 0], \"mass\": 1, \"inertia\": 0.0833}],"
    " \"joints\": [{\"name\": \"p\", \"kind\": \"revolute\", \"b\": \"l\", \"at\": [0, 0], "
    "\"rate\": 2}]}";

static void drives_do_not_pay_for_chords(void **state)
{
    (void)state;
    const double h[] = {1.4, 0.02};
    for (int k = 0; k < 2; k++) {
        place = folder_create();
        assert_int_equal(record(rod, h[k], 5, PERP_STEPPER_STEWART_TRINKLE), k == 0);
        assert_true((energy_over() > 1.0) == (k == 0));
        folder_remove(&place);
    }
}

static void slow_drives_pass(void **state)
{
    (void)state;
    const double rates[] = {1.0, 280.0}, steps[] = {0.0094, 1e-5};
    for (int k = 0; k < 2; k++) {
        place = folder_create();
        assert_int_equal(record_chain(rates[k], steps[k], 50, PERP_STEPPER_STEWART_TRINKLE), 0);
        assert_true(energy_over() <= 1.0);
        folder_remove(&place);
    }
}

// Friction turns with the rod at the stop, and works along the mean of both velocities: nothing is created.
static void friction_at_a_stop_passes(void **state)
{
    (void)state;
    place = folder_create();
    assert_int_equal(record(stop, 0.00359, 57, PERP_STEPPER_STEWART_TRINKLE), 0);
    assert_true(energy_over() <= 1.0);
    folder_remove(&place);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(drives_do_not_pay_for_arcs),
                                       cmocka_unit_test(drives_do_not_pay_for_chords),
                                       cmocka_unit_test(slow_drives_pass),
                                       cmocka_unit_test(friction_at_a_stop_passes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
