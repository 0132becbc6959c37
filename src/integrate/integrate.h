// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Door of integrate/: positions from velocities.
#pragma once

#include "kinematics/kinematics.h"

typedef struct pp_advance {
    double h;      // of the whole step [s]
    double share;  // of it that is gone: 1, or 0.5 for the places in its middle
    double theta;  // 1 but for PERP_STEPPER_MOREAU_JEAN
    perp_rotation_update how;
} pp_advance;

// next = now advanced with the new velocities nu:  q + h G(q) ((1 - theta) nu_old + theta nu).
// Planar bodies: q' = nu, so G(q) is the identity.                                      theory (P11)
// Spatial bodies turn by h Omega.                                                  theory (S3), (S9)
void pp_integrate(pp_state *next, const perp_model *model, const pp_state *now, const double *nu,
                  const pp_advance *by);

// The rate of the turn between two angular velocities in world axes, by (S9).
perp_vec3 pp_turn_rate(perp_vec3 before, perp_vec3 after, double h, double theta,
                       perp_rotation_update how);
// That turn as a rotation.
perp_quat pp_rotation_increment(perp_vec3 rate, double h, perp_rotation_update how);
// The rotation at the end of the step of a body of the inertia I_B that got the angular impulse `push`, both in
// world axes but I_B: so that its angular momentum is what it was and the impulse.         theory (S9)
perp_quat pp_turn_of(const pp_mat3 *I_B, perp_quat rot, perp_vec3 before, perp_vec3 push, double h,
                     double theta, perp_rotation_update how);
