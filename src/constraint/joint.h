// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Private to constraint/: the equations and coordinates of joints.
#pragma once

#include "constraint/row.h"

typedef struct pp_anchors {
    perp_vec3 a, b;  // in the world
    perp_vec3 u;     // axis of a, in the world
} pp_anchors;

void pp_joint_anchors(const pp_joint *j, const pp_frame *body, pp_anchors *w);

// The same in space, and directions about the axis.
typedef struct pp_triad {
    pp_anchors at;
    perp_vec3 x, y;    // across the axis, fixed in a
    perp_vec3 ub, zb;  // axis of b, and its direction of angle 0
} pp_triad;

void pp_joint_triad(const pp_joint *j, const pp_frame *body, pp_triad *w);
// d . (p_b - p_a), a followed at its own anchor or, when the direction turns with it, at b's.
void pp_joint_point_row(const pp_row_builder *k, const pp_joint *j, const pp_anchors *w,
                        perp_vec3 d, bool turning, pp_row *row);
// |p_b - p_a|
void pp_joint_distance_row(const pp_row_builder *k, const pp_joint *j, const pp_anchors *w,
                           pp_row *row);

// Coordinate of a joint that has one: value, J and rate.
void pp_joint_coordinate_planar(const pp_row_builder *k, const pp_joint *j, pp_row *row);
void pp_joint_coordinate_spatial(const pp_row_builder *k, int joint, pp_row *row);

// Rows of phi; returns how many. Gears are not among them.
int pp_joint_equations_planar(const pp_row_builder *k, const pp_joint *j, pp_row *row);
int pp_joint_equations_spatial(const pp_row_builder *k, int joint, pp_row *row);
