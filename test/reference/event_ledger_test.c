// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The energy ledger: motors at their largest effort, dampers, dry friction, gears, driven bodies and springs are booked
// the same way by all steppers, in both coordinates. Between events work, losses and the energies of the bodies are found independently of
// each other, and close to 1e-9 of what went to and fro.
#include "support/cmocka.h"

#include <perp/io.h>

#include <math.h>
#include <string.h>

// On a sledge that is moved to and fro: a wheel with a motor that cannot keep its rate, geared to another one, on
// which a damped pendulum hangs with a spring; a spring with a damper from the ground; dry friction.
static const char MACHINE[] =
    "{'name': 'ledger', 'gravity': [0, -9.81], 'bodies': ["
    "{'name': 'sledge', 'drive': {'x': '0.2*(1-cos(3*t))', 'y': '0', 'angle': '0.3*(1-cos(2*t))'}},"
    "{'name': 'wheel', 'position': [0, 0], 'mass': 1, 'inertia': 0.02},"
    "{'name': 'slow', 'position': [0.3, 0], 'mass': 2, 'inertia': 0.08},"
    "{'name': 'rod', 'position': [0.4, -0.25], 'mass': 0.5, 'inertia': 0.01}],"
    "'joints': ["
    "{'name': 'motor', 'kind': 'revolute', 'a': 'sledge', 'b': 'wheel', 'anchor_a': [0, 0],"
    " 'anchor_b': [0, 0], 'rate': '30', 'rate_effort': 0.4},"
    "{'name': 'shaft', 'kind': 'revolute', 'a': 'sledge', 'b': 'slow', 'anchor_a': [0.3, 0],"
    " 'anchor_b': [0, 0], 'friction': 0.05},"
    "{'name': 'gear', 'kind': 'gear', 'joint_a': 'motor', 'joint_b': 'shaft', 'ratio': 0.5},"
    "{'name': 'pin', 'kind': 'revolute', 'a': 'slow', 'b': 'rod', 'at': [0.4, 0],"
    " 'stiffness': 0.3, 'damping': 0.05}],"
    "'forces': [{'kind': 'spring', 'b': 'rod', 'anchor_a': [0.8, 0.3], 'anchor_b': [0, -0.1],"
    " 'stiffness': 20, 'damping': 0.6, 'rest': 0.4},"
    "{'kind': 'force', 'body': 'rod', 'fx': '0.5*cos(5*t)'}]}";

// A ring of three rods that hangs from a driven body: the joint that closes it has a spring and a damper.
static const char RING[] =
    "{'name': 'ring', 'gravity': [0, -9.81], 'bodies': ["
    "{'name': 'hand', 'drive': {'x': '0.1*(1-cos(4*t))', 'y': '0.2*t^2', 'angle': '0'}},"
    "{'name': 'left', 'position': [-0.1, -0.2], 'mass': 1, 'inertia': 0.01},"
    "{'name': 'right', 'position': [0.2, -0.2], 'mass': 1.5, 'inertia': 0.01},"
    "{'name': 'low', 'position': [0.0, -0.4], 'mass': 0.7, 'inertia': 0.01}],"
    "'joints': ["
    "{'name': 'one', 'kind': 'revolute', 'a': 'hand', 'b': 'left', 'anchor_a': [-0.1, 0],"
    " 'anchor_b': [0, 0.2]},"
    "{'name': 'two', 'kind': 'revolute', 'a': 'left', 'b': 'low', 'at': [-0.1, -0.4],"
    " 'stiffness': 2, 'damping': 0.1},"
    "{'name': 'three', 'kind': 'revolute', 'a': 'low', 'b': 'right', 'at': [0.2, -0.4],"
    " 'stiffness': 4, 'damping': 0.2},"
    "{'name': 'four', 'kind': 'revolute', 'a': 'hand', 'b': 'right', 'anchor_a': [0.25, 0],"
    " 'anchor_b': [0.05, 0.2], 'stiffness': 3, 'damping': 0.1, 'rest': 0.2}]}";

