// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// perp_step: the pipeline as a table of contents. A step is a transaction: nothing of the state changes
// before commit().
#include "sim/held.h"
#include "sim/parts.h"

#include <math.h>
#include <string.h>

static pp_scheme scheme_of(const perp_sim *sim)
{
    return (pp_scheme){sim->def.stepper, sim->def.friction, sim->def.impact, sim->def.facets,
                       sim->def.theta,   sim->whole,        sim->unfit};
}

// Without inertia: a small mass keeps what nothing pushes where it is, and no momentum is carried over.
static const double QUASISTATIC_MASS = 1e-9;

static perp_status kinematics(perp_sim *sim, double h)
{
    pp_step *s = &sim->step;
    bool middle = sim->def.stepper == PERP_MOREAU_JEAN;
    perp_status status =
        pp_kinematics_run(&s->kin, sim->model, &sim->now, h,
                          middle ? PP_GYRO_NONE : sim->def.gyroscopic, sim->applied, sim->arena);
    double change;
    if (status >= 0 && middle && sim->model->spatial) {
        status = pp_sim_weigh_end(sim, h, &change);
    }
    s->kin.team = &sim->team;
    bool light = status >= 0 && sim->def.stepper == PERP_QUASISTATIC;
    for (int i = 0; light && i < sim->model->bodies; i++) {
        pp_weight_scale(&s->kin.mass[i], QUASISTATIC_MASS);
    }
    return status;
}

// How near shapes must be to be looked at, in steps of an eighth: what was found with the reach of one
// step serves the next one.
static double reach_of(const perp_sim *sim, const pp_kinematics *kin)
{
    int exponent;
    double margin = sim->def.margin;
    double reach = sim->model->shapes > 0 ? pp_gap_reach(sim->model, kin, margin) : margin;
    double part = frexp(reach, &exponent);
    return reach > margin && isfinite(reach) ? ldexp(ceil(8.0 * part) / 8.0, exponent) : reach;
}

// Found where the last step ended, unless the state was changed since, or more is to be looked at.
static perp_status find_gaps(perp_sim *sim)
{
    pp_step *s = &sim->step;
    pp_found *found = &sim->found;
    double reach = reach_of(sim, &s->kin);
    bool known = found->fresh && found->reach == reach;
    perp_status status = PERP_OK;
    if (known) {
        s->gap = found->gaps;
    } else {
        status = pp_gaps_run(&s->gap, sim->model, &s->kin, reach, sim->arena);
    }
    found->fresh = false;  // contacts are turned and dropped below
    if (status >= 0) {
        bool exact = sim->def.stepper == PERP_STEWART_TRINKLE;
        status = pp_gaps_aim(&s->gap, sim->model, &s->kin, reach, exact, sim->arena);
    }
    status = status < 0 ? status
                        : pp_gaps_keep(&s->gap, sim->model, &s->kin, sim->def.margin, sim->arena);
    return status < 0 ? status : pp_sim_still(sim);
}

// The theta method takes joints as they are in the middle of the step, which makes it second order.
static perp_status find_rows(perp_sim *sim, const double *nu, double h)
{
    pp_step *s = &sim->step;
    const perp_model *m = sim->model;
    bool moves = m->joints > 0 || (m->spatial && s->gap.count > 0);
    if (sim->def.stepper == PERP_MOREAU_JEAN && moves) {
        return pp_sim_middle_rows(sim, scheme_of(sim), nu, h);
    }
    pp_kinematics kin = s->kin;
    if (sim->tree) {
        kin.body = pp_tree_carried(sim->tree, kin.t, kin.body, sim->now.turn, sim->arena);
    }
    perp_status status =
        kin.body ? pp_rows_run(&s->row, m, &kin, &kin, &s->gap, scheme_of(sim), sim->arena)
                 : PERP_ERR_MEMORY;
    if (status >= 0) {
        pp_sim_hold(sim);
    }
    if (status >= 0 && pp_sim_closes_exactly(sim) && !sim->tree) {
        status = pp_sim_guess_bend(sim);
    }
    return status >= 0 && sim->tree ? pp_sim_coordinates(sim) : status;
}

