// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Reader of FCLIB's HDF5 files. One of these groups is read, with _rolling after its name where the
// file has coefficients of rolling friction:
//
//   /fclib_local/    spacedim, vectors/{q, mu[, mu_r]}, W
//   /fclib_global/   spacedim, vectors/{f, w, mu[, mu_r]}, M, H      (G is refused: see read_problem)
//
// A matrix is a group with m, n, nz, p, i, x as in CSparse: nz >= 0 means triplets (row i, column
// p), -1 CSC, -2 CSR. Nothing in the file is trusted. Links must be hard, data must be in the file
// itself, and sizes are compared with the bytes that the file stores before memory is allocated.
// HDF5 keeps its state in globals: only one thread may read at a time.
#include "format/format.h"

#include <hdf5.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

// The best ratio of deflate: a dataset larger than this times its stored bytes is a forged size.
enum { BEST_COMPRESSION = 1032 };

typedef struct fclib_reader {
    pp_draft *draft;
    hid_t problem;  // the group /fclib_…
} fclib_reader;

// Messages name the dataset: binary files have no lines.
static perp_status fail_read(fclib_reader *in, const char *where, const char *name, const char *why)
{
    return pp_draft_fail(in->draft, NULL, NULL, "'%s%s%s': %s", where, where[0] ? "/" : "", name,
                         why);
}

// Whether the group has the name. Soft and external links do not count: the data must be in this
// file.
static bool has_link(hid_t group, const char *name)
{
    H5L_info_t info;
    return H5Lexists(group, name, H5P_DEFAULT) > 0 &&
           H5Lget_info(group, name, &info, H5P_DEFAULT) >= 0 && info.type == H5L_TYPE_HARD;
}

// A negative identifier where the group is missing, as HDF5 returns it.
static hid_t open_group(hid_t parent, const char *name)
{
    return has_link(parent, name) ? H5Gopen2(parent, name, H5P_DEFAULT) : H5I_INVALID_HID;
}

// ── Datasets ─────────────────────────────────────────────────────────────────────────────────────

// Whether HDF5 can read the data without external files or plugins: storage within the file, and
// filters of HDF5's own. Filters of other numbers would be loaded from shared libraries.
static bool stored_plainly(hid_t dataset)
{
    hid_t list = H5Dget_create_plist(dataset);
    if (list < 0) {
        return false;
    }
    H5D_layout_t layout = H5Pget_layout(list);
    bool plain = (layout == H5D_COMPACT || layout == H5D_CONTIGUOUS || layout == H5D_CHUNKED) &&
                 H5Pget_external_count(list) == 0;
    int filters = H5Pget_nfilters(list);
    for (int k = 0; k < filters; k++) {
        unsigned flags, config;
        size_t values = 0;
        H5Z_filter_t filter =
            H5Pget_filter2(list, (unsigned)k, &flags, &values, NULL, 0, NULL, &config);
        plain = plain && filter > H5Z_FILTER_NONE && filter <= H5Z_FILTER_SCALEOFFSET;
    }
    H5Pclose(list);
    return plain && filters >= 0;
}

// Number of entries of a vector or scalar of numbers; -1 with the reason in *why. integer: integers
// are wanted; otherwise both classes are accepted and converted.
static hssize_t dataset_length(hid_t dataset, bool integer, const char **why)
{
    hssize_t count = -1;
    hid_t type = H5Dget_type(dataset), space = H5Dget_space(dataset);
    H5T_class_t class = type >= 0 ? H5Tget_class(type) : H5T_NO_CLASS;
    size_t bytes = type >= 0 ? H5Tget_size(type) : 0;
    *why = NULL;
    if (class != H5T_INTEGER && (integer || class != H5T_FLOAT)) {
        *why = integer ? "must contain integers" : "must contain numbers";
    } else if (space < 0 || H5Sget_simple_extent_ndims(space) > 1) {
        *why = "must be a vector";
    } else if (!stored_plainly(dataset)) {
        *why = "is stored in a way that is not supported";
    } else {
        count = H5Sget_simple_extent_npoints(space);
        hsize_t stored = H5Dget_storage_size(dataset);
        // An empty dataset stores nothing, and passes with 0 entries.
        if (count < 0 || count > INT_MAX ||
            (double)count * (double)bytes > (double)BEST_COMPRESSION * (double)stored) {
            *why = "is larger than the data in the file";
            count = -1;
        }
    }
    if (space >= 0) {
        H5Sclose(space);
    }
    if (type >= 0) {
        H5Tclose(type);
    }
    return count;
}

