// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Lemke's method for mixed complementarity problems: scaling, set-up, and the order of attempts.
// The path itself is in lemke_path.c.
//
// Proved, in exact arithmetic: for copositive-plus matrices it ends with a solution or on a
// secondary ray that proves infeasibility (Cottle, Pang, Stone 1992, section 4.4). The
// Stewart–Trinkle matrix of velocities is copositive, and has a solution under the condition of
// theory section 5 (Stewart, Trinkle 1996). Elsewhere a ray proves nothing, unless it satisfies
// (C9), which is checked.
//
// The problem is scaled by a congruence D A D to unit diagonal, which keeps copositivity. Free
// variables are equations: they are basic from the start and never leave. In floating point a ray
// or a bad answer can be an accident of nearly singular bases; the proximal problem A + e I is then
// tried before a failure is reported. Cost: O(n k + k^2) a pivot, k the number of basic z; 0.5 n to
// 2 n pivots typically, 2^n - 1 on the examples of Murty and Fathi.
#include "comp/pivoting/lemke.h"

#include <math.h>
#include <string.h>

// ── Scaling ──────────────────────────────────────────────────────────────────────────────────────

// The scaling A' = R A D.
typedef struct scaling {
    double *d;  // columns: z = beta D z'
    double *r;  // rows: w = beta R^-1 w'; R = D but for equations, where each has its own
    double beta;
    double unit;  // beta / max|b|: z and w in units of b
} scaling;

// The largest |A_ij| r_i of column j; r NULL: the largest |A_ij|.
static double largest_in_column(const perp_matrix *A, int j, const double *r)
{
    double largest = 0.0;
    if (A->dense) {
        const double *column = A->dense + (size_t)j * (size_t)A->rows;
        for (int i = 0; i < A->rows; i++) {
            double size = r ? fabs(column[i]) * r[i] : fabs(column[i]);
            largest = size > largest ? size : largest;
        }
        return largest;
    }
    for (int k = A->p[j]; k < A->p[j + 1]; k++) {
        double size = r ? fabs(A->x[k]) * r[A->i[k]] : fabs(A->x[k]);
        largest = size > largest ? size : largest;
    }
    return largest;
}

// Scales of complementarity pairs: d_i = 1 / sqrt|A_ii|. Where the diagonal is
// zero, the d that makes the largest entry of the column 1, with rows scaled
// already; without such rows, by its square root.
static void scale_pairs(const perp_mcp *mcp, scaling *s)
{
    int n = mcp->n, missing = 0;
    for (int i = 0; i < n; i++) {
        double diagonal = fabs(pp_matrix_at(&mcp->A, i, i));
        s->d[i] = s->r[i] = diagonal > 0.0 ? 1.0 / sqrt(diagonal) : 0.0;
        missing += diagonal == 0.0;
    }
    for (int j = 0; j < n; j++) {
        if (missing > 0 && s->d[j] == 0.0) {
            // sigma rows of friction have a zero diagonal
            double largest = largest_in_column(&mcp->A, j, s->r);
            double alone = largest > 0.0 ? largest : sqrt(largest_in_column(&mcp->A, j, NULL));
            s->d[j] = alone > 0.0 ? 1.0 / alone : 1.0;
        }
    }
    memcpy(s->r, s->d, (size_t)n * sizeof *s->r);
}

// Whether variable i has no bounds.
static bool is_free_variable(const perp_mcp *mcp, int i)
{
    return mcp->lower && pp_mcp_lower(mcp, i) == -PP_INF && pp_mcp_upper(mcp, i) == PP_INF;
}

// most_i = max_j |A_ij| d_j
static void largest_in_rows(const perp_matrix *A, const double *d, double *restrict most)
{
    memset(most, 0, (size_t)A->rows * sizeof *most);
    for (int j = 0; j < A->cols; j++) {
        if (A->dense) {
            for (int i = 0; i < A->rows; i++) {
                double size = fabs(A->dense[(size_t)j * (size_t)A->rows + (size_t)i]) * d[j];
                most[i] = size > most[i] ? size : most[i];
            }
            continue;
        }
        for (int k = A->p[j]; k < A->p[j + 1]; k++) {
            double size = fabs(A->x[k]) * d[j];
            most[A->i[k]] = size > most[A->i[k]] ? size : most[A->i[k]];
        }
    }
}

