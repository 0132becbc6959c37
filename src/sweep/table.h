// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Private to sweep/: what writing the results needs of a table.
#pragma once

#include "sweep/own.h"

const perp_sweep *pp_sweep_table_sweep(const perp_sweep_table *t);
const perp_env *pp_sweep_table_env(const perp_sweep_table *t);
