// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// A recording as one page for a browser: the viewer (made from viewer/, handed in) and the run's numbers.
#pragma once

#include <perp/base.h>
#include <perp/record.h>

typedef struct perp_replay perp_replay;

typedef struct perp_replay_def {
    const char *page;  // the viewer: HTML that holds "<!--perp-data-->" where the numbers go
    size_t page_size;  // bytes; 0: up to the terminating zero
    double
        megabytes;  // what the page may weigh [1e6 bytes]; default 20. A run that does not fit is
                    // kept with 16 bits a number, then with fewer moments; the page says so
    const char *remark;  // shown beside the name; NULL: none
    bool live;           // the page asks whoever serves it for more frames
    uint32_t cookie;
} perp_replay_def;

PERP_API perp_replay_def perp_replay_default(void);
// Reads the recording twice.
PERP_API PERP_MUST perp_status perp_replay_create(perp_recording *recording,
                                                  const perp_replay_def *def, const perp_env *env,
                                                  perp_replay **replay, perp_error *error);
PERP_API void perp_replay_destroy(perp_replay *replay);
PERP_API const char *perp_replay_text(const perp_replay *replay, size_t *size);  // the page
// How many moments the page holds, of how many that were recorded.
PERP_API void perp_replay_frame_counts(const perp_replay *replay, int *kept, int *recorded);
// The file at path is whole, or what it was before.
PERP_API PERP_MUST perp_status perp_replay_save(const perp_replay *replay, const char *path,
                                                perp_error *error);
