// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// One sweep of block Gauss–Seidel over contacts of bodies, and its residual.             theory
// (C26)
//
// A contact that opens or sticks is recognised by a product with W or with its inverse. One that
// slips takes its direction e from the natural map of its tangents and then the normal impulse that
// closes it for this direction: e and the slip agree where the sweeps end, without an inner
// iteration. Velocities are processed in pairs: the source fixes the lanes and the order of all
// sums, so that every machine gives the same bits. Nothing is proved with friction. Cost: 72
// multiplications a contact for J, and a square root and two divisions where it slips.
#include "comp/sweeping/sweep.h"

#include "comp/friction/cone.h"

#include <string.h>

// Two doubles in one register, at any address of a double.
typedef double pair __attribute__((vector_size(16), aligned(8), may_alias));

#define PAIR(p) (*(const pair *)(p))

// Where friction takes all but this part of W_nn from the normal motion, the contact nearly jams, and
// there may be several slips.
static const double NEARLY_JAMMED = 1e-6;

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

// v += J' r
static inline void add_impulse(const double *J, const double r[3], double *v)
{
    pair n = {r[0], r[0]}, t = {r[1], r[1]}, o = {r[2], r[2]};
    for (int j = 0; j < PP_SWEEP_V; j += 2) {
        *(pair *)(v + j) += PAIR(J + j) * n + PAIR(J + 6 + j) * t + PAIR(J + 12 + j) * o;
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

// v += J' r for both bodies
static inline void apply_impulse(const pp_sweep_contact *c, const double r[3], double *v)
{
    for (int k = 0; k < 2; k++) {
        if (c->body[k] >= 0) {
            add_impulse(c->J[k], r, v + PP_SWEEP_V * (ptrdiff_t)c->body[k]);
        }
    }
}

// The exact zero of an open contact.
static inline bool is_zero_impulse(const double r[3])
{
    return r[0] == 0.0 && r[1] == 0.0 && r[2] == 0.0;
}

// y = A x, A symmetric: nn, nt, no, tt, to, oo
static inline void multiply3(const double A[6], const double x[3], double y[3])
{
    y[0] = A[0] * x[0] + A[1] * x[1] + A[2] * x[2];
    y[1] = A[1] * x[0] + A[3] * x[1] + A[4] * x[2];
    y[2] = A[2] * x[0] + A[4] * x[1] + A[5] * x[2];
}

// Inverse of the mobility by which the natural map of the tangents is taken: their mean.
static inline double tangent_mass(const pp_sweep_contact *c)
{
    double sum = c->W[3] + c->W[5];
    return sum > 0.0 ? 2.0 / sum : 1.0;
}

// x = the impulse of a closed contact by the exact solver, from the last impulse r.
static void solve_exactly(const pp_sweep_contact *c, const double r[3], const double u[3],
                          double x[3])
{
    const double *S = c->W, W[9] = {S[0], S[1], S[2], S[1], S[3], S[4], S[2], S[4], S[5]};
    pp_cone_law law = {.dim = 3, .groups = 1, .disc = {{.first = 1, .size = 2, .mu = c->mu}}};
    double q[3];
    multiply3(c->W, r, q);
    for (int i = 0; i < 3; i++) {
        q[i] = u[i] - q[i];
        x[i] = r[i];
    }
    pp_one_contact(&law, W, q, x, NULL);
}

// x = the impulse on the limit of friction opposite to y = r_t - u_t / m that keeps u_n = 0. False: there is
// none, friction nearly jams the contact, or y is within the limit, where the slip would not
// oppose friction.
static inline bool slip_along_map(const pp_sweep_contact *c, const double r[3], const double u[3],
                                  double normal, double x[3])
{
    double m = tangent_mass(c), y[2] = {r[1] - m * u[1], r[2] - m * u[2]};
    double size = sqrt(y[0] * y[0] + y[1] * y[1]), share = size > 0.0 ? c->mu / size : 0.0;
    double t = share * y[0], o = share * y[1];  // of friction, for each unit of the normal impulse
    double den = c->W[0] + c->W[1] * t + c->W[2] * o;
    if (!(den > NEARLY_JAMMED * c->W[0])) {
        return false;
    }
    x[0] = -normal / den;
    x[1] = t * x[0];
    x[2] = o * x[0];
    return size >= c->mu * x[0];
}

// x = the impulse of a contact whose velocity is u and whose impulse is r, all others held. normal:
// its normal velocity without its own impulse, where it stays open if that is not negative.
static inline void solve_contact(const pp_sweep_contact *c, const double r[3], const double u[3],
                                 double x[3])
{
    double y[3], normal = u[0] - (c->W[0] * r[0] + c->W[1] * r[1] + c->W[2] * r[2]);
    x[0] = x[1] = x[2] = 0.0;
    if (normal >= 0.0) {
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
        if (slip_along_map(c, r, u, normal, x)) {
            return;
        }
    }
    solve_exactly(c, r, u, x);
}

// u += J_n v of one body, and v += J_n' r: contacts without friction have no other rows.
static inline double normal_rate(const double *J, const double *v)
{
    pair n = PAIR(J) * PAIR(v) + PAIR(J + 2) * PAIR(v + 2) + PAIR(J + 4) * PAIR(v + 4);
    return n[0] + n[1];
}

static inline void add_normal_impulse(const double *J, double r, double *v)
{
    pair n = {r, r};
    for (int j = 0; j < PP_SWEEP_V; j += 2) {
        *(pair *)(v + j) += PAIR(J + j) * n;
    }
}

// Solves a contact without friction. Returns the change of its normal velocity; open: it was open, and stays so.
static inline double sweep_frictionless(const pp_sweep_contact *c, double *r, double *v, bool *open)
{
    double u = c->w[0];
    for (int k = 0; k < 2; k++) {
        if (c->body[k] >= 0) {
            u += normal_rate(c->J[k], v + PP_SWEEP_V * (ptrdiff_t)c->body[k]);
        }
    }
    *open = u >= 0.0 && *r == 0.0;
    if (*open) {
        return 0.0;
    }
    double x = fmax(*r - u / c->W[0], 0.0), dr = x - *r;
    *r = x;
    for (int k = 0; k < 2; k++) {
        if (c->body[k] >= 0) {
            add_normal_impulse(c->J[k], dr, v + PP_SWEEP_V * (ptrdiff_t)c->body[k]);
        }
    }
    return c->W[0] * dr;
}

// Sweeps the contacts from..to - 1. `worst` of the result is squared.
static pp_sweep_change sweep_range(pp_sweep *s, int from, int to)
{
    pp_sweep_change sum = {0};
    for (int i = from; i < to; i++) {
        const pp_sweep_contact *c = &s->contact[i];
        double u[3], x[3], dr[3], *r = s->r + 3 * (ptrdiff_t)i;
        if (!(c->mu > 0.0)) {
            bool open;
            double n = sweep_frictionless(c, r, s->v, &open);
            sum.worst = n * n > sum.worst ? n * n : sum.worst;
            sum.squares += n * n;
            sum.active += !open;
            continue;
        }
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
        double n = c->W[0] * dr[0], t = c->W[3] * dr[1], o = c->W[5] * dr[2];
        double rows = n * n + t * t + o * o;
        sum.worst = rows > sum.worst ? rows : sum.worst;
        sum.squares += rows;
        sum.active++;
    }
    return sum;
}

// Adds the change of a piece; a NaN stays visible in `worst`.
static void sum_change(pp_sweep_change *sum, pp_sweep_change part)
{
    sum->worst = part.worst > sum->worst || isnan(part.worst) ? part.worst : sum->worst;
    sum->sinks = part.sinks > sum->sinks ? part.sinks : sum->sinks;
    sum->squares += part.squares;
    sum->active += part.active;
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
    pp_sweep_change sum = {0};
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

// The natural map of one contact, row by row: m (r - P(r - u / m)), m the mobility of the row (W_nn,
// or the mean of the tangents) [m/s].
static pp_sweep_change natural_residual(const pp_sweep_contact *c, const double r[3],
                                        const double u[3])
{
    double n = c->W[0] > 0.0 ? c->W[0] : 1.0, m = tangent_mass(c);
    double error = n * (r[0] - fmax(r[0] - u[0] / n, 0.0));
    double x = r[1] - m * u[1], y = r[2] - m * u[2];
    double most = c->mu * fmax(r[0], 0.0), size = sqrt(x * x + y * y);
    double share = size > most ? most / size : 1.0;
    double a = (r[1] - share * x) / m, b = (r[2] - share * y) / m, across = a * a + b * b;
    return (pp_sweep_change){.worst = fmax(fabs(error), sqrt(across)),
                             .sinks = fmax(-u[0], 0.0),
                             .squares = error * error + across,
                             .active = 1};
}

// Open contacts that separate have a zero map.
pp_sweep_change pp_sweep_residual(const pp_sweep *s)
{
    pp_sweep_change sum = {0};
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

// W = sum J J' over both bodies, and its inverse by cofactors where det W is not small beside the
// product of the diagonal.
bool pp_sweep_prepare(pp_sweep_contact *c)
{
    static const int row[6] = {0, 0, 0, 1, 1, 2}, column[6] = {0, 1, 2, 1, 2, 2};
    double *W = c->W, *S = c->stick;
    for (int e = 0; e < 6; e++) {
        W[e] = 0.0;
        for (int k = 0; k < 2; k++) {
            for (int j = 0; j < PP_SWEEP_V && c->body[k] >= 0; j++) {
                W[e] += c->J[k][PP_SWEEP_V * row[e] + j] * c->J[k][PP_SWEEP_V * column[e] + j];
            }
        }
    }
    S[0] = W[3] * W[5] - W[4] * W[4];
    S[1] = W[2] * W[4] - W[1] * W[5];
    S[2] = W[1] * W[4] - W[2] * W[3];
    S[3] = W[0] * W[5] - W[2] * W[2];
    S[4] = W[1] * W[2] - W[0] * W[4];
    S[5] = W[0] * W[3] - W[1] * W[1];
    double det = W[0] * S[0] + W[1] * S[1] + W[2] * S[2];
    c->regular = det > 1e-6 * W[0] * W[3] * W[5];
    double share = c->regular ? 1.0 / det : 0.0;
    for (int k = 0; k < 6; k++) {
        S[k] *= share;
    }
    return W[0] > 0.0;
}
