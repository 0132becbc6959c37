// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Whether the answer of a step is the only one: proved, refuted by a second answer, or unknown. theory (U1) to (U8)
//
// The motion is unique without friction by convexity (U2), with little of it where a matrix is positive definite (U3),
// of one contact in space by determinants (U4), of few contacts by looking at every mode (U5). Where the motion is
// unique, so are the impulses if their columns are independent (U7). "Not unique" is said only with a second answer
// that obeys the laws as the first one does. All thresholds are relative to p->size; between "obeyed" and "violated" the
// verdict is unknown.
#include "solve/unique.h"

#include <math.h>
#include <string.h>

enum { ROWS_MOST = 24 };  // rows up to which matrices of all of them are looked at
enum { CUTS = 9, ANGLES = 64 };

static const double MARGIN = 1e-3;     // by which (U3) must hold, of the diagonal of D
static const double TINY = 1e-7;       // rates that may be zero, of the size of the problem
static const double REGULAR = 1e-7;    // pivots of columns that are independent
static const double SINGULAR = 1e-11;  // pivots that are rounding
static const double SOLVED = 1e-9;     // laws that are obeyed
static const double FAR = 1e-6;        // how far a second answer must be from the first

// ── The problem in units of its rows ─────────────────────────────────────────────────────────────

// D_ij, dense or compressed by columns.
static double entry_of(const perp_matrix *A, int i, int j)
{
    if (A->dense) {
        return A->dense[(size_t)j * (size_t)A->rows + (size_t)i];
    }
    for (int k = A->p[j]; k < A->p[j + 1]; k++) {
        if (A->i[k] == i) {
            return A->x[k];
        }
    }
    return 0.0;
}

// s = sqrt(J M^-1 J') of each row. The two rows of a friction disc share theirs, or it would become
// an ellipse; mu changes with the units of p_t and p_n.
static void set_reduced_scales(const pp_run *r, pp_reduced *p)
{
    const pp_rows *rows = r->rows;
    for (int i = 0; i < p->n; i++) {
        double mobility = pp_row_mobility(r->model, r->kin->mass, pp_base_row(rows, i));
        p->scale[i] = mobility > 0.0 ? sqrt(mobility) : 1.0;
    }
    for (int g = 0; g < rows->ng; g++) {
        const pp_friction *group = &rows->group[g];
        double *s = p->scale + rows->nm + rows->nn + group->t;
        if (group->size == 2) {
            s[0] = s[1] = fmax(s[0], s[1]);
        }
        p->mu[g] = group->mu * s[0] / p->scale[rows->nm + group->n];
    }
    for (int i = 0; i < rows->nm; i++) {
        p->lower[i] = rows->m[i].lower * p->scale[i];
        p->upper[i] = rows->m[i].upper * p->scale[i];
    }
}

// The size of the problem: largest impulse or rate. Rates of gaps that open anyway may be as large
// as psi / h of any distant pair, and are left out.
static double speed_scale_of(const pp_reduced *p)
{
    int first = p->rows->nm, last = first + p->rows->nn;
    double size = pp_norm_inf(p->n, p->x);
    for (int i = 0; i < p->n; i++) {
        bool open = i >= first && i < last && p->q[i] > 0.0;
        size = open ? size : fmax(size, fabs(p->q[i]));
    }
    return size > 0.0 ? size : pp_norm_inf(p->n, p->q);
}

// The impulse of base row j: rows are in the order m, n, t.
static double *impulse_of(const pp_answer *a, const pp_rows *rows, int j)
{
    int n = j - rows->nm, t = n - rows->nn;
    if (n < 0) {
        return &a->pm[j];
    }
    return t < 0 ? &a->pn[n] : &a->pt[t];
}

