// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Scenes: reading, questions about them, writing and freeing.
//
// A text becomes a scene in four stages: comments are blanked (text.c), the text becomes a tree of
// values (json_tree.c), values become definitions by the tables of the format (objects.c, reader.c,
// value.c), and definitions go to a builder, which makes the model (build.c). Each stage reports
// errors with the line and column of the file. Scratch memory of all stages is freed at the end.
#include "import/import.h"
#include "scene/read/json_tree.h"
#include "scene/read/reader.h"

#include <float.h>
#include <math.h>
#include <string.h>

// Marks options that come from perp_scene_load_options_default: a struct filled by hand may be
// older than the library.
#define READING_COOKIE 0x70530002u

// ── Text ─────────────────────────────────────────────────────────────────────────────────────────

// The name of a file without its folders and ".json": the name of a scene that gives none.
static const char *base_name(pp_arena *arena, const char *path)
{
    const char *slash = strrchr(path, '/');
    path = slash ? slash + 1 : path;
    size_t n = strlen(path);
    n -= n > 5 && strcmp(path + n - 5, ".json") == 0 ? 5 : 0;
    char *name = PP_ARRAY(arena, char, n + 1);
    if (name) {
        memcpy(name, path, n);
        name[n] = '\0';
    }
    return name;
}

// A copy in the arena; NULL: no memory.
static const char *copy_text(pp_arena *arena, const char *text)
{
    size_t n = strlen(text) + 1;
    char *copy = PP_ARRAY(arena, char, n);
    return copy ? memcpy(copy, text, n) : NULL;
}

// ── Reading ──────────────────────────────────────────────────────────────────────────────────────

// Copies the settings into the scene. Texts in them point into the JSON tree, which is scratch
// memory.
static perp_status keep_settings(perp_scene *scene, const pp_settings *s, const char *name)
{
    scene->sim = s->sim;
    scene->step = s->step;
    scene->until = s->until;
    scene->interval = s->interval;
    scene->name = s->name ? copy_text(scene->arena, s->name) : base_name(scene->arena, name);
    scene->description = copy_text(scene->arena, s->description ? s->description : "");
    if (s->sim.solver) {
        scene->sim.solver = copy_text(scene->arena, s->sim.solver);
    }
    if (s->sim.tree) {
        perp_joint *tree = PP_ARRAY(scene->arena, perp_joint, s->sim.tree_count);
        if (!tree) {
            return PERP_ERR_MEMORY;
        }
        for (int k = 0; k < s->sim.tree_count; k++) {
            tree[k] = s->sim.tree[k];
        }
        scene->sim.tree = tree;
    }
    bool good = scene->name && scene->description && (!s->sim.solver || scene->sim.solver);
    return good ? PERP_OK : PERP_ERR_MEMORY;
}

// Settings first, because they belong to the scene; then the model, which takes all else from the
// builder.
static perp_status read_root(pp_reader *r, const json_t *root, perp_scene *scene, const char *name)
{
    pp_settings settings = {.sim = perp_sim_default(), .step = 0.001, .until = 1.0};
    perp_status status = pp_reader_run(r, root, &settings);
    if (status == PERP_OK && keep_settings(scene, &settings, name) < 0) {
        status = pp_reader_memory(r);
    }
    if (status < 0) {
        return status;
    }
    return perp_model_create(r->builder, &scene->model, r->error);
}

