// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The contact problem on the exact cones, with the bodies eliminated or kept.           theory (P7)
//
// Every unilateral row is a contact of `dim` components, and so is every boxed row |p| <= L: the tangent of
// a contact with mu = 1 whose normal has a mass of its own, u_n = s (r_n - L), so that r_n = L.
// What a contact does not have (a joint limit has
// no tangents, a frictionless contact neither) is a component that nothing moves, with a coefficient 0.
#include "assemble/pose.h"

#include <string.h>

// Components of a contact: normal and tangent in the plane; in space normal, two tangents, spin and two of rolling, where
// any contact has them. All contacts have the same number, as perp_fcp wants it.
int pp_cone_dim(const perp_model *model, const pp_rows *rows)
{
    bool spin = false, roll = false;
    for (int g = 0; g < rows->ng; g++) {
        spin = spin || rows->group[g].kind == PP_SPIN;
        roll = roll || rows->group[g].kind == PP_ROLL;
    }
    if (!model->spatial) {
        return 2;
    }
    // a normal and two tangents, a moment about the normal, two about the tangents
    return 3 + (spin ? 1 : 0) + (roll ? 2 : 0);
}

// First component of a group: 0 is the normal, 1 and 2 tangents, then spin, then rolling.
int pp_cone_place(const pp_friction *group, int dim)
{
    switch (group->kind) {
    case PP_SPIN:
        return 3;
    case PP_ROLL:
        return dim == 6 ? 4 : 3;
    case PP_SLIDE:
        break;
    }
    return 1;
}

// Coefficients of all contacts; NULL where the dimension has none.
static bool set_coefficients(perp_fcp *fcp, const pp_rows *rows, pp_arena *arena)
{
    bool spins = fcp->dim == 4 || fcp->dim == 6, rolls = fcp->dim >= 5, polygons = false;
    double *mu = PP_ZEROS(arena, double, fcp->nc);
    double *spin = spins ? PP_ZEROS(arena, double, fcp->nc) : NULL;
    double *roll = rolls ? PP_ZEROS(arena, double, fcp->nc) : NULL;
    int *nd = PP_ZEROS(arena, int, fcp->nc);
    if (!mu || !nd || (spins && !spin) || (rolls && !roll)) {
        return false;
    }
    for (int g = 0; g < rows->ng; g++) {
        const pp_friction *group = &rows->group[g];
        double *to = mu;
        if (group->kind == PP_SPIN) {
            to = spin;
        } else if (group->kind == PP_ROLL) {
            to = roll;
        }
        to[group->n] = group->mu;
        // a contact with a polygon in any of its groups has polygons of as many facets in all
        nd[group->n] = group->facets > 0 ? group->facets : nd[group->n];
        polygons = polygons || group->facets > 0;
    }
    // Boxed rows come after the contacts: |p| <= L = mu r_n with mu = 1.
    for (int k = rows->nn; k < fcp->nc; k++) {
        mu[k] = 1.0;
    }
    fcp->mu = mu;
    fcp->mu_spin = spin;
    fcp->mu_roll = roll;
    fcp->nd = polygons ? nd : NULL;
    return true;
}

// For each component of each contact its row among m, n, t.
enum { DENSE_MOST = 96 };           // components up to which W is dense
enum { NOTHING = -1, LIMIT = -2 };  // nothing moves it; it is the limit of a boxed row

// A boxed row is a contact whose normal impulse is half the width of the box, and whose tangential one is p less the
// middle of the box.
static double half_width(const pp_row *row)
{
    return 0.5 * (row->upper - row->lower);
}

double pp_boxed_middle(const pp_row *row)
{
    return 0.5 * (row->upper + row->lower);
}

