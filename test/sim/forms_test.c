// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Motors of limited effort and dry joint friction beside many contacts: the forms MCP, LCP and cone of the same step
// have the same answer, with the motor within its effort and at it, and the effort is the closed form's.
#include "support/cmocka.h"
#include "support/plane.h"

#include <math.h>

static const double G = 9.81;
enum { HIGH = 16, STEPS = 4 };

typedef struct outcome {
    double spin, drive, load;  // of the arm, of its motor over the last step, of the floor
} outcome;

// A stack of boxes, on the top one an arm with a motor. effort [N m]: what the motor can do; dry: friction of the
// hinge instead of a motor.
static outcome run_stack(perp_form form, double effort, bool dry, double h)
{
    plane p = {0};
    plane_open(&p);
    plane_halfplane(&p, PLANE_GROUND, 0.0, 0.0, 0.0, 0.6);
    perp_body top = PLANE_GROUND;
    for (int i = 0; i < HIGH; i++) {
        perp_body_def def = plane_body(2.0, 0.3, 0.0, 0.25 + 0.5 * i, 0.0);
        top = perp_builder_add_body(p.builder, &def);
        plane_box(&p, top, 0.5, 0.25, 0.6);
    }
    // the arm hangs level from the middle of the top box, its centre 0.2 m to the right
    perp_body_def def = plane_body(0.5, 0.02, 0.2, 0.5 * HIGH - 0.25, 0.0);
    perp_body arm = perp_builder_add_body(p.builder, &def);
    perp_joint_def hinge = perp_joint_default();
    hinge.a = top;
    hinge.b = arm;
    hinge.anchor_B.x = -0.2;
    if (dry) {
        hinge.friction = effort;
    } else {
        hinge.rate = "0";
        hinge.rate_effort = effort;
    }
    perp_joint joint = perp_builder_add_joint(p.builder, &hinge);
    p.def.form = form;
    plane_start(&p);
    plane_run(&p, h, STEPS);
    outcome out = {.spin = plane_spin(&p, arm), .drive = perp_sim_joint(p.sim, joint).drive};
    int count = 0;
    const perp_contact *c = perp_sim_contacts(p.sim, &count);
    for (int i = 0; i < count; i++) {
        out.load += c[i].a.i == 0 || c[i].b.i == 0 ? c[i].pn : 0.0;
    }
    assert_true(count > 2 * HIGH - 2);
    plane_close(&p);
    return out;
}

static void near(double got, double want, double tolerance, const char *what)
{
    if (!(fabs(got - want) <= tolerance)) {
        fail_msg("%s: %.12g, should be %.12g", what, got, want);
    }
}

// The arm needs m g l = 0.981 N m to stay level. With 2 N m the motor holds it; with 0.5 N m it pushes with all of
// it, and the arm turns with (0.5 - m g l) / (I + m l^2) in the first steps.
static void motors_in_every_form(void **state)
{
    (void)state;
    static const perp_form forms[] = {PERP_FORM_MCP, PERP_FORM_LCP, PERP_FORM_CONE, PERP_FORM_AUTO};
    const double h = 1e-3, need = 0.5 * G * 0.2, about = 0.02 + 0.5 * 0.2 * 0.2;
    for (int dry = 0; dry < 2; dry++) {
        for (int k = 0; k < 4; k++) {
            outcome strong = run_stack(forms[k], 2.0, dry, h);
            near(strong.spin, 0.0, 1e-9, "spin of the arm that is held");
            near(strong.drive, h * need, 1e-8, "drive that holds it");
            near(strong.load, h * G * (2.0 * HIGH + 0.5), 1e-7, "floor under it");
            outcome weak = run_stack(forms[k], 0.5, dry, h);
            near(weak.drive, h * 0.5, 1e-9, "drive at its limit");
            near(weak.spin, STEPS * h * (0.5 - need) / about, 1e-5, "spin of the arm that sinks");
        }
    }
}

// A leaning stack that slips at first, by the solver of this name.
static uint64_t hash_by(const char *solver)
{
    plane p = {0};
    plane_open(&p);
    plane_halfplane(&p, PLANE_GROUND, 0.0, 0.0, 0.1, 0.05);
    for (int i = 0; i < HIGH; i++) {
        perp_body_def def = plane_body(1.0 + 0.3 * i, 0.1, 0.03 * i, 0.26 + 0.51 * i, 0.0);
        perp_body box = perp_builder_add_body(p.builder, &def);
        plane_box(&p, box, 0.5, 0.25, 0.3);
    }
    p.def.solver = solver;
    plane_start(&p);
    plane_run(&p, 2e-3, 100);
    uint64_t hash = perp_sim_state_hash(p.sim);
    plane_close(&p);
    return hash;
}

// The solver named "auto" is the one of who names none: modes of the step before, not only the ladder for problems.
static void auto_by_its_name(void **state)
{
    (void)state;
    assert_true(hash_by(NULL) == hash_by("auto"));
    assert_true(hash_by(NULL) != hash_by("lemke"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(motors_in_every_form),
        cmocka_unit_test(auto_by_its_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
