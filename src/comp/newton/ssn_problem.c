// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The scaled contact problem, which all solvers share: W gathered into blocks of one contact by
// another, or kept as bodies (ssn_bodies.c), and the scaling of ssn.h, theory (C16) and (C23).
// Cost: the entries of W, once.
#include "comp/newton/ssn.h"

#include <math.h>
#include <string.h>

enum { VELOCITY_FROM = 60 };  // contact components from which a global problem is kept as bodies

#define INLINE static inline __attribute__((always_inline))

// y += A_j x for block column j; rows and columns of known sizes are unrolled
INLINE void add_column(int d, const pp_blocks *A, int j, const double *x, double *y)
{
    for (int k = A->p[j]; k < A->p[j + 1]; k++) {
        const double *block = A->x + (size_t)k * (size_t)(d * d);
        double *yi = y + A->row[k] * d;
        for (int b = 0; b < d; b++) {
            for (int a = 0; a < d; a++) {
                yi[a] += block[a + b * d] * x[b];
            }
        }
    }
}

static void blocks_column(const pp_blocks *A, int j, const double *x, double *y)
{
    if (A->dim == 2) {
        add_column(2, A, j, x, y);
    } else if (A->dim == 3) {
        add_column(3, A, j, x, y);
    } else {
        add_column(A->dim, A, j, x, y);
    }
}

// y += A x
static void blocks_mul(const pp_blocks *A, const double *x, double *y)
{
    for (int j = 0; j < A->count; j++) {
        blocks_column(A, j, x + j * A->dim, y);
    }
}

void pp_ssn_mul(const pp_ssn *ssn, const double *x, double *y)
{
    if (ssn->bodies) {
        pp_bodies_mul(ssn->bodies, x, y);
    } else {
        memset(y, 0, (size_t)ssn->n * sizeof *y);
        blocks_mul(&ssn->W, x, y);
    }
}

// ── States of sweeps ─────────────────────────────────────────────────────────────────────────────

perp_status pp_ssn_prepare_sweeps(pp_ssn *ssn, pp_arena *arena)
{
    return !ssn->bodies || pp_bodies_transmit(ssn->bodies, arena) ? PERP_OK : PERP_ERR_MEMORY;
}

int pp_ssn_state_size(const pp_ssn *ssn)
{
    return ssn->bodies ? ssn->bodies->nv : ssn->n;
}

void pp_ssn_state(const pp_ssn *ssn, const double *r, double *state)
{
    if (ssn->bodies) {
        pp_bodies_state(ssn->bodies, r, state);
    } else {
        pp_ssn_mul(ssn, r, state);
        pp_axpy(ssn->n, 1.0, ssn->q, state);
    }
}

void pp_ssn_velocity_at(const pp_ssn *ssn, const double *state, int c, double *u)
{
    const double *from = (ssn->bodies ? ssn->q : state) + c * ssn->dim;
    memcpy(u, from, (size_t)ssn->dim * sizeof *u);
    if (ssn->bodies) {
        pp_bodies_velocity_at(ssn->bodies, state, c, u);
    }
}

void pp_ssn_apply(const pp_ssn *ssn, int c, const double *dr, double *state)
{
    if (ssn->bodies) {
        pp_bodies_apply(ssn->bodies, c, dr, state);
    } else {
        blocks_column(&ssn->W, c, dr, state);
    }
}

// 100 or 600 operations for the closed form of a contact, and two passes over its rows.
double pp_ssn_sweep_cost(const pp_ssn *ssn)
{
    double one = ssn->dim == 2 ? 100.0 : 600.0;
    double entries = ssn->bodies ? pp_bodies_entries(ssn->bodies)
                                 : (double)ssn->W.p[ssn->nc] * ssn->dim * ssn->dim;
    return one * ssn->nc + 4.0 * entries;
}

// ── Blocks ───────────────────────────────────────────────────────────────────────────────────────

// Marks the distinct block rows of block column j, mark[row] = j + 1, and returns how many there
// are. The diagonal block counts whether W stores it or not.
static int mark_rows(const perp_matrix *A, int d, int j, int *mark)
{
    int count = 0;
    mark[j] = j + 1;
    for (int k = A->p[j * d]; k < A->p[(j + 1) * d]; k++) {
        int row = A->i[k] / d;
        count += mark[row] != j + 1 && row != j;
        mark[row] = j + 1;
    }
    return count + 1;
}

// Lists the block rows of column j, ascending, and finds the diagonal one. Sorted by insertion,
// which moves little: the scalar columns of a block share most of their rows, and these ascend.
// seen[row] = -(j + 1) marks a row as listed, which mark_rows never writes.
static void gather_block_rows(const perp_matrix *A, int j, int *seen, pp_blocks *blocks)
{
    int d = blocks->dim, first = blocks->p[j], end = first;
    blocks->row[end++] = j;
    seen[j] = -(j + 1);
    for (int k = A->p[j * d]; k < A->p[(j + 1) * d]; k++) {
        int row = A->i[k] / d;
        if (seen[row] == -(j + 1)) {
            continue;
        }
        seen[row] = -(j + 1);
        // insertion: from the end
        int at = end++;
        for (; at > first && blocks->row[at - 1] > row; at--) {
            blocks->row[at] = blocks->row[at - 1];
        }
        blocks->row[at] = row;
    }
    for (int k = first; k < end; k++) {
        if (blocks->row[k] == j) {
            blocks->diagonal[j] = k;
        }
    }
}

