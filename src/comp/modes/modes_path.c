// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Contacts far from their answer: the central path of the exact law, by a primal-dual interior point method in the
// space of velocities.                                                                     theory (S20) to (S22)
//
// With T = diag(mu, 1, 1), the impulse r = T p and the rate v = T^-1 (u + mu |u_t| n) of a contact lie in the Lorentz cone
// L, and r . v = 0. On the central path r o v = tau e, and tau -> 0. Newton's step, in the scaling of Nesterov and Todd:
//
//   dr + Q dv = aim v^-1 - r,   dv = E (T^-1 J dnu - R),   R = v - s(v) e_0 - T^-1 u,   E = (I - e_0 s'(v))^-1
//
// So each contact has a linear law dp = c - K J dnu, K = T^-1 Q E T^-1, and one system of the size of the bodies gives the
// step, as with modes. A predictor (aim = 0) shows which tau to aim at; a corrector adds the term of second order (Mehrotra
// 1992). The shift |v_t| has no slope at 0: inside the cone it is s(v)^2 = eps^2 v_0^2 + (1 - eps^2) |v_t|^2, which is
// |v_t| where the contact slides (v_0 = |v_t|) and where it sticks (v = 0).
//
// Coulomb's law is not monotone, and its path may turn back: steps become short. Then the step gets a proximal term
// alpha m (p - p_last), which grows while steps stay short, and falls again after long ones. It leaves a part of R. A path that
// turns back near the boundary of the cones need not do so farther inside: tau is tied to R, by another factor in each path. Near the answer, where steps no longer lower the error, convex problems (modes_convex.c) go on from the path.
//
// A boxed row l <= p <= h has u = y - z and (p - l) y = (h - p) z = tau.
#include "comp/modes/modes.h"

#include <math.h>
#include <string.h>

enum {
    STEPS_MOST = 100,
    SHORTS_MOST = 8,  // short steps in a row that end the path
    DIM = 3           // rows of a contact in its cone
};

static const double BOUNDARY = 0.95;  // of the way to the boundary of the cones that a step takes
static const double LEAST_SHARE = 0.01;      // of tau that a step aims at
static const double ROUNDING_OF_SLIP = 0.5;  // eps of the shift
static const double MU_LEAST = 1e-3;         // T has to be regular
static const double SHORT = 0.15;            // lengths of steps: one that counts as short,
static const double SLOW = 0.3;              // one after which alpha grows,
static const double FAST = 0.6;              // and one after which it falls
static const double ALPHA_FIRST = 1e-3;      // in units of the mobility
static const double ALPHA_MOST = 1.0;
static const double ALPHA_LEAST = 1e-5;  // below it there is none
static const double ALPHA_UP = 2.0;
static const double ALPHA_DOWN = 0.5;
// of R, its mean over contacts: the least tau of each path
static const double TIES[PP_MODES_PATHS] = {0.2, 0.1, 0.3};
static const double STALLS = 0.7;  // of the error: a step that leaves more of it
static const double NEAR =
    100.0;  // of what is accepted: error from which a stall leads to convex problems,
static const double AGAIN = 0.1;  // and of that, to the next ones

// One contact on the path, in units in which p u is an energy and the largest rate at p = 0 is 1.
typedef struct path_contact {
    int dim;          // 1 to 3; of a boxed row that cannot change 0
    double unit;      // r = T unit p
    double rates;     // v = T^-1 rates u: unit / mobility
    double T[DIM];    // diagonal
    double r[DIM];    // of a boxed row r[0] = unit p
    double v[DIM];    // of a boxed row y and z
    double slack[2];  // boxed: unit (p - l), unit (h - p), infinite without a bound
    double w[DIM];    // scaling point: Q = eta^2 (2 w w' - J)
    double eta;       // of a boxed row K in these units
    double e[DIM];    // E = I + e_0 e'
    double QE[DIM * DIM];
    double R[DIM];
    double K[DIM * DIM], A[DIM * DIM];  // with the proximal term: A K and A = (I + alpha m K)^-1
    double dr[DIM], dv[DIM], dslack[2];
    double second[DIM];  // term of second order
} path_contact;

typedef struct path {
    pp_modes *s;
    path_contact *contact;
    int degree;    // r . v = degree tau
    double alpha;  // factor of the proximal term
    double tie;    // of R, its mean over contacts: the least tau
} path;

