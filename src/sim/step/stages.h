// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Private to sim/: what the stages of a step call each other by.
#pragma once

#include "sim/sim.h"

// ── The stages ───────────────────────────────────────────────────────────────────────────────────

// From here on time is charged to this stage; returns the one that it was charged to until now. A stage that asks for the work of
// another hands the time over and takes it back.
perp_stage pp_sim_charge(perp_sim *sim, perp_stage stage);

// Without inertia: a small mass keeps what nothing pushes where it is, and no momentum is carried over.
static const double PP_QUASISTATIC_MASS = 1e-9;

// Contacts of the step: found where the last one ended, unless the state was changed since, or more is to be looked at (contacts.c).
perp_status pp_sim_find_gaps(perp_sim *sim);
// Velocities over the step of bodies that are not free, as contacts know them, and speeds of surfaces in `gaps`; `event` has
// those of the instant.                                                                  theory (P23)
perp_status pp_sim_give_velocities(perp_sim *sim, double h);
void pp_sim_give_surfaces(const perp_sim *sim, pp_gaps *gaps);
// Contacts where the step ends, found anew for the certificate, as far as the next step will look.
perp_status pp_sim_find_end(perp_sim *sim);
// Bodies that overlap deeply are pushed apart in one step: a remark says so.
void pp_sim_note_overlap(perp_sim *sim);
// Functions of the scene as causes (blame.c): the first that is not finite at the poses, in the remark; false: none. Those
// of couplings with their slopes; those of time and inputs, which need no bodies; all of them; all of them where the state
// is, or where its velocities lead in h. And the coupling that the certificate found open there, which a function that
// jumps causes.
bool pp_sim_blame_undefined(perp_sim *sim, const pp_poses *at);
bool pp_sim_blame_time(perp_sim *sim, const pp_poses *at);
bool pp_sim_blame_function(perp_sim *sim, const pp_poses *at);
bool pp_sim_blame_ahead(perp_sim *sim, double h);
// The first body on which the forces of the step overflow, in the remark; false: none do.
bool pp_sim_blame_load(perp_sim *sim);
void pp_sim_blame_open(perp_sim *sim, const pp_poses *at);
// Rows of the step that ends with velocities nu (rows.c).
perp_status pp_sim_find_rows(perp_sim *sim, const double *nu, double h);
// The answer, from velocities nu, unless the step has to be divided: then part < h, and the first part that it has (solve.c).
perp_status pp_sim_solve_impacts(perp_sim *sim, const double *nu, double h, double *part);
// The next state (positions.c).
perp_status pp_sim_integrate(perp_sim *sim, const double *nu, double h);
// The certificate and the report; part < h: what it found asks for a shorter step (certify.c).
perp_status pp_sim_certify(perp_sim *sim, const double *nu, double h, double *part);

// After a failure: a drive without a limit that presses a body against another, and the cure; "": none (blame.c).
void pp_sim_blame_drive(perp_sim *sim, char *text, size_t size);

// ── Solving and placing ──────────────────────────────────────────────────────────────────────────
// The problem of the step's rows, from velocities nu.
perp_status pp_sim_solve(perp_sim *sim, const double *nu);
// The answer, with the middle of the step where it leads (middle.c).
perp_status pp_sim_solve_middle(perp_sim *sim, const double *nu, double h);
// The same for the implicit step: from the answer of its linear rows to one whose rows hold where it ends (implicit.c).
perp_status pp_sim_solve_implicit(perp_sim *sim, const double *nu, double h);
double *pp_sim_guess_round(const perp_sim *sim);
// What the rows depend on of the sim's options.
pp_scheme pp_sim_scheme(const perp_sim *sim);
// pp_solve_change of the step.
bool pp_sim_solve_change(perp_sim *sim, double *change);
// Of the scheme: places move by (1 - theta) nu_old + theta nu.
double pp_sim_theta(const perp_sim *sim);
// Places at the end of the step, with the velocities of the answer.
perp_status pp_sim_place(perp_sim *sim, double h);
// The same where joints hold exactly, if they are to.                                   theory (S6)
bool pp_sim_has_exact_positions(const perp_sim *sim);
perp_status pp_sim_guess_curvature(perp_sim *sim);
perp_status pp_sim_solve_positions_bodies(perp_sim *sim, const double *nu, double h);

