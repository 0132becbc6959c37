// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The Alart–Curnier map of the scaled contact problem, theory (C21), an element of
// Clarke's generalised Jacobian of its projection, and the residuals (C7) and (C8) by
// which the semi-smooth Newton solver stops. The projection onto K, theory (C18), is by a
// safeguarded Newton iteration here; cone.c and the judge do it in other ways. Cost: a
// few operations a contact, products with W apart.
#include "comp/newton/ssn.h"

#include <math.h>
#include <string.h>

// The point y nearest to x in a ball or polygon of given radius, with the derivatives dy/dx and
// dy/dradius. At radius 0 the set is the point 0, and no x counts as inside.
typedef struct nearest {
    double y[2];
    double G[4];  // dy/dx, column-major 2 x 2 (entry 0 alone for one component)
    double g[2];  // dy/dradius
    bool inside;
} nearest;

// The interval [-radius, radius].
static nearest nearest_in_interval(double radius, double x)
{
    if (fabs(x) <= radius && radius > 0.0) {
        return (nearest){.y = {x}, .G = {1.0}, .inside = true};
    }
    double sign = 0.0;
    if (x > 0.0) {
        sign = 1.0;
    } else if (x < 0.0) {
        sign = -1.0;
    }
    return (nearest){.y = {radius * sign}, .g = {sign}};
}

// y = radius x / |x|; dy/dx = (radius / |x|) (I - e e') with e = x / |x|, dy/dradius = e.
static nearest nearest_in_disc(double radius, const double *x)
{
    double size = pp_hypot(x[0], x[1]);
    if (size <= radius && radius > 0.0) {
        return (nearest){.y = {x[0], x[1]}, .G = {1.0, 0.0, 0.0, 1.0}, .inside = true};
    }
    if (size == 0.0) {
        return (nearest){.inside = false};
    }
    double e0 = x[0] / size, e1 = x[1] / size, shrink = radius / size;
    return (nearest){
        .y = {radius * e0, radius * e1},
        .G = {shrink * e1 * e1, -shrink * e0 * e1, -shrink * e0 * e1, shrink * e0 * e0},
        .g = {e0, e1},
    };
}

// The polygon with vertices at the angles 2 pi j / nd. By symmetry the nearest point lies on the
// edge of the sector that x is in.
static nearest nearest_in_polygon(int nd, double radius, const double *x)
{
    double width = 6.283185307179586477 / nd;
    double middle = (floor(pp_atan2(x[1], x[0]) / width) + 0.5) * width;
    double n[2] = {pp_cos(middle),
                   pp_sin(middle)};  // outward normal of the edge; its tangent: (-n1, n0)
    double apothem = pp_cos(0.5 * width), half = pp_sin(0.5 * width);
    double along = n[0] * x[1] - n[1] * x[0];
    if (n[0] * x[0] + n[1] * x[1] <= apothem * radius && radius > 0.0) {
        return (nearest){.y = {x[0], x[1]}, .G = {1.0, 0.0, 0.0, 1.0}, .inside = true};
    }
    if (fabs(along) >= half * radius) {  // a vertex
        double side = along > 0.0 ? half : -half;
        double d[2] = {apothem * n[0] - side * n[1], apothem * n[1] + side * n[0]};
        return (nearest){.y = {radius * d[0], radius * d[1]}, .g = {d[0], d[1]}};
    }
    double depth = apothem * radius;
    return (nearest){
        .y = {depth * n[0] - along * n[1], depth * n[1] + along * n[0]},
        .G = {n[1] * n[1], -n[0] * n[1], -n[0] * n[1], n[0] * n[0]},
        .g = {apothem * n[0], apothem * n[1]},
    };
}

// Interval, polygon or disc, by the group and the contact.
static nearest nearest_in_group(const pp_ssn *ssn, int c, const pp_group *group, double radius,
                                const double *x)
{
    if (group->size == 1) {
        return nearest_in_interval(radius, x[0]);
    }
    int nd = ssn->fcp->nd ? ssn->fcp->nd[c] : 0;
    return nd ? nearest_in_polygon(nd, radius, x) : nearest_in_disc(radius, x);
}

// y = Q(x) at contact c, x = r - rho u, and the Jacobian P of Q (NULL: not wanted). The radius mu
// x_n of a group depends on x_n: column 0 of P.
static void project_augmented(const pp_ssn *ssn, int c, const double *x, double *y, double *P)
{
    int d = ssn->dim;
    bool closed = x[0] > 0.0;
    y[0] = closed ? x[0] : 0.0;
    if (P) {
        memset(P, 0, (size_t)(d * d) * sizeof *P);
        P[0] = closed ? 1.0 : 0.0;
    }
    for (int k = 0; k < ssn->groups; k++) {
        const pp_group *group = &ssn->group[k];
        double mu = group->mu[c];
        int f = group->first, size = group->size;
        // an open contact has radius 0 and P = 0
        nearest near = nearest_in_group(ssn, c, group, mu * y[0], x + f);
        for (int a = 0; a < size; a++) {
            y[f + a] = closed ? near.y[a] : 0.0;
            if (!P || !closed) {
                continue;
            }
            P[f + a] = mu * near.g[a];
            for (int b = 0; b < size; b++) {
                P[f + a + (f + b) * d] = near.G[a + b * size];
            }
        }
    }
}

