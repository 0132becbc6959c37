// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The laws of an instant on exact friction cones: equations are eliminated, what is left is a frictional
// contact problem in its local form, which goes to comp/.                         theory (C2), (H7a)
//
//   u_c = W r_c + q,   W = F (A_cc - A_ce A_ee^-1 A_ec) C,   q = F (b_c - A_ce A_ee^-1 b_e)
//
// C holds the directions in which forces act and F the rates that are asked for. Both are the identity but
// for contacts that slide, whose column is the normal with the friction that sliding brings: W is
// not symmetric there. The cone solvers do not need that it is.
#include "hybrid/law.h"

#include <math.h>
#include <string.h>

enum { DIM = 3 };

typedef struct posed {
    int nc, ne;
    int *law;       // nc: law of each contact
    int *equation;  // ne: independent rows of equations
    double *L;      // ne x ne: Cholesky factor of A_ee
    double *W, *q, *mu, *z;
} posed;

static bool is_contact(const pp_law *law)
{
    return law->size > 0 && (law->kind == PP_LAW_CONTACT || law->kind == PP_LAW_SLIDING);
}

static bool has_cone(const pp_law *law)
{
    return law->kind == PP_LAW_CONTACT && law->size == DIM;
}

bool pp_law_cone_possible(const pp_laws *laws)
{
    bool spatial = false;
    for (int i = 0; i < laws->count; i++) {
        const pp_law *law = &laws->law[i];
        if (law->size > 0 && (law->kind == PP_LAW_BOX || law->extra > 0.0)) {
            return false;
        }
        spatial = spatial || has_cone(law);
    }
    return spatial;
}

// Factors the independent equations.
static perp_status hold_equations(const pp_laws *laws, posed *p, pp_arena *arena)
{
    size_t rows = (size_t)laws->rows;
    bool *keep = PP_ZEROS(arena, bool, rows);
    p->equation = PP_ARRAY(arena, int, rows);
    perp_status status =
        keep && p->equation ? pp_law_independent(laws, keep, arena) : PERP_ERR_MEMORY;
    for (int i = 0; status >= 0 && i < laws->rows; i++) {
        if (keep[i]) {
            p->equation[p->ne++] = i;
        }
    }
    size_t ne = (size_t)p->ne;
    p->L = PP_ARRAY(arena, double, ne *ne);
    if (status < 0 || !p->L) {
        return status < 0 ? status : PERP_ERR_MEMORY;
    }
    for (size_t j = 0; j < ne; j++) {
        for (size_t i = 0; i < ne; i++) {
            p->L[i + j * ne] = laws->A[(size_t)p->equation[i] + (size_t)p->equation[j] * rows];
        }
    }
    return ne > 0 && pp_chol_factor(p->ne, p->L, p->ne, 0.0) != 0 ? PERP_ERR_SINGULAR : PERP_OK;
}

