// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The schema, the reader's tables and the scenes of the project agree.
#include "scene/read/reader.h"
#include "support/cmocka.h"
#include "support/json_schema.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>

static const char schema_path[] = "scenes/scene.schema.json";

static int setup(void **state)
{
    json_error_t error;
    *state = json_load_file(schema_path, JSON_REJECT_DUPLICATES, &error);
    if (!*state) {
        print_error("%s:%d: %s\n", schema_path, error.line, error.text);
    }
    return *state ? 0 : -1;
}

static int teardown(void **state)
{
    json_decref(*state);
    return 0;
}

static void expect_valid(const json_t *schema, const char *name, const json_t *value)
{
    char why[400];
    if (!schema_holds(schema, schema, value, why, sizeof why)) {
        print_error("%s: %s\n", name, why);
        fail();
    }
}

static void scenes_keep_the_schema(void **state)
{
    DIR *dir = opendir("scenes");
    assert_non_null(dir);
    int count = 0;
    for (struct dirent *entry; (entry = readdir(dir));) {
        size_t n = strlen(entry->d_name);
        if (n < 5 || strcmp(entry->d_name + n - 5, ".json") != 0 ||
            strstr(entry->d_name, "schema")) {
            continue;
        }
        char path[512];
        snprintf(path, sizeof path, "scenes/%s", entry->d_name);
        json_t *value = json_load_file(path, JSON_REJECT_DUPLICATES, NULL);
        assert_non_null(value);
        expect_valid(*state, path, value);
        perp_scene *scene = NULL;
        perp_error error;
        if (perp_scene_load(path, NULL, &scene, &error) < 0) {
            print_error("%s:%d:%d: %s\n", path, error.line, error.column, error.text);
            fail();
        }
        char base[512];
        snprintf(base, sizeof base, "%.*s", (int)(n - 5), entry->d_name);
        assert_string_equal(perp_scene_name(scene), base);
        assert_true(perp_scene_description(scene)[0] != '\0');
        perp_scene_destroy(scene);
        json_decref(value);
        count++;
    }
    closedir(dir);
    assert_true(count >= 7);
}

static void generated_scenes_keep_the_schema(void **state)
{
    for (int k = 0; k < perp_generator_count(); k++) {
        const char *name = perp_generator_at(k)->name;
        perp_scene *scene = NULL;
        perp_error error = {0};
        if (perp_scene_generate(name, NULL, 0, NULL, &scene, &error) < 0) {
            print_error("%s: %d:%d: %s\n", name, error.line, error.column, error.text);
            fail();
        }
        json_t *value = json_loads(perp_scene_text(scene, NULL), JSON_REJECT_DUPLICATES, NULL);
        assert_non_null(value);
        expect_valid(*state, name, value);
        json_decref(value);
        perp_scene_destroy(scene);
    }
}

// The ```jsonc blocks of the documentation are scenes. Comments go before the validator reads.
static void documented_scenes_keep_the_schema(void **state)
{
    static const char fence[] = "\n```jsonc\n";
    static char page[65536];
    FILE *file = fopen("docs/scene-format.md", "rb");
    assert_non_null(file);
    page[fread(page, 1, sizeof page - 1, file)] = '\0';
    fclose(file);
    int count = 0;
    for (char *at = page; (at = strstr(at, fence)); count++) {
        at += sizeof fence - 1;
        char *end = strstr(at, "\n```");
        assert_non_null(end);
        perp_scene *scene = NULL;
        perp_error error;
        if (perp_scene_parse("page", at, (size_t)(end - at), NULL, &scene, &error) < 0) {
            print_error("block %d, %d:%d: %s\n", count + 1, error.line, error.column, error.text);
            fail();
        }
        perp_scene_destroy(scene);
        for (char *comment = at; (comment = strstr(comment, "//")) && comment < end;) {
            memset(comment, ' ', strcspn(comment, "\n"));
        }
        json_t *value = json_loadb(at, (size_t)(end - at), 0, NULL);
        assert_non_null(value);
        expect_valid(*state, "docs/scene-format.md", value);
        json_decref(value);
    }
    assert_true(count >= 5);
}

// ── Tables ───────────────────────────────────────────────────────────────────────────────────────

static bool has_key(const pp_object *object, const char *key)
{
    for (int k = 0; k < object->count; k++) {
        if (strcmp(object->field[k].key, key) == 0) {
            return true;
        }
    }
    return object->kinds[0] && strcmp(key, "kind") == 0;
}

