// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Columns that depend on time. The first reading finds ranges and counts and fills the series of
// energy and certificate; the second fills poses, joints and contacts of the frames that the plan
// keeps.
#include "replay/data.h"

#include <math.h>

// As an array, to be indexed by axis.
static void vector_of(const perp_vec3 *v, double out[3])
{
    out[0] = v->x;
    out[1] = v->y;
    out[2] = v->z;
}

static void append_row(pp_page_column *column, const double *value, int count)
{
    for (int i = 0; i < count; i++) {
        pp_page_column_set(column, column->count, i, value[i]);
    }
    column->count++;
}

// ── The first reading ────────────────────────────────────────────────────────────────────────────

// Of the frames since the last that was kept: worst certificate, flags; work and dissipated energy
// since the start [J].
typedef struct merged {
    double certificate[PP_CERTIFICATE_WIDTH];
    bool passed, unique;
    double work, dissipated;  // since the start
} merged;

// Values that are not finite are left out.
static void extend_range(double value, double *low, double *high)
{
    if (isfinite(value)) {
        *low = fmin(*low, value);
        *high = fmax(*high, value);
    }
}

// Ranges of positions and contact points, which 16-bit numbers are steps of.
static void extend_ranges(pp_replay_data *data, const perp_snapshot *frame)
{
    double x[3];
    for (int k = 0; k < data->info->bodies; k++) {
        if (data->row[k] < 0) {
            continue;
        }
        vector_of(&frame->position_W[k], x);
        for (int i = 0; i < data->axes; i++) {
            size_t at = (size_t)data->row[k] * (size_t)data->axes + (size_t)i;
            extend_range(x[i], &data->low[at], &data->high[at]);
        }
    }
    for (int k = 0; k < frame->contacts; k++) {
        vector_of(&frame->contact[k].point_W, x);
        for (int i = 0; i < data->axes; i++) {
            extend_range(x[i], &data->point_low[i], &data->point_high[i]);
        }
    }
}

// Adds a frame to those since the last that was kept. Limits are relative to the scene: shown are
// those of the moments that come nearest to them.
static void merge_worst(pp_replay_data *data, merged *m, const perp_snapshot *frame)
{
    const perp_certificate *c = &frame->certificate;
    const double value[PP_CERTIFICATE_WIDTH] = {
        c->gap, c->complementarity, c->cone, c->joint, c->momentum, c->energy_created, c->residual};
    for (int i = 0; i < PP_CERTIFICATE_WIDTH; i++) {
        m->certificate[i] = fmax(m->certificate[i], value[i]);
        if (c->relative[i] > data->relative[i]) {
            data->relative[i] = c->relative[i];
            data->limit[i] = value[i] / c->relative[i];
        }
    }
    data->motion_error = fmax(data->motion_error, frame->motion_error);
    m->passed = m->passed && c->passed;
    m->unique = m->unique && frame->unique;
    m->work += frame->energy.work;
    m->dissipated += frame->energy.dissipated;
}

// Energies [J], with work and dissipated energy since the start; certificate; flags; numbers of the
// solver.
static void put_series(pp_replay_data *data, const perp_snapshot *frame, const merged *m)
{
    const double energy[4] = {frame->energy.kinetic, frame->energy.potential, m->work,
                              m->dissipated};
    const double solver[4] = {frame->contacts, frame->iterations, frame->problem_size,
                              frame->step_seconds};
    // Of all frames since the last row.
    const double flags = (m->passed ? 1 : 0) + (m->unique ? 2 : 0), step = (double)frame->step;
    append_row(&data->column[PP_S_T], &frame->t, 1);
    append_row(&data->column[PP_S_STEP], &step, 1);
    append_row(&data->column[PP_S_ENERGY], energy, 4);
    append_row(&data->column[PP_S_CERTIFICATE], m->certificate, PP_CERTIFICATE_WIDTH);
    append_row(&data->column[PP_S_FLAGS], &flags, 1);
    append_row(&data->column[PP_S_SOLVER], solver, 4);
}

// Times and energies keep all digits: sums and differences of them are shown.
static bool make_series_columns(pp_replay_data *data)
{
    int rows = data->plan.series.count;
    return pp_replay_data_column(data, PP_S_T, PP_F64, 1, rows) &&
           pp_replay_data_column(data, PP_S_STEP, PP_U32, 1, rows) &&
           pp_replay_data_column(data, PP_S_ENERGY, PP_F64, 4, rows) &&
           pp_replay_data_column(data, PP_S_CERTIFICATE, PP_F32, PP_CERTIFICATE_WIDTH, rows) &&
           pp_replay_data_column(data, PP_S_FLAGS, PP_U8, 1, rows) &&
           pp_replay_data_column(data, PP_S_SOLVER, PP_F32, 4, rows);
}

