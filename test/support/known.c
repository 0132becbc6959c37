// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
#include "support/known.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char *const kinds[] = {"lcp", "mcp", "plane", "space", "global"};
static const char *const unit_names[] = {"as made", "rows", "columns", "both", "masses"};

const char *known_kind_name(known_kind kind)
{
    return kinds[kind];
}

const char *known_units_name(known_units units)
{
    return unit_names[units];
}

static int from_to(rng *r, int low, int high)
{
    return low + rng_below(r, high - low + 1);
}

static double *at(double *A, int n, int i, int j)
{
    return &A[i + j * n];
}

// ── Matrices of small integers ───────────────────────────────────────────────────────────────────

// G G' + I, positive definite.
static void make_definite(double *A, int n, rng *r)
{
    double G[KNOWN_MOST * KNOWN_MOST];
    for (int k = 0; k < n * n; k++) {
        G[k] = from_to(r, -3, 3);
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            double sum = i == j;
            for (int k = 0; k < n; k++) {
                sum += *at(G, n, i, k) * *at(G, n, j, k);
            }
            *at(A, n, i, j) = sum;
        }
    }
}

// Rows whose diagonal is larger than all the rest, full or a chain: rows coupled with the next one only, one way or both.
static void make_dominant(double *A, int n, bool chain, rng *r)
{
    for (int i = 0; i < n; i++) {
        double sum = 0.0;
        for (int j = 0; j < n; j++) {
            bool there = !chain || (abs(i - j) <= 1 && rng_below(r, 3));
            *at(A, n, i, j) = there ? from_to(r, -4, 4) : 0;
            sum += fabs(*at(A, n, i, j));
        }
        *at(A, n, i, i) = 1.0 + sum;
    }
}

// Entries off the diagonal become up to 2^20 times smaller.
static void weaken(double *A, int n, rng *r)
{
    for (int k = 0; k < n * n; k++) {
        A[k] = k % (n + 1) == 0 ? A[k] : ldexp(A[k], -from_to(r, 0, 20));
    }
}

// A P-matrix of one of six sorts.
static void make_p(double *A, int n, rng *r)
{
    int sort = rng_below(r, 6);
    if (sort < 2) {
        make_definite(A, n, r);
    } else {
        make_dominant(A, n, sort == 3, r);
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i && sort == 0; j++) {  // and a skew part
            int skew = from_to(r, -5, 5);
            *at(A, n, i, j) += skew;
            *at(A, n, j, i) -= skew;
        }
        for (int j = 0; j < n && sort == 1; j++) {
            *at(A, n, i, j) = j < i ? 0.0 : from_to(r, -4, 4);
        }
        if (sort == 1 || sort == 4) {
            *at(A, n, i, i) = from_to(r, 1, 6);
        }
        for (int j = 0; j < i && sort == 4; j++) {
            *at(A, n, i, j) = 0.0;
        }
    }
    if (sort >= 4) {
        weaken(A, n, r);
    }
}

// ── Answers ──────────────────────────────────────────────────────────────────────────────────────

// A place for each variable: z and w of that place.
static void make_pairs(known *p, bool bounded, double *w, rng *r)
{
    for (int i = 0; i < p->n; i++) {
        int sort = bounded ? rng_below(r, 5) : 0, place = rng_below(r, sort == 1 ? 3 : 2);
        p->lower[i] = bounded ? from_to(r, -5, 5) : 0.0;
        p->upper[i] = HUGE_VAL;
        if (sort == 1) {
            p->upper[i] = p->lower[i] + from_to(r, 2, 8);
        } else if (sort == 2) {
            p->lower[i] = -HUGE_VAL;
            place = 1;
        } else if (sort == 3) {
            p->upper[i] = p->lower[i];
            place = 2 * place;
        }
        double base = sort == 2 ? from_to(r, -9, 9) : p->lower[i];
        w[i] = 0.0;
        p->answer[i] = base;
        if (place == 0) {
            w[i] = from_to(r, rng_below(r, 4) ? 1 : 0, 20);
        } else if (place == 2) {
            p->answer[i] = p->upper[i];
            w[i] = -from_to(r, rng_below(r, 4) ? 1 : 0, 20);
        } else if (sort == 1) {
            p->answer[i] = base + 1.0;
        } else if (sort != 2) {
            p->answer[i] = base + from_to(r, 1, 9);
        }
    }
}

