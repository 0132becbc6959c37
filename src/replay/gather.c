// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Columns that depend on time. The first reading finds ranges and counts and fills the series of energy and
// certificate; the second fills poses, joints and contacts of the frames that the plan keeps.
#include "replay/reel.h"

#include <math.h>

static perp_status no_memory(perp_error *error)
{
    return pp_fail(error, PERP_ERR_MEMORY, "no memory for the replay");
}

static void vector_of(const perp_vec3 *v, double out[3])
{
    out[0] = v->x;
    out[1] = v->y;
    out[2] = v->z;
}

static void set_row(pp_column *column, const double *value, int count)
{
    for (int i = 0; i < count; i++) {
        pp_column_set(column, column->count, i, value[i]);
    }
    column->count++;
}

// ── The first reading ────────────────────────────────────────────────────────────────────────────

typedef struct merged {  // of the frames since the last that was kept
    double certificate[PP_CERTIFICATE_WIDTH];
    bool passed, unique;
    double work, dissipated;  // since the start
} merged;

static void widen(double value, double *low, double *high)
{
    if (isfinite(value)) {
        *low = fmin(*low, value);
        *high = fmax(*high, value);
    }
}

static void see_ranges(pp_reel *reel, const perp_frame *frame)
{
    double x[3];
    for (int k = 0; k < reel->info->bodies; k++) {
        vector_of(&frame->position[k], x);
        for (int i = 0; i < reel->axes && reel->row[k] >= 0; i++) {
            size_t at = (size_t)reel->row[k] * (size_t)reel->axes + (size_t)i;
            widen(x[i], &reel->low[at], &reel->high[at]);
        }
    }
    for (int k = 0; k < frame->contacts; k++) {
        vector_of(&frame->contact[k].point_W, x);
        for (int i = 0; i < reel->axes; i++) {
            widen(x[i], &reel->point_low[i], &reel->point_high[i]);
        }
    }
}

// Limits are relative to the scene: shown are those of the moments that come nearest to them.
static void merge(pp_reel *reel, merged *m, const perp_frame *frame)
{
    const perp_certificate *c = &frame->certificate;
    const double value[PP_CERTIFICATE_WIDTH] = {
        c->gap, c->complementarity, c->cone, c->joint, c->momentum, c->energy_created, c->residual};
    for (int i = 0; i < PP_CERTIFICATE_WIDTH; i++) {
        m->certificate[i] = fmax(m->certificate[i], value[i]);
        if (c->relative[i] > reel->relative[i]) {
            reel->relative[i] = c->relative[i];
            reel->limit[i] = value[i] / c->relative[i];
        }
    }
    m->passed = m->passed && c->passed;
    m->unique = m->unique && frame->unique;
    m->work += frame->energy.work;
    m->dissipated += frame->energy.dissipated;
}

static void put_series(pp_reel *reel, const perp_frame *frame, const merged *m)
{
    const double energy[4] = {frame->energy.kinetic, frame->energy.potential, m->work,
                              m->dissipated};
    const double solver[4] = {frame->contacts, frame->iterations, frame->problem_size,
                              frame->step_seconds};
    const double flags = (m->passed ? 1 : 0) + (m->unique ? 2 : 0), step = (double)frame->step;
    set_row(&reel->column[PP_S_T], &frame->t, 1);
    set_row(&reel->column[PP_S_STEP], &step, 1);
    set_row(&reel->column[PP_S_ENERGY], energy, 4);
    set_row(&reel->column[PP_S_CERTIFICATE], m->certificate, PP_CERTIFICATE_WIDTH);
    set_row(&reel->column[PP_S_FLAGS], &flags, 1);
    set_row(&reel->column[PP_S_SOLVER], solver, 4);
}

