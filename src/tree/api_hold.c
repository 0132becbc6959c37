// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Accelerations and impacts under constraints, as R. Tedrake's note on Drake (2012) writes them.
//                                                                                      theory (J9)
//
//   lambda = (J H^-1 J^T)^+ (b - J x_0),   x = x_0 + H^-1 J^T lambda,   x_0 = H^-1 (tau - C), or qd
//
// With limits lambda solves a mixed complementarity problem with the same matrix. For its active
// rows the pseudo-inverse then gives the multipliers of least norm, which are taken if no limit
// pulls.
#include "tree/face.h"

#include "math/math.h"

#include <perp/comp.h>

#include <math.h>
#include <string.h>

// A row is dependent if others leave less than this share of it.
static const double DEPENDENT = 1e-11;

// Everything about the rows that are held.
typedef struct held_system {
    int n, nv;
    double *H, *X;  // factors of H; H^-1 J^T, nv x n
    double *A, *r;  // J H^-1 J^T, J x_0 - b
} held_system;

// The Delassus matrix A = J H^-1 J^T of the rows, and r = J x_0 - b.
static bool open_system(held_system *s, perp_tree *tree, const perp_tree_rows *hold,
                        const double *x0, pp_arena *arena)
{
    size_t nv = (size_t)tree->tree.nv, n = (size_t)hold->equalities + (size_t)hold->inequalities;
    *s = (held_system){.n = (int)n, .nv = (int)nv};
    s->H = PP_ARRAY(arena, double, nv *nv);
    s->X = PP_ARRAY(arena, double, nv *n);
    s->A = PP_ARRAY(arena, double, n *n);
    s->r = PP_ARRAY(arena, double, n);
    if (!s->H || !s->X || !s->A || !s->r) {
        return false;
    }
    pp_tree_mass(&tree->pass, s->H);
    pp_tree_factor(&tree->tree, s->H);
    // J is column-major, n x nv: row i is strided. X gets H^-1 J_i^T, A the products of all rows
    // with it.
    for (size_t i = 0; i < n; i++) {
        double *x = s->X + i * nv;
        s->r[i] = -hold->b[i];
        for (size_t k = 0; k < nv; k++) {
            x[k] = hold->J[i + k * n];
            s->r[i] += x[k] * x0[k];
        }
        pp_tree_solve(&tree->tree, s->H, x);
        for (size_t j = 0; j < n; j++) {
            double sum = 0.0;
            for (size_t k = 0; k < nv; k++) {
                sum += hold->J[j + k * n] * x[k];
            }
            s->A[j + i * n] = sum;
        }
    }
    return true;
}

// Multipliers of least norm for the `acting` rows; 0 for the others. Returns the rank, -1: no
// memory.
static int least_norm_multipliers(const held_system *s, const int *acting, int count,
                                  double *lambda, pp_arena *arena)
{
    size_t n = (size_t)s->n, m = (size_t)count;
    double *A = PP_ARRAY(arena, double, m *m), *b = PP_ARRAY(arena, double, 3 * m), *scale;
    if (!A || !b) {
        return -1;
    }
    // The rows come without bodies to scale them by, so that each is scaled by its own diagonal. A
    // row without meaning is exactly 0 (pp_tree_row).
    scale = b + 2 * m;
    for (size_t i = 0; i < m; i++) {
        double own = s->A[(size_t)acting[i] * (n + 1)];
        scale[i] = own > 0.0 ? 1.0 / sqrt(own) : 1.0;
        b[i] = -s->r[acting[i]];
        for (size_t j = 0; j < m; j++) {
            A[i + j * m] = s->A[(size_t)acting[i] + n * (size_t)acting[j]];
        }
    }
    int rank = pp_least_solve(count, A, b, b + m, scale, DEPENDENT, arena);
    memset(lambda, 0, n * sizeof *lambda);
    for (size_t i = 0; rank >= 0 && i < m; i++) {
        lambda[acting[i]] = b[m + i];
    }
    return rank;
}

// Equations have free multipliers, limits lambda >= 0 with A lambda + r >= 0: a mixed LCP with
// symmetric A.
static perp_status solve_limits(const held_system *s, const perp_tree_rows *hold,
                                const perp_env *env, double *lambda, pp_arena *arena)
{
    double *lower = PP_ARRAY(arena, double, s->n);
    if (!lower) {
        return PERP_ERR_MEMORY;
    }
    for (int i = 0; i < s->n; i++) {
        lower[i] = i < hold->equalities ? -PP_INF : 0.0;
    }
    perp_mcp mcp = {.n = s->n, .A = perp_matrix_dense(s->n, s->n, s->A), .b = s->r, .lower = lower};
    perp_comp_options options = perp_comp_options_default();
    options.tolerance = 1e-12;
    options.comparable = true;
    return perp_mcp_solve("auto", &mcp, &options, env, lambda, NULL);
}

