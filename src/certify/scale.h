// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Scales of the scene, which the values of a certificate are relative to: lengths, speeds,
// energies.
#pragma once

#include "certify/own.h"

// Scales of a step, with bodies connected by its rows.
perp_status pp_scales_run(pp_scales *out, const pp_step_evidence *e, pp_arena *arena);
// The same with islands that exchange energy: contacts that carry no load tie nothing.        theory (K4)
perp_status pp_scales_loaded(pp_scales *out, const pp_step_evidence *e, const pp_scales *all,
                             pp_arena *arena);
// The island of a row; -1: no body of it is free.
int pp_scale_island(const pp_scales *s, const pp_row *row);

// Converts a slack [m/s] to the unit of a row, which may be one of angles [rad/s]: over its lever.
double pp_scale_lever(const perp_model *m, const pp_row *row);
double pp_scale_speed_of(const pp_scales *s, const pp_row *row, double slack);

// The same for joints between two bodies: their island, and the lever of angles between them.
int pp_scale_joint_island(const pp_scales *s, const pp_joint *j);
double pp_scale_pair_lever(const perp_model *m, int a, int b);

// J nu + rate of a row, by sums of this folder; J M^-1 J^T; and its mobility J M^-1 J^T + gamma.
double pp_judge_square(const pp_step_evidence *e, const pp_row *row);
pp_own_sums pp_judge_pair(const pp_step_evidence *e, const pp_own_pair *pair,
                          const perp_twist *body);
double pp_judge_mobility_of(const pp_step_evidence *e, double square, double gamma);
double pp_judge_rate(const perp_model *m, const pp_row *row, const perp_twist *body);
double pp_judge_mobility(const pp_step_evidence *e, const pp_row *row);
perp_vec3 pp_judge_turn(const pp_step_evidence *e, int i);  // rate of a solid's turn in the step

// ── The rows of the certificate ──────────────────────────────────────────────────────────────────

// Laws of contacts, joints and drives, as the problem posed them.                      theory (K2)
// The terms that the scheme adds to the rates of contacts, against distances and velocities of the start.   theory (K17)
perp_status pp_judge_reach(perp_certificate *out, const pp_step_evidence *e, const pp_scales *s,
                           const perp_limits *limits, pp_arena *arena);
perp_status pp_judge_law(perp_certificate *out, const pp_step_evidence *e, const pp_scales *s,
                         const perp_limits *limits, pp_arena *arena);
// Balance of momentum, body by body.                                                   theory (K6)
perp_status pp_judge_momentum(perp_certificate *c, const pp_step_evidence *e, const pp_scales *s,
                              const perp_limits *limits, pp_arena *arena);
// Overlaps at the end of the step, and paths between its ends.
typedef struct pp_places {
    const pp_frame *start;  // NULL: the end alone is judged
    const pp_poses *end;
    double h;                        // [s]
    const pp_gaps *gaps;             // found at the end
    double share;                    // of the overlap that is allowed at the end; 0: all of it
    const pp_judged_shapes *shapes;  // NULL: found by the call
    pp_kept_shapes *last;            // as in pp_geometry_task
    bool starts_at_last;
} pp_places;
perp_status pp_judge_places(perp_certificate *c, const perp_model *m, const pp_places *of,
                            const perp_limits *limits, pp_arena *arena);
// What linearised velocities of couplings leave (rows.c).
perp_status pp_judge_linearised(perp_certificate *c, const pp_step_evidence *e, const pp_scales *s,
                                const perp_limits *limits, pp_arena *arena);
// Errors of position of all joints. share: of the error that is allowed.
void pp_judge_joints(perp_certificate *c, const perp_model *m, const pp_poses *at, double share,
                     const perp_limits *limits);
// Energy created by the step, island by island, and the ledger. Without inertia
// (PERP_STEPPER_QUASISTATIC) there is no balance to hold.                              theory (K4)
perp_status pp_judge_energy(perp_certificate *c, perp_energy *ledger, const pp_step_evidence *e,
                            const pp_scales *all, const perp_limits *limits, pp_arena *arena);
// What the step adds to the sums of gains; after the energy is judged, which finds coordinates of joints.   theory (K18)
void pp_gains_of_step(pp_gains_step *step, const pp_step_evidence *e);
// Positions against velocities.                                                         theory (K3)
perp_status pp_judge_motion(perp_certificate *c, const pp_step_evidence *e, const pp_scales *s,
                            const perp_limits *limits, pp_arena *arena);
