// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Redundant equations, found on the whole set of equations with one scale.             theory (J10)
//
// s_i^-2 = J_i M^-1 J_i^T is the mobility of row i for bodies that nothing joins. The tree can only
// reduce it, S H^-1 S^T <= M^-1, so the diagonal of s A s lies between 0, for a row that the tree
// implies, and 1. It has no unit: a pivot is the squared sine of the angle between a row and the
// rows before it, in the metric of the masses.
#include "hybrid/moment.h"

#include <math.h>

static const double INDEPENDENT = 1e-10;  // squared sine of the angle of an independent row

// Exchanges rows i and k of the factor and of what is left of the diagonal.
static void swap_rows(pp_dependent_rows *ties, double *rest, int i, int k)
{
    int row = ties->row[i];
    double left = rest[i];
    ties->row[i] = ties->row[k];
    ties->row[k] = row;
    rest[i] = rest[k];
    rest[k] = left;
    for (int j = 0; j < ties->rank; j++) {
        double *column = ties->L + (size_t)j * (size_t)ties->count, keep = column[i];
        column[i] = column[k];
        column[k] = keep;
    }
}

// Cholesky's method with the largest remaining pivot first: s A s = L L^T up to `rank`.
// rest: the remaining diagonal.
static void factor_rows(pp_dependent_rows *ties, const double *A, int rows, double *rest)
{
    int n = ties->count;
    for (ties->rank = 0; ties->rank < n; ties->rank++) {
        int k = ties->rank, best = k;
        for (int i = k + 1; i < n; i++) {
            best = rest[i] > rest[best] ? i : best;
        }
        // All that is left follows from the pivots.
        if (!(rest[best] > INDEPENDENT)) {
            return;
        }
        swap_rows(ties, rest, k, best);
        double pivot = sqrt(rest[k]), *to = ties->L + (size_t)k * (size_t)n;
        // Column k of L, and the remaining diagonal.
        for (int i = k; i < n; i++) {
            int a = ties->row[i], b = ties->row[k];
            double sum = ties->scale[a] * ties->scale[b] * A[a + b * rows];
            for (int j = 0; j < k; j++) {
                sum -= ties->L[i + j * n] * ties->L[k + j * n];
            }
            to[i] = i == k ? pivot : sum / pivot;
            rest[i] -= to[i] * to[i];
        }
    }
}

// Size of the terms that the rate of a row is the sum of: their absolute values.
// Rounding is relative to it.
static double row_size(const perp_model *model, const pp_row *row, const perp_twist *V)
{
    double sum = fabs(row->rate);
    for (int k = 0; k < row->count; k++) {
        const perp_twist *v = &V[row->body[k]];
        const double all[PP_BODY_NV] = {v->v_W.x, v->v_W.y, v->v_W.z, v->w_W.x, v->w_W.y, v->w_W.z};
        const pp_body *body = &model->body[row->body[k]];
        for (int c = 0; c < body->nv; c++) {
            sum += fabs(row->J[k][c] * all[body->axis[c]]);
        }
    }
    return sum;
}

// The largest of these sizes over all equations.
static double largest_speed(const pp_instant *instant, const perp_twist *V)
{
    double most = 0.0;
    for (int i = 0; i < instant->ties.count; i++) {
        const pp_row *row = &instant->row[instant->ties.row[i]];
        most = fmax(most, row_size(instant->pass.tree->model, row, V));
    }
    return most;
}

perp_status pp_instant_find_dependent(pp_instant *instant, const pp_holds *holds, pp_arena *arena)
{
    size_t rows = (size_t)instant->rows;
    int bodies = instant->pass.tree->model->bodies;
    pp_dependent_rows *ties = &instant->ties;
    *ties = (pp_dependent_rows){.row = PP_ARRAY(arena, int, rows), .scale = instant->scale};
    if (!ties->row) {
        return PERP_ERR_MEMORY;
    }
    for (int i = 0; i < holds->count; i++) {
        pp_hold_kind kind = holds->hold[i].kind;
        if (kind != PP_HOLD_LOOP && kind != PP_HOLD_TARGET && kind != PP_HOLD_RATE) {
            continue;
        }
        for (int k = 0; k < instant->size[i]; k++) {
            ties->row[ties->count++] = instant->at[i] + k;
        }
    }
    size_t n = (size_t)ties->count;
    ties->L = PP_ZEROS(arena, double, n *n);
    double *rest = ties->work = PP_ARRAY(arena, double, n);
    perp_twist *V = PP_ARRAY(arena, perp_twist, bodies);
    if (!ties->L || !rest || !V) {
        return PERP_ERR_MEMORY;
    }
    // The factorisation starts from the diagonal of s A s.
    for (size_t i = 0; i < n; i++) {
        double s = instant->scale[ties->row[i]];
        rest[i] = s * s * instant->A[(size_t)ties->row[i] * (rows + 1)];
    }
    factor_rows(ties, instant->A, instant->rows, rest);
    // Velocities of the bodies give the size of the rates that equations are sums of.
    for (int i = 0; i < bodies; i++) {
        V[i] = (perp_twist){instant->pass.body[i].v, instant->pass.body[i].w};
    }
    instant->rate_scale = largest_speed(instant, V);
    return PERP_OK;
}

perp_status pp_instant_acceleration_scale(pp_instant *instant, pp_arena *arena)
{
    const perp_model *m = instant->pass.tree->model;
    double *nu = PP_ARRAY(arena, double, m->nv);
    perp_twist *V = PP_ZEROS(arena, perp_twist, m->bodies);
    if (!nu || !V) {
        return PERP_ERR_MEMORY;
    }
    // Accelerations of the bodies without the forces of rows: |sigma| with qdd = 0, plus |S free|.
    pp_tree_velocities(&instant->pass, instant->free, true, nu);
    for (int i = 0; i < m->bodies; i++) {
        const pp_body *body = &m->body[i];
        perp_twist s = instant->pass.sigma[i];
        double all[PP_BODY_NV] = {fabs(s.v_W.x), fabs(s.v_W.y), fabs(s.v_W.z),
                                  fabs(s.w_W.x), fabs(s.w_W.y), fabs(s.w_W.z)};
        for (int c = 0; c < body->nv; c++) {
            all[body->axis[c]] += fabs(nu[body->at + c]);
        }
        V[i] = (perp_twist){{all[0], all[1], all[2]}, {all[3], all[4], all[5]}};
    }
    instant->acceleration_scale = largest_speed(instant, V);
    return PERP_OK;
}

// The rows of s A s beyond the rank are L_i times the inverse of the leading block of L, times the
// independent rows. The same combination of s b is what b has to be for the equations to agree.
void pp_dependent_rows_agree(const pp_dependent_rows *ties, double size, double *b)
{
    int n = ties->count, rank = ties->rank;
    double *y = ties->work;
    for (int i = 0; i < n && rank < n; i++) {
        int row = ties->row[i];
        double known = 0.0;
        for (int j = 0; j < (i < rank ? i : rank); j++) {
            known += ties->L[i + j * n] * y[j];
        }
        // Forward substitution for the independent rows, y = L^-1 s b; the others have to be L_i y.
        if (i < rank) {
            y[i] = (ties->scale[row] * b[row] - known) / ties->L[i + i * n];
        } else if (fabs(known / ties->scale[row] - b[row]) <= sqrt(INDEPENDENT) * size) {
            b[row] = known / ties->scale[row];
        }
    }
}
