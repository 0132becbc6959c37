// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Figures of a recording: SVG files, and a page that shows them.
#pragma once

#include <perp/base.h>
#include <perp/record.h>

// Names of the figures: paths gaps forces cones modes energy residual joints velocities events;
// NULL past the last.
PERP_API const char *perp_plot_name(int figure);

// Writes NAME.svg for each figure, NAME.gp and NAME.dat (the same for gnuplot) and index.html to the directory, which is
// created if necessary (its parents are not). only: names separated by commas; NULL: every figure for which the
// recording has data, and files of the others are removed. Files are never left half-written.
PERP_API PERP_MUST perp_status perp_plot_write(perp_recording *recording, const char *dir,
                                               const char *only, const perp_env *env,
                                               perp_error *error);

// Two runs together: distance.svg (distances of the bodies), overlay.svg (both scenes and their paths), curves.svg
// (energy, contacts, residual), modes.svg (contact modes of both) and index.html, as above.
PERP_API PERP_MUST perp_status perp_plot_write_comparison(perp_recording *a, perp_recording *b,
                                                          const char *dir, const perp_env *env,
                                                          perp_error *error);

// Figures of a sweep from its sweep.h5 (perp_sweep_table_write) in `from`: response curves, maps, how runs ended, and
// index.html, which links results and recordings. They are written to `dir`, which may be the same directory.
PERP_API PERP_MUST perp_status perp_plot_write_sweep(const char *from, const char *dir,
                                                     const perp_env *env, perp_error *error);
