// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
#include "support/families.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// Tests have nothing to do without memory.
static void *must(size_t count, size_t size)
{
    void *block = calloc(count ? count : 1, size);
    if (!block) {
        abort();
    }
    return block;
}

static void bind(problem *p)
{
    p->mcp = (perp_mcp){.n = p->n, .b = p->b, .lower = p->lower, .upper = p->upper};
    p->mcp.A =
        p->A ? perp_matrix_dense(p->n, p->n, p->A) : perp_matrix_csc(p->n, p->n, p->p, p->i, p->x);
}

static problem *create_vectors(int n)
{
    problem *p = must(1, sizeof *p);
    p->n = n;
    p->b = must((size_t)n, sizeof(double));
    p->lower = must((size_t)n, sizeof(double));
    p->upper = must((size_t)n, sizeof(double));
    for (int i = 0; i < n; i++) {
        p->upper[i] = HUGE_VAL;
    }
    return p;
}

problem *problem_create(int n)
{
    problem *p = create_vectors(n);
    p->A = must((size_t)n * (size_t)n, sizeof(double));
    bind(p);
    return p;
}

void problem_destroy(problem *p)
{
    if (p) {
        free(p->A), free(p->b), free(p->lower), free(p->upper);
        free(p->p), free(p->i), free(p->x);
        free(p);
    }
}

static problem *create_sparse(int n, int entries)
{
    problem *p = create_vectors(n);
    p->p = must((size_t)n + 1, sizeof(int));
    p->i = must((size_t)entries, sizeof(int));
    p->x = must((size_t)entries, sizeof(double));
    bind(p);
    return p;
}

problem *problem_sparse(const problem *dense)
{
    int n = dense->n, entries = 0;
    for (int k = 0; k < n * n; k++) {
        entries += dense->A[k] != 0.0;
    }
    problem *p = create_sparse(n, entries);
    entries = 0;
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < n; i++) {
            if (ENTRY(dense, i, j) != 0.0) {
                p->i[entries] = i;
                p->x[entries++] = ENTRY(dense, i, j);
            }
        }
        p->p[j + 1] = entries;
    }
    memcpy(p->b, dense->b, (size_t)n * sizeof(double));
    memcpy(p->lower, dense->lower, (size_t)n * sizeof(double));
    memcpy(p->upper, dense->upper, (size_t)n * sizeof(double));
    return p;
}

static void fill_b(problem *p, double value)
{
    for (int i = 0; i < p->n; i++) {
        p->b[i] = value;
    }
}

// 1 on the diagonal, 2 on one side of it.
static problem *triangular(int n, int upper)
{
    problem *p = problem_create(n);
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < n; i++) {
            ENTRY(p, i, j) = i == j ? 1.0 : (upper ? i < j : i > j) ? 2.0 : 0.0;
        }
    }
    fill_b(p, -1.0);
    return p;
}

// b_k = -(2^(n+1) - 2^k), k = 1..n, divided by 2^n so that n = 1000 stays a number.
static void fill_lemke_b(problem *p)
{
    for (int k = 0; k < p->n; k++) {
        p->b[k] = -(2.0 - ldexp(1.0, k + 1 - p->n));
    }
}

problem *family_murty(int n)
{
    return triangular(n, 1);
}

problem *family_murty_lemke(int n)
{
    problem *p = triangular(n, 1);
    fill_lemke_b(p);
    return p;
}

problem *family_murty_transposed(int n)
{
    return triangular(n, 0);
}

// X'X or X X' of the lower triangular matrix of 2s.
static problem *gram(int n, int transposed)
{
    problem *L = triangular(n, 0), *p = problem_create(n);
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < n; i++) {
            double sum = 0.0;
            for (int k = 0; k < n; k++) {
                sum +=
                    transposed ? ENTRY(L, k, i) * ENTRY(L, k, j) : ENTRY(L, i, k) * ENTRY(L, j, k);
            }
            ENTRY(p, i, j) = sum;
        }
    }
    problem_destroy(L);
    return p;
}

