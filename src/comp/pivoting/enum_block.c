// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// One complementary cone of a small MCP, searched completely.
//
// Let F be the basic set and the others, N, at a bound. The
// solutions of the cone are the polyhedron
//
//   P_F = { z_F in bounds:  A_FF z_F + c_F = 0,  sign(w_N) right },   w = A z + c,  c = b + A_N z_N   theory (C32)
//
// If A_FF is regular it is one point. If not, a nonempty P_F has a vertex (lines, which only free
// variables can make, are cut by pinning dependent free columns at 0). A vertex with some z_i, i in
// F, at a bound belongs to the smaller cone F \ {i} as well, where the enumeration meets it. A
// vertex without one is fixed by w_F = 0 and d = |F| - rank A_FF further rows w_J = 0, J in N. So
// it is enough to solve
//
//   A_(F u J),F z_F = -c_(F u J)    for every J in N, |J| <= d, that gives full column rank
//
// and "no candidate in any cone" proves, up to rounding, that there is no solution.
//
// Ranks are decided by complete pivoting of the block, equilibrated once more. Pivots between TINY
// and DOUBTFUL are taken both ways, as numbers and as zeros. All arithmetic is in long double on
// data in double, and every solve carries the sum of the absolute values of its terms, which
// decides what is zero and what has a sign.
#include "comp/pivoting/enum.h"

#include <math.h>

enum { N = PP_ENUM_MAX };

// Pivots below are zero: rounding of long double. In balanced units data of 1e-16 still count.
static const pp_enum_real TINY = 1e-18L;
// Pivots below are rounding of the data, unless these were scaled: a solution, but not one more of several.
static const pp_enum_real ROUNDED = 1e-15L;
static const pp_enum_real DOUBTFUL = 1e-9L;  // pivots above: not zero
static const pp_enum_real SNAP = 1e-15L;   // |z - bound| below this part of its terms: at the bound
static const pp_enum_real TERM = 1e-6L;    // part of the terms of z that counts as a term of w
static const pp_enum_real ACCEPT = 1e-9L;  // largest violation of a candidate
static const pp_enum_real MARGIN = 1e-7L;  // z or w below this part of its terms: degenerate
// Rounding of A z in double, as a part of the load, above which a candidate is doubtful.
static const pp_enum_real WASHED_OUT = 1e-4L;

// ── Loading ──────────────────────────────────────────────────────────────────────────────────────

// The binary exponent of x.
static int exponent_of(pp_enum_real x)
{
    int e = 0;
    frexpl(x, &e);
    return e;
}

// Equilibration after Ruiz (2001): halves the exponents of the largest entry of each row and column
// until they are near zero, then removes those of the rows. Powers of two: nothing is rounded.
static void equilibrate_small(pp_small *s)
{
    for (int sweep = 0; sweep < 12; sweep++) {
        int row[N] = {0}, column[N] = {0}, divisor = sweep < 11 ? 2 : 1;
        for (int i = 0; i < s->n; i++) {
            pp_enum_real row_max = 0.0L, column_max = 0.0L;
            for (int j = 0; j < s->n; j++) {
                row_max = fmaxl(row_max, fabsl(s->A[i][j]));
                column_max = fmaxl(column_max, fabsl(s->A[j][i]));
            }
            row[i] = row_max > 0.0L ? -exponent_of(row_max) / divisor : 0;
            column[i] = column_max > 0.0L && sweep < 11 ? -exponent_of(column_max) / 2 : 0;
        }
        for (int i = 0; i < s->n; i++) {
            // apply, and remember for the way back
            s->row_exponent[i] += row[i];
            s->column_exponent[i] += column[i];
            for (int j = 0; j < s->n; j++) {
                s->A[i][j] = ldexpl(s->A[i][j], row[i] + column[j]);
            }
        }
    }
}