// Scales of free variables and of their equations, to largest entries of 1. Row and column need not
// have the same factor: w = 0 in any unit, and copositivity concerns the other variables.
static void scale_equations(const perp_mcp *mcp, scaling *s, double *most)
{
    int n = mcp->n, count = 0;
    for (int i = 0; i < n; i++) {
        if (is_free_variable(mcp, i)) {
            s->r[i] = s->d[i] = 1.0;
            count++;
        }
    }
    if (count == 0) {
        return;
    }
    // alternating rows and columns: a few rounds of equilibration
    for (int round = 0; round < 3; round++) {
        largest_in_rows(&mcp->A, s->d, most);
        for (int i = 0; i < n; i++) {
            if (most[i] > 0.0 && is_free_variable(mcp, i)) {
                s->r[i] = 1.0 / most[i];
            }
        }
        for (int j = 0; j < n; j++) {
            double largest = is_free_variable(mcp, j) ? largest_in_column(&mcp->A, j, s->r) : 0.0;
            s->d[j] = largest > 0.0 ? 1.0 / largest : s->d[j];
        }
    }
}

// A' = R A D as a copy: dense with one more column for the covering
// vector, or CSC on the same pattern.
static perp_status scale_matrix(pp_lemke *t, const perp_matrix *A, const scaling *s, bool dense)
{
    int n = t->n;
    size_t entries = dense ? (size_t)n * ((size_t)n + 1) : (size_t)A->p[n];
    double *x = PP_ARRAY(t->arena, double, entries);
    if (!x) {
        return PERP_ERR_MEMORY;
    }
    if (!dense) {
        for (int j = 0; j < n; j++) {
            for (int k = A->p[j]; k < A->p[j + 1]; k++) {
                x[k] = A->x[k] * s->r[A->i[k]] * s->d[j];
            }
        }
        t->A = perp_matrix_csc(n, n, A->p, A->i, x);
        return PERP_OK;
    }
    pp_matrix_to_dense(A, x, n);
    for (int j = 0; j < n; j++) {
        double *column = x + (size_t)j * (size_t)n;
        for (int i = 0; i < n; i++) {
            column[i] *= s->r[i] * s->d[j];
        }
    }
    t->A = perp_matrix_dense(n, n, x);
    t->cover = x + (size_t)n * (size_t)n;
    memset(t->cover, 0, (size_t)n * sizeof *t->cover);  // a tableau holds it before it is chosen
    return PERP_OK;
}

// b' = R b / beta with max|b'| = 1, and bounds in the units of z' = D^-1 z / beta.
static void scale_vectors(pp_lemke *t, const perp_mcp *mcp, scaling *s)
{
    s->beta = 0.0;
    for (int i = 0; i < t->n; i++) {
        t->b[i] = mcp->b[i] * s->r[i];
        s->beta = fabs(t->b[i]) > s->beta ? fabs(t->b[i]) : s->beta;
    }
    s->beta = s->beta > 0.0 ? s->beta : 1.0;
    // own_residual measures in units of max|b|
    double b_max = pp_norm_inf(t->n, mcp->b);
    s->unit = b_max > 0.0 ? s->beta / b_max : 1.0;
    for (int i = 0; i < t->n; i++) {
        double unit = 1.0 / (s->beta * s->d[i]);
        t->b[i] /= s->beta;
        t->lower[i] = pp_mcp_lower(mcp, i) * unit;
        t->upper[i] = pp_mcp_upper(mcp, i) * unit;
    }
}

// ── Set-up ───────────────────────────────────────────────────────────────────────────────────────

enum { TABLEAU_MOST = 40 };  // n up to which the whole tableau is cheaper than any factorisation

