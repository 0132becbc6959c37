// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Problems whose only answer is known by construction, in units that differ by powers of two: nothing is rounded,
// so that the answer in these units is the known one, whatever a residual says.
//
//   z = c ẑ,  w = r ŵ:   A = r Â / c,  b = r b̂,  bounds c l̂, c û
#pragma once

#include "support/random.h"

#include <perp/comp.h>
#include <stdbool.h>

enum { KNOWN_MOST = 24 };

typedef enum known_kind {
    KNOWN_LCP,  // P-matrices: definite and not symmetric, triangular, dominant, chains, weakly coupled
    KNOWN_MCP,     // the same with boxes, free and fixed variables
    KNOWN_PLANE,   // contact, local form, 2 components
    KNOWN_SPACE,   // 3 components
    KNOWN_GLOBAL,  // 3 components, global form
    KNOWN_KINDS
} known_kind;

typedef enum known_units {  // which of r and c differ from 1
    KNOWN_AS_MADE,
    KNOWN_ROWS,
    KNOWN_COLUMNS,
    KNOWN_BOTH,
    KNOWN_MASSES,  // c = 1 / r: a congruence, as bodies of very different masses give
    KNOWN_UNITS
} known_units;

typedef struct known {
    perp_mcp mcp;  // of the first two kinds
    perp_fcp fcp;  // of the others
    bool contact;
    int n, nv;                  // of z or r, and of v
    double answer[KNOWN_MOST];  // in the units in which the problem was made
    double v[KNOWN_MOST];
    double column[KNOWN_MOST], row[KNOWN_MOST], body[KNOWN_MOST];
    double A[KNOWN_MOST * KNOWN_MOST], M[KNOWN_MOST * KNOWN_MOST], H[KNOWN_MOST * KNOWN_MOST];
    double b[KNOWN_MOST], lower[KNOWN_MOST], upper[KNOWN_MOST], f[KNOWN_MOST], mu[KNOWN_MOST];
} known;

const char *known_kind_name(known_kind kind);
const char *known_units_name(known_units units);

// powers: r and c are 2^k, |k| <= powers (40 is 1e12).
void known_make(known *p, known_kind kind, known_units units, int powers, rng *random);

// Solve; *error is max_i |z_i / c_i - ẑ_i| / max|ẑ|, that of r and of v for contact.
perp_status known_solve(const known *p, const char *solver, perp_workspace *work, double *error,
                        perp_comp_info *info);