// Open, sticking or sliding, with mu = 1/4 and slips along (3, 4) / 5: r, u are integers.
static void make_contacts(known *p, double *u, rng *r)
{
    for (int c = 0; c < p->fcp.nc; c++) {
        int dim = p->fcp.dim, mode = rng_below(r, 3), k = from_to(r, 1, 3), m = from_to(r, 1, 4);
        double *z = p->answer + c * dim, *y = u + c * dim, sign = rng_below(r, 2) ? 1.0 : -1.0;
        double along[2] = {dim == 2 ? 5.0 : 3.0, 4.0};
        p->mu[c] = 0.25;
        for (int a = 0; a < dim; a++) {
            z[a] = 0.0;
            y[a] = mode == 0 ? from_to(r, a == 0 ? 1 : -9, 9) : 0.0;
        }
        if (mode > 0) {
            z[0] = 20.0 * k;
        }
        for (int a = 1; a < dim && mode == 1; a++) {
            z[a] = from_to(r, -3, 3);
        }
        for (int a = 1; a < dim && mode == 2; a++) {
            z[a] = -sign * k * along[a - 1];
            y[a] = sign * m * along[a - 1];
        }
    }
}

// ── Units ────────────────────────────────────────────────────────────────────────────────────────

static void make_units(known *p, known_units which, int powers, rng *r)
{
    int dim = p->contact ? p->fcp.dim : 1;
    bool rows = which == KNOWN_ROWS || which == KNOWN_BOTH || which == KNOWN_MASSES;
    bool columns = which == KNOWN_COLUMNS || which == KNOWN_BOTH;
    for (int c = 0; c < p->n / dim; c++) {
        double row = ldexp(1.0, rows ? from_to(r, -powers, powers) : 0);
        double column = ldexp(1.0, columns ? from_to(r, -powers, powers) : 0);
        bool congruent = which == KNOWN_MASSES || p->nv > 0;
        for (int a = 0; a < dim; a++) {
            p->row[c * dim + a] = row;
            p->column[c * dim + a] = congruent ? 1.0 / row : column;
        }
    }
    for (int b = 0; b < p->nv; b++) {
        p->body[b] = columns || rows ? ldexp(1.0, from_to(r, -powers, powers)) : 1.0;
    }
}

// w - A z of each row, before it gets its units.
static void make_load(int n, int m, const double *A, const double *z, const double *w, double *b)
{
    for (int i = 0; i < n; i++) {
        b[i] = w[i];
        for (int j = 0; j < m; j++) {
            b[i] -= A[i + j * n] * z[j];
        }
    }
}

static void give_units(known *p)
{
    int n = p->n;
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            *at(p->A, n, i, j) *= p->row[i] / p->column[j];
        }
        p->b[i] *= p->row[i];
        p->lower[i] *= p->column[i];
        p->upper[i] *= p->column[i];
    }
}

// Bodies of integer masses, contact c between body c and the next. W's blocks are multiples of the identity, so
// that normal and tangential parts separate, and both have one answer.
static void make_bodies(known *p, const double *u, rng *r)
{
    int n = p->n, dim = p->fcp.dim;
    double push[KNOWN_MOST];
    memset(p->M, 0, sizeof p->M);
    memset(p->H, 0, sizeof p->H);
    for (int k = 0; k < n; k++) {
        int mass = k % dim == 0 ? from_to(r, 1, 9) : (int)*at(p->M, n, k - 1, k - 1);
        *at(p->M, n, k, k) = mass;
        *at(p->H, n, k, k) = 2.0;
        if (k + dim < n) {
            *at(p->H, n, k + dim, k) = -1.0;
        }
        p->v[k] = from_to(r, -9, 9);
    }
    for (int k = 0; k < n; k++) {
        push[k] = *at(p->M, n, k, k) * p->v[k];
        p->b[k] = u[k] - 2.0 * p->v[k] + (k + dim < n ? p->v[k + dim] : 0.0);  // w of (C4)
    }
    make_load(n, n, p->H, p->answer, push, p->f);
}

