// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Generated problems: the classical families with a formula, and seeded random ones.
//
//   murty_lemke   M upper triangular, 1 and 2 above; q_k = 2^k - 2^(n+1): 2^n - 1 pivots of Lemke
//   murty_ppm     the same M, q = -e: 2^n - 1 pivots of the least-index principal method
//   fathi         M = L L', L unit lower with 2 below; q = -e
//   ahn           tridiagonal (1, 4, -2), q = -4: an M-matrix with n pivots
//   obstacle      5-point Laplacian on a square, load and bump
//   chung         subset sum: e'x = b for x in {0, a}; solvable when a subset sums to b
//   spd, boxSpd   M = A A'/n + I/10, random bounds around 0 for the boxed one
//   psdDeg        M = A A' of rank n/2, a quarter of the pairs with z = w = 0
//   hpHard        Harker–Pang: A'A + skew + diagonal, q in (-500, 0)
#include "generate.h"

#include "support/random.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct dense_lcp {
    int n;
    double *M;  // column-major
    double *q, *lower, *upper;
} dense_lcp;

static dense_lcp begin(bench_problem *problem, const char *family, int n)
{
    *problem = (bench_problem){.family = family, .n = n};
    snprintf(problem->name, sizeof problem->name, "%s_%d", family, n);
    dense_lcp lcp = {.n = n};
    lcp.M = bench_alloc(problem, (size_t)n * (size_t)n, sizeof(double));
    lcp.q = bench_alloc(problem, (size_t)n, sizeof(double));
    problem->mcp = perp_mcp_lcp(n, perp_matrix_dense(n, n, lcp.M), lcp.q);
    return lcp;
}

static double *at(const dense_lcp *lcp, int i, int j)
{
    return &lcp->M[(size_t)i + (size_t)j * (size_t)lcp->n];
}

// C = A'A for A (k x n, column-major).
static void gram(int rows, int cols, const double *A, double *C)
{
    size_t k = (size_t)rows, n = (size_t)cols;
    for (size_t j = 0; j < n; j++) {
        for (size_t i = 0; i <= j; i++) {
            double sum = 0.0;
            for (size_t l = 0; l < k; l++) {
                sum += A[l + i * k] * A[l + j * k];
            }
            C[i + j * n] = C[j + i * n] = sum;
        }
    }
}

// ── Classical ────────────────────────────────────────────────────────────────────────────────────

static void murty(const bench_context *context, int n, bool for_lemke)
{
    bench_problem problem;
    dense_lcp lcp = begin(&problem, for_lemke ? "murty_lemke" : "murty_ppm", n);
    for (int j = 0; j < n; j++) {
        for (int i = 0; i <= j; i++) {
            *at(&lcp, i, j) = i == j ? 1.0 : 2.0;
        }
        lcp.q[j] = for_lemke ? ldexp(1.0, j + 1) - ldexp(1.0, n + 1) : -1.0;
    }
    bench_take(context, &problem);
}

static void fathi(const bench_context *context, int n)
{
    bench_problem problem;
    dense_lcp lcp = begin(&problem, "fathi", n);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            int least = i < j ? i : j;
            *at(&lcp, i, j) = 4.0 * least + (i == j ? 1.0 : 2.0);
        }
        lcp.q[i] = -1.0;
    }
    bench_take(context, &problem);
}

static void ahn(const bench_context *context, int n)
{
    bench_problem problem;
    dense_lcp lcp = begin(&problem, "ahn", n);
    for (int i = 0; i < n; i++) {
        *at(&lcp, i, i) = 4.0;
        if (i > 0) {
            *at(&lcp, i, i - 1) = 1.0;
            *at(&lcp, i - 1, i) = -2.0;
        }
        lcp.q[i] = -4.0;
    }
    bench_take(context, &problem);
}

static void obstacle(const bench_context *context, int side)
{
    bench_problem problem;
    dense_lcp lcp = begin(&problem, "obstacle", side * side);
    double h = 1.0 / (side + 1);
    for (int k = 0; k < lcp.n; k++) {
        int i = k % side, j = k / side;
        *at(&lcp, k, k) = 4.0;
        if (i > 0) {
            *at(&lcp, k, k - 1) = *at(&lcp, k - 1, k) = -1.0;
        }
        if (j > 0) {
            *at(&lcp, k, k - side) = *at(&lcp, k - side, k) = -1.0;
        }
        double x = (i + 1) * h - 0.5, y = (j + 1) * h - 0.5;
        lcp.q[k] = h * h * 8.0 - (x * x + y * y < 0.04 ? 0.3 : 0.0);
    }
    bench_take(context, &problem);
}

