// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// A problem written as JSON is read back with the same bits; a write that fails says so and leaves the
// old file; whatever allocation fails, readers end cleanly.
#include "support/cmocka.h"
#include "support/fault.h"
#include "support/random.h"

#include <perp/io.h>

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { MOST = 24 };

static char folder[256];

static int make_folder(void **state)
{
    (void)state;
    const char *base = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/perp-round-trip-XXXXXX", base ? base : "/tmp");
    return mkdtemp(folder) ? 0 : -1;
}

static int remove_folder(void **state)
{
    (void)state;
    DIR *dir = opendir(folder);
    for (struct dirent *entry; dir && (entry = readdir(dir));) {
        char path[1024];
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        unlink(path);
    }
    if (dir) {
        closedir(dir);
    }
    return rmdir(folder);
}

// ── Random problems ──────────────────────────────────────────────────────────────────────────────

typedef struct arrays {
    double x[8][MOST * MOST];
    int p[2][MOST + 1], i[2][MOST * MOST], nd[MOST];
} arrays;

// Any finite double, not only nice ones.
static double any_number(rng *r)
{
    double x;
    do {
        uint64_t bits = rng_next(r);
        memcpy(&x, &bits, sizeof x);
    } while (!isfinite(x));
    return rng_below(r, 8) == 0 ? -0.0 : x;
}

static const double *any_vector(rng *r, double *x, int n)
{
    for (int k = 0; k < n; k++) {
        x[k] = any_number(r);
    }
    return x;
}

static perp_matrix any_matrix(rng *r, arrays *a, int which, int rows, int cols)
{
    double *x = a->x[which];
    if (rng_below(r, 2)) {
        any_vector(r, x, rows * cols);
        return perp_matrix_dense(rows, cols, x);
    }
    int nnz = 0, *p = a->p[which], *row = a->i[which];
    for (int j = 0; j < cols; j++) {
        p[j] = nnz;
        for (int i = 0; i < rows; i++) {
            if (rng_below(r, 3) == 0) {
                row[nnz] = i;
                x[nnz++] = any_number(r);
            }
        }
    }
    p[cols] = nnz;
    return perp_matrix_csc(rows, cols, p, row, x);
}

static perp_mcp any_mcp(rng *r, arrays *a)
{
    int n = 1 + rng_below(r, MOST - 1);
    perp_mcp mcp = {.n = n, .A = any_matrix(r, a, 0, n, n), .b = any_vector(r, a->x[2], n)};
    int bounds = rng_below(r, 4);
    for (int k = 0; k < n; k++) {
        a->x[3][k] = rng_below(r, 2) ? -HUGE_VAL : -fabs(any_number(r));
        a->x[4][k] = rng_below(r, 2) ? HUGE_VAL : fabs(any_number(r));
    }
    mcp.lower = bounds & 1 ? a->x[3] : NULL;
    mcp.upper = bounds & 2 ? a->x[4] : NULL;
    return mcp;
}

static const double *coefficients(rng *r, double *x, int n)
{
    for (int k = 0; k < n; k++) {
        x[k] = rng_uniform(r, 0.0, 2.0);
    }
    return x;
}

static perp_fcp any_fcp(rng *r, arrays *a)
{
    perp_fcp fcp = {.nc = 1 + rng_below(r, 4), .dim = 2 + rng_below(r, 5)};
    int n = fcp.nc * fcp.dim;
    fcp.mu = coefficients(r, a->x[2], fcp.nc);
    fcp.mu_spin = fcp.dim == 4 || fcp.dim == 6 ? coefficients(r, a->x[3], fcp.nc) : NULL;
    fcp.mu_roll = fcp.dim >= 5 ? coefficients(r, a->x[4], fcp.nc) : NULL;
    for (int c = 0; c < fcp.nc; c++) {
        a->nd[c] = rng_below(r, 2) ? 0 : 3 + rng_below(r, 9);
    }
    fcp.nd = rng_below(r, 2) ? a->nd : NULL;
    if (rng_below(r, 2)) {
        fcp.W = any_matrix(r, a, 0, n, n);
        fcp.q = any_vector(r, a->x[5], n);
        return fcp;
    }
    fcp.nv = 1 + rng_below(r, 12);
    fcp.M = any_matrix(r, a, 0, fcp.nv, fcp.nv);
    fcp.H = any_matrix(r, a, 1, fcp.nv, n);
    fcp.f = any_vector(r, a->x[5], fcp.nv);
    fcp.w = any_vector(r, a->x[6], n);
    return fcp;
}

