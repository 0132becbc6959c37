// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Positions at the end of a step: along the velocities of the answer (P11), or where the joints hold exactly (S6).
//
// Rows of joints are linear in the velocities: bodies that turn leave phi(q) of second order in h, which the next step
// takes back at the price of energy. With exact positions the biases of the joint rows are found by Newton's method such
// that phi = 0 where the step ends, which for joints alone is SHAKE.
#include "sim/step/stages.h"

#include <math.h>
#include <string.h>

// Only for the stepper whose rows hold at the end of the step, and not while a start as given is
// worked off or friction locks contacts.
bool pp_sim_has_exact_positions(const perp_sim *sim)
{
    return sim->def.positions == PERP_POSITIONS_EXACT && sim->step.row.nb > 0 && !sim->unfit &&
           !sim->step.locked && sim->def.stepper == PERP_STEPPER_STEWART_TRINKLE;
}

// The first guess of close_exactly: the second-order term of phi for bodies that turn on with their
// present velocities, in closed form, added to the biases.
perp_status pp_sim_guess_curvature(perp_sim *sim)
{
    pp_step *s = &sim->step;
    s->bend = PP_ARRAY(sim->arena, double, s->row.nb);
    if (!s->bend) {
        return PERP_ERR_MEMORY;
    }
    pp_bilateral_curvature(sim->model, &s->kin.poses, s->kin.h, &s->row, NULL, s->bend);
    for (int i = 0; i < s->row.nb; i++) {
        s->row.b[i].bias += s->bend[i];
    }
    return PERP_OK;
}

// All other schemes move bodies with the velocities of the end: theta = 1.
double pp_sim_theta(const perp_sim *sim)
{
    return sim->def.stepper == PERP_STEPPER_MOREAU_JEAN ? sim->def.theta : 1.0;
}

// Coordinates where the step ends, in the turn nearest to those at the start. Hinges of the tree have theirs: the places
// come from them.
static void follow_turns(perp_sim *sim)
{
    const pp_step *s = &sim->step;
    for (int i = 0; i < sim->model->joints; i++) {
        int at = sim->tree ? pp_tree_hinge_at(sim->tree, i) : -1;
        sim->next.turn[i] =
            at >= 0 ? s->end_q[at] : pp_joint_coordinate_value(sim->model, &s->end, i);
    }
}

// The next state with the velocities of the answer: q, time, frames and the turn counters of
// joints.
perp_status pp_sim_place(perp_sim *sim, double h)
{
    pp_step *s = &sim->step;
    sim->next.t = pp_sim_time_after(sim, h);
    if (!sim->tree) {
        pp_advance whole = pp_sim_advance(sim, h, 1.0);
        pp_integrate(&sim->next, sim->model, &sim->now, s->answer.nu, &whole);
        sim->next.t = pp_sim_time_after(sim, h);
    } else if (pp_sim_move(sim, h) < 0) {
        return PERP_ERR_MEMORY;
    }
    if (!s->end_body) {
        s->end_body = PP_ARRAY(sim->arena, pp_frame, sim->model->bodies);
    }
    if (!s->end_body) {
        return PERP_ERR_MEMORY;
    }
    pp_frames(sim->model, &sim->next, s->end_body);
    s->h = h;
    s->end = (pp_poses){
        .t = sim->next.t, .body = s->end_body, .turn = sim->now.turn, .drive = sim->now.drive};
    follow_turns(sim);
    s->end.turn = sim->next.turn;
    return PERP_OK;
}

// Newton's method with the matrix of the start converges linearly, by a factor of order h omega a round.
enum { EXACT_ROUNDS = 12 };

