// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Whether two convex pieces pass through each other during a step.
//
// A point of a body follows x(s) = p + s move + exp(s turn) r for s in [0, 1]. Over a stretch of
// length l and for a fixed n, n.x(s) differs from its chord by at most |r| |turn|^2 l^2 / 8. The
// same holds for the support of the piece, since a maximum of chords is below the chord of the
// maxima. Hence with one axis n for the stretch
//     separation >= min(separation at its two ends) - bend l^2 / 8 ,
//     bend = r_a |turn_a|^2 + r_b |turn_b|^2                                     n fixed in the world
//     bend = |t_b - t_a| (|t_a| + |t_b|) r_b + 2 |t_a| |u| + |t_a|^2 |d|         n fixed in a, likewise in b
// where u is the relative displacement and d the largest distance of the origins. An axis fixed in
// a body makes a pair that turns together as cheap as one at rest.
//
// Stretches follow one another. Where the axis n of one gives way to the axis m of the next, both
// separate the pieces at that instant, and so does every direction between them, with |n + m|/2
// times the separation. Axes of neighbouring stretches must be less than 120 degrees apart;
// otherwise a sheet without thickness could be crossed by changing from n to -n.
#include "certify/geometry/sweep.h"

#include <float.h>
#include <math.h>

enum { TRIES = 256 };                          // stretches tried for one pair
static const double SHORTEST = 1.0 / 65536.0;  // stretch, as a share of the step
static const double TURN_LEAST = -0.5;         // n.m of axes that follow one another
// The true path between two known ends is not known where bodies turn. Its error may be BEND_MOST
// of the sum of both widths and BEND_THIN of the thinner piece, if that is no sheet, and GRAZE of it: a straight path cuts
// corners.
static const double BEND_MOST = 0.1, BEND_THIN = 0.25, GRAZE = 0.01;
static const double ROUNDING = 1e-9;  // relative, of a depth that two searches find

// ── Bodies ───────────────────────────────────────────────────────────────────────────────────────

// The rotation vector from one orientation to the other, in world axes [rad]. Of those that differ
// by whole turns it is the one nearest to what the angular velocity predicts.
static perp_vec3 turn_between(const pp_frame *start, const pp_frame *end, double h)
{
    perp_vec3 turn = pp_quat_log(pp_quat_mul(end->rot, pp_quat_conjugate(start->rot)));
    perp_vec3 predicted = pp_scale(0.5 * h, pp_add(start->w, end->w));
    double angle = pp_length(turn), full = 2.0 * pp_acos(-1.0);
    // Less than a quarter turn: the shortest rotation is the right one.
    if (!(pp_length(predicted) > 0.25 * full)) {
        return turn;
    }
    perp_vec3 axis = angle > 1e-9 ? pp_scale(1.0 / angle, turn) : pp_unit(predicted, turn);
    double turns = floor((pp_dot3(predicted, axis) - angle) / full + 0.5);
    return isfinite(turns) ? pp_scale(angle + turns * full, axis) : turn;
}

// In the plane angles are not wrapped, and their difference is the rotation.
pp_travel pp_travel_between(const pp_frame *start, const pp_frame *end, double h, bool spatial)
{
    pp_travel t = {{start->p, start->R},
                   {end->p, end->R},
                   pp_sub(end->p, start->p),
                   {0.0, 0.0, 0.0},
                   0.0,
                   start->rot};
    t.turn = spatial ? turn_between(start, end, h) : pp_vec(0.0, 0.0, end->angle - start->angle);
    t.angle = pp_length(t.turn);
    return t;
}

pp_pose pp_travel_at(const pp_travel *t, double part)
{
    // The ends exactly as they are given, without rounding of exp.
    if (part <= 0.0 || part >= 1.0) {
        return part <= 0.0 ? t->start : t->end;
    }
    pp_mat3 turned = pp_quat_matrix(pp_quat_exp(pp_scale(part, t->turn)));
    return (pp_pose){pp_along(t->start.p, part, t->move), pp_mat_mul(&turned, &t->start.R)};
}

// ── Stretches ────────────────────────────────────────────────────────────────────────────────────

// Both pieces at a part of the step.
typedef struct sweep_instant {
    double part;
    pp_placed_convex a, b;
} sweep_instant;

// The examination of one pair; its result goes to out.
typedef struct sweep_run {
    const pp_swept_pair *pair;
    double allowed;
    pp_swept_path *out;
    int tries;
} sweep_run;

