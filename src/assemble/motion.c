// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The step written out in its velocities: M, or H in joint coordinates, and the wrench matrix W, what unit
// impulses along the rows do to them.
//
//   bodies              M nu = M nu_l + p_ext + W p                                       theory (P1)
//   joint coordinates   H qd = S^T (M (nu_l - nu_0) + p_ext + W p)                        theory (J7)
//
// A column of W is J^T of a row, or S^T J^T. The given part of a row's rate is its rate at velocities 0, which in joint
// coordinates are nu_0 of the bodies: what driven links impose.
#include "assemble/pose.h"

#include <string.h>

// J^T of a row as a sparse column with ascending rows.
void pp_wrench_column(const perp_model *m, const pp_row *row, int *used, int *i, double *x)
{
    int order[PP_ROW_BODIES];
    for (int k = 0; k < row->count; k++) {  // bodies in order, so that rows ascend
        int at = k;
        while (at > 0 && row->body[order[at - 1]] > row->body[k]) {
            order[at] = order[at - 1];
            at--;
        }
        order[at] = k;
    }
    for (int k = 0; k < row->count; k++) {
        const pp_body *body = &m->body[row->body[order[k]]];
        for (int v = 0; v < body->nv; v++) {
            if (row->J[order[k]][v] != 0.0) {
                i[*used] = body->at + v;
                x[(*used)++] = row->J[order[k]][v];
            }
        }
    }
}

// Direction j of a group as one row.
static pp_row direction_row(const pp_rows *rows, const pp_friction *group, int j)
{
    double d[2];
    pp_row row = {0};
    pp_friction_direction(group, j, d);
    for (int k = 0; k < group->size; k++) {
        pp_row_combine(&row, d[k], &rows->t[group->t + k]);
    }
    return row;
}

// Columns of W as they are written, in either coordinates.
typedef struct wrenches {
    const perp_model *model;
    const pp_tree_pass *tree;  // NULL: bodies
    int nv, used, columns;
    int *p, *i;
    double *x;
    double *Jq;          // nv, joint coordinates
    const double *nu_0;  // the same
} wrenches;

// Room for all columns. False: out of memory, or more entries than an int counts.
static bool open_wrenches(wrenches *w, int columns, pp_arena *arena)
{
    // a row touches four bodies at most; in joint coordinates all that carry them
    size_t each = w->tree ? (size_t)w->nv : (size_t)PP_ROW_BODIES * PP_BODY_NV;
    size_t most = (size_t)columns * each;
    w->p = PP_ARRAY(arena, int, columns + 1);
    w->i = PP_ARRAY(arena, int, most);
    w->x = PP_ARRAY(arena, double, most);
    w->Jq = PP_ARRAY(arena, double, w->nv);
    return w->p && w->i && w->x && w->Jq && most <= INT32_MAX;
}

// Writes J^T of a row as the next column; returns the row's rate at velocities 0.
static double put_wrench(wrenches *w, const pp_row *row)
{
    w->p[w->columns++] = w->used;
    if (!w->tree) {
        pp_wrench_column(w->model, row, &w->used, w->i, w->x);
        return row->rate;
    }
    // S^T J^T: J of the row times the velocities of its bodies for each unit rate
    pp_tree_row(w->tree, row, w->Jq);
    for (int k = 0; k < w->nv; k++) {
        if (w->Jq[k] != 0.0) {
            w->i[w->used] = k;
            w->x[w->used++] = w->Jq[k];
        }
    }
    return pp_row_rate(w->model, row, w->nu_0);
}

// W: bilateral, boxed and normal rows, then one column for each direction of friction, as the papers write it.
static bool put_wrenches(pp_step_equations *out, wrenches *w, const pp_rows *rows, pp_arena *arena)
{
    int base = rows->nm + rows->nn, count = out->nb + base + rows->nf;
    if (!open_wrenches(w, count, arena)) {
        return false;
    }
    for (int k = 0; k < out->nb; k++) {
        out->rate_b[k] = put_wrench(w, &rows->b[out->row[k]]);
    }
    for (int k = 0; k < base; k++) {
        out->rate[k] = put_wrench(w, pp_base_row(rows, k));
    }
    // Rates are given for the rows of friction groups; along a direction they are combined by the caller.
    for (int k = 0; k < rows->nt; k++) {
        const pp_row *row = &rows->t[k];
        out->rate[base + k] =
            (w->tree ? pp_row_rate(w->model, row, w->nu_0) : row->rate) + row->bias;
    }
    // combined in the rows, not in the columns: in joint coordinates a direction costs one product
    for (int g = 0; g < rows->ng; g++) {
        for (int j = 0; j < rows->group[g].directions; j++) {
            pp_row row = direction_row(rows, &rows->group[g], j);
            put_wrench(w, &row);
        }
    }
    w->p[count] = w->used;
    out->W = perp_matrix_csc(w->nv, count, w->p, w->i, w->x);
    return true;
}

