// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Events: changes since the step before, one JSON object a line.
//
//   impact, separation             a contact point begins or ends to carry load
//   stick-to-slip, slip-to-stick   while it carries load
//   limit-reached, limit-left      of a joint
//   certificate-violated           the first of a series of steps past a limit
//   non-unique                     the first of a series of steps with several answers
//   jam, unsolved                  the step that failed: proved to have no solution, or none found
//   restitution-reduced, divided   less restitution acted than given; the step was taken in parts
//   projected                      the start was moved to where joints and contacts hold
//
// The stepper event locates its events within the step; those are written with the time, the
// impulses and the state before and after.
#include "record/writer.h"

// ── Memory ───────────────────────────────────────────────────────────────────────────────────────

// Frame 0 has no contacts: the lists start empty.
perp_status pp_event_memory_create(perp_record *r, const perp_sim *sim)
{
    r->memory = (pp_event_memory){.at_limit = PP_ZEROS(r->arena, bool, sim->model->joints)};
    return r->memory.at_limit ? PERP_OK
                              : pp_fail(&r->error, PERP_ERR_MEMORY, "not enough memory for events");
}

// The lists are not in the arena: they grow, and an arena frees nothing before its end.
void pp_event_memory_destroy(perp_record *r)
{
    pp_event_memory *m = &r->memory;
    pp_free(&r->env, m->before, (size_t)m->room * sizeof *m->before);
    pp_free(&r->env, m->now, (size_t)m->room * sizeof *m->now);
    m->before = m->now = NULL;
    m->room = 0;
}

// Room in both lists; the contacts of the step before are kept.
static bool reserve_contacts(perp_record *r, int count)
{
    pp_event_memory *m = &r->memory;
    if (count <= m->room) {
        return true;
    }
    int room = 2 * count;
    size_t old_size = (size_t)m->room * sizeof *m->now, size = (size_t)room * sizeof *m->now;
    pp_known_contact *now = pp_alloc(&r->env, size);
    if (!now) {
        return false;
    }
    pp_known_contact *before =
        pp_block_move(&r->env, m->before, old_size, (size_t)m->before_count * sizeof *before, size);
    if (!before) {
        pp_free(&r->env, now, size);
        return false;
    }
    pp_free(&r->env, m->now, old_size);
    m->before = before;
    m->now = now;
    m->room = room;
    return true;
}

// Order by shape a, shape b, feature: the names by which a contact point is followed from step to
// step.
static int compare_seen(const pp_known_contact *x, const pp_known_contact *y)
{
    if (x->a != y->a) {
        return x->a < y->a ? -1 : 1;
    }
    if (x->b != y->b) {
        return x->b < y->b ? -1 : 1;
    }
    return x->feature < y->feature ? -1 : x->feature > y->feature;
}

// Contacts that carry load, sorted. They arrive nearly in order, for which insertion sort takes
// linear time.
static void collect_loaded(pp_event_memory *m, const perp_contact *contact, int count)
{
    m->now_count = 0;
    for (int i = 0; i < count; i++) {
        const perp_contact *c = &contact[i];
        pp_known_contact seen = {c->a.i, c->b.i, c->feature, c->mode, c->point_W};
        if (c->mode == PERP_CONTACT_OPEN) {
            continue;
        }
        int k = m->now_count++;
        for (; k > 0 && compare_seen(&m->now[k - 1], &seen) > 0; k--) {
            m->now[k] = m->now[k - 1];
        }
        m->now[k] = seen;
    }
}

// ── Lines ────────────────────────────────────────────────────────────────────────────────────────

// Each line is one JSON object with the members t, step, event, and those of the event.
static pp_text *begin_at(perp_record *r, double t, const char *event)
{
    pp_text *text = &r->lines[PP_CSV_EVENTS];
    pp_text_add(text, "{\"t\": ");
    pp_text_time(text, t);
    pp_text_add(text, ", \"step\": ");
    pp_text_int(text, r->sum.steps);
    pp_text_named(text, "event", event);
    return text;
}

