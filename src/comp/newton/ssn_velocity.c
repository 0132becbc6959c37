// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The Newton system of contact in the space of velocities.                             theory (C35)
//
// With W = G^T M^-1 G the system (B + A W) x = b, A and B block diagonal, is
//
//   (M + G D G^T) y = G B^-1 b,   x = B^-1 b - D G^T y,   D = B^-1 A,   y = M^-1 G x
//
// which has as many unknowns as there are velocities, however many contacts the bodies share. Its
// blocks are the bodies and the pairs of bodies that touch. It is symmetric, and factored as L D
// L^T, where every D and M are symmetric (all contacts open or sticking); otherwise it is factored
// as L U on the same symmetric pattern. Where contacts stick D is 1 / alpha, so that digits are
// lost as alpha falls: the caller refines. Cost: one factorisation of sparse_ldl.c, whose analysis
// is kept while the pattern stays.
#include "comp/newton/ssn.h"

#include <math.h>
#include <string.h>

// Largest entry of L for which the factorisation counts as regular. There is no pivoting between
// blocks, and the refinement needs some correct digits.
#define GROWTH_MOST 1e12

#define INLINE static inline __attribute__((always_inline))

struct pp_ssn_velocity {
    const pp_bodies *bodies;
    int nc, dim;
    pp_ldl *factor;
    int *k_at;  // nc: where in place[] a contact starts
    int *
        place;  // for each pair of bodies of a contact, the later one first: start of its block in x
    int *diagonal;      // bodies: start of their diagonal blocks in x
    int values;         // numbers in x, and in upper
    double *x, *upper;  // M + G D G^T: blocks on and below the diagonal; transposes of those above
    double *D, *inverse;  // dim x dim a contact: D and B^-1
    double *y;            // nv
};

// ── Pattern ──────────────────────────────────────────────────────────────────────────────────────

// The block pattern: for each body (column) itself and the later bodies it touches,
// each once. False: no memory. A counting sort of all pairs by column, then
// duplicates dropped with the help of mark.
static bool list_pairs(const pp_bodies *b, pp_arena *arena, pp_ldl_pattern *out)
{
    int n = b->count, total = 0;
    int *count = PP_ZEROS(arena, int, n + 1), *next = PP_ARRAY(arena, int, n);
    int *mark = PP_ARRAY(arena, int, n), *p = PP_ARRAY(arena, int, n + 1);
    if (!count || !next || !mark || !p) {
        return false;
    }
    for (int c = 0; c < b->nc; c++) {
        for (int e = b->p[c]; e < b->p[c + 1]; e++) {
            // bodies of a contact ascend: the pair (e, o), o > e, belongs to column e
            count[b->body[e]] += b->p[c + 1] - e - 1;
        }
    }
    for (int j = 0; j < n; j++) {
        next[j] = total;
        total += count[j];
        mark[j] = -1;
    }
    int *all = PP_ARRAY(arena, int, total), *i = PP_ARRAY(arena, int, total + n);
    if (!all || !i) {
        return false;
    }
    for (int c = 0; c < b->nc; c++) {
        for (int e = b->p[c]; e < b->p[c + 1]; e++) {
            for (int o = e + 1; o < b->p[c + 1]; o++) {
                all[next[b->body[e]]++] = b->body[o];
            }
        }
    }
    int used = 0;
    for (int j = 0; j < n; j++) {
        p[j] = used;
        i[used++] = j;
        for (int k = next[j] - count[j]; k < next[j]; k++) {
            if (mark[all[k]] != j) {
                mark[all[k]] = j;
                i[used++] = all[k];
            }
        }
    }
    p[n] = used;
    *out = (pp_ldl_pattern){n, b->size, p, i};
    return true;
}

