// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Decimal text to double and back, exact and independent of the locale.
//
// strtod and printf take the decimal point from the locale, but an integer with an exponent has no
// point. So "9.3656e+02" is passed to strtod as "93656e-2", and the point that printf writes is
// replaced.
#include "base/base.h"

#include <errno.h>
#include <float.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A double is determined by at most 767 digits; beyond them it only matters whether any is not
// zero.
enum { DIGITS_MAX = 780, EXPONENT_MAX = 100000 };

typedef struct decimal {
    char digit[DIGITS_MAX + 32];  // with room for the exponent
    int count;                    // significant digits kept
    int64_t exponent;             // of the last digit kept
    bool negative, sticky;        // sticky: a non-zero digit was dropped
} decimal;

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

// Whether the text is the lower-case word, in any case.
static bool same_word(const char *text, size_t length, const char *word)
{
    for (size_t k = 0; k < length; k++) {
        char c = text[k];
        if (c >= 'A' && c <= 'Z') {
            c = (char)(c - 'A' + 'a');
        }
        if (word[k] == '\0' || c != word[k]) {
            return false;
        }
    }
    return word[length] == '\0';
}

// inf, infinity or nan, in any case.
static pp_number parse_word(const char *text, size_t length, bool negative, double *value)
{
    if (same_word(text, length, "inf") || same_word(text, length, "infinity")) {
        *value = negative ? -PP_INF : PP_INF;
        return PP_NUMBER_INFINITE;
    }
    return same_word(text, length, "nan") ? PP_NUMBER_NAN : PP_NUMBER_NOT;
}

// Appends a digit. Leading zeros are dropped; digits beyond the limit only move the exponent.
static void push_digit(decimal *d, char c, bool fraction)
{
    if (d->count < DIGITS_MAX) {
        if (d->count > 0 || c != '0') {
            d->digit[d->count++] = c;
        }
        d->exponent -= fraction;
    } else {
        d->sticky = d->sticky || c != '0';
        d->exponent += !fraction;
    }
}

// Digits with at most one point; returns their end, NULL: there is no digit.
static const char *parse_digits(const char *at, const char *end, decimal *d)
{
    bool point = false;
    const char *start = at;
    for (; at < end && (is_digit(*at) || (*at == '.' && !point)); at++) {
        if (*at == '.') {
            point = true;
        } else {
            push_digit(d, *at, point);
        }
    }
    // A point alone is no number.
    bool has_digits = at - start > (point ? 1 : 0);
    return has_digits ? at : NULL;
}

// "e-12" and the like, to the end of the text. Huge exponents are cut, since they overflow anyway.
static bool parse_exponent(const char *at, const char *end, decimal *d)
{
    if (at == end) {
        return true;
    }
    if (*at != 'e' && *at != 'E') {
        return false;
    }
    at++;
    bool negative = at < end && *at == '-';
    at += at < end && (*at == '-' || *at == '+');
    if (at == end) {
        return false;
    }
    int64_t exponent = 0;
    for (; at < end && is_digit(*at); at++) {
        exponent = exponent < EXPONENT_MAX ? 10 * exponent + (*at - '0') : exponent;
    }
    d->exponent += negative ? -exponent : exponent;
    return at == end;
}

