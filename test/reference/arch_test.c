// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Dry-stone arches against limit analysis: the thickness over mean radius at which a thrust line still
// fits, by linear programming (no tension, |shear| <= mu N at each corner of each joint).
//
//   blocks   mu     weight of     stands from
//   20       0.8    wedges        0.10735
//   16       0.8    wedges        0.10708
//   16       0.8    ring pieces   0.107237
//   16       0.35   wedges        0.15326
//   16       0.35   ring pieces   0.151569
#include "support/arch.h"
#include "support/cmocka.h"

static const double H = 0.01;

static void stands(int blocks, double thickness, double mu, bool ring)
{
    arch a;
    arch_open(&a, blocks, thickness, mu, ring);
    arch_start(&a);
    plane_run(&a.p, H, 500);
    double moved = arch_moved(&a);
    if (!(moved < 1e-8)) {
        fail_msg("%d blocks, t/R = %g: moved %g m", blocks, thickness, moved);
    }
    assert_int_equal(a.p.inexact, 0);
    assert_false(a.p.unique);  // three times redundant, and corners share what friction carries
    arch_close(&a);
}

static void falls(int blocks, double thickness, double mu, bool ring)
{
    arch a;
    arch_open(&a, blocks, thickness, mu, ring);
    arch_start(&a);
    int step = 0;
    while (step < 500 && arch_moved(&a) < 0.2) {
        plane_step(&a.p, H);
        step++;
    }
    if (step == 500) {
        fail_msg("%d blocks, t/R = %g: moved %g m only", blocks, thickness, arch_moved(&a));
    }
    assert_int_equal(a.p.inexact, 0);
    arch_close(&a);
}

static void twenty_wedges(void **state)
{
    (void)state;
    stands(20, 0.109, 0.8, false);
    stands(20, 0.1075, 0.8, false);
    falls(20, 0.106, 0.8, false);
    falls(20, 0.1072, 0.8, false);
}

static void sixteen_wedges(void **state)
{
    (void)state;
    stands(16, 0.1072, 0.8, false);
    falls(16, 0.1069, 0.8, false);
    stands(16, 0.1074, 0.8, true);
    falls(16, 0.1071, 0.8, true);
}

// Too little friction: blocks slide out before hinges open.
static void sliding_decides(void **state)
{
    (void)state;
    stands(16, 0.1535, 0.35, false);
    falls(16, 0.1530, 0.35, false);
    stands(16, 0.1518, 0.35, true);
    falls(16, 0.1513, 0.35, true);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(twenty_wedges),
        cmocka_unit_test(sixteen_wedges),
        cmocka_unit_test(sliding_decides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
