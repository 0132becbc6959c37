// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The step in joint coordinates: with nu = S qd + nu_0 the joints of the tree hold by themselves, and what
// is left of M nu = M nu_l + p_ext + W p is its projection,
//
//   H qd = S^T (M (nu_l - nu_0) + p_ext + W p),   H = S^T M S                           theory (J7)
//
// It is the same step: nu, and all impulses but those of the tree's joints, come out as they do with the
// bodies by themselves. The impulses of the tree's joints follow body by body, from the leaves on.
#include "assemble/closed.h"

#include <math.h>
#include <string.h>

// Velocities from which H is not formed: it has their square of entries, while the two passes of the articulated-body
// algorithm are linear in the number of links.                                           theory (J5)
enum { ARTICULATED_FROM = 48 };

// Equations of the tree's own joints hold for any q; drives and springs along their coordinates remain rows.
static bool mark_implied(pp_coordinates *out, const pp_rows *rows, pp_arena *arena)
{
    const pp_tree *tree = out->tree->tree;
    bool *of_tree = PP_ZEROS(arena, bool, tree->model->joints);
    bool *implied = PP_ZEROS(arena, bool, rows->nb);
    if (!of_tree || !implied) {
        return false;
    }
    for (int i = 0; i < tree->links; i++) {
        if (tree->link[i].joint >= 0) {
            of_tree[tree->link[i].joint] = true;
        }
    }
    for (int i = 0; i < rows->nb; i++) {
        const pp_row *row = &rows->b[i];
        // a drive of a tree joint acts along its coordinate, which is free: it stays a row, and so does its spring
        implied[i] = row->joint >= 0 && of_tree[row->joint] && !row->drives && !row->spring;
    }
    out->implied = implied;
    return true;
}

// A row this stiff against the inertia it moves, or stiffer, stays a row: its impulse would come out of a difference that
// rounding takes the digits of.
static const double FOLD_LEAST = 1e-6;

// Rows p = -(x' + beta) / gamma along the coordinate of a link of one velocity are 1 / gamma on the diagonal of H.
//                                                                                       theory (J11)
static bool fold_rows(pp_coordinates *out, const pp_rows *rows, const double *H, pp_arena *arena)
{
    const pp_tree *tree = out->tree->tree;
    size_t nb = (size_t)rows->nb;
    int *at_v = PP_ARRAY(arena, int, tree->model->joints);
    int *fold = PP_ARRAY(arena, int, nb), *fold_at = PP_ARRAY(arena, int, nb);
    bool *folded = PP_ZEROS(arena, bool, nb);
    double *soft = PP_ZEROS(arena, double, tree->nv);
    if (!at_v || !fold || !fold_at || !folded || !soft) {
        return false;
    }
    for (int i = 0; i < tree->model->joints; i++) {
        at_v[i] = -1;
    }
    for (int i = 0; i < tree->links; i++) {
        const pp_link *l = &tree->link[i];
        bool single =
            l->kind == PP_LINK_REVOLUTE || l->kind == PP_LINK_PRISMATIC || l->kind == PP_LINK_SCREW;
        if (single) {
            at_v[l->joint] = l->at_v;
        }
    }
    for (int i = 0; i < rows->nb; i++) {
        const pp_row *row = &rows->b[i];
        // without H, in large trees, all such rows are folded, however stiff
        int k = row->joint >= 0 && row->gamma > 0.0 ? at_v[row->joint] : -1;
        double inertia = k >= 0 && H ? H[((size_t)tree->nv + 1) * (size_t)k] : 0.0;
        if (k >= 0 && !(row->gamma * inertia < FOLD_LEAST && H)) {
            folded[i] = true;
            fold[out->folds] = i;
            fold_at[out->folds++] = k;
            soft[k] += 1.0 / row->gamma;
        }
    }
    out->fold = fold;
    out->fold_at = fold_at;
    out->folded = folded;
    out->soft = soft;
    return true;
}

// Few velocities by H itself; many without it, whose entries grow with their square.
static perp_status factor_mass(pp_coordinates *out, const pp_rows *rows, pp_arena *arena)
{
    const pp_tree_pass *pass = out->tree;
    int n = pass->tree->nv;
    if (n >= ARTICULATED_FROM) {
        pp_articulation *articulation;
        if (!fold_rows(out, rows, NULL, arena)) {
            return PERP_ERR_MEMORY;
        }
        perp_status status = pp_tree_articulate(pass, out->soft, arena, &articulation);
        out->articulation = articulation;
        return status;
    }
    double *H = PP_ARRAY(arena, double, (size_t)n *(size_t)n);
    double *whole = PP_ARRAY(arena, double, (size_t)n *(size_t)n);
    if (!H || !whole) {
        return PERP_ERR_MEMORY;
    }
    pp_tree_mass(pass, H);
    // Newton's method on the modes needs H as it is, too
    if (!fold_rows(out, rows, H, arena)) {
        return PERP_ERR_MEMORY;
    }
    for (int k = 0; k < n; k++) {
        H[((size_t)n + 1) * (size_t)k] += out->soft[k];
    }
    memcpy(whole, H, (size_t)n * (size_t)n * sizeof *H);
    out->H = H;
    out->unfactored = whole;
    return pp_tree_factor(pass->tree, H) ? PERP_OK : PERP_ERR_SINGULAR;
}

