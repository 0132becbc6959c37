// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The theta method in space: what a step is written with depends on where it ends.            theory (S9)
//
//   R J R^T omega = R_l J R_l^T omega_l + (all angular impulses, in world axes),   R = D R_l
//
// The inertia is that of the end, so that impulses are of the world and stay there; there is no gyroscopic
// impulse, the change of the inertia is it. D is found body by body from the angular impulse of the last round.
#include "sim/sim.h"

#include <math.h>
#include <string.h>

static bool turns(const pp_body *body)
{
    return body->nv > 0 && body->kind == PERP_SPATIAL_BODY;
}

static perp_vec3 spin_of(const pp_body *body, const double *nu)
{
    return pp_vec(nu[body->at + 3], nu[body->at + 4], nu[body->at + 5]);
}

pp_advance pp_sim_advance(const perp_sim *sim, double h, double share)
{
    double theta = sim->def.stepper == PERP_MOREAU_JEAN ? sim->def.theta : 1.0;
    return (pp_advance){.h = h, .share = share, .theta = theta, .how = sim->def.rotation};
}

// The angular impulse that a body got with the velocities of the answer; without one: that of the forces.
static perp_vec3 push_on(const perp_sim *sim, int i)
{
    const pp_step *s = &sim->step;
    const pp_body *body = &sim->model->body[i];
    if (!s->answer.nu) {
        return spin_of(body, s->push_l);
    }
    return pp_sub(pp_mul(&s->kin.mass[i].I, spin_of(body, s->answer.nu)),
                  pp_mul(&s->mass_l[i].I, spin_of(body, sim->now.nu)));
}

perp_status pp_sim_weigh_end(perp_sim *sim, double h, double *change)
{
    const perp_model *m = sim->model;
    pp_step *s = &sim->step;
    *change = 0.0;
    if (!s->mass_l) {  // kin is of the start until here
        s->mass_l = PP_ARRAY(sim->arena, pp_weight, m->bodies);
        s->push_l = PP_ARRAY(sim->arena, double, m->nv);
        if (!s->mass_l || !s->push_l) {
            return PERP_ERR_MEMORY;
        }
        memcpy(s->mass_l, s->kin.mass, (size_t)m->bodies * sizeof *s->mass_l);
        memcpy(s->push_l, s->kin.p_ext, (size_t)m->nv * sizeof *s->push_l);
    }
    for (int i = 0; i < m->bodies; i++) {
        const pp_body *body = &m->body[i];
        const pp_frame *f = &s->kin.body[i];
        if (!turns(body)) {
            continue;
        }
        perp_vec3 before = spin_of(body, sim->now.nu), was = pp_mul(&s->kin.mass[i].I, before);
        perp_quat rot = pp_turn_of(&body->I_B, f->rot, before, push_on(sim, i), h, sim->def.theta,
                                   sim->def.rotation);
        pp_mat3 R = pp_quat_matrix(rot);
        s->kin.mass[i].I = pp_turn_tensor(&R, &body->I_B);
        s->kin.mass[i].inverse_I = pp_turn_tensor(&R, &body->inverse_IB);
        perp_vec3 now = pp_mul(&s->kin.mass[i].I, before), off = pp_sub(now, was);
        perp_vec3 carried = pp_sub(pp_mul(&s->mass_l[i].I, before), now);
        double *p = s->kin.p_ext + body->at + 3, *own = s->push_l + body->at + 3;
        p[0] = own[0] + carried.x;
        p[1] = own[1] + carried.y;
        p[2] = own[2] + carried.z;
        double size = pp_dot3(now, now);
        *change = fmax(*change, size > 0.0 ? sqrt(pp_dot3(off, off) / size) : 0.0);
    }
    return PERP_OK;
}

// Frames after a share of the step that ends with nu. Velocities of free bodies are left out.
static pp_frame *frames_at(perp_sim *sim, const double *nu, double h, double share)
{
    const perp_model *m = sim->model;
    pp_frame *body = PP_ARRAY(sim->arena, pp_frame, m->bodies);
    pp_advance by = pp_sim_advance(sim, h, share);
    pp_integrate(&sim->next, m, &sim->now, nu, &by);
    memcpy(sim->next.nu, sim->now.nu, (size_t)m->nv * sizeof *nu);
    if (body) {
        pp_frames(m, &sim->next, body);
    }
    return body;
}

// Rows of joints act in the middle of the step and hold for the velocities at its end: what these are more along
// the rows of the end is put into the bias, from the round before.                       theory (S11)
static perp_status hold_at_end(perp_sim *sim, pp_scheme scheme, pp_frame *last_body,
                               const double *nu, double h)
{
    const perp_model *m = sim->model;
    pp_step *s = &sim->step;
    pp_gaps none = {0};
    pp_rows last;
    pp_kinematics end = s->kin;
    end.body = last_body;
    end.t += h;
    perp_status status = pp_rows_run(&last, m, &s->kin, &end, &none, scheme, sim->arena);
    for (int i = 0; status >= 0 && i < s->row.nb; i++) {
        pp_row *row = &s->row.b[i];
        if (row->middle) {
            row->bias += pp_row_rate(m, &last.b[i], nu) - pp_row_rate(m, row, nu);
        }
    }
    return status;
}

