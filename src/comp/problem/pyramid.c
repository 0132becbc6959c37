// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The Stewart–Trinkle problem of a contact problem with polygonal friction.            theory (C10)
//
//   r = B p,  p = (p_n, p_f) >= 0: column p_n of contact c is e_n; column j of p_f is direction d_j
//
//   local                                     global
//   [ B'W B   E ] [p]   [B'q]                 [ M   -H B  0 ] [v]   [-f ]
//   [ C       0 ] [s] + [ 0 ]                 [ B'H'  0   E ] [p] + [B'w]      v free
//                                             [ 0     C   0 ] [s]   [ 0 ]
//
// E adds sigma to the friction rows of its contact and group; row s of C is mu p_n - sum_j p_f. For
// positive semidefinite W the matrix is copositive. perp_pyramid_split goes the other way, from r
// to a z. Size: n_d + 2 unknowns a contact with sliding friction in space, 4 in the plane.
#include "comp/comp.h"

#include <math.h>
#include <string.h>

// The order of z: v (global form only), p_n of all contacts, p_f contact by contact and group by
// group, then one sigma for each contact and group in the same order.
struct perp_pyramid {
    perp_env env;
    pp_arena *arena;
    perp_mcp mcp;   // arrays in the arena
    perp_fcp fcp;   // the caller's, with nd filled in
    int np, ns;     // columns of B; sigmas
    perp_matrix B;  // nc dim x np
    int *sigma;     // np: the sigma of a friction column, -1 for a normal column
    double *mu;     // ns
    int *first;     // nc: where the friction of each contact starts in z
};

// Directions of a group: two for an interval, nd for a polygon.
static int facets_of(const perp_fcp *fcp, const pp_group *group, int c)
{
    return group->size == 1 ? 2 : fcp->nd[c];
}

// Copies the problem with nd filled in where the caller has discs.
static perp_status fill_facets(perp_pyramid *y, const perp_fcp *fcp, int facets)
{
    int *nd = PP_ARRAY(y->arena, int, fcp->nc);
    if (!nd) {
        return PERP_ERR_MEMORY;
    }
    for (int c = 0; c < fcp->nc; c++) {
        // polygons of the caller stay, and discs get `facets` sides
        nd[c] = fcp->nd && fcp->nd[c] > 0 ? fcp->nd[c] : facets;
    }
    y->fcp = *fcp;
    y->fcp.nd = nd;
    return PERP_OK;
}

// The columns of B, and the sigma that each belongs to: all normals, then the directions of each
// contact, group by group.
static perp_status build_basis(perp_pyramid *y)
{
    const perp_fcp *fcp = &y->fcp;
    pp_group group[PP_GROUPS_MAX];
    int groups = pp_fcp_groups(fcp, group);
    int64_t np = fcp->nc, ns = (int64_t)groups * fcp->nc;
    for (int c = 0; c < fcp->nc; c++) {
        for (int g = 0; g < groups; g++) {
            np += facets_of(fcp, &group[g], c);
        }
    }
    // rows of the MCP, and entries of B, are counted in int
    if (fcp->nv + 2 * (np + ns) > INT32_MAX) {
        return PERP_ERR_MEMORY;
    }
    y->np = (int)np;
    y->ns = (int)ns;
    int *p = PP_ARRAY(y->arena, int, y->np + 1), *i = PP_ARRAY(y->arena, int, 2 * y->np);
    double *x = PP_ARRAY(y->arena, double, 2 * y->np);
    y->sigma = PP_ARRAY(y->arena, int, y->np);
    y->mu = PP_ARRAY(y->arena, double, y->ns);
    y->first = PP_ARRAY(y->arena, int, fcp->nc);
    if (!p || !i || !x || !y->sigma || !y->mu || !y->first) {
        return PERP_ERR_MEMORY;
    }
    // normals first, one entry each
    int column = 0, used = 0;
    for (int c = 0; c < fcp->nc; c++) {
        p[column] = used;
        y->sigma[column++] = -1;
        i[used] = c * fcp->dim;
        x[used++] = 1.0;
    }
    for (int c = 0; c < fcp->nc; c++) {
        // then directions, at the angles 2 pi j / nd
        y->first[c] = fcp->nv + column;
        for (int g = 0; g < groups; g++) {
            int s = c * groups + g, nd = facets_of(fcp, &group[g], c);
            y->mu[s] = group[g].mu[c];
            for (int j = 0; j < nd; j++) {
                double angle = 6.283185307179586 * (double)j / (double)nd;
                p[column] = used;
                y->sigma[column++] = s;
                i[used] = c * fcp->dim + group[g].first;
                if (group[g].size == 1) {
                    x[used++] = j == 0 ? 1.0 : -1.0;
                } else {
                    x[used++] = pp_cos(angle);
                    i[used] = c * fcp->dim + group[g].first + 1;
                    x[used++] = pp_sin(angle);
                }
            }
        }
    }
    p[column] = used;
    y->B = perp_matrix_csc(fcp->nc * fcp->dim, y->np, p, i, x);
    return PERP_OK;
}

