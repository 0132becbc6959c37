// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// A start for the semi-smooth Newton solver: a primal-dual interior
// point method on the friction cones.
//                                                                                      theory (C37)
// With T = diag(mu, 1, ..), r' = T r and u' = T^-1 (u + mu |u_t| e_n) of a contact lie in the
// Lorentz cone L, and r' . u' = 0. The method follows the central path, the interior points with
//
//   u' = T^-1 (W r + q) + |u'_t| e_0,    r' o u' = tau e,    tau -> 0
//
// by Newton steps in the scaling of Nesterov and Todd (1997), in which the second equation reads
//
//   dr' + Q du' = s tau u'^-1 - r',      Q = (|r'| / |u'|) (2 w w^T - J),  Q u' = r'
//
// with |.| = sqrt(det). Let t = u'_t / |u'_t|, E = I + e_0 t^T the derivative of the shift, and R
// the residual of the first equation; then
//
//   (T + Q E T^-1 W) dr = s tau u'^-1 - r' + Q E R
//
// |u'_t| is rounded by a part of tau, so that E exists at u'_t = 0. A first solution with s = 0
// (predictor) determines the tau to aim at, and gives a term of second order (Mehrotra 1992).
//
// The contact problem is not monotone and its path may turn back: steps become short. A few steps
// with E = I, which are those of a monotone problem, pass such places, slowly; and it helps to keep
// tau above a part of R. Nothing is proved. Cost: one factorisation and two solutions a step.
#include "comp/newton/ssn.h"

#include <math.h>
#include <string.h>

enum { SHORTS = 3 };  // short steps in a row after which E = I, or the path ends

#define BOUNDARY    0.95  // part of the way to the boundary of the cones that a step takes
#define SHORT       0.15  // length below which a step counts as short
#define LEAST_SHARE 0.01  // a step aims at no less than this part of tau
#define ROUND       0.1   // |u_t| is rounded by this part of tau
#define MU_LEAST    1e-3  // least coefficient of friction: T must be regular
#define STUCK       1e-4  // length of a step below which the path ends

// An interior point and its step. Primes are left out: r and u are r' and u'.
struct pp_ssn_interior {
    const pp_ssn *ssn;
    pp_ssn_linear *linear;
    double *r, *u;        // n: r', u'
    double *Wr;           // n: W r
    double *A, *B;        // blocks of the Newton matrix
    double *R, *dr, *Wd;  // n: residual of the first equation; step of r, later of r'; W dr
    double *du, *mu;      // n; nc: friction, not too small
    double *w, *eta;      // n; nc: the scaling, Q = eta^2 (2 w w^T - J)
    double *QE;           // blocks Q E
    double *second;       // n: term of second order
    double last;          // length of the last step
    int shorts;           // short steps in a row
    int monotone;         // steps left with E = I
    pp_ssn_path path;
};

// The Lorentz cone has one group; torsion and rolling would need products of cones.
bool pp_ssn_interior_fits(const pp_ssn *ssn)
{
    return ssn->groups == 1;
}

// A polygon of nd sides with circumradius 1 has the area of a disc of radius sqrt(sin(a) / a), a =
// 2 pi / nd.
const pp_ssn *pp_ssn_discs(const pp_ssn *ssn, pp_arena *arena)
{
    pp_ssn *out = PP_ARRAY(arena, pp_ssn, 1);
    pp_cone_law *laws = PP_ARRAY(arena, pp_cone_law, 2 * (size_t)ssn->nc);
    if (!out || !laws) {
        return NULL;
    }
    *out = *ssn;
    out->law = laws;
    out->plain = laws + ssn->nc;
    for (int c = 0; c < ssn->nc; c++) {
        int nd = ssn->law[c].disc[0].nd;
        double angle = nd > 0 ? 6.283185307179586 / nd : 0.0;
        double part = angle > 0.0 ? sqrt(pp_sin(angle) / angle) : 1.0;
        out->law[c] = ssn->law[c];
        out->plain[c] = ssn->plain[c];
        // the interior method has one group
        out->law[c].disc[0].mu *= part;
        out->plain[c].disc[0].mu *= part;
        out->law[c].disc[0].nd = out->plain[c].disc[0].nd = 0;
    }
    return out;
}

