// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Units in strings: "12 mm", "5 N/m", "2 rpm". A unit is a factor to SI and its exponents of metre,
// kilogram, second and radian, so that a wrong dimension is found.
#include "scene/read/reader.h"

#include <math.h>
#include <string.h>

// The radian counts as a unit of its own here: an angle is no length, and rpm are not Hz.
static const struct {
    const char *word;
    pp_measure unit;
} units[] = {
    {"m", {1.0, {1, 0, 0, 0}}},
    {"km", {1e3, {1, 0, 0, 0}}},
    {"dm", {0.1, {1, 0, 0, 0}}},
    {"cm", {0.01, {1, 0, 0, 0}}},
    {"mm", {1e-3, {1, 0, 0, 0}}},
    {"um", {1e-6, {1, 0, 0, 0}}},
    {"nm", {1e-9, {1, 0, 0, 0}}},
    {"in", {0.0254, {1, 0, 0, 0}}},
    {"ft", {0.3048, {1, 0, 0, 0}}},
    {"kg", {1.0, {0, 1, 0, 0}}},
    {"t", {1e3, {0, 1, 0, 0}}},
    {"g", {1e-3, {0, 1, 0, 0}}},
    {"mg", {1e-6, {0, 1, 0, 0}}},
    {"lb", {0.45359237, {0, 1, 0, 0}}},
    {"s", {1.0, {0, 0, 1, 0}}},
    {"ms", {1e-3, {0, 0, 1, 0}}},
    {"us", {1e-6, {0, 0, 1, 0}}},
    {"min", {60.0, {0, 0, 1, 0}}},
    {"h", {3600.0, {0, 0, 1, 0}}},
    {"rad", {1.0, {0, 0, 0, 1}}},
    {"mrad", {1e-3, {0, 0, 0, 1}}},
    {"deg", {3.141592653589793 / 180.0, {0, 0, 0, 1}}},
    {"rev", {2.0 * 3.141592653589793, {0, 0, 0, 1}}},
    {"rpm", {3.141592653589793 / 30.0, {0, 0, -1, 1}}},
    {"Hz", {1.0, {0, 0, -1, 0}}},
    {"kHz", {1e3, {0, 0, -1, 0}}},
    {"N", {1.0, {1, 1, -2, 0}}},
    {"mN", {1e-3, {1, 1, -2, 0}}},
    {"kN", {1e3, {1, 1, -2, 0}}},
    {"MN", {1e6, {1, 1, -2, 0}}},
    {"J", {1.0, {2, 1, -2, 0}}},
    {"mJ", {1e-3, {2, 1, -2, 0}}},
    {"kJ", {1e3, {2, 1, -2, 0}}},
    {"W", {1.0, {2, 1, -3, 0}}},
    {"kW", {1e3, {2, 1, -3, 0}}},
    {"Pa", {1.0, {-1, 1, -2, 0}}},
    {"kPa", {1e3, {-1, 1, -2, 0}}},
    {"MPa", {1e6, {-1, 1, -2, 0}}},
    {"GPa", {1e9, {-1, 1, -2, 0}}},
};

enum { UNITS = sizeof units / sizeof units[0], POWER_MOST = 4 };

// Exact powers of ten divide better than they multiply: 12 mm is 12/1000, which rounds as 0.012.
double pp_measure_apply(const pp_measure *unit, double value)
{
    double inverse = round(1.0 / unit->factor);
    if (unit->factor < 1.0 && fabs(inverse * unit->factor - 1.0) < 1e-15) {
        return value / inverse;
    }
    return value * unit->factor;
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

// One unit with its power, such as s^2, from *at. false: *at is where it is wrong.
static bool read_factor(const char **at, bool below, pp_measure *product, const char **word)
{
    const char *start = *at;
    size_t length = 0;
    while (is_letter(start[length])) {
        length++;
    }
    // Exponents have one digit: no unit of mechanics has more.
    for (int k = 0; k < UNITS; k++) {
        if (strlen(units[k].word) == length && memcmp(units[k].word, start, length) == 0) {
            int power = 1;
            *at += length;
            if (**at == '^') {
                power = (*at)[1] - '0';
                if (power < 1 || power > POWER_MOST) {
                    return false;
                }
                *at += 2;
            }
            power = below ? -power : power;
            product->factor *= pp_pow(units[k].unit.factor, power);
            for (int i = 0; i < PP_DIMENSIONS; i++) {
                product->power[i] += power * units[k].unit.power[i];
            }
            return true;
        }
    }
    const char *known[UNITS];
    for (int k = 0; k < UNITS; k++) {
        known[k] = units[k].word;
    }
    *word = length > 0 ? pp_nearest(start, length, known, UNITS) : NULL;
    return false;
}

// Factors are separated by blanks or * (times) and / (per), which applies to the next one alone.
const char *pp_measure_parse(const char *text, size_t length, pp_measure *unit, const char **near)
{
    const char *at = text, *end = text + length;
    bool below = false;
    *unit = (pp_measure){1.0, {0, 0, 0, 0}};
    *near = NULL;
    // 1/s: nothing above the line.
    if (length > 1 && at[0] == '1' && at[1] == '/') {
        at += 2;
        below = true;
    }
    for (;;) {
        if (!read_factor(&at, below, unit, near)) {
            return at;
        }
        while (at < end && *at == ' ') {
            at++;
        }
        if (at >= end) {
            return NULL;
        }
        below = *at == '/';
        at += below || *at == '*';
        while (at < end && *at == ' ') {
            at++;
        }
    }
}

// Per radian, or not: a torsional stiffness is N m or N m/rad.
static bool same_dimension(const pp_measure *due, const pp_measure *given)
{
    for (int k = 0; k < PP_RADIAN; k++) {
        if (due->power[k] != given->power[k]) {
            return false;
        }
    }
    return due->power[PP_RADIAN] == given->power[PP_RADIAN] ||
           (due->power[PP_RADIAN] == 0 && given->power[PP_RADIAN] == -1);
}

// Alternatives are separated by " or " or ", ". which: the only one that counts, from 1; 0: all do.
bool pp_measure_fits(const pp_measure *unit, const char *due, int which)
{
    for (int k = 1; due; k++) {
        const char *other = strstr(due, " or "), *comma = strstr(due, ", ");
        const char *end = other ? other : comma;
        size_t length = end ? (size_t)(end - due) : strlen(due);
        char copy[24];
        pp_measure wanted;
        const char *near;
        pp_print(copy, sizeof copy, "%.*s", (int)length, due);
        bool counts = which == 0 || which == k || (k == 1 && !end);
        if (counts && !pp_measure_parse(copy, strlen(copy), &wanted, &near) &&
            same_dimension(&wanted, unit)) {
            return true;
        }
        size_t gap = end == other ? sizeof " or " - 1 : sizeof ", " - 1;
        due = end ? end + gap : NULL;
    }
    return false;
}
