// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Balance of momentum, body by body: M (nu - nu_l) - p_ext - W p. Impulses of contacts act as forces
// and moments at their points, those of joints and springs along their rows.           theory (K6)
#include "certify/scale.h"

#include "math/math.h"

#include <math.h>

// Balance of one body: the impulse f [N s] and its moment tau about the centre of mass [N m s] that
// remain unexplained, in world axes, and the sums of the sizes of all terms, which set the limit.
typedef struct body_balance {
    perp_vec3 f, tau;
    double size_f, size_tau;
} body_balance;

// J nu plus the part of the row that given motions prescribe, with velocities of bodies in world
// axes.
double pp_judge_rate(const perp_model *m, const pp_row *row, const perp_twist *body)
{
    double sum = row->rate;
    for (int k = 0; k < row->count; k++) {
        const pp_body *b = &m->body[row->body[k]];
        const perp_twist *v = &body[row->body[k]];
        const double all[PP_BODY_NV] = {v->v_W.x, v->v_W.y, v->v_W.z, v->w_W.x, v->w_W.y, v->w_W.z};
        for (int i = 0; i < b->nv; i++) {
            sum += row->J[k][i] * all[b->axis[i]];
        }
    }
    return sum;
}

// Coefficients of a row for its k-th body as a force and a moment about the centre of mass, in
// world axes. Planar bodies have only the components listed in `axis`.
static perp_wrench row_wrench(const perp_model *m, const pp_row *row, int k)
{
    const pp_body *b = &m->body[row->body[k]];
    const double *J = row->J[k];
    double all[PP_BODY_NV] = {0.0};
    if (b->nv == 6) {
        return (perp_wrench){{J[0], J[1], J[2]}, {J[3], J[4], J[5]}};
    }
    for (int i = 0; i < b->nv; i++) {
        all[b->axis[i]] = row->J[k][i];
    }
    return (perp_wrench){{all[0], all[1], all[2]}, {all[3], all[4], all[5]}};
}

// f.f / m + tau . I^-1 tau of a force and moment on one body. The inverse inertia is constant in body axes, so that the
// moment is taken there.
static double wrench_square(const pp_step_evidence *e, int i, perp_vec3 f, perp_vec3 tau)
{
    const pp_body *body = &e->model->body[i];
    double square = pp_dot3(f, f) / body->divisor_mass;
    if (pp_body_turns(body)) {
        perp_vec3 turn_B = pp_mul_t(&e->kin->poses.body[i].R, tau);
        square += pp_dot3(turn_B, pp_mul(&body->inverse_IB, turn_B));
    }
    return square;
}

double pp_judge_square(const pp_step_evidence *e, const pp_row *row)
{
    double sum = 0.0;
    for (int k = 0; k < row->count; k++) {
        perp_wrench w = row_wrench(e->model, row, k);
        sum += wrench_square(e, row->body[k], w.f_W, w.tau_W);
    }
    return sum;
}

// In the plane a force along z and moments about x and y move nothing; rows of planar joints have none.
pp_own_sums pp_judge_pair(const pp_step_evidence *e, const pp_own_pair *pair,
                          const perp_twist *body)
{
    bool length = pair->f.x != 0.0 || pair->f.y != 0.0 || pair->f.z != 0.0;
    pp_own_sums sums = {.along = 1.0,
                        .lever = length ? 1.0 : pp_scale_pair_lever(e->model, pair->a, pair->b)};
    if (e->model->body[pair->b].nv > 0) {
        const perp_twist *b = &body[pair->b];
        sums.after += pp_dot3(pair->f, b->v_W) + pp_dot3(pair->tau_b, b->w_W);
        sums.square += wrench_square(e, pair->b, pair->f, pair->tau_b);
    }
    if (e->model->body[pair->a].nv > 0) {
        const perp_twist *a = &body[pair->a];
        sums.after += pp_dot3(pair->tau_a, a->w_W) - pp_dot3(pair->f, a->v_W);
        sums.square += wrench_square(e, pair->a, pair->f, pair->tau_a);
    }
    return sums;
}

// J M^-1 J^T + gamma; 1 where nothing can move, so that callers may divide. A quasistatic step has a share of the masses;
// gamma is the compliance of the row.
double pp_judge_mobility_of(const pp_step_evidence *e, double square, double gamma)
{
    double sum = square / e->inertia + gamma;
    return sum > 0.0 ? sum : 1.0;
}

double pp_judge_mobility(const pp_step_evidence *e, const pp_row *row)
{
    return pp_judge_mobility_of(e, pp_judge_square(e, row), row->gamma);
}

// Adds sign times a force that acts at `arm` from the centre of mass, and a moment. Sizes are added
// without signs: terms that cancel still count for rounding.
static void add_impulse_to_body(body_balance *to, double sign, perp_vec3 f, perp_vec3 arm,
                                perp_vec3 moment)
{
    perp_vec3 tau = pp_add(moment, pp_cross(arm, f));
    to->f = pp_along(to->f, sign, f);
    to->tau = pp_along(to->tau, sign, tau);
    to->size_f += pp_length(f);
    to->size_tau += pp_length(moment) + pp_length(arm) * pp_length(f);
}

