// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// What rests stays where it is, bit for bit, and a step that ends where it began is not computed again. An observer of the
// stages makes every step be computed: with it and without it all bits are the same.                  theory (S19)
#include "support/cmocka.h"
#include "support/fault.h"

#include <perp/io.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct rest {
    perp_scene *scene;
    perp_sim *sim;
    double h;
} rest;

static void watch(void *user, const perp_sim *sim, perp_stage stage)
{
    (void)sim;
    (void)stage;
    ++*(int *)user;
}

static rest start(perp_scene *scene, int *stages, const perp_env *env)
{
    rest r = {.scene = scene, .h = perp_scene_step(scene)};
    perp_sim_def def = perp_scene_sim_def(scene);
    if (stages) {
        def.on_stage = watch;
        def.user = stages;
    }
    assert_int_equal(perp_sim_create(perp_scene_model(scene), &def, env, &r.sim, NULL), PERP_OK);
    return r;
}

static void end(rest *r)
{
    perp_sim_destroy(r->sim);
    perp_scene_destroy(r->scene);
}

static perp_scene *generated(const char *name)
{
    perp_scene *scene = NULL;
    assert_int_equal(perp_scene_generate(name, NULL, 0, NULL, &scene, NULL), PERP_OK);
    return scene;
}

static perp_scene *parsed(const char *text)
{
    perp_scene *scene = NULL;
    perp_error error = {0};
    if (perp_scene_parse("rest", text, strlen(text), NULL, &scene, &error) < 0) {
        fail_msg("%s", error.text);
    }
    return scene;
}

// A cube on a floor, with a force, a drive or a body that the caller adds.
static perp_scene *cube_with(const char *more)
{
    char text[1000];
    (void)snprintf(
        text, sizeof text,
        "{\"step\": 0.01, \"gravity\": [0, 0, -9.81],"
        " \"shapes\": [{\"name\": \"floor\", \"kind\": \"halfspace\", \"mu\": 0.5}],"
        " \"bodies\": [{\"name\": \"cube\", \"kind\": \"solid\", \"position\": [0, 0, 0.5],"
        " \"shapes\": [{\"name\": \"side\", \"kind\": \"box\", \"size\": [1, 1, 1], \"density\": "
        "1, \"mu\": 0.5}]}%s}",
        more);
    return parsed(text);
}

static void step(rest *r, int count)
{
    for (int k = 0; k < count; k++) {
        assert_int_equal(perp_sim_step(r->sim, r->h), PERP_OK);
    }
}

static bool repeats(const rest *r)
{
    return perp_sim_info(r->sim)->repeats;
}

static void assert_same(const rest *a, const rest *b)
{
    const perp_step_info *x = perp_sim_info(a->sim), *y = perp_sim_info(b->sim);
    assert_true(perp_sim_state_hash(a->sim) == perp_sim_state_hash(b->sim));
    assert_memory_equal(&x->certificate, &y->certificate, sizeof x->certificate);
    assert_memory_equal(&x->energy, &y->energy, sizeof x->energy);
    assert_int_equal(x->contacts, y->contacts);
    int count[2];
    const perp_contact *c = perp_sim_contacts(a->sim, &count[0]);
    const perp_contact *d = perp_sim_contacts(b->sim, &count[1]);
    assert_int_equal(count[0], count[1]);
    for (int i = 0; i < count[0]; i++) {
        assert_true(c[i].pn == d[i].pn && c[i].gap == d[i].gap && c[i].slip == d[i].slip);
        assert_memory_equal(&c[i].pf_W, &d[i].pf_W, sizeof c[i].pf_W);
    }
    size_t size = perp_sim_state_save_size(a->sim);
    assert_int_equal(perp_sim_state_save_size(b->sim), size);
    void *block[2] = {malloc(size), malloc(size)};
    assert_non_null(block[0]);
    assert_non_null(block[1]);
    assert_int_equal(perp_sim_state_save(a->sim, block[0], size), PERP_OK);
    assert_int_equal(perp_sim_state_save(b->sim, block[1], size), PERP_OK);
    assert_memory_equal(block[0], block[1], size);
    free(block[0]);
    free(block[1]);
}

