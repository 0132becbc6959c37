// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Semi-smooth Newton for frictional contact with the exact law: disc or polygon, sliding, torsion,
// rolling; the strategy. The map is in ssn_map.c, the linear algebra in ssn_linear.c.
//
// Outer loop: the proximal point method (Rockafellar 1976). From
// r_k, solve loosely the problem with
//
//   u = W r + q + alpha (r - r_k)                                                    theory (C23)
//
// whose solutions are isolated where W is singular; then shrink alpha. Inner loop: Newton's method
// on the Alart–Curnier map F of that problem, theory (C21), with rho = 1 / (1 + alpha), in scaled
// units the inverse of the mean diagonal of W + alpha I. Armijo backtracking on |F|; where it finds
// no descent the full step is taken, since F is not smooth and |F| may have to grow on the way.
// Where an inner solve fails and r did not improve, r stays and alpha grows tenfold. Where the
// outer loop stalls it starts again from another point with another alpha.
//
// With many contacts F has many kinks, and Newton's method from a remote start runs from kink to
// kink. There an interior point method on the cones finds the start, theory (C37).
//
// Proved: quadratic convergence near solutions at which the generalised Jacobians are
// regular (Qi, Sun 1993). No proof of global convergence exists for Coulomb friction
// (Acary, Bremond, Huber 2018 compare the alternatives). The iterate of least residual is
// returned. Cost: one factorisation a Newton step.
#include "comp/newton/ssn.h"

#include <math.h>
#include <string.h>

enum {
    INNER_MAX = 30,        // Newton steps of an inner solve
    INNER_NEAR = 15,       // the same after a central path
    TRIAL_MAX = 8,         // the same in an attempt of kind TRIAL
    TRIAL_SOON = 3,        // steps of a TRIAL after which |F| must have fallen tenfold
    REG_STEPS = 14,        // regularized Newton steps from a guess
    OUTER_MAX = 60,        // proximal steps of an attempt
    PATIENCE = 16,         // proximal steps in which the residual must halve
    BACKTRACKS = 8,        // halvings of a Newton step
    STEPS_MAX = 1500,      // Newton steps in all without a caller's limit, above 300 rows
    STEPS_MANY = 400,      // the same above 3000 rows
    PAUSE = 2,             // proximal steps for which alpha stays after an inner solve has failed,
                           // doubled each time
    FAILURES = 3,          // failed inner solves that end an attempt of limited length
    GUESS_MAX = 40,        // Newton steps of the second attempt from a guess
    FIRST_MAX = 60,        // Newton steps of a cold start in the plane before central paths
    FINISH_MAX = 150,      // Newton steps from the end of a central path
    PATH_MAX_STEPS = 100,  // steps along a central path
    PATH_FROM = 60,        // contact components from which a central path is followed
};

#define ALPHA_LEAST   1e-9
#define ALPHA_FIRST   0.1    // from a cold start
#define ALPHA_MOST    1e4    // an attempt whose alpha grew beyond this has stalled
#define REG_ALPHA     0.1    // alpha of regularized steps in units of the residual
#define REG_RHO_SCALE 0.3    // and their rho in units of 1 / (1 + alpha)
#define REG_HANDOFF   1e-5   // residual from which proximal steps take over
#define ROUNDING      1e-13  // a scaled residual that is rounding
#define MARGIN        0.99   // of the tolerance: the judge evaluates in another order
#define POLISHED      1e-11  // residual below which an answer is not polished
// The central path is followed to this residual, and beyond while
// each step reduces it to PATH_PACE.
#define PATH_END  1e-6
#define PATH_PACE 0.5

