// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// See touch_bytes.h.
#include "support/touch_bytes.h"

#include "support/bytes.h"

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

bool touch_from_bytes(touch_pair *pair, touch_hull hull[2], const uint8_t *data, size_t size)
{
    bytes from = {data, size, 0};
    pair->a = take_solid(&from, &hull[0]);
    pair->b = take_solid(&from, &hull[1]);
    pair->X_WA = take_pose(&from);
    pair->X_WB = take_pose(&from);
    return pair->a.kind != PP_SOLID_HALFSPACE || pair->b.kind != PP_SOLID_HALFSPACE;
}
