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
    double h;                     // length of the passage, 0 for an impact [s]
    double whole;                 // length of the step, for scales [s]
    bool jump;                    // an impact: velocities jump, positions do not change
    bool newton;                  // Newton's law, with the restitution in the contacts
    const pp_frame *start;        // bodies at the start
    const pp_poses *end;          // where it ends
    const pp_gaps *gaps;          // contacts at the end; NULL: positions are those of the start
    const perp_contact *contact;  // impulses of the passage
    int contacts;
    const perp_joint_state *joint;  // joints: impulses of the passage
    const perp_wrench *element;     // bodies: impulses of force elements, gears and the caller
    double created;                 // energy at the end, less that at the start, less work [J]
    double astray;                  // the part that no friction, damper or impact explains [J]
    double energy;                  // scale: energy at the start, and work [J]
    double residual;                // of velocities that are held at the end [m/s]
    double error;                   // error estimate of the integrator [m]
    double slack;                   // of laws, relative to the scales
} pp_event_passage;

perp_status pp_certify_passage(perp_certificate *out, const pp_event_passage *e,
                               const perp_limits *limits, pp_arena *arena);
