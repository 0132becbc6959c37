// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Exact positions of the theta method, and of linear steps of scenes without joints: after each step joints, limits and gaps
// are closed by the least move in the metric of the masses. Velocities stay, since the step has brought them to the rates
// that its laws ask for.
//
//   M d = W(q) rho,   phi(q) = 0,   0 <= rho_n _|_ psi(q) >= 0,   q = q_rule + d                       theory (I9)
//
// This is the implicit step of a scene at rest without forces and friction, with h = 1 and d in place of the velocities. It
// is recorded as a part of the step of its own, so that the way, its multipliers and where it ends can be judged.
//
// A start that is kept as given is closed in the same way by every scheme, a part of its errors after each step:
// phi(q) = phi_rest, psi(q) >= psi_rest. So are overlaps and openings that have grown over many steps, since rows do not take them back.
//                                                                                                     theory (K8)
#include "sim/step/fit.h"
#include "sim/step/parts.h"

#include <math.h>
#include <string.h>

enum { ROUNDS = 20 };
// Of the thickness of a shape, or of a joint's arm:
static const double CLOSED = 1e-11;  // nothing to do
static const double ACCEPTED =
    1e-9;  // what rounding may leave: a tenth of what the certificate allows, (K14)
static const double SETTLED =
    1e-8;  // change of d between rounds, of its size: rows are those of the end
// Likewise, of the length of the model; and ways of multipliers that are none.
static const double ROUNDING = 1e-13, NOTHING = 1e-14;
// Of the thickness or the arm: what a step closes at most of a start as given, and where such a start fits.      theory (K8)
static const double A_STEP = 0.05;

// Errors that a closing leaves to later ones [m, rad]: of two shapes that overlap, negative; of the rows of joints, in
// their order, and of limits.
typedef struct pair_rest {
    int a, b;
    double gap;
} pair_rest;

typedef struct close_rest {
    int pairs, joints, limits;
    pair_rest *pair;
    double *joint, *limit;
} close_rest;

bool pp_sim_closes_after(const perp_sim *sim)
{
    perp_stepper by = sim->def.stepper;
    bool linear = by == PERP_STEPPER_STEWART_TRINKLE || by == PERP_STEPPER_ANITESCU_POTRA;
    bool closes = by == PERP_STEPPER_MOREAU_JEAN || (linear && sim->model->joints == 0);
    return sim->unfit || (sim->def.positions == PERP_POSITIONS_EXACT && !sim->tree && closes);
}

// Places the bodies of the fit where d leads from the end that the rule of the step gave them.
static void move_from(pp_fit *f, const pp_state *rule, const double *d, double *scratch)
{
    const pp_advance by = {1.0, 1.0, 1.0, PERP_ROTATION_EXPONENTIAL};
    pp_state moved = *f->at;
    moved.nu = scratch;  // velocities stay
    pp_integrate(&moved, f->sim->model, rule, d, &by);
    pp_frames(f->sim->model, f->at, f->frames);
}

// Tangents where the bodies are, taken back by the way d so far: J d' + (value - J d) = 0.            theory (I2)
static void shift_rows(const perp_model *m, pp_rows *row, const double *d)
{
    for (int i = 0; i < row->nb; i++) {
        row->b[i].bias -= pp_row_rate(m, &row->b[i], d);
    }
    for (int i = 0; i < row->nn; i++) {
        row->n[i].bias -= pp_row_rate(m, &row->n[i], d);
    }
}

// What the row of a joint or limit is measured by: the arm of the joint where it is a length, one radian where it is an angle.
static double unit_of_row(const perp_model *m, const pp_row *row)
{
    const pp_joint *j = &m->joint[row->joint];
    double unit = pp_scale_is_length(m, row) ? pp_scale_arm(m, j) : 1.0;
    return j->kind == PERP_JOINT_COUPLING ? unit * pp_scale_coupling(m, row) : unit;
}

