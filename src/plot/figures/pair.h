// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Figures of two runs over each other: the first in blue, the second in vermilion and dashed.
//
// Each run is collected by itself, as for its own figures. The distances of bodies come from a
// comparison (perp/compare.h), at the times of the frames of run A.
#pragma once

#include "plot/figures/figures.h"

#define PP_RUN_A PP_BLUE
#define PP_RUN_B PP_RED

// Both runs, and how far they are apart over time.
typedef struct pp_run_pair {
    const pp_run_data *a, *b;
    pp_trace_bundle place, turn;  // of the common bodies [m], [rad]
    pp_range t;                   // of both
    double end;                   // of the shorter run [s]
} pp_run_pair;

// A figure of the comparison, with its caption.
typedef struct pp_pair_figure {
    const char *name, *title, *caption;
    bool (*has)(const pp_run_pair *pair);
    void (*draw)(const pp_run_pair *pair, pp_svg *svg);
} pp_pair_figure;

const pp_pair_figure *pp_pair_figure_at(int k);  // NULL past the last
