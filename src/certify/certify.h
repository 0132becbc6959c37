// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Door of certify/: what is true of a step, computed from its rows, impulses and states alone. Shares
// nothing with the solvers.
#pragma once

#include "constraint/constraint.h"

// A finished step, read only.
typedef struct pp_evidence {
    const perp_model *model;
    const pp_kinematics *kin;
    const pp_rows *rows;
    const double *nu_old;
    const double *nu;  // after
    const double *pb, *pm, *pn, *pt;
    const pp_kinematics *end;  // t, frames and turns at the end of the step
    const pp_gaps *gaps_end;   // found there anew
    bool polygons;             // the form had polygons in place of discs
    const pp_impact *impact;   // NULL: one phase
    double *scratch;           // nv + nn + nt
} pp_evidence;

void pp_certify(perp_certificate *out, const pp_evidence *e, const perp_limits *limits);
// The ledger: kinetic and potential energy after, work and dissipation of the step.
void pp_ledger(perp_energy *out, const pp_evidence *e);

// A step through events (PERP_EVENT), read only.
typedef struct pp_flown {
    const perp_model *model;
    double h;
    const pp_frame *start;        // bodies at the start
    const pp_kinematics *end;     // t, frames and turns at the end
    const pp_gaps *gaps;          // at the end
    const perp_contact *contact;  // impulses of the step
    int contacts;
    const perp_vec3 *given;      // bodies: impulse of contacts and joints [N s]
    const perp_wrench *applied;  // bodies
    double dissipated;           // energy that friction, impacts and dampers took [J]
    double residual;             // of held velocities at the end [m/s]
} pp_flown;

void pp_certify_flown(perp_certificate *out, const pp_flown *e, const perp_limits *limits);
