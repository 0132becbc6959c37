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
// A row of nothing but rounding (the slip of a contact that nothing pushes sideways) is small beside what its variables may be off
// by: z_j is known to a part of what the terms of its own row make of it, rho_j S_j, and row i to the same part of
//
//   S_i = max(S_i, max_j |A_ij| rho_j S_j)   over the j that do not rest at a bound   theory (C44)
//
// where z does not pass otherwise. No sizes are compared but through entries that couple them.
#include "comp/judge/judge.h"

#include <math.h>
#include <string.h>

// Below this a row holds by itself: rounding of its terms, and no column needs to be looked at.
static const double HOLDS = 1e-13;
// Rows and variables below a part of the largest may be rounding, in comparable units: parts that are tried.
// 2^-50 to 1e-9.
enum { FIRST_LEVEL = -50, LEVEL_STEP = 5, LEVELS = 5 };
// What rounding leaves of the velocities of contacts.
static const double FLOOR = 0x1p-50;
enum { SPREADS = 50, ROUNDS = 8 };

// Column i of A: sum_k |A_ki| / S_k.
static double column_weight(const perp_matrix *A, int i, const double *terms)
{
    pp_matrix_column c = pp_matrix_column_of(A, i);
    double sum = 0.0;
    for (int k = 0; k < c.count; k++) {
        double size = terms[pp_row_in(c, k)];
        sum += size > 0.0 ? fabs(c.x[k]) / size : 0.0;
    }
    return sum;
}

// 0 stays 0, whatever the unit.
static double in_units(double weight, double distance)
{
    return distance == 0.0 ? 0.0 : weight * distance;
}

double pp_worst_row(const perp_mcp *mcp, const double *z, const double *w, const double *terms,
                    const double *weights)
{
    double worst = 0.0;
    for (int i = 0; i < mcp->n; i++) {
        double above = z[i] - pp_mcp_lower(mcp, i), below = z[i] - pp_mcp_upper(mcp, i);
        double ratio = terms[i] > 0.0 ? w[i] / terms[i] : w[i];
        if (!isfinite(ratio) || !isfinite(terms[i]) || !isfinite(z[i])) {
            return PP_INF;
        }
        bool rests = (below == 0.0 && ratio <= 0.0) || (above == 0.0 && ratio >= 0.0);
        bool inside = below <= 0.0 && above >= 0.0;
        double error = rests ? 0.0 : fabs(ratio);
        // The row does not hold by itself: how large a change moving z_i to its bound would be, as a part of z_i or of
        // the rows it enters, whichever is less.
        if (!inside || error > HOLDS) {
            double own = 1.0 / fabs(z[i]);
            double weight = weights ? weights[i] : column_weight(&mcp->A, i, terms);
            weight = weight > 0.0 && weight < own ? weight : own;
            error = fabs(pp_clamp(ratio, in_units(weight, below), in_units(weight, above)));
        }
        worst = error > worst ? error : worst;
    }
    return worst;
}

// Whether z_j is at a bound for certain: fixed there, or held by more than the rounding of its row.
static bool is_at_bound(const perp_mcp *mcp, int j, double z, double w, double size)
{
    bool low = z == pp_mcp_lower(mcp, j), high = z == pp_mcp_upper(mcp, j);
    return (low && high) || (low && w > HOLDS * size) || (high && w < -HOLDS * size);
}

// 1 / rho_i, the largest of |A_ii| and what it becomes when another pair is eliminated: theory (C15), where a diagonal that is all but
// zero counts for no more than one that is.
static void own_diagonal(const perp_matrix *A, double *diagonal, double *inverse)
{
    for (int i = 0; i < A->rows; i++) {
        inverse[i] = diagonal[i] = fabs(pp_matrix_at(A, i, i));
    }
    for (int j = 0; j < A->rows; j++) {
        pp_matrix_column c = pp_matrix_column_of(A, j);
        for (int k = 0; k < c.count; k++) {
            int i = pp_row_in(c, k);
            if (i != j && c.x[k] != 0.0 && diagonal[i] > 0.0) {
                double other = fabs(pp_matrix_at(A, j, i) * c.x[k] / diagonal[i]);
                inverse[j] = fmax(inverse[j], isfinite(other) ? other : 0.0);
            }
        }
    }
}