// The matrix as it is written column by column: dense where B'W B is mostly full, otherwise CSC.
typedef struct pyramid_writer {
    int n;
    double *dense;
    int *p, *i;
    double *x;
    size_t used, capacity;
    pp_arena *arena;
} pyramid_writer;

// Makes room for `more` entries. False: no memory.
static bool reserve_entries(pyramid_writer *w, size_t more)
{
    if (w->dense || w->used + more <= w->capacity) {
        return true;
    }
    // doubled, so that copies cost no more than the entries; the arena keeps the old arrays
    size_t capacity = 2 * (w->used + more);
    int *i = PP_ARRAY(w->arena, int, capacity);
    double *x = PP_ARRAY(w->arena, double, capacity);
    if (!i || !x || capacity > INT32_MAX) {
        return false;
    }
    if (w->used > 0) {
        memcpy(i, w->i, w->used * sizeof *i);
        memcpy(x, w->x, w->used * sizeof *x);
    }
    w->i = i;
    w->x = x;
    w->capacity = capacity;
    return true;
}

// One column as it is summed up: values by row, and which rows are in use.
typedef struct pyramid_column {
    double *x;
    bool *known;
    int *hit, count;
} pyramid_column;

// c_i += value
static void add_to_column(pyramid_column *c, int i, double value)
{
    if (!c->known[i]) {
        c->known[i] = true;
        c->hit[c->count++] = i;
    }
    c->x[i] += value;
}

// Shell's sort. Parts of a column are sorted already, and qsort may allocate.
static void shell_sort(int *x, int count)
{
    for (int gap = count / 2; gap > 0; gap /= 2) {
        for (int e = gap; e < count; e++) {
            int value = x[e], k = e;
            for (; k >= gap && x[k - gap] > value; k -= gap) {
                x[k] = x[k - gap];
            }
            x[k] = value;
        }
    }
}

// Writes column j and empties c. Entries that cancelled to zero are not stored. False: no memory.
static bool write_column(pyramid_writer *w, int j, pyramid_column *c)
{
    if (!reserve_entries(w, (size_t)c->count)) {
        return false;
    }
    // c->x is zero and c->known false between columns
    double *dense = w->dense ? w->dense + (size_t)j * (size_t)w->n : NULL;
    if (dense) {
        memset(dense, 0, (size_t)w->n * sizeof *dense);
    } else {
        w->p[j] = (int)w->used;
        shell_sort(c->hit, c->count);
    }
    for (int k = 0; k < c->count; k++) {
        int i = c->hit[k];
        if (dense) {
            dense[i] = c->x[i];
        } else if (c->x[i] != 0.0) {
            w->i[w->used] = i;
            w->x[w->used++] = c->x[i];
        }
        c->known[i] = false;
        c->x[i] = 0.0;
    }
    c->count = 0;
    return true;
}

// c += s A_j, or s B' A_j where Bt is given, into the rows from `first` on. Bt: B by rows.
static void add_scaled_column(const perp_matrix *A, int j, double s, const perp_matrix *Bt,
                              int first, pyramid_column *c)
{
    int begin = A->dense ? 0 : A->p[j], end = A->dense ? A->rows : A->p[j + 1];
    const double *x = A->dense ? A->dense + (size_t)j * (size_t)A->rows : A->x;
    for (int k = begin; k < end; k++) {
        int i = A->dense ? k : A->i[k];
        double value = s * x[k];
        if (value == 0.0) {
            continue;
        }
        // rows of v are not projected onto directions
        if (!Bt) {
            add_to_column(c, first + i, value);
            continue;
        }
        for (int e = Bt->p[i]; e < Bt->p[i + 1]; e++) {
            add_to_column(c, first + Bt->i[e], value * Bt->x[e]);
        }
    }
}

