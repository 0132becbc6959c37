// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Judging a recording again: the model from the scene's text, states and impulses from the frames.
#pragma once

#include "record/load.h"
#include "sim/sim.h"

enum { PP_WHERE_MAX = 200 };

typedef struct pp_wrench2 {
    double x, y, turn;  // about the body's origin
} pp_wrench2;

// A frame being judged, with the one before it.
typedef struct pp_recheck {
    const perp_recording_info *info;
    const perp_recording *recording;
    const perp_model *model;  // NULL: the recording has no scene
    pp_arena *arena;          // of the step
    perp_check *check;
    char (*where)[PP_WHERE_MAX];  // text of each item
    bool *unjudged;               // bodies: gears pull at them, and the recording does not tell how
    const perp_frame *now;
    double t0, h;
    const double *q0, *nu0;    // the state before
    pp_frame *before, *after;  // bodies at both times
    pp_kinematics kin;         // of the step
    const double *start;       // velocities it starts from: nu0, or none when quasistatic
    pp_wrench2 *impulse;       // bodies: of contacts and joints together
} pp_recheck;

// Keeps the worst of an item; `at` and `with` name where it was seen, `with` may be "".
void pp_check_see(pp_recheck *c, perp_check_item item, double value, const char *at,
                  const char *with);

// ── What a frame shows by itself (check_frame.c) ─────────────────────────────────────────────────
perp_status pp_check_places(pp_recheck *c);  // gaps, joints
void pp_check_contacts(pp_recheck *c);       // pull, cone, slip

// ── What two frames one step apart show (check_step.c) ───────────────────────────────────────────
void pp_check_motion(pp_recheck *c);
perp_status pp_check_balance(pp_recheck *c);  // momentum and energy
