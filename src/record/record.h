// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Door of record/: runs into files, and back. Nothing of the library comes after it.
//
//   text.c                  numbers and strings as JSON and CSV; files under a temporary name
//   layout.c                what run.h5 holds: one table for writer and reader
//   store.c  columns.c      run.h5 as it is written: buffered columns, flushed in an order that a kill
//                           cannot spoil
//   events.c  summary.c     what happened, and what it amounts to
//   record.c                perp_record: all of them together
//   load.c  recording.c     run.h5 as it is read
//   check.c  check_*.c      judging a recording again
#pragma once

#include "base/base.h"

#include <perp/record.h>
