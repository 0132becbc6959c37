// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Private to math/: numbers of twice the precision, as unevaluated sums of two doubles. Only sums, products,
// quotients and square roots of doubles occur, which IEEE 754 defines to the last bit; no fused operation is used.
//
//   T. J. Dekker, A floating-point technique for extending the available precision, Numer. Math. 18 (1971)
//   D. E. Knuth, The Art of Computer Programming 2, section 4.2.2
#pragma once

#include <math.h>

typedef struct pp_dd {
    double hi,
        lo;  // |lo| is at most half a unit in the last place of hi, after pp_dd_sum and pp_dd_fast_sum
} pp_dd;

// a + b without error.
static inline pp_dd pp_dd_sum(double a, double b)
{
    double s = a + b, of_b = s - a;
    return (pp_dd){s, (a - (s - of_b)) + (b - of_b)};
}

// The same where |a| >= |b| or a = 0.
static inline pp_dd pp_dd_fast_sum(double a, double b)
{
    double s = a + b;
    return (pp_dd){s, b - (s - a)};
}

// a in two parts of 26 bits; |a| < 2^996.
static inline pp_dd pp_dd_split(double a)
{
    double c = 134217729.0 * a, hi = c - (c - a);  // 2^27 + 1
    return (pp_dd){hi, a - hi};
}

// a b without error, while a b is far from the ends of the range.
static inline pp_dd pp_dd_product(double a, double b)
{
    pp_dd x = pp_dd_split(a), y = pp_dd_split(b);
    double p = a * b;
    return (pp_dd){p, ((x.hi * y.hi - p) + x.hi * y.lo + x.lo * y.hi) + x.lo * y.lo};
}

static inline pp_dd pp_dd_add(pp_dd a, pp_dd b)
{
    pp_dd s = pp_dd_sum(a.hi, b.hi);
    return pp_dd_fast_sum(s.hi, s.lo + (a.lo + b.lo));
}

static inline pp_dd pp_dd_scale(pp_dd a, double b)
{
    pp_dd p = pp_dd_product(a.hi, b);
    return pp_dd_fast_sum(p.hi, p.lo + a.lo * b);
}

static inline pp_dd pp_dd_multiply(pp_dd a, pp_dd b)
{
    pp_dd p = pp_dd_product(a.hi, b.hi);
    return pp_dd_fast_sum(p.hi, p.lo + (a.hi * b.lo + a.lo * b.hi));
}

static inline pp_dd pp_dd_divide(pp_dd a, pp_dd b)
{
    double q = a.hi / b.hi;
    pp_dd p = pp_dd_product(q, b.hi);
    double rest = ((a.hi - p.hi) - p.lo) + (a.lo - q * b.lo);
    return pp_dd_fast_sum(q, rest / b.hi);
}

// a > 0.
static inline pp_dd pp_dd_sqrt(pp_dd a)
{
    double s = sqrt(a.hi);
    pp_dd p = pp_dd_product(s, s);
    double rest = ((a.hi - p.hi) - p.lo) + a.lo;
    return pp_dd_fast_sum(s, rest / (2.0 * s));
}

static inline pp_dd pp_dd_negative(pp_dd a)
{
    return (pp_dd){-a.hi, -a.lo};
}