// Discs without torsion and rolling, whose cones would share p_n, and without compliance.
bool pp_modes_has_paths(const pp_modes *s)
{
    for (int i = 0; i < s->count; i++) {
        const pp_mode_contact *c = &s->contact[i];
        const pp_mode_friction *f = c->friction;
        bool disc = c->sets == 0 || (c->sets == 1 && !f->moment && (f->sides == 0 || f->size == 1));
        if (!c->boxed && (c->gamma > 0.0 || !disc)) {
            return false;
        }
    }
    return true;
}

// The impulses of the path in the answer; friction without mu is 0.
static void put_impulses(const path *x)
{
    pp_modes *s = x->s;
    for (int i = 0; i < s->count; i++) {
        const pp_mode_contact *c = &s->contact[i];
        const path_contact *a = &x->contact[i];
        double *pt = c->pt;
        *c->p = a->r[0] / (a->T[0] * a->unit);
        for (int k = 1; k <= c->size; k++) {
            pt[k - 1] = k < a->dim ? a->r[k] / a->unit : 0.0;
        }
    }
}

// ── The start ────────────────────────────────────────────────────────────────────────────────────

// The largest rate at p = 0, in the units of each contact; 1 where nothing moves.
static double largest_free_rate(pp_modes *s)
{
    double most = 0.0;
    for (int i = 0; i < s->count; i++) {
        const pp_mode_contact *c = &s->contact[i];
        double *pt = c->pt;
        *c->p = 0.0;
        for (int k = 0; k < c->size; k++) {
            pt[k] = 0.0;
        }
    }
    pp_modes_evaluate(s);
    for (int i = 0; i < s->count; i++) {
        const pp_mode_contact *c = &s->contact[i];
        for (int k = 0; k <= c->size; k++) {
            most = fmax(most, fabs(c->u[k]) / sqrt(c->mobility));
        }
    }
    return most > 0.0 ? most : 1.0;
}

// In the middle of its bounds, or 1 from the only one.
static void begin_box(path_contact *a, const pp_mode_contact *c)
{
    double low = c->lower * a->unit, high = c->upper * a->unit;
    bool bounded = low > -PP_INF, above = high < PP_INF;
    a->T[0] = 1.0;
    a->dim = bounded && above && !(high > low) ? 0 : 1;
    if (bounded && above) {
        a->r[0] = 0.5 * (low + high);
    } else if (bounded) {
        a->r[0] = low + 1.0;
    } else if (above) {
        a->r[0] = high - 1.0;
    }
    a->slack[0] = bounded && a->dim > 0 ? a->r[0] - low : PP_INF;
    a->slack[1] = above && a->dim > 0 ? high - a->r[0] : PP_INF;
    for (int b = 0; b < 2; b++) {
        a->v[b] = a->slack[b] < PP_INF ? 1.0 / a->slack[b] : 0.0;
    }
}

// p_n = 1 and tau = 1 at every contact.
static void begin(path *x, double tie)
{
    pp_modes *s = x->s;
    x->degree = 0;
    x->alpha = 0.0;
    x->tie = tie;
    double most = largest_free_rate(s);
    for (int i = 0; i < s->count; i++) {
        const pp_mode_contact *c = &s->contact[i];
        path_contact *a = &x->contact[i];
        *a = (path_contact){0};
        // u rates = v and p unit = r, so that r v most^2 = p u: an energy
        a->unit = sqrt(c->mobility) / most;
        a->rates = a->unit / c->mobility;
        if (c->boxed) {
            begin_box(a, c);
            x->degree += (a->slack[0] < PP_INF) + (a->slack[1] < PP_INF);
            continue;
        }
        bool rubs = c->sets == 1 && c->friction[0].mu > 0.0;
        a->dim = rubs ? 1 + c->size : 1;
        a->T[0] = rubs ? fmax(c->friction[0].mu, MU_LEAST) : 1.0;
        a->T[1] = a->T[2] = 1.0;
        a->r[0] = a->T[0];
        a->v[0] = 1.0 / a->T[0];
        x->degree++;
    }
    put_impulses(x);
}

// ── One contact ──────────────────────────────────────────────────────────────────────────────────

