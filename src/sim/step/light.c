// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Without inertia a billionth of the mass stands for none, so that what rounding leaves of the balance of impulses is a
// billion times as large in velocities. Velocities are then not what impulses leave over, but what the rows
// ask of them: of the modes of an answer,
//
//   min 1/2 |nu - nu_0|_M^2   such that J nu + rate + bias = 0 of closed, sticking and free rows       theory (P18)
//
// and impulses go to where the law has them with these velocities: p <- P(p - w / m). Both change by rounding of the impulses,
// or the answer stays as it is.
#include "sim/step/held.h"

#include <math.h>
#include <string.h>

enum { ROUNDS = 4 };                   // of velocities from modes, impulses from velocities
static const double GOOD = 1e-9;       // of the velocities: the answer needs nothing
static const double DEPENDENT = 1e-6;  // part of a row that must be new
static const double ROUNDING = 1e-10;  // of the impulses of a body that may go out of balance

// Rows that hold for the modes of the answer, made orthogonal in the metric of the masses.
typedef struct held_rows {
    const perp_sim *sim;
    int count, nv;
    double *q, *c, *value;  // directions, M times them, and how far to go along each
    double *row, *along;    // nv each: a row, and M^-1 of it
} held_rows;

// At most nv rows are independent.
static perp_status create_held_rows(held_rows *h, const perp_sim *sim, pp_arena *arena)
{
    size_t n = (size_t)sim->model->nv;
    *h = (held_rows){.sim = sim, .nv = sim->model->nv};
    h->q = PP_ARRAY(arena, double, 2 * n * n + 3 * n);
    if (!h->q) {
        return PERP_ERR_MEMORY;
    }
    h->c = h->q + n * n;
    h->value = h->c + n * n;
    h->row = h->value + n;
    h->along = h->row + n;
    return PERP_OK;
}

// The velocities are to change by `by` along the row in h->row and h->along. Gram and Schmidt in
// the metric of the masses, twice; a row that depends on those before it is left out. With many rows each takes
// milliseconds: a step that is stopped leaves the rest out, since its answer is discarded.
static void hold(held_rows *h, double by)
{
    size_t n = (size_t)h->nv;
    if (pp_stopped(&h->sim->env)) {
        return;
    }
    double size = sqrt(fmax(pp_dot(h->nv, h->row, h->along), 0.0));
    for (int twice = 0; twice < 2; twice++) {
        for (int k = 0; k < h->count; k++) {
            double *q = h->q + (size_t)k * n, a = pp_dot(h->nv, h->row, q);
            pp_axpy(h->nv, -a, h->c + (size_t)k * n, h->row);
            pp_axpy(h->nv, -a, q, h->along);
            by -= a * h->value[k];
        }
    }
    double left = sqrt(fmax(pp_dot(h->nv, h->row, h->along), 0.0));
    if (h->count == h->nv || !(left > DEPENDENT * size)) {
        return;
    }
    double *q = h->q + (size_t)h->count * n, *c = h->c + (size_t)h->count * n;
    for (size_t i = 0; i < n; i++) {
        q[i] = h->along[i] / left;
        c[i] = h->row[i] / left;
    }
    h->value[h->count++] = by / left;
}

// A new combination of rows in h->row, h->along.
static void begin(held_rows *h)
{
    memset(h->row, 0, 2 * (size_t)h->nv * sizeof *h->row);
}

// s times a row, and M^-1 of it.
static void take(held_rows *h, const pp_row *row, double s)
{
    const perp_model *m = h->sim->model;
    pp_row_add(m, row, s, NULL, h->row);
    pp_row_add(m, row, s, h->sim->step.kin.mass, h->along);
}

// w of a row without its compliance.
static double rate_with_bias(const perp_sim *sim, const pp_row *row)
{
    return pp_row_rate(sim->model, row, sim->step.answer.nu) + row->bias;
}

// PP_INF for a row that moves nothing: its impulse then stays where it is.
static double mobility_of(const perp_sim *sim, const pp_row *row)
{
    double m = pp_row_mobility(sim->model, sim->step.kin.mass, row);
    return m > 0.0 ? m : PP_INF;
}

// P(p - w / m) of a friction group.
static void nearest(const perp_sim *sim, const pp_friction *group, double m, double to[2])
{
    const pp_answer *a = &sim->step.answer;
    double slip[2];
    pp_friction_slip(sim->model, &sim->step.row, group, a->nu, slip);
    for (int k = 0; k < 2; k++) {
        to[k] = k < group->size ? a->pt[group->t + k] - slip[k] / m : 0.0;
    }
    bool polygons = a->form != PERP_FORM_CONE || group->facets > 0;
    pp_friction_project(group, polygons, group->mu * fmax(a->pn[group->n], 0.0), to);
}

