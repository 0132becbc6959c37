// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Forces for given modes as the solution of linear equations, and the residual of the laws.
//                                                                                 theory (H5), (H8)
//
// An unknown force acts in a direction in the space of rows, and a functional of the rates vanishes
// for it. Both are combinations of a few rows (pp_row_direction): one row, or a normal with the
// friction that its sliding brings.
#include "hybrid/law.h"

#include <math.h>
#include <string.h>

// ── Directions in which the forces of a law act ──────────────────────────────────────────────────

// Adds s times a row to a direction.
static void column_append(pp_row_direction *c, int row, double s)
{
    c->row[c->count] = row;
    c->s[c->count++] = s;
}

pp_row_direction pp_row_direction_row(int row)
{
    pp_row_direction c = {.count = 0};
    column_append(&c, row, 1.0);
    return c;
}

int pp_law_tangent(const pp_law *law)
{
    return law->at + (pp_law_is_turning(law) ? 0 : 1);
}

int pp_law_tangents(const pp_law *law)
{
    return pp_law_is_turning(law) ? law->size : law->size - 1;
}

double pp_law_tangential(const pp_law *law, const double *x)
{
    const double *part = x + pp_law_tangent(law);
    switch (pp_law_tangents(law)) {
    case 2:
        return pp_hypot(part[0], part[1]);
    case 1:
        return fabs(part[0]);
    default:
        return 0.0;
    }
}

pp_row_direction pp_row_direction_tangent(const pp_law *law, const double d[2])
{
    pp_row_direction c = {.count = 0};
    for (int k = 0; k < pp_law_tangents(law); k++) {
        column_append(&c, pp_law_tangent(law) + k, d[k]);
    }
    return c;
}

pp_row_direction pp_row_direction_normal(const pp_laws *laws, int i, bool by_mode)
{
    pp_row_direction c = pp_row_direction_row(laws->law[i].at);
    // The contact itself, then its torsional and rolling friction, which follow it in the list.
    for (int j = i; j < laws->count && (j == i || pp_law_is_turning(&laws->law[j])); j++) {
        const pp_law *law = &laws->law[j];
        bool known = law->kind == PP_LAW_SLIDING || law->kind == PP_LAW_TURNING;
        bool slides = law->kind != PP_LAW_EQUAL && by_mode && law->mode == PP_SLIDES;
        if (!known && !slides) {
            continue;
        }
        for (int k = 0; k < pp_law_tangents(law); k++) {
            column_append(&c, pp_law_tangent(law) + k, -law->mu * law->d[k]);
        }
    }
    return c;
}

// f A c: the rate along f that a unit force along c causes.
double pp_row_direction_coupling(const pp_laws *laws, const pp_row_direction *f,
                                 const pp_row_direction *c)
{
    double sum = 0.0;
    for (int i = 0; i < f->count; i++) {
        for (int j = 0; j < c->count; j++) {
            sum += f->s[i] * c->s[j] * laws->A[f->row[i] + c->row[j] * laws->rows];
        }
    }
    return sum;
}

// f . u
double pp_row_direction_value(const pp_row_direction *f, const double *u)
{
    double sum = 0.0;
    for (int i = 0; i < f->count; i++) {
        sum += f->s[i] * u[f->row[i]];
    }
    return sum;
}

void pp_push_add(const pp_row_direction *c, double s, double *r)
{
    for (int i = 0; i < c->count; i++) {
        r[c->row[i]] += s * c->s[i];
    }
}

void pp_law_rates(const pp_laws *laws, const double *r, double *u)
{
    memcpy(u, laws->b, (size_t)laws->rows * sizeof *u);
    pp_gemv(laws->rows, laws->rows, 1.0, laws->A, laws->rows, r, u);
}

