// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The whole public surface of perp: <perp/perp.h>, and what libperp_io adds to it, files in and out.
#pragma once

#include <perp/compare.h>
#include <perp/perp.h>
#include <perp/plot.h>
#include <perp/problem.h>
#include <perp/record.h>
#include <perp/replay.h>
#include <perp/scene.h>
