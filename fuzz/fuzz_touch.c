// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Fuzz target of solids: bytes make two of them and their poses; whatever they are, the contact points must be
// finite, with unit normals and true distances.
#include "bytes.h"
#include "support/touch_check.h"

// Of places and gaps, relative to the extents. Newton's method on deep overlaps of cylinders, cones and
// ellipsoids may stop short: a cone in a hull has a witness 3e-6 beside its face.
static const double FLAT = 1e-9, CURVED = 1e-4;

static bool curved(const pp_solid *s)
{
    return s->kind == PP_SOLID_CYLINDER || s->kind == PP_SOLID_CONE ||
           s->kind == PP_SOLID_ELLIPSOID;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// Mostly multiples of an eighth, so that features meet and faces are parallel often; one in eight is of
// another order of magnitude.
static double take_length(bytes *b)
{
    int byte = take_byte(b);
    double length = (1 + (byte & 15)) / 8.0;
    return byte >= 224 ? ldexp(length, take_byte(b) % 13 - 6) : length;
}

static double take_signed(bytes *b)
{
    int byte = take_byte(b);
    double length = (byte & 15) / 8.0;
    return byte & 16 ? -length : length;
}

// Multiples of 15 degrees, or any angle.
static double take_angle(bytes *b)
{
    const double step = 0.2617993877991494;
    int byte = take_byte(b);
    return byte < 192 ? step * (byte % 24) : step * 24.0 * take_fraction(b);
}

static pp_solid take_solid(bytes *b, touch_hull *hull)
{
    pp_solid s = {.kind = (pp_solid_kind)(take_byte(b) % TOUCH_KINDS)};
    s.radius = take_length(b);
    s.half.x = take_length(b);
    s.half.y = take_length(b);
    s.half.z = take_length(b);
    if (s.kind == PP_SOLID_HULL) {
        touch_hull_set(hull, take_byte(b), s.half);
        s.hull = &hull->hull;
    }
    return s;
}

// Turns about the axes in turn, so that right angles are exact up to roundoff.
static pp_pose take_pose(bytes *b)
{
    double x = take_signed(b), y = take_signed(b), z = take_signed(b);
    perp_quat q = pp_quat_exp(pp_vec(take_angle(b), 0.0, 0.0));
    q = pp_quat_mul(q, pp_quat_exp(pp_vec(0.0, take_angle(b), 0.0)));
    q = pp_quat_mul(q, pp_quat_exp(pp_vec(0.0, 0.0, take_angle(b))));
    return (pp_pose){{x, y, z}, pp_quat_matrix(pp_quat_unit(q))};
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    bytes from = {data, size, 0};
    touch_hull ha, hb;
    touch_pair pair;
    pair.a = take_solid(&from, &ha);
    pair.b = take_solid(&from, &hb);
    pair.X_WA = take_pose(&from);
    pair.X_WB = take_pose(&from);
    rng r = rng_seed(1);
    if (pair.a.kind == PP_SOLID_HALFSPACE && pair.b.kind == PP_SOLID_HALFSPACE) {
        return 0;
    }
    double tolerance = curved(&pair.a) || curved(&pair.b) ? CURVED : FLAT;
    if (touch_flaw(&pair, tolerance, &r)) {
        __builtin_trap();
    }
    return 0;
}
