// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// One sweep of block Gauss–Seidel over contacts of bodies, and its residual.             theory (C26)
//
// A contact that opens or sticks is recognised by a product with W or its inverse; only those that slip
// are handed to the exact solver. Two velocities are taken at a time: lanes are fixed by the source, sums
// in their order, so that every machine gives the same bits.
#include "comp/sweeping/sweep.h"

#include "comp/sweeping/first.h"

#include <string.h>

typedef double pair __attribute__((vector_size(16), aligned(8), may_alias));

#define PAIR(p) (*(const pair *)(p))

// J v of one body, added to u.
static inline void add_rates(const double *J, const double *v, double u[3])
{
    pair a = PAIR(v), b = PAIR(v + 2), c = PAIR(v + 4);
    pair n = PAIR(J) * a + PAIR(J + 2) * b + PAIR(J + 4) * c;
    pair t = PAIR(J + 6) * a + PAIR(J + 8) * b + PAIR(J + 10) * c;
    pair o = PAIR(J + 12) * a + PAIR(J + 14) * b + PAIR(J + 16) * c;
    u[0] += n[0] + n[1];
    u[1] += t[0] + t[1];
    u[2] += o[0] + o[1];
}

// v += T r
static inline void add_impulse(const double *T, const double r[3], double *v)
{
    pair n = {r[0], r[0]}, t = {r[1], r[1]}, o = {r[2], r[2]};
    for (int j = 0; j < PP_SWEEP_V; j += 2) {
        *(pair *)(v + j) += PAIR(T + j) * n + PAIR(T + 6 + j) * t + PAIR(T + 12 + j) * o;
    }
}

static inline void contact_rates(const pp_sweep_contact *c, const double *v, double u[3])
{
    u[0] = c->w[0];
    u[1] = c->w[1];
    u[2] = c->w[2];
    for (int k = 0; k < 2; k++) {
        if (c->body[k] >= 0) {
            add_rates(c->J[k], v + PP_SWEEP_V * (ptrdiff_t)c->body[k], u);
        }
    }
}

static inline void apply_impulse(const pp_sweep_contact *c, const double r[3], double *v)
{
    for (int k = 0; k < 2; k++) {
        if (c->body[k] >= 0) {
            add_impulse(c->T[k], r, v + PP_SWEEP_V * (ptrdiff_t)c->body[k]);
        }
    }
}

static inline bool none(const double r[3])
{
    return r[0] == 0.0 && r[1] == 0.0 && r[2] == 0.0;
}

static inline void multiply(const double A[9], const double x[3], double y[3])
{
    for (int i = 0; i < 3; i++) {
        y[i] = A[i] * x[0] + A[i + 3] * x[1] + A[i + 6] * x[2];
    }
}

static void slip(const pp_sweep_contact *c, const double r[3], const double q[3], double x[3])
{
    if (c->regular && pp_one_contact_slip(c->mu, c->W, q, x)) {
        return;
    }
    pp_cone_law law = {.dim = 3, .groups = 1, .disc = {{.first = 1, .size = 2, .mu = c->mu}}};
    memcpy(x, r, 3 * sizeof *x);
    pp_one_contact(&law, c->W, q, x, NULL);
}

// The impulse of a contact whose rates are u, all others held.
static inline void solve_contact(const pp_sweep_contact *c, const double r[3], const double u[3],
                                 double x[3])
{
    double q[3], y[3];
    multiply(c->W, r, y);
    q[0] = u[0] - y[0];
    x[0] = x[1] = x[2] = 0.0;
    if (q[0] >= 0.0) {
        return;
    }
    if (!(c->mu > 0.0)) {
        x[0] = -q[0] / c->W[0];
        return;
    }
    if (c->regular) {
        multiply(c->stick, u, y);
        for (int i = 0; i < 3; i++) {
            x[i] = r[i] - y[i];
        }
        double most = c->mu * x[0];
        if (most >= 0.0 && x[1] * x[1] + x[2] * x[2] <= most * most) {
            return;
        }
    }
    multiply(c->W, r, y);
    q[1] = u[1] - y[1];
    q[2] = u[2] - y[2];
    slip(c, r, q, x);
}

// Contacts from..to - 1.
static pp_sweep_change sweep_range(pp_sweep *s, int from, int to)
{
    pp_sweep_change sum = {0.0, 0.0, 0.0};
    for (int i = from; i < to; i++) {
        const pp_sweep_contact *c = &s->contact[i];
        double u[3], x[3], dr[3], *r = s->r + 3 * (ptrdiff_t)i;
        contact_rates(c, s->v, u);
        if (u[0] >= 0.0 && none(r)) {
            continue;
        }
        solve_contact(c, r, u, x);
        for (int k = 0; k < 3; k++) {
            dr[k] = x[k] - r[k];
            r[k] = x[k];
        }
        apply_impulse(c, dr, s->v);
        double n = dr[0] * dr[0], t = dr[1] * dr[1] + dr[2] * dr[2];
        double rows = fmax(c->W[0] * c->W[0] * n, c->W[4] * c->W[4] * t);
        sum.worst = rows > sum.worst ? rows : sum.worst;  // squared here
        sum.squares += n + t;
        sum.size += x[0] * x[0] + x[1] * x[1] + x[2] * x[2];
    }
    return sum;
}

