// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Positions against velocities in joint coordinates: machines of all kinds of joints pass to rounding, and a body that
// is moved by a billionth of a metre, alone or with all that hangs on it, does not.
#include "sim/sim.h"
#include "support/cmocka.h"
#include "support/random.h"

#include <perp/io.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char *const SPACE[] = {"revolute",  "prismatic", "cylindrical", "screw",
                                    "universal", "spherical", "plane",       "weld"};

// Four solids in a row on the ground, or free, with random joints between them.
static size_t machine(char *text, size_t size, bool space, bool floats, rng *r)
{
    static const char *const plane[] = {"revolute", "prismatic", "weld"};
    size_t at = (size_t)snprintf(text, size, "{\"coordinates\": \"joint\", \"bodies\": [");
    for (int k = 0; k < 4; k++) {
        at += (size_t)snprintf(
            text + at, size - at,
            space ? "%s{\"name\": \"b%d\", \"kind\": \"solid\", \"position\": [%d, 0, 0], "
                    "\"mass\": 1, "
                    "\"inertia\": [0.1, 0.2, 0.25], \"spin\": [%g, %g, %g]}"
                  : "%s{\"name\": \"b%d\", \"position\": [%d, 0], \"mass\": 1, \"inertia\": 0.1, "
                    "\"spin\": %g}",
            k > 0 ? ", " : "", k, k, rng_uniform(r, -3, 3), rng_uniform(r, -3, 3),
            rng_uniform(r, -3, 3));
    }
    at += (size_t)snprintf(text + at, size - at, "], \"joints\": [");
    for (int k = floats ? 1 : 0; k < 4; k++) {
        const char *kind = space ? SPACE[rng_below(r, 8)] : plane[rng_below(r, 3)];
        bool turned = rng_below(r, 2);
        int first = k - 1, second = k;
        char a[16] = "", b[16];
        if (first >= 0) {
            snprintf(a, sizeof a, "b%d", turned ? second : first);
        }
        snprintf(b, sizeof b, "b%d", turned && first >= 0 ? first : second);
        at += (size_t)snprintf(text + at, size - at, "%s{\"name\": \"j%d\", \"kind\": \"%s\", ",
                               k > (floats ? 1 : 0) ? ", " : "", k, kind);
        if (a[0]) {
            at += (size_t)snprintf(text + at, size - at, "\"a\": \"%s\", ", a);
        }
        at += (size_t)snprintf(text + at, size - at, "\"b\": \"%s\", \"at\": [%g, 0%s]", b, k - 0.5,
                               space ? ", 0" : "");
        if (strcmp(kind, "screw") == 0) {
            at += (size_t)snprintf(text + at, size - at, ", \"pitch\": 0.1");
        }
        if (strcmp(kind, "universal") == 0) {
            at += (size_t)snprintf(text + at, size - at,
                                   ", \"axis\": [0, 0, 1], \"axis_b\": [0, 1, 0]");
        }
        at += (size_t)snprintf(text + at, size - at, "}");
    }
    return at + (size_t)snprintf(text + at, size - at, "]}");
}

// The error of the worst body over a limit of rounding.
static double worst_of(perp_sim *sim, const pp_frame *end)
{
    const perp_model *m = sim->model;
    const pp_step *s = &sim->step;
    double limit[8], error[8], worst = 0.0;
    for (int i = 0; i < m->bodies; i++) {
        limit[i] = 1e-11;
        error[i] = 0.0;
    }
    for (int i = 0; i < m->bodies; i++) {
        const pp_body *b = &m->body[i];
        const double v[3] = {b->nv > 0 ? s->answer.nu[b->at] : 0.0,
                             b->nv > 0 ? s->answer.nu[b->at + 1] : 0.0,
                             b->nv > 3 ? s->answer.nu[b->at + 2] : 0.0};
        perp_vec3 to = pp_along(s->kin.poses.body[i].p, s->kin.h, pp_vec(v[0], v[1], v[2]));
        if (b->nv > 0) {
            error[i] = pp_length(pp_sub(end[i].p, to)) + 1e-3;  // nothing follows by itself
        }
    }
    // A machine that floats is led by its first solid.
    if (m->body[1].nv > 0 && m->joint[0].a != 0 && m->joint[0].b != 0) {
        error[1] -= 1e-3;
    }
    const pp_motion_of of = {s->kin.poses.body, end, s->answer.nu};
    assert_int_equal(pp_arcs_explain(m, s->kin.h, &of, limit, error, sim->arena), PERP_OK);
    for (int i = 0; i < m->bodies; i++) {
        worst = fmax(worst, m->body[i].nv > 0 ? error[i] / limit[i] : 0.0);
    }
    return worst;
}

static void run_machine(bool space, bool floats, rng *r)
{
    char text[4000];
    perp_error error;
    perp_scene *scene;
    perp_sim *sim;
    size_t size = machine(text, sizeof text, space, floats, r);
    if (perp_scene_parse("machine", text, size, NULL, &scene, &error) < 0) {
        fail_msg("%s\n%s", error.text, text);
    }
    perp_sim_def def = perp_scene_sim_def(scene);
    assert_int_equal(perp_sim_create(perp_scene_model(scene), &def, NULL, &sim, &error), PERP_OK);
    for (int k = 0; k < 20; k++) {
        assert_true(perp_sim_step(sim, 2e-3) >= 0);
        const perp_certificate *c = &perp_sim_info(sim)->certificate;
        if (c->relative[PERP_JUDGED_MOTION] > 1.0) {
            fail_msg("step %d: motion %g, %g of its limit\n%s", k, c->motion,
                     c->relative[PERP_JUDGED_MOTION], text);
        }
    }
    pp_frame end[5];
    memcpy(end, sim->step.end.body, sizeof end);
    assert_true(worst_of(sim, end) < 1.0);
    for (int k = 1; k < 5; k++) {  // alone, then with all that follow it
        memcpy(end, sim->step.end.body, sizeof end);
        end[k].p.x += 1e-9;
        assert_true(worst_of(sim, end) > 1.0);
        for (int i = k + 1; i < 5; i++) {
            end[i].p.x += 1e-9;
        }
        assert_true(worst_of(sim, end) > 1.0);
    }
    perp_sim_destroy(sim);
    perp_scene_destroy(scene);
}

static void machines_move_by_their_joints(void **state)
{
    (void)state;
    rng r = rng_seed(7);
    for (int i = 0; i < 200; i++) {
        run_machine(i % 4 != 0, i % 3 == 0, &r);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(machines_move_by_their_joints)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
