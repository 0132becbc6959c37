// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The stages of a step: each happens, in the order of its enum, and no more time is charged to them than the step took. Contacts that the
// certificate asks for are charged to the gap stage.
#include "sim/sim.h"
#include "support/cmocka.h"

#include <perp/io.h>

#include <math.h>

typedef struct seen {
    perp_stage stage[64];
    int count;
} seen;

static void note_stage(void *user, const perp_sim *sim, perp_stage done)
{
    seen *s = user;
    assert_non_null(sim);
    assert_true(s->count < 64);
    s->stage[s->count++] = done;
}

typedef struct world {
    perp_scene *scene;
    perp_sim *sim;
    seen seen;
} world;

static void open_world(world *w, const char *generator)
{
    *w = (world){0};
    assert_int_equal(perp_scene_generate(generator, NULL, 0, NULL, &w->scene, NULL), PERP_OK);
    perp_sim_def def = perp_scene_sim_def(w->scene);
    def.on_stage = note_stage;
    def.user = &w->seen;
    assert_int_equal(perp_sim_create(perp_scene_model(w->scene), &def, NULL, &w->sim, NULL),
                     PERP_OK);
}

static void close_world(world *w)
{
    perp_sim_destroy(w->sim);
    perp_scene_destroy(w->scene);
}

// Seconds of all stages of a step, which are no more than it took.
static void step(world *w, double seconds[PERP_STAGE_COUNT])
{
    double start = pp_seconds(), sum = 0.0;
    w->seen.count = 0;
    assert_true(perp_sim_step(w->sim, perp_scene_step(w->scene)) >= 0);
    double took = pp_seconds() - start;
    const perp_step_info *info = perp_sim_info(w->sim);
    for (int k = 0; k < PERP_STAGE_COUNT; k++) {
        assert_true(info->seconds[k] >= 0.0);
        seconds[k] += info->seconds[k];
        sum += info->seconds[k];
    }
    assert_true(sum <= took);
}

static void every_stage_happens(void **state)
{
    (void)state;
    double seconds[PERP_STAGE_COUNT] = {0.0};
    world w;
    open_world(&w, "stack3");
    for (int k = 0; k < 5; k++) {
        step(&w, seconds);
        assert_int_equal(w.seen.count, PERP_STAGE_COUNT);
        for (int i = 0; i < PERP_STAGE_COUNT; i++) {
            assert_int_equal(w.seen.stage[i], i);
        }
    }
    for (int k = 0; k < PERP_STAGE_COUNT; k++) {
        assert_true(seconds[k] > 0.0);
    }
    close_world(&w);
}

// An observer of the stages: steps at rest are computed, and not repeated.
static void compute_all(void *user, const perp_sim *sim, perp_stage stage)
{
    (void)user;
    (void)sim;
    (void)stage;
}

// Contacts are found where a step ends, for the certificate, and the next step takes them over.
static void finding_contacts_is_charged_to_gaps(void **state)
{
    (void)state;
    double seconds[PERP_STAGE_COUNT] = {0.0}, before[PERP_STAGE_COUNT] = {0.0};
    world w;
    open_world(&w, "wall");
    step(&w, before);
    w.sim->def.on_stage = compute_all;
    for (int k = 0; k < 20; k++) {
        step(&w, seconds);
    }
    // The least time that finding all contacts of the wall takes, alone.
    double least = INFINITY;
    pp_arena *arena = pp_arena_create(NULL);
    assert_non_null(arena);
    for (int k = 0; k < 20; k++) {
        pp_gaps gaps;
        pp_gap_search search = {.margin = w.sim->contact_cache.reach, .team = &w.sim->team};
        double start = pp_seconds();
        assert_int_equal(pp_gaps_run(&gaps, w.sim->model, &w.sim->step.end, search, arena),
                         PERP_OK);
        least = fmin(least, pp_seconds() - start);
        pp_arena_reset(arena);
    }
    pp_arena_destroy(arena);
    assert_true(seconds[PERP_STAGE_GAP] >= 0.5 * 20.0 * least);
    close_world(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_stage_happens),
        cmocka_unit_test(finding_contacts_is_charged_to_gaps),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
