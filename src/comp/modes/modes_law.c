// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Contacts by their modes: semismooth Newton on the map of Alart and Curnier (C21), in the space of
// velocities.                                                                               theory (S8)
//
// The modes, the residual of each contact and its linearised law. The loop over Newton's steps is in modes_walk.c, the
// linear system of bodies in modes_bodies.c.
#include "comp/modes/modes.h"

#include <math.h>

static double sqr(double x)
{
    return x * x;
}

// Outward unit normal of the edge of the friction polygon in whose sector x lies.
// Vertices are at multiples of 2 pi / sides, so normals are halfway between.
static void edge_at(const pp_mode_friction *f, const double x[2], double n[2])
{
    double width = 6.283185307179586 / f->sides;
    double middle = (floor(pp_atan2(x[1], x[0]) / width) + 0.5) * width;
    n[0] = pp_cos(middle);
    n[1] = pp_sin(middle);
}

// Whether x is outside the friction set of radius `limit`. slip: |x|^2, for discs.
static bool is_beyond(const pp_mode_friction *f, const double x[2], double limit, double slip)
{
    double n[2];
    if (f->sides == 0) {
        return slip > sqr(limit);
    }
    edge_at(f, x, n);
    return n[0] * x[0] + n[1] * x[1] > pp_cos(3.141592653589793 / f->sides) * limit;
}

// Linearisation of the projection of x onto the friction set, which slips with x = p - rho u. Disc: e = x / |x|, and
// the derivative of the projection across e is limit / |x| = share. Polygon: the nearest point is a vertex, where the
// derivative is 0, or on an edge, along which the contact sticks.                       theory (C38)
static void set_slip(pp_mode_friction *f, const double x[2], double limit, double length)
{
    f->edge = false;
    f->grip = f->mu;
    if (f->sides == 0) {
        f->e[0] = x[0] / length;
        f->e[1] = x[1] / length;
        f->share = limit / length;
        return;
    }
    double angle = 3.141592653589793 / f->sides, apothem = pp_cos(angle), half = pp_sin(angle),
           n[2];
    edge_at(f, x, n);
    double along = n[0] * x[1] - n[1] * x[0];
    f->edge = fabs(along) < half * limit;
    // On an edge e is its normal; at a vertex it is that vertex, the normal turned by +- pi / sides.
    double side = 0.0, out = 1.0;
    if (!f->edge) {
        side = along > 0.0 ? half : -half;
        out = apothem;
    }
    f->e[0] = out * n[0] - side * n[1];
    f->e[1] = out * n[1] + side * n[0];
    f->grip = f->edge ? apothem * f->mu : f->mu;
    f->share = 0.0;
}

// The same of a boxed row: u = 0 within its bounds, p at one of them otherwise.
static double set_box_mode(pp_modes *s, pp_mode_contact *c)
{
    double p = *c->p, x = p - c->u[0] / c->mobility, error = c->u[0];
    pp_contact_mode mode = PP_MODE_STICK;
    if (x < c->lower) {
        mode = PP_MODE_LOWER;
        error = (p - c->lower) * c->mobility;
    } else if (x > c->upper) {
        mode = PP_MODE_UPPER;
        error = (p - c->upper) * c->mobility;
    }
    s->factored = s->factored && mode == c->mode;
    c->mode = mode;
    return sqr(c->weight * error);
}

// Whether a set of friction rows sticks or slips at (p, u), by x = p - rho u and the normal's x_n: it slips for x outside
// mu x_n B. Returns how far it is from the law of that, squared [m^2/s^2]. The factors stay valid (s->factored) while
// nothing changes and no set slips on a disc, whose e turns from step to step.
static double set_friction_mode(pp_modes *s, pp_mode_friction *f, const double *u, double x_n,
                                double p_n, const double *p)
{
    double rho = 1.0 / f->mobility, x[2] = {0.0, 0.0}, slip = 0.0, error = 0.0;
    for (int k = 0; k < f->size; k++) {
        x[k] = p[k] - rho * u[k];
        slip += sqr(x[k]);
    }
    double limit = f->mu * x_n;
    bool slips = is_beyond(f, x, limit, slip);
    s->factored = s->factored && slips == f->slips && (!slips || f->sides > 0);
    f->slips = slips;
    if (!slips) {  // u = 0
        for (int k = 0; k < f->size; k++) {
            error += sqr(f->arm * u[k]);
        }
        return error;
    }
    // p = mu p_n e; on an edge the slip along it vanishes as well, and the part of p along the edge is free
    double last[2] = {f->e[0], f->e[1]}, aside = 0.0, unit = f->mobility * f->arm;
    set_slip(f, x, limit, sqrt(slip));
    s->factored = s->factored && last[0] == f->e[0] && last[1] == f->e[1];
    if (f->edge) {
        error += sqr(f->arm * (f->e[0] * u[1] - f->e[1] * u[0]));
        aside = f->e[0] * p[1] - f->e[1] * p[0];
    }
    for (int k = 0; k < f->size; k++) {
        double across = k == 0 ? -f->e[1] : f->e[0];
        double wanted = fmax(p_n, 0.0) * f->grip * f->e[k] + aside * across;
        error += sqr((p[k] - wanted) * unit);
    }
    return error;
}

