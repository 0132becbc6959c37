// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// A start that fits: overlaps, open joints and crossed limits are removed by moving the bodies, the least way in
// the metric of the masses, before the first step. Velocities stay as they are, and no energy of motion
// appears; Moreau and Jean's scheme also needs rates that fit.                       theory (K7), (K15)
//
//   min 1/2 d^T M d   over   phi + J d = 0,  psi + J_n d >= 0
//
// is the step of a scene at rest without forces and friction, with h = 1: its velocities are the way d. It is taken
// again where the bodies then are, until nothing is left.
//
// A start that is kept as given is closed after each step, a little at a time (close.c).
#include "sim/step/fit.h"

#include "math/math.h"

#include <math.h>
#include <string.h>

enum { ROUNDS = 200 };  // in all
enum { STUCK = 20 };    // rounds in a row without progress
// Levenberg's damping of joint rows, of their own mobility: loops that contradict each other at first order are met in
// the mean.
static const double DAMPING = 1e-6;
static const double TOO_FAR = 10.0;  // sizes of a body: a start so far off is an error, and refused
static const double TURN_MOST = 0.3;  // [rad] of a round: beyond that a tangent says little
// Of the thickness of a shape, or of a joint's arm:
static const double DONE = 1e-12;  // nothing to remove, once bodies are being moved

// Kinematics of the scene at rest where it is, without forces, h = 1.
static perp_status stand_still(pp_fit *f)
{
    perp_sim *sim = f->sim;
    const perp_model *m = sim->model;
    pp_frame *body = PP_ARRAY(sim->arena, pp_frame, m->bodies);
    f->kin = (pp_kinematics){
        .poses = {.t = f->at->t, .body = body, .turn = f->at->turn, .drive = f->at->drive},
        .h = 1.0,
        .mass = PP_ARRAY(sim->arena, pp_inertia, m->bodies),
        .loads = {.p_ext = PP_ZEROS(sim->arena, double, m->nv),
                  .held = PP_ZEROS(sim->arena, perp_wrench, m->bodies)}};
    if (!body || !f->kin.mass || !f->kin.loads.p_ext || !f->kin.loads.held) {
        return PERP_ERR_MEMORY;
    }
    pp_frames(m, f->at, body);
    pp_masses(m, body, f->kin.mass);
    for (int i = 0; i < m->bodies; i++) {
        body[i].v = body[i].w = pp_vec(0.0, 0.0, 0.0);
    }
    return PERP_OK;
}

// Keeps the worst fault and counts all; unit: the length that the value is measured by.
static void note_worst(pp_fault *worst, double value, double unit, pp_fault at)
{
    int count = worst->count + (value > PP_FITS * unit);
    if (value > worst->worst * unit) {
        *worst = at;
        worst->worst = value / unit;
        worst->value = value;
    }
    worst->count = count;
}

// What errors of a joint are relative to [m, rad, or the unit of a coupling's coordinate].
static double joint_unit(const pp_fit *f, int joint)
{
    const perp_model *m = f->sim->model;
    const pp_joint *j = &m->joint[joint];
    double unit = 100.0 * pp_scale_apart(m, j);
    if (j->kind == PERP_JOINT_COUPLING) {
        pp_row row;
        pp_joint_coordinate(m, &f->kin.poses, joint, &row);
        unit *= pp_scale_coupling(m, &row);
    }
    return unit > 0.0 ? unit : 1.0;
}

// Overlaps, open joints and crossed limits as they are. The scales of the certificate are
// hundredths of the lengths.
static void find_faults(pp_fit *f)
{
    const perp_model *m = f->sim->model;
    f->fault = (pp_fault){.shape_a = -1, .shape_b = -1, .joint = -1};
    f->deepest = 0.0;
    for (int i = 0; i < f->gap.count; i++) {
        const pp_contact *c = &f->gap.contact[i];
        double unit = 100.0 * pp_scale_overlap(m, c->a, c->b), depth = -c->gap;
        // the points of a pair follow each other and count as one
        while (i + 1 < f->gap.count && f->gap.contact[i + 1].a == c->a &&
               f->gap.contact[i + 1].b == c->b) {
            depth = fmax(depth, -f->gap.contact[++i].gap);
        }
        note_worst(&f->fault, depth, unit,
                   (pp_fault){.shape_a = c->a, .shape_b = c->b, .joint = -1});
        f->deepest = fmax(f->deepest, depth);
    }
    for (int i = 0; i < m->joints; i++) {
        double unit = joint_unit(f, i);
        pp_fault at = {.shape_a = -1, .shape_b = -1, .joint = i};
        if (!(m->joint[i].epsilon > 0.0)) {  // whose target keeps its error
            note_worst(&f->fault, pp_joint_error(m, &f->kin.poses, i), unit, at);
        }
        at.beyond = true;
        note_worst(&f->fault, pp_joint_limit_violation(m, &f->kin.poses, i), unit, at);
    }
}

