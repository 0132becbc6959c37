// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// A small run to record, and the steps of recording and reading it, each of which must succeed.
#pragma once

#include "support/plane.h"

#include <perp/record.h>
#include <perp/scene.h>

#define RECORDED_H 0.01  // the step [s]

// A box that falls, slides and stops; a pendulum with a limit; a driven disc: a bit of everything.
void recorded_build(plane *p);
perp_record *recorded_begin(const plane *p, const char *dir, int every);
void recorded_steps(plane *p, perp_record *record, int count);
void recorded_finish(plane *p, perp_record *record);  // and destroy it
perp_recording *recorded_open(const char *path);
perp_snapshot recorded_frame(perp_recording *recording, int index);
// The frame holds what the sim has now, bit for bit.
void recorded_same(const perp_snapshot *frame, const perp_sim *sim, const perp_model *model);

// ── Scenes from their text, recorded with it ─────────────────────────────────────────────────────

typedef struct recorded_run {
    perp_stepper stepper;
    double h;  // [s]; 0: the scene's
    int steps;
    const perp_wrench *push;  // on body 1 in every step; NULL: none
} recorded_run;

typedef struct recorded_counts {
    int divided, violated;  // steps in parts; steps whose certificate did not pass
} recorded_counts;

// Takes and records the steps, all of which must be solved.
recorded_counts recorded_scene(const char *text, const char *dir, recorded_run run);
// The verdict of the program on the recording in dir, which must be readable. The texts `where` of the
// items belong to the recording and are not valid any more.
perp_check recorded_check(const char *dir);
