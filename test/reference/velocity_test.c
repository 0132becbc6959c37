// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Constraints psi(q, qdot, t) = 0 on velocities, and constraints whose errors decay with epsilon, against closed forms in
// all steppers. Every step is certified, and every run judged again from its recording.
#include "support/cmocka.h"
#include "support/folder.h"
#include "support/recorded.h"

#include <perp/io.h>

#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static folder place;

typedef struct scheme {
    perp_stepper stepper;
    const char *keys;
} scheme;

static const scheme schemes[] = {
    {PERP_STEPPER_STEWART_TRINKLE, ""},
    {PERP_STEPPER_STEWART_TRINKLE, ", \"form\": \"lcp\""},
    {PERP_STEPPER_STEWART_TRINKLE, ", \"form\": \"mcp\", \"coordinates\": \"body\""},
    {PERP_STEPPER_STEWART_TRINKLE, ", \"coordinates\": \"joint\""},
    {PERP_STEPPER_STEWART_TRINKLE, ", \"coordinates\": \"joint\", \"form\": \"lcp\""},
    {PERP_STEPPER_STEWART_TRINKLE, ", \"positions\": \"exact\""},
    {PERP_STEPPER_ANITESCU_POTRA, ""},
    {PERP_STEPPER_MOREAU_JEAN, ""},
    {PERP_STEPPER_EVENT, ""}};
enum { SCHEMES = sizeof schemes / sizeof *schemes, EVENT = SCHEMES - 1, JOINTS = 8 };

static void near(double got, double want, double tolerance, const char *what)
{
    if (!(fabs(got - want) <= tolerance)) {
        fail_msg("%s is %.17g, not %.17g, off by %.3g", what, got, want, got - want);
    }
}

static void judge(int k)
{
    perp_check check = recorded_check(place.path);
    for (int i = 0; i < PERP_CHECK_COUNT; i++) {
        if (check.item[i].done && !(check.item[i].over <= 1.0)) {
            fail_msg("%s%s: %s is %g, the limit %g", perp_stepper_word((int)schemes[k].stepper),
                     schemes[k].keys, check.item[i].name, check.item[i].worst, check.item[i].limit);
        }
    }
    assert_true(check.passed);
}

// Runs a scene, whose text has a place for the keys of scheme k, and judges it. joint: states at the end.
static void run(const char *scene, int k, double h, int steps, perp_joint_state joint[JOINTS])
{
    char text[4000];
    (void)snprintf(text, sizeof text, scene, schemes[k].keys);
    recorded_run run = {.stepper = schemes[k].stepper, .h = h, .steps = steps};
    recorded_counts counts = recorded_scene(text, place.path, run);
    assert_int_equal(counts.violated, 0);
    judge(k);
    perp_recording *recording = recorded_open(place.path);
    perp_snapshot frame = recorded_frame(recording, steps);
    int joints = perp_recording_about(recording)->joints;
    assert_true(joints <= JOINTS);
    memcpy(joint, frame.joint, (size_t)joints * sizeof *joint);
    perp_recording_close(recording);
}

#define SOLID(name, height, velocity)                                                              \
    "{\"name\": \"" name "\", \"kind\": \"solid\", \"mass\": 1, \"inertia\": [1, 1, 1], "          \
    "\"position\": [0, 0, " height "], \"velocity\": " velocity "}"
#define SLIDE(name, height, axis)                                                                  \
    "{\"name\": \"" name "\", \"kind\": \"prismatic\", \"b\": \"" name "\", \"axis\": " axis       \
    ", \"at\": [0, 0, " height "]}"
#define THREE_SLIDERS                                                                                                     \
    "{\"gravity\": [0, 0, 0]%s, \"bodies\": [" SOLID("x", "0", "[1, 0, 0]") ", " SOLID("y", "1", "[0, 0, 0]") ", " SOLID( \
        "z", "3",                                                                                                         \
        "[0, 0, 2]") "], \"joints\": [" SLIDE("x", "0",                                                                   \
                                              "[1, 0, 0]") ", " SLIDE("y", "1",                                           \
                                                                      "[0, 1, 0]") ", " SLIDE("z",                        \
                                                                                              "3",                        \
                                                                                              "[0"                        \
                                                                                              ", "                        \
                                                                                              "0,"                        \
                                                                                              " 1"                        \
                                                                                              "]") ", "