// (U1) in units of the rows, with the solver's answer as x.
static perp_status reduce_problem(pp_run *r, pp_reduced *p)
{
    const pp_rows *rows = r->rows;
    size_t n = (size_t)rows->nm + (size_t)rows->nn + (size_t)rows->nt;
    perp_status status = pp_run_delassus(r);
    double *reals = PP_ARRAY(r->arena, double, n *n + 3 * n);
    *p = (pp_reduced){.rows = rows, .polygons = r->polygons, .n = (int)n, .arena = r->arena};
    p->mu = PP_ARRAY(r->arena, double, rows->ng);
    p->lower = PP_ARRAY(r->arena, double, 2 * (size_t)rows->nm);
    if (status < 0 || !reals || !p->mu || !p->lower) {
        return status < 0 ? status : PERP_ERR_MEMORY;
    }
    // one block: D, q, x, scale
    p->D = reals;
    p->q = p->D + n * n;
    p->x = p->q + n;
    p->scale = p->x + n;
    p->upper = p->lower + rows->nm;
    set_reduced_scales(r, p);
    for (int j = 0; j < p->n; j++) {
        for (int i = 0; i < p->n; i++) {
            p->D[(size_t)j * n + (size_t)i] =
                entry_of(&r->delassus.D, i, j) / (p->scale[i] * p->scale[j]);
        }
        p->q[j] = r->delassus.q[j] / p->scale[j];
        p->x[j] = *impulse_of(r->out, rows, j) * p->scale[j];
    }
    p->size = speed_scale_of(p);
    return PERP_OK;
}

static void row_rates(const pp_reduced *p, const double *x, double *u)
{
    memcpy(u, p->q, (size_t)p->n * sizeof *u);
    pp_gemv(p->n, p->n, 1.0, p->D, p->n, x, u);
}

// The natural map of (U1) with unit steps: rows are in units in which diagonals of D are about 1.
double pp_reduced_violation(const pp_reduced *p, const double *x, double *u)
{
    const pp_rows *rows = p->rows;
    double worst = 0.0;
    row_rates(p, x, u);
    for (int i = 0; i < rows->nm; i++) {
        worst = fmax(worst, fabs(x[i] - pp_clamp(x[i] - u[i], p->lower[i], p->upper[i])));
    }
    for (int i = rows->nm; i < rows->nm + rows->nn; i++) {
        worst = fmax(worst, fabs(x[i] - fmax(x[i] - u[i], 0.0)));
    }
    for (int g = 0; g < rows->ng; g++) {
        const pp_friction *group = &rows->group[g];
        const double *xt = x + rows->nm + rows->nn + group->t, *ut = u + (xt - x);
        double to[2] = {xt[0] - ut[0], group->size == 2 ? xt[1] - ut[1] : 0.0};
        pp_friction_project(group, p->polygons, p->mu[g] * x[rows->nm + group->n], to);
        worst = fmax(worst, fabs(xt[0] - to[0]));
        worst = group->size == 2 ? fmax(worst, fabs(xt[1] - to[1])) : worst;
    }
    return worst;
}

double pp_reduced_difference(const pp_reduced *p, const double *a, const double *b)
{
    double worst = 0.0;
    for (int i = 0; i < p->n; i++) {
        double sum = 0.0;
        for (int j = 0; j < p->n; j++) {
            sum += p->D[(size_t)j * (size_t)p->n + (size_t)i] * (a[j] - b[j]);
        }
        worst = fmax(worst, fabs(sum));
    }
    return worst;
}

// ── Little friction ──────────────────────────────────────────────────────────────────────────────

// No row with friction: the motion is the minimum of a strictly convex function, (U2).
static bool frictionless(const pp_rows *rows)
{
    for (int g = 0; g < rows->ng; g++) {
        if (rows->group[g].mu > 0.0) {
            return false;
        }
    }
    return true;
}

// An open contact that opens faster than mu times its slip contributes -x_n (u_n - mu |u_t|) <= 0
// to (U2) whatever the other answer is, so that it can be left out of the sum in (U3).
static bool opens_freely(const pp_reduced *p, const double *u, int i)
{
    const pp_rows *rows = p->rows;
    double slip = 0.0;
    for (int k = 0; k < rows->grouped[i]; k++) {
        int g = rows->friction[i] + k, t = rows->nm + rows->nn + rows->group[g].t;
        slip += p->mu[g] * (rows->group[g].size == 2 ? pp_length2(u[t], u[t + 1]) : fabs(u[t]));
    }
    return p->x[rows->nm + i] == 0.0 && u[rows->nm + i] > slip + FAR * p->size;
}

