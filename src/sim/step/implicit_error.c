// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// How well an answer of the implicit step holds with the rows of where it leads.                            theory (I1)
#include "sim/step/implicit.h"

#include <math.h>
#include <string.h>

// Errors of joints that are left [m, rad], of limits ten times that: of the model's length, and at most
static const double PLACE = 1e-11, PLACE_MOST = 5e-11, LIMIT_MOST = 1e-10;
static const double CLOSELY = 1e-2;  // of the error of other rates, that joints are closed to
// Overlap that is left [m]: two fifths of what the certificate allows, (K14), of what other steps may leave; and at most.
static const double OVERLAP = 4e-7, OVERLAP_MOST = 0.9e-9;
static const double ROUNDING =
    1e-14;  // of coordinates and sizes: places are not known better than that
static const double BALANCE = 1e-10;  // of impulses on a body, of their sizes

// Speed of the fastest point of a body at either end, with a fall by its size [m/s].
static double body_speed(const perp_sim *sim, int i)
{
    const pp_body *body = &sim->model->body[i];
    const pp_frame *a = &sim->step.kin.poses.body[i], *b = &sim->step.end.body[i];
    double reach = body->nv > 0 ? body->reach : 0.0;
    double fall = body->nv > 0 ? sqrt(sim->model->gravity_most * reach) : 0.0;
    double before = pp_length(a->v) + pp_length(a->w) * reach;
    return fmax(before, pp_length(b->v) + pp_length(b->w) * reach) + fall;
}

double pp_sim_speed_scale(const perp_sim *sim)
{
    double most = 0.0;
    for (int i = 0; i < sim->model->bodies; i++) {
        most = fmax(most, body_speed(sim, i));
    }
    return most;
}

// The larger error; what is not a number is larger than all.
static double larger(double a, double b)
{
    return isnan(b) ? HUGE_VAL : fmax(a, b);
}

// Islands of a round: bodies that rows connect, by the first body that they lead to.
typedef struct round_islands {
    int *root;
    double *speed;          // of each body that of the fastest one of its island [m/s]
    pp_round_error *error;  // at roots
} round_islands;

static int island_of(const int *root, int i)
{
    while (root[i] != i) {
        i = root[i];
    }
    return i;
}

// What errors of rates are measured by, for each body the fastest one of those that rows connect it to, as in the certificate:
// a bullet on its way says nothing of a box at rest.                                   theory (K1). False: no memory
static bool find_islands(const perp_sim *sim, round_islands *of)
{
    const perp_model *m = sim->model;
    const pp_rows *rows = &sim->step.row;
    double *speed = of->speed = PP_ARRAY(sim->arena, double, m->bodies);
    int *root = of->root = PP_ARRAY(sim->arena, int, m->bodies);
    of->error = PP_ZEROS(sim->arena, pp_round_error, m->bodies);
    if (!speed || !root || !of->error) {
        return false;
    }
    for (int i = 0; i < m->bodies; i++) {
        root[i] = i;
        speed[i] = body_speed(sim, i);
    }
    const pp_row *all[3] = {rows->b, rows->m, rows->n};
    const int count[3] = {rows->nb, rows->nm, rows->nn};
    for (int k = 0; k < 3; k++) {
        for (int i = 0; i < count[k]; i++) {
            const pp_row *row = &all[k][i];
            int to = -1;
            for (int e = 0; e < row->count; e++) {
                // fixed and driven bodies connect nothing
                int from = island_of(root, row->body[e]);
                if (m->body[row->body[e]].nv > 0 && to >= 0) {
                    speed[to] = fmax(speed[to], speed[from]);
                    root[from] = to;
                } else if (m->body[row->body[e]].nv > 0) {
                    to = from;
                }
            }
            // given motions and belts; what a drive asks for is no motion
            if (to >= 0 && !row->drives && !row->spring) {
                speed[to] = fmax(speed[to], fabs(row->rate));
            }
        }
    }
    for (int i = 0; i < m->bodies; i++) {
        root[i] = island_of(root, i);
    }
    for (int i = 0; i < m->bodies; i++) {
        speed[i] = fmax(speed[root[i]], 1e-6);
    }
    return true;
}

