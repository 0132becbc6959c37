// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// "newton": memory, scaling, and what is known of a point: F, J, the merit function and the residual.
//
//   theta(z) = |Phi(z)|^2 / 2,   Phi the Fischer–Burmeister map (C24), (C25) with w = F(z)        theory (N3)
#include "comp/newton/newton.h"

#include <math.h>
#include <string.h>

// ── Memory ───────────────────────────────────────────────────────────────────────────────────────

// The caller's pattern with every diagonal entry; place[k] is where entry k went.
static perp_status make_pattern(pp_newton *s, pp_arena *arena)
{
    const perp_ncp *ncp = s->e.ncp;
    int n = s->e.n;
    if (!ncp->p) {
        s->fb.A = perp_matrix_dense(n, n, NULL);
        return PERP_OK;
    }
    size_t most = s->e.entries + (size_t)n;
    int *p = PP_ARRAY(arena, int, (size_t)n + 1), *i = PP_ARRAY(arena, int, most), used = 0;
    s->place = PP_ARRAY(arena, int, s->e.entries);
    if (!p || !i || !s->place || most > INT32_MAX) {
        return PERP_ERR_MEMORY;
    }
    for (int j = 0; j < n; j++) {
        bool diagonal = false;
        p[j] = used;
        for (int k = ncp->p[j]; k < ncp->p[j + 1]; k++) {
            // rows ascend: a missing diagonal entry belongs before the first row below it
            if (ncp->i[k] > j && !diagonal) {
                i[used++] = j;
            }
            diagonal = diagonal || ncp->i[k] >= j;
            s->place[k] = used;
            i[used++] = ncp->i[k];
        }
        if (!diagonal) {
            i[used++] = j;
        }
    }
    p[n] = used;
    s->fb.A = perp_matrix_csc(n, n, p, i, NULL);
    return PERP_OK;
}

// The values of J at a point become those of fb.
static void show_matrix(pp_newton *s, const double *x)
{
    if (s->place) {
        s->fb.A.x = x;
    } else {
        s->fb.A.dense = x;
    }
}

static perp_status allocate(pp_newton *s, pp_arena *arena)
{
    size_t n = (size_t)s->e.n, stored = s->place ? (size_t)s->fb.A.p[n] : n * n;
    double **vectors[] = {&s->at.z,     &s->at.F,     &s->trial.z, &s->trial.F,
                          &s->fb.lower, &s->fb.upper, &s->row,     &s->column,
                          &s->user,     &s->goal,     &s->d,       &s->phi,
                          &s->a,        &s->c,        &s->b,       &s->best};
    for (size_t k = 0; k < sizeof vectors / sizeof vectors[0]; k++) {
        *vectors[k] = PP_ZEROS(arena, double, n);
        if (!*vectors[k]) {
            return PERP_ERR_MEMORY;
        }
    }
    s->at.x = PP_ZEROS(arena, double, stored);
    s->trial.x = PP_ZEROS(arena, double, stored);
    s->given = PP_ARRAY(arena, double, s->e.entries);
    s->work = PP_ARRAY(arena, double, 4 * n);
    s->basis = PP_ARRAY(arena, int8_t, n);
    if (!s->at.x || !s->trial.x || !s->given || !s->work || !s->basis) {
        return PERP_ERR_MEMORY;
    }
    return PERP_OK;
}

perp_status pp_newton_create(const perp_ncp *ncp, const pp_job *job, pp_newton *s)
{
    *s = (pp_newton){.job = job, .at_best = PP_INF, .fatal = PERP_OK};
    perp_status status = pp_ncp_open(ncp, job->arena, &s->e);
    if (status >= 0) {
        s->fb.n = ncp->n;
        status = make_pattern(s, job->arena);
    }
    if (status >= 0) {
        status = allocate(s, job->arena);
    }
    if (status < 0) {
        return status;
    }
    show_matrix(s, s->at.x);
    return pp_fb_linear_create(&s->fb, job->arena, &s->linear);
}

