// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
#include "support/sites.h"

#include "base/base.h"
#include "support/cmocka.h"
#include "support/fault.h"

#include <execinfo.h>
#include <stdlib.h>

enum { DEPTH_MOST = 32, OWN_FRAMES = 2 };  // frames of refuse() and of the wrapper

typedef struct site {
    void *frame[DEPTH_MOST];
    int frames;
    uint64_t hash;
} site;

// One thread works at a time. The table of places is open-addressed by hash.
static struct {
    bool listing, failing, happened, spare;
    int depth, count;
    uint64_t target;
    site *list;
    int *slot;
    int list_size, slots;
} walk;

// Names that the linker gives to functions with --wrap.
// NOLINTBEGIN(bugprone-reserved-identifier, readability-identifier-naming)
void *__real_pp_arena_array(pp_arena *arena, size_t n, size_t size);
void *__real_pp_arena_zeros(pp_arena *arena, size_t n, size_t size);
void *__wrap_pp_arena_array(pp_arena *arena, size_t n, size_t size);
void *__wrap_pp_arena_zeros(pp_arena *arena, size_t n, size_t size);
// NOLINTEND(bugprone-reserved-identifier, readability-identifier-naming)

// FNV-1a over the addresses.
static site find_site(void)
{
    void *frame[DEPTH_MOST + OWN_FRAMES + 1];
    int count = backtrace(frame, walk.depth + OWN_FRAMES + 1);
    site s = {.hash = 14695981039346656037u};
    for (int i = OWN_FRAMES + 1; i < count; i++) {
        s.frame[s.frames++] = frame[i];
        s.hash = (s.hash ^ (uint64_t)(uintptr_t)frame[i]) * 1099511628211u;
    }
    return s;
}

static void grow(void)
{
    walk.slots = walk.slots ? 2 * walk.slots : 1024;
    walk.list_size = walk.slots / 2;
    walk.list = realloc(walk.list, (size_t)walk.list_size * sizeof *walk.list);
    free(walk.slot);
    walk.slot = malloc((size_t)walk.slots * sizeof *walk.slot);
    assert_true(walk.list && walk.slot);
    for (int i = 0; i < walk.slots; i++) {
        walk.slot[i] = -1;
    }
    for (int k = 0; k < walk.count; k++) {
        size_t at = walk.list[k].hash % (size_t)walk.slots;
        for (; walk.slot[at] >= 0; at = (at + 1) % (size_t)walk.slots) {
        }
        walk.slot[at] = k;
    }
}

static void list_site(const site *s)
{
    if (walk.count == walk.list_size) {
        grow();
    }
    size_t at = s->hash % (size_t)walk.slots;
    for (; walk.slot[at] >= 0; at = (at + 1) % (size_t)walk.slots) {
        if (walk.list[walk.slot[at]].hash == s->hash) {
            return;
        }
    }
    walk.list[walk.count] = *s;
    walk.slot[at] = walk.count++;
}

// Whether the allocation under way is the one to fail.
__attribute__((noinline)) static bool refuse(void)
{
    if (walk.spare || (!walk.listing && !walk.failing)) {
        return false;
    }
    site s = find_site();
    if (walk.listing) {
        list_site(&s);
        return false;
    }
    walk.failing = s.hash != walk.target;
    walk.happened = !walk.failing;
    return walk.happened;
}

void *__wrap_pp_arena_array(pp_arena *arena, size_t n, size_t size)
{
    return refuse() ? NULL : __real_pp_arena_array(arena, n, size);
}

void *__wrap_pp_arena_zeros(pp_arena *arena, size_t n, size_t size)
{
    return refuse() ? NULL : __real_pp_arena_zeros(arena, n, size);
}

static perp_env counted;  // of the fault that counts blocks

static void *env_alloc(void *user, size_t size, size_t align)
{
    return refuse() ? NULL : counted.alloc(user, size, align);
}

void sites_spare(bool spare)
{
    walk.spare = spare;
}

static perp_status work_once(const char *name, sites_work *work, void *user)
{
    fault f = {0};
    counted = fault_env(&f);
    perp_env env = counted;
    env.alloc = env_alloc;
    perp_status status = work(&env, user);
    walk.listing = walk.failing = walk.spare = false;
    if (f.live != 0 || f.confused != 0) {
        fail_msg("%s: %d blocks lost, %d given back with another size", name, f.live, f.confused);
    }
    return status;
}

int sites_walk(const char *name, sites_work *work, void *user, int depth)
{
    assert_in_range(depth, 1, DEPTH_MOST);
    walk.count = 0;
    free(walk.slot), free(walk.list);
    walk.slot = NULL, walk.list = NULL;
    walk.slots = walk.list_size = 0;
    walk.depth = depth;
    // the unwinder loads its library at its first use
    find_site();
    // -1 lists the places; one call of the work, so that the places are the same in all rounds
    for (int k = -1; k < walk.count; k++) {
        walk.listing = k < 0;
        walk.failing = k >= 0;
        walk.happened = false;
        walk.target = k < 0 ? 0 : walk.list[k].hash;
        perp_status status = work_once(name, work, user);
        if (k < 0 && status < 0) {
            fail_msg("%s: status %d where memory suffices", name, (int)status);
        }
        if (k >= 0 && (!walk.happened || (status < 0 && status != PERP_ERR_MEMORY))) {
            backtrace_symbols_fd(walk.list[k].frame, walk.list[k].frames, 2);
            fail_msg("%s: status %d where allocation %d of %d fails%s", name, (int)status, k + 1,
                     walk.count, walk.happened ? "" : ", which was not reached");
        }
    }
    int count = walk.count;
    free(walk.slot), free(walk.list);
    walk.slot = NULL, walk.list = NULL;
    return count;
}