// Reads the text of a scene. The parser works on a copy in scratch memory, which has no comments.
static perp_status read_text(perp_scene *scene, const char *name,
                             const perp_scene_load_options *reading, pp_arena *scratch,
                             perp_error *error)
{
    pp_reader r = {.path_name = name,
                   .reading = reading,
                   .scene = scene,
                   .size = scene->size,
                   .scene_size = scene->size,
                   .env = &scene->env,
                   .error = error,
                   .arena = scratch};
    // Comments stay in the text of the scene, which recordings keep.
    char *plain = PP_ARRAY(scratch, char, scene->size + 1);
    r.builder = perp_builder_create(&scene->env);
    if (!plain || !r.builder) {
        perp_builder_destroy(r.builder);
        return pp_reader_memory(&r);
    }
    memcpy(plain, scene->text, scene->size + 1);
    pp_scene_blank(plain, scene->size);
    r.text = r.scene_text = plain;
    r.constants = r.level;
    if (strspn(plain, " \t\r\n") == scene->size) {
        perp_builder_destroy(r.builder);
        return pp_fail(error, PERP_ERR_FORMAT, "the scene is empty; write at least {}");
    }
    const json_t *root = NULL;
    perp_status status = pp_json_parse(plain, scene->size, scratch, &root, error);
    if (status == PERP_OK) {
        status = read_root(&r, root, scene, name);
    }
    perp_builder_destroy(r.builder);
    return status;
}

// A scene with a copy of the text, terminated by a zero byte. NULL: no memory.
static perp_scene *create_scene(const perp_env *env, const char *text, size_t size)
{
    perp_scene *scene = pp_alloc(env, sizeof *scene);
    if (!scene) {
        return NULL;
    }
    *scene = (perp_scene){.env = env ? *env : (perp_env){0}, .size = size};
    scene->arena = pp_arena_create(env);
    char *copy = scene->arena ? PP_ARRAY(scene->arena, char, size + 1) : NULL;
    if (!copy) {
        perp_scene_destroy(scene);
        return NULL;
    }
    if (size > 0) {
        memcpy(copy, text, size);
    }
    copy[size] = '\0';
    scene->text = copy;
    return scene;
}

perp_scene_load_options perp_scene_load_options_default(void)
{
    return (perp_scene_load_options){
        .max_mb = 64.0, .import = perp_import_options_default(), .cookie = READING_COOKIE};
}

// Options come from callers: sizes of arrays are checked before they are used.
static perp_status check_reading(const perp_scene_load_options *reading, perp_error *error)
{
    if (reading->cookie != READING_COOKIE) {
        return pp_fail(error, PERP_ERR_DEF,
                       "scene: initialise the options with perp_scene_load_options_default()");
    }
    // A file of size 0 needs no data.
    bool listed = reading->files >= 0 && (reading->files == 0 || reading->file);
    int count = listed ? reading->files : 0;
    for (int k = 0; k < count; k++) {
        const perp_scene_file *file = &reading->file[k];
        listed = listed && file->name && (file->data || file->size == 0);
    }
    if (!listed || !(reading->max_mb > 0.0)) {
        return pp_fail(error, PERP_ERR_ARGUMENT,
                       "scene: max_mb must be positive, and every file must have name and data");
    }
    bool named = reading->sets >= 0 && (reading->sets == 0 || reading->set);
    for (int k = 0; k < (named ? reading->sets : 0); k++) {
        named = named && reading->set[k].name && reading->set[k].value;
    }
    if (!named) {
        return pp_fail(error, PERP_ERR_ARGUMENT,
                       "scene: every parameter that is set must have name and value");
    }
    return PERP_OK;
}

// A robot as a scene.
typedef struct pp_imported {
    const char *text;
    size_t size;
    const char *report;
} pp_imported;

static char *copy_in(pp_arena *arena, const char *text, size_t size)
{
    char *copy = PP_ARRAY(arena, char, size + 1);
    if (copy) {
        memcpy(copy, text, size);
        copy[size] = '\0';
    }
    return copy;
}

// A robot in XML becomes the text of a scene, in the arena, and the report of the import.
static perp_status import_robot(const char *name, const perp_scene_load_options *reading,
                                const perp_env *env, pp_arena *arena, pp_imported *to,
                                perp_error *error)
{
    perp_import_options options = reading->import;
    perp_import *import = NULL;
    options.max_mb = reading->max_mb;
    options.outside = reading->outside;
    options.no_files = reading->given_only;
    perp_status status = perp_import_parse(name, to->text, to->size, &options, env, &import, error);
    if (status < 0) {
        return status;
    }
    size_t length = 0;
    const char *made = perp_import_text(import, &length), *report = perp_import_report(import);
    to->text = copy_in(arena, made, length);
    to->size = length;
    to->report = copy_in(arena, report, strlen(report));
    if (!to->text || !to->report) {
        status = pp_fail(error, PERP_ERR_MEMORY, "not enough memory for this scene");
    }
    perp_import_destroy(import);
    return status;
}

