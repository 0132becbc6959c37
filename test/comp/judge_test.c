// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The judges against numbers worked out by hand, and against their definitions in long double.
#include "support/cmocka.h"
#include "support/families.h"
#include "support/truth.h"

#include <math.h>
#include <perp/comp.h>
#include <string.h>

#define INF HUGE_VAL

static perp_mcp_residuals judge(const perp_mcp *mcp, const double *z)
{
    perp_mcp_residuals out = {-1.0, -1.0, -1.0, -1.0};
    assert_int_equal(perp_mcp_judge(mcp, z, NULL, &out), PERP_OK);
    return out;
}

static void close_to(double value, double expected)
{
    if (!(fabs(value - expected) <= 1e-14 * (1.0 + fabs(expected)))) {
        fail_msg("%.17g instead of %.17g", value, expected);
    }
}

// ── MCP ──────────────────────────────────────────────────────────────────────────────────────────

// A = [2 1; 1 2], b = (-5, -6): z = (1, 2) gives w = (-1, -1); both maps are |w| / 6, the scaled one
// since z / rho = 2 z is further from its bound than w.
static void mcp_by_hand(void **state)
{
    (void)state;
    const double A[] = {2, 1, 1, 2}, b[] = {-5, -6};
    perp_mcp mcp = perp_mcp_from_lcp(2, perp_matrix_dense(2, 2, A), b);
    perp_mcp_residuals r = judge(&mcp, (const double[]){1, 2});
    close_to(r.plain, 1.0 / 6.0);
    close_to(r.scaled, 1.0 / 6.0);
    close_to(r.bound, 0.0);
    r = judge(&mcp, (const double[]){4.0 / 3.0, 7.0 / 3.0});
    assert_true(r.plain < 1e-15 && r.scaled < 1e-15);
    // w = (1, 4) at z = (0, 5): min(z, w) = (0, 4); scaled min(2 z, w) / max(|b|, |w|) = 4 / 6
    r = judge(&mcp, (const double[]){0, 5});
    close_to(r.plain, 4.0 / 6.0);
    close_to(r.scaled, 4.0 / 6.0);
    // z = (-1, 0): w = (-7, -7); natural map -7, bound violated by 1
    r = judge(&mcp, (const double[]){-1, 0});
    close_to(r.plain, 7.0 / 6.0);
    close_to(r.bound, 1.0);
}

static void mcp_bounds_by_hand(void **state)
{
    (void)state;
    const double A[] = {1, 0, 0, 0, 1, 0, 0, 0, 4}, b[] = {-3, 2, -1};
    const double lower[] = {-INF, -1, 0}, upper[] = {INF, 1, 0.125};
    perp_mcp mcp = {3, perp_matrix_dense(3, 3, A), b, lower, upper};
    // free: w = z - 3; box [-1, 1] with w = z + 2 ends at -1; box [0, 1/8] with w = 4 z - 1 at 1/8
    perp_mcp_residuals r = judge(&mcp, (const double[]){3, -1, 0.125});
    close_to(r.plain, 0.0);
    close_to(r.scaled, 0.0);
    r = judge(&mcp, (const double[]){2.5, -1, 0.125});  // w = -0.5
    close_to(r.plain, 0.5 / 3.0);
    r = judge(&mcp, (const double[]){3, 0, 0.125});  // w = 2, distance to the bound 1
    close_to(r.plain, 1.0 / 3.0);
    r = judge(&mcp, (const double[]){3, -1, 0.0625});  // w = -0.75; distance 1/16, in w's unit 1/4
    close_to(r.plain, 0.0625 / 3.0);
    close_to(r.scaled, 0.25 / 3.0);
}

