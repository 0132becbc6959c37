// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Torsional and rolling friction of contacts in space: the relative angular velocity about n, and
// about t and o, as rows. Rows are multiplied by the length of the machine, so rates [m/s], forces
// [N] and their scales are comparable with those of sliding.                            theory (H7)
#include "hybrid/moment.h"

#include <math.h>

bool pp_holds_add_turning(pp_holds *holds, const pp_machine *machine, const pp_contact *c,
                          pp_arena *arena)
{
    pp_hold hold = pp_hold_contact(c);
    if (!machine->model->spatial || machine->options.frictionless) {
        return true;
    }
    // Spin before rolling: the components of a cone have this order.                    theory (C3)
    if (c->mu_spin > 0.0) {
        hold.kind = PP_HOLD_SPIN;
        if (!pp_holds_add(holds, hold, arena)) {
            return false;
        }
    }
    if (c->mu_roll > 0.0) {
        hold.kind = PP_HOLD_ROLL;
        if (!pp_holds_add(holds, hold, arena)) {
            return false;
        }
    }
    return true;
}

void pp_turn_rates(const pp_machine *machine, const pp_frame *body, const pp_contact *c,
                   pp_hold_kind kind, double rate[2])
{
    const perp_model *m = machine->model;
    perp_vec3 w = pp_sub(body[m->shape[c->b].body].w, body[m->shape[c->a].body].w);
    w = pp_scale(machine->length, w);
    // Spin has one rate, about n; the second is then not used.
    rate[0] = pp_dot3(w, kind == PP_HOLD_SPIN ? c->n : c->t);
    rate[1] = pp_dot3(w, pp_cross(c->n, c->t));
}

// One body's part of the rate d . w. A body that is not dynamic gives a known rate.
static void add_turn(const perp_model *m, const pp_frame *frame, int index, perp_vec3 d,
                     pp_row *row)
{
    const pp_body *body = &m->body[index];
    if (body->nv == 0) {
        row->rate += pp_dot3(d, frame[index].w);
        return;
    }
    const double full[6] = {0.0, 0.0, 0.0, d.x, d.y, d.z};
    row->body[row->count] = index;
    for (int k = 0; k < body->nv; k++) {
        row->J[row->count][k] = full[body->axis[k]];
    }
    row->count++;
}

// The row of length d . (w_b - w_a): d = n of spin; t (k = 0) or o = n x t (k = 1) of rolling.
void pp_turn_row(const pp_machine *machine, const pp_frame *body, const pp_contact *c,
                 pp_hold_kind kind, int k, pp_row *row)
{
    const perp_model *m = machine->model;
    perp_vec3 d = kind == PP_HOLD_SPIN ? c->n : c->t;
    d = pp_scale(machine->length, k == 0 ? d : pp_cross(c->n, c->t));
    *row = (pp_row){.joint = -1, .force = -1};
    add_turn(m, body, m->shape[c->b].body, d, row);
    add_turn(m, body, m->shape[c->a].body, pp_scale(-1.0, d), row);
}

// Spin has one row, which is the first component.
double pp_instant_spin(const pp_instant *instant, int hold, double turn[2])
{
    const double *rate = instant->rate + instant->at[hold];
    turn[0] = instant->size[hold] > 0 ? rate[0] : 0.0;
    turn[1] = instant->size[hold] > 1 ? rate[1] : 0.0;
    return pp_hypot(turn[0], turn[1]);
}
