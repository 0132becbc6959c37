// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Random heaps of balls: M is diagonal, H has the rows of one or two balls a contact.
#include "support/heap.h"

#include "comp/comp.h"

#include <math.h>
#include <stdlib.h>

typedef struct frame {
    double axis[3][3];  // n, t, o
} frame;

static void cross(const double *a, const double *b, double *c)
{
    for (int k = 0; k < 3; k++) {
        c[k] = a[(k + 1) % 3] * b[(k + 2) % 3] - a[(k + 2) % 3] * b[(k + 1) % 3];
    }
}

// The normal points up from the lower ball; in the plane x is right, y is up and z turns.
static frame draw_frame(rng *g, int dim)
{
    double lean = rng_uniform(g, 0.0, 0.43), turn = rng_uniform(g, 0.0, 6.283185307179586);
    double side = rng_below(g, 2) ? 1.0 : -1.0;
    frame f = {.axis = {{sin(lean) * cos(turn), sin(lean) * sin(turn), cos(lean)}}};
    if (dim == 2) {
        f = (frame){
            .axis = {{side * sin(lean), cos(lean), 0.0}, {cos(lean), -side * sin(lean), 0.0}}};
        return f;
    }
    double s = sqrt(f.axis[0][2] * f.axis[0][2] + f.axis[0][0] * f.axis[0][0]);
    f.axis[1][0] = f.axis[0][2] / s;
    f.axis[1][2] = -f.axis[0][0] / s;
    cross(f.axis[0], f.axis[1], f.axis[2]);
    return f;
}

typedef struct columns {
    int *p, *i;
    double *x;
    int used;
} columns;

// Row of component k of the contact for a ball whose centre is `arm` along n from the contact point,
// of velocities (v, w) in space and (v, spin) in the plane.
static void component(const frame *f, int dim, int k, double arm, double *row)
{
    static const int spin_axis[7][6] = {
        [4] = {0, 0, 0, 0}, [5] = {0, 0, 0, 1, 2}, [6] = {0, 0, 0, 0, 1, 2}};
    double lever[3] = {-arm * f->axis[0][0], -arm * f->axis[0][1], -arm * f->axis[0][2]}, moment[3];
    for (int m = 0; m < 6; m++) {
        row[m] = 0.0;
    }
    if (k >= 3) {
        for (int m = 0; m < 3; m++) {
            row[3 + m] = f->axis[spin_axis[dim][k]][m];
        }
        return;
    }
    cross(lever, f->axis[k], moment);  // d . (v + w x lever) = d . v + w . (lever x d)
    for (int m = 0; m < 3; m++) {
        row[m] = f->axis[k][m];
        row[3 + m] = moment[m];
    }
    if (dim == 2) {
        row[2] = moment[2];
    }
}

static void add_contact(columns *H, const frame *f, int dim, int lower, int upper)
{
    int width = dim == 2 ? 3 : 6;
    for (int k = 0; k < dim; k++) {
        double row[6];
        for (int side = lower < 0; side < 2; side++) {
            component(f, dim, k, side ? 1.0 : -1.0, row);
            for (int m = 0; m < width; m++) {
                H->i[H->used] = width * (side ? upper : lower) + m;
                H->x[H->used++] = side ? row[m] : -row[m];
            }
        }
        *++H->p = H->used;
    }
}

heap *heap_create(int balls, int supports, int dim, int nd, uint64_t seed)
{
    rng g = rng_seed(seed);
    heap *h = calloc(1, sizeof *h);
    pp_arena *arena = pp_arena_create(NULL);
    int nc = balls * supports, width = dim == 2 ? 3 : 6, nv = balls * width, n = nc * dim;
    columns M = {PP_ZEROS(arena, int, nv + 1), PP_ARRAY(arena, int, nv),
                 PP_ARRAY(arena, double, nv), 0};
    columns H = {PP_ZEROS(arena, int, n + 1), PP_ARRAY(arena, int, 12 * n),
                 PP_ARRAY(arena, double, 12 * n), 0};
    double *f = PP_ARRAY(arena, double, nv), *w = PP_ZEROS(arena, double, n);
    double *mu = PP_ARRAY(arena, double, 3 * nc);
    int *facets = PP_ARRAY(arena, int, nc), *start = H.p;
    for (int j = 0; j < nv; j++) {
        bool turning = j % width >= (dim == 2 ? 2 : 3);
        double mass = 1.0 + (j / width) % 3;
        M.p[j + 1] = j + 1;
        M.i[j] = j;
        M.x[j] = turning ? 0.4 * mass : mass;
        f[j] = M.x[j] * rng_uniform(&g, -0.3, 0.3) - (j % width == (dim == 2 ? 1 : 2) ? mass : 0.0);
    }
    for (int c = 0; c < nc; c++) {
        int upper = c / supports;
        int lower = upper - 1 - c % supports;  // each pair of balls once
        lower = lower < 0 || rng_below(&g, 4) == 0 ? -1 : lower;
        frame axes = draw_frame(&g, dim);
        add_contact(&H, &axes, dim, lower, upper);
        mu[c] = rng_uniform(&g, 0.1, 0.6);
        mu[nc + c] = rng_uniform(&g, 0.01, 0.1);
        mu[2 * nc + c] = rng_uniform(&g, 0.01, 0.1);
        facets[c] = nd;
    }
    h->global = (perp_fcp){.nc = nc, .dim = dim, .nv = nv, .mu = mu, .f = f, .w = w};
    h->global.mu_spin = dim == 4 || dim == 6 ? mu + nc : NULL;
    h->global.mu_roll = dim >= 5 ? mu + 2 * nc : NULL;
    h->global.nd = nd ? facets : NULL;
    h->global.M = perp_matrix_csc(nv, nv, M.p, M.i, M.x);
    h->global.H = perp_matrix_csc(nv, n, start, H.i, H.x);
    h->arena = arena;
    pp_mass *mass = NULL;
    if (pp_mass_create(&h->global.M, arena, &mass) < 0 ||
        pp_fcp_condense(&h->global, mass, arena, &h->local) < 0) {
        heap_destroy(h);
        h = NULL;
    }
    pp_mass_destroy(mass);
    return h;
}

void heap_destroy(heap *h)
{
    if (h) {
        pp_arena_destroy(h->arena);
        free(h);
    }
}
