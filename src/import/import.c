// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Models in, scenes out: XML is parsed (xml.c), a reader makes a robot of it (mjcf*.c), and the robot is written as
// a scene (write.c). All stages add to one report (report.c).
#include "import/import.h"

#include "format/format.h"
#include "import/mjcf.h"
#include "import/urdf.h"

#include <string.h>

#define IMPORT_COOKIE 0x70490002u

struct perp_import {
    perp_env env;
    pp_arena *arena;
    char *text;
    size_t size;
    const perp_import_note *note;
    int notes;
    pp_text report;  // as JSON
};

bool pp_import_likely(const char *text, size_t size)
{
    return pp_xml_likely(text, size);
}

perp_import_options perp_import_options_default(void)
{
    return (perp_import_options){
        .max_mb = 64.0, .visual_triangles = 20000, .cookie = IMPORT_COOKIE};
}

const char *perp_import_note_word(perp_import_note_kind kind)
{
    static const char *const words[] = {"used", "not used", "repaired", "assumed"};
    return (unsigned)kind < 4 ? words[kind] : NULL;
}

const char *perp_import_missing_word(int missing)
{
    static const char *const words[] = {"skip", "box", "error"};
    return missing >= 0 && missing < 3 ? words[missing] : NULL;
}

// ── Options ──────────────────────────────────────────────────────────────────────────────────────

static perp_status check_options(const perp_import_options *options, perp_error *error)
{
    if (options->cookie != IMPORT_COOKIE) {
        return pp_fail(error, PERP_ERR_DEF,
                       "import: initialise the options with perp_import_options_default()");
    }
    if (!(options->max_mb > 0.0)) {
        return pp_fail(error, PERP_ERR_ARGUMENT, "import: max_mb must be positive");
    }
    if (!perp_import_missing_word((int)options->missing)) {
        return pp_fail(error, PERP_ERR_ARGUMENT, "import: %d is no way to treat missing meshes",
                       (int)options->missing);
    }
    if (options->visual_triangles < 0) {
        return pp_fail(error, PERP_ERR_ARGUMENT, "import: visual_triangles must not be negative");
    }
    return PERP_OK;
}

static size_t most_bytes(const perp_import_options *options)
{
    double bytes = 1e6 * options->max_mb;
    return bytes < (double)PP_FILE_MAX ? (size_t)bytes : (size_t)PP_FILE_MAX;
}

// ── Reading ──────────────────────────────────────────────────────────────────────────────────────

// The keyframe of that name; the first if none is asked for; -1: none.
static perp_status choose_key(const pp_robot *robot, const char *name, int *key, perp_error *error)
{
    *key = robot->keys > 0 ? 0 : -1;
    if (!name) {
        return PERP_OK;
    }
    *key = -1;
    if (!*name) {
        return PERP_OK;
    }
    for (int k = 0; k < robot->keys; k++) {
        if (strcmp(robot->key[k].name, name) == 0) {
            *key = k;
            return PERP_OK;
        }
    }
    const char *first = robot->keys > 0 ? robot->key[0].name : "";
    return pp_fail(error, PERP_ERR_ARGUMENT,
                   "the model has no keyframe '%.60s'; it has %d%s%.60s%s", name, robot->keys,
                   *first ? ", the first is '" : "", first, *first ? "'" : "");
}

