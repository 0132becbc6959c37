// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Friction polygons at scale: ssn ends at rounding, its answer split along the directions is a basic
// solution of the Stewart–Trinkle problem, Lemke's method finds the same motion, and the judge that does
// not form the matrix says what the one says that does.
#include "comp/judge/verdict.h"
#include "support/cmocka.h"
#include "support/heap.h"
#include "support/random.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

// The Stewart–Trinkle problem of a heap, and z of an answer.
typedef struct split {
    perp_pyramid *pyramid;
    const perp_mcp *mcp;
    double *z, *r, *v;
    perp_mcp_residuals judged;
} split;

static perp_status split_solve(const perp_fcp *fcp, split *s)
{
    size_t n = (size_t)(fcp->nc * fcp->dim);
    perp_comp_info info;
    *s = (split){.r = calloc(n, sizeof(double)), .v = calloc((size_t)fcp->nv + 1, sizeof(double))};
    assert_int_equal(perp_pyramid_create(fcp, 4, NULL, &s->pyramid), PERP_OK);
    s->mcp = perp_pyramid_mcp(s->pyramid);
    s->z = calloc((size_t)s->mcp->n, sizeof(double));
    const perp_fcp *polygons = perp_pyramid_fcp(s->pyramid);
    perp_comp_options options = perp_comp_options_default();
    perp_status status = perp_fcp_solve("auto", polygons, &options, NULL, s->r, s->v, &info);
    options.warm_start = true;
    status =
        status < 0 ? status : perp_fcp_solve("ssn", polygons, &options, NULL, s->r, s->v, &info);
    assert_int_equal(perp_pyramid_split(s->pyramid, s->r, s->v, s->z), PERP_OK);
    assert_int_equal(perp_mcp_judge(s->mcp, s->z, NULL, &s->judged), PERP_OK);
    return status;
}

static void split_free(split *s)
{
    perp_pyramid_destroy(s->pyramid);
    free(s->z), free(s->r), free(s->v);
}

static double worst(const split *s)
{
    return fmax(s->judged.plain, s->judged.scaled);
}

// Directions with friction of contact c: at most two a group of two components, one of an interval.
static void check_basic(const perp_fcp *fcp, const split *s, uint64_t seed)
{
    const double *part = s->z + fcp->nv + fcp->nc;
    for (int c = 0; c < fcp->nc; c++) {
        int nd = fcp->dim == 2 ? 2 : fcp->nd[c], used = 0;
        for (int j = 0; j < nd; j++) {
            used += *part++ != 0.0;
        }
        CHECK(used <= (fcp->dim == 2 ? 1 : 2), seed);
    }
}

static void answers_are_basic_and_exact(void **state)
{
    (void)state;
    static const int facets[] = {4, 8, 16, 5, 0};
    FOR_SEEDS(seed, 14)
    {
        int nd = facets[seed % 5];
        heap *h = heap_create(40, 2, nd == 0 ? 2 : 3, nd, seed);
        for (int form = 0; form < 2; form++) {
            split s;
            const perp_fcp *fcp = form ? &h->local : &h->global;
            CHECK(split_solve(fcp, &s) == PERP_OK, seed);
            CHECK(worst(&s) < 1e-11 && s.judged.bound == 0.0, seed);
            check_basic(fcp, &s, seed);
            split_free(&s);
        }
        heap_destroy(h);
    }
}

// Moments too: an interval for torsion, a polygon for rolling.
static void moments_are_exact(void **state)
{
    (void)state;
    FOR_SEEDS(seed, 6)
    {
        heap *h = heap_create(8, 2, 4 + (int)(seed % 3), 8, seed);
        split s;
        CHECK(split_solve(&h->global, &s) == PERP_OK, seed);
        CHECK(worst(&s) < 1e-11 && s.judged.bound == 0.0, seed);
        split_free(&s);
        heap_destroy(h);
    }
}

