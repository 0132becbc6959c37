// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// run.h5 as it is written: columns, flushes, the end.
//
// Columns are chunked and compressed (shuffle and deflate). A chunk has at most 128 KB, so that a
// reader of a few frames does not inflate much more than it needs.
#include "record/store.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum {
    CHUNK_BYTES = 128 * 1024,  // of a chunk: the unit of compression
    CHUNK_ROWS = 1024,         // at most
    DEFLATE = 4,
    FIRST_ROWS = 64,
};

// errno is set to 0 before calls to HDF5, which leaves it as the last system call did: a disk that
// is full shows in it.
static perp_status fail_store(const pp_store *store, perp_error *error)
{
    return pp_fail_write(error, store->path, errno);
}

// ── Opening ──────────────────────────────────────────────────────────────────────────────────────

// A handle of -1 is none: closing passes over it.
void pp_store_start(pp_store *store, const perp_env *env)
{
    *store = (pp_store){.env = env ? *env : (perp_env){0}, .file = -1, .progress = -1};
    for (int k = 0; k < PP_COLUMN_COUNT; k++) {
        store->column[PP_FRAMES][k].dataset = store->column[PP_PARTS][k].dataset = -1;
    }
}

// The newest file format is what SWMR needs.
perp_status pp_store_create(pp_store *store, const char *path, const perp_sim *sim,
                            const perp_record_def *def, perp_error *error)
{
    pp_print(store->path, sizeof store->path, "%s", path);
    errno = 0;
    hid_t access = H5Pcreate(H5P_FILE_ACCESS);
    if (access >= 0 && H5Pset_libver_bounds(access, H5F_LIBVER_LATEST, H5F_LIBVER_LATEST) >= 0) {
        store->file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, access);
    }
    if (access >= 0) {
        H5Pclose(access);
    }
    return store->file < 0 ? fail_store(store, error) : pp_store_model(store, sim, def, error);
}

// Properties of a column: chunked, shuffled, compressed, with as many rows a chunk as make a good
// size. A library built without deflate writes it uncompressed.
static hid_t column_list(size_t row_bytes, int rank, hsize_t dims[3])
{
    hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    size_t rows = CHUNK_BYTES / row_bytes;
    rows = rows < 1 ? 1 : rows;
    dims[0] = rows > CHUNK_ROWS ? CHUNK_ROWS : rows;
    if (list < 0 || H5Pset_chunk(list, rank, dims) < 0) {
        return list;
    }
    if (H5Zfilter_avail(H5Z_FILTER_DEFLATE) > 0) {
        H5Pset_shuffle(list);
        H5Pset_deflate(list, DEFLATE);
    }
    return list;
}

// An attribute `unit` for people and for other programs; perp itself does not read it.
static bool put_unit(hid_t dataset, const char *unit)
{
    if (!unit[0]) {
        return true;
    }
    hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
    bool good = H5Tset_size(type, strlen(unit)) >= 0;
    hid_t attribute = H5Acreate2(dataset, "unit", type, space, H5P_DEFAULT, H5P_DEFAULT);
    good = good && H5Awrite(attribute, type, unit) >= 0;
    H5Aclose(attribute);
    H5Sclose(space);
    H5Tclose(type);
    return good;
}

