// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The problem, contact by contact: local form, scaling, residuals.
#include "comp/first.h"

#include <math.h>
#include <string.h>

static double *block_at(const pp_first *first, double *blocks, int k)
{
    return blocks + (size_t)k * (size_t)(first->dim * first->dim);
}

// ── Building ─────────────────────────────────────────────────────────────────────────────────────

// Counts the blocks of W, or fills them when `fill`; `last` (nc) remembers the column a block row was
// last met in, `where` its block.
static int walk_blocks(pp_first *first, const perp_matrix *W, int *last, int *where, bool fill)
{
    int dim = first->dim, count = 0;
    memset(last, 0xff, (size_t)first->nc * sizeof *last);
    for (int j = 0; j < W->cols; j++) {
        int c = j / dim;
        first->p[c] = j % dim ? first->p[c] : count;
        for (int k = W->p[j]; k < W->p[j + 1]; k++) {
            int block_row = W->i[k] / dim;
            if (last[block_row] != c) {
                last[block_row] = c;
                where[block_row] = count;
                if (fill) {
                    first->row[count] = block_row;
                    memset(block_at(first, first->H, count), 0,
                           (size_t)(dim * dim) * sizeof(double));
                }
                count++;
            }
            if (fill) {
                block_at(first, first->H, where[block_row])[W->i[k] % dim + (j % dim) * dim] =
                    W->x[k];
            }
        }
    }
    first->p[first->nc] = count;
    return count;
}

perp_status pp_first_blocks(pp_first *first, const perp_matrix *W)
{
    perp_matrix csc;
    perp_status status = pp_matrix_to_csc(W, first->arena, &csc);
    int nc = first->nc, dim = first->dim;
    int *last = PP_ARRAY(first->arena, int, nc), *where = PP_ARRAY(first->arena, int, nc);
    first->p = PP_ARRAY(first->arena, int, nc + 1);
    if (status < 0 || !last || !where || !first->p) {
        return status < 0 ? status : PERP_ERR_MEMORY;
    }
    int count = walk_blocks(first, &csc, last, where, false);
    first->row = PP_ARRAY(first->arena, int, count);
    first->H = PP_ARRAY(first->arena, double, (size_t)count *(size_t)(dim * dim));
    if (!first->row || !first->H) {
        return PERP_ERR_MEMORY;
    }
    walk_blocks(first, &csc, last, where, true);
    for (int c = 0; c < nc; c++) {
        for (int k = first->p[c]; k < first->p[c + 1]; k++) {
            if (first->row[k] == c) {
                memcpy(block_at(first, first->Wcc, c), block_at(first, first->H, k),
                       (size_t)(dim * dim) * sizeof(double));
            }
        }
    }
    return PERP_OK;
}

static double block_mean(const double *W, int dim, int from, int size)
{
    double trace = 0.0;
    for (int i = from; i < from + size; i++) {
        trace += W[i + i * dim];
    }
    return trace / size;
}

// The lengths of contact c, 1 for forces.
static void contact_lengths(pp_first *first, int c, double mass, double *length)
{
    const double *W = block_at(first, first->Wcc, c);
    for (int i = 0; i < first->dim; i++) {
        length[i] = 1.0;
    }
    for (int g = 1; g < first->law[c].groups; g++) {
        pp_disc *disc = &first->law[c].disc[g];
        double moment = block_mean(W, first->dim, disc->first, disc->size);
        double l = mass > 0.0 && moment > 0.0 ? sqrt(mass / moment) : 1.0;
        disc->mu /= l;
        for (int i = disc->first; i < disc->first + disc->size; i++) {
            length[i] = l;
        }
    }
}

perp_status pp_first_scale(pp_first *first)
{
    int dim = first->dim, nc = first->nc;
    first->rho = PP_ARRAY(first->arena, double, nc);
    perp_status status = pp_laws_create(first->fcp, first->arena, &first->law);
    first->plain = first->law;
    if (status < 0 || !first->rho) {
        return status < 0 ? status : PERP_ERR_MEMORY;
    }
    if (dim > 3) {
        first->length = PP_ARRAY(first->arena, double, first->n);
        status = pp_laws_create(first->fcp, first->arena, &first->plain);
        if (status < 0 || !first->length) {
            return status < 0 ? status : PERP_ERR_MEMORY;
        }
    }
    double q2 = 0.0, rhoq2 = 0.0;
    for (int c = 0; c < nc; c++) {
        double *W = block_at(first, first->Wcc, c), mean = block_mean(W, dim, 0, dim < 3 ? dim : 3);
        double *length = first->length ? first->length + (size_t)c * (size_t)dim : NULL;
        first->rho[c] = mean > 0.0 ? 1.0 / mean : 1.0;
        if (length) {
            contact_lengths(first, c, mean, length);
        }
        for (int j = 0; j < dim; j++) {
            double *q = first->q + (size_t)c * (size_t)dim + j;
            q2 += *q * *q;
            *q *= length ? length[j] : 1.0;
            rhoq2 += first->rho[c] * *q * first->rho[c] * *q;
            for (int i = 0; length && i < dim; i++) {
                W[i + j * dim] *= length[i] * length[j];
            }
        }
    }
    first->norm_q = q2 > 0.0 ? sqrt(q2) : 1.0;
    first->norm_rhoq = sqrt(rhoq2);
    return PERP_OK;
}

