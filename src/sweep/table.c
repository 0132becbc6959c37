// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The rows of all shards of a directory, by the index of their run.
#include "sweep/table.h"
#include "record/text.h"
#include "sweep/own.h"
#include "sweep/shard.h"

#include <dirent.h>
#include <errno.h>
#include <string.h>

// Where the row of a run is: a shard and a place in it.
typedef struct row_place {
    int32_t shard;  // -1: none
    uint32_t size;
    size_t at;
} row_place;

typedef struct shard {
    char *name;
    pp_file file;
} shard;

struct perp_sweep_table {
    perp_env env;
    const perp_sweep *sweep;
    pp_arena *arena;
    shard *shard;
    int shards;
    row_place *row;  // one per run
    int64_t counts[PERP_RUN_COUNT];
};

// ── Names ────────────────────────────────────────────────────────────────────────────────────────

static bool is_shard(const char *name)
{
    size_t n = strlen(name), end = strlen(PP_SHARD_END);
    return n > end && strcmp(name + n - end, PP_SHARD_END) == 0;
}

// By name: what is kept of several rows of a run does not depend on the order of the directory. There are few.
static void sort_shards(perp_sweep_table *t)
{
    for (int k = 1; k < t->shards; k++) {
        shard moved = t->shard[k];
        int j = k;
        for (; j > 0 && strcmp(t->shard[j - 1].name, moved.name) > 0; j--) {
            t->shard[j] = t->shard[j - 1];
        }
        t->shard[j] = moved;
    }
}

// A directory without shards has no rows.
static perp_status list_shards(perp_sweep_table *t, const char *folder, perp_error *error)
{
    DIR *listing = opendir(folder);
    if (!listing) {
        return errno == ENOENT ? PERP_OK
                               : pp_fail(error, PERP_ERR_IO, "cannot read '%.150s': %s", folder,
                                         strerror(errno));
    }
    // The old list stays in the arena: doubling keeps the waste below its size.
    int room = 0;
    perp_status status = PERP_OK;
    for (const struct dirent *entry = readdir(listing); entry; entry = readdir(listing)) {
        if (!is_shard(entry->d_name)) {
            continue;
        }
        if (t->shards == room) {
            room = 2 * room + 8;
            shard *more = PP_ZEROS(t->arena, shard, room);
            if (!more) {
                status = pp_sweep_memory(error);
                break;
            }
            if (t->shards > 0) {
                memcpy(more, t->shard, (size_t)t->shards * sizeof *more);
            }
            t->shard = more;
        }
        size_t n = strlen(entry->d_name) + 1;
        char *name = PP_ARRAY(t->arena, char, n);
        if (!name) {
            status = pp_sweep_memory(error);
            break;
        }
        t->shard[t->shards++].name = memcpy(name, entry->d_name, n);
    }
    closedir(listing);
    sort_shards(t);
    return status;
}

// ── Rows ─────────────────────────────────────────────────────────────────────────────────────────

typedef struct collector {
    perp_sweep_table *table;
    int shard;
    double value[2 * PP_SWEEP_NAMES];
} collector;

static const char *bytes_of(const perp_sweep_table *t, const row_place *p)
{
    return t->shard[p->shard].file.text + p->at;
}

// A solved row beats one that failed: the time of a run differs from machine to machine.
static void keep_row(void *user, const void *bytes, size_t size)
{
    collector *c = user;
    perp_sweep_table *t = c->table;
    perp_sweep_row row = {.value = c->value}, old = {.value = c->value};
    if (!perp_sweep_row_unpack(t->sweep, bytes, size, &row)) {
        return;
    }
    row_place *p = &t->row[row.index];
    bool better = p->shard < 0;
    if (!better && perp_sweep_row_unpack(t->sweep, bytes_of(t, p), p->size, &old)) {
        better = old.status > PERP_RUN_VIOLATED && row.status <= PERP_RUN_VIOLATED;
        if (better) {
            t->counts[old.status]--;
        }
    } else {
        t->counts[PERP_RUN_MISSING]--;
    }
    if (better) {
        *p = (row_place){.shard = c->shard,
                         .size = (uint32_t)size,
                         .at = (size_t)((const char *)bytes - t->shard[c->shard].file.text)};
        t->counts[row.status]++;
    }
}

