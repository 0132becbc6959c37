// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Two recordings side by side, moment by moment: how far their bodies are apart, which contacts differ.
//
// Bodies are matched by name, shapes by their place in their body, moments by time: the moments are those of
// the first recording, up to the end of the shorter one. Between two frames of the second its states are
// taken on the straight line, and its contacts are those of the step that the moment falls into.
#pragma once

#include <perp/base.h>
#include <perp/record.h>

typedef struct perp_comparison perp_comparison;

// A body that both recordings have.
typedef struct perp_compared_body {
    const char *name;
    perp_body a, b;  // in each recording
} perp_compared_body;

// Two shapes of recording a, whose contact is in other modes in the two runs. PERP_CONTACT_OPEN also stands for
// "no contact"; where the two touch at several points: they slip if one slips, stick if none does and one sticks.
typedef struct perp_compared_mode {
    perp_shape first, second;
    perp_contact_mode a, b;
} perp_compared_mode;

// Valid until the next call.
typedef struct perp_compared_instant {
    double t;                // [s]
    const double *distance;  // of each common body: how far apart the centres of mass are [m],
    const double *angle;     // by which angle one is turned against the other [rad],
    const double *speed_difference;  // the difference of their velocities [m/s]
    int modes;                       // contacts in different modes
    const perp_compared_mode *mode;
} perp_compared_instant;

// Both recordings stay open and are read by nobody else while the comparison lives. Recordings without a
// common body are refused: PERP_ERR_ARGUMENT.
PERP_API PERP_MUST perp_status perp_comparison_create(perp_recording *a, perp_recording *b,
                                                      const perp_env *env, perp_comparison **out,
                                                      perp_error *error);
PERP_API void perp_comparison_destroy(perp_comparison *comparison);
PERP_API int perp_comparison_bodies(const perp_comparison *comparison);  // common ones
PERP_API perp_compared_body perp_comparison_body(const perp_comparison *comparison, int k);
// The next moment; *more is false at the end, and the moment is not touched.
PERP_API PERP_MUST perp_status perp_comparison_next(perp_comparison *comparison,
                                                    perp_compared_instant *moment, bool *more,
                                                    perp_error *error);