static pp_text *begin_line(perp_record *r, const perp_sim *sim, const char *event)
{
    return begin_at(r, sim->now.t, event);
}

// Lines end here, so that a reader of the growing file sees whole ones.
static void end(pp_text *text)
{
    pp_text_add(text, "}\n");
}

// Two names.
static void put_pair(pp_text *text, const char *key, const char *a, const char *b)
{
    pp_text_add(text, ", \"");
    pp_text_add(text, key);
    pp_text_add(text, "\": [");
    pp_text_quoted(text, a);
    pp_text_add(text, ", ");
    pp_text_quoted(text, b);
    pp_text_add(text, "]");
}

// A member with an array of numbers.
static void put_list(pp_text *text, const char *key, const double *x, int n)
{
    pp_text_add(text, ", \"");
    pp_text_add(text, key);
    pp_text_add(text, "\": [");
    for (int i = 0; i < n; i++) {
        pp_text_add(text, i > 0 ? ", " : "");
        pp_text_number(text, x[i]);
    }
    pp_text_add(text, "]");
}

// Two components in the plane, three in space.
static void put_vector(pp_text *text, const char *key, perp_vec3 v, bool spatial)
{
    const double x[3] = {v.x, v.y, v.z};
    put_list(text, key, x, spatial ? 3 : 2);
}

// now: the contact as it is in this step, NULL where there is none any more.
static void put_contact(perp_record *r, const perp_sim *sim, const char *event,
                        const pp_known_contact *seen, const perp_contact *now)
{
    const perp_model *m = sim->model;
    const pp_shape *a = &m->shape[seen->a], *b = &m->shape[seen->b];
    pp_text *text = begin_line(r, sim, event);
    put_pair(text, "bodies", m->body[a->body].name, m->body[b->body].name);
    put_pair(text, "shapes", a->name, b->name);
    pp_text_add(text, ", \"feature\": ");
    pp_text_int(text, (int64_t)seen->feature);
    put_vector(text, "point", seen->point, m->spatial);
    if (now) {
        double per = sim->whole > 0.0 ? 1.0 / sim->whole : 0.0;
        pp_text_member(text, "gap", now->gap);
        pp_text_member(text, "pn", now->pn);
        if (m->spatial) {
            put_vector(text, "normal", now->normal_W, true);
            put_vector(text, "pf", now->pf_W, true);
        } else {
            // Along the tangent t = (n_y, -n_x), the positive direction of slip.
            double pf = now->pf_W.x * now->normal_W.y - now->pf_W.y * now->normal_W.x;
            pp_text_member(text, "pf", pf);
        }
        // The same as means over the step [N].
        pp_text_member(text, "force_normal", per * now->pn);
        pp_text_member(text, "force_friction", per * pp_length(now->pf_W));
        pp_text_member(text, "slip", now->slip);
    }
    end(text);
}

// The contact of this step with the same names.
static const perp_contact *find_contact(const perp_contact *contact, int count,
                                        const pp_known_contact *seen)
{
    for (int i = 0; i < count; i++) {
        if (contact[i].a.i == seen->a && contact[i].b.i == seen->b &&
            contact[i].feature == seen->feature) {
            return &contact[i];
        }
    }
    return NULL;
}

// Two sorted lists side by side: contacts that are only in the old one have separated, those only
// in the new one have met, and those in both may have changed their mode.
static void compare_contacts(perp_record *r, const perp_sim *sim, const perp_contact *contact,
                             int count)
{
    const pp_event_memory *m = &r->memory;
    for (int i = 0, k = 0; i < m->before_count || k < m->now_count;) {
        const pp_known_contact *old = &m->before[i], *new = &m->now[k];
        // < 0: in the old list only; > 0: in the new one only. A list that has ended has no more.
        int side = 1;
        if (k == m->now_count) {
            side = -1;
        } else if (i < m->before_count) {
            side = compare_seen(old, new);
        }
        if (side < 0) {
            put_contact(r, sim, "separation", old, find_contact(contact, count, old));
        } else if (side > 0) {
            put_contact(r, sim, "impact", new, find_contact(contact, count, new));
        } else if (old->mode != new->mode) {
            put_contact(r, sim, new->mode == PERP_CONTACT_SLIP ? "stick-to-slip" : "slip-to-stick",
                        new, find_contact(contact, count, new));
        }
        i += side <= 0;
        k += side >= 0;
    }
}