// Free columns that are linear combinations of earlier free columns (in rows that count): their
// variables are kept at zero, which cuts the lines of P_F.
static unsigned dependent_free_columns(const pp_small *s)
{
    pp_enum_real Q[N][N];
    unsigned pinned = 0;
    int count = 0;
    for (int j = 0; j < s->n; j++) {
        if (!(s->free >> j & 1u)) {
            continue;
        }
        pp_enum_real before = 0.0L, after = 0.0L, *q = Q[count];
        for (int i = 0; i < s->n; i++) {
            q[i] = s->fixed >> i & 1u ? 0.0L : s->A[i][j];
            before += q[i] * q[i];
        }
        for (int again = 0; again < 2; again++) {  // Gram–Schmidt, twice for orthogonality
            for (int k = 0; k < count; k++) {
                pp_enum_real dot = 0.0L;
                for (int i = 0; i < s->n; i++) {
                    dot += Q[k][i] * q[i];
                }
                for (int i = 0; i < s->n; i++) {
                    q[i] -= dot * Q[k][i];
                }
            }
        }
        for (int i = 0; i < s->n; i++) {
            after += q[i] * q[i];
        }
        if (after <= 1e-24L * before) {
            pinned |= 1u << j;
            continue;
        }
        for (int i = 0; i < s->n; i++) {
            q[i] /= sqrtl(after);
        }
        count++;
    }
    return pinned;
}

void pp_small_load(pp_small *s, const perp_mcp *mcp)
{
    *s = (pp_small){.n = mcp->n};
    for (int i = 0; i < s->n; i++) {
        for (int j = 0; j < s->n; j++) {
            s->A[i][j] = (pp_enum_real)pp_matrix_at(&mcp->A, i, j);
        }
    }
    equilibrate_small(s);
    for (int i = 0; i < s->n; i++) {
        double lower = pp_mcp_lower(mcp, i), upper = pp_mcp_upper(mcp, i);
        // one bit a variable: its kind decides the bases it can be in
        unsigned bit = 1u << i;
        s->b[i] = ldexpl((pp_enum_real)mcp->b[i], s->row_exponent[i]);
        s->lower[i] = ldexpl((pp_enum_real)lower, -s->column_exponent[i]);
        s->upper[i] = ldexpl((pp_enum_real)upper, -s->column_exponent[i]);
        if (lower == upper) {
            s->fixed |= bit;
        } else if (isinf(lower) && isinf(upper)) {
            s->free |= bit;
        } else {
            s->choice |= bit;
            s->boxed |= !isinf(lower) && !isinf(upper) ? bit : 0;
            s->flipped |= isinf(lower) ? bit : 0;
        }
    }
    s->pinned = dependent_free_columns(s);
}

// ── A block and its factors ──────────────────────────────────────────────────────────────────────

// Rows F u J and columns F of A, scaled once more, then L U in place with complete pivoting: the
// pivot of step k is at (row[k], column[k]).
typedef struct block {
    int rows, columns, regular;  // regular: pivots above DOUBTFUL
    int row[N], column[N];       // indices into the small problem
    pp_enum_real row_scale[N], column_scale[N];
    pp_enum_real LU[N][N];
    pp_enum_real smallest;  // pivot, relative
} block;

// The indices of the bits that are set, ascending; returns how many.
static int list_bits(unsigned set, int *list)
{
    int count = 0;
    for (int i = 0; set >> i; i++) {
        if (set >> i & 1u) {
            list[count++] = i;
        }
    }
    return count;
}

// The power of two that brings x into [1/2, 1).
static pp_enum_real power_near(pp_enum_real x)
{
    return x > 0.0L ? ldexpl(1.0L, -exponent_of(x)) : 1.0L;
}

