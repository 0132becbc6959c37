// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Vectors, poses and handles. SI units; angles in radians.
#pragma once

#include <perp/base.h>

typedef struct perp_vec3 {
    double x, y, z;
} perp_vec3;

// Unit quaternion, scalar first.
typedef struct perp_quat {
    double w, x, y, z;
} perp_quat;

// X_AB: maps coordinates in B to coordinates in A.
typedef struct perp_pose {
    perp_vec3 p;
    perp_quat rot;
} perp_pose;

// Velocity of the centre of mass and angular velocity, in world axes.
typedef struct perp_twist {
    perp_vec3 v_W, w_W;
} perp_twist;

// Force and torque about the centre of mass, in world axes.
typedef struct perp_wrench {
    perp_vec3 f_W, tau_W;
} perp_wrench;

// Handles. Body {0} is the ground; {-1}: none.
typedef struct perp_body {
    int32_t i;
} perp_body;
typedef struct perp_shape {
    int32_t i;
} perp_shape;
typedef struct perp_joint {
    int32_t i;
} perp_joint;
typedef struct perp_force {
    int32_t i;
} perp_force;
typedef struct perp_input {
    int32_t i;
} perp_input;
typedef struct perp_actuator {
    int32_t i;
} perp_actuator;
typedef struct perp_keyframe {
    int32_t i;
} perp_keyframe;
typedef struct perp_site {
    int32_t i;
} perp_site;
typedef struct perp_visual {
    int32_t i;
} perp_visual;
typedef struct perp_sensor {
    int32_t i;
} perp_sensor;
