// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Private to sim/: steps in parts, restitution without energy, and contacts that hold.
#pragma once

#include "sim/step/stages.h"

// ── Steps in parts ───────────────────────────────────────────────────────────────────────────────
// The stages of a step of length h up to its commit. part < h on return: nothing was done, since the step has
// to be divided, and its first part should be that long.
perp_status pp_sim_attempt(perp_sim *sim, double h, double *part);
void pp_sim_commit(perp_sim *sim);
bool pp_sim_is_worked_off(const perp_sim *sim);  // all that max_work allows to the step
// Rows and solution once more, after the contacts' coefficients were changed.
perp_status pp_sim_solve_again(perp_sim *sim, const double *nu, double h);
// Where the step has to be divided, seen before and after it is solved, and at its end; h: nowhere.
double pp_sim_divide_before(perp_sim *sim, double h);
double pp_sim_divide_after(perp_sim *sim, double h, perp_status solved);
double pp_sim_divide_unsettled(perp_sim *sim, double h);
double pp_sim_divide_end(perp_sim *sim, double h);
bool pp_sim_drifts(
    const perp_sim *sim);  // errors of places that rows do not take back: a closing does
double pp_sim_divide_judged(perp_sim *sim, double h);  // by its certificate
perp_status pp_sim_step_without_restitution(
    perp_sim *sim);  // no restitution, where there were too many impacts
// Less restitution, where that of the contacts would create energy; a remark says so.
perp_status pp_sim_limit_restitution(perp_sim *sim, const double *nu, double h);
// Where no velocities obey the law of restitution in a part that cannot be divided: without it, and a remark says so. A rod on
// a pin that friction locks on its way back has no rebound at all.                       theory (P15)
perp_status pp_sim_solve_without_rebounds(perp_sim *sim, const double *nu, double h,
                                          perp_status failed);
// Accuracy (accurate.c): half of the longest part of at most `left` that is accurate enough. The shadow: where the step begins,
// after a part of it, and at its end, which gives the errors of the step; done false: it failed.   theory (I8)
perp_status pp_sim_choose_half(perp_sim *sim, double left, double *half);
perp_status pp_sim_shadow_begin(perp_sim *sim);
perp_status pp_sim_shadow_follow(perp_sim *sim, double length);
void pp_sim_shadow_end(perp_sim *sim, bool done);
// Exact positions of the theta method (close.c): whether steps end with a closing; and the closing of the part that was
// just committed, added to the sums of the step.                                       theory (I9)
bool pp_sim_closes_after(const perp_sim *sim);
// Of several solves of a step, or of its parts: counts and times add up, sizes of factors are the largest.
void pp_sim_add_effort(perp_effort *to, const perp_effort *part);
perp_status pp_sim_close(perp_sim *sim, perp_step_info *info);
// The whole step; on failure the state is what it was.
perp_status pp_sim_step_in_parts(perp_sim *sim, double h, double first);

// ── Steps that repeat (repeat.c) ─────────────────────────────────────────────────────────────────
void pp_sim_repeat_note(perp_sim *sim, double h);  // after the commit of a step of length h
bool pp_sim_repeats(const perp_sim *sim,
                    double h);  // a step of length h from here is the last one again
void pp_sim_repeat(perp_sim *sim, double h);

// ── Sticking contacts of what turns ──────────────────────────────────────────────────────────────
// The warm start of a contact, NULL: none; *next: where to look, 0 at first, contacts in their order.
// Places of a boxed row and of a limit of a joint among perp_sim.warm_rows.
size_t pp_sim_boxed_place(const perp_model *m, const pp_rows *rows, int i);
size_t pp_sim_limit_place(const pp_rows *rows, int i);
const pp_warm *pp_sim_warm_of(const perp_sim *sim, const pp_contact *contact, int *next);
perp_vec3 pp_sim_contact_place(const perp_sim *sim,
                               const pp_contact *c);  // in the frame of b's body
void pp_sim_stick_bias(perp_sim *sim);  // biases of friction rows, from what the last step left
// Of the contact of row n: the bias as a velocity, and what the step leaves for the next one.
perp_vec3 pp_sim_stick_rate(const perp_sim *sim, int n);
// What the points of two shapes have in common, of the pair that was asked for last.
typedef struct pp_pair_hold {
    int a, b;        // shapes; -1: none yet
    bool holds;      // all points stick, and the bodies turn together
    perp_vec3 left;  // by how much the step drove them apart, in axes of its start [m]
    pp_mat3 R;       // how these axes turned
} pp_pair_hold;
perp_vec3 pp_sim_stick_offset_next(const perp_sim *sim, int n, pp_pair_hold *pair);
bool pp_sim_contact_sticks(const perp_sim *sim, int n);  // or carries nothing

// ── Contacts that friction locks ─────────────────────────────────────────────────────────────────
void pp_sim_mark_locked(perp_sim *sim);     // those that the last step left locked
bool pp_sim_may_lock(const perp_sim *sim);  // whether rows have corrections that may be in the way
// Once more without corrections, where `failed` may be due to them; else `failed`.
perp_status pp_sim_solve_locked(perp_sim *sim, const double *nu, double h, perp_status failed);
bool pp_sim_stays_locked(const perp_sim *sim, int n);  // the contact of row n, in the next step