// Reads a dataset into an array in the scratch arena: *n ints or doubles. HDF5 converts from the
// type of the file.
static perp_status read_array(fclib_reader *in, hid_t group, const char *where, const char *name,
                              bool integer, void **out, int *n)
{
    if (!has_link(group, name)) {
        return fail_read(in, where, name, "is missing");
    }
    hid_t dataset = H5Dopen2(group, name, H5P_DEFAULT);
    if (dataset < 0) {
        return fail_read(in, where, name, "is not a dataset");
    }
    const char *why = NULL;
    hssize_t count = dataset_length(dataset, integer, &why);
    perp_status status = PERP_OK;
    if (count < 0) {
        status = fail_read(in, where, name, why ? why : "cannot be read");
    } else {
        *n = (int)count;
        *out = pp_arena_zeros(in->draft->scratch, (size_t)count,
                              integer ? sizeof(int) : sizeof(double));
        // H5Dread converts to this type, and fails where a filter or checksum does.
        hid_t memory = integer ? H5T_NATIVE_INT : H5T_NATIVE_DOUBLE;
        if (!*out) {
            status = pp_draft_memory(in->draft);
        } else if (H5Dread(dataset, memory, H5S_ALL, H5S_ALL, H5P_DEFAULT, *out) < 0) {
            status = fail_read(in, where, name, "cannot be read: the file is damaged");
        }
    }
    H5Dclose(dataset);
    return status;
}

// An int, stored as a dataset with one entry.
static perp_status read_scalar(fclib_reader *in, hid_t group, const char *where, const char *name,
                               int *value)
{
    void *array = NULL;
    int n = 0;
    perp_status status = read_array(in, group, where, name, true, &array, &n);
    if (status == PERP_OK && n != 1) {
        return fail_read(in, where, name, "must be a single integer");
    }
    if (status == PERP_OK) {
        *value = *(int *)array;
    }
    return status;
}

// Vectors are in their own group; the name is the label.
static perp_status read_vector(fclib_reader *in, hid_t group, const char *name, pp_slot slot)
{
    void *array = NULL;
    int n = 0;
    perp_status status = read_array(in, group, "vectors", name, false, &array, &n);
    if (status == PERP_OK) {
        in->draft->vector[slot] = (pp_vector){.label = name, .x = array, .n = n};
    }
    return status;
}

// ── Matrices ─────────────────────────────────────────────────────────────────────────────────────

// A matrix as it stands in the file, with the lengths of its arrays.
typedef struct stored_matrix {
    int m, n, nz;
    int *p, *i;
    double *x;
    int p_count, i_count, x_count;
} stored_matrix;

// m, n and nz are datasets of one integer each.
static perp_status read_parts(fclib_reader *in, hid_t group, const char *name, stored_matrix *A)
{
    void *p = NULL, *i = NULL, *x = NULL;
    perp_status status = read_scalar(in, group, name, "m", &A->m);
    if (status == PERP_OK) {
        status = read_scalar(in, group, name, "n", &A->n);
    }
    if (status == PERP_OK) {
        status = read_scalar(in, group, name, "nz", &A->nz);
    }
    if (status == PERP_OK) {
        status = read_array(in, group, name, "p", true, &p, &A->p_count);
    }
    if (status == PERP_OK) {
        status = read_array(in, group, name, "i", true, &i, &A->i_count);
    }
    if (status == PERP_OK) {
        status = read_array(in, group, name, "x", false, &x, &A->x_count);
    }
    A->p = p;
    A->i = i;
    A->x = x;
    return status;
}

