// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Judging recordings again: runs as they were pass, runs with one number changed are found out.
#include "support/cmocka.h"
#include "support/folder.h"
#include "support/random.h"

#include <perp/io.h>

#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

static folder place;

// Records `steps` steps into dir; the scene is given back.
static void record_steps(perp_scene *scene, const char *dir, perp_stepper stepper, int steps,
                         int every)
{
    perp_sim *sim = NULL;
    perp_record *record = NULL;
    perp_error error = {0};
    perp_sim_def def = perp_scene_sim_def(scene);
    def.stepper = stepper;
    perp_record_def rec = perp_record_default();
    rec.name = perp_scene_name(scene);
    rec.scene = perp_scene_text(scene, NULL);
    rec.h = perp_scene_step(scene);
    rec.every = every;
    assert_int_equal(perp_sim_create(perp_scene_model(scene), &def, NULL, &sim, &error), PERP_OK);
    assert_int_equal(perp_record_create(dir, sim, &rec, NULL, &record, &error), PERP_OK);
    for (int k = 0; k < steps; k++) {
        assert_true(perp_sim_step(sim, rec.h) >= 0);
        assert_int_equal(perp_record_step(record, sim), PERP_OK);
    }
    assert_int_equal(perp_record_finish(record, sim), PERP_OK);
    perp_record_destroy(record);
    perp_sim_destroy(sim);
    perp_scene_destroy(scene);
}

static void record_scene(const char *path, const char *dir, perp_stepper stepper, int steps,
                         int every)
{
    perp_scene *scene = NULL;
    perp_error error = {0};
    if (perp_scene_load(path, NULL, &scene, &error) < 0) {
        fail_msg("%s: %s", path, error.text);
    }
    record_steps(scene, dir, stepper, steps, every);
}