// S -= mu/2 (alpha e_n e_n' + sum_k d_k d_k' / alpha), d_k the columns of D of the group, alpha =
// sqrt(D_nn D_tt).   theory (U3)
static void weaken(const pp_reduced *p, int g, double *S)
{
    const pp_friction *group = &p->rows->group[g];
    size_t n = (size_t)p->n, at = (size_t)p->rows->nm + (size_t)group->n;
    size_t t = (size_t)p->rows->nm + (size_t)p->rows->nn + (size_t)group->t;
    double Dt = p->D[t * n + t], Dn = p->D[at * n + at];
    Dt = group->size == 2 ? fmax(Dt, p->D[(t + 1) * n + t + 1]) : Dt;
    if (!(Dt > SINGULAR)) {
        return;  // its slip is given
    }
    double a = sqrt(fmax(Dn, SINGULAR) * Dt), half = 0.5 * p->mu[g];
    S[at * n + at] -= half * a;
    for (int k = 0; k < group->size; k++) {
        const double *d = p->D + (t + (size_t)k) * n;
        pp_ger(p->n, p->n, -half / a, d, d, S, p->n);
    }
}

// S with its open contacts first, so that what the others weigh is the end of its factors.
static bool is_definite(const pp_reduced *p, double *S, const bool *open, double *T)
{
    const pp_rows *rows = p->rows;
    size_t n = (size_t)p->n;
    int *at = PP_ARRAY(p->arena, int, p->n), count = 0, others = 0;
    if (!at) {
        return false;
    }
    for (int i = 0; i < rows->nm; i++) {
        at[count++] = i;
    }
    for (int i = 0; i < rows->nn; i++) {
        if (open[i]) {
            continue;
        }
        at[count++] = rows->nm + i;
        for (int k = 0; k < rows->grouped[i]; k++) {
            const pp_friction *group = &rows->group[rows->friction[i] + k];
            for (int t = 0; t < group->size; t++) {
                at[count++] = rows->nm + rows->nn + group->t + t;
            }
        }
    }
    others = count;
    for (int j = 0; j < others; j++) {  // strictly, in units of the diagonal
        for (int i = 0; i < others; i++) {
            double d = sqrt(p->D[(size_t)at[i] * (n + 1)] * p->D[(size_t)at[j] * (n + 1)]);
            double s = S[(size_t)at[j] * n + (size_t)at[i]];
            double margin = i == j ? MARGIN : 0.0;
            T[j * others + i] = (d > SINGULAR ? s / d : 0.0) - margin;
        }
    }
    if (pp_chol_factor(others, T, others, 0.0) != 0) {
        return false;
    }
    memcpy(T, S, n * n * sizeof *T);  // and all of it but for rounding
    for (size_t i = 0; i < n; i++) {
        T[i * (n + 1)] += SOLVED;
    }
    return pp_chol_factor(p->n, T, p->n, 0.0) == 0;
}

// More rows than degrees of freedom: D is singular there, and (U3) cannot hold. Saves the
// factorisation.
static bool more_rows_than_dof(const pp_reduced *p, const bool *open, int freedom)
{
    int count = p->rows->nm;
    for (int i = 0; i < p->rows->nn; i++) {
        if (open[i]) {
            continue;
        }
        count++;
        for (int k = 0; k < p->rows->grouped[i]; k++) {
            count += p->rows->group[p->rows->friction[i] + k].size;
        }
    }
    return count > freedom;
}

// Two answers differ by dx with dx' S dx <= 0: where S is positive definite there is one only.
// theory (U3)
static bool little_friction(const pp_reduced *p, int freedom, pp_arena *arena)
{
    const pp_rows *rows = p->rows;
    size_t n = (size_t)p->n;
    double *S = PP_ARRAY(arena, double, 2 * n * n + n), *T = S + n * n, *u = T + n * n;
    bool *open = PP_ARRAY(arena, bool, rows->nn);
    if (!S || !open) {
        return false;
    }
    // S = D less what friction can give back; contacts that open freely do not weaken it
    row_rates(p, p->x, u);
    memcpy(S, p->D, n * n * sizeof *S);
    for (int i = 0; i < rows->nn; i++) {
        open[i] = opens_freely(p, u, i);
        if (open[i]) {
            continue;
        }
        for (int k = 0; k < rows->grouped[i]; k++) {
            int g = rows->friction[i] + k;
            if (p->mu[g] > 0.0) {
                weaken(p, g, S);
            }
        }
    }
    return !more_rows_than_dof(p, open, freedom) && is_definite(p, S, open, T);
}