// A = (I + alpha m K)^-1 by Gauss and Jordan, and K = A K: with the proximal term dp = A (c - K J dnu). No pivots: the
// matrix is I and a part that is nearly positive definite.
static void soften(path_contact *a, double alpha_m)
{
    int d = a->dim;
    double B[DIM * DIM], K[DIM * DIM];
    memcpy(K, a->K, sizeof K);
    memset(a->A, 0, sizeof a->A);
    for (int i = 0; i < d * d; i++) {
        B[i] = alpha_m * K[i];
    }
    for (int i = 0; i < d; i++) {
        B[i * (d + 1)] += 1.0;
        a->A[i * (d + 1)] = 1.0;
    }
    // column by column, on both sides
    for (int k = 0; k < d; k++) {
        double f = 1.0 / B[k * (d + 1)];
        for (int j = 0; j < d; j++) {
            B[k + j * d] *= f;
            a->A[k + j * d] *= f;
        }
        for (int i = 0; i < d; i++) {
            double g = i == k ? 0.0 : B[i + k * d];
            for (int j = 0; j < d; j++) {
                B[i + j * d] -= g * B[k + j * d];
                a->A[i + j * d] -= g * a->A[k + j * d];
            }
        }
    }
    for (int i = 0; i < d; i++) {
        for (int j = 0; j < d; j++) {
            a->K[i + j * d] = 0.0;
            for (int k = 0; k < d; k++) {
                a->K[i + j * d] += a->A[i + k * d] * K[k + j * d];
            }
        }
    }
}

// The scaling point w = (r / |r| + J v / |v|) / (2 half), det w = 1, with |.| = sqrt(det); then R, E, Q E and K.
static void set_cone(path_contact *a, const pp_mode_contact *c, double alpha)
{
    int d = a->dim;
    double rd = sqrt(pp_lorentz_det(d, a->r)), vd = sqrt(pp_lorentz_det(d, a->v));
    double cosine = 0.0, square = 0.0, eps2 = ROUNDING_OF_SLIP * ROUNDING_OF_SLIP;
    for (int k = 0; k < d; k++) {
        double part = k == 0 ? eps2 : 1.0 - eps2;
        cosine += a->r[k] * a->v[k];
        a->e[k] = part * a->v[k];
        square += part * a->v[k] * a->v[k];
    }
    // s' = e / s, and E = I + e_0 s' / (1 - s'_0)
    double shift = sqrt(square), own = 1.0 - a->e[0] / shift;
    double half = sqrt(0.5 * (1.0 + cosine / (rd * vd))), size = rd / vd;
    a->eta = sqrt(size);
    for (int k = 0; k < d; k++) {
        a->w[k] = (a->r[k] / rd + (k == 0 ? a->v[k] : -a->v[k]) / vd) / (2.0 * half);
        a->e[k] = d > 1 ? a->e[k] / (shift * own) : 0.0;
        a->R[k] = a->v[k] - c->u[k] * a->rates / a->T[k];
    }
    a->R[0] -= d > 1 ? shift : 0.0;
    for (int i = 0; i < d; i++) {
        double first = size * (2.0 * a->w[i] * a->w[0] - (i == 0 ? 1.0 : 0.0));  // of Q, row i
        for (int k = 0; k < d; k++) {
            double J = k == 0 ? 1.0 : -1.0;
            double Q = size * (2.0 * a->w[i] * a->w[k] - (i == k ? J : 0.0));
            a->QE[i + k * d] = Q + first * a->e[k];
            a->K[i + k * d] = a->QE[i + k * d] / (a->T[i] * a->T[k] * c->mobility);
        }
    }
    if (alpha > 0.0) {
        soften(a, alpha * c->mobility);
    }
}

// K of a boxed row: y / (p - l) + z / (h - p) is what its bounds resist; a row without any yields as bilateral rows do.
static void set_box(path_contact *a, const pp_mode_contact *c)
{
    double resist = c->gamma / c->mobility + PP_MODES_STIFF;
    for (int b = 0; b < 2; b++) {
        resist += a->slack[b] < PP_INF ? a->v[b] / a->slack[b] : 0.0;
    }
    a->eta = a->dim > 0 ? 1.0 / resist : 0.0;
    a->K[0] = a->eta / c->mobility;
}

// c of a step to tau = aim, with a part of the term of second order.
static void set_right_side(const path *x, int i, double aim, double part)
{
    const path_contact *a = &x->contact[i];
    pp_mode_contact *c = &x->s->contact[i];
    memset(c->c, 0, sizeof c->c);
    if (c->boxed) {
        double b = -c->u[0] * a->rates;
        for (int k = 0; k < 2; k++) {
            double push = a->slack[k] < PP_INF ? (aim - part * a->second[k]) / a->slack[k] : 0.0;
            b += k == 0 ? push : -push;
        }
        c->c[0] = a->eta * b / a->unit;
        return;
    }
    // v^-1 = (v_0, -v_t) / det v
    int d = a->dim;
    double square = pp_lorentz_det(d, a->v), b[DIM];
    for (int k = 0; k < d; k++) {
        b[k] = aim * (k == 0 ? a->v[k] : -a->v[k]) / square - a->r[k] - part * a->second[k];
        for (int j = 0; j < d; j++) {
            b[k] += a->QE[k + j * d] * a->R[j];
        }
        b[k] /= a->T[k] * a->unit;
    }
    if (x->alpha == 0.0) {
        memcpy(c->c, b, (size_t)d * sizeof *b);
        return;
    }
    for (int k = 0; k < d; k++) {
        for (int j = 0; j < d; j++) {
            c->c[k] += a->A[k + j * d] * b[j];
        }
    }
}

