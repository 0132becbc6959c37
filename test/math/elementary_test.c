// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Elementary functions: their errors in units of the last place, by libm in long double as a judge (64 bits; the test is
// skipped where long double is double); zeros, infinities and NaN as ISO C, annex F, has them; numbers that have an exact result; and one hash of many
// results, which is the same on every machine.
#include "math/math.h"
#include "support/cmocka.h"
#include "support/random.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct function {
    const char *name;
    double (*made)(double);
    long double (*judge)(long double);
    double low, high;  // arguments: between them, or with log_scale powers of two between them
    bool log_scale;
    double most;  // error [units in the last place]
} function;

static const function functions[] = {
    {"sin", pp_sin, sinl, -1.0, 1.0, false, 0.501},
    {"sin", pp_sin, sinl, -30.0, 30.0, false, 0.501},
    {"sin", pp_sin, sinl, -1e6, 1e6, false, 0.501},
    {"sin", pp_sin, sinl, -1000.0, 1000.0, true, 0.501},
    {"cos", pp_cos, cosl, -1.0, 1.0, false, 0.501},
    {"cos", pp_cos, cosl, -30.0, 30.0, false, 0.501},
    {"cos", pp_cos, cosl, -1000.0, 1000.0, true, 0.501},
    {"tan", pp_tan, tanl, -30.0, 30.0, false, 0.501},
    {"tan", pp_tan, tanl, -1000.0, 1000.0, true, 0.501},
    {"asin", pp_asin, asinl, -1.0, 1.0, false, 0.501},
    {"asin", pp_asin, asinl, -100.0, 0.0, true, 0.501},
    {"acos", pp_acos, acosl, -1.0, 1.0, false, 0.501},
    {"acos", pp_acos, acosl, -100.0, 0.0, true, 0.501},
    {"atan", pp_atan, atanl, -3.0, 3.0, false, 0.501},
    {"atan", pp_atan, atanl, -1000.0, 1000.0, true, 0.501},
    {"exp", pp_exp, expl, -1.0, 1.0, false, 0.501},
    {"exp", pp_exp, expl, -745.0, 709.5, false, 0.501},
    {"exp2", pp_exp2, exp2l, -1074.0, 1024.0, false, 0.501},
    {"expm1", pp_expm1, expm1l, -2.0, 2.0, false, 0.505},
    {"expm1", pp_expm1, expm1l, -50.0, 50.0, false, 0.505},
    {"expm1", pp_expm1, expm1l, -100.0, 5.0, true, 0.505},
    {"log", pp_log, logl, 0.5, 2.0, false, 0.501},
    {"log", pp_log, logl, 0.99, 1.01, false, 0.501},
    {"log", pp_log, logl, -1074.0, 1023.0, true, 0.501},
    {"log2", pp_log2, log2l, 0.5, 2.0, false, 0.501},
    {"log2", pp_log2, log2l, -1074.0, 1023.0, true, 0.501},
    {"log10", pp_log10, log10l, 0.5, 2.0, false, 0.501},
    {"log10", pp_log10, log10l, -1074.0, 1023.0, true, 0.501},
    {"sinh", pp_sinh, sinhl, -3.0, 3.0, false, 0.505},
    {"sinh", pp_sinh, sinhl, -710.0, 710.0, false, 0.505},
    {"sinh", pp_sinh, sinhl, -100.0, 9.0, true, 0.505},
    {"cosh", pp_cosh, coshl, -3.0, 3.0, false, 0.501},
    {"cosh", pp_cosh, coshl, -710.0, 710.0, false, 0.501},
    {"tanh", pp_tanh, tanhl, -3.0, 3.0, false, 0.505},
    {"tanh", pp_tanh, tanhl, -30.0, 30.0, false, 0.505},
    {"tanh", pp_tanh, tanhl, -100.0, 5.0, true, 0.505},
    {"erfc", pp_erfc, erfcl, -5.0, 5.0, false, 10.0},
    {"erfc", pp_erfc, erfcl, 0.0, 26.0, false, 10.0},
};
enum { FUNCTIONS = sizeof functions / sizeof functions[0] };
static const uint64_t HASH = 0x531579e9be3d2fac;

static double argument(rng *r, const function *f)
{
    if (!f->log_scale) {
        return rng_uniform(r, f->low, f->high);
    }
    double mantissa = rng_uniform(r, 1.0, 2.0);
    double x = ldexp(mantissa, (int)floor(rng_uniform(r, f->low, f->high)));
    bool both = f->judge != logl && f->judge != log2l && f->judge != log10l;
    bool inside = (f->judge != asinl && f->judge != acosl) || x < 1.0;
    x = inside ? x : 0.5 * x;
    return both && rng_below(r, 2) == 0 ? -x : x;
}

