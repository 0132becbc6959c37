// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Backward errors row by row: the part of its own size by which each row, and each variable in the
// rows it enters, would have to change for the answer to be exact. Sizes of other rows do not
// enter, so that no choice of units can hide an error. No solver calls this.
//
//   eta_i = |clamp(w_i / S_i, c_i (z_i - u_i), c_i (z_i - l_i))|                      theory (C40)
//   S = |A||z| + |b|,   c_i = min(1 / |z_i|, sum_k |A_ki| / S_k)
//
// A z_i that is at neither bound and does not satisfy its row either passes only where moving it to
// the bound would be noticed in no row.
//
// A row of rounding alone (the slip of a contact that nothing pushes sideways) is small beside the
// uncertainty of its variables: z_j is known to a part of rho_j S_j, the size its own row gives it,
// and row i to the same part of
//
//   S_i = max(S_i, max_j |A_ij| rho_j S_j)   over the j that do not rest at a bound   theory (C44)
//
// which is used where z does not pass otherwise. Sizes are compared only through
// entries that couple them. Cost: nothing beyond |A||z| where all rows hold;
// otherwise the columns of those that do not.
#include "comp/judge/judge.h"

#include <math.h>
#include <string.h>

// Part of its terms below which a row holds by itself, without regard to columns.
static const double HOLDS = 1e-13;
// In comparable units rows and variables below a part of the largest may be rounding. The parts
// that are tried: 2^-50, 2^-45, ... 2^-30 (about 1e-9).
enum { COLUMNS_BETWEEN = 64 };  // columns between two questions whether to stop
enum { FIRST_LEVEL = -50, LEVEL_STEP = 5, LEVELS = 5 };
// Rounding of the velocities of contacts, as a part of the largest in the island.
static const double FLOOR = 0x1p-50;
enum {
    SPREADS = 50,  // sweeps that carry maxima through an island
    ROUNDS = 8,    // of (C44)
};

// sum_k |A_ki| / S_k over column i of A
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

// weight distance, with 0 times infinity as 0
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
        // The row does not hold by itself: the change of z_i to its bound, as a part of z_i or of
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

// Whether z_j rests at a bound: fixed there, or with a w_j of the right
// sign above the rounding of its row.
static bool is_at_bound(const perp_mcp *mcp, int j, double z, double w, double size)
{
    bool low = z == pp_mcp_lower(mcp, j), high = z == pp_mcp_upper(mcp, j);
    return (low && high) || (low && w > HOLDS * size) || (high && w < -HOLDS * size);
}

// 1 / rho_i as (C44) has it: the largest of |A_ii| and of |A_ij A_ji / A_jj|.
// Unlike (C15) the second also counts where A_ii is not zero, so that a diagonal
// entry of rounding is treated as one that is zero. False: the host of the arena (NULL: nobody)
// wants to stop.
static bool own_diagonal(const perp_matrix *A, double *diagonal, double *inverse,
                         const pp_arena *arena)
{
    for (int i = 0; i < A->rows; i++) {
        inverse[i] = diagonal[i] = fabs(pp_matrix_at(A, i, i));
    }
    for (int j = 0; j < A->rows; j++) {
        pp_matrix_column c = pp_matrix_column_of(A, j);
        if (j % COLUMNS_BETWEEN == 0 && arena && pp_arena_stopped(arena)) {
            return false;
        }
        for (int k = 0; k < c.count; k++) {
            int i = pp_row_in(c, k);
            if (i != j && c.x[k] != 0.0 && diagonal[i] > 0.0) {
                // j eliminated through i: |A_ji A_ij / A_ii|
                double other = fabs(pp_matrix_at(A, j, i) * c.x[k] / diagonal[i]);
                inverse[j] = fmax(inverse[j], isfinite(other) ? other : 0.0);
            }
        }
    }
    return true;
}

