// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The judge of MCP answers whose matrix is A = S'D S + K: the Stewart–Trinkle problem, theory
// (C10), with S the directions of friction, D the Delassus matrix, and K the incidence of sigma.
// With n_d directions A has n_d^2 times the entries of D, and is never formed. The residuals are
// those of judge_mcp.c; products are in long double, and their possible rounding error counts.
//
// The columns of A in the backward error (C40) are those of |S|'|D||S| + |K|. D is symmetric and
// connected, so that rows are compared by roots of energies, S_i / sqrt(A_ii), and what is small
// beside the largest is rounding; rows and variables of sigma take their units from those that K
// couples them with. Cost: four products with S, D and K for each evaluation.
#include "comp/judge/judge.h"

#include <math.h>
#include <string.h>

static const double ROUNDING = 0x1p-62;  // of the terms, for three products in a row

// Sums, and the sums of the absolute values of their terms.
typedef struct product_tally {
    pp_real *sum, *terms;
} product_tally;

static void tally_clear(product_tally t, int n)
{
    memset(t.sum, 0, (size_t)n * sizeof *t.sum);
    memset(t.terms, 0, (size_t)n * sizeof *t.terms);
}

// y += A x, or y += A'x
static void tally_product(const perp_matrix *A, bool transposed, product_tally x, product_tally y)
{
    for (int j = 0; j < A->cols; j++) {
        int first = A->dense ? 0 : A->p[j], last = A->dense ? A->rows : A->p[j + 1];
        const double *column = A->dense ? A->dense + (size_t)j * (size_t)A->rows : A->x;
        if (!transposed && x.terms[j] == 0.0L) {
            continue;
        }
        for (int k = first; k < last; k++) {
            int i = A->dense ? k : A->i[k], from = transposed ? i : j, to = transposed ? j : i;
            // from the entries of x to those of y, transposed or not
            pp_real a = (pp_real)column[k];
            y.sum[to] += a * x.sum[from];
            y.terms[to] += fabsl(a) * x.terms[from];
        }
    }
}

// z and w, and between them p = S z and rate = D S z.
typedef struct product_scratch {
    product_tally z, w, p, rate;
} product_scratch;

static bool allocate_products(product_scratch *s, int n, int base, pp_arena *arena)
{
    product_tally *all[] = {&s->z, &s->w, &s->p, &s->rate};
    pp_real *reals = PP_ARRAY(arena, pp_real, 4 * ((size_t)n + (size_t)base));
    if (!reals) {
        return false;
    }
    for (int k = 0; k < 4; k++) {
        int size = k < 2 ? n : base;
        all[k]->sum = reals;
        all[k]->terms = reals + size;
        reals += 2 * size;
    }
    return true;
}

// w = A z + b = S'(D (S z)) + K z + b
static void evaluate_product(const perp_mcp *mcp, const pp_product *A, const double *z,
                             product_scratch *s)
{
    tally_clear(s->p, A->D.rows);
    tally_clear(s->rate, A->D.rows);
    for (int i = 0; i < mcp->n; i++) {
        s->z.sum[i] = (pp_real)z[i];
        s->z.terms[i] = fabsl(s->z.sum[i]);
        s->w.sum[i] = (pp_real)mcp->b[i];
        s->w.terms[i] = fabsl(s->w.sum[i]);
    }
    tally_product(&A->S, false, s->z, s->p);
    tally_product(&A->D, false, s->p, s->rate);
    tally_product(&A->S, true, s->rate, s->w);
    tally_product(&A->K, false, s->z, s->w);
}

// |A_ii|
static double diagonal_entry(const pp_product *A, int i)
{
    const perp_matrix *S = &A->S;
    double sum = pp_matrix_at(&A->K, i, i);
    for (int a = S->p[i]; a < S->p[i + 1]; a++) {
        for (int b = S->p[i]; b < S->p[i + 1]; b++) {
            sum += S->x[a] * pp_matrix_at(&A->D, S->i[a], S->i[b]) * S->x[b];
        }
    }
    return fabs(sum);
}

// 1 / rho as in judge_mcp.c, theory (C15). Where A_ii = 0 the row of S'DS vanishes, since D is
// positive semidefinite, and the partners are those of K.
static void unit_ratios(const pp_product *A, int n, double *d, double *inverse)
{
    const perp_matrix *K = &A->K;
    for (int i = 0; i < n; i++) {
        d[i] = diagonal_entry(A, i);
    }
    for (int i = 0; i < n; i++) {
        inverse[i] = d[i];
        if (d[i] == 0.0) {
            for (int k = K->p[i]; k < K->p[i + 1]; k++) {
                int j = K->i[k];
                if (d[j] != 0.0) {
                    inverse[i] = fmax(inverse[i], fabs(pp_matrix_at(K, i, j) * K->x[k] / d[j]));
                }
            }
        }
        if (!(inverse[i] > 0.0) || !isfinite(inverse[i])) {
            inverse[i] = 1.0;
        }
    }
}