void pp_newton_destroy(pp_newton *s)
{
    pp_fb_linear_destroy(s->linear);
}

// ── Scaling ──────────────────────────────────────────────────────────────────────────────────────

enum { PASSES = 3 };  // of Ruiz's equilibration; more change the factors by less than 2

// The power of two next to x; 1 where x is 0 or out of range.
static double power_of_two(double x)
{
    if (!(x > 1e-150 && x < 1e150)) {
        return 1.0;
    }
    return pp_exp2(rint(pp_log2(x)));
}

// Scales from the values of J at the start, which are in at.x in the caller's units.
static void choose_scales(pp_newton *s)
{
    int n = s->e.n;
    size_t stored = s->place ? (size_t)s->fb.A.p[n] : (size_t)n * (size_t)n;
    // equilibration overwrites the values: it works in those of trial, which are not in use yet
    memcpy(s->trial.x, s->at.x, stored * sizeof(double));
    show_matrix(s, s->trial.x);
    pp_fb_equilibrate(&s->fb.A, PASSES, s->row, s->column, s->work, s->work + n);
    show_matrix(s, s->at.x);
    for (int i = 0; i < n; i++) {
        s->row[i] = power_of_two(s->row[i]);
        s->column[i] = power_of_two(s->column[i]);
        s->fb.lower[i] = s->e.lower[i] / s->column[i];
        s->fb.upper[i] = s->e.upper[i] / s->column[i];
    }
}

// The caller's values of J into the pattern of fb, scaled.
static void store_matrix(pp_newton *s, double *x)
{
    const perp_ncp *ncp = s->e.ncp;
    for (int j = 0; j < s->e.n; j++) {
        size_t first = ncp->p ? (size_t)ncp->p[j] : (size_t)j * (size_t)s->e.n;
        int count = ncp->p ? ncp->p[j + 1] - ncp->p[j] : s->e.n;
        for (int k = 0; k < count; k++) {
            size_t from = first + (size_t)k, to = s->place ? (size_t)s->place[from] : from;
            int i = ncp->p ? ncp->i[from] : k;
            x[to] = s->row[i] * s->given[from] * s->column[j];
        }
    }
}

// ── Points ───────────────────────────────────────────────────────────────────────────────────────

// Memory and callbacks that fail end everything; a point outside the domain does not.
static bool is_defined(pp_newton *s, perp_status status)
{
    if (status < 0 && status != PERP_ERR_NUMERIC) {
        s->fatal = status;
    }
    return status >= 0;
}

// The caller's z of a point; at a bound the caller's own number.
static void restore_units(const pp_newton *s, const double *z, double *user)
{
    for (int i = 0; i < s->e.n; i++) {
        user[i] = pp_clamp(z[i] * s->column[i], s->e.lower[i], s->e.upper[i]);
    }
}

bool pp_newton_begin(pp_newton *s, const double *z)
{
    int n = s->e.n;
    for (int i = 0; i < n; i++) {
        s->user[i] = pp_clamp(isfinite(z[i]) ? z[i] : 0.0, s->e.lower[i], s->e.upper[i]);
        s->row[i] = s->column[i] = 1.0;
    }
    if (!is_defined(s, pp_ncp_function(&s->e, s->user, s->at.F)) ||
        !is_defined(s, pp_ncp_jacobian(&s->e, s->user, s->at.F, s->given))) {
        return false;
    }
    store_matrix(s, s->at.x);
    choose_scales(s);
    store_matrix(s, s->at.x);
    for (int i = 0; i < n; i++) {
        s->at.z[i] = pp_clamp(s->user[i] / s->column[i], s->fb.lower[i], s->fb.upper[i]);
        s->at.F[i] *= s->row[i];
    }
    s->at.theta = pp_fb_map(&s->fb, s->at.z, s->at.F, s->phi, NULL, NULL);
    s->lambda = 0.0;
    return isfinite(s->at.theta);
}

