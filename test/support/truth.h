// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// What is true of an answer, computed in long double from the definitions alone: shares nothing with
// the library's judges.
#pragma once

#include <perp/comp.h>

// max_i |z_i - clamp(z_i - w_i)| / size, w = A z + b, size = max(|b|, |w at the bounds nearest 0|);
// infinite for NaN or a violated bound.
double truth_plain(const perp_mcp *mcp, const double *z);

// The larger of (C6) and (C36), from the definitions, for LCPs with a positive diagonal.
double truth_scaled(const perp_mcp *lcp, const double *z);
// Whether z is a solution beyond doubt: the natural map within 1e-10 of max|b| alone, so that large
// bounds do not help.
bool truth_solves(const perp_mcp *mcp, const double *z);
// The smallest relative change of the terms of w and of the distances of z from its bounds that makes
// z a solution. Rows whose terms are below 1e-7 of the largest count as if they were that large.
double truth_backward(const perp_mcp *mcp, const double *z);
// Largest violation of the contact law of one contact by (r, u), in the given units of r and u: r in
// the cone, u + shift in the dual, and their product.
double truth_contact(const perp_fcp *fcp, int contact, const double *r, const double *u,
                     double r_unit, double u_unit);
