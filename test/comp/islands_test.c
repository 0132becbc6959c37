// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Contact problems that fall apart: contacts of several heaps shuffled into one problem are solved, with and
// without a guess, for every law; every allocation may fail.
#include "comp/comp.h"
#include "support/cmocka.h"
#include "support/fault.h"
#include "support/heap.h"
#include "support/random.h"

#include <stdlib.h>

enum { HEAPS = 4 };

typedef struct mixture {
    heap *heap[HEAPS];
    perp_fcp fcp;
    double *mu, *q, *x;
    int *nd, *p, *i;
} mixture;

// Contact c of heap h is contact HEAPS c + h: no part stands together.
static void mix(mixture *m, int balls, int dim, int nd, uint64_t seed)
{
    for (int h = 0; h < HEAPS; h++) {
        m->heap[h] = heap_create(balls, 2, dim, nd, seed + 100 * (uint64_t)h);
        assert_non_null(m->heap[h]);
    }
    int part = m->heap[0]->local.nc, nc = HEAPS * part, n = nc * dim;
    size_t most = (size_t)n * (size_t)part * (size_t)dim;
    m->mu = calloc(3 * (size_t)nc, sizeof *m->mu);
    m->q = calloc((size_t)n, sizeof *m->q);
    m->x = calloc(most, sizeof *m->x);
    m->i = calloc(most, sizeof *m->i);
    m->p = calloc((size_t)n + 1, sizeof *m->p);
    m->nd = calloc((size_t)nc, sizeof *m->nd);
    assert_true(m->mu && m->q && m->x && m->i && m->p && m->nd);
    for (int j = 0, used = 0; j < n; j++) {
        int c = j / dim / HEAPS, h = j / dim % HEAPS;
        const perp_fcp *from = &m->heap[h]->local;
        m->q[j] = from->q[dim * c + j % dim];
        m->mu[j / dim] = from->mu[c];
        m->mu[nc + j / dim] = from->mu_spin ? from->mu_spin[c] : 0.0;
        m->mu[2 * nc + j / dim] = from->mu_roll ? from->mu_roll[c] : 0.0;
        m->nd[j / dim] = nd;
        for (int i = 0; i < part * dim; i++) {
            double x = pp_matrix_at(&from->W, i, dim * c + j % dim);
            if (x != 0.0) {
                m->i[used] = dim * (HEAPS * (i / dim) + h) + i % dim;
                m->x[used++] = x;
            }
        }
        m->p[j + 1] = used;
    }
    m->fcp = (perp_fcp){.nc = nc, .dim = dim, .mu = m->mu, .q = m->q};
    m->fcp.mu_spin = m->heap[0]->local.mu_spin ? m->mu + nc : NULL;
    m->fcp.mu_roll = m->heap[0]->local.mu_roll ? m->mu + (ptrdiff_t)2 * nc : NULL;
    m->fcp.nd = nd ? m->nd : NULL;
    m->fcp.W = perp_matrix_csc(n, n, m->p, m->i, m->x);
}

static void release(mixture *m)
{
    for (int h = 0; h < HEAPS; h++) {
        heap_destroy(m->heap[h]);
    }
    free(m->mu);
    free(m->q);
    free(m->x);
    free(m->i);
    free(m->p);
    free(m->nd);
}

static void heaps_are_solved(void **state)
{
    (void)state;
    FOR_SEEDS(seed, 20)
    {
        int dim = 2 + (int)(seed % 5), nd = seed % 3 == 0 && dim > 2 ? 6 : 0;
        mixture m;
        mix(&m, 8, dim, nd, seed);
        double *r = calloc((size_t)m.fcp.nc * (size_t)dim, sizeof *r);
        perp_comp_options options = perp_comp_options_default();
        perp_comp_info info;
        perp_fcp_residuals residuals;
        for (int warm = 0; warm < 2; warm++) {
            options.warm_start = warm == 1;
            CHECK(perp_fcp_solve(NULL, &m.fcp, &options, NULL, r, NULL, &info) == PERP_OK, seed);
            CHECK(perp_fcp_judge(&m.fcp, r, NULL, NULL, &residuals) == PERP_OK, seed);
            CHECK(residuals.plain <= 1e-8 && residuals.scaled <= 1e-8, seed);
            CHECK(info.residual <= 1e-8 && info.rungs >= 1 && info.solver, seed);
        }
        free(r);
        release(&m);
    }
}

static void allocations_fail(void **state)
{
    (void)state;
    mixture m;
    mix(&m, 8, 3, 0, 5);
    double *r = calloc((size_t)m.fcp.nc * 3, sizeof *r);
    for (int k = 1; k < 1000; k++) {
        fault f = {.fail_at = k};
        perp_env env = fault_env(&f);
        fault_hook(&f);
        perp_status status = perp_fcp_solve(NULL, &m.fcp, NULL, &env, r, NULL, NULL);
        fault_hook(NULL);
        assert_int_equal(f.live, 0);
        assert_int_equal(f.confused, 0);
        assert_int_equal(status, f.happened ? PERP_ERR_MEMORY : PERP_OK);
        if (!f.happened) {
            free(r);
            release(&m);
            return;
        }
    }
    fail();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(heaps_are_solved),
        cmocka_unit_test(allocations_fail),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
