// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Semi-smooth Newton for MCPs: equations V d = -Phi of the Fischer–Burmeister map, theory (C24) and
// (C25), globalised by a non-monotone line search on Psi = |Phi|^2 / 2 (De Luca, Facchinei, Kanzow
// 1996; Billups 1995 for boxes). Where Newton's direction is no descent direction of Psi it is
// regularised, and in the end replaced by steepest descent.
//
// Near a solution, Newton steps on the min map put variables exactly on their bounds
// and solve for the rest. A search that ends in a minimum of Psi that is no solution
// goes on by proximal perturbation, w + lambda (z - center) with lambda shrinking, then
// from other starting points in a fixed order.
//
// Proved: for P0 matrices every stationary point of Psi is a solution, and convergence is quadratic
// where the generalised Jacobians are regular (Qi, Sun 1993). In general nothing is proved; the
// iterate of least residual is returned. Cost: one LU a Newton step.
#include "comp/newton/ssn_mcp.h"

#include <math.h>
#include <string.h>

enum {
    MEMORY = 8,         // last values of Psi of which a step may reach the largest
    SEARCH_MAX = 120,   // Newton steps of one search
    HALVINGS = 30,      // of a step
    PATIENCE = 25,      // steps in which Psi must halve
    EXCHANGE_MAX = 10,  // Newton steps on the min map for one proximal point
    FINISH_MAX = 8,     // such steps at the end of a search
    PROX_MAX = 24,      // proximal problems after a search that stalled
    STARTS = 12,        // starting points
};

// The state of a search. The equilibrated problem changes once,
// the best z is in the caller's units.
typedef struct fb_search {
    const pp_fb *fb;
    const pp_job *job;
    pp_fb_linear *linear;
    double *z, *w, *phi, *a, *c, *d;    // the iterate, its map and step
    double *gradient, *trial, *center;  // of Psi; z + t d; proximal centre
    double *best, *work;                // n (in the caller's units), 2 n
    double at_best;                     // residual of best
    double target;                      // residual below which nothing is polished
    int steps, steps_max;
    double seconds_factor;
    perp_status fatal;
    bool late;  // no time is left for a factorisation
} fb_search;

// Whether memory, steps, time or work is used up.
static bool is_over(const fb_search *s)
{
    return s->fatal < 0 || s->late || s->steps >= s->steps_max || pp_job_is_over(s->job);
}

// Nothing is left to gain by polishing.
static bool is_solved(const fb_search *s)
{
    return s->at_best <= s->target;
}

// Within half the tolerance: no further start is tried.
static bool accepted(const fb_search *s)
{
    return s->at_best <= 0.5 * s->job->options->tolerance;
}

// Keeps z when it is the best so far, in the caller's units; returns its residual.
static double store_if_better(fb_search *s, const double *z)
{
    double residual = pp_fb_residual(s->fb, z, s->work);
    if (residual < s->at_best) {
        s->at_best = residual;
        memcpy(s->best, s->work, (size_t)s->fb->n * sizeof *z);
    }
    return residual;
}

// d = -V \ phi with V = diag(a) + diag(c) (A + lambda I). False: singular.
static bool fb_newton_step(fb_search *s, double lambda)
{
    double start = pp_seconds();
    if (pp_job_ends_before(s->job, pp_fb_linear_expected_flops(s->linear))) {
        s->late = true;
        return false;
    }
    perp_status status = pp_fb_linear_factor(s->linear, s->a, s->c, lambda);
    if (status == PERP_OK) {
        for (int i = 0; i < s->fb->n; i++) {
            s->d[i] = -s->phi[i];
        }
        status = pp_fb_linear_solve(s->linear, s->d);
    }
    s->steps++;
    pp_meter_add(s->job->meter, pp_fb_linear_flops(s->linear));
    s->seconds_factor += pp_seconds() - start;
    if (pp_is_final(status)) {
        s->fatal = status;
    }
    return status == PERP_OK;
}

// ── Newton on the min map ────────────────────────────────────────────────────────────────────────

