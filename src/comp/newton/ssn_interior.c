// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// A start for the semi-smooth Newton solver: an interior point method on the cones of friction.
//                                                                                      theory (C37)
// In r' = T r and u' = T^-1 (u + mu |u_t| e_n), T = diag(mu, 1, ..), both of a contact lie in the Lorentz
// cone L and r' . u' = 0. Followed is the path of points inside with
//
//   u' = T^-1 (W r + q) + |u'_t| e_0,    r' o u' = tau e,    tau -> 0
//
// by Newton steps in the scaling of Nesterov and Todd, in which the second equation reads
//
//   dr' + Q du' = s tau u'^-1 - r',      Q = (|r'| / |u'|) (2 w w^T - J),  Q u' = r'
//
// |.| = sqrt(det). With t = u'_t / |u'_t| and E = I + e_0 t^T: (T + Q E T^-1 W) dr = s tau u'^-1 - r' + Q E R,
// R what the first equation lacks. The root in |u'_t| is rounded by a part of tau. How far tau is to fall in a
// step is told by a first solution with s = 0, which also gives a term of second order (Mehrotra 1992).
// The path of the contact problem, which is not monotone, may turn back: steps then become short. A few
// steps with E = I, which are those of a monotone problem, lead past such places, if slowly; and it helps to
// keep tau from falling below a part of R.
#include "comp/newton/ssn.h"

#include <math.h>
#include <string.h>

enum { SHORTS = 3 };  // short steps in a row that call for E = I

#define BOUNDARY    0.95  // of the way to the boundary of the cones
#define SHORT       0.15  // a step that is short
#define LEAST_SHARE 0.01  // of tau that a step aims at
#define ROUND       0.1   // |u_t| is rounded by this part of tau
#define MU_LEAST    1e-3  // friction below this is taken for this
#define STUCK       1e-4  // steps below this end it

struct pp_ssn_interior {
    const pp_ssn *ssn;
    pp_ssn_linear *linear;
    double *r, *u;        // n: r', u'
    double *Wr;           // n: W r
    double *A, *B;        // blocks of the Newton matrix
    double *R, *dr, *Wd;  // n: lack of the first equation; step of r, then r'; W dr
    double *du, *mu;      // n; nc: friction, not too small
    double *w, *eta;      // n; nc: the scaling, Q = eta^2 (2 w w^T - J)
    double *QE;           // blocks Q E
    double *second;       // n: term of second order
    double last;          // length of the last step
    int shorts;           // short steps in a row
    int monotone;         // steps left with E = I
    pp_ssn_path path;
};

static double det(int d, const double *x)
{
    double sum = x[0] * x[0];
    for (int k = 1; k < d; k++) {
        sum -= x[k] * x[k];
    }
    return sum;
}

bool pp_ssn_interior_fits(const pp_ssn *ssn)
{
    return ssn->groups == 1;
}

// Discs of the same area.
const pp_ssn *pp_ssn_discs(const pp_ssn *ssn, pp_arena *arena)
{
    pp_ssn *out = PP_ARRAY(arena, pp_ssn, 1);
    perp_fcp *fcp = PP_ARRAY(arena, perp_fcp, 1);
    double *mu = PP_ARRAY(arena, double, 2 * (size_t)ssn->nc);
    if (!out || !fcp || !mu) {
        return NULL;
    }
    *out = *ssn;
    *fcp = *ssn->fcp;
    for (int c = 0; c < ssn->nc; c++) {
        double angle = fcp->nd[c] > 0 ? 6.283185307179586 / fcp->nd[c] : 0.0;
        double part = angle > 0.0 ? sqrt(sin(angle) / angle) : 1.0;
        mu[c] = part * ssn->group[0].mu[c];
        mu[ssn->nc + c] = part * ssn->fcp->mu[c];
    }
    out->group[0].mu = mu;
    fcp->mu = mu + ssn->nc;
    fcp->nd = NULL;
    out->fcp = fcp;
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
    int d = ssn->dim;
    for (int c = 0; c < ssn->nc; c++) {
        s->mu[c] = fmax(ssn->group[0].mu[c], MU_LEAST);
        for (int k = 0; k < d; k++) {
            s->B[(size_t)c * (size_t)(d * d) + (size_t)(k * (d + 1))] = k == 0 ? s->mu[c] : 1.0;
        }
    }
    return PERP_OK;
}

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

// tau = r'.u' / nc
static double path_parameter(const pp_ssn_interior *s)
{
    return pp_dot(s->ssn->n, s->r, s->u) / s->ssn->nc;
}

