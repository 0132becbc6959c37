// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// A step as a sequence of passages, each of them smooth motion or an impact, with the impulses of
// every contact in it. Sums never extend over an impact, nor along a normal that turns.
//                                                                                      theory (H15)
#include "hybrid/flight.h"

#include <math.h>
#include <string.h>

// [rad] A contact whose normal has turned by more starts another sum. Over this angle the length of
// the summed normal impulses differs from the sum of their lengths by 1e-7 at most.
static const double TURN = 1e-3;

// Whether an impulse of this contact belongs to the sum s: same pair and feature, and a
// normal that has hardly turned.
static bool continues(const pp_contact_sum *s, const pp_hold *hold, const pp_contact *c)
{
    return s->a == hold->a && s->b == hold->b && s->feature == hold->feature &&
           s->listed == hold->listed && pp_length(pp_sub(s->first.n, c->n)) <= TURN;
}

// The sum of a contact in the passage under way, which is made where there is none
// yet. NULL: out of memory.
static pp_contact_sum *contact_sum(pp_flight *flight, const pp_hold *hold, const pp_contact *c)
{
    pp_hybrid_result *out = flight->result;
    for (int i = flight->first; i < out->contacts; i++) {
        if (continues(&out->contact[i], hold, c)) {
            return &out->contact[i];
        }
    }
    // Only sums of this passage are looked at: a contact has a new one in each.
    pp_contact_sum *list =
        pp_list_grow(out->contact, out->contacts, &out->contact_room, sizeof *list, flight->keep);
    if (!list) {
        return NULL;
    }
    out->contact = list;
    pp_contact_sum *s = &out->contact[out->contacts++];
    *s = (pp_contact_sum){
        .a = hold->a, .b = hold->b, .feature = hold->feature, .listed = hold->listed, .first = *c};
    return s;
}

bool pp_flight_add_contact(pp_flight *flight, const pp_instant *instant, const pp_hold *hold, int i,
                           const double *r, double w)
{
    const pp_contact *c = &instant->contact[i];
    if (instant->size[i] == 0) {
        return true;
    }
    pp_contact_sum *s = contact_sum(flight, hold, c);
    if (!s) {
        return false;
    }
    // The force on b in world axes: rows are n and the scaled friction axes of pp_contact_axes.
    const double *f = r + instant->at[i];
    perp_vec3 p = pp_scale(f[0], c->n), axis[3];
    pp_contact_axes(c, axis);
    for (int k = 1; k < instant->size[i]; k++) {
        p = pp_along(p, f[k], axis[k]);
    }
    // pn_W is the sum along the normals as they turn; load is the sum of their magnitudes.
    s->last = *c;
    s->mode = hold->mode == PP_SLIDES ? PERP_CONTACT_SLIP : PERP_CONTACT_STICK;
    s->load += w * f[0];
    s->pn_W = pp_along(s->pn_W, w * f[0], c->n);
    s->p_W = pp_along(s->p_W, w, p);
    s->at_W = pp_along(s->at_W, w * f[0], c->point);
    s->m_W = pp_along(s->m_W, w, pp_cross(c->point, p));
    return true;
}

void pp_flight_add_turn(pp_flight *flight, const pp_instant *instant, const pp_hold *hold, int i,
                        const double *r, double w)
{
    const pp_contact *c = &instant->contact[i];
    pp_contact_sum *s = instant->size[i] > 0 ? contact_sum(flight, hold, c) : NULL;
    if (!s) {
        return;  // its contact has made one, or there is none
    }
    // Rows are rates times the length of the machine, so forces times the length are moments [N m].
    const double *f = r + instant->at[i];
    perp_vec3 m = pp_scale(f[0], hold->kind == PP_HOLD_SPIN ? c->n : c->t);
    if (hold->kind == PP_HOLD_ROLL) {
        m = pp_along(m, f[1], pp_cross(c->n, c->t));
    }
    s->own_W = pp_along(s->own_W, w * flight->machine->length, m);
    s->m_W = pp_along(s->m_W, w * flight->machine->length, m);
}

// ── Passages ─────────────────────────────────────────────────────────────────────────────────────

perp_status pp_flight_open(pp_flight *flight)
{
    const perp_model *m = flight->machine->model;
    flight->now = (pp_passage){.joint = PP_ZEROS(flight->keep, pp_joint_sum, m->joints),
                               .actuator = PP_ZEROS(flight->keep, double, m->actuators),
                               .element = PP_ZEROS(flight->keep, perp_wrench, m->bodies)};
    // Contacts from here on belong to the new passage.
    flight->first = flight->result->contacts;
    flight->empty = true;
    bool room = flight->now.joint && flight->now.actuator && flight->now.element;
    return room ? PERP_OK : PERP_ERR_MEMORY;
}

