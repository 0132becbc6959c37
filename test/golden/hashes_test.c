// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Golden hashes: every scene of scenes/ and every generator at its defaults, some with other settings as well,
// against test/golden/hashes.txt, on one thread and on two. A commit that moves or renames code must leave all of
// them as they are. `test_golden_hashes --write` makes the table anew.
//
// A line of the table: what runs, for how many steps (fewer than the scene has where that would take long),
// settings other than the scene's, the hash of the last state, and one of all contacts and joints on the way,
// since two sets of impulses can cause one motion. The library itself has the same bits everywhere
// (docs/pipeline.md). The libraries it calls need not: the line `host` is a hash of what they return, and where it
// differs only the numbers of threads are compared.
#include "support/cmocka.h"

#include <perp/io.h>

#include <SuiteSparse_config.h>
#include <dirent.h>
#include <klu.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static const char table_path[] = "test/golden/hashes.txt";

enum {
    ROWS_MOST = 400,
    STEPS_NEW = 200,  // of a scene that the table does not have yet, at most
};

typedef struct outcome {
    uint64_t state, contacts;
} outcome;

typedef struct row {
    char name[80],
        settings[80];  // "scenes/x.json" or a generator; "stepper=event,form=cone" or "-"
    int steps;
    outcome golden;
} row;

typedef struct table {
    uint64_t host;
    row row[ROWS_MOST];
    int rows;
} table;

// ── Hashes ───────────────────────────────────────────────────────────────────────────────────────

// FNV-1a with 64 bits.
static uint64_t add_bytes(uint64_t hash, const void *data, size_t size)
{
    const unsigned char *byte = data;
    for (size_t k = 0; k < size; k++) {
        hash = (hash ^ byte[k]) * 1099511628211ull;
    }
    return hash;
}

static uint64_t add_number(uint64_t hash, double x)
{
    return add_bytes(hash, &x, sizeof x);
}

static uint64_t add_vec(uint64_t hash, perp_vec3 v)
{
    return add_number(add_number(add_number(hash, v.x), v.y), v.z);
}

// Gaps, impulses and rates of the last step.
static uint64_t add_step(uint64_t hash, const perp_sim *sim)
{
    int count;
    const perp_contact *contact = perp_sim_contacts(sim, &count);
    for (int i = 0; i < count; i++) {
        const perp_contact *c = &contact[i];
        hash = add_bytes(hash, &c->feature, sizeof c->feature);
        hash = add_number(add_number(add_number(hash, c->gap), c->pn), c->rate_n);
        hash = add_vec(add_vec(add_vec(hash, c->point_W), c->normal_W), c->pf_W);
    }
    int joints = perp_model_joints(perp_sim_model(sim));
    for (int j = 0; j < joints; j++) {
        perp_joint_state s = perp_sim_joint(sim, (perp_joint){j});
        hash = add_number(add_number(hash, s.coordinate), s.drive);
        hash = add_vec(add_vec(hash, s.impulse_b.f_W), s.impulse_b.tau_W);
    }
    return hash;
}

// ── The host ─────────────────────────────────────────────────────────────────────────────────────

static double next_number(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005ull + 1442695040888963407ull;
    return (double)(*seed >> 11) * 0x1p-53;
}

// A system of 40 unknowns by KLU, whose sums a compiler may have fused.
static uint64_t add_klu(uint64_t hash)
{
    enum { N = 40, EACH = 6 };
    int column[N + 1], index[N * EACH];
    double value[N * EACH], b[N];
    uint64_t seed = 2;
    for (int j = 0; j < N; j++) {
        column[j] = j * EACH;
        b[j] = next_number(&seed);
        for (int k = 0; k < EACH; k++) {
            index[column[j] + k] = (j + k * k * 3) % N;
            value[column[j] + k] = next_number(&seed) + (k == 0 ? 1.0 : 0.0);
        }
    }
    column[N] = N * EACH;
    klu_common common;
    klu_defaults(&common);
    klu_symbolic *symbolic = klu_analyze(N, column, index, &common);
    klu_numeric *numeric = symbolic ? klu_factor(column, index, value, symbolic, &common) : NULL;
    if (numeric) {
        klu_solve(symbolic, numeric, N, 1, b, &common);
    }
    klu_free_numeric(&numeric, &common);
    klu_free_symbolic(&symbolic, &common);
    return add_bytes(hash, b, sizeof b);
}

// What the libraries that are called return here.
static uint64_t hash_host(void)
{
    const int version[] = {SUITESPARSE_VERSION, KLU_VERSION};
    return add_klu(add_bytes(0, version, sizeof version));
}

// ── Scenes ───────────────────────────────────────────────────────────────────────────────────────

static bool is_file(const char *name)
{
    return strchr(name, '/') != NULL;
}

