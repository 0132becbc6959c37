// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// For how long no two shapes can have met: conservative advancement (Mirtich 1996).    theory (H13)
//
// Two shapes separated by a gap do not touch before gap / speed, where speed bounds the velocity at
// which any point of one approaches the other. Gaps are evaluated again at that time. Near zero the
// time is that in which the shapes cannot cross half of the thinner one: up to that depth detection
// reports an overlap, so no shape passes through another between two evaluations.
#include "hybrid/flight.h"

#include <math.h>

static const double ROOM = 1.5;   // factor for what accelerations add to speeds within a step
static const double THIN = 1e-4;  // of the length: assumed of shapes without thickness

// ── Thickness ────────────────────────────────────────────────────────────────────────────────────

// Least width of a convex polygon: the least over its sides of the distance to the
// vertex furthest from the side.
static double polygon_width(const pp_shape *s)
{
    double least = PP_INF;
    for (int k = 0; k < s->count; k++) {
        double most = 0.0;
        for (int i = 0; i < s->count; i++) {
            double x = s->vertex_B[k].x - s->vertex_B[i].x, y = s->vertex_B[k].y - s->vertex_B[i].y;
            most = fmax(most, s->normal_B[k].x * x + s->normal_B[k].y * y);
        }
        least = fmin(least, most);
    }
    return least;
}

// A lower bound for the least width of a polyhedron: half of the least over its faces. Between two
// edges the width may be less than over any face.
static double hull_width(const pp_hull *hull)
{
    double least = PP_INF;
    for (int f = 0; f < hull->faces; f++) {
        perp_vec3 x = hull->vertex[hull->corner[hull->face_first[f]]];
        double most = 0.0;
        for (int i = 0; i < hull->vertices; i++) {
            most = fmax(most, pp_dot3(hull->face_normal[f], pp_sub(x, hull->vertex[i])));
        }
        least = fmin(least, most);
    }
    return 0.5 * least;
}

// Least width of a solid [m]; half-spaces have none. The narrowest section of a cone may be close
// to its tip, so its radius and half height are taken once, not twice.
static double solid_width(const pp_solid *s)
{
    switch (s->kind) {
    case PP_SOLID_SPHERE:
    case PP_SOLID_CAPSULE:
        return 2.0 * s->radius;
    case PP_SOLID_BOX:
    case PP_SOLID_ELLIPSOID:
        return 2.0 * fmin(s->half.x, fmin(s->half.y, s->half.z));
    case PP_SOLID_CYLINDER:
        return 2.0 * fmin(s->radius, s->half.z);
    case PP_SOLID_CONE:
        return fmin(s->radius, s->half.z);
    case PP_SOLID_HULL:
        return hull_width(s->hull);
    default:
        return PP_INF;
    }
}

// Least width of a shape [m]: half of it may be crossed before an overlap is missed.
static double width_of(const perp_model *m, int shape)
{
    const pp_shape *s = &m->shape[shape];
    // Meshes are surfaces without thickness; half-planes cannot be crossed.
    if (m->spatial) {
        return s->mesh ? 0.0 : solid_width(&s->solid);
    }
    switch (s->kind) {
    case PERP_SHAPE_HALFPLANE:
        return PP_INF;
    case PERP_SHAPE_POLYGON:
        return polygon_width(s);
    case PERP_SHAPE_DISC:
    case PERP_SHAPE_CAPSULE:
        return 2.0 * s->radius;
    default:
        return 0.0;
    }
}

// How far two shapes may move into each other in one go [m]: half of the thinner one, whose overlap is then still detected.
// A shape without thickness may also go through the other by `thin` at most; two such shapes have sides, which are seen.
static double crossed_most(const perp_model *m, int a, int b, double thin)
{
    double wa = width_of(m, a), wb = width_of(m, b);
    if (wa > 0.0 && wb > 0.0) {
        return 0.5 * fmin(wa, wb);
    }
    double other = fmax(wa, wb);
    return other > 0.0 ? fmin(0.5 * other, thin) : thin;
}

// ── Speeds ───────────────────────────────────────────────────────────────────────────────────────

// Bound of the speed of all points of a shape [m/s]. Shapes are no larger than the length of the
// machine about their centres, which may be off the body's.
static double speed_of(const perp_model *m, const pp_frame *body, int shape, double length)
{
    const pp_shape *s = &m->shape[shape];
    // |v| + |w| arm bounds the velocity of every point within arm of the body's centre.
    double arm = length + (m->spatial ? pp_length(s->X_BS.p) : pp_hypot(s->p_BS.x, s->p_BS.y));
    return pp_length(body[s->body].v) + arm * pp_length(body[s->body].w);
}

// Whether the pair of a contact is closed already; its gaps are watched by the modes.
static bool is_held_contact(const pp_holds *holds, const pp_contact *c)
{
    for (int i = 0; i < holds->count; i++) {
        const pp_hold *h = &holds->hold[i];
        if (h->kind == PP_HOLD_CONTACT && h->a == c->a && h->b == c->b) {
            return true;
        }
    }
    return false;
}

// pp_flight_clear_time; leaves its work in the scratch arena.
static perp_status clear_time(pp_flight *flight, double t, const double *y, double horizon,
                              double *clear)
{
    const pp_machine *machine = flight->machine;
    const perp_model *m = machine->model;
    pp_frame *body = PP_ARRAY(flight->scratch, pp_frame, m->bodies);
    pp_gaps gaps;
    double fastest = 0.0;
    *clear = horizon;
    if (!body) {
        return PERP_ERR_MEMORY;
    }
    pp_tree_frames(machine->tree, t, y, y + machine->tree->nq, body);
    for (int i = 0; i < m->shapes; i++) {
        fastest = fmax(fastest, speed_of(m, body, i, machine->length));
    }
    // Two shapes approach by at most twice the fastest speed: pairs further apart cannot
    // meet within the horizon.
    pp_poses kin = {.t = t, .body = body};
    pp_gap_search search = {.margin = 2.0 * ROOM * fastest * horizon};
    perp_status status = pp_holds_hint(machine, &flight->holds, &kin, &search, flight->scratch);
    if (status < 0) {
        return status;
    }
    status = pp_gaps_run(&gaps, m, &kin, search, flight->scratch);
    if (status < 0) {
        return status;
    }
    for (int i = 0; i < gaps.count; i++) {
        const pp_contact *c = &gaps.contact[i];
        double speed = ROOM * (speed_of(m, body, c->a, machine->length) +
                               speed_of(m, body, c->b, machine->length));
        double skin = pp_skin(m, c->a, c->b);
        double width =
            skin > 0.0 ? 0.5 * skin : crossed_most(m, c->a, c->b, THIN * machine->length);
        if (!is_held_contact(&flight->holds, c) && speed > 0.0) {
            *clear = fmin(*clear, fmax(c->gap, width) / speed);
        }
    }
    return PERP_OK;
}

perp_status pp_flight_clear_time(pp_flight *flight, double t, const double *y, double horizon,
                                 double *clear)
{
    pp_mark mark = pp_arena_mark(flight->scratch);
    perp_status status = clear_time(flight, t, y, horizon, clear);
    pp_arena_release(flight->scratch, mark);
    return status;
}
