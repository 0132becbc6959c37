// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Recorded values of sensors, computed again from the recorded states, impulses and contacts. Steps in parts show their
// sums only, and are left out; so are means over steps between frames that are further apart.  theory (A5)
#include "record/check/check.h"

#include <math.h>

static const double SAME = 1e-9;    // the same number computed twice, relative to its size
static const double MIDDLE = 1e-6;  // where the place of the theta method's middle enters
enum { VALUES_MOST = 4 };

// ── Frames ───────────────────────────────────────────────────────────────────────────────────────

static pp_pose sensor_pose(const perp_model *m, const pp_sensor *s, const pp_frame *at)
{
    const pp_frame *f = &at[s->body];
    pp_pose out = {f->p, f->R};
    if (s->site >= 0) {
        const pp_site *site = &m->site[s->site];
        out.p = pp_point(f, site->X_BS.p);
        out.R = pp_mat_mul(&f->R, &site->X_BS.R);
    }
    return out;
}

static perp_vec3 sensor_velocity(const perp_model *m, const pp_sensor *s, const pp_frame *at)
{
    const pp_frame *f = &at[s->body];
    perp_vec3 arm = pp_sub(sensor_pose(m, s, at).p, f->p);
    return pp_add(f->v, pp_cross(f->w, arm));
}

// Half of the turn from one rotation to another: the axes of the sum, for angles below pi.
static pp_mat3 half_turn(const pp_mat3 *from, const pp_mat3 *to)
{
    perp_quat a = pp_matrix_quat(from), b = pp_matrix_quat(to);
    double sign = a.w * b.w + a.x * b.x + a.y * b.y + a.z * b.z < 0.0 ? -1.0 : 1.0;
    perp_quat sum = {a.w + sign * b.w, a.x + sign * b.x, a.y + sign * b.y, a.z + sign * b.z};
    return pp_quat_matrix(pp_quat_unit(sum));
}

// The components that the model has; about: of a vector about axes.
static void set_values(const perp_model *m, perp_vec3 v, bool about, double *out)
{
    const double all[3] = {v.x, v.y, v.z};
    for (int k = 0; k < 3; k++) {
        out[k] = !m->spatial && about ? v.z : all[k];
    }
}

// ── Values ───────────────────────────────────────────────────────────────────────────────────────

static void state_values(const pp_recheck *c, const pp_sensor *s, double *out)
{
    const perp_model *m = c->model;
    const pp_frame *f = s->body >= 0 ? &c->after[s->body] : c->after;
    pp_pose X = s->body >= 0 ? sensor_pose(m, s, c->after) : (pp_pose){f->p, f->R};
    perp_quat q = pp_matrix_quat(&X.R);
    double turned = s->site >= 0 ? m->site[s->site].angle : 0.0;
    switch (s->kind) {
    case PERP_SENSOR_JOINT_POSITION:
        *out = c->now->joint[s->joint].coordinate;
        break;
    case PERP_SENSOR_JOINT_RATE:
        *out = c->now->joint[s->joint].rate;
        break;
    case PERP_SENSOR_POSITION:
        set_values(m, X.p, false, out);
        break;
    case PERP_SENSOR_ORIENTATION:
        // scalar first, which pp_matrix_quat makes positive; the angle is not wrapped
        out[0] = m->spatial ? q.w : f->angle + turned;
        out[1] = q.x;
        out[2] = q.y;
        out[3] = q.z;
        break;
    case PERP_SENSOR_VELOCITY:
        set_values(m, sensor_velocity(m, s, c->after), false, out);
        break;
    case PERP_SENSOR_GYRO:
        set_values(m, pp_mul_t(&X.R, f->w), true, out);
        break;
    default:
        set_values(m, f->w, true, out);
        break;
    }
}

static double range_value(const pp_recheck *c, const pp_sensor *s)
{
    pp_pose X = sensor_pose(c->model, s, c->after);
    const pp_ray ray = {X.p, pp_unit(pp_mul(&X.R, s->axis_S), s->axis_S), s->max_range};
    pp_ray_answer answer = pp_gap_ray_all(c->model, c->after, &ray,
                                          (pp_ray_filter){UINT32_MAX, s->body > 0 ? s->body : -1});
    return answer.shape >= 0 ? answer.hit.distance : -1.0;
}

static void acceleration_values(const pp_recheck *c, const pp_sensor *s, double *out)
{
    const perp_model *m = c->model;
    if (s->kind == PERP_SENSOR_ANGULAR_ACCELERATION) {
        perp_vec3 change = pp_sub(c->after[s->body].w, c->before[s->body].w);
        set_values(m, pp_scale(1.0 / c->h, change), true, out);
        return;
    }
    perp_vec3 change = pp_sub(sensor_velocity(m, s, c->after), sensor_velocity(m, s, c->before));
    perp_vec3 a = pp_scale(1.0 / c->h, change);
    if (s->kind == PERP_SENSOR_ACCELEROMETER) {
        pp_pose from = sensor_pose(m, s, c->before), to = sensor_pose(m, s, c->after);
        pp_mat3 R = half_turn(&from.R, &to.R);
        a = pp_mul_t(&R, pp_sub(a, m->gravity));
    }
    set_values(m, a, false, out);
}

// A body half way through the step.
static pp_pose half_way(const pp_recheck *c, int body)
{
    const pp_frame *from = &c->before[body], *to = &c->after[body];
    return (pp_pose){pp_scale(0.5, pp_add(from->p, to->p)), half_turn(&from->R, &to->R)};
}