// One kind of element at a time, on a pendulum: what acts, and what its work and its losses are compared with, is the same
// in every stepper.
#define PENDULUM(name, drive, more)                                                                \
    "{'name': '" name "', 'gravity': [0, -9.81], 'bodies': [" drive                                \
    "{'name': 'rod', 'position': [0.25, 0], 'mass': 1, 'inertia': 0.02, 'velocity': [0, 0.75], "   \
    "'spin': 3}], "                                                                                \
    "'joints': [" more "]}"
#define PIN "{'name': 'pin', 'kind': 'revolute', 'b': 'rod', 'at': [0, 0]"

static const char *const SINGLE[][2] = {
    {"motor at its effort", PENDULUM("motor", "", PIN ", 'rate': '20', 'rate_effort': 1.5}")},
    {"motor that keeps its rate", PENDULUM("rate", "", PIN ", 'rate': '3+2*sin(5*t)'}")},
    {"motor against the motion", PENDULUM("brake", "", PIN ", 'rate': '-20', 'rate_effort': 1.5}")},
    {"target", PENDULUM("target", "", PIN ", 'target': '3*t+0.3*t^2'}")},
    {"joint damper", PENDULUM("damper", "", PIN ", 'damping': 0.4}")},
    {"joint spring", PENDULUM("spring", "", PIN ", 'stiffness': 8, 'rest': 0.3, 'damping': 0.2}")},
    {"dry friction", PENDULUM("dry", "", PIN ", 'friction': 0.4}")},
    {"rotor", PENDULUM("rotor", "", PIN ", 'armature': 0.1, 'damping': 0.1}")},
    {"driven hand", PENDULUM("hand",
                             "{'name': 'hand', 'drive': {'x': '0.2*(1-cos(6*t))', 'y': "
                             "'0.1*(1-cos(4*t))', 'angle': 't'}}, ",
                             "{'name': 'pin', 'kind': 'revolute', 'a': 'hand', 'b': 'rod', "
                             "'anchor_a': [0, 0], 'anchor_b': [-0.25, 0], 'damping': 0.3}")},
    {"driven crank with dry friction",
     PENDULUM("crank", "{'name': 'hand', 'drive': {'x': '0', 'y': '0', 'angle': '8*t'}}, ",
              "{'name': 'pin', 'kind': 'revolute', 'a': 'hand', 'b': 'rod', 'anchor_a': [0, 0], "
              "'anchor_b': [-0.25, 0], 'friction': 0.4}")},
    {"gear",
     PENDULUM(
         "gear",
         "{'name': 'wheel', 'position': [1, 0], 'mass': 2, 'inertia': 0.05, 'spin': -1.5}, ",
         PIN
         "}, {'name': 'shaft', 'kind': 'revolute', 'b': 'wheel', 'at': [1, 0], 'damping': 0.05}, "
         "{'name': 'mesh', 'kind': 'gear', 'joint_a': 'pin', 'joint_b': 'shaft', 'ratio': 0.5}")},
};

typedef struct book {
    double work, lost, kinetic, potential;  // [J]
    double exchanged;                       // sizes of what went to and fro [J]
    double astray;                          // worst of a step [J]
    double momentum;                        // worst share of its limit
} book;

