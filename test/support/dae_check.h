// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Bytes read as a COLLADA file: promises that must hold whatever they are.
#pragma once

#include <stddef.h>

// Which promise was broken; NULL: none.
const char *dae_flaw(const char *data, size_t size);