// The series has at most PP_SERIES_MOST moments, whatever the page may weigh.
perp_status pp_replay_data_scan(pp_replay_data *data, perp_error *error)
{
    int frames = data->info->frames;
    data->plan.series = pp_decimation_make((frames - 1) / PP_SERIES_MOST + 1, frames);
    if (!make_series_columns(data)) {
        return pp_replay_no_memory(error);
    }
    merged m = {.passed = true, .unique = true};
    for (int k = 0; k < frames; k++) {
        perp_snapshot frame;
        perp_status status = perp_recording_read(data->recording, k, &frame, error);
        if (status < 0) {
            return status;
        }
        data->contacts_of[k] = frame.contacts;
        extend_ranges(data, &frame);
        if (k > 0) {
            merge_worst(data, &m, &frame);
        }
        if (pp_decimation_keeps(data->plan.series, k, frames)) {
            put_series(data, &frame, &m);
            // The certificate starts anew, the sums go on.
            m = (merged){
                .passed = true, .unique = true, .work = m.work, .dissipated = m.dissipated};
        }
    }
    return PERP_OK;
}

// ── The second reading ───────────────────────────────────────────────────────────────────────────

// 65535 steps of 16 bits.
static double step_between(double low, double high)
{
    return high > low ? (high - low) / 65535.0 : 0.0;
}

// What a Q16 number holds of a value, in steps from `low`; other types hold the value itself.
static double encode_in_range(const pp_page_column *column, double value, double low, double high)
{
    double step = step_between(low, high);
    if (column->type != PP_Q16) {
        return value;
    }
    return step > 0.0 ? (value - low) / step : 0.0;
}

// The column of steps follows that of lower ends. A range that was never extended begins at 0.
static bool make_range_columns(pp_replay_data *data, pp_page_column_name low_name,
                               const double *low, const double *high, int n)
{
    pp_page_column_name step_name = (pp_page_column_name)(low_name + 1);
    if (!pp_replay_data_column(data, low_name, PP_F64, 1, n) ||
        !pp_replay_data_column(data, step_name, PP_F64, 1, n)) {
        return false;
    }
    for (int k = 0; k < n; k++) {
        // A body that never had a finite place has no range.
        double step = step_between(low[k], high[k]), from = high[k] >= low[k] ? low[k] : 0.0;
        append_row(&data->column[low_name], &from, 1);
        append_row(&data->column[step_name], &step, 1);
    }
    return true;
}

// Without velocities their columns have no rows.
static bool make_pose_columns(pp_replay_data *data)
{
    const pp_plan *plan = &data->plan;
    int rows = plan->poses.count, n = data->moving;
    pp_cell_type real = plan->coarse ? PP_B16 : PP_F32;
    // Quaternions are within -1 to 1; angles are not.
    pp_cell_type turn = plan->coarse && data->turns == 4 ? PP_N16 : PP_F32;
    int speeds = plan->speeds ? rows : 0;
    return pp_replay_data_column(data, PP_P_T, PP_F64, 1, rows) &&
           pp_replay_data_column(data, PP_P_H, PP_F32, 1, rows) &&
           make_range_columns(data, PP_P_POSITION_LOW, data->low, data->high, n * data->axes) &&
           pp_replay_data_column(data, PP_P_POSITION, plan->coarse ? PP_Q16 : PP_F32,
                                 n * data->axes, rows) &&
           pp_replay_data_column(data, PP_P_ROTATION, turn, n * data->turns, rows) &&
           pp_replay_data_column(data, PP_P_VELOCITY, real, n * data->axes, speeds) &&
           pp_replay_data_column(data, PP_P_OMEGA, real, n * data->spins, speeds) &&
           pp_replay_data_column(data, PP_P_JOINT, real, data->info->joints * PP_JOINT_WIDTH,
                                 rows) &&
           pp_replay_data_column(data, PP_P_SENSOR, real, data->info->sensor_values, rows) &&
           pp_replay_data_column(data, PP_P_INPUT, real, data->info->inputs, rows);
}