// Velocities the step starts from: none are carried over without inertia.
static const double *old_velocities(perp_sim *sim)
{
    if (sim->def.stepper != PERP_QUASISTATIC) {
        return sim->now.nu;
    }
    return PP_ZEROS(sim->arena, double, sim->model->nv);
}

static void take_remark(perp_sim *sim)
{
    const pp_answer *a = &sim->step.answer;
    sim->info.contacts = sim->step.row.nc;
    sim->info.joint_rows = sim->step.row.nb;
    sim->info.problem_size = a->size;
    sim->info.redundant_rows = a->redundant;
    sim->info.motion = a->motion;
    sim->info.impulses = a->impulses;
    sim->info.unique = a->motion == PERP_UNIQUE && a->impulses == PERP_UNIQUE;
    sim->info.motion_apart = a->motion_apart;
    sim->info.impulses_apart = a->impulses_apart;
    sim->info.solver = a->solver;
    sim->info.form = a->form;
    int guessed = sim->info.effort.guessed;
    sim->info.iterations = a->iterations;
    sim->info.effort = a->effort;
    sim->info.effort.guessed = guessed;
    sim->info.effort.work = sim->worked;
    memcpy(sim->info.remark, a->remark, sizeof sim->info.remark);
}

// Bodies that overlap deeply are pushed apart in one step: worth a word.
static void note_overlap(perp_sim *sim)
{
    const perp_model *m = sim->model;
    const pp_contact *deepest = NULL;
    for (int i = 0; i < sim->step.gap.count; i++) {
        const pp_contact *c = &sim->step.gap.contact[i];
        deepest = !deepest || c->gap < deepest->gap ? c : deepest;
    }
    bool pushed = deepest && !sim->unfit && deepest->gap < -1e-2 * m->length_scale;
    if (pushed && !sim->info.remark[0]) {
        pp_print(sim->info.remark, sizeof sim->info.remark,
                 "'%s' and '%s' overlapped by %.3g m and were pushed apart",
                 m->shape[deepest->a].name, m->shape[deepest->b].name, -deepest->gap);
    }
}

// Impulse and moment of a body as one impulse: what turns it acts at its reach.
static double as_impulse(const pp_body *body, const double *x)
{
    double most = 0.0;
    for (int k = 0; k < body->nv; k++) {
        double arm = body->axis[k] < 3 || !(body->reach > 0.0) ? 1.0 : body->reach;
        most = fmax(most, fabs(x[k]) / arm);
    }
    return most;
}

// How fast given motions, belts and drives move what they touch [m/s].
static double given_speed(const perp_sim *sim)
{
    const perp_model *m = sim->model;
    const pp_rows *rows = &sim->step.row;
    const pp_row *all[] = {rows->b, rows->m, rows->n, rows->t};
    const int count[] = {rows->nb, rows->nm, rows->nn, rows->nt};
    double most = 0.0;
    for (int k = 0; k < 4; k++) {
        for (int i = 0; i < count[k]; i++) {
            const pp_row *row = &all[k][i];
            double reach = 0.0;
            for (int j = 0; j < row->count; j++) {
                reach = fmax(reach, m->body[row->body[j]].reach);
            }
            most = fmax(most, fabs(row->rate) * (pp_scale_is_length(m, row) ? 1.0 : reach));
        }
    }
    return most;
}

// Without inertia a body that nothing holds has no velocity: only the small mass stops it. What is held moves with what drives
// it, or by a lever a hundred times as fast.
static perp_status check_held(perp_sim *sim)
{
    const perp_model *m = sim->model;
    const pp_step *s = &sim->step;
    double push = 0.0, given = 100.0 * QUASISTATIC_MASS * given_speed(sim), left[PP_BODY_NV];
    for (int i = 0; i < m->bodies; i++) {
        push = fmax(push, as_impulse(&m->body[i], s->kin.p_ext + m->body[i].at));
    }
    for (int i = 0; i < m->bodies; i++) {
        const pp_body *body = &m->body[i];
        pp_body_mul(body, &s->kin.mass[i], s->answer.nu + body->at, left);
        if (body->nv > 0 && as_impulse(body, left) > 1e-6 * push + given * body->mass) {
            bool proved = pp_sim_cannot_balance(sim);
            pp_print(sim->info.remark, sizeof sim->info.remark,
                     proved ? "quasistatic: nothing holds body '%s' against the forces on it"
                            : "not solved: the forces on body '%s' are not balanced",
                     body->name);
            return proved ? PERP_ERR_INFEASIBLE : PERP_ERR_LIMIT;
        }
    }
    return PERP_OK;
}

