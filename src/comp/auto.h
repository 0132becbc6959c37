// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The fallback ladder of "auto", shared by auto_mcp.c, auto_fcp.c and auto_islands.c.
#pragma once

#include "comp/judge/verdict.h"

// Appends the outcome of a rung to report->reason, which ends as "lemke: ray; pivot: limit; …".
// "rejected": the rung reported success and the judge did not accept. The reason of an infeasible
// rung, its proof, is appended in full.
void pp_auto_append_reason(pp_report *report, const char *name, perp_status status, bool solved,
                           const char *reason);

// Iteration limit of a rung: the lesser of its own and the caller's, where 0 is no limit.
int pp_auto_limit(int own, int asked);

// Of two failures the more informative one: infeasible, ray, limit, singular, others.
perp_status pp_auto_worse_failure(perp_status a, perp_status b);

// pp_auto_fcp on each connected part of the problem (auto_islands.c).
pp_fcp_solver pp_auto_islands_fcp;
// Iterations left of the caller's limit after a rung that took some. 0: no limit; -1: none left.
int pp_auto_iterations_left(int left, int taken);

// Whether to run the solver again from its answer: the norms over all contacts are within the
// tolerance and the backward error of a contact, `worst`, is not. Sets the smaller tolerance.
bool pp_auto_tighten(const perp_fcp_residuals *residuals, double worst, const pp_job *job,
                     perp_comp_options *options);
