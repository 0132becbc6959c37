// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Mass and inertia of bodies: as given, or from the densities of their shapes.
#include "model/builder.h"

#include <math.h>

// ── The plane ────────────────────────────────────────────────────────────────────────────────────

// Sums over the shapes of a body: mass, first moments and polar moment about the origin of its
// frame.
typedef struct mass_properties {
    double mass, x, y, moment;  // [kg, kg m, kg m, kg m^2]
} mass_properties;

static mass_properties mass_of_shapes(const perp_builder *b, int body)
{
    mass_properties sum = {0};
    const pp_shape *shape = b->shapes.items;
    const double *density = b->densities.items;
    const pp_body *owner = (const pp_body *)b->bodies.items + body;
    for (int i = owner->first_shape - 1; i >= 0; i = shape[i].next - 1) {
        double area, moment;
        pp_vec2 c;
        // Shapes without density or area have no mass.
        if (density[i] == 0.0 || !pp_shape_area(&shape[i], &area, &c, &moment)) {
            continue;
        }
        double m = density[i] * area;
        sum.mass += m;
        sum.x += m * c.x;
        sum.y += m * c.y;
        sum.moment += density[i] * moment + m * (c.x * c.x + c.y * c.y);
    }
    return sum;
}

// Mass and inertia from densities [kg/m^2] where none are given. The shapes must be placed about
// the centre of mass.
perp_status pp_mass_properties_planar(const perp_builder *b, int i, pp_body *body,
                                      perp_error *error)
{
    mass_properties sum = mass_of_shapes(b, i);
    if (body->mass == 0.0 && sum.mass > 0.0) {
        // The planar equations of motion are about the origin of the body frame. The offset is
        // compared with the radius of gyration.
        double x = sum.x / sum.mass, y = sum.y / sum.mass;
        if (pp_hypot(x, y) > 1e-9 * sqrt(sum.moment / sum.mass)) {
            return pp_fail(error, PERP_ERR_MODEL,
                           "body '%s': the centre of mass of its shapes is at (%g, %g) in its "
                           "frame; move the shapes so that it is at the origin",
                           body->name, x, y);
        }
        body->mass = sum.mass;
    }
    if (!(body->mass > 0.0)) {
        return pp_fail(error, PERP_ERR_MODEL,
                       "body '%s': has no mass; set mass, or the density of its shapes",
                       body->name);
    }
    if (body->nv == 3 && body->I_B.m[8] == 0.0) {
        // A given mass scales the inertia of the shapes.
        body->I_B.m[8] = sum.mass > 0.0 ? sum.moment * body->mass / sum.mass : 0.0;
    }
    if (body->nv == 3 && !(body->I_B.m[8] > 0.0)) {
        return pp_fail(error, PERP_ERR_MODEL,
                       "body '%s': has no inertia; set inertia, or the density of its shapes, or "
                       "make it a particle",
                       body->name);
    }
    if (body->nv == 3) {
        body->inverse_IB.m[8] = 1.0 / body->I_B.m[8];
    }
    return PERP_OK;
}

// ── Space ────────────────────────────────────────────────────────────────────────────────────────

// Sums over the solids of a body.
typedef struct bulk {
    double mass;
    perp_vec3 moment;  // sum m c
    pp_mat3 inertia;   // about the origin of the frame the shapes are in
} bulk;

// Parallel-axis theorem: sum += m (|c|^2 1 - c c^T), the inertia of a point mass m at c.
static void add_steiner(pp_mat3 *sum, double m, perp_vec3 c)
{
    const double p[3] = {c.x, c.y, c.z};
    double square = pp_dot3(c, c);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            sum->m[3 * i + j] += m * ((i == j ? square : 0.0) - p[i] * p[j]);
        }
    }
}

// The same in space, about the origin of the body frame.
static bulk bulk_of(const perp_builder *b, int body)
{
    bulk sum = {0};
    const pp_shape *shape = b->shapes.items;
    const double *density = b->densities.items;
    const pp_body *owner = (const pp_body *)b->bodies.items + body;
    for (int i = owner->first_shape - 1; i >= 0; i = shape[i].next - 1) {
        double volume;
        perp_vec3 c;
        pp_mat3 I;
        if (density[i] == 0.0 || shape[i].mesh ||
            !pp_solid_mass(&shape[i].solid, &volume, &c, &I)) {
            continue;
        }
        double m = density[i] * volume;  // c and I are in the shape's frame
        c = pp_pose_point(&shape[i].X_BS, c);
        I = pp_turn_tensor(&shape[i].X_BS.R, &I);
        sum.mass += m;
        sum.moment = pp_along(sum.moment, m, c);
        for (int k = 0; k < 9; k++) {
            sum.inertia.m[k] += density[i] * I.m[k];
        }
        add_steiner(&sum.inertia, m, c);
    }
    return sum;
}