// A dataset with no rows yet. Its first dimension is unlimited, the others are those of the model.
static bool create_column(pp_store *store, pp_h5_table table, pp_h5_column k)
{
    const pp_column_card *card = pp_column_at(k);
    pp_buffer *column = &store->column[table][k];
    char path[PP_COLUMN_PATH];
    column->width = pp_column_is_in(k, table) ? pp_column_width(k, store->sizes) : 0;
    if (column->width == 0) {
        return true;
    }
    pp_column_path(k, table, path);
    hsize_t none[3] = {0}, most[3] = {H5S_UNLIMITED}, chunk[3] = {0};
    int rank = 1 + pp_column_shape(k, store->sizes, none + 1);
    // Only the first dimension grows.
    memcpy(most + 1, none + 1, 2 * sizeof *none);
    memcpy(chunk + 1, none + 1, 2 * sizeof *none);
    hid_t list = column_list(column->width * pp_h5_cell_bytes(card->cell), rank, chunk);
    hid_t space = H5Screate_simple(rank, none, most);
    column->dataset = H5Dcreate2(store->file, path, pp_h5_cell_file(card->cell), space, H5P_DEFAULT,
                                 list, H5P_DEFAULT);
    H5Sclose(space);
    H5Pclose(list);
    return column->dataset >= 0 && put_unit(column->dataset, card->unit);
}

// Two numbers, frames and complete. The space is taken at once: in SWMR mode it could not be later.
static hid_t create_progress(hid_t file)
{
    const hsize_t two = 2;
    hid_t list = H5Pcreate(H5P_DATASET_CREATE), space = H5Screate_simple(1, &two, NULL);
    H5Pset_alloc_time(list, H5D_ALLOC_TIME_EARLY);
    hid_t dataset =
        H5Dcreate2(file, "progress", H5T_STD_I64LE, space, H5P_DEFAULT, list, H5P_DEFAULT);
    H5Sclose(space);
    H5Pclose(list);
    return dataset;
}

// Groups first: the paths of columns go through them.
perp_status pp_store_begin(pp_store *store, perp_error *error)
{
    static const char *const groups[] = {
        "applied",
        "contacts",
        "joints",
        "certificate",
        "energy",
        "solver",
        "accuracy",
        "parts",
        "parts/contacts",
        "parts/joints",
        "parts/certificate",
        "parts/energy",
        "parts/solver",
        "inputs",
        "actuators",
        "changes",
        "sensors",
    };
    errno = 0;
    for (size_t k = 0; k < sizeof groups / sizeof groups[0]; k++) {
        hid_t group = H5Gcreate2(store->file, groups[k], H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
        if (group < 0) {
            return fail_store(store, error);
        }
        H5Gclose(group);
    }
    for (int k = 0; k < PP_COLUMN_COUNT; k++) {
        if (!create_column(store, PP_FRAMES, (pp_h5_column)k) ||
            !create_column(store, PP_PARTS, (pp_h5_column)k)) {
            return fail_store(store, error);
        }
    }
    store->progress = create_progress(store->file);
    // In SWMR mode no object can be added to the file any more, only rows to datasets.
    bool good = store->progress >= 0 && H5Fstart_swmr_write(store->file) >= 0;
    return good ? PERP_OK : fail_store(store, error);
}

// ── Rows ─────────────────────────────────────────────────────────────────────────────────────────

// Rows that are not yet in the file; the buffer doubles when it is full, and is kept for the rows
// after a flush.
void *pp_store_rows(pp_store *store, pp_h5_column column, size_t count)
{
    pp_buffer *buffer = &store->column[store->table][column];
    // Bytes of a row.
    size_t bytes = buffer->width * pp_h5_cell_bytes(pp_column_at(column)->cell);
    if (buffer->count + count > buffer->room) {
        size_t room = 2 * (buffer->count + count) + FIRST_ROWS;
        char *rows = pp_block_move(&store->env, buffer->rows, buffer->room * bytes,
                                   buffer->count * bytes, room * bytes);
        if (!rows) {
            return NULL;
        }
        buffer->rows = rows;
        buffer->room = room;
    }
    char *at = buffer->rows + buffer->count * bytes;
    buffer->count += count;
    store->pending += count * bytes;
    return at;
}

// Appends the rows that wait. A column of width 0 has no dataset; what was counted for it is
// forgotten.
static bool write_column(pp_store *store, pp_h5_table table, pp_h5_column k)
{
    pp_buffer *column = &store->column[table][k];
    hid_t memory_type = pp_h5_cell_memory(pp_column_at(k)->cell);
    if (column->dataset < 0 || column->count == 0) {
        column->count = 0;
        return true;
    }
    // size: of the dataset after this flush; start and count: the rows that are new.
    hsize_t size[3] = {0}, start[3] = {column->written}, count[3] = {column->count};
    int rank = 1 + pp_column_shape(k, store->sizes, size + 1);
    memcpy(count + 1, size + 1, 2 * sizeof *size);
    size[0] = column->written + column->count;
    if (H5Dset_extent(column->dataset, size) < 0) {
        return false;
    }
    hid_t memory = H5Screate_simple(rank, count, NULL), file = H5Dget_space(column->dataset);
    bool good =
        H5Sselect_hyperslab(file, H5S_SELECT_SET, start, NULL, count, NULL) >= 0 &&
        H5Dwrite(column->dataset, memory_type, memory, file, H5P_DEFAULT, column->rows) >= 0;
    H5Sclose(file);
    H5Sclose(memory);
    if (good) {
        column->written = size[0];
        column->count = 0;
    }
    return good;
}

// After a write that failed, HDF5 would go on writing what still fits, and spoil what is on the
// disk. From here on its file descriptor leads nowhere.
static void abandon(pp_store *store)
{
    void *handle = NULL;
    // HDF5 has no call that closes a file without writing to it.
    int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nowhere >= 0 && H5Fget_vfd_handle(store->file, H5P_DEFAULT, &handle) >= 0 && handle) {
        dup2(nowhere, *(int *)handle);
    }
    if (nowhere >= 0) {
        close(nowhere);
    }
    store->failed = true;
}

