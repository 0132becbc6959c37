// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Vectors and rotations of the comparison; C and C++.
#pragma once

#include "peer.h"

#include <math.h>

static inline peer_vec vec(double x, double y, double z)
{
    peer_vec r = {x, y, z};
    return r;
}

static inline peer_vec vec_add(peer_vec a, peer_vec b)
{
    return vec(a.x + b.x, a.y + b.y, a.z + b.z);
}

static inline peer_vec vec_sub(peer_vec a, peer_vec b)
{
    return vec(a.x - b.x, a.y - b.y, a.z - b.z);
}

static inline peer_vec vec_scale(double s, peer_vec a)
{
    return vec(s * a.x, s * a.y, s * a.z);
}

static inline double vec_dot(peer_vec a, peer_vec b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}

static inline peer_vec vec_cross(peer_vec a, peer_vec b)
{
    return vec(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}

static inline double vec_norm(peer_vec a)
{
    return sqrt(vec_dot(a, a));
}

// q a q*, by a + 2 w (u x a) + 2 u x (u x a); q has unit length.
static inline peer_vec quat_turn(peer_quat q, peer_vec a)
{
    peer_vec u = vec(q.x, q.y, q.z), c = vec_scale(2.0, vec_cross(u, a));
    return vec_add(vec_add(a, vec_scale(q.w, c)), vec_cross(u, c));
}

static inline peer_vec quat_turn_back(peer_quat q, peer_vec a)
{
    peer_quat inverse = {q.w, -q.x, -q.y, -q.z};
    return quat_turn(inverse, a);
}

static inline peer_quat quat_unit(peer_quat q)
{
    double s = 1.0 / sqrt(q.w * q.w + q.x * q.x + q.y * q.y + q.z * q.z);
    peer_quat r = {s * q.w, s * q.x, s * q.y, s * q.z};
    return r;
}

// About a unit axis.
static inline peer_quat quat_about(peer_vec axis, double angle)
{
    double s = sin(0.5 * angle);
    peer_quat r = {cos(0.5 * angle), s * axis.x, s * axis.y, s * axis.z};
    return r;
}
