// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// From event to event through one step.                                            theory (H1), (H13)
#include "hybrid/flight.h"

#include <math.h>
#include <string.h>

// ── Smooth motion ────────────────────────────────────────────────────────────────────────────────

static perp_status state_derivative(void *user, double t, const double *y, double *y_dot)
{
    pp_flight *flight = user;
    const pp_machine *machine = flight->machine;
    const pp_tree *tree = machine->tree;
    pp_mark mark = pp_arena_mark(flight->scratch);
    pp_instant instant;
    pp_law_info info;
    double *r;
    const double *qd = y + tree->nq;
    perp_status status =
        pp_instant_make(&instant, machine, t, y, qd, &flight->holds, true, flight->scratch);
    if (status >= 0) {
        pp_tree_q_dot(tree, y, qd, y_dot);
        status = pp_accelerate(machine, &instant, &flight->holds, PP_LOADS_ANY, y_dot + tree->nq,
                               &r, &info, flight->scratch);
    }
    pp_arena_release(flight->scratch, mark);
    return status;
}

// ── Events ───────────────────────────────────────────────────────────────────────────────────────

void pp_hybrid_state(const perp_model *model, const pp_frame *body, double *q, double *nu)
{
    for (int i = 0; i < model->bodies; i++) {
        const pp_body *b = &model->body[i];
        const pp_frame *f = &body[i];
        const double twist[6] = {f->v.x, f->v.y, f->v.z, f->w.x, f->w.y, f->w.z};
        double *x = q + b->at_q;
        for (int k = 0; k < b->nv; k++) {
            nu[b->at + k] = twist[b->axis[k]];
        }
        if (b->nq >= 2) {
            x[0] = f->p.x;
            x[1] = f->p.y;
        }
        if (b->nq >= 3) {
            x[2] = b->kind == PERP_BODY_PLANAR ? f->angle : f->p.z;
        }
        if (b->nq == 7) {
            x[3] = f->rot.w;
            x[4] = f->rot.x;
            x[5] = f->rot.y;
            x[6] = f->rot.z;
        }
    }
}

static perp_event *new_event(pp_flight *flight)
{
    pp_hybrid_result *out = flight->result;
    if (out->events == out->event_room) {
        int room = 2 * out->event_room + 8;
        perp_event *more = PP_ARRAY(flight->keep, perp_event, room);
        if (!more) {
            return NULL;
        }
        if (out->events > 0) {
            memcpy(more, out->event, (size_t)out->events * sizeof *more);
        }
        out->event = more;
        out->event_room = room;
    }
    return &out->event[out->events];
}

perp_event *pp_flight_add_event(pp_flight *flight, perp_event_kind kind, const pp_hold *hold)
{
    const pp_machine *machine = flight->machine;
    const perp_model *m = machine->model;
    perp_event *event = new_event(flight);
    double *state = PP_ARRAY(flight->keep, double, (size_t)m->nq + 2 * (size_t)m->nv);
    pp_mark mark = pp_arena_mark(flight->scratch);
    pp_frame *body = PP_ARRAY(flight->scratch, pp_frame, m->bodies);
    double *q = PP_ARRAY(flight->scratch, double, m->nq);
    if (!event || !state || !body || !q) {
        return NULL;
    }
    double *before = state + m->nq, *after = before + m->nv;
    pp_tree_frames(machine->tree, flight->t, flight->q, flight->other, body);
    pp_hybrid_state(m, body, q, after);
    pp_tree_frames(machine->tree, flight->t, flight->q, flight->qd, body);
    pp_hybrid_state(m, body, state, before);
    pp_arena_release(flight->scratch, mark);
    *event = (perp_event){.t = flight->t,
                          .kind = kind,
                          .a = {hold && pp_hold_touches(hold) ? hold->a : -1},
                          .b = {hold && pp_hold_touches(hold) ? hold->b : -1},
                          .feature = hold ? hold->feature : 0,
                          .joint = {hold ? hold->joint : -1},
                          .q = state,
                          .nu_before = before,
                          .nu_after = after};
    flight->result->events++;
    flight->events++;
    return event;
}