// Whether a dense kernel inverse suits: small problems, or A filled to a twentieth.
static bool wants_dense(const perp_mcp *mcp)
{
    double n = mcp->n, entries = (double)pp_matrix_entries(&mcp->A);
    return mcp->A.dense || n <= 400.0 || (n <= 3000.0 && entries > 0.05 * n * n);
}

// Allocates and scales, and chooses the representation of the basis by n and the density of A.
static perp_status set_up(pp_lemke *t, const perp_mcp *mcp, const pp_job *job, scaling *s)
{
    int n = mcp->n;
    *t = (pp_lemke){.n = n, .arena = job->arena, .job = job};
    t->limit = job->options->max_iterations > 0 ? job->options->max_iterations : 500 + 30 * n;
    double *reals = PP_ARRAY(t->arena, double, 13 * (size_t)n);
    t->var = PP_ARRAY(t->arena, int, 2 * (size_t)n);
    t->at_upper = PP_ZEROS(t->arena, bool, n);
    if (!reals || !t->var || !t->at_upper) {
        return PERP_ERR_MEMORY;
    }
    // one block for all vectors of n
    double **const parts[] = {&s->d, &s->r,  &t->b,  &t->lower, &t->upper, &t->cover, &t->bt,
                              &t->x, &t->lo, &t->up, &t->dir,   &t->row_a, &t->row_b};
    for (size_t k = 0; k < sizeof parts / sizeof parts[0]; k++) {
        *parts[k] = reals + k * (size_t)n;
    }
    t->tied = t->var + n;
    bool dense = wants_dense(mcp);
    t->cost = dense ? 2.0 * n * n : 8.0 * ((double)pp_matrix_entries(&mcp->A) + n);
    scale_pairs(mcp, s);
    scale_equations(mcp, s, t->row_a);
    perp_status status = scale_matrix(t, &mcp->A, s, dense);
    if (status < 0) {
        return status;
    }
    scale_vectors(t, mcp, s);
    // a tableau costs n^2 for each variable of a given basis
    bool warm = job->options->warm_start && job->options->basis;
    if (n <= TABLEAU_MOST && !warm) {
        return pp_lemke_tableau_init(t);
    }
    return dense ? pp_lemke_dense_init(t) : pp_lemke_sparse_init(t);
}

// Factors the basis anew. The work is counted by the number of basic
// z, since basic w are unit columns.
static perp_status refactor(pp_lemke *t)
{
    double basic = 0.0;
    for (int i = 0; i < t->n; i++) {
        basic += pp_is_z(t, t->var[i]) ? 1.0 : 0.0;
    }
    pp_meter_add(t->job->meter, basic * (t->A.dense ? 2.0 / 3.0 * basic * basic : t->cost));
    return t->basis->refactor(t);
}

// Loads a basis: position i holds z_i or w_i. place NULL: only the free variables are basic.
static perp_status load_basis(pp_lemke *t, const int8_t *place)
{
    // bt = b + A z over the non-basic z, which rest at their bounds
    int n = t->n;
    memcpy(t->bt, t->b, (size_t)n * sizeof(double));
    for (int i = 0; i < n; i++) {
        // fixed variables stay at their bound, and an infinite bound cannot be rested at
        bool basic = t->lower[i] == -PP_INF && t->upper[i] == PP_INF;
        t->at_upper[i] = t->lower[i] == -PP_INF && t->upper[i] < PP_INF;
        if (place && t->lower[i] < t->upper[i]) {
            basic = basic || place[i] == PERP_BASIS_BASIC;
            t->at_upper[i] =
                t->upper[i] < PP_INF && (place[i] == PERP_BASIS_UPPER || t->lower[i] == -PP_INF);
        }
        t->var[i] = basic ? i : n + i;
    }
    for (int i = 0; i < n; i++) {
        if (t->var[i] != i) {
            double rest = pp_lemke_nonbasic_value(t, i);
            if (rest != 0.0) {
                pp_lemke_add_column(t, i, rest, t->bt);
            }
        }
    }
    perp_status status = refactor(t);
    if (status < 0) {
        return status;
    }
    for (int i = 0; i < n; i++) {
        pp_lemke_set(t, i, t->var[i], t->x[i]);
    }
    return status;
}

