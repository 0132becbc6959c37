// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Trinkle's spatial examples against stored trajectories of an independent program (same scheme, same h),
// with polygons and with exact cones; the forms among each other; the sizes.
#include "support/cmocka.h"
#include "support/golden.h"
#include "support/trinkle.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { NQ_MOST = 21, NV_MOST = 18, CONTACTS_MOST = 10 };

static void compare(const char *what, int step, int count, const double *got, const double *want,
                    double tolerance)
{
    for (int i = 0; i < count; i++) {
        if (!(fabs(got[i] - want[i]) <= tolerance)) {
            fail_msg("step %d: %s[%d] = %.17g, should be %.17g, off by %.3g", step, what, i, got[i],
                     want[i], got[i] - want[i]);
        }
    }
}

// A quaternion and its negative are one rotation.
static void align(double *q, const double *want, int nq)
{
    for (int at = 3; at + 4 <= nq; at += 7) {
        double dot = 0.0;
        for (int i = at; i < at + 4; i++) {
            dot += q[i] * want[i];
        }
        for (int i = at; i < at + 4 && dot < 0.0; i++) {
            q[i] = -q[i];
        }
    }
}

// Impulse of all contacts on the first body, about its centre at the start of the step.
static void wrench_on_first(const trinkle *t, perp_vec3 centre, double out[6])
{
    int count;
    const perp_contact *c = perp_sim_contacts(t->p.sim, &count);
    perp_vec3 f = {0.0, 0.0, 0.0}, tau = {0.0, 0.0, 0.0};
    for (int i = 0; i < count; i++) {  // of the pushers' contacts the box is a, of the others b
        double sign = t->pusher.i >= 0 && i >= 8 ? -1.0 : 1.0;
        perp_vec3 p = space_scale(sign, space_add(space_scale(c[i].pn, c[i].normal_W), c[i].pf_W));
        f = space_add(f, p);
        tau = space_add(tau, space_cross(space_sub(c[i].point_W, centre), p));
    }
    const double wrench[6] = {f.x, f.y, f.z, tau.x, tau.y, tau.z};
    memcpy(out, wrench, sizeof wrench);
}

static void compare_row(const trinkle *t, const golden *g, int row, perp_vec3 centre)
{
    double q[NQ_MOST], v[NV_MOST], want[NQ_MOST], got[CONTACTS_MOST];
    int step = golden_step(g, row), nq, nv, contacts;
    const perp_contact *c = perp_sim_contacts(t->p.sim, &contacts);
    perp_sim_state_size(t->p.sim, &nq, &nv);
    assert_int_equal(perp_sim_state_get(t->p.sim, NULL, q, v), PERP_OK);
    assert_int_equal(golden_numbers(g, row, "q", want, NQ_MOST), nq);
    align(q, want, nq);
    compare("q", step, nq, q, want, g->tolerance);
    assert_int_equal(golden_numbers(g, row, "v", want, NQ_MOST), nv);
    compare("v", step, nv, v, want, g->tolerance);
    if (t->bodies == 1 && golden_numbers(g, row, "contact_impulse", want, NQ_MOST) == 6) {
        wrench_on_first(t, centre, got);
        compare("contact impulse", step, 6, got, want, g->tolerance);
    }
    int count = golden_numbers(g, row, "pn", want, NQ_MOST);
    if (count > 0 && golden_check(g, "max_normal_force_spread_N") < 1e-8) {
        assert_int_equal(count, contacts);
        for (int i = 0; i < count; i++) {
            got[i] = c[i].pn;
        }
        compare("p_n", step, count, got, want, g->tolerance);
    }
}

