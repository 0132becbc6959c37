// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Springs and drag evaluated at the end of the step, as compliant rows.                 theory (P5)
//
//   p = -h (K (L + h Ldot - L0) + C Ldot)   <=>   Ldot + K (L - L0)/(h K + C) + p / (h (h K + C)) = 0
#include "constraint/row.h"

#include <math.h>

static bool stretch_row(const perp_model *m, const pp_kinematics *k, const pp_force *f, pp_row *row)
{
    pp_row_start(row);
    if (f->kind == PERP_TWIST_SPRING) {
        row->value = k->body[f->b].angle - k->body[f->a].angle - f->rest;
        pp_row_spin(m, k, f->b, 1.0, row);
        pp_row_spin(m, k, f->a, -1.0, row);
        return true;
    }
    pp_vec2 pa = pp_point(&k->body[f->a], f->r_A), pb = pp_point(&k->body[f->b], f->r_B);
    double dx = pb.x - pa.x, dy = pb.y - pa.y, length = hypot(dx, dy);
    if (length == 0.0) {
        return false;
    }
    pp_vec2 u = {dx / length, dy / length};
    row->value = length - f->rest;
    pp_row_point(m, k, f->b, pb, u, 1.0, row);
    pp_row_point(m, k, f->a, pa, u, -1.0, row);
    return true;
}

// slope = h K + C; a row without it pushes nothing and is left out.
static void put(pp_row_list *b, pp_row *row, double slope, double K, double h, int force)
{
    if (slope > 0.0) {
        row->bias = K * row->value / slope;
        row->gamma = 1.0 / (h * slope);
        row->force = force;
        b->row[b->count++] = *row;
    }
}

// -C v of the centre and -C_w omega: rows of their own.
static void drag_rows(const perp_model *m, const pp_kinematics *k, int index, pp_row_list *b)
{
    static const pp_vec2 axis[2] = {{1.0, 0.0}, {0.0, 1.0}};
    const pp_force *f = &m->force[index];
    pp_row row;
    for (int i = 0; i < 2; i++) {
        pp_row_start(&row);
        pp_row_point(m, k, f->b, k->body[f->b].p, axis[i], 1.0, &row);
        put(b, &row, f->damping, 0.0, k->h, index);
    }
    pp_row_start(&row);
    pp_row_spin(m, k, f->b, 1.0, &row);
    put(b, &row, m->body[f->b].nv == 3 ? f->damping_w : 0.0, 0.0, k->h, index);
}

void pp_spring_rows(const perp_model *m, const pp_kinematics *k, pp_row_list *b)
{
    for (int i = 0; i < m->forces; i++) {
        const pp_force *f = &m->force[i];
        pp_row row;
        if (!f->implicit || f->kind == PERP_FORCE) {
            continue;
        }
        if (f->kind == PERP_DRAG) {
            drag_rows(m, k, i, b);
        } else if (stretch_row(m, k, f, &row)) {
            put(b, &row, k->h * f->stiffness + f->damping, f->stiffness, k->h, i);
        }
    }
}