// ── One contact in space ─────────────────────────────────────────────────────────────────────────

static double det3(const double a[3], const double b[3], const double c[3])
{
    return a[0] * (b[1] * c[2] - b[2] * c[1]) - a[1] * (b[0] * c[2] - b[2] * c[0]) +
           a[2] * (b[0] * c[1] - b[1] * c[0]);
}

// cos(2 pi k / ANGLES) of the first quarter; the others follow by symmetry.
static const double COSINE[ANGLES / 4 + 1] = {1.0,
                                              0.9951847266721969,
                                              0.9807852804032304,
                                              0.9569403357322088,
                                              0.9238795325112867,
                                              0.881921264348355,
                                              0.8314696123025452,
                                              0.773010453362737,
                                              0.7071067811865476,
                                              0.6343932841636455,
                                              0.5555702330196023,
                                              0.4713967368259978,
                                              0.38268343236508984,
                                              0.29028467725446233,
                                              0.19509032201612833,
                                              0.09801714032956077,
                                              0.0};

static double cosine_of(int k)
{
    int half = k % ANGLES > ANGLES / 2 ? ANGLES - k % ANGLES : k % ANGLES;  // cos(-x) = cos x
    return half > ANGLES / 4 ? -COSINE[ANGLES / 2 - half] : COSINE[half];
}

// y - P(y) + D P(y) = -q with the projection P on the law turns one way everywhere: its derivative has a positive
// determinant, of which all that is not positive by itself is that of sliding, between not moving at all (s = 0,
// D_nn + mu D_nt d) and the edge of sticking (s = 1, of degree 3 in cos and sin of the direction d). Sampled at
// ANGLES places the latter is off by at most (9/2) (pi / ANGLES)^2 < 0.011 of its largest value.   theory (U4)
static bool one_contact(const pp_reduced *p)
{
    const pp_rows *rows = p->rows;
    const double *D = p->D;
    if (p->n != 3 || rows->nn != 1 || rows->ng != 1 || rows->group[0].size != 2) {
        return false;
    }
    if (p->polygons || rows->group[0].facets > 0) {
        return false;  // a disc only
    }
    double mu = p->mu[0], least = PP_INF, most = 0.0;
    double wedge = D[0] - mu * pp_length2(D[3], D[6]);  // least D_nn + mu D_nt d over all d
    for (int k = 0; k < ANGLES; k++) {
        double c = cosine_of(k), s = cosine_of(k + 3 * ANGLES / 4), e[3][3];
        double part[3][3] = {{1.0, mu * c, mu * s}, {0.0, s * s, -s * c}, {0.0, -s * c, c * c}};
        for (int j = 0; j < 3; j++) {  // column j of I + (D - I) P'
            for (int i = 0; i < 3; i++) {
                e[j][i] = (i == j) - part[j][i];
                for (int l = 0; l < 3; l++) {
                    e[j][i] += D[3 * l + i] * part[j][l];
                }
            }
        }
        double det = det3(e[0], e[1], e[2]);
        least = fmin(least, det);
        most = fmax(most, fabs(det));
    }
    double stick = det3(D, D + 3, D + 6);
    return wedge > MARGIN * D[0] && stick > MARGIN * D[0] * D[4] * D[8] && least > 0.02 * most;
}

// ── Impulses of one motion ───────────────────────────────────────────────────────────────────────

// Directions of impulses that the laws allow at the rates of the answer, (U7).
typedef struct mode_columns {
    const pp_reduced *p;
    const double *u;
    double *C;  // n x count
    int count;
} mode_columns;

static double *new_column(mode_columns *c)
{
    double *column = c->C + (size_t)c->count++ * (size_t)c->p->n;
    memset(column, 0, (size_t)c->p->n * sizeof *column);
    return column;
}