// Where each contact adds its blocks: found once, read in every factorisation. False: no memory.
static bool find_places(pp_ssn_velocity *v, const pp_ldl_pattern *pattern, pp_arena *arena)
{
    const pp_bodies *b = v->bodies;
    const int *at = pp_ldl_places(v->factor);
    int total = 0;
    v->k_at = PP_ARRAY(arena, int, b->nc + 1);
    v->diagonal = PP_ARRAY(arena, int, b->count);
    if (!v->k_at || !v->diagonal) {
        return false;
    }
    for (int c = 0; c < b->nc; c++) {
        int count = b->p[c + 1] - b->p[c];
        v->k_at[c] = total;
        total += count * (count + 1) / 2;
    }
    v->place = PP_ARRAY(arena, int, total);
    v->values = at[pattern->p[b->count]];
    v->x = PP_ARRAY(arena, double, v->values);
    v->upper = PP_ARRAY(arena, double, v->values);
    if (!v->place || !v->x || !v->upper) {
        return false;
    }
    for (int j = 0; j < b->count; j++) {
        v->diagonal[j] = at[pattern->p[j]];
    }
    for (int c = 0; c < b->nc; c++) {
        int *place = v->place + v->k_at[c];
        for (int e = b->p[c]; e < b->p[c + 1]; e++) {
            for (int o = e; o < b->p[c + 1]; o++) {
                int k = pattern->p[b->body[e]];
                // columns are short, a body touches few others: a linear search
                while (pattern->i[k] != b->body[o]) {
                    k++;
                }
                *place++ = at[k];
            }
        }
    }
    return true;
}

// The job's factorisation keeps its analysis from call to call
// where pattern and sizes are the same.
perp_status pp_ssn_velocity_create(const pp_bodies *bodies, const pp_job *job,
                                   pp_ssn_velocity **out)
{
    pp_arena *arena = job->arena;
    pp_ssn_velocity *v = PP_ZEROS(arena, pp_ssn_velocity, 1);
    *out = v;
    if (!v) {
        return PERP_ERR_MEMORY;
    }
    *v = (pp_ssn_velocity){.bodies = bodies, .nc = bodies->nc, .dim = bodies->dim};
    size_t blocks = (size_t)v->nc * (size_t)(v->dim * v->dim);
    v->D = PP_ARRAY(arena, double, blocks);
    v->inverse = PP_ARRAY(arena, double, blocks);
    v->y = PP_ARRAY(arena, double, bodies->nv);
    v->factor = job->factor ? job->factor : pp_ldl_create_in(arena);
    pp_ldl_pattern pattern;
    // the pattern is in the arena, the analysis in the factorisation
    if (!v->D || !v->inverse || !v->y || !v->factor || !list_pairs(bodies, arena, &pattern)) {
        return PERP_ERR_MEMORY;
    }
    perp_status status = pp_ldl_analyse(v->factor, &pattern);
    if (status < 0) {
        return status;
    }
    return find_places(v, &pattern, arena) ? PERP_OK : PERP_ERR_MEMORY;
}

// ── Factorisation and solution ───────────────────────────────────────────────────────────────────

// X = B^-1 for d = 2, by the adjugate. False: singular.
static inline bool invert2(const double *B, double *X)
{
    double det = B[0] * B[3] - B[1] * B[2], f = 1.0 / det;
    X[0] = B[3] * f;
    X[1] = -B[1] * f;
    X[2] = -B[2] * f;
    X[3] = B[0] * f;
    return isfinite(f);
}

// X = B^-1 for d = 3, by the adjugate: c0, c1, c2 are cofactors of
// the first column. False: singular.
static inline bool invert3(const double *B, double *X)
{
    double c0 = B[4] * B[8] - B[5] * B[7], c1 = B[5] * B[6] - B[3] * B[8],
           c2 = B[3] * B[7] - B[4] * B[6];
    double f = 1.0 / (B[0] * c0 + B[1] * c1 + B[2] * c2);
    X[0] = c0 * f;
    X[3] = c1 * f;
    X[6] = c2 * f;
    X[1] = (B[2] * B[7] - B[1] * B[8]) * f;
    X[4] = (B[0] * B[8] - B[2] * B[6]) * f;
    X[7] = (B[1] * B[6] - B[0] * B[7]) * f;
    X[2] = (B[1] * B[5] - B[2] * B[4]) * f;
    X[5] = (B[2] * B[3] - B[0] * B[5]) * f;
    X[8] = (B[0] * B[4] - B[1] * B[3]) * f;
    return isfinite(f);
}

// X = B^-1 by LU, for contacts with torsion and rolling. False: singular.
static bool invert_any(int d, const double *B, double *X)
{
    double LU[PP_DIM_MAX * PP_DIM_MAX];
    int pivot[PP_DIM_MAX];
    memcpy(LU, B, (size_t)(d * d) * sizeof *LU);
    for (int k = 0; k < d * d; k++) {
        X[k] = k % (d + 1) == 0 ? 1.0 : 0.0;
    }
    if (pp_lu_factor(d, LU, d, pivot, 0.0) != 0) {
        return false;
    }
    for (int b = 0; b < d; b++) {
        pp_lu_solve(d, LU, d, pivot, X + b * d);
    }
    return true;
}

