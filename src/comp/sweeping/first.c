// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The contact problem for first-order solvers: blocks of W in the local form, scaling, the state
// and its updates, residuals. The global form is built in first_global.c. Cost of an update: the
// rows that one contact couples.
#include "comp/sweeping/first.h"

#include <math.h>
#include <string.h>

// Block k of an array of dim x dim blocks.
static double *block_at(const pp_contact_blocks *blocks, double *x, int k)
{
    return x + (size_t)k * (size_t)(blocks->dim * blocks->dim);
}

// ── Building ─────────────────────────────────────────────────────────────────────────────────────

// Counts the blocks of W by block columns, or fills them where `fill`. last (nc): the block column in
// which a block row was met last, -1 before; where (nc): its block there.
static int scan_blocks(pp_contact_blocks *blocks, const perp_matrix *W, int *last, int *where,
                       bool fill)
{
    int dim = blocks->dim, count = 0;
    memset(last, 0xff, (size_t)blocks->nc * sizeof *last);
    for (int j = 0; j < W->cols; j++) {
        int c = j / dim;
        blocks->p[c] = j % dim ? blocks->p[c] : count;
        for (int k = W->p[j]; k < W->p[j + 1]; k++) {
            int block_row = W->i[k] / dim;
            // the first entry of a block that the column meets
            if (last[block_row] != c) {
                last[block_row] = c;
                where[block_row] = count;
                if (fill) {
                    blocks->row[count] = block_row;
                    memset(block_at(blocks, blocks->H, count), 0,
                           (size_t)(dim * dim) * sizeof(double));
                }
                count++;
            }
            if (fill) {
                block_at(blocks, blocks->H, where[block_row])[W->i[k] % dim + (j % dim) * dim] =
                    W->x[k];
            }
        }
    }
    blocks->p[blocks->nc] = count;
    return count;
}

perp_status pp_contact_blocks_fill(pp_contact_blocks *blocks, const perp_matrix *W)
{
    perp_matrix csc;
    perp_status status = pp_matrix_to_csc(W, blocks->arena, &csc);
    if (status < 0) {
        return status;
    }
    int nc = blocks->nc, dim = blocks->dim;
    int *last = PP_ARRAY(blocks->arena, int, nc), *where = PP_ARRAY(blocks->arena, int, nc);
    blocks->p = PP_ARRAY(blocks->arena, int, nc + 1);
    if (!last || !where || !blocks->p) {
        return PERP_ERR_MEMORY;
    }
    // two scans of W: count, then fill
    int count = scan_blocks(blocks, &csc, last, where, false);
    blocks->row = PP_ARRAY(blocks->arena, int, count);
    blocks->H = PP_ARRAY(blocks->arena, double, (size_t)count *(size_t)(dim * dim));
    if (!blocks->row || !blocks->H) {
        return PERP_ERR_MEMORY;
    }
    scan_blocks(blocks, &csc, last, where, true);
    for (int c = 0; c < nc; c++) {
        for (int k = blocks->p[c]; k < blocks->p[c + 1]; k++) {
            if (blocks->row[k] == c) {
                memcpy(block_at(blocks, blocks->Wcc, c), block_at(blocks, blocks->H, k),
                       (size_t)(dim * dim) * sizeof(double));
            }
        }
    }
    return PERP_OK;
}

// Mean of `size` diagonal entries of a block, from `from` on.
static double mean_mobility(const double *W, int dim, int from, int size)
{
    double trace = 0.0;
    for (int i = from; i < from + size; i++) {
        trace += W[i + i * dim];
    }
    return trace / size;
}

// The lengths of contact c by theory (C16): 1 for impulses, l_g [m] for moments, whose coefficients mu are
// divided by it. linear: mean diagonal of the sliding block [1/kg].
static void contact_lengths(pp_contact_blocks *blocks, int c, double linear, double *length)
{
    const double *W = block_at(blocks, blocks->Wcc, c);
    for (int i = 0; i < blocks->dim; i++) {
        length[i] = 1.0;
    }
    for (int g = 1; g < blocks->law[c].groups; g++) {
        pp_disc *disc = &blocks->law[c].disc[g];
        // [1 / (kg m^2)], so that the ratio of both is a squared length
        double moment = mean_mobility(W, blocks->dim, disc->first, disc->size);
        double l = linear > 0.0 && moment > 0.0 ? sqrt(linear / moment) : 1.0;
        disc->mu /= l;
        for (int i = disc->first; i < disc->first + disc->size; i++) {
            length[i] = l;
        }
    }
}