// min(z, w) of a tiny z is tiny whatever w is; in w's unit it is not.
static void scaled_sees_tiny_variables(void **state)
{
    (void)state;
    const double A[] = {1e12}, b[] = {-1};
    perp_mcp mcp = perp_mcp_from_lcp(1, perp_matrix_dense(1, 1, A), b);
    perp_mcp_residuals r = judge(&mcp, (const double[]){5e-12});  // w = 4, the answer is 1e-12
    assert_true(r.plain < 1e-11);
    assert_true(r.scaled > 0.9);
}

// z - clamp(z - w) must not lose w where z is 1e20 times larger.
static void large_variables_do_not_hide_w(void **state)
{
    (void)state;
    const double A[] = {0, 0, 0, 1}, b[] = {-1e-6, 1};
    perp_mcp mcp = perp_mcp_from_lcp(2, perp_matrix_dense(2, 2, A), b);
    perp_mcp_residuals r = judge(&mcp, (const double[]){1e14, 0});
    close_to(r.plain, 1e-6);
    assert_true(r.scaled >= 0.99e-6);
}

// 7 z1 - 7 z2 with z = 1e17 / 7 rounded: the products cancel exactly in double, in truth to 8.
static void rounding_does_not_hide_w(void **state)
{
    (void)state;
    const double A[] = {7, 0, -0x1p54, 0}, b[] = {-1e-3, 1}, lower[] = {-INF, 0};
    perp_mcp mcp = {2, perp_matrix_dense(2, 2, A), b, lower, NULL};
    const double z[] = {0x1.2492492492492p+51, 1.0};  // 7 z1 = 2^54 - 2^1 in truth
    double truth = truth_plain(&mcp, z), plain = judge(&mcp, z).plain;
    assert_true(truth > 1.0);  // in long double, which is not enough either
    assert_true(plain >= 1.001 && plain < 1.001 + 1e-12);
}

// Rows and columns that differ by 1e22: what is wrong in the small ones is nothing beside the large ones.
static void small_rows_are_judged_by_themselves(void **state)
{
    (void)state;
    const double A[] = {4e10, 0, 1e10, 2e-12}, b[] = {-7e10, -4e-12};
    perp_mcp mcp = perp_mcp_from_lcp(2, perp_matrix_dense(2, 2, A), b);
    perp_mcp_residuals wrong = judge(&mcp, (const double[]){1.75, 0});
    assert_true(wrong.plain < 1e-15 && wrong.scaled < 1e-8);
    close_to(wrong.backward, 1.0);
    assert_true(judge(&mcp, (const double[]){1.25, 2}).backward < 1e-15);
    double z[2];
    perp_comp_info info;
    assert_int_equal(perp_mcp_solve(NULL, &mcp, NULL, NULL, z, &info), PERP_OK);
    assert_true(fabs(z[0] - 1.25) < 1e-14 && fabs(z[1] - 2.0) < 1e-14 && info.backward < 1e-15);

    const double C[] = {9e12, 1e22, 1e-12, 0.06}, d[] = {-9, -7e10};
    mcp = perp_mcp_from_lcp(2, perp_matrix_dense(2, 2, C), d);
    assert_true(judge(&mcp, (const double[]){0, 7e10 / 0.06}).backward > 0.1);
    assert_int_equal(perp_mcp_solve(NULL, &mcp, NULL, NULL, z, &info), PERP_OK);
    double det = 9e12 * 0.06 - 1e22 * 1e-12;
    assert_true(fabs(z[0] * det / (9.0 * 0.06 - 7e10 * 1e-12) - 1.0) < 1e-12);
    assert_true(fabs(z[1] * det / (9e12 * 7e10 - 1e22 * 9.0) - 1.0) < 1e-12);
}

