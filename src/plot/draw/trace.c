// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Curves of bounded size: first, lowest, highest and last sample of each bin.
#include "plot/draw/trace.h"

#include <math.h>

// A new curve is broken: no line leads to its first sample.
bool pp_trace_init(pp_trace *trace, pp_arena *arena, int bins)
{
    *trace = (pp_trace){.bin = PP_ZEROS(arena, pp_trace_bin, bins),
                        .bins = bins,
                        .range = pp_range_none(),
                        .broken = true};
    return trace->bin != NULL;
}

// Values that are not finite break the curve at the next sample.
void pp_trace_add(pp_trace *trace, int at, double t, double y)
{
    pp_assert(at >= 0 && at < trace->bins);
    if (!isfinite(y)) {
        trace->broken = true;
        return;
    }
    pp_trace_bin *bin = &trace->bin[at];
    pp_sample sample = {t, y};
    if (!bin->used) {
        *bin =
            (pp_trace_bin){sample, sample, sample, sample, .used = true, .broken = trace->broken};
    }
    bin->low = y < bin->low.y ? sample : bin->low;
    bin->high = y > bin->high.y ? sample : bin->high;
    bin->last = sample;
    trace->broken = false;
    pp_range_add(&trace->range, y);
}

// The lowest and the highest sample in the order in which they came. Samples of the same time are
// the same sample, kept for two reasons.
int pp_trace_bin_samples(const pp_trace_bin *bin, pp_sample out[4])
{
    if (!bin->used) {
        return 0;
    }
    bool rising = bin->low.t <= bin->high.t;
    const pp_sample all[4] = {bin->first, rising ? bin->low : bin->high,
                              rising ? bin->high : bin->low, bin->last};
    int count = 0;
    for (int k = 0; k < 4; k++) {
        if (count == 0 || all[k].t > out[count - 1].t) {
            out[count++] = all[k];
        }
    }
    return count;
}
