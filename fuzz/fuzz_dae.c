// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Fuzz target for the COLLADA reader.
#include "support/dae_check.h"

#include <stdint.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (dae_flaw((const char *)data, size)) {
        __builtin_trap();
    }
    return 0;
}