// Newton steps on the min map from trial: variables go onto their bounds, or are
// solved for. This is an active-set method, as block principal pivoting, theory
// (C19). True when trial is a zero of the map.
static bool active_set_steps(fb_search *s, pp_fb_prox prox, int most)
{
    int n = s->fb->n;
    for (int k = 0; k < most && !is_over(s); k++) {
        pp_fb_velocity(s->fb, prox, s->trial, s->w);
        pp_fb_min_map(s->fb, s->trial, s->w, s->phi, s->a, s->c);
        double size = pp_norm_inf(n, s->phi);
        if (!isfinite(size)) {
            return false;
        }
        if (k > 0 && size <= 1e-12 * fmax(1.0, pp_norm_inf(n, s->trial))) {
            return true;
        }
        if (!fb_newton_step(s, prox.lambda)) {
            return false;
        }
        for (int i = 0; i < n; i++) {
            // a = 1 marks a variable at a bound; the bound itself is
            // taken, without the rounding of z + d
            bool low = s->trial[i] - s->w[i] <= s->fb->lower[i];
            double bound = low ? s->fb->lower[i] : s->fb->upper[i];
            s->trial[i] = s->a[i] > 0.0 ? bound : s->trial[i] + s->d[i];
        }
    }
    return false;
}

// Proximal points from trial, each by active-set steps; lambda grows where these do
// not converge. Exact at the end. For P0 matrices A + lambda I is a P-matrix, for
// which they are finite once lambda is large.
static void exchange_proximal(fb_search *s, double lambda, int most)
{
    int n = s->fb->n, end = s->steps + most;
    double last = PP_INF;
    memcpy(s->center, s->trial, (size_t)n * sizeof *s->trial);
    while (lambda < 1e6 && s->steps < end && !is_over(s) && !is_solved(s)) {
        bool rest = active_set_steps(s, (pp_fb_prox){lambda, s->center}, EXCHANGE_MAX);
        double residual = rest ? store_if_better(s, s->trial) : PP_INF;
        if (!rest) {
            memcpy(s->trial, s->center, (size_t)n * sizeof *s->trial);
            lambda *= 30.0;
            continue;
        }
        // diverges: the active set of a proximal problem is not that of the problem
        if (residual > 10.0 * last) {
            return;
        }
        last = residual;
        memcpy(s->center, s->trial, (size_t)n * sizeof *s->trial);
        lambda = fmax(0.03 * lambda, 1e-10);
    }
}

// From a z near a solution, active-set steps; where these fail, with a proximal term.
static void finish_by_active_set(fb_search *s, const double *z)
{
    store_if_better(s, z);
    memcpy(s->trial, z, (size_t)s->fb->n * sizeof *z);
    if (active_set_steps(s, (pp_fb_prox){0}, FINISH_MAX)) {
        store_if_better(s, s->trial);
    }
    if (!is_solved(s)) {
        memcpy(s->trial, z, (size_t)s->fb->n * sizeof *z);
        exchange_proximal(s, 1e-6, FINISH_MAX);
    }
}

// ── Search: Newton on the Fischer–Burmeister map ─────────────────────────────────────────────────

// gradient = V^T phi; overwrites trial.
static void psi_gradient(fb_search *s, double lambda)
{
    int n = s->fb->n;
    for (int i = 0; i < n; i++) {
        s->trial[i] = s->c[i] * s->phi[i];
        s->gradient[i] = s->a[i] * s->phi[i] + lambda * s->trial[i];
    }
    pp_matrix_mul_t(&s->fb->A, 1.0, s->trial, s->gradient);
}

// A descent direction of Psi into d; returns its slope, 0 at a stationary point.
// Newton's direction is tried with growing regularisation. It must satisfy slope <=
// -1e-10 |d|^2 (De Luca, Facchinei, Kanzow).
static double descent_direction(fb_search *s, double lambda)
{
    int n = s->fb->n;
    static const double regular[] = {0.0, 1e-6, 1e-3};
    psi_gradient(s, lambda);
    for (size_t k = 0; k < sizeof regular / sizeof regular[0] && !is_over(s); k++) {
        if (!fb_newton_step(s, lambda + regular[k])) {
            continue;
        }
        double slope = pp_dot(n, s->gradient, s->d), size = pp_norm2(n, s->d);
        if (isfinite(slope) && slope < 0.0 && slope <= -1e-10 * size * size) {
            return slope;
        }
    }
    // steepest descent
    for (int i = 0; i < n; i++) {
        s->d[i] = -s->gradient[i];
    }
    return -pp_dot(n, s->gradient, s->gradient);
}

