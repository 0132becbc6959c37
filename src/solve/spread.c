// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Spreading the load over redundant contacts.                                           theory (P10)
//
// A box on eight points has 24 contact rows and 6 degrees of freedom: pivoting ends at a vertex, which
// leaves some of the points without load. Of all impulses with the same effect those of least norm are taken.
//
// Columns of touching contacts (rho_n = 0): n and the friction rows where it sticks, n plus the friction that goes with
// it where it slips. Their Gram matrix G' M^-1 G (joints closed) has a null space when impulses are not unique; the
// least-norm impulses with the effect of p are Gram^+ Gram p. They are taken when they keep signs and cones; contacts
// that would pull are dropped and the rest tried again.
#include "solve/solve.h"

#include <math.h>
#include <string.h>

enum { COLUMNS_MOST = 160, ROUNDS = 8 };

// One column of G.
typedef struct spread_column {
    int n;  // normal row
    int t;  // friction row, -1: this is the normal column
    int g;  // group of the friction row
} spread_column;

typedef struct load_spread {
    const perp_model *model;
    const pp_kinematics *kin;
    const pp_rows *rows;
    const pp_closed *closed;
    pp_answer *out;
    spread_column *list;
    int count;
    bool *dropped;  // nn
    bool polygons;  // stand for discs in this form
    double *share;  // nt: friction per unit of normal impulse where it slips, 0 where it sticks
    double *gram, *p, *y, *L;
    int *order;
} load_spread;

// Largest speed in play [m/s]: of the bodies, of approaches, and what the forces of one step give
// to bodies at rest. Rates below 1e-9 of it are rounding.
static double speed_of_contacts(const load_spread *s)
{
    double worst = 1e-12;
    for (int i = 0; i < s->model->bodies; i++) {
        const pp_body *body = &s->model->body[i];
        double speed[PP_BODY_NV];
        pp_body_solve(body, &s->kin->mass[i], s->kin->loads.p_ext + body->at, speed);
        worst = body->nv > 0 ? fmax(worst, pp_norm_inf(body->nv, speed)) : worst;
    }
    for (int i = 0; i < s->rows->nn; i++) {
        worst = fmax(worst, fabs(s->rows->n[i].v_pre));
    }
    return fmax(worst, pp_norm_inf(s->model->nv, s->out->nu));
}

// Whether a group sticks; s->share gets its friction per unit of normal impulse where it slips.
// Rounding leaves sticking contacts a little slip: those strictly inside the cone stick whatever
// their slip.
static bool find_friction_share(const load_spread *s, const pp_friction *group, double tiny)
{
    const double *pt = s->out->pt + group->t;
    double *share = s->share + group->t, pn = s->out->pn[group->n], slip[2];
    double p = group->size == 2 ? pp_length2(pt[0], pt[1]) : fabs(pt[0]);
    pp_friction_slip(s->model, s->rows, group, s->out->nu, slip);
    double speed = group->size == 2 ? pp_length2(slip[0], slip[1]) : fabs(slip[0]);
    bool inside = group->facets == 0 && p < (1.0 - 1e-7) * group->mu * pn;
    bool sticks = inside || speed <= tiny;
    // A polygon opposes slip by a vertex or a side, not exactly: the ratio of the solver's answer is kept.
    bool follows = group->facets > 0 && pn > 0.0;
    for (int k = 0; k < group->size; k++) {
        if (sticks) {
            share[k] = 0.0;
        } else {
            share[k] = follows ? pt[k] / pn : -group->mu * slip[k] / speed;
        }
    }
    return sticks;
}

