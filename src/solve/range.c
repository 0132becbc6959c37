// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// How much a contact can carry, where impulses are not unique.                          theory (S7)
//
// All impulses with the effect of the answer's on the bodies, that push, keep their cones, and slide where it slides,
// are a polyhedron (discs as polygons of SIDES). The least and largest p_n of a contact on it is a linear programme:
//
//   min c x   over   A x = b,  x >= 0 (p_b free)
//
// solved as the complementarity problem of its optimality, which Lemke's method ends:
//
//   0 <= x _|_ c - A' y >= 0,     A x - b = 0,  y free
//
// Rows of A: the nv velocities [N s, N m s], then one row mu p_n - sum p_f - s = 0 for each group that sticks.
#include "solve/solve.h"

#include <math.h>
#include <string.h>

enum { SIDES = 32, COLUMNS_MOST = 4000 };

typedef struct programme {
    const perp_model *model;
    const pp_kinematics *kin;
    const pp_rows *rows;
    const pp_answer *answer;
    int equations, columns;  // of A
    int most;                // columns there is room for
    double *A;               // column-major
    double *b;               // equations
    bool *free;              // columns
    int *of;                 // nn: column of the contact's normal impulse, -1: none
    double tiny;             // slower than this does not slide [m/s]
} programme;

// Zeros, in order: the caller fills them.
static double *next_column(programme *p, bool free)
{
    double *column = p->A + (size_t)p->columns * (size_t)p->equations;
    p->free[p->columns++] = free;
    return column;
}

// A contact that may carry load: it does, or its gap neither opens nor closes.
static bool touches(const programme *p, int i)
{
    const pp_row *row = &p->rows->n[i];
    double rho = pp_row_rate(p->model, row, p->answer->nu) + row->bias;
    return p->answer->pn[i] > 0.0 || fabs(rho) <= p->tiny;
}

// Strictly inside the cone, or too slow to count as sliding.
static bool is_sticking(const programme *p, const pp_friction *group)
{
    const double *pt = p->answer->pt + group->t;
    double slip[2], size = group->size == 2 ? pp_hypot(pt[0], pt[1]) : fabs(pt[0]);
    pp_friction_slip(p->model, p->rows, group, p->answer->nu, slip);
    bool inside = size < (1.0 - 1e-7) * group->mu * p->answer->pn[group->n];
    return inside || pp_hypot(slip[0], slip[1]) <= p->tiny;
}

// Friction that goes with the normal impulse of a sliding group, per unit of it.
static void add_sliding(const programme *p, const pp_friction *group, double *column)
{
    double slip[2];
    pp_friction_slip(p->model, p->rows, group, p->answer->nu, slip);
    double speed = pp_hypot(slip[0], slip[1]);
    for (int k = 0; k < group->size; k++) {
        double share = -group->mu * slip[k] / speed;
        pp_row_add(p->model, &p->rows->t[group->t + k], share, NULL, column);
    }
}

// Directions of a sticking group and the slack of its cone; row `equation` says mu p_n - sum p_f -
// s = 0. `normal` is the column of p_n.
static void add_sticking(programme *p, const pp_friction *group, int equation, double *normal)
{
    int sides = 2;  // one friction row: both ways
    if (group->size == 2) {
        sides = group->facets > 0 ? group->facets : SIDES;
    }
    pp_friction polygon = *group;
    polygon.directions = sides;
    normal[equation] = group->mu;
    for (int j = 0; j < sides; j++) {
        double d[2], *column = next_column(p, false);
        pp_friction_direction(&polygon, j, d);
        for (int k = 0; k < group->size; k++) {
            pp_row_add(p->model, &p->rows->t[group->t + k], d[k], NULL, column);
        }
        column[equation] = -1.0;
    }
    next_column(p, false)[equation] = -1.0;
}

static int count_sticking(const programme *p)
{
    int count = 0;
    for (int g = 0; g < p->rows->ng; g++) {
        const pp_friction *group = &p->rows->group[g];
        count += touches(p, group->n) && is_sticking(p, group);
    }
    return count;
}

// Largest speed in play [m/s], as in spreading: of the bodies, and what the forces of one step give
// to bodies at rest.
static double speed_of_bodies(const programme *p)
{
    double worst = 1e-12;
    for (int i = 0; i < p->model->bodies; i++) {
        const pp_body *body = &p->model->body[i];
        double dv[PP_BODY_NV];
        pp_body_solve(body, &p->kin->mass[i], p->kin->loads.p_ext + body->at, dv);
        worst = body->nv > 0 ? fmax(worst, pp_norm_inf(body->nv, dv)) : worst;
    }
    return fmax(worst, pp_norm_inf(p->model->nv, p->answer->nu));
}

