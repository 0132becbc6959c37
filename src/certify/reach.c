// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Whether a contact that pushes is one that its scheme closes in the step, and whether friction that holds a sticking contact
// moves it back by no more than its drift. Laws of contacts are judged with the terms that the scheme adds to a rate,
// psi/h, rebound and drift; here these terms are held against distances and velocities of the start.   theory (K17)
//
//   stewart-trinkle, quasistatic   bias >= psi/h;   with a rebound  psi + h (u + min(push, 0)) <= 0
//   anitescu-potra                 psi <= 0;        with a rebound  psi + h u <= 0
//   moreau-jean                    psi + h u / 2 <= 0
//   drift                          h |bias| <= c (theta^2 |D| / 2 + theta h |V|)
#include "certify/geometry/witness.h"
#include "certify/own.h"
#include "certify/scale.h"

#include <math.h>

typedef struct reach_judge {
    const pp_step_evidence *e;
    const pp_scales *s;
    const perp_limits *limits;
    const perp_twist *push;  // bodies: what the forces of the step add to their velocities
} reach_judge;

// What rounding and nearly level points leave of a separation, as a part of the overlap that is allowed.
static const double LEVEL = 1e-6;
// Drift is bounded with velocities of the start; those of the step before may have been a little larger.
static const double DRIFT = 2.0;
// The theta method adds halves of earlier drifts to it.
static const double DRIFT_THETA = 8.0;

// How far the surface of a shape is along n from a point, on the side of the other shape [m]. False: a mesh has no such plane.
static bool surface_along(const reach_judge *j, int shape, const pp_contact *c, bool of_b,
                          double *at)
{
    const perp_model *m = j->e->model;
    const pp_frame *body = j->e->kin->poses.body;
    pp_convex own;
    const pp_convex *piece = &own;
    if (m->shape[shape].mesh) {
        return false;
    }
    if (j->e->shapes) {
        piece = &j->e->shapes->piece[shape];
    } else {
        pp_convex_shape(&own, m, &m->shape[shape]);
    }
    if (piece->kind != PP_CONVEX_PLANE) {
        double out = of_b ? -1.0 : 1.0;
        *at = out * pp_piece_extent(piece, &body[piece->body], c->point, pp_scale(out, c->n));
    } else {
        double out = pp_shape_distance(m, body, shape, c->point);
        *at = of_b ? out : -out;
    }
    return true;
}

// The gap of a contact where the step starts: that of the step, or more where the shapes are farther apart along its normal.
static double gap_at_start(const reach_judge *j, const pp_contact *c)
{
    const perp_model *m = j->e->model;
    double a, b;
    if (c->listed >= 0 || !surface_along(j, c->a, c, false, &a) ||
        !surface_along(j, c->b, c, true, &b)) {
        return c->gap;
    }
    double apart = b - a - pp_skin(m, c->a, c->b);
    return apart > c->gap + LEVEL * pp_scale_overlap(m, c->a, c->b) ? apart : c->gap;
}

// What the forces of the step add to the velocities of each body. NULL: out of memory.
static const perp_twist *find_pushes(const pp_step_evidence *e, pp_arena *arena)
{
    const perp_model *m = e->model;
    perp_twist *push = PP_ZEROS(arena, perp_twist, m->bodies);
    if (!push) {
        return NULL;
    }
    for (int k = 0; k < m->bodies; k++) {
        const pp_body *body = &m->body[k];
        const pp_frame *f = &e->kin->poses.body[k];
        double all[PP_BODY_NV] = {0.0};
        if (body->nv == 0) {
            continue;
        }
        for (int i = 0; i < body->nv; i++) {
            all[body->axis[i]] = e->p_ext[body->at + i];
        }
        perp_vec3 dw = pp_mul_t(&f->R, pp_vec(all[3], all[4], all[5]));
        push[k] = (perp_twist){.v_W = pp_scale(1.0 / body->mass, pp_vec(all[0], all[1], all[2])),
                               .w_W = pp_mul(&f->R, pp_mul(&body->inverse_IB, dw))};
    }
    return push;
}

// n . (v_b - v_a) at the start, and what the forces of the step add to it [m/s].
static double approach(const reach_judge *j, const pp_contact *c, double *push)
{
    const perp_model *m = j->e->model;
    const int bodies[2] = {m->shape[c->a].body, m->shape[c->b].body};
    double rate = 0.0;
    *push = 0.0;
    for (int k = 0; k < 2; k++) {
        const pp_frame *f = &j->e->kin->poses.body[bodies[k]];
        const perp_twist *d = &j->push[bodies[k]];
        double sign = k == 0 ? -1.0 : 1.0;
        rate += sign * pp_dot3(c->n, pp_own_velocity(f, c->point));
        if (m->body[bodies[k]].nv > 0) {
            perp_vec3 at_point = pp_add(d->v_W, pp_cross(d->w_W, pp_sub(c->point, f->p)));
            *push += sign * pp_dot3(c->n, at_point);
        }
    }
    return rate;
}

