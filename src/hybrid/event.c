// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The loop of the stepper `event`: one step of the user as a sequence of smooth motions and events.
//                                                                                theory (H1), (H13)
//
//   project onto the joints (H12), find modes (H14)
//   until t + h: integrate to the next event, resolve it
//
// Wherever no modes are found, events accumulate or the integrator stalls, short steps by impulses
// (capture.c) carry the motion on until modes are found again.                         theory (H17)
#include "hybrid/flight.h"

#include <math.h>
#include <string.h>

perp_status pp_flight_instant(const pp_flight *flight, const pp_holds *holds, bool forces,
                              pp_instant *out)
{
    return pp_instant_make(out, flight->machine, flight->t, flight->q, flight->qd, holds, forces,
                           flight->scratch);
}

// ── Smooth motion ────────────────────────────────────────────────────────────────────────────────

// The right-hand side for the integrator: y = (q, qd) of the tree, y_dot = (q_dot, qdd), in the
// present modes. Where quaternions are among the coordinates q_dot is not qd.
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
        // Undetermined loads of contacts that stick do not change the
        // motion, so any of them will do.
        status = pp_accelerate(machine, &instant, &flight->holds, PP_LOADS_ANY, y_dot + tree->nq,
                               &r, &info, flight->scratch);
    }
    pp_arena_release(flight->scratch, mark);
    return status;
}

// ── Events ───────────────────────────────────────────────────────────────────────────────────────

// Planar bodies have q = (x, y, angle), spatial ones (x, y, z) and a unit quaternion (w, x, y, z),
// points their position only. nu holds those components of the twist that a body can move in;
// angular velocities are in world axes.
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
        // Coordinates depend on the kind of the body; at_q and at are its places in q and nu.
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

perp_event *pp_flight_add_event(pp_flight *flight, perp_event_kind kind, const pp_hold *hold)
{
    const pp_machine *machine = flight->machine;
    const perp_model *m = machine->model;
    pp_hybrid_result *out = flight->result;
    perp_event *list =
        pp_list_grow(out->event, out->events, &out->event_room, sizeof *list, flight->keep);
    if (!list) {
        return NULL;
    }
    out->event = list;
    pp_mark mark = pp_arena_mark(flight->scratch);
    double *state = PP_ARRAY(flight->keep, double, (size_t)m->nq + 2 * (size_t)m->nv);
    pp_frame *body = PP_ARRAY(flight->scratch, pp_frame, m->bodies);
    double *q = PP_ARRAY(flight->scratch, double, m->nq);
    if (!state || !body || !q) {
        pp_arena_release(flight->scratch, mark);
        return NULL;
    }
    // Velocities before are those of the flight, velocities after are in flight->qd_after; the
    // configuration is the same.
    double *before = state + m->nq, *after = before + m->nv;
    pp_tree_frames(machine->tree, flight->t, flight->q, flight->qd_after, body);
    pp_hybrid_state(m, body, q, after);
    pp_tree_frames(machine->tree, flight->t, flight->q, flight->qd, body);
    pp_hybrid_state(m, body, state, before);
    pp_arena_release(flight->scratch, mark);
    bool touches = hold && pp_hold_touches(hold);
    perp_event *event = &out->event[out->events++];
    *event = (perp_event){.t = flight->t,
                          .kind = kind,
                          .a = {touches ? hold->a : -1},
                          .b = {touches ? hold->b : -1},
                          .feature = hold ? hold->feature : 0,
                          .joint = {hold ? hold->joint : -1},
                          .q = state,
                          .nu_before = before,
                          .nu_after = after};
    flight->events++;
    return event;
}

// ── Zeno sequences ───────────────────────────────────────────────────────────────────────────────

// Heights of bounces relative to the machine's length. A sequence whose intervals shrink by a
// steady ratio ends once the height is below NEGLIGIBLE; any other sequence ends below UNSEEN.
static const double NEGLIGIBLE = 1e-8, UNSEEN = 1e-3 * 1e-8;

// A bounce of height s starts at the speed sqrt(2 g s).
double pp_flight_bounce_speed(const pp_flight *flight)
{
    const pp_machine *machine = flight->machine;
    double g = machine->model->gravity_most;
    return fmax(flight->tol_rate, sqrt(2.0 * g * UNSEEN * machine->length));
}

