// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Sticking contacts between bodies that turn together. Rows are tangents: such bodies leave each other by (h omega)^2 / 2
// times their distance in a step, although no contact between them slips. This drift of a sticking contact is
// worked off in the next step, as a bias of its friction rows.                          theory (P17)
//
// Seen from axes that turn by theta_f, as the two bodies do together, D = c_b - c_a goes to R_f^T D', of which
// rows know D' - D - theta_f x D. The rest is the same for all points of two bodies, so that redundant contacts agree:
//
//   left = (R_f^T - 1 + theta_f x) D + (R_f^T - 1)(D' - D),     hold' = R_f (left + (1 - theta)(hold + h u_l))
//
// u_l, the slip that the old velocities have where the step starts, counts for the theta method only. Where nothing
// turns, or what turns rolls on what does not, theta_f = 0 and nothing is held.
#include "sim/step/parts.h"

#include <math.h>

// The other schemes have rows of velocities only, which beside joints have no term that a drift
// could be worked off by; and in space the theta method takes contacts in the middle of the step.
static bool may_hold(const perp_sim *sim)
{
    bool middle = sim->def.stepper == PERP_STEPPER_MOREAU_JEAN && sim->model->spatial;
    // the implicit step measures slip by what moved
    return sim->def.stepper != PERP_STEPPER_QUASISTATIC &&
           sim->def.stepper != PERP_STEPPER_IMPLICIT && !middle &&
           (sim->def.stepper == PERP_STEPPER_STEWART_TRINKLE || sim->step.row.nb == 0);
}

// The turn of a body in the step as a rotation vector in world axes [rad].
static perp_vec3 rotation_vector(const perp_sim *sim, int body)
{
    const pp_frame *from = &sim->step.kin.poses.body[body], *to = &sim->step.end.body[body];
    if (!sim->model->spatial) {
        return pp_vec(0.0, 0.0, to->angle - from->angle);
    }
    if (pp_same_bits(&from->rot, &to->rot, sizeof from->rot)) {
        return pp_vec(0.0, 0.0, 0.0);
    }
    return pp_quat_log(pp_quat_mul(to->rot, pp_quat_conjugate(from->rot)));
}

// The turn that both make together: all of it where they turn alike, nothing where one does not
// turn.
static perp_vec3 common_turn(perp_vec3 a, perp_vec3 b)
{
    double square = pp_dot3(a, a) + pp_dot3(b, b), product = pp_dot3(a, b);
    return product > 0.0 ? pp_scale(product / square, pp_add(a, b)) : pp_vec(0.0, 0.0, 0.0);
}

// Drift between the two bodies of a contact in the step, in axes of its start; *R: how these axes
// turn. False: none.
static bool left_behind(const perp_sim *sim, const pp_contact *c, perp_vec3 *left, pp_mat3 *R)
{
    const pp_step *s = &sim->step;
    int a = sim->model->shape[c->a].body, b = sim->model->shape[c->b].body;
    perp_vec3 theta = common_turn(rotation_vector(sim, a), rotation_vector(sim, b));
    if (pp_dot3(theta, theta) == 0.0) {
        return false;
    }
    perp_vec3 D = pp_sub(s->kin.poses.body[b].p, s->kin.poses.body[a].p);
    perp_vec3 then = pp_sub(s->end.body[b].p, s->end.body[a].p);
    *R = pp_quat_matrix(pp_quat_exp(theta));
    perp_vec3 seen = pp_sub(pp_mul_t(R, then), then);  // (R^T - 1)(D + D' - D)
    *left = pp_add(seen, pp_cross(theta, D));
    return true;
}

static const pp_friction *sliding_group(const pp_rows *rows, int n)
{
    for (int g = 0; g < rows->grouped[n]; g++) {
        const pp_friction *group = &rows->group[rows->friction[n] + g];
        if (group->kind == PP_SLIDE) {
            return group;
        }
    }
    return NULL;
}

// Directions of the rows of a sliding group in the world, and the factors of these rows
// (anisotropic friction).
static void group_directions(const pp_contact *c, const pp_friction *group, perp_vec3 d[2],
                             double scale[2])
{
    scale[0] = scale[1] = 1.0;
    if (group->size == 2) {
        pp_friction_scales(c, scale);
    }
    d[0] = c->t;
    d[1] = pp_cross(c->n, c->t);
}

