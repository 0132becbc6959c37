// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// As h goes to 0 the time-steppers go to the motion that is integrated between
// located events: the largest distance of any coordinate at any of the times
// looked at, and the order at which it falls.
#include "support/cmocka.h"
#include "support/shot.h"

#include <math.h>
#include <string.h>

enum { NQ_MOST = 16, TIMES = 40, LEVELS = 5 };

typedef struct track {
    int nq;
    double q[TIMES][NQ_MOST];
} track;

typedef struct method {
    perp_stepper stepper;
    perp_coordinates coordinates;
} method;

static void follow(track *out, const char *scene, method how, double h, double until)
{
    shot s;
    shot_open(&s, scene);
    s.def.stepper = how.stepper;
    s.def.coordinates = how.coordinates;
    s.def.limits.gap = 1.0;  // no step is divided to keep overlaps small: the order is the scheme's
    s.h = h;
    shot_start(&s);
    perp_sim_state_size(s.sim, &out->nq, NULL);
    assert_true(out->nq <= NQ_MOST);
    for (int k = 0; k < TIMES; k++) {
        shot_run(&s, until * (k + 1) / TIMES);
        assert_int_equal(perp_sim_state_get(s.sim, NULL, out->q[k], NULL), PERP_OK);
    }
    shot_close(&s);
}

static double distance(const track *a, const track *b)
{
    double worst = 0.0;
    for (int k = 0; k < TIMES; k++) {
        for (int i = 0; i < a->nq; i++) {
            worst = fmax(worst, fabs(a->q[k][i] - b->q[k][i]));
        }
    }
    return worst;
}

typedef struct order_case {
    const char *scene;
    double until;  // TIMES steps of 4 ms 2^k, so that every level looks at the
                   // same times
    double most;   // allowed distance at the finest step
} order_case;

// until / TIMES is a multiple of 4 ms in all.
static const order_case cases[] = {
    {"tedrake-block-limit", 1.44, 1e-3}, {"ball-lands", 0.96, 2e-3}, {"block-stops", 0.96, 1e-3},
    {"rod-falls", 0.48, 5e-3},           {"berard-4.3", 0.96, 2e-3}, {"berard-4.6", 0.96, 1e-3},
};
enum { CASES = sizeof cases / sizeof cases[0] };

static void check_case(const order_case *c, method how)
{
    static track truth, t;  // large
    double d[LEVELS], h = 4e-3;
    follow(&truth, c->scene, (method){PERP_STEPPER_EVENT, PERP_COORDINATES_BODY}, 0.02, c->until);
    for (int level = 0; level < LEVELS; level++, h *= 0.5) {
        follow(&t, c->scene, how, h, c->until);
        d[level] = distance(&t, &truth);
    }
    double order = log2(d[0] / d[LEVELS - 1]) / (LEVELS - 1);
    print_message("| %s, %s, %s | %.2e | %.2e | %.2e | %.2e | %.2e | %.2f |\n", c->scene,
                  perp_stepper_word((int)how.stepper), perp_coordinates_word((int)how.coordinates),
                  d[0], d[1], d[2], d[3], d[4], order);
    assert_true(d[LEVELS - 1] <= c->most);
    assert_true(order > 0.75);
}

static void stewart_trinkle(void **state)
{
    (void)state;
    for (int i = 0; i < CASES; i++) {
        check_case(&cases[i], (method){PERP_STEPPER_STEWART_TRINKLE, PERP_COORDINATES_BODY});
    }
}

static void joint_coordinates(void **state)
{
    (void)state;
    for (int i = 0; i < CASES; i++) {
        check_case(&cases[i], (method){PERP_STEPPER_STEWART_TRINKLE, PERP_COORDINATES_JOINT});
    }
}

static void moreau_jean(void **state)
{
    (void)state;
    for (int i = 0; i < CASES; i++) {
        check_case(&cases[i], (method){PERP_STEPPER_MOREAU_JEAN, PERP_COORDINATES_BODY});
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stewart_trinkle),
        cmocka_unit_test(joint_coordinates),
        cmocka_unit_test(moreau_jean),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
