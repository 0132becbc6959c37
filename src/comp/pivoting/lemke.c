// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Lemke's method for mixed complementarity problems.
//
// Proven: ends with a solution, or on a secondary ray that proves infeasibility, for copositive-plus
// matrices (Cottle, Pang, Stone 1992, section 4.4); the velocity-level Stewart–Trinkle matrix is
// copositive and always solvable (Stewart, Trinkle 1996). Elsewhere a ray proves nothing, unless it
// happens to be a Farkas vector, which is checked.
//
// The problem is scaled by a congruence D A D, which keeps copositivity, to unit diagonal. Free
// variables are equations: they are basic from the start and never leave. In floating point a ray or a
// bad answer can be an accident of nearly singular bases, so other covering vectors, and then the
// proximal problem A + e I, are tried before a failure is reported.
#include "comp/pivoting/lemke.h"

#include <math.h>
#include <string.h>

// ── Scaling ──────────────────────────────────────────────────────────────────────────────────────

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

// Complementarity pairs: d_i = 1/sqrt|A_ii|; where the diagonal is zero, what makes the largest entry
// of the column, scaled by its row's partner, 1; without a partner, its square root.
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
            double largest = largest_in_column(&mcp->A, j, s->r);
            double alone = largest > 0.0 ? largest : sqrt(largest_in_column(&mcp->A, j, NULL));
            s->d[j] = alone > 0.0 ? 1.0 / alone : 1.0;
        }
    }
    memcpy(s->r, s->d, (size_t)n * sizeof *s->r);
}

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

// Free variables and their equations: columns, then rows, to a largest entry of 1. They need not be
// scaled alike, since w = 0 whatever its unit.
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

// A' = R A D, as a copy of our own: dense with one more column for the covering vector, or CSC on the same pattern.
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
    memset(t->cover, 0, (size_t)n * sizeof *t->cover);  // a tableau carries it before it is chosen
    return PERP_OK;
}

// b' = R b / beta with |b'| = 1; bounds in the units of z' = D^-1 z / beta.
static void scale_vectors(pp_lemke *t, const perp_mcp *mcp, scaling *s)
{
    s->beta = 0.0;
    for (int i = 0; i < t->n; i++) {
        t->b[i] = mcp->b[i] * s->r[i];
        s->beta = fabs(t->b[i]) > s->beta ? fabs(t->b[i]) : s->beta;
    }
    s->beta = s->beta > 0.0 ? s->beta : 1.0;
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

// Sparse LU pays from here on: below, the kernel inverse is smaller than the sparse machinery.
static bool wants_dense(const perp_mcp *mcp)
{
    double n = mcp->n, entries = (double)pp_matrix_entries(&mcp->A);
    return mcp->A.dense || n <= 400.0 || (n <= 3000.0 && entries > 0.05 * n * n);
}

// Memory, scaling, and the representation of the basis that suits n and the density of A.
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
    bool warm = job->options->warm_start && job->options->basis;  // a tableau would be dear to load
    if (n <= TABLEAU_MOST && !warm) {
        return pp_lemke_tableau_init(t);
    }
    return dense ? pp_lemke_dense_init(t) : pp_lemke_sparse_init(t);
}

static bool is_free(const pp_lemke *t, int i)
{
    return t->lower[i] == -PP_INF && t->upper[i] == PP_INF;
}

// The work of a factorisation is metered by the number of basic z: the basic w are unit columns.
static perp_status refactor(pp_lemke *t)
{
    double basic = 0.0;
    for (int i = 0; i < t->n; i++) {
        basic += pp_is_z(t, t->var[i]) ? 1.0 : 0.0;
    }
    pp_meter_add(t->job->meter, basic * (t->A.dense ? 2.0 / 3.0 * basic * basic : t->cost));
    return t->basis->refactor(t);
}