// One round of theory (C44). Returns whether a size changed.
static bool carry_sizes(const perp_mcp *mcp, const double *z, const double *w,
                        const double *inverse, double *size)
{
    bool changed = false;
    for (int j = 0; j < mcp->n; j++) {
        if (inverse[j] == 0.0 || is_at_bound(mcp, j, z[j], w[j], size[j])) {
            continue;
        }
        pp_matrix_column c = pp_matrix_column_of(&mcp->A, j);
        double known = size[j] / inverse[j];
        for (int k = 0; k < c.count; k++) {
            int i = pp_row_in(c, k);
            if (fabs(c.x[k]) * known > size[i] * (1.0 + HOLDS)) {
                size[i] = fabs(c.x[k]) * known;
                changed = true;
            }
        }
    }
    return changed;
}

// Variables that are nothing beside what they are coupled with go to the nearest bound, free ones to 0. Returns
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
        if (off > 0.0 && to[j] == goal) {
            moved = fmax(moved, off / unit[j]);
        }
    }
    return moved;
}

// Puts w_i that are nothing beside what their rows are coupled with to 0. Returns by how much at most.
static double drop_residuals(int n, const double *most, double noise, double *w)
{
    double moved = 0.0;
    for (int i = 0; i < n; i++) {
        if (w[i] != 0.0 && fabs(w[i]) <= noise * most[i]) {
            moved = fmax(moved, fabs(w[i]) / most[i]);
            w[i] = 0.0;
        }
    }
    return moved;
}

double pp_without_rounding(const perp_mcp *mcp, const double *z, const pp_mcp_magnitudes *sizes,
                           const pp_evaluation *by, double *scratch)
{
    int n = mcp->n;
    double *to = scratch, *w = to + n, *terms = w + n, error = PP_INF;
    // from the finest level on: the least that has to be called rounding decides
    for (int k = 0; k < LEVELS; k++) {
        if (!(error > PP_ROWS_RIGHT)) {
            break;
        }
        double noise = ldexp(1.0, FIRST_LEVEL + k * LEVEL_STEP);
        double moved = drop_noise(mcp, z, sizes->of_z, noise, to);
        by->evaluate(by->context, to, w, terms);
        moved = fmax(moved, drop_residuals(n, sizes->of_w, noise, w));
        error = fmin(error, fmax(moved, pp_worst_row(mcp, to, w, terms, by->weights)));
    }
    return error;
}

static void evaluate_callback(const void *context, const double *z, double *w, double *terms)
{
    pp_mcp_evaluate(context, z, w, terms);
}

bool pp_mcp_snap_to_bounds(const perp_mcp *mcp, double *z, double *scratch)
{
    int n = mcp->n;
    double *unit = scratch, *most = unit + n, *to = most + n, *w_to = to + n, *terms_to = w_to + n;
    pp_mcp_evaluate(mcp, z, w_to, terms_to);
    memcpy(to, terms_to, (size_t)n * sizeof *to);
    if (!pp_mcp_sizes(&mcp->A, to, to + n, unit, most)) {
        return false;
    }
    for (int k = 0; k < LEVELS; k++) {
        drop_noise(mcp, z, unit, ldexp(1.0, FIRST_LEVEL + k * LEVEL_STEP), to);
        pp_mcp_evaluate(mcp, to, w_to, terms_to);
        if (pp_worst_row(mcp, to, w_to, terms_to, NULL) <= PP_ROWS_RIGHT) {
            memcpy(z, to, (size_t)n * sizeof *z);
            return true;
        }
    }
    return false;
}

