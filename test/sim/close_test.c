// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Exact positions of the theta method and of linear steps: joints and gaps hold where each step ends, the order is two where motion is smooth,
// recordings are judged again, and the certificate refuses closings that are none.                     theory (I9), (K16)
#include "support/cmocka.h"
#include "support/folder.h"

#include "certify/certify.h"
#include "gap/gap.h"
#include "sim/sim.h"

#include <perp/io.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

// Three rods that hang from each other, let go from the side.
static const char RODS[] =
    "{\"step\": 0.01, \"bodies\": [{\"name\": \"r1\", \"position\": [0.2, 0], \"mass\": 1, "
    "\"inertia\": 0.0133}, {\"name\": \"r2\", \"position\": [0.6, 0], \"mass\": 1, \"inertia\": "
    "0.0133}, {\"name\": \"end\", \"position\": [1, 0], \"mass\": 1, \"inertia\": 0.0133}], "
    "\"joints\": [{\"kind\": \"revolute\", \"b\": \"r1\", \"at\": [0, 0]}, {\"kind\": "
    "\"revolute\", \"a\": \"r1\", \"b\": \"r2\", \"at\": [0.4, 0]}, {\"kind\": \"revolute\", "
    "\"a\": \"r2\", \"b\": \"end\", \"at\": [0.8, 0]}]}";

// Boxes that fall on each other, turning.
static const char BOXES[] =
    "{\"step\": 0.005, \"shapes\": [{\"kind\": \"halfplane\", \"mu\": 0.5}], \"bodies\": "
    "[{\"name\": "
    "\"end\", \"position\": [0, 0.25], \"angle\": 0.4, \"spin\": 3, \"shapes\": "
    "[{\"kind\": \"box\", \"size\": [0.4, 0.2], \"density\": 100, \"mu\": 0.5}]}, {\"name\": "
    "\"top\", "
    "\"position\": [0.1, 0.7], \"angle\": 0.9, \"velocity\": [0, -1], \"spin\": -4, \"shapes\": "
    "[{\"kind\": "
    "\"box\", \"size\": [0.4, 0.2], \"density\": 100, \"mu\": 0.5}]}]}";

// The same in space: a cube falls on its corner.
static const char CUBE[] =
    "{\"step\": 0.005, \"shapes\": [{\"kind\": \"halfspace\", \"mu\": 0.5}], \"bodies\": "
    "[{\"name\": "
    "\"end\", \"kind\": \"solid\", \"position\": [0, 0, 0.4], \"rotation\": {\"axis\": [1, 0.4, "
    "0.2], "
    "\"angle\": \"40 deg\"}, \"spin\": [1, 2, 3], \"shapes\": [{\"kind\": \"box\", \"size\": [0.3, "
    "0.3, 0.3], \"density\": 100, \"mu\": 0.5}]}]}";

typedef struct outcome {
    perp_vec3 place;
    double overlap, apart;  // worst of all steps [m]
    double energy;          // largest above that of the start [J]
    int violated;
} outcome;

static perp_scene *parse(const char *text)
{
    perp_scene *scene = NULL;
    perp_error error;
    if (perp_scene_parse("x", text, strlen(text), NULL, &scene, &error) < 0) {
        fail_msg("%s", error.text);
    }
    return scene;
}

// Steps of `step` to `until`; directory: for a recording, NULL: none.
static outcome run_by(perp_stepper stepper, const char *text, perp_positions positions,
                      double until, double step, const char *directory)
{
    perp_scene *scene = parse(text);
    perp_sim *sim = NULL;
    perp_record *record = NULL;
    perp_error error;
    outcome out = {.energy = -HUGE_VAL};
    perp_sim_def def = perp_scene_sim_def(scene);
    def.stepper = stepper;
    def.positions = positions;
    def.theta = 0.5;
    if (perp_sim_create(perp_scene_model(scene), &def, NULL, &sim, &error) < 0) {
        fail_msg("%s", error.text);
    }
    if (directory) {
        perp_record_def to = perp_record_default();
        to.scene = text;
        to.h = step;
        if (perp_record_create(directory, sim, &to, NULL, &record, &error) < 0) {
            fail_msg("%s", error.text);
        }
    }
    int steps = (int)lround(until / step);
    double first = 0.0;
    for (int k = 0; k < steps; k++) {
        if (perp_sim_step(sim, step) < 0 || (record && perp_record_step(record, sim) < 0)) {
            fail_msg("step %d: %s", k, perp_sim_error(sim)->text);
        }
        const perp_step_info *info = perp_sim_info(sim);
        double now = info->energy.kinetic + info->energy.potential;
        first = k == 0 ? now + info->energy.dissipated : first;
        out.energy = fmax(out.energy, now - first);
        out.overlap = fmax(out.overlap, info->certificate.gap);
        out.apart = fmax(out.apart, info->certificate.joint);
        out.violated += !info->certificate.passed;
    }
    if (record) {
        assert_int_equal(perp_record_finish(record, sim), PERP_OK);
        perp_record_destroy(record);
    }
    out.place = perp_sim_body_position(sim, perp_model_body(perp_scene_model(scene), "end"));
    perp_sim_destroy(sim);
    perp_scene_destroy(scene);
    return out;
}