// How far the contact is from what the scheme closes [m]; 0 or less: it closes it.
static double beyond_rule(const reach_judge *j, const pp_contact *c, const pp_row *row)
{
    const pp_step_evidence *e = j->e;
    double h = e->kin->h, psi = gap_at_start(j, c), push;
    if (e->stepper != PERP_STEPPER_ANITESCU_POTRA && e->stepper != PERP_STEPPER_MOREAU_JEAN &&
        !row->bounces) {
        return psi - h * row->bias;
    }
    double u = approach(j, c, &push);
    double rest = 2.0 * fmax(e->whole, h) * e->model->gravity_most, touch = 1e-6 * h * rest;
    // a rebound asks for what it gives back, and for what the pull of the forces takes in the step
    double back = -row->bias - fmax(-u, 0.0) * c->restitution - fabs(push);
    switch (e->stepper) {
    case PERP_STEPPER_ANITESCU_POTRA:
        return fmax(psi + (row->bounces ? h * u : 0.0) - touch, h * back);
    case PERP_STEPPER_MOREAU_JEAN:
        // what rests may be off by the order of the scheme, g h^2 / 8
        touch = fabs(u) <= 1e-3 * rest ? 0.0625 * h * rest : touch;
        return fmax(psi + 0.5 * h * u - touch, h * back);
    default:
        return fmax(psi + h * (u + fmin(push, 0.0)), h * back);
    }
}

// The speed at which the drift of two bodies that turn together may be worked off [m/s].   theory (P17)
static double drift_speed(const reach_judge *j, const pp_contact *c)
{
    const pp_step_evidence *e = j->e;
    const perp_model *m = e->model;
    const pp_frame *a = &e->kin->poses.body[m->shape[c->a].body],
                   *b = &e->kin->poses.body[m->shape[c->b].body];
    double both = pp_dot3(a->w, b->w), square = pp_dot3(a->w, a->w) + pp_dot3(b->w, b->w);
    if (!(both > 0.0)) {
        return 0.0;
    }
    double h = fmax(e->whole, e->kin->h);
    double turn = h * pp_length(pp_add(a->w, b->w)) * both / square;
    double apart = pp_length(pp_sub(b->p, a->p)), away = pp_length(pp_sub(b->v, a->v));
    double of = e->stepper == PERP_STEPPER_MOREAU_JEAN ? DRIFT_THETA : DRIFT;
    return of * (0.5 * turn * turn * apart / h + turn * away);
}

// The terms of sliding friction against the drift that they correct.
static void judge_drift(const reach_judge *j, perp_certificate *out, const pp_contact *c, int n,
                        double slack)
{
    const pp_rows *rows = j->e->rows;
    for (int g = 0; g < rows->grouped[n]; g++) {
        const pp_friction *group = &rows->group[rows->friction[n] + g];
        const pp_row *row = &rows->t[group->t];
        if (group->kind != PP_SLIDE ||
            (row[0].bias == 0.0 && (group->size == 1 || row[1].bias == 0.0))) {
            continue;
        }
        // of two coefficients the second row is scaled by their ratio
        double ratio = c->mu > 0.0 && c->mu_2 > 0.0 ? c->mu_2 / c->mu : 1.0;
        double back = pp_hypot(row[0].bias, group->size == 2 ? row[1].bias / ratio : 0.0);
        double beyond = fmax(0.0, back - drift_speed(j, c));
        pp_certificate_record(out, j->limits, PERP_JUDGED_RESIDUAL, beyond, slack);
    }
}

perp_status pp_judge_reach(perp_certificate *out, const pp_step_evidence *e, const pp_scales *s,
                           const perp_limits *limits, pp_arena *arena)
{
    // Rows of the end are held against the gaps there (law.c).
    if (pp_own_at_end(e) || !e->found || e->rows->nc == 0) {
        return PERP_OK;
    }
    const reach_judge j = {.e = e, .s = s, .limits = limits, .push = find_pushes(e, arena)};
    if (!j.push) {
        return PERP_ERR_MEMORY;
    }
    for (int i = 0; i < e->rows->nc; i++) {
        const pp_contact *c = &e->found->contact[e->rows->contact[i]];
        double p = e->pn[i];
        if (p == 0.0) {
            continue;
        }
        int island = pp_scale_island(s, &e->rows->n[i]);
        double rate = pp_scale_rate(s, island);
        double beyond = beyond_rule(&j, c, &e->rows->n[i]) / e->kin->h;
        // written so that NaN is recorded
        if (!(beyond <= 0.0)) {
            double m = pp_own_mobility(e, c, c->n, false);
            double limit =
                pp_scale_speed_of(s, &e->rows->n[i], rate) + pp_scale_rounding(s, island);
            pp_certificate_record(out, limits, PERP_JUDGED_COMPLEMENTARITY, fabs(p) * beyond,
                                  limit * (fabs(p) + pp_scale_speed(s, island) / m));
        }
        judge_drift(&j, out, c, i, rate);
    }
    return PERP_OK;
}
