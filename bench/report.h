// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Rows of the report, and the summaries made of them.
#pragma once

#include "bench.h"

typedef struct bench_row {
    const char *suite, *family, *solver;
    char problem[BENCH_NAME_SIZE];
    bool peer, unsolvable;
    int n;
    bench_result result;
} bench_row;

// Per suite and solver: run, solved, false successes, time-outs and crashes.
void bench_summary_solvers(const bench_row *rows, int count);
// Each target with the measured value.
void bench_summary_targets(const bench_row *rows, int count);