// Replaces lambda by the multipliers of least norm for its active rows, if no limit pulls and no
// other limit is violated by them.
static int share_least_norm(const held_system *s, const perp_tree_rows *hold, double *lambda,
                            pp_arena *arena)
{
    int *acting = PP_ARRAY(arena, int, s->n), count = 0;
    double *shared = PP_ARRAY(arena, double, s->n), most = 0.0;
    if (!acting || !shared) {
        return -1;
    }
    for (int i = 0; i < s->n; i++) {
        most = fmax(most, fabs(lambda[i]));
    }
    for (int i = 0; i < s->n; i++) {
        if (i < hold->equalities || lambda[i] > 1e-10 * most) {
            acting[count++] = i;
        }
    }
    int rank = least_norm_multipliers(s, acting, count, shared, arena);
    if (rank < 0) {
        return rank;
    }
    // w = A lambda + r of each limit must not be negative beyond the rounding of its terms.
    for (int i = hold->equalities; i < s->n; i++) {
        double w = s->r[i], size = fabs(w);
        for (int j = 0; j < s->n; j++) {
            double part = s->A[(size_t)i + (size_t)j * (size_t)s->n] * shared[j];
            w += part;
            size += fabs(part);
        }
        if (shared[i] < 0.0 || w < -1e-11 * size) {
            return rank;
        }
    }
    memcpy(lambda, shared, (size_t)s->n * sizeof *lambda);
    return rank;
}

// Replaces x_0 by x = x_0 + H^-1 J^T lambda.
static perp_status hold_rows(perp_tree *tree, const perp_tree_rows *hold, double *x, double *lambda,
                             int *rank, pp_arena *arena)
{
    held_system s;
    perp_status status = PERP_OK;
    if (!open_system(&s, tree, hold, x, arena)) {
        return PERP_ERR_MEMORY;
    }
    memset(lambda, 0, (size_t)s.n * sizeof *lambda);
    if (hold->inequalities > 0) {
        status = solve_limits(&s, hold, &tree->env, lambda, arena);
    }
    if (status < 0) {
        return status;
    }
    // Of all multipliers that give the same motion, those of least norm.
    int found = share_least_norm(&s, hold, lambda, arena);
    if (found < 0) {
        return PERP_ERR_MEMORY;
    }
    for (int i = 0; i < s.n; i++) {
        for (int k = 0; k < s.nv; k++) {
            x[k] += lambda[i] * s.X[(size_t)k + (size_t)i * (size_t)s.nv];
        }
    }
    if (rank) {
        *rank = found;
    }
    return status;
}

// Rows without columns need no arrays.
static bool check_arguments(const perp_tree *tree, const perp_tree_rows *hold, const double *lambda)
{
    if (!hold || hold->equalities < 0 || hold->inequalities < 0) {
        return false;
    }
    size_t n = (size_t)hold->equalities + (size_t)hold->inequalities, nv = (size_t)tree->tree.nv;
    return n == 0 || (hold->J && hold->b && lambda && pp_all_finite(n * nv, hold->J) &&
                      pp_all_finite(n, hold->b));
}

// Accelerations (tau given) or velocities after an impact (tau NULL) under the rows of `hold`.
static perp_status solve_held(perp_tree *tree, const double *tau, const perp_tree_rows *hold,
                              double *out, double *lambda, int *rank)
{
    static const perp_tree_rows nothing = {0, 0, NULL, NULL};
    hold = hold ? hold : &nothing;
    if (!check_arguments(tree, hold, lambda)) {
        return PERP_ERR_ARGUMENT;
    }
    pp_arena *arena = tree->room[tree->now];
    pp_mark mark = pp_arena_mark(arena);
    double *x = PP_ARRAY(arena, double, tree->tree.nv);
    perp_status status = x ? PERP_OK : PERP_ERR_MEMORY;
    if (x && tau) {
        status = pp_tree_forward(&tree->pass, tau, x, arena);
    } else if (x) {
        memcpy(x, tree->pass.qd, (size_t)tree->tree.nv * sizeof *x);
    }
    double none[1];  // for multipliers that the caller does not want, if there are no rows
    if (status >= 0) {
        status = hold_rows(tree, hold, x, lambda ? lambda : none, rank, arena);
    }
    if (status >= 0) {
        memcpy(out, x, (size_t)tree->tree.nv * sizeof *out);
    }
    pp_arena_release(arena, mark);
    return status;
}

