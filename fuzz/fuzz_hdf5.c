// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Fuzz target for the FCLIB reader. The input is not the file but a list of edits to a valid one: HDF5 writes a
// well-formed file, so that our reader is tested and not HDF5.
//
//   byte 0: which problem; then triples: dataset, what to do with it, argument
#include "reader.h"

#include <hdf5.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 16, DATASETS = 27 };

typedef enum shape {
    PLAIN,
    ABSENT,
    AS_INT64,
    AS_FLOAT,
    AS_DOUBLE,
    TABLE,
    SCALAR,
    PACKED,
    UNWRITTEN,
    TEXT,
    SOFT_LINK,
    AS_GROUP,
    SHAPES
} shape;

typedef struct dataset {
    const char *group, *name;  // group "": the problem's own
    bool integer;
    int count;
    double value[MOST];
    shape shape;
} dataset;

// One contact on a mass, local and global, plain and rolling at once: parts that are not read do not matter.
static const dataset good[DATASETS] = {
    {"", "spacedim", true, 1, {3}, PLAIN},
    {"vectors", "mu", false, 1, {0.5}, PLAIN},
    {"vectors", "mu_r", false, 1, {0.1}, PLAIN},
    {"vectors", "q", false, 3, {-1, 0.5, 0}, PLAIN},
    {"vectors", "f", false, 3, {0, 0, -1}, PLAIN},
    {"vectors", "w", false, 3, {0, 0, 0}, PLAIN},
    {"W", "m", true, 1, {3}, PLAIN},
    {"W", "n", true, 1, {3}, PLAIN},
    {"W", "nz", true, 1, {-2}, PLAIN},
    {"W", "nzmax", true, 1, {3}, PLAIN},
    {"W", "p", true, 4, {0, 1, 2, 3}, PLAIN},
    {"W", "i", true, 3, {0, 1, 2}, PLAIN},
    {"W", "x", false, 3, {1, 1, 1}, PLAIN},
    {"M", "m", true, 1, {3}, PLAIN},
    {"M", "n", true, 1, {3}, PLAIN},
    {"M", "nz", true, 1, {-1}, PLAIN},
    {"M", "nzmax", true, 1, {3}, PLAIN},
    {"M", "p", true, 4, {0, 1, 2, 3}, PLAIN},
    {"M", "i", true, 3, {0, 1, 2}, PLAIN},
    {"M", "x", false, 3, {2, 2, 2}, PLAIN},
    {"H", "m", true, 1, {3}, PLAIN},
    {"H", "n", true, 1, {3}, PLAIN},
    {"H", "nz", true, 1, {3}, PLAIN},
    {"H", "nzmax", true, 1, {3}, PLAIN},
    {"H", "p", true, 3, {0, 1, 2}, PLAIN},
    {"H", "i", true, 3, {0, 1, 2}, PLAIN},
    {"H", "x", false, 3, {1, 1, 1}, PLAIN},
};

// ── Edits ────────────────────────────────────────────────────────────────────────────────────────

static void edit(dataset *d, uint8_t what, uint8_t argument)
{
    static const double odd[] = {1e300, -1e300, 2147483647.0, -2147483648.0, 4294967296.0,
                                 1e9,   1e308,  -1.0,         1e-320,        3.0};
    if (what < SHAPES) {
        d->shape = (shape)what;
    } else if (what < 64) {
        d->count = argument % (MOST + 1);
    } else if (what < 160) {
        d->value[what % MOST] = (double)(int8_t)argument;
    } else if (what < 224) {
        d->value[what % MOST] = odd[argument % (sizeof odd / sizeof odd[0])];
    } else {
        double zero = 0.0;
        d->value[what % MOST] = argument & 1 ? 1.0 / zero : zero / zero;
    }
}

// ── Writing ──────────────────────────────────────────────────────────────────────────────────────