// The errors of the island of a row.
static pp_round_error *error_of(const perp_sim *sim, const round_islands *of, const pp_row *row)
{
    int at = row->count > 0 ? row->body[0] : 0;
    for (int e = 0; e < row->count; e++) {
        at = sim->model->body[row->body[e]].nv > 0 ? row->body[e] : at;
    }
    return &of->error[of->root[at]];
}

// The error of a rate that is nothing [m/s].
static double slow_of(const perp_sim *sim, const double *speed, const pp_row *row)
{
    return 10.0 * sim->def.tolerance * (row->count > 0 ? speed[row->body[0]] : 1e-6);
}

// Momenta of bodies that a round leaves, and the sizes of what went in and out of them.
typedef struct momenta {
    double *left, *size;  // nv
    double *sum;          // nv: of the rows of one joint, zeros between two of them
} momenta;

static void sum_row(const perp_model *m, const pp_row *row, double p, const momenta *of)
{
    for (int e = 0; e < row->count; e++) {
        const pp_body *body = &m->body[row->body[e]];
        for (int c = 0; c < body->nv; c++) {
            of->sum[body->at + c] += p * row->J[e][c];
        }
    }
}

// Takes what was summed of a row's bodies from what is left, and adds its size.
static void take_sum(const perp_model *m, const pp_row *row, const momenta *of)
{
    for (int e = 0; e < row->count; e++) {
        const pp_body *body = &m->body[row->body[e]];
        for (int k = body->at; k < body->at + body->nv; k++) {
            of->left[k] -= of->sum[k];
            of->size[k] += fabs(of->sum[k]);
            of->sum[k] = 0.0;
        }
    }
}

// Impulse of a spring where the answer leads, whose error is that of its rate over gamma: of a stiff one a momentum that others
// would find missing. What rounding of its places leaves is none.                                      theory (P5)
static double law_impulse(const perp_sim *sim, const pp_row *row, double p)
{
    double law = -(pp_row_rate(sim->model, row, sim->step.answer.nu) + row->bias) / row->gamma;
    double far = 0.0;
    for (int e = 0; e < row->count; e++) {
        far = fmax(far, pp_length(sim->step.end.body[row->body[e]].p));
    }
    return fabs(law - p) > ROUNDING * far / (sim->step.kin.h * row->gamma) ? law : p;
}

// Impulses of rows. Those of one joint are taken together: a motor that presses against a limit has an impulse that the limit
// takes back, and equations may nearly cancel, which says nothing of what the joint carries. Rows are in the order of joints.
static void take_impulses(const perp_sim *sim, const double *p, const momenta *of)
{
    const perp_model *m = sim->model;
    const pp_rows *rows = &sim->step.row;
    const pp_row *all[4] = {rows->b, rows->m, rows->n, rows->t};
    const double *by[4] = {sim->step.answer.pb, p + rows->nn + rows->nt, p, p + rows->nn};
    const int count[4] = {rows->nb, rows->nm, rows->nn, rows->nt};
    for (int k = 0; k < 4; k++) {
        for (int i = 0; i < count[k]; i++) {
            if (all[k][i].joint < 0) {
                bool spring = k == 0 && all[k][i].gamma > 0.0;
                sum_row(m, &all[k][i], spring ? law_impulse(sim, &all[k][i], by[k][i]) : by[k][i],
                        of);
                take_sum(m, &all[k][i], of);
            }
        }
    }
    // limits come after contacts
    int at[3] = {0, 0, rows->nc};
    for (int joint = 0; joint < m->joints; joint++) {
        int first[3] = {at[0], at[1], at[2]};
        for (int k = 0; k < 3; k++) {
            for (; at[k] < count[k] && all[k][at[k]].joint <= joint; at[k]++) {
                if (all[k][at[k]].joint == joint) {
                    sum_row(m, &all[k][at[k]], by[k][at[k]], of);
                }
            }
        }
        for (int k = 0; k < 3; k++) {
            for (int i = first[k]; i < at[k]; i++) {
                if (all[k][i].joint == joint) {
                    take_sum(m, &all[k][i], of);
                }
            }
        }
    }
}

