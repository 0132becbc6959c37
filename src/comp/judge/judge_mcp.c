// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The judge of MCP answers. No solver includes or calls this file's code, and it calls none of
// theirs; it reads the matrix itself.
//
//   plain    max_i |z_i - clamp(z_i - w_i, l_i, u_i)| / |b|                           theory (C5)
//   scaled   max_i |z_i/rho_i - clamp(z_i/rho_i - w_i, l_i/rho_i, u_i/rho_i)| / max(|b|, |w|)
//                                                                                     theory (C6)
//            or the same with each row times sqrt(rho_i), where that is larger        theory (C36)
//
// with |b| the size of the data: max_i |b_i|, and |b + A rest| where the bounds exclude 0, both
// over the rows whose variable is not fixed. Both maps are computed as z - clamp(z - w, l, u) =
// clamp(w, z - u, z - l): the left form rounds w away where |z| > 1e16 |w|.
//
// z_i and w_i have different units, and the plain map accepts any z where all of |z| <
// tol|b|. rho_i is the unit of z_i over that of w_i: 1/|A_ii|, or, where A_ii = 0 (the
// sigma rows of friction), the inverse of what A_ii becomes when its best partner j is
// eliminated, |A_ij A_ji| / |A_jj|: theory (C15).
//
// Cost: one product with A and |A|; where terms cancel, a second one in extended precision.
#include "comp/judge/judge.h"

#include <math.h>
#include <string.h>

void pp_mcp_evaluate(const perp_mcp *mcp, const double *z, double *restrict w,
                     double *restrict terms)
{
    const perp_matrix *A = &mcp->A;
    for (int i = 0; i < mcp->n; i++) {
        w[i] = mcp->b[i];
        terms[i] = fabs(mcp->b[i]);
    }
    for (int j = 0; j < mcp->n; j++) {
        double zj = z[j];
        if (zj == 0.0) {
            continue;  // adds nothing: many z rest at a bound of 0
        }
        if (A->dense) {
            const double *column = A->dense + (size_t)j * (size_t)mcp->n;
            for (int i = 0; i < mcp->n; i++) {
                double part = column[i] * zj;
                w[i] += part;
                terms[i] += fabs(part);
            }
        } else {
            for (int k = A->p[j]; k < A->p[j + 1]; k++) {
                double part = A->x[k] * zj;
                w[A->i[k]] += part;
                terms[A->i[k]] += fabs(part);
            }
        }
    }
}

// (w, low) += a x: the product is exact by an fma, and the rounding error of the sum goes into low
// (Dekker 1971; Knuth's two-sum).
static void add_exactly(double *w, double *low, long double a, long double x)
{
    long double product = a * x, rest = fmal(a, x, -product);
    long double before = (long double)*w, sum = before + product, moved = sum - before;
    long double lost = (before - (sum - moved)) + (product - moved);
    *w = (double)sum;
    *low = (double)((sum - (long double)*w) + ((long double)*low + (lost + rest)));
}

// w to about 2^-100 of its terms, at z + d (d NULL: at z).
static void evaluate_exactly(const perp_mcp *mcp, const double *z, const double *d,
                             double *restrict w, double *restrict low)
{
    const perp_matrix *A = &mcp->A;
    for (int i = 0; i < mcp->n; i++) {
        w[i] = mcp->b[i];
        low[i] = 0.0;
    }
    for (int j = 0; j < mcp->n; j++) {
        if (z[j] == 0.0) {
            continue;
        }
        // z and d separately: their sum would be rounded to z
        pp_matrix_column c = pp_matrix_column_of(A, j);
        for (int k = 0; k < c.count; k++) {
            int i = pp_row_in(c, k);
            add_exactly(&w[i], &low[i], (long double)c.x[k], (long double)z[j]);
            if (d && d[j] != 0.0) {
                add_exactly(&w[i], &low[i], (long double)c.x[k], (long double)d[j]);
            }
        }
    }
    for (int i = 0; i < mcp->n; i++) {
        w[i] += low[i];
    }
}

// Part of its terms up to which w is known in extended precision.
static const double CANCELLED = 0x1p-96;
// Largest relative distance of an answer to the exact one that it counts as a rounding of.
static const double NEARBY = 1e-6;
// Residual below which no exact answer nearby is searched for.
static const double GOOD = 1e-10;

