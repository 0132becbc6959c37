// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Times are multiples of the step, not sums, in every stepper, and go on so after a state was restored.
#include "support/cmocka.h"

#include <perp/io.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double H = 0.001;  // no binary fraction: summed a thousand times it is off by 36 ulp

static perp_scene *make_scene(bool spatial)
{
    static const char plane[] =
        "{\"gravity\": [0, 0], \"bodies\": [{\"name\": \"a\", \"position\": [1, 0], \"mass\": 1, "
        "\"inertia\": 1}],\n"
        " \"joints\": [{\"kind\": \"revolute\", \"b\": \"a\", \"at\": [0, 0]}]}";
    static const char space[] =
        "{\"gravity\": [0, 0, 0], \"bodies\": [{\"name\": \"a\", \"kind\": \"solid\", "
        "\"position\": [1, 0, 0], \"mass\": "
        "1, \"inertia\": [1, 1, 1]}],\n"
        " \"joints\": [{\"kind\": \"revolute\", \"b\": \"a\", \"at\": [0, 0, 0], \"axis\": [0, 1, "
        "0]}]}";
    const char *text = spatial ? space : plane;
    perp_scene *scene = NULL;
    perp_error error = {0};
    if (perp_scene_parse("clock", text, strlen(text), NULL, &scene, &error) < 0) {
        fail_msg("%s", error.text);
    }
    return scene;
}

static void expect_time(const perp_sim *sim, double t)
{
    if (perp_sim_time(sim) != t) {
        fail_msg("t = %.17g, not %.17g", perp_sim_time(sim), t);
    }
}

static void step(perp_sim *sim, double h)
{
    if (perp_sim_step(sim, h) < 0) {
        fail_msg("%s", perp_sim_error(sim)->text);
    }
}

static int followed;

static void follow(const perp_model *model, const perp_sim_def *def)
{
    perp_sim *sim = NULL, *other = NULL;
    perp_error error = {0};
    if (perp_sim_create(model, def, NULL, &sim, &error) < 0) {
        if (error.status == PERP_ERR_REFUSED || error.status == PERP_ERR_ARGUMENT) {
            return;  // built without that stepper, or no such coordinates
        }
        fail_msg("%s", error.text);
    }
    followed++;
    for (int k = 1; k <= 700; k++) {
        step(sim, H);
        expect_time(sim, k * H);
    }
    size_t size = perp_sim_state_save_size(sim);
    void *block = malloc(size);
    assert_non_null(block);
    assert_int_equal(perp_sim_state_save(sim, block, size), PERP_OK);
    assert_int_equal(perp_sim_create(model, def, NULL, &other, NULL), PERP_OK);
    assert_int_equal(perp_sim_state_restore(other, block, size), PERP_OK);
    assert_true(perp_sim_state_hash(sim) == perp_sim_state_hash(other));
    for (int k = 701; k <= 1000; k++) {
        step(sim, H);
        step(other, H);
        expect_time(other, k * H);
        assert_true(perp_sim_state_hash(sim) == perp_sim_state_hash(other));
    }
    expect_time(sim, 1.0);
    // Another step starts to count where it begins, and a failed call counts nothing.
    assert_int_equal(perp_sim_step(sim, -1.0), PERP_ERR_ARGUMENT);
    double start = perp_sim_time(sim);
    for (int k = 1; k <= 50; k++) {
        step(sim, 0.3 * H);
        expect_time(sim, start + k * (0.3 * H));
    }
    int nq, nv;
    double q[16], nu[16];
    perp_sim_state_size(sim, &nq, &nv);
    assert_true(nq <= 16 && nv <= 16);
    assert_int_equal(perp_sim_state_get(sim, NULL, q, nu), PERP_OK);
    assert_true(perp_sim_state_set(sim, 10.0, q, nu) >= 0);
    for (int k = 1; k <= 50; k++) {
        step(sim, 0.3 * H);
        expect_time(sim, 10.0 + k * (0.3 * H));
    }
    free(block);
    perp_sim_destroy(sim);
    perp_sim_destroy(other);
}

static void times_are_multiples(void **state)
{
    (void)state;
    for (int spatial = 0; spatial < 2; spatial++) {
        perp_scene *scene = make_scene(spatial);
        for (int stepper = 0; perp_stepper_word(stepper); stepper++) {
            for (int coordinates = 0; perp_coordinates_word(coordinates); coordinates++) {
                perp_sim_def def = perp_scene_sim_def(scene);
                def.stepper = (perp_stepper)stepper;
                def.coordinates = (perp_coordinates)coordinates;
                follow(perp_scene_model(scene), &def);
            }
        }
        perp_scene_destroy(scene);
    }
    print_message("%d of stepper, coordinates and space\n", followed);
    assert_true(followed >= 12);
}

// What steps of a normal length left open is not closed at once by a step of a five-millionth of it, which ends a run, nor
// by more of them: the certificates pass, and a pendulum keeps its speed.                              theory (P22)
static void short_steps_close_slowly(void **state)
{
    (void)state;
    static const char *const files[] = {"scenes/pendulum-5.json", "scenes/heavy-top.json",
                                        "scenes/turntable.json"};
    static const perp_stepper steppers[] = {PERP_STEPPER_STEWART_TRINKLE, PERP_STEPPER_MOREAU_JEAN};
    for (int k = 0; k < 6; k++) {
        perp_scene *scene = NULL;
        perp_sim *sim = NULL;
        perp_error error = {0};
        assert_int_equal(perp_scene_load(files[k / 2], NULL, &scene, &error), PERP_OK);
        perp_sim_def def = perp_scene_sim_def(scene);
        def.stepper = steppers[k % 2];
        assert_int_equal(perp_sim_create(perp_scene_model(scene), &def, NULL, &sim, &error),
                         PERP_OK);
        for (int i = 0; i < 30; i++) {
            double h = i < 20 ? 0.005 : 1e-9;
            step(sim, h);
            const perp_certificate *c = &perp_sim_info(sim)->certificate;
            if (!c->passed) {
                fail_msg("%s, stepper %d, step %d: energy %g of its limit", files[k / 2], k % 2, i,
                         c->relative[PERP_JUDGED_ENERGY]);
            }
        }
        perp_sim_destroy(sim);
        perp_scene_destroy(scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(times_are_multiples),
                                       cmocka_unit_test(short_steps_close_slowly)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
