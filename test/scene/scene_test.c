// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Scene files: what they mean, exact messages for broken ones, text cut or damaged anywhere, memory that
// fails at every allocation; and generators' options.
#include "support/cmocka.h"
#include "support/fault.h"
#include "support/random.h"

#include <perp/io.h>

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char broken[] = "test/data/broken_scenes";

static size_t read_file(const char *path, char *text, size_t size)
{
    FILE *file = fopen(path, "rb");
    if (!file) {
        print_error("cannot open %s\n", path);
        fail();
    }
    size_t n = fread(text, 1, size - 1, file);
    fclose(file);
    text[n] = '\0';
    return n;
}

static perp_scene *parse(const char *text)
{
    perp_scene *scene = NULL;
    perp_error error;
    if (perp_scene_parse("folder/test.json", text, strlen(text), NULL, &scene, &error) < 0) {
        print_error("%d:%d: %s\n%s\n", error.line, error.column, error.text, text);
        fail();
    }
    return scene;
}

// ── Messages ─────────────────────────────────────────────────────────────────────────────────────

static void expect_message(const char *name)
{
    char path[512], expected[512], found[512];
    snprintf(path, sizeof path, "%s/%s.expect", broken, name);
    read_file(path, expected, sizeof expected);
    expected[strcspn(expected, "\n")] = '\0';
    snprintf(path, sizeof path, "%s/%s", broken, name);
    perp_scene *scene = NULL;
    perp_error error;
    perp_status status = perp_scene_load(path, NULL, &scene, &error);
    if (status != PERP_ERR_FORMAT || error.status != status || scene) {
        print_error("%s: status %d\n", name, status);
        fail();
    }
    if (error.line > 0) {
        snprintf(found, sizeof found, "%d:%d: %s", error.line, error.column, error.text);
    } else {
        snprintf(found, sizeof found, "%s", error.text);
    }
    if (strcmp(found, expected) != 0) {
        print_error("%s\n  says     %s\n  expected %s\n", name, found, expected);
        fail();
    }
}

static void broken_scenes_say_why(void **state)
{
    (void)state;
    DIR *dir = opendir(broken);
    assert_non_null(dir);
    int count = 0;
    for (struct dirent *entry; (entry = readdir(dir));) {
        const char *dot = strrchr(entry->d_name, '.');
        if (dot && strcmp(dot, ".json") == 0) {
            expect_message(entry->d_name);
            count++;
        }
    }
    closedir(dir);
    assert_true(count >= 100);
}

static void places_survive_odd_files(void **state)
{
    (void)state;
    perp_scene *scene = NULL;
    perp_error error;
    static const char many[] = "{\r\n\t\"bodies\": [{\"name\": \"b\\u00e9\", \"m\\u0061ss\": 0}]}";
    assert_int_equal(perp_scene_parse("x", many, strlen(many), NULL, &scene, &error),
                     PERP_ERR_FORMAT);
    assert_int_equal(error.line, 2);  // an escaped key is not found: the place is its object's
    assert_int_equal(error.column, 13);
    assert_int_equal(perp_scene_load("scenes", NULL, &scene, &error), PERP_ERR_IO);
    assert_int_equal(perp_scene_load("scenes/none.json", NULL, &scene, &error), PERP_ERR_IO);
    assert_string_equal(error.text, "cannot open: No such file or directory");
    assert_int_equal(perp_scene_load(NULL, NULL, &scene, &error), PERP_ERR_ARGUMENT);
    assert_int_equal(perp_scene_parse("x", "{", 1, NULL, &scene, NULL), PERP_ERR_FORMAT);
    assert_null(scene);
}

// ── Meaning ──────────────────────────────────────────────────────────────────────────────────────