// Angular momentum of a body about its centre of mass in world axes, at the orientation f [N m s].
static perp_vec3 angular_momentum_of(const pp_step_evidence *e, int i, const pp_frame *f,
                                     const double *nu)
{
    const pp_body *body = &e->model->body[i];
    const double *w = nu + body->at + 3;
    perp_vec3 w_B = pp_mul_t(&f->R, pp_vec(w[0], w[1], w[2]));
    return pp_mul(&f->R, pp_mul(&body->I_B, w_B));
}

// Opens the balance of one body with M (nu - nu_old) - p_ext. The theta method in space takes the
// angular momentum at both ends, each with the inertia at its orientation.             theory (S9)
static body_balance open_account(const pp_step_evidence *e, int i)
{
    const pp_body *body = &e->model->body[i];
    const pp_frame *f = &e->kin->poses.body[i];
    double dv[PP_BODY_NV] = {0.0}, v[PP_BODY_NV] = {0.0}, p[PP_BODY_NV] = {0.0};
    for (int k = 0; k < body->nv; k++) {
        int at = body->at + k;
        dv[body->axis[k]] = e->nu[at] - e->nu_old[at];
        v[body->axis[k]] = fabs(e->nu[at]) + fabs(e->nu_old[at]);
        p[body->axis[k]] = e->p_ext[at];
    }
    perp_vec3 turn_B = pp_mul_t(&f->R, pp_vec(dv[3], dv[4], dv[5]));
    perp_vec3 spin = pp_mul(&f->R, pp_mul(&body->I_B, turn_B));
    if (e->stepper == PERP_STEPPER_MOREAU_JEAN && body->kind == PERP_BODY_SPATIAL) {
        spin = pp_sub(angular_momentum_of(e, i, &e->end->body[i], e->nu),
                      angular_momentum_of(e, i, f, e->nu_old));
    }
    // The trace bounds every moment of inertia, which is enough for a size.
    double I = body->I_B.m[0] + body->I_B.m[4] + body->I_B.m[8];
    body_balance a = {.f = pp_scale(e->inertia * body->mass, pp_vec(dv[0], dv[1], dv[2])),
                      .tau = pp_scale(e->inertia, spin)};
    a.size_f = e->inertia * body->mass * (v[0] + v[1] + v[2]);
    a.size_tau = e->inertia * I * (v[3] + v[4] + v[5]);
    add_impulse_to_body(&a, -1.0, pp_vec(p[0], p[1], p[2]), pp_vec(0.0, 0.0, 0.0),
                        pp_vec(p[3], p[4], p[5]));
    return a;
}

// Impulses along the coordinate of a joint: their sum, and the sum of their sizes.
typedef struct coordinate_load {
    double p, size;
} coordinate_load;

// Impulses of drives, limits and springs, along their rows. The balance takes them with a
// minus sign, as everything on the right of M (nu - nu_old) = p_ext + sum p. Those along the coordinate of a joint between
// two bodies are collected first.
static void add_row_impulses(const pp_step_evidence *e, body_balance *of, coordinate_load *load,
                             const pp_row *row, const pp_own_sums *known, const double *p,
                             int count)
{
    for (int i = 0; i < count; i++) {
        if (p[i] == 0.0) {
            continue;
        }
        if (known[i].along != 0.0) {
            load[row[i].joint].p += known[i].along * p[i];
            load[row[i].joint].size += fabs(p[i]);
            continue;
        }
        for (int k = 0; k < row[i].count; k++) {
            perp_wrench w = row_wrench(e->model, &row[i], k);
            body_balance *to = &of[row[i].body[k]];
            to->f = pp_along(to->f, -p[i], w.f_W);
            to->tau = pp_along(to->tau, -p[i], w.tau_W);
            to->size_f += fabs(p[i]) * pp_length(w.f_W);
            to->size_tau += fabs(p[i]) * pp_length(w.tau_W);
        }
    }
}

static void add_coordinate_load(body_balance *to, double p, double size, perp_vec3 f, perp_vec3 tau)
{
    to->f = pp_along(to->f, -p, f);
    to->tau = pp_along(to->tau, -p, tau);
    to->size_f += size * pp_length(f);
    to->size_tau += size * pp_length(tau);
}

// Impulses of joints between two bodies: of their equations, which act at their anchors as those of contacts at their points,
// and along their coordinates. Bodies that are not free have accounts that nobody judges.
static void add_joint_impulses(const pp_step_evidence *e, const coordinate_load *load,
                               body_balance *of)
{
    for (int i = 0; i < e->model->joints; i++) {
        const pp_own_joint *j = &e->joints->of[i];
        const pp_joint *joint = &e->model->joint[i];
        body_balance *a = &of[joint->a], *b = &of[joint->b];
        if (j->count > 0) {
            add_impulse_to_body(b, -1.0, j->f, j->arm_b, j->on_b);
            add_impulse_to_body(a, 1.0, j->f, j->arm_a, pp_scale(-1.0, j->on_a));
        }
        if (load[i].size != 0.0) {  // also where it is NaN
            perp_vec3 back = pp_scale(-1.0, j->along.f);
            add_coordinate_load(b, load[i].p, load[i].size, j->along.f, j->along.tau_b);
            add_coordinate_load(a, load[i].p, load[i].size, back, j->along.tau_a);
        }
    }
}