// Expands the pointers of a compressed matrix to the line of each entry: its column for CSC, its
// row for CSR. The pointers are checked first.
static perp_status expand_pointers(fclib_reader *in, const char *name, const stored_matrix *A,
                                   int lines, int **out)
{
    if (A->p_count != lines + 1 || A->p[0] != 0) {
        return fail_read(in, name, "p",
                         "must have one pointer per row or column plus one, starting at 0");
    }
    for (int k = 0; k < lines; k++) {
        if (A->p[k + 1] < A->p[k]) {
            return fail_read(in, name, "p", "must not decrease");
        }
    }
    int nnz = A->p[lines];
    if (nnz > A->i_count || nnz > A->x_count) {
        return fail_read(in, name, "p", "points past the entries");
    }
    int *line = PP_ARRAY(in->draft->scratch, int, nnz);
    if (!line) {
        return pp_draft_memory(in->draft);
    }
    for (int k = 0; k < lines; k++) {
        for (int e = A->p[k]; e < A->p[k + 1]; e++) {
            line[e] = k;
        }
    }
    *out = line;
    return PERP_OK;
}

// All three storages as triplets. Indices are checked by the caller.
static perp_status as_triplets(fclib_reader *in, const char *name, const stored_matrix *A,
                               pp_raw_matrix *raw)
{
    *raw = (pp_raw_matrix){.label = name, .rows = A->m, .cols = A->n, .x = A->x};
    if (A->nz >= 0) {
        if (A->nz > A->p_count || A->nz > A->i_count || A->nz > A->x_count) {
            return fail_read(in, name, "nz", "is larger than the number of entries");
        }
        raw->i = A->i;
        raw->j = A->p;
        raw->nnz = A->nz;
        return PERP_OK;
    }
    if (A->nz < -2) {
        return fail_read(in, name, "nz", "must be -1 (CSC), -2 (CSR) or the number of triplets");
    }
    int lines = A->nz == -1 ? A->n : A->m, *line = NULL;
    perp_status status = expand_pointers(in, name, A, lines, &line);
    raw->i = A->nz == -1 ? A->i : line;
    raw->j = A->nz == -1 ? line : A->i;
    raw->nnz = status == PERP_OK ? A->p[lines] : 0;
    return status;
}

// Checked here once for all storages, so that pp_raw_build need not.
static perp_status check_indices(fclib_reader *in, const pp_raw_matrix *raw)
{
    for (int k = 0; k < raw->nnz; k++) {
        bool row = raw->i[k] < 0 || raw->i[k] >= raw->rows;
        if (row || raw->j[k] < 0 || raw->j[k] >= raw->cols) {
            int size = row ? raw->rows : raw->cols;
            const char *axis = row ? "row" : "column";
            return pp_draft_fail(
                in->draft, NULL, NULL,
                "matrix '%s': entry %d has %s %d, but the matrix has %d %ss (0..%d)", raw->label, k,
                axis, row ? raw->i[k] : raw->j[k], size, axis, size - 1);
        }
    }
    return PERP_OK;
}

// Reads a matrix. rows and cols are the lengths of the vectors that it multiplies.
static perp_status read_matrix(fclib_reader *in, const char *name, int rows, int cols,
                               pp_matrix_slot slot)
{
    hid_t group = open_group(in->problem, name);
    if (group < 0) {
        return fail_read(in, "", name, "is missing");
    }
    stored_matrix A = {0};
    pp_raw_matrix *raw = &in->draft->matrix[slot];
    perp_status status = read_parts(in, group, name, &A);
    H5Gclose(group);
    if (status == PERP_OK && (A.m != rows || A.n != cols)) {
        return pp_draft_fail(in->draft, NULL, NULL,
                             "matrix '%s': %d x %d, but the vectors require %d x %d", name, A.m,
                             A.n, rows, cols);
    }
    if (status == PERP_OK) {
        status = as_triplets(in, name, &A, raw);
    }
    if (status != PERP_OK) {
        return status;
    }
    return check_indices(in, raw);
}

// ── Problems ─────────────────────────────────────────────────────────────────────────────────────

// A local problem has q, a global one f and w. mu_r is the coefficient of rolling friction.
static perp_status read_vectors(fclib_reader *in, bool global, bool rolling)
{
    hid_t group = open_group(in->problem, "vectors");
    if (group < 0) {
        return fail_read(in, "", "vectors", "is missing");
    }
    perp_status status = read_vector(in, group, "mu", PP_VECTOR_MU);
    if (status == PERP_OK && rolling) {
        status = read_vector(in, group, "mu_r", PP_VECTOR_MU_ROLL);
    }
    if (status == PERP_OK && !global) {
        status = read_vector(in, group, "q", PP_VECTOR_Q);
    }
    if (status == PERP_OK && global) {
        status = read_vector(in, group, "f", PP_VECTOR_F);
        if (status == PERP_OK) {
            status = read_vector(in, group, "w", PP_VECTOR_W);
        }
    }
    H5Gclose(group);
    return status;
}