static outcome run(const char *text, perp_positions positions, double until, double step,
                   const char *directory)
{
    return run_by(PERP_STEPPER_MOREAU_JEAN, text, positions, until, step, directory);
}

static void joints_hold_where_steps_end(void **state)
{
    (void)state;
    outcome linear = run(RODS, PERP_POSITIONS_LINEAR, 1.0, 0.01, NULL);
    outcome exact = run(RODS, PERP_POSITIONS_EXACT, 1.0, 0.01, NULL);
    assert_true(linear.apart > 1e-7);
    assert_true(exact.apart <= 1e-10);
    assert_int_equal(exact.violated, 0);
}

static void gaps_hold_where_steps_end(void **state)
{
    (void)state;
    const char *const text[] = {BOXES, CUBE};
    for (int k = 0; k < 2; k++) {
        outcome linear = run(text[k], PERP_POSITIONS_LINEAR, 1.0, 0.005, NULL);
        outcome exact = run(text[k], PERP_POSITIONS_EXACT, 1.0, 0.005, NULL);
        assert_true(linear.overlap > 1e-6);
        assert_true(exact.overlap <= 1e-9);
        assert_int_equal(exact.violated, 0);
    }
}

// Linear steps of scenes without joints are closed in the same way, with recordings that are judged again.
static void linear_steps_are_closed(void **state)
{
    (void)state;
    const perp_stepper by[] = {PERP_STEPPER_STEWART_TRINKLE, PERP_STEPPER_ANITESCU_POTRA};
    const char *const text[] = {BOXES, CUBE};
    for (int k = 0; k < 4; k++) {
        outcome linear = run_by(by[k % 2], text[k / 2], PERP_POSITIONS_LINEAR, 0.8, 0.005, NULL);
        folder place = folder_create();
        outcome exact = run_by(by[k % 2], text[k / 2], PERP_POSITIONS_EXACT, 0.8, 0.005,
                               folder_at(&place, "run"));
        assert_true(linear.overlap > 1e-7);  // the scene can show it
        if (!(exact.overlap <= 1e-9 && exact.apart <= 1e-10) || exact.violated > 0) {
            fail_msg("scene %d: %g m, %g m, %d", k, exact.overlap, exact.apart, exact.violated);
        }
        perp_recording *r = NULL;
        perp_check check = {0};
        assert_int_equal(perp_recording_open(folder_at(&place, "run"), NULL, &r, NULL), PERP_OK);
        assert_int_equal(perp_recording_check(r, NULL, &check, NULL), PERP_OK);
        assert_true(check.passed);
        perp_recording_close(r);
        folder_remove(&place);
    }
}

// Halves of a step leave a quarter of the error, and energy stays near its start.
static void the_order_is_two(void **state)
{
    (void)state;
    perp_vec3 place[4];
    for (int k = 0; k < 4; k++) {
        outcome o = run(RODS, PERP_POSITIONS_EXACT, 0.5, ldexp(0.01, -k), NULL);
        place[k] = o.place;
        assert_true(o.energy < 0.01);  // of about 10 J of motion
    }
    double first = hypot(place[0].x - place[1].x, place[0].y - place[1].y);
    double second = hypot(place[1].x - place[2].x, place[1].y - place[2].y);
    double third = hypot(place[2].x - place[3].x, place[2].y - place[3].y);
    assert_true(log2(first / second) > 1.8 && log2(first / second) < 2.2);
    assert_true(log2(second / third) > 1.8 && log2(second / third) < 2.2);
}