static void write_text(const char *name, const char *text)
{
    FILE *file = fopen(folder_at(&place, name), "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

// The check, with the text that lives in the recording copied where it is asked for.
typedef struct verdict {
    perp_check check;
    char where[200];  // of the item asked for
} verdict;

static verdict judge(const char *dir, perp_check_item item)
{
    verdict v;
    perp_recording *recording = NULL;
    perp_error error = {0};
    if (perp_recording_open(dir, NULL, &recording, &error) < 0 ||
        perp_recording_check(recording, NULL, &v.check, &error) < 0) {
        fail_msg("%s", error.text);
    }
    strncpy(v.where, v.check.item[item].where, sizeof v.where - 1);
    v.where[sizeof v.where - 1] = '\0';
    perp_recording_close(recording);
    return v;
}

static const char *const scenes[] = {"scenes/berard-4.1.json",   "scenes/berard-4.2.json",
                                     "scenes/berard-4.3.json",   "scenes/berard-4.4.json",
                                     "scenes/berard-4.5.json",   "scenes/berard-4.6.json",
                                     "scenes/particle-2018.json"};

static void honest_runs_pass(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof scenes / sizeof scenes[0]; k++) {
        record_scene(scenes[k], place.path, PERP_STEPPER_STEWART_TRINKLE, 200, 1);
        verdict v = judge(place.path, PERP_CHECK_GAP);
        for (int i = 0; i < PERP_CHECK_COUNT; i++) {
            const perp_check_result *item = &v.check.item[i];
            assert_true(item->done);
            if (i != PERP_CHECK_JOINT && item->worst > 1e-9) {
                fail_msg("%s: %s is %g", scenes[k], item->name, item->worst);
            }
        }
        assert_true(v.check.passed);
    }
}

static void other_steppers_pass(void **state)
{
    (void)state;
    static const perp_stepper steppers[] = {PERP_STEPPER_ANITESCU_POTRA, PERP_STEPPER_MOREAU_JEAN,
                                            PERP_STEPPER_IMPLICIT};
    for (int k = 0; k < 3; k++) {
        record_scene("scenes/berard-4.6.json", place.path, steppers[k], 150, 1);
        assert_true(judge(place.path, PERP_CHECK_GAP).check.passed);
    }
}

// Cubes that lie crookedly on each other have more points than are kept; which ones are depends on how far
// the step looked.
static void points_that_were_left_out_are_found(void **state)
{
    (void)state;
    perp_generator_option options[] = {{"bodies", "100"}, {"cubes", "1"}};
    perp_scene *scene = NULL;
    assert_int_equal(perp_scene_generate("pile3", options, 2, NULL, &scene, NULL), PERP_OK);
    record_steps(scene, place.path, PERP_STEPPER_STEWART_TRINKLE, 45, 1);
    verdict v = judge(place.path, PERP_CHECK_CONTACT);
    assert_true(v.check.item[PERP_CHECK_CONTACT].done);
    if (!(v.check.item[PERP_CHECK_CONTACT].worst < 1e-12)) {
        fail_msg("%g at %s", v.check.item[PERP_CHECK_CONTACT].worst, v.where);
    }
}

// Overlaps are worked off over the whole step, also in its parts; and a limit that moves with time, or bodies without
// mass, are held against what they are.
static void parts_and_couplings_pass(void **state)
{
    (void)state;
    static const char *const texts[] = {"{\"step\": 0.001, \"gravity\": [0, 0], \"bodies\": "
                                        "[{\"name\": \"A\", \"mass\": 1, \"inertia\": 0.5}], "
                                        "\"joints\": [{\"name\": \"a\", \"kind\": \"revolute\", "
                                        "\"b\": \"A\"}, {\"kind\": \"coupling\", "
                                        "\"coordinate\": \"q[a] - 0.5*t^2 + 0.1\", \"lower\": 0}]}",
                                        "{\"step\": 0.002, \"coordinates\": \"joint\", \"bodies\": "
                                        "[{\"name\": \"f\", \"massless\": true}, {\"name\": "
                                        "\"A\", \"position\": [0.3, 0], \"mass\": 1, \"inertia\": "
                                        "0.1}], \"joints\": [{\"kind\": \"prismatic\", \"b\": "
                                        "\"f\", \"stiffness\": 50}, {\"kind\": \"revolute\", "
                                        "\"a\": \"f\", \"b\": \"A\", \"at\": [0, 0]}]}"};
    for (int k = 0; k < 2; k++) {
        write_text("moves.json", texts[k]);
        record_scene(folder_at(&place, "moves.json"), folder_at(&place, "moves"),
                     PERP_STEPPER_STEWART_TRINKLE, 800, 1);
        assert_true(judge(folder_at(&place, "moves"), PERP_CHECK_DRIVE).check.passed);
    }
    // the spring of a coupling that moves with time works under `event` as well
    write_text("moves.json", "{\"step\": 0.002, \"gravity\": [0, 0], \"bodies\": [{\"name\": "
                             "\"A\", \"mass\": 1, \"inertia\": 0.5}], \"joints\": [{\"name\": "
                             "\"a\", \"kind\": \"prismatic\", \"b\": \"A\", \"axis\": [1, 0]}, "
                             "{\"kind\": \"coupling\", \"coordinate\": \"q[a] - 0.1*sin(10*t)\", "
                             "\"stiffness\": 100}]}");
    record_scene(folder_at(&place, "moves.json"), folder_at(&place, "moves"), PERP_STEPPER_EVENT,
                 50, 1);
    assert_true(judge(folder_at(&place, "moves"), PERP_CHECK_RECORD).check.passed);
    perp_scene *scene = NULL;
    assert_int_equal(perp_scene_generate("pile", NULL, 0, NULL, &scene, NULL), PERP_OK);
    record_steps(scene, place.path, PERP_STEPPER_STEWART_TRINKLE, 120, 1);
    assert_true(judge(place.path, PERP_CHECK_PUSH).check.passed);
}

static void what_is_not_recorded_is_not_judged(void **state)
{
    (void)state;
    record_scene("scenes/bouncing-ball.json", place.path, PERP_STEPPER_STEWART_TRINKLE, 2000, 7);
    assert_true(judge(place.path, PERP_CHECK_GAP).check.passed);
    record_scene("scenes/berard-4.4.json", place.path, PERP_STEPPER_STEWART_TRINKLE, 100, 10);
    verdict v = judge(place.path, PERP_CHECK_GAP);
    assert_true(v.check.passed);
    assert_false(v.check.item[PERP_CHECK_MOMENTUM].done);
    assert_non_null(strstr(v.check.item[PERP_CHECK_MOMENTUM].why, "not every step"));
    assert_true(v.check.item[PERP_CHECK_GAP].done);
}

// Boxes and balls that bounce by Poisson's law while others rest, slide and roll.
static void two_phases_pass(void **state)
{
    (void)state;
    static const char text[] =
        "{\"step\": 0.01, \"impact\": \"poisson\",\n"
        " \"shapes\": [{\"name\": \"floor\", \"kind\": \"halfspace\", \"restitution\": 1}],\n"
        " \"bodies\": [\n"
        "  {\"name\": \"box\", \"kind\": \"solid\", \"position\": [0, 0, 0.8], \"velocity\": [1, "
        "0, -2],\n"
        "   \"spin\": [1, 2, 3], \"rotation\": {\"axis\": [1, 1, 0], \"angle\": 0.3},\n"
        "   \"shapes\": [{\"kind\": \"box\", \"size\": [1, 1, 1], \"density\": 1000}]},\n"
        "  {\"name\": \"ball\", \"kind\": \"solid\", \"position\": [3, 0, 0.6], \"velocity\": [-3, "
        "0, -1],\n"
        "   \"spin\": [0, 10, 0], \"shapes\": [{\"kind\": \"sphere\", \"radius\": 0.5, "
        "\"density\": 1000}]}]}\n";
    write_text("poisson.json", text);
    record_scene(folder_at(&place, "poisson.json"), folder_at(&place, "p"),
                 PERP_STEPPER_STEWART_TRINKLE, 30, 1);
    verdict v = judge(folder_at(&place, "p"), PERP_CHECK_SLIP);
    assert_true(v.check.passed);
}

// Adds to one number of a column, where its dataset's first value of the row is at `index`.
static void change(const char *column, hsize_t row, hsize_t index, double by)
{
    hid_t file = H5Fopen(folder_at(&place, "run.h5"), H5F_ACC_RDWR, H5P_DEFAULT);
    hid_t dataset = H5Dopen2(file, column, H5P_DEFAULT), space = H5Dget_space(dataset);
    int rank = H5Sget_simple_extent_ndims(space);
    const hsize_t at[2] = {row, index}, one[2] = {1, 1};
    hid_t memory = H5Screate_simple(rank, one, NULL);
    double value;
    assert_true(H5Sselect_hyperslab(space, H5S_SELECT_SET, at, NULL, one, NULL) >= 0);
    assert_true(H5Dread(dataset, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, &value) >= 0);
    value += by;
    assert_true(H5Dwrite(dataset, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, &value) >= 0);
    H5Sclose(memory);
    H5Sclose(space);
    H5Dclose(dataset);
    H5Fclose(file);
}

static void one_changed_number_is_found(void **state)
{
    (void)state;
    static const struct {
        const char *column;
        hsize_t row, index;
        double by;
        perp_check_item found;
        const char *where;
        double t;  // 0: whenever
    } changes[] = {
        {"q", 50, 1, -0.03, PERP_CHECK_GAP, "block", 0.1},
        {"q", 50, 3, 0.001, PERP_CHECK_MOTION, "rod A", 0.0},
        {"q", 50, 6, 0.1, PERP_CHECK_JOINT, "elbow", 0.1},
        {"nu", 50, 5, 1e-3, PERP_CHECK_MOMENTUM, "rod A", 0.0},
        {"nu", 50, 5, NAN, PERP_CHECK_MOMENTUM, "", 0.0},
        {"contacts/pn", 100, 0, -10.0, PERP_CHECK_PULL, "floor and block", 0.0},
        {"contacts/pn", 100, 0, -1e-3, PERP_CHECK_MOMENTUM, "block", 0.0},
        {"contacts/pf", 100, 0, 1.0, PERP_CHECK_CONE, "floor and block", 0.0},
        {"contacts/gap", 100, 0, 0.1, PERP_CHECK_PUSH, "floor and block", 0.0},
    };
    for (size_t k = 0; k < sizeof changes / sizeof changes[0]; k++) {
        record_scene("scenes/berard-4.3.json", place.path, PERP_STEPPER_STEWART_TRINKLE, 100, 1);
        change(changes[k].column, changes[k].row, changes[k].index, changes[k].by);
        verdict v = judge(place.path, changes[k].found);
        const perp_check_result *item = &v.check.item[changes[k].found];
        assert_false(v.check.passed);
        assert_true(item->worst > item->limit);
        if (!strstr(v.where, changes[k].where) ||
            (changes[k].t > 0.0 && fabs(item->t - changes[k].t) > 1e-9)) {
            fail_msg("%s: seen at '%s', t = %g", changes[k].column, v.where, item->t);
        }
    }
}

// Events lie within the steps: what is left is judged, and what is not says why.
static void runs_with_events_pass(void **state)
{
    (void)state;
    static const char *const with_events[] = {"scenes/berard-4.5.json", "scenes/rocking-block.json",
                                              "scenes/lagrange-top.json",
                                              "scenes/trinkle-robot.json"};
    for (size_t k = 0; k < sizeof with_events / sizeof with_events[0]; k++) {
        record_scene(with_events[k], place.path, PERP_STEPPER_EVENT, 100, 1);
        verdict v = judge(place.path, PERP_CHECK_MOMENTUM);
        for (int i = 0; i < PERP_CHECK_COUNT; i++) {
            const perp_check_result *item = &v.check.item[i];
            if (item->done && !(item->worst <= item->limit)) {
                fail_msg("%s: %s is %g, %s", with_events[k], item->name, item->worst, item->where);
            }
        }
        assert_true(v.check.passed);
        assert_false(v.check.item[PERP_CHECK_MOTION].done);
        assert_non_null(strstr(v.check.item[PERP_CHECK_MOTION].why, "steps contain events"));
    }
}

static void one_changed_number_is_found_among_events(void **state)
{
    (void)state;
    static const struct {
        const char *column;
        hsize_t row, index;
        double by;
        perp_check_item found;
    } changes[] = {
        {"q", 50, 1, -0.03, PERP_CHECK_GAP},
        {"q", 50, 6, 0.1, PERP_CHECK_JOINT},
        {"nu", 50, 3, 1e-3, PERP_CHECK_MOMENTUM},
        {"nu", 50, 4, NAN, PERP_CHECK_MOMENTUM},
        {"nu", 50, 8, 0.5, PERP_CHECK_ENERGY},
        {"contacts/pn", 100, 0, -10.0, PERP_CHECK_PULL},
        {"contacts/pn", 100, 0, -1e-3, PERP_CHECK_MOMENTUM},
        {"contacts/pf", 100, 0, 1.0, PERP_CHECK_CONE},
    };
    for (size_t k = 0; k < sizeof changes / sizeof changes[0]; k++) {
        record_scene("scenes/berard-4.3.json", place.path, PERP_STEPPER_EVENT, 100, 1);
        change(changes[k].column, changes[k].row, changes[k].index, changes[k].by);
        verdict v = judge(place.path, changes[k].found);
        const perp_check_result *item = &v.check.item[changes[k].found];
        assert_false(v.check.passed);
        if (!(item->worst > item->limit)) {
            fail_msg("change %d: %s is %g", (int)k, item->name, item->worst);
        }
    }
}

// ── Every column ─────────────────────────────────────────────────────────────────────────────────

typedef struct cell {
    int rank;
    hsize_t at[3];
} cell;

static cell pick_cell(hid_t dataset, rng *r)
{
    cell c;
    hsize_t size[3];
    hid_t space = H5Dget_space(dataset);
    c.rank = H5Sget_simple_extent_dims(space, size, NULL);
    H5Sclose(space);
    for (int k = 0; k < c.rank; k++) {  // nothing of the start is judged: row 0 is left alone
        hsize_t first = k == 0 ? 1 : 0;
        c.at[k] = first + (hsize_t)rng_below(r, (int)(size[k] - first));
    }
    return c;
}

// Reads the cell, or writes it.
static void touch(hid_t dataset, const cell *c, bool write, double *value)
{
    static const hsize_t one[3] = {1, 1, 1};
    hid_t space = H5Dget_space(dataset), memory = H5Screate_simple(c->rank, one, NULL);
    assert_true(H5Sselect_hyperslab(space, H5S_SELECT_SET, c->at, NULL, one, NULL) >= 0);
    herr_t result = write ? H5Dwrite(dataset, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, value)
                          : H5Dread(dataset, H5T_NATIVE_DOUBLE, memory, space, H5P_DEFAULT, value);
    assert_true(result >= 0);
    H5Sclose(memory);
    H5Sclose(space);
}

// Judged with one cell of a column changed; what it was is put back.
static bool passes_when_changed(const char *path, const char *column, rng *r, double by, cell *c)
{
    double old, changed;
    for (int k = 0; k < 2; k++) {
        hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
        hid_t dataset = H5Dopen2(file, column, H5P_DEFAULT);
        if (k == 0) {
            *c = pick_cell(dataset, r);
            touch(dataset, c, false, &old);
        }
        changed = k == 0 ? old + by : old;
        touch(dataset, c, true, &changed);
        H5Dclose(dataset);
        H5Fclose(file);
        if (k == 0 && judge(path, PERP_CHECK_GAP).check.passed) {
            return true;
        }
    }
    return false;
}

// Everything that can be recorded: contacts that stick, slide, bounce and rest, a listed one, a belt, a
// driven body, springs, motors, dry friction, limits, gears between joints of all kinds.
static const char machine[] =
    "{\"name\": \"machine\", \"step\": 0.005, \"until\": 0.5,\n"
    " \"shapes\": [{\"name\": \"floor\", \"kind\": \"halfplane\", \"mu\": 0.4},\n"
    "  {\"name\": \"belt\", \"kind\": \"box\", \"size\": [2, 0.2], \"position\": [-4, 0.1],\n"
    "   \"surface_speed\": \"0.5*t\"}],\n"
    " \"bodies\": [\n"
    "  {\"name\": \"slider\", \"position\": [0, 0.1], \"velocity\": [2, 0],\n"
    "   \"shapes\": [{\"kind\": \"box\", \"size\": [0.4, 0.2], \"density\": 5}]},\n"
    "  {\"name\": \"ball\", \"position\": [2, 0.3], \"velocity\": [0.3, -1],\n"
    "   \"shapes\": [{\"kind\": \"disc\", \"radius\": 0.1, \"density\": 5, \"restitution\": "
    "0.8}]},\n"
    "  {\"name\": \"freight\", \"position\": [-4, 0.35],\n"
    "   \"shapes\": [{\"kind\": \"box\", \"size\": [0.3, 0.3], \"density\": 5}]},\n"
    "  {\"name\": \"ram\", \"drive\": {\"x\": \"-0.7 + 0.5*sin(4*t)\", \"y\": 0.1, \"angle\": "
    "\"0.1*t\"},\n"
    "   \"shapes\": [{\"kind\": \"disc\", \"radius\": 0.1}]},\n"
    "  {\"name\": \"wheel\", \"position\": [5, 2], \"mass\": 2, \"inertia\": 0.1},\n"
    "  {\"name\": \"pinion\", \"position\": [6, 2], \"mass\": 1, \"inertia\": 0.02},\n"
    "  {\"name\": \"rack\", \"position\": [7, 2], \"mass\": 1, \"inertia\": 0.02},\n"
    "  {\"name\": \"arm\", \"position\": [9.5, 2], \"mass\": 1, \"inertia\": 0.1, \"spin\": 1},\n"
    "  {\"name\": \"bob\", \"kind\": \"particle\", \"position\": [10, 1], \"mass\": 0.5}],\n"
    " \"joints\": [\n"
    "  {\"name\": \"axle\", \"kind\": \"revolute\", \"b\": \"wheel\", \"at\": [5.1, 2], \"rate\": "
    "\"8*t\",\n"
    "   \"rate_effort\": 2, \"friction\": 0.1},\n"
    "  {\"name\": \"shaft\", \"kind\": \"revolute\", \"b\": \"pinion\", \"at\": [6, 2], "
    "\"friction\": 0.05},\n"
    "  {\"name\": \"slide\", \"kind\": \"prismatic\", \"b\": \"rack\", \"at\": [7, 2], \"axis\": "
    "[1, 2]},\n"
    "  {\"name\": \"teeth\", \"kind\": \"gear\", \"joint_a\": \"axle\", \"joint_b\": \"shaft\", "
    "\"ratio\": -2},\n"
    "  {\"name\": \"mesh\", \"kind\": \"gear\", \"joint_a\": \"shaft\", \"joint_b\": \"slide\", "
    "\"ratio\": 0.2},\n"
    "  {\"name\": \"hinge\", \"kind\": \"revolute\", \"b\": \"arm\", \"at\": [9, 2], \"lower\": "
    "-0.3},\n"
    "  {\"name\": \"rod\", \"kind\": \"distance\", \"a\": \"arm\", \"b\": \"bob\", \"anchor_a\": "
    "[0.5, 0],\n"
    "   \"length\": 1}],\n"
    " \"forces\": [{\"kind\": \"spring\", \"b\": \"bob\", \"anchor_a\": [11, 1], \"stiffness\": "
    "20,\n"
    "   \"damping\": 0.5, \"rest\": 0.8, \"implicit\": true},\n"
    "  {\"kind\": \"force\", \"body\": \"freight\", \"fx\": \"0.1*sin(t) - 0.1*vx\"}],\n"
    " \"contacts\": [{\"name\": \"push\", \"a\": \"ram\", \"b\": \"slider\", \"mu\": 0.2}]}\n";

// The same in space: cones and pyramids, torsion and rolling, joints of all kinds.
static const char spatial_machine[] =
    "{\"name\": \"spatial machine\", \"step\": 0.005, \"until\": 0.5,\n"
    " \"shapes\": [{\"name\": \"floor\", \"kind\": \"halfspace\", \"mu\": 0.4}],\n"
    " \"bodies\": [\n"
    "  {\"name\": \"slider\", \"kind\": \"solid\", \"position\": [0, 0, 0.1], \"velocity\": [2, "
    "0.5, 0],\n"
    "   \"shapes\": [{\"kind\": \"box\", \"size\": [0.4, 0.3, 0.2], \"density\": 50}]},\n"
    "  {\"name\": \"top\", \"kind\": \"solid\", \"position\": [0, 3, 0.1], \"velocity\": [0.5, 0, "
    "0], \"spin\": [0, 3, 9],\n"
    "   \"shapes\": [{\"kind\": \"sphere\", \"radius\": 0.1, \"density\": 50, \"mu_spin\": 0.01, "
    "\"mu_roll\": 0.01}]},\n"
    "  {\"name\": \"ball\", \"kind\": \"solid\", \"position\": [2, 0, 0.3], \"velocity\": [0.3, 0, "
    "-1],\n"
    "   \"shapes\": [{\"kind\": \"sphere\", \"radius\": 0.1, \"density\": 50, \"restitution\": "
    "0.8}]},\n"
    "  {\"name\": \"ram\", \"kind\": \"solid\", \"drive\": {\"x\": \"-0.6 + 0.5*sin(4*t)\", \"z\": "
    "0.1, \"rz\": \"0.1*t\"},\n"
    "   \"shapes\": [{\"kind\": \"sphere\", \"radius\": 0.1}]},\n"
    "  {\"name\": \"wheel\", \"kind\": \"solid\", \"position\": [5, 0, 2], \"mass\": 2, "
    "\"inertia\": [0.1, 0.2, 0.15]},\n"
    "  {\"name\": \"pinion\", \"kind\": \"solid\", \"position\": [6, 0, 2], \"mass\": 1, "
    "\"inertia\": [0.02, 0.03, 0.04]},\n"
    "  {\"name\": \"rack\", \"kind\": \"solid\", \"position\": [7, 0, 2], \"mass\": 1, "
    "\"inertia\": [0.02, 0.02, 0.02]},\n"
    "  {\"name\": \"arm\", \"kind\": \"solid\", \"position\": [9.5, 0, 2], \"spin\": [0, 1, 0], "
    "\"mass\": 1, \"inertia\": [0.1, 0.2, 0.3]},\n"
    "  {\"name\": \"hand\", \"kind\": \"solid\", \"position\": [10.5, 0, 2], \"mass\": 0.5, "
    "\"inertia\": [0.1, 0.1, 0.05], \"spin\": [1, 1, 0]},\n"
    "  {\"name\": \"bob\", \"kind\": \"point_mass\", \"position\": [11, 0, 1], \"mass\": 0.5}],\n"
    " \"joints\": [\n"
    "  {\"name\": \"axle\", \"kind\": \"revolute\", \"b\": \"wheel\", \"at\": [5.1, 0, 2], "
    "\"axis\": [0, 1, 0], \"rate\": \"8*t\",\n"
    "   \"rate_effort\": 2, \"friction\": 0.1},\n"
    "  {\"name\": \"shaft\", \"kind\": \"revolute\", \"b\": \"pinion\", \"at\": [6, 0, 2], "
    "\"axis\": [0, 0, 1], \"friction\": 0.05},\n"
    "  {\"name\": \"slide\", \"kind\": \"prismatic\", \"b\": \"rack\", \"at\": [7, 0, 2], "
    "\"axis\": [1, 2, 1]},\n"
    "  {\"name\": \"teeth\", \"kind\": \"gear\", \"joint_a\": \"axle\", \"joint_b\": \"shaft\", "
    "\"ratio\": -2},\n"
    "  {\"name\": \"mesh\", \"kind\": \"gear\", \"joint_a\": \"shaft\", \"joint_b\": \"slide\", "
    "\"ratio\": 0.2},\n"
    "  {\"name\": \"hinge\", \"kind\": \"revolute\", \"b\": \"arm\", \"at\": [9, 0, 2], \"axis\": "
    "[0, 1, 0], \"upper\": 0.3},\n"
    "  {\"name\": \"wrist\", \"kind\": \"spherical\", \"a\": \"arm\", \"b\": \"hand\", \"at\": "
    "[10, 0, 2]},\n"
    "  {\"name\": \"rod\", \"kind\": \"distance\", \"a\": \"hand\", \"b\": \"bob\", \"anchor_a\": "
    "[0.5, 0, 0],\n"
    "   \"length\": 1}],\n"
    " \"forces\": [{\"kind\": \"spring\", \"b\": \"bob\", \"anchor_a\": [12, 0, 1], \"stiffness\": "
    "20,\n"
    "   \"damping\": 0.5, \"rest\": 0.8, \"implicit\": true}],\n"
    " \"contacts\": [{\"name\": \"push\", \"a\": \"ram\", \"b\": \"slider\", \"mu\": 0.2}]}\n";

enum { MACHINE_STEPS = 100 };

static void record_machine(const char *text)
{
    write_text("machine.json", text);
    record_scene(folder_at(&place, "machine.json"), folder_at(&place, "m"),
                 PERP_STEPPER_STEWART_TRINKLE, MACHINE_STEPS, 1);
}

static const char *const machines[] = {machine, spatial_machine};

static void a_machine_is_judged_whole(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        record_machine(machines[k]);
        verdict v = judge(folder_at(&place, "m"), PERP_CHECK_GAP);
        for (int i = 0; i < PERP_CHECK_COUNT; i++) {
            const perp_check_result *item = &v.check.item[i];
            if (!item->done || (i != PERP_CHECK_JOINT && item->worst > 0.1 * item->limit)) {
                fail_msg("%s is %g (%s)", item->name, item->worst, item->why);
            }
        }
        assert_true(v.check.passed);
    }
}

