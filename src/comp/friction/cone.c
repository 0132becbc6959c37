// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The cone of one contact: Euclidean projection, support function, natural map.
//
// P_K(p) with K = { |r_g| <= mu_g r_n } minimises over t = r_n >= 0
//
//   (t - p_n)^2 / 2 + sum_g dist(p_g, t mu_g D_g)^2 / 2                              theory (C18)
//
// which is convex and piecewise quadratic in t. Its derivative is continuous, increasing and
// piecewise linear, so that the minimum is found exactly by a walk over its breakpoints. Each
// distance contributes to the derivative
//
//   ball:     -mu (|p| - mu t)              while t < |p| / mu
//   polygon:  -mu (a - mu t)                while the nearest point is the vertex, t < (a - b cot h) / mu
//             -mu cos h (p.n - mu t cos h)  then, while it is on the edge, t < p.n / (mu cos h)
//
// with (a, b) the coordinates of p along and across the nearest vertex, h = π / nd, n the normal of
// the edge. Cost: a few operations a group, nd for a polygon.
#include "comp/friction/cone.h"

#include <math.h>
#include <string.h>

// |p| of a group of one or two components.
static double group_norm(int size, const double *p)
{
    return size == 1 ? fabs(p[0]) : sqrt(p[0] * p[0] + p[1] * p[1]);
}

int pp_disc_vertex(const pp_disc *disc, const double *p)
{
    int best = 0;
    double reach = -PP_INF;
    for (int j = 0; j < disc->nd; j++) {
        double along = disc->direction[2 * j] * p[0] + disc->direction[2 * j + 1] * p[1];
        if (along > reach) {
            reach = along;
            best = j;
        }
    }
    return best;
}

double pp_disc_support(const pp_disc *disc, const double *u)
{
    if (!disc->nd) {
        return group_norm(disc->size, u);
    }
    const double minus[2] = {-u[0], -u[1]};
    const double *d = disc->direction + 2 * pp_disc_vertex(disc, minus);
    return d[0] * minus[0] + d[1] * minus[1];
}

double pp_cone_law_shift(const pp_cone_law *law, const double *u)
{
    double shift = 0.0;
    for (int g = 0; g < law->groups; g++) {
        const pp_disc *disc = &law->disc[g];
        if (disc->mu > 0.0) {
            shift += disc->mu * pp_disc_support(disc, u + disc->first);
        }
    }
    return shift;
}

// ── Projection of one group ──────────────────────────────────────────────────────────────────────

// The interval or disc. Outside dp/dp = (radius / |p|) (I - e e')
// with e = p / |p|, and dp/dradius = e.
static void ball_project(int size, double radius, double *p, double *slope)
{
    double norm = group_norm(size, p);
    if (norm <= radius) {
        if (slope) {
            memcpy(slope, (double[6]){1.0, 0.0, 0.0, 1.0}, 6 * sizeof *slope);
        }
        return;
    }
    // on the sphere
    double e[2] = {p[0] / norm, size == 2 ? p[1] / norm : 0.0}, k = radius / norm;
    for (int i = 0; i < size; i++) {
        p[i] = radius * e[i];
    }
    if (slope && size == 1) {
        slope[0] = 0.0;
        slope[4] = e[0];
    } else if (slope) {
        memcpy(slope,
               (double[6]){k * e[1] * e[1], -k * e[0] * e[1], -k * e[0] * e[1], k * e[0] * e[0],
                           e[0], e[1]},
               6 * sizeof *slope);
    }
}

// The frame of the nearest vertex: d along it, s across towards p, so that p = a d + b s, b >= 0.
typedef struct polygon_corner {
    double d[2], s[2], a, b;
    double edge;  // n . p, n = cos h d + sin h s the normal of the nearest edge
} polygon_corner;

// Outside the polygon the nearest point is on the nearest vertex
// or on the edge beside it towards p.
static polygon_corner corner_of(const pp_disc *disc, const double *p)
{
    const double *d = disc->direction + 2 * pp_disc_vertex(disc, p);
    double across = d[0] * p[1] - d[1] * p[0], sign = across < 0.0 ? -1.0 : 1.0;
    polygon_corner c = {.d = {d[0], d[1]},
                        .s = {-sign * d[1], sign * d[0]},
                        .a = d[0] * p[0] + d[1] * p[1],
                        .b = fabs(across)};
    c.edge = disc->cosine * c.a + disc->sine * c.b;
    return c;
}

