// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The Newton system of contact in the space of velocities.                             theory (C35)
//
// With W = H^T M^-1 H the system (B + A W) x = b, A = rho P, B = I - P + rho alpha P block diagonal, is
//
//   (M + H D H^T) y = H B^-1 b,   x = B^-1 b - D H^T y,   D = B^-1 A,   y = M^-1 H x
//
// as large as there are velocities, however many contacts the bodies share. Where contacts stick D is
// 1/alpha, so that digits are lost as alpha falls: the caller refines with J itself.
#include "comp/ssn.h"

#include <string.h>

enum { TOUCH_MOST = 24 };  // velocities that a contact touches

struct pp_ssn_velocity {
    int nv, nc, dim;
    int *first;  // nc + 1: velocities of each contact, in dof
    int *dof;
    double *G;   // H S of each contact: its velocities x dim, column-major
    int *g_at;   // nc: start in G
    int *p, *i;  // pattern of M + H D H^T
    double *x;
    const perp_matrix *M;
    int *m_at;            // entries of M: place in x
    int *k_at;            // nc: start in place
    int *place;           // touch x touch places in x of each contact
    double *D, *inverse;  // dim x dim a contact: D and B^-1
    double *y;            // nv
    pp_sparse_lu *lu;
};

static int insert_sorted(int *list, int count, int value)
{
    int at = count;
    for (int k = 0; k < count; k++) {
        if (list[k] == value) {
            return count;
        }
    }
    for (; at > 0 && list[at - 1] > value; at--) {
        list[at] = list[at - 1];
    }
    list[at] = value;
    return count + 1;
}

// Velocities that contact c touches, ascending; -1: too many.
static int touches(const perp_matrix *H, int dim, int c, int list[TOUCH_MOST])
{
    int count = 0;
    for (int k = H->p[c * dim]; k < H->p[(c + 1) * dim]; k++) {
        if (count == TOUCH_MOST) {
            return -1;
        }
        count = insert_sorted(list, count, H->i[k]);
    }
    return count;
}

static bool list_contacts(pp_ssn_velocity *v, const perp_matrix *H, pp_arena *arena, bool *fits)
{
    int list[TOUCH_MOST];
    size_t total = 0, squares = 0;
    v->first = PP_ZEROS(arena, int, v->nc + 1);
    v->g_at = PP_ARRAY(arena, int, v->nc);
    v->k_at = PP_ARRAY(arena, int, v->nc);
    if (!v->first || !v->g_at || !v->k_at) {
        return false;
    }
    for (int c = 0; c < v->nc; c++) {
        int count = touches(H, v->dim, c, list);
        *fits = *fits && count >= 0;
        count = count < 0 ? 0 : count;
        v->first[c + 1] = v->first[c] + count;
        v->g_at[c] = (int)total * v->dim;
        v->k_at[c] = (int)squares;
        total += (size_t)count;
        squares += (size_t)count * (size_t)count;
    }
    v->dof = PP_ARRAY(arena, int, total);
    v->G = PP_ZEROS(arena, double, total *(size_t)v->dim);
    v->place = PP_ARRAY(arena, int, squares);
    return v->dof && v->G && v->place;
}

static void fill_contacts(pp_ssn_velocity *v, const perp_matrix *H, const double *S)
{
    for (int c = 0; c < v->nc; c++) {
        int *list = v->dof + v->first[c], count = v->first[c + 1] - v->first[c], used = 0;
        for (int k = H->p[c * v->dim]; k < H->p[(c + 1) * v->dim]; k++) {
            used = insert_sorted(list, used, H->i[k]);
        }
        for (int a = 0; a < v->dim; a++) {
            double *column = v->G + v->g_at[c] + (size_t)a * (size_t)count;
            int j = c * v->dim + a, at = 0;
            for (int k = H->p[j]; k < H->p[j + 1]; k++) {
                while (list[at] != H->i[k]) {
                    at++;
                }
                column[at] = H->x[k] * S[j];
            }
        }
    }
}

// ── Pattern ──────────────────────────────────────────────────────────────────────────────────────

// Contacts that touch each velocity.
typedef struct users {
    int *first, *contact;
} users;

static bool list_users(const pp_ssn_velocity *v, pp_arena *arena, users *out)
{
    int total = v->first[v->nc], *next = PP_ARRAY(arena, int, v->nv + 1);
    out->first = PP_ZEROS(arena, int, v->nv + 1);
    out->contact = PP_ARRAY(arena, int, total);
    if (!next || !out->first || !out->contact) {
        return false;
    }
    for (int k = 0; k < total; k++) {
        out->first[v->dof[k] + 1]++;
    }
    for (int d = 0; d < v->nv; d++) {
        out->first[d + 1] += out->first[d];
    }
    memcpy(next, out->first, ((size_t)v->nv + 1) * sizeof *next);
    for (int c = 0; c < v->nc; c++) {
        for (int k = v->first[c]; k < v->first[c + 1]; k++) {
            out->contact[next[v->dof[k]]++] = c;
        }
    }
    return true;
}