// Whether A z cancels so much that double is not enough: rounding of the terms, eps times their
// size, is above 1e-10 of the load.
static bool rounding_counts(int n, const double *terms, double unit)
{
    double most = 0.0;
    for (int i = 0; i < n; i++) {
        most = terms[i] > most ? terms[i] : most;
    }
    return 0x1p-52 * most > 1e-10 * unit && isfinite(most);
}

// best = max over j with A_jj != 0 of |A_ij A_ji / A_jj|, for a row whose diagonal entry is zero.
static void eliminated_diagonal(const perp_matrix *A, const double *d, int i, double *best)
{
    int first = A->dense ? 0 : A->p[i], last = A->dense ? A->rows : A->p[i + 1];
    for (int k = first; k < last; k++) {
        int j = A->dense ? k : A->i[k];
        double Aji = A->dense ? A->dense[(size_t)i * (size_t)A->rows + (size_t)k] : A->x[k];
        if (Aji == 0.0 || d[j] == 0.0) {
            continue;
        }
        double size = fabs(pp_matrix_at(A, i, j) * Aji / d[j]);
        if (size > *best) {
            *best = size;
        }
    }
}

// inverse[i] = 1 / rho_i > 0, theory (C15); d: scratch for the diagonal.
static void unit_ratios(const perp_matrix *A, double *d, double *inverse)
{
    for (int i = 0; i < A->rows; i++) {
        d[i] = fabs(pp_matrix_at(A, i, i));
    }
    for (int i = 0; i < A->rows; i++) {
        inverse[i] = d[i];
        if (inverse[i] == 0.0) {
            eliminated_diagonal(A, d, i, &inverse[i]);
        }
        if (!(inverse[i] > 0.0) || !isfinite(inverse[i])) {
            inverse[i] = 1.0;
        }
    }
}

// *worst = max(*worst, value), where NaN is the largest number and stays.
static void worst_of(double *worst, double value)
{
    if (!(value <= *worst) && !isnan(*worst)) {
        *worst = value;
    }
}

// lower = upper: every w is allowed, so that the row does not count as load.
static bool is_fixed(const perp_mcp *mcp, int i)
{
    return pp_mcp_lower(mcp, i) == pp_mcp_upper(mcp, i);
}

// The load of each row, max(|b_i|, |b + A rest|_i), 0 for fixed variables. rest
// is the point of the bounds nearest to 0. A shift of z moves numbers from b into
// the bounds and leaves the load the same.
static void find_loads(const perp_mcp *mcp, double *rest, double *w, double *terms, double *load)
{
    bool moved = false;
    for (int i = 0; i < mcp->n; i++) {
        rest[i] = pp_clamp(0.0, pp_mcp_lower(mcp, i), pp_mcp_upper(mcp, i));
        moved = moved || rest[i] != 0.0;
        load[i] = is_fixed(mcp, i) ? 0.0 : fabs(mcp->b[i]);
    }
    // 0 is outside some bounds: the load includes what the bounds push
    if (moved) {
        pp_mcp_evaluate(mcp, rest, w, terms);
        for (int i = 0; i < mcp->n; i++) {
            if (!is_fixed(mcp, i)) {
                worst_of(&load[i], fabs(w[i]));
            }
        }
    }
}

// The largest load_i, or load_i sqrt(rho_i) where 1 / rho is given; 1 where all vanish.
static double largest(int n, const double *load, const double *inverse)
{
    double size = 0.0;
    for (int i = 0; i < n; i++) {
        worst_of(&size, inverse ? load[i] / sqrt(inverse[i]) : load[i]);
    }
    return size > 0.0 && isfinite(size) ? size : 1.0;
}

// The natural map of one row, |clamp(w, below, above)|, the larger
// for w between w - doubt and w + doubt.
static double natural_map(double w, double doubt, double below, double above)
{
    double least = fabs(pp_clamp(w - doubt, below, above));
    double most = fabs(pp_clamp(w + doubt, below, above));
    return least >= most || isnan(least) ? least : most;
}

