// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Impacts without friction: stacks of faces with more contact points than degrees of freedom.
// Impulses exist wherever some motion satisfies all laws, and the active-set method has to find
// them.
#include "support/cmocka.h"
#include "support/random.h"

#include "hybrid/law.h"

#include <math.h>
#include <string.h>

enum { POINTS = 8, LEVELS = 3, DOF = 3 * LEVELS + 1, ROWS = POINTS * LEVELS + 1 };

// Bodies on each other, each with three degrees of freedom (up, and turning about two axes), that
// meet in POINTS points; one more body, which nothing joins with them, hits a wall.
typedef struct stack {
    double J[DOF][ROWS], A[ROWS * ROWS], b[ROWS];
    pp_law law[ROWS];
    pp_laws laws;
} stack;

static void add_side(stack *s, int level, int row, double sign, double x, double y)
{
    if (level >= 0) {
        s->J[3 * level][row] = sign;
        s->J[3 * level + 1][row] = sign * y;
        s->J[3 * level + 2][row] = -sign * x;
    }
}

static void make_stack(rng *r, stack *s)
{
    double mass[DOF];
    memset(s, 0, sizeof *s);
    for (int k = 0; k < DOF; k++) {
        mass[k] = rng_uniform(r, 0.2, 2.0);
    }
    for (int i = 0; i < LEVELS * POINTS; i++) {
        double x = rng_uniform(r, -0.5, 0.5), y = rng_uniform(r, -0.5, 0.5);
        add_side(s, i / POINTS, i, 1.0, x, y);
        add_side(s, i / POINTS - 1, i, -1.0, x, y);
    }
    s->J[DOF - 1][ROWS - 1] = 1.0;
    for (int i = 0; i < ROWS; i++) {
        s->law[i] = (pp_law){.kind = PP_LAW_CONTACT, .at = i, .size = 1, .on = i};
        for (int j = 0; j < ROWS; j++) {
            for (int k = 0; k < DOF; k++) {
                s->A[i + j * ROWS] += s->J[k][i] * s->J[k][j] / mass[k];
            }
        }
    }
    s->laws = (pp_laws){
        .count = ROWS, .rows = ROWS, .law = s->law, .A = s->A, .b = s->b, .tolerance = 1e-10};
}

// b = J v
static void set_rates(stack *s, const double v[DOF])
{
    for (int i = 0; i < ROWS; i++) {
        s->b[i] = 0.0;
        for (int k = 0; k < DOF; k++) {
            s->b[i] += s->J[k][i] * v[k];
        }
    }
}

static void assert_solved(stack *s, pp_arena *arena)
{
    double r[ROWS], u[ROWS];
    pp_law_info info;
    assert_int_equal(pp_law_solve(&s->laws, r, &info, NULL, arena), PERP_OK);
    pp_law_rates(&s->laws, r, u);
    for (int i = 0; i < ROWS; i++) {
        assert_true(r[i] >= -1e-10);
        assert_true(u[i] >= -1e-10);
        assert_true(fabs(r[i] * u[i]) <= 1e-10);
    }
}

static void test_random_impacts(void **state)
{
    (void)state;
    rng r = rng_seed(rng_test_seed(1));
    pp_arena *arena = pp_arena_create(NULL);
    assert_non_null(arena);
    for (int run = 0; run < 300; run++) {
        stack s;
        double v[DOF];
        make_stack(&r, &s);
        for (int k = 0; k < DOF; k++) {
            v[k] = rng_normal(&r);
        }
        set_rates(&s, v);
        assert_solved(&s, arena);
    }
    pp_arena_destroy(arena);
}

// The stack is at rest up to rounding, far below the speed of the body that hits the wall.
static void test_impact_beside_a_stack(void **state)
{
    (void)state;
    rng r = rng_seed(rng_test_seed(2));
    pp_arena *arena = pp_arena_create(NULL);
    assert_non_null(arena);
    for (int run = 0; run < 300; run++) {
        stack s;
        double v[DOF] = {0.0};
        make_stack(&r, &s);
        v[DOF - 1] = -3.8;
        set_rates(&s, v);
        for (int i = 0; i < ROWS - 1; i++) {
            s.b[i] = 1e-15 * rng_normal(&r);
        }
        s.b[ROWS - 2] = -4.8e-14;
        assert_solved(&s, arena);
    }
    pp_arena_destroy(arena);
}

// A body between two walls that it touches: it cannot leave one without entering the other, so
// restitution at one of them has no solution, and none is claimed.
static void test_contradiction(void **state)
{
    (void)state;
    const double A[4] = {1.0, -1.0, -1.0, 1.0}, b[2] = {-1.5, 1.0};
    pp_law law[2] = {{.kind = PP_LAW_CONTACT, .at = 0, .size = 1},
                     {.kind = PP_LAW_CONTACT, .at = 1, .size = 1, .on = 1}};
    pp_laws laws = {.count = 2, .rows = 2, .law = law, .A = A, .b = b, .tolerance = 1e-10};
    pp_arena *arena = pp_arena_create(NULL);
    double r[2];
    assert_non_null(arena);
    assert_int_equal(pp_law_convex(&laws, r, arena), PERP_ERR_INFEASIBLE);
    pp_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_random_impacts),
        cmocka_unit_test(test_impact_beside_a_stack),
        cmocka_unit_test(test_contradiction),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
