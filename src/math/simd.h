// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Private to math/: four doubles at a time, and the one switch for code compiled for two machines.
//
// Every kernel is written so that each number it computes is the result of the same operations in
// the same order, whatever the width of the registers: lanes are fixed by the source (pp_v4) and
// products are not fused (-ffp-contract=off), so that both clones give the same bits.
#pragma once

#include <stddef.h>

// Aligned to 8 bytes only: any column of a matrix can be loaded.
typedef double pp_v4 __attribute__((vector_size(32), aligned(8), may_alias));

#define PP_INLINE static inline __attribute__((always_inline))

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define PP_SANITIZED 1
#else
#define PP_SANITIZED 0
#endif

// Clones need ifuncs: gcc and glibc on x86-64. Sanitizers run code before the loader has resolved
// them.
#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && defined(__gnu_linux__) &&   \
    !PP_SANITIZED && !defined(PP_NO_CLONES)
#define PP_CLONES __attribute__((target_clones("avx2", "default")))
#else
#define PP_CLONES
#endif

#define PP_LOAD(p)  (*(const pp_v4 *)(p))
#define PP_STORE(p) (*(pp_v4 *)(p))

// The sum of the lanes; a macro, since a vector argument has no stable ABI.
#define PP_SUM(v) (((v)[0] + (v)[1]) + ((v)[2] + (v)[3]))

// A(i, j) of a column-major matrix with leading dimension ld, as a pointer.
#define PP_AT(A, ld, i, j) ((A) + (i) + (ptrdiff_t)(j) * (ptrdiff_t)(ld))
