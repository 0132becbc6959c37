// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// One closed contact (q_n < 0) in space with polygonal friction: every case is linear.
//
//   stick            W r = -q                                     r in K
//   slip at vertex   r = r_n (1, mu d_j), u_n = 0                 d_j . u_t <= d_i . u_t at both neighbours
//   slip on an edge  r = r_n (1, mu d_j) + s (0, d_j+1 - d_j),    0 <= s <= mu r_n, and the outward normal
//                    u_n = 0, (d_j+1 - d_j) . u_t = 0             of the edge opposes u_t
//
// All cases are tried, and the natural map decides. Cost: 2 nd small solves at most.
#include "comp/friction/cone.h"

#include <math.h>
#include <string.h>

// x' W y
static double form(const double *W, const double x[3], const double y[3])
{
    double s = 0.0;
    for (int j = 0; j < 3; j++) {
        s += y[j] * (x[0] * W[3 * j] + x[1] * W[3 * j + 1] + x[2] * W[3 * j + 2]);
    }
    return s;
}

static double dot3(const double x[3], const double y[3])
{
    return x[0] * y[0] + x[1] * y[1] + x[2] * y[2];
}

// The best candidate so far.
typedef struct vertex_search {
    const pp_cone_law *law;
    const double *W, *q;
    double ok;           // error that is round-off
    double best, least;  // error of the best so far, its normal reaction when it is a solution
} vertex_search;

// Keeps x in r if it is better: of two solutions the one of less normal
// reaction, otherwise the one of less error.
static void consider(vertex_search *s, const double x[3], double *r)
{
    if (!(x[0] >= 0.0) || !pp_all_finite(3, x)) {
        return;
    }
    double error = pp_one_contact_error(s->law, s->W, s->q, x);
    bool solved = error <= s->ok, had = s->best <= s->ok;
    bool better = solved ? !had || x[0] < s->least : error < s->best;
    if (better) {
        memcpy(r, x, 3 * sizeof *r);
        s->best = error;
        s->least = x[0];
    }
}

// Maximal dissipation at vertex j for the reaction x: d . u_t is
// least at d_j among its two neighbours.
static bool dissipates_most(const vertex_search *s, int j, const double x[3])
{
    const pp_disc *disc = &s->law->disc[0];
    double u[2], work[3], size = 0.0;
    for (int i = 0; i < 2; i++) {
        u[i] = s->q[1 + i];
        size += fabs(u[i]);
        for (int k = 0; k < 3; k++) {
            u[i] += s->W[1 + i + 3 * k] * x[k];
            size += fabs(s->W[1 + i + 3 * k] * x[k]);
        }
    }
    for (int k = 0; k < 3; k++) {
        const double *d = disc->direction + 2 * ((j + k + disc->nd - 1) % disc->nd);
        work[k] = d[0] * u[0] + d[1] * u[1];
    }
    // rounding of u relative to its terms
    double slack = 1e-12 * size;
    return work[1] <= work[0] + slack && work[1] <= work[2] + slack;
}

// Slip at vertex j: r along the ray (1, mu d_j).
static void try_vertex(vertex_search *s, int j, const double ray[3], double *r)
{
    static const double normal[3] = {1.0, 0.0, 0.0};
    double rn = -s->q[0] / form(s->W, normal, ray);
    const double x[3] = {rn, rn * ray[1], rn * ray[2]};
    if (rn > 0.0 && dissipates_most(s, j, x)) {
        consider(s, x, r);
    }
}

// Slip on the edge from the ray's vertex to the next: two equations
// for r_n and the part along the edge.
static void try_edge(vertex_search *s, const double ray[3], const double edge[3], double *r)
{
    static const double normal[3] = {1.0, 0.0, 0.0};
    const double A[4] = {form(s->W, normal, ray), form(s->W, edge, ray), form(s->W, normal, edge),
                         form(s->W, edge, edge)};
    double x[2] = {-s->q[0], -dot3(edge, s->q)};
    double det = A[0] * A[3] - A[1] * A[2];
    double rn = (x[0] * A[3] - x[1] * A[2]) / det, along = (A[0] * x[1] - A[1] * x[0]) / det;
    // by Cramer's rule; the ends of the edge belong to it up to rounding
    double slack = 1e-12 * (rn + fabs(along));
    if (isfinite(along) && along >= -slack && along <= rn + slack) {
        along = pp_clamp(along, 0.0, rn);
        consider(s, (double[3]){rn, rn * ray[1] + along * edge[1], rn * ray[2] + along * edge[2]},
                 r);
    }
}

double pp_one_contact_polygon(const pp_cone_law *law, const double *W, const double *q, double *r)
{
    const pp_disc *disc = &law->disc[0];
    vertex_search s = {law, W, q, pp_one_contact_ok(law), PP_INF, PP_INF};
    double stick[3] = {-q[0], -q[1], -q[2]}, x[3];
    if (pp_small_solve(3, W, 3, stick)) {
        memcpy(x, stick, sizeof x);
        pp_cone_law_project(law, x);
        consider(&s, x, r);
        if (s.best <= s.ok) {
            return s.best;
        }
    }
    // the ray to a vertex, and the edge to the next one
    for (int j = 0; j < disc->nd; j++) {
        const double *d = disc->direction + 2 * j;
        const double *e = disc->direction + 2 * ((j + 1) % disc->nd);
        const double ray[3] = {1.0, disc->mu * d[0], disc->mu * d[1]};
        const double edge[3] = {0.0, disc->mu * (e[0] - d[0]), disc->mu * (e[1] - d[1])};
        try_vertex(&s, j, ray, r);
        try_edge(&s, ray, edge, r);
    }
    return s.best;
}
