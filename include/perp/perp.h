// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The whole public surface of perp.
#pragma once

#include <perp/base.h>
#include <perp/comp.h>
#include <perp/compare.h>
#include <perp/model.h>
#include <perp/plot.h>
#include <perp/problem.h>
#include <perp/record.h>
#include <perp/replay.h>
#include <perp/scene.h>
#include <perp/sim.h>
#include <perp/tree.h>
#include <perp/types.h>