perp_status pp_contact_blocks_scale(pp_contact_blocks *blocks)
{
    int dim = blocks->dim, nc = blocks->nc;
    blocks->rho = PP_ARRAY(blocks->arena, double, nc);
    perp_status status = pp_cone_laws_create(blocks->fcp, blocks->arena, &blocks->law);
    blocks->plain = blocks->law;
    if (status < 0) {
        return status;
    }
    if (!blocks->rho) {
        return PERP_ERR_MEMORY;
    }
    if (dim > 3) {  // moments: lengths, and laws with the caller's mu for the plain residual
        blocks->length = PP_ARRAY(blocks->arena, double, blocks->n);
        status = pp_cone_laws_create(blocks->fcp, blocks->arena, &blocks->plain);
        if (status < 0) {
            return status;
        }
        if (!blocks->length) {
            return PERP_ERR_MEMORY;
        }
    }
    double q2 = 0.0, rhoq2 = 0.0;
    for (int c = 0; c < nc; c++) {
        double *W = block_at(blocks, blocks->Wcc, c),
               mean = mean_mobility(W, dim, 0, dim < 3 ? dim : 3);
        double *length = blocks->length ? blocks->length + (size_t)c * (size_t)dim : NULL;
        blocks->rho[c] = mean > 0.0 ? 1.0 / mean : 1.0;
        if (length) {
            contact_lengths(blocks, c, mean, length);
        }
        for (int j = 0; j < dim; j++) {
            double *q = blocks->q + (size_t)c * (size_t)dim + j;
            q2 += *q * *q;
            *q *= length ? length[j] : 1.0;
            rhoq2 += blocks->rho[c] * *q * blocks->rho[c] * *q;
            if (!length) {
                continue;
            }
            for (int i = 0; i < dim; i++) {
                W[i + j * dim] *= length[i] * length[j];
            }
        }
    }
    blocks->norm_q = q2 > 0.0 ? sqrt(q2) : 1.0;
    blocks->norm_rhoq = sqrt(rhoq2);
    return PERP_OK;
}

// W' = L W L with the lengths L of all components.
static void scale_blocks(pp_contact_blocks *blocks)
{
    int dim = blocks->dim;
    for (int c = 0; c < blocks->nc; c++) {
        const double *right = blocks->length + (size_t)c * (size_t)dim;
        for (int k = blocks->p[c]; k < blocks->p[c + 1]; k++) {
            const double *left = blocks->length + (size_t)blocks->row[k] * (size_t)dim;
            double *W = block_at(blocks, blocks->H, k);
            for (int j = 0; j < dim; j++) {
                for (int i = 0; i < dim; i++) {
                    W[i + j * dim] *= left[i] * right[j];
                }
            }
        }
    }
}

// The local form: the state is u, which at r = 0 is q.
static perp_status create_local(const perp_fcp *local, pp_contact_blocks *blocks)
{
    blocks->local = true;
    blocks->size = blocks->n;
    memcpy(blocks->q, local->q, (size_t)blocks->n * sizeof(double));
    perp_status status = pp_contact_blocks_fill(blocks, &local->W);
    if (status >= 0) {
        status = pp_contact_blocks_scale(blocks);
    }
    if (status >= 0 && blocks->length) {
        scale_blocks(blocks);
    }
    // after scaling: q is q' now
    blocks->state_at_zero = blocks->q;
    return status;
}