// M, a block of each body.
static bool put_masses(pp_step_equations *out, const perp_model *model, const pp_kinematics *kin,
                       pp_arena *arena)
{
    pp_writer w;
    if (!pp_writer_open(&w, model->nv, PP_BODY_NV * (size_t)model->nv, arena)) {
        return false;
    }
    for (int i = 0; i < model->bodies; i++) {
        const pp_body *body = &model->body[i];
        for (int c = 0; c < body->nv; c++) {
            // column c of the body's block, by applying it to a unit vector: pp_body_mul knows the kinds of bodies
            double e[PP_BODY_NV] = {0.0}, M[PP_BODY_NV];
            e[c] = 1.0;
            pp_body_mul(body, &kin->mass[i], e, M);
            pp_writer_column(&w);
            for (int k = 0; k < body->nv; k++) {
                pp_writer_put(&w, body->at + k, M[k]);
            }
        }
    }
    out->M = pp_writer_close(&w, model->nv);
    return true;
}

// H instead of M, dense: a chain fills it anyway.
static bool put_tree_mass(pp_step_equations *out, const pp_tree_pass *pass, pp_arena *arena)
{
    int n = out->nv;
    double *H = PP_ARRAY(arena, double, (size_t)n *(size_t)n);
    pp_writer w;
    if (!H || !pp_writer_open(&w, n, (size_t)n * (size_t)n, arena)) {
        return false;
    }
    // composite rigid bodies, O(n d) for n velocities and depth d
    pp_tree_mass(pass, H);
    for (int j = 0; j < n; j++) {
        pp_writer_column(&w);
        for (int i = 0; i < n; i++) {
            pp_writer_put(&w, i, H[(size_t)j * (size_t)n + (size_t)i]);
        }
    }
    out->M = pp_writer_close(&w, n);
    return true;
}

// M nu_l + p_ext; in joint coordinates S^T of it, less M nu_0.
static void put_push(pp_step_equations *out, const perp_model *model, const pp_kinematics *kin,
                     const pp_coordinates *in, const double *nu)
{
    double *sum = in->tree ? in->work : out->rhs;
    // sum: velocities, then momenta of the bodies, in place
    for (int i = 0; i < model->nv; i++) {
        sum[i] = nu[i] - (in->tree ? in->nu_0[i] : 0.0);
    }
    pp_masses_mul(model, kin->mass, sum, sum);
    pp_axpy(model->nv, 1.0, kin->loads.p_ext, sum);
    if (in->tree) {
        pp_tree_gather(in->tree, sum, out->rhs);
    }
}

// The parts of the MCP in the velocities: M, W, the momentum M nu + p_ext and the given rates, in bodies or joints.
perp_status pp_step_equations_run(pp_step_equations *out, const perp_model *model,
                                  const pp_kinematics *kin, const pp_rows *rows,
                                  const pp_coordinates *in, const double *nu, pp_arena *arena)
{
    int *row = PP_ARRAY(arena, int, rows->nb), base = rows->nm + rows->nn + rows->nt;
    *out = (pp_step_equations){.nv = in->tree ? in->tree->tree->nv : model->nv, .row = row};
    out->rhs = PP_ARRAY(arena, double, out->nv);
    out->rate_b = PP_ARRAY(arena, double, rows->nb);
    out->rate = PP_ARRAY(arena, double, base);
    if (!row || !out->rhs || !out->rate_b || !out->rate) {
        return PERP_ERR_MEMORY;
    }
    for (int i = 0; i < rows->nb; i++) {  // rows that the tree implies are no unknowns
        if (!in->tree || !in->implied[i]) {
            row[out->nb++] = i;
        }
    }
    wrenches w = {.model = model, .tree = in->tree, .nv = out->nv, .nu_0 = in->nu_0};
    bool whole =
        in->tree ? put_tree_mass(out, in->tree, arena) : put_masses(out, model, kin, arena);
    if (!whole || !put_wrenches(out, &w, rows, arena)) {
        return PERP_ERR_MEMORY;
    }
    put_push(out, model, kin, in, nu);
    return PERP_OK;
}
