// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Every published problem file can be read, and the same problem in two formats is the same problem.
#include "support/cmocka.h"

#include <perp/io.h>

#include <dirent.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

static const char *root(void)
{
    const char *folder = getenv("PERP_DATA_DIR");
    return folder && folder[0] ? folder : "../shared";
}

static bool ends_with(const char *text, const char *end)
{
    size_t n = strlen(text), m = strlen(end);
    return n >= m && strcmp(text + n - m, end) == 0;
}

typedef void visit_function(const char *path, void *context);

// Calls visit on every regular file below folder; returns how many.
static int walk(const char *folder, visit_function *visit, void *context)
{
    DIR *dir = opendir(folder);
    int count = 0;
    if (!dir) {
        return 0;
    }
    for (struct dirent *entry; (entry = readdir(dir));) {
        char path[2048];
        struct stat about;
        if (entry->d_name[0] == '.') {
            continue;
        }
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (stat(path, &about) != 0) {
            continue;
        }
        if (S_ISDIR(about.st_mode)) {
            count += walk(path, visit, context);
        } else {
            visit(path, context);
            count++;
        }
    }
    closedir(dir);
    return count;
}

// ── Comparing ────────────────────────────────────────────────────────────────────────────────────

static double at(const perp_matrix *A, int i, int j)
{
    if (A->dense) {
        return A->dense[(size_t)i + (size_t)j * (size_t)A->rows];
    }
    int low = A->p[j], high = A->p[j + 1];
    while (low < high) {
        int middle = low + (high - low) / 2;
        if (A->i[middle] < i) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < A->p[j + 1] && A->i[low] == i ? A->x[low] : 0.0;
}

// Largest |a - b| relative to the larger of both: the sparse texts carry 6 digits.
static double entry_gap(const perp_matrix *A, const perp_matrix *B)
{
    double worst = 0.0;
    for (int j = 0; j < A->cols; j++) {
        int end = A->dense ? A->rows : A->p[j + 1];
        for (int k = A->dense ? 0 : A->p[j]; k < end; k++) {
            int i = A->dense ? k : A->i[k];
            double a = at(A, i, j), b = at(B, i, j);
            double size = fmax(fabs(a), fabs(b));
            if (size > 0.0) {
                worst = fmax(worst, fabs(a - b) / size);
            }
        }
    }
    return worst;
}

static double matrix_gap(const perp_matrix *A, const perp_matrix *B)
{
    if (A->rows != B->rows || A->cols != B->cols) {
        return HUGE_VAL;
    }
    return fmax(entry_gap(A, B), entry_gap(B, A));
}

static double vector_gap(int n, const double *a, const double *b)
{
    double worst = 0.0;
    for (int k = 0; a && b && k < n; k++) {
        double size = fmax(fabs(a[k]), fabs(b[k]));
        if (a[k] != b[k]) {
            worst = fmax(worst, fabs(a[k] - b[k]) / size);
        }
    }
    return !a == !b ? worst : HUGE_VAL;
}

static double mcp_gap(const perp_mcp *a, const perp_mcp *b)
{
    if (a->n != b->n) {
        return HUGE_VAL;
    }
    double gap = matrix_gap(&a->A, &b->A);
    gap = fmax(gap, vector_gap(a->n, a->b, b->b));
    gap = fmax(gap, vector_gap(a->n, a->lower, b->lower));
    return fmax(gap, vector_gap(a->n, a->upper, b->upper));
}

static double fcp_gap(const perp_fcp *a, const perp_fcp *b)
{
    if (a->nc != b->nc || a->dim != b->dim || a->nv != b->nv) {
        return HUGE_VAL;
    }
    int n = a->nc * a->dim;
    double gap = vector_gap(a->nc, a->mu, b->mu);
    gap = fmax(gap, vector_gap(a->nc, a->mu_roll, b->mu_roll));
    if (a->nv == 0) {
        return fmax(gap, fmax(matrix_gap(&a->W, &b->W), vector_gap(n, a->q, b->q)));
    }
    gap = fmax(gap, fmax(matrix_gap(&a->M, &b->M), matrix_gap(&a->H, &b->H)));
    return fmax(gap, fmax(vector_gap(a->nv, a->f, b->f), vector_gap(n, a->w, b->w)));
}

static double gap_of(const perp_problem *a, const perp_problem *b)
{
    if (strcmp(perp_problem_word(a), perp_problem_word(b)) != 0) {
        return HUGE_VAL;
    }
    return perp_problem_mcp(a) ? mcp_gap(perp_problem_mcp(a), perp_problem_mcp(b))
                               : fcp_gap(perp_problem_fcp(a), perp_problem_fcp(b));
}

// ── Reading everything ───────────────────────────────────────────────────────────────────────────

static perp_problem *read_or_fail(const char *path)
{
    perp_problem *problem = NULL;
    perp_error error = {0};
    if (perp_problem_read(path, NULL, &problem, &error) != PERP_OK) {
        print_error("%s:%d:%d: %s\n", path, error.line, error.column, error.text);
        fail();
    }
    return problem;
}

static void sorted_and_finite(const perp_matrix *A)
{
    size_t count = (size_t)A->rows * (size_t)A->cols;
    for (size_t k = 0; A->dense && k < count; k++) {
        assert_true(isfinite(A->dense[k]));
    }
    for (int j = 0; !A->dense && j < A->cols; j++) {
        for (int k = A->p[j]; k < A->p[j + 1]; k++) {
            assert_true(A->i[k] >= 0 && A->i[k] < A->rows && isfinite(A->x[k]));
            assert_true(k == A->p[j] || A->i[k - 1] < A->i[k]);
        }
    }
}

typedef struct counts {
    int lcp, mlcp, relay, boxlcp, fc, gfc, rfc, grfc;
} counts;

static void count_word(counts *c, const char *word)
{
    const struct {
        const char *word;
        int *count;
    } list[] = {{"lcp", &c->lcp}, {"mlcp", &c->mlcp}, {"relay", &c->relay}, {"boxlcp", &c->boxlcp},
                {"fc", &c->fc},   {"gfc", &c->gfc},   {"rfc", &c->rfc},     {"grfc", &c->grfc}};
    for (size_t k = 0; k < sizeof list / sizeof list[0]; k++) {
        *list[k].count += strcmp(word, list[k].word) == 0;
    }
}

static void visit_any(const char *path, void *context)
{
    if (ends_with(path, ".npz")) {
        return;
    }
    perp_problem *problem = read_or_fail(path);
    count_word(context, perp_problem_word(problem));
    const perp_fcp *fcp = perp_problem_fcp(problem);
    if (fcp && fcp->nv > 0) {
        sorted_and_finite(&fcp->M);
        sorted_and_finite(&fcp->H);
    } else {
        sorted_and_finite(fcp ? &fcp->W : &perp_problem_mcp(problem)->A);
    }
    perp_problem_destroy(problem);
}

static void every_file_is_read(void **state)
{
    (void)state;
    char folder[1024];
    counts ncx = {0}, orig = {0};
    snprintf(folder, sizeof folder, "%s/problems/ncx", root());
    if (walk(folder, visit_any, &ncx) == 0) {
        print_message("no problems below %s\n", root());
        skip();
    }
    assert_int_equal(ncx.lcp + ncx.boxlcp, 31);
    assert_int_equal(ncx.mlcp, 12);
    assert_int_equal(ncx.relay, 5);
    assert_int_equal(ncx.fc, 42);
    assert_int_equal(ncx.gfc, 11);
    snprintf(folder, sizeof folder, "%s/problems/orig", root());
    walk(folder, visit_any, &orig);
    assert_int_equal(orig.lcp, 13 + 7);
    assert_int_equal(orig.mlcp, 11);
    assert_int_equal(orig.relay, 5);
    assert_int_equal(orig.rfc, 7);
    assert_int_equal(orig.grfc, 2);
    assert_int_equal(orig.gfc, 11);
    assert_int_equal(orig.fc, 30);
}

// ── Twins ────────────────────────────────────────────────────────────────────────────────────────

static void visit_twin(const char *path, void *context)
{
    static const char *const folders[] = {"lcp", "mlcp", "relay", "fc"};
    if (ends_with(path, ".npz")) {
        return;
    }
    perp_problem *original = read_or_fail(path);
    const char *old = strstr(path, "/MATRIX/") ? "old_" : "";
    for (size_t k = 0; k < sizeof folders / sizeof folders[0]; k++) {
        char twin_path[2048];
        struct stat about;
        snprintf(twin_path, sizeof twin_path, "%s/problems/ncx/%s/%s%s.ncx", root(), folders[k],
                 old, perp_problem_name(original));
        if (stat(twin_path, &about) != 0) {
            continue;
        }
        perp_problem *twin = read_or_fail(twin_path);
        double gap = gap_of(original, twin);
        if (!(gap <= 1e-5)) {
            print_error("%s and %s differ by %g\n", path, twin_path, gap);
            fail();
        }
        perp_problem_destroy(twin);
        ++*(int *)context;
    }
    perp_problem_destroy(original);
}

static void twins_agree(void **state)
{
    (void)state;
    char folder[1024];
    int pairs = 0;
    snprintf(folder, sizeof folder, "%s/problems/orig", root());
    if (walk(folder, visit_twin, &pairs) == 0) {
        skip();
    }
    print_message("%d pairs agree\n", pairs);
    assert_true(pairs >= 70);
}

// The one rolling problem that is published both as HDF5 and as text.
static void rolling_twins_agree(void **state)
{
    (void)state;
    char a[1024], b[1024];
    const char *folder = "problems/orig/siconos/RollingFrictionContact";
    snprintf(a, sizeof a, "%s/%s/Chute-ndof-768-nc-4-3.hdf5", root(), folder);
    snprintf(b, sizeof b, "%s/%s/GRFC3D_Chute-ndof-768-nc-4-3.dat", root(), folder);
    struct stat about;
    if (stat(a, &about) != 0) {
        skip();
    }
    perp_problem *x = read_or_fail(a), *y = read_or_fail(b);
    assert_true(gap_of(x, y) <= 1e-5);
    assert_int_equal(perp_problem_fcp(x)->dim, 5);
    assert_non_null(perp_problem_fcp(x)->mu_roll);
    perp_problem_destroy(x);
    perp_problem_destroy(y);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_file_is_read),
        cmocka_unit_test(twins_agree),
        cmocka_unit_test(rolling_twins_agree),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