static void sum_change(pp_sweep_change *sum, pp_sweep_change part)
{
    sum->worst = part.worst > sum->worst || isnan(part.worst) ? part.worst : sum->worst;
    sum->squares += part.squares;
    sum->size += part.size;
}

// Units of one colour, and the pieces of them that a thread takes.
typedef struct shade {
    pp_sweep *sweep;
    int from, to;
} shade;

static void sweep_pieces(void *arg, int from, int to)
{
    const shade *a = arg;
    for (int k = from; k < to; k++) {
        int first = a->from + k * PP_SWEEP_PIECE, last = first + PP_SWEEP_PIECE;
        last = last < a->to ? last : a->to;
        const int *unit = a->sweep->unit;
        a->sweep->part[k] = sweep_range(a->sweep, unit[first], unit[last]);
    }
}

pp_sweep_change pp_sweep_once(pp_sweep *s)
{
    pp_sweep_change sum = {0.0, 0.0, 0.0};
    for (int k = 0; k < s->colours; k++) {
        shade a = {s, s->colour[k], s->colour[k + 1]};
        int pieces = (a.to - a.from + PP_SWEEP_PIECE - 1) / PP_SWEEP_PIECE;
        bool alone = s->serial && k == s->colours - 1;
        pp_team_share(alone ? NULL : s->team, pieces, 1, sweep_pieces, &a);
        for (int i = 0; i < pieces; i++) {
            sum_change(&sum, s->part[i]);
        }
    }
    sum.worst = sqrt(sum.worst);
    return sum;
}

void pp_sweep_apply_impulses(pp_sweep *s)
{
    for (int i = 0; i < s->count; i++) {
        const double *r = s->r + 3 * (ptrdiff_t)i;
        if (!none(r)) {
            apply_impulse(&s->contact[i], r, s->v);
        }
    }
}

// |p - P(p - u/m)| m, of the normal row and of the friction rows.
static pp_sweep_change natural_residual(const pp_sweep_contact *c, const double r[3],
                                        const double u[3])
{
    double n = c->W[0] > 0.0 ? c->W[0] : 1.0, t = c->W[4] > 0.0 ? c->W[4] : 1.0;
    double error = r[0] - fmax(r[0] - u[0] / n, 0.0);
    double x = r[1] - u[1] / t, y = r[2] - u[2] / t;
    double most = c->mu * fmax(r[0], 0.0), size = sqrt(x * x + y * y);
    double share = size > most ? most / size : 1.0;
    double a = r[1] - share * x, b = r[2] - share * y, across = a * a + b * b;
    return (pp_sweep_change){fmax(n * fabs(error), t * sqrt(across)), error * error + across,
                             r[0] * r[0] + r[1] * r[1] + r[2] * r[2]};
}

pp_sweep_change pp_sweep_residual(const pp_sweep *s)
{
    pp_sweep_change sum = {0.0, 0.0, 0.0};
    for (int i = 0; i < s->count; i++) {
        const pp_sweep_contact *c = &s->contact[i];
        double u[3];
        contact_rates(c, s->v, u);
        const double *r = s->r + 3 * (ptrdiff_t)i;
        if (u[0] < 0.0 || !none(r)) {
            sum_change(&sum, natural_residual(c, r, u));
        }
    }
    return sum;
}

double pp_sweep_scale(const pp_sweep *s)
{
    double sum = 0.0;
    for (int i = 0; i < s->count; i++) {
        const pp_sweep_contact *c = &s->contact[i];
        double u[3], y[3], mobility = c->W[0] + c->W[4] + c->W[8];
        contact_rates(c, s->v, u);
        multiply(c->W, s->r + 3 * (ptrdiff_t)i, y);
        double square = 0.0;
        for (int k = 0; k < 3; k++) {
            square += (u[k] - y[k]) * (u[k] - y[k]);
        }
        sum += mobility > 0.0 ? 9.0 * square / (mobility * mobility) : 0.0;
    }
    return sum;
}

// W = J T of both bodies, and its inverse by cofactors.
bool pp_sweep_prepare(pp_sweep_contact *c)
{
    double *W = c->W, *S = c->stick;
    for (int j = 0; j < 3; j++) {
        double *column = W + 3 * (ptrdiff_t)j;
        memset(column, 0, 3 * sizeof *column);
        for (int k = 0; k < 2; k++) {
            if (c->body[k] >= 0) {
                add_rates(c->J[k], c->T[k] + PP_SWEEP_V * (ptrdiff_t)j, column);
            }
        }
    }
    for (int j = 0; j < 3; j++) {
        const double *a = W + 3 * (ptrdiff_t)((j + 1) % 3), *b = W + 3 * (ptrdiff_t)((j + 2) % 3);
        S[j] = a[1] * b[2] - a[2] * b[1];
        S[j + 3] = a[2] * b[0] - a[0] * b[2];
        S[j + 6] = a[0] * b[1] - a[1] * b[0];
    }
    double det = W[0] * S[0] + W[1] * S[3] + W[2] * S[6];
    c->regular = det > 1e-6 * W[0] * W[4] * W[8];
    for (int k = 0; k < 9 && c->regular; k++) {
        S[k] /= det;
    }
    return W[0] > 0.0;
}
