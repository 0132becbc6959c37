// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Making rows: the velocity of a point of b relative to a along a direction, and relative rotation.
#include "constraint/row.h"
#include "math/math.h"

#include <math.h>
#include <string.h>

void pp_row_start(pp_row *row)
{
    // Field by field: J is set block by block as bodies come.
    row->count = 0;
    row->value = row->rate = row->shift = row->bias = row->gamma = row->v_pre = 0.0;
    row->restitution = row->bounce_threshold = row->rebound = 0.0;
    row->lower = -PP_INF;
    row->upper = PP_INF;
    row->drives = row->spring = row->middle = row->bounces = false;
    row->stabilised = false;
    row->joint = row->force = row->actuator = -1;
}

// Where a body's block is, made when it is new.
static int block_of(pp_row *row, int body)
{
    int at = 0;
    while (at < row->count && row->body[at] != body) {
        at++;
    }
    if (at == row->count) {
        row->body[row->count++] = body;
        memset(row->J[at], 0, sizeof row->J[at]);
    }
    return at;
}

// Adds (d, moment) to the block of a body; bodies that are not free add their given velocity instead. What comes before
// the step, v_pre, is of the poses.
static void add_block(const pp_row_builder *k, int body, perp_vec3 d, perp_vec3 moment, pp_row *row)
{
    if (k->values_only) {
        return;
    }
    const pp_frame *f = &k->poses->body[body];
    const pp_body *b = &k->model->body[body];
    double rate = pp_dot3(d, f->v) + pp_dot3(moment, f->w);
    row->v_pre += rate;
    if (b->nv == 0) {
        const perp_twist *given = k->given ? &k->given[body] : NULL;
        double over = given ? pp_dot3(d, given->v_W) + pp_dot3(moment, given->w_W) : rate;
        row->rate += over;
        row->v_pre += k->at_end ? over - rate : 0.0;
        return;
    }
    const double all[PP_BODY_NV] = {d.x, d.y, d.z, moment.x, moment.y, moment.z};
    int at = block_of(row, body);
    for (int j = 0; j < b->nv; j++) {
        row->J[at][j] += all[b->axis[j]];
    }
}

// s d . v of the body-fixed point at p:  J = s (d, r x d),  r = p - origin              theory (P3)
void pp_row_point(const pp_row_builder *k, int body, perp_vec3 p, perp_vec3 d, double s,
                  pp_row *row)
{
    perp_vec3 sd = pp_scale(s, d);
    add_block(k, body, sd, pp_cross(pp_sub(p, k->poses->body[body].p), sd), row);
}

void pp_row_spin(const pp_row_builder *k, int body, perp_vec3 d, double s, pp_row *row)
{
    add_block(k, body, pp_vec(0.0, 0.0, 0.0), pp_scale(s, d), row);
}

// row += s other, for phi that are sums: gears, screws.
void pp_row_combine(pp_row *row, double s, const pp_row *other)
{
    row->value += s * other->value;
    row->rate += s * other->rate;
    row->v_pre += s * other->v_pre;
    for (int i = 0; i < other->count; i++) {
        int at = block_of(row, other->body[i]);
        for (int c = 0; c < PP_BODY_NV; c++) {
            row->J[at][c] += s * other->J[i][c];
        }
    }
}

double pp_scheme_theta(pp_scheme scheme)
{
    return scheme.stepper == PERP_STEPPER_MOREAU_JEAN ? scheme.theta : 1.0;
}

// Stretch and rate as the places of the step have them, u = (1 - theta) x'_l + theta x'; theta = 1 but for the
// theta method, which keeps the energy of a linear spring with theta = 1/2:             theory (P5)
//
//   p = -h (K (x + theta h u) + C u)
//   <=>   x' + (K x + (theta h K + C) (1 - theta) x'_l) / s + p / (h s) = 0,   s = theta (theta h K + C)
bool pp_row_soften(pp_row *row, double K, double C, double h, double theta)
{
    double stiff = theta * h * K + C, slope = theta * stiff;
    if (!(slope > 0.0)) {
        return false;
    }
    row->bias = (K * row->value + stiff * (1.0 - theta) * row->v_pre) / slope;
    row->gamma = 1.0 / (h * slope);
    row->spring = true;
    return true;
}

bool pp_actuator_gives_way(const pp_actuator *a)
{
    double gear = a->gear, K = -gear * gear * a->bias[1], C = -gear * gear * a->bias[2];
    return K >= 0.0 && C >= 0.0 && K + C > 0.0;
}

