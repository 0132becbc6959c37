// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Comparison of two recordings over time: distances of their bodies, and contacts that differ.
//
// Bodies are matched by name, shapes by their index in the body, frames by time: the instants compared are those of
// the first recording, up to the end of the shorter one. States of the second recording are interpolated linearly
// between frames; its contacts are those of the step that contains the instant.
#pragma once

#include <perp/base.h>
#include <perp/record.h>

typedef struct perp_comparison perp_comparison;

// A body that both recordings have.
typedef struct perp_compared_body {
    const char *name;
    perp_body a, b;  // in each recording
} perp_compared_body;

// Two shapes of recording a whose contact has different modes in the two runs. PERP_CONTACT_OPEN includes "no
// contact". With several contact points: slip if one slips, else stick if one sticks.
typedef struct perp_compared_mode {
    perp_shape first, second;
    perp_contact_mode a, b;
} perp_compared_mode;

// Valid until the next call.
typedef struct perp_compared_instant {
    double t;                        // [s]
    const double *distance;          // for each common body: distance of the centres of mass [m],
    const double *angle;             // relative rotation angle [rad],
    const double *speed_difference;  // norm of the velocity difference [m/s]
    int modes;                       // contacts in different modes
    const perp_compared_mode *mode;
} perp_compared_instant;

// Both recordings must stay open, and must not be read otherwise, during the lifetime of the comparison. Recordings
// without a common body are rejected with PERP_ERR_ARGUMENT.
PERP_API PERP_MUST perp_status perp_comparison_create(perp_recording *a, perp_recording *b,
                                                      const perp_env *env, perp_comparison **out,
                                                      perp_error *error);
PERP_API void perp_comparison_destroy(perp_comparison *comparison);
PERP_API int perp_comparison_bodies(const perp_comparison *comparison);  // common ones
PERP_API perp_compared_body perp_comparison_body(const perp_comparison *comparison, int k);
// The next instant; at the end *more is false and the instant is unchanged.
PERP_API PERP_MUST perp_status perp_comparison_next(perp_comparison *comparison,
                                                    perp_compared_instant *moment, bool *more,
                                                    perp_error *error);
