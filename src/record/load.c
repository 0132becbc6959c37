// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Datasets and attributes of run.h5, read with suspicion.
//
// A recording may come from anywhere. HDF5 files can point to other files by soft and external
// links, by external storage and by virtual datasets, and can claim sizes that they do not hold.
// None of these is followed or believed: data must be in this file, with the type and the sizes
// expected.
#include "record/load.h"

#include <limits.h>
#include <string.h>

// What deflate can do at best: sizes beyond this times the stored bytes are a lie.
enum { BEST_COMPRESSION = 1032, SPARE = 64 * 1024 };

perp_status pp_load_fail(const perp_recording *r, perp_error *error, const char *what,
                         const char *why)
{
    return pp_fail(error, PERP_ERR_FORMAT, "%.120s: '%s' %s", r->path, what, why);
}

// The same text for every array.
static perp_status no_memory(perp_error *error)
{
    return pp_fail(error, PERP_ERR_MEMORY, "not enough memory to read the recording");
}

// ── Datasets ─────────────────────────────────────────────────────────────────────────────────────

// Each part of the path must be a hard link: the data is in this file.
static hid_t open_dataset(hid_t file, const char *path)
{
    char part[128];
    for (size_t k = 0; k < sizeof part; k++) {
        part[k] = path[k];
        if (path[k] == '/' || path[k] == '\0') {
            H5L_info_t link;
            part[k] = '\0';
            if (H5Lexists(file, part, H5P_DEFAULT) <= 0 ||
                H5Lget_info(file, part, &link, H5P_DEFAULT) < 0 || link.type != H5L_TYPE_HARD) {
                return -1;
            }
            part[k] = path[k];
        }
        if (path[k] == '\0') {
            return H5Dopen2(file, path, H5P_DEFAULT);
        }
    }
    return -1;
}

// Data in other files, and layouts that gather other datasets, are refused.
static bool stored_here(hid_t dataset)
{
    hid_t list = H5Dget_create_plist(dataset);
    bool here = list >= 0 && H5Pget_external_count(list) == 0;
    H5D_layout_t layout = list >= 0 ? H5Pget_layout(list) : H5D_LAYOUT_ERROR;
    H5Pclose(list);
    return here && (layout == H5D_COMPACT || layout == H5D_CONTIGUOUS || layout == H5D_CHUNKED);
}

// Number class and size; the byte order may be any, since HDF5 converts it.
static bool type_fits(hid_t dataset, pp_h5_cell cell)
{
    hid_t type = H5Dget_type(dataset);
    H5T_class_t class = type >= 0 ? H5Tget_class(type) : H5T_NO_CLASS;
    bool fits = class == (cell == PP_F64 ? H5T_FLOAT : H5T_INTEGER) &&
                H5Tget_size(type) == pp_h5_cell_bytes(cell);
    H5Tclose(type);
    return fits;
}

// The dimensions; false when there are not `rank` of them, or more than the file can hold.
static bool dimensions(hid_t dataset, int rank, size_t bytes, hsize_t dims[3])
{
    hid_t space = H5Dget_space(dataset);
    bool fits = space >= 0 && H5Sget_simple_extent_ndims(space) == rank &&
                H5Sget_simple_extent_dims(space, dims, NULL) == rank;
    H5Sclose(space);
    if (!fits) {
        return false;
    }
    double total = (double)bytes;
    for (int k = 0; k < rank; k++) {
        if (dims[k] > INT_MAX) {
            return false;
        }
        total *= (double)dims[k];
    }
    // A small file that claims a huge array would otherwise take all memory.
    double stored = (double)H5Dget_storage_size(dataset);
    return total <= BEST_COMPRESSION * stored + SPARE;
}

// Whether a dataset has the type and the sizes that are wanted; size[k] < 0 takes any and receives
// it.
static bool array_fits(hid_t dataset, pp_h5_cell cell, int rank, int *size, size_t *count)
{
    hsize_t dims[3] = {1, 1, 1};
    if (!stored_here(dataset) || !type_fits(dataset, cell) ||
        !dimensions(dataset, rank, pp_h5_cell_bytes(cell), dims)) {
        return false;
    }
    *count = 1;
    for (int k = 0; k < rank; k++) {
        if (size[k] >= 0 && (hsize_t)size[k] != dims[k]) {
            return false;
        }
        size[k] = (int)dims[k];
        *count *= (size_t)dims[k];
    }
    return true;
}

