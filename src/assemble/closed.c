// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Velocities with the joints closed. S = W_b^T M^-1 W_b + Gamma is scaled to a unit diagonal and
// factored with diagonal pivoting; what is left below RANK of it is redundant. S = L L^T, L = (L_1; L_2): the
// rows of L_1 hold exactly, those of L_2 follow from them, and the impulses are those of least norm,
// p_b = L (L^T L)^-1 L_1^-1 s_1.                                                          theory (P8)
//
// In joint coordinates S = J H^-1 J^T + Gamma has the same scale, that of the bodies by themselves: of a row
// that the tree implies nothing but rounding is left, and its own diagonal is no measure. theory (J10)
#include "assemble/closed.h"

#include <math.h>
#include <string.h>

static const double RANK = 1e-11;  // pivot of a row scaled to 1 below which it is redundant
static const double NOTHING =
    1e-12;  // of an equation's shortfall: rounding, not worth a second round
// Rows from which the sparse factorisations are tried. Fewer are as quick densely, and the rank is found on the way.
enum { SPARSE_FROM = 12 };

// Entry (i, j), column-major with n rows.
static double *entry_at(double *A, int n, int i, int j)
{
    return A + (size_t)j * (size_t)n + (size_t)i;
}

// S in all rows, then scaled to a unit diagonal (in joint coordinates: by the diagonal that the bodies have by
// themselves), so that what is left of a pivot is a share of the row [-].
static void fill_schur(pp_closed *c, double *S)
{
    int n = c->nb;
    for (int j = 0; j < n; j++) {
        for (int i = j; i < n; i++) {
            *entry_at(S, n, i, j) = *entry_at(S, n, j, i) = pp_closed_coupling(c, i, j);
        }
        *entry_at(S, n, j, j) += pp_closed_row(c, j)->gamma;
    }
    for (int j = 0; j < n; j++) {
        const pp_row *row = pp_closed_row(c, j);
        // in joint coordinates the diagonal of S itself may be rounding: of a row that the tree implies
        double diagonal = c->in.tree ? pp_row_mobility(c->model, c->mass, row) + row->gamma
                                     : *entry_at(S, n, j, j);
        c->d[j] = diagonal > 0.0 ? 1.0 / sqrt(diagonal) : 1.0;
        c->order[j] = j;
    }
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < n; i++) {
            *entry_at(S, n, i, j) *= c->d[i] * c->d[j];
        }
    }
}

// A symmetric exchange of rows and columns i and k, remembered in order.
static void swap_pair(double *S, int n, int i, int k, int *order)
{
    for (int j = 0; j < n; j++) {
        double kept = *entry_at(S, n, i, j);
        *entry_at(S, n, i, j) = *entry_at(S, n, k, j);
        *entry_at(S, n, k, j) = kept;
    }
    for (int j = 0; j < n; j++) {
        double kept = *entry_at(S, n, j, i);
        *entry_at(S, n, j, i) = *entry_at(S, n, j, k);
        *entry_at(S, n, j, k) = kept;
    }
    int kept = order[i];
    order[i] = order[k];
    order[k] = kept;
}

