// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Allocations that fail by the place they are made from: every allocation from an arena, from perp_env and from
// SuiteSparse counts. The arena takes large chunks, so that support/fault.h reaches few of its callers; here
// the linker puts wrappers before pp_arena_array and pp_arena_zeros (programs of test/memory/).
#pragma once

#include <perp/base.h>

// Does the work once with the given environment and frees everything; returns the status of the first failure.
typedef perp_status sites_work(const perp_env *env, void *user);

// Does the work once to list its allocations, then once per place, whose first allocation fails. A place is the
// innermost `depth` return addresses of the call. Each time the work must return PERP_ERR_MEMORY or do
// without the memory, and give back every block. Returns the number of places.
int sites_walk(const char *name, sites_work *work, void *user, int depth);
// Between sites_spare(true) and sites_spare(false) nothing is listed and nothing fails.
void sites_spare(bool spare);
