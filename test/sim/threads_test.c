// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// One model, several sims, each in a thread of its own: the same motion, bit for bit. Built with
// PERP_SANITIZE=thread it also shows that they share nothing that changes.
#include "support/cmocka.h"

#include <perp/io.h>

#include <pthread.h>

enum { THREADS = 4, STEPS = 60 };

typedef struct task {
    const perp_model *model;
    perp_sim_def def;
    double h;
    uint64_t hash;
    perp_status status;
} task;

static void *run(void *argument)
{
    task *t = argument;
    perp_sim *sim = NULL;
    t->status = perp_sim_create(t->model, &t->def, NULL, &sim, NULL);
    for (int k = 0; k < STEPS && t->status >= 0; k++) {
        t->status = perp_sim_step(sim, t->h);
    }
    perp_step_problem *problem = NULL;
    if (t->status >= 0 && perp_sim_problem(sim, PERP_FORM_MCP, &problem) < 0) {
        t->status = PERP_ERR_MEMORY;
    }
    perp_step_problem_destroy(problem);
    t->hash = sim ? perp_sim_state_hash(sim) : 0;
    perp_sim_destroy(sim);
    return NULL;
}

static void run_together(const perp_scene *scene, perp_form form)
{
    task tasks[THREADS];
    pthread_t thread[THREADS];
    for (int k = 0; k < THREADS; k++) {
        tasks[k] = (task){.model = perp_scene_model(scene),
                          .def = perp_scene_sim_def(scene),
                          .h = perp_scene_step(scene)};
        tasks[k].def.form = form;
        assert_int_equal(pthread_create(&thread[k], NULL, run, &tasks[k]), 0);
    }
    for (int k = 0; k < THREADS; k++) {
        assert_int_equal(pthread_join(thread[k], NULL), 0);
        assert_true(tasks[k].status >= 0);
        assert_true(tasks[k].hash == tasks[0].hash);
    }
}

static void sims_share_a_model(void **state)
{
    (void)state;
    static const char *const names[] = {"scenes/berard-4.4.json", "scenes/newtons-cradle.json",
                                        "scenes/conveyor.json", "scenes/four-bar.json"};
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
        perp_scene *scene = NULL;
        assert_int_equal(perp_scene_load(names[k], NULL, &scene, NULL), PERP_OK);
        for (int form = PERP_FORM_AUTO; form <= PERP_FORM_CONE; form++) {
            run_together(scene, (perp_form)form);
        }
        perp_scene_destroy(scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(sims_share_a_model)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