static book run(const char *text, perp_stepper stepper, perp_coordinates coordinates, double h,
                double until)
{
    perp_scene *scene = NULL;
    perp_error error = {0};
    perp_sim *sim = NULL;
    book out = {0};
    char json[4096];
    size_t n = strlen(text);
    assert_true(n < sizeof json);
    for (size_t i = 0; i < n; i++) {
        json[i] = (char)(text[i] == '\'' ? '"' : text[i]);
    }
    if (perp_scene_parse("ledger", json, n, NULL, &scene, &error) < 0) {
        fail_msg("%s", error.text);
    }
    perp_sim_def def = perp_scene_sim_def(scene);
    def.stepper = stepper;
    def.coordinates = coordinates;
    assert_int_equal(perp_sim_create(perp_scene_model(scene), &def, NULL, &sim, &error), PERP_OK);
    int steps = (int)floor(until / h + 0.5);
    for (int i = 0; i < steps; i++) {
        perp_status status = perp_sim_step(sim, h);
        const perp_step_info *info = perp_sim_info(sim);
        if (status < 0 || (stepper == PERP_STEPPER_EVENT && status != PERP_OK)) {
            fail_msg("%s: step %d: %d %s", perp_stepper_word((int)stepper), i, (int)status,
                     info->remark);
        }
        out.work += info->energy.work;
        out.lost += info->energy.dissipated;
        out.exchanged += fabs(info->energy.work) + fabs(info->energy.dissipated);
        out.astray = fmax(out.astray, info->certificate.energy_created);
        out.momentum = fmax(out.momentum, info->certificate.relative[PERP_JUDGED_MOMENTUM]);
        out.kinetic = info->energy.kinetic;
        out.potential = info->energy.potential;
    }
    perp_sim_destroy(sim);
    perp_scene_destroy(scene);
    return out;
}

static double apart(const book *a, const book *b)
{
    return fabs(a->work - b->work) + fabs(a->lost - b->lost) + fabs(a->kinetic - b->kinetic) +
           fabs(a->potential - b->potential);
}

static void closes(const char *name, const char *text)
{
    book e = run(text, PERP_STEPPER_EVENT, PERP_COORDINATES_AUTO, 0.01, 0.5);
    print_message("%s: event work %.9f lost %.9f T %.9f V %.9f, astray %.1e of %.2f J\n", name,
                  e.work, e.lost, e.kinetic, e.potential, e.astray, e.exchanged);
    double size = e.exchanged + fabs(e.kinetic) + fabs(e.potential);
    assert_true(e.astray <= 1e-9 * size);
    assert_true(e.momentum <= 1.0);
    const perp_stepper with[] = {PERP_STEPPER_STEWART_TRINKLE, PERP_STEPPER_ANITESCU_POTRA,
                                 PERP_STEPPER_MOREAU_JEAN, PERP_STEPPER_IMPLICIT};
    for (int k = 0; k < 8; k++) {
        double before = 0.0;
        perp_coordinates in = k % 2 ? PERP_COORDINATES_JOINT : PERP_COORDINATES_BODY;
        if (k % 2 && with[k / 2] == PERP_STEPPER_MOREAU_JEAN) {
            continue;  // in body coordinates only
        }
        for (int i = 0; i < 3; i++) {
            double h = 0.0005 / (1 << i);
            book s = run(text, with[k / 2], in, h, 0.5);
            double off = apart(&s, &e);
            print_message("  %s, %s, h %g: work %.6f lost %.6f T %.6f V %.6f, off %.2e\n",
                          perp_stepper_word((int)with[k / 2]), k % 2 ? "joint" : "body", h, s.work,
                          s.lost, s.kinetic, s.potential, off);
            // dry friction stops at a time that steps do not have: no order there
            assert_true(i == 0 || off < 0.6 * before || off < 5e-4 * size);
            assert_true(off < 0.05 * size);
            before = off;
        }
    }
}

static void all_steppers_book_alike(void **state)
{
    (void)state;
    closes("machine", MACHINE);
}

// Joint springs of loops push bodies that are not next to them: their momentum was found off.
static void springs_of_loops_are_booked(void **state)
{
    (void)state;
    closes("ring", RING);
}

static void each_element_is_booked(void **state)
{
    (void)state;
    for (size_t k = 0; k < sizeof SINGLE / sizeof *SINGLE; k++) {
        closes(SINGLE[k][0], SINGLE[k][1]);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_steppers_book_alike),
        cmocka_unit_test(springs_of_loops_are_booked),
        cmocka_unit_test(each_element_is_booked),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
