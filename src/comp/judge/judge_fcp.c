// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The judge of contact answers. No solver includes or calls this file's code.
//
//   e_c = r_c - P_K(r_c - rho (u_c + sum_g mu_g |u_g| e_n))
//   plain    sqrt(sum |e_c|^2) / |q|                         rho = 1: FCLIB          theory (C7)
//   scaled   sqrt(sum |e_c|^2) / max(|r|, |rho q|)           rho_c = 3 / tr W_cc     theory (C8)
//   backward max_c eta_c, contact by contact                                         theory (C41)
//
// In the scaled map moments are divided by a length, l_g^2 = mean diag W_tt / mean diag W_gg, so
// that all components of r are impulses, theory (C16). The projection, theory (C18), is in closed
// form for one group (for a disc by length and angle, for a polygon as the nearest of all facets),
// and by bisection on its normal component for several groups. Where friction is so strong that K
// is nearly a half-space e_c is that of theory (C21): the distance to K would count an approach u_n
// < 0 by 1 / mu only.
//
// Everything is computed in long double, and the possible effect of its rounding is added to e_c:
// beside reactions 1e16 times larger (redundant contacts, contacts that nothing can move)
// velocities vanish in double. Cost: one product with W, and the projections.
#include "comp/judge/judge.h"

#include <math.h>
#include <string.h>

enum { DIM_MAX = 6 };

static const pp_real ROUNDING = 0x1p-63L;  // of long double, with a margin

// |x| of two components
static pp_real size2(const pp_real *x)
{
    return sqrtl(x[0] * x[0] + x[1] * x[1]);
}

// The Euclidean norm.
static pp_real length_of(int n, const pp_real *x)
{
    pp_real sum = 0.0L;
    for (int k = 0; k < n; k++) {
        sum += x[k] * x[k];
    }
    return sqrtl(sum);
}

static pp_real clamp(pp_real x, pp_real lower, pp_real upper)
{
    if (x < lower) {
        return lower;
    }
    return x > upper ? upper : x;
}

// A friction polygon: its vertices are mu r_n times d_j, and d_nd is d_0 again. nd = 0: a disc.
typedef struct judged_polygon {
    int nd;
    pp_real (*d)[2];  // nd + 1
} judged_polygon;

// The directions of an nd-gon; those of the last contact are kept where nd is the same.
static void set_polygon(judged_polygon *P, int nd)
{
    int wanted = nd > 0 && nd != P->nd ? nd + 1 : 0;
    for (int j = 0; j < wanted; j++) {
        double angle = 6.283185307179586 * (double)(j % nd) / (double)nd;
        P->d[j][0] = (pp_real)pp_cos(angle);
        P->d[j][1] = (pp_real)pp_sin(angle);
    }
    P->nd = nd;
}

// h_g(u) of theory (C13): max of -d . u over the unit disc, segment or polygon.
static pp_real ball_support(const pp_real *u, int size, const judged_polygon *P)
{
    if (size == 1) {
        return fabsl(u[0]);
    }
    if (P->nd == 0) {
        return size2(u);
    }
    pp_real best = 0.0L;
    for (int j = 0; j < P->nd; j++) {
        best = fmaxl(best, -(P->d[j][0] * u[0] + P->d[j][1] * u[1]));
    }
    return best;
}

// Nearest point of the segment [a, b] to x, written to y; returns the squared distance.
static pp_real nearest_on_segment(const pp_real a[2], const pp_real b[2], const pp_real x[2],
                                  pp_real y[2])
{
    pp_real e[2] = {b[0] - a[0], b[1] - a[1]};
    pp_real length = e[0] * e[0] + e[1] * e[1];
    pp_real t = length > 0.0L ? ((x[0] - a[0]) * e[0] + (x[1] - a[1]) * e[1]) / length : 0.0L;
    t = clamp(t, 0.0L, 1.0L);
    y[0] = a[0] + t * e[0];
    y[1] = a[1] + t * e[1];
    return (x[0] - y[0]) * (x[0] - y[0]) + (x[1] - y[1]) * (x[1] - y[1]);
}