// Up to 15 digits times or over 10^0..10^22: both factors are exact doubles, so that the one
// rounding is correct (Clinger 1990).
static bool fast_value(const decimal *d, double *value)
{
    static const double ten[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                 1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    if (d->count > 15 || d->exponent < -22 || d->exponent > 22) {
        return false;
    }
    int64_t mantissa = 0;
    for (int k = 0; k < d->count; k++) {
        mantissa = 10 * mantissa + (d->digit[k] - '0');
    }
    *value = d->exponent < 0 ? (double)mantissa / ten[-d->exponent]
                             : (double)mantissa * ten[d->exponent];
    return true;
}

// A 1 after the last digit stands for all that were dropped: it breaks ties as they would.
static double slow_value(decimal *d)
{
    if (d->sticky) {
        d->digit[d->count++] = '1';
        d->exponent--;
    }
    pp_print(d->digit + d->count, 24, "e%" PRId64, d->exponent);
    return strtod(d->digit, NULL);
}

pp_number pp_number_parse(const char *text, size_t length, double *value)
{
    const char *at = text, *end = text + length;
    decimal d;
    d.count = 0;
    d.exponent = 0;
    d.sticky = false;
    d.negative = at < end && *at == '-';
    at += at < end && (*at == '-' || *at == '+');
    if (at < end && !is_digit(*at) && *at != '.') {
        return parse_word(at, (size_t)(end - at), d.negative, value);
    }
    at = parse_digits(at, end, &d);
    if (!at || !parse_exponent(at, end, &d)) {
        return PP_NUMBER_NOT;
    }
    // Without trailing zeros more numbers are exact in fast_value.
    while (d.count > 0 && !d.sticky && d.digit[d.count - 1] == '0') {
        d.count--;
        d.exponent++;
    }
    double size = 0.0;
    if (d.count > 0 && !fast_value(&d, &size)) {
        size = slow_value(&d);
    }
    *value = d.negative ? -size : size;
    return size > DBL_MAX ? PP_NUMBER_OVERFLOW : PP_NUMBER_FINITE;
}

// Digits with a sign; no point, no exponent.
bool pp_number_parse_int(const char *text, size_t length, int low, int high, int *value)
{
    const char *at = text, *end = text + length;
    bool negative = at < end && *at == '-';
    at += at < end && (*at == '-' || *at == '+');
    if (at == end) {
        return false;
    }
    int64_t number = 0;
    for (; at < end; at++) {
        if (!is_digit(*at) || number > INT_MAX) {
            return false;
        }
        number = 10 * number + (*at - '0');
    }
    number = negative ? -number : number;
    if (number < low || number > high) {
        return false;
    }
    *value = (int)number;
    return true;
}

// printf's digits, with a point whatever the locale.
static void print_by_library(char *text, size_t size, double value, int digits)
{
    pp_print(text, size, "%.*g", digits, value);
    char *out = text;
    bool point = false;
    for (const char *in = text; *in; in++) {
        if (is_digit(*in) || strchr("+-eE", *in)) {
            *out++ = *in;
        } else if (!point) {  // the decimal point of the locale, which may have several bytes
            *out++ = '.';
            point = true;
        }
    }
    *out = '\0';
}

// Digits without printf, which needs 5 to 30 times as long: |x| = m 2^e with m < 2^53 has the D digits
//
//   N = m 2^e 10^p = (m 5^r) (5^27j) 2^(e + p) ,   p = D - 1 - floor(log10 |x|) = 27 j + r >= 0 ,
//
// rounded to even as printf does. m 5^r < 2^116 is exact. 5^27j is cut to 128 bits, so that N < 2^57 is known to 2^-70:
// the 64 bits behind its point decide about rounding unless they are within a few units of a half. With j = 0 all is exact.
enum {
    DIGITS_FULL = 17,
    STEP_OF_POWERS = 27,
    POWERS = 13,
    WORDS = 4,
    WORD_BITS = 64,
    FAST_MOST = 32
};

// a b = high 2^64 + low, by halves of both
static void multiply_words(uint64_t a, uint64_t b, uint64_t *high, uint64_t *low)
{
    const uint64_t half_word = 0xffffffffU;
    uint64_t low_low = (a & half_word) * (b & half_word), low_high = (a & half_word) * (b >> 32);
    uint64_t high_low = (a >> 32) * (b & half_word), high_high = (a >> 32) * (b >> 32);
    uint64_t middle = (low_low >> 32) + (low_high & half_word) + (high_low & half_word);
    *low = (middle << 32) | (low_low & half_word);
    *high = high_high + (low_high >> 32) + (high_low >> 32) + (middle >> 32);
}

// w += a b 2^(64 at)
static void add_product(uint64_t w[WORDS], int at, uint64_t a, uint64_t b)
{
    uint64_t high, low;
    multiply_words(a, b, &high, &low);
    w[at] += low;
    uint64_t carry = high + (w[at] < low);  // high <= 2^64 - 2: no overflow
    for (int k = at + 1; k < WORDS && carry > 0; k++) {
        w[k] += carry;
        carry = w[k] < carry;
    }
}

// 64 bits from a place on; bits outside of w are zero.
static uint64_t bits_from(const uint64_t w[WORDS], int place)
{
    uint64_t bits = 0;
    for (int k = 0; k < WORDS; k++) {
        int shift = k * WORD_BITS - place;
        if (shift >= 0 && shift < WORD_BITS) {
            bits |= w[k] << shift;
        } else if (shift < 0 && shift > -WORD_BITS) {
            bits |= w[k] >> -shift;
        }
    }
    return bits;
}

// N for the decade 10^k, or 0: it is not that decade, or printf has to decide.
static uint64_t digits_in_decade(uint64_t m, int e, int digits, int k)
{
    // 5^27j = (high 2^64 + low) 2^exponent, cut
    static const struct {
        uint64_t high, low;
        int exponent;
    } power[POWERS] = {{0x8000000000000000U, 0x0U, -127},
                       {0xcecb8f27f4200f3aU, 0x0U, -65},
                       {0xa70c3c40a64e6c51U, 0x999090b65f67d924U, -2},
                       {0x86f0ac99b4e8dafdU, 0x69a028bb3ded71a3U, 61},
                       {0xda01ee641a708de9U, 0xe80e6f4820cc9495U, 123},
                       {0xb01ae745b101e9e4U, 0x5ec05dcff72e7f8fU, 186},
                       {0x8e41ade9fbebc27dU, 0x14588f13be847307U, 249},
                       {0xe5d3ef282a242e81U, 0x8f1668c8a86da5faU, 311},
                       {0xb9a74a0637ce2ee1U, 0x6d953e2bd7173692U, 374},
                       {0x95f83d0a1fb69cd9U, 0x4abdaf101564f98eU, 437},
                       {0xf24a01a73cf2dccfU, 0xbc633b39673c8cecU, 499},
                       {0xc3b8358109e84f07U, 0x0a862f80ec4700c8U, 562},
                       {0x9e19db92b4e31ba9U, 0x6c07a2c26a8346d1U, 625}};
    const uint64_t half = (uint64_t)1 << (WORD_BITS - 1), near = 8;
    int p = digits - 1 - k, j = p / STEP_OF_POWERS;
    if (p < 0 || j >= POWERS) {
        return 0;
    }
    uint64_t five = 1, least = 1, a[2], w[WORDS] = {0};
    for (int i = 0; i < p % STEP_OF_POWERS; i++) {
        five *= 5;
    }
    for (int i = 1; i < digits; i++) {
        least *= 10;
    }
    multiply_words(m, five, &a[1], &a[0]);
    for (int i = 0; i < 2; i++) {
        add_product(w, i, a[i], power[j].low);
        add_product(w, i + 1, a[i], power[j].high);
    }
    int point = -(e + p + power[j].exponent);  // bits behind the point
    if (point < 0 || bits_from(w, point + WORD_BITS) != 0) {
        return 0;
    }
    uint64_t n = bits_from(w, point), rest = bits_from(w, point - WORD_BITS);
    if (n < least || n >= 10 * least) {
        return 0;
    }
    if (j > 0 && rest - (half - near) <= 2 * near) {
        return 0;
    }
    bool more = false;  // bits behind those of rest
    for (int place = point - WORD_BITS; place > 0; place -= WORD_BITS) {
        more = more || bits_from(w, place - WORD_BITS) != 0;
    }
    n += rest > half || (rest == half && (more || (n & 1)));
    return n < 10 * least ? n : 0;  // 10^D: printf knows
}

// As %.{digits}g; false: printf has to.
static bool print_quickly(char *text, double value, int digits)
{
    double x = fabs(value);
    if (x == 0.0) {
        memcpy(text, signbit(value) ? "-0" : "0\0", 3);
        return true;
    }
    if (!(x < 9007199254740992.0)) {  // 2^53
        return false;
    }
    int binary = 0;
    uint64_t m = (uint64_t)ldexp(frexp(x, &binary), DBL_MANT_DIG);
    int k = (int)floor((binary - 1) * 0.30102999566398120);  // log10 2: this decade or the next
    uint64_t n = digits_in_decade(m, binary - DBL_MANT_DIG, digits, k);
    if (n == 0) {
        n = digits_in_decade(m, binary - DBL_MANT_DIG, digits, ++k);
    }
    if (n == 0) {
        return false;
    }
    char digit[DIGITS_FULL];
    int count = digits;
    for (int j = digits - 1; j >= 0; j--) {
        digit[j] = (char)('0' + n % 10);
        n /= 10;
    }
    while (count > 1 && digit[count - 1] == '0') {
        count--;
    }
    // %g has an exponent below 10^-4 and from 10^digits on: with one digit before the point
    bool scientific = k < -4 || k >= digits;
    int first = scientific ? 0 : k;  // decade of the first digit as it is written
    char *out = text;
    if (value < 0.0) {
        *out++ = '-';
    }
    if (first < 0) {
        *out++ = '0';
        *out++ = '.';
        for (int j = -1; j > first; j--) {
            *out++ = '0';
        }
    }
    for (int j = 0; j < count || j <= first; j++) {
        if (j == first + 1 && first >= 0) {
            *out++ = '.';
        }
        *out++ = j < count ? digit[j] : '0';
    }
    if (scientific) {
        int size = k < 0 ? -k : k;
        *out++ = 'e';
        *out++ = k < 0 ? '-' : '+';
        if (size >= 100) {
            *out++ = (char)('0' + size / 100);
        }
        *out++ = (char)('0' + size / 10 % 10);
        *out++ = (char)('0' + size % 10);
    }
    *out = '\0';
    return true;
}

// As %.{digits}g, with a point whatever the locale.
static void print_digits(char *text, size_t size, double value, int digits)
{
    if (size < FAST_MOST || !print_quickly(text, value, digits)) {
        print_by_library(text, size, value, digits);
    }
}

void pp_number_print(char *text, size_t size, double value)
{
    if (isinf(value)) {
        pp_print(text, size, "%s", value < 0.0 ? "-inf" : "inf");
        return;
    }
    print_digits(text, size, value, DIGITS_FULL);
}

void pp_number_print_rounded(char *text, size_t size, double value)
{
    if (isfinite(value)) {
        print_digits(text, size, value, 15);
    } else {
        pp_number_print(text, size, value);
    }
}

// Most numbers that people write need 15 digits; 17 always suffice.
void pp_number_print_short(char *text, size_t size, double value)
{
    double back = 0.0;
    for (int digits = 15; digits < 17; digits++) {
        print_digits(text, size, value, digits);
        if (pp_number_parse(text, strlen(text), &back) == PP_NUMBER_FINITE && back == value) {
            return;
        }
    }
    pp_number_print(text, size, value);
}