// Distance of y from what the judge has, in units of the last place of that.
static double error_of(double y, long double exact)
{
    if ((long double)y == exact || (y != y && exact != exact)) {
        return 0.0;
    }
    int e;
    (void)frexpl(exact, &e);
    int last = e - DBL_MANT_DIG < -1074 ? -1074 : e - DBL_MANT_DIG;
    return (double)(fabsl((long double)y - exact) / ldexpl(1.0L, last));
}

static void skip_without_judge(void)
{
#if LDBL_MANT_DIG < 64
    print_message("long double has no more digits than double here: errors are not judged\n");
    skip();
#endif
}

static void errors_are_below_half_a_place(void **state)
{
    (void)state;
    enum { TRIES = 20000 };
    skip_without_judge();
    for (int k = 0; k < FUNCTIONS; k++) {
        const function *f = &functions[k];
        uint64_t seed = rng_test_seed(1);
        rng r = rng_seed(seed);
        double worst = 0.0, at = 0.0;
        for (int i = 0; i < TRIES; i++) {
            double x = argument(&r, f), error = error_of(f->made(x), f->judge((long double)x));
            at = error > worst ? x : at;
            worst = error > worst ? error : worst;
        }
        if (worst > f->most) {
            print_error("%s(%.17g): %.4f units in the last place\n", f->name, at, worst);
        }
        CHECK(worst <= f->most, seed);
    }
}

static void functions_of_two_numbers(void **state)
{
    (void)state;
    enum { TRIES = 100000 };
    skip_without_judge();
    uint64_t seed = rng_test_seed(1);
    rng r = rng_seed(seed);
    double worst[4] = {0.0};
    for (int i = 0; i < TRIES; i++) {
        int span = i % 3 == 0 ? 1000 : 4;
        double x = ldexp(rng_uniform(&r, -2.0, 2.0), rng_below(&r, 2 * span) - span);
        double y = ldexp(rng_uniform(&r, -2.0, 2.0), rng_below(&r, 2 * span) - span);
        double a = fabs(x), p = rng_uniform(&r, -700.0, 700.0) / log(a);
        double error[4] = {error_of(pp_hypot(x, y), hypotl(x, y)),
                           error_of(pp_atan2(y, x), atan2l(y, x)),
                           error_of(pp_pow(a, p), powl(a, p)),
                           error_of(pp_pow(a, y), powl(a, y) > DBL_MAX ? HUGE_VALL : powl(a, y))};
        for (int k = 0; k < 4; k++) {
            if (error[k] > 0.53) {
                print_error("function %d of %.17g %.17g %.17g: %.4f\n", k, x, y, p, error[k]);
            }
            worst[k] = error[k] > worst[k] ? error[k] : worst[k];
        }
    }
    CHECK(worst[0] <= 0.501 && worst[1] <= 0.501, seed);
    CHECK(worst[2] <= 0.52 && worst[3] <= 0.52, seed);
}

// Multiples of pi / 2 that doubles come closest to: all digits of the sine are lost but those of a long reduction.
static void angles_near_zeros(void **state)
{
    (void)state;
    skip_without_judge();
    static const double near[] = {
        3.141592653589793,           6.283185307179586, 355.0,
        5.319372648326541e255,  // Kahan's: 2^-61 from a multiple of pi / 2
        1.57079632679489661923,      1647099.0,         1647100.5, 2647099.3, 1e22, DBL_MAX,
        6381956970095103.0 * 0x1p797};
    for (size_t k = 0; k < sizeof near / sizeof near[0]; k++) {
        assert_true(error_of(pp_sin(near[k]), sinl(near[k])) <= 0.501);
        assert_true(error_of(pp_cos(near[k]), cosl(near[k])) <= 0.501);
        assert_true(error_of(pp_sin(-near[k]), sinl(-near[k])) <= 0.501);
        assert_true(error_of(pp_cos(-near[k]), cosl(-near[k])) <= 0.501);
    }
}

// libm as the judge: the results are exact, or named by annex F.
static bool same(double a, double b)
{
    return (a != a && b != b) || (a == b && signbit(a) == signbit(b));
}