// Three equal masses with y' = z x', which is no derivative of a coordinate: z = w t, x' = c / sqrt(1 + z^2),
// y' = z x'.
static void nonholonomic(void **state)
{
    (void)state;
    static const char scene[] =
        THREE_SLIDERS "{\"name\": \"roll\", \"kind\": \"coupling\", "
                      "\"velocity\": \"dq[y] - q[z]*dq[x]\", \"rate\": 0}]}";
    for (int k = 0; k < SCHEMES; k++) {
        perp_joint_state joint[JOINTS];
        double h = 0.002, e = k == EVENT ? 1e-9 : h;
        run(scene, k, h, 500, joint);
        near(joint[0].coordinate, 0.5 * asinh(2.0), e, "x");
        near(joint[1].coordinate, 0.5 * (sqrt(5.0) - 1.0), e, "y");
        near(joint[0].rate, 1.0 / sqrt(5.0), e, "x'");
        near(joint[3].rate, 0.0, k == EVENT ? 1e-10 : 2.0 * h, "psi");
    }
}

// With an effort that is too small psi slips, and the motor pushes with its effort along d psi / d qdot: (1, 2) here.
static void limited(void **state)
{
    (void)state;
    static const char scene[] =
        THREE_SLIDERS "{\"name\": \"drive\", \"kind\": \"coupling\", \"velocity\": "
                      "\"dq[x] + 2*dq[y]\", \"rate\": 20, \"rate_effort\": 0.5}]}";
    for (int k = 0; k < SCHEMES; k++) {
        perp_joint_state joint[JOINTS];
        run(scene, k, 0.01, 100, joint);
        near(joint[0].rate, 1.5, 1e-9, "x'");
        near(joint[1].rate, 1.0, 1e-9, "y'");
        near(joint[3].drive, 0.5 * 0.01, 1e-10, "impulse");
        near(joint[3].coordinate, 0.0, 0.0, "coordinate");
    }
}

// An input steers: psi = y' - u x' with u = 2 t. Equal masses: x' = c / sqrt(1 + u^2).
static void steered(void **state)
{
    (void)state;
    static const char scene[] =
        "{\"inputs\": [{\"name\": \"u\", \"value\": \"2*t\"}], \"gravity\": [0, 0, 0]%s, "
        "\"bodies\": "
        "[" SOLID("x", "0", "[1, 0, 0]") ", " SOLID("y", "1", "[0, 0, 0]") "], \"joints\": [" SLIDE(
            "x", "0",
            "[1, 0, 0]") ", " SLIDE("y", "1",
                                    "[0, 1, 0]") ", {\"name\": \"roll\", \"kind\": \"coupling\", "
                                                 "\"velocity\": \"dq[y] - u*dq[x]\", \"rate\": "
                                                 "0}]}";
    for (int k = 0; k < SCHEMES; k++) {
        perp_joint_state joint[JOINTS];
        run(scene, k, 0.002, 250, joint);
        // inputs are held over a step: in the last one u = 0.996
        near(joint[0].rate, 1.0 / sqrt(1.0 + 0.996 * 0.996), 1e-3, "x'");
        near(joint[1].rate, 0.996 * joint[0].rate, 1e-9, "y'");
    }
}

// Speed of constant size, psi = sqrt(x'^2 + y'^2) - 1, with a force along y from a spring: not linear in the rates.
// Linearised in each step, psi is off by second order; `event` refuses it.
static void not_linear(void **state)
{
    (void)state;
    static const char scene[] =
        THREE_SLIDERS "{\"name\": \"speed\", \"kind\": \"coupling\", \"velocity\": "
                      "\"sqrt(dq[x]^2 + dq[y]^2) - 1\", \"rate\": 0}],\n"
                      "\"forces\": [{\"kind\": \"force\", \"body\": \"y\", \"fy\": 1}]}";
    for (int k = 0; k < EVENT; k++) {
        perp_joint_state joint[JOINTS];
        run(scene, k, 0.002, 500, joint);
        // theta' = cos(theta) for the direction theta of the velocity: sin(theta) = tanh(t)
        near(joint[1].rate, tanh(1.0), 2e-3, "y'");
        near(joint[3].rate, 0.0, 1e-5, "psi");
    }
    char text[4000];
    perp_scene *read;
    perp_sim *sim;
    perp_error error = {0};
    (void)snprintf(text, sizeof text, scene, ", \"stepper\": \"event\"");
    assert_int_equal(perp_scene_parse("s", text, strlen(text), NULL, &read, &error), PERP_OK);
    perp_sim_def def = perp_scene_sim_def(read);
    assert_true(perp_sim_create(perp_scene_model(read), &def, NULL, &sim, &error) < 0);
    assert_non_null(strstr(error.text, "speed"));
    assert_non_null(strstr(error.text, "not linear"));
    perp_scene_destroy(read);
}

