// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
#include "support/fault.h"

#include <SuiteSparse_config.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER = 64 };

static fault *hooked;

static void *take(fault *f, size_t size)
{
    if (++f->calls == f->fail_at) {
        f->happened = true;
        return NULL;
    }
    char *block = aligned_alloc(HEADER, HEADER + ((size + HEADER - 1) & ~(size_t)(HEADER - 1)));
    if (!block) {
        return NULL;
    }
    memcpy(block, &size, sizeof size);
    memset(block + HEADER, 0xA5, size);  // so that nobody relies on zeros
    f->live++;
    return block + HEADER;
}

static size_t size_of(const void *block)
{
    size_t size;
    memcpy(&size, (const char *)block - HEADER, sizeof size);
    return size;
}

static void give(fault *f, void *block)
{
    if (block) {
        f->live--;
        free((char *)block - HEADER);
    }
}

static void *env_alloc(void *user, size_t size, size_t align)
{
    return align <= HEADER ? take(user, size) : NULL;
}

static void env_free(void *user, void *block, size_t size)
{
    fault *f = user;
    if (block && size_of(block) != size) {
        f->confused++;
    }
    give(f, block);
}

perp_env fault_env(fault *f)
{
    return (perp_env){.alloc = env_alloc, .free = env_free, .user = f};
}

static void *hook_malloc(size_t size)
{
    return take(hooked, size);
}

static void *hook_calloc(size_t count, size_t size)
{
    void *block = take(hooked, count * size);
    return block ? memset(block, 0, count * size) : NULL;
}

static void *hook_realloc(void *old, size_t size)
{
    void *block = take(hooked, size);
    if (block && old) {
        memcpy(block, old, size < size_of(old) ? size : size_of(old));
        give(hooked, old);
    }
    return block;
}

static void hook_free(void *block)
{
    give(hooked, block);
}

void fault_hook(fault *f)
{
    hooked = f;
    SuiteSparse_config.malloc_func = f ? hook_malloc : malloc;
    SuiteSparse_config.calloc_func = f ? hook_calloc : calloc;
    SuiteSparse_config.realloc_func = f ? hook_realloc : realloc;
    SuiteSparse_config.free_func = f ? hook_free : free;
}