// The basis as the caller sees it.
static void read_basis(const pp_lemke *t, int8_t *place)
{
    for (int j = 0; j < t->n; j++) {
        place[j] = t->at_upper[j] ? PERP_BASIS_UPPER : PERP_BASIS_LOWER;
    }
    for (int k = 0; k < t->n; k++) {
        if (pp_is_z(t, t->var[k])) {
            place[t->var[k]] = PERP_BASIS_BASIC;
        }
    }
}

// The scaled z of the present basis, basic values clamped to their bounds.
static void read_solution(const pp_lemke *t, double *z)
{
    for (int j = 0; j < t->n; j++) {
        z[j] = pp_lemke_nonbasic_value(t, j);
    }
    for (int k = 0; k < t->n; k++) {
        int j = t->var[k];
        if (pp_is_z(t, j)) {
            z[j] = pp_clamp(t->x[k], t->lower[j], t->upper[j]);
        }
    }
}

// The natural map of one pair, |z - clamp(z - w, lower, upper)|.
static double pair_residual(double z, double w, double lower, double upper)
{
    return fabs(z - pp_clamp(z - w, lower, upper));
}

// The natural map, max_i |z_i - clamp(z_i - w_i)|, the larger of scaled and unscaled: each is blind
// where the other sees, theory section 3. w: scratch.
static double own_residual(const pp_lemke *t, const scaling *s, const double *z, double *w)
{
    double worst = 0.0;
    memcpy(w, t->b, (size_t)t->n * sizeof *w);
    pp_matrix_mul(&t->A, 1.0, z, w);
    for (int i = 0; i < t->n; i++) {
        double d = s->d[i] * s->unit, r = s->unit / s->r[i];
        double error = pair_residual(z[i], w[i], t->lower[i], t->upper[i]);
        double plain = pair_residual(d * z[i], r * w[i], d * t->lower[i], d * t->upper[i]);
        worst = error <= worst ? worst : error;
        worst = plain <= worst ? worst : plain;
    }
    return worst;
}

// ── Attempts ─────────────────────────────────────────────────────────────────────────────────────

// The best answer of all attempts.
typedef struct attempt {
    const scaling *scale;
    double *z, *best;  // scaled answers: this attempt's and the best so far
    double *last;      // as the path left it
    double *w;
    double residual;  // of best
    double target;
    int8_t *place;  // of best
    int8_t *start;  // scratch: a basis to start from
    bool rayed;
} attempt;

// Keeps z with its basis where its residual is the least so far.
static void store_if_less(const pp_lemke *t, attempt *a, const double *z)
{
    double residual = own_residual(t, a->scale, z, a->w);
    if (residual < a->residual) {
        a->residual = residual;
        memcpy(a->best, z, (size_t)t->n * sizeof(double));
        read_basis(t, a->place);
    }
}

// The solution at the end of a path, in three ways until one is accurate: from the updated factors;
// as the path left it, where z0 left by a pivot so small that the last basis is nearly singular;
// from a new factorisation.
static void recompute_basic_solution(pp_lemke *t, attempt *a, int pivots)
{
    read_solution(t, a->last);
    if (pivots > 0 && t->basis->values(t) >= 0) {
        read_solution(t, a->z);
        store_if_less(t, a, a->z);
    }
    if (a->residual > a->target) {
        store_if_less(t, a, a->last);
    }
    if (a->residual > a->target && refactor(t) >= 0) {
        read_solution(t, a->z);
        store_if_less(t, a, a->z);
    }
}

