// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Complementary pivoting: the path of theory (C11), from a starting
// basis along edges until z0 is zero.
//
// The variable that enters is the complement of the one that left; the ratio test decides which
// leaves. A boxed variable that reaches its other bound first changes no basis (a bound flip).
#include "comp/pivoting/lemke.h"

#include <math.h>
#include <string.h>

double pp_lemke_nonbasic_value(const pp_lemke *t, int j)
{
    if (t->at_upper[j]) {
        return t->upper[j];
    }
    return isfinite(t->lower[j]) ? t->lower[j] : 0.0;
}

// w_i is >= 0 where z_i rests at its lower bound, <= 0 at the upper, and free where z_i is fixed.
void pp_lemke_bounds(const pp_lemke *t, int variable, double *lo, double *up)
{
    int n = t->n;
    if (variable < n) {
        *lo = t->lower[variable];
        *up = t->upper[variable];
    } else if (variable == 2 * n) {
        *lo = 0.0;
        *up = PP_INF;
    } else {
        int i = variable - n;
        bool fixed = t->lower[i] == t->upper[i];
        *lo = fixed || t->at_upper[i] ? -PP_INF : 0.0;
        *up = fixed || !t->at_upper[i] ? PP_INF : 0.0;
    }
}

void pp_lemke_set(pp_lemke *t, int position, int variable, double value)
{
    t->var[position] = variable;
    t->x[position] = value;
    pp_lemke_bounds(t, variable, &t->lo[position], &t->up[position]);
}

void pp_lemke_add_column(const pp_lemke *t, int variable, double s, double *y)
{
    const perp_matrix *A = &t->A;
    int n = t->n;
    if (variable == 2 * n) {
        pp_axpy(n, s, t->cover, y);
    } else if (A->dense) {
        pp_axpy(n, s, A->dense + (size_t)variable * (size_t)n, y);
    } else {
        for (int k = A->p[variable]; k < A->p[variable + 1]; k++) {
            y[A->i[k]] += s * A->x[k];
        }
    }
}

// How far the variable at a position is outside its bounds; negative inside.
static double bound_violation(const pp_lemke *t, int position)
{
    double below = t->lo[position] - t->x[position], above = t->x[position] - t->up[position];
    return below > above ? below : above;
}

// Whether the basis is a solution already.
static bool is_feasible(const pp_lemke *t)
{
    for (int k = 0; k < t->n; k++) {
        if (bound_violation(t, k) > 0.0) {
            return false;
        }
    }
    return true;
}

// The covering vector d of an arbitrary basis. Per unit of z0 a variable with one bound moves
// inward by 1, one with two bounds that is outside moves inward by its violation, and the others do
// not move. The path begins at the least z0 at which all are inside.
static void cover_basis(pp_lemke *t, double *inward)
{
    int n = t->n;
    memset(t->cover, 0, (size_t)n * sizeof(double));
    for (int k = 0; k < n; k++) {
        double out = bound_violation(t, k);
        inward[k] = 0.0;
        if (isfinite(t->lo[k]) && !isfinite(t->up[k])) {
            inward[k] = 1.0;
        } else if (isfinite(t->up[k]) && !isfinite(t->lo[k])) {
            inward[k] = -1.0;
        } else if (out > 0.0) {
            inward[k] = t->x[k] < t->lo[k] ? out : -out;
        }
        int variable = t->var[k];
        if (pp_is_z(t, variable)) {  // d = dw - A dz, in every row
            pp_lemke_add_column(t, variable, -inward[k], t->cover);
        }
    }
    for (int k = 0; k < n; k++) {
        if (!pp_is_z(t, t->var[k])) {
            t->cover[t->var[k] - n] += inward[k];
        }
    }
}

// The position that enters its bounds last as z0 grows from 0, and that z0. Of equal ones the last,
// whose row of the starting basis is lexicographically least.
static int last_to_enter(const pp_lemke *t, const double *inward, double *z0)
{
    int last = -1;
    *z0 = 0.0;
    for (int k = 0; k < t->n; k++) {
        double out = bound_violation(t, k);
        if (out > 0.0 && inward[k] != 0.0) {
            // z0 at which the variable at k comes inside
            double need = out / fabs(inward[k]);
            if (need >= *z0) {
                *z0 = need;
                last = k;
            }
        }
    }
    return last;
}

