// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Common code for the fuzz targets of the readers: reads, and checks the guarantees of the result.
#pragma once

#include <perp/io.h>

#include <stddef.h>
#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// Parses the bytes. A failure must have a message; a problem must have sorted, finite matrices and valid bounds, or
// the program traps. The problem, or NULL, is owned by the caller.
perp_problem *fuzz_read(const char *name, const uint8_t *data, size_t size);

// Writes the problem as JSON, reads it back, and traps if a single bit changed.
void fuzz_round_trip(const perp_problem *problem);
