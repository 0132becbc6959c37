// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Private to sweep/: the files that rows are appended to.
#pragma once

#include "sweep/own.h"

#define PP_SHARDS     "shards"  // the directory of them
#define PP_SHARD_END  ".shard"
#define PP_SHARD_MARK "perprow"  // with its zero byte: eight

typedef struct pp_shard_head {
    char mark[8];
    uint64_t identity;  // of the sweep
} pp_shard_head;

// Whether the bytes begin as a shard of this sweep.
perp_status pp_shard_check(const perp_sweep *sweep, const char *path, const void *bytes,
                           size_t size, perp_error *error);
// Calls `found` for each row up to the first that is damaged; returns where that is.
size_t pp_shard_good(const perp_sweep *sweep, const char *bytes, size_t size,
                     void (*found)(void *user, const void *row, size_t size), void *user);