// Every column of states, impulses and what goes with them: a number changed anywhere is seen. The last
// two are recorded in space only; of the tangent only that it is one is judged.
static const char *const columns[] = {
    "t",
    "q",
    "nu",
    "driven",
    "contacts/point",
    "contacts/normal",
    "contacts/gap",
    "contacts/mu",
    "contacts/pn",
    "contacts/restitution",
    "contacts/pf",
    "contacts/rate_n",
    "contacts/slip",
    "joints/coordinate",
    "joints/rate",
    "joints/error",
    "joints/impulse",
    "joints/drive",
    "joints/limit",
    "energy/kinetic",
    "energy/potential",
    "energy/work",
    "energy/dissipated",
    "contacts/moment",
    "contacts/slip_vector",
};
enum { SPATIAL_COLUMNS = sizeof columns / sizeof columns[0], PLANAR_COLUMNS = SPATIAL_COLUMNS - 2 };

static void judge_each(const char *text, int count)
{
    char path[600];
    record_machine(text);
    snprintf(path, sizeof path, "%s/m/run.h5", place.path);
    FOR_SEEDS(seed, 2 * (uint64_t)count)
    {
        rng r = rng_seed(seed);
        const char *column = columns[seed % (uint64_t)count];
        cell c = {0};
        if (passes_when_changed(path, column, &r, 1e-6, &c)) {
            fail_msg("PERP_SEED=%llu: %s [%d] [%d] [%d] is not seen", (unsigned long long)seed,
                     column, (int)c.at[0], (int)c.at[1], (int)c.at[2]);
        }
    }
    assert_true(judge(path, PERP_CHECK_GAP).check.passed);
}

