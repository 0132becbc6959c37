// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Problems of the benchmark: memory, files, conversion to a form common to all solvers.
#include "bench.h"

#include <dirent.h>
#include <math.h>
#include <perp/problem.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct bench_block {
    bench_block *next;
    double data[];
};

void *bench_alloc(bench_problem *problem, size_t count, size_t size)
{
    bench_block *block = calloc(1, sizeof *block + count * size);
    if (block == NULL) {
        fprintf(stderr, "perp_bench: out of memory\n");
        exit(1);
    }
    block->next = problem->blocks;
    problem->blocks = block;
    return block->data;
}

void bench_problem_clear(bench_problem *problem)
{
    while (problem->blocks != NULL) {
        bench_block *next = problem->blocks->next;
        free(problem->blocks);
        problem->blocks = next;
    }
}

int bench_size(const bench_problem *problem)
{
    return problem->contact ? problem->fcp.nc * problem->fcp.dim : problem->mcp.n;
}

static const double *copy_doubles(bench_problem *problem, const double *from, size_t count)
{
    if (from == NULL) {
        return NULL;
    }
    double *to = bench_alloc(problem, count, sizeof *to);
    memcpy(to, from, count * sizeof *to);
    return to;
}

static const int *copy_ints(bench_problem *problem, const int *from, size_t count)
{
    if (from == NULL) {
        return NULL;
    }
    int *to = bench_alloc(problem, count, sizeof *to);
    memcpy(to, from, count * sizeof *to);
    return to;
}

static perp_matrix copy_matrix(bench_problem *problem, const perp_matrix *from)
{
    perp_matrix to = *from;
    if (from->dense != NULL) {
        to.dense = copy_doubles(problem, from->dense, (size_t)from->rows * (size_t)from->cols);
    } else if (from->p != NULL) {
        size_t entries = (size_t)from->p[from->cols];
        to.p = copy_ints(problem, from->p, (size_t)from->cols + 1);
        to.i = copy_ints(problem, from->i, entries);
        to.x = copy_doubles(problem, from->x, entries);
    }
    return to;
}

static perp_matrix dense_matrix(bench_problem *problem, const perp_matrix *from)
{
    if (from->dense != NULL) {
        return copy_matrix(problem, from);
    }
    double *to = bench_alloc(problem, (size_t)from->rows * (size_t)from->cols, sizeof *to);
    for (int j = 0; j < from->cols; j++) {
        for (int k = from->p[j]; k < from->p[j + 1]; k++) {
            to[(size_t)from->i[k] + (size_t)j * (size_t)from->rows] += from->x[k];
        }
    }
    return perp_matrix_dense(from->rows, from->cols, to);
}

static bool is_lcp(const perp_mcp *mcp)
{
    for (int i = 0; i < mcp->n; i++) {
        double lower = mcp->lower != NULL ? mcp->lower[i] : 0.0;
        if (lower != 0.0 || (mcp->upper != NULL && isfinite(mcp->upper[i]))) {
            return false;
        }
    }
    return true;
}

void bench_problem_mcp(bench_problem *problem, const perp_mcp *from)
{
    size_t n = (size_t)from->n;
    bool bounded = !is_lcp(from);
    problem->n = from->n;
    problem->mcp = *from;
    problem->mcp.A = dense_matrix(problem, &from->A);
    problem->mcp.b = copy_doubles(problem, from->b, n);
    problem->mcp.lower = bounded ? copy_doubles(problem, from->lower, n) : NULL;
    problem->mcp.upper = bounded ? copy_doubles(problem, from->upper, n) : NULL;
}

static void take_fcp(bench_problem *problem, const perp_fcp *from)
{
    size_t nc = (size_t)from->nc, n = nc * (size_t)from->dim, nv = (size_t)from->nv;
    problem->n = from->nc;
    problem->contact = true;
    problem->fcp = *from;
    perp_fcp *to = &problem->fcp;
    to->mu = copy_doubles(problem, from->mu, nc);
    to->mu_spin = copy_doubles(problem, from->mu_spin, nc);
    to->mu_roll = copy_doubles(problem, from->mu_roll, nc);
    to->nd = copy_ints(problem, from->nd, nc);
    to->W = copy_matrix(problem, &from->W);
    to->q = copy_doubles(problem, from->q, n);
    to->M = copy_matrix(problem, &from->M);
    to->H = copy_matrix(problem, &from->H);
    to->f = copy_doubles(problem, from->f, nv);
    to->w = copy_doubles(problem, from->w, n);
}

