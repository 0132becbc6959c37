// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The end of a child process. _exit writes no line counts; a coverage build must write them first.
#pragma once

#include <unistd.h>

#ifdef PERP_COVERAGE
void __gcov_dump(void);
#endif

static inline _Noreturn void child_exit(int code)
{
#ifdef PERP_COVERAGE
    __gcov_dump();
#endif
    _exit(code);
}
