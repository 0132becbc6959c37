// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Ranges, scales, ticks and SI prefixes.
#include "plot/draw/axis.h"
#include "math/math.h"

#include <math.h>

// ── Ranges ───────────────────────────────────────────────────────────────────────────────────────

// Empty: low is above high, and adding a value makes both equal to it.
pp_range pp_range_none(void)
{
    return (pp_range){.low = PP_INF, .high = -PP_INF, .positive = PP_INF};
}

void pp_range_add(pp_range *range, double value)
{
    if (isfinite(value)) {
        range->low = fmin(range->low, value);
        range->high = fmax(range->high, value);
        range->positive = value > 0.0 ? fmin(range->positive, value) : range->positive;
    }
}

// Joining an empty range changes nothing.
void pp_range_join(pp_range *range, const pp_range *other)
{
    range->low = fmin(range->low, other->low);
    range->high = fmax(range->high, other->high);
    range->positive = fmin(range->positive, other->positive);
}

// ── Scales ───────────────────────────────────────────────────────────────────────────────────────

// 1, 2 or 5 times a power of ten, at least `least`.
static double nice_step(double least)
{
    double power = pp_pow(10.0, floor(pp_log10(least) + 1e-9));
    double mantissa = least / power;
    static const double nice[] = {1.0, 2.0, 5.0};
    for (size_t k = 0; k < sizeof nice / sizeof nice[0]; k++) {
        if (mantissa <= nice[k] + 1e-9) {
            return nice[k] * power;
        }
    }
    return 10.0 * power;
}

// Somewhat wider where the ends would fall together, or within what a double can collect_run apart.
static void separate_ends(double *low, double *high)
{
    double least = fmax(fmax(fabs(*low), fabs(*high)) * 1e-9, 1e-290);
    if (*high - *low < least) {
        double half = *low == 0.0 && *high == 0.0 ? 1.0 : fmax(0.1 * fabs(*high), least);
        double middle = 0.5 * *low + 0.5 * *high;
        *low = middle - half;
        *high = middle + half;
    }
}

// loose: for values, with some air and ends at ticks or halfway between them; else just the range,
// for time.
pp_ruler pp_scale_linear(const pp_range *range, bool loose, int most, double from, double to)
{
    bool empty = !(range->low <= range->high);
    // Far ends are cut, so that differences of them stay finite.
    double low = empty ? 0.0 : fmax(range->low, -1e300);
    double high = empty ? 1.0 : fmin(range->high, 1e300);
    separate_ends(&low, &high);
    if (loose) {
        double margin = 0.02 * (high - low);  // a curve does not run along the edge
        // A range that begins or ends at zero keeps its end there.
        low = low < 0.0 || low > margin ? low - margin : low;
        high = high > 0.0 || high < -margin ? high + margin : high;
        double step = nice_step((high - low) / most);
        double first = floor(low / step + 1e-6) * step, last = ceil(high / step - 1e-6) * step;
        // Ends at half steps save the space of a whole one.
        low = low - first > 0.5 * step ? first + 0.5 * step : first;
        high = last - high > 0.5 * step ? last - 0.5 * step : last;
    }
    return (pp_ruler){.low = low, .high = high, .from = from, .to = to};
}

// At least two decades, so that the axis has two labels.
pp_ruler pp_scale_log(const pp_range *range, int decades, double from, double to)
{
    // No positive value: a scale that shows nothing of the data.
    bool empty = !(range->positive <= range->high);
    double top = empty ? 1.0 : fmin(range->high, 1e300);
    double bottom = empty ? 1e-3 : fmax(range->positive, 1e-300);
    double high = ceil(pp_log10(top) - 1e-9), low = floor(pp_log10(bottom) + 1e-9);
    if (high - low < 2.0) {
        low = high - 2.0;
    }
    low = fmax(low, high - decades);
    return (pp_ruler){
        .log = true, .low = pp_pow(10.0, low), .high = pp_pow(10.0, high), .from = from, .to = to};
}