// y = the point nearest to x of the polygon of the given circumradius: of
// all sides that x is beyond the nearest.
static void project_polygon(const pp_real *x, pp_real radius, const judged_polygon *P, pp_real *y)
{
    bool inside = true;
    pp_real best = (pp_real)PP_INF;
    for (int j = 0; j < P->nd; j++) {
        pp_real a[2] = {P->d[j][0], P->d[j][1]}, b[2] = {P->d[j + 1][0], P->d[j + 1][1]}, point[2];
        // the outward normal of side j is along a + b; its distance from 0 is |a + b| / 2
        pp_real normal[2] = {a[0] + b[0], a[1] + b[1]};
        pp_real far = radius * 0.5L * (normal[0] * normal[0] + normal[1] * normal[1]);
        if (normal[0] * x[0] + normal[1] * x[1] <= far) {
            continue;
        }
        inside = false;
        a[0] *= radius, a[1] *= radius, b[0] *= radius, b[1] *= radius;
        pp_real distance = nearest_on_segment(a, b, x, point);
        if (distance < best) {
            best = distance;
            y[0] = point[0];
            y[1] = point[1];
        }
    }
    if (inside) {
        y[0] = x[0];
        y[1] = x[1];
    }
}

// y = the point nearest to x of the segment, disc or polygon of the given radius
static void project_ball(const pp_real *x, int size, pp_real radius, const judged_polygon *P,
                         pp_real *y)
{
    if (size == 1) {
        y[0] = clamp(x[0], -radius, radius);
    } else if (P->nd == 0) {
        pp_real length = size2(x), factor = length > radius ? radius / length : 1.0L;
        y[0] = factor * x[0];
        y[1] = factor * x[1];
    } else {
        project_polygon(x, radius, P, y);
    }
}

// The cone of one contact: groups with their coefficients.
typedef struct judged_cone {
    int dim, groups;
    judged_polygon side;
    pp_group group[PP_GROUPS_MAX];
    double mu[PP_GROUPS_MAX];
} judged_cone;

// The term (x_g - P(x_g)) . P(x_g) / s of group g in the derivative, P onto the ball of radius mu_g
// s; length = |x_g|.
static pp_real projection_pull(const judged_cone *K, int g, const pp_real *x, pp_real length,
                               pp_real s)
{
    pp_real mu = (pp_real)K->mu[g];
    if (K->side.nd == 0 || K->group[g].size == 1) {
        return length > mu * s ? mu * (length - mu * s) : 0.0L;
    }
    const pp_real *xg = x + K->group[g].first;
    pp_real y[2] = {0.0L, 0.0L};
    project_polygon(xg, mu * s, &K->side, y);
    return s > 0.0L ? ((xg[0] - y[0]) * y[0] + (xg[1] - y[1]) * y[1]) / s : 0.0L;
}

// Whether the projection is the apex: the derivative at s = 0+, -x_n -
// sum mu_g h_g(-x_g), is not negative.
static bool projects_to_apex(const judged_cone *K, const pp_real *x)
{
    pp_real value = -x[0];
    for (int g = 0; g < K->groups; g++) {
        pp_real minus[2] = {-x[K->group[g].first],
                            K->group[g].size > 1 ? -x[K->group[g].first + 1] : 0.0L};
        value -= (pp_real)K->mu[g] * ball_support(minus, K->group[g].size, &K->side);
    }
    return value >= 0.0L;
}

// The point nearest to x of the facet of K between the edges a and b (|a| = |b|); returns the
// squared distance. m = (a + b) / 2 and e = (b - a) / 2 are orthogonal, and the facet is { p m + t
// e : |t| <= p }.
static pp_real nearest_on_facet(const pp_real *a, const pp_real *b, const pp_real *x, pp_real *y)
{
    pp_real m[3], e[3], mx = 0.0L, ex = 0.0L, m2 = 0.0L, e2 = 0.0L, distance = 0.0L;
    for (int k = 0; k < 3; k++) {
        m[k] = 0.5L * (a[k] + b[k]);
        e[k] = 0.5L * (b[k] - a[k]);
        mx += m[k] * x[k];
        ex += e[k] * x[k];
        m2 += m[k] * m[k];
        e2 += e[k] * e[k];
    }
    pp_real p = mx / m2, t = e2 > 0.0L ? ex / e2 : 0.0L;
    if (fabsl(t) > p) {  // on an edge: p (m + e) or p (m - e)
        pp_real sign = t > 0.0L ? 1.0L : -1.0L;
        p = fmaxl((mx + sign * ex) / (m2 + e2), 0.0L);
        t = sign * p;
    }
    for (int k = 0; k < 3; k++) {
        y[k] = p * m[k] + t * e[k];
        distance += (x[k] - y[k]) * (x[k] - y[k]);
    }
    return distance;
}