static void every_number_is_judged(void **state)
{
    (void)state;
    judge_each(machine, PLANAR_COLUMNS);
    judge_each(spatial_machine, SPATIAL_COLUMNS);
}

// In joint coordinates a body that slides on one that turns leaves the tangent by more than either's way shows,
// and what hangs on a driven body goes where that is told to go.
static void slides_on_what_turns_pass(void **state)
{
    (void)state;
    write_text("planes.json",
               "{\"step\": 0.01, \"coordinates\": \"joint\", \"bodies\": [\n"
               "  {\"name\": \"a\", \"kind\": \"solid\", \"position\": [0.5, 0, 0], \"mass\": 1, "
               "\"inertia\": [0.1, 0.2, 0.15]},\n"
               "  {\"name\": \"c\", \"kind\": \"solid\", \"position\": [1.5, 0, 0], \"mass\": 1, "
               "\"inertia\": [0.1, 0.2, 0.15]}],\n"
               " \"joints\": [\n"
               "  {\"kind\": \"plane\", \"b\": \"a\", \"at\": [0, 0, 0], \"axis\": [0, 0, 1]},\n"
               "  {\"kind\": \"plane\", \"a\": \"a\", \"b\": \"c\", \"at\": [1, 0, 0], "
               "\"axis\": [0, 0.6, 0.8]}]}\n");
    record_scene(folder_at(&place, "planes.json"), folder_at(&place, "p"),
                 PERP_STEPPER_STEWART_TRINKLE, 100, 1);
    verdict v = judge(folder_at(&place, "p"), PERP_CHECK_MOTION);
    assert_true(v.check.item[PERP_CHECK_MOTION].done);
    assert_true(v.check.passed);
    write_text("cart.json",
               "{\"step\": 0.01, \"coordinates\": \"joint\", \"bodies\": [\n"
               "  {\"name\": \"cart\", \"drive\": {\"x\": \"0.3*sin(6*t)\", \"angle\": \"t\"}},\n"
               "  {\"name\": \"rod\", \"position\": [0.5, 0], \"mass\": 1, \"inertia\": 0.1}],\n"
               " \"joints\": [{\"kind\": \"revolute\", \"a\": \"cart\", \"b\": \"rod\", "
               "\"anchor_b\": [-0.5, 0]}]}\n");
    record_scene(folder_at(&place, "cart.json"), folder_at(&place, "c"),
                 PERP_STEPPER_STEWART_TRINKLE, 150, 1);
    assert_true(judge(folder_at(&place, "c"), PERP_CHECK_MOTION).check.passed);
}