static void lemke_moves_alike(void **state)
{
    (void)state;
    static const int facets[] = {4, 8, 16, 0};
    int same = 0, all = 0;
    FOR_SEEDS(seed, 12)
    {
        int nd = facets[seed % 4];
        heap *h = heap_create(10, 2, nd == 0 ? 2 : 3, nd, seed);
        split s;
        CHECK(split_solve(&h->global, &s) == PERP_OK, seed);
        double *z = calloc((size_t)s.mcp->n, sizeof *z), apart = 0.0;
        perp_status status = perp_mcp_solve("lemke", s.mcp, NULL, NULL, z, NULL);
        for (int i = 0; status == PERP_OK && i < h->global.nv; i++) {
            apart = fmax(apart, fabs(z[i] - s.v[i]));
        }
        CHECK(worst(&s) < 1e-10, seed);
        all += status == PERP_OK;
        same += status == PERP_OK && apart < 1e-9;
        free(z);
        split_free(&s);
        heap_destroy(h);
    }
    // Friction leaves more than one motion to some: both are right there, told by the judge.
    assert_true(all >= 11 && same >= 2 * all / 3);
}

// ── Hostile ──────────────────────────────────────────────────────────────────────────────────────

// Contacts of a heap made odd: 0 no friction, 1 friction past all measure, 2 contacts that nothing moves,
// 3 contacts that are there twice.
static void make_odd(heap *h, int how)
{
    enum { MOST = 100 };
    static double mu[MOST], x[36 * MOST], w[3 * MOST];
    static int rows[36 * MOST];
    perp_fcp *fcp = &h->global;
    int d = fcp->dim;
    assert_true(fcp->nc <= MOST && d == 3);
    memcpy(mu, fcp->mu, (size_t)fcp->nc * sizeof *mu);
    memcpy(w, fcp->w, (size_t)(fcp->nc * d) * sizeof *w);
    memcpy(x, fcp->H.x, (size_t)fcp->H.p[fcp->nc * d] * sizeof *x);
    memcpy(rows, fcp->H.i, (size_t)fcp->H.p[fcp->nc * d] * sizeof *rows);
    for (int c = 1; c < fcp->nc; c += 2) {
        int at = fcp->H.p[c * d], end = fcp->H.p[(c + 1) * d], before = fcp->H.p[(c - 1) * d];
        mu[c] = how == 0 ? 0.0 : how == 1 ? 20.0 : mu[c];
        if (how == 2) {
            memset(x + at, 0, (size_t)(end - at) * sizeof *x);
            w[c * d] = c % 4 == 1 ? 0.1 : 0.0;
        } else if (how == 3 && end - at == at - before) {
            memcpy(x + at, x + before, (size_t)(end - at) * sizeof *x);
            memcpy(rows + at, rows + before, (size_t)(end - at) * sizeof *rows);
            mu[c] = mu[c - 1];
        }
    }
    fcp->mu = mu;
    fcp->w = w;
    fcp->H = perp_matrix_csc(fcp->nv, fcp->nc * d, fcp->H.p, rows, x);
}

static void odd_contacts(void **state)
{
    (void)state;
    FOR_SEEDS(seed, 16)
    {
        heap *h = heap_create(15, 2, 3, seed % 2 ? 4 : 8, seed);
        make_odd(h, (int)(seed % 4));
        split s;
        CHECK(split_solve(&h->global, &s) == PERP_OK, seed);
        CHECK(worst(&s) < 1e-10, seed);
        split_free(&s);
        heap_destroy(h);
    }
}

static void splitting_checks_its_arguments(void **state)
{
    (void)state;
    heap *h = heap_create(4, 3, 3, 4, 1);
    split s;
    assert_int_equal(split_solve(&h->global, &s), PERP_OK);
    assert_int_equal(perp_pyramid_split(s.pyramid, NULL, s.v, s.z), PERP_ERR_ARGUMENT);
    assert_int_equal(perp_pyramid_split(s.pyramid, s.r, NULL, s.z), PERP_ERR_ARGUMENT);
    assert_int_equal(perp_pyramid_split(s.pyramid, s.r, s.v, NULL), PERP_ERR_ARGUMENT);
    double kept = s.r[0];
    s.r[0] = NAN;
    assert_int_equal(perp_pyramid_split(s.pyramid, s.r, s.v, s.z), PERP_ERR_ARGUMENT);
    s.r[0] = kept;
    double *back = calloc((size_t)(3 * h->global.nc), sizeof *back);
    perp_pyramid_recover(s.pyramid, s.z, back, s.v);
    for (int i = 0; i < 3 * h->global.nc; i++) {
        assert_true(fabs(back[i] - s.r[i]) < 1e-13);
    }
    free(back);
    split_free(&s);
    heap_destroy(h);
}

