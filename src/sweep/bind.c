// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// A sweep and its scene: what is loaded once for all runs, and the scene of one run.
//
// The scene is read once with its own parameters. Its text (that of a robot: as imported) and the files it names are
// kept, so that a run reads nothing from the disk; values are set in the text as `perp run --set` does.
#define _XOPEN_SOURCE 700  // NOLINT(bugprone-reserved-identifier): realpath
#include "scene/read/json_tree.h"
#include "sweep/own.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>

#if !defined(PATH_MAX)
#define PATH_MAX 4096
#endif

static const char *const reducer_key[] = {"final",    "initial", "lowest", "highest", "mean",
                                          "integral", "sum",     "first",  "event",   "value"};

// A copy in the arena; NULL: no memory.
static char *copy_bytes(pp_arena *arena, const void *data, size_t size)
{
    char *copy = PP_ARRAY(arena, char, size + 1);
    if (copy) {
        if (size > 0) {
            memcpy(copy, data, size);
        }
        copy[size] = '\0';
    }
    return copy;
}

static void go(pp_sweep_place *p, const char *a, const char *b, const char *c)
{
    const char *const keys[] = {a, b, c};
    p->depth = 0;
    for (int k = 0; k < 3 && keys[k]; k++) {
        p->path[p->depth++] = (pp_json_step){keys[k], 0};
    }
}

// ── Loading ──────────────────────────────────────────────────────────────────────────────────────

static size_t folder_length(const char *path)
{
    bool stream = strncmp(path, "/dev/", 5) == 0;
    const char *slash = stream ? NULL : strrchr(path, '/');
    return slash ? (size_t)(slash - path) + 1 : 0;
}

// Whether a file is in the folder of the sweep or below, symbolic links followed. A sweep may come from anyone: it must
// not make a program open other files of its user.
static bool is_inside(const char *folder, const char *path)
{
    char home[PATH_MAX], place[PATH_MAX];
    if (!realpath(folder[0] ? folder : ".", home) || !realpath(path, place)) {
        return true;  // there is no such file, as the reader will say
    }
    size_t n = strlen(home);
    n -= home[n - 1] == '/';
    return strncmp(home, place, n) == 0 && place[n] == '/';
}

// An error of the scene, as one of the sweep file: with the line and column of both.
static perp_status fail_scene(perp_sweep *sweep, pp_sweep_place *p, const perp_error *inner)
{
    go(p, "scene", NULL, NULL);
    if (inner->status == PERP_ERR_MEMORY) {
        return pp_sweep_memory(p->error);
    }
    if (inner->line > 0) {
        return pp_sweep_fail(p, "%.80s:%d:%d: %s", sweep->scene_name, inner->line, inner->column,
                             inner->text);
    }
    return pp_sweep_fail(p, "%.80s: %s", sweep->scene_name, inner->text);
}

// The scene with its own parameters.
static perp_status load_file(perp_sweep *sweep, const char *name, pp_sweep_place *p,
                             perp_scene **scene)
{
    const perp_scene_load_options *reading = &sweep->reading;
    perp_error inner = {0};
    size_t n = sweep->scene_name[0] == '/' ? 0 : folder_length(name);
    char *path = PP_ARRAY(sweep->arena, char, n + strlen(sweep->scene_name) + 1);
    char *folder = copy_bytes(sweep->arena, name, n);
    if (!path || !folder) {
        return pp_sweep_memory(p->error);
    }
    memcpy(path, name, n);
    memcpy(path + n, sweep->scene_name, strlen(sweep->scene_name) + 1);
    sweep->scene_path = path;
    // Files that the caller gives take the place of those on the disk.
    for (int k = 0; k < reading->files; k++) {
        if (strcmp(reading->file[k].name, sweep->scene_name) == 0) {
            perp_status status =
                perp_scene_parse_with(path, reading->file[k].data, reading->file[k].size, reading,
                                      &sweep->env, scene, &inner);
            return status < 0 ? fail_scene(sweep, p, &inner) : PERP_OK;
        }
    }
    go(p, "scene", NULL, NULL);
    if (reading->given_only) {
        return pp_sweep_fail(p, "the file '%.80s' is not among those given", sweep->scene_name);
    }
    if (!reading->outside && !is_inside(folder, path)) {
        return pp_sweep_fail(p,
                             "'%.80s' is outside the directory of the sweep; move it there, or "
                             "allow it (--allow-outside)",
                             sweep->scene_name);
    }
    perp_status status = perp_scene_load_with(path, reading, &sweep->env, scene, &inner);
    return status < 0 ? fail_scene(sweep, p, &inner) : PERP_OK;
}

