// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Metrics of a run, computed from poses and velocities alone, in the same way for every engine.
#pragma once

#include "peer.h"

// Columns of a result; NAN if a scene does not have it.
typedef enum peer_column {
    PEER_US,               // median over steps of the smallest time over repeats [us]
    PEER_US_TAIL,          // the same over the last fifth of the steps
    PEER_CONTACTS,         // mean number of contact points, as the engine counts them
    PEER_PENETRATION,      // largest over the run [m]
    PEER_PENETRATION_END,  // largest at the end [m]
    PEER_CREEP,            // motion of bodies that should be at rest [m]
    PEER_STOP_ERROR,       // distance slid, relative to the exact one
    PEER_HEADING_ERROR,    // [degree]
    PEER_ENERGY_DRIFT,     // at the end, relative to falling half the length
    PEER_ENERGY_WORST,     // over the run
    PEER_JOINT_GAP,        // largest over the run [m]
    PEER_TIP_ERROR,        // double pendulum at the end [m]
    PEER_APEX_ERROR,       // first bounce, relative; -1: it did not bounce
    PEER_STANDS,           // 1, 0
    PEER_JUMP,             // largest distance of any body from its start [m]
    PEER_LOST,             // bodies under the floor
    PEER_KINETIC,          // energy at the end [J]
    PEER_RESIDUAL,         // largest the engine reported
    PEER_COLUMNS
} peer_column;

typedef struct peer_watch {
    const peer_scene *scene;
    int every;                 // steps between observations
    peer_state *start, *rest;  // rest: at the time from which creep is measured
    double rest_time;
    bool have_rest;
    double energy, energy_worst, penetration, gap, jump;
    double apex;  // height after the first bounce [m]
    int bounces;
    bool falls, diverged;
} peer_watch;

bool peer_watch_begin(peer_watch *w, const peer_scene *scene, const peer_state *state, double h);
// Call every w->every steps.
void peer_watch_see(peer_watch *w, double t, const peer_state *state);
// Fills the columns that depend on the motion. complete: the run was not cut short.
void peer_watch_end(const peer_watch *w, double t, const peer_state *state, bool complete,
                    double value[PEER_COLUMNS]);
void peer_watch_free(peer_watch *w);

// Deepest overlap of all pairs of surfaces; 0 when there is none.
double peer_penetration(const peer_scene *scene, const peer_state *state);