static void run_golden(trinkle_example example, perp_form form, bool cones, double tolerance)
{
    trinkle t;
    golden g;
    bool open = cones ? golden_open_cone(&g, trinkle_golden(example))
                      : golden_open(&g, trinkle_golden(example));
    if (!open) {
        print_message("no stored trajectories: skipped\n");
        skip();
    }
    g.tolerance = fmax(g.tolerance, tolerance);
    trinkle_open(&t, example, cones);
    t.p.def.form = form;
    t.p.def.tolerance = 1e-12;
    trinkle_start(&t);
    assert_true(t.h == g.h);
    int step = 0;
    for (int row = 1; row < golden_rows(&g) && golden_step(&g, row) <= g.until; row++) {
        perp_vec3 centre = {0.0, 0.0, 0.0};
        for (; step < golden_step(&g, row); step++) {
            centre = perp_sim_body_position(t.p.sim, t.body[0]);
            plane_step(&t.p, t.h);
        }
        compare_row(&t, &g, row, centre);
    }
    print_message("%s, form %s: residual %.1e momentum %.1e cone %.1e\n", trinkle_golden(example),
                  perp_form_word((int)form), t.p.worst.residual, t.p.worst.momentum,
                  t.p.worst.cone);
    assert_int_equal(t.p.inexact, 0);
    assert_true(t.p.worst.residual < 1e-9 && t.p.worst.momentum < 1e-9 && t.p.worst.cone < 1e-9);
    trinkle_close(&t);
    golden_close(&g);
}

static void both_forms(trinkle_example example)
{
    run_golden(example, PERP_FORM_MCP, false, 0.0);
    run_golden(example, PERP_FORM_LCP, false, 0.0);
    run_golden(example, PERP_FORM_AUTO, false, 0.0);
}

static void blimp(void **state)
{
    (void)state;
    both_forms(TRINKLE_BLIMP);
}

static void disc(void **state)
{
    (void)state;
    both_forms(TRINKLE_DISC_3);
}

static void pusher(void **state)
{
    (void)state;
    both_forms(TRINKLE_PUSHER);
}

static void robot(void **state)
{
    (void)state;
    both_forms(TRINKLE_ROBOT);
}

// Its equations say the same as the stored ones in other words, which shows in second order.
static void prismatic(void **state)
{
    (void)state;
    run_golden(TRINKLE_PRISMATIC, PERP_FORM_MCP, false, 1e-6);
    run_golden(TRINKLE_PRISMATIC, PERP_FORM_AUTO, false, 1e-6);
}

static void box(void **state)
{
    (void)state;
    both_forms(TRINKLE_BOX);
}

static void exact_cones(void **state)
{
    (void)state;
    run_golden(TRINKLE_BLIMP, PERP_FORM_CONE, true, 0.0);
    run_golden(TRINKLE_DISC_3, PERP_FORM_CONE, true, 0.0);
    run_golden(TRINKLE_PUSHER, PERP_FORM_CONE, true, 0.0);
    run_golden(TRINKLE_ROBOT, PERP_FORM_CONE, true, 0.0);
    run_golden(TRINKLE_BOX, PERP_FORM_CONE, true, 0.0);
}

// On eight points neither the load nor the motion is determined: what is known is where it ends.
static void disc_on_eight_points(void **state)
{
    (void)state;
    for (int cones = 0; cones < 2; cones++) {
        trinkle t;
        trinkle_open(&t, TRINKLE_DISC_8, cones == 1);
        t.p.def.tolerance = 1e-10;
        trinkle_start(&t);
        double stop = HUGE_VAL;
        for (int step = 1; step <= 100; step++) {
            plane_step(&t.p, t.h);
            perp_twist V = perp_sim_body_twist(t.p.sim, t.body[0]);
            double speed = space_length(V.v_W) + 0.2 * space_length(V.w_W);
            stop = speed < 1e-9 ? fmin(stop, step * t.h) : stop;
        }
        double x = perp_sim_body_position(t.p.sim, t.body[0]).x;
        print_message("eight points, cones %d: stops at %.3f s, x = %.4f m, residual %.1e\n", cones,
                      stop, x, t.p.worst.residual);
        assert_true(stop >= 0.55 && stop <= 0.70);
        assert_true(x >= 0.30 && x <= 0.40);
        assert_true(t.p.inexact == 0 && t.p.worst.residual < 1e-9 && !t.p.unique);
        trinkle_close(&t);
    }
}

// 6 n_b + bilateral rows + n_c (2 + n_d), and no row for the norm of a quaternion.
static void sizes_are_the_notes(void **state)
{
    (void)state;
    for (int example = 0; example < TRINKLE_COUNT; example++) {
        trinkle t;
        trinkle_open(&t, (trinkle_example)example, false);
        t.p.def.form = PERP_FORM_MCP;
        trinkle_start(&t);
        plane_step(&t.p, t.h);
        const perp_step_info *info = perp_sim_info(t.p.sim);
        perp_step_problem *problem = NULL;
        assert_int_equal(info->problem_size, trinkle_size((trinkle_example)example));
        assert_int_equal(perp_sim_problem(t.p.sim, PERP_FORM_MCP, &problem), PERP_OK);
        assert_int_equal(problem->n_nu, 6 * t.bodies);
        assert_int_equal(problem->n_nu + problem->n_b + problem->n_n + problem->n_f +
                             problem->n_sigma,
                         trinkle_size((trinkle_example)example));
        perp_step_problem_destroy(problem);
        trinkle_close(&t);
    }
}

