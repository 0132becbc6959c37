// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Scenes and simulations for js/perp.mjs. A session is a scene and a sim of it; every function but js_open takes one.
#include "page.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct session {
    perp_scene *scene;
    perp_sim *sim;
} session;

static perp_error last_error;
static char *kept;

// ── Errors and texts ─────────────────────────────────────────────────────────────────────────────

void page_fail(const perp_error *error)
{
    last_error = *error;
}

const char *page_keep(char *text)
{
    free(kept);
    kept = text;
    return text;
}

JS_EXPORT(js_error_text) const char *js_error_text(void)
{
    return last_error.text;
}

JS_EXPORT(js_error_line) int js_error_line(void)
{
    return last_error.line;
}

JS_EXPORT(js_error_column) int js_error_column(void)
{
    return last_error.column;
}

// For texts and arrays that JavaScript writes.
JS_EXPORT(js_alloc) void *js_alloc(size_t size)
{
    return malloc(size);
}

JS_EXPORT(js_free) void js_free(void *block)
{
    free(block);
}

// ── Scenes ───────────────────────────────────────────────────────────────────────────────────────

enum { SETS_MOST = 100 };

// Splits lines "name=value" in place.
static int split_sets(char *text, perp_scene_parameter set[SETS_MOST])
{
    int count = 0;
    for (char *line = text; *line && count < SETS_MOST;) {
        char *end = strchr(line, '\n'), *equals = strchr(line, '=');
        if (end) {
            *end = '\0';
        }
        if (equals && (!end || equals < end)) {
            *equals = '\0';
            set[count++] = (perp_scene_parameter){line, equals + 1};
        }
        if (!end) {
            break;
        }
        line = end + 1;
    }
    return count;
}

perp_scene *page_parse(const char *name, const char *text, const char *sets)
{
    perp_scene_parameter set[SETS_MOST];
    perp_scene_load_options reading = perp_scene_load_options_default();
    perp_scene *scene = NULL;
    char *copy = strdup(sets);
    last_error = (perp_error){0};
    if (!copy) {
        snprintf(last_error.text, sizeof last_error.text, "not enough memory");
        return NULL;
    }
    reading.given_only = true;  // texts from links name no files of this machine
    reading.set = set;
    reading.sets = split_sets(copy, set);
    if (perp_scene_parse_with(name, text, strlen(text), &reading, NULL, &scene, &last_error) < 0) {
        scene = NULL;
    }
    free(copy);
    return scene;
}

static json_t *number_or_null(double value)
{
    return isfinite(value) ? json_real(value) : json_null();
}

static json_t *list_inputs(const perp_model *model, const perp_sim *sim)
{
    json_t *list = json_array();
    for (int k = 0; k < perp_model_inputs(model); k++) {
        perp_input_def def = perp_model_input_def(model, (perp_input){k});
        json_array_append_new(list, json_pack("{s:s,s:f,s:o,s:o,s:s}", "name", def.name, "value",
                                              perp_sim_input(sim, (perp_input){k}), "lower",
                                              number_or_null(def.lower), "upper",
                                              number_or_null(def.upper), "unit",
                                              def.unit ? def.unit : ""));
    }
    return list;
}

char *page_about(const perp_scene *scene, const perp_sim *sim)
{
    const perp_model *model = perp_scene_model(scene);
    json_t *bodies = json_array(), *joints = json_array(), *parameters = json_array();
    for (int k = 0; k < perp_model_bodies(model); k++) {
        json_array_append_new(bodies, json_string(perp_model_body_name(model, (perp_body){k})));
    }
    for (int k = 0; k < perp_model_joints(model); k++) {
        json_array_append_new(joints, json_string(perp_model_joint_name(model, (perp_joint){k})));
    }
    int count = 0, nq = 0, nv = 0;
    const perp_scene_value *value = perp_scene_parameters(scene, &count);
    for (int k = 0; k < count; k++) {
        json_array_append_new(
            parameters, json_pack("{s:s,s:f,s:b}", "name", value[k].name, "value", value[k].value,
                                  "derived", value[k].derived));
    }
    perp_sim_state_size(sim, &nq, &nv);
    json_t *root =
        json_pack("{s:s,s:b,s:f,s:f,s:i,s:i,s:o,s:o,s:o,s:o}", "name", perp_scene_name(scene),
                  "spatial", perp_model_is_spatial(model), "step", perp_scene_step(scene), "until",
                  perp_scene_until(scene), "nq", nq, "nv", nv, "bodies", bodies, "joints", joints,
                  "parameters", parameters, "inputs", list_inputs(model, sim));
    char *text = root ? json_dumps(root, JSON_COMPACT) : NULL;
    json_decref(root);
    return text;
}

