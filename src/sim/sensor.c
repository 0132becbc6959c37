// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Sensors of a sim. Those of the state are read off the frames of now. Means over a step come from its impulses, which
// are summed where its parts are committed, and from the velocities at both ends.       theory (A5)
#include "sim/step/stages.h"

#include <perp/query.h>

#include <string.h>

// ── Memory ───────────────────────────────────────────────────────────────────────────────────────

// Models without sensors have none of this.
bool pp_sim_sensors_create(perp_sim *sim)
{
    const perp_model *m = sim->model;
    if (m->sensors == 0) {
        return true;
    }
    pp_sensing *s = &sim->sensing;
    for (int k = 0; k < 2; k++) {
        s->sum[k] = PP_ZEROS(sim->memory, double, m->sensor_values);
        s->start[k] = PP_ZEROS(sim->memory, pp_frame, m->bodies);
        if (!s->sum[k] || !s->start[k]) {
            return false;
        }
    }
    return true;
}

void pp_sim_sensors_begin(perp_sim *sim)
{
    const perp_model *m = sim->model;
    pp_sensing *s = &sim->sensing;
    s->before = s->h;
    if (m->sensors > 0) {
        int next = 1 - s->last;
        memset(s->sum[next], 0, (size_t)m->sensor_values * sizeof(double));
        memcpy(s->start[next], sim->frames, (size_t)m->bodies * sizeof(pp_frame));
    }
}

void pp_sim_sensors_end(perp_sim *sim, bool done)
{
    pp_sensing *s = &sim->sensing;
    if (sim->model->sensors > 0 && done) {
        s->last = 1 - s->last;
        s->h = sim->whole;
    } else {
        s->h = s->before;  // parts that failed have set a state
    }
}

// ── Frames ───────────────────────────────────────────────────────────────────────────────────────

// Pose of S in its body.
static pp_pose pose_in_body(const perp_model *m, const pp_sensor *s)
{
    return s->site >= 0 ? m->site[s->site].X_BS : (pp_pose){{0.0, 0.0, 0.0}, pp_identity3()};
}

// S in the world, where its body has the given frame.
static pp_pose pose_at(const perp_model *m, const pp_sensor *s, const pp_frame *body)
{
    pp_pose X_WB = {body->p, body->R}, X_BS = pose_in_body(m, s);
    return pp_pose_mul(&X_WB, &X_BS);
}

// Velocity of the origin of S.
static perp_vec3 velocity_at(const perp_model *m, const pp_sensor *s, const pp_frame *body)
{
    perp_vec3 r = pp_mul(&body->R, pose_in_body(m, s).p);
    return pp_add(body->v, pp_cross(body->w, r));
}

// Half way between two frames: the mean position, and half of the turn about a fixed axis.
static pp_frame middle_of(const perp_model *m, const pp_frame *from, const pp_frame *to)
{
    pp_frame out = *from;
    out.p = pp_scale(0.5, pp_add(from->p, to->p));
    if (m->spatial) {
        perp_vec3 turn = pp_quat_log(pp_quat_mul(to->rot, pp_quat_conjugate(from->rot)));
        perp_quat half = pp_quat_exp(pp_scale(0.5, turn));
        pp_frame_set_rotation(&out, pp_quat_unit(pp_quat_mul(half, from->rot)));
    } else {
        pp_frame_set_angle(&out, 0.5 * (from->angle + to->angle));
    }
    return out;
}

// ── Impulses of a step, or of a part of it ───────────────────────────────────────────────────────

// Writes the components that the model has: of a vector along axes, or about them (in the plane z only).
static void put_vector(const perp_model *m, perp_vec3 v, bool about, double *out)
{
    if (m->spatial) {
        out[0] = v.x;
        out[1] = v.y;
        out[2] = v.z;
    } else if (about) {
        out[0] = v.z;
    } else {
        out[0] = v.x;
        out[1] = v.y;
    }
}