static void settings_arrive(void **state)
{
    (void)state;
    perp_scene *scene = parse(
        "{\"step\": 0.25, \"until\": 3, \"record\": 0.5, \"stepper\": \"moreau-jean\", "
        "\"form\": \"lcp\", \"solver\": \"lemke\", \"tolerance\": 1e-10, "
        "\"max_seconds\": 0.5, \"max_iterations\": 7, \"friction\": "
        "\"none\", \"impact\": \"poisson\", \"margin\": 0.125, \"theta\": 0.75, "
        "\"description\": \"a // b\", \"limits\": {\"gap\": 0.5, \"energy\": \"inf\"}} // end");
    perp_sim_def def = perp_scene_sim_def(scene);
    assert_string_equal(perp_scene_name(scene), "test");
    assert_string_equal(perp_scene_description(scene), "a // b");
    assert_true(perp_scene_step(scene) == 0.25 && perp_scene_until(scene) == 3.0);
    assert_true(perp_scene_interval(scene) == 0.5);
    assert_int_equal(def.stepper, PERP_STEPPER_MOREAU_JEAN);
    assert_int_equal(def.form, PERP_FORM_LCP);
    assert_int_equal(def.friction, PERP_FRICTION_NONE);
    assert_int_equal(def.impact, PERP_IMPACT_POISSON);
    assert_string_equal(def.solver, "lemke");
    assert_true(def.tolerance == 1e-10 && def.margin == 0.125 && def.theta == 0.75);
    assert_true(def.max_seconds == 0.5 && def.max_iterations == 7);
    assert_true(def.limits.gap == 0.5 && def.limits.energy == HUGE_VAL);
    assert_true(def.limits.cone == perp_sim_default().limits.cone);
    perp_scene_destroy(scene);
}

static void bodies_arrive(void **state)
{
    (void)state;
    perp_scene *scene =
        parse("{\"shapes\": [{\"kind\": \"halfplane\"}], \"bodies\": [\n"
              " {\"name\": \"wheel\", \"position\": [1, 2], \"angle\": \"90 deg\", \"velocity\": "
              "[3, 4],\n"
              "  \"spin\": 5, \"shapes\": [{\"name\": \"rim\", \"kind\": \"disc\", \"radius\": 2, "
              "\"density\": 3}]},\n"
              " {\"kind\": \"particle\", \"mass\": 7, \"shapes\": [{\"kind\": \"point\"}]},\n"
              " {\"name\": \"cam\", \"drive\": {\"x\": \"t^2\", \"y\": 0.5, \"angle\": {\"table\": "
              "{\"t\": [0, 1], \"value\": [0, -2]}}}}]}");
    const perp_model *model = perp_scene_model(scene);
    double pi = 3.141592653589793;
    assert_int_equal(perp_model_bodies(model), 4);
    assert_int_equal(perp_model_body(model, "wheel").i, 1);
    assert_int_equal(perp_model_body(model, "body2").i, 2);
    assert_int_equal(perp_model_shape(model, "shape0").i, 0);
    assert_int_equal(perp_model_shape(model, "wheel.rim").i, 1);
    assert_int_equal(perp_model_shape(model, "body2.shape0").i, 2);
    assert_true(fabs(perp_model_mass(model, (perp_body){1}) - 12.0 * pi) < 1e-12);
    assert_true(fabs(perp_model_inertia(model, (perp_body){1}) - 24.0 * pi) < 1e-12);
    perp_sim *sim = NULL;
    perp_sim_def def = perp_scene_sim_def(scene);
    assert_int_equal(perp_sim_create(model, &def, NULL, &sim, NULL), PERP_OK);
    perp_vec3 p = perp_sim_body_position(sim, (perp_body){1});
    assert_true(p.x == 1.0 && p.y == 2.0);
    assert_true(perp_sim_body_angle(sim, (perp_body){1}) == 0.5 * pi);
    assert_true(perp_sim_body_twist(sim, (perp_body){1}).v_W.y == 4.0);
    assert_true(perp_sim_body_twist(sim, (perp_body){1}).w_W.z == 5.0);
    assert_int_equal(
        perp_sim_state_set(sim, 0.25, (double[]){1, 2, 0, 0, 0}, (double[]){0, 0, 0, 0, 0}),
        PERP_OK);
    p = perp_sim_body_position(sim, (perp_body){3});
    assert_true(p.x == 0.0625 && p.y == 0.5);
    assert_true(perp_sim_body_twist(sim, (perp_body){3}).v_W.x == 0.5);
    assert_true(perp_sim_body_angle(sim, (perp_body){3}) == -0.5);
    assert_true(perp_sim_body_twist(sim, (perp_body){3}).w_W.z == -2.0);
    perp_sim_destroy(sim);
    perp_scene_destroy(scene);
}