// Two shapes without an inside: a fast point that meets a sheet passes, whether it stops or bounces, and a changed gap is found.
static void points_against_sheets_pass(void **state)
{
    (void)state;
    static const char *const e[] = {"0", "0.5"};
    for (int k = 0; k < 2; k++) {
        char text[512];
        snprintf(text, sizeof text,
                 "{\"gravity\": [0, 0], \"step\": 0.01, \"shapes\": [{\"kind\": \"segment\", "
                 "\"length\": 1, \"position\": [1.003, 0], \"angle\": \"90 deg\", "
                 "\"restitution\": %s}], \"bodies\": [{\"name\": \"b\", \"kind\": \"particle\", "
                 "\"mass\": 0.01, \"velocity\": [1000, 0], \"shapes\": [{\"kind\": \"point\", "
                 "\"restitution\": %s}]}]}",
                 e[k], e[k]);
        write_text("sheet.json", text);
        record_scene(folder_at(&place, "sheet.json"), place.path, PERP_STEPPER_IMPLICIT, 5, 1);
        verdict v = judge(place.path, PERP_CHECK_CONTACT);
        assert_true(v.check.item[PERP_CHECK_CONTACT].done);
        if (!v.check.passed) {
            fail_msg("e = %s: %s", e[k], v.where);
        }
    }
    change("contacts/gap", 1, 0, 1e-6);
    assert_false(judge(place.path, PERP_CHECK_CONTACT).check.passed);
}