#define PLANAR_PAIR                                                                                \
    "{\"gravity\": [0, 0]%s, \"bodies\": [{\"name\": \"a\", \"mass\": 2, \"inertia\": 1, "         \
    "\"position\": [0.1, 0]}, {\"name\": \"b\", \"mass\": 1, \"inertia\": 1, \"position\": [0, "   \
    "1], "                                                                                         \
    "\"velocity\": [0.3, 0]}], \"joints\": [{\"name\": \"x\", \"kind\": \"prismatic\", \"b\": "    \
    "\"a\", \"axis\": [1, 0]}, {\"name\": \"y\", \"kind\": \"prismatic\", \"b\": \"b\", "          \
    "\"axis\": "                                                                                   \
    "[1, 0], \"anchor_a\": [0, 1]}, "

// phi = x - 2 y - sin(t)/20 starts at 0.1 with phi' = -0.65, and decays as (phi_0 + (phi_0' + phi_0/eps) t) e^(-t/eps).
// Time steps are implicit Euler steps of it, here repeated.
static void target_decays(void **state)
{
    (void)state;
    static const char scene[] = PLANAR_PAIR
        "{\"name\": \"tie\", \"kind\": \"coupling\", \"coordinate\": \"q[x] - 2*q[y]\", "
        "\"target\": \"0.05*sin(t)\", \"epsilon\": 0.05}]}";
    const double eps = 0.05, h = 0.001, end = 0.3;
    double exact = (0.1 + (-0.65 + 0.1 / eps) * end) * exp(-end / eps), phi = 0.1, rate = -0.65;
    for (int i = 0; i < 300; i++) {
        double s = 1.0 + h / eps;
        rate = (rate - h * phi / (eps * eps)) / (s * s);
        phi += h * rate;
    }
    for (int k = 0; k < SCHEMES; k++) {
        perp_joint_state joint[JOINTS];
        run(scene, k, h, 300, joint);
        double got = joint[2].coordinate - 0.05 * sin(end);
        if (k == EVENT) {
            near(got, exact, 1e-10, "phi");
        } else if (schemes[k].stepper != PERP_STEPPER_MOREAU_JEAN) {
            near(got, phi, 3e-6, "phi of Euler's steps");  // the target moves by its slope at ends
        }
        near(got, exact, 2e-4, "phi");
    }
}

// psi = x' - 2 y' - 0.1 decays as e^(-t/eps).
static void rate_decays(void **state)
{
    (void)state;
    static const char scene[] = PLANAR_PAIR
        "{\"name\": \"tie\", \"kind\": \"coupling\", \"velocity\": \"dq[x] - 2*dq[y]\", "
        "\"rate\": 0.1, \"epsilon\": 0.05}]}";
    for (int k = 0; k < SCHEMES; k++) {
        perp_joint_state joint[JOINTS];
        run(scene, k, 0.001, 100, joint);
        double euler = -0.7 * pow(1.0 + 0.001 / 0.05, -100.0);
        near(joint[2].rate - 0.1, k == EVENT ? -0.7 * exp(-2.0) : euler, 1e-9, "psi");
    }
}