// The state of a solve. x is the inner iterate of the proximal problem about the outer iterate r.
typedef struct ssn_state {
    const pp_ssn *ssn;  // the problem, or for a while `discs`
    const pp_job *job;
    pp_ssn_linear *linear;
    double *r;                      // the outer iterate
    double *x, *dx;                 // the inner iterate, its step
    double *Wx, *Wdx;               // W times them
    double *trial, *q, *u, *F, *P;  // x + t dx; q - alpha r; W x + alpha x + q; the map; its blocks
    double *A, *B;                  // blocks of the Newton matrix
    double *best;                   // smallest residual seen
    pp_ssn_residuals at_r, at_best;  // residuals of r and best
    double rho_scale;                // rho of the map in units of 1 / (1 + alpha)
    double fallback_step;            // the step where |F| falls nowhere along dx
    bool early_exit;                 // short inner solves, as an attempt of kind TRIAL wants them
    int inner_max;                   // Newton steps of an inner solve
    int steps, steps_max;
    double target;  // residual to reach
    double seconds_factor;
    pp_ssn_interior *interior;  // NULL until it is needed
    const pp_ssn *discs;        // the problem with discs for polygons, NULL until it is needed
    perp_status fatal;          // PERP_ERR_MEMORY ends everything
} ssn_state;

// Whether memory, steps, time or work is used up.
static bool out_of_budget(const ssn_state *s)
{
    return s->fatal < 0 || s->steps >= s->steps_max || pp_job_is_over(s->job);
}

// The larger of the two residuals.
static double worst(pp_ssn_residuals e)
{
    return fmax(e.plain, e.scaled);
}

// Residuals (C7) and (C8) of r; W r is left in Wx.
static pp_ssn_residuals compute_residuals(ssn_state *s, const double *r)
{
    int n = s->ssn->n;
    pp_ssn_mul(s->ssn, r, s->Wx);
    for (int i = 0; i < n; i++) {
        s->u[i] = s->Wx[i] + s->ssn->q[i];
    }
    return pp_ssn_residual(s->ssn, r, s->u);
}

// F at x + t dx with the proximal term, and its Jacobian P where P is not NULL. u is affine in t:
// no product with W is needed.
static double evaluate_map(ssn_state *s, double t, double alpha, double *P)
{
    for (int i = 0; i < s->ssn->n; i++) {
        double x = s->x[i] + t * s->dx[i];
        s->trial[i] = x;
        s->u[i] = s->q[i] + alpha * x + (s->Wx[i] + t * s->Wdx[i]);
    }
    return pp_ssn_map(s->ssn, s->rho_scale / (1.0 + alpha), s->trial, s->u, s->F, P);
}

// Creates the linear system where there is none yet. A guess within the tolerance needs none, and
// its symbolic analysis would cost more than the residual.
static perp_status require_linear(ssn_state *s)
{
    if (s->linear) {
        return PERP_OK;
    }
    perp_status status = pp_ssn_linear_create(s->ssn, s->job, &s->linear);
    if (status < 0) {
        s->fatal = status;
    }
    return status;
}

// dx = -J \ F with the P of the last evaluation.                                    theory (C22)
static perp_status newton_direction(ssn_state *s, double alpha)
{
    double start = pp_seconds(), rho = s->rho_scale / (1.0 + alpha);
    pp_ssn_newton_blocks(s->ssn, rho, alpha, s->P, s->A, s->B);
    perp_status status = require_linear(s);
    if (status >= 0) {
        status = pp_ssn_linear_factor(s->linear, s->A, s->B);
    }
    for (int i = 0; i < s->ssn->n; i++) {
        s->dx[i] = -s->F[i];
    }
    if (status >= 0) {
        status = pp_ssn_linear_solve(s->linear, s->dx, s->Wdx);
    }
    s->seconds_factor += pp_seconds() - start;
    if (pp_is_final(status)) {
        s->fatal = status;
    }
    return status;
}

// Armijo backtracking along dx from |F| = size, with the parameter 1e-4. Where
// no halving helps x moves by fallback_step.
static void line_search(ssn_state *s, double alpha, double size)
{
    double t = 1.0;
    int k = 0;
    while (k < BACKTRACKS && !(evaluate_map(s, t, alpha, NULL) < (1.0 - 1e-4 * t) * size)) {
        t *= 0.5;
        k++;
    }
    t = k < BACKTRACKS ? t : s->fallback_step;
    pp_axpy(s->ssn->n, t, s->dx, s->x);
    pp_axpy(s->ssn->n, t, s->Wdx, s->Wx);
}