// As a spring about its rest, of which the effort e_0 is part of the bias:              theory (A1)
//
//   p = h (e_0 - K (x + theta h u) - C u),   u = (1 - theta) x'_l + theta x'
//
// An effort that does not depend on the motion has a row whose bounds are one number.
void pp_row_actuate(pp_row *row, const pp_actuator *a, double control, double h, double theta)
{
    double gear = a->gear, K = -gear * gear * a->bias[1], C = -gear * gear * a->bias[2];
    double effort = gear * (a->gain * control + a->bias[0]);
    double low = h * fmin(gear * a->lower, gear * a->upper);
    double high = h * fmax(gear * a->lower, gear * a->upper);
    row->drives = true;
    if (K >= 0.0 && C >= 0.0 && pp_row_soften(row, K, C, h, theta)) {
        row->bias -= h * effort * row->gamma;
        row->lower = low;
        row->upper = high;
        return;
    }
    // A gain of the wrong sign has no implicit form that is stable: taken at the start of the step.
    double p = h * (effort - K * row->value - C * row->v_pre);
    row->lower = row->upper = pp_clamp(p, low, high);
}

// J nu of one body, the sum in the order of the components; unrolled for bodies of space.
static inline double dot_body(const pp_body *body, const double *J, const double *nu, double sum)
{
    if (body->nv == 6) {
        return sum + J[0] * nu[0] + J[1] * nu[1] + J[2] * nu[2] + J[3] * nu[3] + J[4] * nu[4] +
               J[5] * nu[5];
    }
    for (int j = 0; j < body->nv; j++) {
        sum += J[j] * nu[j];
    }
    return sum;
}

double pp_row_rate(const perp_model *model, const pp_row *row, const double *nu)
{
    double sum = row->rate;
    for (int k = 0; k < row->count; k++) {
        const pp_body *body = &model->body[row->body[k]];
        sum = dot_body(body, row->J[k], nu + body->at, sum);
    }
    return sum;
}

// y += s x
static inline void add_body(int nv, double s, const double *x, double *y)
{
    if (nv == 6) {
        pp_add6(s, x, y);
        return;
    }
    for (int j = 0; j < nv; j++) {
        y[j] += s * x[j];
    }
}

// nu += s J^T, or s M^-1 J^T with masses: momentum or velocity of an impulse s along the row.
void pp_row_add(const perp_model *model, const pp_row *row, double s, const pp_inertia *mass,
                double *nu)
{
    for (int k = 0; k < row->count; k++) {
        const pp_body *body = &model->body[row->body[k]];
        const double *J = row->J[k];
        double moved[PP_BODY_NV];
        if (mass) {
            pp_body_solve(body, &mass[row->body[k]], J, moved);
            J = moved;
        }
        add_body(body->nv, s, J, nu + body->at);
    }
}

// J M^-1 J^T, the inverse of the mass that an impulse along the row moves [1/kg or 1/(kg m^2)].
double pp_row_mobility(const perp_model *model, const pp_inertia *mass, const pp_row *row)
{
    double sum = 0.0;
    for (int k = 0; k < row->count; k++) {
        const pp_body *body = &model->body[row->body[k]];
        double moved[PP_BODY_NV];
        pp_body_solve(body, &mass[row->body[k]], row->J[k], moved);
        sum = dot_body(body, row->J[k], moved, sum);
    }
    return sum;
}

// J_a M^-1 J_b^T: how fast a moves for a unit impulse along b. Only bodies in both rows contribute.
double pp_row_coupling(const perp_model *model, const pp_inertia *mass, const pp_row *a,
                       const pp_row *b)
{
    double sum = 0.0;
    for (int i = 0; i < b->count; i++) {
        double moved[PP_BODY_NV];
        bool made = false;
        for (int j = 0; j < a->count; j++) {
            if (a->body[j] != b->body[i]) {
                continue;
            }
            const pp_body *body = &model->body[b->body[i]];
            if (!made) {
                pp_body_solve(body, &mass[b->body[i]], b->J[i], moved);
                made = true;
            }
            sum = dot_body(body, a->J[j], moved, sum);
        }
    }
    return sum;
}

// Touches after a share of the step. Rounding does not open a contact that rests: a millionth of what gravity
// closes in a step is nothing.
static bool closes(const pp_row *row, double h, double share)
{
    return row->value + share * h * row->v_pre <= 1e-6 * h * row->bounce_threshold;
}