// The backward error of any z has the same bits in other units that are powers of two.
static void backward_errors_follow_units(void **state)
{
    (void)state;
    enum { N = 6 };
    FOR_SEEDS(seed, 300)
    {
        rng r = rng_seed(seed);
        double A[N * N], b[N], z[N], scaled_A[N * N], scaled_b[N], scaled_z[N], row[N], col[N];
        double lower[N], upper[N], scaled_lower[N], scaled_upper[N];
        for (int i = 0; i < N; i++) {
            b[i] = rng_normal(&r);
            z[i] = rng_below(&r, 3) ? rng_uniform(&r, 0.0, 1.0) : 0.0;
            lower[i] = rng_below(&r, 4) ? 0.0 : -INF;
            upper[i] = rng_below(&r, 4) ? INF : 1.0;
            row[i] = exp2(rng_below(&r, 81) - 40);
            col[i] = exp2(rng_below(&r, 81) - 40);
        }
        for (int k = 0; k < N * N; k++) {
            A[k] = rng_normal(&r);
            scaled_A[k] = A[k] * row[k % N] / col[k / N];
        }
        for (int i = 0; i < N; i++) {
            scaled_b[i] = b[i] * row[i];
            scaled_z[i] = z[i] * col[i];
            scaled_lower[i] = lower[i] * col[i];
            scaled_upper[i] = upper[i] * col[i];
        }
        perp_mcp one = {N, perp_matrix_dense(N, N, A), b, lower, upper};
        perp_mcp other = {N, perp_matrix_dense(N, N, scaled_A), scaled_b, scaled_lower,
                          scaled_upper};
        CHECK(judge(&one, z).backward == judge(&other, scaled_z).backward, seed);
    }
}

// A chain of masses 1e8 apart. Its answer, rounded to double, leaves 5e-8 of the load in a row whose terms are 5e7: no z of
// doubles does much better.
static void the_answer_rounded_is_an_answer(void **state)
{
    (void)state;
    const double a = 0.02580957479286719, c = 0.0015075453157820805, k = 976907.4420599606;
    const double A[] = {a,
                        -a,
                        0,
                        0,
                        -a,
                        0.02731712010864927,
                        -c,
                        0,
                        0,
                        -c,
                        976907.4435675059,
                        -k,
                        0,
                        0,
                        -k,
                        976907.4438707342};
    const double b[] = {-0.0981, 0, 0, 0};
    const double z[] = {123.0493240613625, 119.24840906034856, 54.1757382934947, 54.17573819307578};
    perp_mcp mcp = perp_mcp_from_lcp(4, perp_matrix_dense(4, 4, A), b);
    assert_true(truth_plain(&mcp, z) > 1e-8);
    perp_mcp_residuals r = judge(&mcp, z);
    assert_true(r.plain < 1e-12 && r.scaled < 1e-12 && r.backward < 1e-15);
    const double off[] = {123.05, 119.24840906034856, 54.1757382934947, 54.17573819307578};
    assert_true(judge(&mcp, off).plain > 1e-6);
    double solved[4];
    assert_int_equal(perp_mcp_solve(NULL, &mcp, NULL, NULL, solved, NULL), PERP_OK);
    for (int i = 0; i < 4; i++) {
        assert_true(fabs(solved[i] / z[i] - 1.0) < 1e-9);
    }
}

static void zero_load_is_judged_absolutely(void **state)
{
    (void)state;
    const double A[] = {1}, b[] = {0};
    perp_mcp mcp = perp_mcp_from_lcp(1, perp_matrix_dense(1, 1, A), b);
    perp_mcp_residuals r = judge(&mcp, (const double[]){0});
    close_to(r.plain, 0.0);
    close_to(r.scaled, 0.0);
    r = judge(&mcp, (const double[]){0.5});
    close_to(r.plain, 0.5);
    assert_true(r.scaled >= 0.5);
    // Singular, and the bounds are the load: w is rounding, and not to be measured against itself.
    const double S[] = {0.1, -0.3, -0.3, 0.9}, zero[] = {0, 0}, lower[] = {-2, -INF};
    const double upper[] = {-1, 2};
    mcp = (perp_mcp){2, perp_matrix_dense(2, 2, S), zero, lower, upper};
    r = judge(&mcp, (const double[]){-1, -1.0 / 3.0});
    assert_true(r.plain < 1e-15 && r.scaled < 1e-15);
    r = judge(&mcp, (const double[]){-1, -0.3});
    assert_true(r.plain > 1e-3 && r.scaled > 1e-3);
}

