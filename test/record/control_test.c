// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Inputs and actuators in recordings: read back bit for bit, judged in every stepper, and seen when one number is
// changed.
#include "support/cmocka.h"
#include "support/folder.h"
#include "support/recorded.h"

#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static folder place;

// An arm of two links over a floor that it touches, and a cart with a fan: every kind of actuator, limits that are
// reached, a filter, a gear, rotors, sources, and a force that depends on an input.
static const char robot[] =
    "{\"name\": \"robot\", \"step\": 0.005, \"until\": 0.3%s,\n"
    " \"shapes\": [{\"name\": \"floor\", \"kind\": \"halfplane\", \"mu\": 0.4}],\n"
    " \"inputs\": [{\"name\": \"goal\", \"value\": \"0.5*sin(20*t)\", \"range\": [-0.4, 0.4]},\n"
    "  {\"name\": \"feedback\", \"value\": \"goal - 2*q[elbow] - 0.1*dq[elbow]\"},\n"
    "  {\"name\": \"wind\", \"value\": 0.3, \"unit\": \"N\"}],\n"
    " \"bodies\": [\n"
    "  {\"name\": \"upper\", \"position\": [0.5, 1], \"mass\": 1, \"inertia\": 0.1},\n"
    "  {\"name\": \"fore\", \"position\": [1.5, 1], \"mass\": 1, \"inertia\": 0.1,\n"
    "   \"shapes\": [{\"kind\": \"disc\", \"radius\": 0.1, \"position\": [0.5, 0]}]},\n"
    "  {\"name\": \"cart\", \"position\": [-2, 0.1], \"velocity\": [0.2, 0], \"mass\": 2, "
    "\"inertia\": 0.1,\n"
    "   \"shapes\": [{\"kind\": \"box\", \"size\": [0.4, 0.2]}]},\n"
    "  {\"name\": \"mast\", \"position\": [-2, 0.3], \"mass\": 0.3, \"inertia\": 0.01}],\n"
    " \"joints\": [\n"
    "  {\"name\": \"shoulder\", \"kind\": \"revolute\", \"b\": \"upper\", \"at\": [0, 1], "
    "\"armature\": 0.05},\n"
    "  {\"name\": \"elbow\", \"kind\": \"revolute\", \"a\": \"upper\", \"b\": \"fore\", \"at\": "
    "[1, 1],\n"
    "   \"damping\": 0.1},\n"
    "  {\"name\": \"mount\", \"kind\": \"prismatic\", \"a\": \"cart\", \"b\": \"mast\", \"at\": "
    "[-2, 0.3],\n"
    "   \"axis\": [0, 1], \"armature\": 0.1}],\n"
    " \"forces\": [{\"kind\": \"force\", \"body\": \"cart\", \"fx\": \"5*wind\"}],\n"
    " \"actuators\": [\n"
    "  {\"name\": \"lift\", \"kind\": \"position\", \"joint\": \"shoulder\", \"control\": "
    "\"goal\", \"kp\": 200,\n"
    "   \"damping_ratio\": 0.5, \"effort\": 12},\n"
    "  {\"name\": \"bend\", \"kind\": \"motor\", \"joint\": \"elbow\", \"control\": "
    "\"3*feedback\",\n"
    "   \"time_constant\": 0.03, \"gear\": -2},\n"
    "  {\"name\": \"brake\", \"kind\": \"velocity\", \"joint\": \"elbow\", \"control\": \"0\", "
    "\"kv\": 0.5,\n"
    "   \"effort\": [-0.2, 0.3]},\n"
    "  {\"name\": \"hoist\", \"kind\": \"general\", \"joint\": \"mount\", \"control\": \"wind\", "
    "\"gain\": 2,\n"
    "   \"bias\": [2.943, 5, -1]}]}\n";

enum { STEPS = 45, ROW = 12 };

static const perp_stepper steppers[] = {PERP_STEPPER_STEWART_TRINKLE, PERP_STEPPER_ANITESCU_POTRA,
                                        PERP_STEPPER_MOREAU_JEAN, PERP_STEPPER_EVENT,
                                        PERP_STEPPER_IMPLICIT};
enum { STEPPERS = 5, JOINT = 5 };  // JOINT: the first of them in joint coordinates

static void record_robot(int k)
{
    char text[4000];
    snprintf(text, sizeof text, robot, k == JOINT ? ", \"coordinates\": \"joint\"" : "");
    recorded_run run = {.stepper = steppers[k % JOINT], .steps = STEPS};
    recorded_counts counts = recorded_scene(text, place.path, run);
    assert_int_equal(counts.violated, 0);
}

