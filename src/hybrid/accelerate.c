// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Laws of an instant and the accelerations they give.                        theory (H4), (H5), (H6)
//
//   position:  J qdd + J_dot qd + 2/eps phi_d + phi/eps^2 = 0       (limits and contacts: >= 0)
//   velocity:  J qdd + drift + 1/eps psi = 0
#include "hybrid/moment.h"

#include <math.h>
#include <string.h>

static const double SLOW =
    1e-7;  // a direction of sliding that has begun counts as so much slip [m/s]

static void smooth_direction(double slip[2], const double begun[2], double d[2])
{
    double speed = hypot(slip[0], slip[1]), along = slip[0] * begun[0] + slip[1] * begun[1];
    double weight = along > 0.0 ? SLOW / (1.0 + speed * speed / (SLOW * SLOW)) : 1.0;
    for (int k = 0; k < 2; k++) {
        slip[k] = (along > 0.0 ? slip[k] : 0.0) + weight * begun[k];
    }
    speed = hypot(slip[0], slip[1]);
    d[0] = speed > 0.0 ? slip[0] / speed : 1.0;
    d[1] = speed > 0.0 ? slip[1] / speed : 0.0;
}

// Direction of sliding in (t, o): that of the slip itself, once there is some; on the way from and to zero
// that in which it went. Between them it turns smoothly, since slip from rest is stiff: its direction
// follows the forces the faster the slower it is.
static void sliding(const pp_instant *instant, const pp_holds *holds, int i, double d[2])
{
    const pp_hold *hold = &holds->hold[i];
    const pp_contact *c = &instant->contact[i];
    d[0] = hold->d;
    d[1] = 0.0;
    if (instant->size[i] < 3) {
        return;
    }
    double slip[2];
    pp_instant_slip(instant, i, slip);
    double begun[2] = {pp_dot3(hold->d_W, c->t), pp_dot3(hold->d_W, pp_cross(c->n, c->t))};
    smooth_direction(slip, begun, d);
}

// The same of spinning and rolling.
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

static pp_law acceleration_law(const pp_machine *machine, const pp_instant *instant,
                               const pp_holds *holds, int i)
{
    const pp_hold *hold = &holds->hold[i];
    const pp_joint *joint = machine->model->joint;
    pp_law law = {.at = instant->at[i], .size = instant->size[i], .mode = hold->mode};
    switch (hold->kind) {
    case PP_HOLD_MOTOR:
    case PP_HOLD_DRY:
        law.kind = hold->mode == PP_SLIDES ? PP_LAW_RUBBING : PP_LAW_BOX;
        law.bound = hold->kind == PP_HOLD_DRY ? joint[hold->joint].friction
                                              : joint[hold->joint].rate_effort;
        law.d[0] = hold->d;
        break;
    case PP_HOLD_LIMIT:
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

// What stabilisation asks of a row beyond its second derivative.                        theory (H4)
static double stabilise(const pp_machine *machine, const pp_instant *instant, const pp_hold *hold,
                        int at, int k)
{
    double eps = machine->options.eps, rate = instant->rate[at + k];
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
        law[i] = acceleration_law(machine, instant, holds, i);
        for (int k = 0; k < instant->size[i]; k++) {
            int at = instant->at[i] + k;
            const double *J = instant->J + (size_t)instant->nv * (size_t)at;
            b[at] = pp_dot(instant->nv, J, instant->free) + instant->drift[at] +
                    stabilise(machine, instant, &holds->hold[i], instant->at[i], k);
        }
    }
    double eps = machine->options.eps, size = instant->acceleration_scale;
    size += eps < PP_INF ? 2.0 / eps * instant->rate_scale + machine->length / (eps * eps) : 0.0;
    pp_dependent_rows_agree(&instant->ties, size, b);
    return PERP_OK;
}

// Whether friction depends on loads: then another share of these is another motion.
static bool slides(const pp_laws *laws)
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
    perp_status status =
        *r ? pp_instant_laws(&laws, machine, instant, holds, arena) : PERP_ERR_MEMORY;
    if (status < 0) {
        return status;
    }
    status = wanted == PP_LOADS_LAWFUL || slides(&laws) ? pp_law_forces(&laws, *r, info, arena)
                                                        : pp_law_linear(&laws, *r, info, arena);
    if (status < 0) {
        return status;
    }
    memcpy(qdd, instant->free, (size_t)instant->nv * sizeof *qdd);
    pp_gemv(instant->nv, instant->rows, 1.0, instant->G, instant->nv, *r, qdd);
    return pp_all_finite((size_t)instant->nv, qdd) ? PERP_OK : PERP_ERR_NUMERIC;
}
