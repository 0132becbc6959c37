// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Results: sweep.csv and sweep.h5 from a table, and sweep.h5 read back for figures.
//
// sweep.h5 has a dataset for each column under /parameters and /outputs, with an attribute `unit`; /status with the
// words of its numbers as the attribute `words`; /reason; and the attributes name, identity and sweep, the text of the
// file. Times are not tracked, so that the bytes depend on the rows only.
#include "record/text.h"
#include "scene/read/json_tree.h"
#include "sweep/own.h"
#include "sweep/table.h"

#include <errno.h>
#include <hdf5.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { CHUNK = 8192, DEFLATE = 4, REASON = 200 };

// ── CSV ──────────────────────────────────────────────────────────────────────────────────────────

static void put_head(pp_text *text, const perp_sweep *sweep)
{
    pp_text_add(text, "index");
    for (int k = 0; k < sweep->columns; k++) {
        char unit[64] = "";
        if (sweep->column[k].unit[0]) {
            pp_print(unit, sizeof unit, " [%.40s]", sweep->column[k].unit);
        }
        pp_text_add(text, ",");
        pp_text_field_with(text, sweep->column[k].name, unit);
    }
    pp_text_add(text, ",status,reason\n");
}

// NaN is an empty field; an infinite value is inf.
static void put_row(pp_text *text, const perp_sweep *sweep, const perp_sweep_row *row)
{
    pp_text_int(text, row->index);
    for (int k = 0; k < sweep->columns; k++) {
        char number[32] = "";
        if (!isnan(row->value[k])) {
            pp_number_print_short(number, sizeof number, row->value[k]);
        }
        pp_text_add(text, ",");
        pp_text_add(text, number);
    }
    pp_text_add(text, ",");
    pp_text_add(text, perp_run_status_word((int)row->status));
    pp_text_add(text, ",");
    pp_text_field(text, row->reason);
    pp_text_add(text, "\n");
}

static perp_status write_csv(const perp_sweep_table *t, const char *dir, perp_error *error)
{
    const perp_sweep *sweep = pp_sweep_table_sweep(t);
    double value[2 * PP_SWEEP_NAMES];
    perp_sweep_row row = {.value = value};
    pp_part_file part;
    pp_text text;
    perp_status status = pp_part_file_open(&part, dir, "sweep.csv", error);
    if (status < 0) {
        return status;
    }
    pp_text_start(&text, pp_sweep_table_env(t));
    put_head(&text, sweep);
    for (int64_t k = 0; k < sweep->runs; k++) {
        perp_sweep_table_row(t, k, &row);
        put_row(&text, sweep, &row);
        // In blocks: a million rows need not be in memory.
        if (text.size > 1000000 || text.failed) {
            status = text.failed ? pp_sweep_memory(error) : pp_part_file_write(&part, &text, error);
            pp_text_clear(&text);
        }
        if (status < 0) {
            break;
        }
    }
    if (status == PERP_OK) {
        status = text.failed ? pp_sweep_memory(error) : pp_part_file_write(&part, &text, error);
    }
    if (status == PERP_OK) {
        status = pp_part_file_finish(&part, error);
    }
    pp_text_end(&text);
    pp_part_file_close(&part);
    return status;
}

// ── HDF5: attributes ─────────────────────────────────────────────────────────────────────────────

static bool put_text_attribute(hid_t object, const char *name, const char *text)
{
    hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
    bool good = type >= 0 && space >= 0 && H5Tset_size(type, strlen(text) + 1) >= 0 &&
                H5Tset_cset(type, H5T_CSET_UTF8) >= 0;
    hid_t attribute =
        good ? H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT) : H5I_INVALID_HID;
    good = attribute >= 0 && H5Awrite(attribute, type, text) >= 0;
    if (attribute >= 0) {
        H5Aclose(attribute);
    }
    H5Sclose(space);
    H5Tclose(type);
    return good;
}

// ── HDF5: writing ────────────────────────────────────────────────────────────────────────────────

