// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Part of the door of sim/: the pieces of a step, for recordings.
#pragma once

#include "kinematics/kinematics.h"

// A part of a step, as it ended: of a step that was divided at impacts, or of the stepper `event` between its events.
// Contacts, impulses, energies and the certificate are the part's own.
typedef struct pp_kept {
    perp_part_kind kind;
    double t, h;  // where it ends, and how long it is; of an impact h is 0
    const double *q, *nu;
    const pp_frame *body;
    const perp_contact *contact;
    int contacts;
    const perp_joint_state *joint;
    const perp_wrench *applied;  // bodies: of the whole step, NULL: none, or it stands there
    perp_step_info info;         // status, certificate, energies, effort
} pp_kept;

// Those of the last step, in order; none: it is one piece. They go into recordings as they are.
typedef struct pp_kept_list {
    pp_arena *arena;  // NULL: there were none yet
    pp_kept *part;
    int count, room;
} pp_kept_list;

// Parts of the last step (kept.c): forgotten when a step begins; added, with copies of all arrays; the present
// state with the contacts and joints of the last solution as such a part.
void pp_sim_keep_none(perp_sim *sim);
perp_status pp_sim_keep(perp_sim *sim, const pp_kept *part);
perp_status pp_sim_keep_now(perp_sim *sim, perp_part_kind kind, double h);