// Copies the block and equilibrates it: rows, then columns, by their largest entries.
static void gather_rows_and_columns(const pp_small *s, unsigned rows, unsigned columns, block *B)
{
    B->rows = list_bits(rows, B->row);
    B->columns = list_bits(columns, B->column);
    for (int i = 0; i < B->rows; i++) {
        pp_enum_real largest = 0.0L;
        for (int j = 0; j < B->columns; j++) {
            B->LU[i][j] = s->A[B->row[i]][B->column[j]];
            largest = fmaxl(largest, fabsl(B->LU[i][j]));
        }
        // powers of two again
        B->row_scale[i] = power_near(largest);
    }
    for (int j = 0; j < B->columns; j++) {
        pp_enum_real largest = 0.0L;
        for (int i = 0; i < B->rows; i++) {
            B->LU[i][j] *= B->row_scale[i];
            largest = fmaxl(largest, fabsl(B->LU[i][j]));
        }
        B->column_scale[j] = power_near(largest);
        for (int i = 0; i < B->rows; i++) {
            B->LU[i][j] *= B->column_scale[j];
        }
    }
}

// Swaps two rows of the block, with their indices and scales.
static void swap_block_rows(block *B, int a, int b)
{
    int index = B->row[a];
    pp_enum_real scale = B->row_scale[a];
    B->row[a] = B->row[b], B->row[b] = index;
    B->row_scale[a] = B->row_scale[b], B->row_scale[b] = scale;
    for (int j = 0; j < B->columns; j++) {
        pp_enum_real t = B->LU[a][j];
        B->LU[a][j] = B->LU[b][j], B->LU[b][j] = t;
    }
}

// The same for columns.
static void swap_block_columns(block *B, int a, int b)
{
    int index = B->column[a];
    pp_enum_real scale = B->column_scale[a];
    B->column[a] = B->column[b], B->column[b] = index;
    B->column_scale[a] = B->column_scale[b], B->column_scale[b] = scale;
    for (int i = 0; i < B->rows; i++) {
        pp_enum_real t = B->LU[i][a];
        B->LU[i][a] = B->LU[i][b], B->LU[i][b] = t;
    }
}

// L U with complete pivoting; ends at a pivot that is zero. smallest and regular give the rank.
static void factor_block(block *B)
{
    B->regular = 0;
    B->smallest = 1.0L;
    for (int k = 0; k < B->columns; k++) {
        pp_enum_real largest = 0.0L;
        int pivot_row = k, pivot_column = k;
        for (int i = k; i < B->rows; i++) {
            for (int j = k; j < B->columns; j++) {
                if (fabsl(B->LU[i][j]) > largest) {
                    largest = fabsl(B->LU[i][j]);
                    pivot_row = i, pivot_column = j;
                }
            }
        }
        // the pivots fall: the least one so far decides the rank
        B->smallest = fminl(B->smallest, largest);
        if (largest <= TINY) {
            return;
        }
        B->regular += largest > DOUBTFUL;
        if (pivot_row != k) {
            swap_block_rows(B, k, pivot_row);
        }
        if (pivot_column != k) {
            swap_block_columns(B, k, pivot_column);
        }
        for (int i = k + 1; i < B->rows; i++) {
            pp_enum_real l = B->LU[i][k] /= B->LU[k][k];
            if (l == 0.0L) {
                continue;
            }
            for (int j = k + 1; j < B->columns; j++) {
                B->LU[i][j] -= l * B->LU[k][j];
            }
        }
    }
}

