// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Laws of an instant and the accelerations they give.                       theory (H4), (H5), (H6)
//
//   position:  J qdd + J_dot qd + 2/eps phi_d + phi/eps^2 = 0       (limits and contacts: >= 0)
//   velocity:  J qdd + drift + 1/eps psi = 0
//
// The right-hand side of the integrator comes from here: in given modes the laws are linear
// equations, whose solution depends smoothly on the state. The choice of modes (choose.c) solves
// the same laws as a complementarity problem.
#include "hybrid/moment.h"

#include <math.h>
#include <string.h>

static const double SLOW = 1e-7;  // [m/s] slip that the direction in which sliding began counts as

// Unit direction d of slip + weight * begun, both in (t, o). While the slip has a part along the
// direction in which it began, the weight falls from SLOW at rest to SLOW^3/speed^2, so that fast
// sliding follows the slip alone. Otherwise d is the direction in which it began. Overwrites slip.
static void smooth_direction(double slip[2], const double begun[2], double d[2])
{
    double speed = pp_hypot(slip[0], slip[1]), along = slip[0] * begun[0] + slip[1] * begun[1];
    double weight = along > 0.0 ? SLOW / (1.0 + speed * speed / (SLOW * SLOW)) : 1.0;
    for (int k = 0; k < 2; k++) {
        slip[k] = (along > 0.0 ? slip[k] : 0.0) + weight * begun[k];
    }
    speed = pp_hypot(slip[0], slip[1]);
    d[0] = speed > 0.0 ? slip[0] / speed : 1.0;
    d[1] = speed > 0.0 ? slip[1] / speed : 0.0;
}

// Direction of sliding in (t, o): that of the slip once there is some, and near rest the direction
// in which sliding began. The transition is smooth because slip from rest is stiff: the slower it
// is, the faster its direction follows the forces, and the integrator could not follow a switch.
static void sliding(const pp_instant *instant, const pp_holds *holds, int i, double d[2])
{
    const pp_hold *hold = &holds->hold[i];
    const pp_contact *c = &instant->contact[i];
    d[0] = hold->d;
    d[1] = 0.0;
    // In the plane the direction is a sign.
    if (instant->size[i] < 3) {
        return;
    }
    double slip[2];
    pp_instant_slip(instant, i, slip);
    double begun[2] = {pp_dot3(hold->d_W, c->t), pp_dot3(hold->d_W, pp_cross(c->n, c->t))};
    smooth_direction(slip, begun, d);
}

// The same for spin about n and for rolling about (t, o).
static void turning(const pp_instant *instant, const pp_hold *hold, int i, double d[2])
{
    const pp_contact *c = &instant->contact[i];
    d[0] = hold->d;
    d[1] = 0.0;
    if (hold->kind == PP_HOLD_ROLL) {
        double turn[2];
        pp_instant_spin(instant, i, turn);
        double begun[2] = {pp_dot3(hold->d_W, c->t), pp_dot3(hold->d_W, pp_cross(c->n, c->t))};
        smooth_direction(turn, begun, d);
    }
}

// The law of hold i at the level of accelerations. Sliding contacts, motors and turning friction
// keep the direction that they have, and are linear in the unknown forces.              theory (H7)
static pp_law acceleration_law(const pp_machine *machine, const pp_instant *instant,
                               const pp_holds *holds, int i)
{
    const pp_hold *hold = &holds->hold[i];
    const pp_joint *joint = machine->model->joint;
    pp_law law = {.at = instant->at[i], .size = instant->size[i], .mode = hold->mode};
    switch (hold->kind) {
    case PP_HOLD_MOTOR:
    case PP_HOLD_DRY:
        // A motor that has reached its effort, or dry friction in motion, pushes with
        // its bound: a known force.
        law.kind = hold->mode == PP_SLIDES ? PP_LAW_RUBBING : PP_LAW_BOX;
        law.bound = hold->kind == PP_HOLD_DRY ? joint[hold->joint].friction
                                              : joint[hold->joint].rate_effort;
        law.d[0] = hold->d;
        break;
    case PP_HOLD_LIMIT:
        // A limit is a contact without friction.
        law.kind = PP_LAW_CONTACT;
        break;
    case PP_HOLD_CONTACT:
        law.kind = hold->mode == PP_SLIDES ? PP_LAW_SLIDING : PP_LAW_CONTACT;
        law.mu = law.size > 1 ? pp_contact_mu(&instant->contact[i]) : 0.0;
        sliding(instant, holds, i, law.d);
        break;
    case PP_HOLD_SPIN:
    case PP_HOLD_ROLL:
        law.kind = hold->mode == PP_SLIDES ? PP_LAW_TURNING : PP_LAW_TURN;
        law.mu = pp_hold_mu(machine, instant, holds, i);
        law.on = pp_hold_base(holds, i);
        turning(instant, hold, i, law.d);
        break;
    default:
        law.kind = PP_LAW_EQUAL;
        law.mode = PP_HELD;
    }
    return law;
}