// The polygon of the given circumradius.
static void polygon_project(const pp_disc *disc, double radius, double *p, double *slope)
{
    polygon_corner c = corner_of(disc, p);
    double nothing[6], *D = slope ? slope : nothing;
    if (c.edge <= radius * disc->cosine) {
        memcpy(D, (double[6]){1.0, 0.0, 0.0, 1.0}, sizeof nothing);
        return;
    }
    // in the normal cone of the vertex
    if (c.b * disc->cosine <= (c.a - radius) * disc->sine) {
        memcpy(D, (double[6]){0.0, 0.0, 0.0, 0.0, c.d[0], c.d[1]}, sizeof nothing);
        p[0] = radius * c.d[0];
        p[1] = radius * c.d[1];
        return;
    }
    // onto the edge
    double n[2], excess = c.edge - radius * disc->cosine;
    for (int i = 0; i < 2; i++) {
        n[i] = disc->cosine * c.d[i] + disc->sine * c.s[i];
        p[i] -= excess * n[i];
    }
    memcpy(D,
           (double[6]){n[1] * n[1], -n[0] * n[1], -n[0] * n[1], n[0] * n[0], disc->cosine * n[0],
                       disc->cosine * n[1]},
           sizeof nothing);
}

void pp_disc_project(const pp_disc *disc, double radius, double *p, double *slope)
{
    if (disc->nd) {
        polygon_project(disc, radius, p, slope);
    } else {
        ball_project(disc->size, radius, p, slope);
    }
}

// ── Projection on the cone ───────────────────────────────────────────────────────────────────────

// K with one ball: t = (p_n + mu |p_g|) / (1 + mu^2) where p is outside, 0 if that is negative.
static void project_one_ball(const pp_disc *disc, double *p)
{
    double norm = group_norm(disc->size, p + 1), mu = disc->mu;
    if (norm <= mu * p[0]) {
        return;
    }
    double t = (p[0] + mu * norm) / (1.0 + mu * mu);
    t = t > 0.0 ? t : 0.0;
    double k = norm > 0.0 ? mu * t / norm : 0.0;
    p[0] = t;
    for (int i = 1; i <= disc->size; i++) {
        p[i] *= k;
    }
}

// At `at` the slope of the derivative falls by `loss`.
typedef struct breakpoint {
    double at, loss;
} breakpoint;

// Inserts a breakpoint into the ascending list; returns the new count.
static int insert_breakpoint(breakpoint *list, int count, double at, double loss)
{
    int k = count;
    for (; k > 0 && list[k - 1].at > at; k--) {
        list[k] = list[k - 1];
    }
    list[k] = (breakpoint){at, loss};
    return count + 1;
}

// The t that minimises (C18); negative where the apex is the answer.
static double best_normal(const pp_cone_law *law, const double *p)
{
    breakpoint list[2 * PP_GROUPS_MAX];
    int count = 0;
    double value = -p[0], slope = 1.0;  // of the derivative at t = 0
    for (int g = 0; g < law->groups; g++) {
        const pp_disc *disc = &law->disc[g];
        double mu = disc->mu;
        if (!(mu > 0.0)) {
            continue;
        }
        slope += mu * mu;
        if (!disc->nd) {
            double norm = group_norm(disc->size, p + disc->first);
            value -= mu * norm;
            count = insert_breakpoint(list, count, norm / mu, mu * mu);
            continue;
        }
        polygon_corner c = corner_of(disc, p + disc->first);
        // where the nearest point leaves the vertex for the edge, and where p_g
        // is inside; ordered against rounding
        double leave = c.a - c.b * disc->cosine / disc->sine, inside = c.edge / disc->cosine;
        value -= mu * c.a;
        leave = leave > 0.0 ? leave : 0.0;
        inside = inside > leave ? inside : leave;
        count = insert_breakpoint(list, count, leave / mu, mu * mu * disc->sine * disc->sine);
        count = insert_breakpoint(list, count, inside / mu, mu * mu * disc->cosine * disc->cosine);
    }
    double t = 0.0;
    for (int k = 0; k < count && value + slope * (list[k].at - t) < 0.0; k++) {
        value += slope * (list[k].at - t);
        slope -= list[k].loss;
        t = list[k].at;
    }
    // Beyond all breakpoints p is inside every limit and t = p_n exactly,
    // without the rounding of the sums above.
    if (count == 0 || (t >= list[count - 1].at && p[0] >= t)) {
        return p[0];
    }
    return t - value / (slope > 1.0 ? slope : 1.0);
}

