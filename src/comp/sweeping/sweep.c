// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// One sweep of block Gauss–Seidel over contacts of bodies, and its residual.             theory
// (C26)
//
// A contact that opens or sticks is recognised by a product with W or with its inverse;
// only slipping ones go to the exact solver. Velocities are processed in pairs: the
// source fixes the lanes and the order of all sums, so that every machine gives the same
// bits. Nothing is proved with friction. Cost: 72 multiplications a contact for J and T,
// and three or four Newton steps where it slips.
#include "comp/sweeping/sweep.h"

#include "comp/friction/cone.h"

#include <string.h>

// Two doubles in one register, at any address of a double.
typedef double pair __attribute__((vector_size(16), aligned(8), may_alias));

#define PAIR(p) (*(const pair *)(p))

// u += J v of one body
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

// u = J v + w
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

// v += T r for both bodies
static inline void apply_impulse(const pp_sweep_contact *c, const double r[3], double *v)
{
    for (int k = 0; k < 2; k++) {
        if (c->body[k] >= 0) {
            add_impulse(c->T[k], r, v + PP_SWEEP_V * (ptrdiff_t)c->body[k]);
        }
    }
}

// The exact zero of an open contact.
static inline bool is_zero_impulse(const double r[3])
{
    return r[0] == 0.0 && r[1] == 0.0 && r[2] == 0.0;
}

// y = A x, 3 x 3 column-major
static inline void multiply3(const double A[9], const double x[3], double y[3])
{
    for (int i = 0; i < 3; i++) {
        y[i] = A[i] * x[0] + A[i + 3] * x[1] + A[i + 6] * x[2];
    }
}

// x = the impulse of a closed contact that does not stick: by theory (C27), otherwise by the
// general solver from the last impulse r.
static void solve_slip(const pp_sweep_contact *c, const double r[3], const double q[3], double x[3])
{
    if (c->regular && pp_one_contact_slip(c->mu, c->W, q, x)) {
        return;
    }
    pp_cone_law law = {.dim = 3, .groups = 1, .disc = {{.first = 1, .size = 2, .mu = c->mu}}};
    memcpy(x, r, 3 * sizeof *x);
    pp_one_contact(&law, c->W, q, x, NULL);
}

// x = the impulse of a contact whose velocity is u and whose impulse is r, all others held. q = u -
// W r is its velocity without its own impulse: the contact stays open where q_n >= 0.
static inline void solve_contact(const pp_sweep_contact *c, const double r[3], const double u[3],
                                 double x[3])
{
    double q[3], y[3];
    multiply3(c->W, r, y);
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
        // stick: u + W (x - r) = 0
        multiply3(c->stick, u, y);
        for (int i = 0; i < 3; i++) {
            x[i] = r[i] - y[i];
        }
        double most = c->mu * x[0];
        if (most >= 0.0 && x[1] * x[1] + x[2] * x[2] <= most * most) {
            return;
        }
    }
    multiply3(c->W, r, y);
    q[1] = u[1] - y[1];
    q[2] = u[2] - y[2];
    solve_slip(c, r, q, x);
}

// Sweeps the contacts from..to - 1. `worst` of the result is squared.
static pp_sweep_change sweep_range(pp_sweep *s, int from, int to)
{
    pp_sweep_change sum = {0.0, 0.0, 0.0};
    for (int i = from; i < to; i++) {
        const pp_sweep_contact *c = &s->contact[i];
        double u[3], x[3], dr[3], *r = s->r + 3 * (ptrdiff_t)i;
        contact_rates(c, s->v, u);
        // open, and stays so
        if (u[0] >= 0.0 && is_zero_impulse(r)) {
            continue;
        }
        solve_contact(c, r, u, x);
        for (int k = 0; k < 3; k++) {
            dr[k] = x[k] - r[k];
            r[k] = x[k];
        }
        apply_impulse(c, dr, s->v);
        // the change of the contact's own rows, by the diagonal of W
        double n = dr[0] * dr[0], t = dr[1] * dr[1] + dr[2] * dr[2];
        double rows = fmax(c->W[0] * c->W[0] * n, c->W[4] * c->W[4] * t);
        sum.worst = rows > sum.worst ? rows : sum.worst;
        sum.squares += n + t;
        sum.size += x[0] * x[0] + x[1] * x[1] + x[2] * x[2];
    }
    return sum;
}

// Adds the change of a piece; a NaN stays visible in `worst`.
static void sum_change(pp_sweep_change *sum, pp_sweep_change part)
{
    sum->worst = part.worst > sum->worst || isnan(part.worst) ? part.worst : sum->worst;
    sum->squares += part.squares;
    sum->size += part.size;
}

// The units from..to - 1 of one colour.
typedef struct shade {
    pp_sweep *sweep;
    int from, to;
} shade;

// The work of one thread: pieces of PP_SWEEP_PIECE units. Pieces do not depend on the number of
// threads, so that neither do the sums.
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
        // colour by colour: threads meet at the end of each
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
        if (!is_zero_impulse(r)) {
            apply_impulse(&s->contact[i], r, s->v);
        }
    }
}

// The natural map of one contact, row by row: r - P(r - u / m), m the mobility of the row (W_nn or
// W_tt). worst is that times m [m/s].
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

// Open contacts that separate have a zero map.
pp_sweep_change pp_sweep_residual(const pp_sweep *s)
{
    pp_sweep_change sum = {0.0, 0.0, 0.0};
    for (int i = 0; i < s->count; i++) {
        const pp_sweep_contact *c = &s->contact[i];
        double u[3];
        contact_rates(c, s->v, u);
        const double *r = s->r + 3 * (ptrdiff_t)i;
        if (u[0] < 0.0 || !is_zero_impulse(r)) {
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
        multiply3(c->W, s->r + 3 * (ptrdiff_t)i, y);
        double square = 0.0;
        for (int k = 0; k < 3; k++) {
            square += (u[k] - y[k]) * (u[k] - y[k]);
        }
        sum += mobility > 0.0 ? 9.0 * square / (mobility * mobility) : 0.0;  // rho = 3 / tr W
    }
    return sum;
}

// W = sum J T over both bodies, and its inverse by cofactors where det W is not small beside the
// product of the diagonal.
bool pp_sweep_prepare(pp_sweep_contact *c)
{
    double *W = c->W, *S = c->stick;
    // column j of W is J times column j of T
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
    if (c->regular) {
        for (int k = 0; k < 9; k++) {
            S[k] /= det;
        }
    }
    return W[0] > 0.0;
}