// Number of columns of a unilateral row: 0 when it does not touch, else 1 and the rows of the
// groups that stick.
static int columns_of(const load_spread *s, int i, double tiny, bool sticks[PP_FRICTION_GROUPS])
{
    const pp_row *row = &s->rows->n[i];
    double rho = pp_row_rate(s->model, row, s->out->nu) + row->bias;
    int columns = 1;
    if (fabs(rho) > tiny && !(s->out->pn[i] > 0.0)) {
        return 0;
    }
    for (int k = 0; k < s->rows->grouped[i]; k++) {
        const pp_friction *group = &s->rows->group[s->rows->friction[i] + k];
        sticks[k] = find_friction_share(s, group, tiny);
        columns += sticks[k] ? group->size : 0;
    }
    return columns;
}

// Columns of all contacts that are not dropped, as far as there is room: a contact is in with all
// of its columns or with none.
static void collect_load_columns(load_spread *s)
{
    double tiny = 1e-9 * speed_of_contacts(s);
    s->count = 0;
    for (int i = 0; i < s->rows->nn; i++) {
        bool sticks[PP_FRICTION_GROUPS];
        int columns = s->dropped[i] ? 0 : columns_of(s, i, tiny, sticks);
        if (columns == 0 || s->count + columns > COLUMNS_MOST) {
            continue;
        }
        s->list[s->count++] = (spread_column){i, -1, -1};
        for (int k = 0; k < s->rows->grouped[i]; k++) {
            int g = s->rows->friction[i] + k;
            if (!sticks[k]) {
                continue;
            }
            for (int t = 0; t < s->rows->group[g].size; t++) {
                s->list[s->count++] = (spread_column){i, s->rows->group[g].t + t, g};
            }
        }
    }
}

// The friction rows of a contact: first and one past the last.
static int friction_rows(const load_spread *s, int n, int *end)
{
    if (s->rows->grouped[n] == 0) {
        return *end = 0;
    }
    const pp_friction *first = &s->rows->group[s->rows->friction[n]];
    const pp_friction *last = first + s->rows->grouped[n] - 1;
    *end = last->t + last->size;
    return first->t;
}

// wrench += scale times a column: the normal row with the friction that goes with it, or one
// friction row.
static void add_column_wrench(const load_spread *s, const spread_column *c, double scale,
                              double *wrench)
{
    if (c->t >= 0) {
        pp_row_add(s->model, &s->rows->t[c->t], scale, NULL, wrench);
        return;
    }
    int end;
    pp_row_add(s->model, &s->rows->n[c->n], scale, NULL, wrench);
    for (int t = friction_rows(s, c->n, &end); t < end; t++) {
        if (s->share[t] != 0.0) {
            pp_row_add(s->model, &s->rows->t[t], scale * s->share[t], NULL, wrench);
        }
    }
}

// J nu without the row's given part.
static double bare_rate(const load_spread *s, const pp_row *row, const double *nu)
{
    return pp_row_rate(s->model, row, nu) - row->rate;
}

// The transpose of add_column_wrench: the rate of a column at nu.
static double rate_of(const load_spread *s, const spread_column *c, const double *nu)
{
    if (c->t >= 0) {
        return bare_rate(s, &s->rows->t[c->t], nu);
    }
    int end;
    double rate = bare_rate(s, &s->rows->n[c->n], nu);
    for (int t = friction_rows(s, c->n, &end); t < end; t++) {
        if (s->share[t] != 0.0) {
            rate += s->share[t] * bare_rate(s, &s->rows->t[t], nu);
        }
    }
    return rate;
}

// Gram_ij = (rate of column i at the velocities that a unit of column j gives), with the joints
// closed.
static void fill_load_gram(load_spread *s, double *nu, double *pb)
{
    int n = s->count;
    for (int j = 0; j < n; j++) {
        memset(nu, 0, (size_t)s->model->nv * sizeof *nu);
        add_column_wrench(s, &s->list[j], 1.0, nu);
        pp_closed_solve(s->closed, NULL, nu, pb);
        for (int i = 0; i < n; i++) {
            s->gram[(size_t)j * (size_t)n + (size_t)i] = rate_of(s, &s->list[i], nu);
        }
    }
}

