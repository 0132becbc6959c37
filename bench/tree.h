// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The chain of perp_bench_tree, and the engine it is compared with.
#pragma once

// A rod along z: its length, mass and principal moments.
static const double BENCH_LENGTH = 0.1, BENCH_MASS = 0.05, BENCH_ACROSS = 5e-5, BENCH_ALONG = 1e-5;

// Time of one mj_forward on the chain of n links at (q, qd) [s], and its accelerations; NaN if MuJoCo is not
// installed or rejects the chain.
double bench_tree_mujoco(int n, const double *q, const double *qd, double *qdd);
