// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// All pairs of a scene: overlaps at the end of a step and what passed through what on the way.
#include "certify/certify.h"
#include "certify/geometry/witness.h"
#include "sim/sim.h"
#include "support/cmocka.h"
#include "support/random.h"

#include <perp/io.h>

#include <math.h>
#include <string.h>

enum { BODIES_MOST = 512 };

typedef struct stage {
    perp_scene *scene;
    perp_sim *sim;
    pp_arena *arena;
    pp_frame before[BODIES_MOST];
    pp_geometry out;
    double seconds;  // in the judge
} stage;

static void open_stage(stage *s, const char *text, const char *stepper)
{
    perp_error error;
    *s = (stage){.arena = pp_arena_create(NULL)};
    assert_non_null(s->arena);
    if (perp_scene_parse("test", text, strlen(text), NULL, &s->scene, &error) < 0) {
        fail_msg("%s", error.text);
    }
    perp_sim_def def = perp_scene_sim_def(s->scene);
    if (stepper) {
        def.stepper = strcmp(stepper, "moreau-jean") == 0 ? PERP_STEPPER_MOREAU_JEAN
                                                          : PERP_STEPPER_STEWART_TRINKLE;
    }
    if (perp_sim_create(perp_scene_model(s->scene), &def, NULL, &s->sim, &error) < 0) {
        fail_msg("%s", error.text);
    }
    assert_true(s->sim->model->bodies <= BODIES_MOST);
}

static void close_stage(stage *s)
{
    perp_sim_destroy(s->sim);
    perp_scene_destroy(s->scene);
    pp_arena_destroy(s->arena);
}

// One step, judged.
static perp_status step(stage *s, double h, bool offered)
{
    const perp_model *m = s->sim->model;
    memcpy(s->before, s->sim->frames, (size_t)m->bodies * sizeof *s->before);
    perp_status status = perp_sim_step(s->sim, h);
    if (status < 0) {
        return status;
    }
    pp_arena_reset(s->arena);
    pp_geometry_task task = {.model = m,
                             .start = s->before,
                             .end = s->sim->frames,
                             .h = h,
                             .depth = 1e-6 * m->length_scale};
    pp_gaps gaps;
    const pp_poses at = {.t = perp_sim_time(s->sim), .body = s->sim->frames};
    assert_int_equal(
        pp_gaps_run(&gaps, m, &at, (pp_gap_search){.margin = s->sim->def.margin}, s->arena),
        PERP_OK);
    double clock = pp_seconds();
    if (offered) {
        task.axis = pp_geometry_axes(&gaps, s->arena, &task.axes);
    }
    assert_int_equal(pp_judge_geometry(&s->out, &task, s->arena), PERP_OK);
    s->seconds += offered ? pp_seconds() - clock : 0.0;
    // the same with shapes that were looked at before, of which all pairs are listed
    pp_geometry again;
    task.shapes = pp_judged_shapes_create(m, s->arena);
    assert_non_null(task.shapes);
    assert_int_equal(pp_judge_geometry(&again, &task, s->arena), PERP_OK);
    assert_true(again.gap == s->out.gap && again.path_depth == s->out.path_depth);
    assert_true(again.judged >= s->out.judged && again.path == s->out.path);
    return status;
}

// ── What passes through ──────────────────────────────────────────────────────────────────────────

static bool passes(const char *text, const char *stepper)
{
    stage s;
    bool passed = false;
    open_stage(&s, text, stepper);
    double h = perp_scene_step(s.scene), until = perp_scene_until(s.scene);
    while (perp_sim_time(s.sim) < until - 0.5 * h && step(&s, h, true) >= 0) {
        passed = passed || s.out.path == PP_PATH_PASSED;
        assert_true(s.out.undecided == 0 && s.out.path_undecided == 0);
    }
    close_stage(&s);
    return passed;
}

#define DISC(speed)                                                                                \
    "{\"step\": 0.01, \"until\": 0.07, \"gravity\": [0, 0], \"shapes\": [{\"kind\": \"box\", "     \
    "\"size\": [0.01, 10], \"position\": [0.5, 0]}], \"bodies\": [{\"velocity\": [" speed ", 0], " \
    "\"mass\": 1, \"inertia\": 0.01, \"shapes\": [{\"kind\": \"disc\", \"radius\": 0.01}]}]}"

static void disc_and_wall(void **state)
{
    (void)state;
    assert_false(passes(DISC("30"), "moreau-jean"));  // its step is divided
    assert_false(passes(DISC("1"), "moreau-jean"));
    assert_false(passes(DISC("30"), "stewart-trinkle"));
}