// What is left where at most `most` of each thickness and arm is closed. Points of a pair follow each other; all of them rise
// to where the deepest one does.                                                                      theory (K8)
static perp_status find_rest(pp_fit *f, double most, close_rest *out)
{
    const perp_model *m = f->sim->model;
    const pp_gaps *gap = &f->gap;
    perp_status status = pp_fit_rows(f);
    int limits = f->row.nn - f->row.nc;
    *out = (close_rest){.pair = PP_ARRAY(f->sim->arena, pair_rest, gap->count),
                        .joint = PP_ARRAY(f->sim->arena, double, f->row.nb),
                        .limit = PP_ARRAY(f->sim->arena, double, limits)};
    if (status < 0) {
        return status;
    }
    if ((gap->count > 0 && !out->pair) || (f->row.nb > 0 && !out->joint) ||
        (limits > 0 && !out->limit)) {
        return PERP_ERR_MEMORY;
    }
    for (int i = 0; i < gap->count; i++) {
        const pp_contact *c = &gap->contact[i];
        // scales are hundredths of the lengths
        double left = c->gap + most * 100.0 * pp_scale_overlap(m, c->a, c->b);
        pair_rest *last = out->pairs > 0 ? &out->pair[out->pairs - 1] : NULL;
        if (last && last->a == c->a && last->b == c->b) {
            last->gap = fmin(last->gap, left);
        } else if (left < 0.0) {
            out->pair[out->pairs++] = (pair_rest){c->a, c->b, left};
        }
    }
    for (int i = 0; i < f->row.nb; i++) {
        double by = most * unit_of_row(m, &f->row.b[i]), off = f->row.b[i].bias;
        out->joint[i] = off - pp_clamp(off, -by, by);
    }
    for (int i = 0; i < limits; i++) {
        const pp_row *row = &f->row.n[f->row.nc + i];
        out->limit[i] = fmin(0.0, row->bias + most * unit_of_row(m, row));
    }
    out->joints = f->row.nb;
    out->limits = limits;
    return PERP_OK;
}

static double rest_of_pair(const close_rest *rest, int a, int b)
{
    for (int i = 0; i < rest->pairs; i++) {
        if (rest->pair[i].a == a && rest->pair[i].b == b) {
            return rest->pair[i].gap;
        }
    }
    return 0.0;
}

// Rows ask for these errors in place of none. Rows of joints and limits are the same ones wherever the bodies are.
static void leave_rest(pp_fit *f, const close_rest *rest)
{
    pp_rows *row = &f->row;
    for (int i = 0; i < row->nb && i < rest->joints; i++) {
        row->b[i].bias -= rest->joint[i];
    }
    for (int i = 0; i < row->nn; i++) {
        const pp_contact *c = i < row->nc ? &f->gap.contact[row->contact[i]] : NULL;
        if (c) {
            row->n[i].bias -= rest_of_pair(rest, c->a, c->b);
        } else if (i - row->nc < rest->limits) {
            row->n[i].bias -= rest->limit[i - row->nc];
        }
    }
}

// Damping gives way by gamma rho. The multipliers of the round before, given back, make what is left of rows second order in
// the change of rho, and nothing where the way has settled (proximal points).
static void return_damping(pp_rows *row, const double *pb)
{
    for (int i = 0; i < row->nb; i++) {
        row->b[i].bias -= row->b[i].gamma * pb[i];
    }
}

// Whether two ways are the same but for rounding: turns count at the reach of their body.
static bool is_settled(const perp_model *m, const double *from, const double *to)
{
    double off = 0.0, size = 0.0;
    for (int i = 0; i < m->bodies; i++) {
        const pp_body *body = &m->body[i];
        for (int k = 0; k < body->nv; k++) {
            double arm = body->axis[k] < 3 || !(body->reach > 0.0) ? 1.0 : body->reach;
            off = fmax(off, arm * fabs(to[body->at + k] - from[body->at + k]));
            size = fmax(size, arm * fabs(to[body->at + k]));
        }
    }
    return off <= SETTLED * size + ROUNDING * m->length_scale;
}