// The proximal problem about r, from r, into x. True when |F| fell below `accuracy`.
static bool inner_solve(ssn_state *s, double alpha)
{
    int n = s->ssn->n, most = s->early_exit ? TRIAL_MAX : s->inner_max;
    double first = PP_INF;
    // inexact proximal steps: two digits beyond the outer residual, and more as alpha gets small,
    // since the error of a step is amplified by 1 / alpha
    double accuracy = 1e-2 * fmin(s->at_r.scaled, 1e-2) * fmin(1.0, alpha);
    double q_size = pp_norm2(n, s->ssn->q) / (1.0 + alpha);
    for (int i = 0; i < n; i++) {
        s->q[i] = s->ssn->q[i] - alpha * s->r[i];
    }
    memcpy(s->x, s->r, (size_t)n * sizeof *s->x);
    pp_ssn_mul(s->ssn, s->x, s->Wx);
    memset(s->dx, 0, (size_t)n * sizeof *s->dx);
    memset(s->Wdx, 0, (size_t)n * sizeof *s->Wdx);
    for (int k = 0; k < most && !out_of_budget(s); k++) {
        double size = evaluate_map(s, 0.0, alpha, s->P);
        first = k == 0 ? size : first;
        if (size <= fmax(1e-13, accuracy) * fmax(pp_norm2(n, s->x), q_size)) {
            return true;
        }
        // an attempt of kind TRIAL arrives within a few steps or not at all
        bool slow = s->early_exit && k >= TRIAL_SOON && size > 0.1 * first;
        if (slow || newton_direction(s, alpha) < 0) {
            return false;
        }
        s->steps++;
        line_search(s, alpha, size);
    }
    return false;
}

// Keeps r as the best iterate where its worst residual is the least so far.
static void store_best(ssn_state *s)
{
    if (worst(s->at_r) < worst(s->at_best)) {
        s->at_best = s->at_r;
        memcpy(s->best, s->r, (size_t)s->ssn->n * sizeof *s->best);
    }
}

// Where an attempt starts: zero, the caller's guess, the best iterate so far, or r_n = 1 at every
// contact, which makes all of them stick.
typedef enum beginning { START_ZERO, START_GUESS, START_BEST, START_STICK } beginning;

// The parameters of an attempt.
typedef struct ssn_plan {
    beginning start;
    double alpha;          // of the first proximal step
    double shrink;         // factor of alpha after an inner solve that converged
    double rho_scale;      // of rho
    double fallback_step;  // step where backtracking fails: 1 jumps, a small one stays near
    int steps;             // Newton steps it may take, 0: no limit of its own
    enum {
        ABSOLUTE,
        RELATIVE,
        TRIAL
    } kind;  // RELATIVE: alpha is in units of the start's residual;
             // TRIAL: the first failure ends it
} ssn_plan;

// Sets r to the start of an attempt. The caller's guess is in x.
static void start_at(ssn_state *s, beginning start)
{
    int n = s->ssn->n, d = s->ssn->dim;
    if (start == START_BEST) {
        memcpy(s->r, s->best, (size_t)n * sizeof *s->r);
    } else if (start == START_GUESS) {
        memcpy(s->r, s->x, (size_t)n * sizeof *s->r);
    } else {
        memset(s->r, 0, (size_t)n * sizeof *s->r);
    }
    if (start == START_STICK) {
        for (int c = 0; c < s->ssn->nc; c++) {
            s->r[c * d] = 1.0;
        }
    }
    s->at_r = compute_residuals(s, s->r);
    store_best(s);
}

