// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Backward errors row by row: how much of its own size each row, and each variable in the rows it enters,
// would have to change for the answer to be exact. Sizes of other rows do not enter, so that no choice of
// units can hide an error. No solver calls this.
//
//   eta_i = |clamp(w_i / S_i, c_i (z_i - u_i), c_i (z_i - l_i))|                      theory (C40)
//   S = |A||z| + |b|,   c_i = min(1 / |z_i|, sum_k |A_ki| / S_k)
//
// A z_i that is at neither bound and does not satisfy its row either is let pass only where moving it to the
// bound would be seen in no row.
//
// A row of nothing but rounding (the slip of a contact that nothing pushes sideways) has no size to be measured against. So
// where z does not pass, variables that are nothing in units of A are put to their bounds, and that point is judged.
#include "comp/judge.h"

#include <math.h>

// Below this a row holds by itself: rounding of its terms, and no column needs to be looked at.
static const double HOLDS = 1e-13;
// In units of the problem variables and rows below a part of the largest may be rounding: parts that are tried.
static const double LEVEL = 0x1p-50, STEP = 32.0, NOISE = 1e-9;
// What rounding leaves of the velocities of contacts.
static const double FLOOR = 0x1p-50;
// Entries of A that are this much smaller than others, in powers of two.
static const double FAR = 40.0;
// The same for rows and columns whose largest entries are of one size.
static const double BALANCED = 20.0;
// Units are near enough when they change by less, in powers of two.
static const double CLOSE = 0.1;

enum { SWEEPS = 60, SPREADS = 50 };

// Column i of A: sum_k |A_ki| / S_k.
static double column_weight(const perp_matrix *A, int i, const double *terms)
{
    int first = A->dense ? 0 : A->p[i], last = A->dense ? A->rows : A->p[i + 1];
    const double *x = A->dense ? A->dense + (size_t)i * (size_t)A->rows : A->x;
    double sum = 0.0;
    for (int k = first; k < last; k++) {
        double size = terms[A->dense ? k : A->i[k]];
        sum += size > 0.0 ? fabs(x[k]) / size : 0.0;
    }
    return sum;
}

// 0 stays 0, whatever the unit.
static double in_units(double weight, double distance)
{
    return distance == 0.0 ? 0.0 : weight * distance;
}

// The worst row; where w_i is at most this part of most[i] it is rounding, and what counts is how much of that it is.
static double worst_row(const perp_mcp *mcp, const double *z, const double *w, const double *terms,
                        const double *most, double part)
{
    double worst = 0.0;
    for (int i = 0; i < mcp->n; i++) {
        double above = z[i] - pp_mcp_lower(mcp, i), below = z[i] - pp_mcp_upper(mcp, i);
        double ratio = terms[i] > 0.0 ? w[i] / terms[i] : w[i];
        if (!isfinite(ratio) || !isfinite(terms[i]) || !isfinite(z[i])) {
            return PP_INF;
        }
        if (most && fabs(w[i]) <= part * most[i]) {
            worst = most[i] > 0.0 ? fmax(worst, fabs(w[i]) / most[i]) : worst;
            ratio = 0.0;
        }
        bool rests = (below == 0.0 && ratio <= 0.0) || (above == 0.0 && ratio >= 0.0);
        bool inside = below <= 0.0 && above >= 0.0;
        double error = rests ? 0.0 : fabs(ratio);
        if (!inside || error > HOLDS) {
            double weight = column_weight(&mcp->A, i, terms), own = 1.0 / fabs(z[i]);
            weight = weight > 0.0 && weight < own ? weight : own;
            error = fabs(pp_within(ratio, in_units(weight, below), in_units(weight, above)));
        }
        worst = error > worst ? error : worst;
    }
    return worst;
}

// Column j of A, and how many entries it has.
typedef struct column {
    const double *x;
    const int *i;  // NULL: all rows
    int count;
} column;

static column column_of(const perp_matrix *A, int j)
{
    if (A->dense) {
        return (column){A->dense + (size_t)j * (size_t)A->rows, NULL, A->rows};
    }
    return (column){A->x + A->p[j], A->i + A->p[j], A->p[j + 1] - A->p[j]};
}

static int row_in(column c, int k)
{
    return c.i ? c.i[k] : k;
}

// Units 2^row, 2^col in which the entries of A are about 1: log2|A_ij| + row_i + col_j least in squares (Curtis, Reid
// 1972), by rows and columns in turn. Entries far below the largest of their row or column are roundings of zero, and do not count
// once that is known. The units follow every change of those of w and z.
typedef struct balance {
    const perp_matrix *A;
    double *row, *col;            // n each
    double *row_most, *col_most;  // the largest of each, in these units; -inf at first
    double *sum, *entries;
} balance;

// Whether entry (i, j) counts; *size: its logarithm.
static bool counts(const balance *b, int i, int j, double a, double *size)
{
    if (a == 0.0) {
        return false;
    }
    *size = (double)ilogb(a);
    double left = *size + b->row[i] + b->col[j];
    return left >= fmax(b->row_most[i], b->col_most[j]) - FAR;
}

