// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Axes of two solids.
#include "gap/aim.h"

void pp_aim_spatial(pp_aim_task *t)
{
    (void)t;
}