// K with one polygon: x itself, or the nearest point of the facets that x lies beyond.
static void project_facets(const judged_cone *K, const pp_real *x, pp_real *y)
{
    pp_real best = (pp_real)PP_INF, mu = (pp_real)K->mu[0];
    memcpy(y, x, 3 * sizeof *y);
    for (int j = 0; j < K->side.nd; j++) {
        const pp_real *c = K->side.d[j], *d = K->side.d[j + 1];
        pp_real a[3] = {1.0L, mu * c[0], mu * c[1]}, b[3] = {1.0L, mu * d[0], mu * d[1]}, point[3];
        // x is beyond the facet where (c + d) . x_t exceeds mu x_n |c + d|^2 / 2
        pp_real normal[2] = {c[0] + d[0], c[1] + d[1]};
        pp_real far = mu * x[0] * 0.5L * (normal[0] * normal[0] + normal[1] * normal[1]);
        if (normal[0] * x[1] + normal[1] * x[2] <= far) {
            continue;
        }
        pp_real distance = nearest_on_facet(a, b, x, point);
        if (distance < best) {
            best = distance;
            memcpy(y, point, sizeof point);
        }
    }
}

// y = P_K(x). For several groups by bisection on half the derivative, with respect to s, of the
// squared distance of x to the slice r_n = s of K,
//   (s - x_n) - sum_g (x_g - P(x_g)) . P(x_g) / s     (P(x_g) scales with s)
// which increases with s; its zero is the normal component. For one disc it is (s - x_n) - mu
// max(0, |x_g| - mu s), whose zero is known.
static void project_cone(const judged_cone *K, const pp_real *x, pp_real *y)
{
    pp_real length[PP_GROUPS_MAX], low = 0.0L, high = fabsl(x[0]);
    memset(y, 0, (size_t)K->dim * sizeof *y);
    if (projects_to_apex(K, x)) {
        return;
    }
    // one group: in closed form, on the facets of a polygon or on the round cone
    bool circular = K->side.nd == 0 || K->group[0].size == 1;
    if (K->groups == 1 && !circular) {
        project_facets(K, x, y);
        return;
    }
    for (int g = 0; g < K->groups; g++) {
        length[g] = length_of(K->group[g].size, x + K->group[g].first);
        high += (1.0L + (pp_real)K->mu[g]) * length[g];
    }
    if (K->groups == 1) {
        pp_real mu = (pp_real)K->mu[0];
        bool inside = length[0] <= mu * x[0];
        low = high = inside ? x[0] : (x[0] + mu * length[0]) / (1.0L + mu * mu);
    }
    for (int k = 0; k < 200; k++) {
        if (!(low < high)) {
            break;
        }
        pp_real middle = 0.5L * (low + high), slope = middle - x[0];
        if (middle <= low || middle >= high) {
            break;
        }
        for (int g = 0; g < K->groups; g++) {
            slope -= projection_pull(K, g, x, length[g], middle);
        }
        if (slope > 0.0L) {
            high = middle;
        } else {
            low = middle;
        }
    }
    y[0] = 0.5L * (low + high);
    for (int g = 0; g < K->groups; g++) {
        int first = K->group[g].first;
        project_ball(x + first, K->group[g].size, (pp_real)K->mu[g] * y[0], &K->side, y + first);
    }
}

// One contact of an answer, in the caller's units or in others.
typedef struct contact_answer {
    pp_real r[DIM_MAX], u[DIM_MAX];
    pp_real doubt;  // bound of the rounding error of u
} contact_answer;