// Keeps the text and the files of the scene.
static perp_status keep_scene(perp_sweep *sweep, const perp_scene *scene)
{
    int count = 0;
    const perp_scene_file *file = perp_scene_files(scene, &count);
    const char *text = perp_scene_text(scene, &sweep->scene_size);
    sweep->scene_text = copy_bytes(sweep->arena, text, sweep->scene_size);
    perp_scene_file *own = PP_ZEROS(sweep->arena, perp_scene_file, count);
    if (!sweep->scene_text || !own) {
        return PERP_ERR_MEMORY;
    }
    for (int k = 0; k < count; k++) {
        own[k].name = copy_bytes(sweep->arena, file[k].name, strlen(file[k].name));
        own[k].data = copy_bytes(sweep->arena, file[k].data, file[k].size);
        own[k].size = file[k].size;
        if (!own[k].name || !own[k].data) {
            return PERP_ERR_MEMORY;
        }
    }
    sweep->file = own;
    sweep->files = count;
    return PERP_OK;
}

// ── The scene of a run ───────────────────────────────────────────────────────────────────────────

static perp_status generate(const perp_sweep *sweep, const double *si, const perp_env *env,
                            perp_scene **scene, perp_error *error)
{
    perp_generator_option option[2 * PP_SWEEP_NAMES];
    char text[PP_SWEEP_NAMES][32];
    int count = 0;
    if (sweep->options > PP_SWEEP_NAMES) {
        return pp_fail(error, PERP_ERR_ARGUMENT, "more than %d options", PP_SWEEP_NAMES);
    }
    for (int k = 0; k < sweep->options; k++) {
        option[count++] = sweep->option[k];
    }
    // Without values the scene has those of the file.
    for (int k = 0; k < sweep->factors; k++) {
        if (si && sweep->factor[k].use == PP_USE_OPTION) {
            pp_number_print_short(text[k], sizeof text[k], si[k]);
            option[count++] = (perp_generator_option){sweep->factor[k].name, text[k]};
        }
    }
    return perp_scene_generate(sweep->scene_name, option, count, env, scene, error);
}

perp_status pp_sweep_scene(const perp_sweep *sweep, const double *value, const double *si,
                           const perp_env *env, perp_scene **scene, perp_error *error)
{
    if (sweep->generated) {
        return generate(sweep, si, env, scene, error);
    }
    perp_scene_parameter set[PP_SWEEP_NAMES];
    char text[PP_SWEEP_NAMES][64];
    perp_scene_load_options reading = sweep->reading;
    reading.set = set;
    reading.sets = 0;
    reading.file = sweep->file;
    reading.files = sweep->files;
    for (int k = 0; k < sweep->factors; k++) {
        const pp_factor *f = &sweep->factor[k];
        if (f->use != PP_USE_SCENE) {
            continue;
        }
        // "12 mm", as in the scene and on the command line.
        char number[32];
        pp_number_print_short(number, sizeof number, value[k]);
        pp_print(text[k], sizeof text[k], "%s%s%.24s", number, f->unit[0] ? " " : "", f->unit);
        set[reading.sets++] = (perp_scene_parameter){f->name, text[k]};
    }
    return perp_scene_parse_with(sweep->scene_path, sweep->scene_text, sweep->scene_size, &reading,
                                 env, scene, error);
}

// ── Checks ───────────────────────────────────────────────────────────────────────────────────────

// Whether "blocks=20 thickness=0.109" has an option of this name.
static bool has_option(const char *options, const char *name)
{
    size_t n = strlen(name);
    for (const char *word = options; *word;) {
        if (strncmp(word, name, n) == 0 && word[n] == '=') {
            return true;
        }
        word += strcspn(word, " ");
        word += strspn(word, " ");
    }
    return false;
}

static const char *options_of(const char *generator)
{
    for (int k = 0; k < perp_generator_count(); k++) {
        if (strcmp(perp_generator_at(k)->name, generator) == 0) {
            return perp_generator_at(k)->options;
        }
    }
    return "";
}

// Whether an expression of the file, other than those of outputs, uses a factor.
static bool is_used(const perp_sweep *sweep, int k)
{
    bool used = (sweep->step && pp_expr_uses(sweep->step, k)) ||
                (sweep->until && pp_expr_uses(sweep->until, k));
    for (int j = k + 1; j < sweep->factors; j++) {
        used = used || (sweep->factor[j].expr && pp_expr_uses(sweep->factor[j].expr, k));
    }
    for (int j = 0; j < sweep->inputs; j++) {
        used = used || pp_expr_uses(sweep->input[j].expr, k);
    }
    // Of outputs, only those over signals make a difference to a run.
    int signal = sweep->signals.count - sweep->factors + k;
    return used || sweep->signals.used[signal];
}

