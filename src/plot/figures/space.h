// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Drawing solids: seen along a direction, without perspective; nearer ones hide those behind.
//
// A camera has no place, only a direction: the page shows the projection along it, at one scale. z
// of the world is up in the oblique and the front view.
#pragma once

#include "plot/figures/scene.h"

// Page axes in the world: right and up, unit; toward points to the viewer.
typedef struct pp_camera {
    perp_vec3 right, up, toward;
} pp_camera;

pp_camera pp_camera_oblique(void);  // from the front, the right and above
pp_camera pp_camera_top(void);      // x to the right, y up
pp_camera pp_camera_front(void);    // x to the right, z up

// What moves in all snapshots, with what stands near it, at most so wide and high on the page.
pp_view pp_space_view(const pp_run_data *data, const pp_camera *camera, double width,
                      double height);
// Half-spaces: the part below what moves.
void pp_space_ground(pp_svg *svg, const pp_view *view, const pp_camera *camera,
                     const pp_run_data *data);
void pp_space_bodies(pp_svg *svg, const pp_view *view, const pp_camera *camera,
                     const pp_run_data *data, int snapshot);
void pp_space_joints(pp_svg *svg, const pp_view *view, const pp_camera *camera,
                     const pp_run_data *data, int snapshot);
void pp_space_springs(pp_svg *svg, const pp_view *view, const pp_camera *camera,
                      const pp_run_data *data, int snapshot);
void pp_space_paths(pp_svg *svg, const pp_view *view, const pp_camera *camera,
                    const pp_run_data *data);
