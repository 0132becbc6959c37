// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Functions of angles, and their inverses, with the same bits on every machine. Each is evaluated to about 68 bits
// as a sum of two doubles, then rounded.
//
//   sin(c + d), cos(c + d)    by the addition theorems, c = j / 64 from a table, the angle reduced by multiples of pi / 2
//   arctan(y / x)             = arctan(c) + arctan((y - c x) / (x + c y)), c = j / 64 from a table
#include "math/elementary.h"
#include "math/math.h"

#include <stdint.h>
#include <string.h>

static const double round_trick =
    0x1.8p52;  // added and taken away, it rounds to the nearest integer

// ── Reduction ────────────────────────────────────────────────────────────────────────────────────

// x = (quarter + 4 m) pi / 2 + r, |r| <= pi / 4.
typedef struct angle {
    pp_dd r;
    int quarter;  // 0..3
} angle;

// |x| up to 2^20 pi / 2: products of the number of quarters with the first three parts of pi / 2 are exact.
static angle reduce_small(double x)
{
    double n = (x * 0x1.45f306dc9c883p-1 + round_trick) - round_trick;  // 2 / pi
    pp_dd s = pp_dd_sum(x - n * pp_half_pi[0], -(n * pp_half_pi[1]));
    pp_dd t = pp_dd_sum(s.hi, -(n * pp_half_pi[2]));
    double low = (s.lo + t.lo) - n * pp_half_pi[3];
    return (angle){pp_dd_fast_sum(t.hi, low), (int)n & 3};
}

// 32 bits of 2 / pi behind its binary point; zeros before it.
static uint32_t word_of_inverse(int k)
{
    return k < 0 ? 0 : pp_two_over_pi[k];
}

// The fraction of x 2 / pi from the bits of 2 / pi that matter, in integers (Payne and Hanek, 1983): x = M 2^e
// with an integer M of 53 bits. Higher bits of 2 / pi give multiples of 4.
static angle reduce_large(double x)
{
    enum { WORDS = 7 };
    uint64_t u;
    memcpy(&u, &x, sizeof u);
    int e = (int)((u >> 52) & 0x7ff) - 1075;
    uint64_t M = (u & 0x000fffffffffffff) | 0x0010000000000000;
    // window: the bits of 2 / pi of weight 2^(1 - e) and below, as WORDS words; word -1 holds zeros
    int first = e - 2 + 64, word = first / 32 - 2, shift = first % 32;
    uint32_t window[WORDS];
    for (int k = 0; k < WORDS; k++) {
        uint64_t two = (uint64_t)word_of_inverse(word + k) << 32 | word_of_inverse(word + k + 1);
        window[k] = (uint32_t)(two << shift >> 32);
    }
    // product = window M modulo 2^(32 WORDS), which is x 2 / pi modulo 4, times 2^(32 WORDS - 2)
    uint32_t product[WORDS] = {0};
    uint64_t carry = 0;
    for (int k = WORDS - 1; k >= 0; k--) {
        uint64_t sum = carry + (uint64_t)window[k] * (uint32_t)M;
        product[k] = (uint32_t)sum;
        carry = sum >> 32;
    }
    carry = 0;
    for (int k = WORDS - 2; k >= 0; k--) {
        uint64_t sum = carry + product[k] + (uint64_t)window[k + 1] * (uint32_t)(M >> 32);
        product[k] = (uint32_t)sum;
        carry = sum >> 32;
    }
    // Two bits of quarters, then the fraction; more than a half goes to the next quarter.
    int quarter = (int)(product[0] >> 30);
    bool round_up = (product[0] >> 29 & 1) != 0;
    product[0] &= 0x3fffffff;
    pp_dd f = {round_up ? -1.0 : 0.0, 0.0};
    double unit = 0x1p-30;
    for (int k = 0; k < WORDS; k++) {
        f = pp_dd_add(f, (pp_dd){product[k] * unit, 0.0});
        unit *= 0x1p-32;
    }
    angle out = {pp_dd_multiply(f, pp_dd_half_pi), (quarter + (round_up ? 1 : 0)) & 3};
    if (x < 0.0) {
        out.r = pp_dd_negative(out.r);
        out.quarter = (4 - out.quarter) & 3;
    }
    return out;
}

static angle reduce(double x)
{
    if (fabs(x) <= 0.78539816339744828) {
        return (angle){{x, 0.0}, 0};
    }
    return fabs(x) < 1.6e6 ? reduce_small(x) : reduce_large(x);
}

// ── Sine, cosine, tangent ────────────────────────────────────────────────────────────────────────

// What is left of the angle beside c = j / 64, with its sine d + sine and its cosine 1 + cosine.
typedef struct rest {
    int j;
    double d, sine, cosine;
} rest;

