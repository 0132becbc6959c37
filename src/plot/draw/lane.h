// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// A curve of bounded size from any number of samples, without losing an extreme.
//
// Samples fall into cells. A cell keeps its first, lowest, highest and last sample: drawn as lines, that
// covers what all samples would cover when a cell is not wider than the pen (the M4 aggregation of Jugel,
// Jerzak, Hackenbroich, Markl, VLDB 2014). With one sample a cell nothing is left out. A value that is
// NaN breaks the curve.
#pragma once

#include "plot/draw/axis.h"

typedef struct pp_sample {
    double t, y;
} pp_sample;

typedef struct pp_trace_cell {
    pp_sample first, low, high, last;
    bool used;
    bool broken;  // no line from the cell before to this one
} pp_trace_cell;

typedef struct pp_trace {
    pp_trace_cell *cell;
    int cells;
    pp_range range;
    bool broken;  // the last sample was NaN
} pp_trace;

// false: memory is out.
bool pp_trace_init(pp_trace *trace, pp_arena *arena, int cells);
void pp_trace_add(pp_trace *trace, int at, double t, double y);
// The samples that a cell kept, in order of time and each once; returns how many, 0 to 4.
int pp_trace_cell_samples(const pp_trace_cell *cell, pp_sample out[4]);
