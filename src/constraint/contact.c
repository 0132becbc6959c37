// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Contacts as rows: W_n along the normal, W_f along the tangent.                        theory (P6)
//
//   rho_n = n . (v_b - v_a) + psi_n / h          both bodies followed at the contact point
//   rho_t = t . (v_b - v_a) + surface speed
#include "constraint/row.h"

#include <math.h>
#include <string.h>

static void normal_row(const perp_model *m, const pp_kinematics *k, const pp_contact *c,
                       pp_row *row)
{
    pp_row_start(row);
    row->value = c->gap;
    row->lower = 0.0;
    row->restitution = c->restitution;
    pp_row_point(m, k, m->shape[c->b].body, c->point, c->n, 1.0, row);
    pp_row_point(m, k, m->shape[c->a].body, c->point, c->n, -1.0, row);
}

static void tangent_row(const perp_model *m, const pp_kinematics *k, const pp_contact *c,
                        pp_row *row)
{
    pp_vec2 t = {c->n.y, -c->n.x};
    pp_row_start(row);
    pp_row_point(m, k, m->shape[c->b].body, c->point, t, 1.0, row);
    pp_row_point(m, k, m->shape[c->a].body, c->point, t, -1.0, row);
    row->rate += c->surface;
    row->before += c->surface;
}

static void contact_rows(const perp_model *m, const pp_kinematics *k, const pp_gaps *gaps,
                         pp_scheme scheme, pp_rows *out)
{
    double g = hypot(m->gravity.x, m->gravity.y);
    for (int i = 0; i < gaps->count; i++) {
        const pp_contact *c = &gaps->contact[i];
        pp_row *row = &out->n[out->nn];
        normal_row(m, k, c, row);
        row->rest = 2.0 * k->h * g;
        if (!pp_row_unilateral(row, k->h, scheme)) {
            continue;
        }
        out->contact[out->nc++] = i;
        out->friction[out->nn] = -1;
        if (c->mu > 0.0 && scheme.friction != PERP_FRICTION_NONE) {
            tangent_row(m, k, c, &out->t[out->nt]);
            out->friction[out->nn] = out->nt;
            out->normal[out->nt] = out->nn;
            out->mu[out->nt++] = c->mu;
        }
        out->nn++;
    }
}

perp_status pp_rows_run(pp_rows *out, const perp_model *model, const pp_kinematics *kin,
                        const pp_gaps *gaps, pp_scheme scheme, pp_arena *arena)
{
    size_t contacts = (size_t)gaps->count, joints = (size_t)model->joints;
    size_t most_n = contacts + PP_JOINT_ROWS_N * joints;
    *out = (pp_rows){0};
    out->b =
        PP_ARRAY(arena, pp_row, PP_JOINT_ROWS_B * joints + PP_FORCE_ROWS * (size_t)model->forces);
    out->m = PP_ARRAY(arena, pp_row, PP_JOINT_ROWS_M * joints);
    out->n = PP_ARRAY(arena, pp_row, most_n);
    out->t = PP_ARRAY(arena, pp_row, contacts);
    out->contact = PP_ARRAY(arena, int, contacts);
    out->normal = PP_ARRAY(arena, int, contacts);
    out->friction = PP_ARRAY(arena, int, most_n);
    out->mu = PP_ARRAY(arena, double, contacts);
    if (!out->b || !out->m || !out->n || !out->t || !out->contact || !out->normal ||
        !out->friction || !out->mu) {
        return PERP_ERR_MEMORY;
    }
    contact_rows(model, kin, gaps, scheme, out);
    pp_row_list b = {out->b, 0}, boxed = {out->m, 0}, n = {out->n, out->nn};
    pp_joint_rows(model, kin, scheme, &b, &boxed, &n);
    pp_spring_rows(model, kin, &b);
    for (int i = out->nn; i < n.count; i++) {
        out->friction[i] = -1;
    }
    out->nb = b.count;
    out->nm = boxed.count;
    out->nn = n.count;
    return PERP_OK;
}
