// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The middle of a step of the theta method, and the inertia at its end, depend on the velocities the step ends with:
// a fixed point nu = g(nu), g being one solve with the rows that nu leads to.               theory (S9), (S13)
//
// Going round, nu <- g(nu), finds it where g contracts. Where heavy bodies hang on light links it does not; then the
// differences of the last rounds extrapolate (Anderson 1965):
//
//   nu <- g - dG c,   c = argmin |f - dF c|,   f = g(nu) - nu
//
// which needs no contraction, and is GMRES where g is linear.
#include "sim/step/parts.h"

#include <math.h>
#include <string.h>

enum { ROUNDS = 25 };                          // nu <- g(nu)
enum { MIXED_ROUNDS = 60 };                    // with extrapolation
enum { DEPTH = 12 };                           // differences that are kept
static const double FOUND = 1e-13;             // of the velocities
static const double PARALLEL = 1e-10;          // part of a difference that must be new
static const double GROWTH = 4.0;              // of |f| that an extrapolation may bring
static const double LEAST_SHARE = 1.0 / 64.0;  // of f, of the shortest step from the best point

// Differences of the last rounds, and the best point so far.
typedef struct mixing {
    int n, count;     // differences there are, newest last
    double *weight;   // n: lengths of turns, so that |f| is a speed
    double *dF, *dG;  // DEPTH columns each
    double *x, *g, *f, *last_f, *last_g;
    double *best_x, *best_g;
    double best;   // |f| of the best point
    double share;  // of f that a step from the best point takes
} mixing;

// One block for the vectors, one for the differences. False: out of memory.
static bool create_mixing(mixing *a, const perp_model *m, pp_arena *arena)
{
    size_t n = (size_t)m->nv;
    *a = (mixing){.n = m->nv, .best = PP_INF, .share = 0.5};
    a->dF = PP_ARRAY(arena, double, 2 * DEPTH * n);
    a->weight = PP_ARRAY(arena, double, 8 * n);
    if (!a->dF || !a->weight) {
        return false;
    }
    a->dG = a->dF + DEPTH * n;
    double **part[] = {&a->x, &a->g, &a->f, &a->last_f, &a->last_g, &a->best_x, &a->best_g};
    for (size_t k = 0; k < sizeof part / sizeof *part; k++) {
        *part[k] = a->weight + (k + 1) * n;
    }
    for (int i = 0; i < m->bodies; i++) {
        const pp_body *body = &m->body[i];
        for (int k = 0; k < body->nv; k++) {
            bool turns = body->axis[k] >= 3 && body->reach > 0.0;
            a->weight[body->at + k] = turns ? body->reach : 1.0;
        }
    }
    return true;
}

// f = g - x in units of speed, and |f|.
static double measure(mixing *a)
{
    for (int i = 0; i < a->n; i++) {
        a->f[i] = a->weight[i] * (a->g[i] - a->x[i]);
    }
    return sqrt(pp_dot(a->n, a->f, a->f));
}

// The best point is the answer where no fixed point is found, and where retreats start.
static void keep_best(mixing *a, double norm)
{
    if (norm < a->best) {
        a->best = norm;
        memcpy(a->best_x, a->x, (size_t)a->n * sizeof *a->x);
        memcpy(a->best_g, a->g, (size_t)a->n * sizeof *a->g);
    }
}

// The differences of f and g to the round before; the oldest one leaves. first: there is no round
// before.
static void remember(mixing *a, bool first)
{
    size_t n = (size_t)a->n;
    if (!first) {
        if (a->count == DEPTH) {
            memmove(a->dF, a->dF + n, (DEPTH - 1) * n * sizeof *a->dF);
            memmove(a->dG, a->dG + n, (DEPTH - 1) * n * sizeof *a->dG);
            a->count--;
        }
        double *dF = a->dF + (size_t)a->count * n, *dG = a->dG + (size_t)a->count * n;
        for (size_t i = 0; i < n; i++) {
            dF[i] = a->f[i] - a->last_f[i];
            dG[i] = a->g[i] - a->last_g[i];
        }
        a->count++;
    }
    memcpy(a->last_f, a->f, n * sizeof *a->f);
    memcpy(a->last_g, a->g, n * sizeof *a->g);
}