static void repeated_steps_have_the_bits_of_computed_ones(void **state)
{
    (void)state;
    static const char *const name[] = {"wall", "wall3", "arch", "arch3", "stack", "stack3"};
    for (size_t k = 0; k < sizeof name / sizeof *name; k++) {
        int stages = 0;
        rest fast = start(generated(name[k]), NULL, NULL),
             slow = start(generated(name[k]), &stages, NULL);
        for (int i = 0; i < 12; i++) {
            step(&fast, 1);
            step(&slow, 1);
            assert_same(&fast, &slow);
            assert_false(repeats(&slow));
        }
        assert_true(repeats(&fast));
        assert_true(stages > 0);
        assert_int_equal(perp_sim_info(fast.sim)->effort.factorisations, 0);
        assert_int_equal(perp_sim_info(slow.sim)->effort.factorisations, 0);
        end(&fast);
        end(&slow);
    }
}

// Whatever is set from outside, the next step is computed.
static void what_is_set_ends_the_rest(void **state)
{
    (void)state;
    rest r = start(cube_with("]"), NULL, NULL);
    perp_body cube = perp_model_body(perp_sim_model(r.sim), "cube");
    double t, q[7], nu[6];
    step(&r, 5);
    assert_true(repeats(&r));
    // a push that friction holds, then one that it does not
    perp_sim_body_apply(r.sim, cube, (perp_wrench){.f_W = {1.0, 0.0, 0.0}});
    step(&r, 1);
    assert_false(repeats(&r));
    step(&r, 3);
    assert_true(repeats(&r));
    perp_sim_body_apply(r.sim, cube, (perp_wrench){.f_W = {20.0, 0.0, 0.0}});
    step(&r, 1);
    assert_false(repeats(&r));
    assert_int_equal(perp_sim_state_get(r.sim, &t, q, nu), PERP_OK);
    assert_true(q[0] > 1e-4);
    // it slides to a stop and rests again
    step(&r, 40);
    assert_true(repeats(&r));
    // another length of the step, gravity, friction and a state
    assert_int_equal(perp_sim_step(r.sim, 0.5 * r.h), PERP_OK);
    assert_false(repeats(&r));
    step(&r, 4);
    assert_true(repeats(&r));
    assert_int_equal(perp_sim_gravity_set(r.sim, (perp_vec3){0.0, 0.0, -1.62}), PERP_OK);
    step(&r, 1);
    assert_false(repeats(&r));
    step(&r, 4);
    assert_true(repeats(&r));
    assert_int_equal(perp_sim_gravity_set(r.sim, (perp_vec3){6.0, 0.0, -6.0}), PERP_OK);
    step(&r, 3);
    assert_false(repeats(&r));
    assert_int_equal(perp_sim_gravity_set(r.sim, (perp_vec3){0.0, 0.0, -9.81}), PERP_OK);
    step(&r, 40);
    assert_true(repeats(&r));
    assert_int_equal(perp_sim_state_get(r.sim, &t, q, nu), PERP_OK);
    nu[0] = 0.5;
    assert_int_equal(perp_sim_state_set(r.sim, t, q, nu), PERP_OK);
    double x = q[0];
    step(&r, 2);
    assert_false(repeats(&r));
    assert_int_equal(perp_sim_state_get(r.sim, &t, q, nu), PERP_OK);
    assert_true(q[0] > x);
    end(&r);
}