// "at" puts both anchors there, so that a step finds the joint closed.
static void joints_arrive(void **state)
{
    (void)state;
    perp_scene *scene = parse(
        "{\"bodies\": [{\"name\": \"rod\", \"position\": [1, 2], \"angle\": 0.7, \"mass\": 1, "
        "\"inertia\": 1}],\n \"joints\": [{\"name\": \"pin\", \"kind\": \"revolute\", \"b\": "
        "\"rod\", \"at\": [-3, 0.5], \"lower\": \"-170 deg\"}]}");
    perp_sim *sim = NULL;
    perp_sim_def def = perp_scene_sim_def(scene);
    assert_int_equal(perp_sim_create(perp_scene_model(scene), &def, NULL, &sim, NULL), PERP_OK);
    assert_true(perp_sim_step(sim, 1e-6) >= 0);
    perp_joint joint = perp_model_joint(perp_scene_model(scene), "pin");
    assert_true(perp_sim_joint(sim, joint).error < 1e-10);
    assert_true(fabs(perp_sim_joint(sim, joint).coordinate - 0.7) < 1e-6);
    perp_sim_destroy(sim);
    perp_scene_destroy(scene);
}

static void text_goes_round(void **state)
{
    (void)state;
    static const char text[] = "{\n // kept\n \"step\": 0.5\n}\n";
    char path[] = "/tmp/perp-scene-XXXXXX", back[100];
    int file = mkstemp(path);
    assert_true(file >= 0);
    close(file);
    perp_scene *scene = parse(text);
    size_t size;
    assert_string_equal(perp_scene_text(scene, &size), text);
    assert_int_equal(size, strlen(text));
    assert_int_equal(perp_scene_write(scene, path, NULL), PERP_OK);
    read_file(path, back, sizeof back);
    assert_string_equal(back, text);
    perp_error error;
    assert_int_equal(perp_scene_write(scene, "/nowhere/at/all", &error), PERP_ERR_IO);
    assert_int_equal(perp_scene_write(NULL, path, &error), PERP_ERR_ARGUMENT);
    remove(path);
    perp_scene_destroy(scene);
}

// ── Damage ───────────────────────────────────────────────────────────────────────────────────────

static void expect_no_harm(const char *text, size_t n)
{
    char *copy = malloc(n + 1);  // exact, so that sanitizers see one byte too far
    assert_non_null(copy);
    memcpy(copy, text, n);
    perp_scene *scene = NULL;
    perp_error error = {0};
    perp_status status = perp_scene_parse("x", copy, n, NULL, &scene, &error);
    assert_true((status == PERP_OK) == (scene != NULL));
    assert_true(status == PERP_OK || error.text[0]);
    perp_scene_destroy(scene);
    free(copy);
}

static void damaged_scenes_do_no_harm(void **state)
{
    (void)state;
    static const char *const names[] = {
        "scenes/berard-4.1.json", "scenes/berard-4.6.json", "fuzz/corpus/scene/everything.json",
        "fuzz/corpus/scene/parts.json", "fuzz/corpus/scene/parts-space.json"};
    static char text[8192];
    rng r = rng_seed(rng_test_seed(3));
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
        size_t size = read_file(names[k], text, sizeof text);
        for (size_t n = 0; n <= size; n++) {
            expect_no_harm(text, n);
        }
        for (int trial = 0; trial < 1000; trial++) {
            size_t at = (size_t)rng_below(&r, (int)size);
            char before = text[at];
            text[at] = "{}[]\",:/\\0-e\n"[rng_below(&r, 13)];
            expect_no_harm(text, size);
            text[at] = before;
        }
    }
}

// Joints of the tree are those that the scene names, in its order; the joint that closes the loop is the other.
static void trees_are_named(void **state)
{
    (void)state;
    static const char *const names[] = {"left", "right", "far"};
    for (int out = 0; out < 3; out++) {
        char text[1000];
        const char *first = names[(out + 1) % 3], *second = names[(out + 2) % 3];
        snprintf(text, sizeof text,
                 "{\"bodies\": [{\"name\": \"a\", \"mass\": 1, \"inertia\": 1},"
                 " {\"name\": \"b\", \"mass\": 1, \"inertia\": 1, \"position\": [1, 0]}],"
                 " \"joints\": [{\"name\": \"left\", \"kind\": \"revolute\", \"b\": \"a\"},"
                 " {\"name\": \"right\", \"kind\": \"revolute\", \"a\": \"a\", \"b\": \"b\","
                 " \"at\": [0.5, 0], \"lower\": \"-inf\", \"upper\": \"90 deg\"},"
                 " {\"name\": \"far\", \"kind\": \"revolute\", \"b\": \"b\", \"at\": [1, 0]}],"
                 " \"coordinates\": \"joint\", \"tree\": [\"%s\", \"%s\"]}",
                 first, second);
        perp_scene *scene = parse(text);
        const perp_model *model = perp_scene_model(scene);
        perp_sim_def def = perp_scene_sim_def(scene);
        assert_int_equal(def.tree_count, 2);
        assert_int_equal(def.tree[0].i, perp_model_joint(model, first).i);
        assert_int_equal(def.tree[1].i, perp_model_joint(model, second).i);
        perp_tree *tree = NULL;
        int loops = 0;
        assert_int_equal(perp_tree_create(model, def.tree, def.tree_count, NULL, &tree, NULL),
                         PERP_OK);
        const perp_joint *loop = perp_tree_loops(tree, &loops);
        assert_int_equal(loops, 1);
        assert_int_equal(loop[0].i, perp_model_joint(model, names[out]).i);
        perp_tree_destroy(tree);
        perp_scene_destroy(scene);
    }
}