// MCP and LCP are one problem: velocities agree to roundoff from the same state.
static void forms_agree(void **state)
{
    (void)state;
    static const int steps[] = {500, 100, 0, 120, 150, 300, 300, 100};
    for (int example = 0; example < TRINKLE_COUNT; example++) {
        trinkle m, l;
        double v[NV_MOST], w[NV_MOST], worst = 0.0;
        int nv;
        trinkle_open(&m, (trinkle_example)example, false);
        trinkle_open(&l, (trinkle_example)example, false);
        m.p.def.form = PERP_FORM_MCP;
        l.p.def.form = PERP_FORM_LCP;
        m.p.def.tolerance = l.p.def.tolerance = 1e-12;
        trinkle_start(&m);
        trinkle_start(&l);
        perp_sim_state_size(m.p.sim, NULL, &nv);
        for (int step = 0; step < steps[example]; step++) {
            size_t size = perp_sim_state_save_size(m.p.sim);  // with what sticking contacts hold
            void *block = malloc(size);
            assert_int_equal(perp_sim_state_save(m.p.sim, block, size), PERP_OK);
            assert_int_equal(perp_sim_state_restore(l.p.sim, block, size), PERP_OK);
            free(block);
            plane_step(&m.p, m.h);
            plane_step(&l.p, l.h);
            assert_int_equal(perp_sim_state_get(m.p.sim, NULL, NULL, v), PERP_OK);
            assert_int_equal(perp_sim_state_get(l.p.sim, NULL, NULL, w), PERP_OK);
            for (int i = 0; i < nv; i++) {
                worst = fmax(worst, fabs(v[i] - w[i]));
            }
        }
        print_message("%s: MCP and LCP differ by %.1e\n", trinkle_scene((trinkle_example)example),
                      worst);
        assert_true(worst < 1e-10);
        trinkle_close(&m);
        trinkle_close(&l);
    }
}

// Largest change of a position when the step is halved, from 4 to 2 ms and from 2 to 1 ms.
static void first_order(void **state)
{
    (void)state;
    static const trinkle_example examples[] = {TRINKLE_PRISMATIC, TRINKLE_BLIMP, TRINKLE_ROBOT};
    static const double until[] = {0.8, 2.0, 0.08};
    for (int k = 0; k < 3; k++) {
        perp_vec3 x[3][2];
        for (int level = 0; level < 3; level++) {
            trinkle t;
            double h = 0.004 / (1 << level);
            trinkle_open(&t, examples[k], false);
            trinkle_start(&t);
            plane_run(&t.p, h, (int)lround(until[k] / h));
            for (int i = 0; i < t.bodies; i++) {
                x[level][i] = perp_sim_body_position(t.p.sim, t.body[i]);
            }
            x[level][1] = t.bodies == 1 ? x[level][0] : x[level][1];
            trinkle_close(&t);
        }
        double first = 0.0, second = 0.0;
        for (int i = 0; i < 2; i++) {
            first = fmax(first, space_length(space_sub(x[0][i], x[1][i])));
            second = fmax(second, space_length(space_sub(x[1][i], x[2][i])));
        }
        print_message("%s: %.2e m, %.2e m, order %.2f\n", trinkle_scene(examples[k]), first, second,
                      log2(first / second));
        assert_true(log2(first / second) > 0.8 && log2(first / second) < 1.4);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blimp),
        cmocka_unit_test(disc),
        cmocka_unit_test(pusher),
        cmocka_unit_test(robot),
        cmocka_unit_test(prismatic),
        cmocka_unit_test(box),
        cmocka_unit_test(exact_cones),
        cmocka_unit_test(disc_on_eight_points),
        cmocka_unit_test(sizes_are_the_notes),
        cmocka_unit_test(forms_agree),
        cmocka_unit_test(first_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
