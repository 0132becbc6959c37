// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The judge of contact answers. No solver includes or calls this file's code.
//
//   e_c = r_c - P_K(r_c - rho (u_c + sum_g mu_g |u_g| e_n))
//   plain    sqrt(sum |e_c|^2) / |q|                         rho = 1: FCLIB          theory (C7)
//   scaled   sqrt(sum |e_c|^2) / max(|r|, |rho q|)           rho_c = 3 / tr W_cc     theory (C8)
//
// In the scaled map moments are divided by a length, l_g^2 = mean(diag W_tt) / mean(diag W_gg), so
// that all components of r are impulses, theory (C16). The projection, theory (C18), is written out
// for one round group; else it is found by bisection on its normal component, which holds for discs
// and polygons and any number of groups alike.
#include "comp/comp.h"

#include <math.h>
#include <string.h>

enum { DIM_MAX = 6 };

static double size2(const double *x)
{
    return hypot(x[0], x[1]);
}

// Direction j of an nd-gon. Vertex j of the friction polygon is mu r_n (cos, sin).
static void direction(int j, int nd, double d[2])
{
    double angle = 6.283185307179586 * (double)j / (double)nd;
    d[0] = cos(angle);
    d[1] = sin(angle);
}

// max over the unit ball (disc, segment or polygon) of -d . u: h_g of theory (C13).
static double support(const double *u, int size, int nd)
{
    if (size == 1) {
        return fabs(u[0]);
    }
    if (nd == 0) {
        return size2(u);
    }
    double best = 0.0;
    for (int j = 0; j < nd; j++) {
        double d[2];
        direction(j, nd, d);
        best = fmax(best, -(d[0] * u[0] + d[1] * u[1]));
    }
    return best;
}

// Nearest point of the segment [a, b] to x, written to y; returns the squared distance.
static double nearest_on_segment(const double a[2], const double b[2], const double x[2],
                                 double y[2])
{
    double e[2] = {b[0] - a[0], b[1] - a[1]};
    double length = e[0] * e[0] + e[1] * e[1];
    double t = length > 0.0 ? ((x[0] - a[0]) * e[0] + (x[1] - a[1]) * e[1]) / length : 0.0;
    t = t < 0.0 ? 0.0 : t > 1.0 ? 1.0 : t;
    y[0] = a[0] + t * e[0];
    y[1] = a[1] + t * e[1];
    return (x[0] - y[0]) * (x[0] - y[0]) + (x[1] - y[1]) * (x[1] - y[1]);
}