// Contacts, also those that bodies which are moved apart may run into.
static perp_status find_start_gaps(pp_fit *f)
{
    perp_sim *sim = f->sim;
    double margin = fmax(pp_gap_margin(sim->model, sim->def.margin), 2.0 * f->deepest);
    perp_status status =
        pp_gaps_run(&f->gap, sim->model, &f->kin.poses,
                    (pp_gap_search){.margin = margin, .team = &sim->team}, sim->arena);
    if (status < 0) {
        return status;
    }
    // nothing bounces: gaps are closed or opened, no more
    for (int i = 0; i < f->gap.count; i++) {
        f->gap.contact[i].restitution = 0.0;
    }
    return status;
}

// Rows of positions alone: no springs, no drives of rates or of limited effort, and nothing moves.
perp_status pp_fit_rows(pp_fit *f)
{
    static const pp_scheme scheme = {.stepper = PERP_STEPPER_STEWART_TRINKLE,
                                     .friction = PERP_FRICTION_NONE,
                                     .impact = PERP_IMPACT_NEWTON,
                                     .facets = 8,
                                     .theta = 1.0,
                                     .limits = true};
    pp_rows *row = &f->row;
    perp_status status = pp_rows_run(row, f->sim->model, &f->kin, &f->kin.poses, &f->gap, scheme,
                                     &f->sim->team, f->sim->arena);
    // motors of limited effort and dry friction ask for no position
    row->nm = 0;
    if (status < 0) {
        row->nb = 0;
        return status;
    }
    int kept = 0;
    for (int i = 0; i < row->nb; i++) {
        // a drive of a rate asks for no position; its row has no bias phi / h
        bool of_rates = row->b[i].stabilised || (row->b[i].drives && row->b[i].bias == 0.0);
        if (!row->b[i].spring && !of_rates) {
            row->b[kept] = row->b[i];
            row->b[kept].rate = 0.0;
            // gamma in units of the row: it gives way by a millionth of what it asks for
            double mobility = pp_row_mobility(f->sim->model, f->kin.mass, &row->b[kept]);
            row->b[kept].gamma = DAMPING * (mobility > 0.0 ? mobility : 1.0);
            kept++;
        }
    }
    row->nb = kept;
    for (int i = 0; i < row->nn; i++) {
        row->n[i].rate = 0.0;
    }
    return status;
}

// The way d as the velocities of a step from rest, (K7).
perp_status pp_fit_solve(pp_fit *f)
{
    perp_sim *sim = f->sim;
    // bodies at rest: d^T M d is then the kinetic energy of the way, and the solver makes it least
    size_t nv = (size_t)sim->model->nv;
    double *rest = PP_ZEROS(sim->arena, double, nv + (size_t)f->row.nn);
    pp_solve_options options = {.tolerance = 1e-15, .impact = PERP_IMPACT_NEWTON};
    pp_solve_inputs inputs = {.model = sim->model,
                              .kin = &f->kin,
                              .rows = &f->row,
                              .nu = rest,
                              .warm = rest ? rest + nv : NULL,  // nothing pushes
                              .fresh = true,
                              .gaps = &f->gap};
    // no factors of steps: these rows are other ones
    pp_solve_cache cache = {
        .work = sim->work, .threads = sim->def.threads, .team = &sim->team, .env = &sim->env};
    return rest ? pp_solve_run(&f->answer, &inputs, &options, &cache, sim->arena) : PERP_ERR_MEMORY;
}