static void expect_same_keys(const pp_object *object, const json_t *properties)
{
    const char *key;
    json_t *value;
    json_object_foreach((json_t *)(uintptr_t)properties, key, value)
    {
        if (!has_key(object, key)) {
            print_error("%s: the schema has '%s', the reader not\n", object->what, key);
            fail();
        }
    }
    for (int k = 0; k < object->count; k++) {
        if (!json_object_get(properties, object->field[k].key)) {
            print_error("%s: the reader has '%s', the schema not\n", object->what,
                        object->field[k].key);
            fail();
        }
    }
}

// Whether a field belongs to a kind, in the plane or in space.
static bool owned_by(const pp_object *object, const char *key, int kind)
{
    for (int i = 0; i < object->count; i++) {
        const pp_field *field = &object->field[i];
        if (strcmp(field->key, key) == 0 && (!field->owners || field->owners >> kind & 1u)) {
            return true;
        }
    }
    return false;
}

// The schema refuses a field exactly where the reader's table gives it no owner.
static void expect_same_kinds(const pp_object *object, const pp_choice *kinds,
                              const json_t *definition)
{
    const json_t *rules = json_object_get(definition, "allOf");
    for (const pp_choice *kind = kinds; kind && kind->word; kind++) {
        const json_t *then = NULL;
        for (size_t k = 0; k < json_array_size(rules); k++) {
            const json_t *rule = json_array_get(rules, k);
            const json_t *test = json_object_get(json_object_get(rule, "if"), "properties");
            const json_t *word = json_object_get(json_object_get(test, "kind"), "const");
            if (strcmp(json_string_value(word), kind->word) == 0) {
                then = json_object_get(rule, "then");
            }
        }
        for (int k = 0; k < object->count; k++) {
            const pp_field *field = &object->field[k];
            bool owned = owned_by(object, field->key, kind->value);
            bool refused =
                json_is_false(json_object_get(json_object_get(then, "properties"), field->key));
            if (owned == refused) {
                print_error("%s '%s': schema and reader differ\n", kind->word, field->key);
                fail();
            }
        }
    }
}

// The definitions of the schema and the tables of the reader.
static const struct {
    const char *name;
    const pp_object *object;
} objects[] = {{"limits", &pp_limits_object},
               {"body", &pp_body_object},
               {"drive", &pp_drive_object},
               {"shape", &pp_shape_object},
               {"visual", &pp_visual_object},
               {"contact", &pp_contact_object},
               {"pair", &pp_pair_object},
               {"joint", &pp_joint_object},
               {"force", &pp_force_object},
               {"input", &pp_input_object},
               {"actuator", &pp_actuator_object},
               {"site", &pp_site_object},
               {"sensor", &pp_sensor_object},
               {"copies", &pp_replicate_object},
               {"include", &pp_include_object},
               {"assembly", &pp_assembly_object},
               {"keyframe", &pp_keyframe_object},
               {"keyframe_joint", &pp_keyframe_joint_object},
               {"keyframe_body", &pp_keyframe_body_object}};

static void schema_and_reader_know_the_same(void **state)
{
    const json_t *defs = json_object_get(*state, "$defs");
    expect_same_keys(&pp_scene_object, json_object_get(*state, "properties"));
    for (size_t k = 0; k < sizeof objects / sizeof objects[0]; k++) {
        const json_t *definition = json_object_get(defs, objects[k].name);
        expect_same_keys(objects[k].object, json_object_get(definition, "properties"));
        expect_same_kinds(objects[k].object, objects[k].object->kinds[0], definition);
        expect_same_kinds(objects[k].object, objects[k].object->kinds[1], definition);
    }
}

// ── Seeds ────────────────────────────────────────────────────────────────────────────────────────
// Each key of each object stands in a seed of the fuzzer, and all seeds are read and built with every allocation failing
// (memory/files).

static const pp_object *object_of(const char *key, const json_t *value)
{
    static const struct {
        const char *key;
        const pp_object *object;
    } lists[] = {{"limits", &pp_limits_object},      {"drive", &pp_drive_object},
                 {"shapes", &pp_shape_object},       {"visuals", &pp_visual_object},
                 {"contacts", &pp_contact_object},   {"pairs", &pp_pair_object},
                 {"forces", &pp_force_object},       {"inputs", &pp_input_object},
                 {"actuators", &pp_actuator_object}, {"sites", &pp_site_object},
                 {"sensors", &pp_sensor_object},     {"replicate", &pp_replicate_object},
                 {"include", &pp_include_object},    {"assemblies", &pp_assembly_object},
                 {"keyframes", &pp_keyframe_object}};
    for (size_t k = 0; k < sizeof lists / sizeof lists[0]; k++) {
        if (strcmp(lists[k].key, key) == 0) {
            return lists[k].object;
        }
    }
    if (strcmp(key, "bodies") == 0) {
        return json_is_array(value) ? &pp_body_object : &pp_keyframe_body_object;
    }
    if (strcmp(key, "joints") == 0) {
        return json_is_array(value) ? &pp_joint_object : &pp_keyframe_joint_object;
    }
    return NULL;
}