// The same within half a step, with what gravity does in it, g h^2/8. What rests or rolls stays in contact, though its
// gap is off by the order of the scheme; else it would fall for a step, and hit.
static bool closes_by_half(const pp_row *row, double h)
{
    bool slow = fabs(row->v_pre) <= 1e-3 * row->bounce_threshold;
    return closes(row, h, 0.5) ||
           (slow && row->value + 0.5 * h * row->v_pre <= 0.0625 * h * row->bounce_threshold);
}

// Change of the row's rate in the step by external impulses alone, J M^-1 p_ext [m/s].
double pp_row_force_rate(const perp_model *m, const pp_kinematics *kin, const pp_row *row)
{
    double sum = 0.0;
    for (int e = 0; e < row->count; e++) {
        const pp_body *body = &m->body[row->body[e]];
        double dv[PP_BODY_NV];
        pp_body_solve(body, &kin->mass[row->body[e]], kin->loads.p_ext + body->at, dv);
        for (int c = 0; c < body->nv; c++) {
            sum += row->J[e][c] * dv[c];
        }
    }
    return sum;
}

// The rate after a rebound that happens within the step.                                theory (P14)
//
// Under a constant pull a = -push/h the steps u -= a h, gap += h u keep E = u^2/2 + a gap - a h u/2, the
// energy of the parabola through their points. The rebound leaves e^2 of it, at the height gap + h u.
static double rebound_rate(const pp_row *row, double h, double push)
{
    double plain = -row->restitution * row->v_pre, a = -push / h;
    double gap = row->value > 0.0 ? row->value : 0.0;
    if (!(a > 0.0)) {
        return plain;
    }
    double E = 0.5 * row->v_pre * row->v_pre + a * gap - 0.5 * a * h * row->v_pre;
    double left = 0.25 * a * a * h * h - 2.0 * a * gap;
    left += 2.0 * row->restitution * row->restitution * E;
    double u = left > 0.0 ? sqrt(left) - 0.5 * a * h : 0.0;
    return u > 0.0 ? u : plain;
}

// Sets bias and rebound of a unilateral row by the scheme; false: the scheme leaves the row out.
//
//   Stewart-Trinkle:  gap / h + J nu >= 0, a condition on the gap at the end of the step
//   Anitescu-Potra, Moreau-Jean:  J nu + e J nu_before >= 0, for rows whose gap closes (in the middle of the step)
//
// A row bounces when it approaches faster than `rest` [m/s]; below that, restitution would keep a resting body in small
// jumps for ever.
bool pp_row_unilateral(pp_row *row, double h, double push, pp_scheme scheme)
{
    bool bounces = row->restitution > 0.0 && row->v_pre < -row->bounce_threshold;
    double whole = pp_scheme_whole(scheme, h);
    bool newton = scheme.impact == PERP_IMPACT_NEWTON;
    switch (scheme.stepper) {
    case PERP_STEPPER_ANITESCU_POTRA:
    case PERP_STEPPER_MOREAU_JEAN:
        row->bounces =
            bounces && (scheme.stepper == PERP_STEPPER_MOREAU_JEAN ? closes_by_half(row, h)
                                                                   : closes(row, h, 1.0));
        row->rebound = bounces ? -row->restitution * row->v_pre : 0.0;
        row->bias = newton ? -row->rebound : 0.0;
        return row->bounces || (scheme.stepper == PERP_STEPPER_MOREAU_JEAN ? closes_by_half(row, h)
                                                                           : closes(row, h, 0.0));
    case PERP_STEPPER_STEWART_TRINKLE:
    case PERP_STEPPER_QUASISTATIC:
    case PERP_STEPPER_EVENT:
    case PERP_STEPPER_IMPLICIT:
        break;
    }
    // An impact happens at once, whatever gap is left: what bounces has lost its speed first.
    row->bounces = bounces && row->value + h * (row->v_pre + fmin(push, 0.0)) <= 0.0;
    row->rebound = row->bounces ? rebound_rate(row, h, push) : 0.0;
    if (!row->bounces) {
        double value = scheme.rates ? fmax(row->value, 0.0) : row->value;
        // where the step ends, an overlap is closed by its end
        row->bias = value / (value < 0.0 && !scheme.start ? whole : h);
    } else {
        row->bias = newton ? -row->rebound : 0.0;
    }
    return true;
}

// First row of the joint by bisection; rows of joints come first, in the order of the joints.
int pp_rows_of_joint(const pp_row *row, int from, int count, int joint)
{
    while (from < count) {
        int middle = from + (count - from) / 2;
        if (row[middle].joint >= 0 && row[middle].joint < joint) {
            from = middle + 1;
        } else {
            count = middle;
        }
    }
    return from;
}