static void right_runs_pass(void **state)
{
    (void)state;
    for (int k = 0; k <= STEPPERS; k++) {
        record_robot(k);
        perp_check check = recorded_check(place.path);
        for (int i = 0; i < PERP_CHECK_COUNT; i++) {
            if (check.item[i].done && !(check.item[i].over <= 1.0)) {
                fail_msg("%s%s: %s is %g, the limit %g",
                         perp_stepper_word((int)steppers[k % JOINT]), k == JOINT ? ", joint" : "",
                         check.item[i].name, check.item[i].worst, check.item[i].limit);
            }
        }
        assert_true(check.passed);
    }
}

// A bead with a rotor and a servo on a spoke that turns: the theta method has its direction in the middle of the step.
// And an arm with a rotor on a base that a given motion accelerates.
static void rotors_on_what_moves_pass(void **state)
{
    (void)state;
    static const char spoke[] =
        "{\"step\": 0.005, \"gravity\": [0, 0],\n"
        " \"bodies\": [{\"name\": \"wheel\", \"mass\": 1, \"inertia\": 0.5, \"spin\": 3},\n"
        "  {\"name\": \"bead\", \"position\": [0.3, 0], \"velocity\": [0.2, 0.9], \"spin\": 3,\n"
        "   \"mass\": 0.2, \"inertia\": 0.01}],\n"
        " \"joints\": [{\"name\": \"axle\", \"kind\": \"revolute\", \"b\": \"wheel\"},\n"
        "  {\"name\": \"spoke\", \"kind\": \"prismatic\", \"a\": \"wheel\", \"b\": \"bead\",\n"
        "   \"at\": [0.3, 0], \"axis\": [1, 0], \"armature\": 0.1, \"damping\": 0.2}],\n"
        " \"actuators\": [{\"kind\": \"position\", \"joint\": \"spoke\", \"control\": \"0.1\",\n"
        "   \"kp\": 20, \"kv\": 1}]}";
    static const char base[] =
        "{\"step\": 0.002, \"gravity\": [0, 0],\n"
        " \"bodies\": [{\"name\": \"base\", \"drive\": {\"x\": \"0.3*sin(5*t)\", \"angle\": "
        "\"sin(5*t)\"}},\n"
        "  {\"name\": \"arm\", \"velocity\": [1.5, 0], \"mass\": 1, \"inertia\": 0.1}],\n"
        " \"joints\": [{\"name\": \"pin\", \"kind\": \"revolute\", \"a\": \"base\", \"b\": "
        "\"arm\",\n"
        "   \"armature\": 0.2, \"stiffness\": 1}]}";
    for (int k = 0; k < 2 * STEPPERS; k++) {
        recorded_run run = {.stepper = steppers[k / 2], .steps = STEPS};
        assert_int_equal(recorded_scene(k % 2 ? base : spoke, place.path, run).violated, 0);
        perp_check check = recorded_check(place.path);
        for (int i = 0; i < PERP_CHECK_COUNT; i++) {
            if (check.item[i].done && !(check.item[i].over <= 1.0)) {
                fail_msg("%s, %s: %s is %g times its limit", k % 2 ? "base" : "spoke",
                         perp_stepper_word((int)steppers[k / 2]), check.item[i].name,
                         check.item[i].over);
            }
        }
        assert_true(check.passed);
    }
}

// A stiff servo at rest: the last digit of its angle, times kp h, is more than everything else that there is to judge.
static void stiff_servos_at_rest_pass(void **state)
{
    (void)state;
    static const char stiff[] =
        "{\"step\": 0.01, \"gravity\": [0, 0],\n"
        " \"bodies\": [{\"name\": \"wheel\", \"mass\": 1, \"inertia\": 0.1}],\n"
        " \"joints\": [{\"name\": \"axle\", \"kind\": \"revolute\", \"b\": \"wheel\"}],\n"
        " \"actuators\": [{\"kind\": \"position\", \"joint\": \"axle\", \"control\": \"0.5\",\n"
        "   \"kp\": 1e6, \"kv\": 1e3}]%s}";
    for (int k = 0; k < 4; k++) {
        char text[500];
        recorded_run run = {.stepper = k / 2 ? PERP_STEPPER_IMPLICIT : PERP_STEPPER_STEWART_TRINKLE,
                            .steps = STEPS};
        snprintf(text, sizeof text, stiff, k % 2 ? ", \"coordinates\": \"joint\"" : "");
        assert_int_equal(recorded_scene(text, place.path, run).violated, 0);
        perp_check check = recorded_check(place.path);
        if (!check.passed) {
            fail_msg("%s: drives are %g times their limit", perp_stepper_word((int)run.stepper),
                     check.item[PERP_CHECK_DRIVE].over);
        }
    }
}

