// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Door of import/: robots of other simulators as scenes.
#pragma once

#include "base/base.h"

#include <perp/import.h>

// Whether the text is XML, and so no scene.
bool pp_import_likely(const char *text, size_t size);