bool pp_sim_is_worked_off(const perp_sim *sim)
{
    return sim->def.max_work > 0.0 && sim->worked >= sim->def.max_work;
}

static perp_status note_work(perp_sim *sim, const char *where)
{
    char part[40] = "";
    if (sim->parts.count > 0) {
        pp_print(part, sizeof part, " after %d parts of it", sim->parts.count);
    }
    pp_print(sim->info.remark, sizeof sim->info.remark,
             "not solved: the work of a step, %.6g factorisations, is used up%s: %s",
             sim->def.max_work, part, where);
    return PERP_ERR_LIMIT;
}

perp_status pp_sim_solve(perp_sim *sim, const double *nu)
{
    bool quasistatic =
        sim->def.stepper == PERP_QUASISTATIC;  // light bodies: impulses must be exact
    double left = sim->def.max_work > 0.0 ? sim->def.max_work - sim->worked : 0.0;
    if (pp_sim_is_worked_off(sim)) {
        sim->info.effort.work = sim->worked;
        return note_work(sim, "nothing is left for what was still to be solved");
    }
    pp_solve_options options = {.form = sim->def.form,
                                .solver = sim->def.solver,
                                .tolerance = quasistatic ? fmin(sim->def.tolerance, 1e-12)
                                                         : sim->def.tolerance,
                                .max_iterations = sim->def.max_iterations,
                                .max_work = left,
                                .deadline = sim->deadline,
                                .impact = sim->def.impact,
                                .warm = pp_sim_guess(sim),
                                .gaps = &sim->step.gap,
                                .work = sim->work,
                                .in = sim->tree ? &sim->step.in : NULL,
                                .joints = sim->joints,
                                .contacts = sim->touching,
                                .islands = sim->islands,
                                .threads = sim->def.threads,
                                .env = &sim->env};
    options.fresh = sim->info.effort.guessed == 0;
    pp_step *s = &sim->step;
    perp_status status =
        pp_solve_run(&s->answer, sim->model, &s->kin, &s->row, nu, &options, sim->arena);
    sim->worked += s->answer.effort.work;
    take_remark(sim);
    if (s->answer.worked_off) {
        return note_work(sim, s->answer.remark);
    }
    perp_status held =
        status >= 0 && sim->def.stepper == PERP_QUASISTATIC ? check_held(sim) : PERP_OK;
    return held < 0 ? held : status;
}

// Given motions may end where no number is.
static perp_status finite_frames(perp_sim *sim)
{
    for (int i = 0; i < sim->model->bodies; i++) {
        const pp_frame *f = &sim->step.end.body[i];
        if (!pp_finite3(f->p) || !pp_finite3(f->v) || !pp_finite3(f->w) ||
            !isfinite(pp_quat_norm(f->rot))) {
            pp_print(sim->info.remark, sizeof sim->info.remark,
                     "the motion of body '%s' is not finite at t = %.9g", sim->model->body[i].name,
                     sim->step.end.t);
            return PERP_ERR_NUMERIC;
        }
    }
    return PERP_OK;
}

// A driven body whose place does not follow from its velocity may pass over what is in its way.
static void note_jumps(perp_sim *sim, double h)
{
    for (int i = 0; i < sim->model->bodies; i++) {
        const pp_frame *from = &sim->step.kin.body[i], *to = &sim->step.end.body[i];
        if (sim->model->body[i].drive != PERP_DRIVEN || sim->info.remark[0]) {
            continue;
        }
        double step = pp_length(pp_sub(to->p, from->p));
        double off = pp_length(pp_sub(to->p, pp_along(from->p, h, from->v)));
        if (off > fmax(sim->def.margin, 0.5 * step) && off > 0.1 * sim->model->length_scale) {
            pp_print(sim->info.remark, sizeof sim->info.remark,
                     "driven body '%s' jumps by %.3g m: what is in its way is not seen",
                     sim->model->body[i].name, off);
        }
    }
}