// A corner and discs that pass a large round body at speed: the axis is that of the end of the step, and the point where they
// act lies between the two surfaces along it.
static void points_along_other_axes_pass(void **state)
{
    (void)state;
    write_text(
        "passing.json",
        "{\"gravity\": [0, 0, 0], \"step\": 0.02, \"bodies\": [{\"name\": \"ball\", \"kind\": "
        "\"solid\", \"position\": [0, 0, -20], \"mass\": 5, \"inertia\": [800, 800, 800], "
        "\"shapes\": [{\"kind\": \"sphere\", \"radius\": 20, \"mu\": 0.8}]}, {\"name\": \"cube\", "
        "\"kind\": \"solid\", \"position\": [0, 0, 0.47], \"mass\": 1, \"inertia\": [0.05, 0.05, "
        "0.05], \"rotation\": {\"axis\": [1, 0.3, -0.2], \"angle\": 0.9}, \"velocity\": [7, -4, "
        "-6], "
        "\"spin\": [3, -2, 4], \"shapes\": [{\"kind\": \"box\", \"size\": [0.5, 0.5, 0.5], "
        "\"mu\": 0.8}]}]}");
    write_text(
        "discs.json",
        "{\"gravity\": [0, 0], \"step\": 0.02, \"bodies\": [{\"name\": \"a\", \"mass\": 5, "
        "\"inertia\": 800, \"position\": [0, -20], \"shapes\": [{\"kind\": \"disc\", "
        "\"radius\": 20, \"mu\": 0.8}]}, {\"name\": \"b\", \"mass\": 1, \"inertia\": 0.05, "
        "\"position\": [0, 0.35], \"velocity\": [9, -9], \"spin\": 5, \"shapes\": [{\"kind\": "
        "\"disc\", \"radius\": 0.3, \"mu\": 0.8}]}]}");
    static const char *const names[] = {"passing.json", "discs.json"};
    for (int k = 0; k < 2; k++) {
        record_scene(folder_at(&place, names[k]), place.path, PERP_STEPPER_STEWART_TRINKLE, 5, 1);
        verdict v = judge(place.path, PERP_CHECK_CONTACT);
        assert_true(v.check.item[PERP_CHECK_CONTACT].done);
        if (!v.check.passed) {
            fail_msg("%s: %s", names[k], v.where);
        }
    }
}