static void chung(const bench_context *context, const char *family, double sum)
{
    static const double parts[] = {3.0, 5.0, 9.0, 14.0, 20.0};
    enum { PARTS = 5 };
    bench_problem problem;
    dense_lcp lcp = begin(&problem, family, PARTS + 2);
    for (int i = 0; i < PARTS; i++) {
        *at(&lcp, i, i) = -1.0;
        *at(&lcp, PARTS, i) = 1.0;
        *at(&lcp, PARTS + 1, i) = -1.0;
        lcp.q[i] = parts[i];
    }
    *at(&lcp, PARTS, PARTS) = *at(&lcp, PARTS + 1, PARTS + 1) = -(double)PARTS;
    lcp.q[PARTS] = -sum;
    lcp.q[PARTS + 1] = sum;
    bench_problem_classify(&problem);
    bench_take(context, &problem);
}

static void small(const bench_context *context, const char *family, int n, const double *rows)
{
    bench_problem problem;
    dense_lcp lcp = begin(&problem, family, n);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            *at(&lcp, i, j) = rows[i * (n + 1) + j];
        }
        lcp.q[i] = rows[i * (n + 1) + n];
    }
    bench_problem_classify(&problem);
    bench_take(context, &problem);
}

void generate_classical(const bench_context *context)
{
    static const int sizes[] = {6, 10, 14, 16, 18, 50, 100, 200};
    for (int k = 0; k < 8; k++) {
        murty(context, sizes[k], true);
        murty(context, sizes[k], false);
        fathi(context, sizes[k]);
    }
    ahn(context, 64);
    ahn(context, 256);
    obstacle(context, 10);
    obstacle(context, 20);
    chung(context, "chung_yes", 28.0);
    chung(context, "chung_no", 50.5);
    // Rows of (M, q).
    small(context, "kostreva", 3, (double[]){1, 2, 0, -1, 0, 1, 2, -1, 2, 0, 1, -1});
    small(context, "tie", 2, (double[]){1, -1, 1, -1, 1, -1});
    small(context, "many", 2, (double[]){1, 1, -1, 1, 1, -1});
    small(context, "skew_none", 2, (double[]){0, 1, 1, -1, 0, -1});
    small(context, "psd_none", 2, (double[]){1, -1, -1, -1, 1, -1});
    small(context, "bimatrix", 4,
          (double[]){0, 0, 10, 20, -1, 0, 0, 30, 15, -1, 10, 20, 0, 0, -1, 30, 15, 0, 0, -1});
    small(context, "painleve_two", 1, (double[]){-1, 1});
    small(context, "painleve_none", 1, (double[]){-1, -1});
}

// ── Box on a plane ───────────────────────────────────────────────────────────────────────────────

// Unit box of unit mass with `corners` contacts on its lower face, pushed sideways: W = J M^-1 J' of
// rank 6, so that all but 6 of the reactions are redundant.
static void box_on_plane(const bench_context *context, int corners)
{
    enum { ROWS = 3, BODY = 6 };
    bench_problem contact = {.family = "plane box", .contact = true, .n = corners}, pyramid;
    snprintf(contact.name, sizeof contact.name, "box_on_plane_%d", corners);
    int n = ROWS * corners;
    double *J = bench_alloc(&contact, (size_t)(BODY * n), sizeof *J);  // M^-1/2 J', BODY x n
    double *W = bench_alloc(&contact, (size_t)(n * n), sizeof *W);
    double *q = bench_alloc(&contact, (size_t)n, sizeof *q);
    double *mu = bench_alloc(&contact, (size_t)corners, sizeof *mu);
    const double gyration = sqrt(6.0);  // I = m/6 about each axis
    for (int c = 0; c < corners; c++) {
        double angle = 2.0 * 3.14159265358979323846 * c / corners;
        double x = 0.5 * cos(angle), y = 0.5 * sin(angle), z = -0.5;
        double arm[ROWS][3] = {{y, -x, 0}, {0, z, -y}, {-z, 0, x}};  // r x (n, t, o)
        static const int axis[ROWS] = {2, 0, 1};
        for (int k = 0; k < ROWS; k++) {
            double *column = J + (size_t)(BODY * (ROWS * c + k));
            column[axis[k]] = 1.0;
            for (int a = 0; a < 3; a++) {
                column[3 + a] = gyration * arm[k][a];
            }
        }
        q[ROWS * c] = -0.1;
        q[ROWS * c + 1] = 0.05;
        mu[c] = 0.4;
    }
    gram(BODY, n, J, W);
    contact.fcp = (perp_fcp){.nc = corners, .dim = ROWS, .mu = mu, .q = q};
    contact.fcp.W = perp_matrix_dense(n, n, W);
    if (bench_pyramid(&contact, &pyramid) == 0) {
        pyramid.family = "box on plane";
        bench_take(context, &pyramid);
    }
    bench_problem_clear(&contact);
}