// Pivoted Cholesky in place of S; columns 0..rank-1 of the lower part are L. A row is taken out of turn
// only when it is much better, so that a regular system keeps its order.
static void factor_pivoted_cholesky(pp_closed *c, double *S)
{
    int n = c->nb;
    for (c->rank = 0; c->rank < n; c->rank++) {
        int k = c->rank, best = k;
        for (int i = k + 1; i < n; i++) {
            if (*entry_at(S, n, i, i) > *entry_at(S, n, best, best)) {
                best = i;
            }
        }
        if (!(*entry_at(S, n, best, best) > RANK)) {
            break;
        }
        // with a unit diagonal a pivot is the squared sine of the angle between a row and those before it, in the metric
        // of the masses                                                                    theory (J10)
        if (*entry_at(S, n, k, k) < 1e-3 * *entry_at(S, n, best, best)) {
            swap_pair(S, n, k, best, c->order);
        }
        double root = sqrt(*entry_at(S, n, k, k));
        *entry_at(S, n, k, k) = root;
        for (int i = k + 1; i < n; i++) {
            *entry_at(S, n, i, k) /= root;
        }
        // rank-one update of what is left, lower part
        for (int j = k + 1; j < n; j++) {
            double s = *entry_at(S, n, j, k);
            if (s != 0.0) {
                pp_axpy(n - j, -s, entry_at(S, n, j, k), entry_at(S, n, j, j));
            }
        }
        for (int j = k + 1; j < n; j++) {  // the upper part follows, for later swaps
            for (int i = j + 1; i < n; i++) {
                *entry_at(S, n, j, i) = *entry_at(S, n, i, j);
            }
        }
    }
    for (int j = 0; j < n; j++) {  // L is lower trapezoidal
        for (int i = 0; i < j; i++) {
            *entry_at(S, n, i, j) = 0.0;
        }
    }
}

// L^T L of the rank columns, for impulses of least norm. The columns are independent, so it is regular but for rounding.
static perp_status factor_redundant_gram(pp_closed *c, pp_arena *arena)
{
    int n = c->nb, r = c->rank;
    c->G = PP_ARRAY(arena, double, (size_t)r *(size_t)r);
    if (!c->G) {
        return PERP_ERR_MEMORY;
    }
    for (int j = 0; j < r; j++) {
        for (int i = j; i < r; i++) {
            *entry_at(c->G, r, i, j) = *entry_at(c->G, r, j, i) =
                pp_dot(n, entry_at(c->L, n, 0, i), entry_at(c->L, n, 0, j));
        }
    }
    return pp_chol_factor(r, c->G, r, 0.0) == 0 ? PERP_OK : PERP_ERR_SINGULAR;
}

// Rows and their responses in joint coordinates.
static bool set_tree_response(pp_closed *c, pp_arena *arena)
{
    const pp_tree_pass *pass = c->in.tree;
    size_t n = (size_t)pass->tree->nv, nb = (size_t)c->nb;
    c->Jq = PP_ARRAY(arena, double, nb *n);
    c->HJ = PP_ARRAY(arena, double, nb *n);
    c->qd = PP_ARRAY(arena, double, n);
    c->rate = PP_ARRAY(arena, double, c->rows->nb);
    if (!c->Jq || !c->HJ || !c->qd || !c->rate) {
        return false;
    }
    for (int i = 0; i < c->nb; i++) {
        double *Jq = c->Jq + (size_t)i * n, *HJ = c->HJ + (size_t)i * n;
        // HJ = H^-1 Jq: the rates that a unit impulse along the row makes
        pp_tree_row(pass, pp_closed_row(c, i), Jq);
        memcpy(HJ, Jq, n * sizeof *HJ);
        pp_coordinates_solve(&c->in, HJ);
    }
    return true;
}

// M^-1 J^T of every row: what a unit impulse along it does to its bodies.
static bool set_response(pp_closed *c, pp_arena *arena)
{
    if (c->in.tree) {
        return set_tree_response(c, arena);
    }
    c->MJ = pp_arena_array(arena, (size_t)c->nb, sizeof *c->MJ);
    if (!c->MJ) {
        return false;
    }
    for (int i = 0; i < c->nb; i++) {
        const pp_row *row = &c->rows->b[i];
        for (int k = 0; k < row->count; k++) {
            int body = row->body[k];
            pp_body_solve(&c->model->body[body], &c->mass[body], row->J[k], c->MJ[i][k]);
        }
    }
    return true;
}

