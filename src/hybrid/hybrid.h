// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Door of hybrid/: smooth motion in joint coordinates between located events.           theory (H1)
#pragma once

#include "comp/comp.h"
#include "tree/tree.h"
