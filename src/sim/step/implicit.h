// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Private to sim/: the parts of the implicit step.                                      theory, part IX
#pragma once

#include "sim/step/parts.h"

// ── Geometric stiffness (implicit_stiffness.c) ───────────────────────────────────────────────────
// G of all bodies from the impulses of the answer, with arms at the poses where its rows were taken.   theory (I3)
void pp_sim_find_stiffness(const perp_sim *sim, const pp_poses *at, double h, pp_mat3 *G);
// The largest stiffness over the inertia that it adds to.
double pp_sim_largest_stiffness(const perp_sim *sim, const pp_mat3 *G);
// Masses and forces of the linear problem with G. at_k: velocities of the place that the rows are taken at; NULL: the start.
void pp_sim_stiffen(perp_sim *sim, const pp_mat3 *G, const double *nu_l, const double *at_k);

// ── Rows where the step ends (implicit_rows.c) ───────────────────────────────────────────────────
// Goes where the velocities of the answer lead, and takes contacts and rows there.
perp_status pp_sim_rows_of_end(perp_sim *sim, double h);
bool pp_sim_same_contact(const pp_contact *a, const pp_contact *b);

// ── How well the answer holds where it leads (implicit_error.c) ──────────────────────────────────
// Errors of the answer with the rows of where it leads, over what is allowed: at most 1, it is the answer.
typedef struct pp_round_error {
    double laws;    // natural maps of contacts and limits, balance of momentum
    double places;  // joints and other rows, overlaps
} pp_round_error;
// p: its impulses in the places of these rows.
pp_round_error pp_sim_error_there(perp_sim *sim, const double *nu_l, double *p, double h);
// Speed that errors of rates are measured by: of the fastest point at either end, with a fall by its size [m/s].
double pp_sim_speed_scale(const perp_sim *sim);
// What rounding of coordinates leaves of places [m], and what is left of the gap of row n, a contact or limit, with it.
double pp_sim_place_rounding(const perp_sim *sim);
double pp_sim_overlap_left(const perp_sim *sim, int n, double rounding);
// Whether contacts and rows are those of the last round.
bool pp_sim_same_rows(const perp_sim *sim);
// Gaps over the step that solvers may count as closed [m/s]; 0: no bound, in other steppers.             theory (S17)
double pp_sim_most_slop(const perp_sim *sim);
// The slip of all friction groups, for the report. False: no memory.
bool pp_sim_find_slip(perp_sim *sim);

// ── What the solver of a round left (implicit_close.c) ───────────────────────────────────────────
// Velocities and impulses of the answer, changed the least such that nothing overlaps at the tangents of the round. theory (I10)
perp_status pp_sim_close_round(perp_sim *sim, double h);

// ── Extrapolation of rounds (implicit_mix.c) ─────────────────────────────────────────────────────
typedef struct pp_round_mix pp_round_mix;
// Before a round is solved: its answer is that of the last one at the rows found now. last: what it returned for the last
// round, NULL at first; same: whether contacts and rows are the same. NULL: no memory.
pp_round_mix *pp_sim_mix_begin(const perp_sim *sim, pp_round_mix *last, bool same);
// After it: the answer becomes the next point.
perp_status pp_sim_mix_end(perp_sim *sim, pp_round_mix *a);