// Creates the interior point method once, on discs of equal area where friction is polygonal.
static perp_status require_interior(ssn_state *s)
{
    perp_status status = require_linear(s);
    if (status < 0) {
        return status;
    }
    // discs are made once and share W with the polygons
    if (s->ssn->fcp->nd && !s->discs) {
        s->discs = pp_ssn_discs(s->ssn, s->job->arena);
        if (!s->discs) {
            s->fatal = PERP_ERR_MEMORY;
            return s->fatal;
        }
    }
    if (!s->interior) {
        const pp_ssn *ssn = s->discs ? s->discs : s->ssn;
        status = pp_ssn_interior_create(ssn, s->linear, s->job->arena, &s->interior);
        if (status < 0) {
            s->fatal = status;
        }
    }
    return status;
}

// Follows the central path, theory (C37), until the residual is small; r is the point where it
// ends. Polygons have no such path: that of discs ends near a solution of theirs.
static void follow_path(ssn_state *s, pp_ssn_path path)
{
    if (require_interior(s) < 0) {
        return;
    }
    const pp_ssn *own = s->ssn;
    double last = PP_INF;
    if (s->discs) {
        s->ssn = s->discs;
    }
    pp_ssn_interior_begin(s->interior, path);
    for (int k = 0; k < PATH_MAX_STEPS && !out_of_budget(s); k++) {
        double start = pp_seconds();
        perp_status status = pp_ssn_interior_step(s->interior);
        s->seconds_factor += pp_seconds() - start;
        s->steps++;
        pp_ssn_interior_point(s->interior, s->r);
        s->at_r = compute_residuals(s, s->r);
        if (s->ssn == own) {
            store_best(s);  // residuals of discs say nothing about polygons
        }
        if (status != PERP_OK || worst(s->at_r) <= s->target ||
            (s->at_r.scaled <= PATH_END && s->at_r.scaled > PATH_PACE * last)) {
            break;
        }
        last = s->at_r.scaled;
    }
    if (s->ssn != own) {
        s->ssn = own;
        s->at_r = compute_residuals(s, s->r);
        store_best(s);
    }
}

// Residuals of x, where an inner solve ended; infinite where x is not finite.
static pp_ssn_residuals measure_end(ssn_state *s)
{
    pp_ssn_residuals none = {PP_INF, PP_INF};
    return pp_all_finite((size_t)s->ssn->n, s->x) ? compute_residuals(s, s->x) : none;
}

// Makes x, with its residuals, the outer iterate.
static void store_iterate(ssn_state *s, pp_ssn_residuals at)
{
    memcpy(s->r, s->x, (size_t)s->ssn->n * sizeof *s->r);
    s->at_r = at;
    store_best(s);
}

// One more proximal step with the least alpha, nearly a Newton step, kept where it reduces the
// residual. The residual is a norm over all contacts, in which light bodies count little.
static void polish(ssn_state *s)
{
    s->early_exit = true;
    inner_solve(s, ALPHA_LEAST);
    pp_ssn_residuals e = measure_end(s);
    if (worst(e) < worst(s->at_r)) {
        store_iterate(s, e);
    }
}