static void set_second_order(path_contact *a, bool boxed)
{
    if (boxed) {
        a->second[0] = a->dslack[0] * a->dv[0];
        a->second[1] = a->dslack[1] * a->dv[1];
        return;
    }
    const pp_lorentz_step step = {a->dim, a->eta, a->w, a->v, a->dr, a->dv};
    pp_lorentz_second_order(&step, a->second);
}

// Changes of a boxed row that go with the change u of its rate.
static double step_box(path_contact *a, const pp_mode_contact *c, double u, double aim, double part,
                       double most)
{
    a->dr[0] = (c->c[0] - a->K[0] * u) * a->unit;
    for (int b = 0; b < 2; b++) {
        if (!(a->slack[b] < PP_INF)) {
            continue;
        }
        a->dslack[b] = b == 0 ? a->dr[0] : -a->dr[0];
        a->dv[b] = (aim - part * a->second[b] - a->v[b] * a->dslack[b]) / a->slack[b] - a->v[b];
        most = a->dslack[b] < 0.0 ? fmin(most, -a->slack[b] / a->dslack[b]) : most;
        most = a->dv[b] < 0.0 ? fmin(most, -a->v[b] / a->dv[b]) : most;
    }
    return most;
}

// The same of a contact.
static double step_cone(path_contact *a, const pp_mode_contact *c, const double *u, double alpha,
                        double most)
{
    int d = a->dim;
    double along = 0.0;
    for (int k = 0; k < d; k++) {
        double dp = c->c[k];
        for (int j = 0; j < d; j++) {
            dp -= a->K[k + j * d] * u[j];
        }
        a->dr[k] = dp * a->T[k] * a->unit;
        a->dv[k] = (u[k] + alpha * c->mobility * dp) * a->rates / a->T[k] - a->R[k];
        along += a->e[k] * a->dv[k];
    }
    a->dv[0] += along;
    most = pp_lorentz_boundary(d, a->r, a->dr, most);
    return pp_lorentz_boundary(d, a->v, a->dv, most);
}

// r . v of a contact, t dr and t dv further on.
static double product_at(const path_contact *a, bool boxed, double t)
{
    double sum = 0.0;
    if (!boxed) {
        for (int k = 0; k < a->dim; k++) {
            sum += (a->r[k] + t * a->dr[k]) * (a->v[k] + t * a->dv[k]);
        }
        return sum;
    }
    for (int b = 0; b < 2; b++) {
        bool bound = a->slack[b] < PP_INF;
        sum += bound ? (a->slack[b] + t * a->dslack[b]) * (a->v[b] + t * a->dv[b]) : 0.0;
    }
    return sum;
}

static void move_contact(path_contact *a, bool boxed, double t)
{
    int rates = boxed ? 2 : a->dim;
    for (int k = 0; k < a->dim; k++) {
        a->r[k] += t * a->dr[k];
    }
    for (int k = 0; k < rates; k++) {
        a->v[k] += t * a->dv[k];
    }
    if (!boxed) {
        return;
    }
    for (int b = 0; b < 2; b++) {
        a->slack[b] += t * a->dslack[b];  // infinite where there is no bound
    }
}

// ── One step ─────────────────────────────────────────────────────────────────────────────────────

static double tau_at(const path *x, double t)
{
    double sum = 0.0;
    for (int i = 0; i < x->s->count; i++) {
        sum += product_at(&x->contact[i], x->s->contact[i].boxed, t);
    }
    return sum / x->degree;
}

// Changes of all contacts that go with the velocities s->step. Returns the length to the boundary, at most `most`.
static double set_changes(const path *x, double aim, double part, double most)
{
    pp_modes *s = x->s;
    for (int i = 0; i < s->count; i++) {
        const pp_mode_contact *c = &s->contact[i];
        path_contact *a = &x->contact[i];
        double u[DIM] = {0.0};
        for (int k = 0; k < a->dim; k++) {
            u[k] = s->system->step_rate(s, c, k);
        }
        most =
            c->boxed ? step_box(a, c, u[0], aim, part, most) : step_cone(a, c, u, x->alpha, most);
    }
    return most;
}