problem *family_fathi(int n)
{
    problem *p = gram(n, 0);
    fill_b(p, -1.0);
    return p;
}

problem *family_fathi_murty(int n)
{
    problem *p = gram(n, 1);
    fill_lemke_b(p);
    return p;
}

// From rows of numbers, for the small ones.
static problem *from_rows(int n, const double *rows, const double *b)
{
    problem *p = problem_create(n);
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            ENTRY(p, i, j) = rows[i * n + j];
        }
        p->b[i] = b[i];
    }
    return p;
}

problem *family_kostreva(void)
{
    return from_rows(3, (const double[]){1, 2, 0, 0, 1, 2, 2, 0, 1}, (const double[]){-1, -1, -1});
}

problem *family_tie(void)
{
    return from_rows(2, (const double[]){1, -1, -1, 1}, (const double[]){1, -1});
}

problem *family_ones(int n)
{
    problem *p = problem_create(n);
    for (int k = 0; k < n * n; k++) {
        p->A[k] = 1.0;
    }
    fill_b(p, -1.0);
    return p;
}

problem *family_bimatrix(int m, int k, rng *r)
{
    problem *p = problem_create(m + k);
    for (int i = 0; i < m; i++) {
        for (int j = 0; j < k; j++) {
            ENTRY(p, i, m + j) = rng_uniform(r, 1.0, 2.0);
            ENTRY(p, m + j, i) = rng_uniform(r, 1.0, 2.0);
        }
    }
    fill_b(p, -1.0);
    return p;
}

problem *family_bimatrix_tucker(void)
{
    return from_rows(4, (const double[]){0, 0, 10, 20, 0, 0, 30, 15, 10, 20, 0, 0, 30, 15, 0, 0},
                     (const double[]){-1, -1, -1, -1});
}

problem *family_infeasible_skew(int n)
{
    problem *p = problem_create(n);
    for (int k = 0; k + 1 < n; k += 2) {
        ENTRY(p, k, k + 1) = 1.0;
        ENTRY(p, k + 1, k) = -1.0;
        p->b[k] = 1.0;
        p->b[k + 1] = -1.0;
    }
    return p;
}

problem *family_infeasible_psd(int n)
{
    problem *p = problem_create(n);
    for (int k = 0; k + 1 < n; k += 2) {
        ENTRY(p, k, k) = ENTRY(p, k + 1, k + 1) = 1.0;
        ENTRY(p, k, k + 1) = ENTRY(p, k + 1, k) = -1.0;
    }
    fill_b(p, -1.0);
    return p;
}

problem *family_subset_sum(int n, const int *a, int target)
{
    problem *p = problem_create(n + 2);
    for (int i = 0; i < n; i++) {
        ENTRY(p, i, i) = -1.0;
        ENTRY(p, n, i) = 1.0;
        ENTRY(p, n + 1, i) = -1.0;
        p->b[i] = a[i];
    }
    ENTRY(p, n, n) = ENTRY(p, n + 1, n + 1) = -n;
    p->b[n] = -target;
    p->b[n + 1] = target;
    return p;
}

// Rows 2 and 3 say z_1 >= 1 and z_1 <= 1; a perturbation of b_2 by -e asks z_1 >= 1 + e.
problem *family_pang(double perturbation)
{
    return from_rows(3, (const double[]){0, -1, -1, 1, 0, 0, -1, 0, 0},
                     (const double[]){0, -1 - perturbation, 1});
}

problem *family_ahn(int n)
{
    problem *p = create_sparse(n, 3 * n);
    int used = 0;
    for (int j = 0; j < n; j++) {
        static const double column[3] = {-2.0, 4.0, 1.0};  // above, on and below the diagonal
        for (int d = -1; d <= 1; d++) {
            if (j + d >= 0 && j + d < n) {
                p->i[used] = j + d;
                p->x[used++] = column[d + 1];
            }
        }
        p->p[j + 1] = used;
    }
    fill_b(p, -4.0);
    return p;
}

