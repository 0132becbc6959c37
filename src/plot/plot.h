// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Door of plot/: figures of a recording, as SVG files and a page that shows them.
//
// source (a recording, or a test's) -> data (curves of bounded size) -> figures -> files
#pragma once

#include <perp/plot.h>

#include "plot/draw/svg.h"
#include "plot/figures/run_data.h"

// A line of the table of figures.
typedef struct pp_figure {
    const char *name;                      // of the file, and of --only
    const char *title;                     // markup-free
    bool (*has)(const pp_run_data *data);  // something to show
    void (*draw)(const pp_run_data *data, pp_svg *svg);
    void (*caption)(const pp_run_data *data, pp_svg *html);
    bool (*wide)(const pp_run_data *data);  // over both columns; NULL: never
} pp_figure;

const pp_figure *pp_figure_at(int k);  // NULL past the last
// As perp_plot_write, from a source.
perp_status pp_plot_draw_source(const pp_plot_source *source, const char *dir, const char *only,
                                const perp_env *env, perp_error *error);
// false: memory is out. The source points into the recording.
bool pp_plot_source_of(perp_recording *recording, pp_arena *arena, pp_plot_source *source);
