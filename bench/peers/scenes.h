// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The scenes of the comparison, and which engines with which settings run them.
#pragma once

#include "peer.h"

typedef struct peer_case {
    const char *scene;
    int n;
    double h;
    bool slow;          // only with --all, or when the scene is named
    const char *peers;  // "engine:setting ...", in the order of the table
} peer_case;

extern const peer_case peer_cases[];
extern const int peer_case_count;

// False: no such scene, or no memory. Free with peer_scene_free.
bool peer_scene_make(const char *name, int n, peer_scene *scene);
void peer_scene_free(peer_scene *scene);