// z of the columns from c of all variables; terms receives the sums of absolute values that z is
// made of. Rows beyond the columns are not used: check_candidate measures all rows.
static void solve_factored_block(const block *B, const pp_enum_real *c, pp_enum_real *z,
                                 pp_enum_real *terms)
{
    pp_enum_real y[N], size[N];
    for (int i = 0; i < B->columns; i++) {
        // forward substitution; size carries the same sums with absolute values
        y[i] = -c[B->row[i]] * B->row_scale[i];
        size[i] = fabsl(y[i]);
        for (int k = 0; k < i; k++) {
            y[i] -= B->LU[i][k] * y[k];
            size[i] += fabsl(B->LU[i][k]) * size[k];
        }
    }
    for (int i = B->columns - 1; i >= 0; i--) {
        for (int k = i + 1; k < B->columns; k++) {
            y[i] -= B->LU[i][k] * y[k];
            size[i] += fabsl(B->LU[i][k]) * size[k];
        }
        y[i] /= B->LU[i][i];
        size[i] /= fabsl(B->LU[i][i]);
        z[B->column[i]] = y[i] * B->column_scale[i];
        terms[B->column[i]] = size[i] * B->column_scale[i];
    }
}

// ── Candidates ───────────────────────────────────────────────────────────────────────────────────

// z clamped to its bounds, onto them where only rounding keeps it away, and rounded to double.
static pp_enum_real snap_variable(const pp_small *s, int i, pp_enum_real z, pp_enum_real terms)
{
    pp_enum_real lower = s->lower[i], upper = s->upper[i];
    if (z <= lower + SNAP * terms) {
        return lower;
    }
    if (z >= upper - SNAP * terms) {
        return upper;
    }
    return (pp_enum_real)(double)z;  // scaling is by powers of two: the same rounding as unscaled
}

// The violation of the sign of w, for z between its bounds, at the lower or at the upper one.
static pp_enum_real wrong_sign(const pp_small *s, int i, pp_enum_real z, pp_enum_real w)
{
    if (s->fixed >> i & 1u) {
        return 0.0L;
    }
    if (z == s->lower[i]) {
        return w < 0.0L ? -w : 0.0L;
    }
    if (z == s->upper[i]) {
        return w > 0.0L ? w : 0.0L;
    }
    return fabsl(w);
}

typedef struct point {
    pp_enum_real z[N], terms[N];  // terms: absolute values z_i is the sum of
} point;

// Fills violation, residual, doubtful and degenerate; false as soon as a row is violated.
static bool check_candidate(const pp_small *s, const point *p, pp_candidate *out)
{
    pp_enum_real worst = 0.0L, worst_plain = 0.0L, b_max = 0.0L, load = 0.0L, size = 0.0L;
    out->degenerate = false;
    for (int i = 0; i < s->n; i++) {
        pp_enum_real w = s->b[i], terms = fabsl(w);
        for (int j = 0; j < s->n; j++) {
            pp_enum_real part = s->A[i][j] * p->z[j];
            w += part;
            terms += fabsl(part) + TERM * fabsl(s->A[i][j]) * p->terms[j];
        }
        pp_enum_real wrong = wrong_sign(s, i, p->z[i], w);
        if (wrong > ACCEPT * terms) {
            return false;
        }
        worst = fmaxl(worst, terms > 0.0L ? wrong / terms : 0.0L);
        worst_plain = fmaxl(worst_plain, ldexpl(wrong, -s->row_exponent[i]));
        b_max = fmaxl(b_max, ldexpl(fabsl(s->b[i]), -s->row_exponent[i]));
        size = fmaxl(size, terms);
        load = fmaxl(load, fabsl(s->b[i]));
        bool at_bound = p->z[i] - s->lower[i] <= MARGIN * p->terms[i] ||
                        s->upper[i] - p->z[i] <= MARGIN * p->terms[i];
        bool no_force = fabsl(w) <= MARGIN * terms;
        if (at_bound && !no_force && out->basic >> i & 1u) {
            return false;  // clamped to a bound: a solution of the cone without i
        }
        out->degenerate = out->degenerate || (at_bound && no_force);
    }
    for (int j = 0; j < s->n; j++) {  // finite bounds are a load as b is
        pp_enum_real bound = fminl(fabsl(s->lower[j]), fabsl(s->upper[j]));
        load = isinf(bound) ? load : fmaxl(load, bound);
    }
    out->violation = (double)worst;
    out->residual = (double)(b_max > 0.0L ? worst_plain / b_max : worst_plain);
    out->doubtful = size * 0x1p-53L > WASHED_OUT * load && load > 0.0L;
    return true;
}