// Moves the bodies by d, or by the part of it that turns none by more than TURN_MOST; velocities
// stay as they were.
static perp_status move_bodies(pp_fit *f, const double *d)
{
    const perp_model *m = f->sim->model;
    pp_state moved = *f->at;
    double turn = 0.0;
    moved.q = PP_ARRAY(f->sim->arena, double, m->nq);
    moved.nu = PP_ARRAY(f->sim->arena, double, m->nv);
    if (!moved.q || !moved.nu) {
        return PERP_ERR_MEMORY;
    }
    for (int i = 0; i < m->bodies; i++) {
        const pp_body *body = &m->body[i];
        for (int k = 0; k < body->nv; k++) {
            turn = body->axis[k] >= 3 ? fmax(turn, fabs(d[body->at + k])) : turn;
        }
    }
    // all of the way is shortened, so that its direction stays
    double part = turn > TURN_MOST ? TURN_MOST / turn : 1.0;
    // the way d as a velocity over the time `part`
    const pp_advance by = {part, 1.0, 1.0, PERP_ROTATION_EXPONENTIAL};
    pp_integrate(&moved, m, f->at, d, &by);
    memcpy(f->at->q, moved.q, (size_t)m->nq * sizeof *moved.q);
    pp_frames(m, f->at, f->frames);
    return PERP_OK;
}

// One round: rows, solve, move.
static perp_status round_once(pp_fit *f)
{
    perp_status status = pp_fit_rows(f);
    if (status >= 0) {
        status = pp_fit_solve(f);
    }
    if (status < 0) {
        return status;
    }
    return f->answer.nu ? move_bodies(f, f->answer.nu) : PERP_ERR_MEMORY;
}

// Contacts and faults where the bodies are now.
perp_status pp_fit_look(pp_fit *f)
{
    perp_status status = stand_still(f);
    if (status < 0) {
        return status;
    }
    status = find_start_gaps(f);
    if (status >= 0) {
        find_faults(f);
    }
    return status;
}

// The error of a start that cannot be mended: what is wrong, and the two cures.
static perp_status refuse_start(const pp_fit *f, perp_status status, perp_error *error)
{
    const perp_model *m = f->sim->model;
    if (pp_is_final(status)) {
        return pp_fail(error, status, "start: %s", perp_status_text(status));
    }
    if (f->fault.joint >= 0) {
        return pp_fail(error, PERP_ERR_ARGUMENT,
                       "start: joint '%s' is off by %.3g m or rad, and moving the bodies does not "
                       "correct it; correct their positions, or set start: as given",
                       m->joint[f->fault.joint].name, f->fault.value);
    }
    return pp_fail(error, PERP_ERR_ARGUMENT,
                   "start: '%s' and '%s' overlap by %.3g m, and moving the bodies does not correct "
                   "it; correct their positions, or set start: as given",
                   f->fault.shape_a >= 0 ? m->shape[f->fault.shape_a].name : "?",
                   f->fault.shape_b >= 0 ? m->shape[f->fault.shape_b].name : "?", f->fault.value);
}

// How far a body was moved [m] (*way), over TOO_FAR of its own size.
static double moved_by(const perp_model *m, int i, const pp_frame *from, const pp_frame *to,
                       double *way)
{
    double size = fmax(m->body[i].reach, 0.5 * m->length_scale);
    *way = pp_length(pp_sub(to[i].p, from[i].p));
    return *way / (TOO_FAR * size);
}

void pp_fit_describe(const pp_fit *f, const pp_fault *at, char *what, size_t size)
{
    const perp_model *m = f->sim->model;
    char all[24] = "";
    if (at->count > 1) {
        pp_print(all, sizeof all, " (worst of %d)", at->count);
    }
    if (at->joint >= 0) {
        pp_print(what, size, "joint '%.36s' was %s by %.3g m or rad%s", m->joint[at->joint].name,
                 at->beyond ? "beyond a limit" : "off", at->value, all);
    } else {
        pp_print(what, size, "'%.26s' and '%.26s' overlapped by %.3g m%s",
                 m->shape[at->shape_a].name, m->shape[at->shape_b].name, at->value, all);
    }
}

