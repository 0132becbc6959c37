// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Two solids and their poses from the bytes of a fuzzer.
#pragma once

#include "support/touch_check.h"

// hull: memory for hulls, of which the solids keep the address. False: two half-spaces, which never meet.
bool touch_from_bytes(touch_pair *pair, touch_hull hull[2], const uint8_t *data, size_t size);