// What a frame holds is what the sim had.
static void frames_hold_the_sim(void **state)
{
    (void)state;
    char text[4000];
    perp_scene *scene = NULL;
    perp_sim *sim = NULL;
    perp_record *out = NULL;
    perp_error error = {0};
    snprintf(text, sizeof text, robot, "");
    assert_int_equal(perp_scene_parse("x", text, strlen(text), NULL, &scene, &error), PERP_OK);
    const perp_model *model = perp_scene_model(scene);
    perp_sim_def def = perp_scene_sim_def(scene);
    perp_record_def rec = perp_record_default();
    rec.scene = perp_scene_text(scene, NULL);
    rec.h = perp_scene_step(scene);
    assert_int_equal(perp_sim_create(model, &def, NULL, &sim, &error), PERP_OK);
    assert_int_equal(perp_record_create(place.path, sim, &rec, NULL, &out, &error), PERP_OK);
    double input[STEPS + 1][3];
    perp_actuator_state actuator[STEPS + 1][4];
    int limited = 0;
    for (int k = 1; k <= STEPS; k++) {
        assert_true(perp_sim_step(sim, rec.h) >= 0);
        assert_int_equal(perp_record_step(out, sim), PERP_OK);
        for (int i = 0; i < 3; i++) {
            input[k][i] = perp_sim_input(sim, (perp_input){i});
        }
        for (int i = 0; i < 4; i++) {
            actuator[k][i] = perp_sim_actuator(sim, (perp_actuator){i});
            limited += actuator[k][i].limited;
        }
    }
    assert_true(limited > 5 && limited < 4 * STEPS - 5);
    assert_int_equal(perp_record_finish(out, sim), PERP_OK);
    perp_record_destroy(out);
    perp_recording *recording = recorded_open(place.path);
    const perp_recording_info *info = perp_recording_about(recording);
    assert_true(info->inputs == 3 && info->actuators == 4);
    assert_string_equal(perp_recording_input_name(recording, (perp_input){1}), "feedback");
    assert_string_equal(perp_recording_actuator(recording, (perp_actuator){3}).name, "hoist");
    assert_int_equal(perp_recording_actuator(recording, (perp_actuator){3}).joint.i, 2);
    double filter = 0.0, T = 0.03;
    for (int k = 1; k <= STEPS; k++) {
        perp_snapshot frame = recorded_frame(recording, k);
        assert_memory_equal(frame.input, input[k], sizeof input[k]);
        double c = 3.0 * input[k][1], left = exp(-0.005 / T);
        double mean = c + (filter - c) * (1.0 - left) * T / 0.005;
        filter = c + (filter - c) * left;
        assert_true(fabs(frame.filter[1] - filter) < 1e-12);
        assert_true(fabs(frame.actuator[1].control - mean) < 1e-12);
        for (int i = 0; i < 4; i++) {
            assert_true(frame.actuator[i].control == actuator[k][i].control);
            assert_true(frame.actuator[i].impulse == actuator[k][i].impulse);
            assert_true(frame.actuator[i].effort == actuator[k][i].effort);
            assert_true(frame.actuator[i].limited == actuator[k][i].limited);
        }
    }
    perp_recording_close(recording);
    perp_sim_destroy(sim);
    perp_scene_destroy(scene);
}

// Line `number` of a text, without its end, in place.
static char *line_of(char *text, int number)
{
    for (; number > 0; number--) {
        text = strchr(text, '\n');
        assert_non_null(text);
        text++;
    }
    text[strcspn(text, "\n")] = '\0';
    return text;
}

// Numbers of a line: the time, then what follows the names.
static void read_cells(const char *line, const char *names, int count, double *cell)
{
    char *end;
    for (int k = 0; k < count; k++) {
        cell[k] = strtod(line, &end);
        assert_true(end > line);
        line = end + (*end == ',');
        if (k == 0) {
            assert_memory_equal(line, names, strlen(names));
            line += strlen(names);
        }
    }
}