// Impulse of a joint on its body b, about its centre of mass, as a force or torque of the sensor. Between events the
// sensor is taken half way through the step.                                             theory (A7)
static void wrench_values(const pp_recheck *c, const pp_sensor *s, double *out)
{
    const perp_model *m = c->model;
    int b = m->joint[s->joint].b;
    const perp_wrench *w = &c->now->joint[s->joint].impulse_b;
    pp_pose X = sensor_pose(m, s, c->acting);
    perp_vec3 center = c->acting[b].p;
    if (c->info->stepper == PERP_STEPPER_EVENT) {
        pp_pose half = half_way(c, s->body);
        X = s->site >= 0 ? pp_pose_mul(&half, &m->site[s->site].X_BS) : half;
        center = half_way(c, b).p;
    }
    bool torque = s->kind == PERP_SENSOR_TORQUE;
    perp_vec3 v = w->f_W;
    if (torque) {
        v = pp_add(w->tau_W, pp_cross(pp_sub(center, X.p), w->f_W));
    }
    set_values(m, pp_scale(1.0 / c->h, pp_mul_t(&X.R, v)), torque, out);
}

// Whether a contact counts for a sensor: of its body, and in the region of its site.      theory (A8)
static bool is_touched(const pp_recheck *c, const pp_sensor *s, const perp_contact *k)
{
    const perp_model *m = c->model;
    bool event = c->info->stepper == PERP_STEPPER_EVENT;
    if (m->shape[k->a.i].body != s->body && m->shape[k->b.i].body != s->body) {
        return false;
    }
    if (s->site < 0) {
        return true;
    }
    const pp_site *site = &m->site[s->site];
    pp_pose X = sensor_pose(m, s, event ? c->after : pp_check_acting(c, k));
    perp_vec3 p = pp_pose_local(&X, k->point_W);
    double slack = fabs(k->gap) + 1e-9 * (site->radius + pp_length(site->half));
    if (site->radius > 0.0) {
        return pp_length(p) <= site->radius + slack;
    }
    return fabs(p.x) <= site->half.x + slack && fabs(p.y) <= site->half.y + slack &&
           fabs(p.z) <= site->half.z + slack;
}

static double touch_value(const pp_recheck *c, const pp_sensor *s)
{
    double sum = 0.0;
    for (int i = 0; i < c->now->contacts; i++) {
        const perp_contact *k = &c->now->contact[i];
        sum += is_touched(c, s, k) ? k->pn : 0.0;
    }
    return sum / c->h;
}

// The impulse of a limit is recorded without the side that it is on: the nearer one counts.
static double effort_value(const pp_recheck *c, const pp_sensor *s, double recorded)
{
    const perp_joint_state *state = &c->now->joint[s->joint];
    double up = (state->drive + state->limit) / c->h, down = (state->drive - state->limit) / c->h;
    return fabs(recorded - up) <= fabs(recorded - down) ? up : down;
}

// ── The judgement ────────────────────────────────────────────────────────────────────────────────

// Means over the step; false: none is known.
static bool mean_values(const pp_recheck *c, const pp_sensor *s, const double *recorded,
                        double *out)
{
    if (c->info->every != 1 || !(c->h > 0.0)) {
        return false;
    }
    switch (s->kind) {
    case PERP_SENSOR_JOINT_EFFORT:
        *out = effort_value(c, s, *recorded);
        break;
    case PERP_SENSOR_ACTUATOR_EFFORT:
        *out = c->now->actuator[s->actuator].effort;
        break;
    case PERP_SENSOR_FORCE:
    case PERP_SENSOR_TORQUE:
        wrench_values(c, s, out);
        break;
    case PERP_SENSOR_TOUCH:
        *out = touch_value(c, s);
        break;
    default:
        acceleration_values(c, s, out);
        break;
    }
    return true;
}

// What rounding of velocities makes of an acceleration is allowed beside its size.
static double size_of(const pp_recheck *c, const pp_sensor *s, double value)
{
    bool rate = s->kind >= PERP_SENSOR_ACCELERATION && s->kind <= PERP_SENSOR_ACCELEROMETER;
    double speed =
        rate ? pp_length(sensor_velocity(c->model, s, c->after)) + pp_length(c->after[s->body].w)
             : 0.0;
    return fmax(fmax(1.0, fabs(value)), 1e-6 * speed / c->h);
}

// A step in parts has frames of its own for each of them, and is not judged here.
void pp_check_recorded_sensors(pp_recheck *c)
{
    const perp_model *m = c->model;
    bool whole = c->part < 0 && c->now->sensor && m->sensor_values == c->info->sensor_values;
    int count = whole ? m->sensors : 0;
    for (int i = 0; i < count; i++) {
        const pp_sensor *s = &m->sensor[i];
        const double *recorded = c->now->sensor + s->at;
        double value[VALUES_MOST] = {0.0}, error = 0.0;
        bool theta = c->info->stepper == PERP_STEPPER_MOREAU_JEAN && s->kind >= PERP_SENSOR_FORCE;
        if (s->kind == PERP_SENSOR_RANGE) {
            *value = range_value(c, s);
        } else if (s->kind < PERP_SENSOR_ACCELERATION) {
            state_values(c, s, value);
        } else if (!mean_values(c, s, recorded, value)) {
            continue;
        }
        for (int k = 0; k < s->size; k++) {
            double off = fabs(recorded[k] - value[k]) / size_of(c, s, value[k]);
            error = pp_check_worse(error, off);
        }
        pp_check_record_worst(c, PERP_CHECK_RECORD, error, theta ? MIDDLE : SAME, s->name, "");
    }
}
