// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The heap behind perp_env, and the arena on top of it.
#include "base/base.h"

#include <stdlib.h>
#include <string.h>

enum { ALIGNMENT = 64 };

static size_t round_up(size_t size)
{
    return (size + (ALIGNMENT - 1)) & ~(size_t)(ALIGNMENT - 1);
}

// Sizes are rounded up to the alignment, which aligned_alloc requires. Size 0 gives a block.
void *pp_alloc(const perp_env *env, size_t size)
{
    if (size > SIZE_MAX - ALIGNMENT) {
        return NULL;
    }
    size_t rounded = round_up(size ? size : 1);
    if (env && env->alloc) {
        return env->alloc(env->user, rounded, ALIGNMENT);
    }
    return aligned_alloc(ALIGNMENT, rounded);
}

// The same rounding as in pp_alloc, so that a caller's allocator sees the size that it gave.
void pp_free(const perp_env *env, void *block, size_t size)
{
    if (!block) {
        return;
    }
    if (env && env->alloc) {
        // An allocator without free is one that frees everything at once.
        if (env->free) {
            env->free(env->user, block, round_up(size ? size : 1));
        }
        return;
    }
    free(block);
}

void *pp_block_move(const perp_env *env, void *block, size_t old_size, size_t used, size_t size)
{
    void *moved = pp_alloc(env, size);
    if (!moved) {
        return NULL;
    }
    if (used > 0) {
        memcpy(moved, block, used);
    }
    pp_free(env, block, old_size);
    return moved;
}

// Chunks form a list, newest first; `size` counts the payload that follows the header.
typedef struct chunk {
    struct chunk *older;
    size_t size, used;
} chunk;

struct pp_arena {
    perp_env env;
    chunk *top;
    bool placed;   // the arena and its first chunk are in the caller's memory
    size_t total;  // payload of all chunks, which a reset merges into one
};

// The header takes a full alignment unit, so that the payload is aligned.
enum { HEADER = ALIGNMENT, FIRST_CHUNK = 16 * 1024 };

// No chunk yet: the first allocation makes one.
pp_arena *pp_arena_create(const perp_env *env)
{
    pp_arena *arena = pp_alloc(env, sizeof *arena);
    if (arena) {
        *arena = (pp_arena){.env = env ? *env : (perp_env){0}};
    }
    return arena;
}

// The arena itself is at the start of the memory, its first chunk after it.
pp_arena *pp_arena_place(void *memory, size_t size, const perp_env *env)
{
    size_t own = round_up(sizeof(pp_arena));
    pp_assert(size > own + HEADER && (uintptr_t)memory % ALIGNMENT == 0);
    pp_arena *arena = memory;
    *arena = (pp_arena){.env = env ? *env : (perp_env){0}, .placed = true};
    arena->top = (chunk *)((char *)memory + own);
    *arena->top = (chunk){.size = size - own - HEADER};
    arena->total = arena->top->size;
    return arena;
}

// All chunks but the placed one.
static void free_chunks(pp_arena *arena)
{
    while (arena->top && (arena->top->older || !arena->placed)) {
        chunk *c = arena->top;
        arena->top = c->older;
        arena->total -= c->size;
        pp_free(&arena->env, c, HEADER + c->size);
    }
}

// NULL is allowed.
void pp_arena_destroy(pp_arena *arena)
{
    if (arena) {
        perp_env env = arena->env;
        free_chunks(arena);
        if (!arena->placed) {
            pp_free(&env, arena, sizeof *arena);
        }
    }
}

// Puts a new chunk on top. The rest of the one before is not used until a reset.
static chunk *push_chunk(pp_arena *arena, size_t size)
{
    if (size > SIZE_MAX - HEADER) {
        return NULL;
    }
    chunk *c = pp_alloc(&arena->env, HEADER + size);
    if (c) {
        *c = (chunk){.older = arena->top, .size = size};
        arena->top = c;
        arena->total += size;
    }
    return c;
}

// After the same work a second time, one chunk holds all of it.
void pp_arena_reset(pp_arena *arena)
{
    if (arena->top && arena->top->older && !arena->placed) {
        size_t total = arena->total;
        free_chunks(arena);
        push_chunk(arena, total);  // may fail: then the next allocation tries again
    }
    if (arena->top) {
        arena->top->used = 0;
    }
}

pp_mark pp_arena_mark(const pp_arena *arena)
{
    return (pp_mark){arena->top, arena->top ? arena->top->used : 0};
}

// Chunks newer than the mark are emptied and not freed: they merge at the next reset. Only the
// newest chunk serves allocations, so that the position in the mark's chunk matters only while it
// is on top.
void pp_arena_release(pp_arena *arena, pp_mark mark)
{
    if (arena->top == mark.chunk && arena->top) {
        arena->top->used = mark.used;
    } else if (arena->top) {
        arena->top->used = 0;
    }
}

void *pp_arena_array(pp_arena *arena, size_t n, size_t size)
{
    // Products of halves of a word do not overflow; the division that others need takes as long as the rest.
    const size_t half = (size_t)1 << (4 * sizeof(size_t) - 1);
    if ((n >= half || size >= half) && size && n > (SIZE_MAX / 2 - ALIGNMENT) / size) {
        return NULL;
    }
    // A new chunk is at least as large as all before, so that their number grows with the
    // logarithm.
    size_t bytes = round_up(n * size);
    chunk *c = arena->top;
    if (!c || c->size - c->used < bytes) {
        size_t want = arena->total > FIRST_CHUNK ? arena->total : FIRST_CHUNK;
        c = push_chunk(arena, want > bytes ? want : bytes);
        if (!c) {
            return NULL;
        }
    }
    void *block = (char *)c + HEADER + c->used;
    c->used += bytes;
    return block;
}

bool pp_stopped(const perp_env *env)
{
    return env && env->stop && env->stop(env->user);
}

bool pp_arena_stopped(const pp_arena *arena)
{
    return pp_stopped(&arena->env);
}

const perp_env *pp_arena_env(const pp_arena *arena)
{
    return &arena->env;
}

void *pp_arena_zeros(pp_arena *arena, size_t n, size_t size)
{
    void *block = pp_arena_array(arena, n, size);
    if (block) {
        memset(block, 0, n * size);
    }
    return block;
}