// nu = S qd + nu_0: the velocities nu_0 that driven bodies impose at qd = 0, and the factors of H.
perp_status pp_coordinates_create(pp_coordinates *out, const pp_tree_pass *pass,
                                  const pp_rows *rows, pp_arena *arena)
{
    const pp_tree *tree = pass->tree;
    size_t n = (size_t)tree->nv, nv = (size_t)tree->model->nv;
    double *still = PP_ZEROS(arena, double, n), *nu_0 = PP_ZEROS(arena, double, nv);
    *out = (pp_coordinates){.tree = pass, .work = PP_ARRAY(arena, double, 2 * nv)};
    if (!still || !nu_0 || !out->work || !mark_implied(out, rows, arena)) {
        return PERP_ERR_MEMORY;
    }
    pp_tree_velocities(pass, still, false, nu_0);
    out->nu_0 = nu_0;
    return factor_mass(out, rows, arena);
}

// By the factors of H, or by two passes over the tree.
void pp_coordinates_solve(const pp_coordinates *c, double *x)
{
    if (c->H) {
        pp_tree_solve(c->tree->tree, c->H, x);
    } else {
        pp_tree_articulated(c->articulation, x);
    }
}

// Read off link by link.
void pp_coordinates_rates(const pp_coordinates *c, const double *nu, double *qd)
{
    const perp_model *m = c->tree->tree->model;
    for (int i = 0; i < m->nv; i++) {
        c->work[i] = nu[i] - c->nu_0[i];
    }
    pp_tree_rates(c->tree, c->work, qd);
}

// qd = H^-1 S^T M (nu - nu_0).
void pp_coordinates_project(const pp_coordinates *c, const double *nu, double *qd)
{
    const perp_model *m = c->tree->tree->model;
    for (int i = 0; i < m->nv; i++) {
        c->work[i] = nu[i] - c->nu_0[i];
    }
    pp_masses_mul(m, c->tree->mass, c->work, c->work);
    pp_tree_gather(c->tree, c->work, qd);
    pp_coordinates_solve(c, qd);
}

// ── Impulses of the tree's joints ────────────────────────────────────────────────────────────────

// Numbers of a body's velocities as a wrench about its centre of mass, and back.
static perp_wrench wrench_of(const pp_body *body, const double *f)
{
    double all[6] = {0.0};
    for (int k = 0; k < body->nv; k++) {
        all[body->axis[k]] = f[k];
    }
    return (perp_wrench){{all[0], all[1], all[2]}, {all[3], all[4], all[5]}};
}

static void add_body_wrench(const pp_body *body, perp_wrench w, double *f)
{
    double all[6] = {w.f_W.x, w.f_W.y, w.f_W.z, w.tau_W.x, w.tau_W.y, w.tau_W.z};
    for (int k = 0; k < body->nv; k++) {
        f[k] += all[body->axis[k]];
    }
}

// A joint holds six relative velocities at most.
enum { ROWS_MOST = 6 };

typedef struct joint_rows {
    int count, at[ROWS_MOST];
    const double *J[ROWS_MOST];  // on the link's own body
} joint_rows;

// The implied rows of a link's joint and their J on the link's body, which carry the reaction.
static joint_rows rows_of(const pp_closed *c, const pp_link *link)
{
    joint_rows out;
    out.count = 0;
    const pp_rows *rows = c->rows;
    for (int i = pp_rows_of_joint(rows->b, 0, rows->nb, link->joint);
         i < rows->nb && rows->b[i].joint == link->joint && out.count < ROWS_MOST; i++) {
        const pp_row *row = &rows->b[i];
        if (!c->in.implied[i]) {
            continue;
        }
        for (int k = 0; k < row->count; k++) {
            if (row->body[k] == link->body) {
                out.J[out.count] = row->J[k];
                out.at[out.count++] = i;
            }
        }
    }
    return out;
}

