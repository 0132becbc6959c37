// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Private to solve/: a step's problem while it is being solved, and the solvers that are tried on it. Each solver leaves its
// impulses in run->out; those that may decline set *solved, and leave the impulses zero where they did not solve it.
#pragma once

#include "comp/modes/modes.h"
#include "comp/sweeping/sweep.h"
#include "solve/solve.h"

typedef struct pp_run {
    const perp_model *model;
    const pp_kinematics *kin;
    const pp_rows *rows;
    const double *nu;
    const pp_solve_inputs *inputs;  // of which model, kin, rows and nu are above
    const pp_solve_options *options;
    const pp_solve_cache *cache;
    pp_arena *arena;
    pp_coordinates in;
    pp_closed closed;
    pp_delassus delassus;
    pp_answer *out;
    double *beta;      // nb: rates of the bilateral rows
    double *given;     // nv: M nu_l + p_ext + W p without the bilateral rows
    double *mobility;  // nm, nn: J M^-1 J' of these rows, once they were asked for
    bool has_mobility;
    bool polygons;                // the form at hand has polygons in place of discs
    double slack;                 // residual (P12) of the answer that was last examined [m/s]
    bool nu_current;              // out->nu is consistent with the impulses
    struct pp_step_modes *modes;  // state of the modes, where they failed on many contacts; or NULL
    double *candidate;       // pn, pt, pm that are the answer unless better ones are found; or NULL
    double candidate_slack;  // of them [m/s]
    double candidate_work;   // that others may take to find better ones [factorisations]
    bool budget_low;         // the rest of the budget is for sweeps
    pp_meter meter;          // of modes, sweeps and joints
    double work;             // of solvers, in factorisations
    double max_work;         // at which they stop; PP_INF: no limit
    bool budget_spent;       // the budget ended before a solver did
    bool finish_polygons;    // polygons: a basic solution is wanted, so that ssn has to finish it
} pp_run;

static inline void pp_copy_numbers(double *to, const double *from, int count)
{
    for (int i = 0; i < count; i++) {
        to[i] = from[i];
    }
}

// An answer of zeros. PERP_ERR_MEMORY or PERP_OK.
perp_status pp_answer_create(pp_answer *out, const perp_model *model, const pp_rows *rows,
                             pp_arena *arena);
// pp_solve_run without a look at islands.
perp_status pp_solve_whole(pp_answer *out, const pp_solve_inputs *inputs,
                           const pp_solve_options *options, const pp_solve_cache *cache,
                           pp_arena *arena);
// nu and p_b from the other impulses: M nu = M nu_l + p_ext + W p, joints closed. Without the impulses of a tree's joints.
void pp_run_close(pp_run *r);
const double *pp_run_mobilities(pp_run *r);  // J M^-1 J' of boxed rows, then of contacts and limits
// How far the impulses are from obeying the contact laws, worst of all rows [m/s]: theory (P12).
double pp_run_slack(pp_run *r);
// Whether bodies without joints rest on contacts: the velocities nu are rounding of the loads that act on them. theory (S19)
bool pp_run_is_still(const pp_run *r, const double *nu);
bool pp_run_may_be_still(const pp_run *r);  // whatever the velocities are
// The fastest point of body i after the loads of the step have acted, and a fall through its own size; 0: not free.
double pp_run_body_speed(const pp_run *r, int i);
double pp_run_tolerance(const pp_run *r);  // [m/s], of slow bodies by their speed
// Limits. The user's budget of time and iterations ends with the best answer so far; the limit on work is a failure.
bool pp_run_budget_spent(const pp_run *r);         // time or iterations
double pp_run_work(const pp_run *r);               // done so far, in factorisations: theory (C50)
bool pp_run_work_exceeded(const pp_run *r);        // all the work that the step has left
bool pp_run_stopped(const pp_run *r);              // the host wants to stop: the step will fail
bool pp_run_solver_budget_spent(const pp_run *r);  // any of them
// Delassus' matrix, made when it is first needed.
perp_status pp_run_delassus(pp_run *r);

// ── Forms ────────────────────────────────────────────────────────────────────────────────────────
perp_status pp_run_pose_mcp(pp_run *r, const pp_rows *rows, pp_posed *posed);
perp_status pp_run_mcp(pp_run *r, const pp_posed *posed, double tolerance, bool warm, double *z);
perp_status pp_run_by_mcp(pp_run *r);
perp_status pp_run_by_lcp(pp_run *r, const double *slack);
perp_status pp_run_by_cone(pp_run *r);
// MCP or LCP of many contacts by the cone form with polygons; solved is false where it has to be pivoted.
perp_status pp_run_by_facets(pp_run *r, perp_form form, bool *solved);
// Contacts from their last impulses, by modes; solved is false where the cone form has to be solved.
perp_status pp_run_by_modes(pp_run *r, bool *solved);
// The same from the impulses in r->out, which stay where it does not help. For many contacts that the modes
// were tried on before.
bool pp_run_polish(pp_run *r);
// Loose tolerances, by sweeps from the last impulses; solved likewise.
perp_status pp_run_by_sweeps(pp_run *r, bool *solved);
bool pp_run_is_sweepable(const pp_run *r);  // otherwise they decline
// At a tolerance from which on sweeps are the first thing tried.
bool pp_run_is_loose(const pp_run *r);

// ── Jams ─────────────────────────────────────────────────────────────────────────────────────────
// Whether the weights of the unilateral rows prove that there is no velocity.
bool pp_run_jam_stands(pp_run *r, const double *yn);
// The rows whose multipliers prove that no velocity satisfies them all, in the remark.
void pp_run_name_jam(pp_run *r, const double *ray, const pp_posed *posed);
// PERP_ERR_INFEASIBLE: proved to have no answer, since the normal rows alone have none.
perp_status pp_run_prove_frictionless(pp_run *r);
// Where a form has no answer the others may have one, or a proof that there is none. The user who asked
// for a form gets the proof only.
perp_status pp_run_prove_jam(pp_run *r, perp_status status);