// u of all rows once forces r act and the equations answer; r receives their forces. u: A r + u_0 on entry.
static void answer(const pp_laws *laws, const posed *p, double *u, double *r, double *work)
{
    size_t rows = (size_t)laws->rows;
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

static pp_push column_of(const pp_law *law, int k)
{
    return k == 0 && law->kind == PP_LAW_SLIDING ? pp_push_sliding(law) : pp_push_row(law->at + k);
}

// The rows of a contact that are asked for; of those that carry nothing the diagonal stands for a unit.
static void put_block(const pp_laws *laws, const posed *p, int c, int k, const double *u)
{
    size_t n = (size_t)(DIM * p->nc);
    double *W = p->W + (size_t)(DIM * c + k) * n;
    for (int d = 0; d < p->nc; d++) {
        const pp_law *to = &laws->law[p->law[d]];
        for (int j = 0; j < (has_cone(to) ? DIM : 1); j++) {
            W[DIM * d + j] = u[to->at + j];
        }
    }
}

static perp_status fill(const pp_laws *laws, posed *p, pp_arena *arena)
{
    size_t rows = (size_t)laws->rows, n = (size_t)(DIM * p->nc);
    double *u = PP_ARRAY(arena, double, 3 * rows), *r = u + rows, *work = r + rows;
    p->W = PP_ZEROS(arena, double, n *n + 3 * n);
    if (!u || !p->W) {
        return PERP_ERR_MEMORY;
    }
    p->q = p->W + n * n;
    p->mu = p->q + n;
    p->z = p->mu + n;
    for (int c = 0; c < p->nc; c++) {
        const pp_law *law = &laws->law[p->law[c]];
        p->mu[c] = has_cone(law) ? law->mu : 0.0;
        for (int k = 0; k < (has_cone(law) ? DIM : 1); k++) {
            pp_push push = column_of(law, k);
            memset(u, 0, rows * sizeof *u);
            for (int j = 0; j < push.count; j++) {
                pp_axpy(laws->rows, push.s[j], laws->A + (size_t)push.row[j] * rows, u);
            }
            answer(laws, p, u, r, work);
            put_block(laws, p, c, k, u);
        }
        size_t at = (size_t)(DIM * c);
        for (size_t k = 1; !has_cone(law) && k < DIM; k++) {
            p->W[at + k + (at + k) * n] = fabs(p->W[at + at * n]);
        }
    }
    memset(r, 0, rows * sizeof *r);
    for (int i = 0; i < laws->count; i++) {
        const pp_law *law = &laws->law[i];
        if (law->kind == PP_LAW_RUBBING && law->size > 0) {
            r[law->at] = -law->bound * law->d[0];
        }
    }
    pp_law_rates(laws, r, u);
    answer(laws, p, u, r, work);
    for (int c = 0; c < p->nc; c++) {
        const pp_law *law = &laws->law[p->law[c]];
        for (int k = 0; k < (has_cone(law) ? DIM : 1); k++) {
            p->q[DIM * c + k] = u[law->at + k];
        }
    }
    return PERP_OK;
}

// Forces of all rows from those of the contacts.
static perp_status forces(const pp_laws *laws, const posed *p, double *r, pp_arena *arena)
{
    size_t rows = (size_t)laws->rows;
    double *u = PP_ARRAY(arena, double, 2 * rows), *work = u + rows;
    if (!u) {
        return PERP_ERR_MEMORY;
    }
    memset(r, 0, rows * sizeof *r);
    for (int i = 0; i < laws->count; i++) {
        const pp_law *law = &laws->law[i];
        if (law->kind == PP_LAW_RUBBING && law->size > 0) {
            r[law->at] = -law->bound * law->d[0];
        }
    }
    for (int c = 0; c < p->nc; c++) {
        const pp_law *law = &laws->law[p->law[c]];
        for (int k = 0; k < (has_cone(law) ? DIM : 1); k++) {
            pp_push push = column_of(law, k);
            for (int j = 0; j < push.count; j++) {
                r[push.row[j]] += p->z[DIM * c + k] * push.s[j];
            }
        }
    }
    pp_law_rates(laws, r, u);
    answer(laws, p, u, r, work);
    return PERP_OK;
}

perp_status pp_law_cone(const pp_laws *laws, double *r, const perp_env *env, pp_arena *arena)
{
    posed p = {.law = PP_ARRAY(arena, int, laws->count)};
    perp_status status = p.law ? hold_equations(laws, &p, arena) : PERP_ERR_MEMORY;
    for (int i = 0; status >= 0 && i < laws->count; i++) {
        if (is_contact(&laws->law[i])) {
            p.law[p.nc++] = i;
        }
    }
    status = status < 0 ? status : fill(laws, &p, arena);
    if (status < 0) {
        return status;
    }
    int n = DIM * p.nc;
    perp_fcp fcp = {
        .nc = p.nc, .dim = DIM, .mu = p.mu, .W = perp_matrix_dense(n, n, p.W), .q = p.q};
    perp_comp_options options = perp_comp_default();
    options.tolerance = 1e-12;
    options.loose = 1e-7;
    status = perp_fcp_solve(NULL, &fcp, &options, env, p.z, NULL, NULL);
    if (status == PERP_ERR_MEMORY || !pp_all_finite((size_t)n, p.z)) {
        return status == PERP_ERR_MEMORY ? status : PERP_ERR_NUMERIC;
    }
    perp_status made = forces(laws, &p, r, arena);
    return made < 0 ? made : status;
}