// Rows without mobility have a scale of one.
double pp_law_scale(const pp_laws *laws, int row)
{
    double own = laws->A[(size_t)row * ((size_t)laws->rows + 1)];
    if (laws->scale) {
        return laws->scale[row];
    }
    return own > 0.0 ? 1.0 / sqrt(own) : 1.0;
}

// ── Linear equations ─────────────────────────────────────────────────────────────────────────────

// Lists the unknowns of the equations of the given modes: the direction that an unknown force acts
// in, the functional of the rates that vanishes, and the law it belongs to. Forces that are known
// go into r. Returns their number.
//
// Held rows act by themselves and their rates vanish. A sliding contact has one unknown, its
// normal force, which brings the friction with it: n - mu d.t acts and u_n vanishes, so the
// matrix is not symmetric.                                                              theory (H5)
static int list_unknowns(const pp_laws *laws, pp_row_direction *acts, pp_row_direction *zero,
                         int *owner, double *r)
{
    int n = 0;
    for (int i = 0; i < laws->count; i++) {
        const pp_law *law = &laws->law[i];
        if (law->size == 0) {
            continue;
        }
        if (law->kind == PP_LAW_RUBBING || (law->kind == PP_LAW_BOX && law->mode == PP_SLIDES)) {
            r[law->at] = -law->bound * law->d[0];
        } else if (pp_law_is_turning(law) &&
                   (law->mode != PP_HELD || laws->law[law->on].mode == PP_OFF)) {
            // Part of the normal's direction; only the friction on `extra` is known.
            for (int k = 0; k < law->size && law->mode == PP_SLIDES; k++) {
                r[law->at + k] = -law->mu * laws->law[law->on].extra * law->d[k];
            }
        } else if (law->kind == PP_LAW_EQUAL || law->mode == PP_HELD) {
            for (int k = 0; k < law->size; k++, n++) {
                owner[n] = i;
                acts[n] = zero[n] = pp_row_direction_row(law->at + k);
                if (law->kind == PP_LAW_CONTACT && k == 0) {
                    acts[n] = pp_row_direction_normal(laws, i, true);
                }
            }
        } else if (law->mode == PP_SLIDES) {
            // One unknown, the normal force with its friction. Friction on `extra` is known.
            for (int k = 1; k < law->size; k++) {
                r[law->at + k] = -law->mu * law->extra * law->d[k - 1];
            }
            owner[n] = i;
            acts[n] = pp_row_direction_normal(laws, i, true);
            zero[n++] = pp_row_direction_row(law->at);
        }
    }
    return n;
}

perp_status pp_law_equations(const pp_laws *laws, pp_equations *out, double *r, pp_arena *arena)
{
    size_t rows = (size_t)laws->rows;
    pp_row_direction *acts = PP_ARRAY(arena, pp_row_direction, 2 * rows), *zero = acts + rows;
    double *u = PP_ARRAY(arena, double, 4 * rows);
    int *owner = PP_ARRAY(arena, int, rows);
    if (!acts || !u || !owner) {
        return PERP_ERR_MEMORY;
    }
    // zero_i . (A (r + sum x_j acts_j) + b) = 0 for all i, where r are the known forces.
    memset(r, 0, rows * sizeof *r);
    int n = list_unknowns(laws, acts, zero, owner, r);
    pp_law_rates(laws, r, u);
    *out = (pp_equations){.n = n,
                          .acts = acts,
                          .zero = zero,
                          .owner = owner,
                          .M = PP_ARRAY(arena, double, (size_t)n *(size_t)n),
                          .b = u + rows,
                          .x = u + 2 * rows,
                          .scale = u + 3 * rows};
    if (!out->M) {
        return PERP_ERR_MEMORY;
    }
    // M_ij = zero_i A acts_j. A row's scale is that of the first row of its functional.
    for (int j = 0; j < n; j++) {
        out->b[j] = -pp_row_direction_value(&zero[j], u);
        out->scale[j] = pp_law_scale(laws, zero[j].row[0]);
        for (int i = 0; i < n; i++) {
            out->M[i + j * n] = pp_row_direction_coupling(laws, &zero[i], &acts[j]);
        }
    }
    return PERP_OK;
}

