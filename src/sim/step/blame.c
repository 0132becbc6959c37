// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Causes of a step that failed, by name. Where a joint with unlimited effort presses a body against another, the drive
// most likely asks for what the contact does not allow: the joint, both bodies and the cure are named. Functions of the
// scene without a value, given motions that do not fit their joints, and forces that overflow are as the scene has them.
#include "sim/step/stages.h"

#include <math.h>
#include <string.h>

// A drive that takes any effort to follow its motion.
static bool is_unlimited(const pp_joint *joint)
{
    return joint->target || (joint->rate && !isfinite(joint->rate_effort));
}

// Free bodies on one side of joint `cut`, linked by the other joints. linked: bodies.
static void mark_side(const perp_model *m, int cut, int body, bool *linked)
{
    memset(linked, 0, (size_t)m->bodies * sizeof *linked);
    linked[body] = m->body[body].nv > 0;
    bool changed = linked[body];
    while (changed) {
        changed = false;
        for (int i = 0; i < m->joints; i++) {
            const pp_joint *j = &m->joint[i];
            if (i == cut || pp_joint_couples(j) || linked[j->a] == linked[j->b]) {
                continue;
            }
            int other = linked[j->a] ? j->b : j->a;
            changed = changed || m->body[other].nv > 0;
            linked[other] = m->body[other].nv > 0;
        }
    }
}

// The closest contact between a marked body and one that is not; -1: none.
static int closest_to_others(const perp_model *m, const pp_gaps *gaps, const bool *linked)
{
    int best = -1;
    for (int i = 0; i < gaps->count; i++) {
        const pp_contact *c = &gaps->contact[i];
        bool apart = linked[m->shape[c->a].body] != linked[m->shape[c->b].body];
        if (apart && (best < 0 || c->gap < gaps->contact[best].gap)) {
            best = i;
        }
    }
    return best;
}

static const double NEAR = 0.01;  // what may be in the way [m]

// Joints whose coordinate is a length.
static bool is_length(const pp_joint *j)
{
    return j->kind == PERP_JOINT_PRISMATIC || j->kind == PERP_JOINT_POINT_ON_LINE ||
           j->kind == PERP_JOINT_DISTANCE;
}

// What it takes to hold the marked side against gravity in any direction: its weight, at the arm of a joint that turns
// [N, N m]. Motors are chosen by this; a drive that is limited to it gives way at what it meets.
static double holding_effort(const perp_sim *sim, const pp_joint *j, const bool *linked)
{
    const perp_model *m = sim->model;
    bool slides = is_length(j);
    perp_vec3 at = pp_point(&sim->frames[j->b], j->r_B);
    double sum = 0.0;
    for (int i = 0; i < m->bodies; i++) {
        if (linked[i]) {
            double arm = slides ? 1.0 : pp_length(pp_sub(sim->frames[i].p, at));
            sum += m->body[i].mass * pp_length(pp_body_gravity(m, &m->body[i])) * arm;
        }
    }
    return sum;
}

// The cure; without gravity no effort can be named.
static void name_cure(const perp_sim *sim, const pp_joint *j, const bool *linked, char *text,
                      size_t size)
{
    double effort = holding_effort(sim, j, linked);
    bool slides = is_length(j);
    const char *by =
        j->target ? ", with a position actuator instead of its target" : " by rate_effort";
    if (effort > 0.0) {
        pp_print(text, size, "limit its effort to %.2g %s%s", effort, slides ? "N" : "N m", by);
    } else {
        pp_print(text, size, "limit its effort%s", by);
    }
}

// A body by its name; what stands still by the name of the shape that is met.
static const char *name_met(const perp_model *m, int shape)
{
    int body = m->shape[shape].body;
    return body == 0 ? m->shape[shape].name : m->body[body].name;
}

// Of all drives the one whose bodies are closest to something.
void pp_sim_blame_drive(perp_sim *sim, char *text, size_t size)
{
    const perp_model *m = sim->model;
    text[0] = '\0';
    pp_gaps gaps;
    bool *linked = PP_ARRAY(sim->arena, bool, m->bodies);
    const pp_poses at = {.t = sim->now.t, .body = sim->frames, .turn = sim->now.turn};
    const pp_gap_search search = {.margin = fmax(sim->def.margin, NEAR)};
    if (!linked || pp_gaps_run(&gaps, m, &at, search, sim->arena) < 0) {
        return;
    }
    // contacts where the step started, whatever the failed one made of them
    double closest = HUGE_VAL;
    for (int i = 0; i < m->joints; i++) {
        const pp_joint *j = &m->joint[i];
        if (!is_unlimited(j) || pp_joint_couples(j)) {
            continue;
        }
        mark_side(m, i, j->b, linked);
        int k = closest_to_others(m, &gaps, linked);
        const pp_contact *c = k >= 0 ? &gaps.contact[k] : NULL;
        if (!c || !(c->gap < closest)) {
            continue;
        }
        closest = c->gap;
        bool first = linked[m->shape[c->a].body];
        char cure[100];
        name_cure(sim, j, linked, cure, sizeof cure);
        pp_print(text, size, "joint '%.20s' drives '%.20s' against '%.20s' with any effort: %s",
                 j->name, name_met(m, first ? c->a : c->b), name_met(m, first ? c->b : c->a), cure);
    }
}