static bool series_columns(pp_reel *reel)
{
    int rows = reel->plan.series.count;
    return pp_reel_column(reel, PP_S_T, PP_F64, 1, rows) &&
           pp_reel_column(reel, PP_S_STEP, PP_U32, 1, rows) &&
           pp_reel_column(reel, PP_S_ENERGY, PP_F64, 4, rows) &&
           pp_reel_column(reel, PP_S_CERTIFICATE, PP_F32, PP_CERTIFICATE_WIDTH, rows) &&
           pp_reel_column(reel, PP_S_FLAGS, PP_U8, 1, rows) &&
           pp_reel_column(reel, PP_S_SOLVER, PP_F32, 4, rows);
}

perp_status pp_reel_scan(pp_reel *reel, perp_error *error)
{
    int frames = reel->info->frames;
    reel->plan.series = pp_clock_make((frames - 1) / PP_SERIES_MOST + 1, frames);
    if (!series_columns(reel)) {
        return no_memory(error);
    }
    merged m = {.passed = true, .unique = true};
    for (int k = 0; k < frames; k++) {
        perp_frame frame;
        perp_status status = perp_recording_read(reel->recording, k, &frame, error);
        if (status < 0) {
            return status;
        }
        reel->contacts_of[k] = frame.contacts;
        see_ranges(reel, &frame);
        if (k > 0) {
            merge(reel, &m, &frame);
        }
        if (pp_clock_keeps(reel->plan.series, k, frames)) {
            put_series(reel, &frame, &m);
            m = (merged){
                .passed = true, .unique = true, .work = m.work, .dissipated = m.dissipated};
        }
    }
    return PERP_OK;
}

// ── The second reading ───────────────────────────────────────────────────────────────────────────

static double step_between(double low, double high)
{
    return high > low ? (high - low) / 65535.0 : 0.0;
}

// What a Q16 cell holds of a value; F32 cells hold the value.
static double scaled(const pp_column *column, double value, double low, double high)
{
    double step = step_between(low, high);
    if (column->type != PP_Q16) {
        return value;
    }
    return step > 0.0 ? (value - low) / step : 0.0;
}

static bool range_columns(pp_reel *reel, pp_column_name low_name, const double *low,
                          const double *high, int n)
{
    pp_column_name step_name = (pp_column_name)(low_name + 1);
    if (!pp_reel_column(reel, low_name, PP_F64, 1, n) ||
        !pp_reel_column(reel, step_name, PP_F64, 1, n)) {
        return false;
    }
    for (int k = 0; k < n; k++) {
        double step = step_between(low[k], high[k]), from = high[k] >= low[k] ? low[k] : 0.0;
        set_row(&reel->column[low_name], &from, 1);
        set_row(&reel->column[step_name], &step, 1);
    }
    return true;
}

static bool pose_columns(pp_reel *reel)
{
    const pp_plan *plan = &reel->plan;
    int rows = plan->poses.count, n = reel->moving;
    pp_cell_type real = plan->coarse ? PP_B16 : PP_F32;
    pp_cell_type turn = plan->coarse && reel->turns == 4 ? PP_N16 : PP_F32;
    int speeds = plan->speeds ? rows : 0;
    return pp_reel_column(reel, PP_P_T, PP_F64, 1, rows) &&
           pp_reel_column(reel, PP_P_H, PP_F32, 1, rows) &&
           range_columns(reel, PP_P_POSITION_LOW, reel->low, reel->high, n * reel->axes) &&
           pp_reel_column(reel, PP_P_POSITION, plan->coarse ? PP_Q16 : PP_F32, n * reel->axes,
                          rows) &&
           pp_reel_column(reel, PP_P_ROTATION, turn, n * reel->turns, rows) &&
           pp_reel_column(reel, PP_P_VELOCITY, real, n * reel->axes, speeds) &&
           pp_reel_column(reel, PP_P_OMEGA, real, n * reel->spins, speeds) &&
           pp_reel_column(reel, PP_P_JOINT, real, reel->info->joints * PP_JOINT_WIDTH, rows);
}