// Friction that sticks, or may: a column for each row. Where it slides it goes with the normal
// impulse; along a side of a polygon, where the slip is across that side, it may also move on the
// side: then it counts as sticking.
static void add_friction(mode_columns *c, int g, double *normal)
{
    const pp_reduced *p = c->p;
    const pp_friction *group = &p->rows->group[g];
    int n = p->rows->nm + group->n, t = p->rows->nm + p->rows->nn + group->t;
    bool two = group->size == 2;
    double tiny = TINY * p->size, slip[2] = {c->u[t], two ? c->u[t + 1] : 0.0};
    double speed = pp_length2(slip[0], slip[1]), least = tiny;
    bool polygon = two && (p->polygons || group->facets > 0);
    int directions = polygon ? group->directions : 0;
    for (int j = 0; j < directions; j++) {
        double d[2], side[2];  // slip across a side, or nearly: the impulse may move on that side
        pp_friction_direction(group, j, d);
        pp_friction_direction(group, (j + 1) % group->directions, side);
        double across = (d[0] - side[0]) * slip[0] + (d[1] - side[1]) * slip[1];
        least = fabs(across) <= tiny ? PP_INF : least;
    }
    if (!(speed > least)) {
        for (int k = 0; k < group->size; k++) {
            new_column(c)[t + k] = 1.0;
        }
        return;
    }
    for (int k = 0; k < group->size; k++) {
        double along = p->x[n] > 0.0 ? p->x[t + k] / p->x[n] : 0.0;
        normal[t + k] = polygon && p->x[n] > 0.0 ? along : -p->mu[g] * slip[k] / speed;
    }
}

// Columns of all rows that act, or may at these rates: a contact that opens and carries nothing has
// none.
static void collect_mode_columns(mode_columns *c)
{
    const pp_reduced *p = c->p;
    const pp_rows *rows = p->rows;
    double tiny = TINY * p->size;
    for (int i = 0; i < rows->nm; i++) {
        if (fabs(c->u[i]) <= tiny) {
            new_column(c)[i] = 1.0;
        }
    }
    for (int i = 0; i < rows->nn; i++) {
        int n = rows->nm + i;
        if (c->u[n] > tiny && !(p->x[n] > 0.0)) {
            continue;
        }
        double *normal = new_column(c);
        normal[n] = 1.0;
        for (int k = 0; k < rows->grouped[i]; k++) {
            if (p->mu[rows->friction[i] + k] > 0.0) {
                add_friction(c, rows->friction[i] + k, normal);
            }
        }
    }
}

// G = C' D C; Dc: n numbers of scratch.
static void fill_mode_gram(const mode_columns *c, double *Dc, double *G, int *order)
{
    int k = c->count, n = c->p->n;
    for (int j = 0; j < k; j++) {
        memset(Dc, 0, (size_t)n * sizeof *Dc);
        pp_gemv(n, n, 1.0, c->p->D, n, c->C + (size_t)j * (size_t)n, Dc);
        for (int i = 0; i < k; i++) {
            G[j * k + i] = pp_dot(n, c->C + (size_t)i * (size_t)n, Dc);
        }
        order[j] = j;
    }
}

// Gauss-Jordan with diagonal pivoting on the Gram matrix G = C' D C. Each dependent column then
// gives a combination y of base impulses that moves nothing, D y = 0 (n numbers each). Returns how
// many; -1: full rank, but by pivots too small to say so.
static int null_columns(const mode_columns *c, double *G, int *order, double *y)
{
    int k = c->count, n = c->p->n, rank = 0;
    double last = 1.0;
    fill_mode_gram(c, y, G, order);
    for (; rank < k; rank++) {
        // the largest diagonal entry that is left
        int best = rank;
        for (int i = rank; i < k; i++) {
            best = G[order[i] * (k + 1)] > G[order[best] * (k + 1)] ? i : best;
        }
        int at = order[best];
        double pivot = G[at * (k + 1)];
        if (!(pivot > SINGULAR)) {
            break;
        }
        last = fmin(last, pivot);
        order[best] = order[rank];
        order[rank] = at;
        for (int j = 0; j < k; j++) {
            G[j * k + at] /= pivot;
        }
        for (int i = 0; i < k; i++) {
            double factor = G[at * k + i];
            if (i == at || factor == 0.0) {
                continue;
            }
            for (int j = 0; j < k; j++) {
                G[j * k + i] -= factor * G[j * k + at];
            }
        }
    }
    for (int f = rank; f < k; f++) {
        double *to = y + (size_t)(f - rank) * (size_t)n;
        memcpy(to, c->C + (size_t)order[f] * (size_t)n, (size_t)n * sizeof *to);
        for (int i = 0; i < rank; i++) {
            pp_axpy(n, -G[order[f] * k + order[i]], c->C + (size_t)order[i] * (size_t)n, to);
        }
    }
    return last < REGULAR && rank == k ? -1 : k - rank;
}

