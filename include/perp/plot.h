// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Figures of a recording: SVG files for papers, and a page that shows them.
#pragma once

#include <perp/base.h>
#include <perp/record.h>

// Names of the figures: paths gaps forces cones modes energy residual joints velocities events;
// NULL past the last.
PERP_API const char *perp_plot_name(int figure);

// Writes NAME.svg of each figure, NAME.gp and NAME.dat (the same for gnuplot) and index.html to the directory, which is made when it is not there (its
// parents are not). only: names separated by commas; NULL: every figure the recording has something for,
// and files of others are removed. A file is whole or not there.
PERP_API PERP_MUST perp_status perp_plot_write(perp_recording *recording, const char *dir,
                                               const char *only, const perp_env *env,
                                               perp_error *error);

// Two runs over each other: distance.svg (how far apart the bodies are), overlay.svg (both scenes and their
// paths), curves.svg (energy, contacts, residual), modes.svg (contacts of both) and index.html, as above.
PERP_API PERP_MUST perp_status perp_plot_write_comparison(perp_recording *a, perp_recording *b,
                                                          const char *dir, const perp_env *env,
                                                          perp_error *error);