// x = g - dG c by Gram and Schmidt, newest difference first: what the newer ones already span is left out. Q, dG' of the same
// combinations: work of 2 DEPTH n.
static void extrapolate(mixing *a, double *work)
{
    size_t n = (size_t)a->n;
    double *Q = work, *D = work + DEPTH * n;
    int kept = 0;
    memcpy(a->x, a->g, n * sizeof *a->x);
    for (int k = a->count - 1; k >= 0; k--) {
        double *q = Q + (size_t)kept * n, *d = D + (size_t)kept * n;
        memcpy(q, a->dF + (size_t)k * n, n * sizeof *q);
        memcpy(d, a->dG + (size_t)k * n, n * sizeof *d);
        double size = sqrt(pp_dot(a->n, q, q));
        // twice: one pass of Gram and Schmidt loses orthogonality where differences are nearly
        // parallel
        for (int twice = 0; twice < 2; twice++) {
            for (int j = 0; j < kept; j++) {
                double c = pp_dot(a->n, q, Q + (size_t)j * n);
                pp_axpy(a->n, -c, Q + (size_t)j * n, q);
                pp_axpy(a->n, -c, D + (size_t)j * n, d);
            }
        }
        double left = sqrt(pp_dot(a->n, q, q));
        if (!(left > PARALLEL * size)) {
            continue;
        }
        for (size_t i = 0; i < n; i++) {
            q[i] /= left;
            d[i] /= left;
        }
        // c of this direction is q.f, and d is dG of the same combination of differences
        pp_axpy(a->n, -pp_dot(a->n, q, a->f), d, a->x);
        kept++;
    }
}

// Back to the best point, and a shorter way from there. The differences are forgotten: they led
// away.
static void retreat(mixing *a)
{
    for (int i = 0; i < a->n; i++) {
        a->x[i] = a->best_x[i] + a->share * (a->best_g[i] - a->best_x[i]);
    }
    a->share *= 0.5;
    a->count = 0;
}

// g(x): the answer of the rows that velocities x lead to. off: how far it is from x, of their size.
static perp_status image(perp_sim *sim, const double *nu, double h, double given, const double *x,
                         double *off, double *size)
{
    pp_step *s = &sim->step;
    double turned = 0.0;
    *size = fmax(given, pp_norm_inf(sim->model->nv, x));
    if (!s->answer.nu) {  // a solve that failed early leaves none
        s->answer.nu = PP_ARRAY(sim->arena, double, sim->model->nv);
    }
    if (!s->answer.nu) {
        return PERP_ERR_MEMORY;
    }
    memcpy(s->answer.nu, x, (size_t)sim->model->nv * sizeof *x);
    *off = 0.0;
    // Inertia at the end, rows and answer, all for a step that ends with x.
    perp_status status = sim->model->spatial ? pp_sim_masses_at_end(sim, h, &turned) : PERP_OK;
    if (status < 0) {
        return status;
    }
    status = pp_sim_find_rows(sim, x, h);
    if (status < 0) {
        return status;
    }
    status = pp_sim_solve(sim, nu);
    if (status >= 0) {
        *off = pp_sim_relative_change(sim, x, *size);
    }
    return status;
}

// Found, or below what counts as lost and no longer halved: rounding of a nearly singular problem.
static bool has_come(double off, double before, int round)
{
    return off <= FOUND || (round > 3 && off <= PP_MIDDLE_LOST && off >= 0.5 * before);
}

// A point that could not be solved, for another reason than that memory or work is used up.
static bool may_retreat(const perp_sim *sim, perp_status status)
{
    return status < 0 && !pp_is_final(status) && !pp_sim_is_worked_off(sim);
}