// The remark: what was wrong, and which body was moved farthest; an error where one went too far.
static perp_status report_moves(pp_fit *f, const pp_frame *from, const pp_fault *first,
                                perp_error *error)
{
    perp_sim *sim = f->sim;
    const perp_model *m = sim->model;
    // the farthest of all free bodies, for the remark
    double most = 0.0;
    int body = 0;
    for (int i = 0; i < m->bodies; i++) {
        double way, far = m->body[i].nv > 0 ? moved_by(m, i, from, sim->frames, &way) : 0.0;
        if (far > 1.0) {
            return pp_fail(error, PERP_ERR_ARGUMENT,
                           "start: body '%s' would have to move by %.3g m, many times its size; "
                           "correct its position, or set start: as given",
                           m->body[i].name, way);
        }
        if (m->body[i].nv > 0 && way > most) {
            most = way;
            body = i;
        }
    }
    char what[112];
    pp_fit_describe(f, first, what, sizeof what);
    pp_print(sim->info.remark, sizeof sim->info.remark,
             "the initial state was corrected: %s; body '%.32s' was moved by %.3g m", what,
             m->body[body].name, most);
    sim->projected = true;
    return PERP_OK;
}

// Rounds of (K7) until nothing is left, or no round gets nearer. q: room for one state.
static perp_status remove_faults(pp_fit *f, double *q)
{
    perp_sim *sim = f->sim;
    const perp_model *m = sim->model;
    double nearest = f->fault.worst;
    int since = 0;
    for (int k = 0; k < ROUNDS; k++) {
        if (since == STUCK || !(f->fault.worst > DONE)) {
            break;
        }
        double before = f->fault.worst;
        memcpy(q, sim->now.q, (size_t)m->nq * sizeof *q);
        perp_status status = round_once(f);
        pp_sim_keep_turns(sim);
        pp_arena_reset(sim->arena);
        if (status < 0) {
            return status;
        }
        status = pp_fit_look(f);
        if (status < 0) {
            return status;
        }
        // It fits, and the round did not make it better: rounding is reached, the state before is kept.
        if (f->fault.worst <= PP_FITS && !(f->fault.worst < before)) {
            memcpy(sim->now.q, q, (size_t)m->nq * sizeof *q);
            pp_frames(m, &sim->now, sim->frames);
            break;
        }
        since = f->fault.worst < 0.99 * nearest ? 0 : since + 1;
        nearest = fmin(nearest, f->fault.worst);
    }
    return PERP_OK;
}

// A start as given: its faults are closed later, step by step. Smooth equations of motion
// cannot start from it.
static perp_status keep_consistent(pp_fit *f, perp_error *error)
{
    perp_sim *sim = f->sim;
    sim->unfit = f->fault.worst > PP_FITS;
    if (!sim->unfit || sim->def.stepper != PERP_STEPPER_EVENT) {
        return PERP_OK;
    }
    char what[112];
    pp_fit_describe(f, &f->fault, what, sizeof what);
    return pp_fail(error, PERP_ERR_ARGUMENT,
                   "start: %s, from which the stepper event cannot start; set start: mended, or "
                   "use another stepper",
                   what);
}

// Rates that joints do not allow are taken away as by an impact, the least in the metric of the masses: theory
// (K15). Steps of the theta method hold the mean of the rates before and after them, so that with theta = 1/2 a joint that
// starts with the rate v would have -v after the next step, and v again after that. All others end it in their first step.
static perp_status fit_rates(pp_fit *f)
{
    static const pp_scheme scheme = {.stepper = PERP_STEPPER_ANITESCU_POTRA,
                                     .friction = PERP_FRICTION_NONE,
                                     .impact = PERP_IMPACT_NEWTON,
                                     .facets = 8,
                                     .theta = 1.0};
    perp_sim *sim = f->sim;
    pp_gaps none = {0};
    perp_status status = stand_still(f);
    if (status < 0) {
        return status;
    }
    pp_frame *body = PP_ARRAY(sim->arena, pp_frame, sim->model->bodies);
    if (!body) {
        return PERP_ERR_MEMORY;
    }
    pp_frames(sim->model, f->at, body);
    f->kin.poses.body = body;
    status = pp_rows_run(&f->row, sim->model, &f->kin, &f->kin.poses, &none, scheme, &sim->team,
                         sim->arena);
    if (status < 0) {
        return status;
    }
    // Springs, drives and stabilised rows reach their rates in time; of the others they are wanted, without phi / h.
    int kept = 0;
    for (int i = 0; i < f->row.nb; i++) {
        const pp_row *row = &f->row.b[i];
        if (!row->spring && !row->stabilised && !row->drives && row->gamma == 0.0) {
            f->row.b[kept] = f->row.b[i];
            f->row.b[kept++].bias = 0.0;
        }
    }
    f->row.nb = kept;
    f->row.nm = f->row.nn = f->row.nc = f->row.nt = f->row.ng = 0;
    pp_solve_options options = {.tolerance = 1e-15, .impact = PERP_IMPACT_NEWTON};
    pp_solve_inputs inputs = {
        .model = sim->model, .kin = &f->kin, .rows = &f->row, .nu = f->at->nu, .gaps = &none};
    pp_solve_cache cache = {
        .work = sim->work, .threads = sim->def.threads, .team = &sim->team, .env = &sim->env};
    return pp_solve_run(&f->answer, &inputs, &options, &cache, sim->arena);
}