void pp_sim_stick_bias(perp_sim *sim)
{
    pp_rows *rows = &sim->step.row;
    int next = 0;
    if (!may_hold(sim) || sim->warm_count == 0) {
        return;
    }
    for (int i = 0; i < rows->nc; i++) {
        const pp_contact *c = &sim->step.gap.contact[rows->contact[i]];
        const pp_warm *w = pp_sim_warm_of(sim, c, &next);
        const pp_friction *group = sliding_group(rows, i);
        if (!w || !group || c->locked) {
            continue;
        }
        perp_vec3 d[2], hold = {w->hold[0], w->hold[1], w->hold[2]};
        double scale[2];
        group_directions(c, group, d, scale);
        for (int k = 0; k < group->size; k++) {
            rows->t[group->t + k].bias = scale[k] * pp_dot3(d[k], hold) / sim->pace;
        }
    }
}

// The contact's sliding friction rows as a vector in the world [m/s]: their biases, or the slip at
// the start of the step.
static perp_vec3 row_vector(const perp_sim *sim, int n, bool before)
{
    const pp_rows *rows = &sim->step.row;
    const pp_friction *group = sliding_group(rows, n);
    perp_vec3 d[2], sum = {0.0, 0.0, 0.0};
    double scale[2];
    if (!group) {
        return sum;
    }
    group_directions(&sim->step.gap.contact[rows->contact[n]], group, d, scale);
    for (int k = 0; k < group->size; k++) {
        const pp_row *row = &rows->t[group->t + k];
        double rate = before ? row->v_pre : row->bias;
        sum = pp_along(sum, scale[k] > 0.0 ? rate / scale[k] : 0.0, d[k]);
    }
    return sum;
}

perp_vec3 pp_sim_stick_rate(const perp_sim *sim, int n)
{
    return row_vector(sim, n, false);
}

// No slip beyond what the solver's tolerance leaves, or no load.
bool pp_sim_contact_sticks(const perp_sim *sim, int n)
{
    const pp_step *s = &sim->step;
    const pp_friction *group = sliding_group(&s->row, n);
    double slip[2], still = fmax(1e-9, 10.0 * sim->def.tolerance);
    if (!(s->answer.pn[n] > 0.0)) {
        return true;
    }
    if (!group) {
        return false;
    }
    pp_friction_slip(sim->model, &s->row, group, s->answer.nu, slip);
    return pp_length2(slip[0], slip[1]) <= still;
}

// Whether all points between two shapes stick: rows of one pair stand one after the other.
static bool all_stick(const perp_sim *sim, int n)
{
    const pp_rows *rows = &sim->step.row;
    const pp_contact *list = sim->step.gap.contact, *c = &list[rows->contact[n]];
    int from = n;
    while (from > 0 && list[rows->contact[from - 1]].a == c->a &&
           list[rows->contact[from - 1]].b == c->b) {
        from--;
    }
    for (int i = from; i < rows->nc; i++) {
        const pp_contact *other = &list[rows->contact[i]];
        if (other->a != c->a || other->b != c->b) {
            break;
        }
        if (!pp_sim_contact_sticks(sim, i)) {
            return false;
        }
    }
    return true;
}

// Whether a contact was closed where the step started, up to what rests moves in a step. What meets within the step, maybe
// far from there, has held nothing.
static bool was_closed(const perp_sim *sim, int n)
{
    const pp_row *row = &sim->step.row.n[n];
    return row->value <= fmax(pp_closed_gap(sim->model), sim->pace * row->bounce_threshold);
}

// Where a point of the two shapes slips, carries nothing or was open, nothing is held.
perp_vec3 pp_sim_stick_offset_next(const perp_sim *sim, int n, pp_pair_hold *pair)
{
    const pp_step *s = &sim->step;
    const pp_contact *c = &s->gap.contact[s->row.contact[n]];
    perp_vec3 none = {0.0, 0.0, 0.0};
    if (!may_hold(sim) || !(s->answer.pn[n] > 0.0) || !was_closed(sim, n)) {
        return none;
    }
    if (pair->a != c->a || pair->b != c->b) {
        *pair = (pp_pair_hold){.a = c->a, .b = c->b};
        pair->holds = all_stick(sim, n) && left_behind(sim, c, &pair->left, &pair->R);
    }
    if (!pair->holds) {
        return none;
    }
    // theta method: (1 - theta) of the old bias and of the slip of the old velocities is still to
    // be moved; where nothing was held that slip was one, which friction has ended
    double theta = sim->def.stepper == PERP_STEPPER_MOREAU_JEAN ? sim->def.theta : 1.0;
    perp_vec3 old = pp_scale(sim->pace, row_vector(sim, n, false));
    if (pp_dot3(old, old) > 0.0) {
        old = pp_along(old, s->kin.h, row_vector(sim, n, true));
    }
    return pp_mul(&pair->R, pp_along(pair->left, 1.0 - theta, old));
}
