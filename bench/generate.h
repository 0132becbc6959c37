// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Generated problems of the benchmark.
#pragma once

#include "bench.h"

// Classical LCP families: exponential, cycling, infeasible, degenerate, sparse, mechanical.
void generate_classical(const bench_context *context);
// Stacked boxes, 4 to 16 points per interface, as Stewart–Trinkle LCPs.
void generate_piles(const bench_context *context);
// SPD, boxed SPD, rank-deficient PSD and Harker–Pang of size n. In the warm suite each has the right-hand
// side of the previous step.
void generate_dense(const bench_context *context, int n);
// Keeps the right-hand side as the previous one, and changes it by 1 %.
void generate_moved(bench_problem *one);
