// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The Newton step of ssn_quick.c, reduced to the unknowns that the modes of the contacts leave.
//
// With x = r - rho u and the linearised map of theory (C21),
//
//   open    dr = -r                                                          no unknown
//   stick   rho (u + du) + alpha dr = 0                                      dr
//   slip    rho (u_n + du_n) + alpha dr_n = 0                                dr_n, and in space s
//           e . dr_t = mu (r_n + dr_n) - e . r_t
//           (1 - h) s + h rho (t . du_t) = -t . r_t,   s = t . dr_t,  h = mu x_n / |x_t|
//
// with e the direction of x_t and t = (-e_2, e_1) across it. So dr =
// k + V z with k known, du = W dr, and
//
//   (D + U R W V) z = b - U R W k
//
// V and U have one small block a contact, R = diag rho, D = diag(alpha or 1 - h).
// alpha makes the system regular where contacts are redundant. Cost: assembly n
// m, LU 2/3 m^3 operations for m unknowns.
#include "comp/newton/ssn_quick.h"

#include <math.h>
#include <string.h>

enum { SMALL = 4 };  // unknowns up to which an elimination without calls is faster

void pp_quick_mul(const pp_quick *s, const double *x, double *y)
{
    memset(y, 0, (size_t)s->n * sizeof *y);
    pp_gemv(s->n, s->n, 1.0, s->W, s->n, x, y);
}

// ── Unknowns ─────────────────────────────────────────────────────────────────────────────────────

// Unknowns of a contact: none open, dim sticking, dim - 1 slipping.
static int unknown_count(const pp_quick *s, pp_quick_mode kind)
{
    if (kind == PP_QUICK_OPEN) {
        return 0;
    }
    return kind == PP_QUICK_STICK ? s->dim : s->dim - 1;
}

// dr = k, the part of the step that the modes fix. False: it is zero.
static bool begin_step(pp_quick *s)
{
    bool any = false;
    for (int c = 0, i = 0; c < s->nc; c++, i += s->dim) {
        const pp_quick_contact *at = &s->touch[c];
        const double *r = s->r + i;
        // e . dr_t for dr_n = 0: onto the limit mu r_n
        double *dr = s->dr + i, along = 0.0;
        if (at->kind == PP_QUICK_SLIP) {
            along = s->mu[c] * r[0] - at->e[0] * r[1] - (s->dim > 2 ? at->e[1] * r[2] : 0.0);
        }
        for (int a = 0; a < s->dim; a++) {
            if (at->kind == PP_QUICK_OPEN) {
                dr[a] = -r[a];
            } else if (at->kind == PP_QUICK_SLIP && a > 0) {
                dr[a] = along * at->e[a - 1];
            } else {
                dr[a] = 0.0;
            }
            any = any || dr[a] != 0.0;
        }
    }
    return any;
}

// z = b - U R W k with W k in du; returns the number of unknowns.
static int right_side(pp_quick *s)
{
    int m = 0;
    for (int c = 0, i = 0; c < s->nc; c++, i += s->dim) {
        const pp_quick_contact *at = &s->touch[c];
        const double *u = s->u + i, *du = s->du + i, *r = s->r + i;
        double rho = s->rho[c];
        if (at->kind == PP_QUICK_STICK) {
            for (int a = 0; a < s->dim; a++) {
                s->z[m++] = -rho * (u[a] + du[a]);
            }
        } else if (at->kind == PP_QUICK_SLIP) {
            s->z[m++] = -rho * (u[0] + du[0]);
            if (s->dim > 2) {
                // t . du_t
                double across = at->e[0] * du[2] - at->e[1] * du[1];
                s->z[m++] = at->e[1] * r[1] - at->e[0] * r[2] - at->turn * rho * across;
            }
        }
    }
    return m;
}

// dr += V z
static void add_unknowns(pp_quick *s)
{
    const double *z = s->z;
    for (int c = 0, i = 0; c < s->nc; c++, i += s->dim) {
        const pp_quick_contact *at = &s->touch[c];
        double *dr = s->dr + i;
        if (at->kind == PP_QUICK_STICK) {
            for (int a = 0; a < s->dim; a++) {
                dr[a] += z[a];
            }
        } else if (at->kind == PP_QUICK_SLIP) {
            // dr_t = mu dr_n e + s t
            dr[0] += z[0];
            dr[1] += s->mu[c] * z[0] * at->e[0];
            if (s->dim > 2) {
                dr[1] -= z[1] * at->e[1];
                dr[2] += s->mu[c] * z[0] * at->e[1] + z[1] * at->e[0];
            }
        }
        z += unknown_count(s, at->kind);
    }
}

// ── Dense ────────────────────────────────────────────────────────────────────────────────────────