// Rows of contacts are known from the first reading.
static bool make_contact_columns(pp_replay_data *data)
{
    const pp_plan *plan = &data->plan;
    int frames = plan->contacts.count;
    // Rows of contacts in all frames that are kept.
    int64_t rows = plan->contact_rows;
    pp_cell_type real = plan->coarse ? PP_B16 : PP_F32;
    return pp_replay_data_column(data, PP_K_T, PP_F64, 1, frames) &&
           pp_replay_data_column(data, PP_K_H, PP_F32, 1, frames) &&
           pp_replay_data_column(data, PP_K_END, PP_U32, 1, frames) &&
           make_range_columns(data, PP_K_POINT_LOW, data->point_low, data->point_high,
                              data->axes) &&
           pp_replay_data_column(data, PP_K_CONTACT, PP_U32, 1, rows) &&
           pp_replay_data_column(data, PP_K_POINT, plan->coarse ? PP_Q16 : PP_F32, data->axes,
                                 rows) &&
           pp_replay_data_column(data, PP_K_NORMAL, PP_N16, data->axes, rows) &&
           pp_replay_data_column(data, PP_K_VALUES, real, 4, rows) &&
           pp_replay_data_column(data, PP_K_FRICTION, real, data->axes, rows) &&
           pp_replay_data_column(data, PP_K_MODE, PP_U8, 1, rows);
}

// An angle, or w x y z.
static void put_rotation(pp_replay_data *data, const perp_snapshot *frame, int body)
{
    pp_page_column *rotation = &data->column[PP_P_ROTATION];
    int at = data->row[body] * data->turns;
    const perp_quat *q = &frame->rotation_WB[body];
    if (data->turns == 1) {
        pp_page_column_set(rotation, rotation->count, at, frame->angle[body]);
        return;
    }
    const double value[4] = {q->w, q->x, q->y, q->z};
    for (int i = 0; i < 4; i++) {
        pp_page_column_set(rotation, rotation->count, at + i, value[i]);
    }
}

// Position, velocities and rotation of one body, in its place of the row.
static void put_body(pp_replay_data *data, const perp_snapshot *frame, int body)
{
    pp_page_column *position = &data->column[PP_P_POSITION];
    pp_page_column *velocity = &data->column[PP_P_VELOCITY], *omega = &data->column[PP_P_OMEGA];
    double x[3], v[3], w[3];
    vector_of(&frame->position_W[body], x);
    vector_of(&frame->velocity_W[body], v);
    vector_of(&frame->omega_W[body], w);
    int at = data->row[body] * data->axes, spin_at = data->row[body] * data->spins;
    for (int i = 0; i < data->axes; i++) {
        double cell = encode_in_range(position, x[i], data->low[at + i], data->high[at + i]);
        pp_page_column_set(position, position->count, at + i, cell);
        if (data->plan.speeds) {
            pp_page_column_set(velocity, velocity->count, at + i, v[i]);
        }
    }
    // In a thinned page the viewer takes velocities from the positions.
    int spins = data->plan.speeds ? data->spins : 0;
    for (int i = 0; i < spins; i++) {
        pp_page_column_set(omega, omega->count, spin_at + i,
                           data->spins == 1 ? frame->spin[body] : w[i]);
    }
    put_rotation(data, frame, body);
}

// A row of all poses and joints. h: the length of the step that led here [s].
static void put_poses(pp_replay_data *data, const perp_snapshot *frame, double h)
{
    for (int k = 0; k < data->info->bodies; k++) {
        if (data->row[k] >= 0) {
            put_body(data, frame, k);
        }
    }
    pp_page_column *joint = &data->column[PP_P_JOINT];
    for (int k = 0; k < data->info->joints; k++) {
        const perp_joint_state *s = &frame->joint[k];
        const perp_wrench *p = &s->impulse_b;
        // Coordinate and rate [m, rad], error, impulse on b about its centre of mass [N s, N m s],
        // impulses of drive and limit.
        const double value[PP_JOINT_WIDTH] = {s->coordinate, s->rate,  s->error,   p->f_W.x,
                                              p->f_W.y,      p->f_W.z, p->tau_W.x, p->tau_W.y,
                                              p->tau_W.z,    s->drive, s->limit};
        for (int i = 0; i < PP_JOINT_WIDTH; i++) {
            pp_page_column_set(joint, joint->count, k * PP_JOINT_WIDTH + i, value[i]);
        }
    }
    joint->count++;
    append_row(&data->column[PP_P_SENSOR], frame->sensor, data->info->sensor_values);
    append_row(&data->column[PP_P_INPUT], frame->input, data->info->inputs);
    data->column[PP_P_POSITION].count++;
    data->column[PP_P_ROTATION].count++;
    data->column[PP_P_VELOCITY].count += data->plan.speeds;
    data->column[PP_P_OMEGA].count += data->plan.speeds;
    append_row(&data->column[PP_P_T], &frame->t, 1);
    append_row(&data->column[PP_P_H], &h, 1);
}