// Returns the largest change.
static double average_columns(balance *b)
{
    double change = 0.0;
    for (int j = 0; j < b->A->cols; j++) {
        column c = column_of(b->A, j);
        double sum = 0.0, entries = 0.0, size;
        for (int k = 0; k < c.count; k++) {
            int i = row_in(c, k);
            if (counts(b, i, j, c.x[k], &size)) {
                sum += size + b->row[i];
                entries += 1.0;
            }
        }
        double next = entries > 0.0 ? -sum / entries : b->col[j];
        change = fmax(change, fabs(next - b->col[j]));
        b->col[j] = next;
    }
    return change;
}

static void average_rows(balance *b)
{
    for (int i = 0; i < b->A->rows; i++) {
        b->sum[i] = b->entries[i] = 0.0;
    }
    for (int j = 0; j < b->A->cols; j++) {
        column c = column_of(b->A, j);
        double size;
        for (int k = 0; k < c.count; k++) {
            int i = row_in(c, k);
            if (counts(b, i, j, c.x[k], &size)) {
                b->sum[i] += size + b->col[j];
                b->entries[i] += 1.0;
            }
        }
    }
    for (int i = 0; i < b->A->rows; i++) {
        b->row[i] = b->entries[i] > 0.0 ? -b->sum[i] / b->entries[i] : b->row[i];
    }
}

static void find_largest(balance *b)
{
    for (int i = 0; i < b->A->rows; i++) {
        b->row_most[i] = b->col_most[i] = -PP_INF;
    }
    for (int j = 0; j < b->A->cols; j++) {
        column c = column_of(b->A, j);
        for (int k = 0; k < c.count; k++) {
            int i = row_in(c, k);
            double left = c.x[k] != 0.0 ? (double)ilogb(c.x[k]) + b->row[i] + b->col[j] : -PP_INF;
            b->row_most[i] = fmax(b->row_most[i], left);
            b->col_most[j] = fmax(b->col_most[j], left);
        }
    }
}

// Whether the largest entries of rows and columns are of one size, as they stand.
static bool is_balanced(const balance *b)
{
    double least = PP_INF, most = -PP_INF;
    for (int i = 0; i < b->A->rows; i++) {
        const double ends[2] = {b->row_most[i], b->col_most[i]};
        for (int k = 0; k < 2; k++) {
            least = isfinite(ends[k]) ? fmin(least, ends[k]) : least;
            most = isfinite(ends[k]) ? fmax(most, ends[k]) : most;
        }
    }
    return most - least <= BALANCED;
}

static void find_units(balance *b)
{
    for (int j = 0; j < b->A->rows; j++) {
        b->row[j] = b->col[j] = 0.0;
    }
    find_largest(b);
    if (is_balanced(b)) {
        return;  // units that somebody chose
    }
    for (int j = 0; j < b->A->rows; j++) {
        b->row_most[j] = b->col_most[j] = -PP_INF;
    }
    bool all = true;  // entries count
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        average_rows(b);
        double change = average_columns(b);
        if (change < CLOSE && !all) {
            break;
        }
        all = all && sweep < SWEEPS / 2 && change >= CLOSE;
        if (!all) {
            find_largest(b);
        }
    }
}

// The largest of what is coupled, everywhere.
static void spread(const perp_matrix *A, double *most)
{
    bool changed = true;
    for (int sweep = 0; sweep < SPREADS && changed; sweep++) {
        changed = false;
        for (int at = 0; at < A->rows; at++) {
            int j = sweep % 2 ? A->rows - 1 - at : at;
            column c = column_of(A, j);
            double largest = most[j];
            for (int k = 0; k < c.count; k++) {
                largest = c.x[k] != 0.0 ? fmax(largest, most[row_in(c, k)]) : largest;
            }
            for (int k = 0; k < c.count; k++) {
                int i = row_in(c, k);
                if (c.x[k] != 0.0 && most[i] < largest) {
                    most[i] = largest;
                    changed = true;
                }
            }
            changed = changed || most[j] < largest;
            most[j] = largest;
        }
    }
}

// Variables that are nothing in units of the problem they are part of go to the nearest bound, free ones to 0. Returns
// by how much at most.
static double drop_noise(const perp_mcp *mcp, const double *z, const double *unit, double noise,
                         double *to)
{
    double moved = 0.0;
    for (int j = 0; j < mcp->n; j++) {
        double lower = pp_mcp_lower(mcp, j), upper = pp_mcp_upper(mcp, j), goal = 0.0;
        if (isfinite(lower) || isfinite(upper)) {
            goal = fabs(z[j] - lower) <= fabs(z[j] - upper) ? lower : upper;
        }
        double off = fabs(z[j] - goal);
        to[j] = off <= noise * unit[j] ? goal : z[j];
        moved = off > 0.0 && to[j] == goal ? fmax(moved, off / unit[j]) : moved;
    }
    return moved;
}