// Entry (i, j) of J M^-1 J^T, or of J H^-1 J^T in joint coordinates, without Gamma.
double pp_closed_coupling(const pp_closed *c, int i, int j)
{
    if (c->in.tree) {
        int n = c->in.tree->tree->nv;
        return pp_dot(n, c->Jq + (size_t)i * (size_t)n, c->HJ + (size_t)j * (size_t)n);
    }
    const pp_row *a = &c->rows->b[i], *b = &c->rows->b[j];
    double sum = 0.0;
    for (int k = 0; k < a->count; k++) {
        for (int l = 0; l < b->count; l++) {
            if (a->body[k] == b->body[l]) {
                int nv = c->model->body[a->body[k]].nv;
                sum += pp_closed_dot(nv, a->J[k], c->MJ[j][l]);
            }
        }
    }
    return sum;
}

// nu += M^-1 W_b step
static void apply_row_impulses(const pp_closed *c, const double *step, double *nu)
{
    for (int i = 0; i < c->nb; i++) {
        const pp_row *row = &c->rows->b[i];
        for (int k = 0; k < row->count; k++) {
            const pp_body *body = &c->model->body[row->body[k]];
            const double *MJ = c->MJ[i][k];
            double *to = nu + body->at, by = step[i];
            if (body->nv == 6) {
                pp_add6(by, MJ, to);
                continue;
            }
            for (int v = 0; v < body->nv; v++) {
                to[v] += by * MJ[v];
            }
        }
    }
}

// Rows that are closed are all bilateral ones, or in joint coordinates those that the tree does not imply.
const pp_row *pp_closed_row(const pp_closed *c, int i)
{
    return &c->rows->b[c->row ? c->row[i] : i];
}

// Redundant rows take no degree of freedom away: the rank counts, not nb.
int pp_closed_dof(const pp_closed *c)
{
    return (c->in.tree ? c->in.tree->tree->nv : c->model->nv) - c->rank;
}

// The rows that the tree does not imply.
static bool choose_independent_rows(pp_closed *c, pp_arena *arena)
{
    int *row = PP_ARRAY(arena, int, c->rows->nb);
    if (!row) {
        return false;
    }
    c->nb = 0;
    for (int i = 0; i < c->rows->nb; i++) {
        if (!c->in.implied[i] && !c->in.folded[i]) {
            row[c->nb++] = i;
        }
    }
    c->row = row;
    return true;
}

// Chooses the factorisation of S: none, a chain, sparse or dense.
perp_status pp_closed_create(pp_closed *out, const perp_model *model, const pp_rows *rows,
                             const pp_inertia *mass, const pp_coordinates *in, pp_ldl *ldl,
                             pp_arena *arena)
{
    *out = (pp_closed){.model = model, .rows = rows, .mass = mass, .nb = rows->nb};
    if (in && in->tree) {
        out->in = *in;
        if (!choose_independent_rows(out, arena) || !set_response(out, arena)) {
            return PERP_ERR_MEMORY;
        }
    }
    int n = out->nb;
    if (n == 0) {
        return PERP_OK;
    }
    if (!out->in.tree && !set_response(out, arena)) {
        return PERP_ERR_MEMORY;
    }
    // In body coordinates S is sparse: block tridiagonal for a chain, else for the general factorisation. Where rows are
    // redundant and not many, both decline (neither is set), and the pivoted dense one below finds the rank.
    if (ldl && !out->in.tree && n >= SPARSE_FROM) {
        perp_status status = pp_closed_chain(out, arena);
        if (status >= 0 && !out->chain) {
            status = pp_closed_sparse(out, ldl, arena);
        }
        if (status < 0 || out->ldl || out->chain) {
            return status;
        }
    }
    out->L = PP_ARRAY(arena, double, (size_t)n *(size_t)n);
    out->d = PP_ARRAY(arena, double, n);
    out->order = PP_ARRAY(arena, int, n);
    out->work = PP_ARRAY(arena, double, 3 * (size_t)n);
    if (!out->L || !out->d || !out->order || !out->work) {
        return PERP_ERR_MEMORY;
    }
    fill_schur(out, out->L);
    factor_pivoted_cholesky(out, out->L);
    return out->rank < n ? factor_redundant_gram(out, arena) : PERP_OK;
}