perp_status pp_ssn_interior_create(const pp_ssn *ssn, pp_ssn_linear *linear, pp_arena *arena,
                                   pp_ssn_interior **out)
{
    pp_ssn_interior *s = PP_ZEROS(arena, pp_ssn_interior, 1);
    size_t n = (size_t)ssn->n;
    *out = s;
    if (!s) {
        return PERP_ERR_MEMORY;
    }
    *s = (pp_ssn_interior){.ssn = ssn, .linear = linear};
    double **vectors[] = {&s->r, &s->u, &s->Wr, &s->R, &s->dr, &s->Wd, &s->du, &s->w, &s->second};
    for (size_t k = 0; k < sizeof vectors / sizeof vectors[0]; k++) {
        *vectors[k] = PP_ZEROS(arena, double, n);
        if (!*vectors[k]) {
            return PERP_ERR_MEMORY;
        }
    }
    s->mu = PP_ARRAY(arena, double, ssn->nc);
    s->eta = PP_ARRAY(arena, double, ssn->nc);
    s->QE = PP_ARRAY(arena, double, n *(size_t)ssn->dim);
    s->A = PP_ARRAY(arena, double, n *(size_t)ssn->dim);
    s->B = PP_ZEROS(arena, double, n *(size_t)ssn->dim);
    if (!s->mu || !s->eta || !s->QE || !s->A || !s->B) {
        return PERP_ERR_MEMORY;
    }
    // B = T is constant
    int d = ssn->dim;
    for (int c = 0; c < ssn->nc; c++) {
        s->mu[c] = fmax(ssn->law[c].disc[0].mu, MU_LEAST);
        for (int k = 0; k < d; k++) {
            s->B[(size_t)c * (size_t)(d * d) + (size_t)(k * (d + 1))] = k == 0 ? s->mu[c] : 1.0;
        }
    }
    return PERP_OK;
}

// r' = u' = e, tau = 1: r_n = 1 / mu in the scaled units, in which W
// has unit mean diagonals and max|q| = 1.
void pp_ssn_interior_begin(pp_ssn_interior *s, pp_ssn_path path)
{
    int d = s->ssn->dim, nc = s->ssn->nc;
    double *first = s->dr;
    memset(s->r, 0, (size_t)s->ssn->n * sizeof *s->r);
    memset(s->u, 0, (size_t)s->ssn->n * sizeof *s->u);
    memset(first, 0, (size_t)s->ssn->n * sizeof *first);
    for (int c = 0; c < nc; c++) {
        s->r[c * d] = s->u[c * d] = 1.0;
        first[c * d] = 1.0 / s->mu[c];
    }
    pp_ssn_mul(s->ssn, first, s->Wr);
    s->last = 1.0;
    s->shorts = s->monotone = 0;
    s->path = path;
}

// The scaling (w, eta), Q E, A = Q E T^-1 and R of contact c at the current point.
static void contact_blocks(pp_ssn_interior *s, int c, double tau, bool monotone)
{
    int d = s->ssn->dim;
    const double *r = s->r + c * d, *u = s->u + c * d, *q = s->ssn->q + c * d;
    double rd = sqrt(pp_lorentz_det(d, r)), ud = sqrt(pp_lorentz_det(d, u)), Q[9], e[3] = {0.0};
    double cosine = 0.0, soft = ROUND * tau, slip = soft * soft;
    for (int k = 0; k < d; k++) {
        cosine += r[k] * u[k];
        slip += k > 0 ? u[k] * u[k] : 0.0;
    }
    slip = sqrt(slip);
    // the scaling point of Nesterov and Todd, w = (r' / |r'| + J u' / |u'|) / (2 half), det w = 1
    double half = sqrt(0.5 * (1.0 + cosine / (rd * ud))), *w = s->w + c * d;
    s->eta[c] = sqrt(rd / ud);
    for (int k = 0; k < d; k++) {
        w[k] = (r[k] / rd + (k == 0 ? u[k] : -u[k]) / ud) / (2.0 * half);
        e[k] = k > 0 && !monotone ? u[k] / slip : 0.0;
    }
    double *R = s->R + c * d, *A = s->A + (size_t)c * (size_t)(d * d);
    double *QE = s->QE + (size_t)c * (size_t)(d * d);
    for (int k = 0; k < d; k++) {
        R[k] = u[k] - (s->Wr[c * d + k] + q[k]) / (k == 0 ? s->mu[c] : 1.0);
        R[k] -= k == 0 ? slip - soft : 0.0;
        for (int i = 0; i < d; i++) {
            double J = 0.0;  // diag(1, -1, -1)
            if (i == k) {
                J = i == 0 ? 1.0 : -1.0;
            }
            Q[i + k * d] = rd / ud * (2.0 * w[i] * w[k] - J);
        }
    }
    for (int i = 0; i < d; i++) {
        for (int k = 0; k < d; k++) {
            QE[i + k * d] = Q[i + k * d] + Q[i] * e[k];
            A[i + k * d] = QE[i + k * d] / (k == 0 ? s->mu[c] : 1.0);
        }
    }
}

// The right-hand side of contact c: aim u'^-1 - r' + Q E R, less a part of the term of second
// order. The inverse in the algebra is u'^-1 = (u_0, -u_t) / det u'.
static void contact_right_side(pp_ssn_interior *s, int c, double aim, double part)
{
    int d = s->ssn->dim;
    const double *r = s->r + c * d, *u = s->u + c * d, *R = s->R + c * d;
    const double *QE = s->QE + (size_t)c * (size_t)(d * d);
    double *b = s->dr + c * d, square = pp_lorentz_det(d, u);
    for (int i = 0; i < d; i++) {
        b[i] = aim * (i == 0 ? u[i] : -u[i]) / square - r[i] - part * s->second[c * d + i];
        for (int k = 0; k < d; k++) {
            b[i] += QE[i + k * d] * R[k];
        }
    }
}