// ── Infinitely many impacts ──────────────────────────────────────────────────────────────────────

// Heights of bounces, of the length: a steady sequence of impacts is ended once it is below the first, any other one below
// the second.
static const double NEGLIGIBLE = 1e-8, UNSEEN = 1e-3 * 1e-8;

double pp_flight_bounce_speed(const pp_flight *flight)
{
    const pp_machine *machine = flight->machine;
    double g = pp_length(machine->model->gravity);
    return fmax(flight->tol_rate, sqrt(2.0 * g * UNSEEN * machine->length));
}

static pp_impact_history *bouncer_of(pp_flight *flight, int a, int b)
{
    for (int i = 0; i < flight->impact_histories; i++) {
        if (flight->impact_history[i].a == a && flight->impact_history[i].b == b) {
            return &flight->impact_history[i];
        }
    }
    int i = flight->impact_histories < PP_IMPACT_HISTORIES ? flight->impact_histories++
                                                           : flight->events % PP_IMPACT_HISTORIES;
    flight->impact_history[i] = (pp_impact_history){.a = a, .b = b};
    return &flight->impact_history[i];
}

bool pp_flight_zeno(pp_flight *flight, int body_a, int body_b, double speed, double *ratio,
                    double *end)
{
    pp_impact_history *s = bouncer_of(flight, body_a, body_b);
    if (s->count > 0 && s->t[s->count - 1] == flight->t) {
        return false;  // the same bounce
    }
    if (s->count == PP_IMPACT_TIMES) {
        memmove(s->t, s->t + 1, (PP_IMPACT_TIMES - 1) * sizeof *s->t);
        s->count--;
    }
    s->t[s->count++] = flight->t;
    if (s->count < PP_IMPACT_TIMES) {
        return false;
    }
    double last = s->t[3] - s->t[2], before = s->t[2] - s->t[1], first = s->t[1] - s->t[0];
    double height = 0.25 * speed * last;
    *ratio = before > 0.0 ? last / before : 0.0;
    double ratio_before = first > 0.0 ? before / first : 0.0;
    bool steady = *ratio < 1.0 && fabs(*ratio - ratio_before) < 0.01;
    *end = flight->t + (steady ? last * *ratio / (1.0 - *ratio) : 0.0);
    return height < NEGLIGIBLE * flight->machine->length &&
           (steady || height < UNSEEN * flight->machine->length);
}

// ── The loop ─────────────────────────────────────────────────────────────────────────────────────

// Nothing can move (all is welded): there is nothing to integrate, but joints carry their loads.
static perp_status stand(pp_flight *flight)
{
    perp_status status = pp_flight_sum(flight, flight->t, flight->end);
    flight->t = flight->end;
    return status;
}

// ── Where modes do not lead on ───────────────────────────────────────────────────────────────────

enum { MOST_CAPTURES = 100000 };

static bool may_capture(const pp_flight *flight, perp_status status)
{
    return status < 0 && status != PERP_ERR_MEMORY && status != PERP_ERR_REFUSED &&
           status != PERP_ERR_INFEASIBLE && flight->events <= flight->most_events &&
           flight->result->steps <= PP_MOST_STEPS && flight->machine->tree->nv > 0;
}

// Short steps until modes are found again.
static perp_status capture(pp_flight *flight)
{
    perp_status status = PERP_ERR_LIMIT;
    while (may_capture(flight, status) && flight->t < flight->end) {
        const char *why = flight->why ? flight->why : "no contact modes were found";
        flight->why = NULL;
        flight->result->remark[0] = '\0';
        flight->at_once = 0;
        status =
            ++flight->captures > MOST_CAPTURES ? PERP_ERR_LIMIT : pp_flight_capture(flight, why);
        if (status < 0) {
            pp_print(flight->result->remark, sizeof flight->result->remark,
                     "not solved: neither contact modes nor short steps succeeded at t = %.12g",
                     flight->t);
            return status == PERP_ERR_MEMORY ? status : PERP_ERR_LIMIT;
        }
        status = pp_holds_start(&flight->holds, flight->machine, flight->keep);
        status = status < 0 ? status : pp_flight_resolve(flight, NULL);
    }
    if (may_capture(flight, status)) {  // at the end: the next step finds modes
        status = pp_holds_start(&flight->holds, flight->machine, flight->keep);
    }
    return status;
}