// ── Joint coordinates ────────────────────────────────────────────────────────────────────────────
// Makes the tree where the sim has one, and puts the bodies on it.
perp_status pp_sim_create_tree(perp_sim *sim, perp_error *error);
// Bodies that are apart at joints of the tree are moved together; a remark says how far.
perp_status pp_sim_project(perp_sim *sim);
// The body that differs most from its frame of now; 0: none does.
int pp_sim_farthest(const perp_sim *sim, const pp_frame *to);
// The step's tree, and the coordinates its problem is written in.
perp_status pp_sim_coordinates(perp_sim *sim);
// The first half of it: the tree where the step starts, which rows need before there are any.
perp_status pp_sim_tree_at_start(perp_sim *sim);
// The same where the step ends, as changes of the velocities nu that lead there.          theory (I6)
perp_status pp_sim_coordinates_at_end(perp_sim *sim, const double *nu);
// Velocity of the straight way of one body from q to another in time h; a turn is about a fixed axis.
void pp_sim_chord(const pp_body *b, const double *from, const double *to, double h, double *nu);
// Bodies of the present state on the tree again, after they were moved one by one.
perp_status pp_sim_project_to_tree(perp_sim *sim);
// Places after h with the velocities of the answer, moved along the coordinates of the tree.
perp_status pp_sim_move(perp_sim *sim, double h);
// The theta method (theta.c). Masses of the end, from the impulses of the answer, if there is one; change: of the
// momentum that the old velocities have with them, relative.                              theory (S9)
perp_status pp_sim_masses_at_end(perp_sim *sim, double h, double *change);
// All rows, those of joints in the middle of the step that ends with nu.
perp_status pp_sim_middle_rows(perp_sim *sim, pp_scheme scheme, const double *nu, double h);
// How far the answer's velocities are from those of the round before, of their size.
double pp_sim_relative_change(const perp_sim *sim, const double *last, double size);
// Keeps how far the last round moved them, and says so where that is more than rounding of what is nearly singular.
static const double PP_MIDDLE_LOST = 1e-8;
void pp_sim_record_midpoint_error(perp_sim *sim, double off, double size);
// How positions follow velocities.
pp_advance pp_sim_advance(const perp_sim *sim, double h, double share);
// Exact positions: nu_0 such that the velocities of the answer are those of the way to the places found;
// returns by how much it changed. way: velocities of that way, nv numbers.             theory (J8)
double pp_sim_curve_path(perp_sim *sim, double h, double *way);
// The rows of the tree as the velocities of the answer have them.
void pp_sim_refresh_tree_rows(perp_sim *sim);

// Impulses to start the solver from: p_n of every unilateral row, then p_t; NULL: none.
const double *pp_sim_guess(perp_sim *sim);
// PERP_STEPPER_EVENT: what it needs, its step up to the commit, and a joint's part of it.
perp_status pp_sim_event_create(perp_sim *sim, perp_error *error);
perp_status pp_sim_event_project(perp_sim *sim);
perp_status pp_sim_event_step(perp_sim *sim, double h);
void pp_sim_event_joint(const perp_sim *sim, int joint, perp_joint_state *out);
perp_wrench pp_sim_event_drive(const perp_sim *sim, int body);
// Adds the impulses of actuators in the rows of the step, or of a part of it (control.c).
void pp_sim_add_actuator_impulses(perp_sim *sim);
// Fills info->certificate, energies, contacts and warm starts of a solved step.
perp_status pp_sim_report(perp_sim *sim);