static void recordings_are_judged_again(void **state)
{
    (void)state;
    const char *const text[] = {RODS, BOXES, CUBE};
    for (int k = 0; k < 3; k++) {
        perp_recording *r = NULL;
        perp_snapshot frame, part;
        perp_error error;
        perp_check check = {0};
        int closings = 0;
        folder place = folder_create();
        (void)run(text[k], PERP_POSITIONS_EXACT, 0.6, 0.005, folder_at(&place, "run"));
        if (perp_recording_open(folder_at(&place, "run"), NULL, &r, &error) < 0) {
            fail_msg("%s", error.text);
        }
        perp_recording_info info = *perp_recording_about(r);
        assert_int_equal(info.positions, PERP_POSITIONS_EXACT);
        for (int i = 1; i < info.frames; i++) {
            assert_int_equal(perp_recording_read(r, i, &frame, &error), PERP_OK);
            for (int j = 0, kept = frame.kept; j < kept; j++) {
                assert_int_equal(perp_recording_read_part(r, i, j, &part, &error), PERP_OK);
                closings += part.part == PERP_PART_CLOSE;
            }
        }
        assert_true(closings > 0);
        assert_int_equal(perp_recording_check(r, NULL, &check, &error), PERP_OK);
        assert_true(check.passed);
        perp_recording_close(r);
        folder_remove(&place);
    }
}

// ── The certificate ──────────────────────────────────────────────────────────────────────────────

// A box of 1 m over a floor, lifted from an overlap with the multiplier by which it should be moved times `by`. share: of a
// step, by which a start as given is taken back; 0: all has to be closed.
static perp_certificate judge_lift(double overlap, double up, double aside, double by, double share)
{
    static const char text[] = "{\"shapes\": [{\"kind\": \"halfplane\"}], \"bodies\": [{\"name\": "
                               "\"box\", \"position\": [0, "
                               "0.5], \"mass\": 2, \"inertia\": 0.3, \"shapes\": [{\"kind\": "
                               "\"box\", \"size\": [1, 1]}]}]}";
    perp_scene *scene = parse(text);
    const perp_model *m = perp_scene_model(scene);
    pp_arena *arena = pp_arena_create(NULL);
    assert_non_null(arena);
    pp_frame from[2], to[2], start[2];
    double q[3] = {0.0, 0.5 - overlap, 0.0}, nu[3] = {0.0, share > 0.0 ? 0.0 : -0.2, 0.0};
    pp_state at = {.q = q, .nu = nu};
    pp_frames(m, &at, from);
    memcpy(start, from, sizeof start);
    q[0] += aside;
    q[1] += up;
    pp_frames(m, &at, to);
    pp_poses before = {.body = from}, after = {.body = to};
    pp_gaps gaps = {0};
    assert_true(pp_gaps_run(&gaps, m, &after, (pp_gap_search){.margin = 0.01}, arena) >= 0);
    assert_int_equal(gaps.count, 2);
    // both corners push with half of M d
    int contact[2] = {0, 1};
    double pn[2] = {by * up, by * up};
    pp_row n[2] = {{.joint = -1}, {.joint = -1}};
    pp_rows rows = {.nc = 2, .nn = 2, .n = n, .contact = contact};
    pp_closing_evidence e = {.model = m,
                             .start = start,
                             .from = &before,
                             .to = &after,
                             .h = 0.01,
                             .gaps = &gaps,
                             .rows = &rows,
                             .pn = pn,
                             .slack = 1e-6,
                             .share = share};
    perp_certificate c;
    perp_limits limits = {0};
    assert_int_equal(pp_certify_closing(&c, &e, &limits, arena), PERP_OK);
    pp_arena_destroy(arena);
    perp_scene_destroy(scene);
    return c;
}

static bool passes_lift(double up, double aside, double by)
{
    return judge_lift(1e-3, up, aside, by, 0.0).passed;
}

