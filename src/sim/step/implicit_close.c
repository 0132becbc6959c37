// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// What the solver of a round left of gaps is closed by the least change of the velocities in the metric of the masses, with
// friction as it is:
//
//   M (nu' - nu) = W_b rho_b + W_n rho_n,   J_b nu' + bias = 0,   0 <= rho_n _|_ J_n nu' + bias >= 0         theory (I10)
//
// Redundant contacts may disagree, by what rounding and earlier steps left of their gaps: no impulses within their cones
// then close all of them, and the solver ends where its error no longer falls. This problem asks for no more than that
// nothing overlaps. It is convex, and has a solution. Its impulses are added to those of the answer, so that the momentum
// balances as before; rates of friction change by what was missing, which is of the size that the solver was allowed.
#include "sim/step/implicit.h"

#include <math.h>
#include <string.h>

static const double WORTH = 0.8;     // of the overlap that is allowed: from here on it is closed
static const double LEFT = 0.1;      // likewise: what is left at most
static const double WORK = 50.0;     // factorisations that a closing is worth
static const double LEAST = 1e-14;   // tolerance of the solver, where rounding ends it anyway
static const double ACCEPTS = 50.0;  // error that the solver accepts, in tolerances, (S8)

// The rows of the round, less friction. Rows that yield, and those with bounds, are those of a change of their impulses.
static perp_status closing_rows(const perp_sim *sim, pp_rows *rows)
{
    const pp_step *s = &sim->step;
    const size_t nb = (size_t)s->row.nb, nm = (size_t)s->row.nm, nn = (size_t)s->row.nn;
    *rows = s->row;
    rows->nt = rows->ng = rows->nf = 0;
    rows->b = PP_ARRAY(sim->arena, pp_row, nb);
    rows->m = PP_ARRAY(sim->arena, pp_row, nm);
    rows->grouped = PP_ZEROS(sim->arena, int, nn);
    rows->friction = PP_ARRAY(sim->arena, int, nn);
    if (!rows->b || !rows->m || !rows->grouped || !rows->friction) {
        return PERP_ERR_MEMORY;
    }
    for (size_t i = 0; i < nn; i++) {
        rows->friction[i] = -1;
    }
    // J nu + bias + gamma (p + rho), with bounds of p + rho
    for (size_t i = 0; i < nb; i++) {
        rows->b[i] = s->row.b[i];
        rows->b[i].bias += rows->b[i].gamma * s->answer.pb[i];
    }
    for (size_t i = 0; i < nm; i++) {
        pp_row *row = &rows->m[i];
        *row = s->row.m[i];
        row->bias += row->gamma * s->answer.pm[i];
        row->lower = fmin(row->lower - s->answer.pm[i], 0.0);
        row->upper = fmax(row->upper - s->answer.pm[i], 0.0);
    }
    return PERP_OK;
}

// Whether velocities leave overlaps at the tangents of the round that are worth it; *least: the least that is allowed [m];
// stays: bodies that have none.
static bool overlaps(const perp_sim *sim, const double *nu, double h, double *least, bool *stays)
{
    const pp_rows *rows = &sim->step.row;
    double rounding = pp_sim_place_rounding(sim);
    bool any = false;
    *least = HUGE_VAL;
    for (int i = 0; i < sim->model->bodies; i++) {
        stays[i] = true;
    }
    for (int n = 0; n < rows->nn; n++) {
        double allowed = pp_sim_overlap_left(sim, n, rounding);
        double w = pp_row_rate(sim->model, &rows->n[n], nu) + rows->n[n].bias;
        *least = fmin(*least, allowed);
        bool deep = !rows->n[n].bounces && -w * h > WORTH * allowed;
        for (int e = 0; e < rows->n[n].count; e++) {
            bool *to = &stays[rows->n[n].body[e]];
            *to = *to && !deep;
        }
        any = any || deep;
    }
    return any;
}

static void add_to(int n, const double *from, double *to)
{
    if (n > 0) {
        pp_axpy(n, 1.0, from, to);
    }
}

// No change where the closing is not solved: the rounds go on, and find that their answer does not hold.
perp_status pp_sim_close_round(perp_sim *sim, double h)
{
    const perp_model *m = sim->model;
    pp_step *s = &sim->step;
    double least, left = sim->def.max_work > 0.0 ? sim->def.max_work - sim->worked : WORK;
    bool *stays = PP_ARRAY(sim->arena, bool, m->bodies);
    if (!stays) {
        return PERP_ERR_MEMORY;
    }
    if (s->answer.impact || !(left > 0.0) || !overlaps(sim, s->answer.nu, h, &least, stays)) {
        return PERP_OK;
    }
    pp_rows rows;
    pp_answer change;
    pp_kinematics kin = s->kin;
    size_t nv = (size_t)m->nv;
    double *none = PP_ZEROS(sim->arena, double, nv + (size_t)s->row.nn + (size_t)s->row.nm);
    double *no_change = PP_ZEROS(sim->arena, double, s->row.nb);
    perp_status status = closing_rows(sim, &rows);
    if (status < 0 || !none || !no_change) {
        return PERP_ERR_MEMORY;
    }
    kin.loads.p_ext = none;
    // such that what the solver accepts is the part of the overlap that may be left
    double speed = fmax(pp_sim_speed_scale(sim), 1.0),
           tolerance = LEFT * least / (h * ACCEPTS * speed);
    pp_solve_options options = {.tolerance = pp_clamp(tolerance, LEAST, sim->def.tolerance),
                                .max_work = fmin(left, WORK),
                                .deadline = sim->deadline,
                                .most_slop = LEFT * least / h,
                                .impact = PERP_IMPACT_NEWTON,
                                .again = true,
                                .bare = true};
    pp_solve_inputs inputs = {.model = m,
                              .kin = &kin,
                              .rows = &rows,
                              .nu = s->answer.nu,
                              .warm = none + nv,
                              .fresh = true,
                              .stays = stays,
                              .nu_stays = s->answer.nu,
                              .pb_stays = no_change,
                              .gaps = &s->gap,
                              .coordinates = sim->tree ? &s->in : NULL};
    pp_solve_cache cache = {.work = sim->work,
                            .ldl_joints = sim->ldl_joints,
                            .ldl_contacts = sim->ldl_contacts,
                            .islands = sim->islands,
                            .threads = sim->def.threads,
                            .team = &sim->team,
                            .env = &sim->env};
    status = pp_solve_run(&change, &inputs, &options, &cache, sim->arena);
    sim->worked += change.effort.work;
    int guessed = sim->info.effort.warm_started;
    pp_sim_add_effort(&sim->info.effort, &change.effort);
    sim->info.effort.warm_started = guessed;
    sim->info.effort.work = sim->worked;
    if (status < 0) {
        return pp_is_final(status) ? status : PERP_OK;
    }
    s->answer.nu = change.nu;
    add_to(rows.nb, change.pb, s->answer.pb);
    add_to(rows.nm, change.pm, s->answer.pm);
    add_to(rows.nn, change.pn, s->answer.pn);
    return PERP_OK;
}
