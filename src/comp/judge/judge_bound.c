// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The judge's first check of a contact answer, in double: upper bounds of the residuals of
// judge_fcp.c for friction discs and intervals, sliding only, local form. No solver calls this.
//
// The possible rounding error is bounded and added to each e_c: u_i is a sum of at most n + 1
// terms, so that its error is below (n + 2) eps times the sum of their absolute values; the map is
// a contraction, and adds a few eps of its arguments. Cost: one product with W; an answer that is
// clearly good needs no long double.
#include "comp/judge/judge.h"

#include <math.h>
#include <string.h>

static const double EPS = 0x1p-53;
static const double MAP = 16.0;  // bound of the map's own rounding, in eps of its arguments

// Sums of squares of e_c.
typedef struct bound {
    double sum, hidden;  // as computed, and with the bound of the rounding error
} bound;

// u += w x, terms += |w x|
static void add_dense_column(int n, const double *w, double x, double *restrict u,
                             double *restrict terms)
{
    for (int i = 0; i < n; i++) {
        double part = w[i] * x;
        u[i] += part;
        terms[i] += fabs(part);
    }
}

// The same for column j of a sparse W.
static void add_entries(const perp_matrix *W, int j, double x, double *u, double *terms)
{
    for (int k = W->p[j]; k < W->p[j + 1]; k++) {
        double part = W->x[k] * x;
        u[W->i[k]] += part;
        terms[W->i[k]] += fabs(part);
    }
}

// u = W r + q, the sums of the absolute values of its terms, and the diagonal of W.
static void compute_velocities(const perp_fcp *fcp, const double *r, double *u, double *terms,
                               double *diagonal)
{
    const perp_matrix *W = &fcp->W;
    size_t n = (size_t)W->rows;
    // a full CSC matrix is a dense one
    bool full = W->dense || (size_t)W->p[n] == n * n;
    const double *columns = W->dense ? W->dense : W->x;
    for (size_t i = 0; i < n; i++) {
        u[i] = fcp->q[i];
        terms[i] = fabs(u[i]);
    }
    for (size_t j = 0; j < n; j++) {
        diagonal[j] = full ? columns[j * n + j] : pp_matrix_at(W, (int)j, (int)j);
        if (r[j] != 0.0 && full) {
            add_dense_column((int)n, columns + j * n, r[j], u, terms);
        } else if (r[j] != 0.0) {
            add_entries(W, (int)j, r[j], u, terms);
        }
    }
}

// One contact, padded with zeros to three components.
typedef struct contact {
    double mu, r[3], u[3];
    double doubt;  // bound of the rounding error of u
    double size;   // S_c of (C41)
} contact;

static double length(const double *x)
{
    return sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2]);
}

// Adds e of one contact, and e with the bound of its rounding error. x: size of the map's argument.
static void add_contact_error(bound *to, const contact *at, double rho, const double *e, double x)
{
    double size = length(e);
    double rounding = length(at->r) + x + rho * (1.0 + at->mu) * length(at->u);
    double worst = size + MAP * EPS * rounding + rho * (1.0 + at->mu) * at->doubt;
    to->sum += size * size;
    to->hidden += worst * worst;
}

// e_c of theory (C7) and (C8), by the closed form of the projection (C18).
static void add_natural(const contact *at, double rho, bound *to)
{
    double mu = at->mu, slide = sqrt(at->u[1] * at->u[1] + at->u[2] * at->u[2]);
    double x[3] = {at->r[0] - rho * (at->u[0] + mu * slide), at->r[1] - rho * at->u[1],
                   at->r[2] - rho * at->u[2]};
    double size = sqrt(x[1] * x[1] + x[2] * x[2]), normal = x[0], shrink = 1.0;
    if (!(size <= mu * x[0])) {
        double sum = x[0] + mu * size;
        normal = sum > 0.0 ? sum / (1.0 + mu * mu) : 0.0;
        shrink = size > 0.0 ? mu * normal / size : 0.0;
    }
    double e[3] = {at->r[0] - normal, at->r[1] - shrink * x[1], at->r[2] - shrink * x[2]};
    add_contact_error(to, at, rho, e, length(x));
}

// F of theory (C21), where friction is strong.
static void add_strong(const contact *at, double rho, bound *to)
{
    double x[3] = {at->r[0] - rho * at->u[0], at->r[1] - rho * at->u[1], at->r[2] - rho * at->u[2]};
    double size = sqrt(x[1] * x[1] + x[2] * x[2]), radius = at->mu * pp_max(x[0], 0.0);
    double shrink = size > radius ? radius / size : 1.0;
    double e[3] = {at->r[0] - pp_max(x[0], 0.0), at->r[1] - shrink * x[1],
                   at->r[2] - shrink * x[2]};
    add_contact_error(to, at, rho, e, length(x));
}