// A second answer x + t y, as far along y as the load first, then ever nearer; returns its
// distance, 0: there is none. own: what the answer itself is off by, which the second one may be
// twice.
static double largest_step(const pp_reduced *p, const double *y, double own, double *x, double *u)
{
    double size = pp_norm_inf(p->n, y), load = pp_norm_inf(p->n, p->x);
    double most = fmax(SOLVED * p->size, fmin(2.0 * own, TINY * p->size));
    double step = size > 0.0 ? load / size : 0.0;
    if (!(step > 0.0)) {
        return 0.0;
    }
    for (int cut = 0; cut < CUTS; cut++, step *= 0.25) {
        for (int sign = -1; sign <= 1; sign += 2) {
            memcpy(x, p->x, (size_t)p->n * sizeof *x);
            pp_axpy(p->n, sign * step, y, x);
            if (pp_reduced_violation(p, x, u) <= most) {
                return step * size;
            }
        }
    }
    return 0.0;
}

// Of impulses with the motion of the answer. other: n numbers.                            theory (U7)
static perp_uniqueness judge_impulses(const pp_reduced *p, bool one_motion, double *other)
{
    size_t n = (size_t)p->n;
    double *reals = PP_ARRAY(p->arena, double, 3 * n * n + 2 * n);
    int *order = PP_ARRAY(p->arena, int, n);
    if (!reals || !order) {
        return PERP_UNIQUENESS_UNKNOWN;
    }
    double *G = reals + n * n, *y = G + n * n, *u = y + n * n, *scratch = u + n;
    row_rates(p, p->x, u);
    mode_columns c = {.p = p, .u = u, .C = reals};
    collect_mode_columns(&c);
    int null = null_columns(&c, G, order, y);
    if (null == 0) {
        return one_motion ? PERP_UNIQUENESS_PROVED : PERP_UNIQUENESS_UNKNOWN;
    }
    double own = pp_reduced_violation(p, p->x, scratch);
    for (int k = 0; k < null; k++) {
        if (largest_step(p, y + (size_t)k * n, own, other, scratch) > FAR * p->size) {
            return PERP_UNIQUENESS_DISPROVED;
        }
    }
    return PERP_UNIQUENESS_UNKNOWN;
}

// ── The verdict ──────────────────────────────────────────────────────────────────────────────────

// How far the second answer is from the first: velocities follow from its impulses by pp_run_close,
// which writes to r->out; the answer is put back before it returns.
static perp_status compare_second_answer(pp_run *r, const pp_reduced *p, const double *other)
{
    pp_answer *out = r->out, kept = *out;
    const pp_rows *rows = r->rows;
    perp_status status = pp_answer_create(out, r->model, rows, r->arena);
    if (status < 0) {
        *out = kept;
        return status;
    }
    pp_answer second = *out;  // shares its arrays with r->out until `kept` is put back
    for (int j = 0; j < p->n; j++) {
        *impulse_of(&second, rows, j) = other[j] / p->scale[j];
    }
    pp_run_close(r);
    *out = kept;
    for (int i = 0; i < r->model->nv; i++) {
        out->motion_apart = fmax(out->motion_apart, fabs(out->nu[i] - second.nu[i]));
    }
    for (int i = 0; i < rows->nn; i++) {
        out->impulses_apart = fmax(out->impulses_apart, fabs(out->pn[i] - second.pn[i]));
    }
    for (int i = 0; i < rows->nt; i++) {
        out->impulses_apart = fmax(out->impulses_apart, fabs(out->pt[i] - second.pt[i]));
    }
    for (int i = 0; i < rows->nm; i++) {
        out->impulses_apart = fmax(out->impulses_apart, fabs(out->pm[i] - second.pm[i]));
    }
    return PERP_OK;
}

