// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The exact one-contact solves and the projection they are checked by, against brute force.
#include "comp/friction/cone.h"
#include "support/cmocka.h"
#include "support/random.h"

#include <math.h>
#include <string.h>

#define PI 3.14159265358979323846

// A contact of dim components; nd applies to the groups of two.
typedef struct contact {
    pp_arena *arena;
    pp_cone_law *law;
} contact;

static contact contact_create(int dim, int nd, double mu, double spin, double roll)
{
    contact c = {.arena = pp_arena_create(NULL)};
    perp_fcp fcp = {
        .nc = 1, .dim = dim, .mu = &mu, .mu_spin = &spin, .mu_roll = &roll, .nd = nd ? &nd : NULL};
    assert_int_equal(pp_cone_laws_create(&fcp, c.arena, &c.law), PERP_OK);
    return c;
}

static double norm(int n, const double *x)
{
    double s = 0.0;
    for (int i = 0; i < n; i++) {
        s += x[i] * x[i];
    }
    return sqrt(s);
}

// ── The projection ───────────────────────────────────────────────────────────────────────────────

// A point of K, drawn so that apex, edges, facets and inside all occur.
static void draw_in_cone(rng *g, const pp_cone_law *law, double size, double *x)
{
    x[0] = rng_below(g, 4) ? size * rng_uniform(g, 0.0, 2.0) : 0.0;
    for (int k = 0; k < law->groups; k++) {
        const pp_disc *disc = &law->disc[k];
        double radius = disc->mu * x[0] * (rng_below(g, 3) ? 1.0 : rng_uniform(g, 0.0, 1.0));
        if (disc->size == 1) {
            x[disc->first] = rng_below(g, 2) ? radius : -radius;
        } else if (!disc->nd) {
            double angle = rng_uniform(g, 0.0, 2.0 * PI);
            x[disc->first] = radius * cos(angle);
            x[disc->first + 1] = radius * sin(angle);
        } else {
            int j = rng_below(g, disc->nd), m = (j + 1) % disc->nd;
            double s = rng_below(g, 2) ? 0.0 : rng_uniform(g, 0.0, 1.0);
            for (int i = 0; i < 2; i++) {
                x[disc->first + i] = radius * ((1.0 - s) * disc->direction[2 * j + i] +
                                               s * disc->direction[2 * m + i]);
            }
        }
    }
}

// P is the projection of p if and only if P is in K and (p - P).(x - P) <= 0 for every x in K.
static void projection_obeys_its_inequality(void **state)
{
    (void)state;
    FOR_SEEDS(seed, 3000)
    {
        rng g = rng_seed(seed);
        int dim = 2 + rng_below(&g, 5), nd = rng_below(&g, 2) ? 3 + rng_below(&g, 14) : 0;
        contact c = contact_create(dim, nd, rng_uniform(&g, 0.0, 2.0), rng_uniform(&g, 0.0, 0.5),
                                   rng_below(&g, 8) ? rng_uniform(&g, 0.0, 0.5) : 0.0);
        double p[PP_DIM_MAX], P[PP_DIM_MAX], twice[PP_DIM_MAX], x[PP_DIM_MAX];
        for (int i = 0; i < dim; i++) {
            P[i] = p[i] = rng_normal(&g);
        }
        pp_cone_law_project(c.law, P);
        memcpy(twice, P, sizeof P);
        pp_cone_law_project(c.law, twice);
        for (int i = 0; i < dim; i++) {
            CHECK(fabs(twice[i] - P[i]) <= 1e-14 * norm(dim, p), seed);
        }
        for (int k = 0; k < 40; k++) {
            double product = 0.0;
            draw_in_cone(&g, c.law, norm(dim, p), x);
            for (int i = 0; i < dim; i++) {
                product += (p[i] - P[i]) * (x[i] - P[i]);
            }
            CHECK(product <= 1e-13 * norm(dim, p) * norm(dim, p), seed);
        }
        pp_arena_destroy(c.arena);
    }
}

