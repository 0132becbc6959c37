// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Drawing bodies: outlines at several times, what never moves hatched, paths of centres of mass.
#pragma once

#include "plot/draw/chart.h"
#include "plot/figures/run_data.h"

// World to page, the same scale in x and y. y points up in the world and down on the page; in space
// x and y of low and high are along the axes of the camera.
typedef struct pp_view {
    perp_vec3 low, high;  // what is seen [m]
    double scale;         // points on the page a metre
    double left, top, width, height;
} pp_view;

// What moves, with what stands near it.
pp_view pp_view_of(const pp_run_data *data);
// What is seen in either, at most so wide and high on the page.
pp_view pp_view_join(const pp_view *a, const pp_view *b, double width, double height);
double pp_view_x(const pp_view *view, double x);
double pp_view_y(const pp_view *view, double y);

// What never moves: half-planes and shapes, hatched.
void pp_scene_ground(pp_svg *svg, const pp_view *view, const pp_run_data *data);
// What moves, as it was at the time of the snapshot.
void pp_scene_bodies(pp_svg *svg, const pp_view *view, const pp_run_data *data, int snapshot);
void pp_scene_paths(pp_svg *svg, const pp_view *view, const pp_run_data *data);
void pp_scene_joints(pp_svg *svg, const pp_view *view, const pp_run_data *data);
void pp_scene_springs(pp_svg *svg, const pp_view *view, const pp_run_data *data, int snapshot);
// A zigzag between two places on the page.
void pp_scene_coil(pp_svg *svg, perp_vec3 from, perp_vec3 to, double width);
void pp_scene_bar(pp_svg *svg, const pp_view *view, double y);  // the scale bar
const char *pp_body_colour(const pp_run_data *data, int body);
// Later snapshots are stronger.
double pp_plot_snapshot_opacity(const pp_run_data *data, int snapshot);
int pp_moving_bodies(const pp_run_data *data);  // how many bodies are free or driven

// ── For gnuplot (script_scene.c) ─────────────────────────────────────────────────────────────────

// Outlines of planar bodies in all snapshots from `first` on, and of what stands.
void pp_script_outlines(pp_script *script, const pp_run_data *data, const pp_view *view, int first);
void pp_script_springs(pp_script *script, const pp_run_data *data, int first);  // as straight lines
// Panel 0: x and y; panel 1: x and z.
void pp_script_paths(pp_script *script, int panel, const pp_run_data *data, const char *dash);
// Writes script and data; keys: a chart with the legend and the size of the page.
void pp_script_picture(pp_script *script, const pp_chart *keys, const pp_view *view, int views);