// ── The same bits ────────────────────────────────────────────────────────────────────────────────

static bool same(const void *a, const void *b, size_t size)
{
    return !a == !b && (!a || memcmp(a, b, size) == 0);
}

static bool same_doubles(const double *a, const double *b, int n)
{
    return same(a, b, (size_t)n * sizeof *a);
}

static bool same_matrix(const perp_matrix *a, const perp_matrix *b)
{
    if (a->rows != b->rows || a->cols != b->cols || !a->dense != !b->dense) {
        return false;
    }
    if (a->dense) {
        return same_doubles(a->dense, b->dense, a->rows * a->cols);
    }
    size_t nnz = a->p ? (size_t)a->p[a->cols] : 0;
    return same(a->p, b->p, ((size_t)a->cols + 1) * sizeof(int)) &&
           (nnz == 0 ||
            (same(a->i, b->i, nnz * sizeof(int)) && same(a->x, b->x, nnz * sizeof(double))));
}

static bool same_mcp(const perp_mcp *a, const perp_mcp *b)
{
    return a->n == b->n && same_matrix(&a->A, &b->A) && same_doubles(a->b, b->b, a->n) &&
           same_doubles(a->lower, b->lower, a->n) && same_doubles(a->upper, b->upper, a->n);
}

static bool same_fcp(const perp_fcp *a, const perp_fcp *b)
{
    int n = a->nc * a->dim;
    return a->nc == b->nc && a->dim == b->dim && a->nv == b->nv &&
           same_doubles(a->mu, b->mu, a->nc) && same_doubles(a->mu_spin, b->mu_spin, a->nc) &&
           same_doubles(a->mu_roll, b->mu_roll, a->nc) &&
           same(a->nd, b->nd, (size_t)a->nc * sizeof(int)) && same_matrix(&a->W, &b->W) &&
           same_matrix(&a->M, &b->M) && same_matrix(&a->H, &b->H) && same_doubles(a->q, b->q, n) &&
           same_doubles(a->w, b->w, n) && same_doubles(a->f, b->f, a->nv);
}

static void json_keeps_every_bit(void **state)
{
    (void)state;
    static arrays a;
    char path[512];
    snprintf(path, sizeof path, "%s/problem.json", folder);
    FOR_SEEDS(seed, 200)
    {
        rng r = rng_seed(seed);
        perp_problem *problem = NULL;
        perp_error error;
        perp_mcp mcp = any_mcp(&r, &a);
        CHECK(perp_mcp_write(&mcp, "a \"name\" \\ with\ttricks", path, &error) == PERP_OK, seed);
        CHECK(perp_problem_read(path, NULL, &problem, &error) == PERP_OK, seed);
        CHECK(same_mcp(&mcp, perp_problem_mcp(problem)), seed);
        CHECK(strcmp(perp_problem_name(problem), "a \"name\" \\ with\ttricks") == 0, seed);
        perp_problem_destroy(problem);
        perp_fcp fcp = any_fcp(&r, &a);
        CHECK(perp_fcp_write(&fcp, "contact", path, &error) == PERP_OK, seed);
        CHECK(perp_problem_read(path, NULL, &problem, &error) == PERP_OK, seed);
        CHECK(same_fcp(&fcp, perp_problem_fcp(problem)), seed);
        perp_problem_destroy(problem);
    }
}

// ── Writing that fails ───────────────────────────────────────────────────────────────────────────