// Diagonally pivoted Cholesky of the Gram matrix: rank, and L (n x rank) with rows in `order`.
static int factor_gram(load_spread *s)
{
    int n = s->count, rank = 0;
    double *A = s->L, top = 0.0;
    memcpy(A, s->gram, (size_t)n * (size_t)n * sizeof *A);
    for (int i = 0; i < n; i++) {
        s->order[i] = i;
        top = fmax(top, A[(size_t)i * (size_t)n + (size_t)i]);
    }
    for (; rank < n; rank++) {
        int best = rank;
        for (int i = rank; i < n; i++) {
            size_t k = (size_t)s->order[i] * ((size_t)n + 1),
                   b = (size_t)s->order[best] * ((size_t)n + 1);
            best = A[k] > A[b] ? i : best;
        }
        int k = s->order[best];
        double pivot = A[(size_t)k * ((size_t)n + 1)];
        if (!(pivot > 1e-10 * top)) {
            break;
        }
        s->order[best] = s->order[rank];
        s->order[rank] = k;
        for (int i = rank + 1; i < n; i++) {  // Schur complement of what is left
            int row = s->order[i];
            double factor = A[(size_t)k * (size_t)n + (size_t)row] / pivot;
            for (int j = rank + 1; j < n; j++) {
                int col = s->order[j];
                A[(size_t)col * (size_t)n + (size_t)row] -=
                    factor * A[(size_t)col * (size_t)n + (size_t)k];
            }
        }
    }
    return rank;
}

// Least norm by conjugate gradients on Gram (p - p0) = 0 from p = 0: iterates stay in the range of Gram, so that the
// limit is the solution of least norm, and no rank has to be decided. False: not converged.
static bool least_norm(load_spread *s)
{
    int n = s->count;
    double *r = s->L, *d = r + n, *Ad = d + n, *p = s->y;
    memset(r, 0, (size_t)n * sizeof *r);
    pp_gemv(n, n, 1.0, s->gram, n, s->p, r);  // r = Gram p0
    memcpy(d, r, (size_t)n * sizeof *d);
    memset(p, 0, (size_t)n * sizeof *p);
    double rr = pp_dot(n, r, r), first = rr;
    for (int k = 0; k < 20 * n && rr > 1e-26 * first; k++) {
        memset(Ad, 0, (size_t)n * sizeof *Ad);
        pp_gemv(n, n, 1.0, s->gram, n, d, Ad);
        double curvature = pp_dot(n, d, Ad);
        if (!(curvature > 0.0)) {
            break;
        }
        double step = rr / curvature;
        pp_axpy(n, step, d, p);
        pp_axpy(n, -step, Ad, r);
        double next = pp_dot(n, r, r);
        for (int i = 0; i < n; i++) {
            d[i] = r[i] + next / rr * d[i];
        }
        rr = next;
    }
    return rr <= 1e-22 * first;
}

// Whether all impulses push and friction is in its cone. Contacts that pull are dropped for the next round;
// friction outside its cone drops nothing, so that in the end the solver's impulses stay.
static bool admissible(load_spread *s)
{
    bool fine = true;
    double limit = 1e-12 * pp_norm_inf(s->count, s->y), pn = 0.0;
    for (int k = 0; k < s->count; k++) {
        const spread_column *c = &s->list[k];
        if (c->t < 0) {
            pn = s->y[k];
            if (pn < -limit) {
                s->dropped[c->n] = true;
                fine = false;
            }
            continue;
        }
        const pp_friction *group = &s->rows->group[c->g];
        if (c->t > group->t) {
            continue;  // looked at with the first row
        }
        double p[2] = {s->y[k], group->size == 2 ? s->y[k + 1] : 0.0}, to[2] = {p[0], p[1]};
        pp_friction_project(group, s->polygons, group->mu * pn, to);
        if (pp_length2(p[0] - to[0], p[1] - to[1]) > limit) {
            return false;
        }
    }
    return fine;
}