// Where the joints of the part acted. Between events they act all the time, and in the middle on average.
static pp_frame joint_frame(const perp_sim *sim, int body)
{
    const pp_step *s = &sim->step;
    if (sim->def.stepper == PERP_STEPPER_EVENT) {
        const pp_frame *from = sim->sensing.start[1 - sim->sensing.last];
        return middle_of(sim->model, &from[body], &s->end.body[body]);
    }
    return (s->middle.body ? s->middle.body : s->kin.poses.body)[body];
}

// Impulse of a joint on its body b, moved from the centre of mass of b to the origin of S.  theory (A7)
static void add_wrench(perp_sim *sim, const pp_sensor *s, double *sum)
{
    const perp_model *m = sim->model;
    perp_wrench on_b = perp_sim_joint(sim, (perp_joint){s->joint}).impulse_b;
    pp_frame carrier = joint_frame(sim, s->body), b = joint_frame(sim, m->joint[s->joint].b);
    pp_pose X_WS = pose_at(m, s, &carrier);
    double part[3] = {0.0};
    bool torque = s->kind == PERP_SENSOR_TORQUE;
    perp_vec3 v = on_b.f_W;
    if (torque) {
        v = pp_add(on_b.tau_W, pp_cross(pp_sub(b.p, X_WS.p), on_b.f_W));
    }
    put_vector(m, pp_mul_t(&X_WS.R, v), torque, part);
    for (int k = 0; k < s->size; k++) {
        sum[k] += part[k];
    }
}

// +1 for a limit that pushes the coordinate up, -1 for one that pushes it down.
static double limit_sign(const pp_row *limit, const pp_row *coordinate)
{
    double along = 0.0;
    for (int k = 0; k < limit->count; k++) {  // the same bodies in the same order
        along += pp_dot(PP_BODY_NV, limit->J[k], coordinate->J[k]);
    }
    return along < 0.0 ? -1.0 : 1.0;
}

// Between events the nearer limit is the one that acts.
static double nearer_limit_sign(const pp_joint *j, double coordinate)
{
    return j->upper - coordinate < coordinate - j->lower ? -1.0 : 1.0;
}

// Impulses along the coordinate of a joint, limits with the sign of what they do to it.
static double joint_effort(const perp_sim *sim, int joint)
{
    const perp_model *m = sim->model;
    const pp_step *s = &sim->step;
    perp_joint_state state = perp_sim_joint(sim, (perp_joint){joint});
    if (sim->def.stepper == PERP_STEPPER_EVENT) {
        pp_row at_end;
        pp_joint_coordinate(m, &s->end, joint, &at_end);
        double sign = nearer_limit_sign(&m->joint[joint], at_end.value);
        return state.drive + (state.limit != 0.0 ? sign * state.limit : 0.0);
    }
    // rows of limits are of the coordinate or of its opposite
    pp_row coordinate;
    pp_joint_coordinate(m, s->middle.body ? &s->middle : &s->kin.poses, joint, &coordinate);
    double sum = state.drive;
    for (int i = pp_rows_of_joint(s->row.n, s->row.nc, s->row.nn, joint);
         i < s->row.nn && s->row.n[i].joint == joint; i++) {
        sum += limit_sign(&s->row.n[i], &coordinate) * s->answer.pn[i];
    }
    return sum;
}

// Whether a contact point is in the region of a site. Points lie within the gap of the surface that touches.
static bool in_region(const pp_site *site, const pp_pose *X_WS, const perp_contact *c)
{
    perp_vec3 p = pp_pose_local(X_WS, c->point_W);
    double slack = fabs(c->gap) + 1e-9 * (site->radius + pp_length(site->half));
    if (site->radius > 0.0) {
        return pp_length(p) <= site->radius + slack;
    }
    // a planar box has no half extent along z, and its contacts no z
    return fabs(p.x) <= site->half.x + slack && fabs(p.y) <= site->half.y + slack &&
           fabs(p.z) <= site->half.z + slack;
}

