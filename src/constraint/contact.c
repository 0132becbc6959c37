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

static bool closes(const pp_row *row, double gap, double h, double share)
{
    return gap + share * h * row->before <= 0.0;
}

// What the scheme adds to the normal row; false: the contact is not in this step's problem.
static bool set_bias(pp_row *row, double gap, double h, double g, pp_scheme scheme)
{
    // Slower than what gravity gives in two steps is rest: it does not bounce.
    bool bounces = row->restitution > 0.0 && row->before < -2.0 * h * g;
    double rebound =
        bounces && scheme.impact == PERP_IMPACT_NEWTON ? row->restitution * row->before : 0.0;
    switch (scheme.stepper) {
    case PERP_ANITESCU_POTRA:
        row->bias = rebound;
        return gap <= 0.0 || (bounces && closes(row, gap, h, 1.0));
    case PERP_MOREAU_JEAN:
        row->bias = rebound;
        return closes(row, gap, h, 0.5);
    case PERP_STEWART_TRINKLE:
    case PERP_QUASISTATIC:
        break;
    }
    row->bias = rebound < 0.0 && closes(row, gap, h, 1.0) ? rebound : gap / h;
    return true;
}

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
        if (!set_bias(row, c->gap, k->h, g, scheme)) {
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
