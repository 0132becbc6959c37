// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// From numbers to places on the page: ranges, linear and logarithmic scales, ticks, SI prefixes.
//
// Axes end at ticks or halfway between them, and numbers are short: a prefix of the unit, or a
// power of ten, takes the rest.
#pragma once

#include "plot/draw/svg.h"

// Of finite values; low > high: nothing seen yet.
typedef struct pp_range {
    double low, high;
    double positive;  // the smallest value above 0, INFINITY: none
} pp_range;

pp_range pp_range_none(void);
void pp_range_add(pp_range *range, double value);  // NaN and infinities are left out
void pp_range_join(pp_range *range, const pp_range *other);

// A scale: from data to places on the page. y axes run from bottom to top, so that from > to.
typedef struct pp_ruler {
    bool log;
    double low, high;  // data, low < high; of a logarithmic scale powers of ten
    double from, to;   // where they are on the page
} pp_ruler;

enum { PP_TICKS_MOST = 40 };
typedef struct pp_ticks {
    int count;
    double value[PP_TICKS_MOST];
    int decimals;  // of the labels; linear scales
} pp_ticks;

// A linear scale that holds the range and ends at ticks (loose), or only just holds it.
pp_ruler pp_scale_linear(const pp_range *range, bool loose, int most, double from, double to);
// Whole decades; values at or below 0 have no place on it. At most `decades`, from the top.
pp_ruler pp_scale_log(const pp_range *range, int decades, double from, double to);
double pp_scale_at(const pp_ruler *scale, double value);  // values outside are put on the edge
bool pp_scale_holds(const pp_ruler *scale, double value);

// About `most` ticks, at 1, 2 or 5 times a power of ten.
pp_ticks pp_ticks_linear(double low, double high, int most);
pp_ticks pp_ticks_log(double low, double high, int most);
// 2…9 times the powers of ten, or the decades that have no label.
pp_ticks pp_ticks_log_minor(double low, double high, const pp_ticks *major);

// Numbers of a linear axis are shown divided by `factor`, and its unit gets the prefix.
typedef struct pp_prefix {
    double factor;
    const char *prefix;  // "", "m", "k", …; NULL: no prefix, the axis shows a power of ten
    int power;
} pp_prefix;
pp_prefix pp_unit_for(double low, double high);
