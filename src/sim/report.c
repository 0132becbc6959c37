// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Contacts, joints and drives of the last step, as a user reads them.
#include "sim/sim.h"

#include <math.h>
#include <string.h>

static perp_vec3 vec3(pp_vec2 v)
{
    return (perp_vec3){v.x, v.y, 0.0};
}

// Below this speed a contact that carries load sticks [m/s].
static const double STILL = 1e-9;

static perp_contact contact_of(const perp_sim *sim, int i)
{
    const pp_step *s = &sim->step;
    const pp_contact *c = &s->gap.contact[s->row.contact[i]];
    int t = s->row.friction[i];
    perp_contact out = {.a = {c->a},
                        .b = {c->b},
                        .feature = c->feature,
                        .point_W = vec3(c->point),
                        .normal_W = vec3(c->n),
                        .gap = c->gap,
                        .mu = c->mu,
                        .restitution = c->restitution,
                        .pn = s->answer.pn[i]};
    out.rate_n = pp_row_rate(sim->model, &s->row.n[i], s->answer.nu);
    if (t >= 0) {
        double pt = s->answer.pt[t];
        out.pf_W = (perp_vec3){pt * c->n.y, -pt * c->n.x, 0.0};
        out.slip = pp_row_rate(sim->model, &s->row.t[t], s->answer.nu);
    }
    out.mode =
        out.pn > 0.0 ? (t < 0 || fabs(out.slip) > STILL ? PERP_SLIP : PERP_STICK) : PERP_OPEN;
    return out;
}

static perp_status reserve(perp_sim *sim, int count)
{
    if (count > sim->contact_capacity) {
        perp_contact *contacts = pp_alloc(&sim->env, 2 * (size_t)count * sizeof *contacts);
        pp_warm *warm = pp_alloc(&sim->env, 2 * (size_t)count * sizeof *warm);
        if (!contacts || !warm) {
            pp_free(&sim->env, contacts, 2 * (size_t)count * sizeof *contacts);
            pp_free(&sim->env, warm, 2 * (size_t)count * sizeof *warm);
            return PERP_ERR_MEMORY;
        }
        pp_free(&sim->env, sim->contacts, (size_t)sim->contact_capacity * sizeof *contacts);
        pp_free(&sim->env, sim->warm, (size_t)sim->warm_capacity * sizeof *warm);
        sim->contacts = contacts;
        sim->warm = warm;
        sim->contact_capacity = sim->warm_capacity = 2 * count;
    }
    return PERP_OK;
}

perp_status pp_sim_report(perp_sim *sim)
{
    const pp_step *s = &sim->step;
    perp_status status = reserve(sim, s->row.nc);
    if (status < 0) {
        return status;
    }
    sim->contact_count = sim->warm_count = s->row.nc;
    for (int i = 0; i < s->row.nc; i++) {
        const pp_contact *c = &s->gap.contact[s->row.contact[i]];
        int t = s->row.friction[i];
        sim->contacts[i] = contact_of(sim, i);
        sim->warm[i] =
            (pp_warm){c->a, c->b, c->feature, s->answer.pn[i], t >= 0 ? s->answer.pt[t] : 0.0};
    }
    return PERP_OK;
}

// ── Joints ───────────────────────────────────────────────────────────────────────────────────────

// Impulse of a row on one body, added to a wrench.
static void add_impulse(const pp_row *row, double p, int body, perp_wrench *w)
{
    for (int k = 0; k < row->count; k++) {
        if (row->body[k] == body) {
            w->f.x += p * row->J[k][0];
            w->f.y += p * row->J[k][1];
            w->tau.z += p * row->J[k][2];
        }
    }
}

perp_joint_state perp_sim_joint(const perp_sim *sim, perp_joint joint)
{
    const perp_model *m = sim->model;
    const pp_step *s = &sim->step;
    perp_joint_state out = {0};
    if (joint.i < 0 || joint.i >= m->joints) {
        return out;
    }
    pp_row row;
    pp_kinematics now = {.t = sim->now.t, .body = sim->frames};
    pp_joint_coordinate(m, &now, joint.i, &row);
    out.coordinate = row.value;
    out.rate = row.before;
    out.error = pp_joint_error(m, sim->frames, sim->now.t, joint.i);
    if (!s->solved) {
        return out;
    }
    for (int i = 0; i < s->row.nb; i++) {
        if (s->row.b[i].joint == joint.i) {
            add_impulse(&s->row.b[i], s->answer.pb[i], m->joint[joint.i].b, &out.impulse_b);
            out.drive += s->row.b[i].drives ? s->answer.pb[i] : 0.0;
            out.redundant = out.redundant || s->answer.follows[i];
        }
    }
    for (int i = 0; i < s->row.nm; i++) {
        if (s->row.m[i].joint == joint.i) {
            add_impulse(&s->row.m[i], s->answer.pm[i], m->joint[joint.i].b, &out.impulse_b);
            out.drive += s->answer.pm[i];
        }
    }
    for (int i = s->row.nc; i < s->row.nn; i++) {
        if (s->row.n[i].joint == joint.i) {
            add_impulse(&s->row.n[i], s->answer.pn[i], m->joint[joint.i].b, &out.impulse_b);
            out.limit += s->answer.pn[i];
        }
    }
    return out;
}

// ── Driven bodies ────────────────────────────────────────────────────────────────────────────────

static void add_force_at(pp_vec2 f, pp_vec2 at, pp_vec2 origin, perp_wrench *w)
{
    w->f.x += f.x;
    w->f.y += f.y;
    w->tau.z += (at.x - origin.x) * f.y - (at.y - origin.y) * f.x;
}

// The drive balances what contacts do to the body: minus the sum of the contact impulses on it.
perp_wrench perp_body_drive_impulse(const perp_sim *sim, perp_body body)
{
    const perp_model *m = sim->model;
    const pp_step *s = &sim->step;
    perp_wrench out = {{0.0, 0.0, 0.0}, {0.0, 0.0, 0.0}};
    if (body.i < 0 || body.i >= m->bodies || m->body[body.i].nv > 0 || !s->solved) {
        return out;
    }
    pp_vec2 origin = s->kin.body[body.i].p;
    for (int i = 0; i < s->row.nc; i++) {
        const pp_contact *c = &s->gap.contact[s->row.contact[i]];
        bool on_a = m->shape[c->a].body == body.i, on_b = m->shape[c->b].body == body.i;
        if (!on_a && !on_b) {
            continue;
        }
        int t = s->row.friction[i];
        double pn = s->answer.pn[i], pt = t >= 0 ? s->answer.pt[t] : 0.0, sign = on_a ? 1.0 : -1.0;
        pp_vec2 p = {sign * (pn * c->n.x + pt * c->n.y), sign * (pn * c->n.y - pt * c->n.x)};
        add_force_at(p, c->point, origin, &out);
    }
    return out;
}
