// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Springs and dampers evaluated at the end of the step, as compliant rows.              theory (P5)
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

void pp_spring_rows(const perp_model *m, const pp_kinematics *k, pp_row_list *b)
{
    for (int i = 0; i < m->forces; i++) {
        const pp_force *f = &m->force[i];
        double slope = k->h * f->stiffness + f->damping;
        bool spring = f->kind == PERP_SPRING || f->kind == PERP_TWIST_SPRING;
        pp_row *row = &b->row[b->count];
        if (!f->implicit || !spring || !(slope > 0.0) || !stretch_row(m, k, f, row)) {
            continue;
        }
        row->bias = f->stiffness * row->value / slope;
        row->gamma = 1.0 / (k->h * slope);
        row->force = i;
        b->count++;
    }
}