// |r - P_K(r - rho (u + sum mu |u_g| e_n))|^2, the bound of its rounding error included.
static pp_real natural_map2(const judged_cone *K, const contact_answer *a, pp_real rho)
{
    pp_real x[DIM_MAX] = {0.0L}, y[DIM_MAX], shift = 0.0L, mu = 0.0L;
    for (int g = 0; g < K->groups; g++) {
        shift +=
            (pp_real)K->mu[g] * ball_support(a->u + K->group[g].first, K->group[g].size, &K->side);
        mu += (pp_real)K->mu[g];
    }
    for (int k = 0; k < K->dim; k++) {
        x[k] = a->r[k] - rho * (a->u[k] + (k == 0 ? shift : 0.0L));
    }
    project_cone(K, x, y);
    // the projection is a contraction; the shift multiplies errors of u by 1 + sum mu
    pp_real hidden =
        ROUNDING * (length_of(K->dim, a->r) + length_of(K->dim, x)) + rho * (1.0L + mu) * a->doubt;
    for (int k = 0; k < K->dim; k++) {
        y[k] = a->r[k] - y[k];
    }
    pp_real size = length_of(K->dim, y) + hidden;
    return size * size;
}

// The same for F of theory (C21): r_n - R, and r_g - P(r_g - rho u_g)
// with P onto the ball of radius mu_g R.
static pp_real strong_map2(const judged_cone *K, const contact_answer *a, pp_real rho)
{
    pp_real F[DIM_MAX] = {0.0L}, x[DIM_MAX], R = fmaxl(0.0L, a->r[0] - rho * a->u[0]);
    F[0] = fminl(a->r[0], rho * a->u[0]);  // r_n - R without cancellation
    for (int k = 0; k < K->dim; k++) {
        x[k] = a->r[k] - rho * a->u[k];
    }
    for (int g = 0; g < K->groups; g++) {
        int first = K->group[g].first;
        project_ball(x + first, K->group[g].size, (pp_real)K->mu[g] * R, &K->side, F + first);
        for (int k = first; k < first + K->group[g].size; k++) {
            F[k] = a->r[k] - F[k];
        }
    }
    pp_real size = length_of(K->dim, F) + ROUNDING * length_of(K->dim, a->r) + rho * a->doubt;
    return size * size;
}

// The Euclidean norm of numbers in double.
static double norm(int n, const double *x)
{
    pp_real sum = 0.0L;
    for (int k = 0; k < n; k++) {
        sum += (pp_real)x[k] * (pp_real)x[k];
    }
    return (double)sqrtl(sum);
}

static double mean_of(const double *x, int n)
{
    double sum = 0.0;
    for (int k = 0; k < n; k++) {
        sum += x[k];
    }
    return sum / n;
}

// The units of theory (C16) for one contact: scale[k] multiplies r and divides u, and the
// coefficients of K are divided by lengths. Returns rho_c [kg].
static double unit_scaling(const perp_fcp *fcp, const double *diagonal, judged_cone *K,
                           double *scale)
{
    int linear = fcp->dim < 3 ? fcp->dim : 3;
    double mobility = mean_of(diagonal, linear);  // [1/kg]
    for (int k = 0; k < fcp->dim; k++) {
        scale[k] = 1.0;
    }
    for (int g = 1; g < K->groups; g++) {
        int first = K->group[g].first, size = K->group[g].size;
        double moment = mean_of(diagonal + first, size);
        double length = mobility > 0.0 && moment > 0.0 ? sqrt(mobility / moment) : 1.0;
        K->mu[g] /= length;
        for (int k = first; k < first + size; k++) {
            scale[k] = 1.0 / length;
        }
    }
    return mobility > 0.0 ? 1.0 / mobility : 1.0;
}

// Contact `at / dim` of the answer, in the caller's units.
static contact_answer answer_at(const perp_fcp *fcp, int at, const double *r,
                                const pp_fcp_evidence *e)
{
    contact_answer a = {.doubt = 0.0L};
    for (int k = 0; k < fcp->dim; k++) {
        a.r[k] = (pp_real)r[at + k];
        a.u[k] = e->u[at + k];
    }
    a.doubt = ROUNDING * length_of(fcp->dim, e->terms + at);
    return a;
}

// The cone of contact c in the caller's units.
static void set_cone(const perp_fcp *fcp, int c, judged_cone *K)
{
    set_polygon(&K->side, fcp->nd ? fcp->nd[c] : 0);
    for (int g = 0; g < K->groups; g++) {
        K->mu[g] = K->group[g].mu[c];
    }
}

// The largest nd, 0 without polygons.
static int most_sides(const perp_fcp *fcp)
{
    int most = 0;
    if (!fcp->nd) {
        return most;
    }
    for (int c = 0; c < fcp->nc; c++) {
        most = fcp->nd[c] > most ? fcp->nd[c] : most;
    }
    return most;
}