// With q-dependent slopes no error remains: drift is part of the row, and psi stays at the size of the step.
static void stabilised_follows(void **state)
{
    (void)state;
    static const char scene[] =
        THREE_SLIDERS "{\"name\": \"roll\", \"kind\": \"coupling\", "
                      "\"velocity\": \"dq[y] - q[z]*dq[x]\", \"rate\": 0, \"epsilon\": 0.1}]}";
    for (int k = 0; k < SCHEMES; k++) {
        perp_joint_state joint[JOINTS];
        run(scene, k, 0.001, 1000, joint);
        near(joint[3].rate, 0.0, k == EVENT ? 1e-9 : 2e-4, "psi");
        near(joint[0].coordinate, 0.5 * asinh(2.0), k == EVENT ? 1e-8 : 1e-3, "x");
    }
}

// Exchanges the last digit of "rate": 0 in the text of the scene that the recording keeps.
static void ask_for_another_rate(void)
{
    char text[4000] = "";
    hid_t file = H5Fopen(folder_at(&place, "run.h5"), H5F_ACC_RDWR, H5P_DEFAULT);
    hid_t dataset = H5Dopen2(file, "scene", H5P_DEFAULT), space = H5Dget_space(dataset);
    assert_true(H5Sget_simple_extent_npoints(space) < (hssize_t)sizeof text);
    assert_true(H5Dread(dataset, H5T_NATIVE_UCHAR, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) >= 0);
    char *rate = strstr(text, "\"rate\": 0");
    assert_non_null(rate);
    rate[8] = '1';
    assert_true(H5Dwrite(dataset, H5T_NATIVE_UCHAR, H5S_ALL, H5S_ALL, H5P_DEFAULT, text) >= 0);
    H5Sclose(space);
    H5Dclose(dataset);
    H5Fclose(file);
}

// perp check judges psi by the recorded velocities: a run that has psi = 0 where the scene asks for 1 does not pass.
static void wrong_rates_are_seen(void **state)
{
    (void)state;
    static const char scene[] = PLANAR_PAIR
        "{\"name\": \"tie\", \"kind\": \"coupling\", \"velocity\": \"dq[x] - 2*dq[y]\", "
        "\"rate\": 0}]}";
    for (int k = 0; k < EVENT; k++) {  // event runs are not judged by rates
        perp_joint_state joint[JOINTS];
        run(scene, k, 0.01, 10, joint);
        ask_for_another_rate();
        perp_check check = recorded_check(place.path);
        assert_false(check.passed);
        assert_true(check.item[PERP_CHECK_RATE].over > 1.0);
    }
}

// A function that ends at q = -0.1: the message names the coupling.
static void undefined_is_named(void **state)
{
    (void)state;
    static const char text[] =
        "{\"gravity\": [0, 0], \"bodies\": [{\"name\": \"a\", \"mass\": 1, \"inertia\": 1, "
        "\"velocity\": [-1, 0]}], \"joints\": [{\"name\": \"x\", \"kind\": \"prismatic\", "
        "\"b\": \"a\", \"axis\": [1, 0]}, {\"name\": \"root\", \"kind\": \"coupling\", "
        "\"coordinate\": \"sqrt(0.1 + q[x])\", \"stiffness\": 1}]}";
    perp_scene *scene;
    perp_sim *sim;
    perp_error error = {0};
    assert_int_equal(perp_scene_parse("s", text, strlen(text), NULL, &scene, &error), PERP_OK);
    assert_int_equal(perp_sim_create(perp_scene_model(scene), NULL, NULL, &sim, &error), PERP_OK);
    perp_status status = PERP_OK;
    for (int i = 0; i < 20 && status >= 0; i++) {
        status = perp_sim_step(sim, 0.01);
    }
    assert_true(status < 0);
    assert_non_null(strstr(perp_sim_error(sim)->text, "'root'"));
    perp_sim_destroy(sim);
    perp_scene_destroy(scene);
}

static int open_place(void **state)
{
    (void)state;
    place = folder_create();
    return 0;
}

static int close_place(void **state)
{
    (void)state;
    folder_remove(&place);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nonholonomic),
        cmocka_unit_test(limited),
        cmocka_unit_test(steered),
        cmocka_unit_test(not_linear),
        cmocka_unit_test(target_decays),
        cmocka_unit_test(rate_decays),
        cmocka_unit_test(stabilised_follows),
        cmocka_unit_test(wrong_rates_are_seen),
        cmocka_unit_test(undefined_is_named),
    };
    return cmocka_run_group_tests(tests, open_place, close_place);
}