static int count_files(void)
{
    DIR *dir = opendir(folder);
    int count = 0;
    for (struct dirent *entry; (entry = readdir(dir));) {
        count += entry->d_name[0] != '.';
    }
    closedir(dir);
    return count;
}

static void failed_writes_are_reported(void **state)
{
    (void)state;
    double one = 1.0;
    perp_mcp mcp = perp_mcp_from_lcp(1, perp_matrix_dense(1, 1, &one), &one);
    perp_error error;
    struct stat about;
    if (stat("/dev/full", &about) == 0) {
        assert_int_equal(perp_mcp_write(&mcp, "x", "/dev/full", &error), PERP_ERR_IO);
        assert_string_equal(error.text, "cannot write '/dev/full': No space left on device");
        assert_int_equal(stat("/dev/full", &about), 0);
        assert_true(S_ISCHR(about.st_mode));
    }
    assert_int_equal(perp_mcp_write(&mcp, "x", "/no/such/folder/x.json", &error), PERP_ERR_IO);
    assert_int_equal(perp_mcp_write(NULL, "x", "x.json", &error), PERP_ERR_ARGUMENT);
    int before = count_files();
    char path[512];
    snprintf(path, sizeof path, "%s/folder-in-the-way", folder);
    assert_int_equal(mkdir(path, 0777), 0);
    assert_int_equal(perp_mcp_write(&mcp, "x", path, &error), PERP_ERR_IO);
    assert_int_equal(rmdir(path), 0);
    assert_int_equal(count_files(), before);
}

static void numbers_json_cannot_hold(void **state)
{
    (void)state;
    double bad = (double)NAN, one = 1.0;
    perp_mcp mcp = perp_mcp_from_lcp(1, perp_matrix_dense(1, 1, &bad), &one);
    perp_error error;
    char path[512];
    snprintf(path, sizeof path, "%s/nan.json", folder);
    assert_int_equal(perp_mcp_write(&mcp, "x", path, &error), PERP_ERR_NUMERIC);
    assert_int_equal(access(path, F_OK), -1);
}

// ── Failing memory ───────────────────────────────────────────────────────────────────────────────

// Fails the k-th allocation of reading the file, for every k until none fails.
static int walk_allocations(const char *path)
{
    for (int k = 1;; k++) {
        fault f = {.fail_at = k};
        perp_env env = fault_env(&f);
        perp_problem *problem = NULL;
        perp_error error;
        perp_status status = perp_problem_read(path, &env, &problem, &error);
        if (!f.happened) {
            assert_int_equal(status, PERP_OK);
            perp_problem_destroy(problem);
            assert_int_equal(f.live, 0);
            assert_int_equal(f.confused, 0);
            return k;
        }
        if (status != PERP_ERR_MEMORY) {
            print_error("%s, allocation %d: status %d\n", path, k, (int)status);
            fail();
        }
        assert_null(problem);
        assert_true(error.text[0]);
        assert_int_equal(f.live, 0);
    }
}

static void every_allocation_may_fail(void **state)
{
    (void)state;
    static const char *const folders[] = {"ncx", "siconos", "json"};
    int walks = 0;
    for (size_t k = 0; k < sizeof folders / sizeof folders[0]; k++) {
        char path[512];
        snprintf(path, sizeof path, "fuzz/corpus/%s", folders[k]);
        DIR *dir = opendir(path);
        assert_non_null(dir);
        for (struct dirent *entry; (entry = readdir(dir));) {
            if (entry->d_name[0] != '.') {
                snprintf(path, sizeof path, "fuzz/corpus/%s/%s", folders[k], entry->d_name);
                walks += walk_allocations(path);
            }
        }
        closedir(dir);
    }
    assert_true(walks > 80);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(json_keeps_every_bit),
        cmocka_unit_test(failed_writes_are_reported),
        cmocka_unit_test(numbers_json_cannot_hold),
        cmocka_unit_test(every_allocation_may_fail),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
