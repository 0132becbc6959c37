// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Places at the end of a step: along the velocities of the answer, or where the joints hold exactly.
#include "sim/stages.h"

#include <math.h>
#include <string.h>

bool pp_sim_closes_exactly(const perp_sim *sim)
{
    return sim->def.positions == PERP_POSITIONS_EXACT && sim->step.row.nb > 0 && !sim->unfit &&
           sim->def.stepper == PERP_STEWART_TRINKLE;
}

// A guess of where close_exactly() ends: bodies turn as they do.
perp_status pp_sim_guess_bend(perp_sim *sim)
{
    pp_step *s = &sim->step;
    s->bend = PP_ARRAY(sim->arena, double, s->row.nb);
    if (!s->bend) {
        return PERP_ERR_MEMORY;
    }
    pp_joint_bend(sim->model, &s->kin, &s->row, NULL, s->bend);
    for (int i = 0; i < s->row.nb; i++) {
        s->row.b[i].bias += s->bend[i];
    }
    return PERP_OK;
}

double pp_sim_theta(const perp_sim *sim)
{
    return sim->def.stepper == PERP_MOREAU_JEAN ? sim->def.theta : 1.0;
}

// Places at the end of the step, with the velocities of the answer.
perp_status pp_sim_place(perp_sim *sim, double h)
{
    pp_step *s = &sim->step;
    pp_advance whole = pp_sim_advance(sim, h, 1.0);
    pp_integrate(&sim->next, sim->model, &sim->now, s->answer.nu, &whole);
    sim->next.t = pp_sim_time_after(sim, h);
    if (sim->tree && pp_sim_move(sim, h) < 0) {
        return PERP_ERR_MEMORY;
    }
    if (!s->end.body) {
        s->end.body = PP_ARRAY(sim->arena, pp_frame, sim->model->bodies);
    }
    if (!s->end.body) {
        return PERP_ERR_MEMORY;
    }
    pp_frames(sim->model, &sim->next, s->end.body);
    s->end.t = sim->next.t;
    s->end.h = h;
    s->end.turn = sim->now.turn;
    pp_sim_follow_turns(sim->model, &s->end, sim->next.turn);
    s->end.turn = sim->next.turn;
    s->end.values_only = true;
    return PERP_OK;
}

enum { EXACT_ROUNDS = 12 };

// The bend of bodies that turn with the velocities found, until both agree: most of close_exactly(), without
// going to the places.
static void follow_bend(perp_sim *sim, double h, double goal, double *change)
{
    pp_step *s = &sim->step;
    double last = HUGE_VAL;
    for (int round = 0; round < EXACT_ROUNDS && s->row.nm + s->row.nn == 0; round++) {
        double worst = 0.0;
        pp_joint_bend(sim->model, &s->kin, &s->row, s->answer.nu, change);
        for (int i = 0; i < s->row.nb; i++) {
            change[i] -= s->bend[i];
            worst = fmax(worst, h * fabs(change[i]));
        }
        if (worst <= 0.5 * goal || !(worst < 0.5 * last)) {
            return;
        }
        last = worst;
        for (int i = 0; i < s->row.nb; i++) {
            s->bend[i] += change[i];
            s->row.b[i].bias += change[i];
        }
        if (!pp_sim_solve_change(sim, change)) {
            return;
        }
    }
}

