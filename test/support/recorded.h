// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// A small run to record, and the steps of recording and reading it, each of which must succeed.
#pragma once

#include "support/plane.h"

#include <perp/record.h>

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