// A cone that is searched, and its visitor.
typedef struct candidate_cone {
    const pp_small *s;
    unsigned basic;
    pp_candidate_visit *visit;
    void *context;
} candidate_cone;

// Solves for one choice of bounds (upper: bits of boxed variables at their upper bound) and visits
// the candidate. singular: the solution may belong to several bases.
static perp_status try_pattern(const candidate_cone *c, const block *B, unsigned upper,
                               bool singular)
{
    const pp_small *s = c->s;
    point p = {.z = {0.0L}};
    pp_enum_real load[N];
    for (int i = 0; i < s->n; i++) {
        if (!(c->basic >> i & 1u)) {
            p.z[i] = (upper | s->flipped) >> i & 1u ? s->upper[i] : s->lower[i];
        }
    }
    // the load c = b + A_N z_N of the rows of the block
    for (int k = 0; k < B->columns; k++) {
        int i = B->row[k];
        load[i] = s->b[i];
        for (int j = 0; j < s->n; j++) {
            load[i] += s->A[i][j] * p.z[j];
        }
    }
    solve_factored_block(B, load, p.z, p.terms);
    for (int k = 0; k < B->columns; k++) {
        int i = B->column[k];
        p.z[i] = snap_variable(s, i, p.z[i], p.terms[i]);
    }
    pp_candidate candidate = {.basic = c->basic, .upper = (upper | s->flipped) & ~c->basic};
    if (!check_candidate(s, &p, &candidate)) {
        return PERP_OK;
    }
    // back to the units of the caller, by powers of two
    candidate.degenerate = candidate.degenerate || singular;
    candidate.marginal = B->columns > 0 && B->smallest <= ROUNDED;
    for (int i = 0; i < s->n; i++) {
        candidate.z[i] = (double)ldexpl(p.z[i], s->column_exponent[i]);
        candidate.doubtful = candidate.doubtful || !isfinite(candidate.z[i]);
    }
    return c->visit(c->context, &candidate);
}

// Every choice of bounds for the boxed variables outside the basis.
static perp_status try_block(const candidate_cone *c, const block *B, bool singular)
{
    unsigned boxes = c->s->boxed & ~c->basic, upper = 0;
    do {
        perp_status status = try_pattern(c, B, upper, singular);
        if (status < 0) {
            return status;
        }
        upper = (upper - boxes) & boxes;  // the next subset of boxes, ascending
    } while (upper != 0);
    return PERP_OK;
}

// The number of bits that are set.
static int count_bits(unsigned set)
{
    int count = 0;
    for (; set; set &= set - 1) {
        count++;
    }
    return count;
}

perp_status pp_small_cone(const pp_small *s, unsigned basic, pp_candidate_visit *visit,
                          void *context)
{
    candidate_cone c = {s, basic, visit, context};
    unsigned columns = basic & ~s->pinned, others = s->choice & ~basic, J = 0;
    block B;
    gather_rows_and_columns(s, basic, columns, &B);
    factor_block(&B);
    // rank deficiency, doubtful pivots counted as zeros
    int missing = B.columns - B.regular;
    perp_status status = PERP_OK;
    if (B.smallest > TINY && B.rows >= B.columns) {
        status = try_block(&c, &B, missing > 0);
    }
    if (missing == 0) {
        return status;
    }
    // further rows J that fix a vertex, all subsets of up to `missing` rows
    do {
        int size = count_bits(J);
        if (size >= 1 && size <= missing) {
            gather_rows_and_columns(s, basic | J, columns, &B);
            factor_block(&B);
            if (B.smallest > TINY) {
                status = try_block(&c, &B, true);
            }
        }
        J = (J - others) & others;
    } while (status >= 0 && J != 0);
    return status;
}
