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
static void print_digits(char *text, size_t size, double value, int digits)
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

// Numbers of ordinary size, without printf, which needs five times as long: |x| = m / 2^s with m < 2^53 has the 17 digits
//
//   N = m 10^p / 2^s = m 5^p / 2^(s - p) ,   p = 16 - floor(log10 |x|) ,
//
// rounded to even as printf does. For 1e-4 <= |x| < 2^53, 5^p < 2^47: the product is exact in two words.
enum { DIGITS_FULL = 17, DECADE_LEAST = -4, DECADES = 20, FAST_MOST = 32 };

// N for the decade 10^k, or 0: it is not that decade.
static uint64_t digits_in_decade(uint64_t m, int s, int k)
{
    const uint64_t least = 10000000000000000U;  // 10^16
    uint64_t five = 1;
    int p = DIGITS_FULL - 1 - k, shift = s - p;
    for (int j = 0; j < p; j++) {
        five *= 5;
    }
    // m five = high 2^64 + low, by halves of both
    const uint64_t half_word = 0xffffffffU;
    uint64_t low_low = (m & half_word) * (five & half_word),
             low_high = (m & half_word) * (five >> 32);
    uint64_t high_low = (m >> 32) * (five & half_word), high_high = (m >> 32) * (five >> 32);
    uint64_t middle = (low_low >> 32) + (low_high & half_word) + (high_low & half_word);
    uint64_t low = (middle << 32) | (low_low & half_word);
    uint64_t high = high_high + (low_high >> 32) + (high_low >> 32) + (middle >> 32);
    uint64_t n = 0;
    if (shift > 0) {
        uint64_t rest = low & (((uint64_t)1 << shift) - 1), half = (uint64_t)1 << (shift - 1);
        n = (high << (64 - shift)) | (low >> shift);
        if (n < least) {
            return 0;
        }
        n += rest > half || (rest == half && (n & 1));
    } else {
        n = low << -shift;
    }
    return n >= least && n < 10 * least ? n : 0;
}

static bool print_ordinary(char *text, double value)
{
    // not exact: which decade it is shows by the number of digits
    static const double decade[DECADES] = {1e-4, 1e-3, 1e-2, 1e-1, 1e0,  1e1, 1e2,
                                           1e3,  1e4,  1e5,  1e6,  1e7,  1e8, 1e9,
                                           1e10, 1e11, 1e12, 1e13, 1e14, 1e15};
    double x = fabs(value);
    if (x == 0.0) {
        memcpy(text, signbit(value) ? "-0" : "0\0", 3);
        return true;
    }
    if (!(x >= 1e-4 && x < 9007199254740992.0)) {  // 2^53
        return false;
    }
    int binary = 0, k = DECADES - 1;
    uint64_t m = (uint64_t)ldexp(frexp(x, &binary), 53);
    while (k > 0 && x < decade[k]) {
        k--;
    }
    k += DECADE_LEAST;
    uint64_t n = digits_in_decade(m, 53 - binary, k);
    if (n == 0) {
        return false;  // within rounding of a power of ten
    }
    char digit[DIGITS_FULL];
    int count = DIGITS_FULL;
    for (int j = DIGITS_FULL - 1; j >= 0; j--) {
        digit[j] = (char)('0' + n % 10);
        n /= 10;
    }
    while (count > 1 && digit[count - 1] == '0') {
        count--;
    }
    // sign; zeros that a small number begins with; digits, with the point where it belongs
    char *out = text;
    if (value < 0.0) {
        *out++ = '-';
    }
    if (k < 0) {
        *out++ = '0';
        *out++ = '.';
        for (int j = -1; j > k; j--) {
            *out++ = '0';
        }
    }
    for (int j = 0; j < count || j <= k; j++) {
        if (j == k + 1 && k >= 0) {
            *out++ = '.';
        }
        *out++ = j < count ? digit[j] : '0';
    }
    *out = '\0';
    return true;
}

void pp_number_print(char *text, size_t size, double value)
{
    if (isinf(value)) {
        pp_print(text, size, "%s", value < 0.0 ? "-inf" : "inf");
        return;
    }
    if (size >= FAST_MOST && print_ordinary(text, value)) {
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
