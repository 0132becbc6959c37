// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Machines that nothing drives or damps, integrated between events for 10 s:
// kinetic and potential energy together change by less than 1e-9 of the largest
// kinetic energy.
#include "support/cmocka.h"
#include "support/shot.h"

typedef struct machine {
    const char *scene;
    double until;  // [s]
} machine;

// Ten rods keep it for 10 s as well, which takes as long as all others
// together.
static const machine machines[] = {
    {"pendulum", 10.0},         {"rod-pendulum", 10.0}, {"berard-4.1", 10.0},
    {"pendulum-5", 10.0},       {"pendulum-10", 3.0},   {"four-bar", 10.0},
    {"four-bar-spatial", 10.0}, {"windows-2", 10.0},    {"slider-crank-free", 10.0},
    {"tedrake-arm", 10.0},      {"bricard", 10.0},      {"heavy-top", 10.0},
    {"lagrange-top", 10.0},     {"dzhanibekov", 10.0},  {"tedrake-rolling", 10.0},
};

static void energy_is_kept(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof machines / sizeof machines[0]; i++) {
        shot s;
        shot_open(&s, machines[i].scene);
        s.def.stepper = PERP_STEPPER_EVENT;
        s.h = 0.05;
        shot_start(&s);
        shot_run(&s, machines[i].until);
        print_message("%-18s %.1e\n", machines[i].scene, s.energy_off / s.energy_scale);
        if (!(s.energy_off <= 1e-9 * s.energy_scale)) {
            fail_msg("%s: energy is off by %.3g of %.3g J", machines[i].scene, s.energy_off,
                     s.energy_scale);
        }
        shot_close(&s);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(energy_is_kept)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