static void nothing_infinite_is_accepted(void **state)
{
    (void)state;
    const double A[] = {1, 0, 0, 1}, b[] = {-1, -1};
    perp_mcp mcp = perp_mcp_from_lcp(2, perp_matrix_dense(2, 2, A), b);
    const double bad[] = {NAN, INF, -INF};
    for (int k = 0; k < 3; k++) {
        perp_mcp_residuals r = judge(&mcp, (const double[]){1, bad[k]});
        assert_true(r.plain == INF);
        assert_true(r.scaled == INF || r.bound == INF);
        r = judge(&mcp, (const double[]){bad[k], 1});
        assert_true(r.plain == INF);
    }
}

static void refuses_what_is_no_problem(void **state)
{
    (void)state;
    const double A[] = {1}, b[] = {NAN}, z[] = {0};
    perp_mcp mcp = perp_mcp_from_lcp(1, perp_matrix_dense(1, 1, A), b);
    perp_mcp_residuals out;
    assert_int_equal(perp_mcp_judge(&mcp, z, NULL, &out), PERP_ERR_ARGUMENT);
    assert_int_equal(perp_mcp_judge(NULL, z, NULL, &out), PERP_ERR_ARGUMENT);
    mcp.b = A;
    assert_int_equal(perp_mcp_judge(&mcp, NULL, NULL, &out), PERP_ERR_ARGUMENT);
    assert_int_equal(perp_mcp_judge(&mcp, z, NULL, NULL), PERP_ERR_ARGUMENT);
}

// Random points, dense and sparse: the plain map is its definition.
static void plain_is_its_definition(void **state)
{
    (void)state;
    problem *p = problem_create(8);
    FOR_SEEDS(seed, 300)
    {
        rng r = rng_seed(seed);
        double z[8];
        random_problem(p, 1 + rng_below(&r, 8), (random_kind)rng_below(&r, RANDOM_KINDS), &r);
        for (int i = 0; i < p->n; i++) {
            z[i] = fmin(fmax(rng_below(&r, 3) ? rng_normal(&r) : 0.0, p->lower[i]), p->upper[i]);
        }
        double truth = truth_plain(&p->mcp, z), plain = judge(&p->mcp, z).plain;
        CHECK(fabs(plain - truth) <= 1e-9 * (truth + 1.0), seed);
        problem *sparse = problem_sparse(p);
        double again = judge(&sparse->mcp, z).plain;
        problem_destroy(sparse);
        CHECK(fabs(plain - again) <= 1e-12 * (plain + 1.0), seed);
    }
    problem_destroy(p);
}

// The scaled residual is its definition in whatever units z has, and one unit for all z or for all w
// leaves it alone; the plain one these change.
static void scaled_is_its_definition(void **state)
{
    (void)state;
    FOR_SEEDS(seed, 200)
    {
        rng r = rng_seed(seed);
        problem *p = problem_create(6);
        double z[6];
        random_problem(p, 6, RANDOM_P, &r);
        for (int i = 0; i < 6; i++) {
            z[i] = rng_uniform(&r, 0.0, 1.0);
        }
        for (int j = 0; j < 6; j++) {
            double unit = ldexp(1.0, rng_below(&r, 80) - 40);
            z[j] /= unit;
            for (int i = 0; i < 6; i++) {
                ENTRY(p, i, j) *= unit;
            }
        }
        double before = judge(&p->mcp, z).scaled, truth = truth_scaled(&p->mcp, z);
        CHECK(fabs(before - truth) <= 1e-12 * truth, seed);
        for (int k = 0; k < 36; k++) {
            p->A[k] *= 0x1p30;
        }
        for (int i = 0; i < 6; i++) {
            p->b[i] *= 0x1p42;
            z[i] *= 0x1p12;
        }
        double after = judge(&p->mcp, z).scaled;
        CHECK(fabs(after - before) <= 1e-12 * before, seed);
        problem_destroy(p);
    }
}

