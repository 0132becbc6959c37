// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// A recording out of thin air, as large and as odd as a test of the figures wants it.
#pragma once

#include "plot/figures/run_data.h"

typedef struct plot_source_wish {
    int frames, bodies, contacts, joints;  // bodies: without the ground
    bool holes;        // every seventh frame is full of NaN, and contacts come and go
    double size;       // of everything; 0: 1
    const char *name;  // of all bodies; NULL: "body 1", …
    const char *events;
} plot_source_wish;

pp_plot_source *plot_source_create(const plot_source_wish *wish);
void plot_source_destroy(pp_plot_source *source);
