// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Private to gap/: points of one pair, in the plane and in space, for shapes a < b. Points are relative
// to the origin of a's body; gap, n, point and feature are filled.
#pragma once

#include "gap/gap.h"

int pp_gap_planar(const perp_model *model, const pp_frame *body, int a, int b, double margin,
                  pp_contact out[PP_POINTS_MAX]);
int pp_gap_spatial(const perp_model *model, const pp_frame *body, int a, int b, double margin,
                   const pp_pair_hint *hint, pp_contact out[PP_POINTS_MAX]);
// The shape in world axes, seen from `origin`: differences of nearby positions lose nothing far from the
// world's origin.
pp_pose pp_shape_pose_from(const pp_shape *shape, const pp_frame *frame, perp_vec3 origin);
// In the order of their features, which does not depend on which of them is deepest just now.
void pp_contacts_sort(pp_contact *point, int count);