static void scale_blocks(pp_first *first)
{
    int dim = first->dim;
    for (int c = 0; c < first->nc; c++) {
        const double *right = first->length + (size_t)c * (size_t)dim;
        for (int k = first->p[c]; k < first->p[c + 1]; k++) {
            const double *left = first->length + (size_t)first->row[k] * (size_t)dim;
            double *W = block_at(first, first->H, k);
            for (int j = 0; j < dim; j++) {
                for (int i = 0; i < dim; i++) {
                    W[i + j * dim] *= left[i] * right[j];
                }
            }
        }
    }
}

static perp_status create_local(const perp_fcp *local, pp_first *first)
{
    first->local = true;
    first->size = first->n;
    memcpy(first->q, local->q, (size_t)first->n * sizeof(double));
    perp_status status = pp_first_blocks(first, &local->W);
    if (status >= 0) {
        status = pp_first_scale(first);
    }
    if (status >= 0 && first->length) {
        scale_blocks(first);
    }
    first->rest = first->q;
    return status;
}

// Whether velocities and T are the smaller form: M^-1 local to bodies, or more contacts than velocities.
static perp_status create_global(pp_first *first)
{
    const perp_fcp *fcp = first->fcp;
    perp_status status = pp_mass_create(&fcp->M, first->arena, &first->mass);
    if (status >= 0) {
        status = pp_first_velocities(first);
    }
    if (status == PERP_OK) {
        return status;
    }
    perp_fcp local;
    status = status < 0 ? status : pp_fcp_condense(fcp, first->mass, first->arena, &local);
    return status < 0 ? status : create_local(&local, first);
}

perp_status pp_first_create(const perp_fcp *fcp, pp_arena *arena, pp_first *first)
{
    int nc = fcp->nc, dim = fcp->dim;
    *first = (pp_first){.fcp = fcp, .arena = arena, .nc = nc, .dim = dim, .n = nc * dim};
    first->q = PP_ARRAY(arena, double, first->n);
    first->Wcc = PP_ZEROS(arena, double, (size_t)nc *(size_t)(dim * dim));
    if (!first->q || !first->Wcc) {
        return PERP_ERR_MEMORY;
    }
    perp_status status = fcp->nv > 0 ? create_global(first) : create_local(fcp, first);
    if (status < 0) {
        pp_first_destroy(first);
    }
    return status;
}

void pp_first_destroy(pp_first *first)
{
    pp_mass_destroy(first->mass);
    first->mass = NULL;
}

void pp_first_import(const pp_first *first, const double *r, double *scaled)
{
    for (int i = 0; i < first->n; i++) {
        scaled[i] = first->length ? r[i] / first->length[i] : r[i];
    }
}

perp_status pp_first_export(const pp_first *first, const double *scaled, double *r, double *v)
{
    for (int i = 0; i < first->n; i++) {
        r[i] = first->length ? scaled[i] * first->length[i] : scaled[i];
    }
    return first->mass && v ? pp_fcp_velocity(first->fcp, first->mass, r, v) : PERP_OK;
}

// ── Products ─────────────────────────────────────────────────────────────────────────────────────

static void push_local2(const pp_first *f, int c, const double *dr, double *u)
{
    const double a = dr[0], b = dr[1];
    for (int k = f->p[c]; k < f->p[c + 1]; k++) {
        const double *W = f->H + 4 * (size_t)k;
        double *y = u + 2 * (size_t)f->row[k];
        y[0] += W[0] * a + W[2] * b;
        y[1] += W[1] * a + W[3] * b;
    }
}