static bool contact_columns(pp_reel *reel)
{
    const pp_plan *plan = &reel->plan;
    int frames = plan->contacts.count;
    int64_t rows = plan->contact_rows;
    pp_cell_type real = plan->coarse ? PP_B16 : PP_F32;
    return pp_reel_column(reel, PP_K_T, PP_F64, 1, frames) &&
           pp_reel_column(reel, PP_K_H, PP_F32, 1, frames) &&
           pp_reel_column(reel, PP_K_END, PP_U32, 1, frames) &&
           range_columns(reel, PP_K_POINT_LOW, reel->point_low, reel->point_high, reel->axes) &&
           pp_reel_column(reel, PP_K_TRACK, PP_U32, 1, rows) &&
           pp_reel_column(reel, PP_K_POINT, plan->coarse ? PP_Q16 : PP_F32, reel->axes, rows) &&
           pp_reel_column(reel, PP_K_NORMAL, PP_N16, reel->axes, rows) &&
           pp_reel_column(reel, PP_K_VALUES, real, 4, rows) &&
           pp_reel_column(reel, PP_K_FRICTION, real, reel->axes, rows) &&
           pp_reel_column(reel, PP_K_MODE, PP_U8, 1, rows);
}

static void put_rotation(pp_reel *reel, const perp_frame *frame, int body)
{
    pp_column *rotation = &reel->column[PP_P_ROTATION];
    int at = reel->row[body] * reel->turns;
    const perp_quat *q = &frame->rotation[body];
    if (reel->turns == 1) {
        pp_column_set(rotation, rotation->count, at, frame->angle[body]);
        return;
    }
    const double value[4] = {q->w, q->x, q->y, q->z};
    for (int i = 0; i < 4; i++) {
        pp_column_set(rotation, rotation->count, at + i, value[i]);
    }
}

static void put_body(pp_reel *reel, const perp_frame *frame, int body)
{
    pp_column *position = &reel->column[PP_P_POSITION];
    pp_column *velocity = &reel->column[PP_P_VELOCITY], *omega = &reel->column[PP_P_OMEGA];
    double x[3], v[3], w[3];
    vector_of(&frame->position[body], x);
    vector_of(&frame->velocity[body], v);
    vector_of(&frame->omega[body], w);
    int at = reel->row[body] * reel->axes, spin_at = reel->row[body] * reel->spins;
    for (int i = 0; i < reel->axes; i++) {
        double cell = scaled(position, x[i], reel->low[at + i], reel->high[at + i]);
        pp_column_set(position, position->count, at + i, cell);
        if (reel->plan.speeds) {
            pp_column_set(velocity, velocity->count, at + i, v[i]);
        }
    }
    for (int i = 0; i < reel->spins && reel->plan.speeds; i++) {
        pp_column_set(omega, omega->count, spin_at + i,
                      reel->spins == 1 ? frame->spin[body] : w[i]);
    }
    put_rotation(reel, frame, body);
}

static void put_poses(pp_reel *reel, const perp_frame *frame, double h)
{
    for (int k = 0; k < reel->info->bodies; k++) {
        if (reel->row[k] >= 0) {
            put_body(reel, frame, k);
        }
    }
    pp_column *joint = &reel->column[PP_P_JOINT];
    for (int k = 0; k < reel->info->joints; k++) {
        const perp_joint_state *s = &frame->joint[k];
        const perp_wrench *p = &s->impulse_b;
        const double value[PP_JOINT_WIDTH] = {s->coordinate, s->rate,  s->error, p->f.x,
                                              p->f.y,        p->f.z,   p->tau.x, p->tau.y,
                                              p->tau.z,      s->drive, s->limit};
        for (int i = 0; i < PP_JOINT_WIDTH; i++) {
            pp_column_set(joint, joint->count, k * PP_JOINT_WIDTH + i, value[i]);
        }
    }
    joint->count++;
    reel->column[PP_P_POSITION].count++;
    reel->column[PP_P_ROTATION].count++;
    reel->column[PP_P_VELOCITY].count += reel->plan.speeds;
    reel->column[PP_P_OMEGA].count += reel->plan.speeds;
    set_row(&reel->column[PP_P_T], &frame->t, 1);
    set_row(&reel->column[PP_P_H], &h, 1);
}