// The root of the mean of |R|^2 over the contacts.
static double mean_lack(const path *x)
{
    double sum = 0.0;
    for (int i = 0; i < x->s->count; i++) {
        const path_contact *a = &x->contact[i];
        for (int k = 0; k < a->dim; k++) {
            sum += a->R[k] * a->R[k];  // 0 of boxed rows
        }
    }
    return sqrt(sum / x->s->count);
}

// The tau to aim at where the predictor reached the boundary at t: the cube of the share of tau that it leaves (Mehrotra),
// and no less than (1 - t)^3. With a proximal term R falls slowly, and tau must not run ahead of it.
static double target(const path *x, double tau, double t)
{
    double share = fmax(tau_at(x, t), 0.0) / tau, rest = 1.0 - t;
    share = pp_clamp(share * share * share, LEAST_SHARE, 1.0);
    double aim = fmax(share, rest * rest * rest) * tau;
    return fmax(aim, fmin(x->tie * mean_lack(x), tau));
}

// A step from where s->contact has the rates. Returns its length; 0: singular, or no budget.
static double take_step(path *x)
{
    pp_modes *s = x->s;
    double tau = tau_at(x, 0.0);
    for (int i = 0; i < s->count; i++) {
        pp_mode_contact *c = &s->contact[i];
        path_contact *a = &x->contact[i];
        if (c->boxed) {
            set_box(a, c);
        } else {
            set_cone(a, c, x->alpha);
        }
        set_right_side(x, i, 0.0, 0.0);
        c->K = a->K;
        c->dim = a->dim;
    }
    s->system->push(s);
    s->factored = false;
    s->law = PP_MODE_CENTRAL;
    bool solved = pp_modes_solve_step(s);
    s->law = PP_MODE_EXACT;
    s->factored = false;
    if (!solved) {
        return 0.0;
    }
    double far = set_changes(x, 0.0, 0.0, 1.0), aim = target(x, tau, far);
    for (int i = 0; i < s->count; i++) {
        set_second_order(&x->contact[i], s->contact[i].boxed);
        set_right_side(x, i, aim, far * far);
    }
    // the corrector, with the same factors
    s->system->push(s);
    if (!s->system->solve(s)) {
        return 0.0;
    }
    double t = BOUNDARY * set_changes(x, aim, far * far, 1.0 / BOUNDARY);
    for (int i = 0; i < s->count; i++) {
        move_contact(&x->contact[i], s->contact[i].boxed, t);
    }
    return t;
}

static void adapt_alpha(path *x, double t)
{
    if (t < SLOW) {
        x->alpha = pp_clamp(ALPHA_UP * x->alpha, ALPHA_FIRST, ALPHA_MOST);
    } else if (t > FAST) {
        x->alpha = x->alpha > ALPHA_LEAST ? ALPHA_DOWN * x->alpha : 0.0;
    }
}

// One path to its end. *solved: the answer, or what is accepted, is in s->impulses.
static perp_status follow(path *x, bool *solved)
{
    pp_modes *s = x->s;
    double goal = pp_modes_enough(s), near = NEAR * pp_modes_accepted(s), last = PP_INF, t = 0.0;
    int shorts = 0;
    for (int k = 0; k < STEPS_MOST && shorts < SHORTS_MOST; k++) {
        double error = s->system->judged(s, pp_modes_evaluate(s));
        if (error <= goal) {
            *solved = s->stalled = true;
            return pp_modes_polish(s);
        }
        // near the answer convex problems take fewer steps than a path that turns back
        if (error <= near && error > STALLS * last && t < FAST) {
            near = AGAIN * error;
            perp_status status = pp_modes_convex(s, solved);
            if (status < 0 || *solved) {
                return status;
            }
            put_impulses(x);
            error = pp_modes_evaluate(s);
        }
        last = error;
        t = error < PP_INF ? take_step(x) : 0.0;
        if (t == 0.0) {
            return PERP_OK;
        }
        shorts = t < SHORT ? shorts + 1 : 0;
        adapt_alpha(x, t);
        put_impulses(x);
    }
    *solved = s->stalled = s->system->judged(s, pp_modes_evaluate(s)) <= pp_modes_accepted(s);
    return *solved ? pp_modes_polish(s) : PERP_OK;
}

perp_status pp_modes_path(pp_modes *s, int which, bool *solved)
{
    path x = {.s = s};
    *solved = false;
    if (!pp_modes_has_paths(s)) {
        return PERP_OK;
    }
    x.contact = PP_ARRAY(s->arena, path_contact, s->count);
    if (!x.contact) {
        return PERP_ERR_MEMORY;
    }
    begin(&x, TIES[which]);
    return follow(&x, solved);
}