void generate_box_on_plane(const bench_context *context)
{
    box_on_plane(context, 4);
    box_on_plane(context, 8);
}

// ── Random dense ─────────────────────────────────────────────────────────────────────────────────

void generate_moved(bench_problem *problem)
{
    size_t n = (size_t)bench_size(problem);
    const double *b = problem->contact ? problem->fcp.q : problem->mcp.b;
    double *moved = bench_alloc(problem, n, sizeof *moved);
    rng r = rng_seed(7);
    for (size_t i = 0; i < n; i++) {
        moved[i] = b[i] * (1.0 + rng_uniform(&r, -0.01, 0.01));
    }
    problem->b_before = b;
    if (problem->contact) {
        problem->fcp.q = moved;
    } else {
        problem->mcp.b = moved;
    }
}

static void finish(const bench_context *context, bench_problem *problem)
{
    if (strcmp(context->suite->name, "warm") == 0) {
        generate_moved(problem);
    }
    bench_take(context, problem);
}

static double *random_array(rng *r, size_t count)
{
    double *x = malloc(count * sizeof *x);
    for (size_t k = 0; x != NULL && k < count; k++) {
        x[k] = rng_normal(r);
    }
    if (x == NULL) {
        fprintf(stderr, "perp_bench: out of memory\n");
        exit(1);
    }
    return x;
}

static void spd(const bench_context *context, int n, bool boxed)
{
    bench_problem problem;
    dense_lcp lcp = begin(&problem, boxed ? "boxSpd" : "spd", n);
    rng r = rng_seed((uint64_t)n);
    double *A = random_array(&r, (size_t)n * (size_t)n);
    for (size_t k = 0; k < (size_t)n * (size_t)n; k++) {
        A[k] /= sqrt(n);
    }
    gram(n, n, A, lcp.M);
    free(A);
    for (int i = 0; i < n; i++) {
        *at(&lcp, i, i) += 0.1;
        lcp.q[i] = rng_normal(&r);
    }
    if (boxed) {
        double *lower = bench_alloc(&problem, (size_t)n, sizeof *lower);
        double *upper = bench_alloc(&problem, (size_t)n, sizeof *upper);
        for (int i = 0; i < n; i++) {
            lower[i] = rng_uniform(&r, -1.0, 0.0);
            upper[i] = rng_uniform(&r, 0.0, 1.0);
        }
        problem.mcp.lower = lower;
        problem.mcp.upper = upper;
    }
    finish(context, &problem);
}

static void psd_degenerate(const bench_context *context, int n)
{
    bench_problem problem;
    dense_lcp lcp = begin(&problem, "psdDeg", n);
    rng r = rng_seed((uint64_t)n + 1);
    double *A = random_array(&r, (size_t)(n / 2) * (size_t)n), *z = random_array(&r, (size_t)n);
    for (size_t k = 0; k < (size_t)(n / 2) * (size_t)n; k++) {
        A[k] /= sqrt(n);
    }
    gram(n / 2, n, A, lcp.M);
    // q = w - M z for a known pair: z > 0, w > 0, or neither
    for (int i = 0; i < n; i++) {
        double size = fabs(z[i]);
        z[i] = i % 4 < 2 ? size : 0.0;
        lcp.q[i] = i % 4 == 2 ? size : 0.0;
    }
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < n; i++) {
            lcp.q[i] -= *at(&lcp, i, j) * z[j];
        }
    }
    free(A);
    free(z);
    finish(context, &problem);
}

static void harker_pang(const bench_context *context, int n)
{
    bench_problem problem;
    dense_lcp lcp = begin(&problem, "hpHard", n);
    rng r = rng_seed((uint64_t)n + 2);
    double *A = random_array(&r, (size_t)n * (size_t)n);
    for (size_t k = 0; k < (size_t)n * (size_t)n; k++) {
        A[k] = rng_uniform(&r, -5.0, 5.0);
    }
    gram(n, n, A, lcp.M);
    free(A);
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < j; i++) {
            double skew = rng_uniform(&r, -5.0, 5.0);
            *at(&lcp, i, j) += skew;
            *at(&lcp, j, i) -= skew;
        }
        *at(&lcp, j, j) += rng_uniform(&r, 0.0, 0.3);
        lcp.q[j] = rng_uniform(&r, -500.0, 0.0);
    }
    finish(context, &problem);
}

void generate_dense(const bench_context *context, int n)
{
    spd(context, n, false);
    spd(context, n, true);
    psd_degenerate(context, n);
    harker_pang(context, n);
}