problem *family_harker_pang(int n, rng *r)
{
    problem *p = problem_create(n);
    double *G = must((size_t)n * (size_t)n, sizeof(double));
    for (int k = 0; k < n * n; k++) {
        G[k] = rng_uniform(r, -5.0, 5.0);
    }
    for (int j = 0; j < n; j++) {
        for (int i = 0; i <= j; i++) {
            double sum = 0.0, skew = i == j ? 0.0 : rng_uniform(r, -5.0, 5.0);
            for (int k = 0; k < n; k++) {
                sum += G[k + i * n] * G[k + j * n];
            }
            ENTRY(p, j, i) = sum - skew;
            ENTRY(p, i, j) = sum + skew;
        }
        ENTRY(p, j, j) += rng_uniform(r, 0.0, 0.3);
        p->b[j] = rng_uniform(r, -500.0, 0.0);
    }
    free(G);
    return p;
}

problem *family_psd_degenerate(int n, rng *r)
{
    problem *p = problem_create(n);
    int rank = n / 2 > 0 ? n / 2 : 1;
    double *G = must((size_t)rank * (size_t)n, sizeof(double));
    for (int k = 0; k < rank * n; k++) {
        G[k] = rng_normal(r);
    }
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < n; i++) {
            double sum = 0.0;
            for (int k = 0; k < rank; k++) {
                sum += G[k + i * rank] * G[k + j * rank];
            }
            ENTRY(p, i, j) = sum;
        }
    }
    // A quarter of the pairs zero, the rest z > 0 or w > 0: b = w - A z.
    for (int j = 0; j < n; j++) {
        int kind = rng_below(r, 4);
        double z = kind == 1 || kind == 2 ? rng_uniform(r, 0.1, 1.0) : 0.0;
        p->b[j] += kind == 3 ? rng_uniform(r, 0.1, 1.0) : 0.0;
        for (int i = 0; i < n; i++) {
            p->b[i] -= ENTRY(p, i, j) * z;
        }
    }
    free(G);
    return p;
}

problem *family_boxed_spd(int n, rng *r)
{
    problem *p = family_harker_pang(n, r);
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < j; i++) {
            ENTRY(p, i, j) = ENTRY(p, j, i) = 0.5 * (ENTRY(p, i, j) + ENTRY(p, j, i));
        }
        ENTRY(p, j, j) += 1.0;
        p->b[j] = rng_uniform(r, -500.0, 500.0);
        p->lower[j] = -rng_uniform(r, 0.1, 5.0);
        p->upper[j] = rng_uniform(r, 0.1, 5.0);
    }
    return p;
}

problem *family_spd(int n, rng *r)
{
    problem *p = family_boxed_spd(n, r);
    for (int j = 0; j < n; j++) {
        p->lower[j] = 0.0;
        p->upper[j] = HUGE_VAL;
    }
    return p;
}

// -laplace(y) + load = w >= 0, y >= bump: with z = y - bump the bounds are [0, inf).
problem *family_obstacle(int side)
{
    int n = side * side, used = 0;
    problem *p = create_sparse(n, 5 * n);
    double h = 1.0 / (side + 1);
    for (int j = 0; j < n; j++) {
        int row = j / side, column = j % side;
        const int neighbour[5] = {row > 0 ? j - side : -1, column > 0 ? j - 1 : -1, j,
                                  column < side - 1 ? j + 1 : -1, row < side - 1 ? j + side : -1};
        for (int k = 0; k < 5; k++) {
            if (neighbour[k] >= 0) {
                p->i[used] = neighbour[k];
                p->x[used++] = k == 2 ? 4.0 : -1.0;
            }
        }
        p->p[j + 1] = used;
    }
    for (int j = 0; j < n; j++) {
        int row = j / side, column = j % side;
        double x = h * (column + 1) - 0.5, y = h * (row + 1) - 0.5;
        double bump = 0.1 - 2.0 * (x * x + y * y);
        p->b[j] += 8.0 * h * h;  // load
        for (int k = p->p[j]; k < p->p[j + 1]; k++) {
            p->b[p->i[k]] += p->x[k] * bump;
        }
    }
    return p;
}
