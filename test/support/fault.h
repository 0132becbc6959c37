// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// An allocator whose k-th allocation fails, and that knows what was not given back. Serves perp_env,
// several threads at once too, and, while hooked, SuiteSparse.
#pragma once

#include <perp/base.h>

typedef struct fault {
    int fail_at;            // 1 is the first allocation; 0: none fails
    _Atomic int calls;      // allocations asked for
    _Atomic int live;       // blocks not given back
    _Atomic int confused;   // blocks given back with another size than asked for
    _Atomic bool happened;  // the allocation to fail was reached
} fault;

perp_env fault_env(fault *f);
// One at a time; SuiteSparse's hooks have no user pointer. NULL: back to the C library.
void fault_hook(fault *f);