// Newton's method on phi(q) = 0 at the end of the step: what is left there goes into the rows' biases.
// With all in joints this is the SHAKE scheme, which keeps energy. Where it does not converge, since
// bodies turn too far in the step, the linear rows stand.                               theory (S6)
static perp_status close_exactly(perp_sim *sim, const double *nu, double h)
{
    pp_step *s = &sim->step;
    int nb = s->row.nb;
    double *phi = PP_ARRAY(sim->arena, double, nb), last = HUGE_VAL;
    double goal = fmax(1e-11, 1e-14 * sim->model->length_scale);
    perp_status status = phi ? PERP_OK : PERP_ERR_MEMORY;
    if (phi) {
        follow_bend(sim, h, goal, phi);
    }
    for (int round = 0; round < EXACT_ROUNDS && status >= 0; round++) {
        status = pp_sim_place(sim, h);
        if (status < 0) {
            return status;
        }
        pp_joint_values(sim->model, &s->end, &s->row, phi);
        double worst = pp_norm_inf(nb, phi);
        if (worst <= goal || !(worst < 0.9 * last)) {
            last = worst;
            break;
        }
        last = worst;
        for (int i = 0; i < nb; i++) {
            phi[i] /= h;
            s->row.b[i].bias += phi[i];
        }
        status = pp_sim_solve_change(sim, phi) ? PERP_OK : pp_sim_solve(sim, nu);
    }
    if (status >= 0 && !(last <= 1e3 * goal)) {
        for (int i = 0; i < nb; i++) {
            bool equation = s->row.b[i].bias != 0.0 && !s->row.b[i].spring;
            s->row.b[i].bias = equation ? s->row.b[i].value / h : s->row.b[i].bias;
        }
        status = pp_sim_solve(sim, nu);
        status = status < 0 ? status : pp_sim_place(sim, h);
    }
    return status;
}

// The same in joint coordinates: the joints of the tree hold by themselves, and nu is found as the velocity
// of the way there; loops are closed as above. The equations, and the answer, are those of close_exactly.
static perp_status bend_exactly(perp_sim *sim, const double *nu, double h)
{
    pp_step *s = &sim->step;
    int nb = s->row.nb, nv = sim->model->nv;
    double *phi = PP_ARRAY(sim->arena, double, nb), *straight = PP_ARRAY(sim->arena, double, nv);
    double *way = PP_ARRAY(sim->arena, double, nv);
    double goal = fmax(1e-12, 1e-14 * sim->model->length_scale), last = HUGE_VAL, worst = 0.0;
    perp_status status = phi && straight && way ? PERP_OK : PERP_ERR_MEMORY;
    if (status < 0) {
        return status;
    }
    memcpy(straight, s->in.nu_0, (size_t)nv * sizeof *straight);
    for (int round = 0; round < 2 * EXACT_ROUNDS && status >= 0; round++) {
        status = pp_sim_place(sim, h);
        if (status < 0) {
            return status;
        }
        pp_joint_values(sim->model, &s->end, &s->row, phi);
        worst = h * pp_sim_bend(sim, h, way);
        for (int i = 0; i < nb; i++) {
            pp_row *row = &s->row.b[i];
            phi[i] = s->in.implied[i] ? 0.0 : phi[i];
            worst = fmax(worst, fabs(phi[i]));
            // J nu = J nu_way - phi/h: the way is in nu_0, and what it gives a row is not asked for again.
            bool equation = row->joint >= 0 && !row->drives && !row->spring && !s->in.implied[i];
            row->bias = equation ? -pp_row_rate(sim->model, row, way) : row->bias;
            row->bias += phi[i] / h;
        }
        if (worst <= goal || !(worst < 0.9 * last)) {
            break;
        }
        last = worst;
        status = pp_sim_solve(sim, nu);
    }
    if (status >= 0 && !(worst <= 1e3 * goal)) {
        memcpy(s->in.nu_0, straight, (size_t)nv * sizeof *straight);
        for (int i = 0; i < nb; i++) {
            bool equation = s->row.b[i].bias != 0.0 && !s->row.b[i].spring;
            s->row.b[i].bias = equation ? s->row.b[i].value / h : s->row.b[i].bias;
        }
    }
    status = status < 0 ? status : pp_sim_solve(sim, nu);
    status = status < 0 ? status : pp_sim_place(sim, h);
    if (status >= 0) {
        pp_sim_settle_tree(sim);
    }
    return status;
}

perp_status pp_sim_close(perp_sim *sim, const double *nu, double h)
{
    if (!pp_sim_closes_exactly(sim)) {
        return pp_sim_place(sim, h);
    }
    return sim->tree ? bend_exactly(sim, nu, h) : close_exactly(sim, nu, h);
}

// ── The stage ────────────────────────────────────────────────────────────────────────────────────

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

perp_status pp_sim_integrate(perp_sim *sim, const double *nu, double h)
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