static void give_bodies_units(known *p)
{
    int n = p->n;
    for (int i = 0; i < n; i++) {
        p->f[i] *= p->body[i];
        p->b[i] *= p->row[i];
        for (int j = 0; j < n; j++) {
            *at(p->M, n, i, j) *= p->body[i] * p->body[j];
            *at(p->H, n, i, j) *= p->body[i] * p->row[j];
        }
    }
}

// ── All of it ────────────────────────────────────────────────────────────────────────────────────

// W of small coupling, or B x I with B definite: in both cases one answer.
static void make_delassus(known *p, rng *r)
{
    int n = p->n, dim = p->fcp.dim, nc = p->fcp.nc;
    double B[KNOWN_MOST * KNOWN_MOST];
    bool weak = rng_below(r, 2);
    make_definite(B, nc, r);
    memset(p->A, 0, sizeof p->A);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j <= i; j++) {
            double x = i % dim == j % dim ? *at(B, nc, i / dim, j / dim) : 0.0;
            if (weak) {
                x = i == j ? 4.0 * n : from_to(r, -1, 1);
            }
            *at(p->A, n, i, j) = *at(p->A, n, j, i) = x;
        }
    }
}

void known_make(known *p, known_kind kind, known_units units, int powers, rng *random)
{
    double w[KNOWN_MOST];
    p->contact = kind >= KNOWN_PLANE;
    p->nv = 0;
    if (!p->contact) {
        p->n = from_to(random, 1, rng_below(random, 2) ? 6 : 20);
        make_p(p->A, p->n, random);
        make_pairs(p, kind == KNOWN_MCP, w, random);
        make_units(p, units, powers, random);
        make_load(p->n, p->n, p->A, p->answer, w, p->b);
        give_units(p);
        p->mcp = (perp_mcp){p->n, perp_matrix_dense(p->n, p->n, p->A), p->b, p->lower, p->upper};
        return;
    }
    p->fcp = (perp_fcp){.dim = kind == KNOWN_PLANE ? 2 : 3, .mu = p->mu};
    p->fcp.nc = from_to(random, 1, 5);
    p->n = p->fcp.nc * p->fcp.dim;
    make_contacts(p, w, random);
    p->nv = kind == KNOWN_GLOBAL ? p->n : 0;
    make_units(p, units, powers, random);
    if (p->nv > 0) {
        make_bodies(p, w, random);
        give_bodies_units(p);
        p->fcp.nv = p->nv;
        p->fcp.M = perp_matrix_dense(p->n, p->n, p->M);
        p->fcp.H = perp_matrix_dense(p->n, p->n, p->H);
        p->fcp.f = p->f;
        p->fcp.w = p->b;
        return;
    }
    make_delassus(p, random);
    make_load(p->n, p->n, p->A, p->answer, w, p->b);
    give_units(p);
    p->fcp.W = perp_matrix_dense(p->n, p->n, p->A);
    p->fcp.q = p->b;
}

// Of x in units that are `column`.
static double distance(int n, const double *x, const double *column, const double *answer)
{
    double worst = 0.0, size = 0.0;
    for (int i = 0; i < n; i++) {
        double off = fabs(x[i] / column[i] - answer[i]);
        worst = !(off <= worst) ? off : worst;
        size = fmax(size, fabs(answer[i]));
    }
    return worst / (size > 0.0 ? size : 1.0);
}

perp_status known_solve(const known *p, const char *solver, perp_workspace *work, double *error,
                        perp_comp_info *info)
{
    double z[KNOWN_MOST], v[KNOWN_MOST], scale[KNOWN_MOST];
    perp_comp_options options = perp_comp_options_default();
    perp_status status;
    options.work = work;
    if (!p->contact) {
        status = perp_mcp_solve(solver, &p->mcp, &options, NULL, z, info);
        *error = distance(p->n, z, p->column, p->answer);
        return status;
    }
    status = perp_fcp_solve(solver, &p->fcp, &options, NULL, z, v, info);
    *error = distance(p->n, z, p->column, p->answer);
    for (int k = 0; k < p->nv; k++) {
        scale[k] = 1.0 / p->body[k];
    }
    *error = fmax(*error, distance(p->nv, v, scale, p->v));
    return status;
}
