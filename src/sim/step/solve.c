// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Impulses and velocities of a step: the problem of its rows handed to solve/, again where the rows depend on the answer
// (theta method), and the reasons to fail it: work that is used up, forces that nothing balances (quasistatic).
#include "sim/step/held.h"
#include "sim/step/implicit.h"

#include <math.h>
#include <string.h>

// Rows that take a degree of freedom: springs, servos and rotors give way.
static int count_equations(const pp_rows *rows)
{
    int count = 0;
    for (int i = 0; i < rows->nb; i++) {
        count += rows->b[i].gamma == 0.0;
    }
    return count;
}

// Copies what the user reads of the solve into sim->info.
static void copy_solve_info(perp_sim *sim)
{
    const pp_answer *a = &sim->step.answer;
    sim->info.contacts = sim->step.row.nc;
    sim->info.joint_rows = count_equations(&sim->step.row);
    sim->info.problem_size = a->size;
    sim->info.redundant_rows = a->redundant;
    sim->info.motion = a->motion;
    sim->info.impulses = a->impulses;
    sim->info.unique = a->motion == PERP_UNIQUENESS_PROVED && a->impulses == PERP_UNIQUENESS_PROVED;
    sim->info.motion_apart = a->motion_apart;
    sim->info.impulses_apart = a->impulses_apart;
    sim->info.solver = a->solver;
    sim->info.form = a->form;
    // set by pp_sim_guess before the solve, which knows nothing of it
    int guessed = sim->info.effort.warm_started;
    sim->info.iterations = a->iterations;
    pp_sim_add_effort(&sim->info.effort, &a->effort);
    sim->info.effort.warm_started = guessed;
    sim->info.effort.work = sim->worked;
    memcpy(sim->info.remark, a->remark, sizeof sim->info.remark);
}

// The largest component of an impulse on a body [N s]; a moment counts as a force at the body's
// reach.
static double as_impulse(const pp_body *body, const double *x)
{
    double most = 0.0;
    for (int k = 0; k < body->nv; k++) {
        double arm = body->axis[k] < 3 || !(body->reach > 0.0) ? 1.0 : body->reach;
        most = fmax(most, fabs(x[k]) / arm);
    }
    return most;
}

// Speed at which given motions, belts and drives move what they touch [m/s]: the given part of all
// rows.
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

// Largest impulse on a body of springs and actuators as the step begins: what a compliant row gives without motion,
// p = -bias / gamma, or the one number of its bounds.
static double row_push(const perp_model *m, const pp_row *row, int count)
{
    double most = 0.0;
    for (int i = 0; i < count; i++) {
        const pp_row *r = &row[i];
        bool given = r->lower == r->upper;
        double p = r->gamma > 0.0 ? pp_clamp(-r->bias / r->gamma, r->lower, r->upper) : r->lower;
        for (int k = 0; k < r->count && (given || r->gamma > 0.0); k++) {
            most = fmax(most, fabs(p) * as_impulse(&m->body[r->body[k]], r->J[k]));
        }
    }
    return most;
}

