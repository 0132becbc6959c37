// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// perp import: robots of other simulators as scenes.
#include "cli.h"

#include <errno.h>
#include <string.h>

typedef struct import_options {
    const char *file, *output, *report;
    bool quiet, no_key, no_visuals;
    perp_import_options import;
} import_options;

// ── The report ───────────────────────────────────────────────────────────────────────────────────

static void print_note(FILE *out, const perp_import_note *note)
{
    fprintf(out, "%-9s %s", perp_import_note_word(note->kind), cli_plain(note->what));
    if (note->why[0]) {
        fprintf(out, ": %s", note->why);
    }
    if (note->count > 1) {
        fprintf(out, " (%d times, first at %s:%d)", note->count, cli_plain(note->file), note->line);
    } else if (note->file[0]) {
        fprintf(out, " (%s:%d)", cli_plain(note->file), note->line);
    }
    fputc('\n', out);
}

// Kind by kind.
static void print_report(FILE *out, const perp_import *import)
{
    int count;
    const perp_import_note *note = perp_import_notes(import, &count);
    for (int kind = 0; perp_import_note_word((perp_import_note_kind)kind); kind++) {
        for (int k = 0; k < count; k++) {
            if ((int)note[k].kind == kind) {
                print_note(out, &note[k]);
            }
        }
    }
}

// ── The scene ────────────────────────────────────────────────────────────────────────────────────

static cli_exit write_text(const char *text, size_t size, const char *path)
{
    bool stdout_wanted = !path || strcmp(path, "-") == 0;
    FILE *out = stdout_wanted ? stdout : fopen(path, "w");
    if (!out) {
        cli_complain("cannot write '%s': %s", path, strerror(errno));
        return CLI_OUTPUT;
    }
    bool good = fwrite(text, 1, size, out) == size && fflush(out) == 0;
    if (!stdout_wanted) {
        good = fclose(out) == 0 && good;
    }
    if (!good) {
        cli_complain("cannot write '%s'", stdout_wanted ? "standard output" : path);
    }
    return good ? CLI_FINE : CLI_OUTPUT;
}

static cli_exit complain_of(const char *path, const perp_error *error)
{
    path = cli_plain(path);
    if (error->line > 0) {
        fprintf(stderr, "%s:%d:%d: %s\n", path, error->line, error->column, error->text);
    } else {
        fprintf(stderr, "%s: %s\n", path, error->text);
    }
    return CLI_INPUT;
}

// The scene is read once, so that one that would not run is not written.
static cli_exit check_scene(const import_options *o, const perp_import *import)
{
    size_t size;
    const char *text = perp_import_text(import, &size);
    perp_scene *scene = NULL;
    perp_error error = {0};
    perp_scene_load_options reading = perp_scene_load_options_default();
    reading.max_mb = 1000.0;  // the text of meshes is longer than their files
    if (perp_scene_parse_with(o->file, text, size, &reading, NULL, &scene, &error) < 0) {
        fprintf(stderr, "%s: as a scene: %s\n", cli_plain(o->file), error.text);
        return CLI_INPUT;
    }
    perp_scene_destroy(scene);
    return CLI_FINE;
}

static cli_exit run_import(const import_options *o)
{
    perp_import *import = NULL;
    perp_error error = {0};
    const char *source = strcmp(o->file, "-") == 0 ? "/dev/stdin" : o->file;
    if (perp_import_load(source, &o->import, NULL, &import, &error) < 0) {
        return complain_of(o->file, &error);
    }
    size_t size;
    const char *text = perp_import_text(import, &size);
    cli_exit code = check_scene(o, import);
    if (code == CLI_FINE) {
        code = write_text(text, size, o->output);
    }
    if (code == CLI_FINE && o->report) {
        const char *json = perp_import_report(import);
        code = write_text(json, strlen(json), o->report);
    }
    if (!o->quiet) {
        print_report(stderr, import);
    }
    perp_import_destroy(import);
    return code;
}

cli_exit cli_import(int count, char **words)
{
    import_options o = {.import = perp_import_options_default()};
    const cli_option options[] = {
        {"-o", CLI_TEXT, (void *)&o.output, NULL},
        {"--key", CLI_TEXT, (void *)&o.import.key, NULL},
        {"--no-key", CLI_FLAG, &o.no_key, NULL},
        {"--max-mb", CLI_POSITIVE, &o.import.max_mb, NULL},
        {"--allow-outside", CLI_FLAG, &o.import.outside, NULL},
        CLI_ROBOT(o.import),
        {"--visual-triangles", CLI_COUNT, &o.import.visual_triangles, NULL},
        {"--no-visuals", CLI_FLAG, &o.no_visuals, NULL},
        {"--report", CLI_TEXT, (void *)&o.report, NULL},
        {"-q", CLI_FLAG, &o.quiet, NULL}};
    if (cli_wants_help("import", count, words)) {
        return CLI_FINE;
    }
    cli_exit code = cli_options_parse("import", count, words, options,
                                      sizeof options / sizeof options[0], &o.file, 1);
    if (code != CLI_FINE) {
        return code;
    }
    o.import.key = o.no_key ? "" : o.import.key;
    o.import.visual_triangles = o.no_visuals ? 0 : o.import.visual_triangles;
    return run_import(&o);
}