// One path from a basis (NULL: the slacks). Where the free variables alone make a singular block
// the path starts from a crash basis that contains them all.
static perp_status run_path(pp_lemke *t, const int8_t *place, attempt *a)
{
    int before = t->pivots;
    perp_status status = load_basis(t, place);
    if (status == PERP_ERR_SINGULAR && !place && t->A.dense) {
        status = pp_lemke_crash(t, t->A.dense, a->start);
        if (status >= 0) {
            status = load_basis(t, a->start);
        }
    }
    if (status >= 0) {
        status = pp_lemke_path(t);
    }
    if (status >= 0) {
        recompute_basic_solution(t, a, t->pivots - before);
    }
    return status;
}

// The ray in z, in the caller's units, from new factors: the rates of the basic z and of the
// entering one. For copositive-plus matrices it is a Farkas vector; perp_mcp_farkas decides whether
// it is one here.
static void read_ray(pp_lemke *t, const scaling *s, double *ray)
{
    double tiny = 1e-11 * pp_norm_inf(t->n, t->dir);
    if (refactor(t) < 0 || t->basis->direction(t, t->entering) < 0) {
        return;
    }
    for (int k = 0; k < t->n; k++) {
        int j = t->var[k];
        if (pp_is_z(t, j) && fabs(t->dir[k]) > tiny) {
            ray[j] = t->sign * t->dir[k] * s->d[j];
        }
    }
    // the entering variable moves by 1 along its own ray
    if (pp_is_z(t, t->entering)) {
        ray[t->entering] = t->sign * s->d[t->entering];
    }
}

// The proximal problem about `about`: A += shift I, b = kept - shift about
static void shift_problem(pp_lemke *t, double shift, const double *kept, const double *about)
{
    double *A = (double *)(uintptr_t)t->A.dense;  // the scaled copy
    size_t stride = (size_t)t->n + 1;
    for (int i = 0; i < t->n; i++) {
        A[(size_t)i * stride] += shift;
        t->b[i] = kept[i] - shift * about[i];
    }
}

// Solves one proximal problem about `about`, which becomes its
// solution. start: its basis in and out.
static perp_status solve_shifted(pp_lemke *t, double shift, const double *kept, double *about,
                                 int8_t *start, bool warm)
{
    shift_problem(t, shift, kept, about);
    perp_status status = load_basis(t, warm ? start : NULL);
    if (status >= 0) {
        status = pp_lemke_path(t);
    }
    if (status >= 0) {
        status = refactor(t);
    }
    if (status >= 0) {
        read_solution(t, about);
        read_basis(t, start);
    }
    return status;
}

// Proximal problems A + e I about the last answer, e falling. Their bases are well conditioned
// where those of A are not, and on monotone problems the answers converge to one of A. Each basis
// is also tried on A itself. A must be dense.
static perp_status proximal_rounds(pp_lemke *t, attempt *a)
{
    enum { ROUNDS = 40 };
    int n = t->n;
    perp_status status = PERP_ERR_SINGULAR;
    double *kept = PP_ARRAY(t->arena, double, 3 * (size_t)n);
    if (!kept) {
        return PERP_ERR_MEMORY;
    }
    if (!t->A.dense) {
        return status;
    }
    double *about = kept + n, *diagonal = about + n, shift = 1e-2;
    // b and the diagonal of A are put back after every round
    memcpy(kept, t->b, (size_t)n * sizeof *kept);
    memcpy(about, a->best, (size_t)n * sizeof *about);
    pp_matrix_diagonal(&t->A, diagonal);
    bool warm = false;
    for (int k = 0; k < ROUNDS; k++) {
        if (t->pivots >= t->limit || pp_job_is_over(t->job)) {
            break;
        }
        status = solve_shifted(t, shift, kept, about, a->start, warm);
        double *A = (double *)(uintptr_t)t->A.dense;
        for (int i = 0; i < n; i++) {
            A[(size_t)i * ((size_t)n + 1)] = diagonal[i];
        }
        memcpy(t->b, kept, (size_t)n * sizeof *kept);
        warm = status >= 0;
        if (warm) {
            store_if_less(t, a, about);
            if (a->residual > a->target && load_basis(t, a->start) >= 0) {
                read_solution(t, a->z);
                store_if_less(t, a, a->z);
            }
        }
        if (pp_is_final(status) || a->residual <= a->target) {
            return status;
        }
        // towards A while it goes well; back to better conditioned bases where it does not
        shift = warm ? fmax(shift * 0.1, 1e-7) : shift * 30.0;
    }
    return status < 0 ? status : PERP_ERR_LIMIT;
}