void pp_swept_place(const pp_swept_pair *p, double part, pp_placed_convex out[2])
{
    pp_pose A = pp_travel_at(p->of_a, part), B = pp_travel_at(p->of_b, part);
    B.p = pp_sub(B.p, A.p);
    A.p = pp_vec(0.0, 0.0, 0.0);
    out[0] = pp_convex_place(p->a, &A);
    out[1] = pp_convex_place(p->b, &B);
}

// The ends are stored with the pair: they are needed for every pair, other parts for few.
static sweep_instant moment_at(const pp_swept_pair *p, double part)
{
    if (part <= 0.0) {
        return (sweep_instant){0.0, p->start[0], p->start[1]};
    }
    if (part >= 1.0) {
        return (sweep_instant){1.0, p->end[0], p->end[1]};
    }
    pp_placed_convex at[2];
    pp_swept_place(p, part, at);
    return (sweep_instant){part, at[0], at[1]};
}

// The frame in which an axis stays fixed during a stretch.
typedef enum carrier { BY_WORLD, BY_A, BY_B, CARRIERS } carrier;

// Bound on the second derivative of the separation by the part of the step, along an axis that is
// fixed in the given frame [m]. Infinite where the frame cannot hold the axis: that of a half-space
// is fixed in its own body.
static double bend_of(const pp_swept_pair *p, carrier by)
{
    const pp_travel *a = p->of_a, *b = p->of_b;
    bool plane_a = p->a->kind == PP_CONVEX_PLANE, plane_b = p->b->kind == PP_CONVEX_PLANE;
    if (by == BY_WORLD) {
        bool turns = (plane_a && a->angle > 0.0) || (plane_b && b->angle > 0.0);
        if (turns) {
            return HUGE_VAL;
        }
        return p->a->core_reach * a->angle * a->angle + p->b->core_reach * b->angle * b->angle;
    }
    if ((by == BY_A && plane_b) || (by == BY_B && plane_a)) {
        return HUGE_VAL;
    }
    const pp_travel *on = by == BY_A ? a : b, *of = by == BY_A ? b : a;
    double reach = by == BY_A ? p->b->core_reach : p->a->core_reach;
    double relative = pp_length(pp_sub(of->turn, on->turn));
    double move = pp_length(pp_sub(of->move, on->move));
    double distance = pp_length(pp_sub(of->start.p, on->start.p)) + move;
    return relative * (on->angle + of->angle) * reach + 2.0 * on->angle * move +
           on->angle * on->angle * distance;
}

// The axis n after another `parts` of the step.
static perp_vec3 carried(const pp_swept_pair *p, carrier by, perp_vec3 n, double parts)
{
    if (by == BY_WORLD) {
        return n;
    }
    perp_vec3 turn = by == BY_A ? p->of_a->turn : p->of_b->turn;
    pp_mat3 R = pp_quat_matrix(pp_quat_exp(pp_scale(parts, turn)));
    return pp_mul(&R, n);
}

// Whether one axis, given at the part `at`, separates the pieces during a whole stretch. *last: the
// axis that ended the stretch before (0: none); it becomes that of this one on success.
static bool serves(sweep_run *r, const sweep_instant *from, const sweep_instant *to, double at,
                   perp_vec3 n, perp_vec3 *last)
{
    const pp_swept_pair *p = r->pair;
    double length = to->part - from->part;
    if (pp_forced_axis(&from->a, &from->b, &n)) {
        at = from->part;
    }
    if (pp_dot3(n, n) == 0.0) {
        return false;
    }
    for (carrier by = BY_WORLD; by < CARRIERS; by++) {
        if ((by == BY_A && p->of_a->angle == 0.0) || (by == BY_B && p->of_b->angle == 0.0)) {
            continue;  // the same as BY_WORLD
        }
        double bend = bend_of(p, by) * length * length / 8.0;
        perp_vec3 first = carried(p, by, n, from->part - at),
                  end = carried(p, by, n, to->part - at);
        if (!isfinite(bend)) {
            continue;
        }
        // Axes that turn by more than 120 degrees prove nothing about the instant between them.
        if (pp_dot3(*last, *last) > 0.0 && pp_dot3(*last, first) < TURN_LEAST) {
            continue;
        }
        double least =
            fmin(pp_separation(&from->a, &from->b, first), pp_separation(&to->a, &to->b, end));
        if (least - bend >= -r->allowed) {
            r->out->depth = fmax(r->out->depth, -least);
            *last = end;
            return true;
        }
    }
    return false;
}