// What depends on time may begin to move at any time.
static void what_depends_on_time_does_not_repeat(void **state)
{
    (void)state;
    static const char *const more[] = {
        "], \"forces\": [{\"kind\": \"force\", \"body\": \"cube\", \"fx\": \"if(t < 0.2, 0, "
        "20)\"}]",
        ", {\"name\": \"hammer\", \"kind\": \"solid\", \"drive\": {\"x\": \"if(t < 0.2, -2, -2 + "
        "10 * (t - 0.2))\", \"z\": "
        "0.5}, \"shapes\": [{\"kind\": \"sphere\", \"radius\": 0.3}]}]",
    };
    for (size_t k = 0; k < sizeof more / sizeof *more; k++) {
        rest r = start(cube_with(more[k]), NULL, NULL);
        double t, q[7], nu[6];
        for (int i = 0; i < 45; i++) {
            assert_true(perp_sim_step(r.sim, r.h) >= 0);
            assert_false(repeats(&r));
        }
        assert_int_equal(perp_sim_state_get(r.sim, &t, q, nu), PERP_OK);
        assert_true(q[0] > 1e-3);
        end(&r);
    }
}

// A saved state goes on with the same bits, in a sim that has to find out anew that it rests.
static void a_saved_rest_goes_on(void **state)
{
    (void)state;
    rest a = start(generated("stack3"), NULL, NULL), b = start(generated("stack3"), NULL, NULL);
    step(&a, 8);
    assert_true(repeats(&a));
    size_t size = perp_sim_state_save_size(a.sim);
    void *block = malloc(size);
    assert_non_null(block);
    assert_int_equal(perp_sim_state_save(a.sim, block, size), PERP_OK);
    assert_int_equal(perp_sim_state_restore(b.sim, block, size), PERP_OK);
    free(block);
    for (int k = 0; k < 5; k++) {
        step(&a, 1);
        step(&b, 1);
        assert_same(&a, &b);
        assert_true(repeats(&b) == (k > 1));
    }
    end(&a);
    end(&b);
}

// Sensors of a repeated step show what those of a computed one do: forces are means over the step.
static void sensors_go_on(void **state)
{
    (void)state;
    static const char more[] =
        "], \"sites\": [{\"name\": \"pad\", \"body\": \"cube\", \"position\": [0, 0, -0.5], "
        "\"radius\": 2}],"
        " \"sensors\": [{\"name\": \"imu\", \"kind\": \"accelerometer\", \"site\": \"pad\"},"
        " {\"name\": \"touch\", \"kind\": \"touch\", \"site\": \"pad\"}]";
    int stages = 0;
    rest fast = start(cube_with(more), NULL, NULL), slow = start(cube_with(more), &stages, NULL);
    for (int k = 0; k < 6; k++) {
        step(&fast, 1);
        step(&slow, 1);
        for (int i = 0; i < 2; i++) {
            double a[3] = {0.0}, b[3] = {0.0};
            assert_int_equal(perp_sim_sensor(fast.sim, (perp_sensor){i}, a, 3), PERP_OK);
            assert_int_equal(perp_sim_sensor(slow.sim, (perp_sensor){i}, b, 3), PERP_OK);
            assert_memory_equal(a, b, sizeof a);
            assert_true(fabs(a[i == 0 ? 2 : 0] - 9.81) < 1e-9);
        }
    }
    assert_true(repeats(&fast));
    end(&fast);
    end(&slow);
}

// Without memory for the copy of the impulses, steps are computed: nothing fails, nothing differs.
static void a_copy_that_fails_changes_nothing(void **state)
{
    (void)state;
    fault f = {0};
    perp_env env = fault_env(&f);
    rest r = start(generated("stack"), NULL, NULL), broken = start(generated("stack"), NULL, &env);
    for (int k = 0; k < 8; k++) {
        step(&r, 1);
        f.fail_at = f.calls + 1;
        perp_status status = perp_sim_step(broken.sim, broken.h);
        f.fail_at = 0;
        if (status == PERP_ERR_MEMORY) {
            step(&broken, 1);
        }
        assert_true(perp_sim_state_hash(r.sim) == perp_sim_state_hash(broken.sim));
    }
    end(&r);
    end(&broken);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(repeated_steps_have_the_bits_of_computed_ones),
        cmocka_unit_test(what_is_set_ends_the_rest),
        cmocka_unit_test(what_depends_on_time_does_not_repeat),
        cmocka_unit_test(a_saved_rest_goes_on),
        cmocka_unit_test(sensors_go_on),
        cmocka_unit_test(a_copy_that_fails_changes_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