// Verdicts on problems with boxed or unilateral rows.
static perp_status judge_rows(pp_run *r)
{
    pp_reduced p;
    pp_answer *out = r->out;
    perp_status status = reduce_problem(r, &p);
    if (status < 0) {
        return status;
    }
    double *other = PP_ARRAY(r->arena, double, p.n);  // a second answer
    if (!other) {
        return PERP_ERR_MEMORY;
    }
    if (!(p.size > 0.0)) {
        return PERP_OK;  // nothing moves and nothing pushes: no measure of "small"
    }
    // The cheap proofs first; enumeration is the only one that can find a second motion.
    if (out->motion != PERP_UNIQUENESS_PROVED) {
        bool proved = little_friction(&p, pp_closed_dof(&r->closed), r->arena) || one_contact(&p);
        out->motion = proved ? PERP_UNIQUENESS_PROVED : pp_enumerate_modes(&p, other);
    }
    if (out->motion == PERP_UNIQUENESS_DISPROVED) {
        out->impulses = PERP_UNIQUENESS_DISPROVED;
        return compare_second_answer(r, &p, other);
    }
    out->impulses = judge_impulses(&p, out->motion == PERP_UNIQUENESS_PROVED, other);
    return out->impulses == PERP_UNIQUENESS_DISPROVED ? compare_second_answer(r, &p, other)
                                                      : PERP_OK;
}

// Joints that repeat each other carry any self-stress: p_b + y with W_b y = 0 is an answer as well,
// (U8). y is found from the first redundant row k: a unit impulse on it, and the impulses of the
// others that cancel its effect.
static bool has_self_stress(pp_run *r)
{
    const pp_closed *c = &r->closed;
    int nv = r->model->nv, nb = r->rows->nb, k = 0;
    double *w = PP_ZEROS(r->arena, double, nv), *y = PP_ZEROS(r->arena, double, nb);
    if (!w || !y || c->in.tree) {
        return false;
    }
    while (k < nb && !r->out->follows[k]) {
        k++;
    }
    if (k == nb || r->rows->b[k].gamma > 0.0) {
        return false;
    }
    pp_row_add(r->model, &r->rows->b[k], 1.0, NULL, w);
    double push = pp_norm_inf(nv, w), load = fmax(pp_norm_inf(nb, r->out->pb), 0.0);
    // w, the momentum of the unit impulse, becomes velocities; y the impulses that hold the joints
    // closed
    pp_closed_solve(c, NULL, w, y);
    y[k] += 1.0;
    // W_b y from scratch: the check, independent of the solve
    memset(w, 0, (size_t)nv * sizeof *w);
    for (int i = 0; i < nb; i++) {
        pp_row_add(r->model, &r->rows->b[i], y[i], NULL, w);
    }
    double size = pp_norm_inf(nb, y);
    if (!(pp_norm_inf(nv, w) <= SOLVED * push) || !(size > FAR)) {
        return false;
    }
    r->out->impulses_apart = fmax(r->out->impulses_apart, load);
    return true;
}

// Whether the coordinate of a joint is the only one of a link of the tree.
static bool has_own_rate(const pp_tree *tree, int joint)
{
    const pp_joint *j = &tree->model->joint[joint];
    const int body[2] = {j->a, j->b};
    for (int k = 0; k < 2; k++) {
        int link = pp_joint_couples(j) ? -1 : tree->of_body[body[k]];
        if (link >= 0 && tree->link[link].joint == joint) {
            return tree->link[link].nv == 1;
        }
    }
    return false;
}

// Rates of boxed rows and limits in units of their rows. Returns the largest of them and of the impulses, as speed_scale_of.
static double find_rates(pp_run *r, double *rate)
{
    const pp_rows *rows = r->rows;
    const double *mobility = pp_run_mobilities(r);
    double size = 0.0;
    for (int i = 0; i < rows->nm + rows->nn; i++) {
        const pp_row *row = pp_base_row(rows, i);
        double unit = mobility[i] > 0.0 ? sqrt(mobility[i]) : 1.0;
        rate[i] = (pp_row_rate(r->model, row, r->out->nu) + row->bias) / unit;
        bool open = i >= rows->nm && rate[i] > 0.0;
        size = fmax(size, fabs(*impulse_of(r->out, rows, i)) * unit);
        size = open ? size : fmax(size, fabs(rate[i]));
    }
    return size;
}