// The imbalance of impulses, M (nu - nu_l) - p_ext - W p, over BALANCE of the terms. False: no memory.
static bool add_imbalance(perp_sim *sim, const double *nu_l, const double *p, round_islands *of)
{
    const perp_model *m = sim->model;
    const pp_step *s = &sim->step;
    size_t nv = (size_t)m->nv;
    double *left = PP_ZEROS(sim->arena, double, 4 * nv);
    if (!left) {
        return false;
    }
    double *size = left + nv, *dv = size + nv, *sum = dv + nv;
    for (size_t i = 0; i < nv; i++) {
        dv[i] = s->answer.nu[i] - nu_l[i];
    }
    pp_masses_mul(m, s->mass_l, dv, left);
    for (size_t i = 0; i < nv; i++) {
        size[i] = fabs(left[i]) + fabs(s->push_l[i]);
        left[i] -= s->push_l[i];
    }
    take_impulses(sim, p, &(momenta){left, size, sum});
    for (int i = 0; i < m->bodies; i++) {
        const pp_body *body = &m->body[i];
        double most[2] = {0.0, 0.0}, off[2] = {0.0, 0.0};  // forces; moments
        for (int c = 0; c < body->nv; c++) {
            int kind = body->axis[c] < 3 ? 0 : 1;
            most[kind] = fmax(most[kind], size[body->at + c]);
            off[kind] = fmax(off[kind], fabs(left[body->at + c]));
        }
        double carried = body->nv > 0 ? body->divisor_mass * of->speed[i] : 0.0;
        double allowed[2] = {BALANCE * (most[0] + carried),
                             BALANCE * (most[1] + carried * body->reach)};
        double *worst = &of->error[of->root[i]].laws;
        for (int k = 0; k < 2; k++) {
            *worst = allowed[k] > 0.0 ? larger(*worst, off[k] / allowed[k]) : *worst;
        }
    }
    return true;
}

// Errors of bilateral and boxed rows, over what is allowed: positions `place`, rates slow_of.
static void add_row_errors(const perp_sim *sim, const double *pm, double h, double place,
                           const round_islands *of)
{
    const pp_step *s = &sim->step;
    for (int i = 0; i < s->row.nb; i++) {
        const pp_row *row = &s->row.b[i];
        double slow = slow_of(sim, of->speed, row), *worst = &error_of(sim, of, row)->places;
        // in short steps the rate is the stricter of the two, down to what rounding of places leaves
        double closed = fmax(fmin(place, CLOSELY * slow * h), 1e-3 * place) / h;
        double w = pp_row_rate(sim->model, row, s->answer.nu) + row->bias;
        bool condition = row->joint >= 0 && !row->spring && !row->stabilised && row->gamma == 0.0;
        w += row->gamma * s->answer.pb[i];
        *worst = larger(*worst, fabs(w) / (condition ? closed : slow));
    }
    for (int i = 0; i < s->row.nm; i++) {
        const pp_row *row = &s->row.m[i];
        double w = pp_row_rate(sim->model, row, s->answer.nu) + row->bias + row->gamma * pm[i];
        double m = pp_row_mobility(sim->model, s->mass_l, row) + row->gamma;
        double to = m > 0.0 ? pp_clamp(pm[i] - w / m, row->lower, row->upper) : pm[i];
        double *worst = &error_of(sim, of, row)->places;
        *worst = larger(*worst, m * fabs(pm[i] - to) / slow_of(sim, of->speed, row));
    }
}

