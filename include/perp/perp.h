// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The simulator, libperp: models and their simulation, with the solvers (libperp_comp). Scene files,
// recordings, figures and problem files are in libperp_io: <perp/io.h>.
#pragma once

#include <perp/base.h>
#include <perp/comp.h>
#include <perp/model.h>
#include <perp/query.h>
#include <perp/sim.h>
#include <perp/tree.h>
#include <perp/types.h>
