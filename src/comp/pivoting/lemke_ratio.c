// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The ratio test of complementary pivoting: Harris' (1973) test,
// with the lexicographic rule on ties.
//
// With b replaced by b + (e, e^2, …) for an infinitely small e > 0 no two basic variables
// reach their bounds together, so that no basis is repeated (Cottle, Pang, Stone 1992,
// 4.9). The derivative of a basic variable with respect to b is its row of the inverse
// basis; of the tied variables that one leaves whose row, divided by its speed, is
// lexicographically least, theory (C17). Cost: two passes over the basic variables, and
// one row of the inverse for each tied variable.
#include "comp/pivoting/lemke.h"

#include <math.h>

// All quantities are scaled to about 1. Speeds below SLOW, and below STEADY times the fastest
// candidate's, count as rounding. A bound may be passed by GIVE. Steps within TIE are equal, and
// row entries within SAME.
static const double SLOW = 1e-11, TIE = 1e-12, SAME = 1e-10, STEADY = 1e-4, GIVE = 1e-11;

// Distance to the bound that the variable at position k moves
// towards; infinite where there is none.
static double room_to_bound(const pp_lemke *t, int k, double slow)
{
    double speed = t->dir[k];
    double left = PP_INF;
    if (speed < -slow) {
        left = t->x[k] - t->lo[k];
    } else if (speed > slow) {
        left = t->up[k] - t->x[k];
    }
    // outside by rounding: no room, not negative room
    return left > 0.0 ? left : 0.0;
}

// Whether row a is lexicographically less than row b, both divided by their closing speeds.
static bool is_lex_less(int n, const double *a, const double *b)
{
    for (int i = 0; i < n; i++) {
        double difference = a[i] - b[i];
        if (fabs(difference) > SAME * (fabs(a[i]) + fabs(b[i])) + 1e-14) {
            return difference < 0.0;
        }
    }
    return false;
}

// The row of (C17): the change of the step at which the bound is reached, per unit of each b_i.
static perp_status closing_row(pp_lemke *t, int position, double *row)
{
    perp_status status = t->basis->row(t, position, row);
    double speed = -t->dir[position];  // positive towards a lower bound, negative towards an upper
    for (int i = 0; i < t->n; i++) {
        row[i] /= speed;
    }
    return status;
}

// The tied position whose row is lexicographically least. Two rows are in memory at a time.
static perp_status break_tie(pp_lemke *t, int ties, int *position)
{
    double *best = t->row_a, *next = t->row_b;
    perp_status status = closing_row(t, t->tied[0], best);
    *position = t->tied[0];
    for (int k = 1; k < ties; k++) {
        if (status < 0) {
            break;
        }
        status = closing_row(t, t->tied[k], next);
        // the better row is kept in `best`, the buffers change roles
        if (is_lex_less(t->n, next, best)) {
            *position = t->tied[k];
            double *swap = best;
            best = next;
            next = swap;
        }
    }
    return status;
}

// Harris' test: the largest step that passes no bound by more than GIVE; then, of the
// positions met up to it, those whose speed is not rounding beside the fastest.
// Returns how many; z0 alone where it is one.
static int candidates(pp_lemke *t, double slow, double *ratio)
{
    // first pass: the largest step that passes no bound by more than GIVE
    double limit = PP_INF, top = 0.0;
    int count = 0, kept = 0;
    for (int k = 0; k < t->n; k++) {
        double left = room_to_bound(t, k, slow);
        ratio[k] = PP_INF;
        if (left < PP_INF) {
            double speed = fabs(t->dir[k]), reach = (left + GIVE) / speed;
            ratio[k] = left / speed;
            limit = reach < limit ? reach : limit;
        }
    }
    if (!(limit < PP_INF)) {
        return 0;  // nothing blocks: a ray
    }
    // second pass: all that block within it; z0 leaves as soon as it can, which ends the path
    for (int k = 0; k < t->n; k++) {
        if (ratio[k] <= limit) {
            t->tied[count++] = k;
            top = fabs(t->dir[k]) > top ? fabs(t->dir[k]) : top;
            if (t->var[k] == pp_z0(t)) {
                t->tied[0] = k;
                return 1;
            }
        }
    }
    // small pivots would spoil the next basis
    for (int k = 0; k < count; k++) {
        if (fabs(t->dir[t->tied[k]]) >= STEADY * top) {
            t->tied[kept++] = t->tied[k];
        }
    }
    return kept;
}

// Of the candidates, those that are met first, up to TIE.
static int first_met(pp_lemke *t, int count, const double *ratio)
{
    double least = PP_INF;
    int kept = 0;
    for (int k = 0; k < count; k++) {
        least = ratio[t->tied[k]] < least ? ratio[t->tied[k]] : least;
    }
    for (int k = 0; k < count; k++) {
        if (ratio[t->tied[k]] <= least + TIE * (1.0 + least)) {
            t->tied[kept++] = t->tied[k];
        }
    }
    return kept;
}

perp_status pp_lemke_ratio(pp_lemke *t, pp_lemke_blocking *block)
{
    double *ratio = t->row_b, fastest = pp_norm_inf(t->n, t->dir);
    *block = (pp_lemke_blocking){.position = -1, .step = PP_INF};
    if (!isfinite(fastest)) {
        return PERP_ERR_SINGULAR;
    }
    int count = candidates(t, SLOW * (fastest > 1.0 ? fastest : 1.0), ratio);
    if (count == 0) {
        return PERP_OK;
    }
    count = count > 1 ? first_met(t, count, ratio) : count;
    block->position = t->tied[0];
    block->step = ratio[t->tied[0]];
    if (count > 1) {  // the rows overwrite ratio: equal steps, so any of them serves
        perp_status status = break_tie(t, count, &block->position);
        if (status < 0) {
            return status;
        }
    }
    block->at_upper = t->dir[block->position] > 0.0;
    return PERP_OK;
}