// Whether every rigid row that acts is along a coordinate of the tree that no other rigid row has, and no loop ties coordinates
// together: such rows are independent. A compliant row repeats nothing: two answers of one motion have the same impulse
// there, by its own law p = -(u + beta) / gamma, or the same bound.                       theory (U7)
static bool along_coordinates(pp_run *r)
{
    const pp_rows *rows = r->rows;
    if (!r->in.tree || rows->nc > 0 || r->closed.nb > 0) {
        return false;
    }
    bool *seen = PP_ZEROS(r->arena, bool, r->model->joints);
    double *rate = PP_ARRAY(r->arena, double, (size_t)rows->nm + (size_t)rows->nn);
    if (!seen || !rate) {
        return false;
    }
    double tiny = TINY * find_rates(r, rate);
    for (int i = 0; i < rows->nm + rows->nn; i++) {
        const pp_row *row = pp_base_row(rows, i);
        // one that slips has the impulse of its bound, a limit that opens none
        bool acts = fabs(rate[i]) <= tiny;
        if (i >= rows->nm) {
            acts = rate[i] <= tiny || *impulse_of(r->out, rows, i) > 0.0;
        }
        if (row->gamma > 0.0 || !acts) {
            continue;
        }
        bool single = row->joint >= 0 && has_own_rate(r->in.tree->tree, row->joint);
        if (!single || seen[row->joint]) {
            return false;
        }
        seen[row->joint] = true;
    }
    return true;
}

// Whether neither (U3) nor (U5) can hold, so that nothing is said of the motion: the contacts that push have more rows than
// there are degrees of freedom, and discs have no list of modes. One contact has a proof of its own.
static bool is_beyond_proof(const pp_run *r)
{
    const pp_rows *rows = r->rows;
    int count = rows->nm;
    bool discs = false;
    for (int i = 0; i < rows->nn; i++) {
        if (!(r->out->pn[i] > 0.0)) {
            continue;
        }
        count++;
        for (int k = 0; k < rows->grouped[i]; k++) {
            const pp_friction *group = &rows->group[rows->friction[i] + k];
            count += group->size;
            discs = discs || (group->size == 2 && group->facets == 0 && !r->polygons);
        }
    }
    return discs && rows->nn > 1 && count > pp_closed_dof(&r->closed);
}

// Of answers that ended with their budget, and of both phases of an impact, nothing is claimed. Nor of the impulses of a loose
// answer whose motion has no proof: it obeys its laws less than a second answer would have to.
perp_status pp_run_uniqueness(pp_run *r)
{
    const pp_rows *rows = r->rows;
    pp_answer *out = r->out;
    int n = rows->nm + rows->nn + rows->nt;
    out->motion = out->impulses = PERP_UNIQUENESS_UNKNOWN;
    out->motion_apart = out->impulses_apart = 0.0;
    if (r->budget_spent || out->impact) {
        return PERP_OK;
    }
    out->motion = frictionless(rows) ? PERP_UNIQUENESS_PROVED : PERP_UNIQUENESS_UNKNOWN;
    if (n == 0 || along_coordinates(r)) {
        out->impulses = PERP_UNIQUENESS_PROVED;
        n = 0;
    }
    bool open = out->motion != PERP_UNIQUENESS_PROVED && is_beyond_proof(r);
    if (pp_run_is_loose(r) && open) {
        n = 0;
    }
    perp_status status = n > 0 && n <= ROWS_MOST ? judge_rows(r) : PERP_OK;
    if (status >= 0 && out->redundant > 0 && out->impulses != PERP_UNIQUENESS_DISPROVED) {
        out->impulses = has_self_stress(r) ? PERP_UNIQUENESS_DISPROVED : PERP_UNIQUENESS_UNKNOWN;
    }
    return status;
}