static bool put_contacts(pp_reel *reel, const perp_frame *frame, double h)
{
    pp_column *point = &reel->column[PP_K_POINT];
    for (int k = 0; k < frame->contacts; k++) {
        const perp_contact *c = &frame->contact[k];
        int track = pp_track_of(&reel->tracks, c, reel->arena);
        if (track < 0) {
            return false;
        }
        double x[3], n[3], f[3], cell[3];
        vector_of(&c->point_W, x);
        vector_of(&c->normal_W, n);
        vector_of(&c->pf_W, f);
        for (int i = 0; i < reel->axes; i++) {
            cell[i] = scaled(point, x[i], reel->point_low[i], reel->point_high[i]);
        }
        const double values[4] = {c->gap, c->pn, c->rate_n, c->slip}, number = track,
                     mode = (double)c->mode;
        set_row(&reel->column[PP_K_TRACK], &number, 1);
        set_row(point, cell, reel->axes);
        set_row(&reel->column[PP_K_NORMAL], n, reel->axes);
        set_row(&reel->column[PP_K_VALUES], values, 4);
        set_row(&reel->column[PP_K_FRICTION], f, reel->axes);
        set_row(&reel->column[PP_K_MODE], &mode, 1);
    }
    double end = (double)point->count;
    set_row(&reel->column[PP_K_END], &end, 1);
    set_row(&reel->column[PP_K_T], &frame->t, 1);
    set_row(&reel->column[PP_K_H], &h, 1);
    return true;
}

static bool put_tracks(pp_reel *reel)
{
    const pp_tracks *t = &reel->tracks;
    if (!pp_reel_column(reel, PP_T_SHAPES, PP_U32, 2, t->count) ||
        !pp_reel_column(reel, PP_T_FEATURE, PP_U32, 1, t->count) ||
        !pp_reel_column(reel, PP_T_MU, PP_F32, 1, t->count)) {
        return false;
    }
    for (int k = 0; k < t->count; k++) {
        const double shapes[2] = {t->shapes[k][0], t->shapes[k][1]}, feature = t->feature[k];
        set_row(&reel->column[PP_T_SHAPES], shapes, 2);
        set_row(&reel->column[PP_T_FEATURE], &feature, 1);
        set_row(&reel->column[PP_T_MU], &t->mu[k], 1);
    }
    return true;
}

// The step that led to a frame: the run's, what is left for the last of it, or what lies between the frames.
static double step_of(const pp_reel *reel, const perp_frame *frame, double *t, int64_t *step)
{
    double h = reel->info->h, steps = (double)frame->step - (double)*step;
    if (steps >= 1.0) {
        double last = frame->t - *t - (steps - 1.0) * h;
        bool same = fabs(last - h) <= 1e-6 * h;
        if (!(h > 0.0)) {
            h = (frame->t - *t) / steps;
        } else if (last > 0.0 && !same) {
            h = last;
        }
    }
    *t = frame->t;
    *step = frame->step;
    return h;
}

perp_status pp_reel_fill(pp_reel *reel, perp_error *error)
{
    int frames = reel->info->frames;
    double t = 0.0;
    int64_t step = 0;
    if (!pose_columns(reel) || !contact_columns(reel)) {
        return no_memory(error);
    }
    for (int k = 0; k < frames; k++) {
        perp_frame frame;
        perp_status status = perp_recording_read(reel->recording, k, &frame, error);
        if (status < 0) {
            return status;
        }
        if (k == 0) {
            t = frame.t;
            step = frame.step;
        }
        double h = step_of(reel, &frame, &t, &step);
        if (pp_clock_keeps(reel->plan.poses, k, frames)) {
            put_poses(reel, &frame, h);
        }
        if (pp_clock_keeps(reel->plan.contacts, k, frames) && !put_contacts(reel, &frame, h)) {
            return no_memory(error);
        }
    }
    return put_tracks(reel) ? PERP_OK : no_memory(error);
}
