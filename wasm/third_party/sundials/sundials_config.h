// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// What SUNDIALS' CMake would write for WASI: doubles, 64-bit indices as in Debian's package, no MPI, no monitoring.
#pragma once

#include "sundials/sundials_export.h"

#define SUNDIALS_DEPRECATED_EXPORT_MSG(msg)
#define SUNDIALS_VERSION       "6.4.1"
#define SUNDIALS_VERSION_MAJOR 6
#define SUNDIALS_VERSION_MINOR 4
#define SUNDIALS_VERSION_PATCH 1
#define SUNDIALS_VERSION_LABEL ""
#define SUNDIALS_GIT_VERSION   ""
#define SUNDIALS_C_COMPILER_HAS_MATH_PRECISIONS
#define SUNDIALS_C_COMPILER_HAS_ISINF_ISNAN
#define SUNDIALS_C_COMPILER_HAS_INLINE
#define SUNDIALS_C_COMPILER_HAS_SNPRINTF_AND_VA_COPY
#define SUNDIALS_C_INLINE      inline
#define SUNDIALS_INLINE        SUNDIALS_C_INLINE
#define SUNDIALS_STATIC_INLINE static SUNDIALS_INLINE
#define SUNDIALS_DOUBLE_PRECISION 1
#define SUNDIALS_INT64_T          1
#define SUNDIALS_INDEX_TYPE       int64_t
#define SUNDIALS_LOGGING_LEVEL    0
