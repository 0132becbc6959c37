// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// One function a figure, and one for the words below it.
//
// pp_draw_NAME writes a whole SVG, and with it the script and the data for gnuplot. pp_caption_NAME
// writes the HTML that follows the title of the figure on the page. Which figures a run has is in
// plot.c.
#pragma once

#include "plot/draw/chart.h"
#include "plot/figures/run_data.h"

typedef void pp_draw(const pp_run_data *data, pp_svg *svg);

// figure_scene.c
pp_draw pp_draw_paths, pp_caption_paths;
bool pp_paths_wide(const pp_run_data *data);
// figure_contact.c
pp_draw pp_draw_gaps, pp_caption_gaps;
pp_draw pp_draw_forces, pp_caption_forces;
pp_draw pp_draw_cones, pp_caption_cones;
pp_draw pp_draw_modes, pp_caption_modes;
pp_draw pp_draw_events, pp_caption_events;
// figure_time.c
pp_draw pp_draw_energy, pp_caption_energy;
pp_draw pp_draw_residual, pp_caption_residual;
pp_draw pp_draw_accuracy, pp_caption_accuracy;
pp_draw pp_draw_joints, pp_caption_joints;
pp_draw pp_draw_coordinates, pp_caption_coordinates;
pp_draw pp_draw_velocities, pp_caption_velocities;

// figure_sensor.c
pp_draw pp_draw_sensors, pp_caption_sensors;

// ── What figures over time share (figure_time.c) ─────────────────────────────────────────────────

pp_chart_axis pp_time_axis(const pp_run_data *data, bool hidden);
pp_chart_axis pp_value_axis(const char *label, const char *unit, bool log);
void pp_put_value(pp_svg *html, double value, const char *unit);  // in a caption

// ── What strips share (figure_contact.c) ─────────────────────────────────────────────────────────

#define PP_ROW_HEIGHT 11.0
void pp_mode_row(pp_chart *chart, const pp_run_data *data, const pp_contact_trace *contact,
                 double y);
void pp_row_name(pp_chart *chart, double y, double most, const char *name);
void pp_mode_keys(pp_chart *chart);
