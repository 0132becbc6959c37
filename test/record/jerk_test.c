// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// A drive brings a hanging chain to its rate within one long step. Links fold by more than a radian on their arcs and lift the
// load at the end by more than its speed; what the drive loses at once does not pay for that, and the step is divided.
#include "support/cmocka.h"
#include "support/folder.h"
#include "support/recorded.h"

#include <math.h>
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

static recorded_counts record(const char *text, double h, int steps, perp_stepper stepper)
{
    recorded_run run = {.stepper = stepper, .h = h, .steps = steps};
    return recorded_scene(text, place.path, run);
}

static recorded_counts record_chain(double rate, double h, int steps, perp_stepper stepper)
{
    char text[1200];
    snprintf(text, sizeof text, chain, rate);
    return record(text, h, steps, stepper);
}

// Of the chain's last link, where the recording ends [m].
static double height_of_load(void)
{
    perp_recording *recording = recorded_open(place.path);
    perp_recording_info info = *perp_recording_about(recording);
    perp_snapshot last = recorded_frame(recording, info.frames - 1);
    double y = last.q[3 * 2 + 1];
    perp_recording_close(recording);
    return y;
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
        recorded_counts whole = record_chain(280.0, 0.0094, 1, steppers[k]);
        double rough = height_of_load();
        assert_int_equal(whole.divided, 1);
        assert_int_equal(whole.violated, 0);
        assert_true(energy_over() <= 1.0);
        record_chain(280.0, 1e-5, 940, steppers[k]);
        assert_true(fabs(rough - height_of_load()) < 1e-3);
        folder_remove(&place);
    }
}

// The same chain in one piece, beside two discs that start overlapping and are kept so, which keeps steps from being divided:
// energy is created that the loss of the drive does not pay for, and the recording alone shows it. Without (K13) what is
// left in it are the sums of (K18), 14 times their limit.
static void recordings_show_what_drives_would_pay(void **state)
{
    (void)state;
    static const char unfit[] =
        "{\"name\": \"unfit\", \"start\": \"as given\", \"step\": 0.0094, \"until\": 1, "
        "\"gravity\": [0, -9.81], \"coordinates\": \"joint\", \"bodies\": ["
        "{\"name\": \"l0\", \"position\": [0, -0.5], \"mass\": 1, \"inertia\": 0.0833},"
        "{\"name\": \"l1\", \"position\": [0, -1.5], \"mass\": 1, \"inertia\": 0.0833},"
        "{\"name\": \"l2\", \"position\": [0, -2.5], \"mass\": 362, \"inertia\": 30.2},"
        "{\"name\": \"d0\", \"position\": [50, 0], \"shapes\": [{\"kind\": \"disc\", "
        "\"radius\": 0.5, \"density\": 1}]}, {\"name\": \"d1\", \"position\": [50.5, 0], "
        "\"shapes\": [{\"kind\": \"disc\", \"radius\": 0.5, \"density\": 1}]}],"
        "\"joints\": [{\"name\": \"p0\", \"kind\": \"revolute\", \"b\": \"l0\", \"at\": [0, 0]},"
        "{\"name\": \"p1\", \"kind\": \"revolute\", \"a\": \"l0\", \"b\": \"l1\", \"at\": [0, -1],"
        " \"rate\": %g},"
        "{\"name\": \"p2\", \"kind\": \"revolute\", \"a\": \"l1\", \"b\": \"l2\", \"at\": [0, "
        "-2]}]}";
    const double rates[] = {1.0, 280.0};
    for (int k = 0; k < 2; k++) {
        char text[1600];
        snprintf(text, sizeof text, unfit, rates[k]);
        place = folder_create();
        assert_int_equal(record(text, 0.0094, 1, PERP_STEPPER_STEWART_TRINKLE).divided, 0);
        double over = energy_over();
        assert_true(k == 0 ? over <= 1.0 : over > 1e4);
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
        recorded_counts counts = record(rod, h[k], 5, PERP_STEPPER_STEWART_TRINKLE);
        assert_true((counts.divided > 0) == (k == 0));
        assert_int_equal(counts.violated, 0);
        assert_true(energy_over() <= 1.0);
        folder_remove(&place);
    }
}

static void slow_drives_pass(void **state)
{
    (void)state;
    const double rates[] = {1.0, 280.0}, steps[] = {0.0094, 1e-5};
    for (int k = 0; k < 2; k++) {
        place = folder_create();
        recorded_counts counts = record_chain(rates[k], steps[k], 50, PERP_STEPPER_STEWART_TRINKLE);
        assert_int_equal(counts.violated, 0);
        assert_true(energy_over() <= 1.0);
        folder_remove(&place);
    }
}

// Friction turns with the rod at the stop, and works along the mean of both velocities: nothing is created.
static void friction_at_a_stop_passes(void **state)
{
    (void)state;
    place = folder_create();
    assert_int_equal(record(stop, 0.00359, 57, PERP_STEPPER_STEWART_TRINKLE).violated, 0);
    assert_true(energy_over() <= 1.0);
    folder_remove(&place);
}