static void push_local3(const pp_first *f, int c, const double *dr, double *u)
{
    const double a = dr[0], b = dr[1], d = dr[2];
    for (int k = f->p[c]; k < f->p[c + 1]; k++) {
        const double *W = f->H + 9 * (size_t)k;
        double *y = u + 3 * (size_t)f->row[k];
        y[0] += W[0] * a + W[3] * b + W[6] * d;
        y[1] += W[1] * a + W[4] * b + W[7] * d;
        y[2] += W[2] * a + W[5] * b + W[8] * d;
    }
}

// Each contact solved by a closed form, and its rows.
double pp_first_cost(const pp_first *first)
{
    double one = first->dim == 2 ? 100.0 : 600.0, entries = first->p[first->nc];
    return one * first->nc + 4.0 * first->dim * (first->local ? first->dim : 1) * entries;
}

void pp_first_push(const pp_first *first, int c, const double *dr, double *state)
{
    int dim = first->dim;
    if (first->local && dim == 3) {
        push_local3(first, c, dr, state);
        return;
    }
    if (first->local && dim == 2) {
        push_local2(first, c, dr, state);
        return;
    }
    for (int k = first->p[c]; k < first->p[c + 1]; k++) {
        if (!first->local) {
            const double *T = first->T + (size_t)k * (size_t)dim;
            double sum = 0.0;
            for (int j = 0; j < dim; j++) {
                sum += T[j] * dr[j];
            }
            state[first->row[k]] += sum;
            continue;
        }
        const double *W = first->H + (size_t)k * (size_t)(dim * dim);
        double *y = state + (size_t)first->row[k] * (size_t)dim;
        for (int j = 0; j < dim; j++) {
            for (int i = 0; i < dim; i++) {
                y[i] += W[i + j * dim] * dr[j];
            }
        }
    }
}

void pp_first_at(const pp_first *first, const double *state, int c, double *u)
{
    int dim = first->dim;
    if (first->local) {
        memcpy(u, state + (size_t)c * (size_t)dim, (size_t)dim * sizeof *u);
        return;
    }
    const double *w = first->fcp->w + (size_t)c * (size_t)dim;
    for (int j = 0; j < dim; j++) {
        u[j] = first->length ? w[j] * first->length[(size_t)c * (size_t)dim + (size_t)j] : w[j];
    }
    for (int k = first->p[c]; k < first->p[c + 1]; k++) {
        const double *H = first->H + (size_t)k * (size_t)dim;
        double v = state[first->row[k]];
        for (int j = 0; j < dim; j++) {
            u[j] += H[j] * v;
        }
    }
}

void pp_first_state(const pp_first *first, const double *r, double *state)
{
    memcpy(state, first->rest, (size_t)first->size * sizeof *state);
    for (int c = 0; c < first->nc; c++) {
        const double *rc = r + (size_t)c * (size_t)first->dim;
        if (rc[0] != 0.0) {
            pp_first_push(first, c, rc, state);
        }
    }
}

double *pp_first_weights(const pp_first *first)
{
    double *weight = PP_ARRAY(first->arena, double, first->n);
    for (int i = 0; weight && i < first->n; i++) {
        weight[i] = 1.0 / sqrt(first->rho[i / first->dim]);
    }
    return weight;
}

// ── Residuals ────────────────────────────────────────────────────────────────────────────────────

static double sum_squares(int n, const double *x)
{
    double s = 0.0;
    for (int i = 0; i < n; i++) {
        s += x[i] * x[i];
    }
    return s;
}

pp_gauge pp_first_gauge(const pp_first *first, const double *r, const double *state)
{
    int dim = first->dim;
    double plain = 0.0, scaled = 0.0, u[PP_DIM_MAX], e[PP_DIM_MAX];
    for (int c = 0; c < first->nc; c++) {
        const double *rc = r + (size_t)c * (size_t)dim;
        pp_first_at(first, state, c, u);
        if (u[0] >= 0.0 && rc[0] == 0.0) {
            continue;  // open: both maps vanish
        }
        pp_law_measure(&first->law[c], first->rho[c], rc, u, e);
        scaled += sum_squares(dim, e);
        double rp[PP_DIM_MAX], up[PP_DIM_MAX];
        const double *length = first->length ? first->length + (size_t)c * (size_t)dim : NULL;
        for (int i = 0; i < dim; i++) {
            rp[i] = length ? rc[i] * length[i] : rc[i];
            up[i] = length ? u[i] / length[i] : u[i];
        }
        pp_law_natural(&first->plain[c], 1.0, rp, up, e);
        plain += sum_squares(dim, e);
    }
    double size = fmax(sqrt(sum_squares(first->n, r)), first->norm_rhoq);
    return (pp_gauge){sqrt(plain) / first->norm_q, sqrt(scaled) / (size > 0.0 ? size : 1.0)};
}
