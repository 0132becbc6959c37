// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Private to certify/: the only way from gap/ to the judge of the geometry.
#pragma once

#include "certify/geometry/geometry.h"
#include "gap/gap.h"

// The normals of detected contacts as candidates for axes; *count is their number. NULL: out of
// memory.
pp_separating_axis *pp_geometry_axes(const pp_gaps *gaps, pp_arena *arena, int *count);

// As pp_shape_surface_error, of a piece that is known, with the frame f of its body. length: what the lift is measured by
// where the piece has no size [m].
double pp_piece_surface_error(const pp_convex *convex, const pp_frame *f, double length,
                              perp_vec3 point, perp_vec3 out);

// How far a piece that is no half-space reaches along a unit vector d, from `origin` [m].
double pp_piece_extent(const pp_convex *convex, const pp_frame *f, perp_vec3 origin, perp_vec3 d);