static void find_uses(perp_sweep *sweep, const perp_scene *scene)
{
    int count = 0;
    const perp_scene_value *known = perp_scene_parameters(scene, &count);
    count = sweep->generated ? 0 : count;
    const char *options = sweep->generated ? options_of(sweep->scene_name) : "";
    for (int k = 0; k < sweep->factors; k++) {
        pp_factor *f = &sweep->factor[k];
        f->use = sweep->generated && has_option(options, f->name) ? PP_USE_OPTION : PP_USE_NONE;
        for (int j = 0; j < count; j++) {
            f->use = strcmp(known[j].name, f->name) == 0 ? PP_USE_SCENE : f->use;
        }
    }
}

// Every parameter changes something.
static perp_status check_factors(const perp_sweep *sweep, const perp_scene *scene,
                                 pp_sweep_place *p)
{
    int count = 0;
    const perp_scene_value *known = perp_scene_parameters(scene, &count);
    char list[120] = "";
    if (sweep->generated) {
        pp_print(list, sizeof list, "%s", options_of(sweep->scene_name));
        count = 0;
    }
    for (int j = 0; j < count; j++) {
        size_t used = strlen(list);
        pp_print(list + used, sizeof list - used, "%s%s", j > 0 ? ", " : "", known[j].name);
    }
    for (int k = 0; k < sweep->factors; k++) {
        const pp_factor *f = &sweep->factor[k];
        if (f->use == PP_USE_NONE && !is_used(sweep, k)) {
            go(p, "parameters", f->name, NULL);
            return pp_sweep_fail_key(p,
                                     "the scene has no parameter '%.40s', and no expression uses "
                                     "it; the scene has %s",
                                     f->name, list[0] ? list : "none");
        }
    }
    return PERP_OK;
}

// Names of signals and factors in one list: factors are the last.
static perp_status add_factors(perp_sweep *sweep, pp_sweep_place *p)
{
    pp_signals *s = &sweep->signals;
    int n = s->count + sweep->factors;
    const char **name = PP_ARRAY(sweep->arena, const char *, n);
    pp_signal *signal = PP_ZEROS(sweep->arena, pp_signal, n);
    s->used = PP_ZEROS(sweep->arena, bool, n);
    if (!name || !signal || !s->used) {
        return pp_sweep_memory(p->error);
    }
    memcpy(name, s->name, (size_t)s->count * sizeof *name);
    memcpy(signal, s->signal, (size_t)s->count * sizeof *signal);
    // A name that means two things is refused.
    for (int k = 0; k < sweep->factors; k++) {
        for (int j = 0; j < s->count; j++) {
            if (strcmp(s->name[j], sweep->factor[k].name) == 0) {
                go(p, "parameters", sweep->factor[k].name, NULL);
                return pp_sweep_fail_key(p, "'%.40s' is the name of a signal; rename the parameter",
                                         sweep->factor[k].name);
            }
        }
        name[s->count + k] = sweep->factor[k].name;
        signal[s->count + k] = (pp_signal){.kind = -1, .part = k};
    }
    s->name = name;
    s->signal = signal;
    s->count = n;
    return PERP_OK;
}

static perp_status parse_signals(perp_sweep *sweep, pp_sweep_place *p, const char *what,
                                 const char *text, const pp_expr **expr)
{
    pp_signals *s = &sweep->signals;
    perp_status status = pp_sweep_expression(p, what, text, s->name, s->count, expr);
    if (status < 0) {
        return status;
    }
    for (int k = 0; k < s->count; k++) {
        s->used[k] = s->used[k] || pp_expr_uses(*expr, k);
    }
    return PERP_OK;
}

static perp_status bind_outputs(perp_sweep *sweep, const perp_scene *scene, pp_sweep_place *p)
{
    bool located = perp_scene_sim_def(scene).stepper == PERP_STEPPER_EVENT;
    for (int k = 0; k < sweep->outputs; k++) {
        pp_output *o = &sweep->output[k];
        go(p, "outputs", o->name, reducer_key[o->reducer]);
        if (o->reducer == PP_REDUCE_EVENT && !located) {
            return pp_sweep_fail(p, "only the stepper event locates events; use \"first\" with a "
                                    "condition, such as \"contacts > 0\"");
        }
        if (o->reducer == PP_REDUCE_EVENT || o->reducer == PP_REDUCE_VALUE) {
            continue;
        }
        perp_status status = parse_signals(sweep, p, reducer_key[o->reducer], o->text, &o->expr);
        if (status < 0) {
            return status;
        }
    }
    go(p, "run", "stop", NULL);
    return sweep->stop_text ? parse_signals(sweep, p, "stop", sweep->stop_text, &sweep->stop)
                            : PERP_OK;
}