// A dataset of `runs` values, compressed.
static bool put_column(hid_t group, const char *name, hid_t type, hid_t memory, int64_t runs,
                       const void *data, const char *unit)
{
    hsize_t size = (hsize_t)runs, chunk = size < CHUNK ? size : CHUNK;
    hid_t space = H5Screate_simple(1, &size, NULL), list = H5Pcreate(H5P_DATASET_CREATE);
    bool good = space >= 0 && list >= 0 && H5Pset_obj_track_times(list, false) >= 0 &&
                H5Pset_chunk(list, 1, &chunk) >= 0;
    if (good && H5Zfilter_avail(H5Z_FILTER_DEFLATE) > 0) {
        good = H5Pset_shuffle(list) >= 0 && H5Pset_deflate(list, DEFLATE) >= 0;
    }
    hid_t set = good ? H5Dcreate2(group, name, type, space, H5P_DEFAULT, list, H5P_DEFAULT)
                     : H5I_INVALID_HID;
    good = set >= 0 && H5Dwrite(set, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0;
    good = good && (!unit || put_text_attribute(set, "unit", unit));
    if (set >= 0) {
        good = H5Dclose(set) >= 0 && good;
    }
    H5Pclose(list);
    H5Sclose(space);
    return good;
}

static hid_t make_group(hid_t file, const char *name)
{
    hid_t list = H5Pcreate(H5P_GROUP_CREATE);
    hid_t group = H5I_INVALID_HID;
    if (list >= 0 && H5Pset_obj_track_times(list, false) >= 0) {
        group = H5Gcreate2(file, name, H5P_DEFAULT, list, H5P_DEFAULT);
    }
    H5Pclose(list);
    return group;
}

// One column at a time, so that memory does not grow with their number.
static bool put_numbers(const perp_sweep_table *t, hid_t file, double *data, bool outputs)
{
    const perp_sweep *sweep = pp_sweep_table_sweep(t);
    double value[2 * PP_SWEEP_NAMES];
    perp_sweep_row row = {.value = value};
    hid_t group = make_group(file, outputs ? "outputs" : "parameters");
    bool good = group >= 0;
    for (int c = 0; c < sweep->columns; c++) {
        if (!good || sweep->column[c].output != outputs) {
            continue;
        }
        for (int64_t k = 0; k < sweep->runs; k++) {
            perp_sweep_table_row(t, k, &row);
            data[k] = value[c];
        }
        good = put_column(group, sweep->column[c].name, H5T_IEEE_F64LE, H5T_NATIVE_DOUBLE,
                          sweep->runs, data, sweep->column[c].unit);
    }
    if (group >= 0) {
        H5Gclose(group);
    }
    return good;
}

static bool put_status(const perp_sweep_table *t, hid_t file, char *reason)
{
    const perp_sweep *sweep = pp_sweep_table_sweep(t);
    double value[2 * PP_SWEEP_NAMES];
    perp_sweep_row row = {.value = value};
    unsigned char *code = (unsigned char *)reason + (size_t)sweep->runs * REASON;
    for (int64_t k = 0; k < sweep->runs; k++) {
        perp_sweep_table_row(t, k, &row);
        code[k] = (unsigned char)row.status;
        // Zeros to the end: the bytes of the file depend on them.
        char *to = reason + (size_t)k * REASON;
        memset(to, 0, REASON);
        memcpy(to, row.reason, strlen(row.reason));
    }
    hid_t text = H5Tcopy(H5T_C_S1);
    bool good =
        text >= 0 && H5Tset_size(text, REASON) >= 0 && H5Tset_cset(text, H5T_CSET_UTF8) >= 0;
    good =
        good && put_column(file, "status", H5T_STD_U8LE, H5T_NATIVE_UCHAR, sweep->runs, code, NULL);
    good = good && put_column(file, "reason", text, text, sweep->runs, reason, NULL);
    H5Tclose(text);
    return good;
}

static bool fill_h5(const perp_sweep_table *t, hid_t file, void *scratch)
{
    const perp_sweep *sweep = pp_sweep_table_sweep(t);
    char words[200] = "", identity[32];
    for (int k = 0; k < PERP_RUN_COUNT; k++) {
        size_t used = strlen(words);
        pp_print(words + used, sizeof words - used, "%s%s", k > 0 ? " " : "",
                 perp_run_status_word(k));
    }
    pp_print(identity, sizeof identity, "%016llx", (unsigned long long)sweep->identity);
    return put_text_attribute(file, "format", "perp sweep 1") &&
           put_text_attribute(file, "name", sweep->name) &&
           put_text_attribute(file, "identity", identity) &&
           put_text_attribute(file, "words", words) && put_numbers(t, file, scratch, false) &&
           put_numbers(t, file, scratch, true) && put_status(t, file, scratch);
}

// Larger than an attribute may be: a dataset of bytes.
static bool put_sweep_text(const perp_sweep *sweep, hid_t file)
{
    return put_column(file, "sweep", H5T_STD_U8LE, H5T_NATIVE_UCHAR, (int64_t)sweep->size,
                      sweep->text, NULL);
}

static perp_status write_h5(const perp_sweep_table *t, const char *dir, perp_error *error)
{
    const perp_sweep *sweep = pp_sweep_table_sweep(t);
    const perp_env *env = pp_sweep_table_env(t);
    char path[PP_PATH_MAX], part[PP_PATH_MAX];
    perp_status status = pp_path_join(path, dir, "sweep.h5", error);
    char name[40];
    pp_print(name, sizeof name, "sweep.h5.%lld.part", (long long)getpid());
    if (status == PERP_OK) {
        status = pp_path_join(part, dir, name, error);
    }
    if (status < 0) {
        return status;
    }
    size_t bytes = (size_t)sweep->runs * (REASON + 1);
    void *scratch = pp_alloc(env, bytes);
    if (!scratch) {
        return pp_sweep_memory(error);
    }
    errno = 0;
    H5E_auto2_t print = NULL;
    void *context = NULL;
    H5Eget_auto2(H5E_DEFAULT, &print, &context);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);  // failures are reported here, not on stderr
    hid_t file = H5Fcreate(part, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    bool good = file >= 0 && fill_h5(t, file, scratch) && put_sweep_text(sweep, file);
    if (file >= 0) {
        good = H5Fclose(file) >= 0 && good;
    }
    H5Eset_auto2(H5E_DEFAULT, print, context);
    good = good && rename(part, path) == 0;
    if (!good) {
        int fault = errno;
        remove(part);
        status = pp_fail_write(error, path, fault ? fault : EIO);
    }
    pp_free(env, scratch, bytes);
    return status;
}

perp_status perp_sweep_table_write(const perp_sweep_table *table, const char *dir,
                                   perp_error *error)
{
    if (!table || !dir) {
        return pp_fail(error, PERP_ERR_ARGUMENT, "perp_sweep_table_write: NULL argument");
    }
    perp_status status = write_csv(table, dir, error);
    return status < 0 ? status : write_h5(table, dir, error);
}

// ── HDF5: reading ────────────────────────────────────────────────────────────────────────────────

// Where the columns are read from, and into.
typedef struct source {
    hid_t file;
    pp_arena *arena;
    bool starved;  // memory is out
} source;

// A dataset of one dimension; *count is checked, or set where it is negative. NULL: it is not there.
static void *get_column(source *from, const char *name, hid_t memory, size_t width, int64_t *count)
{
    hid_t file = from->file;
    hid_t set = H5Dopen2(file, name, H5P_DEFAULT);
    if (set < 0) {
        return NULL;
    }
    hid_t space = H5Dget_space(set);
    hsize_t size = 0;
    bool good = space >= 0 && H5Sget_simple_extent_ndims(space) == 1 &&
                H5Sget_simple_extent_dims(space, &size, NULL) == 1 && size <= PP_SWEEP_RUNS &&
                (*count < 0 || size == (hsize_t)*count);
    char *data = good ? pp_arena_array(from->arena, (size_t)size + 1, width) : NULL;
    from->starved = from->starved || (good && !data);
    if (data && H5Dread(set, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) < 0) {
        data = NULL;
    }
    if (data) {
        *count = (int64_t)size;
        memset(data + (size_t)size * width, 0, width);  // a text is terminated
    }
    H5Sclose(space);
    H5Dclose(set);
    return data;
}

static perp_status fill_results(hid_t file, const char *path, const perp_env *env, pp_arena *arena,
                                pp_sweep_results *out, perp_error *error)
{
    int64_t size = -1;
    source from = {.file = file, .arena = arena};
    const char *text = get_column(&from, "sweep", H5T_NATIVE_CHAR, 1, &size);
    if (!text) {
        return from.starved
                   ? pp_sweep_memory(error)
                   : pp_fail(error, PERP_ERR_FORMAT, "'%.150s' has no results of a sweep", path);
    }
    perp_status status = pp_sweep_read(text, (size_t)size, env, &out->sweep, error);
    if (status < 0) {
        return status;
    }
    const perp_sweep *sweep = out->sweep;
    out->runs = sweep->runs;
    out->column = PP_ZEROS(arena, double *, sweep->columns);
    out->status = get_column(&from, "status", H5T_NATIVE_UCHAR, 1, &out->runs);
    bool good = out->column && out->status;
    // Columns are found by the names in the text of the sweep.
    for (int k = 0; k < sweep->columns; k++) {
        if (!good) {
            break;
        }
        char name[400];
        pp_print(name, sizeof name, "%s/%.300s", sweep->column[k].output ? "outputs" : "parameters",
                 sweep->column[k].name);
        out->column[k] = get_column(&from, name, H5T_NATIVE_DOUBLE, sizeof(double), &out->runs);
        good = out->column[k] != NULL;
    }
    if (from.starved || !out->column) {
        return pp_sweep_memory(error);
    }
    return good ? PERP_OK
                : pp_fail(error, PERP_ERR_FORMAT, "'%.150s' lacks columns of its sweep", path);
}

perp_status pp_sweep_results_read(const char *path, const perp_env *env, pp_arena *arena,
                                  pp_sweep_results *out, perp_error *error)
{
    *out = (pp_sweep_results){0};
    H5E_auto2_t print = NULL;
    void *context = NULL;
    H5Eget_auto2(H5E_DEFAULT, &print, &context);
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    hid_t file = H5Fopen(path, H5F_ACC_RDONLY, H5P_DEFAULT);
    perp_status status = file < 0 ? pp_fail(error, PERP_ERR_IO, "cannot read '%.150s'", path)
                                  : fill_results(file, path, env, arena, out, error);
    if (file >= 0) {
        H5Fclose(file);
    }
    H5Eset_auto2(H5E_DEFAULT, print, context);
    if (status < 0) {
        perp_sweep_destroy(out->sweep);
        out->sweep = NULL;
    }
    return status;
}