// The outer loop from r. True when both residuals reach the target.
static bool attempt(ssn_state *s, const ssn_plan *how)
{
    double alpha = how->alpha, target = s->target, mark = PP_INF;
    if (how->kind == RELATIVE) {
        alpha = fmin(fmax(alpha * s->at_r.scaled, ALPHA_LEAST), ALPHA_FIRST);
    }
    int last = how->steps > 0 ? s->steps + how->steps : INT32_MAX, failures = 0;
    int hold = 0, patience = PAUSE;
    s->rho_scale = how->rho_scale;
    s->fallback_step = how->fallback_step;
    s->inner_max = how->fallback_step < 1.0 ? INNER_NEAR : INNER_MAX;
    s->early_exit = how->kind == TRIAL;
    for (int k = 0; k < OUTER_MAX && alpha <= ALPHA_MOST && s->steps < last && !out_of_budget(s);
         k++) {
        if (worst(s->at_r) <= target) {
            if (k > 0 && worst(s->at_r) > POLISHED) {
                polish(s);
            }
            return true;
        }
        // stalled: in PATIENCE steps the residual has not halved
        if (k % PATIENCE == 0) {
            if (s->at_r.scaled > 0.5 * mark) {
                break;
            }
            mark = s->at_r.scaled;
        }
        bool solved = inner_solve(s, alpha);
        pp_ssn_residuals e = measure_end(s);
        if (!isfinite(e.scaled) || (!solved && e.scaled > s->at_r.scaled)) {
            // r did not improve: another alpha from the same r. alpha then stays for a while,
            // longer after each failure, since the step that failed would fail again.
            failures++;
            if (s->early_exit ||
                (how->steps > 0 && failures == (how->kind == RELATIVE ? 1 : FAILURES))) {
                break;
            }
            alpha *= 10.0;
            hold = patience;
            patience *= 2;
            continue;
        }
        store_iterate(s, e);
        if (solved && hold == 0) {
            alpha = fmax(alpha * how->shrink, ALPHA_LEAST);
        }
        hold -= hold > 0;
        if (s->early_exit && !solved) {
            break;
        }
    }
    return worst(s->at_r) <= target;
}

// Newton steps in all where the caller sets no limit: one step costs more the larger the problem.
static int default_steps(int n)
{
    if (n > 3000) {
        return STEPS_MANY;
    }
    return n > 300 ? STEPS_MAX : 3 * STEPS_MAX;
}

// Allocates the vectors of a solve and sets its limits.
static perp_status create_state(const pp_ssn *ssn, const pp_job *job, ssn_state *s)
{
    int n = ssn->n, limit = job->options->max_iterations;
    *s = (ssn_state){.ssn = ssn, .job = job, .at_best = {PP_INF, PP_INF}};
    s->target = MARGIN * job->options->tolerance;
    double **vectors[] = {&s->r, &s->x,     &s->dx, &s->Wx, &s->Wdx,
                          &s->q, &s->trial, &s->u,  &s->F,  &s->best};
    for (size_t k = 0; k < sizeof vectors / sizeof vectors[0]; k++) {
        *vectors[k] = PP_ZEROS(job->arena, double, n);
        if (!*vectors[k]) {
            return PERP_ERR_MEMORY;
        }
    }

    size_t blocks = (size_t)n * (size_t)ssn->dim;
    s->P = PP_ZEROS(job->arena, double, blocks);
    s->A = PP_ARRAY(job->arena, double, blocks);
    s->B = PP_ARRAY(job->arena, double, blocks);
    s->steps_max = limit > 0 ? limit : default_steps(n);
    return s->P && s->A && s->B ? PERP_OK : PERP_ERR_MEMORY;
}

// Attempts in turn, until one arrives.
static bool try_plans(ssn_state *s, const ssn_plan *plans, int count)
{
    for (int k = 0; k < count && !out_of_budget(s); k++) {
        start_at(s, plans[k].start);
        if (attempt(s, &plans[k])) {
            return true;
        }
        if (s->at_best.scaled <= ROUNDING) {
            break;  // (C8) is rounding: rho = 1 is so far from the units of W that (C7) is as well
        }
    }
    return false;
}