static void farkas_by_hand(void **state)
{
    (void)state;
    const double A[] = {0, -1, 1, 0}, b[] = {1, -1};  // w = (z2 + 1, -z1 - 1): row 2 is negative
    perp_mcp mcp = perp_mcp_from_lcp(2, perp_matrix_dense(2, 2, A), b);
    assert_true(perp_mcp_farkas(&mcp, (const double[]){0, 1}) < 0.0);
    close_to(perp_mcp_farkas(&mcp, (const double[]){0, 2}), -1.0);
    assert_true(perp_mcp_farkas(&mcp, (const double[]){1, 0}) == INF);   // z2 may grow
    assert_true(perp_mcp_farkas(&mcp, (const double[]){0, -1}) == INF);  // wrong sign
    assert_true(perp_mcp_farkas(&mcp, (const double[]){0, 0}) == INF);   // proves nothing
    assert_true(perp_mcp_farkas(&mcp, (const double[]){NAN, 1}) == INF);
    // a feasible problem has no proof: w = z - 1
    const double one[] = {1}, minus[] = {-1};
    mcp = perp_mcp_from_lcp(1, perp_matrix_dense(1, 1, one), minus);
    assert_true(!(perp_mcp_farkas(&mcp, one) < 0.0));
    // equations x + y = 1, x + y = 2: y = (1, -1) subtracts them
    const double ones[] = {1, 1, 1, 1}, load[] = {-1, -2}, lower[] = {-INF, -INF};
    mcp = (perp_mcp){2, perp_matrix_dense(2, 2, ones), load, lower, NULL};
    assert_true(!(perp_mcp_farkas(&mcp, (const double[]){1, -1}) < 0.0));  // 1 > 0: the wrong way
    assert_true(perp_mcp_farkas(&mcp, (const double[]){-1, 1}) < 0.0);
}

// ── Contact ──────────────────────────────────────────────────────────────────────────────────────

static perp_fcp_residuals judge_contact(const perp_fcp *fcp, const double *r)
{
    perp_fcp_residuals out;
    assert_int_equal(perp_fcp_judge(fcp, r, NULL, NULL, &out), PERP_OK);
    return out;
}

// One contact, W = I, mu = 1/2.
static void contact_by_hand(void **state)
{
    (void)state;
    double W[9] = {1, 0, 0, 0, 1, 0, 0, 0, 1}, q[3] = {-2, 0.5, 0}, mu = 0.5;
    perp_fcp fcp = {.nc = 1, .dim = 3, .mu = &mu, .W = perp_matrix_dense(3, 3, W), .q = q};
    // sticks: r = -q = (2, -0.5, 0) is in the cone (0.5 <= 1)
    perp_fcp_residuals r = judge_contact(&fcp, (const double[]){2, -0.5, 0});
    assert_true(r.plain < 1e-14 && r.scaled < 1e-14);
    // slides: q_t = 3: r_n = 2, r_t = -1, u_t = 2, u_n = 0
    q[1] = 3.0;
    r = judge_contact(&fcp, (const double[]){2, -1, 0});
    assert_true(r.plain < 1e-14 && r.scaled < 1e-14);
    // r = 0, u = q: x = 0 - (u_n + mu |u_t|, u_t) = (2 - 1.5, -3, 0) = (0.5, -3, 0). Projection on the
    // cone boundary: along (1, -1/2): t = (0.5 + 1.5) / 1.25 = 1.6, so (1.6, -0.8): |.| = 1.6 sqrt(1.25)
    r = judge_contact(&fcp, (const double[]){0, 0, 0});
    close_to(r.plain, 1.6 * sqrt(1.25) / sqrt(13.0));
    close_to(r.scaled, 1.6 * sqrt(1.25) / sqrt(13.0));  // tr W / 3 = 1
    // separates: q_n > 0 and r = 0
    q[0] = 1.0;
    r = judge_contact(&fcp, (const double[]){0, 0, 0});
    assert_true(r.plain < 1e-14 && r.scaled < 1e-14);
}