double pp_mcp_backward(const perp_mcp *mcp, const double *z, const double *w, const double *terms,
                       double *scratch)
{
    int n = mcp->n;
    double error = worst_row(mcp, z, w, terms, NULL, 0.0);
    if (error <= PP_ROWS_RIGHT || !isfinite(error)) {
        return error;
    }
    double *row = scratch, *unit = row + n, *to = unit + n, *w_to = to + n, *terms_to = w_to + n;
    double *most = terms_to + n;
    find_units(&(balance){&mcp->A, row, unit, w_to, terms_to, to, most});
    for (int i = 0; i < n; i++) {
        most[i] = terms[i] * exp2(row[i]);
    }
    spread(&mcp->A, most);
    for (int i = 0; i < n; i++) {
        unit[i] = most[i] * exp2(unit[i]);
    }
    for (int i = 0; i < n; i++) {
        most[i] *= exp2(-row[i]);
    }
    for (double noise = LEVEL; noise <= NOISE && error > PP_ROWS_RIGHT; noise *= STEP) {
        double moved = drop_noise(mcp, z, unit, noise, to);
        pp_mcp_evaluate(mcp, to, w_to, terms_to);
        error = fmin(error, fmax(moved, worst_row(mcp, to, w_to, terms_to, most, noise)));
    }
    return error;
}

double pp_contact_weight(const perp_fcp *fcp, int c, const double *scale, const double *size)
{
    const perp_matrix *W = &fcp->W;
    int dim = fcp->dim;
    double most = 0.0;
    for (int j = c * dim; j < (c + 1) * dim; j++) {
        int first = W->dense ? 0 : W->p[j], last = W->dense ? W->rows : W->p[j + 1];
        const double *x = W->dense ? W->dense + (size_t)j * (size_t)W->rows : W->x;
        double sum = 0.0;
        for (int k = first; k < last; k++) {
            int i = W->dense ? k : W->i[k];
            double unit = size[i / dim] * (scale ? scale[i] * scale[j] : 1.0);
            sum += unit > 0.0 ? fabs(x[k]) / unit : 0.0;
        }
        most = sum > most ? sum : most;
    }
    return most;
}

// The mean of the diagonal of W over the linear components of contact c.
static double mobility(const perp_fcp *fcp, const double *diagonal, int c)
{
    int linear = fcp->dim < 3 ? fcp->dim : 3;
    double sum = 0.0;
    for (int k = 0; k < linear; k++) {
        sum += diagonal[c * fcp->dim + k];
    }
    return sum / linear;
}

// W'= W up to rounding: then sqrt(W_cc) is the unit of u_c over that of the root of an energy.
static bool is_symmetric(const perp_fcp *fcp, const double *diagonal)
{
    const perp_matrix *W = &fcp->W;
    for (int j = 0; j < W->cols && fcp->nv == 0; j++) {
        column c = column_of(W, j);
        for (int k = 0; k < c.count; k++) {
            int i = row_in(c, k);
            double other = i < j ? pp_matrix_at(W, j, i) : c.x[k];
            if (fabs(c.x[k] - other) > 1e-6 * sqrt(fabs(diagonal[i] * diagonal[j]))) {
                return false;
            }
        }
    }
    return true;
}

// The largest of what is coupled by W, everywhere.
static void spread_contacts(const perp_fcp *fcp, double *most)
{
    bool changed = true;
    int n = fcp->nc * fcp->dim;
    for (int sweep = 0; sweep < SPREADS && changed; sweep++) {
        changed = false;
        for (int at = 0; at < n; at++) {
            int j = sweep % 2 ? n - 1 - at : at;
            column c = column_of(&fcp->W, j);
            double largest = most[j / fcp->dim];
            for (int k = 0; k < c.count; k++) {
                double *other = &most[row_in(c, k) / fcp->dim];
                if (c.x[k] != 0.0 && *other != largest) {
                    largest = *other = fmax(largest, *other);
                    changed = true;
                }
            }
            most[j / fcp->dim] = largest;
        }
    }
}

void pp_contact_rounding(const perp_fcp *fcp, const double *diagonal, const double *size,
                         double *rounding)
{
    bool symmetric = is_symmetric(fcp, diagonal);
    double most = 0.0;
    for (int c = 0; c < fcp->nc; c++) {
        double moves = mobility(fcp, diagonal, c);
        rounding[c] = symmetric && moves > 0.0 ? size[c] / sqrt(moves) : 0.0;
        most = fmax(most, rounding[c]);
    }
    if (symmetric && fcp->nv == 0) {
        spread_contacts(fcp, rounding);
    }
    for (int c = 0; c < fcp->nc; c++) {
        double moves = mobility(fcp, diagonal, c), energy = fcp->nv > 0 ? most : rounding[c];
        rounding[c] = moves > 0.0 && isfinite(energy) ? FLOOR * energy * sqrt(moves) : 0.0;
    }
}
