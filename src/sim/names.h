// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Names for the unknowns of a step, in the order nu, p_b, p_m, p_n, p_f, sigma.
#pragma once

#include "sim/sim.h"

// NULL: out of memory.
const char *const *pp_step_names(const perp_model *model, const pp_step *step,
                                 const pp_step_equations *motion, pp_arena *arena);