// Memory for A, b and the marks of its columns.
static perp_status allocate_programme(programme *p, pp_arena *arena)
{
    p->tiny = 1e-8 * speed_of_bodies(p);
    p->equations = p->model->nv + count_sticking(p);
    p->most = p->rows->nb + p->rows->nn + (SIDES + 1) * p->rows->ng + 256;
    size_t size = (size_t)p->most * (size_t)p->equations;
    p->A = PP_ZEROS(arena, double, size);
    p->b = PP_ZEROS(arena, double, p->equations);
    p->free = PP_ZEROS(arena, bool, p->most);
    p->of = PP_ARRAY(arena, int, p->rows->nn);
    return p->A && p->b && p->free && p->of ? PERP_OK : PERP_ERR_MEMORY;
}

// A and b = A x*: the effect of the answer's own impulses.
static void fill_programme(programme *p)
{
    const pp_rows *rows = p->rows;
    const pp_answer *a = p->answer;
    int equation = p->model->nv;
    for (int i = 0; i < rows->nb; i++) {
        pp_row_add(p->model, &rows->b[i], 1.0, NULL, next_column(p, true));
        pp_row_add(p->model, &rows->b[i], a->pb[i], NULL, p->b);
    }
    for (int i = 0; i < rows->nn; i++) {
        p->of[i] = touches(p, i) ? p->columns : -1;
        if (p->of[i] < 0) {
            continue;
        }
        // Sliding friction is part of the column of p_n; sticking friction has columns of its own.
        double *normal = next_column(p, false);
        pp_row_add(p->model, &rows->n[i], 1.0, NULL, normal);
        pp_row_add(p->model, &rows->n[i], a->pn[i], NULL, p->b);
        for (int k = 0; k < rows->grouped[i]; k++) {
            const pp_friction *group = &rows->group[rows->friction[i] + k];
            for (int t = 0; t < group->size; t++) {
                pp_row_add(p->model, &rows->t[group->t + t], a->pt[group->t + t], NULL, p->b);
            }
            if (is_sticking(p, group)) {
                add_sticking(p, group, equation++, normal);
            } else {
                add_sliding(p, group, normal);
            }
        }
    }
}

// Rows of A of one size: linear and angular momentum have different units, and one tolerance serves
// both.
static void scale_rows(programme *p)
{
    for (int e = 0; e < p->equations; e++) {
        double top = 0.0;
        for (int j = 0; j < p->columns; j++) {
            top = fmax(top, fabs(p->A[(size_t)j * (size_t)p->equations + (size_t)e]));
        }
        double s = top > 0.0 ? 1.0 / top : 1.0;
        p->b[e] *= s;
        for (int j = 0; j < p->columns; j++) {
            p->A[(size_t)j * (size_t)p->equations + (size_t)e] *= s;
        }
    }
}

// The extreme of sign * x_column; PP_INF where nothing bounds it from above.
static perp_status optimum(const programme *p, int column, double sign, double load,
                           const pp_solve_cache *cache, pp_arena *arena, double *value)
{
    int m = p->equations, nx = p->columns, n = nx + m;
    double *M = PP_ZEROS(arena, double, (size_t)n *(size_t)n), *q = PP_ZEROS(arena, double, n);
    double *lower = PP_ZEROS(arena, double, n), *upper = PP_ARRAY(arena, double, n);
    double *z = PP_ZEROS(arena, double, n);
    if (!M || !q || !lower || !upper || !z) {
        return PERP_ERR_MEMORY;
    }
    // M = [0 -A'; A 0], unknowns (x, y): skew, so that the LCP is monotone
    for (int j = 0; j < nx; j++) {
        for (int e = 0; e < m; e++) {
            double a = p->A[(size_t)j * (size_t)m + (size_t)e];
            M[(size_t)j * (size_t)n + (size_t)(nx + e)] = a;
            M[(size_t)(nx + e) * (size_t)n + (size_t)j] = -a;
        }
        lower[j] = p->free[j] ? -PP_INF : 0.0;
    }
    for (int e = 0; e < m; e++) {
        q[nx + e] = -p->b[e] / load;  // impulses in units of the load
        lower[nx + e] = -PP_INF;
    }
    for (int i = 0; i < n; i++) {
        upper[i] = PP_INF;
    }
    q[column] = -sign;
    perp_mcp mcp = {
        .n = n, .A = perp_matrix_dense(n, n, M), .b = q, .lower = lower, .upper = upper};
    perp_comp_options comp = perp_comp_options_default();
    perp_comp_info info;
    comp.work = cache->work;
    comp.comparable = true;
    perp_status status = perp_mcp_solve(NULL, &mcp, &comp, cache->env, z, &info);
    if (pp_is_final(status)) {
        return status;
    }
    // b comes from an answer, so that the programme is feasible: a failure means that it is unbounded, which a least
    // value p_n >= 0 cannot be.
    if (status >= 0) {
        *value = load * z[column];
    } else {
        *value = sign > 0.0 ? PP_INF : 0.0;
    }
    return PERP_OK;
}