enum { MAX_FIELDS = 128 };
typedef struct {
    const pp_object *object;
    bool seen[MAX_FIELDS];
} key_count;

static void count_keys(key_count *counts, int n, const pp_object *object, const json_t *value);

// The members of a keyframe's joints and bodies are objects with the names of joints and bodies as keys.
static void count_members(key_count *counts, int n, const pp_object *object, const json_t *value)
{
    const char *key;
    json_t *member;
    json_object_foreach((json_t *)(uintptr_t)value, key, member)
    {
        count_keys(counts, n, object, member);
    }
}

static void count_keys(key_count *counts, int n, const pp_object *object, const json_t *value)
{
    for (size_t i = 0; i < json_array_size(value); i++) {
        count_keys(counts, n, object, json_array_get(value, i));
    }
    const char *key;
    json_t *member;
    json_object_foreach((json_t *)(uintptr_t)value, key, member)
    {
        for (int c = 0; c < n; c++) {
            for (int k = 0; counts[c].object == object && k < object->count; k++) {
                counts[c].seen[k] = counts[c].seen[k] || strcmp(object->field[k].key, key) == 0;
            }
        }
        const pp_object *inner = object_of(key, member);
        if (inner == &pp_keyframe_joint_object || inner == &pp_keyframe_body_object) {
            count_members(counts, n, inner, member);
        } else if (inner) {
            count_keys(counts, n, inner, member);
        }
    }
}

// Without comments and commas before a bracket, which only perp reads.
static json_t *seed_at(const char *path)
{
    static char text[65536];
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    text[fread(text, 1, sizeof text - 1, file)] = '\0';
    fclose(file);
    char *comma = NULL;
    bool quoted = false;
    for (char *c = text; *c; c++) {
        quoted = quoted != (*c == '"' && (c == text || c[-1] != '\\'));
        if (quoted) {
            comma = NULL;
            continue;
        }
        if (c[0] == '/' && c[1] == '/') {
            memset(c, ' ', strcspn(c, "\n"));
        }
        if (comma && (*c == ']' || *c == '}')) {
            *comma = ' ';
        }
        if (!strchr(" \n\t", *c)) {
            comma = *c == ',' ? c : NULL;
        }
    }
    return json_loads(text, 0, NULL);
}

static void seeds_have_every_key(void **state)
{
    (void)state;
    enum { OBJECTS = sizeof objects / sizeof objects[0] + 1 };
    static key_count counts[OBJECTS];
    counts[0].object = &pp_scene_object;
    for (int k = 1; k < OBJECTS; k++) {
        counts[k].object = objects[k - 1].object;
        assert_true(counts[k].object->count <= MAX_FIELDS);
    }
    DIR *dir = opendir("fuzz/corpus/scene");
    assert_non_null(dir);
    for (struct dirent *entry; (entry = readdir(dir));) {
        if (strstr(entry->d_name, ".json")) {
            char path[512];
            snprintf(path, sizeof path, "fuzz/corpus/scene/%s", entry->d_name);
            json_t *seed = seed_at(path);  // NULL: wrong on purpose, as escapes.json
            count_keys(counts, OBJECTS, &pp_scene_object, seed);
            json_decref(seed);
        }
    }
    closedir(dir);
    bool missing = false;
    for (int c = 0; c < OBJECTS; c++) {
        for (int k = 0; k < counts[c].object->count; k++) {
            if (!counts[c].seen[k]) {
                missing = true;
                print_error("no seed has '%s' of %s\n", counts[c].object->field[k].key,
                            counts[c].object->what);
            }
        }
    }
    assert_false(missing);
}

// ── The validator itself ─────────────────────────────────────────────────────────────────────────