enum { MIDDLE_ROUNDS = 25 };
static const double MIDDLE_FOUND = 1e-13;  // of the velocities

// The middle of the step, and the inertia at its end, depend on the answer: found by going round. off: how far
// the last round moved the velocities, of their size.                                     theory (S9)
static perp_status go_round(perp_sim *sim, const double *nu, double h, double *off, double *size)
{
    const perp_model *m = sim->model;
    pp_step *s = &sim->step;
    double *last = PP_ARRAY(sim->arena, double, m->nv), given = 0.0;
    perp_status status = last ? PERP_OK : PERP_ERR_MEMORY;
    if (last) {  // joints may hold what the forces move
        pp_masses_solve(m, s->kin.mass, s->kin.p_ext, last);
        given = pp_norm_inf(m->nv, last);
    }
    for (int round = 0; round < MIDDLE_ROUNDS && status >= 0; round++) {
        double turned = 0.0, before = *off;
        *size = fmax(given, pp_norm_inf(m->nv, s->answer.nu));
        memcpy(last, s->answer.nu, (size_t)m->nv * sizeof *last);
        status = m->spatial ? pp_sim_weigh_end(sim, h, &turned) : PERP_OK;
        status = status < 0 ? status : find_rows(sim, last, h);
        status = status < 0 ? status : pp_sim_solve(sim, nu);
        *off = status < 0 ? 0.0 : pp_sim_moved(sim, last, *size);
        if (*off <= MIDDLE_FOUND || (round > 3 && *off <= PP_MIDDLE_LOST && *off >= 0.5 * before)) {
            break;
        }
    }
    return status;
}

static perp_status solve_middle(perp_sim *sim, const double *nu, double h)
{
    const perp_model *m = sim->model;
    pp_step *s = &sim->step;
    double off = 0.0, size = 0.0;
    perp_status status = pp_sim_solve(sim, nu);
    bool rows = s->row.nb + s->row.nm + s->row.nn > 0;
    bool goes = sim->def.stepper == PERP_MOREAU_JEAN && rows && (m->joints > 0 || m->spatial);
    if (goes && status >= 0) {
        status = go_round(sim, nu, h, &off, &size);
    }
    if (goes && s->acted && (status < 0 || off > PP_MIDDLE_LOST) && status != PERP_ERR_MEMORY) {
        s->stay = true;  // contacts that come and go on the way: where they were found
        off = 0.0;
        status = find_rows(sim, sim->now.nu, h);
        status = status < 0 ? status : pp_sim_solve(sim, nu);
        status = status < 0 ? status : go_round(sim, nu, h, &off, &size);
    }
    pp_sim_note_middle(sim, off, size);
    return status;
}

perp_status pp_sim_solve_again(perp_sim *sim, const double *nu, double h)
{
    perp_status status = find_rows(sim, sim->now.nu, h);
    return status < 0 ? status : solve_middle(sim, nu, h);
}

// The answer, unless the step has to be divided: then part < h, and the first part that it has.
static perp_status solve_impacts(perp_sim *sim, const double *nu, double h, double *part)
{
    *part = pp_sim_divide_before(sim, h);
    if (*part < h) {
        return PERP_OK;
    }
    perp_status status = solve_middle(sim, nu, h);
    *part = pp_sim_divide_after(sim, h, status);
    if (*part < h) {
        return PERP_OK;
    }
    perp_status tempered = status < 0 ? status : pp_sim_temper(sim, nu, h);
    return tempered < 0 ? tempered : status;
}

static perp_status integrate(perp_sim *sim, const double *nu, double h)
{
    perp_status status = pp_sim_close(sim, nu, h);
    status = status < 0 ? status : pp_sim_work_off(sim, h);
    if (status < 0) {
        return status;
    }
    note_jumps(sim, h);
    return pp_all_finite((size_t)sim->model->nq, sim->next.q) ? finite_frames(sim)
                                                              : PERP_ERR_NUMERIC;
}

