// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Whether weights of rows contradict them, and whether a motion shows that forces cannot be balanced, from the rows
// alone: no masses, no solver, sums in extended precision.
//
// If y_n >= 0 and sum y_n J_n + sum y_b J_b = 0, every velocity that obeys the rows has
// 0 <= sum y_n (J_n nu + c_n) + sum y_b (J_b nu + c_b) = sum y c. Where that is negative there is none.  theory (U9)
#include "assemble/assemble.h"

#include "math/math.h"

#include <math.h>

typedef long double real;

static const real CANCEL = 1e-10L;  // of the terms that sum y J is made of
static const real DATA = 4e-16L;    // J that is a rounding of zero, next to the body's others
static const real PROOF = 1e-9L;    // of the terms that sum y c is made of

// Sums of y J by velocity, and of y c, each beside the sum of its absolute terms: what rounding is measured by.
typedef struct scale_pan {
    const perp_model *model;
    real *sum, *terms;  // nv: of y J
    real value, size;   // of y c
    bool fits;          // signs, and nothing compliant
} scale_pan;

// Adds y times a row to the sum W y, and y times its right-hand side to the value. A soft row (gamma > 0) gives way and
// proves nothing.
static void add_row_terms(scale_pan *s, const pp_row *row, double y, double c)
{
    for (int k = 0; k < row->count; k++) {
        const pp_body *body = &s->model->body[row->body[k]];
        for (int v = 0; v < body->nv; v++) {
            real part = (real)y * (real)row->J[k][v];
            s->sum[body->at + v] += part;
            s->terms[body->at + v] += fabsl(part);
        }
    }
    real part = (real)y * (real)c;
    s->value += part;
    // rate and bias may cancel: the scale is of both, so that a proof does not rest on their rounding
    s->size += (real)fabs(y) * ((real)fabs(row->rate) + (real)fabs(c - row->rate));
    s->fits = s->fits && isfinite(y) && isfinite(c) && (y == 0.0 || row->gamma == 0.0);
}

// Whether W y vanishes on a body, relative to its own terms (rounding) and to the largest ones (errors of the data).
static bool cancels(const scale_pan *s, const pp_body *body)
{
    real largest = 0.0L;
    bool all = true;
    for (int v = 0; v < body->nv; v++) {
        largest = fmaxl(largest, s->terms[body->at + v]);
    }
    for (int v = 0; v < body->nv; v++) {
        real most = CANCEL * s->terms[body->at + v] + DATA * largest;
        all = all && fabsl(s->sum[body->at + v]) <= most;
    }
    return all;
}

// A rebound is the law's wish, the gap is what there is: a row that bounces counts with the weaker of both.
static double right_side(const pp_row *row, double h)
{
    double gap = fmax(row->value, 0.0) / h;
    return row->rate + (row->bounces ? fmax(row->bias, gap) : row->bias);
}

// Farkas' lemma: y with y_n >= 0, W y = 0 and y . c < 0 proves that no velocity satisfies all rows. Returns y . c relative
// to its terms, infinity where y proves nothing. In extended precision, from the rows alone.
double pp_rows_contradiction(const perp_model *model, const pp_rows *rows, double h,
                             const double *yn, const double *yb, pp_arena *arena)
{
    size_t nv = (size_t)model->nv;
    scale_pan s = {.model = model, .fits = h > 0.0};
    s.sum = PP_ZEROS(arena, real, nv);
    s.terms = PP_ZEROS(arena, real, nv);
    if (nv > 0 && (!s.sum || !s.terms)) {
        return PP_INF;
    }
    for (int i = 0; i < rows->nn; i++) {
        s.fits = s.fits && yn[i] >= 0.0;
        add_row_terms(&s, &rows->n[i], yn[i], right_side(&rows->n[i], h));
    }
    for (int i = 0; i < rows->nb; i++) {
        add_row_terms(&s, &rows->b[i], yb[i], rows->b[i].rate + rows->b[i].bias);
    }
    for (int b = 0; b < model->bodies; b++) {
        s.fits = s.fits && cancels(&s, &model->body[b]);
    }
    // a negative sum by more than its own rounding
    bool proves = s.fits && s.value < -PROOF * s.size;
    return proves ? (double)(s.value / s.size) : PP_INF;
}

// ── Balance ──────────────────────────────────────────────────────────────────────────────────────

// J d, and the terms it is made of.
static real row_rate(const perp_model *model, const pp_row *row, const double *d, real *terms)
{
    real sum = 0.0L;
    for (int k = 0; k < row->count; k++) {
        const pp_body *body = &model->body[row->body[k]];
        for (int v = 0; v < body->nv; v++) {
            real part = (real)row->J[k][v] * (real)d[body->at + v];
            sum += part;
            *terms += fabsl(part);
        }
    }
    return sum;
}

// J_n d less mu |J_t d| of all groups: what a unit of normal impulse could at least take from the motion.
static bool lets_happen(const perp_model *model, const pp_rows *rows, int i, const double *d)
{
    real terms = 0.0L, least = row_rate(model, &rows->n[i], d, &terms);
    for (int k = 0; k < rows->grouped[i]; k++) {
        const pp_friction *group = &rows->group[rows->friction[i] + k];
        real slip[2] = {0.0L, 0.0L}, own = 0.0L;
        for (int a = 0; a < group->size; a++) {
            slip[a] = row_rate(model, &rows->t[group->t + a], d, &own);
        }
        least -= (real)group->mu * sqrtl(slip[0] * slip[0] + slip[1] * slip[1]);
        terms += (real)group->mu * own;
    }
    return least >= -CANCEL * terms;
}

double pp_rows_unbounded_motion(const perp_model *model, const pp_rows *rows, const double *p_ext,
                                const double *d)
{
    // A motion d that the rows allow and along which forces do work is one that nothing balances: Farkas' lemma. Boxed
    // rows work against it with their bounds; the work must exceed the rounding of its terms.
    real value = 0.0L, size = 0.0L;
    bool free = true;
    for (int v = 0; v < model->nv; v++) {
        real part = (real)p_ext[v] * (real)d[v];
        free = free && isfinite(d[v]);
        value += part;
        size += fabsl(part);
    }
    for (int i = 0; i < rows->nm; i++) {
        real terms = 0.0L, rate = row_rate(model, &rows->m[i], d, &terms);
        // the work of a boxed row on the motion is rate p with p in [lower, upper]: its least value counts
        if (fabsl(rate) > CANCEL * terms) {
            real part = rate * (real)(rate > 0.0L ? rows->m[i].lower : rows->m[i].upper);
            value += part;
            size += fabsl(part);
        }
    }
    for (int i = 0; i < rows->nb; i++) {
        real terms = 0.0L, rate = row_rate(model, &rows->b[i], d, &terms);
        // a motion against a joint is none
        free = free && fabsl(rate) <= CANCEL * terms;
    }
    for (int i = 0; i < rows->nn; i++) {
        free = free && lets_happen(model, rows, i, d);
    }
    bool proves = free && isfinite(value) && value > PROOF * size;
    return proves ? (double)(value / size) : 0.0;
}
