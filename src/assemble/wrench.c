// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The wrench matrix W: what unit impulses along the rows do to the bodies.
#include "assemble/pose.h"

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

perp_status pp_wrench_matrix(perp_matrix *out, const perp_model *model, const pp_rows *rows,
                             pp_arena *arena)
{
    int count = rows->nb + rows->nm + rows->nn + rows->nf, used = 0, column = 0;
    size_t most = (size_t)count * PP_ROW_BODIES * PP_BODY_NV;
    int *p = PP_ARRAY(arena, int, count + 1), *i = PP_ARRAY(arena, int, most);
    double *x = PP_ARRAY(arena, double, most);
    if (!p || !i || !x) {
        return PERP_ERR_MEMORY;
    }
    for (int k = 0; k < rows->nb; k++) {
        p[column++] = used;
        pp_wrench_column(model, &rows->b[k], &used, i, x);
    }
    for (int k = 0; k < rows->nm + rows->nn; k++) {
        p[column++] = used;
        pp_wrench_column(model, pp_base_row(rows, k), &used, i, x);
    }
    for (int g = 0; g < rows->ng; g++) {
        for (int j = 0; j < rows->group[g].directions; j++) {
            pp_row row = direction_row(rows, &rows->group[g], j);
            p[column++] = used;
            pp_wrench_column(model, &row, &used, i, x);
        }
    }
    p[column] = used;
    *out = perp_matrix_csc(model->nv, count, p, i, x);
    return PERP_OK;
}