static void support_is_the_largest_product(void **state)
{
    (void)state;
    FOR_SEEDS(seed, 300)
    {
        rng g = rng_seed(seed);
        contact c = contact_create(3, rng_below(&g, 2) ? 3 + rng_below(&g, 14) : 0, 0.7, 0.0, 0.0);
        double u[3] = {0.0, rng_normal(&g), rng_normal(&g)}, x[3], most = 0.0;
        for (int k = 0; k < 500; k++) {
            draw_in_cone(&g, c.law, 1.0, x);
            most = x[0] > 0.0 ? fmax(most, -(x[1] * u[1] + x[2] * u[2]) / x[0]) : most;
        }
        double shift = pp_cone_law_shift(c.law, u);
        CHECK(most <= shift * (1.0 + 1e-14) && most >= 0.8 * shift, seed);
        pp_arena_destroy(c.arena);
    }
}

// ── One contact ──────────────────────────────────────────────────────────────────────────────────

// W = S B B' S, B dim x rank: rank-deficient, skewed or scaled on demand; q follows W's size. True: W is
// symmetric positive definite, so that a solution exists.
static bool draw_contact(rng *g, int dim, double *W, double *q)
{
    double B[PP_DIM_MAX * PP_DIM_MAX], S[PP_DIM_MAX], size = pow(10.0, rng_uniform(g, -8.0, 8.0));
    int rank = rng_below(g, 6) ? dim : 1 + rng_below(g, dim);
    bool skewed = rng_below(g, 4) == 0;
    for (int i = 0; i < dim; i++) {
        S[i] = rng_below(g, 5) ? 1.0 : pow(10.0, rng_uniform(g, -3.0, 1.0));
        for (int k = 0; k < rank; k++) {
            B[i + k * dim] = rng_normal(g);
        }
    }
    double near = rng_below(g, 5) ? 0.0 : 1e-9;
    for (int j = 0; j < dim; j++) {
        for (int i = 0; i < dim; i++) {
            double s = i == j ? near : 0.0;
            for (int k = 0; k < rank; k++) {
                s += B[i + k * dim] * B[j + k * dim];
            }
            W[i + j * dim] = size * S[i] * S[j] * (s + (skewed ? 1e-3 * rng_normal(g) : 0.0));
        }
    }
    double impulse = pow(10.0, rng_uniform(g, -6.0, 6.0)) * size;
    for (int i = 0; i < dim; i++) {
        q[i] = impulse * S[i] * rng_normal(g);
    }
    q[0] = rng_below(g, 6) ? -fabs(q[0]) : q[0];
    return rank == dim && !skewed;
}

// Whether r obeys the law, told in its own words and not by the natural map of the solver.
static double law_error(const pp_cone_law *law, const double *W, const double *q, const double *r)
{
    int dim = law->dim;
    double u[PP_DIM_MAX], trace = 0.0, worst = 0.0;
    for (int i = 0; i < dim; i++) {
        u[i] = q[i];
        trace += W[i + i * dim];
        for (int j = 0; j < dim; j++) {
            u[i] += W[i + j * dim] * r[j];
        }
    }
    double rho = dim / trace, size = norm(dim, r) + rho * norm(dim, q);
    worst = fmax(-r[0], -rho * u[0]);             // neither pulls nor penetrates
    worst = fmax(worst, fmin(r[0], rho * u[0]));  // one of the two is zero
    for (int k = 0; k < law->groups; k++) {
        const pp_disc *disc = &law->disc[k];
        double inside[2] = {r[disc->first], disc->size == 2 ? r[disc->first + 1] : 0.0};
        double radius = disc->mu * fmax(r[0], 0.0),
               work = radius * pp_disc_support(disc, u + disc->first);
        pp_disc_project(disc, radius, inside, NULL);
        for (int i = 0; i < disc->size; i++) {
            worst = fmax(worst, fabs(r[disc->first + i] - inside[i]));
            work += r[disc->first + i] * u[disc->first + i];
        }
        worst = fmax(worst, rho * work / size);  // friction works as much as it can
    }
    return worst / size;
}