static void wrong_scenes_break_the_schema(void **state)
{
    static const char *const texts[] = {
        "[]",
        "{\"stpe\": 1}",
        "{\"step\": 0}",
        "{\"step\": \"1\"}",
        "{\"gravity\": [0]}",
        "{\"stepper\": \"euler\"}",
        "{\"theta\": 1.5}",
        "{\"name\": \"\"}",
        "{\"limits\": {\"gap\": null}}",
        "{\"shapes\": [{\"name\": \"x\"}]}",
        "{\"shapes\": [{\"kind\": \"disc\"}]}",
        "{\"shapes\": [{\"kind\": \"disc\", \"radius\": 1, \"size\": [1, 1]}]}",
        "{\"shapes\": [{\"kind\": \"box\", \"size\": [1, 1], \"angle\": \"30\"}]}",
        "{\"bodies\": [{\"drive\": {\"zz\": 1}}]}",
        "{\"bodies\": [{\"kind\": \"particle\", \"spin\": 1}]}",
        "{\"joints\": [{\"kind\": \"weld\", \"b\": \"x\", \"target\": 1}]}",
        "{\"joints\": [{\"kind\": \"gear\", \"joint_a\": \"x\"}]}",
        "{\"forces\": [{\"kind\": \"spring\", \"b\": \"x\", \"rest\": \"1\"}]}",
        "{\"parameters\": {\"a\": true}}",
        "{\"parameters\": [1]}",
        "{\"include\": [{\"prefix\": \"a\"}]}",
        "{\"include\": [{\"file\": \"a.json\", \"step\": 1}]}",
        "{\"assemblies\": [{\"step\": 1}]}",
        "{\"bodies\": [{\"replicate\": 3}]}",
        "{\"bodies\": [{\"replicate\": []}]}",
        "{\"bodies\": [{\"replicate\": {\"index\": \"i\"}}]}",
        "{\"bodies\": [{\"replicate\": {\"count\": -1}}]}",
        "{\"bodies\": [{\"replicate\": {\"count\": 1, \"index\": \"2\"}}]}",
        "{\"contacts\": [{\"a\": \"x\"}]}",
        "{\"bodies\": [{\"kind\": \"solid\", \"angle\": 1}]}",
        "{\"bodies\": [{\"kind\": \"solid\", \"rotation\": [1, 0, 0]}]}",
        "{\"bodies\": [{\"kind\": \"solid\", \"spin\": 1}]}",
        "{\"bodies\": [{\"kind\": \"body\", \"spin\": [0, 0, 1]}]}",
        "{\"shapes\": [{\"kind\": \"sphere\"}]}",
        "{\"shapes\": [{\"kind\": \"ellipsoid\", \"radii\": [1, 1]}]}",
        "{\"shapes\": [{\"kind\": \"halfspace\", \"density\": 1}]}",
        "{\"shapes\": [{\"kind\": \"halfspace\", \"facets\": 2}]}",
        "{\"threads\": 257}",
        "{\"groups\": []}",
        "{\"exclude\": [[\"a\"]]}",
        "{\"shapes\": [{\"kind\": \"point\", \"mask\": 4294967296}]}",
        "{\"shapes\": [{\"kind\": \"point\", \"group\": -1}]}",
        "{\"shapes\": [{\"kind\": \"point\", \"combine\": \"mean\"}]}",
        "{\"shapes\": [{\"kind\": \"point\", \"priority\": 0.5}]}",
        "{\"shapes\": [{\"kind\": \"point\", \"colour\": \"#12345\"}]}",
        "{\"bodies\": [{\"gravity_scale\": \"0\"}]}",
        "{\"max_iterations\": -1}",
        "{\"max_iterations\": 1.5}",
        "{\"max_seconds\": -0.1}",
        "{\"joints\": [{\"kind\": \"spherical\", \"b\": \"x\", \"axis\": [0, 0, 1]}]}",
        "{\"joints\": [{\"kind\": \"screw\", \"b\": \"x\"}]}",
        "{\"keyframes\": [{}]}",
        "{\"keyframes\": [{\"name\": \"a\", \"joints\": [0]}]}",
        "{\"keyframes\": [{\"name\": \"a\", \"joints\": {\"x\": {\"angle\": 1}}}]}",
        "{\"keyframes\": [{\"name\": \"a\", \"bodies\": {\"x\": {\"mass\": 1}}}]}",
        "{\"keyframes\": [{\"name\": \"a\", \"inputs\": {\"x\": true}}]}",
    };
    for (size_t k = 0; k < sizeof texts / sizeof texts[0]; k++) {
        char why[400];
        json_t *value = json_loads(texts[k], 0, NULL);
        assert_non_null(value);
        if (schema_holds(*state, *state, value, why, sizeof why)) {
            print_error("%s keeps the schema\n", texts[k]);
            fail();
        }
        if (strstr(why, "does not know") || strstr(why, "outside") || strstr(why, "compile")) {
            print_error("%s: %s\n", texts[k], why);
            fail();
        }
        json_decref(value);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scenes_keep_the_schema),
        cmocka_unit_test(generated_scenes_keep_the_schema),
        cmocka_unit_test(documented_scenes_keep_the_schema),
        cmocka_unit_test(schema_and_reader_know_the_same),
        cmocka_unit_test(seeds_have_every_key),
        cmocka_unit_test(wrong_scenes_break_the_schema),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
