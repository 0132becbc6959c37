// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// One run of a sweep: its scene is made, simulated, and reduced to a row.
//
// Steps are those of `perp run` with the same parameters, so that a run of a sweep can be looked at alone.
#include "record/record.h"
#include "sweep/own.h"

#include <math.h>
#include <string.h>

// A signal on its way to one number.
typedef struct reduction {
    double value;
    double last;  // the sample before, for integrals
    bool begun;
} reduction;

typedef struct task {
    const perp_sweep *sweep;
    const perp_env *env;
    pp_arena *arena;
    perp_scene *scene;
    perp_sim *sim;
    perp_record *record;
    pp_signal_reader reader;
    reduction *reduction;  // one per output
    double *known;         // factors and outputs in SI
    double h, last;
    int64_t steps, taken, violated;
    double time;  // simulated [s]
    perp_error error;
} task;

const char *perp_run_status_word(int status)
{
    static const char *const words[PERP_RUN_COUNT] = {"solved", "violated", "unsolved", "refused",
                                                      "time",   "memory",   "crashed",  "missing"};
    return status >= 0 && status < PERP_RUN_COUNT ? words[status] : NULL;
}

// ── Reductions ───────────────────────────────────────────────────────────────────────────────────

// One sample. h: since the sample before [s]; a value that is no number is passed over.
static void reduce(const pp_output *o, reduction *r, double x, double t, double h)
{
    if (isnan(x)) {
        return;
    }
    bool first = !r->begun;
    switch (o->reducer) {
    case PP_REDUCE_FINAL:
        r->value = x;
        break;
    case PP_REDUCE_INITIAL:
        r->value = first ? x : r->value;
        break;
    case PP_REDUCE_LOWEST:
        r->value = first ? x : fmin(r->value, x);
        break;
    case PP_REDUCE_HIGHEST:
        r->value = first ? x : fmax(r->value, x);
        break;
    case PP_REDUCE_SUM:
        r->value = first ? x : r->value + x;
        break;
    case PP_REDUCE_MEAN:
    case PP_REDUCE_INTEGRAL:  // trapezoidal rule
        r->value = first ? 0.0 : r->value + 0.5 * h * (r->last + x);
        break;
    default:  // PP_REDUCE_FIRST: the time stays once it is known
        if (x != 0.0 && isnan(r->value)) {
            r->value = t;
        }
        break;
    }
    r->last = x;
    r->begun = true;
}

// The first event of a kind, at its own time.
static void find_event(const perp_sim *sim, const pp_output *o, reduction *r)
{
    int count = 0;
    const perp_event *event = perp_sim_events(sim, &count);
    for (int k = 0; k < count && isnan(r->value); k++) {
        if ((int)event[k].kind == o->event) {
            r->value = event[k].t;
        }
    }
}

// Reads the signals after a step (h = 0: before the first) and reduces them. *stop: the run is to end here.
static perp_status sample(task *k, double h, bool *stop)
{
    const perp_sweep *sweep = k->sweep;
    perp_status status = pp_signal_reader_read(&k->reader, k->sim, h);
    if (status < 0) {
        return status;
    }
    for (int i = 0; i < sweep->outputs; i++) {
        const pp_output *o = &sweep->output[i];
        if (o->reducer == PP_REDUCE_EVENT) {
            if (h > 0.0) {
                find_event(k->sim, o, &k->reduction[i]);
            }
        } else if (o->reducer != PP_REDUCE_VALUE) {
            reduce(o, &k->reduction[i], pp_expr_value(o->expr, k->reader.value),
                   perp_sim_time(k->sim), h);
        }
    }
    *stop = sweep->stop && pp_expr_value(sweep->stop, k->reader.value) == 1.0;
    return PERP_OK;
}

// ── The run ──────────────────────────────────────────────────────────────────────────────────────

static perp_status set_inputs(task *k)
{
    const perp_model *model = perp_scene_model(k->scene);
    for (int i = 0; i < k->sweep->inputs; i++) {
        const pp_sweep_value *input = &k->sweep->input[i];
        perp_input handle = perp_model_input(model, input->name);
        double value = pp_expr_value(input->expr, k->known);
        if (handle.i < 0 || !isfinite(value)) {
            return pp_fail(&k->error, PERP_ERR_ARGUMENT, "input '%.40s': %s", input->name,
                           handle.i < 0 ? "the scene of this run has none" : "not a finite number");
        }
        perp_status status = perp_sim_input_set(k->sim, handle, value);
        if (status < 0) {
            return pp_fail(&k->error, status, "input '%.40s': %s", input->name,
                           perp_status_text(status));
        }
    }
    return PERP_OK;
}