// ── Sessions ─────────────────────────────────────────────────────────────────────────────────────

JS_EXPORT(js_close) void js_close(session *s)
{
    if (s) {
        perp_sim_destroy(s->sim);
        perp_scene_destroy(s->scene);
        free(s);
    }
}

// NULL: js_error_text says why, js_error_line and js_error_column where.
JS_EXPORT(js_open) session *js_open(const char *name, const char *text, const char *sets)
{
    session *s = calloc(1, sizeof *s);
    if (!s) {
        return NULL;
    }
    s->scene = page_parse(name, text, sets);
    if (!s->scene) {
        js_close(s);
        return NULL;
    }
    perp_sim_def def = perp_scene_sim_def(s->scene);
    if (perp_sim_create(perp_scene_model(s->scene), &def, NULL, &s->sim, &last_error) < 0) {
        js_close(s);
        return NULL;
    }
    return s;
}

JS_EXPORT(js_about) const char *js_about(const session *s)
{
    return page_keep(page_about(s->scene, s->sim));
}

// Steps of size h, or of the scene's size where h is 0. The number of steps that succeeded; fewer: js_error_text.
JS_EXPORT(js_step) int js_step(session *s, int count, double h)
{
    double size = h > 0.0 ? h : perp_scene_step(s->scene);
    for (int k = 0; k < count; k++) {
        if (perp_sim_step(s->sim, size) < 0) {
            last_error = *perp_sim_error(s->sim);
            return k;
        }
    }
    return count;
}

JS_EXPORT(js_time) double js_time(const session *s)
{
    return perp_sim_time(s->sim);
}

JS_EXPORT(js_hash) uint64_t js_hash(const session *s)
{
    return perp_sim_state_hash(s->sim);
}

// q and nu behind each other in room for nq + nv numbers.
JS_EXPORT(js_state) void js_state(const session *s, double *room)
{
    int nq = 0, nv = 0;
    double t;
    perp_sim_state_size(s->sim, &nq, &nv);
    (void)!perp_sim_state_get(s->sim, &t, room, room + nq);
}

JS_EXPORT(js_state_set) int js_state_set(session *s, double t, const double *state)
{
    int nq = 0, nv = 0;
    perp_sim_state_size(s->sim, &nq, &nv);
    return perp_sim_state_set(s->sim, t, state, state + nq);
}

// Position and quaternion (scalar first) of each body: 7 numbers.
JS_EXPORT(js_poses) void js_poses(const session *s, double *room)
{
    for (int k = 0; k < perp_model_bodies(perp_scene_model(s->scene)); k++) {
        perp_pose X = perp_sim_body_pose(s->sim, (perp_body){k});
        const double pose[7] = {X.p.x, X.p.y, X.p.z, X.rot.w, X.rot.x, X.rot.y, X.rot.z};
        memcpy(room + 7 * (size_t)k, pose, sizeof pose);
    }
}

JS_EXPORT(js_contact_count) int js_contact_count(const session *s)
{
    int count = 0;
    perp_sim_contacts(s->sim, &count);
    return count;
}