// The history of two bodies. When all are in use, a new pair overwrites one of the others:
// histories only decide when a sequence is cut off, so a lost one costs a few more impacts.
static pp_impact_history *history_of(pp_flight *flight, int a, int b)
{
    for (int i = 0; i < flight->impact_histories; i++) {
        if (flight->impact_history[i].a == a && flight->impact_history[i].b == b) {
            return &flight->impact_history[i];
        }
    }
    int i = flight->events % PP_IMPACT_HISTORIES;
    if (flight->impact_histories < PP_IMPACT_HISTORIES) {
        i = flight->impact_histories++;
    }
    flight->impact_history[i] = (pp_impact_history){.a = a, .b = b};
    return &flight->impact_history[i];
}

bool pp_flight_zeno(pp_flight *flight, int body_a, int body_b, double speed, double *ratio,
                    double *end)
{
    pp_impact_history *s = history_of(flight, body_a, body_b);
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
    // Four times give three intervals and two ratios. Over the last interval T the body rose and
    // fell with half of T each, at a mean speed of half the impact speed: height = speed T / 4.
    // With a ratio r < 1 the intervals that follow add up to T r / (1 - r).
    double last = s->t[3] - s->t[2], before = s->t[2] - s->t[1], first = s->t[1] - s->t[0];
    double height = 0.25 * speed * last;
    *ratio = before > 0.0 ? last / before : 0.0;
    double ratio_before = first > 0.0 ? before / first : 0.0;
    bool steady = *ratio < 1.0 && fabs(*ratio - ratio_before) < 0.01;
    *end = flight->t + (steady ? last * *ratio / (1.0 - *ratio) : 0.0);
    return height < NEGLIGIBLE * flight->machine->length &&
           (steady || height < UNSEEN * flight->machine->length);
}

// ── Short steps where no modes are found ─────────────────────────────────────────────────────────

enum { MOST_CAPTURES = 100000 };

// Short steps cannot help where memory ran out, the problem is refused, equations contradict each
// other by proof, or a limit on events or integrator steps was reached.
static bool may_capture(const pp_flight *flight, perp_status status)
{
    return status < 0 && !pp_is_final(status) && status != PERP_ERR_REFUSED &&
           status != PERP_ERR_INFEASIBLE && flight->events <= flight->most_events &&
           flight->result->steps <= PP_MOST_STEPS && flight->machine->tree->nv > 0;
}

// Where short steps reach the end of the step the next one finds modes. Equations are held; motors and dry
// friction hold or slip by their velocities, and the failure to find other modes is no remark of
// this step.
static perp_status hold_equations_only(pp_flight *flight)
{
    perp_status status = pp_holds_start(&flight->holds, flight->machine, flight->keep);
    bool *none = PP_ZEROS(flight->keep, bool, flight->holds.count);
    if (status < 0 || !none) {
        return status < 0 ? status : PERP_ERR_MEMORY;
    }
    flight->result->remark[0] = '\0';
    return pp_flight_set_modes(flight, &flight->holds, none, none);
}

// Takes short steps until modes are found again.                                       theory (H17)
static perp_status capture(pp_flight *flight)
{
    perp_status status = PERP_ERR_LIMIT;
    while (may_capture(flight, status) && flight->t < flight->end) {
        // A reason that was noted belongs to this failure only.
        const char *why = flight->why ? flight->why : "no contact modes were found";
        flight->why = NULL;
        flight->result->remark[0] = '\0';
        flight->at_once = 0;
        flight->captures++;
        status = PERP_ERR_LIMIT;
        if (flight->captures <= MOST_CAPTURES) {
            status = pp_flight_capture(flight, why);
        }
        if (status < 0) {
            pp_print(flight->result->remark, sizeof flight->result->remark,
                     "not solved: neither contact modes nor short steps succeeded at t = %.12g",
                     flight->t);
            return pp_is_final(status) ? status : PERP_ERR_LIMIT;
        }
        // The modes before the short steps are void: start from those of equations,
        // motors and dry friction.
        status = pp_holds_start(&flight->holds, flight->machine, flight->keep);
        if (status >= 0) {
            status = pp_flight_resolve(flight, NULL);
        }
    }
    if (may_capture(flight, status)) {
        status = hold_equations_only(flight);
    }
    return status;
}

// ── The loop ─────────────────────────────────────────────────────────────────────────────────────