static void allocations_may_fail(const char *path)
{
    static char text[8192];
    size_t size = read_file(path, text, sizeof text);
    int failures = 0;
    for (int k = 1;; k++) {
        fault f = {.fail_at = k};
        perp_env env = fault_env(&f);
        perp_scene *scene = NULL;
        perp_error error;
        perp_status status = perp_scene_parse("x", text, size, &env, &scene, &error);
        perp_scene_destroy(scene);
        assert_int_equal(f.live, 0);
        assert_int_equal(f.confused, 0);
        if (!f.happened) {
            assert_int_equal(status, PERP_OK);
            break;
        }
        if (status != PERP_ERR_MEMORY) {
            print_error("allocation %d: %s\n", k, error.text);
            fail();
        }
        failures++;
    }
    print_message("%s: %d allocations\n", path, failures);
    assert_true(failures > 5);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    allocations_may_fail("fuzz/corpus/scene/everything.json");
    allocations_may_fail("fuzz/corpus/scene/space.json");
    allocations_may_fail("fuzz/corpus/scene/parts.json");
    allocations_may_fail("fuzz/corpus/scene/parts-space.json");
}

// ── Generators ───────────────────────────────────────────────────────────────────────────────────

static void expect_refused(const char *name, const char *option, const char *value,
                           const char *message)
{
    perp_scene *scene = NULL;
    perp_error error;
    perp_generator_option options = {option, value};
    assert_int_equal(perp_scene_generate(name, &options, 1, NULL, &scene, &error),
                     PERP_ERR_ARGUMENT);
    assert_string_equal(error.text, message);
    assert_null(scene);
}

static void generators_check_options(void **state)
{
    (void)state;
    expect_refused("arhc", "blocks", "20", "unknown generator 'arhc': did you mean 'arch'?");
    expect_refused("house", "blocks", "20",
                   "unknown generator 'house'; expected one of arch, wall, pile, stack, chain, "
                   "cradle, pendulum, windows, ladder, slide, incline, bounce, "
                   "stack3, wall3, pile3, chain3, pendulum3, arch3, heap3, heaps");
    expect_refused("arch", "thicknes", "0.1",
                   "arch: unknown option 'thicknes': did you mean 'thickness'?");
    expect_refused("stack", "colour", "red",
                   "stack: unknown option 'colour'; expected one of boxes, size, mu, mass, ratio, "
                   "step, until");
    expect_refused("arch", "blocks", "2.5",
                   "arch: option 'blocks' must be a whole number from 3 to 1000, not '2.5'");
    expect_refused("arch", "mu", "rough",
                   "arch: option 'mu' must be a number from 0 to 100, not 'rough'");
    expect_refused("arch", "mu", NULL, "arch: option 'mu' must be a number from 0 to 100, not ''");
    assert_null(perp_generator_at(-1));
    assert_null(perp_generator_at(perp_generator_count()));
}

// The options that a card tells are those the generator has, with these defaults.
static void cards_tell_the_truth(void **state)
{
    (void)state;
    for (int i = 0; i < perp_generator_count(); i++) {
        const perp_generator *card = perp_generator_at(i);
        char text[300];
        perp_generator_option options[16];
        int count = 0;
        snprintf(text, sizeof text, "%s", card->options);
        for (char *word = strtok(text, " "); word; word = strtok(NULL, " ")) {
            char *value = strchr(word, '=');
            assert_non_null(value);
            *value = '\0';
            options[count++] = (perp_generator_option){word, value + 1};
        }
        perp_scene *plain = NULL, *told = NULL;
        perp_error error;
        assert_int_equal(perp_scene_generate(card->name, NULL, 0, NULL, &plain, &error), PERP_OK);
        if (perp_scene_generate(card->name, options, count, NULL, &told, &error) < 0) {
            print_error("%s: %s\n", card->name, error.text);
            fail();
        }
        assert_string_equal(perp_scene_text(plain, NULL), perp_scene_text(told, NULL));
        assert_string_equal(perp_scene_name(plain), card->name);
        perp_scene_destroy(plain);
        perp_scene_destroy(told);
    }
}

