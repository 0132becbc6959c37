// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#define SUNDIALS_EXPORT
#define SUNDIALS_NO_EXPORT
#define SUNDIALS_DEPRECATED
#define SUNDIALS_DEPRECATED_EXPORT