int bench_problem_read(const char *path, const char *name, bench_problem *problem)
{
    perp_problem *read = NULL;
    perp_error error = {0};
    if (perp_problem_read(path, NULL, &read, &error) < 0) {
        fprintf(stderr, "perp_bench: %s:%d: %s\n", path, error.line, error.text);
        return -1;
    }
    *problem = (bench_problem){.family = "file"};
    snprintf(problem->name, sizeof problem->name, "%s", name);
    if (perp_problem_kind_of(read) == PERP_PROBLEM_MCP) {
        bench_problem_mcp(problem, perp_problem_mcp(read));
    } else {
        take_fcp(problem, perp_problem_fcp(read));
    }
    perp_problem_destroy(read);
    return 0;
}

int bench_pyramid(const bench_problem *contact, bench_problem *pyramid)
{
    perp_pyramid *built = NULL;
    if (perp_pyramid_create(&contact->fcp, 4, NULL, &built) < 0) {
        fprintf(stderr, "perp_bench: %s: no Stewart-Trinkle LCP\n", contact->name);
        return -1;
    }
    *pyramid = (bench_problem){.family = "pyramid"};
    snprintf(pyramid->name, sizeof pyramid->name, "%s", contact->name);
    bench_problem_mcp(pyramid, perp_pyramid_mcp(built));
    perp_pyramid_destroy(built);
    return 0;
}

void bench_make_box(bench_problem *problem)
{
    int dim = problem->fcp.dim, n = bench_size(problem);
    int *findex = bench_alloc(problem, (size_t)n, sizeof *findex);
    double *mu = bench_alloc(problem, (size_t)n, sizeof *mu);
    for (int i = 0; i < n; i++) {
        findex[i] = i % dim == 0 ? -1 : i / dim * dim;
        mu[i] = problem->fcp.mu[i / dim];
    }
    problem->findex = findex;
    problem->mu = mu;
    problem->box = true;
    problem->family = "box";
}

perp_box_friction bench_box_of(const bench_problem *problem)
{
    return (perp_box_friction){.n = bench_size(problem),
                               .A = problem->fcp.W,
                               .b = problem->fcp.q,
                               .findex = problem->findex,
                               .mu = problem->mu};
}

// An LCP that has a solution has a basic one, so an enumeration that finds none is a proof. With free
// variables it is not: the solution set need not have a vertex.
void bench_problem_classify(bench_problem *problem)
{
    const perp_mcp *mcp = &problem->mcp;
    if (problem->contact || mcp->n > BENCH_ENUM_SIZE) {
        return;
    }
    for (int i = 0; i < mcp->n && mcp->lower != NULL; i++) {
        if (isinf(mcp->lower[i])) {
            return;
        }
    }
    int count = 0;
    double *z = malloc((size_t)mcp->n * sizeof *z);
    perp_status status = z ? perp_mcp_enumerate(mcp, NULL, 1, z, &count) : PERP_ERR_MEMORY;
    problem->unsolvable = status >= 0 && count == 0;
    free(z);
}

bool bench_symmetric(const bench_problem *problem)
{
    const perp_matrix *A = problem->contact ? &problem->fcp.W : &problem->mcp.A;
    bench_problem scratch = {0};
    perp_matrix full = dense_matrix(&scratch, A);
    size_t n = (size_t)A->rows;
    double largest = 0.0, skew = 0.0;
    for (size_t j = 0; j < n; j++) {
        for (size_t i = 0; i < n; i++) {
            largest = fmax(largest, fabs(full.dense[i + j * n]));
            skew = fmax(skew, fabs(full.dense[i + j * n] - full.dense[j + i * n]));
        }
    }
    bench_problem_clear(&scratch);
    return skew <= 1e-9 * largest;
}

static int is_ncx(const struct dirent *entry)
{
    size_t length = strlen(entry->d_name);
    return length > 4 && strcmp(entry->d_name + length - 4, ".ncx") == 0;
}

void bench_files(const bench_context *context, const char *folder, bench_visit *visit)
{
    if (context->options->data == NULL) {
        return;
    }
    char path[2048];
    snprintf(path, sizeof path, "%s/problems/ncx/%s", context->options->data, folder);
    struct dirent **list = NULL;
    int count = scandir(path, &list, is_ncx, alphasort);
    for (int k = 0; k < count; k++) {
        char name[BENCH_NAME_SIZE];
        int length = (int)strlen(list[k]->d_name) - 4;
        snprintf(name, sizeof name, "%.*s", length, list[k]->d_name);
        if (bench_wanted(context, name)) {
            char file[4096];
            snprintf(file, sizeof file, "%s/%s", path, list[k]->d_name);
            visit(context, file, name);
        }
        free(list[k]);
    }
    free(list);
}