static perp_status read_shard(perp_sweep_table *t, const char *folder, int k, perp_error *error)
{
    char path[PP_PATH_MAX];
    shard *s = &t->shard[k];
    perp_status status = pp_path_join(path, folder, s->name, error);
    if (status == PERP_OK) {
        status = pp_file_read(path, PP_FILE_MAX, false, &t->env, &s->file, error);
    }
    if (status < 0 || s->file.size < sizeof(pp_shard_head)) {
        return status;  // another process is creating it
    }
    status = pp_shard_check(t->sweep, path, s->file.text, s->file.size, error);
    if (status == PERP_OK) {
        collector c = {.table = t, .shard = k};
        (void)pp_shard_good(t->sweep, s->file.text, s->file.size, keep_row, &c);
    }
    return status;
}

static perp_status read_all(perp_sweep_table *t, const char *dir, perp_error *error)
{
    char folder[PP_PATH_MAX];
    perp_status status = pp_path_join(folder, dir, PP_SHARDS, error);
    t->row = status == PERP_OK ? PP_ARRAY(t->arena, row_place, t->sweep->runs) : NULL;
    if (status < 0) {
        return status;
    }
    if (!t->row) {
        return pp_sweep_memory(error);
    }
    for (int64_t k = 0; k < t->sweep->runs; k++) {
        t->row[k] = (row_place){.shard = -1};
    }
    t->counts[PERP_RUN_MISSING] = t->sweep->runs;
    status = list_shards(t, folder, error);
    if (status < 0) {
        return status;
    }
    for (int k = 0; k < t->shards; k++) {
        status = read_shard(t, folder, k, error);
        if (status < 0) {
            return status;
        }
    }
    return PERP_OK;
}

perp_status perp_sweep_table_read(const perp_sweep *sweep, const char *dir, const perp_env *env,
                                  perp_sweep_table **table, perp_error *error)
{
    if (!sweep || !dir || !table) {
        return pp_fail(error, PERP_ERR_ARGUMENT, "perp_sweep_table_read: NULL argument");
    }
    *table = NULL;
    perp_sweep_table *t = pp_alloc(env, sizeof *t);
    if (!t) {
        return pp_sweep_memory(error);
    }
    *t = (perp_sweep_table){.env = env ? *env : (perp_env){0}, .sweep = sweep};
    t->arena = pp_arena_create(env);
    perp_status status = t->arena ? read_all(t, dir, error) : pp_sweep_memory(error);
    if (status < 0) {
        perp_sweep_table_destroy(t);
        return status;
    }
    *table = t;
    return PERP_OK;
}

void perp_sweep_table_destroy(perp_sweep_table *t)
{
    if (t) {
        for (int k = 0; k < t->shards; k++) {
            pp_file_free(&t->shard[k].file, &t->env);
        }
        perp_env env = t->env;
        pp_arena_destroy(t->arena);
        pp_free(&env, t, sizeof *t);
    }
}

bool perp_sweep_table_has(const perp_sweep_table *t, int64_t index)
{
    return t && index >= 0 && index < t->sweep->runs && t->row[index].shard >= 0;
}

void perp_sweep_table_row(const perp_sweep_table *t, int64_t index, perp_sweep_row *row)
{
    if (!t || !row) {
        return;
    }
    if (!perp_sweep_table_has(t, index) ||
        !perp_sweep_row_unpack(t->sweep, bytes_of(t, &t->row[index]), t->row[index].size, row)) {
        perp_sweep_row_failed(t->sweep, index, PERP_RUN_MISSING, "not run", row);
    }
}

int64_t perp_sweep_table_count(const perp_sweep_table *t, perp_run_status status)
{
    return t && status >= 0 && status < PERP_RUN_COUNT ? t->counts[status] : 0;
}

const perp_sweep *pp_sweep_table_sweep(const perp_sweep_table *t)
{
    return t->sweep;
}

const perp_env *pp_sweep_table_env(const perp_sweep_table *t)
{
    return &t->env;
}
