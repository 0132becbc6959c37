// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Evaluation of a nonlinear MCP that is given by expressions. Definitions are evaluated once; the Jacobian is exact, by
// automatic differentiation in forward mode, column by column through the definitions.
#include "format/ncp_model.h"

#include <math.h>
#include <string.h>

pp_ncp_model *pp_ncp_model_create(int n, int m, pp_arena *arena)
{
    pp_ncp_model *model = PP_ZEROS(arena, pp_ncp_model, 1);
    if (!model) {
        return NULL;
    }
    model->n = n;
    model->m = m;
    size_t all = (size_t)n + (size_t)m;
    model->F = PP_ZEROS(arena, const pp_expr *, n);
    model->definition = PP_ZEROS(arena, const pp_expr *, m);
    double *numbers = PP_ZEROS(arena, double, 4 * (size_t)n + 2 * all);
    if (!model->F || !model->definition || !numbers) {
        return NULL;
    }
    model->lower = numbers;
    model->upper = model->lower + n;
    model->start = model->upper + n;
    model->typical = model->start + n;
    model->value = model->typical + n;
    model->rate = model->value + all;
    return model;
}

// ── What depends on what ─────────────────────────────────────────────────────────────────────────

// The variables of n that definitions and rows depend on, in rows of a sparse matrix.
typedef struct dependence {
    int *first, *item;  // of each definition, then of each row
    int used, room;
} dependence;

// Adds a variable to the last list unless it is there.
static bool add_once(dependence *d, int *stamp, int mark, int variable, pp_arena *scratch)
{
    if (stamp[variable] == mark) {
        return true;
    }
    stamp[variable] = mark;
    if (d->used == d->room) {
        if (d->room > INT32_MAX / 2) {
            return false;
        }
        int room = 2 * d->room;
        int *item = PP_ARRAY(scratch, int, room);
        if (!item) {
            return false;
        }
        memcpy(item, d->item, (size_t)d->used * sizeof *item);
        d->item = item;
        d->room = room;
    }
    d->item[d->used++] = variable;
    return true;
}

// The list of one expression: its variables, and those of the definitions it uses.
static bool add_list(const pp_ncp_model *model, const pp_expr *expr, dependence *d, int *stamp,
                     int mark, pp_arena *scratch)
{
    int count = pp_expr_variables(expr, NULL);
    int *list = PP_ARRAY(scratch, int, count);
    if (!list) {
        return false;
    }
    pp_expr_variables(expr, list);
    for (int k = 0; k < count; k++) {
        if (list[k] < model->n) {
            if (!add_once(d, stamp, mark, list[k], scratch)) {
                return false;
            }
            continue;
        }
        int other = list[k] - model->n;
        for (int q = d->first[other]; q < d->first[other + 1]; q++) {
            if (!add_once(d, stamp, mark, d->item[q], scratch)) {
                return false;
            }
        }
    }
    return true;
}

// Lists from..to-1 by columns: p and i in the arena. Rows ascend, since lists are read in order.
static bool by_columns(const dependence *d, int n, int from, int to, pp_arena *arena, int **p,
                       int **i)
{
    int begin = d->first[from], end = d->first[to];
    *p = PP_ZEROS(arena, int, (size_t)n + 2);
    *i = PP_ARRAY(arena, int, (size_t)(end - begin));
    if (!*p || !*i) {
        return false;
    }
    // counted one place ahead, so that filling moves each start to its place
    for (int k = begin; k < end; k++) {
        (*p)[d->item[k] + 2]++;
    }
    for (int j = 0; j < n; j++) {
        (*p)[j + 2] += (*p)[j + 1];
    }
    for (int list = from; list < to; list++) {
        for (int k = d->first[list]; k < d->first[list + 1]; k++) {
            (*i)[(*p)[d->item[k] + 1]++] = list - from;
        }
    }
    return true;
}

perp_status pp_ncp_model_finish(pp_ncp_model *model, pp_arena *scratch, pp_arena *arena)
{
    int n = model->n, m = model->m;
    dependence d = {.room = 64};
    d.first = PP_ZEROS(scratch, int, (size_t)n + (size_t)m + 1);
    d.item = PP_ARRAY(scratch, int, d.room);
    int *stamp = PP_ZEROS(scratch, int, n);
    if (!d.first || !d.item || !stamp) {
        return PERP_ERR_MEMORY;
    }
    // definitions first: those that a row uses are known by then
    for (int k = 0; k < m + n; k++) {
        const pp_expr *expr = k < m ? model->definition[k] : model->F[k - m];
        if (!add_list(model, expr, &d, stamp, k + 1, scratch)) {
            return PERP_ERR_MEMORY;
        }
        d.first[k + 1] = d.used;
    }
    if (!by_columns(&d, n, 0, m, arena, &model->dp, &model->di) ||
        !by_columns(&d, n, m, m + n, arena, &model->p, &model->i)) {
        return PERP_ERR_MEMORY;
    }
    return PERP_OK;
}

// ── Callbacks ────────────────────────────────────────────────────────────────────────────────────

// Variables and definitions at z.
static void evaluate_names(pp_ncp_model *model, const double *z)
{
    memcpy(model->value, z, (size_t)model->n * sizeof *z);
    for (int k = 0; k < model->m; k++) {
        model->value[model->n + k] = pp_expr_value(model->definition[k], model->value);
    }
}

static perp_status model_function(void *user, const double *z, double *F)
{
    pp_ncp_model *model = user;
    evaluate_names(model, z);
    for (int i = 0; i < model->n; i++) {
        F[i] = pp_expr_value(model->F[i], model->value);
    }
    return PERP_OK;
}

// Column j: the rates of definitions where z_j has the rate 1, then those of the rows.
static perp_status model_jacobian(void *user, const double *z, double *x)
{
    pp_ncp_model *model = user;
    evaluate_names(model, z);
    for (int j = 0; j < model->n; j++) {
        model->rate[j] = 1.0;
        for (int k = model->dp[j]; k < model->dp[j + 1]; k++) {
            int d = model->di[k];
            pp_expr_rate(model->definition[d], model->value, model->rate,
                         &model->rate[model->n + d]);
        }
        for (int k = model->p[j]; k < model->p[j + 1]; k++) {
            pp_expr_rate(model->F[model->i[k]], model->value, model->rate, &x[k]);
        }
        // all rates are 0 between columns
        model->rate[j] = 0.0;
        for (int k = model->dp[j]; k < model->dp[j + 1]; k++) {
            model->rate[model->n + model->di[k]] = 0.0;
        }
    }
    return PERP_OK;
}

perp_ncp pp_ncp_model_problem(pp_ncp_model *model)
{
    return (perp_ncp){.n = model->n,
                      .lower = model->lower,
                      .upper = model->upper,
                      .start = model->start,
                      .typical = model->typical_given ? model->typical : NULL,
                      .function = model_function,
                      .jacobian = model_jacobian,
                      .p = model->p,
                      .i = model->i,
                      .user = model};
}