// r and u of one contact in the units of theory (C16).
static void apply_units(const perp_fcp *fcp, const double *scale, contact_answer *a)
{
    pp_real longest = 0.0L;
    for (int k = 0; k < fcp->dim; k++) {
        pp_real s = (pp_real)scale[k];
        a->r[k] *= s;
        a->u[k] /= s;
        longest = fmaxl(longest, 1.0L / s);
    }
    a->doubt *= longest;
}

// The norms (C7) and (C8) over all contacts, and S_c of each contact for the backward error.
static void judge_contacts(const perp_fcp *fcp, const double *r, pp_fcp_evidence *e,
                           perp_fcp_residuals *out)
{
    judged_cone K = {.dim = fcp->dim, .side.d = e->d};
    pp_real plain = 0.0L, scaled = 0.0L, r2 = 0.0L, q2 = 0.0L;
    K.groups = pp_fcp_groups(fcp, K.group);
    for (int c = 0; c < fcp->nc; c++) {
        int at = c * fcp->dim;
        double *scale = e->scale + at, strength = 0.0;
        contact_answer a = answer_at(fcp, at, r, e);
        set_cone(fcp, c, &K);
        plain += natural_map2(&K, &a, 1.0L);
        pp_real rho = (pp_real)unit_scaling(fcp, e->diagonal + at, &K, scale), made = 0.0L;
        apply_units(fcp, scale, &a);
        for (int k = 0; k < fcp->dim; k++) {
            pp_real s = (pp_real)scale[k], q = rho * (pp_real)e->q[at + k] / s;
            pp_real part = (pp_real)e->made[at + k] / s;
            made += part * part;
            r2 += a.r[k] * a.r[k];
            q2 += q * q;
        }
        e->size[c] = (double)sqrtl(made);
        for (int g = 0; g < K.groups; g++) {
            strength += K.mu[g];
        }
        // strong friction: (C21) instead of (C8)
        if (strength > PP_STRONG_FRICTION) {
            scaled += strong_map2(&K, &a, rho);
        } else {
            scaled += natural_map2(&K, &a, rho);
        }
    }
    pp_real unit = sqrtl(fmaxl(r2, q2)), q_size = (pp_real)norm(fcp->nc * fcp->dim, e->q);
    plain = sqrtl(plain) / (q_size > 0.0L ? q_size : 1.0L);
    scaled = sqrtl(scaled) / (unit > 0.0L ? unit : 1.0L);
    out->plain = isfinite((double)plain) ? (double)plain : PP_INF;
    out->scaled = isfinite((double)scaled) ? (double)scaled : PP_INF;
    out->dynamics = isfinite(e->dynamics) ? e->dynamics : PP_INF;
}

// eta_c of theory (C41): F of (C21) with r in units of 1 / weight and u in units of size.
static pp_real backward_at(const judged_cone *K, const contact_answer *a, pp_real weight,
                           pp_real size)
{
    contact_answer b = {.doubt = size > 0.0L ? a->doubt / size : 0.0L};
    for (int k = 0; k < K->dim; k++) {
        b.r[k] = weight * a->r[k];
        b.u[k] = size > 0.0L ? a->u[k] / size : 0.0L;
    }
    return sqrtl(strong_map2(K, &b, 1.0L));
}