double pp_ssn_map(const pp_ssn *ssn, double rho, const double *r, const double *u, double *F,
                  double *P)
{
    int d = ssn->dim;
    for (int c = 0; c < ssn->nc; c++) {
        double x[PP_SSN_DIM_MAX], y[PP_SSN_DIM_MAX] = {0};
        for (int a = 0; a < d; a++) {
            x[a] = r[c * d + a] - rho * u[c * d + a];
        }
        project_augmented(ssn, c, x, y, P ? P + (size_t)c * (size_t)(d * d) : NULL);
        for (int a = 0; a < d; a++) {
            F[c * d + a] = r[c * d + a] - y[a];
        }
    }
    return pp_norm2(ssn->n, F);
}

void pp_ssn_clip(const pp_ssn *ssn, const double *r, double *inside)
{
    for (int c = 0; c < ssn->nc; c++) {
        project_augmented(ssn, c, r + c * ssn->dim, inside + c * ssn->dim, NULL);
    }
}

// ── Residuals ────────────────────────────────────────────────────────────────────────────────────

// The law of one contact with the coefficients of one of the two residuals.
typedef struct law {
    const pp_ssn *ssn;
    int contact;
    double mu[PP_GROUPS_MAX];
} law;

// The derivative in t of the function of theory (C18), half the squared distance of x to
// { |y_g| <= mu_g t, y_n = t }, and in *slope its second derivative.
static double cone_gradient(const law *at, const double *x, double t, double *slope)
{
    double gradient = t - x[0];
    *slope = 1.0;
    for (int k = 0; k < at->ssn->groups; k++) {
        const pp_group *group = &at->ssn->group[k];
        const double *xg = x + group->first;
        nearest near = nearest_in_group(at->ssn, at->contact, group, at->mu[k] * t, xg);
        if (near.inside) {
            continue;
        }
        for (int a = 0; a < group->size; a++) {
            // d/dt |x - y|^2 / 2 = -mu g . (x - y), since y moves by g with the radius mu t
            gradient -= at->mu[k] * near.g[a] * (xg[a] - near.y[a]);
            *slope += at->mu[k] * at->mu[k] * near.g[a] * near.g[a];
        }
    }
    return gradient;
}

// The point y of K nearest to x where K has one group, a disc or an
// interval: the closed form of theory (C18).
static void project_disc_cone(const law *at, const double *x, double *y)
{
    const pp_group *group = &at->ssn->group[0];
    double mu = at->mu[0], size = pp_norm2(group->size, x + group->first), sum = x[0] + mu * size;
    bool inside = size <= mu * x[0] && x[0] >= 0.0;
    double t = x[0], shrink = 1.0;
    if (!inside) {
        t = sum > 0.0 ? sum / (1.0 + mu * mu) : 0.0;
        shrink = size > 0.0 ? mu * t / size : 0.0;
    }
    y[0] = t;
    for (int a = group->first; a < group->first + group->size; a++) {
        y[a] = shrink * x[a];
    }
}

// The same for any K: Newton's method on the derivative, which is piecewise linear
// and increasing, with bisection where it leaves the bracket [low, high]. The
// answer has t <= max(x_n, 0) + sum mu_g |x_g|.
static void project_any_cone(const law *at, const double *x, double *y)
{
    double low = 0.0, high = fmax(x[0], 0.0), slope;
    for (int k = 0; k < at->ssn->groups; k++) {
        const pp_group *group = &at->ssn->group[k];
        high += at->mu[k] * pp_norm2(group->size, x + group->first);
    }
    memset(y, 0, (size_t)at->ssn->dim * sizeof *y);
    if (high == 0.0 || cone_gradient(at, x, 0.0, &slope) >= 0.0) {
        return;
    }
    double t = fmax(x[0], 0.0);
    for (int k = 0; k < 100; k++) {
        double gradient = cone_gradient(at, x, t, &slope);
        *(gradient > 0.0 ? &high : &low) = t;
        double next = t - gradient / slope;
        next = next >= low && next <= high ? next : 0.5 * (low + high);
        if (fabs(next - t) <= 4e-16 * high) {  // an ulp or two: the iteration may cycle there
            break;
        }
        t = next;
    }
    y[0] = t;
    for (int k = 0; k < at->ssn->groups; k++) {
        const pp_group *group = &at->ssn->group[k];
        nearest near =
            nearest_in_group(at->ssn, at->contact, group, at->mu[k] * t, x + group->first);
        memcpy(y + group->first, near.y, (size_t)group->size * sizeof *y);
    }
}