// Without inertia a body that nothing holds has no velocity of its own: only the small mass stops
// it, and M nu is the part of the forces that is not balanced. What is held moves with what drives
// it, or by a lever a hundred times as fast, hence `given`. A motion that proves that there is no
// balance (U10) makes it infeasible; without one it is a failure of the solver.
static perp_status check_held(perp_sim *sim)
{
    const perp_model *m = sim->model;
    const pp_step *s = &sim->step;
    double push = 0.0, given = 100.0 * PP_QUASISTATIC_MASS * given_speed(sim), left[PP_BODY_NV];
    for (int i = 0; i < m->bodies; i++) {
        push = fmax(push, as_impulse(&m->body[i], s->kin.loads.p_ext + m->body[i].at));
    }
    push = fmax(push, row_push(m, s->row.b, s->row.nb));
    push = fmax(push, row_push(m, s->row.m, s->row.nm));
    for (int i = 0; i < m->bodies; i++) {
        const pp_body *body = &m->body[i];
        pp_body_mul(body, &s->kin.mass[i], s->answer.nu + body->at, left);
        if (body->nv > 0 && as_impulse(body, left) > 1e-6 * push + given * body->divisor_mass) {
            bool proved = pp_sim_cannot_balance(sim);
            pp_print(sim->info.remark, sizeof sim->info.remark,
                     proved ? "quasistatic: nothing balances the forces on body '%s'"
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

// The remark of a step that used up its work.
static perp_status note_work(perp_sim *sim, const char *where)
{
    char part[40] = "";
    if (sim->parts.count > 0) {
        pp_print(part, sizeof part, " after %d parts", sim->parts.count);
    }
    pp_print(sim->info.remark, sizeof sim->info.remark,
             "not solved: the work limit of a step, %.6g factorisations, was reached%s: %s",
             sim->def.max_work, part, where);
    return PERP_ERR_LIMIT;
}

// Work on rows with corrections before they are tried without, in factorisations. Few steps that have a solution take
// more; those that have none find it without corrections in less than one.
static const double WORK_BEFORE_LOCK = 100.0;

// Half of the overlap that the certificate allows of the thinnest contact, over the step [m/s]: a loose answer has no
// other reason to keep shapes apart.
static double most_sink(const perp_sim *sim)
{
    const pp_gaps *gaps = &sim->step.gap;
    double least = PP_INF;
    for (int i = 0; i < gaps->count; i++) {
        least = fmin(least, pp_scale_overlap(sim->model, gaps->contact[i].a, gaps->contact[i].b));
    }
    return isfinite(least) ? 0.5 * least / sim->step.kin.h : 0.0;
}

// One call of solve/, with the work that the step has left, and its check without inertia.
static perp_status solve(perp_sim *sim, const double *nu)
{
    // Bodies are light: errors of impulses are large velocities, so that impulses have to be exact.
    bool quasistatic = sim->def.stepper == PERP_STEPPER_QUASISTATIC;
    double tolerance = quasistatic ? fmin(sim->def.tolerance, 1e-12) : sim->def.tolerance;
    double left = sim->def.max_work > 0.0 ? sim->def.max_work - sim->worked : 0.0;
    // Machines with few degrees of freedom lock. What takes long with corrections may have no solution with them: it is
    // then solved without them first.
    bool brief = left > WORK_BEFORE_LOCK && sim->model->joints > 0 && !sim->step.lock_failed &&
                 pp_sim_may_lock(sim);
    left = brief ? WORK_BEFORE_LOCK : left;
    // several solves of one step share its work: rounds of the theta method, parts, restitution
    if (pp_sim_is_worked_off(sim)) {
        sim->info.effort.work = sim->worked;
        return note_work(sim, "no work is left for the rest of the step");
    }
    pp_step *s = &sim->step;
    pp_solve_options options = {.form = sim->def.form,
                                .solver = sim->def.solver,
                                .tolerance = tolerance,
                                .max_iterations = sim->def.max_iterations,
                                .max_work = left,
                                .deadline = sim->deadline,
                                .most_slop = pp_sim_most_slop(sim),
                                .most_sink = most_sink(sim),
                                .impact = sim->def.impact,
                                .again = s->last != NULL};
    pp_solve_inputs inputs = {.model = sim->model,
                              .kin = &s->kin,
                              .rows = &s->row,
                              .nu = nu,
                              .warm = pp_sim_guess(sim),
                              .gaps = &s->gap,
                              .coordinates = sim->tree ? &s->in : NULL};
    inputs.fresh = sim->info.effort.warm_started == 0;
    if (s->stays) {  // rounds of the implicit step
        inputs.stays = s->stays;
        inputs.nu_stays = s->answer.nu;
        inputs.pb_stays = s->answer.pb;
    }
    pp_solve_cache cache = {.work = sim->work,
                            .ldl_joints = sim->ldl_joints,
                            .ldl_contacts = sim->ldl_contacts,
                            .islands = sim->islands,
                            .threads = sim->def.threads,
                            .team = &sim->team,
                            .env = &sim->env};
    perp_status status = pp_solve_run(&s->answer, &inputs, &options, &cache, sim->arena);
    sim->worked += s->answer.effort.work;
    copy_solve_info(sim);
    if (s->answer.worked_off) {
        return note_work(sim, s->answer.remark);
    }
    if (status < 0 || !quasistatic) {
        return status;
    }
    perp_status held = pp_sim_lighten(sim);
    if (held >= 0) {
        held = check_held(sim);
    }
    return held < 0 ? held : status;
}

// The time of every solve is charged to solving, whichever stage asks for it.
perp_status pp_sim_solve(perp_sim *sim, const double *nu)
{
    perp_stage stage = pp_sim_charge(sim, PERP_STAGE_SOLVE);
    perp_status status = solve(sim, nu);
    pp_sim_charge(sim, stage);
    return status;
}

bool pp_sim_solve_change(perp_sim *sim, double *change)
{
    perp_stage stage = pp_sim_charge(sim, PERP_STAGE_SOLVE);
    bool solved = pp_solve_change(&sim->step.answer, &sim->step.row, change);
    pp_sim_charge(sim, stage);
    return solved;
}

perp_status pp_sim_solve_again(perp_sim *sim, const double *nu, double h)
{
    if (sim->step.at_end) {  // from the start again, as at first
        sim->step.gap = sim->step.gap_l;
        sim->step.acted = NULL;
        sim->step.middle = (pp_poses){0};
        sim->step.at_end = false;
    }
    perp_status status = pp_sim_find_rows(sim, sim->now.nu, h);
    return status < 0 ? status : pp_sim_solve_middle(sim, nu, h);
}

// The answer, unless the step has to be divided (P16), seen before it is solved or from its answer:
// then part < h is the length of the first part. A failure may also be one that shorter parts do
// not have.
perp_status pp_sim_solve_impacts(perp_sim *sim, const double *nu, double h, double *part)
{
    *part = pp_sim_divide_before(sim, h);
    if (*part < h) {
        return PERP_OK;
    }
    perp_status status = pp_sim_solve_middle(sim, nu, h);
    if (status >= 0 &&
        pp_rows_cross_far_limit(sim->model, &sim->step.row, sim->step.answer.nu, h)) {
        sim->step.limits = true;  // the guess of which limits are out of reach was wrong
        status = pp_sim_solve_again(sim, nu, h);
    }
    *part = pp_is_final(status) ? h : pp_sim_divide_unsettled(sim, h);
    if (*part < h) {
        return PERP_OK;
    }
    *part = pp_sim_divide_after(sim, h, status);
    if (*part < h) {
        return PERP_OK;
    }
    if (status < 0) {
        status = pp_sim_solve_without_rebounds(sim, nu, h, status);
    }
    if (status < 0) {
        status = pp_sim_solve_locked(sim, nu, h, status);
    }
    if (status < 0) {
        return status;
    }
    perp_status tempered = pp_sim_limit_restitution(sim, nu, h);
    return tempered < 0 ? tempered : status;
}