// Forces in the text files are the impulses of the frames over the length of the step.
static void text_files_hold_forces(void **state)
{
    (void)state;
    enum { FRAME = 20, JOINTS = 3, ACTUATORS = 4 };
    record_robot(0);
    perp_recording *recording = recorded_open(place.path);
    perp_snapshot frame = recorded_frame(recording, FRAME);
    double cell[10];
    char *joints = text_of(folder_at(&place, "joints.csv"));
    assert_memory_equal(joints, "t,joint,coordinate,rate,drive,limit,fx,fy,fz,tx,ty,tz\n", 53);
    char *line = line_of(joints, 1 + JOINTS * FRAME + 1);
    read_cells(line, "elbow,", 7, cell);
    const perp_joint_state *elbow = &frame.joint[1];
    assert_true(cell[0] == frame.t && cell[1] == elbow->coordinate && cell[2] == elbow->rate);
    assert_true(fabs(0.005 * cell[3] - elbow->drive) < 1e-15 && cell[4] == 0.0);
    assert_true(fabs(0.005 * cell[5] - elbow->impulse_b.f_W.x) < 1e-14);
    assert_true(fabs(0.005 * cell[6] - elbow->impulse_b.f_W.y) < 1e-14);
    char *actuators = text_of(folder_at(&place, "actuators.csv"));
    line = line_of(actuators, 1 + ACTUATORS * FRAME);
    read_cells(line, "lift,shoulder,", 5, cell);
    assert_true(cell[1] == frame.actuator[0].control && cell[2] == frame.actuator[0].effort);
    assert_true(cell[3] == cell[2] * frame.joint[0].rate);
    assert_true(cell[4] == (frame.actuator[0].limited ? 1.0 : 0.0));
    perp_recording_close(recording);
    free(joints);
    free(actuators);
}

// Adds to a number of a column in row ROW; what it was.
static double change(const char *column, int index, double by)
{
    hid_t file = H5Fopen(folder_at(&place, "run.h5"), H5F_ACC_RDWR, H5P_DEFAULT);
    hid_t dataset = H5Dopen2(file, column, H5P_DEFAULT), space = H5Dget_space(dataset);
    const hsize_t at[2] = {ROW, (hsize_t)index}, one[2] = {1, 1};
    hid_t memory = H5Screate_simple(2, one, NULL);
    double value, old;
    assert_true(H5Sselect_hyperslab(space, H5S_SELECT_SET, at, NULL, one, NULL) >= 0);
    assert_true(H5Dread(dataset, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, &old) >= 0);
    value = old + by;
    assert_true(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, &value) >= 0);
    H5Sclose(memory);
    H5Sclose(space);
    H5Dclose(dataset);
    H5Fclose(file);
    return old;
}

static void changed_numbers_are_seen(void **state)
{
    (void)state;
    static const struct {
        const char *column;
        int count;
    } columns[] = {{"inputs/value", 3},     {"actuators/control", 4}, {"actuators/impulse", 4},
                   {"actuators/effort", 4}, {"actuators/filter", 4},  {"actuators/limited", 4}};
    int missed = 0;
    for (int k = 0; k <= STEPPERS; k++) {
        record_robot(k);
        for (size_t c = 0; c < sizeof columns / sizeof columns[0]; c++) {
            for (int i = 0; i < columns[c].count; i++) {
                bool flag = strcmp(columns[c].column, "actuators/limited") == 0;
                double old = change(columns[c].column, i, 0.0), by = flag ? 1.0 - 2.0 * old : 1e-3;
                change(columns[c].column, i, by);
                if (recorded_check(place.path).passed) {
                    print_error("%s%s: %s [%d] is not seen\n",
                                perp_stepper_word((int)steppers[k % JOINT]),
                                k == JOINT ? ", joint" : "", columns[c].column, i);
                    missed++;
                }
                change(columns[c].column, i, old - change(columns[c].column, i, 0.0));
            }
        }
    }
    assert_int_equal(missed, 0);
}

static int create(void **state)
{
    (void)state;
    place = folder_create();
    return 0;
}

static int destroy(void **state)
{
    (void)state;
    folder_remove(&place);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(right_runs_pass),        cmocka_unit_test(rotors_on_what_moves_pass),
        cmocka_unit_test(frames_hold_the_sim),    cmocka_unit_test(stiff_servos_at_rest_pass),
        cmocka_unit_test(text_files_hold_forces), cmocka_unit_test(changed_numbers_are_seen),
    };
    return cmocka_run_group_tests(tests, create, destroy);
}