// Extrapolation from the best round on; the best point of all where no fixed point is found.
static perp_status mix(perp_sim *sim, mixing *a, const double *nu, double h, double given,
                       double *off, double *size)
{
    int n = a->n;
    // Q and D of extrapolate
    double *work = PP_ARRAY(sim->arena, double, 2 * DEPTH * (size_t)n);
    bool first = true;
    if (!work) {
        return PERP_ERR_MEMORY;
    }
    // from the best of the plain rounds, half way to its image
    retreat(a);
    for (int round = 0; round < MIXED_ROUNDS; round++) {
        double before = *off, norm = PP_INF;
        perp_status status = image(sim, nu, h, given, a->x, off, size);
        if ((status < 0 && !may_retreat(sim, status)) ||
            (status >= 0 && has_come(*off, before, round))) {
            return status;
        }
        if (status >= 0) {
            memcpy(a->g, sim->step.answer.nu, (size_t)n * sizeof *a->g);
            norm = measure(a);
            keep_best(a, norm);
        }
        // A point that failed, or is much worse than the best one, is left by a shorter step, as long as there is one.
        bool worse = !(norm <= GROWTH * a->best);
        if (status < 0 && a->share < LEAST_SHARE) {
            break;
        }
        if (worse && a->share >= LEAST_SHARE) {
            first = true;
            retreat(a);
            continue;
        }
        remember(a, first);
        first = false;
        extrapolate(a, work);
    }
    return image(sim, nu, h, given, a->best_x, off, size);
}

// Plain rounds first, which are enough for most steps, then extrapolation. off: how far the last
// round moved the velocities, of their size.
static perp_status go_round(perp_sim *sim, const double *nu, double h, double *off, double *size)
{
    const perp_model *m = sim->model;
    pp_step *s = &sim->step;
    mixing a;
    perp_status status = PERP_OK;
    if (!create_mixing(&a, m, sim->arena)) {
        return PERP_ERR_MEMORY;
    }
    // Joints may hold what the forces move: then speeds are small, and what the forces alone would give is the measure.
    pp_masses_solve(m, s->kin.mass, s->kin.loads.p_ext, a.x);
    double given = pp_norm_inf(m->nv, a.x);
    for (int round = 0; round < ROUNDS; round++) {
        double before = *off;
        memcpy(a.x, s->answer.nu, (size_t)m->nv * sizeof *a.x);
        status = image(sim, nu, h, given, a.x, off, size);
        if (status < 0) {
            break;
        }
        memcpy(a.g, s->answer.nu, (size_t)m->nv * sizeof *a.g);
        keep_best(&a, measure(&a));
        if (has_come(*off, before, round)) {
            return status;
        }
    }
    bool goes_on = status >= 0 ? *off > PP_MIDDLE_LOST : may_retreat(sim, status);
    return goes_on && a.best < PP_INF ? mix(sim, &a, nu, h, given, off, size) : status;
}

// The answer; with the theta method and anything that turns, the rounds of go_round after it.
perp_status pp_sim_solve_middle(perp_sim *sim, const double *nu, double h)
{
    const perp_model *m = sim->model;
    pp_step *s = &sim->step;
    double off = 0.0, size = 0.0;
    perp_status status = pp_sim_solve(sim, nu);
    bool rows = s->row.nb + s->row.nm + s->row.nn > 0;
    bool goes =
        sim->def.stepper == PERP_STEPPER_MOREAU_JEAN && rows && (m->joints > 0 || m->spatial);
    if (goes && status >= 0) {
        status = go_round(sim, nu, h, &off, &size);
    }
    // Contacts that come and go between the rounds keep them from converging: once more with contacts where the step
    // starts, which is of first order.
    if (goes && s->acted && (status < 0 || off > PP_MIDDLE_LOST) && !pp_is_final(status)) {
        s->stay = true;
        off = 0.0;
        status = pp_sim_find_rows(sim, sim->now.nu, h);
        if (status >= 0) {
            status = pp_sim_solve(sim, nu);
        }
        if (status >= 0) {
            status = go_round(sim, nu, h, &off, &size);
        }
    }
    // what turns less in a shorter step has a middle
    s->unsettled = goes && status >= 0 && off > PP_MIDDLE_LOST;
    pp_sim_record_midpoint_error(sim, off, size);
    if (sim->def.stepper == PERP_STEPPER_IMPLICIT && status >= 0) {
        return pp_sim_solve_implicit(sim, nu, h);
    }
    return status;
}