// x = S^+ x: on entry the rates that the rows are short of, on return the impulses that supply them. The sparse factors
// give redundant rows no impulse; the dense one shares it, with the least norm.
static void apply_inverse(const pp_closed *c, double *x)
{
    int n = c->nb, r = c->rank;
    if (c->chain) {
        pp_closed_chain_solve(c->chain, x);
        return;
    }
    if (c->ldl) {
        pp_ldl_solve(c->ldl, x);
        return;
    }
    // In the scaled and pivoted rows: y = d x. Where rows are redundant, L (L^T L)^-1 L_1^-1 y_1, of least norm.
    double *y = c->work, *w = y + n;
    for (int i = 0; i < n; i++) {
        y[i] = c->d[c->order[i]] * x[c->order[i]];
    }
    if (r == n) {
        pp_chol_solve(n, c->L, n, y);
    } else {
        memcpy(w, y, (size_t)r * sizeof *w);
        pp_chol_solve_forward(r, c->L, n, w);
        pp_chol_solve(r, c->G, r, w);
        memset(y, 0, (size_t)n * sizeof *y);
        pp_gemv(n, r, 1.0, c->L, n, w, y);
    }
    for (int i = 0; i < n; i++) {
        x[c->order[i]] = c->d[c->order[i]] * y[i];
    }
}

// What equation i is short of at velocities nu: -(W_b^T nu + beta + gamma p_b). J nu alone is wanted of pp_row_rate, as
// beta has the given rate in it.
static double shortfall(const pp_closed *c, int i, const double *beta, const double *nu,
                        const double *pb)
{
    const pp_row *row = &c->rows->b[i];
    double moved = pp_row_rate(c->model, row, nu) - row->rate;
    return -(beta ? beta[i] : 0.0) - row->gamma * pb[i] - moved;
}

// nu += M^-1 W_b step of the closed rows, twice where rounding left anything of the equations worth the while.
static void close_bodies(const pp_closed *c, const double *beta, double *nu, double *pb)
{
    double first = 0.0;
    for (int round = 0; round < 2; round++) {  // the second is one step of iterative refinement
        double *step = c->work + 2 * c->nb, worst = 0.0;
        for (int i = 0; i < c->nb; i++) {
            step[i] = shortfall(c, i, beta, nu, pb);
            worst = pp_max(fabs(step[i]), worst);
        }
        if (round == 1 && worst <= NOTHING * first) {
            break;
        }
        first = worst;
        apply_inverse(c, step);
        apply_row_impulses(c, step, nu);
        for (int i = 0; i < c->nb; i++) {
            pb[i] += step[i];
        }
    }
}

// The same in the rates of the tree: qd += H^-1 J^T step.
static void close_loops(const pp_closed *c, const double *rate, double *qd, double *pb)
{
    int n = c->in.tree->tree->nv;
    double first = 0.0;
    for (int round = 0; round < 2; round++) {
        double *step = c->work + 2 * c->nb, worst = 0.0;
        for (int i = 0; i < c->nb; i++) {
            int at = c->row[i];
            double moved = pp_dot(n, c->Jq + (size_t)i * (size_t)n, qd);
            step[i] = -(rate ? rate[at] : 0.0) - pp_closed_row(c, i)->gamma * pb[at] - moved;
            worst = pp_max(fabs(step[i]), worst);
        }
        if (round == 1 && worst <= NOTHING * first) {
            break;
        }
        first = worst;
        apply_inverse(c, step);
        for (int i = 0; i < c->nb; i++) {
            pp_axpy(n, step[i], c->HJ + (size_t)i * (size_t)n, qd);
            pb[c->row[i]] += step[i];
        }
    }
}

