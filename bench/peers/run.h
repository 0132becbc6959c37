// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// One engine with one setting on one scene, in its own process, timed and observed.
#pragma once

#include "metrics.h"

typedef struct peer_result {
    char version[32], reason[80];  // reason: why there are no results
    bool done;                     // at least one run finished
    bool late, diverged;           // stopped by the time limit, or because it diverged
    double simulated;              // [s]
    int repeats;
    double value[PEER_COLUMNS];
} peer_result;

typedef struct peer_limits {
    double budget;  // CPU seconds for all repeats
    int repeats;
} peer_limits;

// folder: where the modules are.
peer_result peer_run(const char *folder, const char *engine, const char *setting,
                     const peer_scene *scene, double h, peer_limits limits);

// perp's adapter, linked in.
extern const peer_engine peer_perp;
