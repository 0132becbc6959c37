// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Private to sim/: moving bodies the least way until overlaps, open joints and crossed limits are gone. theory (K7), (I9)
#pragma once

#include "sim/step/stages.h"

// The worst fault, in units of the thickness or the arm.
typedef struct pp_fault {
    double worst;          // over the thickness or the arm
    double value;          // [m, rad]
    int shape_a, shape_b;  // -1: not an overlap
    int joint;             // -1: not a joint
    bool beyond;           // a limit of the joint, not the joint itself
    int count;             // of pairs of shapes that overlap, open joints and crossed limits
} pp_fault;

typedef struct pp_fit {
    perp_sim *sim;
    pp_state *at;       // the places of the bodies, which are moved
    pp_frame *frames;   // the same as frames
    pp_kinematics kin;  // at rest, h = 1
    pp_gaps gap;
    pp_rows row;
    pp_answer answer;
    pp_fault fault;
    double deepest;  // overlap [m]
} pp_fit;

// Of the thickness of a shape, or of a joint's arm: nothing to remove.
static const double PP_FITS = 1e-9;

// Kinematics at rest, contacts and faults where the bodies are now.
perp_status pp_fit_look(pp_fit *f);
// Rows of positions alone: no springs, no drives of rates or of limited effort, and nothing moves.
perp_status pp_fit_rows(pp_fit *f);
// The way d as the velocities of a step from rest.
perp_status pp_fit_solve(pp_fit *f);
// For remarks and errors: the worst fault and the number of all, short enough that the rest of the sentence fits.
void pp_fit_describe(const pp_fit *f, const pp_fault *at, char *what, size_t size);