// (H + soft) qd = tau - sum rate / gamma of the folded rows + J^T p_b of the loops; then p = -(x' + rate) / gamma.
//                                                                                       theory (J11)
void pp_closed_rates(const pp_closed *c, const double *rate, double *qd, double *pb)
{
    const pp_coordinates *in = &c->in;
    for (int i = 0; i < in->folds; i++) {
        int at = in->fold[i];
        qd[in->fold_at[i]] -= rate ? rate[at] / c->rows->b[at].gamma : 0.0;
    }
    pp_coordinates_solve(in, qd);
    for (int i = 0; i < c->nb; i++) {
        pb[c->row[i]] = 0.0;
    }
    if (c->nb > 0) {
        close_loops(c, rate, qd, pb);
    }
    for (int i = 0; i < in->folds; i++) {
        int at = in->fold[i];
        pb[at] = -(qd[in->fold_at[i]] + (rate ? rate[at] : 0.0)) / c->rows->b[at].gamma;
    }
}

// Momentum to generalised impulses, rates of the tree, and velocities of the bodies again.
static void solve_tree(const pp_closed *c, const double *beta, double *r, double *pb)
{
    const perp_model *m = c->model;
    double *rate = NULL;
    if (beta) {
        double *carried = c->in.work;
        rate = c->rate;
        pp_masses_mul(m, c->mass, c->in.nu_0, carried);
        pp_axpy(m->nv, -1.0, carried, r);
        for (int i = 0; i < c->rows->nb; i++) {
            const pp_row *row = &c->rows->b[i];
            if (!c->in.implied[i]) {
                rate[i] = beta[i] + pp_row_rate(m, row, c->in.nu_0) - row->rate;
            }
        }
    }
    pp_tree_gather(c->in.tree, r, c->qd);
    pp_closed_rates(c, rate, c->qd, pb);
    pp_tree_velocities(c->in.tree, c->qd, true, r);
    if (beta) {
        pp_axpy(m->nv, 1.0, c->in.nu_0, r);
    }
}

// p_b = S^+ (-beta - W_b^T M^-1 r),  nu = M^-1 (r + W_b p_b). No beta: r is a change of momentum, and nu the change of
// velocities that it makes.
void pp_closed_solve(const pp_closed *closed, const double *beta, double *r, double *pb)
{
    if (closed->in.tree) {
        solve_tree(closed, beta, r, pb);
        return;
    }
    pp_masses_solve(closed->model, closed->mass, r, r);
    for (int i = 0; i < closed->nb; i++) {
        pb[i] = 0.0;
    }
    if (closed->nb > 0) {
        close_bodies(closed, beta, r, pb);
    }
}

// Impulses that make up for the rates by which rigid rows are violated at velocities x, rates in the tree's coordinates. What
// compliant rows give at x is in x already: of these only the change counts.
void pp_closed_nearest(const pp_closed *c, const double *beta, double *x, double *pb)
{
    bool tree = c->in.tree != NULL;
    int n = tree ? c->in.tree->tree->nv : 0;
    for (int i = 0; i < c->nb; i++) {
        const pp_row *row = pp_closed_row(c, i);
        int at = c->row ? c->row[i] : i;
        double rate = tree ? pp_dot(n, c->Jq + (size_t)i * (size_t)n, x)
                           : pp_row_rate(c->model, row, x) - row->rate;
        pb[at] = row->gamma > 0.0 ? -(rate + beta[at]) / row->gamma : 0.0;
    }
    if (c->nb > 0 && tree) {
        close_loops(c, beta, x, pb);
    } else if (c->nb > 0) {
        close_bodies(c, beta, x, pb);
    }
}

// nu and p_b are linear in beta: p_b changes by -S^+ step, nu by M^-1 W_b of that.
void pp_closed_change(const pp_closed *closed, double *step, double *nu, double *pb)
{
    for (int i = 0; i < closed->nb; i++) {
        step[i] = -step[i];
    }
    apply_inverse(closed, step);
    apply_row_impulses(closed, step, nu);
    for (int i = 0; i < closed->nb; i++) {
        pb[i] += step[i];
    }
}