void pp_cone_law_project(const pp_cone_law *law, double *p)
{
    if (law->groups == 1 && !law->disc[0].nd) {
        project_one_ball(&law->disc[0], p);
        return;
    }
    double t = best_normal(law, p);
    t = t > 0.0 ? t : 0.0;
    p[0] = t;
    for (int g = 0; g < law->groups; g++) {
        pp_disc_project(&law->disc[g], law->disc[g].mu * t, p + law->disc[g].first, NULL);
    }
}

void pp_cone_law_natural(const pp_cone_law *law, double rho, const double *r, const double *u,
                         double *e)
{
    double shift = pp_cone_law_shift(law, u), p[PP_DIM_MAX];
    for (int i = 0; i < law->dim; i++) {
        p[i] = r[i] - rho * (i ? u[i] : u[0] + shift);
    }
    pp_cone_law_project(law, p);
    for (int i = 0; i < law->dim; i++) {
        e[i] = r[i] - p[i];
    }
}

void pp_cone_law_measure(const pp_cone_law *law, double rho, const double *r, const double *u,
                         double *e)
{
    double strength = 0.0;
    for (int g = 0; g < law->groups; g++) {
        strength += law->disc[g].mu;
    }
    if (strength <= PP_STRONG_FRICTION) {
        pp_cone_law_natural(law, rho, r, u, e);
        return;
    }
    // F of (C21) with the radius R = max(0, r_n - rho u_n)
    double R = r[0] - rho * u[0] > 0.0 ? r[0] - rho * u[0] : 0.0;
    e[0] = r[0] - R;
    for (int g = 0; g < law->groups; g++) {
        const pp_disc *disc = &law->disc[g];
        double p[2] = {0.0, 0.0};
        for (int k = 0; k < disc->size; k++) {
            p[k] = r[disc->first + k] - rho * u[disc->first + k];
        }
        pp_disc_project(disc, disc->mu * R, p, NULL);
        for (int k = 0; k < disc->size; k++) {
            e[disc->first + k] = r[disc->first + k] - p[k];
        }
    }
}

// ── All contacts ─────────────────────────────────────────────────────────────────────────────────

// The vertices of the unit polygon, the first on the axis t; NULL: no memory.
static const double *polygon_vertices(pp_arena *arena, int nd)
{
    double *direction = PP_ARRAY(arena, double, 2 * (size_t)nd);
    if (!direction) {
        return NULL;
    }
    for (int j = 0; j < nd; j++) {
        double angle = 2.0 * 3.14159265358979323846 * j / nd;
        direction[2 * j] = pp_cos(angle);
        direction[2 * j + 1] = pp_sin(angle);
    }
    return direction;
}

// Contacts with equal nd one after another share the table of vertices.
perp_status pp_cone_laws_create(const perp_fcp *fcp, pp_arena *arena, pp_cone_law **out)
{
    pp_group group[PP_GROUPS_MAX];
    int groups = pp_fcp_groups(fcp, group);
    pp_cone_law *law = PP_ZEROS(arena, pp_cone_law, fcp->nc);
    if (!law) {
        return PERP_ERR_MEMORY;
    }
    const double *direction = NULL;
    int known = 0;  // contacts usually share nd: the table of the last one serves the next
    for (int c = 0; c < fcp->nc; c++) {
        int nd = fcp->nd && fcp->dim > 2 ? fcp->nd[c] : 0;
        if (nd && nd != known) {
            direction = polygon_vertices(arena, nd);
            known = nd;
            if (!direction) {
                return PERP_ERR_MEMORY;
            }
        }
        law[c].dim = fcp->dim;
        law[c].groups = groups;
        for (int g = 0; g < groups; g++) {
            bool polygon = nd && group[g].size == 2;
            double half = polygon ? 3.14159265358979323846 / nd : 0.0;
            law[c].disc[g] = (pp_disc){.first = group[g].first,
                                       .size = group[g].size,
                                       .nd = polygon ? nd : 0,
                                       .mu = group[g].mu[c],
                                       .cosine = pp_cos(half),
                                       .sine = pp_sin(half),
                                       .direction = polygon ? direction : NULL};
        }
    }
    *out = law;
    return PERP_OK;
}
