// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Where a solid touches a mesh.
//
// A mesh is a surface with a solid inner side, and has at most one face over a point, edges and corners: each has the
// normals that lie in its normal cone. That of a face is its normal alone, that of an edge what is between those
// of its faces, empty where it is flat or concave. A point of the solid against one triangle counts only if its
// normal is in the cone of the place where it touches: so a flat floor of triangles is exactly a half-space, and nothing
// catches on inner edges.
#pragma once

#include "gap/convex/convex.h"

// Points with a gap up to margin, at most PP_TOUCH_MAX; each with a normal of its own, from a to the mesh; the closest
// comes first. A solid that is seen from behind only touches nothing. Poses are those in the world.
int pp_mesh_touch(const pp_solid *a, const pp_pose *X_WA, const pp_mesh *mesh, const pp_pose *X_WB,
                  double margin, pp_touch_point out[PP_TOUCH_MAX]);