// W as dim x dim blocks by block columns, diagonal blocks always present.
static perp_status blocks_create(const perp_matrix *W, int d, pp_arena *arena, pp_blocks *blocks)
{
    perp_matrix A;
    perp_status status = pp_matrix_to_csc(W, arena, &A);
    if (status < 0) {
        return status;
    }
    int nc = W->cols / d;
    int *mark = PP_ZEROS(arena, int, nc);
    int *where = PP_ARRAY(arena, int, nc);
    *blocks = (pp_blocks){.count = nc, .dim = d};
    blocks->p = PP_ZEROS(arena, int, nc + 1);
    blocks->diagonal = PP_ZEROS(arena, int, nc);
    if (!mark || !where || !blocks->p || !blocks->diagonal) {
        return PERP_ERR_MEMORY;
    }
    for (int j = 0; j < nc; j++) {
        blocks->p[j + 1] = blocks->p[j] + mark_rows(&A, d, j, mark);
    }
    blocks->row = PP_ARRAY(arena, int, blocks->p[nc]);
    blocks->x = PP_ZEROS(arena, double, (size_t)blocks->p[nc] * (size_t)(d * d));
    if (!blocks->row || !blocks->x) {
        return PERP_ERR_MEMORY;
    }
    for (int j = 0; j < nc; j++) {
        gather_block_rows(&A, j, mark, blocks);
        for (int k = blocks->p[j]; k < blocks->p[j + 1]; k++) {
            where[blocks->row[k]] = k;
        }
        // the scalar columns of block column j one after another; b is the column within the block
        for (int k = A.p[j * d], b = 0; k < A.p[(j + 1) * d]; k++) {
            for (; k >= A.p[j * d + b + 1]; b++) {
            }
            size_t block = (size_t)where[A.i[k] / d];
            blocks->x[block * (size_t)(d * d) + (size_t)(A.i[k] % d + b * d)] = A.x[k];
        }
    }
    return PERP_OK;
}

// Mean size of the diagonal of W_cc over `size` components from `first`.
static double mean_diagonal(const pp_ssn *ssn, int c, int first, int size)
{
    int d = ssn->dim;
    const double *block = ssn->own + (size_t)c * (size_t)(d * d);
    double sum = 0.0;
    for (int a = first; a < first + size; a++) {
        sum += fabs(block[a + a * d]);
    }
    return sum / size;
}

// S of every component, and the lengths of theory (C16) taken out of the coefficients mu. A contact
// whose W_cc vanishes (both sides fixed) is scaled like the contact of largest W_cc.
static void scale_contacts(pp_ssn *ssn)
{
    int d = ssn->dim;
    double largest = 0.0;
    for (int c = 0; c < ssn->nc; c++) {
        largest = fmax(largest, mean_diagonal(ssn, c, 0, d < 3 ? d : 3));
    }
    largest = largest > 0.0 ? largest : 1.0;
    for (int c = 0; c < ssn->nc; c++) {
        double sliding = mean_diagonal(ssn, c, 0, d < 3 ? d : 3);
        sliding = sliding > 1e-14 * largest ? sliding : largest;
        double s = 1.0 / sqrt(sliding);
        ssn->scale[c * d] = s;
        for (int g = 0; g < ssn->groups; g++) {
            pp_disc *disc = &ssn->law[c].disc[g];
            // group 0 slides: its components are impulses and need no length
            double own = g == 0 ? 0.0 : mean_diagonal(ssn, c, disc->first, disc->size);
            double length = own > 0.0 ? sqrt(sliding / own) : 1.0;
            disc->mu /= length;
            for (int a = disc->first; a < disc->first + disc->size; a++) {
                ssn->scale[c * d + a] = s * length;
            }
        }
    }
}

// W' = S W S (or G' = G S for bodies) and q' = S q / unit, with the unit that makes max|q'| = 1.
// Then scale and velocity convert r and u back to the caller's units.
static void apply_scale(pp_ssn *ssn)
{
    int d = ssn->dim;
    const double *S = ssn->scale;
    for (int k = 0; k < ssn->nc * d * d; k++) {
        int c = k / (d * d);
        ssn->own[k] *= S[c * d + k % d] * S[c * d + k / d % d];
    }
    if (ssn->bodies) {
        pp_bodies_scale(ssn->bodies, S);
    } else {
        for (int j = 0; j < ssn->nc; j++) {
            for (int k = ssn->W.p[j]; k < ssn->W.p[j + 1]; k++) {
                double *block = ssn->W.x + (size_t)k * (size_t)(d * d);
                for (int ab = 0; ab < d * d; ab++) {  // row ab % d, column ab / d of the block
                    block[ab] *= S[ssn->W.row[k] * d + ab % d] * S[j * d + ab / d];
                }
            }
        }
    }
    for (int i = 0; i < ssn->n; i++) {
        ssn->q[i] = S[i] * ssn->fcp->q[i];
    }
    double size = pp_norm_inf(ssn->n, ssn->q);
    ssn->unit = size > 0.0 ? size : 1.0;
    for (int i = 0; i < ssn->n; i++) {
        ssn->q[i] /= ssn->unit;
        ssn->velocity[i] = ssn->unit / ssn->scale[i];
        ssn->scale[i] *= ssn->unit;
    }
}

