// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Door of record/: runs into files, and back. Nothing of the library comes after it.
//
//   text.c                       files that are whole or .part
//   layout.c                     what run.h5 holds: one table for writer and reader
//   store.c model_out.c frame_out.c   run.h5 as it is written, in an order that a kill cannot spoil
//   events.c summary.c           what happened, and what it amounts to
//   place.c                      the directory, and its lock
//   record.c                     perp_record: all of them together
//   load.c model_in.c frame_in.c recording.c   run.h5 as it is read
//   check*.c                     judging a recording again
#pragma once

#include "base/base.h"

#include <perp/record.h>
