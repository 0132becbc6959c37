// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Newton's method on the Alart–Curnier map F of theory (C21) for few contacts, without the proximal
// loop of ssn_fcp.c: from zero it takes four to six steps where that takes a dozen, from a good
// guess two or three.
//
// Armijo line search on |F|. Where it fails for the first time contacts are redundant:
// from then on the step is regularised by alpha, a part of the residual, and the full
// step is taken where the search fails again. On failure r is as it was. A guess that
// does not converge is replaced by zero once.
//
// Proved: quadratic convergence near regular solutions (Qi, Sun 1993). Of 3000 random problems of
// rank 6 it solves 98 % (docs/solvers.md). Cost: one dense LU of the unknowns that the modes leave.
#include "comp/newton/ssn_quick.h"

#include <math.h>
#include <string.h>

enum {
    STEPS = 20,        // Newton steps
    STEPS_LARGE = 10,  // the same above ROWS_COLD
    BACKTRACKS = 8,    // halvings of one
    ROWS_COLD = 100,   // rows of W up to which it is tried from zero,
    ROWS_WARM = 160,   // from a guess
};

#define ALPHA                1e-11  // of steps without regularisation
#define SHARE                0.3    // alpha in units of the residual, with it
#define MARGIN               0.99   // of the tolerance: the judge evaluates in another order
#define ROUNDING             1e-9   // a residual below this that does not fall fourfold is rounding
#define RESIDUAL_CHECK_BELOW 1e-3   // |F| in units of q below which residuals are computed

// ── The map ──────────────────────────────────────────────────────────────────────────────────────

// y = Q(x) of contact c, x = r - rho u; returns the mode, and |x_t| in *size. Three components also
// in the plane, where the last is 0.
static pp_quick_mode project_contact(const pp_quick *s, int c, const double *x, double *y,
                                     double *size)
{
    y[0] = y[1] = y[2] = 0.0;
    *size = 0.0;
    if (!(x[0] > 0.0)) {
        return PP_QUICK_OPEN;
    }
    double radius = s->mu[c] * x[0];
    *size = s->dim == 2 ? fabs(x[1]) : sqrt(x[1] * x[1] + x[2] * x[2]);
    double shrink = *size <= radius ? 1.0 : radius / *size;
    y[0] = x[0];
    y[1] = shrink * x[1];
    y[2] = shrink * x[2];
    return *size <= radius && radius > 0.0 ? PP_QUICK_STICK : PP_QUICK_SLIP;
}

// The merit function sum |F_c|^2 / rho_c [energy] at r + t dr. The modes there are left in touch.
static double merit(pp_quick *s, double t)
{
    double sum = 0.0;
    for (int c = 0, i = 0; c < s->nc; c++, i += s->dim) {
        double x[3] = {0.0}, y[3], size, square = 0.0;
        double rho = s->rho[c];
        for (int a = 0; a < s->dim; a++) {
            x[a] = s->r[i + a] + t * s->dr[i + a] - rho * (s->u[i + a] + t * s->du[i + a]);
        }
        pp_quick_mode kind = project_contact(s, c, x, y, &size);
        for (int a = 0; a < s->dim; a++) {
            double F = s->r[i + a] + t * s->dr[i + a] - y[a];
            square += F * F;
        }
        sum += square / rho;
        // direction of x_t and h = mu x_n / |x_t|, for slip only
        double inverse = kind == PP_QUICK_SLIP && size > 0.0 ? 1.0 / size : 0.0;
        s->touch[c] = (pp_quick_contact){
            .kind = kind, .e = {x[1] * inverse, x[2] * inverse}, .turn = s->mu[c] * x[0] * inverse};
    }
    return sum;
}

// ── Residuals, theory (C7) and (C8) ──────────────────────────────────────────────────────────────

// |r - P_K(r - rho u~)|^2 of one contact, with the shift u~ = u + mu |u_t| e_n and the closed form
// of the projection, theory (C18).
static double natural_square_disc(int dim, double mu, double rho, const double *r, const double *u)
{
    double u1 = u[1], u2 = dim > 2 ? u[2] : 0.0, r2 = dim > 2 ? r[2] : 0.0;
    double x0 = r[0] - rho * (u[0] + mu * sqrt(u1 * u1 + u2 * u2));
    double x1 = r[1] - rho * u1, x2 = r2 - rho * u2, size = sqrt(x1 * x1 + x2 * x2);
    double sum = x0 + mu * size, normal = x0, shrink = 1.0;
    if (!(size <= mu * x0)) {
        normal = sum > 0.0 ? sum / (1.0 + mu * mu) : 0.0;
        shrink = size > 0.0 ? mu * normal / size : 0.0;
    }
    double e0 = r[0] - normal, e1 = r[1] - shrink * x1, e2 = r2 - shrink * x2;
    return e0 * e0 + e1 * e1 + e2 * e2;
}