static perp_status check_inputs(const perp_sweep *sweep, const perp_scene *scene, pp_sweep_place *p)
{
    const perp_model *model = perp_scene_model(scene);
    for (int k = 0; k < sweep->inputs; k++) {
        if (perp_model_input(model, sweep->input[k].name).i < 0) {
            go(p, "inputs", sweep->input[k].name, NULL);
            return pp_sweep_fail_key(p, "the scene has no input '%.40s'", sweep->input[k].name);
        }
    }
    return PERP_OK;
}

static perp_status check_recorded(const perp_sweep *sweep, pp_sweep_place *p)
{
    for (int k = 0; k < sweep->recordeds; k++) {
        if (sweep->recorded[k] >= sweep->runs) {
            go(p, "record", "runs", NULL);
            return pp_sweep_fail(p, "there is no run %lld; the last is %lld",
                                 (long long)sweep->recorded[k], (long long)sweep->runs - 1);
        }
    }
    return PERP_OK;
}

// ── All ──────────────────────────────────────────────────────────────────────────────────────────

static void set_identity(perp_sweep *sweep)
{
    uint64_t hash = pp_hash(0, perp_version(), strlen(perp_version()));
    hash = pp_hash(hash, sweep->text, sweep->size);
    if (!sweep->generated) {
        hash = pp_hash(hash, sweep->scene_text, sweep->scene_size);
    }
    for (int k = 0; k < sweep->files; k++) {
        hash = pp_hash(hash, sweep->file[k].name, strlen(sweep->file[k].name));
        hash = pp_hash(hash, sweep->file[k].data, sweep->file[k].size);
    }
    sweep->identity = hash;
}

// Names are those of the model of run 0, since parameters may change how many bodies there are; where that run has no
// scene, those of the scene as it is.
static perp_status bind_names(perp_sweep *sweep, const perp_scene *scene, pp_sweep_place *p)
{
    double value[PP_SWEEP_NAMES], si[PP_SWEEP_NAMES];
    perp_scene *first = NULL;
    pp_sample_point(sweep, 0, value, si);
    perp_status status = pp_sweep_scene(sweep, value, si, &sweep->env, &first, NULL);
    if (status == PERP_ERR_MEMORY) {
        return pp_sweep_memory(p->error);
    }
    const perp_scene *named = first ? first : scene;
    status = pp_signals_list(&sweep->signals, perp_scene_model(named), sweep->arena);
    status = status < 0 ? pp_sweep_memory(p->error) : add_factors(sweep, p);
    if (status == PERP_OK) {
        status = bind_outputs(sweep, named, p);
    }
    if (status == PERP_OK) {
        status = check_inputs(sweep, named, p);
    }
    if (status == PERP_OK) {
        status = check_factors(sweep, scene, p);
    }
    perp_scene_destroy(first);
    return status;
}

perp_status pp_sweep_bind(perp_sweep *sweep, const char *name,
                          const perp_scene_load_options *reading, perp_error *error)
{
    perp_scene *scene = NULL;
    perp_error inner = {0};
    char *plain = copy_bytes(sweep->arena, sweep->text, sweep->size);
    if (!plain) {
        return pp_sweep_memory(error);
    }
    pp_scene_blank(plain, sweep->size);
    pp_sweep_place p = {.text = plain, .size = sweep->size, .error = error, .arena = sweep->arena};
    sweep->reading = *reading;
    perp_status status = check_recorded(sweep, &p);
    if (status < 0) {
        return status;
    }
    if (sweep->generated) {
        status = generate(sweep, NULL, &sweep->env, &scene, &inner);
        status = status < 0 ? fail_scene(sweep, &p, &inner) : PERP_OK;
    } else {
        status = load_file(sweep, name, &p, &scene);
        if (status == PERP_OK && keep_scene(sweep, scene) < 0) {
            status = pp_sweep_memory(error);
        }
    }
    // The files of the caller are copied by now.
    sweep->reading.file = NULL;
    sweep->reading.files = 0;
    if (status == PERP_OK) {
        find_uses(sweep, scene);
        status = bind_names(sweep, scene, &p);
    }
    perp_scene_destroy(scene);
    if (status == PERP_OK) {
        set_identity(sweep);
    }
    return status;
}