// A limit is reached in the first step in which it carries an impulse, left in the first without
// one.
static void look_at_joints(perp_record *r, const perp_sim *sim)
{
    for (int i = 0; i < sim->model->joints; i++) {
        const pp_joint *joint = &sim->model->joint[i];
        if (!(joint->lower <= joint->upper)) {
            continue;
        }
        perp_joint_state state = perp_sim_joint(sim, (perp_joint){i});
        // An impulse, not a place: a coordinate at its limit need not press.
        bool reached = state.limit > 0.0;
        if (reached != r->memory.at_limit[i]) {
            pp_text *text = begin_line(r, sim, reached ? "limit-reached" : "limit-left");
            pp_text_named(text, "joint", joint->name);
            pp_text_member(text, "coordinate", state.coordinate);
            pp_text_member(text, "impulse", state.limit);
            end(text);
        }
        r->memory.at_limit[i] = reached;
    }
}

// The numbers that are past their limits, with their units in the keys.
static void put_violation(perp_record *r, const perp_sim *sim)
{
    const perp_certificate *c = &sim->info.certificate;
    const struct {
        const char *name;
        double value;
        perp_judged what;
    } item[] = {{"gap_m", c->gap, PERP_JUDGED_GAP},
                {"complementarity_J", c->complementarity, PERP_JUDGED_COMPLEMENTARITY},
                {"cone_N_s", c->cone, PERP_JUDGED_CONE},
                {"joint_m", c->joint, PERP_JUDGED_JOINT},
                {"momentum_N_s", c->momentum, PERP_JUDGED_MOMENTUM},
                {"energy_created_J", c->energy_created, PERP_JUDGED_ENERGY},
                {"residual_m_s", c->residual, PERP_JUDGED_RESIDUAL},
                {"motion_m", c->motion, PERP_JUDGED_MOTION},
                {"path_m", c->path, PERP_JUDGED_PATH}};
    pp_text *text = begin_line(r, sim, "certificate-violated");
    for (size_t k = 0; k < sizeof item / sizeof item[0]; k++) {
        if (!(c->relative[item[k].what] <= 1.0)) {
            pp_text_member(text, item[k].name, item[k].value);
        }
    }
    if (sim->info.remark[0]) {
        pp_text_named(text, "remark", sim->info.remark);
    }
    end(text);
}

// Of a series of steps that are violated, or not unique, the first one gets a line.
static void look_at_info(perp_record *r, const perp_sim *sim)
{
    pp_event_memory *m = &r->memory;
    const perp_step_info *info = &sim->info;
    if (!info->certificate.passed && !m->violated) {
        put_violation(r, sim);
    }
    // Either of the two has a second answer.
    bool many =
        info->motion == PERP_UNIQUENESS_DISPROVED || info->impulses == PERP_UNIQUENESS_DISPROVED;
    if (many && !m->many_answers) {
        pp_text *text = begin_line(r, sim, "non-unique");
        pp_text_named(text, "motion", perp_uniqueness_word((int)info->motion));
        pp_text_named(text, "impulses", perp_uniqueness_word((int)info->impulses));
        pp_text_member(text, "motion_apart", info->motion_apart);
        pp_text_member(text, "impulses_apart", info->impulses_apart);
        pp_text_named(text, "remark", info->remark);
        end(text);
    }
    if (info->tempered) {
        pp_text *text = begin_line(r, sim, "restitution-reduced");
        pp_text_named(text, "remark", info->remark);
        end(text);
    }
    // Every one of them: the impulses of such a step are sums, and its motion is not one line.
    if (info->parts > 1) {
        pp_text *text = begin_line(r, sim, "divided");
        pp_text_member(text, "parts", (double)info->parts);
        pp_text_named(text, "remark", info->remark);
        end(text);
    }
    m->violated = !info->certificate.passed;
    m->many_answers = many;
}