// r >= 0.
static rest rest_of(pp_dd r)
{
    int j = (int)(64.0 * r.hi + 0.5);
    pp_dd d = pp_dd_sum(r.hi - j * 0x1p-6, r.lo);
    double d2 = d.hi * d.hi;  // |d| <= 1/128; the next terms are below 2^-71
    double s = d.hi * d2 * (-1.0 / 6.0 + d2 * (1.0 / 120.0 - d2 * (1.0 / 5040.0)));
    double c = d2 * (-0.5 + d2 * (1.0 / 24.0 - d2 * (1.0 / 720.0)));
    return (rest){j, d.hi, s + d.lo, c - d.hi * d.lo};
}

static pp_dd sine_at(const rest *b)
{
    const double *T = pp_sine_table[b->j];
    pp_dd product = pp_dd_product(T[2], b->d);
    pp_dd sum = pp_dd_sum(T[0], product.hi);
    double low = product.lo + (T[1] + (T[3] * b->d + (T[2] * b->sine + T[0] * b->cosine)));
    return pp_dd_fast_sum(sum.hi, sum.lo + low);
}

static pp_dd cosine_at(const rest *b)
{
    const double *T = pp_sine_table[b->j];
    pp_dd product = pp_dd_product(-T[0], b->d);
    pp_dd sum = pp_dd_fast_sum(T[2], product.hi);
    double low = product.lo + (T[3] + (T[2] * b->cosine - (T[1] * b->d + T[0] * b->sine)));
    return pp_dd_fast_sum(sum.hi, sum.lo + low);
}

static pp_dd sine_near(pp_dd r)
{
    bool negative = r.hi < 0.0;
    rest b = rest_of(negative ? pp_dd_negative(r) : r);
    pp_dd s = sine_at(&b);
    return negative ? pp_dd_negative(s) : s;
}

static pp_dd cosine_near(pp_dd r)
{
    rest b = rest_of(r.hi < 0.0 ? pp_dd_negative(r) : r);
    return cosine_at(&b);
}

// sin(r + quarter pi / 2).
static pp_dd sine_of(angle a)
{
    pp_dd s = a.quarter % 2 == 0 ? sine_near(a.r) : cosine_near(a.r);
    return a.quarter >= 2 ? pp_dd_negative(s) : s;
}

static pp_dd cosine_of(angle a)
{
    return sine_of((angle){a.r, (a.quarter + 1) & 3});
}

double pp_sin(double x)
{
    if (fabs(x) < 0x1p-27) {
        return x;
    }
    return isfinite(x) ? sine_of(reduce(x)).hi : (double)NAN;
}

double pp_cos(double x)
{
    return isfinite(x) ? cosine_of(reduce(x)).hi : (double)NAN;
}

// What both have in common, the reduced angle and its powers, once.
void pp_sine_cosine(double x, double *sine, double *cosine)
{
    if (!isfinite(x)) {
        *sine = *cosine = NAN;
        return;
    }
    angle a = reduce(x);
    bool negative = a.r.hi < 0.0;
    rest b = rest_of(negative ? pp_dd_negative(a.r) : a.r);
    double c = cosine_at(&b).hi, s = sine_at(&b).hi;
    s = negative ? -s : s;
    bool odd = a.quarter % 2 != 0;
    *sine = odd ? c : s;
    *sine = a.quarter >= 2 ? -*sine : *sine;
    *cosine = odd ? s : c;
    *cosine = a.quarter == 1 || a.quarter == 2 ? -*cosine : *cosine;
    if (fabs(x) < 0x1p-27) {
        *sine = x;
    }
}

double pp_tan(double x)
{
    if (fabs(x) < 0x1p-27) {
        return x;
    }
    if (!isfinite(x)) {
        return NAN;
    }
    angle a = reduce(x);
    return pp_dd_divide(sine_of(a), cosine_of(a)).hi;
}

// ── Inverses ─────────────────────────────────────────────────────────────────────────────────────

// arctan(y / x) for 0 <= y <= x, x > 0, neither near the ends of the range.
static pp_dd arctan_near(pp_dd y, pp_dd x)
{
    int j = (int)(64.0 * (y.hi / x.hi) + 0.5);
    double c = j * 0x1p-6;
    pp_dd above = pp_dd_add(y, pp_dd_negative(pp_dd_scale(x, c)));
    pp_dd below = pp_dd_add(x, pp_dd_scale(y, c));
    pp_dd t = pp_dd_divide(above, below);
    double t2 = t.hi * t.hi;  // |t| < 1/127; the next term is below 2^-73 t
    double p = t.hi * t2 * (-1.0 / 3.0 + t2 * (1.0 / 5.0 - t2 * (1.0 / 7.0 - t2 * (1.0 / 9.0))));
    pp_dd sum = pp_dd_sum(pp_arctan_table[j][0], t.hi);
    return pp_dd_fast_sum(sum.hi, sum.lo + (pp_arctan_table[j][1] + (t.lo + p)));
}