static void project_polygon(const double *x, double radius, int nd, double *y)
{
    bool inside = true;
    double best = PP_INF;
    for (int j = 0; j < nd; j++) {
        double a[2], b[2], point[2];
        direction(j, nd, a);
        direction(j + 1, nd, b);
        // The outward normal of side j points along a + b; its distance from 0 is |a + b| / 2.
        double normal[2] = {a[0] + b[0], a[1] + b[1]};
        double far = radius * 0.5 * (normal[0] * normal[0] + normal[1] * normal[1]);
        if (normal[0] * x[0] + normal[1] * x[1] <= far) {
            continue;
        }
        inside = false;
        a[0] *= radius, a[1] *= radius, b[0] *= radius, b[1] *= radius;
        double distance = nearest_on_segment(a, b, x, point);
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

static void project_ball(const double *x, int size, double radius, int nd, double *y)
{
    if (size == 1) {
        y[0] = x[0] > radius ? radius : x[0] < -radius ? -radius : x[0];
    } else if (nd == 0) {
        double length = size2(x), factor = length > radius ? radius / length : 1.0;
        y[0] = factor * x[0];
        y[1] = factor * x[1];
    } else {
        project_polygon(x, radius, nd, y);
    }
}

// One contact's cone: groups with their coefficients.
typedef struct cone {
    int dim, groups, nd;
    pp_group group[PP_GROUPS_MAX];
    double mu[PP_GROUPS_MAX];
} cone;

// Half the derivative, with respect to s, of the squared distance of x to the slice r_n = s of K:
//   (s - x_n) - sum_g (x_g - P(x_g)) . P(x_g) / s     (P(x_g) scales with s)
// It grows with s; its zero is the projection's normal component.
static double slope(const cone *K, const double *x, double s)
{
    double value = s - x[0];
    for (int g = 0; g < K->groups; g++) {
        const double *xg = x + K->group[g].first;
        double y[2] = {0.0, 0.0};
        project_ball(xg, K->group[g].size, K->mu[g] * s, K->nd, y);
        for (int k = 0; k < K->group[g].size; k++) {
            value -= (xg[k] - y[k]) * (s > 0.0 ? y[k] / s : 0.0);
        }
    }
    return value;
}

// In the limit s -> 0+ the slice shrinks to the apex: the slope is -x_n - sum mu_g support(-x_g).
static bool projects_to_apex(const cone *K, const double *x)
{
    double value = -x[0];
    for (int g = 0; g < K->groups; g++) {
        double minus[2] = {-x[K->group[g].first],
                           K->group[g].size > 1 ? -x[K->group[g].first + 1] : 0.0};
        value -= K->mu[g] * support(minus, K->group[g].size, K->nd);
    }
    return value >= 0.0;
}

// One round group: outside the cone the projection lies on its boundary, along the direction of x_g, at
// s = (x_n + mu |x_g|) / (1 + mu^2).
static void project_round(const cone *K, const double *x, double *y)
{
    int first = K->group[0].first, size = K->group[0].size;
    double mu = K->mu[0], length = support(x + first, size, 0);
    y[0] = length <= mu * x[0] ? x[0] : (x[0] + mu * length) / (1.0 + mu * mu);
    project_ball(x + first, size, mu * y[0], 0, y + first);
}

static void project_cone(const cone *K, const double *x, double *y)
{
    memset(y, 0, (size_t)K->dim * sizeof *y);
    if (projects_to_apex(K, x)) {
        return;
    }
    if (K->groups == 1 && (K->nd == 0 || K->group[0].size == 1)) {
        project_round(K, x, y);
        return;
    }
    double low = 0.0, high = fabs(x[0]);
    for (int g = 0; g < K->groups; g++) {
        high += (1.0 + K->mu[g]) * support(x + K->group[g].first, K->group[g].size, 0);
    }
    for (int k = 0; k < 200 && low < high; k++) {
        double middle = 0.5 * (low + high);
        if (middle <= low || middle >= high) {
            break;
        }
        if (slope(K, x, middle) > 0.0) {
            high = middle;
        } else {
            low = middle;
        }
    }
    y[0] = 0.5 * (low + high);
    for (int g = 0; g < K->groups; g++) {
        int first = K->group[g].first;
        project_ball(x + first, K->group[g].size, K->mu[g] * y[0], K->nd, y + first);
    }
}

// |r - P_K(r - rho (u + sum mu |u_g| e_n))|^2
static double natural_map2(const cone *K, const double *r, const double *u, double rho)
{
    double x[DIM_MAX] = {0.0}, y[DIM_MAX], step[DIM_MAX], sum = 0.0, shift = 0.0;
    for (int g = 0; g < K->groups; g++) {
        shift += K->mu[g] * support(u + K->group[g].first, K->group[g].size, K->nd);
    }
    for (int k = 0; k < K->dim; k++) {
        step[k] = rho * (u[k] + (k == 0 ? shift : 0.0));
        x[k] = r[k] - step[k];
    }
    project_cone(K, x, y);
    for (int k = 0; k < K->dim; k++) {  // r - y without rounding u away beside a huge r
        double error = (x[k] - y[k]) + step[k];
        sum += error * error;
    }
    return sum;
}

static double norm(int n, const double *x)
{
    double sum = 0.0;
    for (int k = 0; k < n; k++) {
        sum += x[k] * x[k];
    }
    return sqrt(sum);
}

// Diagonal of W and the velocities of the answer.
typedef struct evidence {
    double *u, *q, *diagonal;  // nc dim each
    double dynamics;
} evidence;

static perp_status gather_local(const perp_fcp *fcp, const double *r, evidence *e)
{
    int n = fcp->nc * fcp->dim;
    memcpy(e->u, fcp->q, (size_t)n * sizeof(double));
    memcpy(e->q, fcp->q, (size_t)n * sizeof(double));
    pp_matrix_mul(&fcp->W, 1.0, r, e->u);
    pp_matrix_diagonal(&fcp->W, e->diagonal);
    return PERP_OK;
}

// diag(H' M^-1 H) with one solve a column of H.
static perp_status delassus_diagonal(const perp_matrix *H, const pp_mass *mass, pp_arena *arena,
                                     double *diagonal)
{
    double *y = PP_ARRAY(arena, double, H->rows), *h = PP_ARRAY(arena, double, H->rows);
    perp_status status = y && h ? PERP_OK : PERP_ERR_MEMORY;
    for (int j = 0; status >= 0 && j < H->cols; j++) {
        memset(h, 0, (size_t)H->rows * sizeof *h);
        for (int k = H->dense ? 0 : H->p[j]; k < (H->dense ? H->rows : H->p[j + 1]); k++) {
            h[H->dense ? k : H->i[k]] =
                H->dense ? H->dense[(size_t)j * (size_t)H->rows + (size_t)k] : H->x[k];
        }
        memcpy(y, h, (size_t)H->rows * sizeof *y);
        status = pp_mass_solve(mass, y);
        diagonal[j] = pp_dot(H->rows, h, y);
    }
    return status;
}

static perp_status gather_global(const perp_fcp *fcp, const double *r, const double *v,
                                 pp_arena *arena, evidence *e)
{
    int n = fcp->nc * fcp->dim, nv = fcp->nv;
    double *rest = PP_ARRAY(arena, double, nv), *push = PP_ARRAY(arena, double, nv);
    pp_mass *mass = NULL;
    perp_status status = rest && push ? pp_mass_create(&fcp->M, arena, &mass) : PERP_ERR_MEMORY;
    if (status < 0) {
        return status;
    }
    memcpy(push, fcp->f, (size_t)nv * sizeof *push);  // f + H r
    pp_matrix_mul(&fcp->H, 1.0, r, push);
    for (int k = 0; k < nv; k++) {
        rest[k] = -push[k];
    }
    pp_matrix_mul(&fcp->M, 1.0, v, rest);  // M v - f - H r
    // At rest f + H r is nothing but rounding: then f is what it is measured against.
    double size = fmax(norm(nv, push), norm(nv, fcp->f));
    e->dynamics = size > 0.0 ? norm(nv, rest) / size : norm(nv, rest);

    memcpy(e->u, fcp->w, (size_t)n * sizeof(double));  // u = H' v + w
    pp_matrix_mul_t(&fcp->H, 1.0, v, e->u);
    memcpy(rest, fcp->f, (size_t)nv * sizeof *rest);  // q = H' M^-1 f + w
    status = pp_mass_solve(mass, rest);
    memcpy(e->q, fcp->w, (size_t)n * sizeof(double));
    pp_matrix_mul_t(&fcp->H, 1.0, rest, e->q);
    if (status >= 0) {
        status = delassus_diagonal(&fcp->H, mass, arena, e->diagonal);
    }
    pp_mass_destroy(mass);
    return status;
}

static double mean(const double *x, int n)
{
    double sum = 0.0;
    for (int k = 0; k < n; k++) {
        sum += x[k];
    }
    return sum / n;
}

// Contact c with its moments divided by lengths: scale[k] multiplies r and divides u.
static double unit_scaling(const perp_fcp *fcp, const double *diagonal, cone *K, double *scale)
{
    int linear = fcp->dim < 3 ? fcp->dim : 3;
    double mass = mean(diagonal, linear);
    for (int k = 0; k < fcp->dim; k++) {
        scale[k] = 1.0;
    }
    for (int g = 1; g < K->groups; g++) {
        int first = K->group[g].first, size = K->group[g].size;
        double moment = mean(diagonal + first, size);
        double length = mass > 0.0 && moment > 0.0 ? sqrt(mass / moment) : 1.0;
        K->mu[g] /= length;
        for (int k = first; k < first + size; k++) {
            scale[k] = 1.0 / length;
        }
    }
    return mass > 0.0 ? 1.0 / mass : 1.0;  // rho_c
}

static void judge_contacts(const perp_fcp *fcp, const double *r, const evidence *e,
                           perp_fcp_residuals *out)
{
    cone K = {.dim = fcp->dim};
    double plain = 0.0, scaled = 0.0, r2 = 0.0, q2 = 0.0;
    K.groups = pp_fcp_groups(fcp, K.group);
    for (int c = 0; c < fcp->nc; c++) {
        int at = c * fcp->dim;
        double scale[DIM_MAX], rs[DIM_MAX], us[DIM_MAX];
        K.nd = fcp->nd ? fcp->nd[c] : 0;
        for (int g = 0; g < K.groups; g++) {
            K.mu[g] = K.group[g].mu[c];
        }
        plain += natural_map2(&K, r + at, e->u + at, 1.0);
        double rho = unit_scaling(fcp, e->diagonal + at, &K, scale);
        for (int k = 0; k < fcp->dim; k++) {
            rs[k] = r[at + k] * scale[k];
            us[k] = e->u[at + k] / scale[k];
            r2 += rs[k] * rs[k];
            q2 += pow(rho * e->q[at + k] / scale[k], 2.0);
        }
        scaled += natural_map2(&K, rs, us, rho);
    }
    double q_size = norm(fcp->nc * fcp->dim, e->q), unit = sqrt(fmax(r2, q2));
    plain = sqrt(plain) / (q_size > 0.0 ? q_size : 1.0);
    scaled = sqrt(scaled) / (unit > 0.0 ? unit : 1.0);
    out->plain = isfinite(plain) ? plain : PP_INF;
    out->scaled = isfinite(scaled) ? scaled : PP_INF;
    out->dynamics = isfinite(e->dynamics) ? e->dynamics : PP_INF;
}

perp_status pp_fcp_judge(const perp_fcp *fcp, const double *r, const double *v, pp_arena *arena,
                         perp_fcp_residuals *out)
{
    pp_mark mark = pp_arena_mark(arena);
    int n = fcp->nc * fcp->dim;
    evidence e = {.u = PP_ARRAY(arena, double, n),
                  .q = PP_ARRAY(arena, double, n),
                  .diagonal = PP_ARRAY(arena, double, n)};
    perp_status status = e.u && e.q && e.diagonal ? PERP_OK : PERP_ERR_MEMORY;
    if (status >= 0) {
        status = fcp->nv > 0 ? gather_global(fcp, r, v, arena, &e) : gather_local(fcp, r, &e);
    }
    if (status >= 0) {
        judge_contacts(fcp, r, &e, out);
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
    perp_status status = pp_fcp_judge(fcp, r, v, arena, out);
    pp_arena_destroy(arena);
    return status;
}