static bool write_columns(pp_store *store)
{
    for (int k = 0; k < PP_COLUMN_COUNT; k++) {
        if (!write_column(store, PP_FRAMES, (pp_h5_column)k) ||
            !write_column(store, PP_PARTS, (pp_h5_column)k)) {
            return false;
        }
    }
    return true;
}

// Columns, then progress, then progress once more on its way to the disk: each in an order that a
// kill between two writes cannot spoil.
perp_status pp_store_flush(pp_store *store, bool complete, perp_error *error)
{
    errno = 0;
    // The rows are on the disk before the number of frames that promises them.
    bool good = write_columns(store) && H5Fflush(store->file, H5F_SCOPE_LOCAL) >= 0;
    const int64_t progress[2] = {(int64_t)store->column[PP_FRAMES][PP_COL_T].written, complete};
    good = good && H5Dwrite(store->progress, H5T_NATIVE_INT64, H5S_ALL, H5S_ALL, H5P_DEFAULT,
                            progress) >= 0;
    good = good && H5Dflush(store->progress) >= 0;
    store->pending = 0;
    store->flushed = pp_seconds();
    if (!good) {
        perp_status status = fail_store(store, error);
        abandon(store);
        return status;
    }
    return PERP_OK;
}

// Closing goes on after a failure: nothing may stay open.
bool pp_store_close(pp_store *store)
{
    bool good = true;
    for (int k = 0; k < PP_TABLES * PP_COLUMN_COUNT; k++) {
        pp_h5_column of = (pp_h5_column)(k % PP_COLUMN_COUNT);
        pp_buffer *column = &store->column[k / PP_COLUMN_COUNT][of];
        if (column->dataset >= 0) {
            good = H5Dclose(column->dataset) >= 0 && good;
        }
        pp_free(&store->env, column->rows,
                column->room * column->width * pp_h5_cell_bytes(pp_column_at(of)->cell));
        *column = (pp_buffer){.dataset = -1};
    }
    if (store->progress >= 0) {
        good = H5Dclose(store->progress) >= 0 && good;
    }
    if (store->file >= 0) {
        good = H5Fclose(store->file) >= 0 && good;
    }
    store->file = store->progress = -1;
    return good;
}
