// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Where the data nobody here wrote lives: PERP_DATA_DIR, or ../shared. Tests skip when it is absent.
#pragma once

#include <stdbool.h>
#include <stddef.h>

// The path of a data file; false when it cannot be read.
bool data_path(const char *relative, char *path, size_t size);