// name is the path of the file, or any text for messages: files that the scene names are looked for
// in its folder.
// On failure *scene is NULL and the error says where.
perp_status perp_scene_parse_with(const char *name, const char *text, size_t size,
                                  const perp_scene_load_options *reading, const perp_env *env,
                                  perp_scene **scene, perp_error *error)
{
    const perp_scene_load_options standard = perp_scene_load_options_default();
    reading = reading ? reading : &standard;
    if (error) {
        *error = (perp_error){0};
    }
    if (!scene || !name || (!text && size > 0)) {
        return pp_fail(error, PERP_ERR_ARGUMENT, "perp_scene_parse: NULL argument");
    }
    *scene = NULL;
    perp_status status = check_reading(reading, error);
    if (status < 0) {
        return status;
    }
    if (size > pp_reading_most(reading)) {
        return pp_fail(error, PERP_ERR_FORMAT, "larger than %.6g MB, the size limit",
                       1e-6 * (double)pp_reading_most(reading));
    }
    // Everything that reading needs for a while is in `scratch`; the scene keeps what it needs
    // itself.
    perp_scene *made = NULL;
    pp_arena *scratch = pp_arena_create(env);
    pp_imported robot = {text, size, NULL};
    if (scratch && pp_import_likely(text, size)) {
        status = import_robot(name, reading, env, scratch, &robot, error);
        text = robot.text;
        size = robot.size;
    }
    if (scratch && status == PERP_OK) {
        status = pp_scene_set(scratch, reading, &text, &size, error);
    }
    if (scratch && status == PERP_OK) {
        made = create_scene(env, text, size);
    }
    if (made && robot.report) {
        made->report = copy_in(made->arena, robot.report, strlen(robot.report));
        if (!made->report) {
            status = pp_fail(error, PERP_ERR_MEMORY, "not enough memory for this scene");
        }
    }
    // Either may be missing; both are freed below.
    if (made && status == PERP_OK) {
        status = read_text(made, name, reading, scratch, error);
    } else if (status == PERP_OK) {
        status = pp_fail(error, PERP_ERR_MEMORY, "not enough memory for this scene");
    }
    pp_arena_destroy(scratch);
    if (status < 0) {
        perp_scene_destroy(made);
        return status;
    }
    *scene = made;
    return status;
}

// Reads a file and parses it. The error is that of whichever fails.
perp_status perp_scene_load_with(const char *path, const perp_scene_load_options *reading,
                                 const perp_env *env, perp_scene **scene, perp_error *error)
{
    const perp_scene_load_options standard = perp_scene_load_options_default();
    reading = reading ? reading : &standard;
    if (error) {
        *error = (perp_error){0};
    }
    if (!scene || !path) {
        return pp_fail(error, PERP_ERR_ARGUMENT, "perp_scene_load: NULL argument");
    }
    *scene = NULL;
    pp_file file = {0};
    perp_status status = check_reading(reading, error);
    if (status == PERP_OK) {
        status = pp_file_read(path, pp_reading_most(reading), true, env, &file, error);
    }
    if (status == PERP_OK) {
        status = perp_scene_parse_with(path, file.text, file.size, reading, env, scene, error);
    }
    pp_file_free(&file, env);
    return status;
}

// With the default options.
perp_status perp_scene_parse(const char *name, const char *text, size_t size, const perp_env *env,
                             perp_scene **scene, perp_error *error)
{
    return perp_scene_parse_with(name, text, size, NULL, env, scene, error);
}

// The same of a file.
perp_status perp_scene_load(const char *path, const perp_env *env, perp_scene **scene,
                            perp_error *error)
{
    return perp_scene_load_with(path, NULL, env, scene, error);
}