// Column j of C: mu in the sigma rows of its contact for a normal column, -1 for a friction column.
static void add_cone(const perp_pyramid *y, int j, pyramid_column *c)
{
    int first = y->fcp.nv + y->np, groups = y->ns / y->fcp.nc;
    if (y->sigma[j] >= 0) {
        add_to_column(c, first + y->sigma[j], -1.0);
        return;
    }
    // U: the limit mu_g p_n of every group
    for (int g = 0; g < groups; g++) {
        add_to_column(c, first + j * groups + g, y->mu[j * groups + g]);
    }
}

// The columns of p: B'W B (or -H B), then C. False: no memory.
static bool write_impulse_columns(const perp_pyramid *y, pyramid_writer *w, const perp_matrix *Bt,
                                  pyramid_column *c)
{
    const perp_fcp *fcp = &y->fcp;
    const perp_matrix *B = &y->B;  // sparse, always
    if (!B->p) {
        return false;
    }
    for (int j = 0; j < y->np; j++) {
        for (int k = B->p[j]; k < B->p[j + 1]; k++) {
            // local: B'W b_j; global: -H b_j in the rows of v
            if (fcp->nv == 0) {
                add_scaled_column(&fcp->W, B->i[k], B->x[k], Bt, 0, c);
            } else {
                add_scaled_column(&fcp->H, B->i[k], -B->x[k], NULL, 0, c);
            }
        }
        add_cone(y, j, c);
        if (!write_column(w, fcp->nv + j, c)) {
            return false;
        }
    }
    return true;
}

// The columns of v: M, then B'H'. False: no memory.
static bool write_velocity_columns(const perp_pyramid *y, pyramid_writer *w, const perp_matrix *Ht,
                                   const perp_matrix *Bt, pyramid_column *c)
{
    const perp_fcp *fcp = &y->fcp;
    for (int j = 0; j < fcp->nv; j++) {
        // M in the rows of v, B'H' in those of p
        add_scaled_column(&fcp->M, j, 1.0, NULL, 0, c);
        add_scaled_column(Ht, j, 1.0, Bt, fcp->nv, c);
        if (!write_column(w, j, c)) {
            return false;
        }
    }
    return true;
}

// The columns of sigma: E. The friction columns of a sigma are
// consecutive, in the order of the sigmas.
static bool write_sigma_columns(const perp_pyramid *y, pyramid_writer *w, pyramid_column *c)
{
    int nv = y->fcp.nv, j = y->fcp.nc;
    for (int s = 0; s < y->ns; s++) {
        for (; j < y->np && y->sigma[j] == s; j++) {
            add_to_column(c, nv + j, 1.0);
        }
        if (!write_column(w, nv + y->np + s, c)) {
            return false;
        }
    }
    return true;
}

// False: no memory.
static bool allocate_column(pyramid_column *c, int n, pp_arena *arena)
{
    *c = (pyramid_column){.x = PP_ZEROS(arena, double, n),
                          .known = PP_ZEROS(arena, bool, n),
                          .hit = PP_ARRAY(arena, int, n)};
    return c->x && c->known && c->hit;
}

// All columns in order: v, p_n and p_f, sigma.
static perp_status build_matrix(perp_pyramid *y, pyramid_writer *w)
{
    const perp_fcp *fcp = &y->fcp;
    int rows = fcp->nc * fcp->dim;
    pyramid_column c;
    perp_matrix Ht = {0}, Bt;
    if (!allocate_column(&c, w->n, y->arena)) {
        return PERP_ERR_MEMORY;
    }
    // dense where small, or W a quarter full: B'W B is then full
    bool dense = fcp->nv == 0 && (fcp->W.dense || w->n <= 64 ||
                                  pp_matrix_entries(&fcp->W) > (size_t)rows * (size_t)rows / 4);
    if (dense) {
        w->dense = PP_ARRAY(y->arena, double, (size_t)w->n *(size_t)w->n);
    } else {
        w->p = PP_ARRAY(y->arena, int, w->n + 1);
    }
    if (!w->dense && !w->p) {
        return PERP_ERR_MEMORY;
    }
    perp_status status = pp_matrix_transpose(&y->B, y->arena, &Bt);
    if (status >= 0 && fcp->nv > 0) {
        status = pp_matrix_transpose(&fcp->H, y->arena, &Ht);
    }
    if (status < 0) {
        return status;
    }
    if ((fcp->nv > 0 && !write_velocity_columns(y, w, &Ht, &Bt, &c)) ||
        !write_impulse_columns(y, w, &Bt, &c) || !write_sigma_columns(y, w, &c)) {
        return PERP_ERR_MEMORY;
    }
    if (w->dense) {
        y->mcp.A = perp_matrix_dense(w->n, w->n, w->dense);
    } else {
        w->p[w->n] = (int)w->used;
        y->mcp.A = perp_matrix_csc(w->n, w->n, w->p, w->i, w->x);
    }
    return PERP_OK;
}