static perp_status begin_step(pp_flight *flight)
{
    double moved, moved_rate;
    perp_status status = pp_hybrid_project(flight->machine, flight->t, flight->q, flight->qd,
                                           &moved, &moved_rate, flight->scratch);
    if (status >= 0 && (moved > 1e-8 || moved_rate > 1e-8)) {
        memcpy(flight->other, flight->qd, (size_t)flight->machine->tree->nv * sizeof(double));
        perp_event *event = pp_flight_add_event(flight, PERP_EVENT_PROJECTED, NULL);
        if (!event) {
            return PERP_ERR_MEMORY;
        }
        pp_print(event->remark, sizeof event->remark,
                 "coordinates changed by %.3g, rates by %.3g to satisfy the joints", moved,
                 moved_rate);
    }
    return status < 0 ? status : pp_flight_resolve(flight, NULL);
}

// What is closed at the end, and how well it holds.
static void look_back(pp_flight *flight, const pp_instant *instant)
{
    pp_hybrid_result *out = flight->result;
    out->rows = instant->rows;
    for (int i = 0; i < flight->holds.count; i++) {
        const pp_hold *hold = &flight->holds.hold[i];
        int held = hold->mode == PP_HELD ? instant->size[i] : hold->kind == PP_HOLD_CONTACT ? 1 : 0;
        for (int k = 0; k < held && k < instant->size[i]; k++) {
            out->residual = fmax(out->residual, fabs(instant->rate[instant->at[i] + k]));
        }
        out->joint_rows += hold->kind < PP_HOLD_MOTOR ? instant->size[i] : 0;
    }
    pp_flight_see_contacts(flight, instant, &flight->holds);
}

// Forces at the end of the step, in the modes that the motion goes on in.
static perp_status finish_step(pp_flight *flight)
{
    pp_hybrid_result *out = flight->result;
    const pp_machine *machine = flight->machine;
    pp_instant instant;
    pp_law_info info;
    double *r = NULL, *qdd = PP_ARRAY(flight->scratch, double, machine->tree->nv);
    perp_status status = qdd ? pp_instant_make(&instant, machine, flight->t, flight->q, flight->qd,
                                               &flight->holds, true, flight->scratch)
                             : PERP_ERR_MEMORY;
    status = status < 0 ? status
                        : pp_accelerate(machine, &instant, &flight->holds, PP_LOADS_ANY, qdd, &r,
                                        &info, flight->scratch);
    if (status >= 0) {
        out->t = flight->t;
        out->q = flight->q;
        out->qd = flight->qd;
        out->stiff = flight->ode && pp_ode_stiff(flight->ode);
        look_back(flight, &instant);
        status = pp_flight_close(flight, PP_JUMP_NONE);
    }
    return status;
}

// Angles and quaternions count at the length of the machine.
static void weigh_errors(pp_flight *flight)
{
    const pp_tree *tree = flight->machine->tree;
    for (int i = 0; i < tree->nq; i++) {
        flight->weight[i] = flight->machine->length;
    }
    for (int i = 0; i < tree->links; i++) {
        static const int lengths[] = {
            [PP_LINK_PRISMATIC] = 1, [PP_LINK_CYLINDRICAL] = 1, [PP_LINK_PLANE] = 2,
            [PP_LINK_FLAT] = 2,      [PP_LINK_POINT] = 3,       [PP_LINK_FREE] = 3};
        const pp_link *l = &tree->link[i];
        int count = l->kind <= PP_LINK_FREE ? lengths[l->kind] : 0;
        count = l->kind == PP_LINK_POINT && !flight->machine->model->spatial ? 2 : count;
        for (int k = 0; k < count; k++) {
            flight->weight[l->at_q + k] = 1.0;
        }
    }
}

