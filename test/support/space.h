// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Spatial scenes for tests, on the frame of support/plane.h: plane_open, …, plane_start, plane_run.
#pragma once

#include "support/plane.h"

perp_vec3 space_add(perp_vec3 a, perp_vec3 b);
perp_vec3 space_sub(perp_vec3 a, perp_vec3 b);
perp_vec3 space_scale(double s, perp_vec3 a);
perp_vec3 space_cross(perp_vec3 a, perp_vec3 b);
double space_dot(perp_vec3 a, perp_vec3 b);
double space_length(perp_vec3 a);
perp_quat space_turn(perp_vec3 axis, double angle);  // the axis need not be of unit length
perp_quat space_mul(perp_quat a, perp_quat b);
perp_vec3 space_rotate(perp_quat q, perp_vec3 v);
perp_vec3 space_unrotate(perp_quat q, perp_vec3 v);
perp_quat space_z_to(perp_vec3 n);  // a rotation that takes z to n

perp_body_def space_body(double mass, perp_vec3 inertia, perp_vec3 position);
perp_body_def space_particle(double mass, perp_vec3 position);
// Frictionless, unless a listed contact says otherwise.
perp_shape space_point(plane *p, perp_body body, perp_vec3 at);
perp_shape space_sphere(plane *p, perp_body body, double radius, double mu);
perp_shape space_box(plane *p, perp_body body, perp_vec3 half, double mu);
// Solid where normal . x < offset in the body's axes.
perp_shape space_halfspace(plane *p, perp_body body, perp_vec3 normal, double offset, double mu);
// Listed; the tangent in the axes of a's body, facets 0: exact cone.
void space_contact(plane *p, perp_shape a, perp_shape b, double mu, int facets, perp_vec3 tangent);
perp_joint_def space_joint(perp_joint_kind kind, perp_body a, perp_vec3 anchor_a, perp_body b,
                           perp_vec3 anchor_b, perp_vec3 axis);
// A uniform box's principal moments.
perp_vec3 space_box_inertia(double mass, perp_vec3 half);

perp_vec3 space_point_at(const plane *p, perp_body body, perp_vec3 at_B);  // in the world
perp_vec3 space_speed_at(const plane *p, perp_body body, perp_vec3 at_B);
perp_vec3 space_momentum(const plane *p, perp_body body);  // angular, about the centre of mass
double space_kinetic(const plane *p, perp_body body);
void space_near(double got, double want, double tolerance, const char *what);
