// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Box friction whose boxes agree with the answer: random problems, real contact data, wrong input, and
// a judge that rejects answers whose boxes were frozen.
#include "comp/comp.h"
#include "support/cmocka.h"
#include "support/data.h"
#include "support/random.h"

#include <perp/problem.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

typedef struct contacts {
    perp_box_friction box;
    double *A, *b, *mu, *z;
    int *findex;
} contacts;

// nc contacts of (n, t, o), all zero but findex.
static contacts create(int nc, double mu)
{
    size_t n = 3 * (size_t)nc;
    contacts c = {.A = calloc(n * n, sizeof(double)),
                  .b = calloc(n, sizeof(double)),
                  .mu = calloc(n, sizeof(double)),
                  .z = calloc(n, sizeof(double)),
                  .findex = calloc(n, sizeof(int))};
    assert_true(c.A && c.b && c.mu && c.z && c.findex);
    for (int i = 0; i < (int)n; i++) {
        c.findex[i] = i % 3 == 0 ? -1 : i - i % 3;
        c.mu[i] = mu;
    }
    c.box = (perp_box_friction){.n = (int)n,
                                .A = perp_matrix_dense((int)n, (int)n, c.A),
                                .b = c.b,
                                .findex = c.findex,
                                .mu = c.mu};
    return c;
}

static void destroy(contacts *c)
{
    free(c->A), free(c->b), free(c->mu), free(c->z), free(c->findex);
}

// W = B B' of the given rank: contacts of few bodies are redundant
static contacts random_contacts(int nc, int rank, double mu, rng *r)
{
    contacts c = create(nc, mu);
    int n = c.box.n;
    double *B = calloc((size_t)n * (size_t)rank, sizeof *B), *v = calloc((size_t)rank, sizeof *v);
    for (int k = 0; k < n * rank; k++) {
        B[k] = rng_normal(r);
    }
    for (int k = 0; k < rank; k++) {
        v[k] = rng_normal(r);  // u = B v: a free velocity the forces can change
    }
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < rank; k++) {
            c.b[i] += B[i + k * n] * v[k];
            for (int j = 0; j < n; j++) {
                c.A[i + j * n] += B[i + k * n] * B[j + k * n];
            }
        }
    }
    free(B), free(v);
    return c;
}

static bool is_solution(const contacts *c, double tolerance)
{
    perp_mcp_residuals judged;
    return perp_box_friction_judge(&c->box, c->z, &judged) == PERP_OK &&
           judged.plain <= tolerance && judged.scaled <= tolerance;
}

static void random_contacts_are_solved(void **state)
{
    (void)state;
    FOR_SEEDS(seed, 200)
    {
        rng r = rng_seed(seed);
        int nc = 1 + rng_below(&r, 8), rank = 1 + rng_below(&r, 3 * nc);
        contacts c = random_contacts(nc, rank, rng_uniform(&r, 0.0, 1.0), &r);
        perp_comp_info info;
        perp_status status = perp_box_friction_solve(&c.box, NULL, NULL, c.z, &info);
        CHECK(status == PERP_OK, seed);
        CHECK(is_solution(&c, 1e-8), seed);
        destroy(&c);
    }
}

static void block_slides_and_sticks(void **state)
{
    (void)state;
    contacts c = create(1, 0.5);  // unit mass, u = r + b
    c.A[0] = c.A[4] = c.A[8] = 1.0;
    c.b[0] = -1.0, c.b[1] = 0.3, c.b[2] = -2.0;
    assert_int_equal(perp_box_friction_solve(&c.box, NULL, NULL, c.z, NULL), PERP_OK);
    assert_true(fabs(c.z[0] - 1.0) < 1e-12);  // holds the weight
    assert_true(fabs(c.z[1] + 0.3) < 1e-12);  // sticks
    assert_true(fabs(c.z[2] - 0.5) < 1e-12);  // slides at mu r_n
    c.b[0] = 1.0;                             // leaves
    assert_int_equal(perp_box_friction_solve(&c.box, NULL, NULL, c.z, NULL), PERP_OK);
    assert_true(fabs(c.z[0]) + fabs(c.z[1]) + fabs(c.z[2]) < 1e-12);
    destroy(&c);
}