// Normal impulses on the body of the sensor.                                             theory (A8)
static double touch(const perp_sim *sim, const pp_sensor *s)
{
    const perp_model *m = sim->model;
    const pp_step *step = &sim->step;
    const pp_frame *body = step->kin.poses.body;
    if (sim->def.stepper == PERP_STEPPER_EVENT) {
        body = step->end.body;
    } else if (step->middle.body && step->acted) {
        body = step->middle.body;
    }
    pp_pose X_WS = pose_at(m, s, &body[s->body]);
    double sum = 0.0;
    for (int i = 0; i < sim->contact_count; i++) {
        const perp_contact *c = &sim->contacts[i];
        bool touches = m->shape[c->a.i].body == s->body || m->shape[c->b.i].body == s->body;
        if (touches && (s->site < 0 || in_region(&m->site[s->site], &X_WS, c))) {
            sum += c->pn;
        }
    }
    return sum;
}

// Before the commit of a part: rows, contacts and frames are those of this part.
void pp_sim_sensors_add(perp_sim *sim)
{
    const perp_model *m = sim->model;
    for (int i = 0; i < m->sensors; i++) {
        const pp_sensor *s = &m->sensor[i];
        double *sum = sim->sensing.sum[1 - sim->sensing.last] + s->at;
        if (s->kind == PERP_SENSOR_FORCE || s->kind == PERP_SENSOR_TORQUE) {
            add_wrench(sim, s, sum);
        } else if (s->kind == PERP_SENSOR_JOINT_EFFORT) {
            *sum += joint_effort(sim, s->joint);
        } else if (s->kind == PERP_SENSOR_TOUCH) {
            *sum += touch(sim, s);
        }
    }
}

// ── Reading ──────────────────────────────────────────────────────────────────────────────────────

static void read_joint(const perp_sim *sim, const pp_sensor *s, double *out)
{
    pp_row row;
    pp_poses now = {
        .t = sim->now.t, .body = sim->frames, .turn = sim->now.turn, .drive = sim->now.drive};
    pp_joint_coordinate(sim->model, &now, s->joint, &row);
    *out = s->kind == PERP_SENSOR_JOINT_POSITION ? row.value : row.v_pre;
}

// The angle is not wrapped in the plane; in space the scalar part of the quaternion is not negative.
static void read_orientation(const perp_sim *sim, const pp_sensor *s, double *out)
{
    const perp_model *m = sim->model;
    const pp_frame *body = &sim->frames[s->body];
    const pp_site *site = s->site >= 0 ? &m->site[s->site] : NULL;
    if (!m->spatial) {
        *out = body->angle + (site ? site->angle : 0.0);
        return;
    }
    perp_quat q = site ? pp_quat_unit(pp_quat_mul(body->rot, site->rot_BS)) : body->rot;
    double sign = q.w < 0.0 ? -1.0 : 1.0;
    out[0] = sign * q.w;
    out[1] = sign * q.x;
    out[2] = sign * q.y;
    out[3] = sign * q.z;
}

// Own shapes are not in the way, except those of the ground: a site in the world sees the floor.
static void read_range(const perp_sim *sim, const pp_sensor *s, double *out)
{
    pp_pose X_WS = pose_at(sim->model, s, &sim->frames[s->body]);
    perp_ray ray = perp_ray_default();
    ray.origin_W = X_WS.p;
    ray.direction_W = pp_mul(&X_WS.R, s->axis_S);
    ray.max_distance = s->max_range;
    ray.skip = (perp_body){s->body > 0 ? s->body : -1};
    perp_hit hit;
    bool found = perp_sim_ray(sim, &ray, &hit) >= 0 && hit.shape.i >= 0;
    *out = found ? hit.distance : -1.0;
}