// Positions on the page; values below a logarithmic scale are put on its lower edge.
double pp_scale_at(const pp_ruler *s, double value)
{
    double part = s->log ? pp_log10(fmax(value, s->low) / s->low) / pp_log10(s->high / s->low)
                         : (value - s->low) / (s->high - s->low);
    return s->from + fmax(0.0, fmin(part, 1.0)) * (s->to - s->from);
}

// With a slack of 1e-9 of the length, for ticks that rounding puts just outside.
bool pp_scale_holds(const pp_ruler *scale, double value)
{
    double slack = scale->log ? 0.0 : 1e-9 * (scale->high - scale->low);
    return value >= scale->low - slack && value <= scale->high + slack;
}

// ── Ticks ────────────────────────────────────────────────────────────────────────────────────────

// More than there is room for are left out.
static void add_tick(pp_ticks *ticks, double value)
{
    if (ticks->count < PP_TICKS_MOST) {
        ticks->value[ticks->count++] = value;
    }
}

pp_ticks pp_ticks_linear(double low, double high, int most)
{
    pp_ticks ticks = {0};
    double step = nice_step((high - low) / most);
    double first = ceil(low / step - 1e-6), last = floor(high / step + 1e-6);
    for (double k = first; k <= last && ticks.count < PP_TICKS_MOST; k += 1.0) {
        // No negative zero.
        add_tick(&ticks, k == 0.0 ? 0.0 : k * step);
    }
    // As many decimals as the step needs: 0.5 has one.
    double decimals = -floor(pp_log10(step) + 1e-9);
    ticks.decimals = decimals > 0.0 ? (int)fmin(decimals, 15.0) : 0;
    return ticks;
}

// Powers of ten are computed by pow, which may be off by a bit.
static int exponent(double power_of_ten)
{
    return (int)lround(pp_log10(power_of_ten));
}

// From the top: the largest decade always has a label.
pp_ticks pp_ticks_log(double low, double high, int most)
{
    pp_ticks ticks = {0};
    int first = exponent(low), last = exponent(high);
    int step = 1;
    // Every second, third, ... decade where there are too many.
    while ((last - first) / step + 1 > most) {
        step++;
    }
    for (int k = last; k >= first && ticks.count < PP_TICKS_MOST; k -= step) {
        add_tick(&ticks, pp_pow(10.0, k));
    }
    return ticks;
}

// With more than four decades lines for 2 to 9 would be too dense.
pp_ticks pp_ticks_log_minor(double low, double high, const pp_ticks *major)
{
    pp_ticks ticks = {0};
    int first = exponent(low), last = exponent(high);
    if (last - first > 4) {
        bool labelled = major->count > last - first;  // every decade
        int decades = labelled ? 0 : last - first + 1;
        for (int k = 0; k < decades; k++) {
            add_tick(&ticks, pp_pow(10.0, first + k));
        }
        return ticks;
    }
    for (int k = first; k < last; k++) {
        for (int m = 2; m <= 9; m++) {
            add_tick(&ticks, m * pp_pow(10.0, k));
        }
    }
    return ticks;
}

// ── Units ────────────────────────────────────────────────────────────────────────────────────────

// A range within 0.05 to 5000 needs no prefix. Beyond p and G a power of ten takes its place.
pp_prefix pp_unit_for(double low, double high)
{
    static const char *const prefixes[] = {"p", "n", "\xc2\xb5", "m", "", "k", "M", "G"};
    double most = fmax(fabs(low), fabs(high));
    if (!(most > 0.0) || (most >= 0.05 && most < 5000.0)) {
        return (pp_prefix){.factor = 1.0, .prefix = ""};
    }
    double decades = floor(pp_log10(most / 0.5) / 3.0);  // 0.5 to 500 on the axis
    int power = 3 * (int)fmin(fmax(decades, -110.0), 102.0);
    if (power >= -12 && power <= 9) {
        return (pp_prefix){
            .factor = pp_pow(10.0, power), .prefix = prefixes[power / 3 + 4], .power = power};
    }
    return (pp_prefix){.factor = pp_pow(10.0, power), .power = power};
}