// |F|^2 of theory (C21), in place of the natural map where friction is strong.
static double strong_square(const pp_quick *s, int c, const double *r, const double *u)
{
    double x[3] = {0.0}, y[3], size, sum = 0.0;
    for (int a = 0; a < s->dim; a++) {
        x[a] = r[a] - s->rho[c] * u[a];
    }
    project_contact(s, c, x, y, &size);
    for (int a = 0; a < s->dim; a++) {
        sum += (r[a] - y[a]) * (r[a] - y[a]);
    }
    return sum;
}

// The larger of the residuals (C7) and (C8) of r and u.
static double residual(const pp_quick *s)
{
    double plain = 0.0, scaled = 0.0, q2 = 0.0, r2 = 0.0, rho_q2 = 0.0;
    for (int c = 0, i = 0; c < s->nc; c++, i += s->dim) {
        double mu = s->mu[c], rho = s->rho[c], own = 0.0;
        for (int a = i; a < i + s->dim; a++) {
            own += s->q[a] * s->q[a];
            r2 += s->r[a] * s->r[a];
        }
        q2 += own;
        rho_q2 += rho * rho * own;
        plain += natural_square_disc(s->dim, mu, 1.0, s->r + i, s->u + i);
        scaled += mu > PP_STRONG_FRICTION
                      ? strong_square(s, c, s->r + i, s->u + i)
                      : natural_square_disc(s->dim, mu, rho, s->r + i, s->u + i);
    }
    // squares until the end: one root
    double size2 = pp_max(r2, rho_q2);
    plain = q2 > 0.0 ? plain / q2 : plain;
    scaled = size2 > 0.0 ? scaled / size2 : scaled;
    double worst = sqrt(pp_max(plain, scaled));
    return isfinite(plain) && isfinite(scaled) ? worst : PP_INF;
}

// ── The method ───────────────────────────────────────────────────────────────────────────────────

// u = W r + q
static void find_velocities(pp_quick *s)
{
    pp_quick_mul(s, s->r, s->u);
    for (int i = 0; i < s->n; i++) {
        s->u[i] += s->q[i];
    }
}

// Projects r onto the friction limits where the residual stays
// within the target. dr holds the old r.
static void snap_to_cones(pp_quick *s, double target)
{
    double off = 0.0, largest = 0.0;
    for (int c = 0, i = 0; c < s->nc; c++, i += s->dim) {
        double x[3] = {0.0}, y[3], size;
        memcpy(x, s->r + i, (size_t)s->dim * sizeof *x);
        project_contact(s, c, x, y, &size);
        for (int a = 0; a < s->dim; a++) {
            s->dr[i + a] = s->r[i + a];
            off = pp_max(fabs(y[a] - x[a]), off);
            largest = pp_max(fabs(x[a]), largest);
            s->r[i + a] = y[a];
        }
    }
    // beyond rounding: the projected r must pass as well
    if (off > 1e-13 * largest) {
        find_velocities(s);
        if (!(residual(s) <= target)) {
            memcpy(s->r, s->dr, (size_t)s->n * sizeof *s->r);
        }
    }
}

// Armijo backtracking along dr from |F|^2 = size2. Where it fails r stays, unless
// `force`, and PP_INF is returned; with `force` the full step is taken. Otherwise
// returns |F|^2 at the new r, touch included.
static double line_search(pp_quick *s, double size2, bool force)
{
    double t = 1.0, reached = PP_INF;
    int k = 0;
    for (; k < BACKTRACKS; k++, t *= 0.5) {
        // Armijo's rule for |F|, in squares
        double wanted = 1.0 - 1e-4 * t;
        reached = merit(s, t);
        if (reached < wanted * wanted * size2) {
            break;
        }
    }
    if (k == BACKTRACKS && !force) {
        return PP_INF;
    }
    t = k < BACKTRACKS ? t : 1.0;
    pp_axpy(s->n, t, s->dr, s->r);
    pp_axpy(s->n, t, s->du, s->u);
    return k < BACKTRACKS ? reached : merit(s, 0.0);
}

