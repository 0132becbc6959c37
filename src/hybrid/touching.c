// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Limits and contacts that touch at an instant, and when two holds are the same.       theory (H14)
#include "hybrid/flight.h"

#include <math.h>

// Of the length, or of the scale of a coordinate: drift of a hold that was closed before.
static const double LOOSE = 1e-6;

const pp_hold *pp_holds_same(const pp_holds *holds, const pp_hold *hold)
{
    for (int i = 0; i < holds->count; i++) {
        const pp_hold *h = &holds->hold[i];
        // Torsional and rolling friction differ from their contact by their kind.
        if (h->kind == hold->kind && h->joint == hold->joint && h->sign == hold->sign &&
            h->a == hold->a && h->b == hold->b && h->listed == hold->listed &&
            h->feature == hold->feature) {
            return h;
        }
    }
    return NULL;
}

double pp_flight_limit_scale(const pp_flight *flight, int joint, double bound)
{
    perp_joint_kind kind = flight->machine->model->joint[joint].kind;
    bool slides = kind == PERP_JOINT_PRISMATIC || kind == PERP_JOINT_DISTANCE ||
                  kind == PERP_JOINT_POINT_ON_LINE || kind == PERP_JOINT_CYLINDRICAL;
    return fmax(slides ? flight->machine->length : 1.0, fabs(bound));
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
            // Both sides of a limit are holds of their own; sign makes their value a gap.
            pp_hold hold = pp_hold_of_joint(PP_HOLD_LIMIT, i);
            hold.sign = sign;
            double room = pp_holds_same(&flight->holds, &hold) ? LOOSE : flight->tol_limit;
            room = fmax(reach, room * pp_flight_limit_scale(flight, i, bound));
            if (isfinite(bound) && sign * (row.value - bound) <= room &&
                !pp_holds_add(out, hold, flight->keep)) {
                return PERP_ERR_MEMORY;
            }
        }
    }
    return PERP_OK;
}

// Contacts that were closed before may have drifted; others have to touch within the tolerance. The
// search is as wide as that of an instant: with another margin manifolds may have other points, and
// a hold without a point of its own would be matched with one that is open. In the scratch arena;
// the holds are in `keep`.
static perp_status add_contacts(pp_flight *flight, const pp_frame *body, pp_holds *out)
{
    const pp_machine *machine = flight->machine;
    pp_poses kin = {.t = flight->t, .body = body};
    pp_gaps gaps;
    pp_gap_search search = {.margin = PP_SEARCH_MARGIN * machine->length};
    perp_status status = pp_holds_hint(machine, &flight->holds, &kin, &search, flight->scratch);
    if (status < 0) {
        return status;
    }
    status = pp_gaps_run(&gaps, machine->model, &kin, search, flight->scratch);
    if (status < 0) {
        return status;
    }
    for (int i = 0; i < gaps.count; i++) {
        const pp_contact *c = &gaps.contact[i];
        pp_hold hold = pp_hold_contact(c);
        hold.place = pp_contact_anchor_of(machine->model, body, flight->t, c);
        bool was = pp_holds_same(&flight->holds, &hold) != NULL;
        // A hold that was closed stays so within its drift: otherwise rounding
        // would open and close it.
        double room = was ? LOOSE * machine->length : flight->tol_gap;
        if (!(c->gap <= room)) {
            continue;
        }
        if (!pp_holds_add(out, hold, flight->keep) ||
            !pp_holds_add_turning(out, machine, c, flight->keep)) {
            return PERP_ERR_MEMORY;
        }
    }
    return PERP_OK;
}

perp_status pp_flight_touching(pp_flight *flight, pp_holds *out)
{
    const pp_machine *machine = flight->machine;
    perp_status status = pp_holds_start(out, machine, flight->keep);
    if (status < 0) {
        return status;
    }
    // Frames are needed only here; the holds refer to none of them.
    pp_mark mark = pp_arena_mark(flight->scratch);
    pp_frame *body = PP_ARRAY(flight->scratch, pp_frame, machine->model->bodies);
    if (!body) {
        pp_arena_release(flight->scratch, mark);
        return PERP_ERR_MEMORY;
    }
    pp_tree_frames(machine->tree, flight->t, flight->q, flight->qd, body);
    status = pp_flight_limits(flight, flight->t, body, 0.0, out);
    if (status >= 0) {
        status = add_contacts(flight, body, out);
    }
    pp_arena_release(flight->scratch, mark);
    return status;
}

// A thousandth of the speed of a fall through half the length of the machine, sqrt(g length).
double pp_flight_rest_speed(const pp_flight *flight)
{
    const pp_machine *machine = flight->machine;
    double g = machine->model->gravity_most;
    return fmax(flight->tol_rate, 1e-3 * sqrt(g * machine->length));
}