// Fill positions from a set of basic z; NULL: the free variables alone. Position i holds z_i or w_i.
static perp_status load_basis(pp_lemke *t, const int8_t *place)
{
    // bt = b + A z over the non-basic z, which rest at their bounds
    int n = t->n;
    memcpy(t->bt, t->b, (size_t)n * sizeof(double));
    for (int i = 0; i < n; i++) {
        bool basic = is_free(t, i);
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

// The natural residual of one pair, |z - mid(lower, z - w, upper)|.
static double natural_map(double z, double w, double lower, double upper)
{
    return fabs(z - pp_clamp(z - w, lower, upper));
}

// max_i |z_i - clamp(z_i - w_i)|, the worse of scaled and unscaled: either can hide what the other shows.
static double own_residual(const pp_lemke *t, const scaling *s, const double *z, double *w)
{
    double worst = 0.0;
    memcpy(w, t->b, (size_t)t->n * sizeof *w);
    pp_matrix_mul(&t->A, 1.0, z, w);
    for (int i = 0; i < t->n; i++) {
        double d = s->d[i] * s->unit, r = s->unit / s->r[i];
        double error = natural_map(z[i], w[i], t->lower[i], t->upper[i]);
        double plain = natural_map(d * z[i], r * w[i], d * t->lower[i], d * t->upper[i]);
        worst = error <= worst ? worst : error;
        worst = plain <= worst ? worst : plain;
    }
    return worst;
}

// ── Attempts ─────────────────────────────────────────────────────────────────────────────────────

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

static void keep_if_better(const pp_lemke *t, attempt *a, const double *z)
{
    double residual = own_residual(t, a->scale, z, a->w);
    if (residual < a->residual) {
        a->residual = residual;
        memcpy(a->best, z, (size_t)t->n * sizeof(double));
        read_basis(t, a->place);
    }
}

// After a path of some pivots: the basic solution anew; as the path left it, where z0 went out by a pivot
// so small that the last basis is nearly singular; from a fresh factorisation if neither does.
static void recompute_basic_solution(pp_lemke *t, attempt *a, int pivots)
{
    read_solution(t, a->last);
    if (pivots > 0 && t->basis->values(t) >= 0) {
        read_solution(t, a->z);
        keep_if_better(t, a, a->z);
    }
    if (a->residual > a->target) {
        keep_if_better(t, a, a->last);
    }
    if (a->residual > a->target && refactor(t) >= 0) {
        read_solution(t, a->z);
        keep_if_better(t, a, a->z);
    }
}

// One path from a basis (NULL: the slacks). Where free variables alone make a singular block, a crash basis that holds
// them all is looked for first.
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

// The ray in z, from fresh factors: how the basic z and the entering one move. Farkas' certificate for
// copositive-plus matrices; perp_mcp_farkas decides whether it is one here.
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
    if (pp_is_z(t, t->entering)) {
        ray[t->entering] = t->sign * s->d[t->entering];
    }
}

// A += shift I, b = kept - shift about
static void shift_problem(pp_lemke *t, double shift, const double *kept, const double *about)
{
    double *A = (double *)(uintptr_t)t->A.dense;  // our own scaled copy
    size_t stride = (size_t)t->n + 1;
    for (int i = 0; i < t->n; i++) {
        A[(size_t)i * stride] += shift;
        t->b[i] = kept[i] - shift * about[i];
    }
}

// One proximal step from `about`, which it replaces; start is its basis in and out.
static perp_status proximal_step(pp_lemke *t, double shift, const double *kept, double *about,
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

// The proximal problem: A + e I about the last answer, e falling. Its bases are well conditioned where
// those of A are not, and on monotone problems the answers converge to one of A. Each basis is also
// tried on A itself.
static perp_status proximal(pp_lemke *t, attempt *a)
{
    enum { ROUNDS = 40 };
    int n = t->n;
    perp_status status = PERP_ERR_SINGULAR;
    double *kept = PP_ARRAY(t->arena, double, 3 * (size_t)n), *about = kept + n;
    double shift = 1e-2, *diagonal = about + n;
    if (!kept || !t->A.dense) {
        return kept ? status : PERP_ERR_MEMORY;
    }
    // b and the diagonal of A are put back after every round
    memcpy(kept, t->b, (size_t)n * sizeof *kept);
    memcpy(about, a->best, (size_t)n * sizeof *about);
    pp_matrix_diagonal(&t->A, diagonal);
    bool warm = false;
    for (int k = 0; k < ROUNDS; k++) {
        if (t->pivots >= t->limit || pp_job_is_over(t->job)) {
            break;
        }
        status = proximal_step(t, shift, kept, about, a->start, warm);
        double *A = (double *)(uintptr_t)t->A.dense;
        for (int i = 0; i < n; i++) {
            A[(size_t)i * ((size_t)n + 1)] = diagonal[i];
        }
        memcpy(t->b, kept, (size_t)n * sizeof *kept);
        warm = status >= 0;
        if (warm) {
            keep_if_better(t, a, about);
            if (a->residual > a->target && load_basis(t, a->start) >= 0) {
                read_solution(t, a->z);
                keep_if_better(t, a, a->z);
            }
        }
        if (status == PERP_ERR_MEMORY || a->residual <= a->target) {
            return status;
        }
        // towards A while it goes well; back to better conditioned bases where it does not
        shift = warm ? fmax(shift * 0.1, 1e-7) : shift * 30.0;
    }
    return status < 0 ? status : PERP_ERR_LIMIT;
}

// Past this many pivots (and an eighth of n) from a given basis the slacks are the better start.
enum { WARM_PIVOTS = 20 };

// From the given basis, then from the slacks, then by proximal steps, until the residual is well below the tolerance.
// `first` is the status of the path from the slacks: the one that means something where all fail.
static perp_status attempts(pp_lemke *t, const pp_job *job, attempt *a, const scaling *s)
{
    const perp_comp_options *options = job->options;
    perp_status status = PERP_ERR_RAY, first = PERP_ERR_RAY;
    if (options->warm_start && options->basis) {
        int limit = t->limit;
        int few = WARM_PIVOTS + t->n / 8;
        t->limit = few < limit ? few : limit;
        status = run_path(t, options->basis, a);
        t->limit = limit;
    }
    if (a->residual > a->target && status != PERP_ERR_MEMORY) {
        status = run_path(t, NULL, a);
        first = status;
        if (status == PERP_ERR_RAY) {
            read_ray(t, s, options->ray);
            a->rayed = true;
        }
    }
    if (a->residual > a->target && status != PERP_ERR_MEMORY && first != PERP_ERR_LIMIT) {
        perp_status last = proximal(t, a);
        status = last == PERP_ERR_MEMORY || last >= 0 ? last : first;
    }
    return status;
}

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
    // a hundredth of the tolerance: the judge measures more than our own residual
    if (status >= 0) {
        a.best = a.z + n;
        a.w = a.best + n;
        a.last = a.w + n;
        a.start = a.place + n;
        memset(a.best, 0, (size_t)n * sizeof(double));
        status = attempts(&t, job, &a, &s);
        report->iterations = t.pivots;
        write_reason(&t, status, report);
        if (isfinite(
                a.residual)) {  // some attempt gave an answer: back to the units of the problem
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
    if (status == PERP_ERR_RAY && a.rayed &&
        perp_mcp_farkas(mcp, job->options->ray) < -PP_FARKAS_MARGIN) {
        status = PERP_ERR_INFEASIBLE;
        pp_print(report->reason, sizeof report->reason,
                 "the ray after %d pivots proves infeasibility: y'(A z + b) < 0 for all z",
                 t.pivots);
    }
    return status;
}