// Step size and number of steps, those of the file before those of the scene.
static perp_status plan_steps(task *k)
{
    const perp_sweep *sweep = k->sweep;
    k->h = sweep->step ? pp_expr_value(sweep->step, k->known) : perp_scene_step(k->scene);
    double until =
        sweep->until ? pp_expr_value(sweep->until, k->known) : perp_scene_until(k->scene);
    if (perp_scene_schedule(perp_sim_time(k->sim), until, k->h, &k->steps, &k->last) < 0) {
        return pp_fail(&k->error, PERP_ERR_ARGUMENT, "%g s in steps of %g s cannot be run", until,
                       k->h);
    }
    return PERP_OK;
}

static perp_status begin_record(task *k, const char *dir)
{
    perp_record_def def = perp_record_default();
    def.name = perp_scene_name(k->scene);
    def.scene = perp_scene_text(k->scene, NULL);
    def.file = perp_scene_files(k->scene, &def.files);
    def.h = k->h;
    double interval = perp_scene_interval(k->scene) / k->h;
    def.every = interval >= 1.5 && interval < 1e9 ? (int)(interval + 0.5) : 1;
    return perp_record_create(dir, k->sim, &def, k->env, &k->record, &k->error);
}

// Everything before the first step. A failure is that of the scene.
static perp_status begin(task *k, const double *value, const char *dir)
{
    const perp_sweep *sweep = k->sweep;
    perp_status status = pp_sweep_scene(sweep, value, k->known, k->env, &k->scene, &k->error);
    if (status < 0) {
        return status;
    }
    perp_sim_def def = perp_scene_sim_def(k->scene);
    status = perp_sim_create(perp_scene_model(k->scene), &def, k->env, &k->sim, &k->error);
    if (status == PERP_OK || status == PERP_INEXACT) {
        status = pp_signal_reader_start(&k->reader, &sweep->signals, perp_scene_model(k->scene),
                                        k->arena, &k->error);
    }
    if (status >= 0) {
        status = set_inputs(k);
    }
    if (status >= 0) {
        status = plan_steps(k);
    }
    if (status >= 0 && dir) {
        status = begin_record(k, dir);
    }
    if (status < 0) {
        return status;
    }
    // Parameters are signals that do not change.
    for (int i = 0; i < sweep->factors; i++) {
        k->reader.value[sweep->signals.count - sweep->factors + i] = k->known[i];
    }
    return status;
}

static perp_status step_all(task *k)
{
    bool stop = false;
    double start = perp_sim_time(k->sim);
    perp_status status = sample(k, 0.0, &stop);
    if (status < 0) {
        return pp_fail(&k->error, status, "outputs: %s", perp_status_text(status));
    }
    for (int64_t i = 0; i < k->steps; i++) {
        if (stop) {
            break;  // as the file asks
        }
        double h = i + 1 < k->steps ? k->h : k->last;
        status = perp_sim_step(k->sim, h);
        if (k->record && status != PERP_ERR_STOPPED && perp_record_step(k->record, k->sim) < 0) {
            k->error = *perp_record_error(k->record);
            return PERP_ERR_IO;
        }
        if (status < 0) {
            const perp_error *error = perp_sim_error(k->sim);
            char text[sizeof error->text];
            pp_print(text, sizeof text, "%s", error->text);
            return pp_fail(&k->error, status, "t = %.6g s: %s", perp_sim_time(k->sim), text);
        }
        k->taken++;
        k->violated += !perp_sim_info(k->sim)->certificate.passed;
        status = sample(k, h, &stop);
        if (status < 0) {
            return pp_fail(&k->error, status, "outputs: %s", perp_status_text(status));
        }
    }
    k->time = perp_sim_time(k->sim) - start;
    if (k->record && perp_record_finish(k->record, k->sim) < 0) {
        k->error = *perp_record_error(k->record);
        return PERP_ERR_IO;
    }
    return PERP_OK;
}

// ── The row ──────────────────────────────────────────────────────────────────────────────────────

// Outputs in SI for expressions of later ones, and in their units for the row.
static void fill_outputs(task *k, perp_sweep_row *row)
{
    const perp_sweep *sweep = k->sweep;
    for (int i = 0; i < sweep->outputs; i++) {
        const pp_output *o = &sweep->output[i];
        double x = k->reduction[i].value;
        if (o->reducer == PP_REDUCE_VALUE) {
            x = pp_expr_value(o->expr, k->known);
        } else if (o->reducer == PP_REDUCE_MEAN) {
            x = k->time > 0.0 ? x / k->time : k->reduction[i].last;
        }
        k->known[sweep->factors + i] = x;
        row->value[sweep->factors + i] = pp_sweep_from_si(&o->measure, x);
    }
}