static void wrong_closings_are_refused(void **state)
{
    (void)state;
    assert_true(passes_lift(1e-3, 0.0, 1.0));
    assert_false(passes_lift(0.999e-3, 0.0, 1.0));  // an overlap is left
    assert_false(passes_lift(1.1e-3, 0.0, 1.0));    // pushed beyond the floor
    assert_false(passes_lift(1e-3, 1e-6, 1.0));     // moved aside by nothing
    assert_false(passes_lift(1e-3, 0.0, 1.001));    // by another multiplier
    assert_false(passes_lift(1e-3, 0.0, -1.0));     // pulled
}

// A start as given is taken back by a twentieth of the thickness in a step, the least way, and no farther than to touch.
static void parts_of_starts_are_judged(void **state)
{
    (void)state;
    // gaps and energies of a hundredth of the thickness are within the limits
    assert_true(judge_lift(0.01, 0.009, 0.0, 1.0, 1.0).passed);
    assert_true(judge_lift(0.01, 0.01, 0.0, 1.0, 1.0).passed);
    assert_true(judge_lift(0.01, 1e-3, 0.0, 1.0, 0.02).passed);
    assert_false(judge_lift(0.01, 1.1e-3, 0.0, 1.0, 0.02).passed);  // more than the part of a step
    assert_false(judge_lift(0.01, 0.0101, 0.0, 1.0, 1.0).passed);   // pushed beyond the floor
    assert_false(judge_lift(0.01, -1e-4, 0.0, 1.0, 1.0).passed);    // deeper
    assert_false(judge_lift(0.01, 0.009, 1e-6, 1.0, 1.0).passed);   // moved aside by nothing
    assert_false(judge_lift(0.01, 0.009, 0.0, 1.001, 1.0).passed);  // by another multiplier
    assert_false(judge_lift(0.01, 0.009, 0.0, -1.0, 1.0).passed);   // pulled
    // Deep ones: the way is right, what is left of the overlap and the energy that the way makes are not.
    perp_certificate deep = judge_lift(0.2, 0.05, 0.0, 1.0, 1.0);
    assert_true(deep.relative[PERP_JUDGED_MOTION] <= 1.0);
    assert_true(deep.relative[PERP_JUDGED_GAP] > 10.0);
    assert_true(fabs(deep.energy_created - 2.0 * 9.81 * 0.05) < 1e-9);
    assert_true(deep.relative[PERP_JUDGED_ENERGY] > 1.0);
    assert_true(judge_lift(0.2, 0.051, 0.0, 1.0, 1.0).relative[PERP_JUDGED_MOTION] > 1.0);
}

static int violated_steps(const perp_scene *scene, int steps)
{
    perp_sim_def def = perp_scene_sim_def(scene);
    def.stepper = PERP_STEPPER_MOREAU_JEAN;
    def.positions = PERP_POSITIONS_EXACT;
    perp_sim *sim = NULL;
    int violated = 0;
    assert_int_equal(perp_sim_create(perp_scene_model(scene), &def, NULL, &sim, NULL), PERP_OK);
    for (int k = 0; k < steps; k++) {
        assert_true(perp_sim_step(sim, perp_scene_step(scene)) >= 0);
        violated += !perp_sim_info(sim)->certificate.passed;
    }
    perp_sim_destroy(sim);
    return violated;
}

// Open contacts were said to push, by multipliers of 1e-31 that are the rounding of a solver, in step 48.
static void rounding_does_not_push(void **state)
{
    (void)state;
    perp_generator_option options[] = {{"bodies", "50"}, {"cubes", "1"}};
    perp_scene *scene = NULL;
    assert_int_equal(perp_scene_generate("pile3", options, 2, NULL, &scene, NULL), PERP_OK);
    assert_int_equal(violated_steps(scene, 50), 0);
    perp_scene_destroy(scene);
}

// The contact of the stone moves by 9 mm in a step, with 47 N: 3 of 2000 steps created energy, and are divided now.
static void a_rattleback_creates_no_energy(void **state)
{
    (void)state;
    perp_scene *scene = NULL;
    assert_int_equal(perp_scene_load("scenes/rattleback.json", NULL, &scene, NULL), PERP_OK);
    assert_int_equal(violated_steps(scene, 1300), 0);
    perp_scene_destroy(scene);
}

