// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// A global contact problem body by body: products with W = G^T M^-1 G at the cost of the entries of
// G, without forming W. M is block diagonal, one small block a body; G is H, later H S.
#include "comp/newton/ssn.h"

#include <math.h>
#include <string.h>

#define INLINE static inline __attribute__((always_inline))

#define ROUNDING 1e-14  // by which a rotated inertia may fail to be symmetric

enum {
    BODIES_MOST = 8,  // bodies of a contact; a problem with more is condensed to W
    BODY_MOST = 16,   // velocities of a body: mass.c makes no larger ones
};

// Copies the blocks of M and M^-1 and numbers the velocities body by body.
// False: no memory. A block that is symmetric up to rounding is made so
// exactly, which allows a symmetric factorisation.
static bool copy_masses(const perp_fcp *fcp, const pp_mass *mass, pp_arena *arena, pp_bodies *b)
{
    int total = 0, used = 0;
    b->size = PP_ARRAY(arena, int, b->count);
    b->first = PP_ARRAY(arena, int, b->count + 1);
    b->dof = PP_ARRAY(arena, int, b->nv);
    b->at = PP_ARRAY(arena, int, b->count);
    b->y = PP_ARRAY(arena, double, b->nv);
    if (!b->size || !b->first || !b->dof || !b->at || !b->y) {
        return false;
    }
    for (int k = 0; k < b->count; k++) {
        const int *dof;
        const double *inverse;
        b->size[k] = pp_mass_body_at(mass, k, &dof, &inverse);
        b->first[k] = used;
        b->at[k] = total;
        memcpy(b->dof + used, dof, (size_t)b->size[k] * sizeof *dof);
        used += b->size[k];
        total += b->size[k] * b->size[k];
    }
    b->first[b->count] = used;
    b->M = PP_ZEROS(arena, double, total);
    b->inverse = PP_ARRAY(arena, double, total);
    if (!b->M || !b->inverse) {
        return false;
    }
    b->symmetric = true;
    for (int k = 0; k < b->count; k++) {
        const int *dof;
        const double *inverse;
        int size = pp_mass_body_at(mass, k, &dof, &inverse);
        memcpy(b->inverse + b->at[k], inverse, (size_t)(size * size) * sizeof *inverse);
        double *M = b->M + b->at[k];
        for (int j = 0; j < size; j++) {
            for (int e = fcp->M.p[dof[j]]; e < fcp->M.p[dof[j] + 1]; e++) {
                // position of the row within the body: blocks are small
                int i = 0;
                while (dof[i] != fcp->M.i[e]) {
                    i++;
                }
                M[i + j * size] = fcp->M.x[e];
            }
        }
        for (int j = 0; j < size; j++) {
            for (int i = 0; i < j; i++) {
                double above = M[i + j * size], below = M[j + i * size];
                double most = ROUNDING * sqrt(fabs(M[i + i * size] * M[j + j * size]));
                b->symmetric = b->symmetric && fabs(above - below) <= most;
                M[i + j * size] = M[j + i * size] = 0.5 * (above + below);
            }
        }
    }
    return true;
}

// Lists the bodies of contact c, ascending; returns how many, -1: too
// many. body_of: body of a velocity.
static int bodies_of_contact(const perp_matrix *H, const int *body_of, int dim, int c,
                             int list[BODIES_MOST])
{
    int count = 0;
    for (int k = H->p[c * dim]; k < H->p[(c + 1) * dim]; k++) {
        int body = body_of[H->i[k]], at = count;
        // a contact has one or two bodies nearly always: linear search and insertion
        bool seen = false;
        for (int e = 0; e < count; e++) {
            seen = seen || list[e] == body;
        }
        if (seen) {
            continue;
        }
        if (count == BODIES_MOST) {
            return -1;
        }
        for (; at > 0 && list[at - 1] > body; at--) {
            list[at] = list[at - 1];
        }
        list[at] = body;
        count++;
    }
    return count;
}

