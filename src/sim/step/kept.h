// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Part of the door of sim/: the pieces of a step, for recordings.
#pragma once

#include "kinematics/kinematics.h"

// A part of a step, as it ended: of a step that was divided at impacts, or of the stepper `event` between its events.
// Contacts, impulses, energies and the certificate are the part's own.
typedef struct pp_stored_part {
    perp_part_kind kind;
    double t, h;  // where it ends, and how long it is; of an impact h is 0
    const double *q, *nu;
    const pp_frame *body;
    const perp_contact *contact;
    int contacts;
    const perp_joint_state *joint;
    const perp_actuator_state *actuator;  // of the whole step; parts: NULL, as the next two
    const double *input, *filter;         // inputs of the step, filters of actuators at its end
    const perp_wrench *applied;  // bodies: of the whole step, NULL: none, or it stands there
    perp_step_info info;         // status, certificate, energies, effort
} pp_stored_part;

// Those of the last step, in order; none: it is one piece. They go into recordings as they are.
typedef struct pp_stored_parts {
    pp_arena *arena;  // NULL: there were none yet
    pp_stored_part *part;
    int count, room;
} pp_stored_parts;

// Parts of the last step (kept.c): forgotten when a step begins; added, with copies of all arrays; the present
// state with the contacts and joints of the last solution as such a part.
void pp_sim_clear_parts(perp_sim *sim);
perp_status pp_sim_store_part(perp_sim *sim, const pp_stored_part *part);
perp_status pp_sim_store_present(perp_sim *sim, perp_part_kind kind, double h);