// tau excludes the bias, which the forward dynamics takes off.
perp_status perp_tree_accelerate(perp_tree *tree, const double *tau, const perp_tree_rows *hold,
                                 double *qdd, double *lambda, int *rank)
{
    if (!tree) {
        return PERP_ERR_ARGUMENT;
    }
    bool fine = tau && pp_all_finite((size_t)tree->tree.nv, tau);
    return fine ? solve_held(tree, tau, hold, qdd, lambda, rank) : PERP_ERR_ARGUMENT;
}

// An impact keeps positions: impulses take the place of forces, and velocities that of
// accelerations.
perp_status perp_tree_impact(perp_tree *tree, const perp_tree_rows *hold, double *qd_after,
                             double *impulse, int *rank)
{
    if (!tree) {
        return PERP_ERR_ARGUMENT;
    }
    return solve_held(tree, NULL, hold, qd_after, impulse, rank);
}

// ── What the model holds ─────────────────────────────────────────────────────────────────────────

// Rows of the model's constraints while they are gathered.
typedef struct holder {
    perp_tree *tree;
    pp_arena *arena;
    int count, equal;  // rows so far; equations among them
    double *J;         // by rows, nv numbers each
    perp_rate *rate;
    perp_joint *joint;
    bool *is_rate;
    double *epsilon;
    const char **name;
} holder;

// Appends one row in joint coordinates, named by joint and kind: "knee.lower".
static bool append_row(holder *h, const pp_row *row, perp_rate rate, int joint, const char *what)
{
    enum { ROOM = 128 };
    const pp_tree_pass *pass = &h->tree->pass;
    char *name = PP_ARRAY(h->arena, char, ROOM);
    if (!name) {
        return false;
    }
    pp_print(name, ROOM, "%s%s", pass->tree->model->joint[joint].name, what);
    rate.rate += pp_tree_row(pass, row, h->J + (size_t)h->count * (size_t)pass->tree->nv);
    h->rate[h->count] = rate;
    h->joint[h->count] = (perp_joint){joint};
    h->is_rate[h->count] = false;
    h->epsilon[h->count] = 0.0;
    h->name[h->count++] = name;
    return true;
}

// A joint that closes a loop: phi = 0, with phi' = J qd and drift = J_dot qd.
static bool put_equations(holder *h, const pp_poses *at, int joint)
{
    pp_row row[PP_JOINT_EQUATIONS];
    double drift[PP_JOINT_EQUATIONS];
    int count = pp_joint_equations(h->tree->tree.model, at, joint, row);
    pp_joint_drift(&h->tree->pass, joint, drift);
    for (int i = 0; i < count; i++) {
        char what[8];
        pp_print(what, sizeof what, " %d", i + 1);
        if (!append_row(h, &row[i], (perp_rate){row[i].value, 0.0, drift[i]}, joint, what)) {
            return false;
        }
    }
    return true;
}

// Targets x(t), and rates of motors with unlimited effort. A rate is no condition on the position
// (is_rate).
static bool put_drives(holder *h, const pp_poses *at, int joint)
{
    const pp_joint *j = &h->tree->tree.model->joint[joint];
    const double one[1] = {1.0};
    pp_row row;
    bool fine = true;
    pp_joint_coordinate(h->tree->tree.model, at, joint, &row);
    double drift = pp_joint_coordinate_drift(&h->tree->pass, joint);
    if (j->target) {
        double rate, rate2, value = pp_expr_rate2(j->target, &at->t, one, &rate, &rate2);
        fine = append_row(h, &row, (perp_rate){row.value - value, -rate, drift - rate2}, joint,
                          ".target");
        h->epsilon[h->count - 1] = fine ? j->epsilon : 0.0;
    }
    if (fine && j->rate && j->rate_effort == PP_INF) {
        double rate2, rate = pp_expr_rate_in(j->rate, &at->t, h->tree->input, one, &rate2);
        fine = append_row(h, &row, (perp_rate){0.0, -rate, drift - rate2}, joint, ".rate");
        h->is_rate[h->count - 1] = fine;
        h->epsilon[h->count - 1] = fine ? j->epsilon : 0.0;
    }
    return fine;
}