// The scene is read and gives its model away; what else it has is freed.
perp_status perp_model_load(const char *path, const perp_scene_load_options *reading,
                            const perp_env *env, perp_model **model, perp_error *error)
{
    if (!model) {
        return pp_fail(error, PERP_ERR_ARGUMENT, "perp_model_load: NULL argument");
    }
    *model = NULL;
    perp_scene *scene = NULL;
    perp_status status = perp_scene_load_with(path, reading, env, &scene, error);
    if (scene) {
        *model = scene->model;
        scene->model = NULL;
    }
    perp_scene_destroy(scene);
    return status;
}

// NULL is allowed, as for free.
void perp_scene_destroy(perp_scene *scene)
{
    if (scene) {
        perp_env env = scene->env;
        perp_model_destroy(scene->model);
        pp_arena_destroy(scene->arena);
        pp_free(&env, scene, sizeof *scene);
    }
}

// ── Questions ────────────────────────────────────────────────────────────────────────────────────

// Questions about NULL have the answer of an empty scene.
const char *perp_scene_name(const perp_scene *scene)
{
    return scene ? scene->name : "";
}

const char *perp_scene_description(const perp_scene *scene)
{
    return scene ? scene->description : "";
}

const perp_model *perp_scene_model(const perp_scene *scene)
{
    return scene ? scene->model : NULL;
}

perp_sim_def perp_scene_sim_def(const perp_scene *scene)
{
    return scene ? scene->sim : perp_sim_default();
}

double perp_scene_step(const perp_scene *scene)
{
    return scene ? scene->step : 0.0;
}

double perp_scene_until(const perp_scene *scene)
{
    return scene ? scene->until : 0.0;
}

double perp_scene_interval(const perp_scene *scene)
{
    return scene ? scene->interval : 0.0;
}

// Used by everything that runs a scene, so that all take the same steps.
perp_status perp_scene_schedule(double start, double until, double h, int64_t *count, double *last)
{
    double left = until - start, steps = h > 0.0 ? ceil(left / h - 1e-6) : HUGE_VAL;
    if (!count || !last || !(steps < 1e15) || left < 0.0) {
        return PERP_ERR_ARGUMENT;
    }
    *count = 0;
    if (left > 0.0) {
        *count = steps > 1.0 ? (int64_t)steps : 1;
    }
    // A last step that differs from h by the rounding of the times is h.
    double before = start + (double)(*count - 1) * h;
    *last = until - before;
    if (fabs(*last - h) <= 4.0 * DBL_EPSILON * (fabs(until) + fabs(before))) {
        *last = h;
    }
    return PERP_OK;
}

// NULL: the scene was not imported.
const char *perp_scene_report(const perp_scene *scene)
{
    return scene ? scene->report : NULL;
}

// The text as it was read, with its comments. It lives as long as the scene.
const char *perp_scene_text(const perp_scene *scene, size_t *size)
{
    if (size) {
        *size = scene ? scene->size : 0;
    }
    return scene ? scene->text : "";
}

// Files that the text names, with their contents.
const perp_scene_file *perp_scene_files(const perp_scene *scene, int *count)
{
    if (count) {
        *count = scene ? scene->files : 0;
    }
    return scene ? scene->file : NULL;
}

// In the order of the file.
const perp_scene_value *perp_scene_parameters(const perp_scene *scene, int *count)
{
    if (count) {
        *count = scene ? scene->parameters : 0;
    }
    return scene ? scene->parameter : NULL;
}

// A callback of pp_file_write, which opens and closes the file.
static void put_text(FILE *out, const char *name, const void *what)
{
    const perp_scene *scene = what;
    (void)name;
    (void)fwrite(scene->text, 1, scene->size, out);
}

// Writes the text, not the model: a scene that is read and written stays the same.
perp_status perp_scene_write(const perp_scene *scene, const char *path, perp_error *error)
{
    if (!scene || !path) {
        return pp_fail(error, PERP_ERR_ARGUMENT, "perp_scene_write: NULL argument");
    }
    return pp_file_write(path, put_text, "", scene, error);
}