// Mode of a contact at (p, u), by x = p - rho u: open for x_n <= 0. Returns how far the contact is from the law of its
// mode, squared [m^2/s^2]; errors of impulses count times the mobility.
static double set_mode(pp_modes *s, pp_mode_contact *c, double pn, const double *pt)
{
    double rho = 1.0 / c->mobility, x_n = pn - rho * c->u[0], error;
    pp_contact_mode mode = x_n > 0.0 ? PP_MODE_STICK : PP_MODE_OPEN;
    if (mode == PP_MODE_OPEN) {  // p = 0
        s->factored = s->factored && mode == c->mode;
        c->mode = mode;
        error = sqr(pn);
        for (int g = 0; g < c->sets; g++) {
            pp_mode_friction *f = &c->friction[g];
            f->slips = false;
            for (int k = 0; k < f->size; k++) {
                error += sqr(pt[f->first - 1 + k] / f->arm);
            }
        }
        return error * sqr(c->mobility);
    }
    error = sqr(c->u[0]);
    for (int g = 0; g < c->sets; g++) {
        pp_mode_friction *f = &c->friction[g];
        error += set_friction_mode(s, f, c->u + f->first, x_n, pn, pt + f->first - 1);
        mode = f->slips ? PP_MODE_SLIP : mode;
    }
    s->factored = s->factored && mode == c->mode;
    c->mode = mode;
    return error;
}

// dp = c - K J dnu of a set that slips, c of the normal given. Along e friction follows the normal
// impulse: the constant part is what p lacks of mu p_n e. Across e the projection of a disc
// has the slope `share`, by which the part of p is divided by 1 - share + share alpha rho; on an edge of a
// polygon it sticks.
static void linearise_slip(const pp_modes *s, pp_mode_contact *c, pp_mode_friction *f, double pn,
                           const double *pt)
{
    const double *p = pt + f->first - 1, *u = c->u + f->first;
    double along = 0.0, across = 0.0, side[2] = {0.0, 0.0};
    f->k_f = 0.0;
    for (int k = 0; k < f->size; k++) {
        along += f->e[k] * p[k];
    }
    if (f->size == 2) {
        double rest = 1.0 - f->share + f->share * s->proximal;
        side[0] = -f->e[1];
        side[1] = f->e[0];
        across = (side[0] * p[0] + side[1] * p[1]) / rest;
        f->k_f = f->share / (f->mobility * rest);
    }
    if (f->edge) {
        across = f->stiffness * (side[0] * u[0] + side[1] * u[1]);
        f->k_f = f->stiffness;
    }
    double missing = f->grip * pn - along + f->grip * c->c[0];
    for (int k = 0; k < f->size; k++) {
        c->c[f->first + k] = missing * f->e[k] - across * side[k];
    }
}

// The linear laws of all contacts in their modes, for the proximal term s->proximal.     theory
// (S8)
static void linearise(pp_modes *s)
{
    for (int i = 0; i < s->count; i++) {
        pp_mode_contact *c = &s->contact[i];
        double pn = *c->p;
        const double *pt = c->pt;
        c->stiffness = 1.0 / (s->proximal * c->mobility + c->gamma);
        if (c->mode == PP_MODE_LOWER || c->mode == PP_MODE_UPPER) {
            c->c[0] = (c->mode == PP_MODE_LOWER ? c->lower : c->upper) - pn;
            continue;
        }
        // K of an open contact is 0: its stiffness is set, but move_impulses multiplies it by 0.
        c->c[0] = c->mode == PP_MODE_OPEN ? -pn : -c->stiffness * c->u[0];
        for (int g = 0; g < c->sets; g++) {
            pp_mode_friction *f = &c->friction[g];
            f->stiffness = f->moment ? 1.0 / (s->proximal * f->mobility) : c->stiffness;
            for (int k = f->first; k < f->first + f->size; k++) {
                c->c[k] = c->mode == PP_MODE_OPEN ? -pt[k - 1] : -f->stiffness * c->u[k];
            }
            if (f->slips) {
                linearise_slip(s, c, f, pn, pt);
            }
        }
    }
}

