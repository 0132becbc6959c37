// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Types that cli/live.h mentions; the page has one thread, and src/page_board.c in place of a board that threads share.
#pragma once

typedef int pthread_mutex_t;
typedef int pthread_cond_t;