double pp_mcp_backward(const perp_mcp *mcp, const double *z, const double *w, const double *terms,
                       bool comparable, double *scratch)
{
    int n = mcp->n;
    double error = pp_worst_row(mcp, z, w, terms, NULL);
    if (error <= PP_ROWS_RIGHT || !isfinite(error)) {
        return error;
    }
    double *size = scratch, *inverse = size + n;
    own_diagonal(&mcp->A, inverse + n, inverse);
    memcpy(size, terms, (size_t)n * sizeof *size);
    // (C44): sizes travel one coupling a round
    for (int round = 0; round < ROUNDS; round++) {
        if (!(error > PP_ROWS_RIGHT)) {
            break;
        }
        if (!carry_sizes(mcp, z, w, inverse, size)) {
            break;
        }
        error = fmin(error, pp_worst_row(mcp, z, w, size, NULL));
    }
    pp_mcp_magnitudes sizes = {scratch, scratch + n};
    double *rest = scratch + 2 * (size_t)n;
    if (comparable && error > PP_ROWS_RIGHT &&
        pp_mcp_sizes(&mcp->A, terms, rest, sizes.of_z, sizes.of_w)) {
        const pp_evaluation by = {evaluate_callback, mcp, NULL};
        error = fmin(error, pp_without_rounding(mcp, z, &sizes, &by, rest));
    }
    return error;
}

double pp_contact_weight(const perp_fcp *fcp, int c, const double *scale, const double *size)
{
    const perp_matrix *W = &fcp->W;
    int dim = fcp->dim;
    double most = 0.0;
    for (int j = c * dim; j < (c + 1) * dim; j++) {
        pp_matrix_column column = pp_matrix_column_of(W, j);
        double sum = 0.0;
        for (int k = 0; k < column.count; k++) {
            int i = pp_row_in(column, k);
            double in_scale = scale ? scale[i] * scale[j] : 1.0;
            double unit = size[i / dim] * in_scale;
            sum += unit > 0.0 ? fabs(column.x[k]) / unit : 0.0;
        }
        most = sum > most ? sum : most;
    }
    return most;
}

// The mean of the diagonal of W over the linear components of contact c.
static double mean_mobility(const perp_fcp *fcp, const double *diagonal, int c)
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
    if (fcp->nv != 0) {
        return true;  // the global form: W = H' M^-1 H is, and is not formed
    }
    for (int j = 0; j < W->cols; j++) {
        pp_matrix_column c = pp_matrix_column_of(W, j);
        for (int k = 0; k < c.count; k++) {
            int i = pp_row_in(c, k);
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
    int n = fcp->nc * fcp->dim;
    for (int sweep = 0; sweep < SPREADS; sweep++) {
        bool changed = false;
        for (int at = 0; at < n; at++) {
            int j = sweep % 2 ? n - 1 - at : at;
            pp_matrix_column c = pp_matrix_column_of(&fcp->W, j);
            double largest = most[j / fcp->dim];
            for (int k = 0; k < c.count; k++) {
                double *other = &most[pp_row_in(c, k) / fcp->dim];
                if (c.x[k] != 0.0 && *other != largest) {
                    largest = *other = fmax(largest, *other);
                    changed = true;
                }
            }
            most[j / fcp->dim] = largest;
        }
        if (!changed) {
            return;
        }
    }
}

void pp_contact_rounding(const perp_fcp *fcp, const double *diagonal, const double *size,
                         double *rounding)
{
    bool symmetric = is_symmetric(fcp, diagonal);
    double most = 0.0;
    for (int c = 0; c < fcp->nc; c++) {
        double moves = mean_mobility(fcp, diagonal, c);
        rounding[c] = symmetric && moves > 0.0 ? size[c] / sqrt(moves) : 0.0;
        most = fmax(most, rounding[c]);
    }
    if (symmetric && fcp->nv == 0) {
        spread_contacts(fcp, rounding);
    }
    for (int c = 0; c < fcp->nc; c++) {
        double moves = mean_mobility(fcp, diagonal, c), energy = fcp->nv > 0 ? most : rounding[c];
        rounding[c] = moves > 0.0 && isfinite(energy) ? FLOOR * energy * sqrt(moves) : 0.0;
    }
}