// The row that each component of each contact is: contacts are the nn unilateral rows, then the nm boxed ones. NULL: out of
// memory.
static int *components(const pp_rows *rows, int dim, pp_arena *arena)
{
    int contacts = rows->nn + rows->nm, first_t = rows->nm + rows->nn;
    int *base = PP_ARRAY(arena, int, (size_t)contacts *(size_t)dim);
    if (!base) {
        return NULL;
    }
    for (int k = 0; k < contacts * dim; k++) {
        base[k] = NOTHING;
    }
    // component 0 is the normal; friction groups fill the others below
    for (int i = 0; i < rows->nn; i++) {
        base[i * dim] = rows->nm + i;
    }
    for (int i = 0; i < rows->nm; i++) {  // the row itself is the first tangent
        base[(rows->nn + i) * dim] = LIMIT;
        base[(rows->nn + i) * dim + 1] = i;
    }
    for (int g = 0; g < rows->ng; g++) {
        const pp_friction *group = &rows->group[g];
        for (int k = 0; k < group->size; k++) {
            base[group->n * dim + pp_cone_place(group, dim) + k] = first_t + group->t + k;
        }
    }
    return base;
}

// ── Bodies eliminated: u = W r + q ───────────────────────────────────────────────────────────────

// Entries in the order of their places: the parts are each sorted already, so few move.
static void sort_by_place(const int *place, int *i, double *x, int count)
{
    for (int e = 1; e < count; e++) {
        int row = i[e], k = e;
        double value = x[e];
        while (k > 0 && place[i[k - 1]] > place[row]) {
            i[k] = i[k - 1];
            x[k] = x[k - 1];
            k--;
        }
        i[k] = row;
        x[k] = value;
    }
}

// Column j of D as a list; dense columns give all entries.
static int list_column(const perp_matrix *D, int j, int *i, double *x)
{
    int count = 0;
    for (int k = D->dense ? 0 : D->p[j]; k < (D->dense ? D->rows : D->p[j + 1]); k++) {
        i[count] = D->dense ? k : D->i[k];
        x[count++] = D->dense ? D->dense[(size_t)j * (size_t)D->rows + (size_t)k] : D->x[k];
    }
    return count;
}

// Entry (j, j), 1 where it vanishes: a boxed row between bodies that do not move.
static double matrix_diagonal(const perp_matrix *D, int j)
{
    double d = 0.0;
    if (D->dense) {
        d = D->dense[(size_t)j * ((size_t)D->rows + 1)];
    } else {
        for (int e = D->p[j]; e < D->p[j + 1]; e++) {
            d = D->i[e] == j ? D->x[e] : d;
        }
    }
    return d > 0.0 ? d : 1.0;
}

// W of few contacts, dense: the same entries as below.
static bool dense_matrix(pp_posed *out, const pp_rows *rows, const pp_delassus *delassus,
                         const int *base, double *q, pp_arena *arena)
{
    int n = out->fcp.dim * out->fcp.nc, count = delassus->count;
    double *W = PP_ZEROS(arena, double, (size_t)n *(size_t)n);
    if (!W) {
        return false;
    }
    for (int k = 0; k < n; k++) {
        double *column = W + (size_t)k * (size_t)n;
        if (base[k] < 0) {  // alone in its row and column
            // a component that nothing moves gets a unit diagonal, which keeps W regular and its impulse at 0
            bool limit = base[k] == LIMIT;
            column[k] = limit ? matrix_diagonal(&delassus->D, base[k + 1]) : 1.0;
            q[k] = limit ? -column[k] * half_width(&rows->m[base[k + 1]]) : 0.0;
            continue;
        }
        const double *D = delassus->D.dense + (size_t)base[k] * (size_t)count;
        for (int i = 0; i < n; i++) {
            column[i] = base[i] >= 0 ? D[base[i]] : 0.0;
        }
    }
    out->fcp.W = perp_matrix_dense(n, n, W);
    return true;
}

