// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// A recorded closing: positions change, velocities do not. The recorded multipliers must explain the way, and push only
// where something touches.
//
//   M d = W(q) rho,   phi(q) = 0,   0 <= rho_n _|_ psi(q) >= 0                                theory (I9), (K16)
#include "record/check/check.h"

#include <math.h>
#include <string.h>

static const double WAY = 1e-6;        // of the sizes of all terms
static const double ROUNDING = 1e-12;  // of coordinates

// The turn of a body on its way [rad], in world axes.
static perp_vec3 turn_on_way(const pp_recheck *c, int i)
{
    if (!c->model->spatial) {
        return pp_vec(0.0, 0.0, c->after[i].angle - c->before[i].angle);
    }
    return pp_quat_log(pp_quat_mul(c->after[i].rot, pp_quat_conjugate(c->before[i].rot)));
}

// Of a start as given: as far as a whole step may take it back, of the thickness or the arm.               theory (K8)
static const double A_STEP = 0.05;

// Overlaps are least along the normal that the shapes had: turned back with one of the bodies.
static double separation_before(const pp_recheck *c, int a, int b, perp_vec3 n_W)
{
    const perp_model *m = c->model;
    const int body[2] = {m->shape[a].body, m->shape[b].body};
    double along = pp_shape_separation(m, c->before, a, b, n_W);
    for (int k = 0; k < 2; k++) {
        perp_vec3 n = pp_mul(&c->before[body[k]].R, pp_mul_t(&c->after[body[k]].R, n_W));
        along = fmax(along, pp_shape_separation(m, c->before, a, b, n));
    }
    return along;
}

// What a partial closing did to an overlap: it is less, by no more than the share of the step, and none is turned into a gap.
// Returns how deep the shapes still overlap [m].
static double overlap_left(pp_recheck *c, const perp_contact *contact, double unit)
{
    const perp_model *m = c->model;
    int a = contact->a.i, b = contact->b.i;
    if (!(c->share > 0.0) || m->shape[a].mesh || m->shape[b].mesh) {
        return 0.0;
    }
    double skin = pp_skin(m, a, b);  // theory (P21)
    double from = fmin(0.0, separation_before(c, a, b, contact->normal_W) - skin);
    double to = pp_shape_separation(m, c->after, a, b, contact->normal_W) - skin;
    double most = c->share * A_STEP * pp_scale_overlap(m, a, b) / PP_APART;
    double off = fmax(to, fmax(from - to, to - from - most));
    pp_check_record_worst(c, PERP_CHECK_MOTION, isnan(off) ? off : fmax(off, 0.0), unit,
                          m->shape[a].name, m->shape[b].name);
    return fmax(0.0, -to);
}

// Joints are less open, or less past their limits, than before.
static void hold_joints(pp_recheck *c)
{
    const perp_model *m = c->model;
    const pp_poses from = {.t = c->t0, .body = c->before, .turn = c->turn0},
                   to = {.t = c->now->t, .body = c->after, .turn = c->turn};
    for (int i = 0; i < m->joints; i++) {
        double limit, before = pp_judge_joint(m, &from, i, &limit);
        double more = pp_judge_joint(m, &to, i, &limit) - before;
        pp_check_record_worst(c, PERP_CHECK_MOTION, isnan(more) ? more : fmax(more, 0.0),
                              1e-6 * limit, m->joint[i].name, "");
    }
}

// The multiplier of a contact, which is closed: its point lies on both surfaces, except of meshes.
static void add_push(pp_recheck *c, const perp_contact *contact)
{
    const perp_model *m = c->model;
    const int shape[2] = {contact->a.i, contact->b.i};
    double unit = 1e-6 * pp_scale_overlap(m, shape[0], shape[1]);
    const char *const name[2] = {m->shape[shape[0]].name, m->shape[shape[1]].name};
    double within = overlap_left(c, contact, unit);
    pp_check_record_worst(c, PERP_CHECK_MOTION, contact->pn >= 0.0 ? 0.0 : PP_INF, unit, name[0],
                          name[1]);
    for (int k = 0; k < 2; k++) {
        int body = m->shape[shape[k]].body;
        double sign = k == 0 ? -1.0 : 1.0;
        if (!m->shape[shape[k]].mesh) {
            perp_vec3 out = pp_scale(-sign, contact->normal_W);
            double off = pp_shape_surface_error(m, c->after, shape[k], contact->point_W, out) -
                         0.5 * pp_skin(m, shape[0], shape[1]);
            pp_check_record_worst(c, PERP_CHECK_MOTION, fmax(0.0, fabs(off) - within), unit,
                                  name[0], name[1]);
        }
        pp_check_add_at(&c->impulse[body], &c->after[body], sign,
                        pp_scale(contact->pn, contact->normal_W), contact->point_W);
        c->load[body] += contact->pn;
    }
}

perp_status pp_check_closing(pp_recheck *c)
{
    const perp_model *m = c->model;
    c->acting = c->after;
    c->found = c->after;
    if (!pp_check_start_sums(c)) {
        return PERP_ERR_MEMORY;
    }
    for (int i = 0; i < c->now->contacts; i++) {
        add_push(c, &c->now->contact[i]);
    }
    for (int i = 0; i < m->joints; i++) {
        pp_check_add_joint(c, i);
    }
    if (c->share > 0.0) {
        hold_joints(c);
    }
    bool still = memcmp(c->now->nu, c->nu0, (size_t)c->info->nv * sizeof *c->nu0) == 0;
    pp_check_record_worst(c, PERP_CHECK_MOTION, still ? 0.0 : PP_INF, 1.0, "velocities", "");
    // What is left of M d is a length over the mass, or over the mass at the reach.
    for (int i = 0; i < m->bodies; i++) {
        const pp_body *body = &m->body[i];
        if (body->nv == 0) {
            continue;
        }
        perp_vec3 way = pp_sub(c->after[i].p, c->before[i].p), turn = turn_on_way(c, i);
        const pp_mat3 *R = &c->before[i].R;
        perp_vec3 spin = pp_mul(R, pp_mul(&body->I_B, pp_mul_t(R, turn)));
        perp_vec3 f = pp_sub(pp_scale(body->mass, way), c->impulse[i].f_W);
        perp_vec3 tau = pp_sub(spin, c->impulse[i].tau_W);
        double place = pp_length(c->after[i].p) + body->reach, arm = fmax(body->reach, c->arm);
        double size = body->mass * pp_length(way) + c->load[i], mass = body->divisor_mass;
        f.z = pp_body_is_spatial(body) ? f.z : 0.0;
        double off = body->kind == PERP_BODY_SPATIAL ? pp_length(tau) : fabs(tau.z);
        double limit = WAY * size / mass + ROUNDING * place;
        pp_check_record_worst(c, PERP_CHECK_MOTION, pp_length(f) / mass, limit, body->name, "");
        if (pp_body_turns(body) && arm > 0.0) {
            pp_check_record_worst(c, PERP_CHECK_MOTION, off / (mass * arm), limit, body->name, "");
        }
    }
    // The energy that the way made is recorded as the opposite of a dissipation.
    double made = pp_check_energy_at(c, c->after, c->now->t, c->turn) -
                  pp_check_energy_at(c, c->before, c->t0, c->turn0);
    double scale = fabs(c->now->energy.kinetic) + fabs(c->now->energy.potential) + fabs(made);
    pp_check_record_worst(c, PERP_CHECK_RECORD, fabs(made + c->now->energy.dissipated),
                          1e-9 * scale + 1e-300, "the energy of a closing", "");
    return pp_check_gains_of_closing(c) ? PERP_OK : PERP_ERR_MEMORY;
}
