// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Private to auto_mcp.c and auto_fcp.c: the state of the fallback ladder.
#pragma once

#include "comp/judge/verdict.h"

// Appends what a rung of the ladder did to report->reason, which reads "lemke: ray; pivot: limit; …" at the end.
// An answer that was not accepted is "rejected", whatever the rung believed; a proof is told whole.
void pp_auto_append_reason(pp_report *report, const char *name, perp_status status, bool solved,
                           const char *reason);

// Iterations of a rung: its own limit (0: none) or the caller's (0: none), whichever is less.
int pp_auto_limit(int own, int asked);

// Of two failures the one that proves or shows more: infeasible, ray, limit, singular, others.
perp_status pp_auto_worse_failure(perp_status a, perp_status b);

// pp_auto_fcp, part by part where the problem falls apart (auto_islands.c).
pp_fcp_solver pp_auto_islands_fcp;
// What is left of the caller's iterations (0: no limit) after a rung that took some; -1: nothing.
int pp_auto_iterations_left(int left, int taken);

// Norms over all contacts are good and a contact by itself is not: go on from there, to a smaller tolerance.
bool pp_auto_tighten(const perp_fcp_residuals *residuals, double worst, const pp_job *job,
                     perp_comp_options *options);