perp_status pp_law_linear(const pp_laws *laws, double *r, pp_law_info *info, pp_arena *arena)
{
    size_t rows = (size_t)laws->rows;
    pp_mark mark = pp_arena_mark(arena);
    pp_equations e;
    if (pp_law_equations(laws, &e, r, arena) < 0) {
        pp_arena_release(arena, mark);
        return PERP_ERR_MEMORY;
    }
    // Redundant rows leave the forces undetermined: the pseudo-inverse at the
    // rank that pivoting reveals.                                                       theory (H3)
    double tiny = laws->rank > 0.0 ? laws->rank : PP_LAW_RANK;
    int rank = pp_least_solve(e.n, e.M, e.b, e.x, e.scale, tiny, arena);
    if (rank < 0) {
        pp_arena_release(arena, mark);
        return PERP_ERR_MEMORY;
    }
    for (int j = 0; j < e.n; j++) {
        pp_push_add(&e.acts[j], e.x[j], r);
    }
    info->rank = rank;
    info->equations = e.n;
    pp_arena_release(arena, mark);
    return pp_all_finite(rows, r) ? PERP_OK : PERP_ERR_NUMERIC;
}

// A force is determined where no solution of M z = 0 has a component in it. The shortest solution
// of M x = M e_j is then e_j itself; in general it is e_j less its projection onto the null space,
// and x_j is 1 less the square of that.
static const double PART = 1e-8;  // square of a component that counts as zero

// pp_law_determined; leaves its work in the arena.
static perp_status is_determined(const pp_laws *laws, int i, bool *determined, pp_arena *arena)
{
    double *r = PP_ARRAY(arena, double, laws->rows);
    pp_equations e;
    *determined = true;
    if (!r || pp_law_equations(laws, &e, r, arena) < 0) {
        return PERP_ERR_MEMORY;
    }
    size_t square = (size_t)e.n * (size_t)e.n;
    double *M = PP_ARRAY(arena, double, square);
    if (!M) {
        return PERP_ERR_MEMORY;
    }
    for (int j = 0; j < e.n; j++) {
        if (e.owner[j] != i) {
            continue;
        }
        // pp_least_solve overwrites its matrix; the right-hand side is column j of M.
        memcpy(M, e.M, square * sizeof *M);
        memcpy(e.b, e.M + (size_t)j * (size_t)e.n, (size_t)e.n * sizeof *e.b);
        if (pp_least_solve(e.n, M, e.b, e.x, e.scale, PP_LAW_RANK, arena) < 0) {
            return PERP_ERR_MEMORY;
        }
        if (!(fabs(e.x[j] - 1.0) <= PART)) {
            *determined = false;
            return PERP_OK;
        }
    }
    return PERP_OK;
}

perp_status pp_law_determined(const pp_laws *laws, int i, bool *determined, pp_arena *arena)
{
    pp_mark mark = pp_arena_mark(arena);
    perp_status status = is_determined(laws, i, determined, arena);
    pp_arena_release(arena, mark);
    return status;
}

// ── Residual ─────────────────────────────────────────────────────────────────────────────────────

// Natural map of a disc: the largest component of r_t - P(r_t - u_t), P the projection onto
// the disc of radius `most`.
static double disc_gap(int size, const double *r, const double *u, double most)
{
    double aim[2] = {0.0, 0.0}, length = 0.0, worst = 0.0;
    for (int k = 0; k < size; k++) {
        aim[k] = r[k] - u[k];
        length = pp_hypot(length, aim[k]);
    }
    // Projection onto the disc: radial, unless the point is inside.
    double s = length > most ? most / length : 1.0;
    for (int k = 0; k < size; k++) {
        worst = fmax(worst, fabs(r[k] - s * aim[k]));
    }
    return worst;
}