// Solvers end with multipliers of open contacts that are rounding, of either sign: what would move nothing by more than
// that does not push, as the balance then shows.
static void drop_rounding(pp_fit *f, const pp_inertia *mass)
{
    const perp_model *m = f->sim->model;
    for (int i = 0; i < f->row.nn; i++) {
        double way = f->answer.pn[i] * pp_row_mobility(m, mass, &f->row.n[i]);
        f->answer.pn[i] = way > NOTHING * m->length_scale ? f->answer.pn[i] : 0.0;
    }
}

// Newton's method for (I9). True: closed, up to `rest` (NULL: none); false: not, and the bodies are where the rule of the step
// left them. *status < 0: memory or time ran out.
static bool find_way(pp_fit *f, const pp_state *rule, const close_rest *rest, double *d,
                     perp_status *status)
{
    const perp_model *m = f->sim->model;
    pp_inertia *mass = f->kin.mass;
    double best = HUGE_VAL;
    const double *pb = NULL;  // multipliers of the last round
    double *scratch = PP_ARRAY(f->sim->arena, double, m->nv);
    if (!scratch) {
        *status = PERP_ERR_MEMORY;
        return false;
    }
    for (int round = 0; round < ROUNDS; round++) {
        *status = pp_fit_rows(f);
        if (*status < 0) {
            break;
        }
        shift_rows(m, &f->row, d);
        if (rest) {
            leave_rest(f, rest);
        }
        if (pb) {
            return_damping(&f->row, pb);
        }
        f->kin.mass = mass;  // of the place that the way starts from
        *status = pp_fit_solve(f);
        if (*status < 0 || !f->answer.nu || !pp_all_finite((size_t)m->nv, f->answer.nu)) {
            break;
        }
        pb = f->answer.pb;
        bool settled = is_settled(m, d, f->answer.nu);
        memcpy(d, f->answer.nu, (size_t)m->nv * sizeof *d);
        move_from(f, rule, d, scratch);
        pp_rows row = f->row;
        pp_gaps gap = f->gap;
        pp_answer answer = f->answer;
        *status = pp_fit_look(f);
        if (*status < 0) {
            break;
        }
        // of what is left a settled way has no more than rounding
        double worst = rest ? 0.0 : f->fault.worst;
        bool stays = !(worst < 0.5 * best) || worst <= CLOSED;
        if (worst <= ACCEPTED && settled && stays) {
            // multipliers belong to the contacts and rows of the last solve
            f->row = row;
            f->gap = gap;
            f->answer = answer;
            drop_rounding(f, mass);
            return true;
        }
        best = fmin(best, worst);
    }
    memset(d, 0, (size_t)m->nv * sizeof *d);
    move_from(f, rule, d, scratch);
    return false;
}

// Contacts that pushed, as a recording has them: pn is the multiplier [kg m].
static perp_status show_contacts(const pp_fit *f, pp_stored_part *part)
{
    perp_contact *to = PP_ZEROS(f->sim->arena, perp_contact, (size_t)f->row.nc + 1);
    if (!to) {
        return PERP_ERR_MEMORY;
    }
    part->contact = to;
    for (int n = 0; n < f->row.nc; n++) {
        const pp_contact *c = &f->gap.contact[f->row.contact[n]];
        if (!(f->answer.pn[n] > 0.0)) {
            continue;
        }
        to[part->contacts++] = (perp_contact){.a = {c->a},
                                              .b = {c->b},
                                              .feature = c->feature,
                                              .point_W = c->point,
                                              .normal_W = c->n,
                                              .tangent_W = c->t,
                                              .pn = f->answer.pn[n],
                                              .mode = PERP_CONTACT_SLIP};
    }
    return PERP_OK;
}