void pp_mcp_rate(const perp_mcp *mcp, const double *z, const pp_rating *r, perp_mcp_residuals *out)
{
    // wide: the largest load or w; energy_wide: the same times sqrt(rho_i), a root of an energy
    int n = mcp->n;
    const double *w = r->w, *inverse = r->inverse;
    double unit = largest(n, r->load, NULL);
    double wide = unit, plain = 0.0, scaled = 0.0, bound = 0.0;
    double energy_wide = largest(n, r->load, inverse), energy = 0.0;
    for (int i = 0; i < n; i++) {
        double lower = pp_mcp_lower(mcp, i), upper = pp_mcp_upper(mcp, i), s = inverse[i];
        double weight = 1.0 / sqrt(s);
        if (lower < upper) {
            worst_of(&wide, fabs(w[i]));
            worst_of(&energy_wide, weight * fabs(w[i]));
        }
        double above = z[i] - lower, below = z[i] - upper, about = r->doubt * r->terms[i];
        double map = natural_map(w[i], about, s * below, s * above);
        worst_of(&plain, natural_map(w[i], about, below, above));
        worst_of(&scaled, map);
        worst_of(&energy, weight * map);
        worst_of(&bound, fabs(z[i] - pp_clamp(z[i], lower, upper)));
    }
    *out = (perp_mcp_residuals){
        .plain = isfinite(plain) ? plain / unit : PP_INF,
        .scaled = isfinite(scaled) && isfinite(wide) ? scaled / wide : PP_INF,
        .bound = isfinite(bound) ? bound : PP_INF,
    };
    worst_of(&out->scaled,
             isfinite(energy) && isfinite(energy_wide) ? energy / energy_wide : PP_INF);
}

// ── Answers that rounding keeps from being better ────────────────────────────────────────────────

enum {
    REFINE_MOST = 400,  // free variables for which an exact answer nearby is searched
    REFINE_STEPS = 4,   // steps of iterative refinement
};

// The block of A of the variables between their bounds, and their list. Returns their number; 0:
// none, too many, or no memory.
static int free_block(const perp_mcp *mcp, const double *z, pp_arena *arena, int **list, double **A)
{
    int m = 0;
    *A = NULL;
    *list = PP_ARRAY(arena, int, mcp->n);
    if (!*list) {
        return 0;
    }
    for (int i = 0; i < mcp->n; i++) {
        if (z[i] > pp_mcp_lower(mcp, i) && z[i] < pp_mcp_upper(mcp, i)) {
            (*list)[m++] = i;
        }
    }
    // a dense LU of more is not worth its cost here
    if (m <= REFINE_MOST) {
        *A = PP_ARRAY(arena, double, (size_t)m *(size_t)m);
    }
    if (!*A) {
        return 0;
    }
    for (int j = 0; j < m; j++) {
        for (int i = 0; i < m; i++) {
            (*A)[i + j * m] = pp_matrix_at(&mcp->A, (*list)[i], (*list)[j]);
        }
    }
    return m;
}

// Finds d such that z + d, which no double holds, satisfies the rows of the free variables:
// iterative refinement. Returns max |d_i / z_i|. w receives A (z + d) + b.
static double refine(const perp_mcp *mcp, const double *z, pp_arena *arena, double *d, double *w,
                     double *low)
{
    int *list, *pivot;
    double *A, *x, worst = 0.0;
    int m = free_block(mcp, z, arena, &list, &A);
    pivot = m > 0 ? PP_ARRAY(arena, int, m) : NULL;
    x = pivot ? PP_ARRAY(arena, double, m) : NULL;
    if (!x || pp_lu_factor(m, A, m, pivot, 0.0) != 0) {
        return PP_INF;
    }
    // iterative refinement: residuals to about 2^-100, corrections by the LU of the block in double
    for (int step = 0; step < REFINE_STEPS; step++) {
        evaluate_exactly(mcp, z, d, w, low);
        for (int i = 0; i < m; i++) {
            x[i] = -w[list[i]];
        }
        pp_lu_solve(m, A, m, pivot, x);
        for (int i = 0; i < m; i++) {
            d[list[i]] += x[i];
        }
    }
    for (int i = 0; i < m; i++) {
        worst_of(&worst, fabs(d[list[i]] / z[list[i]]));
    }
    evaluate_exactly(mcp, z, d, w, low);
    return worst;
}

