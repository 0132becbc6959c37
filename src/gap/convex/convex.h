// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Where two solids are nearest, or touch.
//
// Sign: the normal n points from a to b; the gap is positive when they are apart and negative when they
// overlap (then: the shortest translation that parts them). Two faces that face each other give up to
// PP_TOUCH_MAX points, an edge along a face two, everything else one. Every point is a pair of witness
// points with a gap of its own along the common normal, x_b = x_a + gap n; the closest one comes first.
#pragma once

#include "solid/solid.h"

enum { PP_TOUCH_MAX = 9 };  // eight, and one of a rim that was asked for

// One point of a manifold.
typedef struct pp_touch_point {
    perp_vec3 x_a, x_b;  // on the surfaces, in the world [m]
    perp_vec3 n;         // unit, from a to b; the same for all points of a pair
    double gap;          // [m]
    // which point it is: the same in the next step while it slides; 0: the only one
    uint32_t feature;
} pp_touch_point;

// Points with a gap up to margin (INFINITY: the closest in any case), at most PP_TOUCH_MAX. Deterministic;
// swapping a and b turns the normal and leaves the rest. Poses are of the solids in the world.
int pp_solid_touch(const pp_solid *a, const pp_pose *X_WA, const pp_solid *b, const pp_pose *X_WB,
                   double margin, pp_touch_point out[PP_TOUCH_MAX]);
// Of the region that two level faces share, at least one of which is round: the point furthest along the direction aim, or
// the point of its edge nearest to the place aim. n: from a to b. False: there is no such region.
bool pp_solid_rim(const pp_solid *a, const pp_pose *X_WA, const pp_solid *b, const pp_pose *X_WB,
                  perp_vec3 n, bool nearest, perp_vec3 aim, perp_vec3 *x);
// What is known of solids that all but touch; NULL: nothing.
typedef struct pp_touch_hint {
    // the normal a moment ago: where it leads to one that the points certify, nothing else is searched
    const perp_vec3 *n;
    // a point of a rim, in the frame of the poses, that is one of the manifold while the base is level
    const perp_vec3 *rim;
} pp_touch_hint;
int pp_solid_touch_near(const pp_solid *a, const pp_pose *X_WA, const pp_solid *b,
                        const pp_pose *X_WB, double margin, pp_touch_hint hint,
                        pp_touch_point out[PP_TOUCH_MAX]);
// By how much the unit vector n, from a to b, parts two solids [m]; neither is a half-space.
double pp_solid_separation(const pp_solid *a, const pp_pose *X_WA, const pp_solid *b,
                           const pp_pose *X_WB, perp_vec3 n);
// A unit vector that parts them by `most`, or nearly as far as they are apart; returns by how much.
double pp_solid_part(const pp_solid *a, const pp_pose *X_WA, const pp_solid *b, const pp_pose *X_WB,
                     double most, perp_vec3 *n);
