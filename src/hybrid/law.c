// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Forces for given modes, and how well forces obey the laws.                      theory (H5), (H8)
#include "hybrid/law.h"

#include <math.h>
#include <string.h>

// ── Columns: the directions in which the forces of a law may point ───────────────────────────────

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
    for (int j = i; j < laws->count && (j == i || pp_law_is_turning(&laws->law[j])); j++) {
        const pp_law *law = &laws->law[j];
        bool known = law->kind == PP_LAW_SLIDING || law->kind == PP_LAW_TURNING;
        bool slides = law->kind != PP_LAW_EQUAL && by_mode && law->mode == PP_SLIDES;
        for (int k = 0; (known || slides) && k < pp_law_tangents(law); k++) {
            column_append(&c, pp_law_tangent(law) + k, -law->mu * law->d[k]);
        }
    }
    return c;
}

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

double pp_law_scale(const pp_laws *laws, int row)
{
    double own = laws->A[(size_t)row * ((size_t)laws->rows + 1)];
    if (laws->scale) {
        return laws->scale[row];
    }
    return own > 0.0 ? 1.0 / sqrt(own) : 1.0;
}

// ── Linear equations ─────────────────────────────────────────────────────────────────────────────

// Unknowns: column that acts, functional that vanishes, law. Known forces go into r.
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
            for (int k = 0; k < law->size && law->mode == PP_SLIDES; k++) {
                r[law->at + k] = -law->mu * laws->law[law->on].extra * law->d[k];
            }
        } else if (law->kind == PP_LAW_EQUAL || law->mode == PP_HELD) {
            for (int k = 0; k < law->size; k++, n++) {
                owner[n] = i;
                acts[n] = zero[n] = pp_row_direction_row(law->at + k);
                acts[n] = law->kind == PP_LAW_CONTACT && k == 0
                              ? pp_row_direction_normal(laws, i, true)
                              : acts[n];
            }
        } else if (law->mode == PP_SLIDES) {
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
        return PERP_ERR_MEMORY;
    }
    double tiny = laws->rank > 0.0 ? laws->rank : PP_LAW_RANK;
    int rank = pp_least_solve(e.n, e.M, e.b, e.x, e.scale, tiny, arena);
    for (int j = 0; rank >= 0 && j < e.n; j++) {
        pp_push_add(&e.acts[j], e.x[j], r);
    }
    info->rank = rank;
    info->equations = e.n;
    pp_arena_release(arena, mark);
    return rank < 0 ? PERP_ERR_MEMORY : pp_all_finite(rows, r) ? PERP_OK : PERP_ERR_NUMERIC;
}

// A force is determined where no solution of M z = 0 has a part in it: then the shortest solution of M x = M e_j is
// e_j itself.
static const double PART = 1e-8;  // square of that part

perp_status pp_law_determined(const pp_laws *laws, int i, bool *determined, pp_arena *arena)
{
    pp_mark mark = pp_arena_mark(arena);
    double *r = PP_ARRAY(arena, double, laws->rows);
    pp_equations e;
    perp_status status = r ? pp_law_equations(laws, &e, r, arena) : PERP_ERR_MEMORY;
    size_t square = status < 0 ? 0 : (size_t)e.n * (size_t)e.n;
    double *M = PP_ARRAY(arena, double, square);
    if (status >= 0 && !M) {
        status = PERP_ERR_MEMORY;
    }
    *determined = true;
    for (int j = 0; status >= 0 && j < e.n && *determined; j++) {
        if (e.owner[j] != i) {
            continue;
        }
        memcpy(M, e.M, square * sizeof *M);
        memcpy(e.b, e.M + (size_t)j * (size_t)e.n, (size_t)e.n * sizeof *e.b);
        int rank = pp_least_solve(e.n, M, e.b, e.x, e.scale, PP_LAW_RANK, arena);
        status = rank < 0 ? PERP_ERR_MEMORY : PERP_OK;
        *determined = fabs(e.x[j] - 1.0) <= PART;
    }
    pp_arena_release(arena, mark);
    return status;
}

// ── Residual ─────────────────────────────────────────────────────────────────────────────────────

// Distance of r_t from the point of the disc of radius `most` nearest to r_t - u_t.
static double disc_gap(int size, const double *r, const double *u, double most)
{
    double aim[2] = {0.0, 0.0}, length = 0.0, worst = 0.0;
    for (int k = 0; k < size; k++) {
        aim[k] = r[k] - u[k];
        length = hypot(length, aim[k]);
    }
    double s = length > most ? most / length : 1.0;
    for (int k = 0; k < size; k++) {
        worst = fmax(worst, fabs(r[k] - s * aim[k]));
    }
    return worst;
}

// base: the normal force of the contact that a law of turning leans on.
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
    if (law->kind == PP_LAW_BOX) {
        return disc_gap(1, r, u, law->bound);
    }
    if (law->kind == PP_LAW_RUBBING) {
        return fabs(r[0] + law->bound * law->d[0]);
    }
    worst = fabs(fmin(r[0], u[0]));
    double most = law->mu * (fmax(0.0, r[0]) + law->extra);
    if (law->kind == PP_LAW_CONTACT) {
        return fmax(worst, disc_gap(law->size - 1, r + 1, u + 1, most));
    }
    for (int k = 1; k < law->size; k++) {
        worst = fmax(worst, fabs(r[k] + law->mu * r[0] * law->d[k - 1]));
    }
    return worst;
}

// Sizes of rates and forces of the problem: what both are measured by.
void pp_law_sizes(const pp_laws *laws, const double *r, double *size_u, double *size_r)
{
    double diagonal = 0.0;
    for (int i = 0; i < laws->rows; i++) {
        diagonal = fmax(diagonal, laws->A[(size_t)i * ((size_t)laws->rows + 1)]);
    }
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
        return PP_INF;
    }
    pp_law_rates(laws, r, u);
    pp_law_sizes(laws, r, &size_u, &size_r);
    for (size_t i = 0; i < rows; i++) {
        u[i] /= size_u;
        f[i] = r[i] / size_r;
    }
    for (int i = 0; i < laws->count; i++) {
        pp_law law = laws->law[i];
        law.bound /= size_r;
        law.extra /= size_r;
        const pp_law *on = pp_law_is_turning(&law) ? &laws->law[law.on] : &law;
        double base = law.size > 0 ? fmax(0.0, f[on->at]) + on->extra / size_r : 0.0;
        worst = fmax(worst, law_gap(&law, f + law.at, u + law.at, base));
    }
    pp_arena_release(arena, mark);
    return worst;
}
