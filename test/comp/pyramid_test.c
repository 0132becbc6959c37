// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The Stewart–Trinkle conversion: sizes, signs, and that what its solution recovers obeys the law of
// the polygon, told by code of this test alone.
#include "support/cmocka.h"
#include "support/families.h"
#include "support/truth.h"

#include <math.h>
#include <perp/comp.h>
#include <stdlib.h>
#include <string.h>

static double at(const perp_matrix *A, int i, int j)
{
    if (A->dense) {
        return A->dense[(size_t)j * (size_t)A->rows + (size_t)i];
    }
    for (int k = A->p[j]; k < A->p[j + 1]; k++) {
        if (A->i[k] == i) {
            return A->x[k];
        }
    }
    return 0.0;
}

// One contact, W = diag(1, 2, 3), four directions: the matrix written out.
static void one_contact_written_out(void **state)
{
    (void)state;
    const double W[9] = {1, 0, 0, 0, 2, 0, 0, 0, 3}, q[3] = {-1, 0.5, 0.25}, mu = 0.7;
    const double expected[6][6] = {
        {1, 0, 0, 0, 0, 0},   // normal
        {0, 2, 0, -2, 0, 1},  // +t
        {0, 0, 3, 0, -3, 1},  // +o
        {0, -2, 0, 2, 0, 1},  // -t
        {0, 0, -3, 0, 3, 1},  // -o
        {0.7, -1, -1, -1, -1, 0},
    };
    const double load[6] = {-1, 0.5, 0.25, -0.5, -0.25, 0};
    perp_fcp fcp = {.nc = 1, .dim = 3, .mu = &mu, .W = perp_matrix_dense(3, 3, W), .q = q};
    perp_pyramid *pyramid = NULL;
    assert_int_equal(perp_pyramid_create(&fcp, 4, NULL, &pyramid), PERP_OK);
    const perp_mcp *mcp = perp_pyramid_mcp(pyramid);
    assert_int_equal(mcp->n, 6);
    assert_int_equal(perp_pyramid_fcp(pyramid)->nd[0], 4);
    for (int i = 0; i < 6; i++) {
        assert_true(fabs(mcp->b[i] - load[i]) < 1e-15);
        for (int j = 0; j < 6; j++) {
            assert_true(fabs(at(&mcp->A, i, j) - expected[i][j]) < 1e-15);
        }
    }
    double r[3];
    perp_pyramid_recover(pyramid, (const double[]){5, 1, 2, 0.25, 0.5, 9}, r, NULL);
    assert_true(r[0] == 5.0 && fabs(r[1] - 0.75) < 1e-15 && fabs(r[2] - 1.5) < 1e-15);
    perp_pyramid_destroy(pyramid);
}

static void sizes(void **state)
{
    (void)state;
    const double mu[2] = {0.5, 0.5};
    const int nd[2] = {5, 0};
    static const double zeros[144];
    const int groups[7] = {0, 0, 1, 1, 2, 2, 3}, extra[7] = {0, 0, 2, 0, 2, 0, 2};
    const int discs[7] = {0, 0, 0, 1, 1, 2, 2};
    for (int dim = 2; dim <= 6; dim++) {
        int n = 2 * dim;
        perp_fcp fcp = {.nc = 2, .dim = dim, .mu = mu, .q = zeros};
        fcp.W = perp_matrix_dense(n, n, zeros);
        fcp.mu_spin = dim == 4 || dim == 6 ? mu : NULL;
        fcp.mu_roll = dim >= 5 ? mu : NULL;
        fcp.nd = dim > 2 ? nd : NULL;
        perp_pyramid *pyramid = NULL;
        assert_int_equal(perp_pyramid_create(&fcp, 8, NULL, &pyramid), PERP_OK);
        // normals, directions of discs (5 and 8), of segments (2 each), sigmas
        int expected = 2 + discs[dim] * (5 + 8) + 2 * extra[dim] + 2 * groups[dim];
        assert_int_equal(perp_pyramid_mcp(pyramid)->n, expected);
        perp_pyramid_destroy(pyramid);
    }
}

static void bad_arguments(void **state)
{
    (void)state;
    pile *p = family_pile(1, 3, 1.0, 0.5, (const double[]){0, 0, 0});
    perp_pyramid *pyramid = NULL;
    assert_int_equal(perp_pyramid_create(NULL, 4, NULL, &pyramid), PERP_ERR_ARGUMENT);
    assert_int_equal(perp_pyramid_create(&p->local, 2, NULL, &pyramid), PERP_ERR_ARGUMENT);
    assert_int_equal(perp_pyramid_create(&p->local, -1, NULL, &pyramid), PERP_ERR_ARGUMENT);
    assert_int_equal(perp_pyramid_create(&p->local, 4, NULL, NULL), PERP_ERR_ARGUMENT);
    perp_pyramid_destroy(NULL);
    pile_destroy(p);
}

