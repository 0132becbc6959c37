// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Part of the door of certify/: steps through events.
#pragma once

#include "gap/gap.h"

// One passage of a step through events (PERP_STEPPER_EVENT): smooth motion, or an impact. Read
// only.
typedef struct pp_event_passage {
    const perp_model *model;
    double h;                     // of the passage; 0 of an impact
    double whole;                 // of the step, for scales
    bool jump;                    // an impact: velocities jump, nothing moves
    bool newton;                  // by Newton's law, with the restitution in the contacts
    const pp_frame *start;        // bodies at the start
    const pp_poses *end;          // where it ends
    const pp_gaps *gaps;          // at the end; NULL: places are those of the start
    const perp_contact *contact;  // impulses of the passage
    int contacts;
    const perp_joint_state *joint;  // joints: likewise
    const perp_wrench *element;     // bodies: impulse of force elements, gears, and from the caller
    double created;                 // energy at the end less that at the start less work [J]
    double astray;                  // what of that no friction, damper or impact explains [J]
    double energy;                  // that there was, and work [J]
    double residual;                // of held velocities at the end [m/s]
    double error;                   // estimate of the integrator [m]
    double slack;
} pp_event_passage;

perp_status pp_certify_passage(perp_certificate *out, const pp_event_passage *e,
                               const perp_limits *limits, pp_arena *arena);
