// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// One contact of any law: semi-smooth Newton, then a homotopy, then bisection for a better start.
//
// Groups have different units, so each is scaled first: r_g = sigma_g x_g, mu_g ->
// mu_g / sigma_g, with sigma_g such that the diagonal blocks of the scaled W are
// alike. Then the function of Alart and Curnier
//
//   R = max(0, x_n - rho u_n),   F_n = x_n - R,   F_g = x_g - P_{mu_g R D_g}(x_g - rho u_g)
//
// is zero exactly at the solutions of (C2), theory (C21). Newton's method on F is finite for
// polygons, quadratic elsewhere, and solves nearly every contact. For the others, with the
// shift s = sum mu_g |u_g| held fixed, (C2) is the convex problem r(s) = argmin over K of r'W
// r / 2 + (q + s e_n)'r, theory (C28), and h(s) = shift(u(s)) - s has h(0) >= 0 and
// h(shift(q) - q_n) = q_n < 0. Bisection encloses the root of h (the fixed point of Haslinger
// 1983), and Newton's method is tried from there.
#include "comp/friction/cone.h"

#include <math.h>
#include <string.h>

// The contact in scaled units, and as given.
typedef struct local {
    pp_cone_law law;  // scaled
    double W[PP_DIM_MAX * PP_DIM_MAX], q[PP_DIM_MAX];
    double sigma[PP_DIM_MAX];
    int dim;
    double rho;
    const pp_cone_law *original_law;
    const double *original_W, *original_q;
    double ok;  // error that is round-off
    pp_meter *meter;
} local;

static const double EVALUATION = 300.0;  // operations of an evaluation of F, projections included

// Mean of `size` diagonal entries, from `first` on.
static double block_mean(const double *W, int dim, int first, int size)
{
    double trace = 0.0;
    for (int i = first; i < first + size; i++) {
        trace += W[i + i * dim];
    }
    return trace / size;
}

// Scales the groups to the normal component: sigma_g^2 = W_nn / mean diag W_gg.
static void scale_groups(local *s, const pp_cone_law *law, const double *W, const double *q)
{
    int dim = law->dim;
    double mean = block_mean(W, dim, 0, dim), normal = W[0] > 0.0 ? W[0] : mean;
    *s = (local){.law = *law,
                 .dim = dim,
                 .original_law = law,
                 .original_W = W,
                 .original_q = q,
                 .rho = normal > 0.0 ? 1.0 / normal : 1.0,
                 .sigma = {1.0}};
    // a group without inertia keeps its unit
    for (int g = 0; g < law->groups; g++) {
        const pp_disc *disc = &law->disc[g];
        double block = block_mean(W, dim, disc->first, disc->size);
        double sigma = block > 1e-16 * normal && normal > 0.0 ? sqrt(normal / block) : 1.0;
        s->law.disc[g].mu = disc->mu / sigma;
        for (int i = disc->first; i < disc->first + disc->size; i++) {
            s->sigma[i] = sigma;
        }
    }
    for (int j = 0; j < dim; j++) {
        s->q[j] = s->sigma[j] * q[j];
        for (int i = 0; i < dim; i++) {
            s->W[i + j * dim] = s->sigma[i] * s->sigma[j] * W[i + j * dim];
        }
    }
}

// u = W x + q
static void velocity(const local *s, const double *x, double *u)
{
    memcpy(u, s->q, (size_t)s->dim * sizeof *u);
    for (int j = 0; j < s->dim; j++) {
        for (int i = 0; i < s->dim; i++) {
            u[i] += s->W[i + j * s->dim] * x[j];
        }
    }
}

// Row i of group `disc` in the Jacobian of F: the chain rule through x - rho u and, where the
// contact is closed, through the radius mu R. slope: derivatives of the projection.
static void jacobian_row(const local *s, const pp_disc *disc, int i, const double *slope,
                         bool closed, double *J)
{
    int dim = s->dim, row = disc->first + i;
    double rho = s->rho, toward = closed ? disc->mu * slope[4 + i] : 0.0;
    for (int j = 0; j < dim; j++) {
        double d = (row == j ? 1.0 : 0.0) - toward * ((j == 0 ? 1.0 : 0.0) - rho * s->W[j * dim]);
        for (int m = 0; m < disc->size; m++) {
            int from = disc->first + m;
            d -= slope[i + 2 * m] * ((from == j ? 1.0 : 0.0) - rho * s->W[from + j * dim]);
        }
        J[row + j * dim] = d;
    }
}