// The support function h_g(u) = max over the unit ball or polygon of -d . u.        theory (C13)
static double group_support(const law *at, const pp_group *group, const double *u)
{
    int nd = at->ssn->fcp->nd ? at->ssn->fcp->nd[at->contact] : 0;
    if (group->size == 1 || !nd) {
        return pp_norm2(group->size, u);
    }
    double width = 6.283185307179586477 / nd;
    double nearest_vertex = round(pp_atan2(-u[1], -u[0]) / width) * width;
    return -u[0] * pp_cos(nearest_vertex) - u[1] * pp_sin(nearest_vertex);
}

// |r - P_K(r - u~)|^2 of one contact, with the shift u~ = u + sum mu_g h_g(u_g) e_n.   theory (C7)
static double natural_square(const law *at, const double *r, const double *u)
{
    double x[PP_SSN_DIM_MAX], y[PP_SSN_DIM_MAX], sum = 0.0;
    for (int a = 0; a < at->ssn->dim; a++) {
        x[a] = r[a] - u[a];
    }
    for (int k = 0; k < at->ssn->groups; k++) {
        x[0] -= at->mu[k] * group_support(at, &at->ssn->group[k], u + at->ssn->group[k].first);
    }
    // the closed form where there is one
    bool disc = at->ssn->groups == 1 && !(at->ssn->fcp->nd && at->ssn->fcp->nd[at->contact]);
    if (disc) {
        project_disc_cone(at, x, y);
    } else {
        project_any_cone(at, x, y);
    }
    for (int a = 0; a < at->ssn->dim; a++) {
        sum += (r[a] - y[a]) * (r[a] - y[a]);
    }
    return sum;
}

// The same; where friction is strong, |F|^2 of theory (C21), in which
// an approach u_n < 0 counts in full.
static double measure_square(const law *at, const double *r, const double *u)
{
    double strength = 0.0, x[PP_SSN_DIM_MAX], y[PP_SSN_DIM_MAX], sum = 0.0;
    for (int k = 0; k < at->ssn->groups; k++) {
        strength += at->mu[k];
    }
    if (strength <= PP_STRONG_FRICTION) {
        return natural_square(at, r, u);
    }
    for (int a = 0; a < at->ssn->dim; a++) {
        x[a] = r[a] - u[a];
    }
    // ssn's own coefficients are at->mu here: measure_square is called with the scaled law only
    project_augmented(at->ssn, at->contact, x, y, NULL);
    for (int a = 0; a < at->ssn->dim; a++) {
        sum += (r[a] - y[a]) * (r[a] - y[a]);
    }
    return sum;
}

pp_ssn_residuals pp_ssn_residual(const pp_ssn *ssn, const double *r, const double *u)
{
    int d = ssn->dim;
    double plain = 0.0, scaled = 0.0, r2 = 0.0, rho_q2 = 0.0, q2 = 0.0;
    pp_group raw[PP_GROUPS_MAX];
    pp_fcp_groups(ssn->fcp, raw);
    for (int c = 0; c < ssn->nc; c++) {
        double R[PP_SSN_DIM_MAX], U[PP_SSN_DIM_MAX];
        law at = {.ssn = ssn, .contact = c}, at_raw = at;
        // (C8): |r|^2 and |rho q|^2 are unit^2 S^2 times the squares of the scaled r and q. The
        // unit cancels, and with S of the normal component moments count by their lengths, (C16).
        double weight = ssn->scale[c * d] / ssn->unit;
        double s2 = weight * weight;
        for (int k = 0; k < ssn->groups; k++) {
            at.mu[k] = ssn->group[k].mu[c];
            at_raw.mu[k] = raw[k].mu[c];
        }
        for (int a = 0; a < d; a++) {
            int i = c * d + a;
            // (C7) in the caller's units, (C8) in scaled ones
            R[a] = ssn->scale[i] * r[i];
            U[a] = ssn->velocity[i] * u[i];
            q2 += ssn->fcp->q[i] * ssn->fcp->q[i];
            r2 += s2 * r[i] * r[i];
            rho_q2 += s2 * ssn->q[i] * ssn->q[i];
        }
        plain += natural_square(&at_raw, R, U);
        scaled += s2 * measure_square(&at, r + c * d, u + c * d);
    }
    double size = sqrt(fmax(r2, rho_q2));
    plain = q2 > 0.0 ? sqrt(plain / q2) : sqrt(plain);
    scaled = size > 0.0 ? sqrt(scaled) / size : sqrt(scaled);
    return (pp_ssn_residuals){
        .plain = isfinite(plain) ? plain : PP_INF,
        .scaled = isfinite(scaled) ? scaled : PP_INF,
    };
}