// ── Contacts ─────────────────────────────────────────────────────────────────────────────────────

// Frames for contacts: bodies that are not free move as they did when the step began.
static pp_frame *frames_for_contacts(perp_sim *sim, const pp_frame *from)
{
    const perp_model *m = sim->model;
    pp_frame *body = PP_ARRAY(sim->arena, pp_frame, m->bodies);
    for (int i = 0; body && i < m->bodies; i++) {
        body[i] = from[i];
        if (m->body[i].nv == 0) {
            body[i].v = sim->step.kin.body[i].v;
            body[i].w = sim->step.kin.body[i].w;
        }
    }
    return body;
}

// The same contact at other frames: its feature, or the nearest point where a rim is told in parts. The tangents
// stay as near to what they were as they can.
static bool find_again(const perp_sim *sim, const pp_frame *body, const pp_contact *was,
                       pp_contact *out)
{
    pp_contact point[PP_POINTS_MAX];
    double reach = fmax(was->gap, 0.0) + sim->def.margin, least = HUGE_VAL;
    int count =
        pp_gap_pair(sim->model, body, was->a, was->b, was->listed < 0 ? reach : HUGE_VAL, point);
    bool known = false;
    *out = *was;
    for (int k = 0; k < count; k++) {
        double off = pp_length(pp_sub(point[k].point, was->point));
        bool same = was->listed < 0 && point[k].feature == was->feature;
        if (same || (!known && off < least)) {
            out->point = point[k].point;
            out->n = point[k].n;
            least = off;
            known = known || same;
        }
    }
    perp_vec3 t = pp_along(was->t, -pp_dot3(was->t, out->n), out->n);
    out->t = pp_unit(t, was->t);
    return count > 0 && pp_dot3(t, t) > 0.25 && pp_dot3(out->n, was->n) > 0.5;
}

// Contacts act where they are in the middle of the step, and their law holds for the velocities and the place at
// its end: what these are more is put into the rates, from the round before. Those that bounce, and surfaces
// that move by themselves, and axes chosen for the step are taken where they were found.                             theory (S12)
static void take_contact(perp_sim *sim, const pp_kinematics *at, const pp_kinematics *end, int n,
                         const double *nu)
{
    const perp_model *m = sim->model;
    pp_step *s = &sim->step;
    const pp_contact *was = &s->gap.contact[s->row.contact[n]];
    pp_contact now, last;
    pp_row rows[PP_CONTACT_ROWS], ends[PP_CONTACT_ROWS];
    bool plain =
        was->restitution == 0.0 && !was->aimed && pp_dot3(was->surface, was->surface) == 0.0;
    if (!plain || !find_again(sim, at->body, was, &now) ||
        !find_again(sim, end->body, &now, &last)) {
        return;
    }
    s->acted[s->row.contact[n]] = now;
    int count = pp_contact_take(m, at, &now, &s->row, n, rows);
    pp_contact_take(m, end, &last, &s->row, n, ends);
    for (int k = 0; k < count; k++) {
        const pp_friction *group = k > 0 ? &s->row.group[s->row.friction[n]] : NULL;
        pp_row *to = group ? &s->row.t[group->t + k - 1] : &s->row.n[n];
        to->count = rows[k].count;
        memcpy(to->body, rows[k].body, sizeof to->body);
        memcpy(to->J, rows[k].J, sizeof to->J);
        to->shift = pp_row_rate(m, &ends[k], nu) - pp_row_rate(m, &rows[k], nu);
        to->rate = rows[k].rate + to->shift;
        to->middle = true;
    }
}

static perp_status take_contacts(perp_sim *sim, const pp_frame *end_body, const double *nu)
{
    pp_step *s = &sim->step;
    pp_kinematics at = s->middle, end = s->middle;
    s->acted = PP_ARRAY(sim->arena, pp_contact, s->gap.count);
    at.body = frames_for_contacts(sim, s->middle.body);
    end.body = frames_for_contacts(sim, end_body);
    if (!s->acted || !at.body || !end.body) {
        return PERP_ERR_MEMORY;
    }
    if (s->gap.count > 0) {
        memcpy(s->acted, s->gap.contact, (size_t)s->gap.count * sizeof *s->acted);
    }
    for (int n = 0; n < s->row.nc; n++) {
        take_contact(sim, &at, &end, n, nu);
    }
    return PERP_OK;
}

perp_status pp_sim_middle_rows(perp_sim *sim, pp_scheme scheme, const double *nu, double h)
{
    pp_step *s = &sim->step;
    s->middle = s->kin;
    s->middle.body = frames_at(sim, nu, h, 0.5);
    if (!s->middle.body) {
        return PERP_ERR_MEMORY;
    }
    s->middle.t += 0.5 * h;
    perp_status status =
        pp_rows_run(&s->row, sim->model, &s->kin, &s->middle, &s->gap, scheme, sim->arena);
    pp_frame *end = frames_at(sim, nu, h, 1.0);
    status = status >= 0 && !end ? PERP_ERR_MEMORY : status;
    status = status < 0 ? status : hold_at_end(sim, scheme, end, nu, h);
    s->acted = NULL;
    bool retaken = sim->model->spatial && !s->stay && s->row.nc > 0;
    return status < 0 || !retaken ? status : take_contacts(sim, end, nu);
}