static void driven_body_jumps(void **state)
{
    (void)state;
    const char *jump =
        "{\"step\": 0.01, \"until\": 0.2, \"gravity\": [0, 0], \"bodies\": [{\"drive\": {\"x\": "
        "\"2*step(t - 0.1) - 1\"}, \"shapes\": [{\"kind\": \"box\", \"size\": [0.1, 1]}]}, "
        "{\"shapes\": [{\"kind\": \"box\", \"size\": [0.2, 0.2], \"density\": 1000}]}]}";
    assert_true(passes(jump, NULL));
}

// A cylinder of 1 cm radius at 24 m/s against a box of triangles, moved by hand.
static void cylinder_and_mesh(void **state)
{
    (void)state;
    const char *text = "{\"bodies\": [{\"kind\": \"solid\", \"mass\": 1, \"inertia\": [1, 1, 1], "
                       "\"shapes\": [{\"kind\": "
                       "\"cylinder\", \"length\": 0.3, \"radius\": 0.01}]}], \"shapes\": "
                       "[{\"kind\": \"mesh\", \"vertices\": "
                       "[[-1,-1,0],[1,-1,0],[1,1,0],[-1,1,0]], \"triangles\": [[0,1,2],[0,2,3]]}]}";
    stage s;
    open_stage(&s, text, NULL);
    const pp_frame ground = s.sim->frames[0];
    for (int k = 0; k < 24; k++) {
        double drop = 0.1 * k;
        pp_frame from[2] = {ground, {.p = {0.3, 0.2, 0.5}}},
                 to[2] = {ground, {.p = {0.3, 0.2, 0.5 - drop}}};
        pp_frame_set_rotation(&from[1], pp_quat_exp(pp_vec(1.5, 0.3, 0.0)));
        pp_frame_set_rotation(&to[1], pp_quat_exp(pp_vec(1.4, 0.3, 0.1)));
        pp_geometry_task task = {
            .model = s.sim->model, .start = from, .end = to, .h = 0.01, .depth = 1e-6};
        assert_int_equal(pp_judge_geometry(&s.out, &task, s.arena), PERP_OK);
        pp_path_state expected = drop > 0.7 ? PP_PATH_PASSED : PP_PATH_CLEAR;
        if (drop < 0.3 || drop > 0.7) {
            assert_int_equal(s.out.path, expected);
            assert_true(s.out.gap == 0.0);
        }
    }
    close_stage(&s);
}

// ── With a memory ────────────────────────────────────────────────────────────────────────────────