// From a guess that may be wrong in some contacts: Newton steps on the problem itself
// with alpha proportional to the residual (as Levenberg's method regularizes), without a
// proximal centre. The contacts that the guess had wrong change their modes a few at a
// time. Proximal steps take over near the end.
static bool newton_regularized(ssn_state *s)
{
    int n = s->ssn->n;
    start_at(s, START_GUESS);
    s->rho_scale = REG_RHO_SCALE;
    s->fallback_step = 1.0;
    memcpy(s->q, s->ssn->q, (size_t)n * sizeof *s->q);
    memcpy(s->x, s->r, (size_t)n * sizeof *s->x);
    memset(s->dx, 0, (size_t)n * sizeof *s->dx);
    memset(s->Wdx, 0, (size_t)n * sizeof *s->Wdx);
    for (int k = 0; k < REG_STEPS && worst(s->at_r) > s->target && !out_of_budget(s); k++) {
        // F of the problem itself (alpha = 0), J with alpha
        double size = evaluate_map(s, 0.0, 0.0, s->P);
        double alpha = pp_clamp(REG_ALPHA * s->at_r.scaled, ALPHA_LEAST, ALPHA_FIRST);
        if (newton_direction(s, alpha) < 0) {
            return false;
        }
        s->steps++;
        line_search(s, 0.0, size);
        pp_ssn_residuals at = measure_end(s);
        if (!isfinite(at.scaled)) {
            return false;
        }
        store_iterate(s, at);
    }
    bool arrived = worst(s->at_r) <= s->target;
    if (!arrived && s->at_best.scaled <= REG_HANDOFF) {
        static const ssn_plan nearly = {START_BEST, 1e-3, 0.1, 1.0, 0.01, REG_STEPS, ABSOLUTE};
        return try_plans(s, &nearly, 1);
    }
    if (arrived && worst(s->at_r) > POLISHED && s->steps > 0) {
        polish(s);
    }
    return arrived;
}

// Variants of the central path, in a fixed order; after each, proximal steps from where it led.
static bool try_paths(ssn_state *s)
{
    enum { PATHS = 4 };
    static const pp_ssn_path paths[PATHS] = {{0.0, 0}, {0.3, 3}, {0.1, 6}, {0.0, 3}};
    double alpha = s->ssn->fcp->nd ? 1e-2 : 1e-3;  // the path of discs ends farther from polygons
    const ssn_plan finish = {START_BEST, alpha, 0.1, 1.0, 0.01, FINISH_MAX, ABSOLUTE};
    for (int k = 0; k < PATHS && !out_of_budget(s); k++) {
        follow_path(s, paths[k]);
        if (attempt(s, &finish)) {
            return true;
        }
    }
    return false;
}

// The strategy: from a guess, along central paths, from cold starts, until one attempt arrives.
static bool solve_scaled(ssn_state *s, bool warm)
{
    static const ssn_plan guessed[] = {
        {START_GUESS, 1e-4, 0.1, 1.0, 1.0, 0, TRIAL},
        {START_BEST, 1e3, 0.1, 1.0, 1.0, GUESS_MAX, RELATIVE},
    };
    static const ssn_plan cold[] = {
        {START_ZERO, ALPHA_FIRST, 0.1, 1.0, 1.0, 0, ABSOLUTE},
        {START_STICK, 0.1, 0.1, 1.0, 1.0, 0, ABSOLUTE},
        {START_STICK, 1.0, 0.3, 0.2, 1.0, 0, ABSOLUTE},
        {START_BEST, 1.0, 0.1, 1.0, 1.0, 0, RELATIVE},
    };
    static const ssn_plan first = {START_ZERO, ALPHA_FIRST, 0.1, 1.0, 1.0, FIRST_MAX, ABSOLUTE};
    bool paths = s->ssn->n > PATH_FROM && pp_ssn_interior_fits(s->ssn), space = s->ssn->dim == 3;
    if (warm) {
        bool arrived = paths && space ? newton_regularized(s) : try_plans(s, guessed, 2);
        if (arrived) {
            return true;
        }
    }
    if (paths) {
        // in the plane proximal steps suffice more often: central paths wait for a first attempt
        if (!warm && !space && try_plans(s, &first, 1)) {
            return true;
        }
        if (try_paths(s)) {
            return true;
        }
    }
    return try_plans(s, cold, sizeof cold / sizeof cold[0]);
}