// Fixed point of the second-order term and the velocities: most of close_exactly, without going to
// the places. Only where all rows are joints: then (nu, p_b) is linear in the biases, and a round
// costs a solve with the factors of the step.
static void follow_bend(perp_sim *sim, double h, double goal, double *change)
{
    pp_step *s = &sim->step;
    double last = HUGE_VAL;
    if (s->row.nm + s->row.nn > 0) {
        return;
    }
    for (int round = 0; round < EXACT_ROUNDS; round++) {
        double worst = 0.0;  // [m, rad]
        pp_bilateral_curvature(sim->model, &s->kin.poses, s->kin.h, &s->row, s->answer.nu, change);
        for (int i = 0; i < s->row.nb; i++) {
            change[i] -= s->bend[i];
            worst = fmax(worst, h * fabs(change[i]));
        }
        // half of what close_exactly wants, or as far as this goes: its own rounds see to the rest
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

// The biases phi / h of (P4), where exact positions were not found.
static void restore_linear_rows(pp_rows *rows, double h)
{
    for (int i = 0; i < rows->nb; i++) {
        bool equation = rows->b[i].bias != 0.0 && !rows->b[i].spring && !rows->b[i].stabilised;
        rows->b[i].bias = equation ? rows->b[i].value / h : rows->b[i].bias;
    }
}

// Newton's method on phi(q) = 0 at the end of the step with the matrix of the step, (S6): beta +=
// phi / h. With all in joints this is the SHAKE scheme, which is symplectic. Where it does not
// converge, since bodies turn too far in the step, the linear rows are restored.
static perp_status close_exactly(perp_sim *sim, const double *nu, double h)
{
    pp_step *s = &sim->step;
    int nb = s->row.nb;
    double *phi = PP_ARRAY(sim->arena, double, nb), last = HUGE_VAL;
    double goal = fmax(1e-11, 1e-14 * sim->model->length_scale);  // [m, rad]
    perp_status status = PERP_OK;
    if (!phi) {
        return PERP_ERR_MEMORY;
    }
    follow_bend(sim, h, goal, phi);
    for (int round = 0; round < EXACT_ROUNDS; round++) {
        status = pp_sim_place(sim, h);
        if (status < 0) {
            return status;
        }
        pp_bilateral_phi(sim->model, &s->end, &s->row, phi);
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
        if (status < 0) {
            return status;
        }
    }
    // not converged: a step with phi / h is still a step, and the certificate says what it is worth
    if (!(last <= 1e3 * goal)) {
        restore_linear_rows(&s->row, h);
        status = pp_sim_solve(sim, nu);
        if (status < 0) {
            return status;
        }
        status = pp_sim_place(sim, h);
    }
    return status;
}

// The same in joint coordinates, (J8): the joints of the tree hold by themselves, and nu is found
// as the velocity of the chord to the places reached (nu_0 takes up the difference); loops are
// closed as above. The equations, and the answer, are those of close_exactly.
static perp_status bend_exactly(perp_sim *sim, const double *nu, double h)
{
    pp_step *s = &sim->step;
    int nb = s->row.nb, nv = sim->model->nv;
    double *phi = PP_ARRAY(sim->arena, double, nb), *straight = PP_ARRAY(sim->arena, double, nv);
    double *way = PP_ARRAY(sim->arena, double, nv);
    double goal = fmax(1e-12, 1e-14 * sim->model->length_scale), last = HUGE_VAL, worst = 0.0;
    if (!phi || !straight || !way) {
        return PERP_ERR_MEMORY;
    }
    memcpy(straight, s->in.nu_0, (size_t)nv * sizeof *straight);
    for (int round = 0; round < 2 * EXACT_ROUNDS; round++) {
        perp_status status = pp_sim_place(sim, h);
        if (status < 0) {
            return status;
        }
        pp_bilateral_phi(sim->model, &s->end, &s->row, phi);
        worst = h * pp_sim_curve_path(sim, h, way);
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
        if (status < 0) {
            return status;
        }
    }
    if (!(worst <= 1e3 * goal)) {
        memcpy(s->in.nu_0, straight, (size_t)nv * sizeof *straight);
        restore_linear_rows(&s->row, h);
    }
    perp_status status = pp_sim_solve(sim, nu);
    if (status < 0) {
        return status;
    }
    status = pp_sim_place(sim, h);
    if (status >= 0) {
        // the certificate judges these rows as well: they hold for the nu that was found
        pp_sim_refresh_tree_rows(sim);
    }
    return status;
}

// Where positions are linear, the velocities of the answer lead to them directly.
perp_status pp_sim_solve_positions_bodies(perp_sim *sim, const double *nu, double h)
{
    if (!pp_sim_has_exact_positions(sim)) {
        return pp_sim_place(sim, h);
    }
    return sim->tree ? bend_exactly(sim, nu, h) : close_exactly(sim, nu, h);
}

// ── The stage ────────────────────────────────────────────────────────────────────────────────────

// Expressions of given motions may have no value at the end of the step (a pole, a root of a
// negative number).
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

// A driven body whose place does not follow from its velocity may pass over what is in its way:
// gaps are looked for by velocities.
static void note_jumps(perp_sim *sim, double h)
{
    for (int i = 0; i < sim->model->bodies; i++) {
        const pp_frame *from = &sim->step.kin.poses.body[i], *to = &sim->step.end.body[i];
        if (sim->model->body[i].drive != PERP_MOTION_KINEMATIC || sim->info.remark[0]) {
            continue;
        }
        double step = pp_length(pp_sub(to->p, from->p));
        // off: how far the end is from where the velocity of the start leads
        double off = pp_length(pp_sub(to->p, pp_along(from->p, h, from->v)));
        if (off > fmax(pp_gap_margin(sim->model, sim->def.margin), 0.5 * step) &&
            off > 0.1 * sim->model->length_scale) {
            pp_print(sim->info.remark, sizeof sim->info.remark,
                     "driven body '%s' jumps by %.3g m: obstacles on the way are not detected",
                     sim->model->body[i].name, off);
        }
    }
}

perp_status pp_sim_integrate(perp_sim *sim, const double *nu, double h)
{
    // the implicit step has found its end
    perp_status status = sim->step.at_end ? PERP_OK : pp_sim_solve_positions_bodies(sim, nu, h);
    if (status < 0) {
        return status;
    }
    note_jumps(sim, h);
    if (!pp_all_finite((size_t)sim->model->nq, sim->next.q)) {
        return PERP_ERR_NUMERIC;
    }
    return finite_frames(sim);
}
