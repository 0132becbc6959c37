// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// A problem read from a file.
#include "format/format.h"

void perp_problem_destroy(perp_problem *problem)
{
    (void)problem;
}