// The global form in velocities where M^-1 is local to bodies or velocities are few; otherwise condensed.
static perp_status create_global(pp_contact_blocks *blocks)
{
    const perp_fcp *fcp = blocks->fcp;
    perp_status status = pp_mass_create(&fcp->M, blocks->arena, &blocks->mass);
    if (status >= 0) {
        status = pp_contact_blocks_velocities(blocks);
    }
    if (status <= PERP_OK) {
        return status;
    }
    perp_fcp local;  // PERP_INEXACT: W is the smaller form
    status = pp_fcp_condense(fcp, blocks->mass, blocks->arena, &local);
    if (status < 0) {
        return status;
    }
    return create_local(&local, blocks);
}

// Arrays are in the arena; only the factors of a sparse M have to be destroyed.
perp_status pp_contact_blocks_create(const perp_fcp *fcp, pp_arena *arena,
                                     pp_contact_blocks *blocks)
{
    int nc = fcp->nc, dim = fcp->dim;
    *blocks = (pp_contact_blocks){.fcp = fcp, .arena = arena, .nc = nc, .dim = dim, .n = nc * dim};
    blocks->q = PP_ARRAY(arena, double, blocks->n);
    blocks->Wcc = PP_ZEROS(arena, double, (size_t)nc *(size_t)(dim * dim));
    if (!blocks->q || !blocks->Wcc) {
        return PERP_ERR_MEMORY;
    }
    perp_status status = fcp->nv > 0 ? create_global(blocks) : create_local(fcp, blocks);
    if (status < 0) {
        pp_contact_blocks_destroy(blocks);
    }
    return status;
}

void pp_contact_blocks_destroy(pp_contact_blocks *blocks)
{
    pp_mass_destroy(blocks->mass);
    blocks->mass = NULL;
}

void pp_contact_blocks_import(const pp_contact_blocks *blocks, const double *r, double *scaled)
{
    for (int i = 0; i < blocks->n; i++) {
        scaled[i] = blocks->length ? r[i] / blocks->length[i] : r[i];
    }
}

perp_status pp_contact_blocks_export(const pp_contact_blocks *blocks, const double *scaled,
                                     double *r, double *v)
{
    for (int i = 0; i < blocks->n; i++) {
        r[i] = blocks->length ? scaled[i] * blocks->length[i] : scaled[i];
    }
    return blocks->mass && v ? pp_fcp_velocity(blocks->fcp, blocks->mass, r, v) : PERP_OK;
}

// ── Products ─────────────────────────────────────────────────────────────────────────────────────

// u += W_c dr for blocks of 2 x 2
static void apply_local2(const pp_contact_blocks *blocks, int c, const double *dr, double *u)
{
    const double a = dr[0], b = dr[1];
    for (int k = blocks->p[c]; k < blocks->p[c + 1]; k++) {
        const double *W = blocks->H + 4 * (size_t)k;
        double *y = u + 2 * (size_t)blocks->row[k];
        y[0] += W[0] * a + W[2] * b;
        y[1] += W[1] * a + W[3] * b;
    }
}

// u += W_c dr for blocks of 3 x 3
static void apply_local3(const pp_contact_blocks *blocks, int c, const double *dr, double *u)
{
    const double a = dr[0], b = dr[1], d = dr[2];
    for (int k = blocks->p[c]; k < blocks->p[c + 1]; k++) {
        const double *W = blocks->H + 9 * (size_t)k;
        double *y = u + 3 * (size_t)blocks->row[k];
        y[0] += W[0] * a + W[3] * b + W[6] * d;
        y[1] += W[1] * a + W[4] * b + W[7] * d;
        y[2] += W[2] * a + W[5] * b + W[8] * d;
    }
}

// 100 or 600 operations for the closed form of a contact, and two passes over its rows.
double pp_contact_blocks_cost(const pp_contact_blocks *blocks)
{
    double one = blocks->dim == 2 ? 100.0 : 600.0, entries = blocks->p[blocks->nc];
    return one * blocks->nc + 4.0 * blocks->dim * (blocks->local ? blocks->dim : 1) * entries;
}