bool pp_newton_function(pp_newton *s)
{
    restore_units(s, s->trial.z, s->user);
    if (!is_defined(s, pp_ncp_function(&s->e, s->user, s->trial.F))) {
        return false;
    }
    for (int i = 0; i < s->e.n; i++) {
        s->trial.F[i] *= s->row[i];
    }
    s->trial.theta = pp_fb_map(&s->fb, s->trial.z, s->trial.F, s->phi, NULL, NULL);
    return isfinite(s->trial.theta);
}

bool pp_newton_accept(pp_newton *s)
{
    restore_units(s, s->trial.z, s->user);
    // differences need F in the caller's units
    for (int i = 0; i < s->e.n; i++) {
        s->work[i] = s->trial.F[i] / s->row[i];
    }
    if (!is_defined(s, pp_ncp_jacobian(&s->e, s->user, s->work, s->given))) {
        return false;
    }
    store_matrix(s, s->trial.x);
    pp_newton_point before = s->at;
    s->at = s->trial;
    s->trial = before;
    show_matrix(s, s->at.x);
    return true;
}

// ── The residual ─────────────────────────────────────────────────────────────────────────────────

// sizes_i = |F_i - (J z)_i| + sum_j |J_ij| size(z_j), weight_j = sum_i |J_ij| / sizes_i: terms and weights of (C40) for
// the linear MCP at z, with the caller's typical sizes of variables.
static void row_sizes(const pp_newton *s, double *sizes, double *weight, double *load)
{
    const perp_matrix *A = &s->fb.A;
    const double *typical = s->e.ncp->typical;
    int n = s->e.n;
    memcpy(load, s->at.F, (size_t)n * sizeof *load);
    memset(sizes, 0, (size_t)n * sizeof *sizes);
    // the sizes first: weights need all of them
    for (int pass = 0; pass < 2; pass++) {
        for (int j = 0; j < n; j++) {
            size_t first = A->dense ? (size_t)j * (size_t)n : (size_t)A->p[j];
            int count = A->dense ? n : A->p[j + 1] - A->p[j];
            double zj = s->at.z[j], least = typical ? typical[j] / s->column[j] : 0.0;
            weight[j] = 0.0;
            for (int k = 0; k < count; k++) {
                int i = A->dense ? k : A->i[first + (size_t)k];
                double x = s->at.x[first + (size_t)k];
                if (pass == 0) {
                    load[i] -= x * zj;
                    sizes[i] += fabs(x) * fmax(fabs(zj), least);
                } else {
                    weight[j] += sizes[i] > 0.0 ? fabs(x) / sizes[i] : 0.0;
                }
            }
        }
        for (int i = 0; i < n && pass == 0; i++) {
            sizes[i] += fabs(load[i]);
        }
    }
}

void pp_newton_rate(pp_newton *s)
{
    int n = s->e.n;
    const double *typical = s->e.ncp->typical;
    double *sizes = s->work, *weight = s->work + n, worst = 0.0;
    row_sizes(s, sizes, weight, s->work + 2 * (size_t)n);
    for (int i = 0; i < n; i++) {
        double z = s->at.z[i], ratio = sizes[i] > 0.0 ? s->at.F[i] / sizes[i] : s->at.F[i];
        double own = typical ? fmax(fabs(z), typical[i] / s->column[i]) : fabs(z);
        double unit = weight[i] > 0.0 ? fmin(weight[i], 1.0 / own) : 1.0 / own;
        double below = z - s->fb.upper[i], above = z - s->fb.lower[i];
        // at a bound itself, whatever the unit
        below = below == 0.0 ? 0.0 : unit * below;
        above = above == 0.0 ? 0.0 : unit * above;
        double error = fabs(pp_clamp(ratio, below, above));
        worst = error > worst ? error : worst;
    }
    s->residual = worst;
    if (worst < s->at_best) {
        s->at_best = worst;
        restore_units(s, s->at.z, s->best);
    }
}