// The load of each row as in judge_mcp.c: max(|b_i|, |b + A rest|_i), rest
// the point of the bounds nearest to 0.
static void find_product_loads(const perp_mcp *mcp, const pp_product *A, product_scratch *s,
                               double *rest, double *load)
{
    for (int i = 0; i < mcp->n; i++) {
        rest[i] = pp_clamp(0.0, pp_mcp_lower(mcp, i), pp_mcp_upper(mcp, i));
    }
    evaluate_product(mcp, A, rest, s);
    for (int i = 0; i < mcp->n; i++) {
        bool fixed = pp_mcp_lower(mcp, i) == pp_mcp_upper(mcp, i);
        load[i] = fixed ? 0.0 : fmax(fabs(mcp->b[i]), fabs((double)s->w.sum[i]));
    }
}

// The context of an evaluation.
typedef struct judged_product {
    const perp_mcp *mcp;
    const pp_product *A;
    product_scratch *s;
    double *weights;
} judged_product;

// weights = (|S|'|D||S| + |K|)'(1 / terms): sum_k |A_ki| / S_k of (C40)
static void find_weights(const judged_product *p, const double *terms)
{
    product_scratch *s = p->s;
    tally_clear(s->p, p->A->D.rows);
    tally_clear(s->rate, p->A->D.rows);
    tally_clear(s->w, p->mcp->n);
    for (int i = 0; i < p->mcp->n; i++) {
        s->z.sum[i] = s->z.terms[i] = terms[i] > 0.0 ? 1.0L / (pp_real)terms[i] : 0.0L;
    }
    tally_product(&p->A->S, false, s->z, s->p);
    // D is symmetric, and K is used by its transpose
    tally_product(&p->A->D, true, s->p, s->rate);
    tally_product(&p->A->S, true, s->rate, s->w);
    tally_product(&p->A->K, true, s->z, s->w);
    for (int i = 0; i < p->mcp->n; i++) {
        p->weights[i] = (double)s->w.terms[i];
    }
}

// w, terms and weights at z, as pp_evaluation wants them.
static void evaluate_at(const void *context, const double *z, double *w, double *terms)
{
    const judged_product *p = context;
    evaluate_product(p->mcp, p->A, z, p->s);
    for (int i = 0; i < p->mcp->n; i++) {
        w[i] = (double)p->s->w.sum[i];
        terms[i] = (double)p->s->w.terms[i];
    }
    find_weights(p, terms);
}

// The largest number that each row and variable is coupled with: by roots of energies where A_ii >
// 0, by the entries of K elsewhere. d: the diagonal of A.
static void find_sizes(const perp_mcp *mcp, const pp_product *A, const double *d,
                       const double *terms, pp_mcp_magnitudes *to)
{
    // the largest root of an energy; sigma has none and is measured through K
    double energy = 0.0;
    for (int i = 0; i < mcp->n; i++) {
        energy = d[i] > 0.0 ? fmax(energy, terms[i] / sqrt(d[i])) : energy;
    }
    for (int i = 0; i < mcp->n; i++) {
        to->of_w[i] = energy * sqrt(d[i]);
        to->of_z[i] = d[i] > 0.0 ? energy / sqrt(d[i]) : 0.0;
    }
    for (int j = 0; j < mcp->n; j++) {
        pp_matrix_column c = pp_matrix_column_of(&A->K, j);
        for (int k = 0; k < c.count; k++) {
            int i = pp_row_in(c, k);
            if (d[i] > 0.0 && d[j] == 0.0 && c.x[k] != 0.0) {
                to->of_z[j] = fmax(to->of_z[j], to->of_w[i] / fabs(c.x[k]));
            } else if (d[i] == 0.0 && d[j] > 0.0) {
                to->of_w[i] = fmax(to->of_w[i], to->of_z[j] * fabs(c.x[k]));
            }
        }
    }
}

perp_status pp_product_judge(const perp_mcp *mcp, const pp_product *A, const double *z,
                             pp_arena *arena, perp_mcp_residuals *out)
{
    pp_mark mark = pp_arena_mark(arena);
    size_t n = (size_t)mcp->n;
    product_scratch s;
    double *w = PP_ARRAY(arena, double, 11 * n);
    if (!w || !allocate_products(&s, mcp->n, A->D.rows, arena)) {
        pp_arena_release(arena, mark);
        return PERP_ERR_MEMORY;
    }
    double *terms = w + n, *d = terms + n, *inverse = d + n, *load = inverse + n;
    pp_mcp_magnitudes sizes = {load + n, load + 2 * n};
    const judged_product p = {mcp, A, &s, w + 10 * n};
    find_product_loads(mcp, A, &s, d, load);
    evaluate_at(&p, z, w, terms);
    unit_ratios(A, mcp->n, d, inverse);
    pp_mcp_rate(mcp, z, &(pp_rating){w, terms, inverse, load, ROUNDING}, out);
    // rows of rounding: the point without what is small beside the largest energy
    out->backward = pp_worst_row(mcp, z, w, terms, p.weights);
    if (out->backward > PP_ROWS_RIGHT && isfinite(out->backward)) {
        const pp_evaluation by = {evaluate_at, &p, p.weights};
        find_sizes(mcp, A, d, terms, &sizes);
        double error = pp_without_rounding(mcp, z, &sizes, &by, sizes.of_w + n);
        out->backward = fmin(out->backward, error);
    }
    pp_arena_release(arena, mark);
    return PERP_OK;
}