// Contacts where the step ends, found anew for the certificate, as far as the next step will look.
static perp_status find_end(perp_sim *sim)
{
    pp_found *found = &sim->found;
    pp_kinematics at = sim->step.end;
    pp_arena *arena = found->arena[1 - found->last];
    at.mass = sim->step.kin.mass;
    at.p_ext = sim->step.kin.p_ext;
    at.team = &sim->team;
    pp_arena_reset(arena);
    found->last = 1 - found->last;
    found->reach = reach_of(sim, &at);
    return pp_gaps_run(&found->gaps, sim->model, &at, found->reach, arena);
}

// A step whose laws are off by as much as there is motion, or that creates as much energy as there is, is none: a
// million times the limits, which are a millionth of that.
static const double WORTHLESS = 1e6;

static bool is_worthless(const perp_certificate *c)
{
    return c->relative[PERP_JUDGED_RESIDUAL] > WORTHLESS ||
           c->relative[PERP_JUDGED_ENERGY] > WORTHLESS;
}

static perp_status certify(perp_sim *sim, const double *nu, double h, double *part)
{
    const pp_step *s = &sim->step;
    bool quasistatic = sim->def.stepper == PERP_QUASISTATIC;
    perp_status found = find_end(sim);
    *part = found < 0 ? h : pp_sim_divide_end(sim, h);
    if (found < 0 || *part < h) {
        return found;
    }
    pp_gaps acting = {s->gap.count, s->acted ? s->acted : s->gap.contact};
    pp_evidence e = {.model = sim->model,
                     .kin = &s->kin,
                     .p_ext = s->push_l ? s->push_l : s->kin.p_ext,
                     .middle = s->middle.body,
                     .gaps = &acting,
                     .rows = &s->row,
                     .nu_old = nu,
                     .nu = s->answer.nu,
                     .pb = s->answer.pb,
                     .pm = s->answer.pm,
                     .pn = s->answer.pn,
                     .pt = s->answer.pt,
                     .end = &s->end,
                     .gaps_end = &sim->found.gaps,
                     .polygons = s->answer.form != PERP_FORM_CONE,
                     .impact = s->answer.impact,
                     .stepper = sim->def.stepper,
                     .rotation = sim->def.rotation,
                     .gyroscopic = sim->def.gyroscopic,
                     .whole = sim->whole,
                     .rates = sim->unfit,
                     .exact = pp_sim_closes_exactly(sim),
                     .along_joints = sim->tree != NULL,
                     .theta = pp_sim_theta(sim),
                     .inertia = quasistatic ? QUASISTATIC_MASS : 1.0,
                     .slack = pp_slack_of(sim->def.tolerance),
                     .applied = sim->applied};
    perp_status status =
        pp_certify(&sim->info.certificate, &sim->info.energy, &e, &sim->def.limits, sim->arena);
    perp_certificate *c = &sim->info.certificate;
    if (status >= 0 && s->middle_off > 0.0) {  // of equations that the rows do not have
        pp_hold(c, &sim->def.limits, PERP_JUDGED_RESIDUAL, s->middle_off, e.slack * s->middle_size);
        c->passed = pp_certificate_passes(c);
    }
    *part = status < 0 ? h : pp_sim_divide_judged(sim, h);
    if (*part < h) {
        return PERP_OK;
    }
    if (status >= 0 && is_worthless(&sim->info.certificate)) {
        pp_print(
            sim->info.remark, sizeof sim->info.remark,
            "not solved: what was found is off by as much as it moves (residual %.3g m/s, energy "
            "created %.3g J)",
            sim->info.certificate.residual, sim->info.certificate.energy_created);
        return PERP_ERR_LIMIT;
    }
    status = status < 0 ? status : pp_sim_report(sim);
    return status < 0 ? status : sim->info.certificate.passed ? PERP_OK : PERP_INEXACT;
}

// The only place that changes the state.
void pp_sim_commit(perp_sim *sim)
{
    pp_state old = sim->now;
    pp_sim_clock_step(sim, sim->step.end.h);
    sim->now = sim->next;
    sim->next = old;
    sim->unfit = sim->step.unfit;
    memcpy(sim->frames, sim->step.end.body, (size_t)sim->model->bodies * sizeof *sim->frames);
    sim->found.fresh = true;
    memcpy(sim->pushed, sim->applied, (size_t)sim->model->bodies * sizeof *sim->applied);
    memset(sim->applied, 0, (size_t)sim->model->bodies * sizeof *sim->applied);
}