// ── Located events (PERP_STEPPER_EVENT) ──────────────────────────────────────────────────────────

// An event that the stepper located: cause, who took part, what was exchanged, and the state before
// and after.
static void put_located(perp_record *r, const perp_sim *sim, const perp_event *event)
{
    const perp_model *m = sim->model;
    pp_text *text = begin_at(r, event->t, perp_event_kind_word((int)event->kind));
    if (event->a.i >= 0) {
        const pp_shape *a = &m->shape[event->a.i], *b = &m->shape[event->b.i];
        put_pair(text, "bodies", m->body[a->body].name, m->body[b->body].name);
        put_pair(text, "shapes", a->name, b->name);
        pp_text_add(text, ", \"feature\": ");
        pp_text_int(text, (int64_t)event->feature);
        put_vector(text, "point", event->point_W, m->spatial);
        put_vector(text, "normal", event->normal_W, m->spatial);
    }
    if (event->joint.i >= 0) {
        pp_text_named(text, "joint", m->joint[event->joint.i].name);
    }
    // Rates [m/s, rad/s] and the impulse [N s, N m s] along the normal, or along the coordinate of
    // the joint.
    pp_text_member(text, "rate_before", event->rate_before);
    pp_text_member(text, "rate_after", event->rate_after);
    pp_text_member(text, "impulse", event->impulse);
    if (event->a.i >= 0) {
        put_vector(text, "friction", event->pf_W, m->spatial);
    }
    if (event->kind == PERP_EVENT_ZENO) {
        pp_text_member(text, "t_end", event->t_end);
        pp_text_member(text, "ratio", event->ratio);
    }
    if (event->kind == PERP_EVENT_CAPTURED) {
        pp_text_member(text, "t_end", event->t_end);
    }
    if (event->remark[0]) {
        pp_text_named(text, "remark", event->remark);
    }
    put_list(text, "q", event->q, m->nq);
    put_list(text, "nu_before", event->nu_before, m->nv);
    put_list(text, "nu_after", event->nu_after, m->nv);
    end(text);
}

// ── The start ────────────────────────────────────────────────────────────────────────────────────

// The line `projected`: a sim that has not started from the state it was given has the reason in
// its remark.
void pp_events_start(perp_record *r, const perp_sim *sim)
{
    if (sim->projected) {
        pp_text *text = begin_line(r, sim, "projected");
        pp_text_named(text, "remark", sim->info.remark);
        end(text);
    }
}

// ── A step ───────────────────────────────────────────────────────────────────────────────────────

// Compares the contacts of this step with those of the one before. The lists then change places, so
// that both are allocated once.
perp_status pp_events_step(perp_record *r, const perp_sim *sim)
{
    int count = 0;
    const perp_contact *contact = perp_sim_contacts(sim, &count);
    pp_event_memory *m = &r->memory;
    // This stepper locates events itself, within the step.
    if (sim->def.stepper == PERP_STEPPER_EVENT) {
        int events = 0;
        const perp_event *event = perp_sim_events(sim, &events);
        for (int i = 0; i < events; i++) {
            put_located(r, sim, &event[i]);
        }
        look_at_info(r, sim);
        return PERP_OK;
    }
    if (!reserve_contacts(r, count)) {
        return pp_fail(&r->error, PERP_ERR_MEMORY, "not enough memory for events");
    }
    collect_loaded(m, contact, count);
    compare_contacts(r, sim, contact, count);
    pp_known_contact *before = m->before;
    m->before = m->now;
    m->before_count = m->now_count;
    m->now = before;
    look_at_joints(r, sim);
    look_at_info(r, sim);
    return PERP_OK;
}

// jam: proved to have no solution; unsolved: none was found.
void pp_events_failure(perp_record *r, const perp_sim *sim)
{
    perp_status status = sim->info.status;
    pp_text *text = begin_line(r, sim, status == PERP_ERR_INFEASIBLE ? "jam" : "unsolved");
    pp_text_named(text, "status", perp_status_word(status));
    pp_text_named(text, "reason", sim->error.text);
    end(text);
}