static void frozen_boxes_are_no_solution(void **state)
{
    (void)state;
    int frozen_wrong = 0;
    FOR_SEEDS(seed, 20)  // what findex means in ODE: boxes from the frictionless normal forces
    {
        rng r = rng_seed(seed);
        contacts c = random_contacts(3, 9, 0.7, &r);
        double lower[9], upper[9];
        for (int i = 0; i < 9; i++) {
            lower[i] = 0.0;
            upper[i] = i % 3 == 0 ? PP_INF : 0.0;
        }
        perp_mcp mcp = {9, c.box.A, c.b, lower, upper};
        CHECK(perp_mcp_solve("pivot", &mcp, NULL, NULL, c.z, NULL) == PERP_OK, seed);
        for (int i = 0; i < 9; i++) {
            upper[i] = i % 3 == 0 ? PP_INF : 0.7 * c.z[i - i % 3];
            lower[i] = i % 3 == 0 ? 0.0 : -upper[i];
        }
        CHECK(perp_mcp_solve("pivot", &mcp, NULL, NULL, c.z, NULL) == PERP_OK, seed);
        frozen_wrong += !is_solution(&c, 1e-4);
        CHECK(perp_box_friction_solve(&c.box, NULL, NULL, c.z, NULL) == PERP_OK, seed);
        CHECK(is_solution(&c, 1e-8), seed);
        destroy(&c);
    }
    assert_true(frozen_wrong > 5);
}

static void wrong_input_is_told(void **state)
{
    (void)state;
    contacts c = create(2, 0.5);
    perp_comp_info info;
    c.findex[1] = 2;  // a row whose box depends on another
    assert_int_equal(perp_box_friction_solve(&c.box, NULL, NULL, c.z, &info), PERP_ERR_ARGUMENT);
    assert_non_null(strstr(info.error.text, "row 1"));
    c.findex[1] = 99;
    assert_int_equal(perp_box_friction_solve(&c.box, NULL, NULL, c.z, &info), PERP_ERR_ARGUMENT);
    c.findex[1] = 0;
    c.mu[1] = -1.0;
    assert_int_equal(perp_box_friction_solve(&c.box, NULL, NULL, c.z, &info), PERP_ERR_ARGUMENT);
    assert_int_equal(perp_box_friction_solve(NULL, NULL, NULL, c.z, &info), PERP_ERR_ARGUMENT);
    destroy(&c);
}

// Up to 200 rows, symmetric to rounding or not: all of them.
static void real_contacts_are_solved(void **state)
{
    (void)state;
    static const char *const names[] = {
        "Box_Stacks-i0035-31-0-local",
        "BoxesStack1-i100000-32",
        "Confeti-ex03-Fc3D-SBM",
        "Confeti-ex13-4contact-Fc3D-SBM",
        "CubeH8-local",
        "FC3D_Example1",
        "FC3D_Example1_SBM",
        "FrictionContact3D_1c",
        "GFC3D_Example0-local",
        "GFC3D_Example1-local",
        "NESpheres_10_1",
        "OneObject-i100000-316",
        "OneObject-i1028-138",
        "Rover1039",
        "Rover1040",
        "Rover3865",
        "Rover4493",
        "Rover9770",
        "contactbench_sliding_cube",
        "LMGC_GFC3D-i00001-1-00000-local",
    };
    for (size_t k = 0; k < sizeof names / sizeof names[0]; k++) {
        char relative[128], path[1024];
        snprintf(relative, sizeof relative, "problems/ncx/fc/%s.ncx", names[k]);
        if (!data_path(relative, path, sizeof path)) {
            skip();
        }
        perp_problem *problem = NULL;
        assert_int_equal(perp_problem_read(path, NULL, &problem, NULL), PERP_OK);
        const perp_fcp *fcp = perp_problem_fcp(problem);
        contacts c = create(fcp->nc, 0.0);
        pp_matrix_to_dense(&fcp->W, c.A, c.box.n);
        memcpy(c.b, fcp->q, (size_t)c.box.n * sizeof *c.b);
        for (int i = 0; i < c.box.n; i++) {
            c.mu[i] = fcp->mu[i / 3];
        }
        perp_status status = perp_box_friction_solve(&c.box, NULL, NULL, c.z, NULL);
        if (status != PERP_OK || !is_solution(&c, 1e-8)) {
            print_error("%s: %s\n", names[k], perp_status_text(status));
            fail();
        }
        destroy(&c), perp_problem_destroy(problem);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_contacts_are_solved),   cmocka_unit_test(block_slides_and_sticks),
        cmocka_unit_test(frozen_boxes_are_no_solution), cmocka_unit_test(wrong_input_is_told),
        cmocka_unit_test(real_contacts_are_solved),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
