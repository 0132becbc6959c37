// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The laws of an instant on exact friction cones: equations are eliminated, and the frictional
// contact problem that remains goes to comp/ in its local form.                  theory (C2), (H7a)
//
//   u_c = W r_c + q,   W = F (A_cc - A_ce A_ee^-1 A_ec) C,   q = F (b_c - A_ce A_ee^-1 b_e)
//
// C holds the directions in which forces act and F the rates on which conditions are imposed. Both
// are the identity except for sliding contacts, whose column is the normal with the friction of
// sliding, n - mu d.t. W is then not symmetric, which the cone solvers do not require.
#include "hybrid/law.h"

#include <math.h>
#include <string.h>

enum { DIM = 3 };  // components of a contact without torsional and rolling friction: n, t, o

typedef struct cone_problem {
    int nc, ne, dim;
    int *law;       // nc: law of each contact
    int *row;       // nc dim: the row of each component, -1: none
    int *equation;  // ne: independent rows of equations
    double *L;      // ne x ne: Cholesky factor of A_ee
    double *W, *q, *mu, *spin, *roll, *z;
} cone_problem;

// A contact in space whose direction of sliding is not given.
static bool has_cone(const pp_law *law)
{
    return law->kind == PP_LAW_CONTACT && law->size == DIM;
}

bool pp_law_cone_possible(const pp_laws *laws)
{
    bool spatial = false;
    for (int i = 0; i < laws->count; i++) {
        const pp_law *law = &laws->law[i];
        if (law->size > 0 && law->extra > 0.0) {  // it would move the tip of a cone
            return false;
        }
        spatial = spatial || has_cone(law);
    }
    return spatial;
}

// Lists the independent equations and factors A_ee. Dependent ones follow from them.
static perp_status hold_equations(const pp_laws *laws, cone_problem *p, pp_arena *arena)
{
    size_t rows = (size_t)laws->rows;
    bool *keep = PP_ZEROS(arena, bool, rows);
    p->equation = PP_ARRAY(arena, int, rows);
    if (!keep || !p->equation) {
        return PERP_ERR_MEMORY;
    }
    // A_ee is singular with redundant equations; independent ones imply the others.
    perp_status status = pp_law_independent(laws, keep, arena);
    if (status < 0) {
        return status;
    }
    for (int i = 0; i < laws->rows; i++) {
        if (keep[i]) {
            p->equation[p->ne++] = i;
        }
    }
    size_t ne = (size_t)p->ne;
    p->L = PP_ARRAY(arena, double, ne *ne);
    if (!p->L) {
        return PERP_ERR_MEMORY;
    }
    for (size_t j = 0; j < ne; j++) {
        for (size_t i = 0; i < ne; i++) {
            p->L[i + j * ne] = laws->A[(size_t)p->equation[i] + (size_t)p->equation[j] * rows];
        }
    }
    // Independent by a pivot of their own, so a failure is rounding.
    return ne > 0 && pp_chol_factor(p->ne, p->L, p->ne, 0.0) != 0 ? PERP_ERR_SINGULAR : PERP_OK;
}

// Adds the reaction of the equations, r_e = -A_ee^-1 u_e, to the rates u of all rows (u = A r + u_0
// on entry) and to r. work: ne numbers.
static void apply_equations(const pp_laws *laws, const cone_problem *p, double *u, double *r,
                            double *work)
{
    size_t rows = (size_t)laws->rows;
    // A_ee r_e = -u_e, then u += A_.e r_e: the rates of the equations vanish.
    for (int i = 0; i < p->ne; i++) {
        work[i] = -u[p->equation[i]];
    }
    if (p->ne > 0) {
        pp_chol_solve(p->ne, p->L, p->ne, work);
    }
    for (int i = 0; i < p->ne; i++) {
        pp_axpy(laws->rows, work[i], laws->A + (size_t)p->equation[i] * rows, u);
        r[p->equation[i]] += work[i];
    }
}

