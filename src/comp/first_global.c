// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The global form, contact by contact: the rows of v that a contact touches, H there and T = M^-1 H.
//
// The pattern of M splits the velocities into bodies (connected components). Small bodies are inverted
// one by one, so that T costs no more than H; otherwise T comes from solves with the factored M, a full
// column each.
#include "comp/first.h"

#include <string.h>

enum { BODY_MAX = 12 };  // velocities of a body that is inverted by itself

typedef struct bodies {
    int *body;     // of each velocity
    int *p, *dof;  // velocities of each body: dof[p[b]..p[b+1])
    size_t *at;    // where the inverse of each body begins
    double *inverse;
    int count, largest;
} bodies;

static int root_of(int *parent, int i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

static bool bodies_find(const perp_matrix *M, pp_arena *arena, bodies *b)
{
    int nv = M->rows;
    int *parent = PP_ARRAY(arena, int, nv);
    b->body = PP_ARRAY(arena, int, nv);
    b->dof = PP_ARRAY(arena, int, nv);
    b->p = PP_ZEROS(arena, int, nv + 2);
    b->at = PP_ARRAY(arena, size_t, nv + 1);
    if (!parent || !b->body || !b->dof || !b->p || !b->at) {
        return false;
    }
    for (int i = 0; i < nv; i++) {
        parent[i] = i;
    }
    for (int j = 0; j < nv; j++) {
        for (int k = M->p[j]; k < M->p[j + 1]; k++) {
            int a = root_of(parent, M->i[k]), c = root_of(parent, j);
            parent[a > c ? a : c] = a > c ? c : a;  // the least velocity names the body
        }
    }
    for (int i = 0; i < nv; i++) {
        int root = root_of(parent, i);
        b->body[i] = root == i ? b->count++ : b->body[root];
        b->p[b->body[i] + 2]++;
    }
    size_t total = 0;
    for (int k = 0; k < b->count; k++) {
        int size = b->p[k + 2];
        b->largest = size > b->largest ? size : b->largest;
        b->at[k] = total;
        total += (size_t)size * (size_t)size;
        b->p[k + 2] += b->p[k + 1];
    }
    for (int i = 0; i < nv; i++) {
        b->dof[b->p[b->body[i] + 1]++] = i;
    }
    b->inverse = b->largest <= BODY_MAX ? PP_ZEROS(arena, double, total) : NULL;
    return b->largest > BODY_MAX || b->inverse;
}

static perp_status bodies_invert(const perp_matrix *M, bodies *b)
{
    for (int k = 0; k < b->count; k++) {
        int size = b->p[k + 1] - b->p[k];
        const int *dof = b->dof + b->p[k];
        double A[BODY_MAX * BODY_MAX], *X = b->inverse + b->at[k];
        for (int j = 0; j < size; j++) {
            for (int i = 0; i < size; i++) {
                A[i + j * size] = pp_matrix_at(M, dof[i], dof[j]);
            }
            X[j + j * size] = 1.0;
        }
        int pivot[BODY_MAX];
        if (pp_lu_factor(size, A, size, pivot, 0.0) != 0) {  // files hold slightly unsymmetric M
            return PERP_ERR_SINGULAR;
        }
        for (int j = 0; j < size; j++) {
            pp_lu_solve(size, A, size, pivot, X + j * size);
        }
    }
    return PERP_OK;
}

// ── Rows of a contact ────────────────────────────────────────────────────────────────────────────

typedef struct gather {
    pp_first *first;
    const bodies *b;
    perp_matrix H;
    int *mark;      // per velocity: last contact that listed it
    double *h, *t;  // nv dim: H_c and T_c scattered, component-major
} gather;

// Lists the rows of contact c from `to` on: whole bodies, or every velocity where M^-1 is full.
static int list_rows(gather *g, int c, int to, bool write)
{
    pp_first *f = g->first;
    int from = to;
    for (int j = c * f->dim; j < (c + 1) * f->dim; j++) {
        for (int k = g->H.p[j]; k < g->H.p[j + 1]; k++) {
            int body = g->b->inverse ? g->b->body[g->H.i[k]] : 0;
            int begin = g->b->inverse ? g->b->p[body] : 0;
            int end = g->b->inverse ? g->b->p[body + 1] : f->fcp->nv;
            if (g->mark[g->b->inverse ? g->b->dof[begin] : 0] == c) {
                continue;
            }
            for (int m = begin; m < end; m++) {
                int dof = g->b->inverse ? g->b->dof[m] : m;
                g->mark[dof] = c;
                if (write) {
                    f->row[to] = dof;
                }
                to++;
            }
        }
    }
    if (write) {
        f->p[c] = from;
        f->p[c + 1] = to;
    }
    return to;
}

// T_c = M^-1 H_c on the listed rows; h holds H_c.
static perp_status solve_columns(gather *g, int c)
{
    pp_first *f = g->first;
    int nv = f->fcp->nv;
    for (int j = 0; j < f->dim; j++) {
        const double *h = g->h + (size_t)j * (size_t)nv;
        double *t = g->t + (size_t)j * (size_t)nv;
        if (!g->b->inverse) {
            memcpy(t, h, (size_t)nv * sizeof *t);
            perp_status status = pp_mass_solve(f->mass, t);
            if (status < 0) {
                return status;
            }
            continue;
        }
        for (int k = f->p[c]; k < f->p[c + 1]; k++) {
            int body = g->b->body[f->row[k]], begin = g->b->p[body];
            int size = g->b->p[body + 1] - begin, local = 0;
            const double *X = g->b->inverse + g->b->at[body];
            while (g->b->dof[begin + local] != f->row[k]) {
                local++;
            }
            double sum = 0.0;
            for (int m = 0; m < size; m++) {
                sum += X[local + m * size] * h[g->b->dof[begin + m]];
            }
            t[f->row[k]] = sum;
        }
    }
    return PERP_OK;
}

static perp_status fill_contact(gather *g, int c)
{
    pp_first *f = g->first;
    int dim = f->dim, nv = f->fcp->nv;
    for (int j = 0; j < dim; j++) {
        for (int k = f->p[c]; k < f->p[c + 1]; k++) {
            g->h[(size_t)j * (size_t)nv + (size_t)f->row[k]] = 0.0;
        }
        for (int k = g->H.p[c * dim + j]; k < g->H.p[c * dim + j + 1]; k++) {
            g->h[(size_t)j * (size_t)nv + (size_t)g->H.i[k]] = g->H.x[k];
        }
    }
    perp_status status = solve_columns(g, c);
    double *W = f->Wcc + (size_t)c * (size_t)(dim * dim);
    for (int k = f->p[c]; status >= 0 && k < f->p[c + 1]; k++) {
        for (int j = 0; j < dim; j++) {
            size_t from = (size_t)j * (size_t)nv + (size_t)f->row[k];
            f->H[(size_t)k * (size_t)dim + (size_t)j] = g->h[from];
            f->T[(size_t)k * (size_t)dim + (size_t)j] = g->t[from];
        }
        for (int j = 0; j < dim; j++) {
            for (int i = 0; i < dim; i++) {
                W[i + j * dim] += f->H[(size_t)k * (size_t)dim + (size_t)i] *
                                  f->T[(size_t)k * (size_t)dim + (size_t)j];
            }
        }
    }
    for (int j = 0; j < dim; j++) {
        for (int k = f->p[c]; k < f->p[c + 1]; k++) {
            g->h[(size_t)j * (size_t)nv + (size_t)f->row[k]] = 0.0;
        }
    }
    return status;
}

static perp_status gather_contacts(gather *g)
{
    pp_first *f = g->first;
    int dim = f->dim, nv = f->fcp->nv, total = 0;
    memset(g->mark, 0xff, (size_t)nv * sizeof *g->mark);
    for (int c = 0; c < f->nc; c++) {
        int next = list_rows(g, c, total, false);
        if (next < total || next > INT32_MAX / (2 * dim)) {
            return PERP_ERR_MEMORY;
        }
        total = next;
    }
    f->p = PP_ZEROS(f->arena, int, f->nc + 1);
    f->row = PP_ARRAY(f->arena, int, total);
    f->H = PP_ARRAY(f->arena, double, (size_t)total *(size_t)dim);
    f->T = PP_ARRAY(f->arena, double, (size_t)total *(size_t)dim);
    if (!f->p || !f->row || !f->H || !f->T) {
        return PERP_ERR_MEMORY;
    }
    memset(g->mark, 0xff, (size_t)nv * sizeof *g->mark);
    total = 0;
    perp_status status = PERP_OK;
    for (int c = 0; status >= 0 && c < f->nc; c++) {
        total = list_rows(g, c, total, true);
        status = fill_contact(g, c);
    }
    return status;
}

// q = H' M^-1 f + w and the state at rest.
static perp_status free_motion(pp_first *f)
{
    const perp_fcp *fcp = f->fcp;
    f->rest = PP_ARRAY(f->arena, double, fcp->nv);
    if (!f->rest) {
        return PERP_ERR_MEMORY;
    }
    memcpy(f->rest, fcp->f, (size_t)fcp->nv * sizeof(double));
    perp_status status = pp_mass_solve(f->mass, f->rest);
    memcpy(f->q, fcp->w, (size_t)f->n * sizeof(double));
    pp_matrix_mul_t(&fcp->H, 1.0, f->rest, f->q);
    return status;
}

static void scale_columns(pp_first *f)
{
    int dim = f->dim;
    for (int c = 0; c < f->nc; c++) {
        for (int k = f->p[c]; k < f->p[c + 1]; k++) {
            for (int j = 0; j < dim; j++) {
                double length = f->length[(size_t)c * (size_t)dim + (size_t)j];
                f->H[(size_t)k * (size_t)dim + (size_t)j] *= length;
                f->T[(size_t)k * (size_t)dim + (size_t)j] *= length;
            }
        }
    }
}

// PERP_OK, a negative status, or PERP_INEXACT: condense instead.
perp_status pp_first_velocities(pp_first *f)
{
    const perp_fcp *fcp = f->fcp;
    pp_arena *arena = f->arena;
    perp_matrix M;
    bodies b = {0};
    gather g = {.first = f,
                .b = &b,
                .mark = PP_ARRAY(arena, int, fcp->nv),
                .h = PP_ZEROS(arena, double, (size_t)fcp->nv *(size_t)f->dim),
                .t = PP_ZEROS(arena, double, (size_t)fcp->nv *(size_t)f->dim)};
    perp_status status = pp_matrix_to_csc(&fcp->M, arena, &M);
    status = status < 0 ? status : pp_matrix_to_csc(&fcp->H, arena, &g.H);
    if (status < 0 || !g.mark || !g.h || !g.t || !bodies_find(&M, arena, &b)) {
        return status < 0 ? status : PERP_ERR_MEMORY;
    }
    if (!b.inverse && f->n < 2 * fcp->nv) {
        return PERP_INEXACT;
    }
    status = b.inverse ? bodies_invert(&M, &b) : PERP_OK;
    status = status < 0 ? status : gather_contacts(&g);
    status = status < 0 ? status : free_motion(f);
    status = status < 0 ? status : pp_first_scale(f);
    if (status >= 0 && f->length) {
        scale_columns(f);
    }
    f->size = fcp->nv;
    return status;
}