// One round of theory (C44). Returns whether a size has changed.
static bool carry_sizes(const perp_mcp *mcp, const double *z, const double *w,
                        const double *inverse, double *size)
{
    bool changed = false;
    for (int j = 0; j < mcp->n; j++) {
        if (inverse[j] == 0.0 || is_at_bound(mcp, j, z[j], w[j], size[j])) {
            continue;
        }
        pp_matrix_column c = pp_matrix_column_of(&mcp->A, j);
        // rho_j S_j: what the terms of row j make of z_j
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

// to = z with variables within noise unit_j of their nearest bound (free ones: of 0) put there.
// Returns the largest move, in units.
static double snap_small_variables(const perp_mcp *mcp, const double *z, const double *unit,
                                   double noise, double *to)
{
    double moved = 0.0;
    for (int j = 0; j < mcp->n; j++) {
        double lower = pp_mcp_lower(mcp, j), upper = pp_mcp_upper(mcp, j), goal = 0.0;
        if (isfinite(lower) || isfinite(upper)) {
            goal = fabs(z[j] - lower) <= fabs(z[j] - upper) ? lower : upper;
        }
        // a free variable has no bound: its goal is 0
        double off = fabs(z[j] - goal);
        to[j] = off <= noise * unit[j] ? goal : z[j];
        if (off > 0.0 && to[j] == goal) {
            moved = fmax(moved, off / unit[j]);
        }
    }
    return moved;
}

// Sets w_i below noise most_i to 0. Returns the largest of them, in units.
static double zero_small_residuals(int n, const double *most, double noise, double *w)
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
    // from the finest level on, until one is enough
    for (int k = 0; k < LEVELS; k++) {
        if (!(error > PP_ROWS_RIGHT)) {
            break;
        }
        double noise = ldexp(1.0, FIRST_LEVEL + k * LEVEL_STEP);
        double moved = snap_small_variables(mcp, z, sizes->of_z, noise, to);
        by->evaluate(by->context, to, w, terms);
        moved = fmax(moved, zero_small_residuals(n, sizes->of_w, noise, w));
        error = fmin(error, fmax(moved, pp_worst_row(mcp, to, w, terms, by->weights)));
    }
    return error;
}

// pp_mcp_evaluate as pp_evaluation wants it.
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
    if (!pp_mcp_sizes(&mcp->A, to, to + n, unit, most, NULL)) {
        return false;
    }
    // the finest level that makes every row right; w is not neglected here
    for (int k = 0; k < LEVELS; k++) {
        snap_small_variables(mcp, z, unit, ldexp(1.0, FIRST_LEVEL + k * LEVEL_STEP), to);
        pp_mcp_evaluate(mcp, to, w_to, terms_to);
        if (pp_worst_row(mcp, to, w_to, terms_to, NULL) <= PP_ROWS_RIGHT) {
            memcpy(z, to, (size_t)n * sizeof *z);
            return true;
        }
    }
    return false;
}

double pp_mcp_backward(const perp_mcp *mcp, const double *z, const double *w, const double *terms,
                       bool comparable, double *scratch, const pp_arena *arena)
{
    int n = mcp->n;
    double error = pp_worst_row(mcp, z, w, terms, NULL);
    if (error <= PP_ROWS_RIGHT || !isfinite(error)) {
        return error;
    }
    double *size = scratch, *inverse = size + n;
    if (!own_diagonal(&mcp->A, inverse + n, inverse, arena)) {
        return PP_INF;
    }
    memcpy(size, terms, (size_t)n * sizeof *size);
    // (C44): sizes spread by one coupling a round
    for (int round = 0; round < ROUNDS; round++) {
        if (!(error > PP_ROWS_RIGHT)) {
            break;
        }
        if (!carry_sizes(mcp, z, w, inverse, size)) {
            break;
        }
        error = fmin(error, pp_worst_row(mcp, z, w, size, NULL));
    }
    // the caller vouches for comparable units: small numbers may be rounding of data
    pp_mcp_magnitudes sizes = {scratch, scratch + n};
    double *rest = scratch + 2 * (size_t)n;
    if (comparable && error > PP_ROWS_RIGHT &&
        pp_mcp_sizes(&mcp->A, terms, rest, sizes.of_z, sizes.of_w, arena)) {
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
            // W in the units of (C16): both of its indices
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

// Whether W' = W up to rounding. Only then is u_c / sqrt(W_cc) the root of an energy.
static bool has_energy_units(const perp_fcp *fcp, const double *diagonal)
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

// Replaces each number by the largest of its connected component of W: sweeps in
// alternating order, until nothing changes.
static void spread_contacts(const perp_fcp *fcp, double *most)
{
    int n = fcp->nc * fcp->dim;
    for (int sweep = 0; sweep < SPREADS; sweep++) {
        bool changed = false;
        for (int at = 0; at < n; at++) {
            // both directions in turn: a maximum crosses a chain of contacts in one sweep
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
    bool symmetric = has_energy_units(fcp, diagonal);
    double most = 0.0;
    // as roots of energies, the largest of the island, and back to a speed
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