// Projects the state onto the joints (theory (H12)), reports a visible change as an event,
// and finds the first modes.
static perp_status begin_step(pp_flight *flight)
{
    double moved, moved_rate;
    perp_status status = pp_hybrid_project(flight->machine, flight->t, false, flight->q, flight->qd,
                                           &moved, &moved_rate, flight->scratch);
    if (status < 0) {
        return status;
    }
    // Rounding of the state that the caller gives is no event.
    if (moved > 1e-8 || moved_rate > 1e-8) {
        memcpy(flight->qd_after, flight->qd, (size_t)flight->machine->tree->nv * sizeof(double));
        perp_event *event = pp_flight_add_event(flight, PERP_EVENT_PROJECTED, NULL);
        if (!event) {
            return PERP_ERR_MEMORY;
        }
        pp_print(event->remark, sizeof event->remark,
                 "coordinates changed by %.3g, rates by %.3g to satisfy the joints", moved,
                 moved_rate);
    }
    return pp_flight_resolve(flight, NULL);
}

// Largest part of a coupling's row, which has the unit of its function; 1 of all other rows.
static double row_size(const perp_model *m, const pp_hold *hold, const pp_row *row)
{
    if (hold->joint < 0 || m->joint[hold->joint].kind != PERP_JOINT_COUPLING) {
        return 1.0;
    }
    double most = 0.0;
    for (int i = 0; i < row->count; i++) {
        for (int k = 0; k < m->body[row->body[i]].nv; k++) {
            most = fmax(most, fabs(row->J[i][k]));
        }
    }
    return most > 0.0 ? most : 1.0;
}

// Counts rows at the end and measures the worst rate of a row that should be zero: all rows of a
// hold that is held, the normal row of a contact that slides.
static void measure_end(pp_flight *flight, const pp_instant *instant)
{
    pp_hybrid_result *out = flight->result;
    out->rows = instant->rows;
    for (int i = 0; i < flight->holds.count; i++) {
        const pp_hold *hold = &flight->holds.hold[i];
        // Joints of the tree have no rows: their coordinates cannot violate them.
        int held = hold->mode == PP_HELD ? instant->size[i] : 0;
        if (pp_hold_epsilon(flight->machine, hold) > 0.0) {  // its rate decays
            held = 0;
        }
        if (hold->mode != PP_HELD && hold->kind == PP_HOLD_CONTACT && instant->size[i] > 0) {
            held = 1;
        }
        for (int k = 0; k < held; k++) {
            int at = instant->at[i] + k;
            double size = row_size(flight->machine->model, hold, &instant->row[at]);
            out->residual = fmax(out->residual, fabs(instant->rate[at]) / size);
        }
        out->joint_rows += hold->kind < PP_HOLD_MOTOR ? instant->size[i] : 0;
    }
    pp_flight_see_contacts(flight, instant, &flight->holds);
}

// Evaluates the end of the step in the modes in which the motion goes on, and
// closes the last passage.
static perp_status finish_step(pp_flight *flight)
{
    pp_hybrid_result *out = flight->result;
    const pp_machine *machine = flight->machine;
    pp_instant instant;
    pp_law_info info;
    double *r = NULL, *qdd = PP_ARRAY(flight->scratch, double, machine->tree->nv);
    if (!qdd) {
        return PERP_ERR_MEMORY;
    }
    perp_status status = pp_flight_instant(flight, &flight->holds, true, &instant);
    if (status < 0) {
        return status;
    }
    // A check that these modes have finite accelerations; the values themselves are not reported.
    status = pp_accelerate(machine, &instant, &flight->holds, PP_LOADS_ANY, qdd, &r, &info,
                           flight->scratch);
    if (status < 0) {
        return status;
    }
    out->t = flight->t;
    out->q = flight->q;
    out->qd = flight->qd;
    out->stiff = flight->ode && pp_ode_stiff(flight->ode);
    measure_end(flight, &instant);
    return pp_flight_close(flight, PP_JUMP_NONE);
}

// The absolute tolerance of lengths and speeds is relative to the machine, if that is small.
// Weights that turn the integrator's errors into lengths [m]: coordinates that are
// lengths come first in each link and count by themselves; angles and quaternions count
// at the length of the machine.
static void weigh_errors(pp_flight *flight)
{
    static const int lengths[] = {
        [PP_LINK_PRISMATIC] = 1, [PP_LINK_CYLINDRICAL] = 1, [PP_LINK_PLANE] = 2,
        [PP_LINK_FLAT] = 2,      [PP_LINK_POINT] = 3,       [PP_LINK_FREE] = 3};
    const pp_tree *tree = flight->machine->tree;
    for (int i = 0; i < tree->nq; i++) {
        flight->weight[i] = flight->machine->length;
    }
    for (int i = 0; i < tree->nq + tree->nv; i++) {
        flight->unit[i] = 1.0;
    }
    for (int i = 0; i < tree->links; i++) {
        const pp_link *l = &tree->link[i];
        int count = l->kind <= PP_LINK_FREE ? lengths[l->kind] : 0;
        // A point in the plane has two coordinates.
        if (l->kind == PP_LINK_POINT && !flight->machine->model->spatial) {
            count = 2;
        }
        for (int k = 0; k < count; k++) {
            flight->weight[l->at_q + k] = 1.0;
            flight->unit[l->at_q + k] = flight->unit[tree->nq + l->at_v + k] =
                fmin(1.0, flight->machine->length);
        }
    }
}

