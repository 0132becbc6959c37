// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Changes while running. A model is immutable, so a change of friction needs a new one: the scene is parsed again with
// other coefficients, and the new sim continues from the state of the old one.
#include "live.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void say(live_sim *live, const char *what, const char *why)
{
    snprintf(live->message, sizeof live->message, "%s: %s", what, why);
}

// ── A new sim in the same state ────────────────────────────────────────────────────────────────

static bool same_state(const perp_sim *from, perp_sim *to)
{
    int nq = 0, nv = 0, mq = 0, mv = 0;
    double t = 0.0;
    perp_sim_state_size(from, &nq, &nv);
    perp_sim_state_size(to, &mq, &mv);
    double *room = malloc(((size_t)nq + (size_t)nv + 1) * sizeof *room);
    bool same = room && nq == mq && nv == mv &&
                perp_sim_state_get(from, &t, room, room + nq) >= 0 &&
                perp_sim_state_set(to, t, room, room + nq) >= 0;
    free(room);
    return same;
}

static bool replace(live_sim *live, perp_scene *scene, const perp_sim_def *def, bool keep_state)
{
    perp_sim *sim = NULL;
    perp_error error = {0};
    const perp_scene *from = scene ? scene : live->scene;
    if (perp_sim_create(perp_scene_model(from), def, &live->env, &sim, &error) < 0) {
        say(live, "not changed", error.text);
        return false;
    }
    if (keep_state && !same_state(live->sim, sim)) {
        say(live, "not changed", "the state does not match");
        perp_sim_destroy(sim);
        return false;
    }
    live_record_drop(live);  // it belongs to the old sim
    perp_sim_destroy(live->sim);
    live->sim = sim;
    if (scene) {
        perp_scene_destroy(live->scene);
        live->scene = scene;
    }
    live->def = *def;
    live->failed = false;
    live->stepped = false;
    if (!keep_state) {
        live_inputs_forget(live);
    }
    live_inputs_apply(live);
    live_record_begin(live);
    return true;
}

bool live_change_def(live_sim *live, const perp_sim_def *def)
{
    return replace(live, NULL, def, true);
}

bool live_reset(live_sim *live)
{
    perp_sim_def def = live->def;
    if (!replace(live, NULL, &def, false)) {
        return false;
    }
    live->steps = 0;
    live->generation++;
    live->work_sum = live->dissipated_sum = 0.0;
    live->worst = live->since = (perp_certificate){.passed = true};
    live->drag.body = -1;
    return true;
}

// ── Friction ───────────────────────────────────────────────────────────────────────────────

// Comments, trailing commas and a byte order mark are extensions of perp, not JSON.
static void strip_extensions(char *text)
{
    bool inside = false;
    char *comma = NULL;  // the last token, if it is a comma
    if (strncmp(text, "\xef\xbb\xbf", 3) == 0) {
        memset(text, ' ', 3);
    }
    for (char *c = text; *c; c++) {
        if (inside && *c == '\\' && c[1]) {
            c++;
        } else if (*c == '"') {
            inside = !inside;
            comma = NULL;
        } else if (!inside && c[0] == '/' && c[1] == '/') {
            while (*c && *c != '\n') {
                *c++ = ' ';
            }
            if (!*c) {
                return;
            }
        } else if (!inside && !strchr(" \t\r\n", *c)) {
            if ((*c == ']' || *c == '}') && comma) {
                *comma = ' ';
            }
            comma = *c == ',' ? c : NULL;
        }
    }
}

static void set_mu(json_t *list, double mu, bool always)
{
    size_t k;
    json_t *item;
    json_array_foreach(list, k, item)
    {
        if (json_is_object(item) && (always || json_object_get(item, "mu"))) {
            json_object_set_new(item, "mu", json_real(mu));
        }
    }
}

// The objects of a scene or assembly.
static void set_all_mu(json_t *root, double mu)
{
    size_t k;
    json_t *item;
    set_mu(json_object_get(root, "shapes"), mu, true);
    set_mu(json_object_get(root, "contacts"), mu, false);
    set_mu(json_object_get(root, "pairs"), mu, false);
    json_array_foreach(json_object_get(root, "bodies"), k, item)
    {
        set_mu(json_object_get(item, "shapes"), mu, true);
    }
    json_array_foreach(json_object_get(root, "assemblies"), k, item)
    {
        set_all_mu(item, mu);
    }
}

// NULL: no scene, or no memory.
static char *text_with_mu(const char *text, size_t size, double mu)
{
    char *copy = malloc(size + 1), *out = NULL;
    if (!copy) {
        return NULL;
    }
    memcpy(copy, text, size);
    copy[size] = '\0';
    strip_extensions(copy);
    json_t *root = json_loads(copy, 0, NULL);
    free(copy);
    set_all_mu(root, mu);
    out = root ? json_dumps(root, JSON_INDENT(1) | JSON_REAL_PRECISION(17)) : NULL;
    json_decref(root);
    return out;
}

// Files of a scene, some of them rewritten.
typedef struct changed_files {
    perp_scene_file *file;
    char **text;  // owned; NULL: the file stays
    int count;
} changed_files;

// Files that the scene includes are changed as well; meshes are no scenes, and stay. false: no memory.
static bool change_files(changed_files *out, const perp_scene *scene, double mu)
{
    const perp_scene_file *file = perp_scene_files(scene, &out->count);
    out->file = calloc((size_t)out->count + 1, sizeof *out->file);
    out->text = calloc((size_t)out->count + 1, sizeof *out->text);
    if (!out->file || !out->text) {
        return false;
    }
    for (int k = 0; k < out->count; k++) {
        out->file[k] = file[k];
        out->text[k] = text_with_mu(file[k].data, file[k].size, mu);
        if (out->text[k]) {
            out->file[k].data = out->text[k];
            out->file[k].size = strlen(out->text[k]);
        }
    }
    return true;
}

static void free_files(changed_files *files)
{
    for (int k = 0; files->text && k < files->count; k++) {
        free(files->text[k]);
    }
    free(files->text);
    free(files->file);
}

bool live_change_mu(live_sim *live, double mu)
{
    perp_scene *scene = NULL;
    perp_error error = {0};
    size_t size = 0;
    changed_files files = {0};
    const char *before = perp_scene_text(live->scene, &size);
    char *text = text_with_mu(before, size, mu);
    bool good = text && change_files(&files, live->scene, mu);
    perp_scene_load_options reading = perp_scene_load_options_default();
    reading.max_mb = HUGE_VAL;  // already checked
    reading.given_only = true;
    reading.file = files.file;
    reading.files = files.count;
    bool done = good && perp_scene_parse_with(perp_scene_name(live->scene), text, strlen(text),
                                              &reading, NULL, &scene, &error) >= 0;
    if (!done) {
        say(live, "friction not changed", good ? error.text : "not enough memory");
    } else if (!replace(live, scene, &live->def, true)) {
        perp_scene_destroy(scene);
        done = false;
    }
    live->mu = done ? mu : live->mu;
    free_files(&files);
    free(text);
    return done;
}