// Sums over the whole step are the sums of its passages.
static void add_joints(pp_hybrid_result *out, const pp_joint_sum *joint, int count)
{
    for (int i = 0; i < count; i++) {
        pp_joint_sum *sum = &out->joint[i];
        sum->drive += joint[i].drive;
        sum->limit += joint[i].limit;
        sum->redundant = sum->redundant || joint[i].redundant;
        sum->on_b.f_W = pp_add(sum->on_b.f_W, joint[i].on_b.f_W);
        sum->on_b.tau_W = pp_add(sum->on_b.tau_W, joint[i].on_b.tau_W);
    }
}

// The last sum of a contact in the passage under way; NULL: none.
static pp_contact_sum *last_sum(pp_flight *flight, const pp_hold *hold)
{
    pp_hybrid_result *out = flight->result;
    if (hold->kind != PP_HOLD_CONTACT) {
        return NULL;
    }
    for (int k = out->contacts - 1; k >= flight->first; k--) {
        pp_contact_sum *s = &out->contact[k];
        if (s->a == hold->a && s->b == hold->b && s->listed == hold->listed &&
            s->feature == hold->feature) {
            return s;
        }
    }
    return NULL;
}

void pp_flight_see_contacts(pp_flight *flight, const pp_instant *instant, const pp_holds *holds)
{
    for (int i = 0; i < holds->count; i++) {
        pp_contact_sum *s = instant->size[i] > 0 ? last_sum(flight, &holds->hold[i]) : NULL;
        if (s) {
            s->last = instant->contact[i];
        }
    }
}

// Marks the contacts that are closed where smooth motion ends, with their modes there.
static void mark_closed(pp_flight *flight)
{
    for (int i = 0; i < flight->holds.count; i++) {
        const pp_hold *hold = &flight->holds.hold[i];
        pp_contact_sum *s = last_sum(flight, hold);
        if (s) {
            s->closed = true;
            s->mode = hold->mode == PP_SLIDES ? PERP_CONTACT_SLIP : PERP_CONTACT_STICK;
        }
    }
}

perp_status pp_flight_close(pp_flight *flight, pp_jump jump)
{
    const pp_machine *machine = flight->machine;
    const perp_model *m = machine->model;
    pp_hybrid_result *out = flight->result;
    pp_passage *list =
        pp_list_grow(out->passage, out->passages, &out->passage_room, sizeof *list, flight->keep);
    if (!list) {
        return PERP_ERR_MEMORY;
    }
    out->passage = list;
    size_t n = (size_t)m->nq + (size_t)m->nv + (size_t)m->joints;
    double *state = PP_ARRAY(flight->keep, double, n);
    pp_mark mark = pp_arena_mark(flight->scratch);
    pp_frame *body = PP_ARRAY(flight->scratch, pp_frame, m->bodies);
    if (!state || !body) {
        pp_arena_release(flight->scratch, mark);
        return PERP_ERR_MEMORY;
    }
    // After a short step the holds are those before it and say nothing about the contacts now.
    if (jump == PP_JUMP_NONE && !flight->stale) {
        mark_closed(flight);
    }
    pp_passage *to = &out->passage[out->passages++];
    *to = flight->now;
    to->t = flight->t;
    to->jump = jump;
    to->contacts = out->contacts;
    // The state of the bodies, as the certificate reads it.                            theory (H16)
    to->q = state;
    to->nu = state + m->nq;
    to->turn = to->nu + m->nv;
    pp_tree_frames(machine->tree, flight->t, flight->q, flight->qd, body);
    pp_hybrid_state(m, body, to->q, to->nu);
    if (m->joints > 0) {
        memcpy(to->turn, machine->turn, (size_t)m->joints * sizeof *to->turn);
    }
    // The sums of the whole step grow with each passage.
    add_joints(out, to->joint, m->joints);
    for (int i = 0; i < m->actuators; i++) {
        out->actuator[i] += to->actuator[i];
    }
    pp_arena_release(flight->scratch, mark);
    return pp_flight_open(flight);
}

// ── Sums kept and taken back ─────────────────────────────────────────────────────────────────────

// Copies `count` items of a given size. False: there is no room for them.
static bool copy_items(void *to, const void *from, size_t count, size_t size)
{
    if (to && from && count > 0) {
        memcpy(to, from, count * size);
    }
    return to != NULL;
}

perp_status pp_flight_keep_sums(const pp_flight *flight, pp_sums_kept *out)
{
    const perp_model *m = flight->machine->model;
    const pp_hybrid_result *result = flight->result;
    size_t joints = (size_t)m->joints, actuators = (size_t)m->actuators, bodies = (size_t)m->bodies;
    size_t contacts = (size_t)(result->contacts - flight->first);
    *out = (pp_sums_kept){.now = flight->now,
                          .contacts = result->contacts,
                          .redundant = result->redundant,
                          .empty = flight->empty,
                          .contact = PP_ARRAY(flight->scratch, pp_contact_sum, contacts),
                          .held = PP_ARRAY(flight->scratch, perp_wrench, bodies)};
    // The arrays of the passage are copied: those of the flight go on growing.
    out->now.joint = PP_ARRAY(flight->scratch, pp_joint_sum, joints);
    out->now.actuator = PP_ARRAY(flight->scratch, double, actuators);
    out->now.element = PP_ARRAY(flight->scratch, perp_wrench, bodies);
    bool done = copy_items(out->contact, result->contact ? result->contact + flight->first : NULL,
                           contacts, sizeof *out->contact) &&
                copy_items(out->held, result->held, bodies, sizeof *out->held) &&
                copy_items(out->now.joint, flight->now.joint, joints, sizeof *out->now.joint) &&
                copy_items(out->now.actuator, flight->now.actuator, actuators, sizeof(double)) &&
                copy_items(out->now.element, flight->now.element, bodies, sizeof(perp_wrench));
    return done ? PERP_OK : PERP_ERR_MEMORY;
}

