// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// One sim on several threads: the same bits for any number of them, by the library's own threads and by
// those a host brings; every allocation may fail in any of them. Built with PERP_SANITIZE=thread the host's
// threads show that they share nothing that changes.
#include "support/cmocka.h"
#include "support/fault.h"

#include <perp/io.h>

#include <pthread.h>

// ── Threads of a host ────────────────────────────────────────────────────────────────────────────

typedef struct lane {
    void (*task)(void *arg, int i);
    void *arg;
    int i;
} lane;

static void *run_lane(void *argument)
{
    const lane *l = argument;
    l->task(l->arg, l->i);
    return NULL;
}

enum { LANES_MOST = 8 };

static void by_threads(void *user, int count, void (*task)(void *arg, int i), void *arg)
{
    lane lanes[LANES_MOST];
    pthread_t thread[LANES_MOST];
    (void)user;
    assert_in_range(count, 2, LANES_MOST);
    for (int i = 0; i < count; i++) {
        lanes[i] = (lane){task, arg, i};
        assert_int_equal(pthread_create(&thread[i], NULL, run_lane, &lanes[i]), 0);
    }
    for (int i = 0; i < count; i++) {
        assert_int_equal(pthread_join(thread[i], NULL), 0);
    }
}

// The last lane first, none at the same time.
static void backwards(void *user, int count, void (*task)(void *arg, int i), void *arg)
{
    (void)user;
    for (int i = count - 1; i >= 0; i--) {
        task(arg, i);
    }
}

// ── Scenes ───────────────────────────────────────────────────────────────────────────────────────

typedef struct scene_case {
    const char *name;
    perp_generator_option option[3];
    int options, steps;
    double h;
} scene_case;

static const scene_case cases[] = {
    {"wall3", {{"rows", "6"}, {"columns", "6"}}, 2, 12, 0.01},
    {"pile3", {{"bodies", "60"}, {"cubes", "0"}}, 2, 80, 0.01},
    {"pile3", {{"bodies", "30"}, {"cubes", "1"}}, 2, 60, 0.01},
    {"heaps", {{"heaps", "12"}, {"bodies", "5"}, {"cubes", "1"}}, 3, 40, 0.01},
    {"heaps", {{"heaps", "40"}, {"bodies", "5"}, {"cubes", "0"}}, 3, 8, 0.01},
    {"chain3", {{"links", "60"}}, 1, 20, 0.001},
    {"wall", {{"rows", "8"}, {"columns", "8"}}, 2, 40, 0.01},
    {"pile", {{"boxes", "60"}}, 1, 60, 0.01},
};
enum { CASES = sizeof cases / sizeof cases[0] };

static perp_scene *make(const scene_case *c)
{
    perp_scene *scene = NULL;
    assert_int_equal(perp_scene_generate(c->name, c->option, c->options, NULL, &scene, NULL),
                     PERP_OK);
    return scene;
}

typedef struct outcome {
    uint64_t hash;
    double residual, created;
    int islands, iterations;
} outcome;

static outcome run(const scene_case *c, const perp_scene *scene, int threads, const perp_env *env)
{
    perp_sim_def def = perp_scene_sim_def(scene);
    perp_sim *sim = NULL;
    outcome o = {0};
    def.threads = threads;
    assert_int_equal(perp_sim_create(perp_scene_model(scene), &def, env, &sim, NULL), PERP_OK);
    for (int k = 0; k < c->steps; k++) {
        assert_true(perp_sim_step(sim, c->h) >= 0);
        const perp_step_info *info = perp_sim_info(sim);
        int count;
        const perp_contact *contact = perp_sim_contacts(sim, &count);
        o.residual += info->certificate.residual;
        o.created += info->energy.dissipated;
        o.islands += info->effort.islands;
        o.iterations += info->iterations;
        for (int i = 0; i < count; i++) {
            o.residual += contact[i].pn * (double)(i + 1);
        }
    }
    o.hash = perp_sim_state_hash(sim);
    perp_sim_destroy(sim);
    return o;
}

static void same_bits(const perp_env *env, int first)
{
    for (int k = 0; k < CASES; k++) {
        perp_scene *scene = make(&cases[k]);
        outcome alone = run(&cases[k], scene, 0, NULL);
        for (int threads = first; threads <= LANES_MOST; threads *= 2) {
            outcome o = run(&cases[k], scene, threads, env);
            bool same = o.hash == alone.hash && o.residual == alone.residual &&
                        o.created == alone.created && o.islands == alone.islands &&
                        o.iterations == alone.iterations;
            if (!same) {
                fail_msg("%s, %d threads: other bits", cases[k].name, threads);
            }
        }
        perp_scene_destroy(scene);
    }
}

static void own_threads(void **state)
{
    (void)state;
    same_bits(NULL, 1);
}

static void host_threads(void **state)
{
    (void)state;
    perp_env env = {.parallel_for = by_threads};
    same_bits(&env, 4);
}

static void any_order(void **state)
{
    (void)state;
    perp_env env = {.parallel_for = backwards};
    same_bits(&env, 4);
}

// ── Memory ───────────────────────────────────────────────────────────────────────────────────────

static void allocations_fail(void **state)
{
    (void)state;
    const scene_case c = {"heaps", {{"heaps", "24"}, {"bodies", "5"}, {"cubes", "0"}}, 3, 2, 0.01};
    perp_scene *scene = make(&c);
    uint64_t right = run(&c, scene, 1, NULL).hash;
    for (int k = 1; k < 2000; k++) {
        fault f = {.fail_at = k};
        perp_env env = fault_env(&f);
        perp_sim_def def = perp_scene_sim_def(scene);
        perp_sim *sim = NULL;
        env.parallel_for = by_threads;
        def.threads = 3;
        perp_status status = perp_sim_create(perp_scene_model(scene), &def, &env, &sim, NULL);
        for (int step = 0; step < c.steps && status >= 0; step++) {
            uint64_t hash = perp_sim_state_hash(sim);
            status = perp_sim_step(sim, c.h);
            assert_true(status >= 0 || perp_sim_state_hash(sim) == hash);
            if (status == PERP_ERR_MEMORY) {
                status = perp_sim_step(sim, c.h);
                assert_true(status >= 0);
            }
        }
        assert_true(sim ? perp_sim_state_hash(sim) == right : status == PERP_ERR_MEMORY);
        perp_sim_destroy(sim);
        assert_int_equal(f.live, 0);
        assert_int_equal(f.confused, 0);
        if (!f.happened) {
            assert_true(k > 20);
            perp_scene_destroy(scene);
            return;
        }
    }
    fail_msg("the walk over allocations does not end");
}

static void threads_are_checked(void **state)
{
    (void)state;
    perp_scene *scene = make(&cases[0]);
    perp_sim_def def = perp_scene_sim_def(scene);
    perp_sim *sim = NULL;
    def.threads = -1;
    assert_int_equal(perp_sim_create(perp_scene_model(scene), &def, NULL, &sim, NULL),
                     PERP_ERR_ARGUMENT);
    def.threads = 257;
    assert_int_equal(perp_sim_create(perp_scene_model(scene), &def, NULL, &sim, NULL),
                     PERP_ERR_ARGUMENT);
    perp_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(own_threads),         cmocka_unit_test(host_threads),
        cmocka_unit_test(any_order),           cmocka_unit_test(allocations_fail),
        cmocka_unit_test(threads_are_checked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