// Where terms cancel, the exact answer rounded to double leaves more in its rows than the
// tolerance. Such a z is as good as the z + d beside it, and is off by d: theory (C42). The search
// for d is not trusted: z + d is judged by the same residuals.
static void judge_nearby(const perp_mcp *mcp, const double *z, const pp_rating *at, pp_arena *arena,
                         perp_mcp_residuals *out)
{
    size_t n = (size_t)mcp->n;
    pp_mark mark = pp_arena_mark(arena);
    double *d = PP_ZEROS(arena, double, 3 * n);
    double off = d ? refine(mcp, z, arena, d, d + n, d + 2 * n) : PP_INF;
    if (off < NEARBY) {
        // z + d differs from z by d in every variable: that counts as an error of its own
        perp_mcp_residuals nearby;
        pp_rating there = *at;
        there.w = d + n;
        there.doubt = CANCELLED;
        pp_mcp_rate(mcp, z, &there, &nearby);
        out->plain = fmin(out->plain, fmax(nearby.plain, off));
        out->scaled = fmin(out->scaled, fmax(nearby.scaled, off));
    }
    pp_arena_release(arena, mark);
}

void pp_mcp_judge(const perp_mcp *mcp, const double *z, bool comparable, double *scratch,
                  pp_arena *arena, perp_mcp_residuals *out)
{
    int n = mcp->n;
    double *w = scratch, *terms = w + n, *d = terms + n, *inverse = d + n, *load = inverse + n;
    find_loads(mcp, inverse, w, d, load);
    double unit = largest(n, load, NULL), doubt = 0.0;
    pp_mcp_evaluate(mcp, z, w, terms);
    if (rounding_counts(n, terms, unit)) {
        evaluate_exactly(mcp, z, NULL, w, d);
        doubt = CANCELLED;  // part of the terms below which w is unknown
    }
    unit_ratios(&mcp->A, d, inverse);

    pp_rating rating = {w, terms, inverse, load, doubt};
    pp_mcp_rate(mcp, z, &rating, out);
    bool cancels = doubt > 0.0 && fmax(out->plain, out->scaled) > GOOD;
    if (cancels && arena && isfinite(out->plain) && isfinite(out->scaled)) {
        judge_nearby(mcp, z, &rating, arena, out);
    }
    out->backward = pp_mcp_backward(mcp, z, w, terms, comparable, d, arena);
}

// Part of the size of its row, over that of its variable, below which a diagonal entry of J is rounding.
static const double NO_DIAGONAL = 0x1p-30;

void pp_mcp_judge_given(const perp_mcp *mcp, const double *z, const pp_rating *given,
                        double *scratch, perp_mcp_residuals *out)
{
    int n = mcp->n;
    const double *terms = given->terms;
    double *d = scratch, *inverse = d + n, *load = inverse + n;
    unit_ratios(&mcp->A, d, inverse);
    for (int i = 0; i < n; i++) {
        // a diagonal entry of rounding has no unit: that of the row and the variable stands for it
        double unit = z[i] != 0.0 ? terms[i] / fabs(z[i]) : 0.0;
        inverse[i] = unit > 0.0 && d[i] < NO_DIAGONAL * unit ? unit : inverse[i];
        load[i] = is_fixed(mcp, i) ? 0.0 : given->load[i];
    }
    pp_rating rating = {given->w, terms, inverse, load, 0.0};
    pp_mcp_rate(mcp, z, &rating, out);
    out->backward = pp_mcp_backward(mcp, z, given->w, terms, false, scratch, NULL);
}

double pp_mcp_worst(const perp_mcp_residuals *e)
{
    double norms = fmax(e->plain, e->scaled);
    return e->backward <= PP_ROWS_RIGHT ? norms : fmax(e->backward, norms);
}

void pp_mcp_judge_snapped(const perp_mcp *mcp, double *z, const perp_comp_options *options,
                          double *scratch, pp_arena *arena, perp_mcp_residuals *out)
{
    size_t bytes = (size_t)mcp->n * sizeof *z;
    double *before = scratch + (PP_JUDGE_SCRATCH - 1) * (size_t)mcp->n;
    pp_mcp_judge(mcp, z, options->comparable, scratch, arena, out);
    if (fmax(out->plain, out->scaled) > options->tolerance ||
        !(pp_mcp_worst(out) > options->tolerance)) {
        return;
    }
    // good in norms, wrong in some row: it may be rounding that a solver left at a bound
    perp_mcp_residuals snapped;
    memcpy(before, z, bytes);
    if (!pp_mcp_snap_to_bounds(mcp, z, scratch)) {
        return;
    }
    pp_mcp_judge(mcp, z, options->comparable, scratch, arena, &snapped);
    if (pp_mcp_worst(&snapped) < pp_mcp_worst(out)) {
        *out = snapped;
    } else {
        memcpy(z, before, bytes);
    }
}