// Pivots (plus an eighth of n) after which a path from the caller's basis
// is given up for one from the slacks.
enum { WARM_PIVOTS = 20 };

// From the caller's basis, then from the slacks, then by proximal problems, until the residual is
// at the target. Where all fail the status is that of the path from the slacks (`first`), the one
// that a proof speaks of.
static perp_status attempts(pp_lemke *t, const pp_job *job, attempt *a, const scaling *s)
{
    const perp_comp_options *options = job->options;
    perp_status status = PERP_ERR_RAY, first = PERP_ERR_RAY;
    if (options->warm_start && options->basis) {
        // a basis that needs many pivots was a poor guess
        int limit = t->limit;
        int few = WARM_PIVOTS + t->n / 8;
        t->limit = few < limit ? few : limit;
        status = run_path(t, options->basis, a);
        t->limit = limit;
    }
    if (a->residual > a->target && !pp_is_final(status)) {
        status = run_path(t, NULL, a);
        first = status;
        if (status == PERP_ERR_RAY) {
            read_ray(t, s, options->ray);
            a->rayed = true;
        }
    }
    if (a->residual > a->target && !pp_is_final(status) && first != PERP_ERR_LIMIT) {
        perp_status last = proximal_rounds(t, a);
        status = pp_is_final(last) || last >= 0 ? last : first;
    }
    return status;
}

// The reason of a failure.
static void write_reason(const pp_lemke *t, perp_status status, pp_report *report)
{
    const char *what = "no answer";
    if (status >= 0) {
        return;
    }
    if (status == PERP_ERR_RAY) {
        what = "secondary ray";
    } else if (status == PERP_ERR_LIMIT) {
        what = "pivot, time or work limit";
    } else if (status == PERP_ERR_SINGULAR) {
        what = "singular basis";
    }
    pp_print(report->reason, sizeof report->reason, "%s after %d pivots", what, t->pivots);
}

perp_status pp_lemke_mcp(const perp_mcp *mcp, const pp_job *job, double *z, pp_report *report)
{
    pp_lemke t;
    scaling s;
    int n = mcp->n;
    perp_status status = set_up(&t, mcp, job, &s);
    attempt a = {.scale = &s, .residual = PP_INF, .target = 0.01 * job->options->tolerance};
    a.z = PP_ARRAY(job->arena, double, 4 * (size_t)n);
    a.place = PP_ARRAY(job->arena, int8_t, 2 * (size_t)n);
    if (status >= 0 && (!a.z || !a.place)) {
        status = PERP_ERR_MEMORY;
    }
    // the target is a hundredth of the tolerance: the judge also measures the backward error
    if (status >= 0) {
        a.best = a.z + n;
        a.w = a.best + n;
        a.last = a.w + n;
        a.start = a.place + n;
        memset(a.best, 0, (size_t)n * sizeof(double));
        status = attempts(&t, job, &a, &s);
        report->iterations = t.pivots;
        write_reason(&t, status, report);
        if (isfinite(a.residual)) {
            // some attempt gave an answer: back to the units of the problem
            for (int i = 0; i < n; i++) {
                z[i] = a.best[i] * s.d[i] * s.beta;
            }
            if (job->options->basis) {
                memcpy(job->options->basis, a.place, (size_t)n);
            }
        }
    }
    pp_lemke_sparse_free(&t);
    // a ray is a failure of the method; only a Farkas vector makes it a property of the problem
    if (status == PERP_ERR_RAY && a.rayed && pp_mcp_ray_proves(mcp, job->options)) {
        status = PERP_ERR_INFEASIBLE;
        pp_print(report->reason, sizeof report->reason,
                 "the ray after %d pivots proves infeasibility: y'(A z + b) < 0 for all z",
                 t.pivots);
    }
    return status;
}
