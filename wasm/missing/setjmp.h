// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// WASI has no setjmp. qhull leaves by longjmp when it gives up; qhull_try.c catches that with the help of the host.
#pragma once

typedef int jmp_buf[1];
#define setjmp(env) 0
_Noreturn void longjmp(jmp_buf env, int value);
