// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The normals that resting solids mostly have: of a face, or across the axes of round ones. Each is tried
// in closed form; one that the patches certify needs no search.
#include "gap/touch_core.h"

typedef struct trial {
    const pp_placed *a, *b;
    double s;
    perp_vec3 n;
} trial;

enum { FACES_MAX = 32 };

static void try_normal(trial *t, perp_vec3 n)
{
    double s = pp_core_parting(t->a, t->b, n);
    if (s > t->s) {
        t->s = s;
        t->n = n;
    }
}

// sign: from outward to n.
static void try_faces(trial *t, const pp_placed *s, double sign)
{
    const pp_solid *solid = s->solid;
    perp_vec3 axis = pp_column(&s->R, 2);
    if (solid->kind == PP_SOLID_BOX) {
        for (int k = 0; k < 6; k++) {
            try_normal(t, pp_scale(k & 1 ? 1.0 : -1.0, pp_column(&s->R, k / 2)));
        }
    } else if (solid->kind == PP_SOLID_CYLINDER) {
        try_normal(t, axis);
        try_normal(t, pp_scale(-1.0, axis));
    } else if (solid->kind == PP_SOLID_CONE) {
        try_normal(t, pp_scale(-sign, axis));
    } else if (solid->kind == PP_SOLID_HULL) {
        for (int f = 0; f < solid->hull->faces && f < FACES_MAX; f++) {
            try_normal(t, pp_scale(sign, pp_mul(&s->R, solid->hull->face_normal[f])));
        }
    }
}

// 0: none; 1: a point; 2: a straight axis.
static int axis_of(const pp_placed *s, perp_vec3 *axis)
{
    pp_solid_kind kind = s->solid->kind;
    *axis = pp_column(&s->R, 2);
    return kind == PP_SOLID_SPHERE                                 ? 1
           : kind == PP_SOLID_CAPSULE || kind == PP_SOLID_CYLINDER ? 2
                                                                   : 0;
}

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

double pp_quick_axis(const pp_placed *a, const pp_placed *b, perp_vec3 *n)
{
    trial t = {a, b, -PP_INF, *n};
    try_faces(&t, a, 1.0);
    try_faces(&t, b, -1.0);
    try_axes(&t);
    *n = t.n;
    return t.s;
}
