// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Generated problems of the benchmark.
#pragma once

#include "bench.h"

// Classical LCP families: exponential, cycling, infeasible, degenerate, sparse, mechanical.
void generate_classical(const bench_context *context);
// Boxes on boxes, 4 to 16 points an interface, as Stewart–Trinkle LCPs.
void generate_piles(const bench_context *context);
// SPD, boxed SPD, rank-deficient PSD and Harker–Pang of size n. In the warm suite each comes with the
// right-hand side of the step before.
void generate_dense(const bench_context *context, int n);
// Keep the right-hand side as the one before, and move it by 1 %.
void generate_moved(bench_problem *one);