// F, and its generalised Jacobian where J is given; returns the norm of F.
static double alart_curnier(const local *s, const double *x, double *F, double *J)
{
    int dim = s->dim;
    double u[PP_DIM_MAX], slope[6] = {0}, rho = s->rho;
    velocity(s, x, u);
    pp_meter_add(s->meter, EVALUATION);
    double y = x[0] - rho * u[0], R = y > 0.0 ? y : 0.0, merit;
    F[0] = x[0] - R;
    merit = F[0] * F[0];
    if (J) {  // row 0: rho W_n where the contact is closed, the identity where it is open
        for (int j = 0; j < dim; j++) {
            double identity = j == 0 ? 1.0 : 0.0;
            J[j * dim] = y > 0.0 ? rho * s->W[j * dim] : identity;
        }
    }
    for (int g = 0; g < s->law.groups; g++) {
        const pp_disc *disc = &s->law.disc[g];
        double p[2] = {0};
        for (int i = 0; i < disc->size; i++) {
            p[i] = x[disc->first + i] - rho * u[disc->first + i];
        }
        pp_disc_project(disc, disc->mu * R, p, J ? slope : NULL);
        for (int i = 0; i < disc->size; i++) {
            int row = disc->first + i;
            F[row] = x[row] - p[i];
            merit += F[row] * F[row];
            if (J) {
                jacobian_row(s, disc, i, slope, y > 0.0, J);
            }
        }
    }
    return sqrt(merit);
}

// The Newton step -J^-1 F. A singular J is shifted by 1e-6, which is
// small: rho makes its entries near 1.
static bool shifted_newton_step(int dim, const double *F, double *J, double *step)
{
    for (int attempt = 0; attempt < 2; attempt++) {
        for (int i = 0; i < dim; i++) {
            step[i] = -F[i];
            J[i + i * dim] += attempt ? 1e-6 : 0.0;
        }
        if (pp_small_solve(dim, J, dim, step)) {
            return true;
        }
    }
    return false;
}

// Newton's method with Armijo backtracking from x; x is projected onto the cone in the end.
static void iterate_newton(const local *s, int steps, double *x)
{
    int dim = s->dim;
    double F[PP_DIM_MAX], J[PP_DIM_MAX * PP_DIM_MAX], y[PP_DIM_MAX], step[PP_DIM_MAX];
    double merit = alart_curnier(s, x, F, J);
    for (int k = 0; k < steps && merit > 0.0 && shifted_newton_step(dim, F, J, step); k++) {
        double length = 1.0, next = PP_INF;
        for (int halving = 0; halving < 12; halving++, length *= 0.5) {
            for (int i = 0; i < dim; i++) {
                y[i] = x[i] + length * step[i];
            }
            next = alart_curnier(s, y, F, NULL);
            if (next < (1.0 - 1e-4 * length) * merit) {
                break;
            }
        }
        // no step reduces |F|: a local minimum, or rounding
        if (!(next < merit)) {
            break;
        }
        memcpy(x, y, (size_t)dim * sizeof *x);
        merit = alart_curnier(s, x, F, J);
    }
    pp_cone_law_project(&s->law, x);
}

// Keeps the better of r and x, in the caller's units, in r; returns its error.
static double keep_if_better(const local *s, const double *x, double best, double *r)
{
    double y[PP_DIM_MAX];
    for (int i = 0; i < s->dim; i++) {
        y[i] = s->sigma[i] * x[i];
    }
    if (!pp_all_finite((size_t)s->dim, y)) {
        return best;
    }
    // measured on the contact as given: scaling must not decide
    double error = pp_one_contact_error(s->original_law, s->original_W, s->original_q, y);
    if (error < best) {
        memcpy(r, y, (size_t)s->dim * sizeof *r);
        return error;
    }
    return best;
}

// Newton's method on W + a I with a falling to 0, each from the solution
// before. A large a decouples the components. From a = 0.02 on each point is
// also tried as a start for the problem itself.
static double by_homotopy(const local *s, double best, double *r)
{
    local t = *s;
    double x[PP_DIM_MAX] = {0}, y[PP_DIM_MAX], mean = 1.0 / s->rho;
    for (double a = 3.0; a > 1e-9 && best > s->ok; a *= 0.4) {
        for (int i = 0; i < s->dim; i++) {
            t.W[i + i * s->dim] = s->W[i + i * s->dim] + a * mean;
        }
        iterate_newton(&t, 30, x);
        if (a < 0.02) {
            memcpy(y, x, sizeof y);
            iterate_newton(s, 30, y);
            best = keep_if_better(s, y, best, r);
        }
    }
    return best;
}

