// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// From the index of a run to its parameters.
//
// Runs are numbered like the entries of an array: the first factor with levels varies slowest, the samples of the
// distributions vary fastest. A sample is a point of the unit cube, one coordinate for each distribution, which its
// quantile function maps to a value. All of it depends on the file alone.
#include "sweep/own.h"

#include <math.h>

// ── Random numbers ───────────────────────────────────────────────────────────────────────────────

// The output function of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
static uint64_t mix(uint64_t z)
{
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
    return z ^ (z >> 31);
}

// Each argument moves the state by a multiple of the golden ratio, and is mixed before the next.
uint64_t pp_sweep_bits(uint64_t seed, uint64_t row, uint64_t column)
{
    static const uint64_t golden = 0x9e3779b97f4a7c15u;
    uint64_t z = mix(seed + golden);
    z = mix(z + (column + 1) * golden);
    return mix(z + (row + 1) * golden);
}

// In (0, 1): never 0, where quantiles may be infinite.
static double to_unit(uint64_t bits)
{
    return ((double)(bits >> 11) + 0.5) * 0x1p-53;
}

// A random permutation (Fisher and Yates). The remainder is biased by less than 2^-32 for 32-bit counts.
static void shuffle(uint32_t *order, int64_t count, uint64_t seed, int column)
{
    for (int64_t k = 0; k < count; k++) {
        order[k] = (uint32_t)k;
    }
    // Columns from 2^32 on are those of permutations; those below are of the points within strata.
    for (int64_t k = count - 1; k > 0; k--) {
        uint64_t bits = pp_sweep_bits(seed, (uint64_t)k, ((uint64_t)1 << 32) + (uint64_t)column);
        int64_t j = (int64_t)(bits % (uint64_t)(k + 1));
        uint32_t other = order[j];
        order[j] = order[k];
        order[k] = other;
    }
}

static bool is_drawn(const pp_factor *f)
{
    return f->kind == PP_FACTOR_UNIFORM || f->kind == PP_FACTOR_LOG_UNIFORM ||
           f->kind == PP_FACTOR_NORMAL;
}

perp_status pp_sample_prepare(perp_sweep *sweep, perp_error *error)
{
    if (sweep->sampling != PP_SAMPLING_LATIN) {
        return PERP_OK;
    }
    sweep->order = PP_ZEROS(sweep->arena, uint32_t *, sweep->factors);
    if (!sweep->order) {
        return pp_sweep_memory(error);
    }
    for (int k = 0; k < sweep->factors; k++) {
        if (!is_drawn(&sweep->factor[k])) {
            continue;
        }
        sweep->order[k] = PP_ARRAY(sweep->arena, uint32_t, sweep->samples);
        if (!sweep->order[k]) {
            return pp_sweep_memory(error);
        }
        shuffle(sweep->order[k], sweep->samples, sweep->seed, k);
    }
    return PERP_OK;
}

// ── Quantiles ────────────────────────────────────────────────────────────────────────────────────

// Starts from Abramowitz and Stegun 26.2.23, which is good to 5e-4, and takes Halley steps on the
// complementary error function. They triple the digits: three reach rounding.
double pp_normal_quantile(double p)
{
    bool upper = p > 0.5;
    double q = upper ? 1.0 - p : p;
    double t = sqrt(-2.0 * pp_log(q));
    double x = -(t - (2.515517 + t * (0.802853 + t * 0.010328)) /
                         (1.0 + t * (1.432788 + t * (0.189269 + t * 0.001308))));
    for (int k = 0; k < 3; k++) {
        double error = 0.5 * pp_erfc(-x / sqrt(2.0)) - q;
        double step = error * sqrt(2.0 * 3.141592653589793) * pp_exp(0.5 * x * x);
        x -= step / (1.0 + 0.5 * x * step);
    }
    return upper ? -x : x;
}

static double quantile(const pp_factor *f, double u)
{
    if (f->kind == PP_FACTOR_NORMAL) {
        return f->a + f->b * pp_normal_quantile(u);
    }
    if (f->kind == PP_FACTOR_LOG_UNIFORM) {
        return pp_exp(pp_log(f->a) + u * (pp_log(f->b) - pp_log(f->a)));
    }
    return f->a + u * (f->b - f->a);
}

// ── Points ───────────────────────────────────────────────────────────────────────────────────────

// Coordinate of a sample; d counts the distributions, k the factors.
static double coordinate(const perp_sweep *sweep, int k, int d, int64_t sample)
{
    uint64_t bits = pp_sweep_bits(sweep->seed, (uint64_t)sample, (uint64_t)k);
    if (sweep->sampling == PP_SAMPLING_LATIN) {
        // One point in each of `samples` strata, at a random place of it.
        double u = ((double)sweep->order[k][sample] + to_unit(bits)) / (double)sweep->samples;
        return fmin(u, 1.0 - 0x1p-53);
    }
    if (sweep->sampling == PP_SAMPLING_SOBOL) {
        // A seed shifts the digits of all points, which keeps elementary intervals. Points are in the middle of cells of
        // 2^-32, so that none has the coordinate 0.
        uint32_t x = pp_sobol(d, (uint32_t)sample);
        if (sweep->seeded) {
            x ^= (uint32_t)(pp_sweep_bits(sweep->seed, (uint64_t)1 << 40, (uint64_t)k) >> 32);
        }
        return ((double)x + 0.5) * 0x1p-32;
    }
    return to_unit(bits);
}

double pp_sweep_to_si(const pp_measure *measure, double value)
{
    return pp_measure_apply(measure, value);
}

double pp_sweep_from_si(const pp_measure *measure, double value)
{
    return measure->factor == 1.0 ? value : value / measure->factor;
}

// Derived factors are last in the sense that they see those before them only.
void pp_sample_point(const perp_sweep *sweep, int64_t index, double *value, double *si)
{
    int64_t sample = index % sweep->samples, rest = index / sweep->samples;
    // The digits of the index, from the last factor with levels on.
    for (int k = sweep->factors - 1; k >= 0; k--) {
        const pp_factor *f = &sweep->factor[k];
        if (f->kind == PP_FACTOR_LEVELS) {
            value[k] = f->level[rest % f->levels];
            rest /= f->levels;
        }
    }
    int d = 0;
    for (int k = 0; k < sweep->factors; k++) {
        const pp_factor *f = &sweep->factor[k];
        if (is_drawn(f)) {
            value[k] = quantile(f, coordinate(sweep, k, d++, sample));
        } else if (f->kind == PP_FACTOR_DERIVED) {
            value[k] = pp_sweep_from_si(&f->measure, pp_expr_value(f->expr, si));
        }
        si[k] = pp_sweep_to_si(&f->measure, value[k]);
    }
}

perp_status perp_sweep_point(const perp_sweep *sweep, int64_t index, double *value)
{
    double si[PP_SWEEP_NAMES];
    if (!sweep || !value || index < 0 || index >= sweep->runs) {
        return PERP_ERR_ARGUMENT;
    }
    pp_sample_point(sweep, index, value, si);
    return PERP_OK;
}
