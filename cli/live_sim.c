// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The sim of a live view: stepped at `speed` times real time if it keeps up, with commands executed between steps.
#include "live.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double FRAME = 1.0 / 60.0;  // interval between frames [s]

// ── Stepping ─────────────────────────────────────────────────────────────────────────────────────

static void merge(perp_certificate *to, const perp_certificate *c)
{
    to->gap = fmax(to->gap, c->gap);
    to->complementarity = fmax(to->complementarity, c->complementarity);
    to->cone = fmax(to->cone, c->cone);
    to->joint = fmax(to->joint, c->joint);
    to->momentum = fmax(to->momentum, c->momentum);
    to->energy_created = fmax(to->energy_created, c->energy_created);
    to->residual = fmax(to->residual, c->residual);
    to->passed = to->passed && c->passed;
}

static perp_vec3 cross(perp_vec3 a, perp_vec3 b)
{
    return (perp_vec3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

static perp_vec3 turned(perp_quat q, perp_vec3 v)
{
    perp_vec3 u = {q.x, q.y, q.z}, t = cross(u, v);
    t = (perp_vec3){2.0 * t.x, 2.0 * t.y, 2.0 * t.z};
    perp_vec3 s = cross(u, t);
    return (perp_vec3){v.x + q.w * t.x + s.x, v.y + q.w * t.y + s.y, v.z + q.w * t.z + s.z};
}

// A spring and damper from the grabbed point to the pointer, as stiff as the step size allows:
//   F = k (to - p) - c v_p,   k = m w^2,   w h <= 0.4
static void pull(live_sim *live)
{
    const live_drag *d = &live->drag;
    perp_body body = {d->body};
    double m = perp_model_mass(perp_scene_model(live->scene), body);
    double w = fmin(14.0, 0.4 / live->h), k = m * w * w, c = 1.2 * m * w;
    perp_pose X = perp_sim_body_pose(live->sim, body);
    perp_twist V = perp_sim_body_twist(live->sim, body);
    perp_vec3 r = turned(X.rot, d->anchor_B), wr = cross(V.w_W, r);
    perp_vec3 f = {k * (d->to_W.x - X.p.x - r.x) - c * (V.v_W.x + wr.x),
                   k * (d->to_W.y - X.p.y - r.y) - c * (V.v_W.y + wr.y),
                   k * (d->to_W.z - X.p.z - r.z) - c * (V.v_W.z + wr.z)};
    perp_sim_body_apply(live->sim, body, (perp_wrench){f, cross(r, f)});
}

static void keep(live_sim *live)
{
    int nq = 0, nv = 0;
    if (!live->record) {
        return;
    }
    perp_sim_state_size(live->sim, &nq, &nv);
    double frames = (double)perp_record_summary(live->record).frames;
    if (frames * (nq + nv + 40.0) > live->record_most) {
        live->full = true;
    } else if (perp_record_step(live->record, live->sim) < 0) {
        snprintf(live->message, sizeof live->message, "recording stopped: %s",
                 perp_record_error(live->record)->text);
        live->full = true;
        (void)!live_sim_tell(live);
    }
}

static void step(live_sim *live)
{
    if (live->drag.body > 0) {
        pull(live);
    }
    perp_status status = perp_sim_step(live->sim, live->h);
    if (!live->full) {
        keep(live);
    }
    if (status < 0) {
        live->failed = true;
        live->running = false;
        live->pending = 0;
        snprintf(live->message, sizeof live->message, "stopped at t = %.6g s: %s",
                 perp_sim_time(live->sim), perp_sim_error(live->sim)->text);
        (void)!live_sim_tell(live);
        return;
    }
    const perp_step_info *info = perp_sim_info(live->sim);
    live->steps++;
    live->stepped = true;
    live->work_sum += info->energy.work;
    live->dissipated_sum += info->energy.dissipated;
    merge(&live->since, &info->certificate);
    merge(&live->worst, &info->certificate);
}

// ── Commands ─────────────────────────────────────────────────────────────────────────────────────

static perp_vec3 vector_of(const json_t *list)
{
    double x[3] = {0};
    for (size_t k = 0; k < 3 && k < json_array_size(list); k++) {
        double v = json_number_value(json_array_get(list, k));
        x[k] = isfinite(v) ? v : 0.0;
    }
    return (perp_vec3){x[0], x[1], x[2]};
}

static void obey_drag(live_sim *live, const json_t *drag)
{
    const perp_model *model = perp_scene_model(live->scene);
    int body = (int)json_integer_value(json_object_get(drag, "body"));
    if (!json_is_object(drag) || body < 1 || body >= perp_model_bodies(model) ||
        perp_model_motion(model, (perp_body){body}) != PERP_MOTION_DYNAMIC) {
        live->drag.body = -1;
        return;
    }
    live->drag = (live_drag){body, vector_of(json_object_get(drag, "anchor")),
                             vector_of(json_object_get(drag, "to"))};
    if (!perp_model_is_spatial(model)) {
        live->drag.anchor_B.z = live->drag.to_W.z = 0.0;
    }
}

static int find_word(const char *(*word)(int), const char *text)
{
    for (int k = 0; text && word(k); k++) {
        if (strcmp(word(k), text) == 0) {
            return k;
        }
    }
    return -1;
}

static void obey_method(live_sim *live, const json_t *root)
{
    perp_sim_def def = live->def;
    const char *solver = json_string_value(json_object_get(root, "solver"));
    int stepper = find_word(perp_stepper_word, json_string_value(json_object_get(root, "stepper")));
    int law = find_word(perp_friction_law_word, json_string_value(json_object_get(root, "law")));
    char before[sizeof live->solver];
    snprintf(before, sizeof before, "%s", live->solver);
    if (solver && cli_solver_by_name(solver)) {
        snprintf(live->solver, sizeof live->solver, "%s", solver);
    }
    def.solver = live->solver;
    def.stepper = stepper >= 0 ? (perp_stepper)stepper : def.stepper;
    def.friction = law >= 0 ? (perp_friction_law)law : def.friction;
    if (!live_change_def(live, &def)) {
        snprintf(live->solver, sizeof live->solver, "%s", before);
    }
}

static void obey_numbers(live_sim *live, const json_t *root)
{
    double mu = json_number_value(json_object_get(root, "mu"));
    double h = json_number_value(json_object_get(root, "h"));
    double speed = json_number_value(json_object_get(root, "speed"));
    int steps = (int)json_integer_value(json_object_get(root, "step"));
    if (json_object_get(root, "mu") && mu >= 0.0 && mu <= 100.0) {
        (void)live_change_mu(live, mu);
    }
    if (h > 0.0 && h <= 1.0) {
        live->h = h;
        live_record_drop(live);
        live_record_begin(live);
    }
    if (speed > 0.0 && speed <= 1000.0) {
        live->speed = speed;
    }
    if (steps > 0 && steps <= 1000) {
        live->running = false;
        live->pending += steps;
    }
}

void live_sim_obey(live_sim *live, const char *command)
{
    json_t *root = json_loads(command, JSON_REJECT_DUPLICATES, NULL);
    const json_t *run = json_object_get(root, "run");
    live->message[0] = '\0';
    if (json_object_get(root, "drag")) {
        obey_drag(live, json_object_get(root, "drag"));
        json_decref(root);
        return;  // frequent, and does not change the status
    }
    if (run) {
        live->running = json_is_true(run) && !live->failed;
    }
    if (json_is_true(json_object_get(root, "reset"))) {
        (void)live_reset(live);
    }
    if (json_object_get(root, "solver") || json_object_get(root, "stepper") ||
        json_object_get(root, "law")) {
        obey_method(live, root);
    }
    obey_numbers(live, root);
    live_inputs_obey(live, root);
    if (json_is_true(json_object_get(root, "save"))) {
        live_record_save(live);
    }
    json_decref(root);
    (void)!live_sim_tell(live);
    (void)!live_sim_publish(live);
}

// ── Status ───────────────────────────────────────────────────────────────────────────────────────

static json_t *words_of(const char *(*word)(int))
{
    json_t *list = json_array();
    for (int k = 0; word(k); k++) {
        json_array_append_new(list, json_string(word(k)));
    }
    return list;
}

bool live_sim_tell(live_sim *live)
{
    json_t *solvers = json_array();
    for (int k = 0; k < perp_solver_count(); k++) {
        if (cli_solver_by_name(perp_solver_at(k)->name)) {
            json_array_append_new(solvers, json_string(perp_solver_at(k)->name));
        }
    }
    json_t *root = json_pack(
        "{s:o,s:o,s:o,s:s,s:s,s:s,s:f,s:f,s:f,s:b,s:b,s:s,s:f,s:b,s:o}", "solvers", solvers,
        "steppers", words_of(perp_stepper_word), "laws", words_of(perp_friction_law_word), "solver",
        live->solver, "stepper", perp_stepper_word((int)live->def.stepper), "law",
        perp_friction_law_word((int)live->def.friction), "h", live->h, "mu", live->mu, "speed",
        live->speed, "running", live->running, "failed", live->failed, "message", live->message,
        "recorded_from", live->recorded_from, "recording", live->record != NULL, "inputs",
        live_inputs_list(live));
    char *text = root ? json_dumps(root, JSON_COMPACT) : NULL;
    bool told = text && live_board_tell(live->board, text);
    free(text);
    json_decref(root);
    return told;
}

// ── The loop ─────────────────────────────────────────────────────────────────────────────────────

// Steps until the sim catches up with the clock, or a frame is due.
static void advance(live_sim *live, double *clock)
{
    double began = live_seconds(), from = perp_sim_time(live->sim);
    double due = (began - *clock) * live->speed;
    // A longer delay is not caught up. At least a step: in slow motion it is due only after many frames.
    double most = fmax(0.1 * live->speed, live->h);
    *clock = began;
    double until = from + fmin(due, most);
    while (live->running && perp_sim_time(live->sim) + 0.5 * live->h <= until &&
           live_seconds() - began < FRAME) {
        step(live);
    }
    double lag = until - perp_sim_time(live->sim);
    if (lag < most) {  // also ahead of the clock, by at most half a step
        *clock -= lag / live->speed;
    }
    double real = fmax(live_seconds() - began, due / live->speed);
    double reached = real > 0.0 ? (perp_sim_time(live->sim) - from) / real : live->speed;
    live->rate = 0.9 * live->rate + 0.1 * reached;
}

bool live_sim_turn(live_sim *live, double *clock)
{
    bool busy = live->running || live->pending > 0;
    if (live->running) {
        advance(live, clock);
    } else {
        *clock = live_seconds();
        live->rate = 0.0;
        for (; live->pending > 0; live->pending--) {
            step(live);
        }
    }
    if (busy) {
        (void)!live_sim_publish(live);
    }
    return busy;
}

void live_sim_run(live_sim *live)
{
    char command[LIVE_COMMAND_BYTES];
    double clock = live_seconds(), shown = 0.0;
    while (!*live->interrupted && !live_board_over(live->board)) {
        bool busy = live->running || live->pending > 0;
        double wait = busy ? fmax(0.0, shown + FRAME - live_seconds()) : 0.1;
        while (live_board_take(live->board, command, wait)) {
            live_sim_obey(live, command);
            wait = 0.0;
        }
        if (live_sim_turn(live, &clock)) {
            shown = live_seconds();
        }
    }
}

// ── Beginning and end ────────────────────────────────────────────────────────────────────────────

static bool is_interrupted(void *user)
{
    const volatile sig_atomic_t *const *interrupted = user;
    return **interrupted != 0;
}

cli_exit live_sim_open(live_sim *live, const char *path, const perp_scene_load_options *reading,
                       const char *keyframe, const char *base, live_board *board,
                       const volatile sig_atomic_t *interrupted)
{
    perp_error error = {0};
    *live = (live_sim){.mu = -1.0,
                       .speed = 1.0,
                       .record_most = 1e9,
                       .board = board,
                       .interrupted = interrupted,
                       .drag = {.body = -1}};
    live->env = (perp_env){.stop = is_interrupted, .user = &live->interrupted};
    live->since = live->worst = (perp_certificate){.passed = true};
    cli_exit code = cli_scene_open(path, reading, &live->scene);
    if (code != CLI_FINE) {
        return code;
    }
    live->def = perp_scene_sim_def(live->scene);
    snprintf(live->solver, sizeof live->solver, "%s", live->def.solver ? live->def.solver : "auto");
    live->def.solver = live->solver;
    live->h = perp_scene_step(live->scene);
    code = cli_keyframe_find(path, live->scene, keyframe, &live->def.keyframe);
    if (code != CLI_FINE) {
        return code;
    }
    if (perp_sim_create(perp_scene_model(live->scene), &live->def, &live->env, &live->sim, &error) <
        0) {
        return cli_complain("%s: %s", path, error.text);
    }
    if (!live_inputs_begin(live)) {
        cli_complain("view: not enough memory");
        return CLI_OUTPUT;
    }
    const char *name = perp_scene_name(live->scene);
    snprintf(live->base, sizeof live->base, "%s%s",
             base      ? base
             : name[0] ? name
                       : "scene",
             base ? "" : "-live");
    for (char *c = live->base; *c && !base; c++) {
        *c = *c == '/' || (unsigned char)*c < ' ' ? '_' : *c;
    }
    live_record_begin(live);
    return CLI_FINE;
}

char *live_sim_page(live_sim *live, size_t *size)
{
    perp_recording *recording = NULL;
    perp_replay *replay = NULL;
    perp_replay_def def = perp_replay_default();
    perp_error error = {0};
    char *copy = NULL;
    def.page = cli_page(&def.page_size);
    def.live = true;
    if (!live->work[0]) {
        cli_complain("view: %s", live->message);
        return NULL;
    }
    if (perp_recording_open(live->work, NULL, &recording, &error) >= 0 &&
        perp_replay_create(recording, &def, NULL, &replay, &error) >= 0) {
        const char *text = perp_replay_text(replay, size);
        copy = malloc(*size + 1);
        if (copy) {
            memcpy(copy, text, *size + 1);
        }
    } else {
        cli_complain("view: %s", error.text);
    }
    perp_replay_destroy(replay);
    perp_recording_close(recording);
    return copy;
}

void live_sim_close(live_sim *live)
{
    live_record_drop(live);
    perp_sim_destroy(live->sim);
    perp_scene_destroy(live->scene);
    free(live->input);
    free(live->frame);
}
