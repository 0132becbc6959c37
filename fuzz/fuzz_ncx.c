// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Fuzz target for the ncx reader.
#include "reader.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    perp_problem *problem = fuzz_read("input", data, size);
    if (problem) {
        fuzz_round_trip(problem);
        perp_problem_destroy(problem);
    }
    return 0;
}
