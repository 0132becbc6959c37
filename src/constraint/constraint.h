// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Door of constraint/: every joint, drive, limit and contact as rows of W^T.
//
// A row is a scalar rate, w = sum_k J_k nu_k + rate + bias (+ gamma p), and the impulse p that goes
// with it acts on the bodies as J_k^T p.                                                theory (P2)
#pragma once

#include "gap/gap.h"

#include <perp/sim.h>

enum { PP_ROW_BODIES = 4 };

typedef struct pp_row {
    int count;  // bodies touched that are free
    int body[PP_ROW_BODIES];
    double J[PP_ROW_BODIES][PP_BODY_NV];
    double value;         // phi or psi at the start of the step [m, rad]
    double rate;          // what driven bodies, given motions and moving surfaces add [m/s, rad/s]
    double bias;          // what the scheme adds: phi/h, psi/h, restitution, spring [m/s, rad/s]
    double gamma;         // compliance [m/s per N s]
    double lower, upper;  // of the impulse [N s, N m s]
    double before;        // J nu + rate at the start of the step [m/s, rad/s]
    double restitution;
    double rest;  // slower than this it does not bounce: what gravity gives in two steps
    bool drives;  // target, rate or dry friction of the joint's coordinate
    int joint;    // that it belongs to, -1: none
    int force;    // implicit spring that it is, -1: none
} pp_row;

typedef struct pp_rows {
    int nb, nm, nn, nt, nc;
    pp_row *b;      // nb bilateral: joints, targets, rates, implicit springs
    pp_row *m;      // nm boxed: drives with limited effort, dry friction of joints
    pp_row *n;      // nn unilateral: nc contacts that are in the problem, then joint limits
    pp_row *t;      // nt friction rows
    int *contact;   // nc: index in pp_gaps
    int *normal;    // nt: index in n of the normal row it belongs to
    double *mu;     // nt
    int *friction;  // nn: index in t, -1: frictionless
} pp_rows;

// How a stepper writes its rows.
typedef struct pp_scheme {
    perp_stepper stepper;
    perp_friction_law friction;
    perp_impact_law impact;
} pp_scheme;

perp_status pp_rows_run(pp_rows *out, const perp_model *model, const pp_kinematics *kin,
                        const pp_gaps *gaps, pp_scheme scheme, pp_arena *arena);

// J nu + rate of a row for velocities nu.
double pp_row_rate(const perp_model *model, const pp_row *row, const double *nu);
// nu += s M^-1 J^T, or p += s J^T when M is NULL.
void pp_row_add(const perp_model *model, const pp_row *row, double s, const double *M, double *nu);

// Coordinate of a joint and its rate row (value, J, rate), without bias. Gears and welds have none.
void pp_joint_coordinate(const perp_model *model, const pp_kinematics *kin, int joint, pp_row *row);
// Worst |phi| of a joint's own equations at given frames [m, rad].
double pp_joint_error(const perp_model *model, const pp_frame *body, double t, int joint);