// u = W r + q on exact cones: D with its rows in the order of the components.
perp_status pp_pose_cone(pp_posed *out, const perp_model *model, const pp_rows *rows,
                         const pp_delassus *delassus, pp_arena *arena)
{
    int contacts = rows->nn + rows->nm, dim = pp_cone_dim(model, rows), n = dim * contacts;
    *out = (pp_posed){.form = PERP_FORM_CONE};
    pp_posed_sizes(out, rows);
    out->fcp = (perp_fcp){.nc = contacts, .dim = dim};
    double *q = PP_ZEROS(arena, double, n), *x = PP_ARRAY(arena, double, delassus->count);
    out->fcp.q = q;
    int *place = PP_ARRAY(arena, int, delassus->count), *i = PP_ARRAY(arena, int, delassus->count);
    int *base = components(rows, dim, arena);
    // every entry of D, and a diagonal for each component without a row
    size_t entries = pp_matrix_entries(&delassus->D);
    pp_writer w;
    if (!q || !place || !i || !x || !base || !set_coefficients(&out->fcp, rows, arena) ||
        !pp_writer_open(&w, n, entries + (size_t)n + 1, arena)) {
        return PERP_ERR_MEMORY;
    }
    // place: inverse of base, from a row of D to its component
    for (int k = 0; k < n; k++) {
        if (base[k] >= 0) {
            place[base[k]] = k;
            q[k] = delassus->q[base[k]];
        }
    }
    for (int j = 0; j < rows->nm; j++) {
        double middle = pp_boxed_middle(&rows->m[j]);
        int count = middle != 0.0 ? list_column(&delassus->D, j, i, x) : 0;
        for (int e = 0; e < count; e++) {
            q[place[i[e]]] += middle * x[e];
        }
    }
    if (delassus->D.dense && n <= DENSE_MOST) {
        return dense_matrix(out, rows, delassus, base, q, arena) ? PERP_OK : PERP_ERR_MEMORY;
    }
    for (int k = 0; k < n; k++) {
        pp_writer_column(&w);
        // u_n = s (r_n - L), with s like the mobility of the row that it limits, so that both have one scale.
        if (base[k] == LIMIT) {
            double s = matrix_diagonal(&delassus->D, base[k + 1]);
            pp_writer_put(&w, k, s);
            q[k] = -s * half_width(&rows->m[base[k + 1]]);
            continue;
        }
        if (base[k] < 0) {
            pp_writer_put(&w, k, 1.0);
            continue;
        }
        int count = list_column(&delassus->D, base[k], i, x);
        sort_by_place(place, i, x, count);
        for (int e = 0; e < count; e++) {
            pp_writer_put(&w, place[i[e]], x[e]);
        }
    }
    out->fcp.W = pp_writer_close(&w, n);
    return PERP_OK;
}

// ── Bodies kept: M v = f + H r, u = H^T v + w ────────────────────────────────────────────────────

// J M^-1 J^T of a boxed row, by which its limit is scaled; 1 where neither body is free.
static double limit_scale(const perp_model *model, const pp_kinematics *kin, const pp_row *row)
{
    double s = pp_row_mobility(model, kin->mass, row);
    return s > 0.0 ? s : 1.0;
}

static bool any_compliance(const pp_rows *rows)
{
    for (int i = 0; i < rows->nm; i++) {
        if (rows->m[i].gamma > 0.0) {
            return true;
        }
    }
    return false;
}