// With W in units 1e6 smaller, r 1e6 larger: scaled alone does not notice.
static void contact_scaling(void **state)
{
    (void)state;
    double W[9] = {1e-6, 0, 0, 0, 1e-6, 0, 0, 0, 1e-6}, q[3] = {-2, 3, 0}, mu = 0.5;
    perp_fcp fcp = {.nc = 1, .dim = 3, .mu = &mu, .W = perp_matrix_dense(3, 3, W), .q = q};
    perp_fcp_residuals r = judge_contact(&fcp, (const double[]){0, 0, 0});
    close_to(r.scaled, 1.6 * sqrt(1.25) / sqrt(13.0));
    r = judge_contact(&fcp, (const double[]){2e6, -1e6, 0});
    assert_true(r.scaled < 1e-14);
    r = judge_contact(&fcp, (const double[]){NAN, 0, 0});
    assert_true(r.plain == INF && r.scaled == INF);
}

// The law itself, contact by contact, must agree with the judge on answers made by construction.
// Bodies of 1e-10 kg and 1e10 kg: the impulse of the light one is wrong by half, its velocity with it, and neither is seen beside those of
// the heavy one. Each contact by itself, it is.
static void light_contacts_are_judged_by_themselves(void **state)
{
    (void)state;
    const double W[] = {1e10, 0, 0, 0, 0, 1e10, 0, 0, 0, 0, 1e-10, 0, 0, 0, 0, 1e-10};
    const double q[] = {-1e-9, 0, -2, 0}, mu[] = {0.5, 0.5}, right[] = {1e-19, 0, 2e10, 0};
    perp_fcp fcp = {.nc = 2, .dim = 2, .mu = mu, .W = perp_matrix_dense(4, 4, W), .q = q};
    const double wrong[] = {1.5e-19, 0, 2e10, 0};
    perp_fcp_residuals r = judge_contact(&fcp, right);
    assert_true(r.velocity < 1e-12 && r.scaled < 1e-12 && r.backward < 1e-12);
    r = judge_contact(&fcp, wrong);
    assert_true(r.plain < 1e-8 && r.scaled < 1e-8);
    assert_true(r.backward > 0.1);
}

// A body of 1e-10 kg beside one of 1 kg: a momentum that does not add up.
static void light_bodies_are_judged_by_themselves(void **state)
{
    (void)state;
    const double M[] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1e-10, 0, 0, 0, 0, 1e-10}, mu[] = {0.5, 0.5};
    const double H[] = {1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1};
    const double f[] = {-1, 0, 1e-10, 0}, w[] = {0, 0, 0, 0}, r[] = {1, 0, 0, 0};
    perp_fcp fcp = {.nc = 2, .dim = 2, .nv = 4, .mu = mu, .f = f, .w = w};
    fcp.M = perp_matrix_dense(4, 4, M);
    fcp.H = perp_matrix_dense(4, 4, H);
    perp_fcp_residuals out;
    assert_int_equal(perp_fcp_judge(&fcp, r, (const double[]){0, 0, 1, 0}, NULL, &out), PERP_OK);
    assert_true(out.dynamics < 1e-15 && out.plain < 1e-15 && out.backward < 1e-15);
    assert_int_equal(perp_fcp_judge(&fcp, r, (const double[]){0, 0, 3, 0}, NULL, &out), PERP_OK);
    assert_true(out.dynamics < 1e-9 && out.plain < 1e-15 && out.scaled < 1e-15);
    assert_true(out.backward > 0.1);
}