// The variable that enters after `variable` has left, its complement, and
// whether it grows (+1) or falls (-1).
static int complement(const pp_lemke *t, int variable, double *sign)
{
    int i = variable < t->n ? variable : variable - t->n;
    *sign = t->at_upper[i] ? -1.0 : 1.0;
    return variable < t->n ? variable + t->n : i;
}

// Moves the basic variables along the edge of the path.
static void advance_basic_variables(pp_lemke *t, double step)
{
    if (step != 0.0) {
        pp_axpy(t->n, step, t->dir, t->x);
    }
}

// Bound flip: z_j goes from one bound of its box to the other, and w_j enters next.
static void flip_bound(pp_lemke *t, int j)
{
    double before = pp_lemke_nonbasic_value(t, j);
    t->at_upper[j] = !t->at_upper[j];
    pp_lemke_add_column(t, j, pp_lemke_nonbasic_value(t, j) - before, t->bt);
}

// A non-basic z becomes basic: its value leaves bt.
static void leave_bound(pp_lemke *t, int variable)
{
    if (pp_is_z(t, variable)) {
        double rest = pp_lemke_nonbasic_value(t, variable);
        if (rest != 0.0) {
            pp_lemke_add_column(t, variable, -rest, t->bt);
        }
    }
}

// A basic z becomes non-basic: its bound enters bt.
static void reach_bound(pp_lemke *t, int variable, bool at_upper)
{
    if (pp_is_z(t, variable)) {
        t->at_upper[variable] = at_upper;
        double rest = pp_lemke_nonbasic_value(t, variable);
        if (rest != 0.0) {
            pp_lemke_add_column(t, variable, rest, t->bt);
        }
    }
}

// One exchange. t->entering and t->sign are the next ones on return; *done when z0 has left.
static perp_status exchange_basis(pp_lemke *t, bool *done)
{
    int variable = t->entering;
    perp_status status = t->basis->direction(t, variable);
    if (status < 0) {
        return status;
    }
    if (t->sign < 0.0) {  // the entering variable falls from its upper bound
        for (int k = 0; k < t->n; k++) {
            t->dir[k] = -t->dir[k];
        }
    }
    pp_lemke_blocking block;
    status = pp_lemke_ratio(t, &block);
    if (status < 0) {
        return status;
    }
    // the entering z may reach its own other bound before anything blocks
    double span = PP_INF;
    if (pp_is_z(t, variable)) {
        span = t->upper[variable] - t->lower[variable];
    }
    if (span <= block.step && isfinite(span)) {
        advance_basic_variables(t, span);
        flip_bound(t, variable);
        t->entering = complement(t, variable, &t->sign);
        return PERP_OK;
    }
    if (block.position < 0) {
        return PERP_ERR_RAY;
    }
    advance_basic_variables(t, block.step);
    double value = t->sign * block.step;
    if (pp_is_z(t, variable)) {
        value += pp_lemke_nonbasic_value(t, variable);
    }
    // exchange: bt loses the entering z and gains the leaving one, which now rests at a bound
    int leaving = t->var[block.position];
    leave_bound(t, variable);
    reach_bound(t, leaving, block.at_upper);
    t->x[block.position] = value;
    status = t->basis->replace(t, block.position, variable);
    *done = leaving == pp_z0(t);
    if (!*done) {
        t->entering = complement(t, leaving, &t->sign);
    }
    return status;
}

perp_status pp_lemke_path(pp_lemke *t)
{
    double z0;
    double *inward = t->row_a;
    if (is_feasible(t)) {
        return PERP_OK;
    }
    cover_basis(t, inward);
    int first = last_to_enter(t, inward, &z0);
    if (first < 0) {
        return PERP_OK;
    }
    // z0 enters at the value where the last variable comes inside its
    // bounds, and takes that one's place
    for (int k = 0; k < t->n; k++) {
        t->x[k] += z0 * inward[k];
    }
    int leaving = t->var[first];
    reach_bound(t, leaving, t->x[first] - t->lo[first] > t->up[first] - t->x[first]);
    t->x[first] = z0;
    perp_status status = t->basis->replace(t, first, pp_z0(t));
    t->entering = complement(t, leaving, &t->sign);
    // the variable that left determines the one that enters, until z0 leaves
    bool done = false;
    while (status >= 0 && !done) {
        if (t->pivots >= t->limit || (t->pivots % 16 == 0 && pp_job_is_over(t->job))) {
            return PERP_ERR_LIMIT;
        }
        status = exchange_basis(t, &done);
        pp_meter_add(t->job->meter, t->cost);
        t->pivots++;
    }
    return status;
}