// Two links that whirl at 90 rad/s with steps of a third of a radian: the theta method leaves the joint open along the chord
// and closes it in the next step, towards the axis, which gives energy in every step and takes none back. In parts the
// joint stays closed.                                                                   theory (K5), (P16)
static const char whirl[] =
    "{\"name\": \"whirl\", \"step\": 0.004, \"until\": 1, \"stepper\": \"moreau-jean\", "
    "\"gravity\": [0, 0, -1.6], \"bodies\": ["
    "{\"name\": \"l0\", \"kind\": \"solid\", \"position\": [0.5, 0, 0], \"mass\": 1, "
    "\"inertia\": [0.0833, 0.0833, 0.0833]},"
    "{\"name\": \"l1\", \"kind\": \"solid\", \"position\": [1.5, 0, 0], \"mass\": 2.5, "
    "\"inertia\": [0.208, 0.208, 0.208], \"velocity\": [-45, -75, 18]}],"
    "\"joints\": [{\"name\": \"p0\", \"kind\": \"revolute\", \"b\": \"l0\", \"at\": [0, 0, 0], "
    "\"axis\": [0, 1, 0]}, {\"name\": \"p1\", \"kind\": \"spherical\", \"a\": \"l0\", "
    "\"b\": \"l1\", \"at\": [1, 0, 0]}]}";

// Energy at the end of a recording over that at its start.
static double energy_gained(void)
{
    perp_recording *recording = recorded_open(place.path);
    perp_recording_info info = *perp_recording_about(recording);
    perp_energy first = recorded_frame(recording, 1).energy;
    perp_energy last = recorded_frame(recording, info.frames - 1).energy;
    perp_recording_close(recording);
    return (last.kinetic + last.potential) / (first.kinetic + first.potential);
}

static void whirling_joints_do_not_pass_with_energy(void **state)
{
    (void)state;
    const double h[] = {0.004, 0.001, 0.0001};
    for (int k = 0; k < 3; k++) {
        place = folder_create();
        recorded_counts counts =
            record(whirl, h[k], (int)floor(0.2 / h[k] + 0.5), PERP_STEPPER_MOREAU_JEAN);
        double gained = energy_gained();
        print_message("h = %g: energy times %.4f, %d violated\n", h[k], gained, counts.violated);
        assert_true((energy_over() <= 1.0) == (counts.violated == 0));
        assert_true(counts.violated > 0 || fabs(gained - 1.0) < 0.01);
        assert_true(k < 2 || counts.violated == 0);
        folder_remove(&place);
    }
}

// A light bob on an explicit spring that the theta method feeds, and a heavy load that unfolds light links: what was refused for
// its energy passes in parts, with less of it.                                           theory (P16)
static void energy_divides_steps(void **state)
{
    (void)state;
    static const char spring[] =
        "{\"name\": \"spring\", \"step\": 0.01, \"until\": 1, \"stepper\": \"moreau-jean\", "
        "\"gravity\": [0, 0, 0], \"bodies\": [{\"name\": \"b\", \"kind\": \"solid\", "
        "\"position\": [1, 0, 0], \"mass\": 1, \"inertia\": [0.1, 0.1, 0.1], "
        "\"velocity\": [-4, -3, 2]}], \"forces\": [{\"kind\": \"spring\", \"b\": \"b\", "
        "\"stiffness\": 200, \"rest\": 0.5, \"damping\": 2}]}";
    place = folder_create();
    recorded_counts counts = record(spring, 0.01, 50, PERP_STEPPER_MOREAU_JEAN);
    assert_true(counts.divided > 0);
    assert_int_equal(counts.violated, 0);
    assert_true(energy_over() <= 1.0);
    assert_true(energy_gained() < 1.0);
    folder_remove(&place);
}

// A mass that passes beyond the end of its spring in one step: the pull along the direction of the start gave it half of its
// energy. In parts it does not; of an explicit spring that turns over, parts leave what its invariant explains. theory (K5)
static void springs_that_bend_do_not_feed(void **state)
{
    (void)state;
    const struct {
        double stiffness;
        const char *implicit;
        double
            most;  // energy after the step over that before: 1.44 and 1.43 in one piece, and 1.16 of the explicit one in two
    } spring[] = {{257.0, "true", 1.02}, {150.0, "false", 1.08}};
    for (int k = 0; k < 2; k++) {
        char text[600];
        snprintf(
            text, sizeof text,
            "{\"name\": \"bend\", \"step\": 0.08, \"until\": 1, \"gravity\": [0, 0], \"bodies\": ["
            "{\"name\": \"b\", \"position\": [1, 0], \"mass\": 1, \"inertia\": 0.06, "
            "\"velocity\": [12.5, 20]}], \"forces\": [{\"kind\": \"spring\", \"b\": \"b\", "
            "\"anchor_b\": [0.1, 0], \"stiffness\": %g, \"rest\": 0.53, \"implicit\": %s}]}",
            spring[k].stiffness, spring[k].implicit);
        place = folder_create();
        recorded_counts counts = record(text, 0.08, 1, PERP_STEPPER_STEWART_TRINKLE);
        double first = 0.5 * (12.5 * 12.5 + 20.0 * 20.0) + 0.5 * spring[k].stiffness * 0.57 * 0.57;
        perp_recording *recording = recorded_open(place.path);
        perp_energy last = recorded_frame(recording, 1).energy;
        perp_recording_close(recording);
        assert_true(counts.divided == 1 && counts.violated == 0);
        assert_true(energy_over() <= 1.0);
        assert_true((last.kinetic + last.potential) / first < spring[k].most);
        folder_remove(&place);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(drives_do_not_pay_for_arcs),
                                       cmocka_unit_test(recordings_show_what_drives_would_pay),
                                       cmocka_unit_test(drives_do_not_pay_for_chords),
                                       cmocka_unit_test(slow_drives_pass),
                                       cmocka_unit_test(friction_at_a_stop_passes),
                                       cmocka_unit_test(whirling_joints_do_not_pass_with_energy),
                                       cmocka_unit_test(energy_divides_steps),
                                       cmocka_unit_test(springs_that_bend_do_not_feed)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