perp_status pp_load_range(const pp_answer *answer, const perp_model *model,
                          const pp_kinematics *kin, const pp_rows *rows, int n,
                          const pp_solve_cache *cache, pp_arena *arena, double range[2])
{
    programme p = {.model = model, .kin = kin, .rows = rows, .answer = answer};
    range[0] = range[1] = answer->pn[n];
    perp_status status = allocate_programme(&p, arena);
    if (status < 0) {
        return status;
    }
    fill_programme(&p);
    scale_rows(&p);
    double load = fmax(pp_norm_inf(rows->nn, answer->pn), 1e-300);
    if (p.of[n] < 0) {
        return PERP_OK;  // open: it carries nothing in any of them
    }
    if (p.columns > COLUMNS_MOST) {
        return PERP_ERR_LIMIT;
    }
    status = optimum(&p, p.of[n], -1.0, load, cache, arena, &range[0]);
    return status < 0 ? status : optimum(&p, p.of[n], 1.0, load, cache, arena, &range[1]);
}

// ── The active set ───────────────────────────────────────────────────────────────────────────────

// Rank of the first `columns` columns of A, velocities only, by elimination with full pivoting.
static int rank_of(double *A, int rows, int columns)
{
    double first = 0.0;
    int rank = 0;
    for (; rank < rows && rank < columns; rank++) {
        // the largest entry of what is left is the pivot
        int at_row = rank, at_col = rank;
        for (int j = rank; j < columns; j++) {
            for (int i = rank; i < rows; i++) {
                if (fabs(A[(size_t)j * (size_t)rows + (size_t)i]) >
                    fabs(A[(size_t)at_col * (size_t)rows + (size_t)at_row])) {
                    at_row = i;
                    at_col = j;
                }
            }
        }
        double pivot = A[(size_t)at_col * (size_t)rows + (size_t)at_row];
        first = rank == 0 ? fabs(pivot) : first;
        // below 1e-10 of the first pivot there is only rounding
        if (!(fabs(pivot) > 1e-10 * first)) {
            break;
        }
        for (int i = 0; i < rows; i++) {
            double *a = &A[(size_t)rank * (size_t)rows + (size_t)i];
            double *b = &A[(size_t)at_col * (size_t)rows + (size_t)i], kept = *a;
            *a = *b;
            *b = kept;
        }
        for (int j = rank; j < columns; j++) {
            double *a = &A[(size_t)j * (size_t)rows + (size_t)rank];
            double *b = &A[(size_t)j * (size_t)rows + (size_t)at_row], kept = *a;
            *a = *b;
            *b = kept;
        }
        const double *base = A + (size_t)rank * (size_t)rows;
        for (int j = rank + 1; j < columns; j++) {
            double *column = A + (size_t)j * (size_t)rows;
            pp_axpy(rows - rank - 1, -column[rank] / pivot, base + rank + 1, column + rank + 1);
        }
    }
    return rank;
}

// Columns of pp_load_range without polygons: joints, normals of touching contacts (with the
// friction that goes with them where they slide), friction rows where they stick.
perp_status pp_active_set(const pp_answer *answer, const perp_model *model,
                          const pp_kinematics *kin, const pp_rows *rows, pp_arena *arena,
                          int *columns, int *rank)
{
    programme p = {.model = model, .kin = kin, .rows = rows, .answer = answer};
    int nv = p.equations = model->nv;
    size_t most = (size_t)rows->nb + (size_t)rows->nn + (size_t)rows->nt;
    p.tiny = 1e-8 * speed_of_bodies(&p);
    p.A = PP_ZEROS(arena, double, most *(size_t)nv);
    p.free = PP_ZEROS(arena, bool, most);
    if (!p.A || !p.free) {
        return PERP_ERR_MEMORY;
    }
    for (int i = 0; i < rows->nb; i++) {
        pp_row_add(model, &rows->b[i], 1.0, NULL, next_column(&p, true));
    }
    for (int i = 0; i < rows->nn; i++) {
        // an open contact has no column
        double *normal = touches(&p, i) ? next_column(&p, false) : NULL;
        if (!normal) {
            continue;
        }
        pp_row_add(model, &rows->n[i], 1.0, NULL, normal);
        for (int k = 0; k < rows->grouped[i]; k++) {
            const pp_friction *group = &rows->group[rows->friction[i] + k];
            if (!is_sticking(&p, group)) {
                add_sliding(&p, group, normal);
                continue;
            }
            for (int t = 0; t < group->size; t++) {
                pp_row_add(model, &rows->t[group->t + t], 1.0, NULL, next_column(&p, false));
            }
        }
    }
    *columns = p.columns;
    *rank = rank_of(p.A, nv, p.columns);
    return PERP_OK;
}
