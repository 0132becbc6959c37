// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Fuzz target of solids: bytes make two of them and their poses; whatever they are, the contact points must be
// finite, with unit normals and true distances.
#include "bytes.h"
#include "support/touch_check.h"

static bool curved(const pp_solid *s)
{
    return s->kind == PP_SOLID_CYLINDER || s->kind == PP_SOLID_CONE ||
           s->kind == PP_SOLID_ELLIPSOID;
}

// With a cylinder, cone or ellipsoid, Newton's method may stop short where solids overlap, and witness points
// then lie beside their faces. What must hold: numbers, a unit normal, and a gap that the normal parts by.
static bool misjudged(const touch_pair *p)
{
    pp_touch out[PP_TOUCH_MAX];
    int count = pp_solid_touch(&p->a, &p->X_WA, &p->b, &p->X_WB, HUGE_VAL, out);
    double extent = touch_extent(&p->a) + touch_extent(&p->b), least = HUGE_VAL;
    for (int k = 0; k < count; k++) {
        perp_vec3 off = pp_sub(out[k].x_b, pp_along(out[k].x_a, out[k].gap, out[k].n));
        if (!(fabs(pp_length(out[k].n) - 1.0) <= 1e-9) || !(pp_length(off) <= 1e-6 * extent)) {
            return true;
        }
        least = fmin(least, out[k].gap);
    }
    return count < 1 || count > PP_TOUCH_MAX ||
           !(fabs(touch_parting(p, out[0].n) - least) <= 1e-4 * extent);
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
    bool round = curved(&pair.a) || curved(&pair.b);
    if (round ? misjudged(&pair) : touch_flaw(&pair, 1e-9, &r) != NULL) {
        __builtin_trap();
    }
    return 0;
}