// X = B^-1 by size; false: singular.
static bool invert_block(int d, const double *B, double *X)
{
    if (d == 2) {
        return invert2(B, X);
    }
    return d == 3 ? invert3(B, X) : invert_any(d, B, X);
}

// Y = X A for d x d blocks
static inline void multiply_blocks(int d, const double *X, const double *A, double *Y)
{
    for (int b = 0; b < d; b++) {
        for (int a = 0; a < d; a++) {
            double sum = 0.0;
            for (int k = 0; k < d; k++) {
                sum += X[a + k * d] * A[k + b * d];
            }
            Y[a + b * d] = sum;
        }
    }
}

// B^-1 and D = B^-1 A of all contacts. *symmetric: every D is, to
// the last bit. False: a singular B.
static bool invert_contacts(pp_ssn_velocity *v, const double *A, const double *B, bool *symmetric)
{
    int d = v->dim, dd = d * d;
    *symmetric = true;
    for (int c = 0; c < v->nc; c++) {
        size_t at = (size_t)c * (size_t)dd;
        double *X = v->inverse + at, *D = v->D + at;
        if (!invert_block(d, B + at, X)) {
            return false;
        }
        multiply_blocks(d, X, A + at, D);
        // exact symmetry holds for open and sticking contacts; a slip has none
        for (int b = 0; b < d; b++) {
            for (int a = 0; a < b; a++) {
                *symmetric = *symmetric && D[a + b * d] == D[b + a * d];
            }
        }
    }
    return true;
}

// x += Ga D Gb^T for the sa x d block Ga and the sb x d block Gb
INLINE void add_pair(int sa, int sb, int d, const double *Ga, const double *Gb, const double *D,
                     double *x)
{
    for (int j = 0; j < sb; j++) {
        // D Gb^T first: d numbers for each column
        double t[PP_DIM_MAX];
        for (int k = 0; k < d; k++) {
            t[k] = 0.0;
            for (int l = 0; l < d; l++) {
                t[k] += D[k + l * d] * Gb[j + l * sb];
            }
        }
        for (int i = 0; i < sa; i++) {
            double sum = 0.0;
            for (int k = 0; k < d; k++) {
                sum += Ga[i + k * sa] * t[k];
            }
            x[i + j * sa] += sum;
        }
    }
}

// The same with constant sizes for planar and spatial bodies, which the compiler unrolls.
static void add_sized(int sa, int sb, int d, const double *Ga, const double *Gb, const double *D,
                      double *x)
{
    if (d == 2 && sa == 3 && sb == 3) {
        add_pair(3, 3, 2, Ga, Gb, D, x);
    } else if (d == 3 && sa == 6 && sb == 6) {
        add_pair(6, 6, 3, Ga, Gb, D, x);
    } else {
        add_pair(sa, sb, d, Ga, Gb, D, x);
    }
}

// Adds G_c D_c G_c^T to the blocks of its bodies. Above the diagonal stands Gb D Ga^T, whose
// transpose Ga D^T Gb^T has the shape of the block below.
static void add_contact_block(pp_ssn_velocity *v, int c, bool symmetric)
{
    const pp_bodies *b = v->bodies;
    int d = v->dim;
    const double *D = v->D + (size_t)c * (size_t)(d * d);
    const int *place = v->place + v->k_at[c];
    double Dt[PP_DIM_MAX * PP_DIM_MAX];
    // D transposed
    for (int k = 0; k < d * d; k++) {
        Dt[k] = D[k / d + k % d * d];
    }
    for (int e = b->p[c]; e < b->p[c + 1]; e++) {
        for (int o = e; o < b->p[c + 1]; o++) {
            int sa = b->size[b->body[o]], sb = b->size[b->body[e]], at = *place++;
            const double *Ga = b->G + b->g_at[o], *Gb = b->G + b->g_at[e];
            add_sized(sa, sb, d, Ga, Gb, D, v->x + at);
            if (!symmetric && o > e) {
                add_sized(sa, sb, d, Ga, Gb, Dt, v->upper + at);
            }
        }
    }
}