// Lists the bodies of every contact and copies H into their blocks of G. *fits becomes false where
// a contact couples too many bodies. False: no memory.
static bool list_contacts(const perp_fcp *fcp, pp_arena *arena, pp_bodies *b, bool *fits)
{
    const perp_matrix *H = &fcp->H;
    int *body_of = PP_ARRAY(arena, int, b->nv), *row_of = PP_ARRAY(arena, int, b->nv);
    int most = H->p[H->cols] + 1, total = 0;
    b->p = PP_ARRAY(arena, int, b->nc + 1);
    b->body = PP_ARRAY(arena, int, most);
    b->g_at = PP_ARRAY(arena, int, most + 1);
    if (!body_of || !row_of || !b->p || !b->body || !b->g_at) {
        return false;
    }
    // a velocity by the caller's number: its body and its row there
    for (int k = 0; k < b->count; k++) {
        for (int i = b->first[k]; i < b->first[k + 1]; i++) {
            body_of[b->dof[i]] = k;
            row_of[b->dof[i]] = i - b->first[k];
        }
    }
    b->p[0] = 0;
    for (int c = 0; c < b->nc; c++) {
        int list[BODIES_MOST], count = bodies_of_contact(H, body_of, b->dim, c, list);
        if (count < 0) {
            *fits = false;
            return true;
        }
        b->p[c + 1] = b->p[c] + count;
        for (int e = 0; e < count; e++) {
            b->body[b->p[c] + e] = list[e];
            b->g_at[b->p[c] + e] = total;
            total += b->size[list[e]] * b->dim;
        }
    }
    b->G = PP_ZEROS(arena, double, total);
    if (!b->G) {
        return false;
    }
    for (int c = 0; c < b->nc; c++) {
        for (int a = 0; a < b->dim; a++) {
            for (int k = H->p[c * b->dim + a]; k < H->p[c * b->dim + a + 1]; k++) {
                int body = body_of[H->i[k]], e = b->p[c];
                while (b->body[e] != body) {
                    e++;
                }
                b->G[b->g_at[e] + row_of[H->i[k]] + a * b->size[body]] += H->x[k];
            }
        }
    }
    return true;
}

// M and H must be sparse and M block diagonal; M^-1 comes from mass.c.
perp_status pp_bodies_create(const perp_fcp *fcp, const pp_mass *mass, pp_arena *arena,
                             pp_bodies **out)
{
    *out = NULL;
    if (fcp->M.dense || fcp->H.dense || pp_mass_bodies(mass) == 0) {
        return PERP_OK;
    }
    pp_bodies *b = PP_ZEROS(arena, pp_bodies, 1);
    bool fits = true;
    if (!b) {
        return PERP_ERR_MEMORY;
    }
    *b = (pp_bodies){.count = pp_mass_bodies(mass), .dim = fcp->dim, .nv = fcp->nv, .nc = fcp->nc};
    // PERP_OK without bodies where a contact couples too many of them
    if (!copy_masses(fcp, mass, arena, b) || !list_contacts(fcp, arena, b, &fits)) {
        return PERP_ERR_MEMORY;
    }
    *out = fits ? b : NULL;
    return PERP_OK;
}

// ── Products ─────────────────────────────────────────────────────────────────────────────────────

// y += G x for one body of a contact
INLINE void add_impulse_of(int size, int dim, const double *G, const double *x, double *y)
{
    for (int a = 0; a < dim; a++) {
        for (int i = 0; i < size; i++) {
            y[i] += G[i + a * size] * x[a];
        }
    }
}

// u += G^T y for one body of a contact
INLINE void add_velocity_at(int size, int dim, const double *G, const double *y, double *u)
{
    for (int a = 0; a < dim; a++) {
        double sum = 0.0;
        for (int i = 0; i < size; i++) {
            sum += G[i + a * size] * y[i];
        }
        u[a] += sum;
    }
}

// y = A y for a small column-major matrix
INLINE void multiply_sized(int size, const double *A, double *y)
{
    double t[BODY_MOST] = {0.0};
    for (int j = 0; j < size; j++) {
        for (int i = 0; i < size; i++) {
            t[i] += A[i + j * size] * y[j];
        }
    }
    memcpy(y, t, (size_t)size * sizeof *y);
}

// The same with constant sizes for planar and spatial bodies, which the compiler unrolls.
static void multiply_in_place(int size, const double *A, double *y)
{
    if (size == 3) {
        multiply_sized(3, A, y);
    } else if (size == 6) {
        multiply_sized(6, A, y);
    } else {
        multiply_sized(size, A, y);
    }
}

// u += G^T y: velocities of all contacts from those of the bodies
static void add_contact_velocities(const pp_bodies *b, const double *y, double *u)
{
    int d = b->dim;
    for (int c = 0; c < b->nc; c++) {
        for (int e = b->p[c]; e < b->p[c + 1]; e++) {
            const double *G = b->G + b->g_at[e], *from = y + b->first[b->body[e]];
            // constant sizes for planar and spatial bodies
            if (d == 2 && b->size[b->body[e]] == 3) {
                add_velocity_at(3, 2, G, from, u + 2 * c);
            } else if (d == 3 && b->size[b->body[e]] == 6) {
                add_velocity_at(6, 3, G, from, u + 3 * c);
            } else {
                add_velocity_at(b->size[b->body[e]], d, G, from, u + c * d);
            }
        }
    }
}

