// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Decimal text to double is exact, and does not care about the locale.
#include "base/base.h"
#include "support/cmocka.h"
#include "support/random.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static pp_number parse(const char *text, double *value)
{
    return pp_number_parse(text, strlen(text), value);
}

static double bits_of(uint64_t bits)
{
    double x;
    memcpy(&x, &bits, sizeof x);
    return x;
}

static bool same_bits(double a, double b)
{
    uint64_t x, y;
    memcpy(&x, &a, sizeof x);
    memcpy(&y, &b, sizeof y);
    return x == y;
}

static void what_is_a_number(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        pp_number kind;
        double value;
    } cases[] = {
        {"0", PP_NUMBER_FINITE, 0.0},
        {"-0", PP_NUMBER_FINITE, -0.0},
        {"+1.5", PP_NUMBER_FINITE, 1.5},
        {".5", PP_NUMBER_FINITE, 0.5},
        {"5.", PP_NUMBER_FINITE, 5.0},
        {"1e22", PP_NUMBER_FINITE, 1e22},
        {"1e23", PP_NUMBER_FINITE, 1e23},
        {"123456789012345678901234567890", PP_NUMBER_FINITE, 123456789012345678901234567890.0},
        {"0.000000000000000000000000000001", PP_NUMBER_FINITE, 1e-30},
        {"1.7976931348623157e308", PP_NUMBER_FINITE, 1.7976931348623157e308},
        {"4.9e-324", PP_NUMBER_FINITE, 4.9e-324},
        {"1e-999", PP_NUMBER_FINITE, 0.0},
        {"9007199254740993", PP_NUMBER_FINITE, 9007199254740992.0},
        {"1e999", PP_NUMBER_OVERFLOW, 0.0},
        {"1e99999999999999999999", PP_NUMBER_OVERFLOW, 0.0},
        {"inf", PP_NUMBER_INFINITE, HUGE_VAL},
        {"-Infinity", PP_NUMBER_INFINITE, -HUGE_VAL},
        {"nan", PP_NUMBER_NAN, 0.0},
        {"-NaN", PP_NUMBER_NAN, 0.0},
        {"", PP_NUMBER_NOT, 0.0},
        {"-", PP_NUMBER_NOT, 0.0},
        {".", PP_NUMBER_NOT, 0.0},
        {"1e", PP_NUMBER_NOT, 0.0},
        {"1e+", PP_NUMBER_NOT, 0.0},
        {"1.2.3", PP_NUMBER_NOT, 0.0},
        {"0x10", PP_NUMBER_NOT, 0.0},
        {"1,5", PP_NUMBER_NOT, 0.0},
        {"infx", PP_NUMBER_NOT, 0.0},
        {"in", PP_NUMBER_NOT, 0.0},
    };
    for (size_t k = 0; k < sizeof cases / sizeof cases[0]; k++) {
        double value = 77.0;
        pp_number kind = parse(cases[k].text, &value);
        if (kind != cases[k].kind) {
            print_error("'%s' is kind %d, not %d\n", cases[k].text, (int)kind, (int)cases[k].kind);
            fail();
        }
        if (kind <= PP_NUMBER_INFINITE) {
            assert_true(same_bits(value, cases[k].value));
        }
    }
}

// Any double printed with 17 digits, in any style, comes back with the same bits.
static void round_trips(void)
{
    FOR_SEEDS(seed, 20000)
    {
        rng r = rng_seed(seed);
        double x = bits_of(rng_next(&r)), y;
        if (!isfinite(x)) {
            continue;
        }
        char text[64];
        pp_number_print(text, sizeof text, x);
        CHECK(parse(text, &y) == PP_NUMBER_FINITE, seed);
        CHECK(same_bits(x, y), seed);
        CHECK(strchr(text, ',') == NULL, seed);
    }
}

// Most numbers are printed without printf, to the same text.
static void expect_as_library(double x, uint64_t seed)
{
    char ours[64], theirs[64];
    pp_number_print(ours, sizeof ours, x);
    (void)snprintf(theirs, sizeof theirs, "%.17g", x);
    CHECK(strcmp(ours, theirs) == 0, seed);
    pp_number_print_rounded(ours, sizeof ours, x);
    (void)snprintf(theirs, sizeof theirs, "%.15g", x);
    CHECK(strcmp(ours, theirs) == 0, seed);
}