// Change of velocity over the step, divided by its length.                               theory (A6)
static void read_acceleration(const perp_sim *sim, const pp_sensor *s, double *out)
{
    const perp_model *m = sim->model;
    const pp_sensing *of = &sim->sensing;
    const pp_frame *from = &of->start[of->last][s->body], *to = &sim->frames[s->body];
    if (s->kind == PERP_SENSOR_ANGULAR_ACCELERATION) {
        put_vector(m, pp_scale(1.0 / of->h, pp_sub(to->w, from->w)), true, out);
        return;
    }
    perp_vec3 change = pp_sub(velocity_at(m, s, to), velocity_at(m, s, from));
    perp_vec3 a = pp_scale(1.0 / of->h, change);
    if (s->kind == PERP_SENSOR_ACCELEROMETER) {
        // in the axes half way, since it is a mean over the step
        pp_frame half = middle_of(m, from, to);
        pp_pose X_WS = pose_at(m, s, &half);
        a = pp_mul_t(&X_WS.R, pp_sub(a, m->gravity));
    }
    put_vector(m, a, false, out);
}

// What depends on the state alone; false: another kind.
static bool read_state(const perp_sim *sim, const pp_sensor *s, double *out)
{
    const perp_model *m = sim->model;
    // sensors of joints have no frame, and use none
    const pp_frame *body = &sim->frames[s->body >= 0 ? s->body : 0];
    switch (s->kind) {
    case PERP_SENSOR_JOINT_POSITION:
    case PERP_SENSOR_JOINT_RATE:
        read_joint(sim, s, out);
        return true;
    case PERP_SENSOR_POSITION:
        put_vector(m, pose_at(m, s, body).p, false, out);
        return true;
    case PERP_SENSOR_ORIENTATION:
        read_orientation(sim, s, out);
        return true;
    case PERP_SENSOR_VELOCITY:
        put_vector(m, velocity_at(m, s, body), false, out);
        return true;
    case PERP_SENSOR_ANGULAR_VELOCITY:
        put_vector(m, body->w, true, out);
        return true;
    case PERP_SENSOR_GYRO: {
        pp_pose X_WS = pose_at(m, s, body);
        put_vector(m, pp_mul_t(&X_WS.R, body->w), true, out);
        return true;
    }
    case PERP_SENSOR_RANGE:
        read_range(sim, s, out);
        return true;
    default:
        return false;
    }
}

// Means over the last step.
static void read_mean(const perp_sim *sim, const pp_sensor *s, double *out)
{
    const pp_sensing *of = &sim->sensing;
    memset(out, 0, (size_t)s->size * sizeof *out);
    if (of->h == 0.0) {
        return;
    }
    switch (s->kind) {
    case PERP_SENSOR_ACCELERATION:
    case PERP_SENSOR_ANGULAR_ACCELERATION:
    case PERP_SENSOR_ACCELEROMETER:
        read_acceleration(sim, s, out);
        return;
    case PERP_SENSOR_ACTUATOR_EFFORT:
        *out = perp_sim_actuator(sim, (perp_actuator){s->actuator}).effort;
        return;
    default:
        for (int k = 0; k < s->size; k++) {
            out[k] = of->sum[of->last][s->at + k] / of->h;
        }
    }
}

perp_status perp_sim_sensor(const perp_sim *sim, perp_sensor sensor, double *values, int n)
{
    if (!sim || !values || sensor.i < 0 || sensor.i >= sim->model->sensors ||
        n < sim->model->sensor[sensor.i].size) {
        return PERP_ERR_ARGUMENT;
    }
    const pp_sensor *s = &sim->model->sensor[sensor.i];
    if (!read_state(sim, s, values)) {
        read_mean(sim, s, values);
    }
    return PERP_OK;
}

perp_pose perp_sim_site_pose(const perp_sim *sim, perp_site site)
{
    if (!sim || site.i < 0 || site.i >= sim->model->sites) {
        return (perp_pose){{0.0, 0.0, 0.0}, {1.0, 0.0, 0.0, 0.0}};
    }
    const pp_site *of = &sim->model->site[site.i];
    const pp_frame *body = &sim->frames[of->body];
    return (perp_pose){pp_add(body->p, pp_mul(&body->R, of->X_BS.p)),
                       pp_quat_unit(pp_quat_mul(body->rot, of->rot_BS))};
}