// The axis is that of the end of the step, where the separation has been found already.
bool pp_swept_quick(const pp_swept_pair *pair, perp_vec3 n, pp_swept_path *out)
{
    *out = (pp_swept_path){.state = PP_SWEPT_CLEAR, .allowed = pair->depth};
    sweep_run r = {pair, pair->depth, out, 0};
    sweep_instant from = moment_at(pair, 0.0), to = moment_at(pair, 1.0);
    perp_vec3 last = {0};
    return serves(&r, &from, &to, 1.0, n, &last);
}

// ── All of the step ──────────────────────────────────────────────────────────────────────────────

// Depth that does not count as passing through [m]: that of the ends, and the uncertainty of the
// path.
static double allowance(const pp_swept_pair *p, double ends)
{
    double wide_a = pp_convex_width(p->a), wide_b = pp_convex_width(p->b);
    double thin = fmin(wide_a, wide_b), through = thin + fmax(wide_a, wide_b);
    double bend = (p->a->core_reach * p->of_a->angle * p->of_a->angle +
                   p->b->core_reach * p->of_b->angle * p->of_b->angle) /
                  8.0;
    double most = BEND_MOST * through;
    most = thin > 0.0 ? fmin(most, BEND_THIN * thin) : most;
    return fmax(p->depth, ends) * (1.0 + ROUNDING) + fmin(bend, most) + GRAZE * thin;
}

// Proves one stretch by the last axis, by the best one at its end, or by the best one at its start.
// Returns false with the separation and axis at the end.
static bool try_stretch(sweep_run *r, const sweep_instant *from, const sweep_instant *to,
                        perp_vec3 *last, double *end_separation, perp_vec3 *end_axis)
{
    perp_vec3 at_start = *last, at_end = *last;
    r->tries++;
    if (serves(r, from, to, from->part, *last, last)) {
        return true;
    }
    *end_separation = pp_axis_search(&to->a, &to->b, HUGE_VAL, &at_end);
    *end_axis = at_end;
    if (serves(r, from, to, to->part, at_end, last)) {
        return true;
    }
    pp_axis_search(&from->a, &from->b, HUGE_VAL, &at_start);
    return serves(r, from, to, from->part, at_start, last);
}

// Goes through the step, doubling the stretch after a success and halving it after a failure.
static void walk(sweep_run *r, const sweep_instant *start)
{
    sweep_instant from = *start;
    perp_vec3 last = {0}, axis = {0};
    double length = 1.0, separation = 0.0;
    bool broken = false;  // the axis had to turn by more than 120 degrees
    while (from.part < 1.0 && r->tries < TRIES) {
        sweep_instant to = moment_at(r->pair, fmin(from.part + length, 1.0));
        if (try_stretch(r, &from, &to, &last, &separation, &axis)) {
            from = to;
            length *= 2.0;
            broken = false;
            continue;
        }
        // No axis separates the pieces at this instant: they are too deep, and so passed through.
        if (separation < -r->allowed) {
            r->out->depth = fmax(r->out->depth, -separation);
            r->out->part = to.part;
            r->out->state = PP_SWEPT_PASSED;
            return;
        }
        broken = pp_dot3(last, axis) < TURN_LEAST;
        if (length <= SHORTEST) {
            break;
        }
        length *= 0.5;
    }
    // Without a proof. A separation that flips within the shortest stretch is a passage through a
    // sheet; anything else stays undecided.
    if (from.part < 1.0) {
        bool passed = broken && length <= SHORTEST;
        r->out->part = from.part;
        r->out->state = passed ? PP_SWEPT_PASSED : PP_SWEPT_UNKNOWN;
        if (passed) {  // a sheet has no depth: the distance beyond it at the end counts
            sweep_instant end = moment_at(r->pair, 1.0);
            double beyond = -pp_separation(&end.a, &end.b, last);
            r->out->depth = fmax(fmax(r->out->depth, beyond), 2.0 * r->allowed);
        }
    }
}

void pp_swept_run(const pp_swept_pair *pair, pp_swept_path *out)
{
    *out = (pp_swept_path){.state = PP_SWEPT_CLEAR};
    sweep_run r = {pair, 0.0, out, 0};
    sweep_instant start = moment_at(pair, 0.0), end = moment_at(pair, 1.0);
    // An overlap at either end is judged as a gap, and is allowed on the path.
    perp_vec3 n = pair->hint, m = pair->hint;
    double first = pp_axis_search(&start.a, &start.b, 0.0, &n);
    double last = pp_axis_search(&end.a, &end.b, 0.0, &m);
    r.allowed = out->allowed = allowance(pair, fmax(-first, -last));
    walk(&r, &start);
}