// A dropped contact that carries load in the solver's answer: the others alone cannot have the same
// effect.
static bool lost_load(const load_spread *s)
{
    for (int i = 0; i < s->rows->nn; i++) {
        if (s->dropped[i] && s->out->pn[i] > 0.0) {
            return true;
        }
    }
    return false;
}

// Least-norm impulses into the answer, signs and cones to the last bit.
static void write_back(load_spread *s)
{
    for (int i = 0; i < s->rows->nn; i++) {
        s->out->pn[i] = s->dropped[i] ? 0.0 : s->out->pn[i];
    }
    for (int k = 0; k < s->count; k++) {
        const spread_column *c = &s->list[k];
        if (c->t < 0) {  // the normal column, with friction that slides
            int end;
            double pn = s->out->pn[c->n] = fmax(s->y[k], 0.0);
            for (int t = friction_rows(s, c->n, &end); t < end; t++) {
                s->out->pt[t] = s->share[t] * pn;
            }
        } else if (c->t == s->rows->group[c->g].t) {
            const pp_friction *group = &s->rows->group[c->g];
            double p[2] = {s->y[k], group->size == 2 ? s->y[k + 1] : 0.0};
            pp_friction_project(group, s->polygons, group->mu * s->out->pn[c->n], p);
            for (int d = 0; d < group->size; d++) {
                s->out->pt[c->t + d] = p[d];
            }
        }
    }
}

// gram and L are n x n; least_norm uses the memory of L for its vectors.
static bool allocate_spread(load_spread *s, pp_arena *arena)
{
    size_t n = COLUMNS_MOST;
    s->list = PP_ARRAY(arena, spread_column, n);
    s->dropped = PP_ZEROS(arena, bool, s->rows->nn);
    s->gram = PP_ARRAY(arena, double, 2 * n * n + 4 * n);
    s->order = PP_ARRAY(arena, int, n);
    if (!s->list || !s->dropped || !s->gram || !s->order) {
        return false;
    }
    s->L = s->gram + n * n;
    s->p = s->L + n * n + 2 * n;
    s->y = s->p + n;
    return true;
}

// Newton's answers on the cones are no vertices: their load is spread already. Dense Gram matrices
// limit the number of contacts.
bool pp_spread_is_unneeded(const pp_answer *answer, const pp_rows *rows)
{
    return answer->form == PERP_FORM_CONE || rows->nn > COLUMNS_MOST / 2;
}

// True: the impulses were replaced.
bool pp_spread(pp_answer *answer, const perp_model *model, const pp_kinematics *kin,
               const pp_rows *rows, const pp_closed *closed, pp_arena *arena)
{
    load_spread s = {.model = model,
                     .kin = kin,
                     .rows = rows,
                     .closed = closed,
                     .out = answer,
                     .polygons = answer->form != PERP_FORM_CONE,
                     .share = PP_ZEROS(arena, double, rows->nt)};
    if (!s.share || pp_spread_is_unneeded(answer, rows)) {
        return false;
    }
    double *nu = PP_ARRAY(arena, double, model->nv), *pb = PP_ARRAY(arena, double, rows->nb);
    if (rows->nn < 2 || !nu || !pb || !allocate_spread(&s, arena)) {
        return false;
    }
    // each round drops the contacts that pull, as an active set method does
    for (int round = 0; round < ROUNDS; round++) {
        collect_load_columns(&s);
        if (s.count < 2) {
            return false;
        }
        for (int k = 0; k < s.count; k++) {
            const spread_column *c = &s.list[k];
            s.p[k] = c->t >= 0 ? answer->pt[c->t] : answer->pn[c->n];
        }
        fill_load_gram(&s, nu, pb);
        // full rank: impulses are unique, there is nothing to spread
        if (factor_gram(&s) == s.count || !least_norm(&s)) {
            return false;
        }
        if (admissible(&s)) {
            write_back(&s);
            return true;
        }
        if (lost_load(&s)) {
            return false;
        }
    }
    return false;
}