// ── Functions of the scene ───────────────────────────────────────────────────────────────────────

// Whether the function of a coupling and its slopes are finite.
static bool is_defined(const perp_model *m, const pp_poses *at, int joint)
{
    pp_row row;
    pp_joint_coordinate(m, at, joint, &row);
    double sum = row.value + row.rate + row.v_pre;
    for (int k = 0; k < row.count; k++) {
        for (int c = 0; c < m->body[row.body[k]].nv; c++) {
            sum += row.J[k][c];
        }
    }
    return isfinite(sum);
}

// Functions of couplings are the scene's: one that is not finite is named instead of what follows from it.
bool pp_sim_blame_undefined(perp_sim *sim, const pp_poses *at)
{
    const perp_model *m = sim->model;
    for (int i = 0; i < m->joints; i++) {
        if (m->joint[i].kind == PERP_JOINT_COUPLING && !is_defined(m, at, i)) {
            pp_print(sim->info.remark, sizeof sim->info.remark,
                     "the function of coupling '%.60s' or a derivative of it is not finite at t = "
                     "%.6g; keep its joints away from there with limits",
                     m->joint[i].name, at->t);
            return true;
        }
    }
    return false;
}

// A function of time with its first two derivatives, which targets and motions have.
static bool is_smooth(const pp_expr *expr, double t)
{
    const double one = 1.0;
    double rate, rate2;
    return !expr || isfinite(pp_expr_rate2(expr, &t, &one, &rate, &rate2) + rate + rate2);
}

// Each of these: what has a function without a value at the poses, in the remark; false: nothing has.
static bool blame_joint(perp_sim *sim, const pp_poses *at)
{
    for (int i = 0; i < sim->model->joints; i++) {
        const pp_joint *j = &sim->model->joint[i];
        bool target = is_smooth(j->target, at->t);
        if (target && (!j->rate || isfinite(pp_signal_value(j->rate, at)))) {
            continue;
        }
        pp_print(sim->info.remark, sizeof sim->info.remark,
                 "joint '%.60s': its %s is not finite at t = %.9g", j->name,
                 target ? "rate" : "target, or a derivative of it,", at->t);
        return true;
    }
    return false;
}

static bool blame_motion(perp_sim *sim, const pp_poses *at)
{
    for (int i = 0; i < sim->model->bodies; i++) {
        for (int k = 0; k < PP_MOTIONS; k++) {
            if (!is_smooth(sim->model->body[i].motion[k], at->t)) {
                pp_print(sim->info.remark, sizeof sim->info.remark,
                         "body '%.60s': its motion, or a derivative of it, is not finite at t = "
                         "%.9g",
                         sim->model->body[i].name, at->t);
                return true;
            }
        }
    }
    return false;
}

static bool blame_surface(perp_sim *sim, const pp_poses *at)
{
    for (int i = 0; i < sim->model->shapes; i++) {
        const pp_shape *s = &sim->model->shape[i];
        const pp_expr *function[] = {s->surface_speed, s->surface[0], s->surface[1], s->surface[2],
                                     s->surface[3]};
        for (int k = 0; k < 5; k++) {
            if (function[k] && !isfinite(pp_expr_value(function[k], &at->t))) {
                pp_print(sim->info.remark, sizeof sim->info.remark,
                         "shape '%.60s': the velocity of its surface is not finite at t = %.9g",
                         s->name, at->t);
                return true;
            }
        }
    }
    return false;
}

static bool blame_force(perp_sim *sim, const pp_poses *at)
{
    for (int i = 0; i < sim->model->forces; i++) {
        if (!pp_force_is_finite(sim->model, at, i)) {
            pp_print(sim->info.remark, sizeof sim->info.remark,
                     "force '%.60s' is not finite at t = %.9g", sim->model->force[i].name, at->t);
            return true;
        }
    }
    return false;
}