// One column of U R W V, from the column w of W V.
static void apply_rows(const pp_quick *s, const double *w, double *column)
{
    for (int c = 0; c < s->nc; c++, w += s->dim) {
        const pp_quick_contact *at = &s->touch[c];
        double rho = s->rho[c];
        if (at->kind == PP_QUICK_OPEN) {
            continue;
        }
        // the row of u_n is the same for stick and slip
        *column++ = rho * w[0];
        if (at->kind == PP_QUICK_STICK) {
            *column++ = rho * w[1];
            if (s->dim > 2) {
                *column++ = rho * w[2];
            }
        } else if (s->dim > 2) {
            *column++ = at->turn * rho * (at->e[0] * w[2] - at->e[1] * w[1]);
        }
    }
}

// w = x + a y + b z
static void axpbypz(int n, const double *x, double a, const double *y, double b, const double *z,
                    double *restrict w)
{
    for (int i = 0; i < n; i++) {
        w[i] = x[i] + a * y[i] + b * z[i];
    }
}

// J = D + U R W V, m x m, column by column. du serves as scratch.
static void assemble_reduced(pp_quick *s, int m)
{
    int n = s->n, at_column = 0;
    double *w = s->du;
    for (int c = 0; c < s->nc; c++) {
        const pp_quick_contact *at = &s->touch[c];
        const double *W = s->W + (size_t)(c * s->dim) * (size_t)n;
        double *J = s->J + (size_t)at_column * (size_t)(m + 1);  // from its diagonal
        double *column = s->J + (size_t)at_column * (size_t)m;
        if (at->kind == PP_QUICK_STICK) {
            for (int a = 0; a < s->dim; a++) {
                apply_rows(s, W + (size_t)a * (size_t)n, column + (size_t)a * (size_t)m);
                J[(size_t)a * (size_t)(m + 1)] += s->alpha;
            }
        } else if (at->kind == PP_QUICK_SLIP) {
            // column of dr_n: W (e_n + mu e); in space a second one for s: W t
            const double *last = s->dim > 2 ? W + 2 * (size_t)n : W;
            double mu0 = s->mu[c] * at->e[0], mu1 = s->dim > 2 ? s->mu[c] * at->e[1] : 0.0;
            axpbypz(n, W, mu0, W + n, mu1, last, w);
            apply_rows(s, w, column);
            J[0] += s->alpha;
            if (s->dim > 2) {
                for (int i = 0; i < n; i++) {
                    w[i] = at->e[0] * last[i] - at->e[1] * W[n + i];
                }
                apply_rows(s, w, column + m);
                J[m + 1] += pp_max(1.0 - at->turn, s->alpha);  // h -> 1 where slip begins
            }
        }
        at_column += unknown_count(s, at->kind);
    }
}

// z = J \ z for m <= SMALL: Gaussian elimination with partial pivoting. False: singular.
static bool solve_small(int m, double *J, double *z)
{
    for (int k = 0; k < m; k++) {
        int best = k;
        for (int i = k + 1; i < m; i++) {
            best = fabs(J[i + k * m]) > fabs(J[best + k * m]) ? i : best;
        }
        for (int j = k; j < m; j++) {
            double swap = J[k + j * m];
            J[k + j * m] = J[best + j * m];
            J[best + j * m] = swap;
        }
        double swap = z[k], pivot = J[k + k * m];
        z[k] = z[best];
        z[best] = swap;
        if (pivot == 0.0) {
            return false;
        }
        for (int i = k + 1; i < m; i++) {
            double factor = J[i + k * m] / pivot;
            for (int j = k + 1; j < m; j++) {
                J[i + j * m] -= factor * J[k + j * m];
            }
            z[i] -= factor * z[k];
        }
    }
    // back substitution
    for (int k = m - 1; k >= 0; k--) {
        z[k] /= J[k + k * m];
        for (int i = 0; i < k; i++) {
            z[i] -= J[i + k * m] * z[k];
        }
    }
    return true;
}

// z = J \ z; false: singular.
static bool solve_reduced(pp_quick *s, int m)
{
    assemble_reduced(s, m);
    if (m <= SMALL) {
        return solve_small(m, s->J, s->z);
    }
    if (pp_lu_factor(m, s->J, m, s->pivot, 0.0)) {
        return false;
    }
    pp_lu_solve(m, s->J, m, s->pivot, s->z);
    return true;
}

bool pp_quick_step(pp_quick *s)
{
    // W k is skipped where k = 0, in the first step from zero
    if (begin_step(s)) {
        pp_quick_mul(s, s->dr, s->du);
    } else {
        memset(s->du, 0, (size_t)s->n * sizeof *s->du);
    }
    int m = right_side(s);
    if (m > 0 && !solve_reduced(s, m)) {
        return false;
    }
    add_unknowns(s);
    pp_quick_mul(s, s->dr, s->du);
    return pp_all_finite((size_t)s->n, s->dr);
}