// eta_c of theory (C41), with the bound of its rounding error: F of (C21) with r in units of 1 /
// weight and u in units of `size`.
static double backward_bound(const contact *at, double weight, double size)
{
    double y[3], x[3];
    for (int a = 0; a < 3; a++) {
        y[a] = weight * at->r[a];
        x[a] = y[a] - at->u[a] / size;
    }
    double radius = at->mu * pp_max(x[0], 0.0), slide = sqrt(x[1] * x[1] + x[2] * x[2]);
    double shrink = slide > radius ? radius / slide : 1.0, normal = at->u[0] / size;
    double F[3] = {normal < y[0] ? normal : y[0], y[1] - shrink * x[1], y[2] - shrink * x[2]};
    return length(F) + (at->doubt + MAP * EPS * length(at->u)) / size + MAP * EPS * length(y);
}

// Quantities of all contacts for the backward error.
typedef struct sizes {
    const double *size, *diagonal;
    double *rounding;
    bool looked;  // rounding is known
} sizes;

// The backward error of one contact: by 1 / |r_c| first, then by the weight of its columns, then
// against the rounding of the island, as judge_fcp.c does it.
static double backward_error(const perp_fcp *fcp, const contact *at, int c, sizes *all)
{
    const double *size = all->size;
    double own = length(at->r), error = 0.0;
    if (!(size[c] > 0.0)) {
        return 0.0;  // neither load nor velocity
    }
    error = backward_bound(at, own > 0.0 ? 1.0 / own : 0.0, size[c]);
    if (error > PP_ROWS_RIGHT && own > 0.0) {
        double weight = pp_contact_weight(fcp, c, NULL, size);
        if (weight > 0.0 && weight * own < 1.0) {
            error = backward_bound(at, weight, size[c]);
        }
    }
    if (error > PP_ROWS_RIGHT) {
        if (!all->looked) {
            pp_contact_rounding(fcp, all->diagonal, size, all->rounding);
        }
        all->looked = true;
        bool none = error * size[c] <= all->rounding[c];
        error = none ? 0.0 : error;
    }
    return error;
}

// The residual with the bound of its rounding error; *seen: the largest residual without.
static double residual_of_bounds(bound squares, double size, double *seen)
{
    size = size > 0.0 ? size : 1.0;
    *seen = pp_max(*seen, sqrt(squares.sum) / size);
    return sqrt(squares.hidden) / size * (1.0 + 1e-12);  // size is known to n eps
}

// Contact c with its sizes.
static contact contact_at(const perp_fcp *fcp, int c, const double *r, const double *u,
                          const double *terms)
{
    int d = fcp->dim, at = c * d;
    contact one = {.mu = fcp->mu[c]};
    double doubt2 = 0.0;
    for (int a = 0; a < d; a++) {
        one.r[a] = r[at + a];
        one.u[a] = u[at + a];
        doubt2 += terms[at + a] * terms[at + a];
    }
    one.size = sqrt(doubt2);
    one.doubt = (fcp->nc * d + 2) * EPS * one.size;
    return one;
}

bool pp_fcp_judge_bound(const perp_fcp *fcp, const double *r, double enough, pp_arena *arena,
                        perp_fcp_residuals *out)
{
    int d = fcp->dim, n = fcp->nc * d;
    double *u = PP_ARRAY(arena, double, 3 * (size_t)n + 2 * (size_t)fcp->nc);
    if (fcp->nv > 0 || fcp->nd || d > 3 || n == 0 || !u) {
        return false;
    }
    double *terms = u + n, *diagonal = terms + n, *size = diagonal + n;
    compute_velocities(fcp, r, u, terms, diagonal);
    bound plain = {0.0, 0.0}, scaled = {0.0, 0.0};
    double q2 = 0.0, r2 = 0.0, rho_q2 = 0.0, seen = 0.0, worst = 0.0;
    // sums over all contacts: both maps, and |q|, |r|, |rho q|
    for (int c = 0, at = 0; c < fcp->nc; c++, at += d) {
        contact one = contact_at(fcp, c, r, u, terms);
        double trace = 0.0, own = 0.0;
        for (int a = 0; a < d; a++) {
            trace += diagonal[at + a];
            own += fcp->q[at + a] * fcp->q[at + a];
            r2 += r[at + a] * r[at + a];
        }
        double rho = trace > 0.0 ? d / trace : 1.0;
        size[c] = one.size;
        q2 += own;
        rho_q2 += rho * rho * own;
        add_natural(&one, 1.0, &plain);
        if (one.mu > PP_STRONG_FRICTION) {
            add_strong(&one, rho, &scaled);
        } else {
            add_natural(&one, rho, &scaled);
        }
    }
    sizes all = {size, diagonal, size + fcp->nc, false};
    for (int c = 0; c < fcp->nc; c++) {
        contact one = contact_at(fcp, c, r, u, terms);
        worst = pp_max(worst, backward_error(fcp, &one, c, &all));
    }
    *out =
        (perp_fcp_residuals){.plain = residual_of_bounds(plain, sqrt(q2), &seen),
                             .scaled = residual_of_bounds(scaled, sqrt(pp_max(r2, rho_q2)), &seen),
                             .backward = worst};
    out->velocity = out->plain;
    // accepted where the bound is tight (within a factor 2), or far below `enough`
    worst = pp_max(out->plain, out->scaled);
    return isfinite(out->plain) && isfinite(out->scaled) && worst <= enough &&
           pp_fcp_worst(fcp, out) <= enough && (worst <= 2.0 * seen || worst <= 1e-3 * enough);
}