static perp_status prepare_flight(pp_flight *flight, const double *q, const double *qd)
{
    const pp_machine *machine = flight->machine;
    size_t nq = (size_t)machine->tree->nq, nv = (size_t)machine->tree->nv;
    flight->y = PP_ARRAY(flight->keep, double, 2 * (nq + nv) + nv);
    flight->result->joint = PP_ZEROS(flight->keep, pp_joint_sum, machine->model->joints);
    flight->weight = PP_ARRAY(flight->keep, double, nq);
    if (!flight->y || !flight->result->joint || !flight->weight || pp_flight_open(flight) < 0) {
        return PERP_ERR_MEMORY;
    }
    weigh_errors(flight);
    flight->q = flight->y;
    flight->qd = flight->y + nq;
    flight->y_try = flight->qd + nv;
    flight->other = flight->y_try + nq + nv;
    if (nv > 0) {
        memcpy(flight->q, q, nq * sizeof *q);
        memcpy(flight->qd, qd, nv * sizeof *qd);
    }
    return nv == 0
               ? PERP_OK
               : pp_ode_create(&flight->ode, (int)(nq + nv), state_derivative, flight,
                               machine->options.relative, machine->options.absolute, machine->env);
}

// Smooth equations have one solution. Where anything unilateral, boxed or frictional acts nothing is proved.
static bool only_equations(const pp_flight *flight)
{
    bool only = flight->result->contacts == 0 && flight->result->events == 0;
    for (int i = 0; only && i < flight->holds.count; i++) {
        pp_hold_kind kind = flight->holds.hold[i].kind;
        only = kind == PP_HOLD_LOOP || kind == PP_HOLD_TARGET || kind == PP_HOLD_RATE;
    }
    return only;
}

perp_status pp_hybrid_run(pp_hybrid_result *out, const pp_machine *machine, double t, double h,
                          const double *q, const double *qd, pp_arena *keep, pp_arena *scratch)
{
    *out = (pp_hybrid_result){.unique = true, .t = t + h};
    pp_machine with = *machine;
    pp_flight flight = {.machine = &with,
                        .result = out,
                        .keep = keep,
                        .scratch = scratch,
                        .t = t,
                        .end = t + h,
                        .tol_gap = 1e-10 * machine->length,
                        .tol_rate = 1e-9,
                        .tol_limit = 1e-10,
                        .last_event = -PP_INF,
                        .margin_t = -PP_INF,
                        .burst = -PP_INF,
                        .capture_end = -PP_INF,
                        .captured = -1,
                        .most_events = (int)fmin(1e9, 100.0 + machine->options.events * h)};
    with.rims = &flight.rims;
    perp_status status = prepare_flight(&flight, q, qd);
    if (status == PERP_ERR_REFUSED) {
        pp_print(out->remark, sizeof out->remark,
                 "perp was built without SUNDIALS, which the stepper event needs");
    }
    if (status < 0) {
        out->q = flight.q;
        out->qd = flight.qd;
        return status;
    }
    status = begin_step(&flight);
    status = may_capture(&flight, status) ? capture(&flight) : status;
    while (status >= 0 && flight.t < flight.end) {
        status = machine->tree->nv > 0 ? pp_flight_integrate_smooth(&flight) : stand(&flight);
        status = may_capture(&flight, status) ? capture(&flight) : status;
    }
    status = status < 0 ? status : finish_step(&flight);
    out->unique = out->unique && only_equations(&flight);
    if (status == PERP_ERR_LIMIT && !out->remark[0]) {
        pp_print(out->remark, sizeof out->remark, "the integration stopped at t = %.12g", flight.t);
    }
    if (status >= 0 && out->tempered && !out->remark[0]) {
        pp_print(out->remark, sizeof out->remark,
                 "the given restitution would create energy in an impact: see its event for the "
                 "value used");
    }
    pp_ode_destroy(flight.ode);
    return status;
}