// y = G x: impulses on all bodies from those of the contacts
static void body_impulses(const pp_bodies *b, const double *x, double *y)
{
    int d = b->dim;
    memset(y, 0, (size_t)b->nv * sizeof *y);
    for (int c = 0; c < b->nc; c++) {
        for (int e = b->p[c]; e < b->p[c + 1]; e++) {
            const double *G = b->G + b->g_at[e];
            double *to = y + b->first[b->body[e]];
            if (d == 2 && b->size[b->body[e]] == 3) {
                add_impulse_of(3, 2, G, x + 2 * c, to);
            } else if (d == 3 && b->size[b->body[e]] == 6) {
                add_impulse_of(6, 3, G, x + 3 * c, to);
            } else {
                add_impulse_of(b->size[b->body[e]], d, G, x + c * d, to);
            }
        }
    }
}

// y = M^-1 y
static void apply_inverse_mass(const pp_bodies *b, double *y)
{
    for (int k = 0; k < b->count; k++) {
        multiply_in_place(b->size[k], b->inverse + b->at[k], y + b->first[k]);
    }
}

void pp_bodies_state(const pp_bodies *b, const double *x, double *y)
{
    body_impulses(b, x, y);
    apply_inverse_mass(b, y);
}

// u = G^T (M^-1 (G x)); the velocities are left in y.
void pp_bodies_mul(const pp_bodies *b, const double *x, double *u)
{
    pp_bodies_state(b, x, b->y);
    memset(u, 0, (size_t)b->nc * (size_t)b->dim * sizeof *u);
    add_contact_velocities(b, b->y, u);
}

double pp_bodies_entries(const pp_bodies *b)
{
    double sum = 0.0;
    for (int e = 0; e < b->p[b->nc]; e++) {
        sum += b->size[b->body[e]] * b->dim;
    }
    return sum;
}

bool pp_bodies_transmit(pp_bodies *b, pp_arena *arena)
{
    b->T = PP_ARRAY(arena, double, pp_bodies_entries(b));
    if (!b->T) {
        return false;
    }
    for (int e = 0; e < b->p[b->nc]; e++) {
        int size = b->size[b->body[e]];
        for (int a = 0; a < b->dim; a++) {
            double *T = b->T + b->g_at[e] + a * size;
            memcpy(T, b->G + b->g_at[e] + a * size, (size_t)size * sizeof *T);
            multiply_in_place(size, b->inverse + b->at[b->body[e]], T);
        }
    }
    return true;
}

void pp_bodies_velocity_at(const pp_bodies *b, const double *y, int c, double *u)
{
    for (int e = b->p[c]; e < b->p[c + 1]; e++) {
        const double *G = b->G + b->g_at[e], *from = y + b->first[b->body[e]];
        if (b->dim == 3 && b->size[b->body[e]] == 6) {
            add_velocity_at(6, 3, G, from, u);
        } else {
            add_velocity_at(b->size[b->body[e]], b->dim, G, from, u);
        }
    }
}

void pp_bodies_apply(const pp_bodies *b, int c, const double *dx, double *y)
{
    for (int e = b->p[c]; e < b->p[c + 1]; e++) {
        const double *T = b->T + b->g_at[e];
        double *to = y + b->first[b->body[e]];
        if (b->dim == 3 && b->size[b->body[e]] == 6) {
            add_impulse_of(6, 3, T, dx, to);
        } else {
            add_impulse_of(b->size[b->body[e]], b->dim, T, dx, to);
        }
    }
}

// q = H^T M^-1 f + w; y is scratch.
void pp_bodies_free_motion(const pp_bodies *b, const perp_fcp *fcp, double *q)
{
    for (int i = 0; i < b->nv; i++) {
        b->y[i] = fcp->f[b->dof[i]];
    }
    apply_inverse_mass(b, b->y);
    memcpy(q, fcp->w, (size_t)b->nc * (size_t)b->dim * sizeof *q);
    add_contact_velocities(b, b->y, q);
}

void pp_bodies_scale(pp_bodies *b, const double *S)
{
    for (int c = 0; c < b->nc; c++) {
        for (int e = b->p[c]; e < b->p[c + 1]; e++) {
            int size = b->size[b->body[e]];
            for (int k = 0; k < size * b->dim; k++) {
                b->G[b->g_at[e] + k] *= S[c * b->dim + k / size];
            }
        }
    }
}

// W_cc = sum over its bodies of G^T M_k^-1 G, column by column.
void pp_bodies_own(const pp_bodies *b, double *own)
{
    int d = b->dim;
    memset(own, 0, (size_t)b->nc * (size_t)(d * d) * sizeof *own);
    for (int c = 0; c < b->nc; c++) {
        for (int e = b->p[c]; e < b->p[c + 1]; e++) {
            int size = b->size[b->body[e]];
            const double *G = b->G + b->g_at[e];
            for (int a = 0; a < d; a++) {
                // column a of M^-1 G
                double t[BODY_MOST];
                memcpy(t, G + a * size, (size_t)size * sizeof *t);
                multiply_in_place(size, b->inverse + b->at[b->body[e]], t);
                add_velocity_at(size, d, G, t, own + (size_t)c * (size_t)(d * d) + a * d);
            }
        }
    }
}