perp_status perp_mcp_judge(const perp_mcp *mcp, const double *z, const perp_env *env,
                           perp_mcp_residuals *out)
{
    char reason[8];
    if (!z || !out || pp_mcp_check(mcp, reason, sizeof reason) < 0) {
        return PERP_ERR_ARGUMENT;
    }
    size_t bytes = PP_JUDGE_SCRATCH * (size_t)mcp->n * sizeof(double);
    double *scratch = pp_alloc(env, bytes);
    if (!scratch) {
        return PERP_ERR_MEMORY;
    }
    pp_arena *arena = pp_arena_create(env);
    if (arena) {
        pp_mcp_judge(mcp, z, false, scratch, arena, out);
    }
    pp_arena_destroy(arena);
    pp_free(env, scratch, bytes);
    return arena ? PERP_OK : PERP_ERR_MEMORY;
}

// Whether y has the signs that (C9) asks for.
static bool has_farkas_signs(const perp_mcp *mcp, const double *y)
{
    for (int i = 0; i < mcp->n; i++) {
        bool below = pp_mcp_lower(mcp, i) > -PP_INF, above = pp_mcp_upper(mcp, i) < PP_INF;
        if (!isfinite(y[i]) || (below && above && y[i] != 0.0) || (below && y[i] < 0.0) ||
            (above && y[i] > 0.0)) {
            return false;
        }
    }
    return true;
}

// sum_i |A_ij y_i| of column j, and in *sum (A'y)_j itself.
static long double column_terms(const perp_mcp *mcp, const double *y, int j, long double *sum)
{
    const perp_matrix *A = &mcp->A;
    long double terms = 0.0L;
    pp_matrix_column c = pp_matrix_column_of(A, j);
    *sum = 0.0L;
    for (int k = 0; k < c.count; k++) {
        long double part = (long double)c.x[k] * (long double)y[pp_row_in(c, k)];
        *sum += part;
        terms += fabsl(part);
    }
    return terms;
}

// In comparable units a column sum below this part of the largest one counts as zero: entries of 1e-18 beside others of 1
// are rounding of data, and only a z beyond 1e15 could make use of them. In other units they may be data.
static const long double DATA_ZERO = 4e-16L;

static double farkas_value(const perp_mcp *mcp, const double *y, bool comparable)
{
    char reason[8];
    if (!y || pp_mcp_check(mcp, reason, sizeof reason) < 0 || !has_farkas_signs(mcp, y)) {
        return PP_INF;
    }
    long double value = 0.0L, size = 0.0L, largest = 0.0L, c;
    int columns = comparable ? mcp->n : 0;
    for (int j = 0; j < columns; j++) {
        long double terms = column_terms(mcp, y, j, &c);
        largest = terms > largest ? terms : largest;
    }
    for (int i = 0; i < mcp->n; i++) {
        long double part = (long double)y[i] * (long double)mcp->b[i];
        value += part;
        size += fabsl(part);
    }
    // the supremum of (A'y)_j z_j over the bounds of z_j; infinite ends
    // are allowed where (A'y)_j is zero
    for (int j = 0; j < mcp->n; j++) {
        long double terms = column_terms(mcp, y, j, &c);
        double end = c > 0.0L ? pp_mcp_upper(mcp, j) : pp_mcp_lower(mcp, j);
        if (isfinite(end)) {
            value += c * (long double)end;
            size += fabsl(c * (long double)end);
        } else if (fabsl(c) > (long double)PP_FARKAS_ZERO * terms &&
                   fabsl(c) > DATA_ZERO * largest) {
            return PP_INF;
        }
    }
    return size > 0.0L ? (double)(value / size) : PP_INF;
}

double perp_mcp_farkas(const perp_mcp *mcp, const double *y)
{
    return farkas_value(mcp, y, false);
}

bool pp_mcp_ray_proves(const perp_mcp *mcp, const perp_comp_options *options)
{
    return farkas_value(mcp, options->ray, options->comparable) < -PP_FARKAS_MARGIN;
}