// The whole dataset into the arena of the recording. One cell more than it has: texts end with a
// zero.
static perp_status read_array(perp_recording *r, hid_t dataset, const char *path, pp_h5_cell cell,
                              size_t count, const void **data, perp_error *error)
{
    void *copy = pp_arena_zeros(r->arena, count + 1, pp_h5_cell_bytes(cell));
    *data = copy;
    if (!copy) {
        return no_memory(error);
    }
    if (count > 0 &&
        H5Dread(dataset, pp_h5_cell_memory(cell), H5S_ALL, H5S_ALL, H5P_DEFAULT, copy) < 0) {
        return pp_load_fail(r, error, path, "cannot be read: the file is damaged");
    }
    return PERP_OK;
}

// The caller's sizes are checked before memory is asked for.
perp_status pp_load_array(perp_recording *r, const char *path, pp_h5_cell cell, int rank, int *size,
                          const void **data, perp_error *error)
{
    hid_t dataset = open_dataset(r->file, path);
    if (dataset < 0) {
        return pp_load_fail(r, error, path, "is missing");
    }
    size_t count = 0;
    perp_status status = array_fits(dataset, cell, rank, size, &count)
                             ? read_array(r, dataset, path, cell, count, data, error)
                             : pp_load_fail(r, error, path, "has the wrong type or size");
    H5Dclose(dataset);
    return status;
}

// The block of strings of `size` bytes each, which fill their places without a zero at the end,
// made into terminated ones.
static perp_status read_strings(perp_recording *r, hid_t dataset, hid_t type, const char *path,
                                int count, const char ***names, perp_error *error)
{
    size_t size = H5Tget_size(type);
    char *block = pp_arena_zeros(r->arena, (size_t)count + 1, size);
    char *text = pp_arena_zeros(r->arena, (size_t)count + 1, size + 1);
    const char **list = PP_ARRAY(r->arena, const char *, count + 1);
    *names = list;
    if (!block || !text || !list) {
        return no_memory(error);
    }
    if (count > 0 && H5Dread(dataset, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, block) < 0) {
        return pp_load_fail(r, error, path, "cannot be read: the file is damaged");
    }
    for (int k = 0; k < count; k++) {
        list[k] = text + (size_t)k * (size + 1);
        memcpy(text + (size_t)k * (size + 1), block + (size_t)k * size, size);
    }
    return PERP_OK;
}

perp_status pp_load_names(perp_recording *r, const char *path, int count, const char ***names,
                          perp_error *error)
{
    hid_t dataset = open_dataset(r->file, path);
    if (dataset < 0) {
        return pp_load_fail(r, error, path, "is missing");
    }
    hid_t type = H5Dget_type(dataset);
    // Strings of variable length lie elsewhere in the file, with sizes that nothing here would
    // check.
    size_t size = type >= 0 && H5Tget_class(type) == H5T_STRING ? H5Tget_size(type) : 0;
    hsize_t dims[3] = {0};
    bool fits = size > 0 && H5Tis_variable_str(type) == 0 && stored_here(dataset) &&
                dimensions(dataset, 1, size, dims) && dims[0] == (hsize_t)count;
    perp_status status = fits ? read_strings(r, dataset, type, path, count, names, error)
                              : pp_load_fail(r, error, path, "has the wrong type or size");
    H5Tclose(type);
    H5Dclose(dataset);
    return status;
}

// ── Attributes ───────────────────────────────────────────────────────────────────────────────────

// Words are short: longer ones are taken for damage.
perp_status pp_load_word(perp_recording *r, const char *object, const char *name, const char **word,
                         perp_error *error)
{
    // Names of runs and words of settings.
    enum { LONGEST = 4096 };
    hid_t attribute = H5Aopen_by_name(r->file, object, name, H5P_DEFAULT, H5P_DEFAULT);
    hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
    size_t size = type >= 0 && H5Tget_class(type) == H5T_STRING ? H5Tget_size(type) : 0;
    bool fits = size > 0 && size < LONGEST && H5Tis_variable_str(type) == 0 &&
                H5Sget_simple_extent_npoints(space) == 1;
    char *text = fits ? PP_ZEROS(r->arena, char, size + 1) : NULL;
    bool good = text && H5Aread(attribute, type, text) >= 0;
    bool memory = fits && !text;
    *word = text;
    H5Sclose(space);
    H5Tclose(type);
    H5Aclose(attribute);
    if (memory) {
        return no_memory(error);
    }
    return good ? PERP_OK : pp_load_fail(r, error, name, "is missing or not a text");
}

