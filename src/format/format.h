// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Door of format/: problem files in and out.
#pragma once

#include "base/base.h"

#include <perp/problem.h>