// Mehrotra's term of contact c for the step just found.
static void contact_second_order(pp_ssn_interior *s, int c)
{
    int d = s->ssn->dim, at = c * d;
    const pp_lorentz_step step = {d, s->eta[c], s->w + at, s->u + at, s->dr + at, s->du + at};
    pp_lorentz_second_order(&step, s->second + at);
}

// From dr and W dr: du' = E (T^-1 W dr - R); dr becomes dr' = T dr.
static void contact_step(pp_ssn_interior *s, int c, double tau, bool monotone)
{
    int d = s->ssn->dim;
    const double *u = s->u + c * d;
    double *du = s->du + c * d, soft = ROUND * tau, slip = soft * soft, along = 0.0;
    for (int k = 0; k < d; k++) {
        du[k] = s->Wd[c * d + k] / (k == 0 ? s->mu[c] : 1.0) - s->R[c * d + k];
        slip += k > 0 ? u[k] * u[k] : 0.0;
        along += k > 0 ? u[k] * du[k] : 0.0;
    }
    du[0] += monotone ? 0.0 : along / sqrt(slip);
    s->dr[c * d] *= s->mu[c];
}

// Solves for the step with the right-hand sides in dr. *most becomes its length up to the boundary
// of the first cone, where that is less.
static perp_status interior_direction(pp_ssn_interior *s, double tau, bool monotone, double *most)
{
    int d = s->ssn->dim;
    perp_status status = pp_ssn_linear_solve(s->linear, s->dr, s->Wd);
    if (status != PERP_OK) {
        return status;
    }
    for (int c = 0; c < s->ssn->nc; c++) {
        contact_step(s, c, tau, monotone);
        *most = pp_lorentz_boundary(d, s->r + c * d, s->dr + c * d, *most);
        *most = pp_lorentz_boundary(d, s->u + c * d, s->du + c * d, *most);
    }
    return PERP_OK;
}

// The tau to aim at, from the predictor, whose step to the boundary is t: the
// cube of the share of tau that it leaves (Mehrotra's rule), and no less than (1
// - t)^3 or than a part of the residual R.
static double target_tau(const pp_ssn_interior *s, double tau, double t)
{
    int n = s->ssn->n, nc = s->ssn->nc;
    double left = 0.0, lack = pp_norm2(n, s->R) / sqrt(nc);
    for (int i = 0; i < n; i++) {
        left += (s->r[i] + t * s->dr[i]) * (s->u[i] + t * s->du[i]);
    }
    double share = fmax(left, 0.0) / (nc * tau), short_of = 1.0 - t;
    share = fmin(fmax(share * share * share, LEAST_SHARE), 1.0);
    share = fmax(share, short_of * short_of * short_of);
    return fmax(share * tau, s->path.feasible * lack);
}

perp_status pp_ssn_interior_step(pp_ssn_interior *s)
{
    int nc = s->ssn->nc, n = s->ssn->n;
    double tau = pp_dot(n, s->r, s->u) / nc, far = 1.0, most = 1.0 / BOUNDARY;
    s->shorts = s->last < SHORT ? s->shorts + 1 : 0;
    if (s->shorts == SHORTS) {
        if (s->path.monotone == 0) {
            return PERP_ERR_LIMIT;
        }
        s->monotone = s->path.monotone;
        s->shorts = 0;
    }
    bool monotone = s->monotone > 0;
    s->monotone -= monotone;
    // predictor: tau = 0
    memset(s->second, 0, (size_t)n * sizeof *s->second);
    for (int c = 0; c < nc; c++) {
        contact_blocks(s, c, tau, monotone);
        contact_right_side(s, c, 0.0, 0.0);
    }
    perp_status status = pp_ssn_linear_factor(s->linear, s->A, s->B);
    if (status >= 0) {
        status = interior_direction(s, tau, monotone, &far);
    }
    if (status < 0) {
        return status;
    }
    // corrector, with the same factors
    double aim = target_tau(s, tau, far);
    for (int c = 0; c < nc; c++) {
        contact_second_order(s, c);
        contact_right_side(s, c, aim, far * far);
    }
    status = interior_direction(s, tau, monotone, &most);
    if (status < 0) {
        return status;
    }
    s->last = BOUNDARY * most;
    pp_axpy(n, s->last, s->dr, s->r);
    pp_axpy(n, s->last, s->du, s->u);
    pp_axpy(n, s->last, s->Wd, s->Wr);
    return s->last < STUCK || !pp_all_finite((size_t)n, s->r) ? PERP_ERR_LIMIT : PERP_OK;
}

// r = T^-1 r'
void pp_ssn_interior_point(const pp_ssn_interior *s, double *r)
{
    int d = s->ssn->dim;
    for (int c = 0; c < s->ssn->nc; c++) {
        memcpy(r + c * d, s->r + c * d, (size_t)d * sizeof *r);
        r[c * d] /= s->mu[c];
    }
}