// The name of a file without its folders.
static const char *last_part(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

// With strict, the first thing that was not used or was repaired is an error at its place.
static perp_status check_strict(const pp_import_report *report, perp_error *error)
{
    int count = 0;
    const pp_note *first = NULL;
    for (const pp_note *k = report->first; k; k = k->next) {
        bool bad = k->note.kind == PERP_IMPORT_NOT_USED || k->note.kind == PERP_IMPORT_REPAIRED;
        first = bad && !first ? k : first;
        count += bad;
    }
    if (!first) {
        return PERP_OK;
    }
    char text[400], more[80] = "";
    if (count > 1) {
        pp_print(more, sizeof more, "; %d more line%s of the report %s like this", count - 1,
                 count > 2 ? "s" : "", count > 2 ? "are" : "is");
    }
    pp_print(text, sizeof text, "%s: %s%s%.120s%s (--strict)",
             perp_import_note_word(first->note.kind), first->note.what,
             first->note.why[0] ? ": " : "", first->note.why, more);
    return first->at ? pp_xml_fail(first->at, error, "%s", text)
                     : pp_fail(error, PERP_ERR_FORMAT, "%s", text);
}

// The report as JSON.
static void write_report(perp_import *import)
{
    pp_text *t = &import->report;
    t->arena = import->arena;
    pp_text_add(t, "[");
    for (int k = 0; k < import->notes; k++) {
        const perp_import_note *note = &import->note[k];
        pp_text_add(t, k == 0 ? "{\"kind\": " : ",\n {\"kind\": ");
        pp_text_quoted(t, perp_import_note_word(note->kind));
        pp_text_named(t, "what", note->what);
        pp_text_named(t, "why", note->why);
        pp_text_named(t, "file", note->file);
        pp_text_key(t, "line");
        pp_text_int(t, note->line);
        pp_text_key(t, "count");
        pp_text_int(t, note->count);
        pp_text_add(t, "}");
    }
    pp_text_add(t, "]\n");
}

static perp_status read_model(perp_import *import, const char *name, const pp_xml_source *source,
                              const perp_import_options *options, perp_error *error)
{
    pp_xml *root = NULL;
    pp_robot robot = {.arena = import->arena, .boxes = options->missing == PERP_IMPORT_MISSING_BOX};
    pp_import_report report = {.arena = import->arena, .main_file = last_part(name)};
    pp_import_files files = {
        .env = &import->env, .arena = import->arena, .main_file = name, .options = options};
    int key = -1;
    // Each stage needs the one before it.
    perp_status status = pp_xml_parse(source, import->arena, &root, error);
    if (status == PERP_OK && pp_xml_is(root, "mujoco")) {
        status = pp_mjcf_read(root, &files, &report, &robot, error);
        if (status == PERP_OK) {
            status = pp_robot_part(&robot, true, &import->env, &report, error);
        }
    } else if (status == PERP_OK && pp_xml_is(root, "robot")) {
        status = pp_urdf_read(root, &files, &report, &robot, error);
        if (status == PERP_OK) {
            status = pp_robot_part(&robot, false, &import->env, &report, error);
        }
    } else if (status == PERP_OK) {
        status = pp_xml_fail(
            root, error, "is no model; MJCF files begin with <mujoco>, URDF files with <robot>");
    }
    if (status == PERP_OK) {
        status = choose_key(&robot, options->key, &key, error);
    }
    if (status == PERP_OK && !pp_robot_show(&robot, options->visual_triangles, &report)) {
        status = pp_fail(error, PERP_ERR_MEMORY, "not enough memory for this model");
    }
    if (status == PERP_OK) {
        status = pp_robot_write(&robot, key, &report, &import->text, &import->size, error);
    }
    if (status == PERP_OK) {
        import->note = pp_report_list(&report);
        import->notes = report.count;
        if (import->note) {
            write_report(import);
        }
        if (!import->note || import->report.failed) {
            status = pp_fail(error, PERP_ERR_MEMORY, "not enough memory for this model");
        }
    }
    if (status == PERP_OK && options->strict) {
        status = check_strict(&report, error);
    }
    return status;
}

perp_status perp_import_parse(const char *name, const char *text, size_t size,
                              const perp_import_options *options, const perp_env *env,
                              perp_import **import, perp_error *error)
{
    const perp_import_options standard = perp_import_options_default();
    perp_error
        own;  // readers try things whose errors they take back: they always have an error to write to
    options = options ? options : &standard;
    error = error ? error : &own;
    *error = (perp_error){0};
    if (!import || !name || (!text && size > 0)) {
        return pp_fail(error, PERP_ERR_ARGUMENT, "perp_import_parse: NULL argument");
    }
    *import = NULL;
    perp_status status = check_options(options, error);
    if (status == PERP_OK && size > most_bytes(options)) {
        status = pp_fail(error, PERP_ERR_FORMAT, "larger than %.6g MB, the size limit",
                         1e-6 * (double)most_bytes(options));
    }
    if (status < 0) {
        return status;
    }
    // Everything is in one arena, which goes with the import.
    perp_import *made = pp_alloc(env, sizeof *made);
    pp_arena *arena = made ? pp_arena_create(env) : NULL;
    if (!arena) {
        pp_free(env, made, sizeof *made);
        return pp_fail(error, PERP_ERR_MEMORY, "not enough memory for this model");
    }
    *made = (perp_import){.env = env ? *env : (perp_env){0}, .arena = arena};
    pp_xml_source source = {.text = text ? text : "", .size = size};
    status = read_model(made, name, &source, options, error);
    if (status < 0) {
        perp_import_destroy(made);
        return status;
    }
    *import = made;
    return PERP_OK;
}

perp_status perp_import_load(const char *path, const perp_import_options *options,
                             const perp_env *env, perp_import **import, perp_error *error)
{
    const perp_import_options standard = perp_import_options_default();
    options = options ? options : &standard;
    if (error) {
        *error = (perp_error){0};
    }
    if (!import || !path) {
        return pp_fail(error, PERP_ERR_ARGUMENT, "perp_import_load: NULL argument");
    }
    *import = NULL;
    pp_file file = {0};
    perp_status status = check_options(options, error);
    if (status == PERP_OK) {
        status = pp_file_read(path, most_bytes(options), true, env, &file, error);
    }
    if (status == PERP_OK) {
        status = perp_import_parse(path, file.text, file.size, options, env, import, error);
    }
    pp_file_free(&file, env);
    return status;
}

void perp_import_destroy(perp_import *import)
{
    if (import) {
        perp_env env = import->env;
        pp_arena_destroy(import->arena);
        pp_free(&env, import, sizeof *import);
    }
}

// ── Answers ──────────────────────────────────────────────────────────────────────────────────────

const char *perp_import_text(const perp_import *import, size_t *size)
{
    if (size) {
        *size = import ? import->size : 0;
    }
    return import ? import->text : "";
}

const perp_import_note *perp_import_notes(const perp_import *import, int *count)
{
    if (count) {
        *count = import ? import->notes : 0;
    }
    return import ? import->note : NULL;
}

const char *perp_import_report(const perp_import *import)
{
    return import ? import->report.data : "";
}
