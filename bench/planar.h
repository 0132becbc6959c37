// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Planar scenes for the benchmark: boxes and links on a floor, the same for perp and its peers.
#pragma once

#include <stdbool.h>

typedef struct planar_box {
    double x, y, angle;  // pose [m, rad]
    double hx, hy;       // half extents [m]
    double mass;         // [kg]
} planar_box;

typedef struct planar_scene {
    const char *name;
    planar_box *box;
    int boxes;
    double mu;
    double bin;         // half width of the bin on the floor; 0: an open floor [m]
    bool chain;         // box k hangs from box k - 1 by its ends, box 0 from the world; no contacts
    int settle, steps;  // steps before and during the measurement
    double h;           // [s]
    bool slow;          // runs only when named
} planar_scene;

// An engine running a scene. pose: x, y, angle of box k.
typedef struct planar_engine {
    const char *name;
    void *(*create)(const planar_scene *scene);
    void (*step)(void *engine, double h);
    void (*pose)(const void *engine, int k, double pose[3]);
    void (*destroy)(void *engine);
} planar_engine;

#ifdef __cplusplus
extern "C" {
#endif
extern const planar_engine planar_box2d, planar_chipmunk;
#ifdef __cplusplus
}
#endif