// bodies: used in place of W where it is not NULL.
static perp_status create_scaled(const perp_fcp *local, pp_bodies *bodies, pp_arena *arena,
                                 pp_ssn **out)
{
    pp_ssn *ssn = PP_ZEROS(arena, pp_ssn, 1);
    if (!ssn) {
        return PERP_ERR_MEMORY;
    }
    ssn->fcp = local;
    ssn->nc = local->nc;
    ssn->dim = local->dim;
    ssn->n = local->nc * local->dim;
    perp_status status = pp_cone_laws_create(local, arena, &ssn->law);
    if (status >= 0) {
        status = pp_cone_laws_create(local, arena, &ssn->plain);
    }
    if (status < 0) {
        return status;
    }
    ssn->groups = ssn->nc > 0 ? ssn->law[0].groups : 0;
    ssn->q = PP_ARRAY(arena, double, ssn->n);
    ssn->scale = PP_ARRAY(arena, double, ssn->n);
    ssn->velocity = PP_ARRAY(arena, double, ssn->n);
    ssn->bodies = bodies;
    ssn->own = PP_ARRAY(arena, double, (size_t)ssn->n *(size_t)ssn->dim);
    if (!ssn->q || !ssn->scale || !ssn->velocity || !ssn->own) {
        return PERP_ERR_MEMORY;
    }
    // the blocks W_cc, by which the contacts are scaled
    if (bodies) {
        pp_bodies_own(bodies, ssn->own);
    } else {
        status = blocks_create(&local->W, ssn->dim, arena, &ssn->W);
        if (status < 0) {
            return status;
        }
        size_t dd = (size_t)ssn->dim * (size_t)ssn->dim;
        for (int c = 0; c < ssn->nc; c++) {
            memcpy(ssn->own + (size_t)c * dd, ssn->W.x + (size_t)ssn->W.diagonal[c] * dd,
                   dd * sizeof *ssn->own);
        }
    }
    scale_contacts(ssn);
    apply_scale(ssn);
    *out = ssn;
    return PERP_OK;
}

// The local form of a global problem: kept as bodies where M is block diagonal and there are at
// most twice as many velocities as contact components, otherwise condensed to W.
static perp_status make_local(const perp_fcp *fcp, const pp_mass *mass, pp_arena *arena,
                              perp_fcp *local, pp_bodies **bodies)
{
    int n = fcp->nc * fcp->dim;
    perp_status status = PERP_OK;
    *bodies = NULL;
    if (n > VELOCITY_FROM && fcp->nv <= 2 * n) {
        status = pp_bodies_create(fcp, mass, arena, bodies);
    }
    if (status < 0) {
        return status;
    }
    if (!*bodies) {
        return pp_fcp_condense(fcp, mass, arena, local);
    }
    // q of the local form; W stays implicit in the bodies
    double *q = PP_ARRAY(arena, double, n);
    if (!q) {
        return PERP_ERR_MEMORY;
    }
    pp_bodies_free_motion(*bodies, fcp, q);
    *local = *fcp;
    local->nv = 0;
    local->q = q;
    return PERP_OK;
}

perp_status pp_ssn_open(const perp_fcp *fcp, pp_arena *arena, pp_ssn **out)
{
    *out = NULL;
    if (fcp->nv == 0) {
        return create_scaled(fcp, NULL, arena, out);
    }
    perp_fcp *local = PP_ARRAY(arena, perp_fcp, 1);
    pp_bodies *bodies = NULL;
    pp_mass *mass = NULL;
    perp_status status = local ? pp_mass_create(&fcp->M, arena, &mass) : PERP_ERR_MEMORY;
    if (status >= 0) {
        status = make_local(fcp, mass, arena, local, &bodies);
    }
    if (status >= 0) {
        status = create_scaled(local, bodies, arena, out);
    }
    if (status < 0) {
        pp_mass_destroy(mass);
        return status;
    }
    (*out)->posed = fcp;
    (*out)->mass = mass;
    return PERP_OK;
}

void pp_ssn_close(pp_ssn *ssn)
{
    if (ssn) {
        pp_mass_destroy(ssn->mass);
        ssn->mass = NULL;
    }
}

perp_status pp_ssn_export(const pp_ssn *ssn, const double *scaled, double *r, double *v)
{
    for (int i = 0; i < ssn->n; i++) {
        r[i] = ssn->scale[i] * scaled[i] + 0.0;  // no -0
    }
    return ssn->mass && v ? pp_fcp_velocity(ssn->posed, ssn->mass, r, v) : PERP_OK;
}