// Lays out the components of each contact: the normal, two tangents, then torsion and rolling where
// any contact has them. A contact that slides in a known direction has its normal only. All
// contacts of a problem have the same dimension (C3); components that a contact lacks have no row.
static perp_status layout_components(const pp_laws *laws, cone_problem *p, pp_arena *arena)
{
    bool spins = false, rolls = false;
    for (int i = 0; i < laws->count; i++) {
        bool turns = laws->law[i].kind == PP_LAW_TURN;
        spins = spins || (turns && laws->law[i].size == 1);
        rolls = rolls || (turns && laws->law[i].size == 2);
    }
    // n, t, o; then one component of torsion, two of rolling.
    p->dim = DIM + (spins ? 1 : 0) + (rolls ? 2 : 0);
    size_t n = (size_t)p->dim * (size_t)p->nc;
    p->row = PP_ARRAY(arena, int, n);
    p->W = PP_ZEROS(arena, double, n *n + 2 * n + 3 * (size_t)p->nc);
    if (!p->row || !p->W) {
        return PERP_ERR_MEMORY;
    }
    p->q = p->W + n * n;
    p->z = p->q + n;
    p->mu = p->z + n;
    p->spin = p->mu + p->nc;
    p->roll = p->spin + p->nc;
    for (int c = 0; c < p->nc; c++) {
        int i = p->law[c], *row = p->row + (size_t)c * (size_t)p->dim;
        const pp_law *law = &laws->law[i];
        for (int k = 0; k < p->dim; k++) {
            row[k] = k == 0 || (k < DIM && has_cone(law)) ? law->at + k : -1;
        }
        p->mu[c] = has_cone(law) ? law->mu : 0.0;
        // Turning friction follows its contact in the list. Rolling has the last two components.
        for (int j = i + 1; j < laws->count && pp_law_is_turning(&laws->law[j]); j++) {
            const pp_law *turn = &laws->law[j];
            if (turn->kind != PP_LAW_TURN) {
                continue;  // in a known direction: part of the normal's column
            }
            int first = turn->size == 1 ? DIM : p->dim - 2;
            for (int k = 0; k < turn->size; k++) {
                row[first + k] = turn->at + k;
            }
            *(turn->size == 1 ? &p->spin[c] : &p->roll[c]) = turn->mu;
        }
    }
    return PERP_OK;
}

// The direction in which component k of contact c acts.
static pp_row_direction component_direction(const pp_laws *laws, const cone_problem *p, int c,
                                            int k)
{
    return k == 0 ? pp_row_direction_normal(laws, p->law[c], false)
                  : pp_row_direction_row(p->row[c * p->dim + k]);
}

// r: the known forces of motors and dry friction in motion, zero in all other rows.
static void rub(const pp_laws *laws, double *r)
{
    memset(r, 0, (size_t)laws->rows * sizeof *r);
    for (int i = 0; i < laws->count; i++) {
        const pp_law *law = &laws->law[i];
        if (law->kind == PP_LAW_RUBBING && law->size > 0) {
            r[law->at] = -law->bound * law->d[0];
        }
    }
}

// W column by column, from the rates that a unit force of a component causes while the equations
// react, and q. A component without a row gets the mobility of the normal on its diagonal, so that
// W stays regular and of one size.
static perp_status fill_delassus(const pp_laws *laws, cone_problem *p, pp_arena *arena)
{
    size_t rows = (size_t)laws->rows;
    int n = p->dim * p->nc;
    double *u = PP_ARRAY(arena, double, 3 * rows), *r = u + rows, *work = r + rows;
    if (!u) {
        return PERP_ERR_MEMORY;
    }
    for (int j = 0; j < n; j++) {
        double *W = p->W + (size_t)j * (size_t)n;
        if (p->row[j] < 0) {
            // Nothing acts on this component and nothing depends on it: its force will be zero.
            int normal = j - j % p->dim;
            W[j] = fabs(p->W[(size_t)normal * ((size_t)n + 1)]);
            continue;
        }
        pp_row_direction push = component_direction(laws, p, j / p->dim, j % p->dim);
        memset(u, 0, rows * sizeof *u);
        for (int k = 0; k < push.count; k++) {
            pp_axpy(laws->rows, push.s[k], laws->A + (size_t)push.row[k] * rows, u);
        }
        apply_equations(laws, p, u, r, work);
        for (int i = 0; i < n; i++) {
            W[i] = p->row[i] >= 0 ? u[p->row[i]] : 0.0;
        }
    }
    // r holds reactions of the columns so far; rub() clears it.
    rub(laws, r);
    pp_law_rates(laws, r, u);
    apply_equations(laws, p, u, r, work);
    for (int i = 0; i < n; i++) {
        p->q[i] = p->row[i] >= 0 ? u[p->row[i]] : 0.0;
    }
    return PERP_OK;
}

