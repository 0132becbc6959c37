// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The separating axis test of two boxes, signed: the axis of the largest separation s(n).
//
// The largest s(n) of two overlapping polyhedra is at a face normal of one of them or across an edge of
// each: 3 + 3 + 9 axes for boxes (Gottschalk, Lin and Manocha 1996). Every axis gives a true lower bound, so a
// segment may be a box without width and a point a box without extent. For boxes that are apart the same
// axes suffice unless a vertex is closest to an edge or to a vertex.
#include "gap/convex/narrow.h"

typedef struct two_boxes {
    double C[3][3];       // R_A^T R_B: column j is axis j of b in the frame of a
    double ha[3], hb[3];  // half extents [m]
    double t[3];          // from the centre of a to that of b, in a
    double best;          // largest s(n) so far [m]; negative: they overlap along all axes so far
    double n[3];          // its axis, unit, in a, pointing from a to b
} two_boxes;

// A segment (capsule core) is a box with half extents (0, 0, h), a point one with none.
static void half_of(const pp_placed_solid *s, double *half)
{
    const pp_solid *solid = s->solid;
    bool box = solid->kind == PP_SOLID_BOX;
    half[0] = box ? solid->half.x : 0.0;
    half[1] = box ? solid->half.y : 0.0;
    half[2] = solid->kind == PP_SOLID_SPHERE ? 0.0 : solid->half.z;
}

// The six face normals. s = |t.n| - (projected half extents of a) - (those of b). A face of a wins
// over a face of b unless the latter is better by more than roundoff: the axis must not jump between
// the two from step to step while they lie flat on each other.
static void try_faces(two_boxes *w, double tie)
{
    // faces of a: the axis is e_i, so a projects to ha[i] and b to sum_j |C_ij| hb[j]
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
    // faces of b: the axis is column j of C
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

// Evaluates s(n) of the unit axis n = l / length across an edge of each, and keeps it if it is the best. The
// screening in try_edges works on sums that are not normalised; this is the value that is returned.
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

// The nine edge-edge axes l = e_i x C_j, not normalised. With (i, p, q) cyclic, l has the components
// l_i = 0, l_p = -C_qj, l_q = C_pj, and l . C_r = C_is, l . C_s = -C_ir with (j, r, s) cyclic: half the
// terms of the projections vanish. Faces win ties: their manifolds have more points than one.
static void try_edges(two_boxes *w, double tie)
{
    for (int i = 0; i < 3; i++) {
        int p = (i + 1) % 3, q = (i + 2) % 3;
        if (!(w->ha[i] > 0.0)) {
            continue;  // no edge along this axis: a segment or a point
        }
        for (int j = 0; j < 3; j++) {
            int r = (j + 1) % 3, s = (j + 2) % 3;
            double lp = -w->C[q][j], lq = w->C[p][j], length2 = lp * lp + lq * lq;
            double reach = fabs(lp) * w->ha[p] + fabs(lq) * w->ha[q] + fabs(w->C[i][s]) * w->hb[r] +
                           fabs(w->C[i][r]) * w->hb[s];
            double room = fabs(lp * w->t[p] + lq * w->t[q]) - reach, length = sqrt(length2);
            // parallel edges add nothing to the face normals; nor does an edge of b without length
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

double pp_box_separating_axis(const pp_placed_solid *a, const pp_placed_solid *b, double most,
                              perp_vec3 *n)
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
    // further apart than asked for already: the pair is culled, whichever axis parts it best
    if (w.best <= most) {
        try_edges(&w, tie);
    }
    *n = pp_unit(pp_mul(&a->R, pp_vec(w.n[0], w.n[1], w.n[2])), pp_vec(0.0, 0.0, 1.0));
    return w.best;
}