// Integers are read as doubles, which hold them exactly.
perp_status pp_load_number(perp_recording *r, const char *object, const char *name, double *value,
                           perp_error *error)
{
    hid_t attribute = H5Aopen_by_name(r->file, object, name, H5P_DEFAULT, H5P_DEFAULT);
    hid_t type = H5Aget_type(attribute), space = H5Aget_space(attribute);
    H5T_class_t class = type >= 0 ? H5Tget_class(type) : H5T_NO_CLASS;
    bool good = (class == H5T_FLOAT || class == H5T_INTEGER) &&
                H5Sget_simple_extent_npoints(space) == 1 &&
                H5Aread(attribute, H5T_NATIVE_DOUBLE, value) >= 0;
    H5Sclose(space);
    H5Tclose(type);
    H5Aclose(attribute);
    return good ? PERP_OK : pp_load_fail(r, error, name, "is missing or not a number");
}

// ── Columns ──────────────────────────────────────────────────────────────────────────────────────

// Columns that recordings of earlier releases do not have: they are read as zeros.
static bool is_optional(pp_h5_column column)
{
    return column == PP_COL_STEP_ERROR || column == PP_COL_MOTION_ERROR || column == PP_COL_HOLD ||
           column == PP_COL_STEP_PARTS || column == PP_COL_PART_END ||
           column == PP_COL_STEP_PLACED || column == PP_COL_MOTION_UNIQUE ||
           column == PP_COL_IMPULSES_UNIQUE || column == PP_COL_APPLIED_END ||
           column == PP_COL_APPLIED_TO || column == PP_COL_APPLIED;
}

// The dimensions after the first are those of the model.
static bool column_fits(const perp_recording *r, hid_t dataset, pp_h5_column column, int64_t rows)
{
    pp_h5_cell cell = pp_column_at(column)->cell;
    hsize_t want[2] = {0}, dims[3] = {0};
    int rank = 1 + pp_column_shape(column, r->sizes, want);
    if (!stored_here(dataset) || !type_fits(dataset, cell) ||
        !dimensions(dataset, rank, pp_h5_cell_bytes(cell), dims)) {
        return false;
    }
    for (int k = 1; k < rank; k++) {
        if (dims[k] != want[k - 1]) {
            return false;
        }
    }
    return (int64_t)dims[0] >= rows;
}

perp_status pp_load_column(perp_recording *r, pp_h5_table table, pp_h5_column column, int64_t rows,
                           perp_error *error)
{
    char path[PP_COLUMN_PATH];
    if (pp_column_width(column, r->sizes) == 0 || !pp_column_is_in(column, table)) {
        return PERP_OK;
    }
    pp_column_path(column, table, path);
    hid_t dataset = open_dataset(r->file, path);
    if (dataset < 0) {
        return is_optional(column) ? PERP_OK : pp_load_fail(r, error, path, "is missing");
    }
    r->table[table].column[column] = dataset;
    if (!column_fits(r, dataset, column, rows)) {
        return pp_load_fail(r, error, path, "has the wrong type or size");
    }
    return PERP_OK;
}

perp_status pp_load_rows(perp_recording *r, pp_h5_table table, pp_h5_column column, int64_t first,
                         int64_t count, pp_arena *arena, const void **data, perp_error *error)
{
    const pp_column_card *card = pp_column_at(column);
    size_t width = pp_column_width(column, r->sizes);
    void *rows = pp_arena_zeros(arena, width * (size_t)count + 1, pp_h5_cell_bytes(card->cell));
    hid_t from = r->table[table].column[column];
    *data = rows;
    if (!rows) {
        return no_memory(error);
    }
    if (width == 0 || count == 0 || from < 0) {
        return PERP_OK;
    }
    // A hyperslab: `count` rows from `first` on, all entries of each.
    hsize_t start[3] = {(hsize_t)first}, size[3] = {(hsize_t)count};
    int rank = 1 + pp_column_shape(column, r->sizes, size + 1);
    hid_t memory = H5Screate_simple(rank, size, NULL), space = H5Dget_space(from);
    bool good = H5Sselect_hyperslab(space, H5S_SELECT_SET, start, NULL, size, NULL) >= 0 &&
                H5Dread(from, pp_h5_cell_memory(card->cell), memory, space, H5P_DEFAULT, rows) >= 0;
    H5Sclose(space);
    H5Sclose(memory);
    return good ? PERP_OK
                : pp_load_fail(r, error, card->path, "cannot be read: the file is damaged");
}