// The backward error (C41) of the worst contact or body, and (C43).
static perp_status judge_backward(const perp_fcp *fcp, const double *r, const pp_fcp_evidence *e,
                                  pp_arena *arena, perp_fcp_residuals *out)
{
    pp_real q = (pp_real)norm(fcp->nc * fcp->dim, e->q), velocity = 0.0L;
    judged_cone K = {.dim = fcp->dim, .side.d = e->d};
    pp_real worst = (pp_real)e->momentum;
    bool looked = false;
    perp_status status = PERP_OK;
    K.groups = pp_fcp_groups(fcp, K.group);
    for (int c = 0; c < fcp->nc; c++) {
        if (status < 0) {
            break;
        }
        double scale[DIM_MAX];
        contact_answer a = answer_at(fcp, c * fcp->dim, r, e);
        set_cone(fcp, c, &K);
        unit_scaling(fcp, e->diagonal + (ptrdiff_t)c * fcp->dim, &K, scale);
        apply_units(fcp, scale, &a);
        // C_c = min(1 / |r_c|, weight): the weight costs the columns of the contact, and is
        // computed only where the first is not enough
        pp_real size = length_of(fcp->dim, a.r), own = size > 0.0L ? 1.0L / size : 0.0L;
        pp_real error = backward_at(&K, &a, own, (pp_real)e->size[c]);
        if (error > (pp_real)PP_ROWS_RIGHT && size > 0.0L) {
            double weight = 0.0;
            if (fcp->nv > 0) {
                status = pp_global_weight(fcp, c, e, arena, &weight);
            } else {
                weight = pp_contact_weight(fcp, c, e->scale, e->size);
            }
            bool less = weight > 0.0 && (pp_real)weight < own;
            own = less ? (pp_real)weight : own;
            error = backward_at(&K, &a, own, (pp_real)e->size[c]);
        }
        pp_real slow = backward_at(&K, &a, own, q > 0.0L ? q : 1.0L);
        velocity += slow * slow;
        if (error > (pp_real)PP_ROWS_RIGHT) {
            // an error of speed below the rounding of the island is none
            if (!looked) {
                pp_contact_rounding(fcp, e->diagonal, e->size, e->rounding);
            }
            looked = true;
            bool none = (double)error * e->size[c] <= e->rounding[c];
            error = none ? 0.0L : error;
        }
        worst = !(error <= worst) ? error : worst;
    }
    out->backward = isfinite((double)worst) ? (double)worst : PP_INF;
    out->velocity = isfinite((double)velocity) ? (double)sqrtl(velocity) : PP_INF;
    return status;
}

// Arrays of the evidence that both forms have. False: no memory.
static bool allocate_evidence(const perp_fcp *fcp, pp_arena *arena, pp_fcp_evidence *e)
{
    size_t n = (size_t)fcp->nc * (size_t)fcp->dim;
    *e = (pp_fcp_evidence){.u = PP_ARRAY(arena, pp_real, 2 * n),
                           .q = PP_ARRAY(arena, double, 4 * n),
                           .size = PP_ARRAY(arena, double, 2 * (size_t)fcp->nc)};
    e->d = (pp_real(*)[2])PP_ARRAY(arena, pp_real, 2 * ((size_t)most_sides(fcp) + 1));
    if (!e->u || !e->q || !e->size || !e->d) {
        return false;
    }
    e->rounding = e->size + fcp->nc;
    e->terms = e->u + n;
    e->diagonal = e->q + n;
    e->made = e->diagonal + n;
    e->scale = e->made + n;
    return true;
}

perp_status pp_fcp_judge(const perp_fcp *fcp, const double *r, const double *v, double enough,
                         pp_arena *arena, perp_fcp_residuals *out)
{
    pp_mark mark = pp_arena_mark(arena);
    bool plain_enough = enough > 0.0 && pp_fcp_judge_bound(fcp, r, enough, arena, out);
    pp_arena_release(arena, mark);
    if (plain_enough) {
        return PERP_OK;
    }
    // bounds in double were not enough: all in long double
    pp_fcp_evidence e;
    perp_status status = allocate_evidence(fcp, arena, &e) ? PERP_OK : PERP_ERR_MEMORY;
    if (status >= 0) {
        status = fcp->nv > 0 ? pp_fcp_evidence_global(fcp, r, v, arena, &e)
                             : pp_fcp_evidence_local(fcp, r, &e);
    }
    if (status >= 0) {
        judge_contacts(fcp, r, &e, out);
        status = judge_backward(fcp, r, &e, arena, out);
    }
    if (e.mass) {
        pp_mass_destroy(e.mass);
    }
    pp_arena_release(arena, mark);
    return status;
}

perp_status perp_fcp_judge(const perp_fcp *fcp, const double *r, const double *v,
                           const perp_env *env, perp_fcp_residuals *out)
{
    char reason[8];
    if (!r || !out || pp_fcp_check(fcp, reason, sizeof reason) < 0 || (fcp->nv > 0 && !v)) {
        return PERP_ERR_ARGUMENT;
    }
    pp_arena *arena = pp_arena_create(env);
    if (!arena) {
        return PERP_ERR_MEMORY;
    }
    perp_status status = pp_fcp_judge(fcp, r, v, 0.0, arena, out);
    pp_arena_destroy(arena);
    return status;
}