static hid_t make_space(const dataset *d)
{
    hsize_t size[2] = {(hsize_t)d->count, 2};
    if (d->shape == SCALAR) {
        return H5Screate(H5S_SCALAR);
    }
    return H5Screate_simple(d->shape == TABLE ? 2 : 1, size, NULL);
}

static hid_t stored_type(const dataset *d)
{
    switch (d->shape) {
    case AS_INT64:
        return H5T_NATIVE_INT64;
    case AS_FLOAT:
        return H5T_NATIVE_FLOAT;
    case AS_DOUBLE:
        return H5T_NATIVE_DOUBLE;
    case TEXT:
        return H5T_C_S1;
    default:
        return d->integer ? H5T_NATIVE_INT : H5T_NATIVE_DOUBLE;
    }
}

static void put_values(hid_t group, const dataset *d)
{
    hid_t space = make_space(d), list = H5Pcreate(H5P_DATASET_CREATE);
    hsize_t chunk = 4;
    if (d->shape == PACKED) {
        H5Pset_chunk(list, 1, &chunk);
        H5Pset_deflate(list, 6);
    }
    hid_t set = H5Dcreate2(group, d->name, stored_type(d), space, H5P_DEFAULT, list, H5P_DEFAULT);
    double buffer[2 * MOST] = {0};
    memcpy(buffer, d->value, sizeof d->value);
    if (set >= 0 && d->shape != UNWRITTEN && d->shape != TEXT) {
        H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, buffer);
    }
    H5Dclose(set);
    H5Pclose(list);
    H5Sclose(space);
}

static void put_dataset(hid_t problem, const dataset *d)
{
    hid_t group = problem;
    if (d->shape == ABSENT) {
        return;
    }
    if (d->group[0]) {
        group = H5Lexists(problem, d->group, H5P_DEFAULT) > 0
                    ? H5Gopen2(problem, d->group, H5P_DEFAULT)
                    : H5Gcreate2(problem, d->group, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    }
    if (d->shape == SOFT_LINK) {
        H5Lcreate_soft("/nowhere", group, d->name, H5P_DEFAULT, H5P_DEFAULT);
    } else if (d->shape == AS_GROUP) {
        H5Gclose(H5Gcreate2(group, d->name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT));
    } else {
        put_values(group, d);
    }
    if (group != problem) {
        H5Gclose(group);
    }
}

// The bytes of the file; the caller frees them.
static uint8_t *make_file(const char *name, const dataset *all, size_t *size)
{
    hid_t list = H5Pcreate(H5P_FILE_ACCESS);
    H5Pset_fapl_core(list, 4096, false);
    hid_t file = H5Fcreate("made", H5F_ACC_TRUNC, H5P_DEFAULT, list);
    hid_t problem = H5Gcreate2(file, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    for (int k = 0; k < DATASETS; k++) {
        put_dataset(problem, &all[k]);
    }
    H5Gclose(problem);
    H5Fflush(file, H5F_SCOPE_GLOBAL);
    ssize_t bytes = H5Fget_file_image(file, NULL, 0);
    uint8_t *image = bytes > 0 ? malloc((size_t)bytes) : NULL;
    *size = image ? (size_t)H5Fget_file_image(file, image, (size_t)bytes) : 0;
    H5Fclose(file);
    H5Pclose(list);
    return image;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const names[] = {"fclib_local", "fclib_global", "fclib_local_rolling",
                                        "fclib_global_rolling", "fclib_other"};
    dataset all[DATASETS];
    memcpy(all, good, sizeof all);
    if (size == 0 || size > 256) {
        return 0;
    }
    for (size_t k = 1; k + 2 < size; k += 3) {
        edit(&all[data[k] % DATASETS], data[k + 1], data[k + 2]);
    }
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
    size_t bytes;
    uint8_t *image = make_file(names[data[0] % 5], all, &bytes);
    perp_problem *problem = image ? fuzz_read("made.hdf5", image, bytes) : NULL;
    if (problem) {
        fuzz_round_trip(problem);
        perp_problem_destroy(problem);
    }
    free(image);
    return 0;
}
