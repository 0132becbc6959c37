// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Generated problems: the families of test/support, named and sized for the tables.
#include "generate.h"

#include "support/families.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

// The warm suite keeps the right-hand side of the previous step.
static void take(const bench_context *context, const char *family, problem *made)
{
    bench_problem one = {.family = family};
    snprintf(one.name, sizeof one.name, "%s_%d", family, made->n);
    if (bench_wanted(context, one.name)) {
        bench_problem_mcp(&one, &made->mcp);
        if (strcmp(context->suite->name, "warm") == 0) {
            generate_moved(&one);
        }
        bench_problem_classify(&one);
        bench_take(context, &one);
    }
    problem_destroy(made);
}

static void exponential(const bench_context *context)
{
    static const int sizes[] = {6, 10, 16, 18, 50, 100};
    for (size_t k = 0; k < sizeof sizes / sizeof sizes[0]; k++) {
        int n = sizes[k];
        take(context, "murty", family_murty(n));
        take(context, "murty_lemke", family_murty_lemke(n));
        take(context, "murty_transposed", family_murty_transposed(n));
        take(context, "fathi", family_fathi(n));
        if (n <= 18) {  // its entries grow as 4 n, its b as 2^n
            take(context, "fathi_murty", family_fathi_murty(n));
        }
    }
}

void generate_classical(const bench_context *context)
{
    static const int parts[] = {3, 5, 9, 14, 20};
    rng r = rng_seed(1);
    exponential(context);
    take(context, "kostreva", family_kostreva());
    take(context, "tie", family_tie());
    take(context, "ones", family_ones(2));
    take(context, "ones", family_ones(10));
    take(context, "bimatrix", family_bimatrix(5, 4, &r));
    take(context, "bimatrix", family_bimatrix(20, 30, &r));
    take(context, "bimatrix_tucker", family_bimatrix_tucker());
    take(context, "infeasible_skew", family_infeasible_skew(2));
    take(context, "infeasible_psd", family_infeasible_psd(4));
    take(context, "subset_sum_yes", family_subset_sum(5, parts, 28));
    take(context, "subset_sum_no", family_subset_sum(5, parts, 50));
    take(context, "pang", family_pang(0.0));
    take(context, "pang_perturbed", family_pang(1e-4));
    take(context, "ahn", family_ahn(64));
    take(context, "ahn", family_ahn(256));
    take(context, "obstacle", family_obstacle(10));
    take(context, "obstacle", family_obstacle(20));
    take(context, "painleve_one", family_painleve(1.2, 0.5, 1.0, 1.0, 1.0));
    take(context, "painleve_two", family_painleve(1.1, 2.0, 5.0, 1.0, 1.0));
    take(context, "painleve_none", family_painleve(1.1, 2.0, 0.1, 1.0, 1.0));
    take(context, "joint_friction", family_joint_friction(0.5, 2.0));
}

void generate_piles(const bench_context *context)
{
    static const int contacts[] = {4, 8, 16};
    static const double push[3] = {0.05, 0.02, -0.1};
    for (int k = 0; k < 6; k++) {
        int boxes = k < 3 ? 1 : 3, points = contacts[k % 3];
        bench_problem contact = {.contact = true, .n = boxes * points}, pyramid;
        snprintf(contact.name, sizeof contact.name, "pile_%dx%d", boxes, points);
        pile *made = bench_wanted(context, contact.name)
                         ? family_pile(boxes, points, 10.0, 0.5, push)
                         : NULL;
        if (made != NULL) {
            contact.fcp = made->local;
            if (bench_pyramid(&contact, &pyramid) == 0) {
                pyramid.family = "pile";
                bench_take(context, &pyramid);
            }
        }
        pile_destroy(made);
    }
}

void generate_dense(const bench_context *context, int n)
{
    rng r = rng_seed((uint64_t)n);
    take(context, "spd", family_spd(n, &r));
    take(context, "boxSpd", family_boxed_spd(n, &r));
    take(context, "psdDeg", family_psd_degenerate(n, &r));
    take(context, "hpHard", family_harker_pang(n, &r));
}

static void multiply(const perp_matrix *A, const double *x, double *y)
{
    for (int j = 0; j < A->cols; j++) {
        if (A->dense != NULL) {
            for (int i = 0; i < A->rows; i++) {
                y[i] += A->dense[(size_t)i + (size_t)j * (size_t)A->rows] * x[j];
            }
        } else {
            for (int k = A->p[j]; k < A->p[j + 1]; k++) {
                y[A->i[k]] += A->x[k] * x[j];
            }
        }
    }
}

static double largest(size_t n, const double *x)
{
    double most = 0.0;
    for (size_t i = 0; i < n; i++) {
        most = fmax(most, fabs(x[i]));
    }
    return most;
}

// b + A s with s <= 0: the change stays in the range of A, like that of an impulse on the bodies, and a feasible
// problem stays feasible.
void generate_moved(bench_problem *one)
{
    size_t n = (size_t)bench_size(one);
    const double *b = one->contact ? one->fcp.q : one->mcp.b;
    double *moved = bench_alloc(one, n, sizeof *moved), *s = bench_alloc(one, n, sizeof *s);
    rng r = rng_seed(7);
    for (size_t i = 0; i < n; i++) {
        bool normal = !one->contact || i % (size_t)one->fcp.dim == 0;
        s[i] = normal ? -rng_uniform(&r, 0.0, 1.0) : 0.0;
    }
    multiply(one->contact ? &one->fcp.W : &one->mcp.A, s, moved);
    double scale = 0.01 * largest(n, b) / fmax(largest(n, moved), DBL_MIN);
    for (size_t i = 0; i < n; i++) {
        moved[i] = b[i] + scale * moved[i];
    }
    one->b_before = b;
    if (one->contact) {
        one->fcp.q = moved;
    } else {
        one->mcp.b = moved;
    }
}
