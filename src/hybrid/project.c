// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Consistent states: Newton's method on loops and targets, then rates.                  theory (H12)
//
//   dq = -H^-1 J^T (J H^-1 J^T)^+ phi,   dqd = -H^-1 J^T (J H^-1 J^T)^+ psi
//
// Limits and contacts that are broken by more than a motion could leave are among the phi.
#include "hybrid/moment.h"

#include <math.h>
#include <string.h>

enum { ROUNDS = 20 };

// H^-1 J^T (J H^-1 J^T)^+ x over the rows that are positions, or all of them.
static perp_status least_motion(const pp_instant *instant, const pp_holds *holds, bool positions,
                                const double *x, double *step, pp_arena *arena)
{
    int n = 0, rows = instant->rows;
    int *row = PP_ARRAY(arena, int, rows);
    double *A = PP_ARRAY(arena, double, (size_t)rows *(size_t)rows + 3 * (size_t)rows);
    if (!row || !A) {
        return PERP_ERR_MEMORY;
    }
    for (int i = 0; i < holds->count; i++) {
        pp_hold_kind kind = holds->hold[i].kind;
        bool one_way = kind == PP_HOLD_LIMIT || kind == PP_HOLD_CONTACT;
        bool in = kind == PP_HOLD_LOOP || kind == PP_HOLD_TARGET ||
                  (!positions && kind == PP_HOLD_RATE) || (positions && one_way);
        for (int k = 0; in && k < (one_way ? 1 : instant->size[i]) && k < instant->size[i]; k++) {
            row[n++] = instant->at[i] + k;
        }
    }
    double *b = A + n * n, *y = b + n, *scale = y + n;
    for (int j = 0; j < n; j++) {
        b[j] = -x[row[j]];
        scale[j] = instant->scale[row[j]];
        for (int i = 0; i < n; i++) {
            A[i + j * n] = instant->A[row[i] + row[j] * rows];
        }
    }
    if (pp_least_solve(n, A, b, y, scale, 1e-10, arena) < 0) {
        return PERP_ERR_MEMORY;
    }
    memset(step, 0, (size_t)instant->nv * sizeof *step);
    for (int j = 0; j < n; j++) {
        pp_axpy(instant->nv, y[j], instant->G + (size_t)row[j] * (size_t)instant->nv, step);
    }
    return PERP_OK;
}

static double worst_position(const pp_instant *instant)
{
    return pp_norm_inf(instant->rows, instant->value);
}

// ── What is broken ───────────────────────────────────────────────────────────────────────────────

static const double DEEP = 1e-6;  // [rad], and of the length

static perp_status add_limits(const pp_machine *machine, const pp_poses *kin, pp_holds *holds,
                              pp_arena *arena)
{
    const perp_model *m = machine->model;
    for (int i = 0; i < m->joints; i++) {
        const pp_joint *j = &m->joint[i];
        if (!(j->lower <= j->upper) || !pp_joint_has_coordinate(j)) {
            continue;
        }
        pp_row row;
        pp_joint_coordinate(m, kin, i, &row);
        double sign = row.value < j->lower ? 1.0 : -1.0;
        double beyond = fmax(j->lower - row.value, row.value - j->upper);
        pp_hold hold = {.kind = PP_HOLD_LIMIT,
                        .joint = i,
                        .sign = sign,
                        .a = -1,
                        .b = -1,
                        .listed = -1,
                        .mode = PP_HELD};
        if (beyond > DEEP && !pp_holds_add(holds, hold, arena)) {
            return PERP_ERR_MEMORY;
        }
    }
    return PERP_OK;
}

static perp_status add_broken(const pp_machine *machine, double t, const double *q,
                              const double *qd, pp_holds *holds, pp_arena *arena)
{
    const perp_model *m = machine->model;
    pp_frame *body = PP_ARRAY(arena, pp_frame, m->bodies);
    pp_gaps gaps = {0};
    if (!body) {
        return PERP_ERR_MEMORY;
    }
    pp_tree_frames(machine->tree, t, q, qd, body);
    pp_poses kin = {.t = t, .body = body, .turn = machine->turn};
    perp_status status = add_limits(machine, &kin, holds, arena);
    status = status < 0 ? status : pp_gaps_run(&gaps, m, &kin, (pp_gap_search){0}, arena);
    for (int i = 0; status >= 0 && i < gaps.count; i++) {
        const pp_contact *c = &gaps.contact[i];
        pp_hold hold = pp_hold_contact(c);
        if (c->gap < -DEEP * machine->length && !pp_holds_add(holds, hold, arena)) {
            status = PERP_ERR_MEMORY;
        }
    }
    return status;
}

static perp_status project_positions(const pp_machine *machine, const pp_holds *holds, double t,
                                     double *q, double *moved, pp_arena *arena)
{
    const pp_tree *tree = machine->tree;
    double *still = PP_ZEROS(arena, double, tree->nv), *step = PP_ARRAY(arena, double, tree->nv);
    double *next = PP_ARRAY(arena, double, tree->nq), last = PP_INF;
    if (!still || !step || !next) {
        return PERP_ERR_MEMORY;
    }
    for (int round = 0; round < ROUNDS; round++) {
        pp_mark mark = pp_arena_mark(arena);
        pp_instant instant;
        perp_status status = pp_instant_make(&instant, machine, t, q, still, holds, false, arena);
        double worst = status < 0 ? 0.0 : worst_position(&instant);
        if (status < 0 || !(worst > 1e-14 * machine->length) || !(worst < 0.5 * last)) {
            return status;
        }
        last = worst;
        status = least_motion(&instant, holds, true, instant.value, step, arena);
        if (status < 0) {
            return status;
        }
        pp_tree_move(tree, q, step, 1.0, next);
        memcpy(q, next, (size_t)tree->nq * sizeof *q);
        *moved = fmax(*moved, pp_norm_inf(tree->nv, step));
        pp_arena_release(arena, mark);
    }
    return PERP_OK;
}

perp_status pp_hybrid_project(const pp_machine *machine, double t, double *q, double *qd,
                              double *moved, double *moved_rate, pp_arena *arena)
{
    pp_mark mark = pp_arena_mark(arena);
    pp_holds holds;
    pp_instant instant;
    double *step = PP_ARRAY(arena, double, machine->tree->nv);
    *moved = *moved_rate = 0.0;
    perp_status status = step ? pp_holds_start(&holds, machine, arena) : PERP_ERR_MEMORY;
    status = status < 0 ? status : add_broken(machine, t, q, qd, &holds, arena);
    if (status >= 0 && holds.count > 0) {
        status = project_positions(machine, &holds, t, q, moved, arena);
        status = status < 0 ? status
                            : pp_instant_make(&instant, machine, t, q, qd, &holds, false, arena);
        status =
            status < 0 ? status : least_motion(&instant, &holds, false, instant.rate, step, arena);
        for (int k = 0; status >= 0 && k < machine->tree->nv; k++) {
            qd[k] += step[k];
            *moved_rate = fmax(*moved_rate, fabs(step[k]));
        }
    }
    pp_arena_release(arena, mark);
    return status;
}