// u = J nu + rate + bias of every contact [m/s], and with it the modes. A NaN counts as the worst
// error: it must not pass a comparison that looks for small ones. s->scale is the largest speed in play, which rounding is
// measured by; that of impulses that were left again does not count.
double pp_modes_evaluate(pp_modes *s)
{
    double worst = 0.0;
    s->scale = s->least_scale;
    s->system->velocities(s);
    for (int i = 0; i < s->count; i++) {
        pp_mode_contact *c = &s->contact[i];
        double pn = *c->p;
        c->u[0] = s->system->rate(s, c, 0) + c->bias[0] + c->gamma * pn;
        for (int k = 0; k < c->size; k++) {
            c->u[k + 1] = s->system->rate(s, c, k + 1) + c->bias[k + 1];
        }
        double error = c->boxed ? set_box_mode(s, c) : set_mode(s, c, pn, c->pt);
        worst = error > worst || isnan(error) ? error : worst;
        double speed = fmax(fabs(pn) * c->mobility, fabs(c->gap_rate));
        s->scale = fmax(s->scale, c->weight * speed);
    }
    return sqrt(worst);
}

// p += c - K J dnu.
static void move_impulses(pp_modes *s)
{
    for (int i = 0; i < s->count; i++) {
        pp_mode_contact *c = &s->contact[i];
        double *pt = c->pt, u[PP_MODE_ROWS] = {0.0};
        bool closed = c->mode == PP_MODE_STICK || c->mode == PP_MODE_SLIP;
        int rows = closed ? c->size + 1 : 0;
        for (int k = 0; k < rows; k++) {
            u[k] = s->system->step_rate(s, c, k);
        }
        *c->p += c->c[0] - c->stiffness * u[0];
        for (int g = 0; g < c->sets; g++) {
            const pp_mode_friction *f = &c->friction[g];
            const double *v = u + f->first;
            double across =
                f->slips && f->size == 2 ? f->k_f * (f->e[0] * v[1] - f->e[1] * v[0]) : 0.0;
            for (int k = 0; k < f->size; k++) {
                double follows = 0.0;  // component k of K J dnu
                if (f->slips) {
                    follows = f->grip * c->stiffness * u[0] * f->e[k] +
                              across * (k == 0 ? -f->e[1] : f->e[0]);
                } else if (closed) {
                    follows = f->stiffness * v[k];
                }
                pt[f->first - 1 + k] += c->c[f->first + k] - follows;
            }
        }
    }
}

void pp_modes_use_slop(pp_modes *s, double width)
{
    width = s->most_slop > 0.0 ? fmin(s->most_slop, width) : width;
    for (int i = 0; i < s->count; i++) {
        pp_mode_contact *c = &s->contact[i];
        if (c->has_slop) {
            c->bias[0] = c->gap_rate - pp_clamp(c->gap_rate, -width, width);
        }
    }
}

// With the factors of the last step while they serve: nothing has changed in the matrix.
bool pp_modes_solve_step(pp_modes *s)
{
    if (s->system->is_over(s)) {
        return false;
    }
    bool factors = !s->factored;
    if ((factors && !s->system->factor(s)) || !s->system->solve(s)) {
        return false;
    }
    if (factors) {
        pp_meter_factor(s->meter, s->flops);
    }
    s->steps++;
    return true;
}

// One Newton step at fixed modes. With unchanged modes the factors of the last step serve:
// then it is a refinement, and costs a solve.
bool pp_modes_step(pp_modes *s)
{
    if (s->steps_most > 0 && s->steps >= s->steps_most) {
        return false;
    }
    linearise(s);
    s->system->push(s);
    if (!pp_modes_solve_step(s)) {
        return false;
    }
    move_impulses(s);
    return true;
}
