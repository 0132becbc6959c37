// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Private to gap/: which of the axes that part two shapes is the one that a step is to keep.
//
// Two convex shapes are apart while *some* axis separates them: max_n s(n) >= 0. A step that is linear in the velocities
// must choose one axis beforehand, and the one of the distance is the wrong one where the motion leads past it: a box that
// slides over flush tiles has its front corner next to the corner of the next tile, and the distance between the two
// corners says that it must stop. Its underside says that it may pass (Williams, Lu and Trinkle 2014).
//
// So for each candidate n with s(n) >= 0 the motion of the bodies says when it will separate no longer; the axis
// that holds longest is kept, and of those that hold for the step, the one with the best separation at its end. The
// motion is that of the velocities and of what the forces add to them, without what contacts that have no choice of
// axis hold back: a box on a floor does not fall.
#pragma once

#include "gap/gap.h"

// An axis with its contact points, from shape a to shape b (a < b). Points are relative to a's body.
typedef struct pp_aim {
    int count;
    pp_contact point[PP_POINTS_MAX];  // gap, n, point and feature are filled
    double s;                         // separation along the axis now [m]
    double end;                       // least gap of its points at the end of the step [m]
} pp_aim;

// What the candidates of a pair are held against.
typedef struct pp_aim_task {
    const perp_model *model;
    const pp_kinematics *kin;
    const perp_vec3 *push;  // bodies: velocity that the forces add in the step [m/s]
    int a, b;
    double margin;
    double rounding;  // [m]
    double touching;  // an axis that is violated by less still counts [m]
    double level;     // gaps of points that differ by less are the same [m]
    perp_vec3 found;  // normal of the nearest contact
    double slack;     // by how much an axis may fail and still hold [m]
    pp_aim best;
    bool changed;
    bool vague;      // the best axis is arbitrary: the first candidate takes its place
    bool arbitrary;  // the axis that was found was so: it is a candidate as any other
    bool ask;        // only whether there are candidates
    int others;      // that separate, along another axis than the best
} pp_aim_task;

// Gap of a point of a at the end of the step, if both bodies move on as they do; x is relative to a's body.
double pp_aim_end(const pp_aim_task *t, perp_vec3 x, perp_vec3 n, double gap);
// How far two bodies move past each other at a point in the step [m].
double pp_aim_travel(const pp_aim_task *t, perp_vec3 x);
// Whether an axis is the one that was found, which has all its points already and is no candidate.
bool pp_aim_is_found(const pp_aim_task *t, perp_vec3 n);
// Takes the candidate where it holds longer than the best so far.
void pp_aim_offer(pp_aim_task *t, const pp_aim *candidate);

// Whether contacts of a shape may change with time alone.
static inline bool pp_surface_moves(const pp_shape *s)
{
    return s->surface_speed || s->surface[0] || s->surface[1] || s->surface[2] || s->surface[3];
}

// Friction, restitution and moving surfaces of a contact that has its shapes, point and axes (run.c).
void pp_contact_laws(const perp_model *model, const pp_poses *at, pp_contact *c);

void pp_aim_planar(pp_aim_task *t);
void pp_aim_spatial(pp_aim_task *t);