// The same of joints: what perp_sim_joint reports where the rows and multipliers of the closing are those of the step.
static perp_status show_joints(const pp_fit *f, pp_stored_part *part)
{
    perp_sim *sim = f->sim;
    const perp_model *m = sim->model;
    perp_joint_state *joint = PP_ARRAY(sim->arena, perp_joint_state, m->joints);
    if (m->joints > 0 && !joint) {
        return PERP_ERR_MEMORY;
    }
    pp_step step = sim->step;
    sim->step.row = f->row;
    sim->step.answer = f->answer;
    sim->step.middle = (pp_poses){
        .t = sim->now.t, .body = sim->frames, .turn = sim->now.turn, .drive = sim->now.drive};
    for (int i = 0; i < m->joints; i++) {
        joint[i] = perp_sim_joint(sim, (perp_joint){i});
    }
    sim->step = step;
    part->joint = joint;
    return PERP_OK;
}

// Energies of the bodies where they are [J].
static perp_energy energy_of(const perp_sim *sim)
{
    const perp_model *m = sim->model;
    pp_poses now = {
        .t = sim->now.t, .body = sim->frames, .turn = sim->now.turn, .drive = sim->now.drive};
    perp_energy e = {.kinetic = pp_rotor_energy(m, &now),
                     .potential = pp_potential(m, sim->frames) + pp_joint_energy(m, &now)};
    for (int i = 0; i < m->bodies; i++) {
        const pp_body *b = &m->body[i];
        const pp_frame *f = &sim->frames[i];
        if (b->nv > 0) {
            perp_vec3 w = pp_mul_t(&f->R, f->w);
            e.kinetic += 0.5 * (b->mass * pp_dot3(f->v, f->v) + pp_dot3(w, pp_mul(&b->I_B, w)));
        }
    }
    return e;
}

// The closing as a part of the step, with a certificate of its own, and its share of the sums in `info`.
// share: see pp_closing_evidence.
static perp_status judge_closing(pp_fit *f, const pp_poses *from, const perp_energy *before,
                                 double share, perp_step_info *info)
{
    perp_sim *sim = f->sim;
    const perp_energy now = energy_of(sim);
    // the commit has put the state before the step into `next`
    pp_frame *start = PP_ARRAY(sim->arena, pp_frame, sim->model->bodies);
    pp_poses to = {
        .t = sim->now.t, .body = sim->frames, .turn = sim->now.turn, .drive = sim->now.drive};
    pp_closing_evidence e = {.model = sim->model,
                             .start = start,
                             .from = from,
                             .h = sim->step.h,
                             .to = &to,
                             .gaps = &f->gap,
                             .rows = &f->row,
                             .pb = f->answer.pb,
                             .pn = f->answer.pn,
                             .share = share,
                             .light = sim->def.stepper == PERP_STEPPER_QUASISTATIC,
                             .slack = pp_slack_of(sim->def.tolerance)};
    if (!start) {
        return PERP_ERR_MEMORY;
    }
    pp_frames(sim->model, &sim->next, start);
    pp_stored_part part = {.kind = PERP_PART_CLOSE,
                           .t = sim->now.t,
                           .q = sim->now.q,
                           .nu = sim->now.nu,
                           .body = sim->frames};
    perp_certificate c;
    perp_status status = pp_certify_closing(&c, &e, &sim->def.limits, sim->arena);
    if (status < 0) {
        return status;
    }
    double change = now.kinetic + now.potential - before->kinetic - before->potential;
    info->energy.kinetic += now.kinetic - before->kinetic;
    info->energy.potential += now.potential - before->potential;
    info->energy.dissipated -= change;
    part.info = (perp_step_info){.status = c.passed ? PERP_OK : PERP_INEXACT,
                                 .certificate = c,
                                 .energy = info->energy,
                                 .unique = true,
                                 .motion = PERP_UNIQUENESS_PROVED,
                                 .impulses = PERP_UNIQUENESS_UNKNOWN,
                                 .parts = 1};
    part.info.energy.work = 0.0;
    part.info.energy.dissipated = -change;
    // the path is that of the step; an end that is closed is held against less than one that is not
    bool clear = info->certificate.path_clear;
    pp_certificate_worst(&info->certificate, &c);
    info->certificate.passed = info->certificate.passed && c.passed;
    info->certificate.path_clear = clear;
    if (f->row.nb + f->row.nn == 0) {
        return c.passed ? PERP_OK : PERP_INEXACT;
    }
    status = show_contacts(f, &part);
    if (status < 0) {
        return status;
    }
    status = show_joints(f, &part);
    if (status < 0) {
        return status;
    }
    status = pp_sim_store_part(sim, &part);
    return status < 0 || c.passed ? status : PERP_INEXACT;
}

