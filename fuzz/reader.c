// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Reads fuzzed bytes and traps if the resulting problem violates a guarantee.
#include "reader.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <stdio.h>

static void demand(bool condition)
{
    if (!condition) {
        __builtin_trap();
    }
}

static void demand_matrix(const perp_matrix *A, int rows, int cols)
{
    demand(A->rows == rows && A->cols == cols);
    if (A->dense) {
        for (size_t k = 0; k < (size_t)rows * (size_t)cols; k++) {
            demand(isfinite(A->dense[k]));
        }
        return;
    }
    demand(A->p[0] == 0);
    for (int j = 0; j < cols; j++) {
        demand(A->p[j] <= A->p[j + 1]);
        for (int k = A->p[j]; k < A->p[j + 1]; k++) {
            demand(A->i[k] >= 0 && A->i[k] < rows && isfinite(A->x[k]));
            demand(k == A->p[j] || A->i[k - 1] < A->i[k]);
        }
    }
}

static void demand_vector(const double *x, int n, double low)
{
    for (int k = 0; k < n; k++) {
        demand(isfinite(x[k]) && x[k] >= low);
    }
}

static void demand_mcp(const perp_mcp *mcp)
{
    demand(mcp->n > 0);
    demand_matrix(&mcp->A, mcp->n, mcp->n);
    demand_vector(mcp->b, mcp->n, -HUGE_VAL);
    for (int i = 0; i < mcp->n; i++) {
        double low = mcp->lower ? mcp->lower[i] : 0.0;
        double high = mcp->upper ? mcp->upper[i] : HUGE_VAL;
        demand(low <= high && low < HUGE_VAL && high > -(double)INFINITY);
    }
}

static void demand_fcp(const perp_fcp *fcp)
{
    int n = fcp->nc * fcp->dim;
    demand(fcp->dim >= 2 && fcp->dim <= 6 && fcp->nc >= 0);
    demand_vector(fcp->mu, fcp->nc, 0.0);
    demand(!(fcp->dim == 4 || fcp->dim == 6) == !fcp->mu_spin);
    demand((fcp->dim >= 5) == (fcp->mu_roll != NULL));
    if (fcp->nv > 0) {
        demand_matrix(&fcp->M, fcp->nv, fcp->nv);
        demand_matrix(&fcp->H, fcp->nv, n);
        demand_vector(fcp->f, fcp->nv, -HUGE_VAL);
        demand_vector(fcp->w, n, -HUGE_VAL);
    } else {
        demand_matrix(&fcp->W, n, n);
        demand_vector(fcp->q, n, -HUGE_VAL);
    }
}

static void demand_ncp(const perp_problem *problem)
{
    const perp_ncp *ncp = perp_problem_ncp(problem);
    demand(ncp->n > 0 && ncp->function && ncp->jacobian && ncp->p[0] == 0);
    demand_vector(ncp->start, ncp->n, -HUGE_VAL);
    for (int j = 0; j < ncp->n; j++) {
        demand(perp_problem_variable(problem, j) != NULL);
        demand(ncp->lower[j] <= ncp->upper[j] && ncp->lower[j] < HUGE_VAL);
        demand(ncp->p[j] <= ncp->p[j + 1]);
        for (int k = ncp->p[j]; k < ncp->p[j + 1]; k++) {
            demand(ncp->i[k] >= 0 && ncp->i[k] < ncp->n);
            demand(k == ncp->p[j] || ncp->i[k - 1] < ncp->i[k]);
        }
    }
}

perp_problem *fuzz_read(const char *name, const uint8_t *data, size_t size)
{
    perp_problem *problem = NULL;
    perp_error error;
    perp_status status = perp_problem_parse(name, (const char *)data, size, NULL, &problem, &error);
    demand((status == PERP_OK) == (problem != NULL));
    if (!problem) {
        demand(error.status == status && error.text[0] && memchr(error.text, 0, sizeof error.text));
        return NULL;
    }
    if (perp_problem_mcp(problem)) {
        demand_mcp(perp_problem_mcp(problem));
    } else if (perp_problem_ncp(problem)) {
        demand_ncp(problem);
    } else {
        demand_fcp(perp_problem_fcp(problem));
    }
    return problem;
}

// ── Round trip ───────────────────────────────────────────────────────────────────────────────────

static void demand_same(const void *a, const void *b, size_t size)
{
    demand(!a == !b && (!a || size == 0 || memcmp(a, b, size) == 0));
}

static void demand_same_matrix(const perp_matrix *a, const perp_matrix *b)
{
    demand(a->rows == b->rows && a->cols == b->cols && !a->dense == !b->dense);
    if (a->dense) {
        demand_same(a->dense, b->dense, (size_t)a->rows * (size_t)a->cols * sizeof(double));
        return;
    }
    if (!a->p) {
        demand(!b->p);
        return;
    }
    size_t nnz = (size_t)a->p[a->cols];
    demand_same(a->p, b->p, ((size_t)a->cols + 1) * sizeof(int));
    demand_same(a->i, b->i, nnz * sizeof(int));
    demand_same(a->x, b->x, nnz * sizeof(double));
}

static void demand_same_problem(const perp_problem *a, const perp_problem *b)
{
    const perp_mcp *x = perp_problem_mcp(a), *y = perp_problem_mcp(b);
    const perp_fcp *f = perp_problem_fcp(a), *g = perp_problem_fcp(b);
    demand(!x == !y);
    if (x) {
        size_t bytes = (size_t)x->n * sizeof(double);
        demand(x->n == y->n);
        demand_same_matrix(&x->A, &y->A);
        demand_same(x->b, y->b, bytes);
        demand_same(x->lower, y->lower, bytes);
        demand_same(x->upper, y->upper, bytes);
        return;
    }
    size_t bytes = (size_t)f->nc * (size_t)f->dim * sizeof(double);
    demand(f->nc == g->nc && f->dim == g->dim && f->nv == g->nv);
    demand_same(f->mu, g->mu, (size_t)f->nc * sizeof(double));
    demand_same(f->mu_spin, g->mu_spin, (size_t)f->nc * sizeof(double));
    demand_same(f->mu_roll, g->mu_roll, (size_t)f->nc * sizeof(double));
    demand_same(f->nd, g->nd, (size_t)f->nc * sizeof(int));
    demand_same_matrix(&f->W, &g->W);
    demand_same_matrix(&f->M, &g->M);
    demand_same_matrix(&f->H, &g->H);
    demand_same(f->q, g->q, bytes);
    demand_same(f->w, g->w, bytes);
    demand_same(f->f, g->f, (size_t)f->nv * sizeof(double));
}

void fuzz_round_trip(const perp_problem *problem)
{
    if (perp_problem_ncp(problem)) {
        return;  // problems of expressions are not written
    }
    char path[64];
    int file = memfd_create("round-trip", 0);
    demand(file >= 0);
    snprintf(path, sizeof path, "/proc/self/fd/%d", file);
    const perp_mcp *mcp = perp_problem_mcp(problem);
    perp_status status = mcp ? perp_mcp_write(mcp, "again", path, NULL)
                             : perp_fcp_write(perp_problem_fcp(problem), "again", path, NULL);
    demand(status == PERP_OK);
    perp_problem *again = NULL;
    demand(perp_problem_read(path, NULL, &again, NULL) == PERP_OK);
    demand_same_problem(problem, again);
    perp_problem_destroy(again);
    close(file);
}