// Bodies, then a mass 1/s for each boxed row's limit, then, where any is compliant, a mass 1/gamma for each boxed row: a
// row that moves it along gives way by gamma p.
static perp_status mass_matrix(perp_matrix *out, const perp_model *model, const pp_kinematics *kin,
                               const pp_rows *rows, pp_arena *arena)
{
    pp_writer w;
    const pp_inertia *mass = kin->mass;
    bool soft = any_compliance(rows);
    int n = model->nv + (soft ? 2 : 1) * rows->nm;
    if (!pp_writer_open(&w, n, PP_BODY_NV * (size_t)n + 1, arena)) {
        return PERP_ERR_MEMORY;
    }
    for (int i = 0; i < model->bodies; i++) {
        const pp_body *body = &model->body[i];
        for (int c = 0; c < body->nv; c++) {
            double e[PP_BODY_NV] = {0.0}, M[PP_BODY_NV];
            e[c] = 1.0;
            pp_body_mul(body, &mass[i], e, M);
            pp_writer_column(&w);
            for (int k = 0; k < body->nv; k++) {  // zeros too: a body is a block
                w.i[w.used] = body->at + k;
                w.x[w.used++] = M[k];
            }
        }
    }
    for (int i = 0; i < rows->nm; i++) {
        pp_writer_column(&w);
        pp_writer_put(&w, model->nv + i, 1.0 / limit_scale(model, kin, &rows->m[i]));
    }
    int compliant = soft ? rows->nm : 0;
    for (int i = 0; i < compliant; i++) {
        double gamma = rows->m[i].gamma;
        pp_writer_column(&w);
        pp_writer_put(&w, model->nv + rows->nm + i, gamma > 0.0 ? 1.0 / gamma : 1.0);
    }
    *out = pp_writer_close(&w, n);
    return PERP_OK;
}

// For models without bilateral rows: the solver then works with the few velocities instead
// of the many contacts. M is block diagonal and H sparse, where W = H^T M^-1 H of a pile is nearly full in the rows of
// each body.
perp_status pp_pose_cone_global(pp_posed *out, const perp_model *model, const pp_kinematics *kin,
                                const pp_rows *rows, const double *nu, pp_arena *arena)
{
    int dim = pp_cone_dim(model, rows), contacts = rows->nn + rows->nm, n = dim * contacts;
    int nv = model->nv + (any_compliance(rows) ? 2 : 1) * rows->nm, used = 0;
    size_t most = (size_t)n * (PP_ROW_BODIES * PP_BODY_NV + 1);
    *out = (pp_posed){.form = PERP_FORM_CONE};
    pp_posed_sizes(out, rows);
    out->fcp = (perp_fcp){.nc = contacts, .dim = dim, .nv = nv};
    double *w = PP_ZEROS(arena, double, n), *f = PP_ZEROS(arena, double, nv);
    double *x = PP_ARRAY(arena, double, most);
    int *p = PP_ARRAY(arena, int, n + 1), *i = PP_ARRAY(arena, int, most);
    int *base = components(rows, dim, arena);
    if (!w || !f || !x || !p || !i || !base || !set_coefficients(&out->fcp, rows, arena) ||
        mass_matrix(&out->fcp.M, model, kin, rows, arena) < 0) {
        return PERP_ERR_MEMORY;
    }
    // f: momentum without contacts, M nu_l + p_ext; 0 for the velocities of limits
    pp_masses_mul(model, kin->mass, nu, f);
    pp_axpy(model->nv, 1.0, kin->loads.p_ext, f);
    for (int j = 0; j < rows->nm; j++) {
        pp_row_add(model, &rows->m[j], pp_boxed_middle(&rows->m[j]), NULL, f);
    }
    for (int k = 0; k < n; k++) {
        p[k] = used;
        // The limit of a boxed row acts on a velocity of its own, number model->nv + i, instead of on a body.
        if (base[k] == LIMIT) {
            const pp_row *row = &rows->m[base[k + 1]];
            w[k] = -limit_scale(model, kin, row) * half_width(row);
            i[used] = model->nv + base[k + 1];
            x[used++] = 1.0;
        } else if (base[k] >= 0) {
            const pp_row *row = pp_base_row(rows, base[k]);
            pp_wrench_column(model, row, &used, i, x);
            w[k] = row->rate + row->bias;
            if (row->gamma > 0.0) {  // of boxed rows only
                i[used] = model->nv + rows->nm + base[k];
                x[used++] = 1.0;
                w[k] += row->gamma * pp_boxed_middle(row);
            }
        }
    }
    p[n] = used;
    out->fcp.H = perp_matrix_csc(nv, n, p, i, x);
    out->fcp.f = f;
    out->fcp.w = w;
    return PERP_OK;
}