// ── The judge of products ────────────────────────────────────────────────────────────────────────

// S, column by column what a unit of z is in r, and K = A - S'W S.
static pp_product product_of(const split *s, const perp_fcp *fcp, pp_arena *arena)
{
    int n = s->mcp->n, base = fcp->nc * fcp->dim, used[2] = {0, 0};
    double *S = PP_ZEROS(arena, double, base *n), *e = PP_ZEROS(arena, double, n);
    int *p = PP_ARRAY(arena, int, 2 * (n + 1)), *i = PP_ARRAY(arena, int, n *(base + n));
    double *x = PP_ARRAY(arena, double, n *(base + n));
    int *kp = p + n + 1, *ki = i + n * base;
    double *kx = x + n * base;
    for (int j = 0; j < n; j++) {
        e[j] = 1.0;
        perp_pyramid_recover(s->pyramid, e, S + j * base, NULL);
        e[j] = 0.0;
    }
    for (int j = 0; j < n; j++) {
        p[j] = used[0], kp[j] = used[1];
        for (int k = 0; k < base; k++) {
            if (S[j * base + k] != 0.0) {
                i[used[0]] = k, x[used[0]++] = S[j * base + k];
            }
        }
        double *Wx = PP_ZEROS(arena, double, base);
        pp_matrix_mul(&fcp->W, 1.0, S + j * base, Wx);
        for (int k = 0; k < n; k++) {
            double rest = pp_matrix_at(&s->mcp->A, k, j) - pp_dot(base, S + k * base, Wx);
            if (fabs(rest) > 1e-9) {
                ki[used[1]] = k, kx[used[1]++] = rest;
            }
        }
    }
    p[n] = used[0], kp[n] = used[1];
    return (pp_product){perp_matrix_csc(base, n, p, i, x), fcp->W,
                        perp_matrix_csc(n, n, kp, ki, kx)};
}

static void products_are_judged_alike(void **state)
{
    (void)state;
    FOR_SEEDS(seed, 12)
    {
        rng g = rng_seed(seed);
        heap *h = heap_create(5, 3, 3, 4 + (int)(seed % 5), seed);
        pp_arena *arena = pp_arena_create(NULL);
        split s;
        CHECK(split_solve(&h->local, &s) == PERP_OK, seed);
        pp_product A = product_of(&s, &h->local, arena);
        for (int k = 0; k < 4; k++) {  // the answer, then ever further from it
            perp_mcp_residuals formed, product;
            for (int i = 0; i < s.mcp->n && k > 0; i++) {
                s.z[i] += pow(10.0, -8 + 2 * k) * rng_normal(&g);
            }
            assert_int_equal(perp_mcp_judge(s.mcp, s.z, NULL, &formed), PERP_OK);
            assert_int_equal(pp_product_judge(s.mcp, &A, s.z, arena, &product), PERP_OK);
            CHECK(fabs(formed.plain - product.plain) < 1e-14 + 1e-9 * formed.plain, seed);
            CHECK(fabs(formed.scaled - product.scaled) < 1e-14 + 1e-9 * formed.scaled, seed);
            CHECK(formed.bound == product.bound, seed);
            CHECK(k == 0 ? product.backward <= 1e-8 : product.backward > 1e-7, seed);
        }
        split_free(&s);
        pp_arena_destroy(arena);
        heap_destroy(h);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_are_basic_and_exact),
        cmocka_unit_test(moments_are_exact),
        cmocka_unit_test(lemke_moves_alike),
        cmocka_unit_test(odd_contacts),
        cmocka_unit_test(splitting_checks_its_arguments),
        cmocka_unit_test(products_are_judged_alike),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