// ── The convex problem with a fixed shift ────────────────────────────────────────────────────────

// Extragradient steps (Khobotov 1987) towards the solution x for a
// fixed shift; returns shift(u(x)).
static double solve_fixed_shift(const local *s, double shift, int steps, double *x)
{
    int dim = s->dim;
    double rho = s->rho, u[PP_DIM_MAX], w[PP_DIM_MAX], y[PP_DIM_MAX], z[PP_DIM_MAX];
    for (int k = 0; k < steps; k++) {
        double change = 0.0, moved = 0.0;
        velocity(s, x, u);
        for (int i = 0; i < dim; i++) {
            y[i] = x[i] - rho * (u[i] + (i ? 0.0 : shift));
        }
        pp_cone_law_project(&s->law, y);
        velocity(s, y, w);
        for (int i = 0; i < dim; i++) {
            z[i] = x[i] - rho * (w[i] + (i ? 0.0 : shift));
            change += (u[i] - w[i]) * (u[i] - w[i]);
            moved += (x[i] - y[i]) * (x[i] - y[i]);
        }
        if (!(moved > 0.0)) {
            break;
        }
        // rho must stay below the inverse of the local Lipschitz constant, as theory (C30)
        double ratio = rho * sqrt(change / moved);
        if (ratio > 0.95) {
            rho *= 0.6 / ratio;
            continue;
        }
        pp_cone_law_project(&s->law, z);
        memcpy(x, z, (size_t)dim * sizeof *x);
        rho *= ratio < 0.3 ? 1.5 : 1.0;
    }
    velocity(s, x, u);
    pp_meter_add(s->meter, 2.0 * EVALUATION * steps);
    return pp_cone_law_shift(&s->law, u);
}

// ── Together ─────────────────────────────────────────────────────────────────────────────────────

// Bisection of h between 0 and shift(q) - q_n; after two rounds each
// point is a start for Newton's method.
static double by_bisection(const local *s, double best, double *r)
{
    double low = 0.0, high = pp_cone_law_shift(&s->law, s->q) - s->q[0];
    double x[PP_DIM_MAX] = {0}, y[PP_DIM_MAX];
    for (int round = 0; round < 16 && best > s->ok; round++) {
        double middle = 0.5 * (low + high), value = solve_fixed_shift(s, middle, 100, x);
        // h(middle) > 0: the root is above
        if (value > middle) {
            low = middle;
        } else {
            high = middle;
        }
        if (round >= 2) {
            memcpy(y, x, sizeof y);
            iterate_newton(s, 30, y);
            best = keep_if_better(s, y, best, r);
        }
    }
    return best;
}

double pp_one_contact_newton(const pp_cone_law *law, const double *W, const double *q, double *r,
                             pp_meter *meter)
{
    local s;
    scale_groups(&s, law, W, q);
    s.meter = meter;
    s.ok = pp_one_contact_ok(law);
    size_t size = (size_t)law->dim * sizeof *r;
    double x[PP_DIM_MAX] = {0}, guess[PP_DIM_MAX];
    for (int i = 0; i < law->dim; i++) {
        guess[i] = r[i] / s.sigma[i];
        x[i] = -s.q[i];
    }
    memset(r, 0, size);
    // the open contact first, then stick, then Newton from the guess
    // and from the frictionless answer
    double best = pp_one_contact_error(law, W, q, r);
    if (best > s.ok && pp_small_solve(law->dim, s.W, law->dim, x)) {  // stick
        pp_cone_law_project(&s.law, x);
        best = keep_if_better(&s, x, best, r);
    }
    for (int start = 0; start < 2 && best > s.ok; start++) {
        memset(x, 0, sizeof x);
        x[0] = -s.q[0] * s.rho;  // without friction
        iterate_newton(&s, 30, start == 0 ? guess : x);
        best = keep_if_better(&s, start == 0 ? guess : x, best, r);
    }
    best = best > s.ok ? by_homotopy(&s, best, r) : best;
    return best > s.ok ? by_bisection(&s, best, r) : best;
}
