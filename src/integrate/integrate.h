// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Door of integrate/: positions from velocities.
#pragma once

#include "kinematics/kinematics.h"

// next = now advanced by h with the new velocities nu:  q + h G(q) ((1 - theta) nu_old + theta nu).
// Planar bodies: q' = nu, so G(q) is the identity.                                      theory (P11)
// Spatial bodies turn by h omega, and what is left of omega in the old axes turns with them.  (S3)
void pp_integrate(pp_state *next, const perp_model *model, const pp_state *now, const double *nu,
                  double h, double theta, perp_rotation_update how);