// Along the edge of the limit at `to`, where the slip has no part; false: at a corner, or there is one row only.
static bool friction_edge(const perp_sim *sim, const pp_friction *group, const double to[2],
                          double edge[2])
{
    double size = pp_hypot(to[0], to[1]);
    if (group->size == 1 || !(size > 0.0)) {
        return false;
    }
    edge[0] = -to[1] / size;
    edge[1] = to[0] / size;
    if (sim->step.answer.form == PERP_FORM_CONE && group->facets == 0) {
        return true;
    }
    // a polygon: the side between the two directions next to `to`, unless that is one of them
    double limit = group->mu * sim->step.answer.pn[group->n], d[2][2];
    // directions are evenly spaced from the first: `turn` counts them
    double turn = pp_atan2(to[1], to[0]) / (2.0 * pp_acos(-1.0)) * group->directions;
    int j = (int)floor(turn);
    for (int k = 0; k < 2; k++) {
        pp_friction_direction(group, (j + k + group->directions) % group->directions, d[k]);
        if (pp_hypot(to[0] - limit * d[k][0], to[1] - limit * d[k][1]) <= 1e-9 * limit) {
            return false;
        }
    }
    double x = d[1][0] - d[0][0], y = d[1][1] - d[0][1], length = pp_hypot(x, y);
    edge[0] = x / length;
    edge[1] = y / length;
    return true;
}

// A group that sticks holds all of its rows; one that slips on an edge or disc holds the direction
// along it; at a vertex none.
static void hold_friction(held_rows *h, const pp_friction *group)
{
    const perp_sim *sim = h->sim;
    const pp_row *row = &sim->step.row.t[group->t];
    double slip[2], to[2], edge[2], m = mobility_of(sim, row);
    const double *p = &sim->step.answer.pt[group->t];
    pp_friction_slip(sim->model, &sim->step.row, group, sim->step.answer.nu, slip);
    nearest(sim, group, m, to);
    double off = 0.0, most = group->mu * sim->step.answer.pn[group->n];
    for (int k = 0; k < group->size; k++) {
        off = fmax(off, fabs(to[k] - (p[k] - slip[k] / m)));
    }
    if (off <= 1e-12 * most) {  // inside the limit: it sticks
        for (int k = 0; k < group->size; k++) {
            begin(h);
            take(h, &row[k], 1.0);
            hold(h, -slip[k]);
        }
    } else if (friction_edge(sim, group, to, edge)) {
        begin(h);
        take(h, &row[0], edge[0]);
        take(h, &row[1], edge[1]);
        hold(h, -(edge[0] * slip[0] + edge[1] * slip[1]));
    }
}

// Rows in the order joints, boxed, normal, friction: where they depend on each other the earlier
// ones hold.
static void hold_all(held_rows *h)
{
    const perp_sim *sim = h->sim;
    const pp_rows *rows = &sim->step.row;
    const pp_answer *a = &sim->step.answer;
    h->count = 0;
    for (int i = 0; i < rows->nb; i++) {
        begin(h);
        take(h, &rows->b[i], 1.0);
        hold(h, -rate_with_bias(sim, &rows->b[i]) - rows->b[i].gamma * a->pb[i]);
    }
    for (int i = 0; i < rows->nm; i++) {
        double w = rate_with_bias(sim, &rows->m[i]) + rows->m[i].gamma * a->pm[i],
               to = a->pm[i] - w / (mobility_of(sim, &rows->m[i]) + rows->m[i].gamma);
        if (to > rows->m[i].lower && to < rows->m[i].upper) {
            begin(h);
            take(h, &rows->m[i], 1.0);
            hold(h, -w);
        }
    }
    // all normal rows before any friction row
    for (int friction = 0; friction < 2; friction++) {
        for (int i = 0; i < rows->nn; i++) {
            double w = rate_with_bias(sim, &rows->n[i]);
            if (!(a->pn[i] - w / mobility_of(sim, &rows->n[i]) > 0.0)) {
                continue;
            }
            if (!friction) {
                begin(h);
                take(h, &rows->n[i], 1.0);
                hold(h, -w);
                continue;
            }
            int groups = i < rows->nc ? rows->grouped[i] : 0;
            for (int g = 0; g < groups; g++) {
                hold_friction(h, &rows->group[rows->friction[i] + g]);
            }
        }
    }
    // the shortest change of nu in the metric of the masses that all held rows ask for
    for (int k = 0; k < h->count; k++) {
        pp_axpy(h->nv, h->value[k], h->q + (size_t)k * (size_t)h->nv, a->nu);
    }
}