// Psi at z + t d, which is left in trial.
static double psi_at(fb_search *s, pp_fb_prox prox, double t)
{
    for (int i = 0; i < s->fb->n; i++) {
        s->trial[i] = s->z[i] + t * s->d[i];
    }
    pp_fb_velocity(s->fb, prox, s->trial, s->w);
    return pp_fb_map(s->fb, s->trial, s->w, s->phi, NULL, NULL);
}

// The line search method from z, with the proximal term. True when Psi fell below `enough`, or the
// search solved the problem on the way; z is the last iterate.
static bool descend(fb_search *s, pp_fb_prox prox, double enough)
{
    int n = s->fb->n;
    double history[MEMORY], mark = PP_INF;
    bool finished = false;
    for (int k = 0; k < SEARCH_MAX && !is_over(s); k++) {
        pp_fb_velocity(s->fb, prox, s->z, s->w);
        double psi = pp_fb_map(s->fb, s->z, s->w, s->phi, s->a, s->c);
        if (psi <= enough) {
            return true;
        }
        if (!isfinite(psi) || (k % PATIENCE == 0 && psi > 0.5 * mark)) {
            return false;
        }
        mark = k % PATIENCE == 0 ? psi : mark;
        // close to a solution, once per search: the active-set end
        if (psi < 1e-10 && !finished && prox.lambda == 0.0) {
            finished = true;
            finish_by_active_set(s, s->z);
            if (is_solved(s)) {
                return true;
            }
            pp_fb_velocity(s->fb, prox, s->z, s->w);
            psi = pp_fb_map(s->fb, s->z, s->w, s->phi, s->a, s->c);
        }
        // non-monotone Armijo rule (Grippo, Lampariello, Lucidi 1986): the
        // largest of the last values decreases
        double slope = descent_direction(s, prox.lambda), highest = psi, t = 1.0;
        history[k % MEMORY] = psi;
        for (int m = 0; m < MEMORY && m <= k; m++) {
            highest = fmax(highest, history[m]);
        }
        int halvings = 0;
        while (!(psi_at(s, prox, t) <= highest + 1e-4 * t * slope) && halvings < HALVINGS) {
            t *= 0.5;
            halvings++;
        }
        if (halvings == HALVINGS || slope == 0.0) {
            return false;
        }
        memcpy(s->z, s->trial, (size_t)n * sizeof *s->z);
    }
    return false;
}

// Proximal points from z, each solved from the last one: lambda falls
// after a success and grows after a failure.
static void perturb(fb_search *s)
{
    int n = s->fb->n;
    double at = store_if_better(s, s->z), lambda = 1.0;
    for (int k = 0; k < PROX_MAX && lambda < 1e6 && !is_over(s) && !is_solved(s); k++) {
        memcpy(s->center, s->z, (size_t)n * sizeof *s->z);
        // as the inner accuracy of ssn_fcp.c
        double accuracy = 1e-2 * fmin(at, 1e-2) * fmin(1.0, lambda);
        if (descend(s, (pp_fb_prox){lambda, s->center}, fmax(1e-28, accuracy * accuracy))) {
            at = store_if_better(s, s->z);
            lambda = fmax(0.1 * lambda, 1e-9);
            if (at < 1e-4) {
                finish_by_active_set(s, s->z);
            }
        } else {
            memcpy(s->z, s->center, (size_t)n * sizeof *s->z);
            lambda *= 10.0;
        }
    }
}

// ── Starts ───────────────────────────────────────────────────────────────────────────────────────

// Starting point k into z, clamped to the bounds: 0, 1, the solution for A = I, then random ones of
// three sizes from a fixed seed.
static void start_point(fb_search *s, int k)
{
    uint64_t seed = 0x9E3779B97F4A7C15u + (uint64_t)k * 0x632BE59BD9B4E019u;
    for (int i = 0; i < s->fb->n; i++) {
        double l = s->fb->lower[i], u = s->fb->upper[i], x = 0.0;
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        // 53 bits of a linear congruential generator (Knuth's multiplier), in [0, 1)
        double random = (double)(seed >> 11) * 0x1p-53;
        if (k == 1) {
            x = 1.0;
        } else if (k == 2) {
            x = -s->fb->b[i];
        } else if (k > 2) {
            static const double SIZE[] = {1.0, 10.0, 0.1};
            x = random * SIZE[k % 3];
        }
        s->z[i] = pp_clamp(x, l, u);
    }
}