// Closed contact with disc or segment: no slip angle solves, by a scan for sign changes.
static bool has_slip(double mu, int dim, const double *W, const double *q)
{
    enum { ANGLES = 20000 };
    double last[2] = {0};
    for (int k = 0; k <= (dim == 2 ? 1 : ANGLES); k++) {
        double angle = dim == 2 ? PI * k : 2.0 * PI * k / ANGLES;
        double e[2] = {cos(angle), dim == 2 ? 0.0 : sin(angle)}, u[2] = {0};
        double den = W[0];
        for (int j = 1; j < dim; j++) {
            den -= mu * W[j * dim] * e[j - 1];
        }
        double rn = -q[0] / den;
        for (int i = 1; i < dim; i++) {
            u[i - 1] = q[i] + W[i] * rn;
            for (int j = 1; j < dim; j++) {
                u[i - 1] -= W[i + j * dim] * mu * rn * e[j - 1];
            }
        }
        double along = u[0] * e[0] + u[1] * e[1], across = u[1] * e[0] - u[0] * e[1];
        if (dim == 2 ? den > 0.0 && along >= 0.0
                     : k && den > 0.0 && along > 0.0 && last[0] > 0.0 && across * last[1] <= 0.0) {
            return true;
        }
        last[0] = den > 0.0 && along > 0.0;
        last[1] = across;
    }
    return false;
}

static void solve_random_contacts(int dim, bool polygons, int unsolved_max)
{
    int unsolved = 0;
    FOR_SEEDS(seed, 4000)
    {
        rng g = rng_seed(seed * 31 + (uint64_t)dim);
        double W[PP_DIM_MAX * PP_DIM_MAX], q[PP_DIM_MAX], r[PP_DIM_MAX] = {0};
        double mu = rng_below(&g, 12) ? rng_uniform(&g, 0.0, 1.2) : 0.0;
        contact c = contact_create(dim, polygons ? 3 + rng_below(&g, 14) : 0, mu,
                                   rng_uniform(&g, 0.0, 0.3), rng_uniform(&g, 0.0, 0.3));
        bool solvable = draw_contact(&g, dim, W, q);
        double error = pp_one_contact(c.law, W, q, r, NULL);
        CHECK(pp_all_finite((size_t)dim, r), seed);
        if (error <= 1e-12) {
            CHECK(law_error(c.law, W, q, r) <= 2e-12, seed);
        } else if (dim <= 3) {
            CHECK(!solvable, seed);
            CHECK(polygons || !has_slip(mu, dim, W, q), seed);
        } else {
            unsolved += solvable;
        }
        pp_arena_destroy(c.arena);
    }
    assert_in_range(unsolved, 0, unsolved_max);
}

// Strong friction on polygons: the closed forms are as exact as rounding lets them, measured as the judge does it, and
// nothing is searched for in vain.
static void strong_friction_is_solved_in_closed_form(void **state)
{
    (void)state;
    double searched = 0.0;
    FOR_SEEDS(seed, 400)
    {
        rng g = rng_seed(seed * 17 + 5);
        double W[PP_DIM_MAX * PP_DIM_MAX], q[PP_DIM_MAX], r[PP_DIM_MAX] = {0};
        contact c = contact_create(3, 8, pow(10.0, rng_uniform(&g, 2.0, 8.0)), 0.0, 0.0);
        if (draw_contact(&g, 3, W, q)) {
            pp_meter meter = pp_meter_start(3, PP_INF);
            double error = pp_one_contact(c.law, W, q, r, &meter);
            CHECK(error <= pp_one_contact_ok(c.law), seed);
            searched += meter.operations;
        }
        pp_arena_destroy(c.arena);
    }
    assert_true(searched / 400.0 < 3e3);
}

static void plane_contacts(void **state)
{
    (void)state;
    solve_random_contacts(2, false, 0);
}

static void disc_contacts(void **state)
{
    (void)state;
    solve_random_contacts(3, false, 0);
}

static void polygon_contacts(void **state)
{
    (void)state;
    solve_random_contacts(3, true, 0);
}

static void rolling_contacts(void **state)
{
    (void)state;
    for (int dim = 4; dim <= 6; dim++) {
        solve_random_contacts(dim, false, 16);
        solve_random_contacts(dim, true, 16);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(projection_obeys_its_inequality),
        cmocka_unit_test(support_is_the_largest_product),
        cmocka_unit_test(strong_friction_is_solved_in_closed_form),
        cmocka_unit_test(plane_contacts),
        cmocka_unit_test(disc_contacts),
        cmocka_unit_test(polygon_contacts),
        cmocka_unit_test(rolling_contacts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
