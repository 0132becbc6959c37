// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Random small problems of known classes.
#include "support/families.h"

#include <math.h>

enum { MOST = 16 };

const char *random_kind_name(random_kind kind)
{
    static const char *const names[RANDOM_KINDS] = {"P",        "PSD",     "copositive",
                                                    "singular", "scaled",  "degenerate",
                                                    "mixed",    "general", "mixed general"};
    return kind >= 0 && kind < RANDOM_KINDS ? names[kind] : "?";
}

static void normal_matrix(problem *p, rng *r)
{
    for (int k = 0; k < p->n * p->n; k++) {
        p->A[k] = rng_normal(r);
    }
}

// G'G of the given rank; entries of G normal, or small integers so that A is exactly singular.
static void gram_matrix(problem *p, int rank, int whole, rng *r)
{
    double G[MOST][MOST];
    for (int k = 0; k < rank; k++) {
        for (int j = 0; j < p->n; j++) {
            G[k][j] = whole ? rng_below(r, 5) - 2 : rng_normal(r);
        }
    }
    for (int j = 0; j < p->n; j++) {
        for (int i = 0; i < p->n; i++) {
            double sum = 0.0;
            for (int k = 0; k < rank; k++) {
                sum += G[k][i] * G[k][j];
            }
            ENTRY(p, i, j) = sum;
        }
    }
}

static void add_skew(problem *p, double size, int whole, rng *r)
{
    for (int j = 0; j < p->n; j++) {
        for (int i = 0; i < j; i++) {
            double skew = whole ? rng_below(r, 3) - 1 : size * rng_normal(r);
            ENTRY(p, i, j) += skew;
            ENTRY(p, j, i) -= skew;
        }
    }
}

static void p_matrix(problem *p, rng *r)
{
    int n = p->n;
    if (rng_below(r, 2)) {  // SPD plus skew
        gram_matrix(p, n, 0, r);
        add_skew(p, 1.0, 0, r);
        for (int i = 0; i < n; i++) {
            ENTRY(p, i, i) += 0.05;
        }
        return;
    }
    normal_matrix(p, r);
    for (int i = 0; i < n; i++) {  // row dominant
        double sum = 0.0;
        for (int j = 0; j < n; j++) {
            sum += i == j ? 0.0 : fabs(ENTRY(p, i, j));
        }
        ENTRY(p, i, i) = sum + rng_uniform(r, 0.05, 1.0);
    }
}

static void psd_matrix(problem *p, rng *r)
{
    int whole = rng_below(r, 2);
    gram_matrix(p, rng_below(r, p->n + 1), whole, r);
    if (rng_below(r, 2)) {
        add_skew(p, 1.0, whole, r);
    }
}

static void copositive_matrix(problem *p, rng *r)
{
    for (int k = 0; k < p->n * p->n; k++) {
        p->A[k] = rng_below(r, 3) ? rng_uniform(r, 0.0, 2.0) : 0.0;
    }
    for (int i = 0; i < p->n; i++) {
        ENTRY(p, i, i) = rng_uniform(r, 0.1, 2.0);
    }
}

static void whole_matrix(problem *p, rng *r)
{
    for (int k = 0; k < p->n * p->n; k++) {
        p->A[k] = rng_below(r, 2) ? rng_below(r, 5) - 2 : 0;
    }
}

static void normal_b(problem *p, rng *r)
{
    for (int i = 0; i < p->n; i++) {
        p->b[i] = rng_normal(r);
    }
}

static void whole_b(problem *p, rng *r)
{
    for (int i = 0; i < p->n; i++) {
        p->b[i] = rng_below(r, 7) - 3;
    }
}

// b = w - A z for a solution with pairs z = w = 0.
static void degenerate_b(problem *p, rng *r)
{
    for (int i = 0; i < p->n; i++) {
        p->b[i] = 0.0;
    }
    for (int j = 0; j < p->n; j++) {
        int kind = rng_below(r, 3);
        double z = kind == 1 ? 1 + rng_below(r, 4) : 0.0;
        p->b[j] += kind == 2 ? 1 + rng_below(r, 4) : 0.0;
        for (int i = 0; i < p->n; i++) {
            p->b[i] -= ENTRY(p, i, j) * z;
        }
    }
}

static void mix_bounds(problem *p, rng *r)
{
    for (int i = 0; i < p->n; i++) {
        switch (rng_below(r, 5)) {
        case 0:
            p->lower[i] = -HUGE_VAL;
            break;
        case 1:
            p->lower[i] = -rng_below(r, 3);
            p->upper[i] = p->lower[i] + rng_below(r, 3);
            break;
        case 2:
            p->lower[i] = -HUGE_VAL;
            p->upper[i] = rng_below(r, 5) - 2;
            break;
        case 3:
            p->lower[i] = rng_uniform(r, -2.0, 0.5);
            p->upper[i] = p->lower[i] + rng_uniform(r, 0.0, 2.0);
            break;
        default:
            break;
        }
    }
}

static double big(rng *r)
{
    return pow(10.0, rng_uniform(r, -12.0, 12.0));
}

// Units of the rows and of the columns, and one of all b.
static void scale(problem *p, rng *r)
{
    double row[MOST], column[MOST], all = big(r);
    int how = rng_below(r, 3);  // all alike, symmetric, any
    for (int i = 0; i < p->n; i++) {
        row[i] = how == 0 ? 1.0 : sqrt(big(r));
        column[i] = how == 1 ? row[i] : how == 2 ? sqrt(big(r)) : 1.0;
    }
    double size = how == 0 ? big(r) : 1.0;
    for (int i = 0; i < p->n; i++) {
        p->b[i] *= row[i] * all;
        for (int j = 0; j < p->n; j++) {
            ENTRY(p, i, j) *= row[i] * column[j] * size;
        }
    }
}

void random_problem(problem *p, int n, random_kind kind, rng *r)
{
    p->n = n;
    for (int i = 0; i < n; i++) {
        p->lower[i] = 0.0;
        p->upper[i] = HUGE_VAL;
    }
    int which = rng_below(r, 3);
    switch (kind) {
    case RANDOM_P:
        p_matrix(p, r);
        break;
    case RANDOM_PSD:
        psd_matrix(p, r);
        break;
    case RANDOM_COPOSITIVE:
        copositive_matrix(p, r);
        break;
    case RANDOM_SINGULAR:
        whole_matrix(p, r);
        break;
    case RANDOM_GENERAL:
    case RANDOM_MIXED_GENERAL:
        normal_matrix(p, r);
        break;
    default:
        (which == 0 ? p_matrix : which == 1 ? psd_matrix : copositive_matrix)(p, r);
        break;
    }
    (kind == RANDOM_DEGENERATE                         ? degenerate_b
     : kind == RANDOM_SINGULAR || rng_below(r, 4) == 0 ? whole_b
                                                       : normal_b)(p, r);
    if (kind == RANDOM_SCALED) {
        scale(p, r);
    }
    if (kind == RANDOM_MIXED || kind == RANDOM_MIXED_GENERAL) {
        mix_bounds(p, r);
    }
    p->mcp = (perp_mcp){.n = n, .A = perp_matrix_dense(n, n, p->A), .b = p->b};
    p->mcp.lower = p->lower;
    p->mcp.upper = p->upper;
}