static void prints_as_the_library(void **state)
{
    (void)state;
    FOR_SEEDS(seed, 300)
    {
        rng r = rng_seed(seed);
        for (int k = 0; k < 1000; k++) {
            // any size; short decimals; whole numbers and halves; next to powers of ten
            double size = pow(10.0, rng_uniform(&r, -6.0, 18.0));
            double few = round(rng_uniform(&r, -1e4, 1e4)) * pow(10.0, rng_below(&r, 8) - 6);
            double half = 0.5 * round(rng_uniform(&r, -1.0, 1.0) * ldexp(1.0, rng_below(&r, 56)));
            double ten = pow(10.0, rng_below(&r, 22) - 5);
            const double x[] = {
                size * rng_uniform(&r, -1.0, 1.0), few, half, ten,  nextafter(ten, 0.0),
                nextafter(ten, INFINITY),          0.0, -0.0, -size};
            for (size_t j = 0; j < sizeof x / sizeof x[0]; j++) {
                expect_as_library(x[j], seed);
            }
            // what is next to zero, to its last bit
            double tiny = pow(10.0, -(double)rng_below(&r, 324)), any = bits_of(rng_next(&r));
            expect_as_library(tiny, seed);
            expect_as_library(tiny * rng_uniform(&r, -1.0, 1.0), seed);
            expect_as_library(ldexp(1.0 + rng_below(&r, 9), -rng_below(&r, 1075)), seed);
            if (isfinite(any)) {
                expect_as_library(any, seed);
            }
        }
    }
}

static void prints_and_reads_exactly(void **state)
{
    (void)state;
    round_trips();
}

// More digits than a double has, as Siconos prints them, agree with the C library.
static void long_digits_round_once(void **state)
{
    (void)state;
    FOR_SEEDS(seed, 20000)
    {
        rng r = rng_seed(seed);
        char text[900];
        double y;
        snprintf(text, sizeof text, "%.*e", rng_below(&r, 40), bits_of(rng_next(&r)));
        if (parse(text, &y) == PP_NUMBER_FINITE) {
            double x = strtod(text, NULL);
            CHECK(same_bits(x, y), seed);
        }
    }
    // Halfway between two doubles, and a last digit far away that decides.
    char text[1200] = "9007199254740993.";
    double y;
    memset(text + 17, '0', 1000);
    text[1017] = '1';
    assert_int_equal(parse(text, &y), PP_NUMBER_FINITE);
    assert_true(y == 9007199254740994.0);
}

static void locale_does_not_matter(void **state)
{
    (void)state;
    static const char *const commas[] = {"de_DE.UTF-8", "fr_FR.UTF-8", "de_DE"};
    for (size_t k = 0; k < sizeof commas / sizeof commas[0]; k++) {
        if (setlocale(LC_ALL, commas[k])) {
            round_trips();
            setlocale(LC_ALL, "C");
            return;
        }
    }
    print_message("no locale with a decimal comma is installed\n");
    skip();
}

static void integers_have_limits(void **state)
{
    (void)state;
    int value = 5;
    assert_true(pp_number_parse_int("-7", 2, -7, 7, &value) && value == -7);
    assert_true(pp_number_parse_int("2147483647", 10, 0, 2147483647, &value));
    assert_false(pp_number_parse_int("2147483648", 10, 0, 2147483647, &value));
    assert_false(pp_number_parse_int("99999999999999999999999", 23, 0, 2147483647, &value));
    assert_false(pp_number_parse_int("8", 1, 0, 7, &value));
    assert_false(pp_number_parse_int("1.0", 3, 0, 7, &value));
    assert_false(pp_number_parse_int("", 0, 0, 7, &value));
    assert_false(pp_number_parse_int("-", 1, 0, 7, &value));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_a_number),       cmocka_unit_test(prints_and_reads_exactly),
        cmocka_unit_test(prints_as_the_library),  cmocka_unit_test(long_digits_round_once),
        cmocka_unit_test(locale_does_not_matter), cmocka_unit_test(integers_have_limits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
