// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// What touches at an instant: contacts and limits at zero.                              theory (H14)
#include "hybrid/flight.h"

#include <math.h>

static const double LOOSE = 1e-6;  // of the length: closed contacts may have drifted so far

const pp_hold *pp_holds_same(const pp_holds *holds, const pp_hold *hold)
{
    for (int i = 0; i < holds->count; i++) {
        const pp_hold *h = &holds->hold[i];
        if (h->kind == hold->kind && h->joint == hold->joint && h->sign == hold->sign &&
            h->a == hold->a && h->b == hold->b && h->listed == hold->listed &&
            h->feature == hold->feature) {
            return h;
        }
    }
    return NULL;
}

perp_status pp_flight_limits(pp_flight *flight, double t, const pp_frame *body, double reach,
                             pp_holds *out)
{
    const pp_machine *machine = flight->machine;
    const perp_model *m = machine->model;
    pp_poses kin = {.t = t, .body = body, .turn = machine->turn};
    for (int i = 0; i < m->joints; i++) {
        const pp_joint *j = &m->joint[i];
        if (!(j->lower <= j->upper) || !pp_joint_has_coordinate(j)) {
            continue;
        }
        pp_row row;
        pp_joint_coordinate(m, &kin, i, &row);
        for (int side = 0; side < 2; side++) {
            double sign = side == 0 ? 1.0 : -1.0, bound = sign > 0.0 ? j->lower : j->upper;
            pp_hold hold = {.kind = PP_HOLD_LIMIT,
                            .joint = i,
                            .sign = sign,
                            .a = -1,
                            .b = -1,
                            .listed = -1,
                            .mode = PP_HELD};
            double room = pp_holds_same(&flight->holds, &hold) ? LOOSE : flight->tol_limit;
            room = fmax(reach, room * fmax(1.0, fabs(bound)));
            if (isfinite(bound) && sign * (row.value - bound) <= room &&
                !pp_holds_add(out, hold, flight->keep)) {
                return PERP_ERR_MEMORY;
            }
        }
    }
    return PERP_OK;
}

static perp_status add_contacts(pp_flight *flight, const pp_frame *body, pp_holds *out)
{
    const pp_machine *machine = flight->machine;
    pp_poses kin = {.t = flight->t, .body = body};
    pp_gaps gaps;
    pp_gap_search search = {.margin = LOOSE * machine->length};
    perp_status status = pp_holds_hint(machine, &flight->holds, &kin, &search, flight->scratch);
    status =
        status < 0 ? status : pp_gaps_run(&gaps, machine->model, &kin, search, flight->scratch);
    for (int i = 0; status >= 0 && i < gaps.count; i++) {
        const pp_contact *c = &gaps.contact[i];
        pp_hold hold = pp_hold_contact(c);
        hold.place = pp_contact_anchor_of(machine->model, body, flight->t, c);
        bool was = pp_holds_same(&flight->holds, &hold) != NULL;
        if (c->gap <= (was ? LOOSE * machine->length : flight->tol_gap) &&
            (!pp_holds_add(out, hold, flight->keep) ||
             !pp_holds_add_turning(out, machine, c, flight->keep))) {
            return PERP_ERR_MEMORY;
        }
    }
    return status;
}

// Equations, motors and dry friction as they are, then all limits and contacts at zero.
perp_status pp_flight_touching(pp_flight *flight, pp_holds *out)
{
    const pp_machine *machine = flight->machine;
    pp_mark mark = pp_arena_mark(flight->scratch);
    pp_frame *body = PP_ARRAY(flight->scratch, pp_frame, machine->model->bodies);
    perp_status status = body ? pp_holds_start(out, machine, flight->keep) : PERP_ERR_MEMORY;
    if (status < 0) {
        return status;
    }
    pp_tree_frames(machine->tree, flight->t, flight->q, flight->qd, body);
    flight->fixed = out->count;
    status = pp_flight_limits(flight, flight->t, body, 0.0, out);
    status = status < 0 ? status : add_contacts(flight, body, out);
    pp_arena_release(flight->scratch, mark);
    return status;
}

// A speed whose bounce is not worth following: contacts whose impacts end here stay closed below it.
double pp_flight_rest_speed(const pp_flight *flight)
{
    const pp_machine *machine = flight->machine;
    double g = pp_length(machine->model->gravity);
    return fmax(flight->tol_rate, 1e-3 * sqrt(g * machine->length));
}