void pp_flight_restore_sums(pp_flight *flight, const pp_sums_kept *kept)
{
    const perp_model *m = flight->machine->model;
    pp_hybrid_result *result = flight->result;
    pp_passage now = kept->now;
    // The arrays stay where they are; only their numbers go back.
    now.joint = flight->now.joint;
    now.actuator = flight->now.actuator;
    now.element = flight->now.element;
    flight->now = now;
    flight->empty = kept->empty;
    result->contacts = kept->contacts;
    result->redundant = kept->redundant;
    copy_items(now.joint, kept->now.joint, (size_t)m->joints, sizeof *now.joint);
    copy_items(now.actuator, kept->now.actuator, (size_t)m->actuators, sizeof *now.actuator);
    copy_items(now.element, kept->now.element, (size_t)m->bodies, sizeof *now.element);
    copy_items(result->held, kept->held, (size_t)m->bodies, sizeof *result->held);
    copy_items(result->contact ? result->contact + flight->first : NULL, kept->contact,
               (size_t)(kept->contacts - flight->first), sizeof *result->contact);
}

// ── Impacts ──────────────────────────────────────────────────────────────────────────────────────

// Adds to the sums of an impact the restitution that acted (none where bodies met slowly, or a Zeno
// sequence ends) and the mode after it. after: rates of all rows after the impact.
static void describe_impact_sums(pp_flight *flight, const pp_instant *instant,
                                 const pp_holds *holds, const double *after, pp_bounce bounce)
{
    for (int i = 0; i < holds->count; i++) {
        const pp_hold *hold = &holds->hold[i];
        int at = instant->at[i];
        if (hold->kind != PP_HOLD_CONTACT || instant->size[i] == 0) {
            continue;
        }
        pp_contact_sum *s = contact_sum(flight, hold, &instant->contact[i]);
        if (!s) {
            continue;  // cannot happen: pp_flight_sum_impact has just made it
        }
        double slip = 0.0, before = instant->rate[at];
        for (int k = 1; k < instant->size[i]; k++) {
            slip = pp_hypot(slip, after[at + k]);
        }
        // Without friction there is no sticking.
        bool rough = instant->size[i] > 1;
        s->mode = rough && slip <= flight->tol_rate ? PERP_CONTACT_STICK : PERP_CONTACT_SLIP;
        s->closed = s->load > 0.0;
        bool bounced = before < -bounce.of.rest && !(bounce.of.ends && bounce.of.ends[i]);
        s->restitution = bounced ? bounce.share * instant->contact[i].restitution : 0.0;
    }
}

// Contacts of the smooth motion before an impact end where they are now. One that approaches faster
// than `rest` has not been closed: the point of that feature is another one, as where the base of a
// cylinder that tips becomes level and its lowest point gives way to a fixed point of the rim. The
// contact then ends where it was last seen.
static void see_closed_contacts(pp_flight *flight, const pp_instant *instant, const pp_holds *holds,
                                double rest)
{
    for (int i = 0; i < holds->count; i++) {
        pp_contact_sum *s = instant->size[i] > 0 ? last_sum(flight, &holds->hold[i]) : NULL;
        if (s && instant->rate[instant->at[i]] >= -rest) {
            s->last = instant->contact[i];
        }
    }
}

perp_status pp_flight_jump(pp_flight *flight, const pp_instant *instant, const pp_holds *holds,
                           const double *impulse, const double *qd, pp_bounce bounce)
{
    double *after = PP_ARRAY(flight->scratch, double, instant->rows);
    if (!after) {
        return PERP_ERR_MEMORY;
    }
    // Impacts that follow each other at one instant need no passage of smooth motion between them.
    bool since = !flight->empty || flight->result->passages == 0 ||
                 flight->result->passage[flight->result->passages - 1].t < flight->t;
    see_closed_contacts(flight, instant, holds, bounce.of.rest);
    if (since) {
        perp_status status = pp_flight_close(flight, PP_JUMP_NONE);
        if (status < 0) {
            return status;
        }
    }
    perp_status status = pp_flight_sum_impact(flight, instant, holds, impulse);
    if (status < 0) {
        return status;
    }
    pp_instant_rates_after(instant, impulse, after);
    describe_impact_sums(flight, instant, holds, after, bounce);
    memcpy(flight->qd, qd, (size_t)instant->nv * sizeof *qd);
    return pp_flight_close(flight, bounce.other_law ? PP_JUMP_OTHER : PP_JUMP_LAW);
}
