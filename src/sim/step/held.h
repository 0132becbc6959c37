// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Private to sim/: forces that nothing balances.
#pragma once

#include "sim/sim.h"

// Whether it is proved that no impulses of the step's rows balance its forces.            theory (U10)
bool pp_sim_cannot_balance(perp_sim *sim);
// Velocities that the rows of the answer's modes ask for, where impulses leave over rounding of them.     theory (P18)
perp_status pp_sim_lighten(perp_sim *sim);
