// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Private to auto_mcp.c and auto_fcp.c: the story of a climb.
#pragma once

#include "comp/comp.h"

// Appends "name: word" to report->reason, which reads "lemke: ray; pivot: limit; …" at the end.
void pp_auto_tell(pp_report *report, const char *name, const char *word);

// Of two failures the one that proves or shows more: infeasible, ray, limit, singular, others.
perp_status pp_auto_telling(perp_status a, perp_status b);

bool pp_auto_late(const pp_job *job);
