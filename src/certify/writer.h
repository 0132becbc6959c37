// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Private to certify/: the writer of rows, which rows.c and equations.c share.
#pragma once

#include "certify/own.h"
#include "certify/scale.h"

// Writes the rows in the order of the given ones, and notes whether the two lists agree.
typedef struct pp_row_writer {
    const pp_step_evidence *e;
    const perp_model *m;
    const pp_frame *start;   // bodies at the start of the step,
    const pp_frame *acting;  // and where rows of joints act
    pp_poses start_at, acting_at,
        end_at;  // the same with their times, and the end of the step; turns of the start
    double t;    // time there [s]
    pp_rows *own;
    pp_own_joints
        *joints;  // equations of joints between two bodies, which are not among the rows of own
    const perp_twist *after;  // velocities of free bodies at the end of the step
    double *pb;               // impulses of the rows own->b
    int b, boxed, n;          // next rows of the problem: equations, rows with bounds, limits
    int wide;                 // next row of own->b
    bool same;                // so far all rows are those of the problem
    bool beside;              // there are contacts in the problem
    pp_arena *arena;
    bool memory;  // there was enough so far
} pp_row_writer;

// Velocities of all bodies in world axes.
typedef struct pp_row_velocities {
    perp_twist *after, *way;  // at the end of the step, and the mean of the step
} pp_row_velocities;

// An equation and its rate at the ends of the step. The row itself is taken where it acts.
typedef struct pp_row_instant {
    double value, before;  // phi and its rate at the start
    double end;            // its rate at the end, with the rows there
} pp_row_instant;

// Where the row acts: phi, and its rate with the velocities at the end and with the mean ones of the step.
typedef struct pp_row_acting {
    double value, after, way;
} pp_row_acting;

// Whether the problem has the row of this joint, force and actuator next. If not, an impulse would belong to another
// equation.
bool pp_row_comes_next(pp_row_writer *w, const pp_row *given, int count, int at, const int of[3]);
// The bias of an equation: what the scheme adds to J nu + rate. given: that of the problem.
double pp_equation_bias(const pp_row_writer *w, const pp_row_acting *row, const pp_row_instant *at,
                        double given);
double pp_given_bias(const pp_row_writer *w);  // of the equation that the problem has next
// A joint between two bodies, written as equations with their impulses.
void pp_put_pair_equations(pp_row_writer *w, const pp_row_velocities *v, int joint,
                           const pp_own_anchors *at);
