// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// A recording as a single HTML page: the viewer (built from viewer/, passed in by the caller) and the data of the run.
#pragma once

#include <perp/base.h>
#include <perp/record.h>

typedef struct perp_replay perp_replay;

typedef struct perp_replay_def {
    const char *page;  // the viewer: HTML with "<!--perp-data-->" where the data goes
    size_t page_size;  // bytes; 0: up to the terminating zero
    double megabytes;  // size limit of the page [1e6 bytes]; default 20. A run that does not fit is
                       // stored with 16 bits per number, then with fewer frames; the page says so
    const char *remark;  // shown beside the name; NULL: none
    bool live;           // the page requests further frames from its server
    uint32_t cookie;
} perp_replay_def;

PERP_API perp_replay_def perp_replay_default(void);
// Reads the recording twice.
PERP_API PERP_MUST perp_status perp_replay_create(perp_recording *recording,
                                                  const perp_replay_def *def, const perp_env *env,
                                                  perp_replay **replay, perp_error *error);
PERP_API void perp_replay_destroy(perp_replay *replay);
PERP_API const char *perp_replay_text(const perp_replay *replay, size_t *size);  // the page
// Number of frames in the page, and in the recording.
PERP_API void perp_replay_frame_counts(const perp_replay *replay, int *kept, int *recorded);
// On failure the file at path is unchanged.
PERP_API PERP_MUST perp_status perp_replay_save(const perp_replay *replay, const char *path,
                                                perp_error *error);
