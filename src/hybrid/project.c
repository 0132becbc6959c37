// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Consistent states: Newton's method on the positions of loops and targets, then
// one step on their rates.                                                             theory (H12)
//
//   dq = -H^-1 J^T (J H^-1 J^T)^+ phi,   dqd = -H^-1 J^T (J H^-1 J^T)^+ psi
//
// Limits and contacts that are violated by more than a motion could leave are among the phi.
// Smaller violations are left to stabilisation (H4), which removes them smoothly.
#include "hybrid/moment.h"

#include <math.h>
#include <string.h>

enum { ROUNDS = 20 };

// Positions: loops, targets, and the normal rows of violated limits and contacts. Rates: loops; of a start also
// targets and drives of rates. Later these follow inputs and what is set, whose jumps are impulses: those of
// project_velocities in resolve.c.
typedef enum projected_level { POSITIONS, RATES, RATES_OF_START } projected_level;

// step = -H^-1 J^T (J H^-1 J^T)^+ x, the least motion in the metric of H that changes the rows of a
// level by -x.
static perp_status least_motion(const pp_machine *machine, const pp_instant *instant,
                                const pp_holds *holds, projected_level level, const double *x,
                                double *step, pp_arena *arena)
{
    int n = 0, rows = instant->rows;
    int *row = PP_ARRAY(arena, int, rows);
    double *A = PP_ARRAY(arena, double, (size_t)rows *(size_t)rows + 3 * (size_t)rows);
    if (!row || !A) {
        return PERP_ERR_MEMORY;
    }
    for (int i = 0; i < holds->count; i++) {
        // Motors and dry friction have finite efforts and are no conditions on the state.
        pp_hold_kind kind = holds->hold[i].kind;
        bool unilateral = pp_hold_is_unilateral(&holds->hold[i]);
        bool in = kind == PP_HOLD_LOOP || (kind == PP_HOLD_TARGET && level != RATES) ||
                  (level == RATES_OF_START && kind == PP_HOLD_RATE) ||
                  (level == POSITIONS && unilateral);
        // Stabilised targets and rates keep their errors.
        if (!in || pp_hold_epsilon(machine, &holds->hold[i]) > 0.0) {
            continue;
        }
        for (int k = 0; k < instant->size[i] && !(unilateral && k > 0); k++) {
            row[n++] = instant->at[i] + k;
        }
    }
    // Rows may be redundant: the pseudo-inverse at the rank of the scaled matrix.       theory (H3)
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

// ── Violated limits and contacts ─────────────────────────────────────────────────────────────────

static const double DEEP = 1e-6;  // [rad], or of the length: a violation that no motion leaves

// Adds the limits that are exceeded.
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
        // The row is signed so that its value is negative beyond either bound.
        double sign = row.value < j->lower ? 1.0 : -1.0;
        double beyond = fmax(j->lower - row.value, row.value - j->upper);
        pp_hold hold = pp_hold_of_joint(PP_HOLD_LIMIT, i);
        hold.sign = sign;
        if (beyond > DEEP && !pp_holds_add(holds, hold, arena)) {
            return PERP_ERR_MEMORY;
        }
    }
    return PERP_OK;
}

// Adds the limits and contacts that the given state violates.
static perp_status add_violated(const pp_machine *machine, double t, const double *q,
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
    if (status < 0) {
        return status;
    }
    // Detection at zero margin finds overlaps only.
    status = pp_gaps_run(&gaps, m, &kin, (pp_gap_search){0}, arena);
    if (status < 0) {
        return status;
    }
    for (int i = 0; i < gaps.count; i++) {
        const pp_contact *c = &gaps.contact[i];
        if (c->gap < -DEEP * machine->length && !pp_holds_add(holds, pp_hold_contact(c), arena)) {
            return PERP_ERR_MEMORY;
        }
    }
    return PERP_OK;
}

// The largest error of position that is to be removed.
static double worst_value(const pp_machine *machine, const pp_instant *instant,
                          const pp_holds *holds)
{
    double worst = 0.0;
    for (int i = 0; i < holds->count; i++) {
        bool kept = pp_hold_epsilon(machine, &holds->hold[i]) > 0.0;
        int rows = kept ? 0 : instant->size[i];
        worst = fmax(worst, pp_norm_inf(rows, instant->value + instant->at[i]));
    }
    return worst;
}

// Newton's method on all positions; moved: the largest change of a coordinate.
// Leaves its work in the arena.
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
        if (status < 0) {
            return status;
        }
        // Ends at rounding, or where the error no longer halves: equations
        // may contradict each other.
        double worst = worst_value(machine, &instant, holds);
        if (!(worst > 1e-14 * machine->length) || !(worst < 0.5 * last)) {
            return status;
        }
        last = worst;
        status = least_motion(machine, &instant, holds, POSITIONS, instant.value, step, arena);
        if (status < 0) {
            return status;
        }
        // Quaternions are moved on the sphere: q (+) step.
        pp_tree_move(tree, q, step, 1.0, next);
        memcpy(q, next, (size_t)tree->nq * sizeof *q);
        *moved = fmax(*moved, pp_norm_inf(tree->nv, step));
        pp_arena_release(arena, mark);
    }
    return PERP_OK;
}

// pp_hybrid_project; leaves its work in the arena.
static perp_status project_state(const pp_machine *machine, double t, bool start, double *q,
                                 double *qd, double *moved, double *moved_rate, pp_arena *arena)
{
    pp_holds holds;
    pp_instant instant;
    double *step = PP_ARRAY(arena, double, machine->tree->nv);
    *moved = *moved_rate = 0.0;
    if (!step) {
        return PERP_ERR_MEMORY;
    }
    perp_status status = pp_holds_start(&holds, machine, arena);
    if (status < 0) {
        return status;
    }
    status = add_violated(machine, t, q, qd, &holds, arena);
    if (status < 0 || holds.count == 0) {
        return status;
    }
    // Positions first: rates depend on them.
    status = project_positions(machine, &holds, t, q, moved, arena);
    if (status < 0) {
        return status;
    }
    // Rates are linear in qd: one step is exact.
    status = pp_instant_make(&instant, machine, t, q, qd, &holds, false, arena);
    if (status < 0) {
        return status;
    }
    status = least_motion(machine, &instant, &holds, start ? RATES_OF_START : RATES, instant.rate,
                          step, arena);
    if (status < 0) {
        return status;
    }
    for (int k = 0; k < machine->tree->nv; k++) {
        qd[k] += step[k];
        *moved_rate = fmax(*moved_rate, fabs(step[k]));
    }
    return PERP_OK;
}

perp_status pp_hybrid_project(const pp_machine *machine, double t, bool start, double *q,
                              double *qd, double *moved, double *moved_rate, pp_arena *arena)
{
    pp_mark mark = pp_arena_mark(arena);
    perp_status status = project_state(machine, t, start, q, qd, moved, moved_rate, arena);
    pp_arena_release(arena, mark);
    return status;
}
