// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The ratio test of complementary pivoting, with the lexicographic rule on ties.
//
// With b replaced by b + (e, e^2, …) for an infinitely small e > 0 no two basic variables reach their
// bounds together, so no basis comes back (Cottle, Pang, Stone 1992, 4.9). The derivative of a basic
// variable with respect to b is its row of the inverse basis; the tied variable whose row, divided by
// its speed, is lexicographically least leaves.
#include "comp/lemke.h"

#include <math.h>

// All quantities are scaled to 1. Speeds below SLOW are rounding; steps within TIE are equal.
static const double SLOW = 1e-11, TIE = 1e-12, SAME = 1e-10;

static double step_to_bound(const pp_lemke *t, int k, double slow)
{
    double speed = t->dir[k], room;
    if (speed < -slow) {
        room = t->x[k] - t->lo[k];
    } else if (speed > slow) {
        room = t->up[k] - t->x[k];
    } else {
        return PP_INF;
    }
    return room > 0.0 ? room / fabs(speed) : 0.0;
}

// Lexicographic comparison of two tied positions, rows already divided by their closing speeds.
static bool precedes(int n, const double *a, const double *b)
{
    for (int i = 0; i < n; i++) {
        double difference = a[i] - b[i];
        if (fabs(difference) > SAME * (fabs(a[i]) + fabs(b[i])) + 1e-14) {
            return difference < 0.0;
        }
    }
    return false;
}

// How soon the bound is reached, per unit of each b_i.
static perp_status closing_row(pp_lemke *t, int position, double *row)
{
    perp_status status = t->basis->row(t, position, row);
    double speed =
        -t->dir[position];  // room shrinks by this to the lower bound, grows to the upper
    for (int i = 0; i < t->n; i++) {
        row[i] /= speed;
    }
    return status;
}

static perp_status break_tie(pp_lemke *t, int ties, int *position)
{
    double *best = t->row_a, *next = t->row_b;
    perp_status status = closing_row(t, t->tied[0], best);
    *position = t->tied[0];
    for (int k = 1; status >= 0 && k < ties; k++) {
        status = closing_row(t, t->tied[k], next);
        if (precedes(t->n, next, best)) {
            *position = t->tied[k];
            double *swap = best;
            best = next;
            next = swap;
        }
    }
    return status;
}

perp_status pp_lemke_ratio(pp_lemke *t, double sign, pp_block *block)
{
    (void)sign;
    double fastest = pp_norm_inf(t->n, t->dir), least = PP_INF;
    double slow = SLOW * (fastest > 1.0 ? fastest : 1.0);
    *block = (pp_block){.position = -1, .step = PP_INF};
    if (!isfinite(fastest)) {
        return PERP_ERR_SINGULAR;
    }
    for (int k = 0; k < t->n; k++) {
        double step = step_to_bound(t, k, slow);
        t->row_b[k] = step;
        least = step < least ? step : least;
    }
    if (!isfinite(least)) {
        return PERP_OK;
    }
    int ties = 0;
    double limit = least + TIE * (1.0 + least);
    for (int k = 0; k < t->n; k++) {
        if (t->row_b[k] <= limit) {
            t->tied[ties++] = k;
            if (t->var[k] == pp_z0(t)) {
                *block = (pp_block){.position = k, .step = t->row_b[k]};
                return PERP_OK;
            }
        }
    }
    perp_status status = PERP_OK;
    block->position = t->tied[0];
    if (ties > 1) {
        status = break_tie(t, ties, &block->position);
    }
    block->step = step_to_bound(t, block->position, slow);
    block->at_upper = t->dir[block->position] > 0.0;
    return status;
}