// The natural map of a group of friction rows [m/s]. Rows of anisotropic friction are scaled, by 1e7 and more, such that one
// disc holds for both: the map is taken on the ellipse of the impulses themselves, since the small limit of one direction
// would bound any error of the other.
static double friction_error(const perp_sim *sim, int n, const pp_friction *group, const double *p,
                             double slow)
{
    const pp_rows *rows = &sim->step.row;
    const double *pt = p + rows->nn + group->t;
    bool polygons = sim->step.answer.form != PERP_FORM_CONE;
    double limit = group->mu * p[n], slip[2], m = 0.0;
    bool elliptic = pp_friction_is_elliptic(group, polygons);
    pp_friction_slip(sim->model, rows, group, sim->step.answer.nu, slip);
    // Projections do not lengthen: of an impulse inside its limit the map is at most the slip, whatever the mobility.
    double size = pt[0] * pt[0], speed = slip[0] * slip[0] + slip[1] * slip[1];
    size += group->size == 2 ? pt[1] * pt[1] : 0.0;
    if (!elliptic && 2.0 * size <= limit * limit && speed <= slow * slow) {
        return sqrt(speed);
    }
    // mobility of unscaled rows, along the direction that moves most
    for (int k = 0; k < group->size; k++) {
        double by = elliptic && k == 1 ? group->stretch * group->stretch : 1.0;
        m = fmax(m, pp_row_mobility(sim->model, sim->step.mass_l, &rows->t[group->t + k]) / by);
    }
    return m > 0.0 ? pp_friction_error(group, polygons, limit, m, pt, slip) : 0.0;
}

double pp_sim_place_rounding(const perp_sim *sim)
{
    const perp_model *m = sim->model;
    double most = m->length_scale;
    for (int i = 0; i < m->bodies; i++) {
        perp_vec3 x = sim->step.end.body[i].p;
        double far = fmax(fmax(fabs(x.x), fabs(x.y)), fabs(x.z)) + m->body[i].reach;
        most = m->body[i].nv > 0 ? fmax(most, far) : most;
    }
    return ROUNDING * most;
}

double pp_sim_overlap_left(const perp_sim *sim, int n, double rounding)
{
    const pp_rows *rows = &sim->step.row;
    if (n >= rows->nc) {
        return fmax(fmin(10.0 * PLACE * sim->model->length_scale, LIMIT_MOST), rounding);
    }
    const pp_contact *c = &sim->step.gap.contact[rows->contact[n]];
    return fmax(fmin(OVERLAP * pp_scale_overlap(sim->model, c->a, c->b), OVERLAP_MOST), rounding);
}

// Half of that of the thinnest contact: the rest is for what solvers leave. 0: other steppers, whose gaps are not closed.
double pp_sim_most_slop(const perp_sim *sim)
{
    const pp_gaps *gaps = &sim->step.gap;
    double least = HUGE_VAL;
    if (sim->def.stepper != PERP_STEPPER_IMPLICIT || gaps->count == 0) {
        return 0.0;
    }
    for (int i = 0; i < gaps->count; i++) {
        const pp_contact *c = &gaps->contact[i];
        least = fmin(least, pp_scale_overlap(sim->model, c->a, c->b));
    }
    return 0.5 * fmin(OVERLAP * least, OVERLAP_MOST) / sim->step.kin.h;
}