// Whether some body has this inertia: it must be positive definite, and no principal moment larger
// than the sum of the other two.
static bool possible_inertia(const pp_mat3 *I)
{
    const double *m = I->m;
    double det =
        pp_dot3(pp_mat3_column(I, 0), pp_cross(pp_mat3_column(I, 1), pp_mat3_column(I, 2)));
    double minor = m[0] * m[4] - m[1] * m[3], trace = m[0] + m[4] + m[8];
    bool positive = m[0] > 0.0 && minor > 0.0 && det > 0.0;
    // trace / 2 - I is the tensor of second moments, which must be positive semidefinite.
    double slack = 1e-9 * trace, half = 0.5 * trace + slack;
    pp_mat3 P = {{half - m[0], -m[1], -m[2], -m[3], half - m[4], -m[5], -m[6], -m[7], half - m[8]}};
    // Minors of a matrix that is nearly singular, as for a thin rod, may be negative by rounding.
    double det_p =
        pp_dot3(pp_mat3_column(&P, 0), pp_cross(pp_mat3_column(&P, 1), pp_mat3_column(&P, 2)));
    double minor_p = P.m[0] * P.m[4] - P.m[1] * P.m[3];
    double tiny = -1e-12 * trace * trace;
    return positive && P.m[0] >= 0.0 && minor_p >= tiny && det_p >= tiny * trace;
}

// The centre of mass must be the origin of the body frame, unless the body asks to be moved there.
static perp_status set_center(const bulk *sum, pp_body *body, perp_error *error)
{
    perp_vec3 c = pp_scale(1.0 / sum->mass, sum->moment);
    const double *I = sum->inertia.m;
    if (pp_length(c) <= 1e-9 * sqrt((I[0] + I[4] + I[8]) / sum->mass)) {
        return PERP_OK;
    }
    if (!body->recenter) {
        return pp_fail(error, PERP_ERR_MODEL,
                       "body '%s': the centre of mass of its shapes is at (%g, %g, %g) in its "
                       "frame; move the shapes so that it is at the origin, or set recenter",
                       body->name, c.x, c.y, c.z);
    }
    body->center = c;
    return PERP_OK;
}

// The inertia, as given or from the shapes, and its inverse.
static perp_status set_inertia(const bulk *sum, pp_body *body, perp_error *error)
{
    double given = 0.0;
    for (int k = 0; k < 9; k++) {
        given = fmax(given, fabs(body->I_B.m[k]));
    }
    if (given == 0.0 && sum->mass > 0.0) {
        // From the origin of the body frame to the centre of mass; a given mass scales it.
        body->I_B = sum->inertia;
        add_steiner(&body->I_B, -sum->mass, pp_scale(1.0 / sum->mass, sum->moment));
        for (int k = 0; k < 9; k++) {
            body->I_B.m[k] *= body->mass / sum->mass;
        }
    } else if (given == 0.0) {
        return pp_fail(error, PERP_ERR_MODEL,
                       "body '%s': has no inertia; set inertia, or the density of its shapes, or "
                       "make it a particle",
                       body->name);
    }
    if (!possible_inertia(&body->I_B) || !pp_invert3(&body->I_B, &body->inverse_IB)) {
        return pp_fail(error, PERP_ERR_MODEL,
                       "body '%s': impossible inertia: it must be positive, with no principal "
                       "moment larger than the sum of the other two",
                       body->name);
    }
    return PERP_OK;
}

// A particle needs a mass only.
perp_status pp_mass_properties_spatial(const perp_builder *b, int i, pp_body *body,
                                       perp_error *error)
{
    bulk sum = bulk_of(b, i);
    perp_status status = PERP_OK;
    if (body->mass == 0.0 && sum.mass > 0.0) {
        status = set_center(&sum, body, error);
        body->mass = sum.mass;
    }
    if (status < 0) {
        return status;
    }
    if (!(body->mass > 0.0)) {
        return pp_fail(error, PERP_ERR_MODEL,
                       "body '%s': has no mass; set mass, or the density of its shapes",
                       body->name);
    }
    return body->kind == PERP_BODY_SPATIAL ? set_inertia(&sum, body, error) : PERP_OK;
}