// A row for each contact, and the end of the frame's rows.
static bool put_contacts(pp_replay_data *data, const perp_snapshot *frame, double h)
{
    pp_page_column *point = &data->column[PP_K_POINT];
    for (int k = 0; k < frame->contacts; k++) {
        const perp_contact *c = &frame->contact[k];
        int id = pp_contact_id_of(&data->ids, c, data->arena);
        if (id < 0) {
            return false;
        }
        // In a coarse page points are stored as steps of their range.
        double x[3], n[3], f[3], cell[3];
        vector_of(&c->point_W, x);
        vector_of(&c->normal_W, n);
        vector_of(&c->pf_W, f);
        for (int i = 0; i < data->axes; i++) {
            cell[i] = encode_in_range(point, x[i], data->point_low[i], data->point_high[i]);
        }
        // Gap [m], normal impulse [N s], normal rate and slip [m/s].
        const double values[4] = {c->gap, c->pn, c->rate_n, c->slip}, number = id,
                     mode = (double)c->mode;
        append_row(&data->column[PP_K_CONTACT], &number, 1);
        append_row(point, cell, data->axes);
        append_row(&data->column[PP_K_NORMAL], n, data->axes);
        append_row(&data->column[PP_K_VALUES], values, 4);
        append_row(&data->column[PP_K_FRICTION], f, data->axes);
        append_row(&data->column[PP_K_MODE], &mode, 1);
    }
    // The rows of a frame end where those of the next begin.
    double end = (double)point->count;
    append_row(&data->column[PP_K_END], &end, 1);
    append_row(&data->column[PP_K_T], &frame->t, 1);
    append_row(&data->column[PP_K_H], &h, 1);
    return true;
}

// Written last, when all of them are known.
static bool put_contact_ids(pp_replay_data *data)
{
    const pp_contact_ids *t = &data->ids;
    if (!pp_replay_data_column(data, PP_T_SHAPES, PP_U32, 2, t->count) ||
        !pp_replay_data_column(data, PP_T_FEATURE, PP_U32, 1, t->count) ||
        !pp_replay_data_column(data, PP_T_MU, PP_F32, 1, t->count)) {
        return false;
    }
    for (int k = 0; k < t->count; k++) {
        const double shapes[2] = {t->shapes[k][0], t->shapes[k][1]}, feature = t->feature[k];
        append_row(&data->column[PP_T_SHAPES], shapes, 2);
        append_row(&data->column[PP_T_FEATURE], &feature, 1);
        append_row(&data->column[PP_T_MU], &t->mu[k], 1);
    }
    return true;
}

// The step that led to a frame [s]: the run's, what is left for the last of it, or what lies
// between the frames where the run has no fixed step.
static double step_of(const pp_replay_data *data, const perp_snapshot *frame, double *t,
                      int64_t *step)
{
    double h = data->info->h, steps = (double)frame->step - (double)*step;
    if (steps >= 1.0) {
        // All steps between two frames have the length h but the last one.
        double last = frame->t - *t - (steps - 1.0) * h;
        // Times are sums: h but for rounding is h.
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

// Frames that are not kept are read as well: the recording gives them one after the other.
perp_status pp_replay_data_fill(pp_replay_data *data, perp_error *error)
{
    int frames = data->info->frames;
    double t = 0.0;
    int64_t step = 0;
    if (!make_pose_columns(data) || !make_contact_columns(data)) {
        return pp_replay_no_memory(error);
    }
    for (int k = 0; k < frames; k++) {
        perp_snapshot frame;
        perp_status status = perp_recording_read(data->recording, k, &frame, error);
        if (status < 0) {
            return status;
        }
        if (k == 0) {
            t = frame.t;
            step = frame.step;
        }
        // Lengths of steps are those between recorded frames, whether the frames are kept or not.
        double h = step_of(data, &frame, &t, &step);
        if (pp_decimation_keeps(data->plan.poses, k, frames)) {
            put_poses(data, &frame, h);
        }
        if (pp_decimation_keeps(data->plan.contacts, k, frames) && !put_contacts(data, &frame, h)) {
            return pp_replay_no_memory(error);
        }
    }
    return put_contact_ids(data) ? PERP_OK : pp_replay_no_memory(error);
}