// Forces r of all rows from the solution z: known forces, contacts, then the
// reaction of the equations.
static perp_status forces(const pp_laws *laws, const cone_problem *p, double *r, pp_arena *arena)
{
    size_t rows = (size_t)laws->rows;
    double *u = PP_ARRAY(arena, double, 2 * rows), *work = u + rows;
    if (!u) {
        return PERP_ERR_MEMORY;
    }
    rub(laws, r);
    for (int j = 0; j < p->dim * p->nc; j++) {
        // r = known + C z, in the directions of the components.
        pp_row_direction push = {.count = 0};
        if (p->row[j] >= 0) {
            push = component_direction(laws, p, j / p->dim, j % p->dim);
        }
        for (int k = 0; k < push.count; k++) {
            r[push.row[k]] += p->z[j] * push.s[k];
        }
    }
    pp_law_rates(laws, r, u);
    apply_equations(laws, p, u, r, work);
    return PERP_OK;
}

perp_status pp_law_cone(const pp_laws *laws, double work, double *r, const perp_env *env,
                        pp_arena *arena)
{
    cone_problem p = {.law = PP_ARRAY(arena, int, laws->count)};
    if (!p.law) {
        return PERP_ERR_MEMORY;
    }
    perp_status status = hold_equations(laws, &p, arena);
    if (status < 0) {
        return status;
    }
    for (int i = 0; i < laws->count; i++) {
        const pp_law *law = &laws->law[i];
        if (law->size > 0 && (law->kind == PP_LAW_CONTACT || law->kind == PP_LAW_SLIDING)) {
            p.law[p.nc++] = i;
        }
    }
    status = layout_components(laws, &p, arena);
    if (status < 0) {
        return status;
    }
    status = fill_delassus(laws, &p, arena);
    if (status < 0) {
        return status;
    }
    // Dimensions 4 to 6: n, t, o, then torsion (4, 6) and rolling (5, 6).               theory (C3)
    int n = p.dim * p.nc;
    perp_fcp fcp = {.nc = p.nc,
                    .dim = p.dim,
                    .mu = p.mu,
                    .mu_spin = p.dim == 4 || p.dim == 6 ? p.spin : NULL,
                    .mu_roll = p.dim >= 5 ? p.roll : NULL,
                    .W = perp_matrix_dense(n, n, p.W),
                    .q = p.q};
    // Accelerations feed an integrator of high order: the residual has to be rounding. `loose`
    // results start choose_forces.
    perp_comp_options options = perp_comp_options_default();
    options.tolerance = 1e-12;
    options.loose = 1e-7;
    // Solvers that reach the tolerance need fewer factorisations; others try in vain to improve
    // contacts that carry next to nothing. Modes make their best iterate exact.
    options.max_work = work;
    status = perp_fcp_solve(NULL, &fcp, &options, env, p.z, NULL, NULL);
    if (pp_is_final(status)) {
        return status;
    }
    if (!pp_all_finite((size_t)n, p.z)) {
        return PERP_ERR_NUMERIC;
    }
    // The best iterate of a solver that gave up is a start for the modes: its
    // status is returned with it.
    perp_status made = forces(laws, &p, r, arena);
    return made < 0 ? made : status;
}
