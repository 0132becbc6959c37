// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Door of solve/: pick a form and a solver, fall back, unpack impulses and velocities.
#pragma once

#include "assemble/assemble.h"

// The answer of a step's problem. All arrays live in the arena that was given.
typedef struct pp_answer {
    double *nu;                 // nv: velocities at the end of the step
    double *pb, *pm, *pn, *pt;  // impulses: bilateral, boxed, normal, tangential (signed)
    double *sigma;              // ng: slip speed bound
    perp_form form;
    const char *solver;
    int size, iterations, redundant;
    perp_effort effort;
    const pp_impact *impact;  // NULL: one phase
    const pp_closed *closed;  // of the step's rows
    const bool *follows;      // nb: the row follows from the others
    bool worked_off;          // options->max_work ended it: nothing is known of the problem
    perp_uniqueness motion, impulses;
    double motion_apart, impulses_apart;  // of a second answer                     theory (U1)
    char remark[200];
} pp_answer;

// The verdict on two independent problems taken as one.
static inline perp_uniqueness pp_uniqueness_of_both(perp_uniqueness a, perp_uniqueness b)
{
    if (a == PERP_UNIQUENESS_DISPROVED || b == PERP_UNIQUENESS_DISPROVED) {
        return PERP_UNIQUENESS_DISPROVED;
    }
    return a == PERP_UNIQUENESS_PROVED ? b : a;
}

// Most rates of a tree for Newton on modes: its system is dense.
enum { PP_TREE_MOST = 120 };

// Factors and memory for each thread, which islands keep from step to step.
typedef struct pp_islands pp_islands;
pp_islands *pp_islands_create(const perp_env *env, int bodies, int threads);  // NULL: no memory
void pp_islands_destroy(pp_islands *islands);
// The model has changed: no answer of an earlier step is of use. remember: false: and none is kept from now on.
void pp_islands_forget(pp_islands *islands, bool remember);
// No answer of an island is one that may stay.
void pp_islands_turn(pp_islands *islands);
// Islands that had the problem of the step before, and its answer, in the last solve.
int pp_islands_known(const pp_islands *islands);

// How a problem is to be solved.
typedef struct pp_solve_options {
    perp_form form;
    const char *solver;  // NULL: auto
    double tolerance;
    int max_iterations;  // of a solver, 0: its own limit
    double max_work;     // factorisations that are left of the step's; 0: no limit
    double deadline;     // pp_seconds() at which the best so far is taken; 0: none
    double most_slop;    // gap over the step that may count as none, (S17); 0: any [m/s]
    double most_sink;    // overlap over the step that a loose answer may leave; 0: any [m/s]
    perp_impact_law impact;
    bool again;  // one of further problems of a step: what rests is that of the first one
    bool bare;   // impulses as they are found: not spread, and nobody asks whether others do
} pp_solve_options;

// The problem: M (nu - nu_l) = p_ext + W p with the rows of W^T and their laws. Nothing of it is changed.
typedef struct pp_solve_inputs {
    const perp_model *model;
    const pp_kinematics *kin;  // M, p_ext and the length of the step
    const pp_rows *rows;
    const double *nu;     // nv: nu_l, the velocities where the step starts
    const double *warm;   // nn + nt + nm guesses (p_n, p_t, p_m) for the cone form, NULL: none
    bool fresh;           // no contact was there before: warm is a guess of what stops them
    const pp_gaps *gaps;  // contacts of the contact rows, by which a jam is named
    const pp_coordinates *coordinates;  // joint coordinates; NULL: bodies
    const perp_model *whole;            // of which the model is an island; NULL: it is whole
    // Islands all of whose bodies stay are not solved: they have these velocities, these impulses of equations, and those
    // of `warm`.
    const bool *stays;                  // bodies; NULL: none
    const double *nu_stays, *pb_stays;  // nv, nb
} pp_solve_inputs;

// Memory and factorisations that are kept from step to step, and the services of the caller. What earlier steps left in
// them saves time and changes no result.
typedef struct pp_solve_cache {
    perp_workspace *work;
    pp_ldl *ldl_joints;    // of the closed joints; NULL: dense
    pp_ldl *ldl_contacts;  // of bodies that touch; NULL: made anew
    pp_islands *islands;   // NULL: all at once
    int threads;           // that factor together
    const pp_team *team;   // for sweeps; NULL: one thread
    const perp_env *env;
} pp_solve_cache;

// Follows a change of the biases of the bilateral rows (nb numbers, overwritten) where there is nothing
// else to solve; false: there is.
bool pp_solve_change(pp_answer *out, const pp_rows *rows, double *change);

// On failure answer->remark says why, naming the contacts of a jam.
perp_status pp_solve_run(pp_answer *out, const pp_solve_inputs *inputs,
                         const pp_solve_options *options, const pp_solve_cache *cache,
                         pp_arena *arena);

// The least and largest impulse of normal row n in any answer with the same velocities [N s]: theory (S7).
// PERP_ERR_LIMIT: too many contacts for it.
perp_status pp_load_range(const pp_answer *answer, const perp_model *model,
                          const pp_kinematics *kin, const pp_rows *rows, int n,
                          const pp_solve_cache *cache, pp_arena *arena, double range[2]);

// Independent impulses: columns of joints, touching contacts and sticking friction, and their rank.
perp_status pp_active_set(const pp_answer *answer, const perp_model *model,
                          const pp_kinematics *kin, const pp_rows *rows, pp_arena *arena,
                          int *columns, int *rank);

// Whether pp_spread leaves the impulses as they are.
bool pp_spread_is_unneeded(const pp_answer *answer, const pp_rows *rows);
// Spread the load: of all impulses with the same velocities, those of least norm, where they keep signs
// and cones. Returns false where they stay as they are.
bool pp_spread(pp_answer *answer, const perp_model *model, const pp_kinematics *kin,
               const pp_rows *rows, const pp_closed *closed, pp_arena *arena);
