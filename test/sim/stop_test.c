// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// perp_env.stop and the time limit of a step: whenever the host ends a step, the sim is in the state before it, and goes
// on with the same bits as a sim that was never stopped.
#include "support/cmocka.h"

#include <perp/io.h>
#include <perp/perp.h>

#include <math.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

// Stops at the n-th question and at no other: the sim has to remember it.
typedef struct host {
    atomic_int asked;
    int stop_at;  // 0: never
} host;

static bool stop_at_nth(void *user)
{
    host *h = user;
    return atomic_fetch_add(&h->asked, 1) + 1 == h->stop_at;
}

static perp_env services(host *h)
{
    return (perp_env){.stop = stop_at_nth, .user = h};
}

static perp_scene *scene_of(const char *name)
{
    perp_scene *scene = NULL;
    perp_error error = {0};
    perp_status status = PERP_OK;
    if (strstr(name, ".json")) {
        status = perp_scene_load(name, NULL, &scene, &error);
    } else {
        const perp_generator_option options[] = {{"bodies", "20"}, {"cubes", "1"}};
        status = perp_scene_generate(name, options, 2, NULL, &scene, &error);
    }
    if (status < 0) {
        fail_msg("%s: %s", name, error.text);
    }
    return scene;
}

typedef struct scene_case {
    const char *name;
    perp_stepper stepper;
    int before;  // steps until the one that is stopped
    int threads;
    perp_form form;
} scene_case;

// The step under test, from the saved state, stopped at question n; the questions it asked.
static int step_from(perp_sim *sim, const void *saved, size_t size, host *h, int n, double dt,
                     perp_status *status)
{
    assert_int_equal(perp_sim_state_restore(sim, saved, size), PERP_OK);
    h->stop_at = n;
    atomic_store(&h->asked, 0);
    *status = perp_sim_step(sim, dt);
    return atomic_load(&h->asked);
}

static void expect_unchanged(const perp_sim *sim, const void *saved, size_t size, void *room)
{
    assert_int_equal(perp_sim_state_save_size(sim), size);
    assert_int_equal(perp_sim_state_save(sim, room, size), PERP_OK);
    assert_memory_equal(room, saved, size);
}

static void stop_everywhere(const scene_case *c)
{
    enum { MOST = 80 };  // places to stop at, spread over all of them
    perp_scene *scene = scene_of(c->name);
    perp_sim_def def = perp_scene_sim_def(scene);
    def.stepper = c->stepper;
    def.threads = c->threads;
    def.form = c->form;
    host h = {0};
    perp_env env = services(&h);
    perp_sim *sim = NULL;
    perp_error error = {0};
    perp_status status = perp_sim_create(perp_scene_model(scene), &def, &env, &sim, &error);
    assert_int_equal(status, PERP_OK);
    double dt = perp_scene_step(scene);
    for (int k = 0; k < c->before; k++) {
        assert_true(perp_sim_step(sim, dt) >= 0);
    }
    size_t size = perp_sim_state_save_size(sim);
    void *saved = malloc(size), *room = malloc(size);
    assert_true(saved && room);
    assert_int_equal(perp_sim_state_save(sim, saved, size), PERP_OK);
    int all = step_from(sim, saved, size, &h, 0, dt, &status);
    perp_status whole = status;
    assert_true(whole >= 0 && all > 0);
    uint64_t hash = perp_sim_state_hash(sim);
    // with threads the order of questions differs, but not the state
    int stride = all / MOST + 1, stopped = 0;
    for (int n = 1; n <= all; n += n < 30 ? 1 : stride) {
        step_from(sim, saved, size, &h, n, dt, &status);
        if (c->threads <= 1 || status < 0) {
            assert_int_equal(status, PERP_ERR_STOPPED);
            assert_int_equal(perp_sim_info(sim)->status, PERP_ERR_STOPPED);
            assert_non_null(strstr(perp_sim_error(sim)->text, "stopped by the caller"));
            expect_unchanged(sim, saved, size, room);
            stopped++;
        }
    }
    assert_true(stopped > 0);
    // after all that the step has the bits that it had
    step_from(sim, saved, size, &h, 0, dt, &status);
    assert_int_equal(status, whole);
    assert_true(perp_sim_state_hash(sim) == hash);
    free(saved);
    free(room);
    perp_sim_destroy(sim);
    perp_scene_destroy(scene);
}

static void stopped_steps_change_nothing(void **state)
{
    (void)state;
    static const scene_case cases[] = {
        {"heap3", PERP_STEPPER_STEWART_TRINKLE, 3, 0, PERP_FORM_AUTO},
        {"heap3", PERP_STEPPER_STEWART_TRINKLE, 3, 2, PERP_FORM_AUTO},
        {"heap3", PERP_STEPPER_ANITESCU_POTRA, 3, 0, PERP_FORM_AUTO},
        {"heap3", PERP_STEPPER_MOREAU_JEAN, 3, 0, PERP_FORM_AUTO},
        {"scenes/dominoes.json", PERP_STEPPER_STEWART_TRINKLE, 60, 0, PERP_FORM_LCP},
        {"scenes/dominoes.json", PERP_STEPPER_STEWART_TRINKLE, 60, 0, PERP_FORM_MCP},
        {"scenes/newtons-cradle.json", PERP_STEPPER_STEWART_TRINKLE, 200, 0, PERP_FORM_AUTO},
        {"scenes/quadruped-stands.json", PERP_STEPPER_STEWART_TRINKLE, 20, 0, PERP_FORM_AUTO},
        {"scenes/conveyor.json", PERP_STEPPER_QUASISTATIC, 5, 0, PERP_FORM_AUTO},
        {"scenes/pendulum-stop.json", PERP_STEPPER_EVENT, 0, 0, PERP_FORM_AUTO},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        stop_everywhere(&cases[k]);
    }
}