static perp_scene *open_scene(const char *name)
{
    perp_scene *scene = NULL;
    perp_error error = {0};
    perp_status status = is_file(name) ? perp_scene_load(name, NULL, &scene, &error)
                                       : perp_scene_generate(name, NULL, 0, NULL, &scene, &error);
    if (status < 0) {
        fail_msg("%s: %s", name, error.text);
    }
    return scene;
}

// The number of a word, by the function that has the words of an enum.
static int find_word(const char *(*word)(int), const char *text, const row *r)
{
    for (int k = 0; word(k); k++) {
        if (strcmp(word(k), text) == 0) {
            return k;
        }
    }
    fail_msg("%s: no setting is called '%s'", r->name, text);
    return -1;
}

static void set_one(perp_sim_def *def, const char *key, const char *text, const row *r)
{
    if (strcmp(key, "stepper") == 0) {
        def->stepper = (perp_stepper)find_word(perp_stepper_word, text, r);
    } else if (strcmp(key, "form") == 0) {
        def->form = (perp_form)find_word(perp_form_word, text, r);
    } else if (strcmp(key, "friction") == 0) {
        def->friction = (perp_friction_law)find_word(perp_friction_law_word, text, r);
    } else if (strcmp(key, "positions") == 0) {
        def->positions = (perp_positions)find_word(perp_positions_word, text, r);
    } else if (strcmp(key, "coordinates") == 0) {
        def->coordinates = (perp_coordinates)find_word(perp_coordinates_word, text, r);
    } else {
        fail_msg("%s: no setting is called '%s'", r->name, key);
    }
}

static void set_all(perp_sim_def *def, const row *r)
{
    char text[sizeof r->settings];
    memcpy(text, r->settings, sizeof text);
    if (strcmp(text, "-") == 0) {
        return;
    }
    for (char *at = text; at;) {
        char *next = strchr(at, ','), *equals = strchr(at, '=');
        assert_non_null(equals);
        if (next) {
            *next++ = '\0';
        }
        *equals = '\0';
        set_one(def, at, equals + 1, r);
        at = next;
    }
}

// A step that fails ends the run; its status is part of the hash.
static outcome run(const row *r, const perp_scene *scene, int threads)
{
    perp_sim_def def = perp_scene_sim_def(scene);
    perp_sim *sim = NULL;
    perp_error error = {0};
    outcome o = {0};
    set_all(&def, r);
    def.threads = threads;
    if (perp_sim_create(perp_scene_model(scene), &def, NULL, &sim, &error) < 0) {
        fail_msg("%s %s: %s", r->name, r->settings, error.text);
    }
    for (int k = 0; k < r->steps; k++) {
        perp_status status = perp_sim_step(sim, perp_scene_step(scene));
        if (status < 0) {
            o.contacts = add_number(o.contacts, (double)status);
            break;
        }
        if (!perp_solver_find(perp_sim_info(sim)->solver)) {
            fail_msg("%s: the registry has no solver '%s'", r->name, perp_sim_info(sim)->solver);
        }
        o.contacts = add_step(o.contacts, sim);
    }
    o.state = perp_sim_state_hash(sim);
    perp_sim_destroy(sim);
    return o;
}

static int steps_of(const perp_scene *scene)
{
    return (int)(perp_scene_until(scene) / perp_scene_step(scene) + 1e-9);
}

// ── The table ────────────────────────────────────────────────────────────────────────────────────

static table *read_table(void)
{
    table *t = calloc(1, sizeof *t);
    assert_non_null(t);
    FILE *file = fopen(table_path, "r");
    if (!file) {
        print_error("no %s\n", table_path);
        return t;
    }
    char line[400];
    while (fgets(line, sizeof line, file)) {
        char text[5][80] = {""};
        if (line[0] == '#' || line[0] == '\n') {
            continue;
        }
        int words =
            sscanf(line, "%79s %79s %79s %79s %79s", text[0], text[1], text[2], text[3], text[4]);
        if (words == 2 && strcmp(text[0], "host") == 0) {
            t->host = strtoull(text[1], NULL, 16);
            continue;
        }
        if (words != 5 || t->rows == ROWS_MOST) {
            fail_msg("%s: not a line of the table: %s", table_path, line);
        }
        row *r = &t->row[t->rows++];
        memcpy(r->name, text[0], sizeof r->name);
        memcpy(r->settings, text[2], sizeof r->settings);
        r->steps = (int)strtol(text[1], NULL, 10);
        r->golden = (outcome){strtoull(text[3], NULL, 16), strtoull(text[4], NULL, 16)};
    }
    fclose(file);
    return t;
}

// Whether the scene is there with its own settings.
static bool has_name(const table *t, const char *name)
{
    for (int i = 0; i < t->rows; i++) {
        if (strcmp(t->row[i].name, name) == 0 && strcmp(t->row[i].settings, "-") == 0) {
            return true;
        }
    }
    return false;
}