// A driven wall jumps over a box between two frames: the gap is open at both, and the way led through.
static void a_passage_between_frames_is_found(void **state)
{
    (void)state;
    write_text(
        "jump.json",
        "{\"gravity\": [0, 0], \"step\": 0.01, \"until\": 0.2, \"bodies\": [{\"name\": \"d\", "
        "\"drive\": {\"x\": \"2*step(t - 0.1) - 1\"}, \"shapes\": [{\"kind\": "
        "\"box\", \"size\": [0.1, 1]}]}, {\"name\": \"b\", \"mass\": 1, \"inertia\": 1, "
        "\"shapes\": [{\"kind\": \"box\", \"size\": [0.2, 0.2]}]}]}");
    record_scene(folder_at(&place, "jump.json"), place.path, PERP_STEPPER_STEWART_TRINKLE, 20, 1);
    verdict v = judge(place.path, PERP_CHECK_GAP);
    assert_false(v.check.passed);
    assert_true(v.check.item[PERP_CHECK_GAP].over > 1.0);
}

// With the theta method contacts of space act in the middle of the step, theory (S12): a ball that rolls and a box
// that slides pass, and a rate or slip that is changed is found.
static void contacts_in_the_middle_are_judged(void **state)
{
    (void)state;
    static const struct {
        const char *column;
        hsize_t row, index;
    } changes[] = {
        {"contacts/rate_n", 20, 0}, {"contacts/slip", 20, 0}, {"contacts/slip_vector", 20, 0}};
    for (int k = -1; k < 3; k++) {
        record_scene(k % 2 == 0 ? "scenes/box-heading.json" : "scenes/ball-rolls.json", place.path,
                     PERP_STEPPER_MOREAU_JEAN, 40, 1);
        verdict v = judge(place.path, PERP_CHECK_CONTACT);
        assert_true(v.check.item[PERP_CHECK_CONTACT].done);
        assert_true(v.check.passed);
        if (k >= 0) {
            change(changes[k].column, changes[k].row, changes[k].index, 0.05);
            v = judge(place.path, PERP_CHECK_CONTACT);
            assert_false(v.check.passed);
            assert_true(v.check.item[PERP_CHECK_CONTACT].over > 1.0);
        }
    }
}

// Velocities that restitution reverses, in joint coordinates: those of the coordinates before the step.
static void bounces_in_joint_coordinates_pass(void **state)
{
    (void)state;
    write_text(
        "bounce.json",
        "{\"step\": 0.005, \"coordinates\": \"joint\", \"shapes\": [\n"
        "  {\"name\": \"floor\", \"kind\": \"halfplane\", \"position\": [0, -0.6]}],\n"
        " \"bodies\": [{\"name\": \"rod\", \"position\": [0.5, 0], \"mass\": 1, \"inertia\": "
        "0.1, \"shapes\": [{\"kind\": \"disc\", \"radius\": 0.1, \"position\": [0.4, 0], "
        "\"restitution\": 0.6}]}],\n"
        " \"joints\": [{\"kind\": \"revolute\", \"b\": \"rod\", \"anchor_b\": [-0.5, 0]}]}\n");
    record_scene(folder_at(&place, "bounce.json"), folder_at(&place, "b"),
                 PERP_STEPPER_STEWART_TRINKLE, 200, 1);
    verdict v = judge(folder_at(&place, "b"), PERP_CHECK_CONTACT);
    assert_true(v.check.item[PERP_CHECK_CONTACT].done && v.check.item[PERP_CHECK_CLOSE].done);
    assert_true(v.check.passed);
}

// Both judges pass every step of the scene.
static void passes_both(const char *name, const char *text, int steps)
{
    perp_scene *scene = NULL;
    perp_sim *sim = NULL;
    perp_error error = {0};
    write_text(name, text);
    assert_int_equal(perp_scene_load(folder_at(&place, name), NULL, &scene, &error), PERP_OK);
    perp_sim_def def = perp_scene_sim_def(scene);
    assert_int_equal(perp_sim_create(perp_scene_model(scene), &def, NULL, &sim, &error), PERP_OK);
    for (int k = 0; k < steps; k++) {
        assert_int_equal(perp_sim_step(sim, perp_scene_step(scene)), PERP_OK);
    }
    perp_sim_destroy(sim);
    perp_scene_destroy(scene);
    record_scene(folder_at(&place, name), folder_at(&place, "run"), PERP_STEPPER_STEWART_TRINKLE,
                 steps, 1);
    assert_true(judge(folder_at(&place, "run"), PERP_CHECK_ENERGY).check.passed);
}

// A rope is the limit of a distance, or of a sum of distances over a pulley. Bobs that swing on it leave the tangents of
// their ways, and closing that gives energy, which is of the order of the scheme.         theory (K5)
static void ropes_pass(void **state)
{
    (void)state;
#define BOB(name, x)                                                                               \
    "{\"name\": \"" name "\", \"kind\": \"solid\", \"position\": [" x                              \
    ", 0, -0.4], \"mass\": 1, \"inertia\": [0.01, 0.02, 0.03], \"velocity\": [0, 1, 0]}"
    passes_both("rope.json",
                "{\"step\": 0.002, \"gravity\": [0, 0, -9.81], \"bodies\": [" BOB(
                    "bob", "0.3") "],\n"
                                  " \"joints\": [{\"kind\": \"distance\", \"b\": \"bob\", "
                                  "\"anchor_b\": [0.05, 0.03, 0.02], "
                                  "\"length\": \"inf\", \"lower\": 0, \"upper\": 0.5}]}\n",
                400);
    passes_both(
        "pulley.json",
        "{\"step\": 0.002, \"gravity\": [0, 0, -9.81], \"bodies\": [" BOB("a", "0.3") ", " BOB(
            "b", "1.1") "],\n"
                        " \"joints\": [{\"name\": \"left\", \"kind\": \"distance\", \"b\": \"a\", "
                        "\"length\": \"inf\"},\n"
                        "  {\"name\": \"right\", \"kind\": \"distance\", \"b\": \"b\", "
                        "\"anchor_a\": [1, 0, 0], "
                        "\"length\": \"inf\"},\n"
                        "  {\"kind\": \"coupling\", \"coordinate\": \"q[left] + 2*q[right]\", "
                        "\"lower\": 0, \"upper\": 1.3}]}\n",
        400);
#undef BOB
}