// Moreau-Jean's scheme, bodies' coordinates: the tree's rates are consistent by themselves. A remark names the joint of the
// largest rate that was taken away.
static perp_status fit_start_rates(perp_sim *sim, perp_error *error)
{
    pp_fit f = {.sim = sim, .at = &sim->now, .frames = sim->frames};
    const perp_model *m = sim->model;
    if (sim->def.stepper != PERP_STEPPER_MOREAU_JEAN || sim->tree || m->joints == 0) {
        return PERP_OK;
    }
    pp_arena_reset(sim->arena);
    perp_status status = fit_rates(&f);
    if (status < 0) {
        // any other failure is one of the first step
        return pp_is_final(status) ? refuse_start(&f, status, error) : PERP_OK;
    }
    // v_pre: rates before, in the units of their rows [m/s, rad/s]
    double worst = 0.0, size = pp_norm_inf(m->nv, sim->now.nu);
    int joint = -1;
    for (int i = 0; i < f.row.nb; i++) {
        if (fabs(f.row.b[i].v_pre) > worst) {
            worst = fabs(f.row.b[i].v_pre);
            joint = f.row.b[i].joint;
        }
    }
    if (joint < 0 || !(worst > PP_FITS * fmax(size, 1e-300))) {
        return PERP_OK;
    }
    memcpy(sim->now.nu, f.answer.nu, (size_t)m->nv * sizeof *sim->now.nu);
    pp_frames(m, &sim->now, sim->frames);
    pp_print(sim->info.remark, sizeof sim->info.remark,
             "initial velocities violated joint '%s' by %.3g m/s or rad/s and were corrected",
             m->joint[joint].name, worst);
    return PERP_OK;
}

// Nothing to fit where no body is free. Mended starts leave a remark; what cannot be mended is an error.
static perp_status fit_places(perp_sim *sim, perp_error *error)
{
    pp_fit f = {.sim = sim, .at = &sim->now, .frames = sim->frames};
    const perp_model *m = sim->model;
    sim->unfit = false;
    if (m->nv == 0) {
        return PERP_OK;
    }
    pp_arena_reset(sim->arena);
    perp_status status = pp_fit_look(&f);
    if (status < 0) {
        // any other failure of detection is reported by the first step
        return pp_is_final(status) ? refuse_start(&f, status, error) : PERP_OK;
    }
    if (sim->def.start == PERP_START_AS_GIVEN) {
        return keep_consistent(&f, error);
    }
    pp_fault first = f.fault;
    if (!(first.worst > PP_FITS)) {
        return PERP_OK;
    }
    // the arena of the step is reset in every round
    pp_mark mark = pp_arena_mark(sim->memory);
    pp_frame *from = PP_ARRAY(sim->memory, pp_frame, m->bodies);
    double *q = PP_ARRAY(sim->memory, double, m->nq);
    status = PERP_ERR_MEMORY;
    if (from && q) {
        memcpy(from, sim->frames, (size_t)m->bodies * sizeof *from);
        status = remove_faults(&f, q);
    }
    if (status < 0 || !from || !(f.fault.worst <= PP_FITS)) {
        status = refuse_start(&f, status, error);
    } else {
        pp_sim_keep_turns(sim);
        status = report_moves(&f, from, &first, error);
    }
    pp_arena_release(sim->memory, mark);
    return status;
}

perp_status pp_sim_fit_start(perp_sim *sim, perp_error *error)
{
    perp_status status = fit_places(sim, error);
    bool as_given = sim->def.start == PERP_START_AS_GIVEN || sim->model->nv == 0;
    return status < 0 || as_given ? status : fit_start_rates(sim, error);
}
