// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Figures of a sweep: response curves, heat maps, failure maps.
#pragma once

#include "plot/draw/script.h"
#include "sweep/sweep.h"

#include <stdlib.h>

enum { PP_SWEEP_FIGURES = 60 };

// The figures of a sweep; output < 0: how runs ended. Returns how many.
int pp_sweep_figures(const pp_sweep_results *results, pp_sweep_figure *figure, int room);
// false: no memory.
bool pp_draw_sweep(const pp_sweep_results *results, const pp_sweep_figure *figure, pp_arena *arena,
                   pp_svg *svg);