// Q E of contact c at the current point, and R; A = Q E T^-1.
static void contact_blocks(pp_ssn_interior *s, int c, double tau, bool monotone)
{
    int d = s->ssn->dim;
    const double *r = s->r + c * d, *u = s->u + c * d, *q = s->ssn->q + c * d;
    double rd = sqrt(det(d, r)), ud = sqrt(det(d, u)), Q[9], e[3] = {0.0};
    double cosine = 0.0, soft = ROUND * tau, slip = soft * soft;
    for (int k = 0; k < d; k++) {
        cosine += r[k] * u[k];
        slip += k > 0 ? u[k] * u[k] : 0.0;
    }
    slip = sqrt(slip);
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
            double J = i != k ? 0.0 : i == 0 ? 1.0 : -1.0;
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

// The right-hand side: s tau u'^-1 - r' + Q E R, less a part of the term of second order.
static void contact_aim(pp_ssn_interior *s, int c, double aim, double part)
{
    int d = s->ssn->dim;
    const double *r = s->r + c * d, *u = s->u + c * d, *R = s->R + c * d;
    const double *QE = s->QE + (size_t)c * (size_t)(d * d);
    double *b = s->dr + c * d, square = det(d, u);
    for (int i = 0; i < d; i++) {
        b[i] = aim * (i == 0 ? u[i] : -u[i]) / square - r[i] - part * s->second[c * d + i];
        for (int k = 0; k < d; k++) {
            b[i] += QE[i + k * d] * R[k];
        }
    }
}

// y = Q^(1/2) x, or with its inverse
static void scale_nt(const pp_ssn_interior *s, int c, bool inverse, const double *x, double *y)
{
    int d = s->ssn->dim;
    const double *w = s->w + c * d;
    double sign = inverse ? -1.0 : 1.0, sum = 0.0;
    double factor = inverse ? 1.0 / s->eta[c] : s->eta[c];
    for (int k = 1; k < d; k++) {
        sum += w[k] * x[k];
    }
    y[0] = factor * (w[0] * x[0] + sign * sum);
    for (int k = 1; k < d; k++) {
        y[k] = factor * (x[k] + w[k] * (sign * x[0] + sum / (1.0 + w[0])));
    }
}

// Q^(1/2) (l \ (Q^(-1/2) dr' o Q^(1/2) du')), l = Q^(1/2) u', of the step that was just solved for
static void contact_second(pp_ssn_interior *s, int c)
{
    int d = s->ssn->dim;
    double a[3], b[3], l[3], v[3] = {0.0}, z[3], sum = 0.0;
    scale_nt(s, c, true, s->dr + c * d, a);
    scale_nt(s, c, false, s->du + c * d, b);
    scale_nt(s, c, false, s->u + c * d, l);
    for (int k = 0; k < d; k++) {
        v[0] += a[k] * b[k];
        v[k] = k > 0 ? a[0] * b[k] + b[0] * a[k] : v[k];
    }
    for (int k = 1; k < d; k++) {
        sum += l[k] * v[k];
    }
    z[0] = (l[0] * v[0] - sum) / det(d, l);
    for (int k = 1; k < d; k++) {
        z[k] = (v[k] - l[k] * z[0]) / l[0];
    }
    scale_nt(s, c, false, z, s->second + c * d);
}

// du' = E (T^-1 W dr - R); dr becomes dr'.
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

// The t > 0 at which x + t dx leaves the cone, at most `most`.
static double way_out(int d, const double *x, const double *dx, double most)
{
    double a = det(d, dx), c = det(d, x), b = x[0] * dx[0];
    for (int k = 1; k < d; k++) {
        b -= x[k] * dx[k];
    }
    double root = b * b - a * c;
    if (root >= 0.0 && sqrt(root) > b) {
        most = fmin(most, c / (sqrt(root) - b));
    }
    return dx[0] < 0.0 ? fmin(most, -x[0] / dx[0]) : most;
}

// Solves for the step with what contact_aim left, and returns how far it can go, at most `most`.
static perp_status newton_direction(pp_ssn_interior *s, double tau, bool monotone, double *most)
{
    int d = s->ssn->dim;
    perp_status status = pp_ssn_linear_solve(s->linear, s->dr, s->Wd);
    for (int c = 0; status == PERP_OK && c < s->ssn->nc; c++) {
        contact_step(s, c, tau, monotone);
        *most = way_out(d, s->r + c * d, s->dr + c * d, *most);
        *most = way_out(d, s->u + c * d, s->du + c * d, *most);
    }
    return status;
}

// What the step is to leave of tau, from the step that aims at nothing, which can go as far as t.
static double aim_of(const pp_ssn_interior *s, double tau, double t)
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
    double tau = path_parameter(s), far = 1.0, most = 1.0 / BOUNDARY;
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
    memset(s->second, 0, (size_t)n * sizeof *s->second);
    for (int c = 0; c < nc; c++) {
        contact_blocks(s, c, tau, monotone);
        contact_aim(s, c, 0.0, 0.0);
    }
    perp_status status = pp_ssn_linear_factor(s->linear, s->A, s->B);
    status = status < 0 ? status : newton_direction(s, tau, monotone, &far);
    if (status < 0) {
        return status;
    }
    double aim = aim_of(s, tau, far);
    for (int c = 0; c < nc; c++) {
        contact_second(s, c);
        contact_aim(s, c, aim, far * far);
    }
    status = newton_direction(s, tau, monotone, &most);
    if (status < 0) {
        return status;
    }
    s->last = BOUNDARY * most;
    pp_axpy(n, s->last, s->dr, s->r);
    pp_axpy(n, s->last, s->du, s->u);
    pp_axpy(n, s->last, s->Wd, s->Wr);
    return s->last < STUCK || !pp_all_finite((size_t)n, s->r) ? PERP_ERR_LIMIT : PERP_OK;
}

void pp_ssn_interior_point(const pp_ssn_interior *s, double *r)
{
    int d = s->ssn->dim;
    for (int c = 0; c < s->ssn->nc; c++) {
        memcpy(r + c * d, s->r + c * d, (size_t)d * sizeof *r);
        r[c * d] /= s->mu[c];
    }
}