void perp_sweep_row_failed(const perp_sweep *sweep, int64_t index, perp_run_status status,
                           const char *reason, perp_sweep_row *row)
{
    double si[PP_SWEEP_NAMES];
    if (!sweep || !row) {
        return;
    }
    row->index = index;
    row->status = status;
    pp_print(row->reason, sizeof row->reason, "%s", reason ? reason : "");
    pp_sample_point(sweep, index, row->value, si);
    for (int k = sweep->factors; k < sweep->columns; k++) {
        row->value[k] = NAN;
    }
}

static perp_run_status failure(perp_status status, bool begun)
{
    if (status == PERP_ERR_MEMORY) {
        return PERP_RUN_MEMORY;
    }
    if (status == PERP_ERR_STOPPED) {
        return PERP_RUN_TIME;
    }
    return begun ? PERP_RUN_UNSOLVED : PERP_RUN_REFUSED;
}

static void finish(task *k, perp_status status, bool begun, int64_t index, perp_sweep_row *row)
{
    char reason[sizeof row->reason] = "";
    if (status < 0) {
        perp_run_status how = failure(status, begun);
        // Where memory or time ends differs from machine to machine: the words do not.
        if (how == PERP_RUN_MEMORY) {
            pp_print(reason, sizeof reason, "more than %.6g MB", k->sweep->limits.megabytes);
        } else if (how == PERP_RUN_TIME) {
            pp_print(reason, sizeof reason, "longer than %.6g s", k->sweep->limits.seconds);
        } else {
            pp_print(reason, sizeof reason, "%s",
                     k->error.text[0] ? k->error.text : perp_status_text(status));
        }
        perp_sweep_row_failed(k->sweep, index, how, reason, row);
        return;
    }
    row->status = k->violated > 0 ? PERP_RUN_VIOLATED : PERP_RUN_SOLVED;
    if (k->violated > 0) {
        pp_print(reason, sizeof reason, "certificate violated in %lld of %lld steps",
                 (long long)k->violated, (long long)k->taken);
    }
    perp_sweep_row_failed(k->sweep, index, row->status, reason, row);
    fill_outputs(k, row);
}

perp_status perp_sweep_run(const perp_sweep *sweep, int64_t index, const char *dir,
                           const perp_env *env, perp_sweep_row *row)
{
    if (!sweep || !row || !row->value || index < 0 || index >= sweep->runs) {
        return PERP_ERR_ARGUMENT;
    }
    double value[PP_SWEEP_NAMES];
    task k = {.sweep = sweep, .env = env, .arena = pp_arena_create(env)};
    bool begun = false;
    perp_status status = PERP_ERR_MEMORY;
    if (k.arena) {
        k.known = PP_ZEROS(k.arena, double, sweep->columns);
        k.reduction = PP_ZEROS(k.arena, reduction, sweep->outputs);
    }
    if (k.arena && k.known && k.reduction) {
        // Nothing found is NaN.
        for (int i = 0; i < sweep->outputs; i++) {
            k.reduction[i].value = NAN;
        }
        pp_sample_point(sweep, index, value, k.known);
        status = begin(&k, value, dir);
        begun = status >= 0;
    }
    if (begun) {
        status = step_all(&k);
    }
    finish(&k, status, begun, index, row);
    perp_record_destroy(k.record);
    perp_sim_destroy(k.sim);
    perp_scene_destroy(k.scene);
    pp_arena_destroy(k.arena);
    return PERP_OK;
}

// ── Recordings ───────────────────────────────────────────────────────────────────────────────────

bool perp_sweep_recorded_always(const perp_sweep *sweep, int64_t index)
{
    if (!sweep) {
        return false;
    }
    bool wanted = sweep->every > 0 && index % sweep->every == 0;
    for (int k = 0; k < sweep->recordeds; k++) {
        wanted = wanted || sweep->recorded[k] == index;
    }
    return wanted;
}

// Outputs of a run that failed are NaN, for which no condition holds.
bool perp_sweep_recorded_after(const perp_sweep *sweep, const perp_sweep_row *row)
{
    double si[2 * PP_SWEEP_NAMES];
    if (!sweep || !row || !sweep->where || row->status > PERP_RUN_VIOLATED) {
        return false;
    }
    for (int k = 0; k < sweep->columns; k++) {
        const pp_measure *measure = k < sweep->factors ? &sweep->factor[k].measure
                                                       : &sweep->output[k - sweep->factors].measure;
        si[k] = pp_sweep_to_si(measure, row->value[k]);
    }
    return pp_expr_value(sweep->where, si) == 1.0;
}