// Projects the best iterate onto the friction limits where it is outside by more than rounding and
// the residual stays within the target.
static void clip_best(ssn_state *s)
{
    int n = s->ssn->n;
    double off = 0.0;
    pp_ssn_clip(s->ssn, s->best, s->r);
    for (int i = 0; i < n; i++) {
        off = pp_max(fabs(s->r[i] - s->best[i]), off);
    }
    // on the limits already, up to rounding
    if (off <= ROUNDING * pp_norm_inf(n, s->best)) {
        return;
    }
    s->at_r = compute_residuals(s, s->r);
    if (worst(s->at_r) <= pp_max(s->target, worst(s->at_best))) {
        s->at_best = s->at_r;
        memcpy(s->best, s->r, (size_t)n * sizeof *s->best);
    }
}

// Fills the report; returns PERP_OK, PERP_ERR_LIMIT with a reason, or the fatal status.
static perp_status write_report(const ssn_state *s, bool solved, pp_report *report)
{
    report->iterations = s->steps;
    report->seconds_factor = s->seconds_factor;
    report->factorisations = s->steps;
    report->fill = s->linear ? pp_ssn_linear_fill(s->linear) : 0.0;
    report->flops = s->linear ? pp_ssn_linear_flops(s->linear) : 0.0;
    if (s->fatal < 0) {
        return s->fatal;
    }
    if (solved) {
        return PERP_OK;
    }
    // the most specific reason
    const char *limit = pp_job_limit(s->job);
    const char *why = limit ? limit : "stalled from every starting point";
    why = s->steps >= s->steps_max ? "step limit" : why;
    pp_print(report->reason, sizeof report->reason,
             "%s after %d Newton steps; best residuals %.1e (rho 1), %.1e (scaled)", why, s->steps,
             s->at_best.plain, s->at_best.scaled);
    return PERP_ERR_LIMIT;
}

// Solves the scaled problem; the caller's r is the guess, and receives the best iterate with its v.
static perp_status solve_opened(pp_ssn *ssn, const pp_job *job, double *r, double *v,
                                pp_report *report)
{
    ssn_state s = {0};
    perp_status status = create_state(ssn, job, &s);
    if (status < 0) {
        return status;
    }
    for (int i = 0; i < ssn->n; i++) {
        s.x[i] = r[i] / ssn->scale[i];
    }
    bool warm = job->options->warm_start && pp_all_finite((size_t)ssn->n, s.x);
    bool solved = solve_scaled(&s, warm);
    clip_best(&s);
    if (solved && pp_fcp_is_polygonal(ssn->fcp) && require_linear(&s) == PERP_OK) {
        perp_status end = pp_ssn_exchange(ssn, s.linear, job->arena, s.best, &s.steps);
        if (end < 0) {
            s.fatal = end;
        }
    }
    status = write_report(&s, solved, report);
    // velocities belong to the r that is returned, whether it solves the problem or not
    perp_status end = pp_ssn_export(ssn, s.best, r, v);
    pp_ssn_linear_destroy(s.linear);
    return end < 0 ? end : status;
}

perp_status pp_ssn_fcp(const perp_fcp *fcp, const pp_job *job, double *r, double *v,
                       pp_report *report)
{
    pp_ssn *ssn = NULL;
    perp_status status = pp_ssn_open(fcp, job->arena, &ssn);
    if (status == PERP_ERR_SINGULAR) {
        pp_print(report->reason, sizeof report->reason, "M is not positive definite");
    }
    if (status >= 0) {
        status = solve_opened(ssn, job, r, v, report);
    }
    pp_ssn_close(ssn);
    return status;
}

// Few contacts come to rounding in a few undamped steps; where these do not arrive, the proximal loop goes on from there.
perp_status pp_ssn_by_name(const perp_fcp *fcp, const pp_job *job, double *r, double *v,
                           pp_report *report)
{
    if (pp_ssn_quick_fits(fcp, job->options)) {
        perp_status status = pp_ssn_quick(fcp, job, r, NULL, report);
        if (status != PERP_ERR_LIMIT && status != PERP_INEXACT) {
            return status;
        }
    }
    return pp_ssn_fcp(fcp, job, r, v, report);
}
