// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Private to judge_*.c.
#pragma once

#include "comp/comp.h"

// Bounds of the residuals. False: not below `enough`, or neither tight nor far below it.
bool pp_fcp_judge_bound(const perp_fcp *fcp, const double *r, double enough, pp_arena *arena,
                        perp_fcp_residuals *out);
