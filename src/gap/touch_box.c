// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The axis that parts two boxes best.
//
// The largest s(n) of two overlapping polyhedra is at a face normal of one of them or across an edge of
// each: 3 + 3 + 9 axes for boxes (Gottschalk, Lin and Manocha 1996). Every axis gives a true lower bound, so a
// segment may be a box without width and a point a box without extent. For boxes that are apart the same
// axes suffice unless a vertex is closest to an edge or to a vertex.
#include "gap/touch_core.h"

typedef struct two_boxes {
    double C[3][3];  // R_A^T R_B
    double ha[3], hb[3];
    double t[3];  // from the centre of a to that of b, in a
    double best;
    double n[3];  // in a
} two_boxes;

static void half_of(const pp_placed *s, double *half)
{
    const pp_solid *solid = s->solid;
    bool box = solid->kind == PP_SOLID_BOX;
    half[0] = box ? solid->half.x : 0.0;
    half[1] = box ? solid->half.y : 0.0;
    half[2] = solid->kind == PP_SOLID_SPHERE ? 0.0 : solid->half.z;
}

static void try_faces(two_boxes *w, double tie)
{
    for (int i = 0; i < 3; i++) {
        double s = fabs(w->t[i]) - w->ha[i];
        for (int j = 0; j < 3; j++) {
            s -= fabs(w->C[i][j]) * w->hb[j];
        }
        if (s > w->best) {
            w->best = s;
            for (int k = 0; k < 3; k++) {
                w->n[k] = k == i ? copysign(1.0, w->t[i]) : 0.0;
            }
        }
    }
    for (int j = 0; j < 3; j++) {
        double along = 0.0, s = -w->hb[j];
        for (int i = 0; i < 3; i++) {
            along += w->t[i] * w->C[i][j];
            s -= fabs(w->C[i][j]) * w->ha[i];
        }
        s += fabs(along);
        if (s > w->best + tie) {
            w->best = s;
            for (int k = 0; k < 3; k++) {
                w->n[k] = copysign(1.0, along) * w->C[k][j];
            }
        }
    }
}

// The true s of the axis across edge i of a and edge j of b, which is l / length.
static void take_edges(two_boxes *w, const double *l, double length, double tie)
{
    double n[3], along = 0.0, s = 0.0;
    for (int k = 0; k < 3; k++) {
        n[k] = l[k] / length;
        along += n[k] * w->t[k];
        s -= fabs(n[k]) * w->ha[k];
    }
    for (int j = 0; j < 3; j++) {
        s -= w->hb[j] * fabs(n[0] * w->C[0][j] + n[1] * w->C[1][j] + n[2] * w->C[2][j]);
    }
    s += fabs(along);
    if (s > w->best + tie) {
        w->best = s;
        for (int k = 0; k < 3; k++) {
            w->n[k] = along >= 0.0 ? n[k] : -n[k];
        }
    }
}

// l = e_i x C_j has components (0, -C_kj, C_jj) around i: half the terms of the sums vanish.
static void try_edges(two_boxes *w, double tie)
{
    for (int i = 0; i < 3; i++) {
        int p = (i + 1) % 3, q = (i + 2) % 3;
        for (int j = 0; j < 3 && w->ha[i] > 0.0; j++) {
            int r = (j + 1) % 3, s = (j + 2) % 3;
            double lp = -w->C[q][j], lq = w->C[p][j], length2 = lp * lp + lq * lq;
            double reach = fabs(lp) * w->ha[p] + fabs(lq) * w->ha[q] + fabs(w->C[i][s]) * w->hb[r] +
                           fabs(w->C[i][r]) * w->hb[s];
            double room = fabs(lp * w->t[p] + lq * w->t[q]) - reach, length = sqrt(length2);
            if (length < 1e-8 || w->hb[j] == 0.0 || room <= (w->best - tie) * length) {
                continue;
            }
            double l[3] = {0.0, 0.0, 0.0};
            l[p] = lp;
            l[q] = lq;
            take_edges(w, l, length, tie);
        }
    }
}

double pp_box_axis(const pp_placed *a, const pp_placed *b, double most, perp_vec3 *n)
{
    two_boxes w = {.best = -PP_INF};
    pp_mat3 Rt = pp_transpose3(&a->R), C = pp_mat_mul(&Rt, &b->R);
    perp_vec3 t = pp_mul_t(&a->R, pp_sub(b->p, a->p));
    double tie = 2e-15 * (a->size + b->size);
    for (int k = 0; k < 9; k++) {
        w.C[k / 3][k % 3] = C.m[k];
    }
    w.t[0] = t.x;
    w.t[1] = t.y;
    w.t[2] = t.z;
    half_of(a, w.ha);
    half_of(b, w.hb);
    try_faces(&w, tie);
    if (w.best <= most) {
        try_edges(&w, tie);
    }
    *n = pp_unit(pp_mul(&a->R, pp_vec(w.n[0], w.n[1], w.n[2])), pp_vec(0.0, 0.0, 1.0));
    return w.best;
}