// A limit that is reached and not being left. sign 1: coordinate >= bound, -1: coordinate <= bound.
static bool put_limit(holder *h, const pp_poses *at, int joint, double bound, double sign)
{
    static const double reached = 1e-9;  // [m, rad] and per second
    pp_row row, limit;
    pp_joint_coordinate(h->tree->tree.model, at, joint, &row);
    double value = sign * (row.value - bound);
    if (!isfinite(bound) || value > reached || sign * row.v_pre > reached) {
        return true;
    }
    limit = row;
    limit.count = 0;
    limit.value = limit.rate = limit.v_pre = 0.0;
    pp_row_combine(&limit, sign, &row);
    double drift = sign * pp_joint_coordinate_drift(&h->tree->pass, joint);
    return append_row(h, &limit, (perp_rate){value, 0.0, drift}, joint,
                      sign > 0.0 ? ".lower" : ".upper");
}

// Both limits of each coordinate.
static bool put_limits(holder *h, const pp_poses *at)
{
    const perp_model *m = h->tree->tree.model;
    for (int i = 0; i < m->joints; i++) {
        const pp_joint *j = &m->joint[i];
        if (!pp_joint_has_coordinate(j) || !(j->lower <= j->upper)) {
            continue;
        }
        if (!put_limit(h, at, i, j->lower, 1.0) || !put_limit(h, at, i, j->upper, -1.0)) {
            return false;
        }
    }
    return true;
}

// Equations in the order of the model's joints, then limits, as perp_tree_rows takes them.
static bool gather_rows(holder *h)
{
    const pp_tree *t = &h->tree->tree;
    const perp_model *m = t->model;
    pp_poses at = {.t = h->tree->pass.t,
                   .body = h->tree->pass.body,
                   .turn = h->tree->turn,
                   .drive = &h->tree->drive};
    int loop = 0;
    for (int i = 0; i < m->joints; i++) {
        if (loop < t->loops && t->loop[loop] == i) {
            loop++;
            if (!put_equations(h, &at, i)) {
                return false;
            }
        }
        if (pp_joint_has_coordinate(&m->joint[i]) && !put_drives(h, &at, i)) {
            return false;
        }
    }
    h->equal = h->count;
    return put_limits(h, &at);
}

// Arrays live in the arena of the current state: they are valid until the next state is set.
perp_status perp_tree_constraints(perp_tree *tree, perp_constraints *out)
{
    if (!tree || !out) {
        return PERP_ERR_ARGUMENT;
    }
    const pp_tree *t = &tree->tree;
    pp_arena *arena = tree->room[tree->now];
    // A coordinate has at most a target, a rate and two limits.
    size_t most = (size_t)t->loops * PP_JOINT_EQUATIONS + 4 * (size_t)t->model->joints;
    size_t nv = (size_t)t->nv;
    holder h = {.tree = tree, .arena = arena};
    h.J = PP_ARRAY(arena, double, most *nv);
    h.rate = PP_ARRAY(arena, perp_rate, most);
    h.joint = PP_ARRAY(arena, perp_joint, most);
    h.is_rate = PP_ARRAY(arena, bool, most);
    h.epsilon = PP_ARRAY(arena, double, most);
    h.name = PP_ARRAY(arena, const char *, most);
    if (!h.J || !h.rate || !h.joint || !h.is_rate || !h.epsilon || !h.name || !gather_rows(&h)) {
        return PERP_ERR_MEMORY;
    }
    // Gathered by rows, because their number was not known; returned by columns.
    size_t rows = (size_t)h.count;
    double *J = PP_ARRAY(arena, double, rows *nv);
    if (!J) {
        return PERP_ERR_MEMORY;
    }
    for (size_t i = 0; i < rows; i++) {
        for (size_t k = 0; k < nv; k++) {
            J[i + k * rows] = h.J[k + i * nv];
        }
    }
    *out = (perp_constraints){h.count, h.count - h.equal, J,      h.rate,
                              h.joint, h.is_rate,         h.name, h.epsilon};
    return PERP_OK;
}

// Baumgarte stabilization, critically damped: phi'' + 2/eps phi' + phi/eps^2 = 0; first order for
// rates.
void perp_tree_stabilise(const perp_tree *tree, const perp_constraints *constraints, double eps,
                         double *b)
{
    if (!tree || !constraints || !b) {
        return;
    }
    int nv = tree->tree.nv, rows = constraints->rows;
    for (int i = 0; i < rows; i++) {
        const perp_rate *r = &constraints->rate[i];
        double own = eps < 0.0 ? constraints->epsilon[i] : eps, s = own > 0.0 ? 1.0 / own : 0.0;
        double rate = r->rate;
        for (int k = 0; k < nv; k++) {
            rate += constraints->J[(size_t)i + (size_t)k * (size_t)rows] * tree->pass.qd[k];
        }
        b[i] = -r->drift - (constraints->is_rate[i] ? s * rate : s * (2.0 * rate + s * r->value));
    }
}