// A closing by parts, of a start as given or of errors that have grown. Where no way is found bodies stay, and the certificate of the next step shows what
// they overlap by.
static bool take_back(pp_fit *f, const pp_state *rule, double share, double *d,
                      perp_step_info *info, perp_status *status)
{
    perp_sim *sim = f->sim;
    close_rest rest;
    char what[112];
    bool off = f->fault.worst > PP_FITS;
    if (off) {
        pp_fit_describe(f, &f->fault, what, sizeof what);
        pp_print(info->remark, sizeof info->remark,
                 sim->unfit ? "the initial state was kept: %s, which is reduced step by step"
                            : "%s, which has grown over many steps and is taken back",
                 what);
    }
    *status = off ? find_rest(f, A_STEP * share, &rest) : PERP_OK;
    bool moved = off && *status >= 0 && find_way(f, rule, &rest, d, status);
    if (moved && sim->tree) {
        *status = pp_sim_project_to_tree(sim);
        moved = *status >= 0;
    }
    // find_way has left the faults of the new places
    sim->unfit = sim->unfit && off && !(moved && f->fault.worst <= PP_FITS);
    return moved;
}

// The part of a step that was just committed, and added to `info`, is closed.
perp_status pp_sim_close(perp_sim *sim, perp_step_info *info)
{
    const perp_model *m = sim->model;
    pp_fit f = {.sim = sim, .at = &sim->now, .frames = sim->frames};
    pp_state rule = sim->now;
    pp_frame *body = PP_ARRAY(sim->arena, pp_frame, m->bodies);
    double *d = PP_ZEROS(sim->arena, double, (size_t)m->nv);
    rule.q = PP_ARRAY(sim->arena, double, m->nq);
    double *turn = PP_ARRAY(sim->arena, double, m->joints);
    if (!body || (m->nv > 0 && (!d || !rule.q)) || (m->joints > 0 && !turn)) {
        return PERP_ERR_MEMORY;
    }
    memcpy(body, sim->frames, (size_t)m->bodies * sizeof *body);
    memcpy(rule.q, sim->now.q, (size_t)m->nq * sizeof *rule.q);
    if (m->joints > 0) {
        memcpy(turn, sim->now.turn, (size_t)m->joints * sizeof *turn);
    }
    const perp_energy before = energy_of(sim);
    const pp_poses from = {.t = sim->now.t, .body = body, .turn = turn, .drive = sim->now.drive};
    perp_status status = pp_fit_look(&f);
    if (status < 0) {
        return status;
    }
    bool partly = sim->unfit || !pp_sim_closes_after(sim);
    double share = partly ? sim->step.h / sim->whole : 0.0;
    bool moved = partly ? take_back(&f, &rule, share, d, info, &status)
                        : f.fault.worst > CLOSED && find_way(&f, &rule, NULL, d, &status);
    if (pp_is_final(status)) {
        return status;
    }
    if (moved) {
        pp_sim_keep_turns(sim);
        sim->contact_cache.valid = false;
    } else {  // nothing to close, or no way: the certificate shows which
        f.row = (pp_rows){0};
    }
    return judge_closing(&f, &from, &before, share, info);
}