// A failed step: what went wrong, and the state as it was.
static perp_status fail(perp_sim *sim, perp_status status)
{
    const char *remark = sim->info.remark;
    sim->info.status = status;
    return pp_fail(&sim->error, status, "step at t = %.9g: %s", sim->now.t,
                   remark[0] ? remark : perp_status_text(status));
}

// Run a stage: charge its time, tell the observer, leave at the first failure, keep the worst remark.
#define STAGE(NAME, call)                                                                          \
    do {                                                                                           \
        perp_status result = (call);                                                               \
        double now = pp_seconds();                                                                 \
        sim->info.seconds[PERP_STAGE_##NAME] = now - clock;                                        \
        clock = now;                                                                               \
        if (result < 0) {                                                                          \
            return fail(sim, result);                                                              \
        }                                                                                          \
        status = result > status ? result : status;                                                \
        if (sim->def.on_stage) {                                                                   \
            sim->def.on_stage(sim->def.user, sim, PERP_STAGE_##NAME);                              \
        }                                                                                          \
    } while (0)

// A list of stages: what the checker counts are the branches inside STAGE.
// NOLINTNEXTLINE(readability-function-cognitive-complexity)
perp_status pp_sim_attempt(perp_sim *sim, double h, double *part)
{
    pp_step *s = &sim->step;
    perp_status status = PERP_OK;
    pp_arena_reset(sim->arena);
    *s = (pp_step){0};
    sim->info = (perp_step_info){.parts = 1};
    if (sim->def.stepper == PERP_EVENT) {
        sim->info.status = status = pp_sim_event_step(sim, h);
        return status < 0 ? fail(sim, status) : status;
    }
    const double *nu = old_velocities(sim);
    if (sim->model->nv > 0 && !nu) {
        return fail(sim, PERP_ERR_MEMORY);
    }
    double clock = pp_seconds();
    // clang-format off
    STAGE(KINEMATICS, kinematics(sim, h));                                            // X_WB M p_ext
    STAGE(GAP,        find_gaps(sim));                                                // psi n
    STAGE(CONSTRAINT, find_rows(sim, sim->now.nu, h)); // Wb Wn Wf
    if (sim->def.max_seconds > 0.0 && sim->deadline == 0.0) {
        sim->deadline = clock + sim->def.max_seconds;
    }
    STAGE(SOLVE,      solve_impacts(sim, nu, h, part));                                                // A b z
    if (*part < h) {
        return PERP_OK;
    }
    note_overlap(sim);
    STAGE(INTEGRATE,  integrate(sim, nu, h));                                             // nu q
    STAGE(CERTIFY,    certify(sim, nu, h, part));                                              // what is true
    // clang-format on
    if (*part < h) {
        return PERP_OK;
    }
    s->solved = true;
    sim->info.status = status;
    return status;
}

perp_status perp_step(perp_sim *sim, double h)
{
    if (!sim) {
        return PERP_ERR_ARGUMENT;
    }
    const perp_model *m = sim->model;
    if (!(h > 0.0) || !isfinite(h)) {
        return pp_fail(&sim->error, PERP_ERR_ARGUMENT, "step: h must be positive, got %g", h);
    }
    if (sim->refused.i >= 0) {
        const char *name = m->body[sim->refused.i].name;
        sim->refused.i = -1;
        return pp_fail(&sim->error, PERP_ERR_ARGUMENT,
                       "step: body '%s' was given a force or torque that is not finite; it was not "
                       "applied",
                       name);
    }
    sim->projected = sim->parts.done = false;
    sim->parts.stop = PP_PARTS_ALL;
    pp_sim_keep_none(sim);
    sim->parts.count = 0;
    sim->parts.judged_h = 0.0;
    sim->whole = h;
    sim->worked = 0.0;
    sim->deadline = 0.0;
    sim->error.text[0] = '\0';
    double part = h;
    perp_status status = pp_sim_attempt(sim, h, &part);
    if (status >= 0 && part < h) {
        return pp_sim_take_parts(sim, h, part);
    }
    if (status >= 0) {
        pp_sim_commit(sim);
    }
    return status;
}