static void contact_laws_by_construction(void **state)
{
    (void)state;
    FOR_SEEDS(seed, 200)
    {
        rng g = rng_seed(seed);
        int dim = 3, nd = rng_below(&g, 2) ? 0 : 3 + rng_below(&g, 6), n = 3;
        double mu = rng_uniform(&g, 0.1, 1.0), W[9] = {0}, r[3] = {0}, u[3] = {0}, q[3];
        int regime = rng_below(&g, 3);
        if (regime == 0) {  // separates
            u[0] = 1.0, u[1] = rng_normal(&g), u[2] = rng_normal(&g);
        } else {  // slides against a vertex, or sticks inside
            double angle = 6.283185307179586 * (nd ? (double)rng_below(&g, nd) / nd : 0.3);
            double part = regime == 1 ? 1.0 : 0.4;
            r[0] = 2.0, r[1] = part * mu * 2.0 * cos(angle), r[2] = part * mu * 2.0 * sin(angle);
            u[1] = regime == 1 ? -3.0 * cos(angle) : 0.0;
            u[2] = regime == 1 ? -3.0 * sin(angle) : 0.0;
        }
        for (int i = 0; i < n; i++) {
            W[i * 4] = rng_uniform(&g, 0.5, 2.0);
            q[i] = u[i] - W[i * 4] * r[i];
        }
        perp_fcp fcp = {.nc = 1, .dim = dim, .mu = &mu, .nd = nd ? &nd : NULL, .q = q};
        fcp.W = perp_matrix_dense(n, n, W);
        CHECK(truth_contact(&fcp, 0, r, u, 1.0, 1.0) < 1e-12, seed);
        perp_fcp_residuals judged = judge_contact(&fcp, r);
        CHECK(judged.plain < 1e-12 && judged.scaled < 1e-12, seed);
        r[0] += 0.1;  // and what is wrong is seen to be
        judged = judge_contact(&fcp, r);
        CHECK(judged.plain > 1e-3 && judged.scaled > 1e-3, seed);
    }
}

// With W = 0 and r = 0 the residual is |P_K(-u~)|; here P_K is found over the edges of K, one by one.
static void polygons_are_projected_on(void **state)
{
    (void)state;
    enum { ND_MOST = 16 };
    FOR_SEEDS(seed, 60)
    {
        rng g = rng_seed(seed);
        int nd = 3 + rng_below(&g, ND_MOST - 2);
        double mu = rng_below(&g, 8) ? rng_uniform(&g, 0.01, 1.5) : 0.0, W[9] = {0}, q[3];
        double d[ND_MOST][3], share[ND_MOST] = {0}, x[3], support = 0.0;
        for (int k = 0; k < 3; k++) {
            q[k] = rng_normal(&g);
        }
        for (int j = 0; j < nd; j++) {
            double angle = 6.283185307179586 * j / nd;
            d[j][0] = 1.0, d[j][1] = mu * cos(angle), d[j][2] = mu * sin(angle);
            support = fmax(support, -cos(angle) * q[1] - sin(angle) * q[2]);
        }
        x[0] = -q[0] - mu * support, x[1] = -q[1], x[2] = -q[2];
        for (int sweep = 0; sweep < 4000; sweep++) {
            for (int j = 0; j < nd; j++) {  // x is what is left
                double along = (x[0] * d[j][0] + x[1] * d[j][1] + x[2] * d[j][2]) / (1 + mu * mu);
                double step = fmax(along, -share[j]);
                share[j] += step;
                for (int k = 0; k < 3; k++) {
                    x[k] -= step * d[j][k];
                }
            }
        }
        double y[3] = {0}, size = sqrt(q[0] * q[0] + q[1] * q[1] + q[2] * q[2]);
        for (int k = 0; k < 3; k++) {
            for (int j = 0; j < nd; j++) {
                y[k] += share[j] * d[j][k];
            }
        }
        perp_fcp fcp = {.nc = 1, .dim = 3, .mu = &mu, .nd = &nd, .q = q};
        fcp.W = perp_matrix_dense(3, 3, W);
        double judged = judge_contact(&fcp, (const double[]){0, 0, 0}).plain;
        double expected = sqrt(y[0] * y[0] + y[1] * y[1] + y[2] * y[2]) / size;
        CHECK(fabs(judged - expected) < 1e-6, seed);
    }
}

