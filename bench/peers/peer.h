// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Spatial scenes for perp and the engines it is compared with: one adapter per engine.
//
// SI units, z up. Every pair of surfaces has the scene's mu and restitution. A state is that of the centre
// of mass, velocities in the world frame. Adapters other than perp's are modules loaded in the process
// that runs them (Siconos and the Bullet adapter use two builds of Bullet with the same symbols).
#pragma once

#include <stdbool.h>
#include <stddef.h>

typedef struct peer_vec {
    double x, y, z;
} peer_vec;

typedef struct peer_quat {
    double w, x, y, z;
} peer_quat;

typedef struct peer_state {
    peer_vec p;   // [m]
    peer_quat q;  // body to world
    peer_vec v;   // [m/s]
    peer_vec w;   // [rad/s]
} peer_state;

typedef enum peer_shape {
    PEER_SPHERE,
    PEER_BOX,
    PEER_ROD,   // along x, has joints and no surface
    PEER_HULL,  // a prism over a quadrilateral
} peer_shape;

enum { PEER_CORNERS = 8, PEER_DIRECTIONS = 5 };

typedef struct peer_body {
    peer_shape shape;
    peer_vec half;  // box: half extents; sphere: its radius, three times; rod: half length, radius
    double mass;    // [kg]
    peer_vec inertia;  // principal moments; the body frame is the principal one [kg m^2]
    peer_state start;
    double reach;                      // radius of the ball around the centre that holds the body
    peer_vec corner[PEER_CORNERS];     // box, hull: in the body frame
    peer_vec normal[PEER_DIRECTIONS];  // box, hull: face normals without repeats, unit
    peer_vec edge[PEER_DIRECTIONS];    // box, hull: edge directions without repeats, unit
    int normals, edges;
} peer_body;

typedef struct peer_plane {
    peer_vec normal;
    double offset;  // solid where normal . x < offset
} peer_plane;

// Joint k carries body k; its parent is body k - 1, or the world. Point and axis in the world at t = 0.
typedef struct peer_joint {
    bool hinge;  // else a ball joint
    int parent;  // -1: the world
    peer_vec point, axis;
} peer_joint;

typedef struct peer_scene {
    const char *name;
    int n;  // the scene's size parameter
    peer_vec gravity;
    double mu, restitution;
    double duration;  // [s]
    peer_body *body;
    peer_plane *plane;
    peer_joint *joint;
    int bodies, planes, joints;
} peer_scene;

// step advances by the h given to create. contacts may be NULL. residual: that reported by the engine for its
// last solve; NULL if it reports none. On failure create returns NULL and sets `reason`.
typedef struct peer_engine {
    const char *name, *version;
    void *(*create)(const peer_scene *scene, const char *setting, double h, char reason[80]);
    void (*step)(void *engine);
    void (*read)(void *engine, peer_state *state);
    int (*contacts)(void *engine);
    double (*residual)(void *engine);
    void (*destroy)(void *engine);
} peer_engine;

#ifdef __cplusplus
extern "C" {
#endif

// The one symbol of a module.
#define PEER_MODULE_SYMBOL "peer_module"
extern const peer_engine peer_module;

// A setting is a list of words joined by '-', as in "quick50-tight". Is `word` one of them?
bool peer_has(const char *setting, const char *word);
// The number after the word `stem`: peer_number("quick50", "quick", 20) is 50.
int peer_number(const char *setting, const char *stem, int otherwise);

#ifdef __cplusplus
}
#endif