// The impulse of a contact as a force at its point and a moment: on b, and opposite on a. Its rows
// are not read, so that an error in a row shows in the balance.
static void add_contact_impulse(const pp_step_evidence *e, body_balance *of, int i)
{
    const perp_model *m = e->model;
    const pp_rows *rows = e->rows;
    const pp_contact *c = &e->gaps->contact[rows->contact[i]];
    // The tangents t and o = n x t complete the normal to a right-handed frame.
    perp_vec3 o = pp_cross(c->n, c->t), f = pp_scale(e->pn[i], c->n), moment = {0.0, 0.0, 0.0};
    for (int g = 0; g < rows->grouped[i]; g++) {
        const pp_friction *group = &rows->group[rows->friction[i] + g];
        double first = e->pt[group->t], second = group->size == 2 ? e->pt[group->t + 1] : 0.0;
        // Rows of anisotropic friction are scaled by mu_2 / mu.                        theory (S4)
        double mu_2 = c->mu_2 >= 0.0 ? c->mu_2 : c->mu;
        if (group->kind == PP_SPIN) {
            moment = pp_along(moment, first, c->n);
        } else if (group->kind == PP_ROLL) {
            moment = pp_along(pp_along(moment, first, c->t), second, o);
        } else if (group->size == 1) {
            f = pp_along(f, first, c->t);
        } else {
            f = pp_along(f, c->mu > 0.0 ? first : 0.0, c->t);
            f = pp_along(f, (c->mu > 0.0 ? mu_2 / c->mu : 1.0) * second, o);
        }
    }
    const int bodies[2] = {m->shape[c->a].body, m->shape[c->b].body};
    for (int k = 0; k < 2; k++) {
        if (m->body[bodies[k]].nv > 0) {
            const pp_frame *frame = rows->n[i].middle ? e->middle : e->kin->poses.body;
            perp_vec3 arm = pp_sub(c->point, frame[bodies[k]].p);
            add_impulse_to_body(&of[bodies[k]], k == 0 ? 1.0 : -1.0, f, arm, moment);
        }
    }
}

// The imbalance may be a billionth of the sizes of all terms, and of the momentum that the body has
// at the speed of its island.                                                          theory (K6)
static const double MOMENTUM = 1e-9;

perp_status pp_judge_momentum(perp_certificate *c, const pp_step_evidence *e, const pp_scales *s,
                              const perp_limits *limits, pp_arena *arena)
{
    const perp_model *m = e->model;
    const pp_rows *rows = e->rows;
    body_balance *of = PP_ZEROS(arena, body_balance, m->bodies);
    coordinate_load *load = PP_ZEROS(arena, coordinate_load, m->joints);
    if (!of || !load) {
        return PERP_ERR_MEMORY;
    }
    for (int i = 0; i < m->bodies; i++) {
        if (m->body[i].nv > 0) {
            of[i] = open_account(e, i);
        }
    }
    for (int i = 0; i < rows->nc; i++) {
        add_contact_impulse(e, of, i);
    }
    const pp_own_joints *known = e->joints;
    add_row_impulses(e, of, load, rows->b, known->b, e->pb, rows->nb);
    add_row_impulses(e, of, load, rows->m, known->m, e->pm, rows->nm);
    // The first nc rows of n are the contacts, which were added above; limits of joints follow.
    int nc = rows->nc;
    add_row_impulses(e, of, load, rows->n + nc, known->limit, e->pn + nc, rows->nn - nc);
    add_joint_impulses(e, load, of);
    for (int i = 0; i < m->bodies; i++) {
        const pp_body *body = &m->body[i];
        if (body->nv == 0) {
            continue;
        }
        // Planar bodies: forces along z and moments about x and y have no equation.
        of[i].f.z = pp_body_is_spatial(body) ? of[i].f.z : 0.0;
        perp_vec3 tau = of[i].tau;
        double turn = body->kind == PERP_BODY_SPATIAL ? pp_length(tau) : fabs(tau.z);
        double own = MOMENTUM * body->divisor_mass * pp_scale_speed(s, s->island[i]) +
                     body->divisor_mass * pp_scale_rounding(s, s->island[i]);
        pp_certificate_record(c, limits, PERP_JUDGED_MOMENTUM, pp_length(of[i].f),
                              MOMENTUM * of[i].size_f + own);
        if (pp_body_turns(body)) {
            pp_certificate_record(c, limits, PERP_JUDGED_MOMENTUM, turn,
                                  MOMENTUM * of[i].size_tau + own * body->reach);
        }
    }
    return PERP_OK;
}
