// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The complete public interface of perp: <perp/perp.h>, and the file input and output of libperp_io.
#pragma once

#include <perp/compare.h>
#include <perp/import.h>
#include <perp/perp.h>
#include <perp/plot.h>
#include <perp/problem.h>
#include <perp/record.h>
#include <perp/replay.h>
#include <perp/scene.h>
#include <perp/sweep.h>