static bool blame_actuator(perp_sim *sim, const pp_poses *at)
{
    const perp_model *m = sim->model;
    int count = at->drive ? m->actuators : 0;
    for (int i = 0; i < count; i++) {
        if (!isfinite(pp_actuator_control(m, at->drive, i, at->t))) {
            pp_print(sim->info.remark, sizeof sim->info.remark,
                     "actuator '%.60s': its control is not finite at t = %.9g", m->actuator[i].name,
                     at->t);
            return true;
        }
    }
    return false;
}

// What a joint opens by, as part of its limit: more than rounding.
static const double OPENS = 1e-3;

// A joint between two bodies whose motions are given holds only if these fit it.
static bool blame_given(perp_sim *sim, const pp_poses *at)
{
    const perp_model *m = sim->model;
    for (int i = 0; i < m->joints; i++) {
        const pp_joint *j = &m->joint[i];
        bool given = m->body[j->a].nv == 0 && m->body[j->b].nv == 0 && !pp_joint_couples(j);
        double limit, off = given ? pp_judge_joint(m, at, i, &limit) : 0.0;
        if (given && !(off <= OPENS * limit)) {
            pp_print(sim->info.remark, sizeof sim->info.remark,
                     "joint '%.40s' between '%.40s' and '%.40s', whose motions are given, opens by "
                     "%.3g; let one of them be free, or change its motion",
                     j->name, m->body[j->a].name, m->body[j->b].name, off);
            return true;
        }
    }
    return false;
}

bool pp_sim_blame_time(perp_sim *sim, const pp_poses *at)
{
    return blame_joint(sim, at) || blame_motion(sim, at) || blame_surface(sim, at);
}

bool pp_sim_blame_function(perp_sim *sim, const pp_poses *at)
{
    return pp_sim_blame_undefined(sim, at) || pp_sim_blame_time(sim, at) || blame_force(sim, at) ||
           blame_actuator(sim, at) || blame_given(sim, at);
}

// Half way and all the way: the theta method has its rows in the middle of the step.
bool pp_sim_blame_ahead(perp_sim *sim, double h)
{
    const perp_model *m = sim->model;
    pp_frame *body = PP_ARRAY(sim->arena, pp_frame, m->bodies);
    if (!body) {
        return false;
    }
    for (int k = 0; k <= 2; k++) {
        double dt = 0.5 * k * h;
        const pp_advance by = {dt, 1.0, 1.0, sim->def.rotation};
        pp_poses at = {.t = k < 2 ? sim->now.t + dt : pp_sim_time_after(sim, h),
                       .body = body,
                       .turn = sim->now.turn,
                       .drive = sim->now.drive};
        // `next` is written by every step before it is read
        pp_integrate(&sim->next, m, &sim->now, sim->now.nu, &by);
        sim->next.t = at.t;
        pp_frames(m, &sim->next, body);
        if (pp_sim_blame_function(sim, &at)) {
            return true;
        }
    }
    return false;
}

void pp_sim_blame_open(perp_sim *sim, const pp_poses *at)
{
    const perp_model *m = sim->model;
    if (sim->info.certificate.relative[PERP_JUDGED_JOINT] <= 1.0 || sim->info.remark[0]) {
        return;
    }
    for (int i = 0; i < m->joints; i++) {
        double limit, off = pp_judge_joint(m, at, i, &limit);
        if (m->joint[i].kind == PERP_JOINT_COUPLING && !(off <= limit)) {
            pp_print(sim->info.remark, sizeof sim->info.remark,
                     "coupling '%.60s' is off by %.3g where the step ends: its function jumps, or "
                     "bends more than a step can follow",
                     m->joint[i].name, off);
            return;
        }
    }
}

// Impulses whose energies, which are squares, no number can hold.
static const double OVERFLOWS = 1e150;  // [N s, N m s]

bool pp_sim_blame_load(perp_sim *sim)
{
    const perp_model *m = sim->model;
    const double *p = sim->step.kin.loads.p_ext;
    int at = 0;
    while (at < m->nv && fabs(p[at]) < OVERFLOWS) {
        at++;
    }
    if (at == m->nv) {
        return false;
    }
    int body = 0;
    while (m->body[body].nv == 0 || m->body[body].at + m->body[body].nv <= at) {
        body++;
    }
    pp_print(sim->info.remark, sizeof sim->info.remark,
             "body '%.60s': its forces overflow, with an impulse of %.3g N s or N m s in the step",
             m->body[body].name, fabs(p[at]));
    return true;
}
