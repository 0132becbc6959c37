// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Internal interface of the undamped Newton method for few contacts: the modes of the contacts and
// the linear system that follows from them. Private to ssn_quick*.c.
#pragma once

#include "comp/newton/ssn.h"

typedef enum pp_quick_mode { PP_QUICK_OPEN, PP_QUICK_STICK, PP_QUICK_SLIP } pp_quick_mode;

// The mode of a contact at x = r - rho u, and for slip the direction.
typedef struct pp_quick_contact {
    pp_quick_mode kind;
    double e[2];  // slip: direction of x_t (plane: a sign, and 0)
    double turn;  // slip: mu x_n / |x_t|
} pp_quick_contact;

// The local problem with friction discs (in the plane: intervals), W dense, in the caller's units.
typedef struct pp_quick {
    int nc, dim, n;
    const double *W;  // n x n
    const double *q, *mu;
    double *rho;   // nc: 1 / mean diag W_cc
    double alpha;  // of the linear system
    double unit2;  // |q|^2 in units of energy
    double *r, *u;
    double *dr, *du;          // the Newton step, W times it
    pp_quick_contact *touch;  // nc
    double *z;                // unknowns: n at most
    double *J;                // of the unknowns: n x n at most
    int *pivot;
} pp_quick;

// y = W x
void pp_quick_mul(const pp_quick *s, const double *x, double *y);
bool pp_quick_step(pp_quick *s);  // dr and du; false: singular
