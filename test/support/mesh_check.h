// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Bytes read as a mesh file, and made into a mesh and a hull: promises that must hold whatever they are.
#pragma once

#include <stddef.h>

// Which promise was broken; NULL: none.
const char *mesh_flaw(const char *data, size_t size);
