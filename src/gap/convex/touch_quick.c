// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The normals that resting solids mostly have: of a face, or across the axes of round ones. Each is tried
// in closed form; one that the patches certify needs no search.
#include "gap/convex/narrow.h"

typedef struct trial {
    const pp_placed_solid *a, *b;
    double s;
    perp_vec3 n;
} trial;

enum { FACES_MAX = 32 };

// One axis of the separating axis test.
static void try_normal(trial *t, perp_vec3 n)
{
    double s = pp_core_separation(t->a, t->b, n);
    if (s > t->s) {
        t->s = s;
        t->n = n;
    }
}

// Face normals. sign: n is sign times the outward normal, +1 for a and -1 for b. A box and a cylinder have a face on
// either side, so their sign does not matter. FACES_MAX bounds the cost.
static void try_faces(trial *t, const pp_placed_solid *s, double sign)
{
    const pp_solid *solid = s->solid;
    perp_vec3 axis = pp_mat3_column(&s->R, 2);
    if (solid->kind == PP_SOLID_BOX) {
        for (int k = 0; k < 6; k++) {
            try_normal(t, pp_scale(k & 1 ? 1.0 : -1.0, pp_mat3_column(&s->R, k / 2)));
        }
    } else if (solid->kind == PP_SOLID_CYLINDER) {
        try_normal(t, axis);
        try_normal(t, pp_scale(-1.0, axis));
    } else if (solid->kind == PP_SOLID_CONE) {
        try_normal(t, pp_scale(-sign, axis));
    } else if (solid->kind == PP_SOLID_HULL) {
        int faces = solid->hull->faces < FACES_MAX ? solid->hull->faces : FACES_MAX;
        for (int f = 0; f < faces; f++) {
            try_normal(t, pp_scale(sign, pp_mul(&s->R, solid->hull->face_normal[f])));
        }
    }
}

// What the round side of a solid is around. 0: none; 1: a point; 2: a straight axis.
static int axis_of(const pp_placed_solid *s, perp_vec3 *axis)
{
    pp_solid_kind kind = s->solid->kind;
    *axis = pp_mat3_column(&s->R, 2);
    if (kind == PP_SOLID_SPHERE) {
        return 1;
    }
    return kind == PP_SOLID_CAPSULE || kind == PP_SOLID_CYLINDER ? 2 : 0;
}

// Round sides lying on each other: from one axis to the other's middle, or across both.
static void try_axes(trial *t)
{
    perp_vec3 d, e, between = pp_sub(t->b->p, t->a->p);
    int of_a = axis_of(t->a, &d), of_b = axis_of(t->b, &e);
    if (of_a == 0 || of_b == 0) {
        return;
    }
    if (of_a == 2) {
        try_normal(t, pp_radial(between, d));
    }
    if (of_b == 2) {
        try_normal(t, pp_radial(between, e));
    }
    perp_vec3 across = pp_cross(d, e);
    if (of_a == 2 && of_b == 2 && pp_dot3(across, across) > 1e-12) {
        across = pp_unit(across, d);
        try_normal(t, pp_scale(pp_dot3(across, between) < 0.0 ? -1.0 : 1.0, across));
    }
}

double pp_quick_separating_axis(const pp_placed_solid *a, const pp_placed_solid *b, perp_vec3 *n)
{
    trial t = {a, b, -PP_INF, *n};
    try_faces(&t, a, 1.0);
    try_faces(&t, b, -1.0);
    try_axes(&t);
    *n = t.n;
    return t.s;
}

// The least width of the spots that are no more than the depth above the closest, of four directions.
static double width(const pp_manifold3 *m, double depth)
{
    static const double C = 0.9238795325112867, S = 0.3826834323650898;
    const double way[4][2] = {{C, S}, {S, C}, {-S, C}, {-C, S}};
    double least = PP_INF, lowest = PP_INF;
    for (int k = 0; k < m->count; k++) {
        lowest = fmin(lowest, m->spot[k].gap);
    }
    for (int w = 0; w < 4; w++) {
        perp_vec3 d = pp_along(pp_scale(way[w][0], m->e), way[w][1], m->f);
        double low = PP_INF, high = -PP_INF;
        for (int k = 0; k < m->count; k++) {
            if (m->spot[k].gap <= lowest + depth) {
                low = fmin(low, pp_dot3(d, m->spot[k].x));
                high = fmax(high, pp_dot3(d, m->spot[k].x));
            }
        }
        least = fmin(least, high - low);
    }
    return least;
}

// The difference D = b - a of the cores has a flat stretch across n at the depth h below the origin. Its inner
// radius rho is a third of its width at least (Steinhagen), and D is t thick there, and nowhere wider than
// its size. A plane that supports D and is turned from n by an angle up to a right one then is
// at least h cos + rho sin away from the origin, one on the other side about t rho / size: further than h, if h is
// small against rho, t and t rho / size.
bool pp_quick_deepest(const pp_manifold3 *m, const pp_placed_solid *a, const pp_placed_solid *b)
{
    double depth = fmax(0.0, m->round_a + m->round_b - m->s);
    double rho = 0.3 * width(m, depth), size = a->size + b->size;
    double thick = -pp_core_separation(a, b, pp_scale(-1.0, m->n));
    return m->count > 2 && fmin(fmin(rho, thick), 0.25 * thick * rho / size) >= 4.0 * depth;
}