// b, and the bounds: v free, all others >= 0.
static perp_status build_vectors(perp_pyramid *y, int n)
{
    const perp_fcp *fcp = &y->fcp;
    double *b = PP_ZEROS(y->arena, double, n), *lower = NULL;
    if (!b) {
        return PERP_ERR_MEMORY;
    }
    // B'q, or B'w below the rows of v
    pp_matrix_mul_t(&y->B, 1.0, fcp->nv > 0 ? fcp->w : fcp->q, b + fcp->nv);
    if (fcp->nv > 0) {
        lower = PP_ZEROS(y->arena, double, n);
        if (!lower) {
            return PERP_ERR_MEMORY;
        }
        for (int k = 0; k < fcp->nv; k++) {
            b[k] = -fcp->f[k];
            lower[k] = -PP_INF;
        }
    }
    y->mcp.n = n;
    y->mcp.b = b;
    y->mcp.lower = lower;
    return PERP_OK;
}

// The pyramid owns its arrays but not the caller's matrices, which must outlive it.
perp_status perp_pyramid_create(const perp_fcp *fcp, int facets, const perp_env *env,
                                perp_pyramid **pyramid)
{
    char reason[8];
    if (!pyramid || pp_fcp_check(fcp, reason, sizeof reason) < 0 || facets < 3 || facets > 4096) {
        return PERP_ERR_ARGUMENT;
    }
    *pyramid = NULL;
    perp_pyramid *y = pp_alloc(env, sizeof *y);
    if (!y) {
        return PERP_ERR_MEMORY;
    }
    *y = (perp_pyramid){.env = env ? *env : (perp_env){0}, .arena = pp_arena_create(env)};
    // destroy releases what a failure leaves; np and ns are 0 until build_basis
    perp_status status = y->arena ? fill_facets(y, fcp, facets) : PERP_ERR_MEMORY;
    if (status >= 0) {
        status = build_basis(y);
    }
    pyramid_writer w = {.n = fcp->nv + y->np + y->ns, .arena = y->arena};
    if (status >= 0) {
        status = build_matrix(y, &w);
    }
    if (status >= 0) {
        status = build_vectors(y, w.n);
    }
    if (status < 0) {
        perp_pyramid_destroy(y);
        return status;
    }
    *pyramid = y;
    return PERP_OK;
}

void perp_pyramid_destroy(perp_pyramid *pyramid)
{
    if (pyramid) {
        perp_env env = pyramid->env;
        pp_arena_destroy(pyramid->arena);
        pp_free(&env, pyramid, sizeof *pyramid);
    }
}

const perp_mcp *perp_pyramid_mcp(const perp_pyramid *pyramid)
{
    return pyramid ? &pyramid->mcp : NULL;
}

const perp_fcp *perp_pyramid_fcp(const perp_pyramid *pyramid)
{
    return pyramid ? &pyramid->fcp : NULL;
}

void perp_pyramid_recover(const perp_pyramid *pyramid, const double *z, double *r, double *v)
{
    if (!pyramid || !z || !r) {
        return;
    }
    const perp_fcp *fcp = &pyramid->fcp;
    memset(r, 0, (size_t)(fcp->nc * fcp->dim) * sizeof *r);
    // r = B p
    pp_matrix_mul(&pyramid->B, 1.0, z + fcp->nv, r);
    if (v) {
        memcpy(v, z, (size_t)fcp->nv * sizeof *v);
    }
}

// ── From an answer of the contact problem ────────────────────────────────────────────────────────