// The terms that stabilisation adds to the second derivative of row at + k: 2/eps phi_d + phi/eps^2
// of positions, psi/eps of velocities (rates, held motors, sticking). eps infinite: none.
//                                                                                       theory (H4)
static double stabilise(const pp_machine *machine, const pp_instant *instant, const pp_hold *hold,
                        int at, int k)
{
    double own = pp_hold_epsilon(machine, hold), rate = instant->rate[at + k];
    double eps = own > 0.0 ? own : machine->options.eps;
    bool position = hold->kind == PP_HOLD_LOOP || hold->kind == PP_HOLD_TARGET ||
                    hold->kind == PP_HOLD_LIMIT || (hold->kind == PP_HOLD_CONTACT && k == 0);
    if (!(eps < PP_INF)) {
        return 0.0;
    }
    return position ? 2.0 / eps * rate + instant->value[at + k] / (eps * eps) : rate / eps;
}

perp_status pp_instant_laws(pp_laws *out, const pp_machine *machine, const pp_instant *instant,
                            const pp_holds *holds, pp_arena *arena)
{
    double *b = PP_ARRAY(arena, double, instant->rows);
    pp_law *law = PP_ARRAY(arena, pp_law, holds->count);
    *out = (pp_laws){.count = holds->count,
                     .rows = instant->rows,
                     .law = law,
                     .A = instant->A,
                     .b = b,
                     .tolerance = 1e-9,
                     .scale = instant->scale,
                     .least_u = instant->acceleration_scale};
    if (!b || !law) {
        return PERP_ERR_MEMORY;
    }
    for (int i = 0; i < holds->count; i++) {
        // b = J H^-1 (B u - C) + J_dot qd + stabilisation                         theory (H1), (H4)
        law[i] = acceleration_law(machine, instant, holds, i);
        for (int k = 0; k < instant->size[i]; k++) {
            int at = instant->at[i] + k;
            const double *J = instant->J + (size_t)instant->nv * (size_t)at;
            b[at] = pp_dot(instant->nv, J, instant->free) + instant->drift[at] +
                    stabilise(machine, instant, &holds->hold[i], instant->at[i], k);
        }
    }
    // Dependent equations are made to agree up to the size of the terms they are sums of:
    // accelerations, and what stabilisation adds for rates and for errors of position of at
    // most the machine's length.
    double eps = machine->options.eps, size = instant->acceleration_scale;
    size += eps < PP_INF ? 2.0 / eps * instant->rate_scale + machine->length / (eps * eps) : 0.0;
    pp_dependent_rows_agree(&instant->ties, size, b);
    return PERP_OK;
}

// Whether friction depends on normal forces. Then another distribution of an
// undetermined load is another motion.
static bool friction_depends_on_load(const pp_laws *laws)
{
    for (int i = 0; i < laws->count; i++) {
        const pp_law *law = &laws->law[i];
        bool by_load = law->kind != PP_LAW_BOX && law->kind != PP_LAW_RUBBING;
        if (by_load && law->mode == PP_SLIDES && law->mu > 0.0 && law->size > 0) {
            return true;
        }
    }
    return false;
}

perp_status pp_accelerate(const pp_machine *machine, const pp_instant *instant,
                          const pp_holds *holds, pp_loads_wanted wanted, double *qdd, double **r,
                          pp_law_info *info, pp_arena *arena)
{
    pp_laws laws;
    *info = (pp_law_info){.wedge = -1};
    *r = PP_ARRAY(arena, double, instant->rows);
    if (!*r) {
        return PERP_ERR_MEMORY;
    }
    perp_status status = pp_instant_laws(&laws, machine, instant, holds, arena);
    if (status < 0) {
        return status;
    }
    // Lawful loads cost a null space; without sliding the motion is the same for all distributions.
    //                                                                                  theory (H19)
    if (wanted == PP_LOADS_LAWFUL || friction_depends_on_load(&laws)) {
        status = pp_law_forces(&laws, *r, info, arena);
    } else {
        status = pp_law_linear(&laws, *r, info, arena);
    }
    if (status < 0) {
        return status;
    }
    // qdd = H^-1 (B u - C) + H^-1 J^T r                                                 theory (H1)
    memcpy(qdd, instant->free, (size_t)instant->nv * sizeof *qdd);
    pp_gemv(instant->nv, instant->rows, 1.0, instant->G, instant->nv, *r, qdd);
    return pp_all_finite((size_t)instant->nv, qdd) ? PERP_OK : PERP_ERR_NUMERIC;
}
