// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// A curve of bounded size from any number of samples, without losing an extreme.
//
// Samples fall into bins. A bin keeps its first, lowest, highest and last sample: drawn as lines,
// that covers what all samples would cover when a bin is not wider than the pen (the M4 aggregation
// of Jugel, Jerzak, Hackenbroich, Markl, VLDB 2014). With one sample a bin nothing is left out. A
// value that is NaN breaks the curve.
#pragma once

#include "plot/draw/axis.h"

// One value at one time [s].
typedef struct pp_sample {
    double t, y;
} pp_sample;

// The samples that a bin keeps. A bin with one sample has it four times.
typedef struct pp_trace_bin {
    pp_sample first, low, high, last;
    bool used;
    bool broken;  // no line from the bin before to this one
} pp_trace_bin;

// A curve in bins. `range` is that of all samples, kept or not.
typedef struct pp_trace {
    pp_trace_bin *bin;
    int bins;
    pp_range range;
    bool broken;  // the last sample was NaN
} pp_trace;

// false: memory is out.
bool pp_trace_init(pp_trace *trace, pp_arena *arena, int bins);
// Adds a sample to bin `at`; bins are filled in order of time.
void pp_trace_add(pp_trace *trace, int at, double t, double y);
// The samples that a bin kept, in order of time and each once; returns how many, 0 to 4.
int pp_trace_bin_samples(const pp_trace_bin *bin, pp_sample out[4]);
