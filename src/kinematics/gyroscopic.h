// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Private to kinematics/: the torque that a spinning body meets.
#pragma once

#include "kinematics/kinematics.h"

// Impulse in world axes over a step h of a body with inertia I_B in its own axes [N m s].
perp_vec3 pp_gyroscopic_impulse(const pp_mat3 *I_B, const pp_frame *frame, double h,
                                perp_gyroscopic how);