// Global problems of FCLIB may have bilateral constraints G, which perp's form does not.
static perp_status read_problem(fclib_reader *in, bool global, bool rolling)
{
    pp_draft *draft = in->draft;
    draft->kind = global ? "gfc" : "fc";
    perp_status status = read_scalar(in, in->problem, "", "spacedim", &draft->dim);
    if (status == PERP_OK) {
        status = read_vectors(in, global, rolling);
    }
    if (status != PERP_OK) {
        return status;
    }
    if (!global) {
        int n = draft->vector[PP_VECTOR_Q].n;
        return read_matrix(in, "W", n, n, PP_MATRIX_W);
    }
    if (H5Lexists(in->problem, "G", H5P_DEFAULT) > 0) {
        return fail_read(in, "", "G",
                         "bilateral constraints are not supported: condense them into M");
    }
    int nv = draft->vector[PP_VECTOR_F].n, n = draft->vector[PP_VECTOR_W].n;
    status = read_matrix(in, "M", nv, nv, PP_MATRIX_M);
    if (status != PERP_OK) {
        return status;
    }
    return read_matrix(in, "H", nv, n, PP_MATRIX_H);
}

// The name of the group shows the form.
// The first group that exists is read; a file has one.
static perp_status read_file(pp_draft *draft, hid_t file)
{
    static const struct {
        const char *name;
        bool global, rolling;
    } groups[] = {{"fclib_local", false, false},
                  {"fclib_global", true, false},
                  {"fclib_local_rolling", false, true},
                  {"fclib_global_rolling", true, true}};
    for (size_t k = 0; k < sizeof groups / sizeof groups[0]; k++) {
        fclib_reader in = {.draft = draft, .problem = open_group(file, groups[k].name)};
        if (in.problem >= 0) {
            perp_status status = read_problem(&in, groups[k].global, groups[k].rolling);
            H5Gclose(in.problem);
            return status;
        }
    }
    return pp_draft_fail(draft, NULL, NULL,
                         "not an FCLIB file: it has no group 'fclib_local' or 'fclib_global'");
}

// Opens the bytes in memory as a file. The name only keeps images apart.
static hid_t open_image(const pp_draft *draft)
{
    hid_t list = H5Pcreate(H5P_FILE_ACCESS);
    if (list < 0) {
        return H5I_INVALID_HID;
    }
    char name[64];
    pp_print(name, sizeof name, "perp-image-%p", (const void *)draft->text);
    void *image = (void *)(uintptr_t)draft->text;  // HDF5 copies it, and takes no const
    hid_t file = H5I_INVALID_HID;
    if (H5Pset_fapl_core(list, 65536, false) >= 0 &&
        H5Pset_fclose_degree(list, H5F_CLOSE_STRONG) >= 0 &&
        H5Pset_file_image(list, image, draft->size) >= 0) {
        file = H5Fopen(name, H5F_ACC_RDONLY, list);
    }
    H5Pclose(list);
    return file;
}

// The library's error stack is silenced while reading, and put back.
perp_status pp_fclib_read(pp_draft *draft)
{
    // HDF5 prints its errors unless it is silenced; the library must not print.
    H5E_auto2_t print;
    void *context;
    bool silenced = H5Eget_auto2(H5E_DEFAULT, &print, &context) >= 0 &&
                    H5Eset_auto2(H5E_DEFAULT, NULL, NULL) >= 0;
    hid_t file = open_image(draft);
    draft->text = NULL;  // no lines and columns in messages from here on
    perp_status status =
        file >= 0 ? read_file(draft, file)
                  : pp_draft_fail(draft, NULL, NULL, "HDF5 cannot open this file: it is damaged");
    if (file >= 0) {
        H5Fclose(file);
    }
    if (silenced) {
        H5Eset_auto2(H5E_DEFAULT, print, context);
    }
    return status;
}