// The same of contacts and limits: natural maps, and overlaps.
static void add_contact_errors(const perp_sim *sim, const double *p, double h, double rounding,
                               const round_islands *of)
{
    const pp_step *s = &sim->step;
    const pp_rows *rows = &s->row;
    for (int n = 0; n < rows->nn; n++) {
        const pp_row *row = &rows->n[n];
        pp_round_error *e = error_of(sim, of, row);
        double slow = slow_of(sim, of->speed, row);
        double w = pp_row_rate(sim->model, row, s->answer.nu) + row->bias, map = 0.0;
        // where the rate is as good as zero the map is the rate at most, whatever the mobility
        bool still = p[n] > 0.0 && fabs(w) <= slow;
        if (still) {
            map = fabs(w);
        } else if (p[n] > 0.0 || w < 0.0) {
            double m = pp_row_mobility(sim->model, s->mass_l, row);
            map = m > 0.0 ? fabs(p[n] - fmax(p[n] - w / m, 0.0)) * m : 0.0;
        }
        e->laws = larger(e->laws, map / slow);
        if (map > 0.0 && !row->bounces) {
            e->places = larger(e->places, -w * h / pp_sim_overlap_left(sim, n, rounding));
        }
        for (int g = 0; g < rows->grouped[n] && p[n] != 0.0; g++) {
            const pp_friction *group = &rows->group[rows->friction[n] + g];
            e->laws = larger(e->laws, friction_error(sim, n, group, p, slow) / slow);
        }
    }
}

bool pp_sim_same_rows(const perp_sim *sim)
{
    const pp_step *s = &sim->step;
    const pp_round *last = s->last;
    if (s->row.nb != last->row.nb || s->row.nm != last->row.nm || s->row.nn != last->row.nn ||
        s->row.nc != last->row.nc || s->row.nt != last->row.nt || s->row.ng != last->row.ng) {
        return false;
    }
    for (int n = 0; n < s->row.nc; n++) {
        if (s->row.n[n].bounces != last->row.n[n].bounces ||
            !pp_sim_same_contact(&s->gap.contact[s->row.contact[n]],
                                 &last->gap.contact[last->row.contact[n]])) {
            return false;
        }
    }
    return true;
}

bool pp_sim_find_slip(perp_sim *sim)
{
    pp_step *s = &sim->step;
    const pp_rows *rows = &s->row;
    double *sigma = PP_ZEROS(sim->arena, double, rows->ng);
    if (!sigma) {
        return false;
    }
    for (int g = 0; g < rows->ng; g++) {
        double slip[2] = {0.0, 0.0};
        pp_friction_slip(sim->model, rows, &rows->group[g], s->answer.nu, slip);
        bool polygons = s->answer.form != PERP_FORM_CONE;
        sigma[g] = pp_friction_support(&rows->group[g], polygons, slip);
    }
    s->answer.sigma = sigma;
    return true;
}

pp_round_error pp_sim_error_there(perp_sim *sim, const double *nu_l, double *p, double h)
{
    pp_step *s = &sim->step;
    double rounding = pp_sim_place_rounding(sim);
    double place = PLACE * fmax(sim->model->length_scale, 1e-3);
    place = fmax(fmin(place, PLACE_MOST), rounding);
    round_islands of;
    s->stays = PP_ZEROS(sim->arena, bool, sim->model->bodies);
    bool found = find_islands(sim, &of) && s->stays;
    // the answer with its impulses in the places of the rows found now
    s->answer.pn = p;
    s->answer.pt = p + s->row.nn;
    s->answer.pm = p + s->row.nn + s->row.nt;
    if (!found || s->row.nb != s->last->row.nb || (s->answer.impact && !pp_sim_same_rows(sim))) {
        return (pp_round_error){HUGE_VAL, HUGE_VAL};
    }
    add_contact_errors(sim, p, h, rounding, &of);
    add_row_errors(sim, p + s->row.nn + s->row.nt, h, place, &of);
    if (!add_imbalance(sim, nu_l, p, &of)) {
        return (pp_round_error){HUGE_VAL, HUGE_VAL};
    }
    pp_round_error worst = {0.0, 0.0};
    for (int i = 0; i < sim->model->bodies; i++) {
        const pp_round_error *e = &of.error[of.root[i]];
        worst.laws = fmax(worst.laws, e->laws);
        worst.places = fmax(worst.places, e->places);
        s->stays[i] = e->laws <= 1.0 && e->places <= 1.0;
    }
    return worst;
}
