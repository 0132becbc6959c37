// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The contact problem on the exact cones, with the bodies eliminated or kept.           theory (P7)
//
// Every unilateral row is a contact of `dim` components. What a contact does not have (a joint limit has
// no tangents, a frictionless contact neither) is a component that nothing moves, with a coefficient 0.
#include "assemble/pose.h"

#include <string.h>

int pp_cone_dim(const perp_model *model, const pp_rows *rows)
{
    bool spin = false, roll = false;
    for (int g = 0; g < rows->ng; g++) {
        spin = spin || rows->group[g].kind == PP_SPIN;
        roll = roll || rows->group[g].kind == PP_ROLL;
    }
    return model->spatial ? 3 + (spin ? 1 : 0) + (roll ? 2 : 0) : 2;
}

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
    double *mu = PP_ZEROS(arena, double, rows->nn);
    double *spin = spins ? PP_ZEROS(arena, double, rows->nn) : NULL;
    double *roll = rolls ? PP_ZEROS(arena, double, rows->nn) : NULL;
    int *nd = PP_ZEROS(arena, int, rows->nn);
    if (!mu || !nd || (spins && !spin) || (rolls && !roll)) {
        return false;
    }
    for (int g = 0; g < rows->ng; g++) {
        const pp_friction *group = &rows->group[g];
        double *to = group->kind == PP_SPIN ? spin : group->kind == PP_ROLL ? roll : mu;
        to[group->n] = group->mu;
        nd[group->n] = group->facets > 0 ? group->facets : nd[group->n];
        polygons = polygons || group->facets > 0;
    }
    fcp->mu = mu;
    fcp->mu_spin = spin;
    fcp->mu_roll = roll;
    fcp->nd = polygons ? nd : NULL;
    return true;
}

// base: for each component of each contact its row among m, n, t without m; -1: none.
static int *components(const pp_rows *rows, int dim, pp_arena *arena)
{
    int *base = PP_ARRAY(arena, int, (size_t)rows->nn *(size_t)dim);
    for (int k = 0; base && k < rows->nn * dim; k++) {
        base[k] = k % dim == 0 ? k / dim : -1;
    }
    for (int g = 0; base && g < rows->ng; g++) {
        const pp_friction *group = &rows->group[g];
        for (int k = 0; k < group->size; k++) {
            base[group->n * dim + pp_cone_place(group, dim) + k] = rows->nn + group->t + k;
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
static int column_of(const perp_matrix *D, int j, int *i, double *x)
{
    int count = 0;
    for (int k = D->dense ? 0 : D->p[j]; k < (D->dense ? D->rows : D->p[j + 1]); k++) {
        i[count] = D->dense ? k : D->i[k];
        x[count++] = D->dense ? D->dense[(size_t)j * (size_t)D->rows + (size_t)k] : D->x[k];
    }
    return count;
}

perp_status pp_pose_cone(pp_posed *out, const perp_model *model, const pp_rows *rows,
                         const pp_delassus *delassus, pp_arena *arena)
{
    int nn = rows->nn, dim = pp_cone_dim(model, rows), n = dim * nn;
    *out = (pp_posed){.form = PERP_FORM_CONE};
    pp_posed_sizes(out, rows);
    out->fcp = (perp_fcp){.nc = nn, .dim = dim};
    double *q = PP_ZEROS(arena, double, n), *x = PP_ARRAY(arena, double, delassus->count);
    int *place = PP_ARRAY(arena, int, delassus->count), *i = PP_ARRAY(arena, int, delassus->count);
    int *base = components(rows, dim, arena);
    size_t entries = pp_matrix_entries(&delassus->D);
    pp_writer w;
    if (!q || !place || !i || !x || !base || !set_coefficients(&out->fcp, rows, arena) ||
        !pp_writer_open(&w, n, entries + (size_t)n + 1, arena)) {
        return PERP_ERR_MEMORY;
    }
    for (int k = 0; k < n; k++) {
        if (base[k] >= 0) {
            place[base[k]] = k;
            q[k] = delassus->q[base[k]];
        }
    }
    for (int k = 0; k < n; k++) {
        pp_writer_column(&w);
        if (base[k] < 0) {
            pp_writer_put(&w, k, 1.0);
            continue;
        }
        int count = column_of(&delassus->D, base[k], i, x);
        sort_by_place(place, i, x, count);
        for (int e = 0; e < count; e++) {
            pp_writer_put(&w, place[i[e]], x[e]);
        }
    }
    out->fcp.W = pp_writer_close(&w, n);
    out->fcp.q = q;
    return PERP_OK;
}

// ── Bodies kept: M v = f + H r, u = H^T v + w ────────────────────────────────────────────────────

static perp_status mass_matrix(perp_matrix *out, const perp_model *model, const pp_weight *mass,
                               pp_arena *arena)
{
    pp_writer w;
    if (!pp_writer_open(&w, model->nv, 3 * (size_t)model->nv + 1, arena)) {
        return PERP_ERR_MEMORY;
    }
    for (int i = 0; i < model->bodies; i++) {
        const pp_body *body = &model->body[i];
        for (int c = 0; c < body->nv; c++) {
            double e[PP_BODY_NV] = {0.0}, M[PP_BODY_NV];
            e[c] = 1.0;
            pp_body_mul(body, &mass[i], e, M);
            pp_writer_column(&w);
            for (int k = 0; k < body->nv; k++) {
                // The block of the inertia is kept whole: the pattern stays as the body turns.
                if (k == c || (body->nv == 6 && k >= 3 && c >= 3)) {
                    w.i[w.used] = body->at + k;
                    w.x[w.used++] = M[k];
                }
            }
        }
    }
    *out = pp_writer_close(&w, model->nv);
    return PERP_OK;
}

// For models whose rows n and t are all there is: the solver then works with the few velocities instead
// of the many contacts.
perp_status pp_pose_cone_global(pp_posed *out, const perp_model *model, const pp_kinematics *kin,
                                const pp_rows *rows, const double *nu, pp_arena *arena)
{
    int dim = pp_cone_dim(model, rows), n = dim * rows->nn, nv = model->nv, used = 0;
    size_t most = (size_t)n * 2 * PP_BODY_NV;
    *out = (pp_posed){.form = PERP_FORM_CONE};
    pp_posed_sizes(out, rows);
    out->fcp = (perp_fcp){.nc = rows->nn, .dim = dim, .nv = nv};
    double *w = PP_ZEROS(arena, double, n), *f = PP_ARRAY(arena, double, nv);
    double *x = PP_ARRAY(arena, double, most);
    int *p = PP_ARRAY(arena, int, n + 1), *i = PP_ARRAY(arena, int, most);
    int *base = components(rows, dim, arena);
    if (!w || !f || !x || !p || !i || !base || !set_coefficients(&out->fcp, rows, arena) ||
        mass_matrix(&out->fcp.M, model, kin->mass, arena) < 0) {
        return PERP_ERR_MEMORY;
    }
    pp_masses_mul(model, kin->mass, nu, f);
    pp_axpy(nv, 1.0, kin->p_ext, f);
    for (int k = 0; k < n; k++) {
        p[k] = used;
        if (base[k] >= 0) {
            const pp_row *row = pp_base_row(rows, rows->nm + base[k]);
            pp_wrench_column(model, row, &used, i, x);
            w[k] = row->rate + row->bias;
        }
    }
    p[n] = used;
    out->fcp.H = perp_matrix_csc(nv, n, p, i, x);
    out->fcp.f = f;
    out->fcp.w = w;
    return PERP_OK;
}