// Joints that close where the step ends do work along the arcs of their anchors. The check counted what they close as
// errors of the start alone, of which there are none, and found energy that the certificate explains.
static void exact_positions_pass(void **state)
{
    (void)state;
    passes_both(
        "exact.json",
        "{\"step\": 0.002, \"until\": 2, \"positions\": \"exact\", \"bodies\": [\n"
        "  {\"name\": \"crank\", \"position\": [0, 0.1], \"angle\": \"90 deg\", \"shapes\":\n"
        "   [{\"kind\": \"capsule\", \"length\": 0.2, \"radius\": 0.01, \"density\": 2000}]},\n"
        "  {\"name\": \"coupler\", \"position\": [0.2, 0.3], \"angle\": \"26.565 deg\", "
        "\"shapes\":\n"
        "   [{\"kind\": \"capsule\", \"length\": 0.447, \"radius\": 0.01, \"density\": 2000}]},\n"
        "  {\"name\": \"rocker\", \"position\": [0.4, 0.2], \"angle\": \"90 deg\", \"shapes\":\n"
        "   [{\"kind\": \"capsule\", \"length\": 0.4, \"radius\": 0.01, \"density\": 2000}]}],\n"
        " \"joints\": [\n"
        "  {\"name\": \"motor\", \"kind\": \"revolute\", \"b\": \"crank\", \"at\": [0, 0], "
        "\"rate\": \"4*pi*min(t/0.2, 1)\", \"rate_effort\": 5},\n"
        "  {\"kind\": \"revolute\", \"a\": \"crank\", \"b\": \"coupler\", \"at\": [0, 0.2]},\n"
        "  {\"kind\": \"revolute\", \"a\": \"coupler\", \"b\": \"rocker\", \"at\": [0.4, 0.4]},\n"
        "  {\"kind\": \"revolute\", \"b\": \"rocker\", \"at\": [0.4, 0]}]}\n",
        900);
}

// Without inertia there is no kinetic energy to judge; without the scene no mass. Both are stated.
static void what_cannot_be_judged_is_stated(void **state)
{
    (void)state;
    record_scene("scenes/pusher.json", place.path, PERP_STEPPER_QUASISTATIC, 10, 1);
    verdict v = judge(place.path, PERP_CHECK_ENERGY);
    assert_true(v.check.passed && v.check.partly);
    assert_false(v.check.item[PERP_CHECK_ENERGY].done);
    assert_string_equal(v.check.item[PERP_CHECK_ENERGY].why,
                        "without inertia there is no kinetic energy");
    for (int k = 0; k < 2; k++) {
        perp_scene *scene = NULL;
        perp_sim *sim = NULL;
        perp_record *record = NULL;
        perp_record_def def = perp_record_default();
        assert_int_equal(perp_scene_load(k ? "scenes/ball-rolls.json" : "scenes/box-slides.json",
                                         NULL, &scene, NULL),
                         PERP_OK);
        def.h = perp_scene_step(scene);
        def.scene = "";
        assert_int_equal(perp_sim_create(perp_scene_model(scene), NULL, NULL, &sim, NULL), PERP_OK);
        assert_int_equal(perp_record_create(place.path, sim, &def, NULL, &record, NULL), PERP_OK);
        for (int i = 0; i < 5; i++) {
            assert_true(perp_sim_step(sim, def.h) >= 0);
            assert_int_equal(perp_record_step(record, sim), PERP_OK);
        }
        assert_int_equal(perp_record_finish(record, sim), PERP_OK);
        perp_record_destroy(record);
        perp_sim_destroy(sim);
        perp_scene_destroy(scene);
        v = judge(place.path, PERP_CHECK_MOMENTUM);
        assert_true(v.check.partly);
        assert_false(v.check.item[PERP_CHECK_MOMENTUM].done);
        assert_string_equal(v.check.item[PERP_CHECK_MOMENTUM].why,
                            "the recording contains no scene");
        assert_true(v.check.item[PERP_CHECK_PULL].done);
        assert_true(v.check.item[PERP_CHECK_CONE].done == (k == 0));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(honest_runs_pass),
        cmocka_unit_test(other_steppers_pass),
        cmocka_unit_test(points_that_were_left_out_are_found),
        cmocka_unit_test(parts_and_couplings_pass),
        cmocka_unit_test(what_is_not_recorded_is_not_judged),
        cmocka_unit_test(two_phases_pass),
        cmocka_unit_test(one_changed_number_is_found),
        cmocka_unit_test(runs_with_events_pass),
        cmocka_unit_test(one_changed_number_is_found_among_events),
        cmocka_unit_test(a_machine_is_judged_whole),
        cmocka_unit_test(every_number_is_judged),
        cmocka_unit_test(slides_on_what_turns_pass),
        cmocka_unit_test(points_against_sheets_pass),
        cmocka_unit_test(points_along_other_axes_pass),
        cmocka_unit_test(a_passage_between_frames_is_found),
        cmocka_unit_test(contacts_in_the_middle_are_judged),
        cmocka_unit_test(bounces_in_joint_coordinates_pass),
        cmocka_unit_test(ropes_pass),
        cmocka_unit_test(exact_positions_pass),
        cmocka_unit_test(what_cannot_be_judged_is_stated),
    };
    place = folder_create();
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    folder_remove(&place);
    return failed;
}
