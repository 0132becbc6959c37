// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Random nonlinear P-functions with known answers, in common units and in units up to 1e6 apart; every kind of bounds;
// Jacobian by callback, dense and sparse, and by differences.
#include "support/cmocka.h"
#include "support/random.h"

#include <perp/ncp.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 24 };

// F(z) = R G(z / C), G(y) = M y + a atan(y - c) + k (y - c)^3 + q with M positive definite (not symmetric): a strongly
// monotone G, and with R, C > 0 a uniform P-function F. q is chosen such that y = answer is the one solution.
typedef struct p_function {
    int n;
    double M[MOST * MOST], a[MOST], k[MOST], c[MOST], q[MOST], row[MOST], column[MOST];
    double lower[MOST], upper[MOST], answer[MOST], start[MOST], typical[MOST];
    int p[MOST + 1], i[MOST * MOST];
} p_function;

static double curved(const p_function *f, int i, double y)
{
    double x = y - f->c[i];
    return f->a[i] * atan(x) + f->k[i] * x * x * x;
}

static perp_status value(void *user, const double *z, double *F)
{
    const p_function *f = user;
    for (int i = 0; i < f->n; i++) {
        double sum = f->q[i] + curved(f, i, z[i] / f->column[i]);
        for (int j = 0; j < f->n; j++) {
            sum += f->M[i + j * f->n] * z[j] / f->column[j];
        }
        F[i] = f->row[i] * sum;
    }
    return PERP_OK;
}

static perp_status derivative(void *user, const double *z, double *x)
{
    const p_function *f = user;
    for (int j = 0; j < f->n; j++) {
        double at = z[j] / f->column[j] - f->c[j];
        for (int i = 0; i < f->n; i++) {
            double own = i == j ? f->a[i] / (1.0 + at * at) + 3.0 * f->k[i] * at * at : 0.0;
            x[i + j * f->n] = f->row[i] * (f->M[i + j * f->n] + own) / f->column[j];
        }
    }
    return PERP_OK;
}

// M = B B' / n + ridge I + skew
static void random_matrix(p_function *f, rng *r)
{
    int n = f->n;
    double B[MOST * MOST];
    for (int k = 0; k < n * n; k++) {
        B[k] = rng_normal(r);
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < n; j++) {
            double sum = i == j ? 0.1 : 0.0;
            for (int k = 0; k < n; k++) {
                sum += B[i + k * n] * B[j + k * n] / n;
            }
            f->M[i + j * n] = sum;
        }
    }
    for (int i = 0; i < n; i++) {
        for (int j = 0; j < i; j++) {
            double skew = rng_uniform(r, -1.0, 1.0);
            f->M[i + j * n] += skew;
            f->M[j + i * n] -= skew;
        }
    }
}

// Bounds and the answer: at a bound with a slack, or between.
static double random_place(p_function *f, int i, rng *r)
{
    int kind = rng_below(r, 4);
    double low = rng_uniform(r, -2.0, 2.0), high = low + rng_uniform(r, 0.5, 3.0);
    f->lower[i] = kind == 0 || kind == 2 ? -HUGE_VAL : low;
    f->upper[i] = kind == 0 || kind == 1 ? HUGE_VAL : high;
    double slack = rng_uniform(r, 0.1, 3.0), inside = rng_uniform(r, low + 0.1, high - 0.1);
    bool rests = kind != 0 && rng_below(r, 2) == 0;
    if (rests && kind != 2 && (kind == 1 || rng_below(r, 2))) {
        f->answer[i] = low;
        return slack;
    }
    f->answer[i] = rests ? high : inside;
    return rests ? -slack : 0.0;
}

static void make(p_function *f, uint64_t seed, double decades)
{
    rng r = rng_seed(seed);
    memset(f, 0, sizeof *f);
    f->n = 1 + rng_below(&r, MOST);
    random_matrix(f, &r);
    double w[MOST];
    for (int i = 0; i < f->n; i++) {
        f->a[i] = rng_uniform(&r, 0.0, 5.0);
        f->k[i] = rng_below(&r, 2) ? rng_uniform(&r, 0.0, 2.0) : 0.0;
        f->c[i] = rng_uniform(&r, -1.0, 1.0);
        f->row[i] = pow(10.0, rng_uniform(&r, -decades, decades));
        f->column[i] = pow(10.0, rng_uniform(&r, -decades, decades));
        w[i] = random_place(f, i, &r);
    }
    for (int i = 0; i < f->n; i++) {
        double sum = curved(f, i, f->answer[i]);
        for (int j = 0; j < f->n; j++) {
            sum += f->M[i + j * f->n] * f->answer[j];
        }
        f->q[i] = w[i] - sum;
    }
    for (int i = 0; i < f->n; i++) {
        f->lower[i] *= f->column[i];
        f->upper[i] *= f->column[i];
        f->start[i] = f->column[i] * rng_uniform(&r, -3.0, 3.0);
        f->typical[i] = f->column[i];
    }
}

static void check_answer(p_function *f, const perp_ncp *ncp, double accuracy, uint64_t seed)
{
    double z[MOST] = {0};
    perp_comp_info info;
    perp_status status = perp_ncp_solve("newton", ncp, NULL, NULL, z, &info);
    if (status != PERP_OK) {
        print_error("n %d: %s\n", f->n, info.error.text);
    }
    CHECK(status == PERP_OK, seed);
    for (int i = 0; i < f->n; i++) {
        CHECK(fabs(z[i] / f->column[i] - f->answer[i]) <= accuracy, seed);
    }
}

static void monotone_functions_are_solved(void **state)
{
    (void)state;
    FOR_SEEDS(seed, 300)
    {
        p_function f;
        make(&f, seed, 0.0);
        perp_ncp ncp = {f.n, f.lower, f.upper, f.start, NULL, value, derivative, NULL, NULL, &f};
        check_answer(&f, &ncp, 1e-6, seed);
    }
}

static void so_are_badly_scaled_ones(void **state)
{
    (void)state;
    FOR_SEEDS(seed, 300)
    {
        p_function f;
        make(&f, seed, 3.0);
        perp_ncp ncp = {f.n, f.lower, f.upper, f.start, NULL, value, derivative, NULL, NULL, &f};
        check_answer(&f, &ncp, 1e-6, seed);
    }
}

static void so_are_those_by_differences(void **state)
{
    (void)state;
    FOR_SEEDS(seed, 150)
    {
        p_function f;
        make(&f, seed, 3.0);
        // sizes of variables choose the steps
        perp_ncp ncp = {f.n, f.lower, f.upper, f.start, f.typical, value, NULL, NULL, NULL, &f};
        check_answer(&f, &ncp, 1e-5, seed);
    }
}

// A full pattern through the sparse path.
static void so_are_sparse_ones(void **state)
{
    (void)state;
    FOR_SEEDS(seed, 100)
    {
        p_function f;
        make(&f, seed, 2.0);
        for (int j = 0; j < f.n; j++) {
            f.p[j + 1] = (j + 1) * f.n;
            for (int i = 0; i < f.n; i++) {
                f.i[i + j * f.n] = i;
            }
        }
        perp_ncp ncp = {f.n, f.lower, f.upper, f.start, NULL, value, derivative, f.p, f.i, &f};
        check_answer(&f, &ncp, 1e-6, seed);
        ncp.jacobian = NULL;
        ncp.typical = f.typical;
        check_answer(&f, &ncp, 1e-5, seed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(monotone_functions_are_solved),
        cmocka_unit_test(so_are_badly_scaled_ones),
        cmocka_unit_test(so_are_those_by_differences),
        cmocka_unit_test(so_are_sparse_ones),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