static void special_numbers(void **state)
{
    (void)state;
    static double (*const made[])(double) = {pp_sin,  pp_cos,  pp_tan,   pp_asin, pp_acos, pp_atan,
                                             pp_exp,  pp_exp2, pp_expm1, pp_log,  pp_log2, pp_log10,
                                             pp_sinh, pp_cosh, pp_tanh,  pp_erfc};
    static double (*const known[])(double) = {sin,   cos, tan,  asin,  acos, atan, exp,  exp2,
                                              expm1, log, log2, log10, sinh, cosh, tanh, erfc};
    static const double at[] = {0.0,       -0.0,    1.0,      -1.0,    2.0,     INFINITY, -INFINITY,
                                NAN,       DBL_MAX, -DBL_MAX, DBL_MIN, 8.0,     1e-320,   -1e-320,
                                0x1p-1074, 1000.0,  -1000.0,  710.0,   -746.0,  1024.0,   -1075.0,
                                0.5,       1e-20,   709.0,    1023.0,  -1074.0, 720.0};
    enum { COUNT = sizeof at / sizeof at[0] };
    for (size_t f = 0; f < sizeof made / sizeof made[0]; f++) {
        for (int i = 0; i < COUNT; i++) {
            double a = made[f](at[i]), b = known[f](at[i]);
            // Neither is exact in general; where the result is not finite or zero, or the argument an integer, they agree.
            bool close = same(a, b) ||
                         (isfinite(b) && fabs(a - b) <= 4.0 * DBL_EPSILON * fabs(b) && a * b > 0.0);
            if (!close) {
                print_error("function %zu at %.17g: %.17g, libm has %.17g\n", f, at[i], a, b);
            }
            assert_true(close);
        }
    }
    for (int i = 0; i < COUNT; i++) {
        for (int j = 0; j < COUNT; j++) {
            double x = at[i], y = at[j];
            double a[] = {pp_pow(x, y), pp_atan2(x, y), pp_hypot(x, y)},
                   b[] = {pow(x, y), atan2(x, y), hypot(x, y)};
            for (int k = 0; k < 3; k++) {
                bool close = same(a[k], b[k]) ||
                             (isfinite(b[k]) && fabs(a[k] - b[k]) <= DBL_EPSILON * fabs(b[k]) &&
                              a[k] * b[k] > 0.0);
                if (!close) {
                    print_error("function %d of %.17g, %.17g: %.17g, libm has %.17g\n", k, x, y,
                                a[k], b[k]);
                }
                assert_true(close);
            }
        }
    }
}

static void exact_results(void **state)
{
    (void)state;
    for (int k = -1074; k <= 1023; k++) {
        assert_true(pp_exp2(k) == ldexp(1.0, k));
        assert_true(pp_log2(ldexp(1.0, k)) == k);
        assert_true(pp_pow(2.0, k) == ldexp(1.0, k));
    }
    double ten = 1.0;
    for (int k = 0; k <= 22; k++) {
        assert_true(pp_pow(10.0, k) == ten && pp_log10(ten) == k);
        ten *= 10.0;
    }
    assert_true(pp_hypot(3.0, 4.0) == 5.0 && pp_hypot(-5e200, 12e200) == 13e200);
    assert_true(pp_pow(-3.0, 3.0) == -27.0 && pp_pow(4.0, 0.5) == 2.0 &&
                pp_pow(0x1p-1074, 0.5) == 0x1p-537);
}

// Made once, here as everywhere: the judge of builds that have no other.
// Taken together they have the bits that each has by itself, signs of zero included.
static void sine_and_cosine_together(void **state)
{
    (void)state;
    enum { TRIES = 100000 };
    static const double special[] = {
        0.0, -0.0, INFINITY, -INFINITY, NAN, 0x1p-28, 0x1p-27, 0.78539816339744828, 1e300, -1e-320};
    uint64_t seed = rng_test_seed(1);
    rng r = rng_seed(seed);
    for (int i = 0; i < TRIES; i++) {
        int known = (int)(sizeof special / sizeof special[0]);
        double x = i < known ? special[i] : 0.0, s, c;
        if (i >= known) {
            int span = i % 3 == 0 ? 1000 : 30;
            x = ldexp(rng_uniform(&r, -2.0, 2.0), rng_below(&r, 2 * span) - span);
        }
        double alone[2] = {pp_sin(x), pp_cos(x)};
        pp_sine_cosine(x, &s, &c);
        CHECK(alone[0] != alone[0] ? s != s : pp_same_bits(&alone[0], &s, sizeof s), seed);
        CHECK(alone[1] != alone[1] ? c != c : pp_same_bits(&alone[1], &c, sizeof c), seed);
    }
}

static void bits_are_the_same_everywhere(void **state)
{
    (void)state;
    enum { TRIES = 3000 };
    uint64_t hash = 14695981039346656037ull;
    rng r = rng_seed(1);
    for (int k = 0; k < FUNCTIONS; k++) {
        for (int i = 0; i < TRIES; i++) {
            double x = argument(&r, &functions[k]), z = argument(&r, &functions[k]);
            double y[4] = {functions[k].made(x), pp_atan2(x, z), pp_hypot(x, z),
                           pp_pow(fabs(x), z)};
            for (int j = 0; j < 4; j++) {
                uint64_t bits;
                memcpy(&bits, &y[j], sizeof bits);
                hash = (hash ^ (y[j] == y[j] ? bits : 0)) * 1099511628211ull;
            }
        }
    }
    if (hash != HASH) {
        print_error("hash 0x%016llx\n", (unsigned long long)hash);
    }
    assert_true(hash == HASH);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(errors_are_below_half_a_place),
        cmocka_unit_test(functions_of_two_numbers),
        cmocka_unit_test(angles_near_zeros),
        cmocka_unit_test(special_numbers),
        cmocka_unit_test(exact_results),
        cmocka_unit_test(sine_and_cosine_together),
        cmocka_unit_test(bits_are_the_same_everywhere),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