// 17 numbers each: shapes a and b, feature, mode, mu, gap, pn, rate_n, point, normal, friction impulse.
JS_EXPORT(js_contacts) void js_contacts(const session *s, double *room)
{
    enum { WIDTH = 17 };
    int count = 0;
    const perp_contact *contact = perp_sim_contacts(s->sim, &count);
    for (int k = 0; k < count; k++) {
        const perp_contact *c = &contact[k];
        const double row[WIDTH] = {
            c->a.i,        c->b.i,        c->feature,   (int)c->mode, c->mu,        c->gap,
            c->pn,         c->rate_n,     c->point_W.x, c->point_W.y, c->point_W.z, c->normal_W.x,
            c->normal_W.y, c->normal_W.z, c->pf_W.x,    c->pf_W.y,    c->pf_W.z};
        memcpy(room + WIDTH * (size_t)k, row, sizeof row);
    }
}

// Certificate and energies of the last step.
JS_EXPORT(js_certificate) const char *js_certificate(const session *s)
{
    const perp_step_info *info = perp_sim_info(s->sim);
    const perp_certificate *c = &info->certificate;
    json_t *root =
        json_pack("{s:b,s:f,s:f,s:f,s:f,s:f,s:f,s:f,s:s,s:f,s:f}", "passed", c->passed, "gap",
                  c->gap, "complementarity", c->complementarity, "cone", c->cone, "joint", c->joint,
                  "momentum", c->momentum, "energy_created", c->energy_created, "residual",
                  c->residual, "solver", info->solver ? info->solver : "", "kinetic",
                  info->energy.kinetic, "potential", info->energy.potential);
    char *text = root ? json_dumps(root, JSON_COMPACT) : NULL;
    json_decref(root);
    return page_keep(text);
}

JS_EXPORT(js_input) int js_input(session *s, int input, double value)
{
    return perp_sim_input_set(s->sim, (perp_input){input}, value);
}

char *page_explain(const perp_scene *scene, const perp_sim *sim, double h, int form)
{
    perp_step_problem *problem = NULL;
    char *text = NULL;
    size_t size = 0;
    const perp_step_info *info = perp_sim_info(sim);
    perp_status status = perp_sim_problem(sim, (perp_form)((int)PERP_FORM_MCP + form), &problem);
    if (status < 0) {
        snprintf(last_error.text, sizeof last_error.text, "%s",
                 status == PERP_ERR_MEMORY ? "not enough memory"
                                           : "no problem to show: make a step; a step of the "
                                             "stepper event is not a single problem");
        return NULL;
    }
    FILE *out = open_memstream(&text, &size);
    explained e = {perp_scene_name(scene),
                   perp_sim_time(sim) - h,
                   h,
                   problem,
                   perp_status_word(info->status),
                   perp_model_is_spatial(perp_scene_model(scene)),
                   info};
    if (out) {
        explain_json(out, &e);
        fclose(out);
    }
    perp_step_problem_destroy(problem);
    return text;
}

// form: 0 mcp, 1 lcp.
JS_EXPORT(js_explain) const char *js_explain(const session *s, int form)
{
    return page_keep(page_explain(s->scene, s->sim, perp_scene_step(s->scene), form));
}

// A scene made by rule, as text; options: lines "name=value". NULL: js_error_text.
JS_EXPORT(js_generate) const char *js_generate(const char *generator, const char *options)
{
    perp_scene_parameter set[SETS_MOST];
    perp_generator_option option[SETS_MOST];
    perp_scene *scene = NULL;
    char *copy = strdup(options);
    int count = copy ? split_sets(copy, set) : 0;
    for (int k = 0; k < count; k++) {
        option[k] = (perp_generator_option){set[k].name, set[k].value};
    }
    perp_status status = perp_scene_generate(generator, option, count, NULL, &scene, &last_error);
    free(copy);
    if (status < 0) {
        return NULL;
    }
    char *text = strdup(perp_scene_text(scene, NULL));
    perp_scene_destroy(scene);
    return page_keep(text);
}

JS_EXPORT(js_version) const char *js_version(void)
{
    return perp_version();
}