// The angle of (x, y) from the x axis, in -pi..pi; the signs are those of the upper parts.
static double direction(pp_dd y, pp_dd x)
{
    bool left = x.hi < 0.0, below = y.hi < 0.0;
    x = left ? pp_dd_negative(x) : x;
    y = below ? pp_dd_negative(y) : y;
    pp_dd a;
    if (y.hi <= x.hi) {
        a = arctan_near(y, x);
    } else {
        a = pp_dd_add(pp_dd_half_pi, pp_dd_negative(arctan_near(x, y)));
    }
    if (left) {
        a = pp_dd_add((pp_dd){2.0 * pp_dd_half_pi.hi, 2.0 * pp_dd_half_pi.lo}, pp_dd_negative(a));
    }
    return below ? -a.hi : a.hi;
}

// Where one of the two is 0 or infinite, or so small beside the other that arctan is the quotient or a limit.
static double direction_at_end(double y, double x)
{
    double ay = fabs(y), ax = fabs(x), pi = 2.0 * pp_dd_half_pi.hi;
    double a;
    if (isinf(x) && isinf(y)) {
        a = x > 0.0 ? 0.5 * pp_dd_half_pi.hi : 3.0 * (0.5 * pp_dd_half_pi.hi);
    } else if (ay > ax) {
        a = pp_dd_half_pi.hi;
    } else if (signbit(x)) {
        a = pi;
    } else {
        a = ax == 0.0 || isinf(ax) ? 0.0 : ay / ax;
    }
    return copysign(a, y);
}

double pp_atan2(double y, double x)
{
    if (x != x || y != y) {
        return x + y;
    }
    double ay = fabs(y), ax = fabs(x), most = ax > ay ? ax : ay, least = ax > ay ? ay : ax;
    if (least == 0.0 || isinf(most) || least < 0x1p-200 * most) {
        return direction_at_end(y, x);
    }
    // Powers of two that keep products of the parts in range.
    if (most > 0x1p300) {
        x *= 0x1p-400;
        y *= 0x1p-400;
    } else if (least < 0x1p-300) {
        x *= 0x1p500;
        y *= 0x1p500;
    }
    return direction((pp_dd){y, 0.0}, (pp_dd){x, 0.0});
}

double pp_atan(double x)
{
    return fabs(x) < 0x1p-27 ? x : pp_atan2(x, 1.0);
}

// sqrt(1 - x^2), |x| < 1.
static pp_dd cofactor(double x)
{
    pp_dd square = pp_dd_product(x, x);
    pp_dd difference = pp_dd_sum(1.0, -square.hi);
    return pp_dd_sqrt(pp_dd_fast_sum(difference.hi, difference.lo - square.lo));
}

double pp_asin(double x)
{
    if (fabs(x) < 0x1p-27) {
        return x;
    }
    if (!(fabs(x) < 1.0)) {
        return fabs(x) == 1.0 ? copysign(pp_dd_half_pi.hi, x) : (double)NAN;
    }
    return direction((pp_dd){x, 0.0}, cofactor(x));
}

double pp_acos(double x)
{
    if (!(fabs(x) < 1.0)) {
        if (x == 1.0) {
            return 0.0;
        }
        return x == -1.0 ? 2.0 * pp_dd_half_pi.hi : (double)NAN;
    }
    if (fabs(x) < 0x1p-60) {
        return pp_dd_half_pi.hi;
    }
    return direction(cofactor(x), (pp_dd){x, 0.0});
}

// ── Length ───────────────────────────────────────────────────────────────────────────────────────

double pp_hypot(double x, double y)
{
    double a = fabs(x), b = fabs(y), scale = 1.0;
    if (isinf(a) || isinf(b)) {
        return INFINITY;
    }
    if (a < b) {
        double larger = b;
        b = a;
        a = larger;
    }
    if (!(b > 0x1p-60 * a)) {
        return a + b;  // b is below the last place, or NaN
    }
    // Squares and their errors stay in range.
    if (a > 0x1p480) {
        scale = 0x1p600;
    } else if (b < 0x1p-480) {
        scale = 0x1p-600;
    }
    if (scale != 1.0) {
        a /= scale;
        b /= scale;
    }
    pp_dd square_a = pp_dd_product(a, a), square_b = pp_dd_product(b, b);
    pp_dd sum = pp_dd_fast_sum(square_a.hi, square_b.hi);
    pp_dd root = pp_dd_sqrt((pp_dd){sum.hi, sum.lo + (square_a.lo + square_b.lo)});
    return root.hi * scale;
}