// One search from z, finished by active-set steps where it came close.
static void run_search(fb_search *s)
{
    bool down = descend(s, (pp_fb_prox){0}, 1e-28);
    if (!is_solved(s)) {
        double residual = store_if_better(s, s->z);
        if (down || residual < 1e-3) {
            finish_by_active_set(s, s->z);
        }
    }
}

// All starts of one equilibration; k = -1 is the caller's guess. Equilibration
// decides which minima Psi has: one pass preserves the units of circuits and
// contacts, ten passes suit badly scaled data.
static void solve_equilibrated(fb_search *s, bool warm)
{
    for (int k = warm ? -1 : 0; k < STARTS && !accepted(s) && !is_over(s); k++) {
        if (k >= 0) {
            start_point(s, k);
        }
        run_search(s);
        if (!accepted(s) && k <= 2) {
            perturb(s);
        }
    }
}

// Newton steps in all where the caller sets no limit: one step costs more the larger the problem.
static int default_search_steps(int n)
{
    if (n <= 20) {
        return 4000;
    }
    return n <= 200 ? 2000 : 600;
}

// Allocates the vectors and sets the limits.
static perp_status search_create(const perp_mcp *mcp, const pp_job *job, fb_search *s)
{
    int n = mcp->n, limit = job->options->max_iterations;
    *s = (fb_search){.job = job, .at_best = PP_INF};
    double **vectors[] = {&s->z, &s->w,        &s->phi,   &s->a,      &s->c,
                          &s->d, &s->gradient, &s->trial, &s->center, &s->best};
    for (size_t k = 0; k < sizeof vectors / sizeof vectors[0]; k++) {
        *vectors[k] = PP_ZEROS(job->arena, double, n);
        if (!*vectors[k]) {
            return PERP_ERR_MEMORY;
        }
    }
    s->work = PP_ARRAY(job->arena, double, 2 * (size_t)n);
    s->steps_max = limit > 0 ? limit : default_search_steps(n);
    s->target = fmin(1e-12, 0.1 * job->options->tolerance);
    return s->work ? PERP_OK : PERP_ERR_MEMORY;
}

// Solves with `passes` passes of equilibration. z is the guess, in the caller's units.
static perp_status run_equilibrated(fb_search *s, const perp_mcp *mcp, int passes, const double *z)
{
    pp_fb *fb = NULL;
    pp_arena *arena = s->job->arena;
    perp_status status = pp_fb_create(mcp, passes, arena, &fb);
    if (status >= 0) {
        status = pp_fb_linear_create(fb, arena, &s->linear);
    }
    if (status == PERP_OK) {
        s->fb = fb;
        // the caller's guess in the units of this equilibration
        for (int i = 0; i < mcp->n; i++) {
            s->z[i] = z[i] / fb->column[i];
        }
        store_if_better(s, s->z);
        solve_equilibrated(s, s->job->options->warm_start);
        status = s->fatal;
    }
    pp_fb_linear_destroy(s->linear);
    s->linear = NULL;
    return status;
}

static perp_status write_report(const fb_search *s, pp_report *report)
{
    report->iterations = s->steps;
    report->seconds_factor = s->seconds_factor;
    if (accepted(s)) {
        return PERP_OK;
    }
    const char *limit = pp_job_limit(s->job);
    limit = s->late ? "time limit" : limit;
    const char *why = limit ? limit : "local minimum from every starting point";
    why = s->steps >= s->steps_max ? "step limit" : why;
    pp_print(report->reason, sizeof report->reason, "%s after %d Newton steps; best residual %.1e",
             why, s->steps, s->at_best);
    return PERP_ERR_LIMIT;
}

perp_status pp_ssn_mcp(const perp_mcp *mcp, const pp_job *job, double *z, pp_report *report)
{
    static const int passes[] = {1, 10};
    fb_search s;
    perp_status status = search_create(mcp, job, &s);
    if (status < 0) {
        return status;
    }
    int steps_max = s.steps_max;
    for (int k = 0; k < 2 && !accepted(&s); k++) {
        // a third of the steps is reserved for the second equilibration
        s.steps_max = k == 0 ? steps_max - steps_max / 3 : steps_max;
        status = run_equilibrated(&s, mcp, passes[k], z);
        if (status < 0) {
            return status;
        }
    }
    memcpy(z, s.best, (size_t)mcp->n * sizeof *z);
    if (job->options->basis) {
        pp_mcp_basis_of(mcp, z, job->options->basis);
    }
    return write_report(&s, report);
}
