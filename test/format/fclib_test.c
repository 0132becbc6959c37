// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// FCLIB files: all three storages give the same matrix, and files that lie are refused with a reason.
#include "support/cmocka.h"
#include "support/fault.h"

#include <perp/io.h>

#include <hdf5.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static char path[256];

// ── Files made here ──────────────────────────────────────────────────────────────────────────────

static void put(hid_t group, const char *name, hid_t type, int count, const void *data)
{
    hsize_t size = (hsize_t)count;
    hid_t space = H5Screate_simple(1, &size, NULL);
    hid_t set = H5Dcreate2(group, name, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    assert_true(set >= 0);
    assert_true(H5Dwrite(set, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, data) >= 0);
    H5Dclose(set);
    H5Sclose(space);
}

static void put_int(hid_t group, const char *name, int value)
{
    put(group, name, H5T_NATIVE_INT, 1, &value);
}

// One contact: W = [4 1 0; 0 5 0; 2 0 6] in the wanted storage. Tests change what they like afterwards.
typedef struct recipe {
    const char *group;  // "fclib_local"
    int dim, m, n, nz;
    int p[4], p_count, i[5], i_count;
    double x[5];
    int x_count, q_count;
    double mu;
} recipe;

static recipe csc_recipe(void)
{
    return (recipe){"fclib_local",   3, 3, 3,  -1, {0, 2, 4, 5}, 4, {0, 2, 0, 1, 2}, 5,
                    {4, 2, 1, 5, 6}, 5, 3, 0.5};
}

static void make(const recipe *r)
{
    static const double q[8] = {-1, 0.25, 0};
    hid_t file = H5Fcreate(path, H5F_ACC_TRUNC, H5P_DEFAULT, H5P_DEFAULT);
    hid_t problem = H5Gcreate2(file, r->group, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    hid_t W = H5Gcreate2(problem, "W", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    hid_t vectors = H5Gcreate2(problem, "vectors", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    put_int(problem, "spacedim", r->dim);
    put_int(W, "m", r->m);
    put_int(W, "n", r->n);
    put_int(W, "nz", r->nz);
    put_int(W, "nzmax", 5);
    put(W, "p", H5T_NATIVE_INT, r->p_count, r->p);
    put(W, "i", H5T_NATIVE_INT, r->i_count, r->i);
    put(W, "x", H5T_NATIVE_DOUBLE, r->x_count, r->x);
    put(vectors, "q", H5T_NATIVE_DOUBLE, r->q_count, q);
    put(vectors, "mu", H5T_NATIVE_DOUBLE, 1, &r->mu);
    H5Gclose(vectors);
    H5Gclose(W);
    H5Gclose(problem);
    H5Fclose(file);
}

static double entry(const perp_matrix *A, int i, int j)
{
    if (A->dense) {
        return A->dense[i + j * A->rows];
    }
    for (int k = A->p[j]; k < A->p[j + 1]; k++) {
        if (A->i[k] == i) {
            return A->x[k];
        }
    }
    return 0.0;
}

static void expect_problem(void)
{
    static const double W[3][3] = {{4, 1, 0}, {0, 5, 0}, {2, 0, 6}};
    perp_problem *problem = NULL;
    perp_error error;
    perp_status status = perp_problem_read(path, NULL, &problem, &error);
    if (status != PERP_OK) {
        print_error("%s\n", error.text);
        fail();
    }
    const perp_fcp *fcp = perp_problem_fcp(problem);
    assert_string_equal(perp_problem_word(problem), "fc");
    assert_int_equal(fcp->nc, 1);
    assert_int_equal(fcp->dim, 3);
    assert_true(fcp->mu[0] == 0.5 && fcp->q[0] == -1.0 && fcp->q[1] == 0.25);
    for (int i = 0; i < 3; i++) {
        for (int j = 0; j < 3; j++) {
            assert_true(entry(&fcp->W, i, j) == W[i][j]);
        }
    }
    perp_problem_destroy(problem);
}

static void expect_refusal(const char *text)
{
    perp_problem *problem = NULL;
    perp_error error;
    assert_int_equal(perp_problem_read(path, NULL, &problem, &error), PERP_ERR_FORMAT);
    assert_null(problem);
    assert_string_equal(error.text, text);
}

// ── Tests ────────────────────────────────────────────────────────────────────────────────────────

static void three_storages_one_matrix(void **state)
{
    (void)state;
    recipe csc = csc_recipe();
    make(&csc);
    expect_problem();
    recipe csr = csc_recipe();
    csr.nz = -2;
    memcpy(csr.p, (int[]){0, 2, 3, 5}, sizeof csr.p);
    memcpy(csr.i, (int[]){0, 1, 1, 0, 2}, sizeof csr.i);
    memcpy(csr.x, (double[]){4, 1, 5, 2, 6}, sizeof csr.x);
    make(&csr);
    expect_problem();
}

static void triplets_add(void **state)
{
    (void)state;
    static const int row[] = {2, 0, 0, 1, 2, 0}, column[] = {2, 0, 1, 1, 0, 0};
    static const double x[] = {6, 1, 1, 5, 2, 3};
    recipe r = csc_recipe();
    r.nz = 6;
    make(&r);
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    hid_t W = H5Gopen2(file, "fclib_local/W", H5P_DEFAULT);
    H5Ldelete(W, "p", H5P_DEFAULT);
    H5Ldelete(W, "i", H5P_DEFAULT);
    H5Ldelete(W, "x", H5P_DEFAULT);
    put(W, "p", H5T_NATIVE_INT, 6, column);
    put(W, "i", H5T_NATIVE_INT, 6, row);
    put(W, "x", H5T_NATIVE_DOUBLE, 6, x);
    H5Gclose(W);
    H5Fclose(file);
    expect_problem();
}

static void lies_are_refused(void **state)
{
    (void)state;
    recipe r = csc_recipe();
    r.i[4] = 3;
    make(&r);
    expect_refusal("matrix 'W': entry 4 has row 3, but the matrix has 3 rows (0..2)");
    r = csc_recipe();
    r.p[2] = 1;
    make(&r);
    expect_refusal("'W/p': must not decrease");
    r = csc_recipe();
    r.p[3] = 2000000000;
    make(&r);
    expect_refusal("'W/p': points past the entries");
    r = csc_recipe();
    r.nz = -3;
    make(&r);
    expect_refusal("'W/nz': must be -1 (CSC), -2 (CSR) or the number of triplets");
    r = csc_recipe();
    r.nz = 2000000000;
    make(&r);
    expect_refusal("'W/nz': is larger than the number of entries");
    r = csc_recipe();
    r.m = -5;
    make(&r);
    expect_refusal("matrix 'W': -5 x 3, but the vectors require 3 x 3");
    r = csc_recipe();
    r.x[0] = 0.0 / (r.mu - 0.5);
    make(&r);
    expect_refusal("matrix 'W': an entry, or the sum of duplicates, is not finite");
    r = csc_recipe();
    r.dim = 2000000000;
    make(&r);
    expect_refusal("dim is 2000000000: a contact has 2 to 6 components");
    r = csc_recipe();
    r.group = "fclib_other";
    make(&r);
    expect_refusal("not an FCLIB file: it has no group 'fclib_local' or 'fclib_global'");
    r = csc_recipe();
    r.group = "fclib_global";
    make(&r);
    expect_refusal("'vectors/f': is missing");
}

// A dataset that claims a terabyte and stores nothing.
static void unstored_data_is_refused(void **state)
{
    (void)state;
    recipe r = csc_recipe();
    make(&r);
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    hid_t vectors = H5Gopen2(file, "fclib_local/vectors", H5P_DEFAULT);
    H5Ldelete(vectors, "q", H5P_DEFAULT);
    hsize_t size = 2000000000, chunk = 1000;
    hid_t space = H5Screate_simple(1, &size, NULL), list = H5Pcreate(H5P_DATASET_CREATE);
    H5Pset_chunk(list, 1, &chunk);
    hid_t set = H5Dcreate2(vectors, "q", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, list, H5P_DEFAULT);
    assert_true(set >= 0);
    H5Dclose(set);
    H5Pclose(list);
    H5Sclose(space);
    H5Gclose(vectors);
    H5Fclose(file);
    expect_refusal("'vectors/q': is larger than the data in the file");
}

static void links_are_not_followed(void **state)
{
    (void)state;
    recipe r = csc_recipe();
    make(&r);
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    hid_t W = H5Gopen2(file, "fclib_local/W", H5P_DEFAULT);
    H5Ldelete(W, "x", H5P_DEFAULT);
    H5Lcreate_external("/etc/passwd", "/x", W, "x", H5P_DEFAULT, H5P_DEFAULT);
    H5Gclose(W);
    H5Fclose(file);
    expect_refusal("'W/x': is missing");
}

// Replaces an object of the file, given by its group and name; NULL data: only removes it.
static void replace(const char *group, const char *name, hid_t type, int count, const void *data)
{
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    hid_t where = H5Gopen2(file, group, H5P_DEFAULT);
    assert_true(file >= 0 && where >= 0);
    if (H5Lexists(where, name, H5P_DEFAULT) > 0) {
        H5Ldelete(where, name, H5P_DEFAULT);
    }
    if (data) {
        put(where, name, type, count, data);
    }
    H5Gclose(where);
    H5Fclose(file);
}

// Objects of another kind, type or shape than FCLIB's.
static void other_objects_are_refused(void **state)
{
    (void)state;
    static const double real[4] = {1.5, 2.5, 3.5, 4.5};
    static const int two[2] = {3, 3}, pointers[4] = {1, 2, 4, 5};
    recipe r = csc_recipe();
    make(&r);
    replace("fclib_local/W", "i", H5T_NATIVE_DOUBLE, 4, real);
    expect_refusal("'W/i': must contain integers");
    make(&r);
    hid_t word = H5Tcopy(H5T_C_S1);
    H5Tset_size(word, 4);
    replace("fclib_local/vectors", "q", word, 1, "abc");
    H5Tclose(word);
    expect_refusal("'vectors/q': must contain numbers");
    make(&r);
    replace("fclib_local", "spacedim", H5T_NATIVE_INT, 2, two);
    expect_refusal("'spacedim': must be a single integer");
    make(&r);
    replace("fclib_local/W", "p", H5T_NATIVE_INT, 4, pointers);
    expect_refusal("'W/p': must have one pointer per row or column plus one, starting at 0");
    make(&r);
    replace("fclib_local", "W", 0, 0, NULL);
    expect_refusal("'W': is missing");
    make(&r);
    replace("fclib_local", "vectors", 0, 0, NULL);
    expect_refusal("'vectors': is missing");
}

// A matrix where a vector should be, a group where a dataset should be, data in another file.
static void odd_datasets_are_refused(void **state)
{
    (void)state;
    recipe r = csc_recipe();
    for (int k = 0; k < 3; k++) {
        make(&r);
        replace("fclib_local/vectors", "q", 0, 0, NULL);
        hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
        hid_t vectors = H5Gopen2(file, "fclib_local/vectors", H5P_DEFAULT);
        hid_t list = H5Pcreate(H5P_DATASET_CREATE);
        const hsize_t size[2] = {3, 1};
        hid_t space = H5Screate_simple(k == 0 ? 2 : 1, size, NULL), made;
        if (k == 2) {
            H5Pset_external(list, "other.bin", 0, 3 * sizeof(double));
        }
        if (k == 1) {
            made = H5Gcreate2(vectors, "q", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
            H5Gclose(made);
        } else {
            made =
                H5Dcreate2(vectors, "q", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, list, H5P_DEFAULT);
            H5Dclose(made);
        }
        assert_true(made >= 0);
        H5Sclose(space);
        H5Pclose(list);
        H5Gclose(vectors);
        H5Fclose(file);
        static const char *const texts[] = {
            "'vectors/q': must be a vector", "'vectors/q': is not a dataset",
            "'vectors/q': is stored in a way that is not supported"};
        expect_refusal(texts[k]);
    }
}

// Compressed by HDF5's own filter: read as any other.
static void compressed_data_is_read(void **state)
{
    (void)state;
    static const double q[3] = {-1, 0.25, 0};
    recipe r = csc_recipe();
    make(&r);
    replace("fclib_local/vectors", "q", 0, 0, NULL);
    hid_t file = H5Fopen(path, H5F_ACC_RDWR, H5P_DEFAULT);
    hid_t vectors = H5Gopen2(file, "fclib_local/vectors", H5P_DEFAULT);
    hid_t list = H5Pcreate(H5P_DATASET_CREATE);
    const hsize_t size = 3;
    hid_t space = H5Screate_simple(1, &size, NULL);
    H5Pset_chunk(list, 1, &size);
    H5Pset_shuffle(list);
    hid_t set = H5Dcreate2(vectors, "q", H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, list, H5P_DEFAULT);
    assert_true(H5Dwrite(set, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, q) >= 0);
    H5Dclose(set);
    H5Sclose(space);
    H5Pclose(list);
    H5Gclose(vectors);
    H5Fclose(file);
    expect_problem();
}

// A global problem with bilateral constraints.
static void bilateral_constraints_are_refused(void **state)
{
    (void)state;
    static const double f[3] = {0, 0, -1};
    recipe r = csc_recipe();
    r.group = "fclib_global";
    make(&r);
    replace("fclib_global/vectors", "f", H5T_NATIVE_DOUBLE, 3, f);
    replace("fclib_global/vectors", "w", H5T_NATIVE_DOUBLE, 3, f);
    expect_refusal("'M': is missing");
    replace("fclib_global", "G", H5T_NATIVE_DOUBLE, 3, f);
    expect_refusal("'G': bilateral constraints are not supported: condense them into M");
}

// HDF5's own error printing is as before, and no handle is left open.
static void hdf5_is_left_as_found(void **state)
{
    (void)state;
    H5E_auto2_t before, after;
    void *context;
    recipe r = csc_recipe();
    r.group = "fclib_other";
    make(&r);
    H5Eget_auto2(H5E_DEFAULT, &before, &context);
    expect_refusal("not an FCLIB file: it has no group 'fclib_local' or 'fclib_global'");
    r = csc_recipe();
    make(&r);
    expect_problem();
    H5Eget_auto2(H5E_DEFAULT, &after, &context);
    assert_true(before == after);
    assert_int_equal(H5Fget_obj_count((hid_t)H5F_OBJ_ALL, H5F_OBJ_ALL), 0);
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    recipe r = csc_recipe();
    make(&r);
    bool done = false;
    for (int k = 1; !done; k++) {
        fault f = {.fail_at = k};
        perp_env env = fault_env(&f);
        perp_problem *problem = NULL;
        perp_status status = perp_problem_read(path, &env, &problem, NULL);
        done = !f.happened;
        assert_int_equal(status, done ? PERP_OK : PERP_ERR_MEMORY);
        perp_problem_destroy(problem);
        assert_int_equal(f.live, 0);
    }
}

static int remove_file(void **state)
{
    (void)state;
    unlink(path);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(three_storages_one_matrix),
        cmocka_unit_test(triplets_add),
        cmocka_unit_test(lies_are_refused),
        cmocka_unit_test(unstored_data_is_refused),
        cmocka_unit_test(links_are_not_followed),
        cmocka_unit_test(other_objects_are_refused),
        cmocka_unit_test(odd_datasets_are_refused),
        cmocka_unit_test(compressed_data_is_read),
        cmocka_unit_test(bilateral_constraints_are_refused),
        cmocka_unit_test(hdf5_is_left_as_found),
        cmocka_unit_test(every_allocation_may_fail),
    };
    const char *base = getenv("TMPDIR");
    snprintf(path, sizeof path, "%s/perp-fclib-%ld.hdf5", base ? base : "/tmp", (long)getpid());
    return cmocka_run_group_tests(tests, NULL, remove_file);
}