// Allocates the state and the results, copies q and qd, opens the first passage
// and creates the integrator.
static perp_status prepare_flight(pp_flight *flight, const double *q, const double *qd)
{
    const pp_machine *machine = flight->machine;
    size_t nq = (size_t)machine->tree->nq, nv = (size_t)machine->tree->nv;
    flight->y = PP_ARRAY(flight->keep, double, 2 * (nq + nv) + nv);
    flight->result->joint = PP_ZEROS(flight->keep, pp_joint_sum, machine->model->joints);
    flight->result->held = PP_ZEROS(flight->keep, perp_wrench, machine->model->bodies);
    flight->result->actuator = PP_ZEROS(flight->keep, double, machine->model->actuators);
    flight->weight = PP_ARRAY(flight->keep, double, nq);
    flight->unit = PP_ARRAY(flight->keep, double, nq + nv);
    if (!flight->y || !flight->result->joint || !flight->result->held ||
        !flight->result->actuator || !flight->weight || !flight->unit ||
        pp_flight_open(flight) < 0) {
        return PERP_ERR_MEMORY;
    }
    weigh_errors(flight);
    // y = (q, qd), a second one for dense output, and the rates after events, in one block.
    flight->q = flight->y;
    flight->qd = flight->y + nq;
    flight->y_try = flight->qd + nv;
    flight->qd_after = flight->y_try + nq + nv;
    if (nv == 0) {
        return PERP_OK;  // nothing can move: no integrator
    }
    memcpy(flight->q, q, nq * sizeof *q);
    memcpy(flight->qd, qd, nv * sizeof *qd);
    perp_status status =
        pp_ode_create(&flight->ode, (int)(nq + nv), state_derivative, flight,
                      machine->options.relative, machine->options.absolute, machine->env);
    if (status >= 0) {
        pp_ode_set_units(flight->ode, flight->unit);
    }
    return status;
}

// Whether the motion is proved to be unique: smooth equations have one solution. Where anything
// unilateral, boxed or frictional acted nothing is proved.
static bool only_equations(const pp_flight *flight)
{
    if (flight->result->contacts > 0 || flight->result->events > 0) {
        return false;
    }
    for (int i = 0; i < flight->holds.count; i++) {
        pp_hold_kind kind = flight->holds.hold[i].kind;
        if (kind != PP_HOLD_LOOP && kind != PP_HOLD_TARGET && kind != PP_HOLD_RATE) {
            return false;
        }
    }
    return true;
}

// From the first modes to the end of the step.
static perp_status fly(pp_flight *flight)
{
    perp_status status = begin_step(flight);
    if (may_capture(flight, status)) {
        status = capture(flight);
    }
    while (status >= 0 && flight->t < flight->end) {
        // Each call ends at an event that has been resolved, or at the end of the step.
        if (flight->machine->tree->nv > 0) {
            status = pp_flight_integrate_smooth(flight);
        } else {
            // All is welded: there is nothing to integrate, but joints carry their loads. Nothing
            // that cannot move has contacts to lose.
            bool stray = false;
            status = pp_flight_sum(flight, flight->t, flight->end, &stray);
            flight->t = flight->end;
        }
        if (may_capture(flight, status)) {
            status = capture(flight);
        }
    }
    if (status < 0) {
        return status;
    }
    return finish_step(flight);
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
    // Contact detection reads the rim points of the machine; those of this
    // flight change with its events.
    with.rims = &flight.rims;
    perp_status status = prepare_flight(&flight, q, qd);
    if (status < 0) {
        out->q = flight.q;
        out->qd = flight.qd;
        return status;
    }
    status = fly(&flight);
    out->unique = out->unique && only_equations(&flight);
    // A failure without a reason of its own gets the time it came to; a success
    // mentions tempered restitution.
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
