// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Springs and drag evaluated at the end of the step, as compliant rows.                 theory (P5)
//
//   p = -h (K (L + h Ldot - L0) + C Ldot)   <=>   Ldot + K (L - L0)/(h K + C) + p / (h (h K + C)) = 0
#include "constraint/row.h"

static const perp_vec3 AXIS[3] = {{1.0, 0.0, 0.0}, {0.0, 1.0, 0.0}, {0.0, 0.0, 1.0}};

// Elongation of a spring, or its twist, as a row. False where both anchors coincide: the direction is undefined there,
// and the spring is left out.
static bool stretch_row(const pp_row_builder *k, const pp_force *f, pp_row *row)
{
    pp_row_start(row);
    if (f->kind == PERP_FORCE_TORSION_SPRING) {
        row->value = k->poses->body[f->b].angle - k->poses->body[f->a].angle - f->rest;
        pp_row_spin(k, f->b, AXIS[2], 1.0, row);
        pp_row_spin(k, f->a, AXIS[2], -1.0, row);
        return true;
    }
    perp_vec3 pa = pp_point(&k->poses->body[f->a], f->r_A),
              pb = pp_point(&k->poses->body[f->b], f->r_B);
    double length = pp_length(pp_sub(pb, pa));
    if (length == 0.0) {
        return false;
    }
    perp_vec3 u = pp_scale(1.0 / length, pp_sub(pb, pa));
    row->value = length - f->rest;
    pp_row_point(k, f->b, pb, u, 1.0, row);
    pp_row_point(k, f->a, pa, u, -1.0, row);
    return true;
}

// A row that pushes nothing is left out.
static void append_spring_row(pp_row_list *b, pp_row *row, double K, double C, double h,
                              double theta, int force)
{
    if (pp_row_soften(row, K, C, h, theta)) {
        row->force = force;
        b->row[b->count++] = *row;
    }
}

// -C_w (omega_b - omega_a): three rows, in the plane one.
static void spin_drag_rows(const pp_row_builder *k, double h, double theta, int index,
                           pp_row_list *b)
{
    const pp_force *f = &k->model->force[index];
    for (int i = k->model->spatial ? 0 : 2; i < 3; i++) {
        pp_row row;
        pp_row_start(&row);
        pp_row_spin(k, f->b, AXIS[i], 1.0, &row);
        pp_row_spin(k, f->a, AXIS[i], -1.0, &row);
        append_spring_row(b, &row, 0.0, f->damping_w, h, theta, index);
    }
}

// -C v of the centre and -C_w omega: rows of their own, one for each velocity of the body.
static void drag_rows(const pp_row_builder *k, double h, double theta, int index, pp_row_list *b)
{
    const pp_force *f = &k->model->force[index];
    const pp_body *body = &k->model->body[f->b];
    for (int i = 0; i < body->nv; i++) {
        int axis = body->axis[i];
        pp_row row;
        pp_row_start(&row);
        if (axis < 3) {
            pp_row_point(k, f->b, k->poses->body[f->b].p, AXIS[axis], 1.0, &row);
        } else {
            pp_row_spin(k, f->b, AXIS[axis - 3], 1.0, &row);
        }
        append_spring_row(b, &row, 0.0, axis < 3 ? f->damping : f->damping_w, h, theta, index);
    }
}

// Implicit springs and drag as soft rows: their force is taken at the end of the step (theta = 1) or its middle, so that
// stiff ones are stable.
void pp_spring_rows(const perp_model *m, const pp_kinematics *kin, pp_scheme scheme, pp_row_list *b)
{
    double theta = pp_scheme_theta(scheme);
    const pp_row_builder k = {.model = m, .poses = &kin->poses};
    for (int i = 0; i < m->forces; i++) {
        const pp_force *f = &m->force[i];
        pp_row row;
        if (!f->implicit || f->kind == PERP_FORCE_WRENCH) {
            continue;
        }
        if (f->kind == PERP_FORCE_DRAG && f->a > 0) {
            spin_drag_rows(&k, kin->h, theta, i, b);
        } else if (f->kind == PERP_FORCE_DRAG) {
            drag_rows(&k, kin->h, theta, i, b);
        } else if (stretch_row(&k, f, &row)) {
            row.value = pp_row_tangent_value(&row, kin->h, scheme);
            append_spring_row(b, &row, f->stiffness, f->damping, kin->h, theta, i);
        }
    }
}
