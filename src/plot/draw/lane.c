// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
#include "plot/draw/lane.h"

#include <math.h>

bool pp_trace_init(pp_trace *trace, pp_arena *arena, int cells)
{
    *trace = (pp_trace){.cell = PP_ZEROS(arena, pp_trace_cell, cells),
                        .cells = cells,
                        .range = pp_range_none(),
                        .broken = true};
    return trace->cell != NULL;
}

void pp_trace_add(pp_trace *trace, int at, double t, double y)
{
    pp_assert(at >= 0 && at < trace->cells);
    if (!isfinite(y)) {
        trace->broken = true;
        return;
    }
    pp_trace_cell *cell = &trace->cell[at];
    pp_sample sample = {t, y};
    if (!cell->used) {
        *cell =
            (pp_trace_cell){sample, sample, sample, sample, .used = true, .broken = trace->broken};
    }
    cell->low = y < cell->low.y ? sample : cell->low;
    cell->high = y > cell->high.y ? sample : cell->high;
    cell->last = sample;
    trace->broken = false;
    pp_range_add(&trace->range, y);
}

int pp_trace_cell_samples(const pp_trace_cell *cell, pp_sample out[4])
{
    if (!cell->used) {
        return 0;
    }
    bool rising = cell->low.t <= cell->high.t;
    const pp_sample all[4] = {cell->first, rising ? cell->low : cell->high,
                              rising ? cell->high : cell->low, cell->last};
    int count = 0;
    for (int k = 0; k < 4; k++) {
        if (count == 0 || all[k].t > out[count - 1].t) {
            out[count++] = all[k];
        }
    }
    return count;
}