// Splits r_g over the one or two directions beside it, without negative parts;
// returns the sum of the parts. A part below 1e-13 of the other is rounding and
// becomes 0, so that r on a vertex is a basic solution.
static double split_group(int size, int nd, const double *r, double *part)
{
    memset(part, 0, (size_t)nd * sizeof *part);
    if (size == 1) {
        part[r[0] > 0.0 ? 0 : 1] = fabs(r[0]);
        return fabs(r[0]);
    }
    // r = a d_first + b d_second, by Cramer's rule; det(d_first, d_second) = sin(width)
    double width = 6.283185307179586 / nd, angle = pp_atan2(r[1], r[0]);
    int first = (int)floor(angle / width + nd) % nd, second = (first + 1) % nd;
    double at = first * width, next = second * width, det = pp_sin(width);
    double a = (r[0] * pp_sin(next) - r[1] * pp_cos(next)) / det;
    double b = (r[1] * pp_cos(at) - r[0] * pp_sin(at)) / det;
    part[first] = a > 1e-13 * fabs(b) ? a : 0.0;
    part[second] = b > 1e-13 * fabs(a) ? b : 0.0;
    return part[first] + part[second];
}

// The support function max_j -d_j . u, theory (C13), and in *where the j.
static double support_and_vertex(int size, int nd, const double *u, int *where)
{
    double most = -PP_INF;
    for (int j = 0; j < nd; j++) {
        double angle = 6.283185307179586 * (double)j / (double)nd;
        double along = j == 0 ? -u[0] : u[0];
        if (size == 2) {
            along = -u[0] * pp_cos(angle) - u[1] * pp_sin(angle);
        }
        *where = along > most ? j : *where;
        most = fmax(most, along);
    }
    return most;
}

// The variables p_n, p_f and sigma of contact c. Whether a group slips is decided by the smaller
// violation: slip with the limit not used, or stick with sigma > 0; ratio [1/kg] converts impulses
// into speeds. A group that slips uses all of its limit.
static void split_contact(const perp_pyramid *y, int c, const double *r, const double *u,
                          double ratio, double *z)
{
    const perp_fcp *fcp = &y->fcp;
    pp_group group[PP_GROUPS_MAX];
    int groups = pp_fcp_groups(fcp, group);
    double *part = z + y->first[c];
    z[fcp->nv + c] = fmax(r[0], 0.0);
    for (int g = 0; g < groups; g++) {
        int nd = facets_of(fcp, &group[g], c), f = group[g].first, where = 0;
        // the sum of the parts is the gauge of r_g in the polygon, at most the limit mu r_n
        double limit = group[g].mu[c] * z[fcp->nv + c];
        double sum = split_group(group[g].size, nd, r + f, part);
        double sigma = fmax(support_and_vertex(group[g].size, nd, u + f, &where), 0.0);
        // stick leaves sigma > 0 as a violation, slip leaves limit - sum
        bool slips = sigma > ratio * (limit - sum);
        if (slips && sum > 0.0) {
            for (int j = 0; j < nd; j++) {
                part[j] = part[j] * (limit / sum);
            }
        } else if (slips) {
            part[where] = limit;
        }
        z[fcp->nv + y->np + c * groups + g] = slips ? sigma : 0.0;
        part += nd;
    }
}

// u = W r + q or H'v + w decides between stick and slip; v is copied.
perp_status perp_pyramid_split(const perp_pyramid *pyramid, const double *r, const double *v,
                               double *z)
{
    if (!pyramid) {
        return PERP_ERR_ARGUMENT;
    }
    const perp_fcp *fcp = &pyramid->fcp;
    int n = fcp->nc * fcp->dim;
    size_t bytes = (size_t)n * sizeof(double);
    if (!r || !z || (fcp->nv > 0 && !v) || !pp_all_finite((size_t)n, r)) {
        return PERP_ERR_ARGUMENT;
    }
    double *u = pp_alloc(&pyramid->env, bytes);
    if (!u) {
        return PERP_ERR_MEMORY;
    }
    memcpy(u, fcp->nv > 0 ? fcp->w : fcp->q, bytes);
    double still = pp_norm_inf(n, u);
    if (fcp->nv > 0) {
        pp_matrix_mul_t(&fcp->H, 1.0, v, u);
        memcpy(z, v, (size_t)fcp->nv * sizeof *z);
    } else {
        pp_matrix_mul(&fcp->W, 1.0, r, u);
    }
    // speeds over impulses, by their largest values
    double ratio = fmax(pp_norm_inf(n, u), still) / fmax(pp_norm_inf(n, r), 1e-300);
    for (int c = 0; c < fcp->nc; c++) {
        split_contact(pyramid, c, r + c * fcp->dim, u + c * fcp->dim, ratio, z);
    }
    pp_free(&pyramid->env, u, bytes);
    return PERP_OK;
}
