// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The scene files of Trinkle's spatial examples: the same model as the C API builds, step by step, and the
// stored trajectories of an independent program.
#include "support/cmocka.h"
#include "support/golden.h"
#include "support/trinkle.h"

#include <math.h>
#include <stdio.h>

enum { NQ_MOST = 21, NV_MOST = 18 };

typedef struct running {
    perp_scene *scene;
    perp_sim *sim;
} running;

static void load(running *r, trinkle_example example, perp_form form)
{
    char path[128];
    perp_error error;
    snprintf(path, sizeof path, "scenes/%s.json", trinkle_scene(example));
    if (perp_scene_load(path, NULL, &r->scene, &error) < 0) {
        fail_msg("%s:%d:%d: %s", path, error.line, error.column, error.text);
    }
    perp_sim_def def = perp_scene_sim_def(r->scene);
    def.form = form;
    def.tolerance = 1e-12;
    assert_int_equal(perp_sim_create(perp_scene_model(r->scene), &def, NULL, &r->sim, &error),
                     PERP_OK);
}

static void unload(running *r)
{
    perp_sim_destroy(r->sim);
    perp_scene_destroy(r->scene);
}

// The largest difference; a quaternion and its negative are one rotation.
static double difference(int nq, const double *a, const double *b)
{
    double worst = 0.0;
    for (int at = 0; at + 7 <= nq; at += 7) {
        double same = 0.0, opposite = 0.0;
        for (int i = at; i < at + 3; i++) {
            worst = fmax(worst, fabs(a[i] - b[i]));
        }
        for (int i = at + 3; i < at + 7; i++) {
            same = fmax(same, fabs(a[i] - b[i]));
            opposite = fmax(opposite, fabs(a[i] + b[i]));
        }
        worst = fmax(worst, fmin(same, opposite));
    }
    return worst;
}

static void scenes_are_the_models(void **state)
{
    (void)state;
    for (int k = 0; k < TRINKLE_COUNT; k++) {
        trinkle_example example = (trinkle_example)k;
        trinkle t;
        running r;
        double q[NQ_MOST], v[NV_MOST], p[NQ_MOST], u[NV_MOST], worst = 0.0;
        int nq, nv;
        trinkle_open(&t, example, false);
        t.p.def.form = PERP_FORM_MCP;
        t.p.def.tolerance = 1e-12;
        trinkle_start(&t);
        load(&r, example, PERP_FORM_MCP);
        assert_true(perp_scene_step(r.scene) == t.h);
        perp_sim_state_size(r.sim, &nq, &nv);
        assert_int_equal(nq, 7 * t.bodies);
        for (int step = 0; step < 60; step++) {
            plane_step(&t.p, t.h);
            assert_int_equal(perp_sim_step(r.sim, t.h), PERP_OK);
            assert_int_equal(perp_sim_state_get(r.sim, NULL, q, v), PERP_OK);
            assert_int_equal(perp_sim_state_get(t.p.sim, NULL, p, u), PERP_OK);
            worst = fmax(worst, difference(nq, q, p));
            if (example == TRINKLE_DISC_8) {
                break;  // its motion is not determined: rounding decides
            }
        }
        print_message("%s: %.1e m from the model built by calls\n", trinkle_scene(example), worst);
        assert_true(worst < 1e-10);
        assert_int_equal(perp_sim_info(r.sim)->problem_size, trinkle_size(example));
        unload(&r);
        trinkle_close(&t);
    }
}

static void follow(trinkle_example example, perp_form form)
{
    golden g;
    running r;
    double q[NQ_MOST], v[NV_MOST], want[NQ_MOST];
    int nq, nv, step = 0;
    if (!golden_open(&g, trinkle_golden(example))) {
        print_message("no stored trajectories: skipped\n");
        skip();
    }
    load(&r, example, form);
    double tolerance = example == TRINKLE_PRISMATIC ? 1e-6 : g.tolerance;
    assert_true(perp_scene_step(r.scene) == g.h);
    perp_sim_state_size(r.sim, &nq, &nv);
    for (int row = 0; row < golden_rows(&g) && golden_step(&g, row) <= g.until; row++) {
        for (; step < golden_step(&g, row); step++) {
            assert_int_equal(perp_sim_step(r.sim, g.h), PERP_OK);
        }
        assert_int_equal(perp_sim_state_get(r.sim, NULL, q, v), PERP_OK);
        assert_int_equal(golden_numbers(&g, row, "q", want, NQ_MOST), nq);
        if (!(difference(nq, q, want) <= tolerance)) {
            fail_msg("%s, step %d: positions off by %.3g", trinkle_scene(example), step,
                     difference(nq, q, want));
        }
        assert_int_equal(golden_numbers(&g, row, "v", want, NQ_MOST), nv);
        for (int i = 0; i < nv; i++) {
            if (!(fabs(v[i] - want[i]) <= tolerance)) {
                fail_msg("%s, step %d: v[%d] off by %.3g", trinkle_scene(example), step, i,
                         v[i] - want[i]);
            }
        }
    }
    unload(&r);
    golden_close(&g);
}

static void scenes_follow_the_stored_runs(void **state)
{
    (void)state;
    static const trinkle_example examples[] = {TRINKLE_BLIMP, TRINKLE_DISC_3, TRINKLE_PUSHER,
                                               TRINKLE_ROBOT, TRINKLE_BOX,    TRINKLE_PRISMATIC};
    for (int i = 0; i < 6; i++) {
        follow(examples[i], PERP_FORM_MCP);
        follow(examples[i], PERP_FORM_LCP);
        follow(examples[i], PERP_FORM_AUTO);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scenes_are_the_models),
        cmocka_unit_test(scenes_follow_the_stored_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