// Calls add for every scene that the table should have and does not; how many there are.
static int find_missing(table *t, void (*add)(table *t, const char *name))
{
    int missing = 0;
    struct dirent **entry;
    int count = scandir("scenes", &entry, NULL, alphasort);
    assert_true(count > 0);
    for (int k = 0; k < count; k++) {
        const char *ending = strrchr(entry[k]->d_name, '.');
        char name[300];
        snprintf(name, sizeof name, "scenes/%s", entry[k]->d_name);
        if (ending && strcmp(ending, ".json") == 0 && !strstr(name, "schema") &&
            !has_name(t, name)) {
            add(t, name);
            missing++;
        }
        free(entry[k]);
    }
    free(entry);
    for (int k = 0; k < perp_generator_count(); k++) {
        const char *name = perp_generator_at(k)->name;
        if (!has_name(t, name)) {
            add(t, name);
            missing++;
        }
    }
    return missing;
}

static void add_row(table *t, const char *name)
{
    perp_scene *scene = open_scene(name);
    int steps = steps_of(scene);
    assert_true(t->rows < ROWS_MOST);
    row *r = &t->row[t->rows++];
    *r = (row){.steps = steps < STEPS_NEW ? steps : STEPS_NEW, .settings = "-"};
    snprintf(r->name, sizeof r->name, "%s", name);
    perp_scene_destroy(scene);
}

static void name_missing(table *t, const char *name)
{
    (void)t;
    print_error("%s has no line for %s\n", table_path, name);
}

// ── Tests ────────────────────────────────────────────────────────────────────────────────────────

static const char advice[] =
    "where that was meant: build/release/test/test_golden_hashes --write (CONTRIBUTING.md)";

static void every_scene_is_in_the_table(void **state)
{
    if (find_missing(*state, name_missing) > 0) {
        fail_msg("scenes without hashes; %s", advice);
    }
}

static void scenes_keep_their_hashes(void **state)
{
    const table *t = *state;
    bool same_host = hash_host() == t->host;
    int differ = 0;
    for (int i = 0; i < t->rows; i++) {
        const row *r = &t->row[i];
        perp_scene *scene = open_scene(r->name);
        outcome one = run(r, scene, 1), two = run(r, scene, 2);
        perp_scene_destroy(scene);
        const outcome *golden = same_host ? &r->golden : &one;
        const outcome *found[] = {&one, &two};
        for (int k = 0; k < 2; k++) {
            bool other_state = found[k]->state != golden->state;
            if (other_state || found[k]->contacts != golden->contacts) {
                print_error("%s, settings %s, %d threads, after %d steps: %s\n", r->name,
                            r->settings, k + 1, r->steps,
                            other_state ? "another state" : "another contact or joint");
                differ++;
            }
        }
    }
    if (!same_host) {
        print_message("KLU has other bits here than where %s was made: only threads are compared\n",
                      table_path);
    }
    if (differ > 0) {
        fail_msg("%d runs have other bits; %s", differ, advice);
    }
}

// ── Writing ──────────────────────────────────────────────────────────────────────────────────────

// The rows there are keep their numbers of steps and settings; missing scenes come last.
static void write_table(void **state)
{
    table *t = *state;
    find_missing(t, add_row);
    FILE *file = fopen(table_path, "w");
    assert_non_null(file);
    fprintf(
        file,
        "# State hashes: what runs, steps, settings, last state, contacts and joints of all "
        "steps.\n"
        "# Made by test_golden_hashes --write; steps and settings may be edited by hand before.\n"
        "host %016llx\n",
        (unsigned long long)hash_host());
    for (int i = 0; i < t->rows; i++) {
        row *r = &t->row[i];
        perp_scene *scene = open_scene(r->name);
        int steps = steps_of(scene);
        r->steps = r->steps < steps ? r->steps : steps;
        clock_t start = clock();
        outcome o = run(r, scene, 1);
        print_message("%s %d %s: %.2f s\n", r->name, r->steps, r->settings,
                      (double)(clock() - start) / CLOCKS_PER_SEC);
        perp_scene_destroy(scene);
        fprintf(file, "%s %d %s %016llx %016llx\n", r->name, r->steps, r->settings,
                (unsigned long long)o.state, (unsigned long long)o.contacts);
    }
    assert_int_equal(fclose(file), 0);
}

static int setup(void **state)
{
    *state = read_table();
    return 0;
}

static int teardown(void **state)
{
    free(*state);
    return 0;
}

int main(int argc, char **argv)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_scene_is_in_the_table),
        cmocka_unit_test(scenes_keep_their_hashes),
    };
    const struct CMUnitTest writing[] = {cmocka_unit_test(write_table)};
    if (argc > 1 && strcmp(argv[1], "--write") == 0) {
        return cmocka_run_group_tests(writing, setup, teardown);
    }
    return cmocka_run_group_tests(tests, setup, teardown);
}
