// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Steps through events as transactions: memory that runs out, states that are saved and restored, runs that
// are recorded and judged.
#include "support/cmocka.h"
#include "support/fault.h"
#include "support/folder.h"

#include <math.h>
#include <perp/io.h>
#include <stdlib.h>
#include <string.h>

static const char *const SCENE =
    "{\"bodies\": [{\"name\": \"box\", \"position\": [0, 0.6], \"angle\": 0.4, \"velocity\": [1, "
    "0],"
    " \"shapes\": [{\"kind\": \"box\", \"size\": [0.4, 0.2], \"density\": 10, \"mu\": 0.4,"
    " \"restitution\": 0.3}]},"
    " {\"name\": \"rod\", \"position\": [2, 1], \"mass\": 1, \"inertia\": 0.1}],"
    " \"joints\": [{\"name\": \"pin\", \"kind\": \"revolute\", \"b\": \"rod\","
    " \"anchor_a\": [1.5, 1], \"anchor_b\": [-0.5, 0], \"lower\": -0.5, \"upper\": 1}],"
    " \"shapes\": [{\"name\": \"floor\", \"kind\": \"halfplane\", \"mu\": 0.4}],"
    " \"stepper\": \"event\", \"step\": 0.05}";

static perp_scene *open_scene(void)
{
    perp_scene *scene = NULL;
    perp_error error = {0};
    if (perp_scene_parse("test", SCENE, strlen(SCENE), NULL, &scene, &error) < 0) {
        print_error("%d:%d %s\\n", error.line, error.column, error.text);
        fail();
    }
    return scene;
}

// Every allocation fails once: the step says so, and the state is what it was.
static void test_memory(void **state)
{
    (void)state;
    perp_scene *scene = open_scene();
    perp_sim_def def = perp_scene_sim_def(scene);
    bool more = true;
    for (int k = 1; more && k < 3000; k++) {
        fault f = {.fail_at = k};
        perp_env env = fault_env(&f);
        perp_sim *sim = NULL;
        perp_status status = perp_sim_create(perp_scene_model(scene), &def, &env, &sim, NULL);
        for (int i = 0; i < 10 && status >= 0; i++) {
            uint64_t before = perp_sim_state_hash(sim);
            status = perp_sim_step(sim, 0.05);
            if (status < 0) {
                assert_int_equal(status, PERP_ERR_MEMORY);
                assert_true(perp_sim_state_hash(sim) == before);
            }
        }
        more = f.happened;
        assert_true(status >= 0 || f.happened);
        perp_sim_destroy(sim);
        assert_int_equal(f.live, 0);
        assert_int_equal(f.confused, 0);
    }
    assert_false(more);
    perp_scene_destroy(scene);
}

// A restored sim goes on bit for bit, and the same run twice gives the same bits.
static void test_again(void **state)
{
    (void)state;
    perp_scene *scene = open_scene();
    perp_sim_def def = perp_scene_sim_def(scene);
    uint64_t hash[2];
    for (int k = 0; k < 2; k++) {
        perp_sim *sim = NULL;
        assert_int_equal(perp_sim_create(perp_scene_model(scene), &def, NULL, &sim, NULL), PERP_OK);
        for (int i = 0; i < 20; i++) {
            assert_int_equal(perp_sim_step(sim, 0.05), PERP_OK);
            if (i == 9 && k == 1) {
                size_t size = perp_sim_state_save_size(sim);
                void *block = malloc(size);
                assert_int_equal(perp_sim_state_save(sim, block, size), PERP_OK);
                assert_int_equal(perp_sim_step(sim, 0.05), PERP_OK);
                assert_int_equal(perp_sim_state_restore(sim, block, size), PERP_OK);
                free(block);
            }
        }
        hash[k] = perp_sim_state_hash(sim);
        perp_sim_destroy(sim);
    }
    assert_true(hash[0] == hash[1]);
    perp_scene_destroy(scene);
}

// A recorded run has its events, with times inside the steps, and is judged again from its files.
static void test_recorded(void **state)
{
    (void)state;
    perp_scene *scene = open_scene();
    perp_sim_def def = perp_scene_sim_def(scene);
    perp_record_def record_def = perp_record_default();
    folder f = folder_create();
    perp_sim *sim = NULL;
    perp_record *record = NULL;
    perp_recording *recording = NULL;
    perp_check check;
    record_def.h = 0.05;
    record_def.scene = SCENE;
    assert_int_equal(perp_sim_create(perp_scene_model(scene), &def, NULL, &sim, NULL), PERP_OK);
    assert_int_equal(
        perp_record_create(folder_at(&f, "run"), sim, &record_def, NULL, &record, NULL), PERP_OK);
    for (int i = 0; i < 30; i++) {
        assert_int_equal(perp_sim_step(sim, 0.05), PERP_OK);
        assert_int_equal(perp_record_step(record, sim), PERP_OK);
    }
    assert_int_equal(perp_record_finish(record, sim), PERP_OK);
    perp_record_destroy(record);
    assert_int_equal(perp_recording_open(folder_at(&f, "run"), NULL, &recording, NULL), PERP_OK);
    assert_int_equal(perp_recording_check(recording, NULL, &check, NULL), PERP_OK);
    assert_true(check.passed);
    perp_recording_close(recording);
    char *events = text_of(folder_at(&f, "run/events.jsonl"));
    const char *const words[] = {"\"impact\"", "\"limit-reached\"", "\"nu_before\"", "\"floor\""};
    for (size_t k = 0; k < sizeof words / sizeof words[0]; k++) {
        assert_non_null(strstr(events, words[k]));
    }
    free(events);
    perp_sim_destroy(sim);
    perp_scene_destroy(scene);
    folder_remove(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_memory),
        cmocka_unit_test(test_again),
        cmocka_unit_test(test_recorded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