// z of a solved pyramid: (u, r) of every contact must obey the polygon's law.
static double law(const perp_fcp *fcp, const double *r)
{
    int n = fcp->nc * fcp->dim;
    double worst = 0.0, *u = calloc((size_t)n, sizeof *u);
    for (int i = 0; i < n; i++) {
        u[i] = fcp->q[i];
        for (int j = 0; j < n; j++) {
            u[i] += at(&fcp->W, i, j) * r[j];
        }
    }
    double r_unit = 0.0, u_unit = 0.0;
    for (int i = 0; i < n; i++) {
        r_unit = fmax(r_unit, fabs(r[i]));
        u_unit = fmax(u_unit, fabs(fcp->q[i]));
    }
    for (int c = 0; c < fcp->nc; c++) {
        int k = c * fcp->dim;
        worst = fmax(worst, truth_contact(fcp, c, r + k, u + k, r_unit, u_unit));
    }
    free(u);
    return worst;
}

// Local (LCP) and global (MCP) form of the same pile: the same velocity, both by the law. The forces
// are not unique when contacts are redundant; velocities are.
static void local_and_global_agree(void **state)
{
    (void)state;
    const double pushes[3][3] = {{0, 0, 0}, {2.0, 0.5, 0}, {9.0, -3.0, 0}};
    for (int k = 0; k < 9; k++) {
        int boxes = 1 + k / 6, facets = k % 2 ? 4 : 6;
        pile *p = family_pile(boxes, 4, 10.0, 0.4, pushes[k % 3]);
        perp_pyramid *local = NULL, *global = NULL;
        assert_int_equal(perp_pyramid_create(&p->local, facets, NULL, &local), PERP_OK);
        assert_int_equal(perp_pyramid_create(&p->global, facets, NULL, &global), PERP_OK);
        const perp_mcp *lcp = perp_pyramid_mcp(local), *mcp = perp_pyramid_mcp(global);
        int nv = p->global.nv, n = 3 * p->local.nc;
        assert_int_equal(mcp->n, lcp->n + nv);
        double *z = calloc((size_t)mcp->n, sizeof *z), *r = calloc((size_t)n, sizeof *r);
        double *s = calloc((size_t)n, sizeof *s), *v = calloc((size_t)nv, sizeof *v);
        assert_true(perp_mcp_solve("lemke", lcp, NULL, NULL, z, NULL) >= 0);
        perp_pyramid_recover(local, z, r, NULL);
        assert_true(law(perp_pyramid_fcp(local), r) < 1e-9);
        assert_true(perp_mcp_solve("lemke", mcp, NULL, NULL, z, NULL) >= 0);
        perp_pyramid_recover(global, z, s, v);
        assert_true(law(perp_pyramid_fcp(local), s) < 1e-9);
        for (int i = 0; i < nv; i++) {  // M v = f + H r with M diagonal, for both
            double push = p->global.f[i];
            for (int j = 0; j < n; j++) {
                push += at(&p->global.H, i, j) * r[j];
            }
            assert_true(fabs(push / at(&p->global.M, i, i) - v[i]) < 1e-9);
        }
        free(z), free(r), free(s), free(v);
        perp_pyramid_destroy(local);
        perp_pyramid_destroy(global);
        pile_destroy(p);
    }
}

// A free fall of contacts that separate: everything is zero, and v = M^-1 f.
static void nothing_touches(void **state)
{
    (void)state;
    pile *p = family_pile(1, 4, 1.0, 0.5, (const double[]){0, 0, 50.0});
    perp_pyramid *global = NULL;
    assert_int_equal(perp_pyramid_create(&p->global, 4, NULL, &global), PERP_OK);
    const perp_mcp *mcp = perp_pyramid_mcp(global);
    double *z = calloc((size_t)mcp->n, sizeof *z);
    double r[12], v[6];
    assert_int_equal(perp_mcp_solve("lemke", mcp, NULL, NULL, z, NULL), PERP_OK);
    perp_pyramid_recover(global, z, r, v);
    for (int i = 0; i < 12; i++) {
        assert_true(r[i] == 0.0);
    }
    assert_true(fabs(v[2] - (50.0 - 9.81) * 0.01) < 1e-15);
    free(z);
    perp_pyramid_destroy(global);
    pile_destroy(p);
}

// perp_fcp_solve poses the pyramid itself when the law is polygonal, and refuses the disc.
static void solved_through_the_contact_door(void **state)
{
    (void)state;
    pile *p = family_pile(1, 4, 1.0, 0.4, (const double[]){3.0, 1.0, 0});
    double r[12];
    const int nd[4] = {4, 6, 8, 3};
    perp_comp_info info;
    assert_int_equal(perp_fcp_solve("lemke", &p->local, NULL, NULL, r, NULL, &info),
                     PERP_ERR_REFUSED);
    assert_true(strlen(info.error.text) > 10);
    p->local.nd = nd;
    assert_int_equal(perp_fcp_solve("lemke", &p->local, NULL, NULL, r, NULL, &info), PERP_OK);
    assert_true(law(&p->local, r) < 1e-9);
    pile_destroy(p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_contact_written_out),
        cmocka_unit_test(sizes),
        cmocka_unit_test(bad_arguments),
        cmocka_unit_test(local_and_global_agree),
        cmocka_unit_test(nothing_touches),
        cmocka_unit_test(solved_through_the_contact_door),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
