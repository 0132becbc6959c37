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
// R what the first equation lacks. The root in |u'_t| is rounded by a part of tau. The path of the contact
// problem, which is not monotone, may turn back: steps then become short. A few steps with E = I, which
// are those of a monotone problem, lead past such places, if slowly.
#include "comp/ssn.h"

#include <math.h>
#include <string.h>

enum { MONOTONE_STEPS = 3 };  // with E = I, after a short step

#define CENTRE 0.3    // s: tau falls to this part of it in a full step
enum { SHORTS = 3 };  // short steps in a row that call for E = I

#define BOUNDARY 0.95  // of the way to the boundary of the cones
#define SHORT    0.15  // a step after which the next one aims at the centre
#define RECENTRE 0.8   // what it then leaves of tau
#define ROUND    0.1   // |u_t| is rounded by this part of tau
#define MU_LEAST 1e-3  // friction below this is taken for this
#define STUCK    1e-4  // steps below this end it

struct pp_ssn_interior {
    const pp_ssn *ssn;
    pp_ssn_linear *linear;
    double *r, *u;        // n: r', u'
    double *Wr;           // n: W r
    double *A, *B;        // blocks of the Newton matrix
    double *R, *dr, *Wd;  // n: lack of the first equation; step of r, then r'; W dr
    double *du, *mu;      // n; nc: friction, not too small
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
    return ssn->groups == 1 && !ssn->fcp->nd;
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
    double **vectors[] = {&s->r, &s->u, &s->Wr, &s->R, &s->dr, &s->Wd, &s->du};
    for (size_t k = 0; k < sizeof vectors / sizeof vectors[0]; k++) {
        *vectors[k] = PP_ZEROS(arena, double, n);
        if (!*vectors[k]) {
            return PERP_ERR_MEMORY;
        }
    }
    s->mu = PP_ARRAY(arena, double, ssn->nc);
    s->A = PP_ARRAY(arena, double, n *(size_t)ssn->dim);
    s->B = PP_ZEROS(arena, double, n *(size_t)ssn->dim);
    if (!s->mu || !s->A || !s->B) {
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
static double centre_of(const pp_ssn_interior *s)
{
    return pp_dot(s->ssn->n, s->r, s->u) / s->ssn->nc;
}

// Q E of contact c at the current point, and R; A = Q E T^-1.
static void contact_blocks(pp_ssn_interior *s, int c, double tau, double aim, bool monotone)
{
    int d = s->ssn->dim;
    const double *r = s->r + c * d, *u = s->u + c * d, *q = s->ssn->q + c * d;
    double rd = sqrt(det(d, r)), ud = sqrt(det(d, u)), w[3], Q[9], QE[9], e[3] = {0.0};
    double cosine = 0.0, soft = ROUND * tau, slip = soft * soft;
    for (int k = 0; k < d; k++) {
        cosine += r[k] * u[k];
        slip += k > 0 ? u[k] * u[k] : 0.0;
    }
    slip = sqrt(slip);
    double half = sqrt(0.5 * (1.0 + cosine / (rd * ud)));
    for (int k = 0; k < d; k++) {
        w[k] = (r[k] / rd + (k == 0 ? u[k] : -u[k]) / ud) / (2.0 * half);
        e[k] = k > 0 && !monotone ? u[k] / slip : 0.0;
    }
    double *R = s->R + c * d, *A = s->A + (size_t)c * (size_t)(d * d), *b = s->dr + c * d;
    for (int k = 0; k < d; k++) {
        R[k] = u[k] - (s->Wr[c * d + k] + q[k]) / (k == 0 ? s->mu[c] : 1.0);
        R[k] -= k == 0 ? slip - soft : 0.0;
        for (int i = 0; i < d; i++) {
            double J = i != k ? 0.0 : i == 0 ? 1.0 : -1.0;
            Q[i + k * d] = rd / ud * (2.0 * w[i] * w[k] - J);
        }
    }
    for (int i = 0; i < d; i++) {
        double uinv = (i == 0 ? u[i] : -u[i]) / (ud * ud);
        b[i] = aim * uinv - r[i];
        for (int k = 0; k < d; k++) {
            QE[i + k * d] = Q[i + k * d] + Q[i] * e[k];
            A[i + k * d] = QE[i + k * d] / (k == 0 ? s->mu[c] : 1.0);
        }
    }
    for (int i = 0; i < d; i++) {
        for (int k = 0; k < d; k++) {
            b[i] += QE[i + k * d] * R[k];
        }
    }
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

perp_status pp_ssn_interior_step(pp_ssn_interior *s)
{
    int d = s->ssn->dim, nc = s->ssn->nc, n = s->ssn->n;
    double tau = centre_of(s), most = 1.0 / BOUNDARY;
    s->shorts = s->last < SHORT ? s->shorts + 1 : 0;
    if (s->shorts == SHORTS) {
        s->monotone = s->path.monotone;
        s->shorts = 0;
    }
    double centre = s->shorts > 0 ? RECENTRE : s->path.centre;
    bool monotone = s->monotone > 0;
    s->monotone -= monotone;
    for (int c = 0; c < nc; c++) {
        contact_blocks(s, c, tau, centre * tau, monotone);
    }
    perp_status status = pp_ssn_linear_factor(s->linear, s->A, s->B);
    status = status < 0 ? status : pp_ssn_linear_solve(s->linear, s->dr, s->Wd);
    if (status < 0) {
        return status;
    }
    for (int c = 0; c < nc; c++) {
        contact_step(s, c, tau, monotone);
        most = way_out(d, s->r + c * d, s->dr + c * d, most);
        most = way_out(d, s->u + c * d, s->du + c * d, most);
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