// Neighbours touch: the worst gap of what should rest is rounding.
static void blocks_touch_at_the_start(void **state)
{
    (void)state;
    static const struct {
        const char *name;
        perp_generator_option option;
        int contacts;
    } cases[] = {{"arch", {"blocks", "20"}, 42},
                 {"arch", {"ring", "1"}, 42},
                 {"stack", {"boxes", "7"}, 14},
                 {"wall", {"rows", "4"}, 140}};
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        perp_scene *scene = NULL;
        perp_sim *sim = NULL;
        assert_int_equal(
            perp_scene_generate(cases[k].name, &cases[k].option, 1, NULL, &scene, NULL), PERP_OK);
        perp_sim_def def = perp_scene_sim_def(scene);
        assert_int_equal(perp_sim_create(perp_scene_model(scene), &def, NULL, &sim, NULL), PERP_OK);
        assert_int_equal(perp_sim_step(sim, 1e-6), PERP_OK);
        int count;
        const perp_contact *contact = perp_sim_contacts(sim, &count);
        assert_int_equal(count, cases[k].contacts);
        for (int i = 0; i < count; i++) {
            assert_true(fabs(contact[i].gap) < 1e-14);
        }
        perp_sim_destroy(sim);
        perp_scene_destroy(scene);
    }
}

static uint64_t hash_after(const perp_model *model, const perp_sim_def *def)
{
    perp_sim *sim = NULL;
    assert_int_equal(perp_sim_create(model, def, NULL, &sim, NULL), PERP_OK);
    for (int k = 0; k < 10; k++) {
        assert_true(perp_sim_step(sim, 1e-3) >= 0);
    }
    uint64_t hash = perp_sim_state_hash(sim);
    perp_sim_destroy(sim);
    return hash;
}

// Scenes, MJCF and URDF: the same model as that of the scene, and it outlives what it was read from.
static void models_alone(void **state)
{
    (void)state;
    static const char *const paths[] = {"scenes/mesh-ramp.json", "examples/robots/quadruped.xml",
                                        "examples/robots/arm.urdf"};
    for (size_t k = 0; k < sizeof paths / sizeof paths[0]; k++) {
        perp_scene *scene = NULL;
        perp_model *model = NULL;
        perp_error error = {0};
        assert_int_equal(perp_scene_load(paths[k], NULL, &scene, NULL), PERP_OK);
        if (perp_model_load(paths[k], NULL, NULL, &model, &error) < 0) {
            fail_msg("%s: %s", paths[k], error.text);
        }
        perp_sim_def def = perp_scene_sim_def(scene);
        assert_true(hash_after(model, &def) == hash_after(perp_scene_model(scene), &def));
        perp_model_destroy(model);
        perp_scene_destroy(scene);
    }
    // Options count, and failures are those of the scene.
    perp_model *model = NULL;
    perp_error error = {0};
    perp_scene_load_options reading = perp_scene_load_options_default();
    reading.import.strict = true;
    assert_int_equal(
        perp_model_load("fuzz/corpus/import/everything.xml", &reading, NULL, &model, &error),
        PERP_ERR_FORMAT);
    assert_null(model);
    assert_non_null(strstr(error.text, "--strict"));
    assert_true(error.line > 0);
    assert_true(perp_model_load("there/is/none.urdf", NULL, NULL, &model, &error) < 0);
    assert_null(model);
    assert_non_null(strstr(error.text, "cannot"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(broken_scenes_say_why),
        cmocka_unit_test(trees_are_named),
        cmocka_unit_test(places_survive_odd_files),
        cmocka_unit_test(settings_arrive),
        cmocka_unit_test(bodies_arrive),
        cmocka_unit_test(joints_arrive),
        cmocka_unit_test(text_goes_round),
        cmocka_unit_test(damaged_scenes_do_no_harm),
        cmocka_unit_test(every_allocation_may_fail),
        cmocka_unit_test(generators_check_options),
        cmocka_unit_test(cards_tell_the_truth),
        cmocka_unit_test(blocks_touch_at_the_start),
        cmocka_unit_test(models_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