// A start that has to be mended takes solves as well.
static void creation_can_be_stopped(void **state)
{
    (void)state;
    perp_scene *scene = scene_of("heap3");
    perp_sim_def def = perp_scene_sim_def(scene);
    host h = {.stop_at = 1};
    perp_env env = services(&h);
    perp_sim *sim = NULL;
    perp_error error = {0};
    assert_int_equal(perp_sim_create(perp_scene_model(scene), &def, &env, &sim, &error),
                     PERP_ERR_STOPPED);
    assert_null(sim);
    assert_string_equal(error.text, "start: stopped by the caller");
    perp_scene_destroy(scene);
}

// Solvers of posed problems: the status says it, and z is finite.
static void solvers_can_be_stopped(void **state)
{
    (void)state;
    enum { N = 40 };
    double A[N * N] = {0}, b[N], z[N];
    for (int i = 0; i < N; i++) {
        b[i] = -1.0;
        A[i + i * N] = 4.0;
        A[i + (i + 1) % N * N] = A[(i + 1) % N + i * N] = -1.0;
    }
    perp_mcp mcp = {.n = N, .A = perp_matrix_dense(N, N, A), .b = b};
    for (int k = 0; perp_solver_at(k); k++) {
        const perp_solver_card *card = perp_solver_at(k);
        if (!(card->classes & PERP_CLASS_LCP) || strcmp(card->name, "enum") == 0) {
            continue;
        }
        host h = {.stop_at = 1};
        perp_env env = services(&h);
        perp_comp_info info;
        perp_status status = perp_mcp_solve(card->name, &mcp, NULL, &env, z, &info);
        if (atomic_load(&h.asked) > 0) {
            assert_int_equal(status, PERP_ERR_STOPPED);
            assert_string_equal(perp_status_word(status), "stopped");
        }
        for (int i = 0; i < N; i++) {
            assert_true(isfinite(z[i]));
        }
    }
}

// The limit of time ends a step that has no answer in time, also with the stepper event, whose steps have no best
// answer so far; the state stays.
static void late_steps_fail(void **state)
{
    (void)state;
    perp_scene *scene = scene_of("scenes/euler-disc.json");
    perp_sim_def def = perp_scene_sim_def(scene);
    def.stepper = PERP_STEPPER_EVENT;
    def.max_seconds = 1e-3;
    perp_sim *sim = NULL;
    if (perp_sim_create(perp_scene_model(scene), &def, NULL, &sim, NULL) < 0) {
        perp_scene_destroy(scene);
        skip();
    }
    uint64_t hash = perp_sim_state_hash(sim);
    assert_int_equal(perp_sim_step(sim, 100.0), PERP_ERR_LIMIT);
    assert_non_null(strstr(perp_sim_error(sim)->text, "took longer than 0.501 s"));
    assert_non_null(strstr(perp_sim_error(sim)->text, "max_seconds is 0.001"));
    assert_true(perp_sim_state_hash(sim) == hash);
    perp_sim_destroy(sim);
    perp_scene_destroy(scene);
}

// A host that takes long to answer at its n-th question, after which the step is late, wherever it is then.
static bool slow_at_nth(void *user)
{
    const struct timespec pause = {.tv_sec = 0, .tv_nsec = 510000000};
    host *h = user;
    if (atomic_fetch_add(&h->asked, 1) + 1 == h->stop_at) {
        nanosleep(&pause, NULL);
    }
    return false;
}

// Late is not interrupted, in every stepper and near the end of a step as well: the error names the limit.
static void late_steps_are_not_interrupted(void **state)
{
    (void)state;
    perp_scene *scene = scene_of("heap3");
    for (int k = 0; perp_stepper_word(k); k++) {
        perp_sim_def def = perp_scene_sim_def(scene);
        host h = {.stop_at = 0};
        perp_env env = {.stop = slow_at_nth, .user = &h};
        perp_sim *sim = NULL;
        perp_status status;
        def.stepper = (perp_stepper)k;
        def.positions = PERP_POSITIONS_EXACT;
        def.max_seconds = 1e-3;
        if (k == PERP_STEPPER_QUASISTATIC || k == PERP_STEPPER_EVENT) {
            continue;  // one has no answer, the other is in late_steps_fail
        }
        assert_int_equal(perp_sim_create(perp_scene_model(scene), &def, &env, &sim, NULL), PERP_OK);
        size_t size = perp_sim_state_save_size(sim);
        char *saved = malloc(size), *room = malloc(size);
        assert_true(saved && room);
        assert_int_equal(perp_sim_state_save(sim, saved, size), PERP_OK);
        int questions = step_from(sim, saved, size, &h, 0, 0.01, &status);
        step_from(sim, saved, size, &h, questions * 5 / 6, 0.01, &status);
        const char *said = perp_sim_error(sim)->text;
        if (status != PERP_ERR_LIMIT || !strstr(said, "max_seconds is 0.001")) {
            fail_msg("%s: %s: '%s'", perp_stepper_word(k), perp_status_word(status), said);
        }
        expect_unchanged(sim, saved, size, room);
        free(room);
        free(saved);
        perp_sim_destroy(sim);
    }
    perp_scene_destroy(scene);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stopped_steps_change_nothing),   cmocka_unit_test(creation_can_be_stopped),
        cmocka_unit_test(solvers_can_be_stopped),         cmocka_unit_test(late_steps_fail),
        cmocka_unit_test(late_steps_are_not_interrupted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
