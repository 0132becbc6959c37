// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Private to solve/: the contacts of a step as comp/modes/modes.h has them.
//
// Joints: rates are always taken with joints closed exactly (pp_closed_solve), so that bilateral rows have no laws here.
// In the matrix they are rows that stick. In joint coordinates the unknowns are the rates of the tree, H takes the place of
// M, and only loops, drives and springs are left of the bilateral rows.                  theory (S14)
#pragma once

#include "comp/modes/modes.h"
#include "solve/run.h"

typedef struct pp_step_modes {
    pp_modes s;  // the first: its operations are handed a pointer to it
    pp_run *run;
    double *start;   // nv: M nu_l + p_ext
    double *energy;  // bodies: at their speeds, by which the certificate judges energy [J]
    const pp_tree_pass *tree;  // joint coordinates; NULL: bodies
    const double *H;           // its mass matrix with folded rows, n x n
    double *push;              // n: generalised impulses at p = 0
    double *still;             // nb: rates of bilateral rows at qd = 0, biases included
} pp_step_modes;

static inline pp_step_modes *pp_step_of(pp_modes *s)
{
    return (pp_step_modes *)s;
}

static inline const pp_step_modes *pp_const_step_of(const pp_modes *s)
{
    return (const pp_step_modes *)s;
}

// The normal row of contact i, and its friction rows, which follow each other.
const pp_row *pp_step_row(const pp_step_modes *m, int i);
const pp_row *pp_step_friction_rows(const pp_step_modes *m, int i);
// What a unit impulse along a row does to its own rate, of the bodies by themselves; 1: they are not free.
double pp_modes_body_mobility(const pp_run *r, const pp_row *row);

// The system in joint coordinates (modes_tree.c); m->tree is set.
perp_status pp_modes_tree_prepare(pp_step_modes *m);
void pp_modes_tree_velocities(pp_modes *s);
double pp_modes_tree_rate(const pp_modes *s, const pp_mode_contact *c, int k);
double pp_modes_tree_step_rate(const pp_modes *s, const pp_mode_contact *c, int k);
bool pp_modes_tree_factor(pp_modes *s);
void pp_modes_tree_push(pp_modes *s);
bool pp_modes_tree_solve(pp_modes *s);
void pp_modes_tree_multiply(const pp_modes *s, const double *x, double *y);
void pp_modes_tree_close(pp_modes *s, double *v);