void pp_contact_blocks_apply(const pp_contact_blocks *blocks, int c, const double *dr,
                             double *state)
{
    int dim = blocks->dim;
    if (blocks->local && dim == 3) {
        apply_local3(blocks, c, dr, state);
        return;
    }
    if (blocks->local && dim == 2) {
        apply_local2(blocks, c, dr, state);
        return;
    }
    for (int k = blocks->p[c]; k < blocks->p[c + 1]; k++) {
        // global form: v += T_c dr
        if (!blocks->local) {
            const double *T = blocks->T + (size_t)k * (size_t)dim;
            double sum = 0.0;
            for (int j = 0; j < dim; j++) {
                sum += T[j] * dr[j];
            }
            state[blocks->row[k]] += sum;
            continue;
        }
        const double *W = blocks->H + (size_t)k * (size_t)(dim * dim);
        double *y = state + (size_t)blocks->row[k] * (size_t)dim;
        for (int j = 0; j < dim; j++) {
            for (int i = 0; i < dim; i++) {
                y[i] += W[i + j * dim] * dr[j];
            }
        }
    }
}

void pp_contact_blocks_velocity(const pp_contact_blocks *blocks, const double *state, int c,
                                double *u)
{
    int dim = blocks->dim;
    if (blocks->local) {
        memcpy(u, state + (size_t)c * (size_t)dim, (size_t)dim * sizeof *u);
        return;
    }
    // global form: u_c = w_c + H_c' v, in scaled units
    const double *w = blocks->fcp->w + (size_t)c * (size_t)dim;
    for (int j = 0; j < dim; j++) {
        u[j] = blocks->length ? w[j] * blocks->length[(size_t)c * (size_t)dim + (size_t)j] : w[j];
    }
    for (int k = blocks->p[c]; k < blocks->p[c + 1]; k++) {
        const double *H = blocks->H + (size_t)k * (size_t)dim;
        double v = state[blocks->row[k]];
        for (int j = 0; j < dim; j++) {
            u[j] += H[j] * v;
        }
    }
}

// Contacts with r_n = 0 have r = 0, as K requires, and are skipped.
void pp_contact_blocks_state(const pp_contact_blocks *blocks, const double *r, double *state)
{
    memcpy(state, blocks->state_at_zero, (size_t)blocks->size * sizeof *state);
    for (int c = 0; c < blocks->nc; c++) {
        const double *rc = r + (size_t)c * (size_t)blocks->dim;
        if (rc[0] != 0.0) {
            pp_contact_blocks_apply(blocks, c, rc, state);
        }
    }
}

double *pp_contact_blocks_weights(const pp_contact_blocks *blocks)
{
    double *weight = PP_ARRAY(blocks->arena, double, blocks->n);
    if (!weight) {
        return NULL;
    }
    for (int i = 0; i < blocks->n; i++) {
        weight[i] = 1.0 / sqrt(blocks->rho[i / blocks->dim]);
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

pp_residual_pair pp_contact_blocks_residuals(const pp_contact_blocks *blocks, const double *r,
                                             const double *state)
{
    int dim = blocks->dim;
    double plain = 0.0, scaled = 0.0, u[PP_DIM_MAX], e[PP_DIM_MAX];
    for (int c = 0; c < blocks->nc; c++) {
        const double *rc = r + (size_t)c * (size_t)dim;
        pp_contact_blocks_velocity(blocks, state, c, u);
        if (u[0] >= 0.0 && rc[0] == 0.0) {
            continue;  // open: both maps vanish
        }
        pp_cone_law_measure(&blocks->law[c], blocks->rho[c], rc, u, e);
        scaled += sum_squares(dim, e);
        // (C7) in the caller's units, with rho = 1
        double rp[PP_DIM_MAX], up[PP_DIM_MAX];
        const double *length = blocks->length ? blocks->length + (size_t)c * (size_t)dim : NULL;
        for (int i = 0; i < dim; i++) {
            rp[i] = length ? rc[i] * length[i] : rc[i];
            up[i] = length ? u[i] / length[i] : u[i];
        }
        pp_cone_law_natural(&blocks->plain[c], 1.0, rp, up, e);
        plain += sum_squares(dim, e);
    }
    double size = fmax(sqrt(sum_squares(blocks->n, r)), blocks->norm_rhoq);
    return (pp_residual_pair){sqrt(plain) / blocks->norm_q,
                              sqrt(scaled) / (size > 0.0 ? size : 1.0)};
}