// Natural map of one law in scaled forces and rates. base: the normal force of the contact that
// turning friction acts on.                                                             theory (H8)
static double law_gap(const pp_law *law, const double *r, const double *u, double base)
{
    double worst = 0.0;
    if (law->kind == PP_LAW_TURN && law->size > 0) {
        return disc_gap(law->size, r, u, law->mu * base);
    }
    if (law->kind == PP_LAW_TURNING && law->size > 0) {
        for (int k = 0; k < law->size; k++) {
            worst = fmax(worst, fabs(r[k] + law->mu * base * law->d[k]));
        }
        return worst;
    }
    if (law->kind == PP_LAW_EQUAL || law->size == 0) {
        return pp_norm_inf(law->size, u);
    }
    // A box is a disc of one dimension.
    if (law->kind == PP_LAW_BOX) {
        return disc_gap(1, r, u, law->bound);
    }
    if (law->kind == PP_LAW_RUBBING) {
        return fabs(r[0] + law->bound * law->d[0]);
    }
    // 0 <= r_n _|_ u_n >= 0: the minimum of both is zero.
    worst = fabs(fmin(r[0], u[0]));
    // The radius of the friction disc; `extra` is scaled as well.
    double most = law->mu * (fmax(0.0, r[0]) + law->extra);
    if (law->kind == PP_LAW_CONTACT) {
        return fmax(worst, disc_gap(law->size - 1, r + 1, u + 1, most));
    }
    for (int k = 1; k < law->size; k++) {
        worst = fmax(worst, fabs(r[k] + law->mu * r[0] * law->d[k - 1]));
    }
    return worst;
}

// Sizes that residuals are relative to. A force of size_r changes rates by about diagonal * size_r,
// so neither size is smaller than what the other one causes.
void pp_law_sizes(const pp_laws *laws, const double *r, double *size_u, double *size_r)
{
    double diagonal = 0.0;
    for (int i = 0; i < laws->rows; i++) {
        diagonal = fmax(diagonal, laws->A[(size_t)i * ((size_t)laws->rows + 1)]);
    }
    // A problem without forces or rates has sizes of one.
    *size_r = pp_norm_inf(laws->rows, r);
    *size_u = fmax(fmax(pp_norm_inf(laws->rows, laws->b), laws->least_u), diagonal * *size_r);
    *size_u = *size_u > 0.0 ? *size_u : 1.0;
    *size_r = fmax(*size_r, diagonal > 0.0 ? *size_u / diagonal : 1.0);
}

double pp_law_residual(const pp_laws *laws, const double *r, pp_arena *arena)
{
    pp_mark mark = pp_arena_mark(arena);
    size_t rows = (size_t)laws->rows;
    double *u = PP_ARRAY(arena, double, 2 * rows), *f = u + rows, worst = 0.0, size_u, size_r;
    if (!u) {
        pp_arena_release(arena, mark);
        return PP_INF;
    }
    pp_law_rates(laws, r, u);
    pp_law_sizes(laws, r, &size_u, &size_r);
    // In scaled variables u and r have the same size, so their natural map has a meaning.
    for (size_t i = 0; i < rows; i++) {
        u[i] /= size_u;
        f[i] = r[i] / size_r;
    }
    for (int i = 0; i < laws->count; i++) {
        pp_law law = laws->law[i];
        law.bound /= size_r;
        law.extra /= size_r;
        // Bounds and extra impulses are forces: they are scaled with them.
        const pp_law *on = pp_law_is_turning(&law) ? &laws->law[law.on] : &law;
        double base = law.size > 0 ? fmax(0.0, f[on->at]) + on->extra / size_r : 0.0;
        worst = fmax(worst, law_gap(&law, f + law.at, u + law.at, base));
    }
    pp_arena_release(arena, mark);
    return worst;
}