// A global problem and its local form are judged alike, and wrong dynamics are seen.
static void global_agrees_with_local(void **state)
{
    (void)state;
    pile *p = family_pile(1, 1, 1.0, 0.5, (const double[]){0, 0, 0});
    double r[3] = {0.02, 0.004, 0.0}, v[6];
    const double *M = p->global.M.dense, *H = p->global.H.dense;
    for (int k = 0; k < 6; k++) {
        double push = p->global.f[k];
        for (int j = 0; j < 3; j++) {
            push += H[k + j * 6] * r[j];
        }
        v[k] = push / M[k * 7];
    }
    perp_fcp_residuals local, global;
    assert_int_equal(perp_fcp_judge(&p->local, r, NULL, NULL, &local), PERP_OK);
    assert_int_equal(perp_fcp_judge(&p->global, r, v, NULL, &global), PERP_OK);
    assert_true(fabs(local.plain - global.plain) < 1e-12 * (1.0 + local.plain));
    assert_true(fabs(local.scaled - global.scaled) < 1e-12 * (1.0 + local.scaled));
    assert_true(global.dynamics < 1e-14 && local.dynamics == 0.0);
    v[0] += 1e-3;
    assert_int_equal(perp_fcp_judge(&p->global, r, v, NULL, &global), PERP_OK);
    assert_true(global.dynamics > 1e-3);
    assert_int_equal(perp_fcp_judge(&p->global, r, NULL, NULL, &global), PERP_ERR_ARGUMENT);
    pile_destroy(p);
}

// A box at rest: f + H r = 0 up to rounding, v = 0 up to rounding. That is an answer.
static void rest_is_not_wrong_dynamics(void **state)
{
    (void)state;
    pile *p = family_pile(1, 4, 1.0, 0.5, (const double[]){0, 0, 0});
    double r[12] = {0}, v[6] = {1e-19, 0, -1e-18, 0, 0, 1e-19};
    for (int c = 0; c < 4; c++) {
        r[3 * c] = 0.0981 / 4.0 * (1.0 + 2e-16 * c);
    }
    perp_fcp_residuals global;
    assert_int_equal(perp_fcp_judge(&p->global, r, v, NULL, &global), PERP_OK);
    assert_true(global.dynamics < 1e-14 && global.plain < 1e-14 && global.scaled < 1e-14);
    pile_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mcp_by_hand),
        cmocka_unit_test(mcp_bounds_by_hand),
        cmocka_unit_test(scaled_sees_tiny_variables),
        cmocka_unit_test(large_variables_do_not_hide_w),
        cmocka_unit_test(rounding_does_not_hide_w),
        cmocka_unit_test(small_rows_are_judged_by_themselves),
        cmocka_unit_test(backward_errors_follow_units),
        cmocka_unit_test(the_answer_rounded_is_an_answer),
        cmocka_unit_test(zero_load_is_judged_absolutely),
        cmocka_unit_test(nothing_infinite_is_accepted),
        cmocka_unit_test(refuses_what_is_no_problem),
        cmocka_unit_test(plain_is_its_definition),
        cmocka_unit_test(scaled_is_its_definition),
        cmocka_unit_test(farkas_by_hand),
        cmocka_unit_test(contact_by_hand),
        cmocka_unit_test(contact_scaling),
        cmocka_unit_test(light_contacts_are_judged_by_themselves),
        cmocka_unit_test(light_bodies_are_judged_by_themselves),
        cmocka_unit_test(contact_laws_by_construction),
        cmocka_unit_test(polygons_are_projected_on),
        cmocka_unit_test(global_agrees_with_local),
        cmocka_unit_test(rest_is_not_wrong_dynamics),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