// Open contacts have D = 0 and add nothing.
static bool is_zero(int n, const double *D)
{
    for (int k = 0; k < n; k++) {
        if (D[k] != 0.0) {
            return false;
        }
    }
    return true;
}

// Forms M + G D G^T and factors it. PERP_ERR_SINGULAR: a B is, or the factors grow too much.
perp_status pp_ssn_velocity_factor(pp_ssn_velocity *v, const double *A, const double *B)
{
    const pp_bodies *b = v->bodies;
    int dd = v->dim * v->dim;
    bool symmetric;
    if (!invert_contacts(v, A, B, &symmetric)) {
        return PERP_ERR_SINGULAR;
    }
    symmetric = symmetric && b->symmetric;
    memset(v->x, 0, (size_t)v->values * sizeof *v->x);
    if (!symmetric) {
        memset(v->upper, 0, (size_t)v->values * sizeof *v->upper);
    }
    // M on the diagonal, then the contacts
    for (int k = 0; k < b->count; k++) {
        memcpy(v->x + v->diagonal[k], b->M + b->at[k],
               (size_t)(b->size[k] * b->size[k]) * sizeof *v->x);
    }
    for (int c = 0; c < v->nc; c++) {
        if (!is_zero(dd, v->D + (size_t)c * (size_t)dd)) {
            add_contact_block(v, c, symmetric);
        }
    }
    perp_status status = PERP_OK;
    if (symmetric) {
        status = pp_ldl_factor(v->factor, v->x, 0.0) > 0 ? PERP_ERR_SINGULAR : PERP_OK;
    } else {
        status = pp_ldl_factor_lu(v->factor, v->x, v->upper);
    }
    if (status == PERP_OK && !(pp_ldl_growth(v->factor) <= GROWTH_MOST)) {
        return PERP_ERR_SINGULAR;
    }
    return status;
}

// out = X b for a dim x dim block
static inline void block_times(int d, const double *X, const double *b, double *out)
{
    for (int k = 0; k < d; k++) {
        out[k] = 0.0;
        for (int l = 0; l < d; l++) {
            out[k] += X[k + l * d] * b[l];
        }
    }
}

// Without refinement: pp_ssn_linear_solve adds it.
perp_status pp_ssn_velocity_solve(const pp_ssn_velocity *v, double *x)
{
    const pp_bodies *b = v->bodies;
    int d = v->dim, dd = d * d;
    memset(v->y, 0, (size_t)b->nv * sizeof *v->y);
    for (int c = 0; c < v->nc; c++) {  // x = B^-1 b,  y = G x
        double g[PP_DIM_MAX];
        block_times(d, v->inverse + (size_t)c * (size_t)dd, x + c * d, g);
        memcpy(x + c * d, g, (size_t)d * sizeof *g);
        for (int e = b->p[c]; e < b->p[c + 1]; e++) {
            int size = b->size[b->body[e]];
            const double *G = b->G + b->g_at[e];
            double *y = v->y + b->first[b->body[e]];
            for (int k = 0; k < d; k++) {
                for (int a = 0; a < size; a++) {
                    y[a] += G[a + k * size] * g[k];
                }
            }
        }
    }
    if (!pp_ldl_solve(v->factor, v->y)) {
        return PERP_ERR_SINGULAR;
    }
    for (int c = 0; c < v->nc; c++) {  // x -= D G^T y
        double u[PP_DIM_MAX] = {0.0}, step[PP_DIM_MAX];
        for (int e = b->p[c]; e < b->p[c + 1]; e++) {
            int size = b->size[b->body[e]];
            const double *G = b->G + b->g_at[e], *y = v->y + b->first[b->body[e]];
            for (int k = 0; k < d; k++) {
                for (int a = 0; a < size; a++) {
                    u[k] += G[a + k * size] * y[a];
                }
            }
        }
        block_times(d, v->D + (size_t)c * (size_t)dd, u, step);
        for (int k = 0; k < d; k++) {
            x[c * d + k] -= step[k];
        }
    }
    return PERP_OK;
}

double pp_ssn_velocity_fill(const pp_ssn_velocity *v)
{
    return (double)pp_ldl_fill(v->factor);
}

double pp_ssn_velocity_flops(const pp_ssn_velocity *v)
{
    return v->factor ? pp_ldl_flops(v->factor) : 0.0;  // NULL: its creation failed
}