// Rows of column d, each once, marked with d + 1; written to list when it is not NULL.
static int column_rows(const pp_ssn_velocity *v, const users *u, int d, int *mark, int *list)
{
    int count = 0;
    for (int k = v->M->p[d]; k < v->M->p[d + 1]; k++) {
        if (mark[v->M->i[k]] != d + 1) {
            mark[v->M->i[k]] = d + 1;
            if (list) {
                list[count] = v->M->i[k];
            }
            count++;
        }
    }
    for (int e = u->first[d]; e < u->first[d + 1]; e++) {
        int c = u->contact[e];
        for (int k = v->first[c]; k < v->first[c + 1]; k++) {
            if (mark[v->dof[k]] != d + 1) {
                mark[v->dof[k]] = d + 1;
                if (list) {
                    list[count] = v->dof[k];
                }
                count++;
            }
        }
    }
    return count;
}

static void sort(int *list, int count)
{
    for (int k = 1; k < count; k++) {
        int value = list[k], at = k;
        for (; at > 0 && list[at - 1] > value; at--) {
            list[at] = list[at - 1];
        }
        list[at] = value;
    }
}

static int find(const pp_ssn_velocity *v, int row, int column)
{
    int low = v->p[column], high = v->p[column + 1];
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (v->i[middle] < row) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

static bool build_pattern(pp_ssn_velocity *v, pp_arena *arena)
{
    users u;
    int *mark = PP_ZEROS(arena, int, v->nv);
    v->p = PP_ARRAY(arena, int, v->nv + 1);
    v->m_at = PP_ARRAY(arena, int, v->M->p[v->nv]);
    if (!mark || !v->p || !v->m_at || !list_users(v, arena, &u)) {
        return false;
    }
    v->p[0] = 0;
    for (int d = 0; d < v->nv; d++) {
        v->p[d + 1] = v->p[d] + column_rows(v, &u, d, mark, NULL);
    }
    v->i = PP_ARRAY(arena, int, v->p[v->nv]);
    v->x = PP_ARRAY(arena, double, v->p[v->nv]);
    if (!v->i || !v->x) {
        return false;
    }
    memset(mark, 0, (size_t)v->nv * sizeof *mark);
    for (int d = 0; d < v->nv; d++) {
        int count = column_rows(v, &u, d, mark, v->i + v->p[d]);
        sort(v->i + v->p[d], count);
        for (int k = v->M->p[d]; k < v->M->p[d + 1]; k++) {
            v->m_at[k] = find(v, v->M->i[k], d);
        }
    }
    for (int c = 0; c < v->nc; c++) {
        int count = v->first[c + 1] - v->first[c];
        const int *dof = v->dof + v->first[c];
        for (int b = 0; b < count; b++) {
            for (int a = 0; a < count; a++) {
                v->place[v->k_at[c] + a + b * count] = find(v, dof[a], dof[b]);
            }
        }
    }
    return true;
}

perp_status pp_ssn_velocity_create(const perp_matrix *M, const perp_matrix *H, const double *S,
                                   int dim, pp_arena *arena, pp_ssn_velocity **out)
{
    pp_ssn_velocity *v = PP_ZEROS(arena, pp_ssn_velocity, 1);
    *out = NULL;
    if (!v) {
        return PERP_ERR_MEMORY;
    }
    *v = (pp_ssn_velocity){.nv = M->rows, .nc = H->cols / dim, .dim = dim, .M = M};
    size_t blocks = (size_t)v->nc * (size_t)(dim * dim);
    bool fits = true;
    v->D = PP_ARRAY(arena, double, blocks);
    v->inverse = PP_ARRAY(arena, double, blocks);
    v->y = PP_ARRAY(arena, double, v->nv);
    if (!v->D || !v->inverse || !v->y || !list_contacts(v, H, arena, &fits)) {
        return PERP_ERR_MEMORY;
    }
    if (!fits) {
        return PERP_OK;  // *out stays NULL: contacts that touch too many velocities
    }
    fill_contacts(v, H, S);
    if (!build_pattern(v, arena)) {
        return PERP_ERR_MEMORY;
    }
    v->lu = pp_sparse_lu_create(v->nv, v->p, v->i);
    *out = v->lu ? v : NULL;
    return v->lu ? PERP_OK : PERP_ERR_MEMORY;
}

void pp_ssn_velocity_destroy(pp_ssn_velocity *velocity)
{
    if (velocity) {
        pp_sparse_lu_destroy(velocity->lu);
        velocity->lu = NULL;
    }
}

// ── Factorisation and solution ───────────────────────────────────────────────────────────────────

// B^-1 and D = B^-1 rho P of one contact.
static bool invert_contact(const pp_ssn_velocity *v, int c, double alpha, double rho,
                           const double *P)
{
    int d = v->dim, pivot[PP_SSN_DIM_MAX];
    double B[PP_SSN_DIM_MAX * PP_SSN_DIM_MAX];
    double *inverse = v->inverse + (size_t)c * (size_t)(d * d),
           *D = v->D + (size_t)c * (size_t)(d * d);
    for (int k = 0; k < d * d; k++) {
        double identity = k % (d + 1) == 0 ? 1.0 : 0.0;
        B[k] = identity - (1.0 - rho * alpha) * P[k];
        inverse[k] = identity;
        D[k] = rho * P[k];
    }
    if (pp_lu_factor(d, B, d, pivot, 0.0) != 0) {
        return false;
    }
    for (int b = 0; b < d; b++) {
        pp_lu_solve(d, B, d, pivot, inverse + b * d);
        pp_lu_solve(d, B, d, pivot, D + b * d);
    }
    return true;
}

// x += G D G^T of one contact.
static void add_contact(pp_ssn_velocity *v, int c)
{
    int d = v->dim, count = v->first[c + 1] - v->first[c];
    const double *G = v->G + v->g_at[c], *D = v->D + (size_t)c * (size_t)(d * d);
    const int *place = v->place + v->k_at[c];
    for (int b = 0; b < count; b++) {
        double t[PP_SSN_DIM_MAX];  // D G^T e_b
        for (int k = 0; k < d; k++) {
            t[k] = 0.0;
            for (int l = 0; l < d; l++) {
                t[k] += D[k + l * d] * G[b + l * count];
            }
        }
        for (int a = 0; a < count; a++) {
            double sum = 0.0;
            for (int k = 0; k < d; k++) {
                sum += G[a + k * count] * t[k];
            }
            v->x[place[a + b * count]] += sum;
        }
    }
}

perp_status pp_ssn_velocity_factor(pp_ssn_velocity *v, double alpha, double rho, const double *P)
{
    int dd = v->dim * v->dim;
    memset(v->x, 0, (size_t)v->p[v->nv] * sizeof *v->x);
    for (int k = 0; k < v->M->p[v->nv]; k++) {
        v->x[v->m_at[k]] = v->M->x[k];
    }
    for (int c = 0; c < v->nc; c++) {
        if (!invert_contact(v, c, alpha, rho, P + (size_t)c * (size_t)dd)) {
            return PERP_ERR_SINGULAR;
        }
        add_contact(v, c);
    }
    return pp_sparse_lu_factor(v->lu, v->x);
}

// out = X b for a dim x dim block
static void times(int d, const double *X, const double *b, double *out)
{
    for (int k = 0; k < d; k++) {
        out[k] = 0.0;
        for (int l = 0; l < d; l++) {
            out[k] += X[k + l * d] * b[l];
        }
    }
}

perp_status pp_ssn_velocity_solve(const pp_ssn_velocity *v, double *x)
{
    int d = v->dim, dd = d * d;
    memset(v->y, 0, (size_t)v->nv * sizeof *v->y);
    for (int c = 0; c < v->nc; c++) {  // x = B^-1 b,  y = H x
        double g[PP_SSN_DIM_MAX];
        int count = v->first[c + 1] - v->first[c];
        const double *G = v->G + v->g_at[c];
        times(d, v->inverse + (size_t)c * (size_t)dd, x + c * d, g);
        memcpy(x + c * d, g, (size_t)d * sizeof *g);
        for (int k = 0; k < d; k++) {
            for (int a = 0; a < count; a++) {
                v->y[v->dof[v->first[c] + a]] += G[a + k * count] * g[k];
            }
        }
    }
    perp_status status = pp_sparse_lu_solve(v->lu, v->y);
    for (int c = 0; c < v->nc; c++) {  // x -= D H^T y
        double u[PP_SSN_DIM_MAX], step[PP_SSN_DIM_MAX];
        int count = v->first[c + 1] - v->first[c];
        const double *G = v->G + v->g_at[c];
        for (int k = 0; k < d; k++) {
            u[k] = 0.0;
            for (int a = 0; a < count; a++) {
                u[k] += G[a + k * count] * v->y[v->dof[v->first[c] + a]];
            }
        }
        times(d, v->D + (size_t)c * (size_t)dd, u, step);
        for (int k = 0; k < d; k++) {
            x[c * d + k] -= step[k];
        }
    }
    return status;
}
