// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The middle of a step of moreau-jean where going round does not find it: heavy loads on light links, steps
// in which these turn far.
#include "support/cmocka.h"
#include "support/space.h"

#include <math.h>

// The chain is taut after 39 steps, where links whip round and the closing of their joints creates more energy than it may (K5).
enum { LINKS = 4, STEPS = 38 };

// Links of 1 kg and 0.1 m along x, the last of them `ratio` times as heavy and pushed across; hinges or balls.
static void hang(plane *p, double ratio, perp_joint_kind kind)
{
    const double length = 0.1;
    perp_body before = PLANE_GROUND;
    perp_builder_set_gravity(p->builder, (perp_vec3){0.0, 0.0, -9.81});
    for (int k = 0; k < LINKS; k++) {
        double mass = k == LINKS - 1 ? ratio : 1.0, turning = mass * length * length / 12.0;
        perp_body_def def = space_body(mass, (perp_vec3){0.1 * turning, turning, turning},
                                       (perp_vec3){length * (k + 0.5), 0.0, 0.0});
        def.velocity_W = (perp_vec3){k == LINKS - 1 ? -0.5 : 0.0, 0.0, k == LINKS - 1 ? -0.4 : 0.0};
        perp_body link = perp_builder_add_body(p->builder, &def);
        perp_joint_def joint =
            space_joint(kind, before, (perp_vec3){k ? 0.5 * length : 0.0, 0, 0}, link,
                        (perp_vec3){-0.5 * length, 0.0, 0.0}, (perp_vec3){0.0, 1.0, 0.0});
        perp_builder_add_joint(p->builder, &joint);
        before = link;
    }
}

static void heavy_loads_on_light_links(void **state)
{
    (void)state;
    const double ratios[] = {1e2, 1e3, 1e4, 1e5};
    const perp_joint_kind kinds[] = {PERP_JOINT_REVOLUTE, PERP_JOINT_SPHERICAL};
    for (int k = 0; k < 8; k++) {
        plane p = {0};
        plane_open(&p);
        p.def.stepper = PERP_STEPPER_MOREAU_JEAN;
        p.def.start = PERP_START_AS_GIVEN;  // rates that the joints do not allow make it harder
        hang(&p, ratios[k / 2], kinds[k % 2]);
        plane_start(&p);
        plane_run(&p, 0.004, STEPS);
        assert_int_equal(p.inexact, 0);
        plane_close(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(heavy_loads_on_light_links)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