// Nine solids in a box of half-spaces, thrown about by hand at speeds from a hundredth of their size a step to twice that:
// what is known from steps before makes no difference to overlaps and passages.
static void memory_changes_nothing(void **state)
{
    (void)state;
    static const char *const text = "{\"shapes\": [{\"kind\": \"halfspace\"}], \"bodies\": ["
#define SOLID(x, shape)                                                                            \
    "{\"kind\": \"solid\", \"position\": [" #x                                                     \
    ", 0, 1], \"mass\": 1, \"inertia\": [1, 1, 1], \"shapes\": [" shape "]}"
#define CYLINDER(x) SOLID(x, "{\"kind\": \"cylinder\", \"length\": 0.3, \"radius\": 0.1}")
#define CUBE(x)     SOLID(x, "{\"kind\": \"box\", \"size\": [0.3, 0.2, 0.2]}")
#define BALL(x)     SOLID(x, "{\"kind\": \"sphere\", \"radius\": 0.1}")
        CYLINDER(1) "," CUBE(2) "," BALL(3) "," CYLINDER(4) "," CUBE(5) "," BALL(6) "," CYLINDER(
            7) "," CUBE(8) "," BALL(9) "]}";
    enum { BODIES = 10 };
    int passed = 0, overlaps = 0, skipped = 0;
    FOR_SEEDS(seed, 12)
    {
        rng r = rng_seed(seed);
        stage s;
        open_stage(&s, text, NULL);
        const perp_model *m = s.sim->model;
        pp_kept_shapes kept;
        const pp_judged_shapes *shapes = pp_judged_shapes_create(m, s.arena);
        assert_int_equal(m->bodies, BODIES);
        assert_true(shapes && pp_kept_shapes_open(&kept, m, shapes, s.arena));
        pp_frame from[BODIES], to[BODIES];
        memcpy(from, s.sim->frames, sizeof from);
        double way = 0.3 * pow(10.0, -rng_uniform(&r, -0.3, 3.0));
        for (int k = 0; k < 30; k++) {
            memcpy(to, from, sizeof to);
            for (int i = 1; i < BODIES; i++) {
                double turn = rng_below(&r, 4) ? way : 0.0;
                to[i].p = pp_vec(rng_uniform(&r, -way, way), rng_uniform(&r, -way, way),
                                 rng_uniform(&r, -way, way));
                to[i].p = pp_add(pp_scale(k == 0 ? 0.0 : 0.98, from[i].p), to[i].p);
                to[i].p.z = k == 0 ? 0.2 * i : fabs(to[i].p.z);
                pp_frame_set_rotation(
                    &to[i],
                    pp_quat_mul(pp_quat_exp(pp_vec(turn, rng_uniform(&r, -turn, turn), 0.0)),
                                from[i].rot));
            }
            pp_geometry plain, known;
            pp_geometry_task task = {.model = m,
                                     .shapes = shapes,
                                     .start = k == 0 ? NULL : from,
                                     .end = to,
                                     .h = 0.01,
                                     .depth = 1e-3};
            assert_int_equal(pp_judge_geometry(&plain, &task, s.arena), PERP_OK);
            task.last = &kept;
            task.starts_at_last = k > 0 && rng_below(&r, 20) > 0;
            assert_int_equal(pp_judge_geometry(&known, &task, s.arena), PERP_OK);
            CHECK(plain.gap == known.gap && plain.gap_a == known.gap_a &&
                      plain.gap_b == known.gap_b,
                  seed);
            CHECK(plain.path == known.path && plain.path_depth == known.path_depth, seed);
            CHECK(plain.judged == known.judged && plain.undecided == known.undecided, seed);
            passed += plain.path == PP_PATH_PASSED;
            overlaps += plain.gap > 0.0;
            skipped += shapes->count - kept.close_count;
            memcpy(from, to, sizeof from);
        }
        close_stage(&s);
    }
    print_message("%d passages, %d overlaps, %d pairs asleep\n", passed, overlaps, skipped);
    assert_true(passed > 20 && overlaps > 100 && skipped > 500);
}

// ── What does not ────────────────────────────────────────────────────────────────────────────────

// The same overlap as the certificate's, with and without axes offered; nothing passes.
static void run_calmly(const char *generator, int steps)
{
    perp_scene *scene = NULL;
    perp_error error;
    size_t size;
    if (perp_scene_generate(generator, NULL, 0, NULL, &scene, &error) < 0) {
        fail_msg("%s: %s", generator, error.text);
    }
    const char *text = perp_scene_text(scene, &size);
    stage s;
    open_stage(&s, text, NULL);
    double h = perp_scene_step(scene), clock = pp_seconds();
    for (int k = 0; k < steps; k++) {
        assert_true(step(&s, h, k % 2 == 0) >= 0);
        double gap = s.sim->info.certificate.gap;
        if (s.out.path != PP_PATH_CLEAR || fabs(s.out.gap - gap) > 1e-9 + 1e-3 * gap) {
            fail_msg("%s step %d: path %d (%g of %g at %g, '%s' and '%s', %d left), gap %g, "
                     "certificate %g",
                     generator, k, (int)s.out.path, s.out.path_depth, s.out.path_allowed,
                     s.out.path_part,
                     s.out.path_a < 0 ? "" : s.sim->model->shape[s.out.path_a].name,
                     s.out.path_b < 0 ? "" : s.sim->model->shape[s.out.path_b].name,
                     (int)s.out.path_undecided, s.out.gap, gap);
        }
    }
    print_message("%s: judge %.3g ms a step of %.3g ms, %d pairs\n", generator,
                  2e3 * s.seconds / steps, 1e3 * (pp_seconds() - clock) / steps, (int)s.out.judged);
    close_stage(&s);
    perp_scene_destroy(scene);
}

static void generated_scenes(void **state)
{
    (void)state;
    static const char *const names[] = {"wall",   "arch",  "pile",  "stack", "chain", "cradle",
                                        "stack3", "wall3", "pile3", "arch3", "heaps", "slide"};
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        run_calmly(names[k], 30);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(disc_and_wall),          cmocka_unit_test(driven_body_jumps),
        cmocka_unit_test(cylinder_and_mesh),      cmocka_unit_test(generated_scenes),
        cmocka_unit_test(memory_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