// The iteration from r (NULL: from zero). PERP_OK, PERP_INEXACT or PERP_ERR_LIMIT.
static perp_status iterate_undamped(pp_quick *s, const pp_job *job, const double *r,
                                    pp_report *report)
{
    double target = MARGIN * job->options->tolerance;
    int limit = job->options->max_iterations;
    int most = s->n <= ROWS_COLD ? STEPS : STEPS_LARGE;
    limit = limit > 0 && limit < most ? limit : most;
    if (r) {
        memcpy(s->r, r, (size_t)s->n * sizeof *r);
        find_velocities(s);
    } else {
        memset(s->r, 0, (size_t)s->n * sizeof *s->r);
        memcpy(s->u, s->q, (size_t)s->n * sizeof *s->u);
    }
    memset(s->dr, 0, (size_t)s->n * sizeof *s->dr);
    memset(s->du, 0, (size_t)s->n * sizeof *s->du);
    double size2 = merit(s, 0.0), last = PP_INF;
    bool careful = false;
    s->alpha = ALPHA;
    for (int k = 0;; k++) {
        report->iterations = report->factorisations = k;
        // residuals cost about as much as the map: only where they may be small
        bool near = size2 <= RESIDUAL_CHECK_BELOW * RESIDUAL_CHECK_BELOW * s->unit2;
        double now = near || careful ? residual(s) : PP_INF;
        if (now <= target) {
            snap_to_cones(s, target);
            return PERP_OK;
        }
        if (now <= ROUNDING && now > 0.25 * last) {
            return PERP_INEXACT;
        }
        last = now;
        s->alpha = careful ? pp_clamp(SHARE * now, ALPHA, SHARE) : ALPHA;
        pp_meter_factor(job->meter, 2.0 / 3.0 * s->n * s->n * s->n);
        if (k == limit || pp_job_is_over(job) || !pp_quick_step(s)) {
            return PERP_ERR_LIMIT;
        }
        double moved = line_search(s, size2, careful);
        if (moved < PP_INF) {
            size2 = moved;
        } else {
            // no descent: J is nearly singular, contacts are redundant
            careful = true;
            merit(s, 0.0);
        }
    }
}

// ── Making it ────────────────────────────────────────────────────────────────────────────────────

// W dense, column-major; borrowed where it is dense or its CSC arrays are full.
static const double *dense_columns(const perp_matrix *W, pp_arena *arena)
{
    size_t n = (size_t)W->rows;
    if (W->dense) {
        return W->dense;
    }
    if ((size_t)W->p[n] == n * n) {
        return W->x;
    }
    double *dense = PP_ARRAY(arena, double, n *n);
    if (dense) {
        pp_matrix_to_dense(W, dense, W->rows);
    }
    return dense;
}

// rho_c = dim / tr W_cc, theory (C8), and |q|^2 in units of energy. False: a contact without
// inertia of its own, or W_cc of too different sizes.
static bool find_rho(pp_quick *s)
{
    double least = PP_INF, most = 0.0;
    for (int c = 0; c < s->nc; c++) {
        double trace = 0.0;
        for (int a = c * s->dim; a < (c + 1) * s->dim; a++) {
            trace += s->W[(size_t)a * (size_t)s->n + (size_t)a];
        }
        least = trace < least ? trace : least;
        most = pp_max(trace, most);
        s->rho[c] = (double)s->dim / trace;
        for (int a = c * s->dim; a < (c + 1) * s->dim; a++) {
            s->unit2 += s->rho[c] * s->q[a] * s->q[a];
        }
    }
    return least > 1e-14 * most && most < PP_INF;
}

// All vectors from one array. PERP_ERR_LIMIT: the contacts have no common scale.
static perp_status create_quick(const perp_fcp *fcp, pp_arena *arena, pp_quick *s)
{
    int n = fcp->nc * fcp->dim;
    *s = (pp_quick){.nc = fcp->nc, .dim = fcp->dim, .n = n, .q = fcp->q, .mu = fcp->mu};
    s->W = dense_columns(&fcp->W, arena);
    double *numbers = PP_ARRAY(arena, double, 5 * (size_t)n + (size_t)s->nc);
    s->J = PP_ARRAY(arena, double, (size_t)n *(size_t)n);
    s->touch = PP_ARRAY(arena, pp_quick_contact, s->nc);
    s->pivot = PP_ARRAY(arena, int, n);
    if (!s->W || !numbers || !s->J || !s->touch || !s->pivot) {
        return PERP_ERR_MEMORY;
    }
    // one array for all vectors
    s->r = numbers;
    s->u = s->r + n;
    s->dr = s->u + n;
    s->du = s->dr + n;
    s->z = s->du + n;
    s->rho = s->z + n;
    if (!find_rho(s)) {
        return PERP_ERR_LIMIT;
    }
    return PERP_OK;
}

// Local form, sliding friction alone, discs, few rows. From a guess,
// which takes fewer steps, more rows.
bool pp_ssn_quick_fits(const perp_fcp *fcp, const perp_comp_options *options)
{
    int most = options->warm_start ? ROWS_WARM : ROWS_COLD;
    return fcp->nv == 0 && fcp->dim <= 3 && !fcp->nd && fcp->nc * fcp->dim <= most;
}

// From the guess, then from zero; the caller's r changes on success only.
perp_status pp_ssn_quick(const perp_fcp *fcp, const pp_job *job, double *r, double *v,
                         pp_report *report)
{
    (void)v;
    pp_quick s;
    perp_status status = create_quick(fcp, job->arena, &s);
    if (status < 0) {
        return status;
    }
    status = iterate_undamped(&s, job, job->options->warm_start ? r : NULL, report);
    if (status == PERP_ERR_LIMIT && job->options->warm_start && s.n <= ROWS_COLD) {
        status = iterate_undamped(&s, job, NULL, report);
    }
    if (status >= 0) {
        memcpy(r, s.r, (size_t)s.n * sizeof *r);
    }
    return status;
}