// Three rows that hold a point along the axes of the world, and rows of moments alone: forces are read off, and moments
// that they leave are those of the other rows. False: the joint has other rows.
static bool read_joint_reaction(const joint_rows *j, const double *f, double *pb)
{
    enum { AXES = 3 };
    int n = j->count - AXES;  // rows of moments
    if (n < 0 || n > 2) {
        return false;
    }
    for (int a = 0; a < j->count; a++) {
        for (int k = 0; k < AXES; k++) {
            bool own = a == k;
            if (own ? fabs(j->J[a][k]) != 1.0 : j->J[a][k] != 0.0) {
                return false;
            }
        }
    }
    perp_vec3 left = {f[3], f[4], f[5]}, row[2] = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    for (int a = 0; a < AXES; a++) {
        const double *J = j->J[a];
        pb[j->at[a]] = f[a] / J[a];
        left = pp_along(left, -pb[j->at[a]], pp_vec(J[3], J[4], J[5]));
    }
    for (int a = 0; a < n; a++) {
        const double *J = j->J[AXES + a];
        row[a] = pp_vec(J[3], J[4], J[5]);
    }
    double xx = pp_dot3(row[0], row[0]), xy = pp_dot3(row[0], row[1]), yy = pp_dot3(row[1], row[1]);
    double x = pp_dot3(row[0], left), y = pp_dot3(row[1], left), det = xx * yy - xy * xy;
    if (n == 1) {
        pb[j->at[AXES]] = x / xx;
    } else if (n == 2) {
        pb[j->at[AXES]] = (x * yy - y * xy) / det;
        pb[j->at[AXES + 1]] = (y * xx - x * xy) / det;
    }
    return n == 0 || (n == 1 ? xx > 0.0 : det > 1e-6 * xx * yy);
}

// The impulses p with J^T p = f: f lies in the range of J^T, the rows are independent. Scaled normal
// equations, twice: the second round takes off what rounding left.
static void solve_joint_reaction(const joint_rows *j, int nv, const double *f, double *pb)
{
    double A[ROWS_MOST * ROWS_MOST], left[PP_BODY_NV], x[ROWS_MOST];
    int n = j->count;
    if (nv == PP_BODY_NV && read_joint_reaction(j, f, pb)) {
        return;
    }
    for (int a = 0; a < n; a++) {
        for (int b = 0; b < n; b++) {
            A[b * n + a] = pp_dot(nv, j->J[a], j->J[b]);
        }
        pb[j->at[a]] = 0.0;
    }
    if (n == 0 || pp_chol_factor(n, A, n, 0.0) != 0) {
        return;
    }
    // Least squares by normal equations; J J^T squares the condition, so the residual is corrected twice.
    memcpy(left, f, (size_t)nv * sizeof *left);
    for (int round = 0; round < 3; round++) {
        for (int a = 0; a < n; a++) {
            x[a] = pp_dot(nv, j->J[a], left);
        }
        pp_chol_solve(n, A, n, x);
        for (int a = 0; a < n; a++) {
            pb[j->at[a]] += x[a];
            pp_axpy(nv, -x[a], j->J[a], left);
        }
    }
}

// Impulses of the tree's joints, which elimination left out: from the leaves to the roots, what a link needs beyond the
// given impulses comes through its joint, and the opposite acts on its carrier, which needs as much from its own.
void pp_closed_reactions(const pp_closed *c, const double *r, const double *nu, double *pb)
{
    if (!c->in.tree) {
        return;
    }
    const perp_model *m = c->model;
    const pp_tree *tree = c->in.tree->tree;
    double *f =
        c->in.work;  // M nu - r - W_b p_b of the rows closed: what the tree's joints must give
    pp_masses_mul(m, c->mass, nu, f);
    pp_axpy(m->nv, -1.0, r, f);
    for (int i = 0; i < c->nb; i++) {
        pp_row_add(m, &c->rows->b[c->row[i]], -pb[c->row[i]], NULL, f);
    }
    for (int i = 0; i < c->in.folds; i++) {
        pp_row_add(m, &c->rows->b[c->in.fold[i]], -pb[c->in.fold[i]], NULL, f);
    }
    // links are numbered from the roots on: backwards, all that a link carries is done before it
    for (int i = tree->links - 1; i >= 0; i--) {
        const pp_link *link = &tree->link[i];
        const pp_body *body = &m->body[link->body], *carrier = &m->body[link->carrier];
        if (link->joint < 0) {
            continue;
        }
        joint_rows rows = rows_of(c, link);
        solve_joint_reaction(&rows, body->nv, f + body->at, pb);
        if (carrier->nv > 0) {
            perp_wrench w = wrench_of(body, f + body->at);
            const pp_frame *frame = c->in.tree->body;
            // the wrench is about the centre of mass of the link: moved to that of the carrier it gains arm x force
            perp_vec3 arm = pp_sub(frame[link->body].p, frame[link->carrier].p);
            w.tau_W = pp_add(w.tau_W, pp_cross(arm, w.f_W));
            add_body_wrench(carrier, w, f + carrier->at);
        }
    }
}