// Impulses P(p - w / m) by the laws at the velocities of the answer, set where `move`; returns how
// far they were from there, as the largest velocity [m/s, rad/s].
static double place_impulses(perp_sim *sim, bool move)
{
    const pp_rows *rows = &sim->step.row;
    pp_answer *a = &sim->step.answer;
    double worst = 0.0;
    for (int i = 0; i < rows->nm; i++) {
        const pp_row *row = &rows->m[i];
        double m = mobility_of(sim, row) + row->gamma;
        double w = rate_with_bias(sim, row) + row->gamma * a->pm[i];
        double to = pp_clamp(a->pm[i] - w / m, row->lower, row->upper);
        worst = fmax(worst, m < PP_INF ? m * fabs(to - a->pm[i]) : 0.0);
        a->pm[i] = move ? to : a->pm[i];
    }
    // friction after its normal impulse, whose limit it has
    for (int i = 0; i < rows->nn; i++) {
        double m = mobility_of(sim, &rows->n[i]);
        double to = fmax(0.0, a->pn[i] - rate_with_bias(sim, &rows->n[i]) / m);
        worst = fmax(worst, m < PP_INF ? m * fabs(to - a->pn[i]) : 0.0);
        a->pn[i] = move ? to : a->pn[i];
        int groups = i < rows->nc ? rows->grouped[i] : 0;
        for (int g = 0; g < groups; g++) {
            const pp_friction *group = &rows->group[rows->friction[i] + g];
            double p[2];
            m = mobility_of(sim, &rows->t[group->t]);
            nearest(sim, group, m, p);
            for (int k = 0; k < group->size; k++) {
                double *own = &a->pt[group->t + k];
                worst = fmax(worst, m < PP_INF ? m * fabs(p[k] - *own) : 0.0);
                *own = move ? p[k] : *own;
            }
        }
    }
    return worst;
}

// ── Balance ──────────────────────────────────────────────────────────────────────────────────────

// An impulse in the balance, and the sizes of its terms.
static void add_terms(const perp_model *m, const pp_row *row, double p, double *sum, double *terms)
{
    pp_row_add(m, row, p, NULL, sum);
    for (int k = 0; k < row->count; k++) {
        const pp_body *body = &m->body[row->body[k]];
        for (int i = 0; i < body->nv; i++) {
            terms[body->at + i] += fabs(p * row->J[k][i]);
        }
    }
}

// Whether what is left of every body's impulses is rounding of them.
static bool is_balanced(const perp_sim *sim, double *sum, double *terms)
{
    const perp_model *m = sim->model;
    const pp_rows *rows = &sim->step.row;
    const pp_answer *a = &sim->step.answer;
    // sum = p_ext - M nu + W p, which vanishes in exact arithmetic
    const pp_row *all[] = {rows->b, rows->m, rows->n, rows->t};
    const double *p[] = {a->pb, a->pm, a->pn, a->pt};
    const int count[] = {rows->nb, rows->nm, rows->nn, rows->nt};
    pp_masses_mul(m, sim->step.kin.mass, a->nu, sum);
    for (int i = 0; i < m->nv; i++) {
        terms[i] = fabs(sum[i]) + fabs(sim->step.kin.loads.p_ext[i]);
        sum[i] = -sum[i] + sim->step.kin.loads.p_ext[i];
    }
    for (int k = 0; k < 4; k++) {
        for (int i = 0; i < count[k]; i++) {
            add_terms(m, &all[k][i], p[k][i], sum, terms);
        }
    }
    // translations and turns of a body apart; moments also carry the rounding of forces at its
    // reach
    for (int i = 0; i < m->bodies; i++) {
        const pp_body *body = &m->body[i];
        double left[2] = {0.0, 0.0}, size[2] = {0.0, 0.0};
        for (int k = 0; k < body->nv; k++) {
            int turns = body->axis[k] >= 3;
            left[turns] = fmax(left[turns], fabs(sum[body->at + k]));
            size[turns] += terms[body->at + k];
        }
        size[1] += body->reach * size[0];
        if (left[0] > ROUNDING * size[0] || left[1] > ROUNDING * size[1]) {
            return false;
        }
    }
    return true;
}

// nu, p_m, p_n, p_t to or from one block; NULL: only how many numbers.
static size_t copy_answer(const perp_sim *sim, double *to, bool back)
{
    const pp_rows *rows = &sim->step.row;
    const pp_answer *a = &sim->step.answer;
    double *part[] = {a->nu, a->pm, a->pn, a->pt};
    const int count[] = {sim->model->nv, rows->nm, rows->nn, rows->nt};
    size_t at = 0;
    for (int k = 0; k < 4; k++) {
        size_t size = (size_t)count[k];
        if (to && size > 0) {
            double *into = back ? part[k] : to + at;
            const double *from = back ? to + at : part[k];
            memcpy(into, from, size * sizeof *to);
        }
        at += size;
    }
    return at;
}

// The answer is replaced only where the laws hold better and no body is out of balance by more than
// rounding.
perp_status pp_sim_lighten(perp_sim *sim)
{
    held_rows h;
    double fastest = pp_norm_inf(sim->model->nv, sim->step.answer.nu);
    double off = place_impulses(sim, false);
    if (sim->tree || !(off > GOOD * fastest)) {
        return PERP_OK;
    }
    double *kept = PP_ARRAY(sim->arena, double, copy_answer(sim, NULL, false));
    if (!kept || create_held_rows(&h, sim, sim->arena) < 0) {
        return PERP_ERR_MEMORY;
    }
    copy_answer(sim, kept, false);
    for (int round = 0; round < ROUNDS; round++) {
        hold_all(&h);
        place_impulses(sim, true);
    }
    if (!(place_impulses(sim, false) < off) || !is_balanced(sim, h.row, h.along)) {
        copy_answer(sim, kept, true);
    }
    return PERP_OK;
}