// A slider that carries two rods, the first of which lies on its limit: closings gave way by a millionth of what they closed,
// and no way was accepted.
static void limits_are_closed(void **state)
{
    (void)state;
    static const char text[] =
        "{\"stepper\": \"moreau-jean\", \"positions\": \"exact\", \"step\": 0.005, \"bodies\": "
        "[{\"name\": \"b0\", \"position\": [0.5, 0], \"mass\": 1, \"inertia\": 0.08}, {\"name\": "
        "\"b1\", \"position\": [1.5, 0], \"mass\": 1, \"inertia\": 0.08}, {\"name\": \"b2\", "
        "\"position\": [2.5, 0], \"mass\": 1, \"inertia\": 0.08}], \"joints\": [{\"kind\": "
        "\"prismatic\", \"b\": \"b0\", \"anchor_b\": [-0.5, 9e-5], \"axis\": [1, 0], \"lower\": "
        "-5e-5, \"upper\": 1}, {\"kind\": \"revolute\", \"a\": \"b0\", \"anchor_a\": [0.5, 0], "
        "\"b\": \"b1\", \"anchor_b\": [-0.5, 5e-5], \"lower\": -2e-5, \"upper\": 1}, {\"kind\": "
        "\"revolute\", \"a\": \"b1\", \"anchor_a\": [0.5, 0], \"b\": \"b2\", \"anchor_b\": "
        "[-0.5, 3e-5]}]}";
    perp_scene *scene = parse(text);
    assert_int_equal(violated_steps(scene, 20), 0);
    perp_scene_destroy(scene);
}

static bool checks(const char *directory)
{
    perp_recording *r = NULL;
    perp_check check = {0};
    assert_int_equal(perp_recording_open(directory, NULL, &r, NULL), PERP_OK);
    assert_int_equal(perp_recording_check(r, NULL, &check, NULL), PERP_OK);
    perp_recording_close(r);
    return check.passed;
}

// Rows of anitescu-potra hold rates, and leave a pendulum open by more with every step; a rope becomes taut within one. What it is
// off by is taken back in time, at a length of 300 m as at one of 1 m, of which it was a metre at most.
static void openings_of_rates_are_closed(void **state)
{
    (void)state;
    static const perp_stepper steppers[] = {PERP_STEPPER_ANITESCU_POTRA, PERP_STEPPER_MOREAU_JEAN};
    for (int k = 0; k < 8; k++) {
        char text[600], joint[120];
        double L = k & 1 ? 300.0 : 1.0;
        bool rope = k & 2;
        if (rope) {
            snprintf(joint, sizeof joint,
                     "{\"kind\": \"distance\", \"b\": \"end\", \"anchor_a\": [0, 0], \"length\": "
                     "\"inf\", \"upper\": %g}",
                     L);
        } else {
            snprintf(joint, sizeof joint,
                     "{\"kind\": \"revolute\", \"b\": \"end\", \"at\": [0, 0]}");
        }
        snprintf(text, sizeof text,
                 "{\"gravity\": [0, %g], \"bodies\": [{\"name\": \"end\", \"position\": [%g, 0], "
                 "\"velocity\": [%g, 0], \"mass\": 1, \"inertia\": %g}], \"joints\": [%s]}",
                 -9.81 * L, (rope ? 0.4 : 0.5) * L, rope ? 0.5 * L : 0.0,
                 (rope ? 0.001 : 0.08) * L * L, joint);
        folder place = folder_create();
        double step = rope ? 0.12 : 0.02;
        outcome run = run_by(steppers[k / 4], text, PERP_POSITIONS_LINEAR, 4.0, step,
                             folder_at(&place, "run"));
        if (run.violated > 0 || !checks(folder_at(&place, "run"))) {
            fail_msg("%s of %g m, stepper %d: %d steps violated, open by %g m",
                     rope ? "rope" : "pendulum", L, (int)steppers[k / 4], run.violated, run.apart);
        }
        folder_remove(&place);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(joints_hold_where_steps_end),
        cmocka_unit_test(gaps_hold_where_steps_end),
        cmocka_unit_test(linear_steps_are_closed),
        cmocka_unit_test(the_order_is_two),
        cmocka_unit_test(recordings_are_judged_again),
        cmocka_unit_test(wrong_closings_are_refused),
        cmocka_unit_test(parts_of_starts_are_judged),
        cmocka_unit_test(limits_are_closed),
        cmocka_unit_test(openings_of_rates_are_closed),
        cmocka_unit_test(rounding_does_not_push),
        cmocka_unit_test(a_rattleback_creates_no_energy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
