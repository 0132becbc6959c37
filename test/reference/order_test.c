// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Order of convergence of Berard's examples in the step size, and Trinkle's planar particle of 2018.
#include "support/berard.h"
#include "support/cmocka.h"

#include <math.h>

static const double G = 9.81;

enum { NQ_MOST = 9, LEVELS = 5 };

// Positions of an example at t = 1 s with the step 4 ms / 2^level.
static int positions(int example, int level, double *q)
{
    berard b;
    int nq, parts = 250 << level;
    berard_open(&b, example);
    berard_start(&b);
    plane_run(&b.p, 1.0 / parts, parts);
    perp_sim_state_size(b.p.sim, &nq, NULL);
    assert_int_equal(perp_sim_state_get(b.p.sim, NULL, q, NULL), PERP_OK);
    berard_close(&b);
    return nq;
}

static double distance(int n, const double *a, const double *b)
{
    double worst = 0.0;
    for (int i = 0; i < n; i++) {
        worst = fmax(worst, fabs(a[i] - b[i]));
    }
    return worst;
}

// Differences of neighbouring step sizes halve: first order, friction and impacts included.
static void first_order(void **state)
{
    (void)state;
    for (int example = 1; example <= 6; example++) {
        double q[LEVELS][NQ_MOST], change[LEVELS] = {0.0};
        int nq = 0;
        for (int level = 0; level < LEVELS; level++) {
            nq = positions(example, level, q[level]);
            if (level > 0) {
                change[level] = distance(nq, q[level], q[level - 1]);
            }
        }
        print_message("4.%d  %.2e  %.2e  %.2e  %.2e  order %.2f\n", example, change[1], change[2],
                      change[3], change[4], log2(change[3] / change[4]));
        double whole = change[1] / change[LEVELS - 1];  // over three halvings
        assert_true(whole > 4.0 && whole < 16.0);
    }
}

// Example 4.1 against the accurate double pendulum: its angles at 1 s, error of the scheme for each h.
static void double_pendulum_errors(void **state)
{
    (void)state;
    static const double want[3] = {0.004882572347820524, 0.0025373435373761133,
                                   0.0012912977083470167};
    for (int level = 0; level < 3; level++) {
        double q[NQ_MOST];
        positions(1, level, q);
        double error = fmax(fabs(q[2] + 2.884502859407599), fabs(q[5] + 2.3984572725816133));
        assert_true(fabs(error - want[level]) < 1e-8);
    }
}

// ── The particle ─────────────────────────────────────────────────────────────────────────────────

// One step to the right: unknowns (v, p_n, p_f along +t and -t, sigma), the answer known in closed form.
static void particle_in_one_step(void **state)
{
    (void)state;
    static const double v0[] = {1.0, -1.0, 0.0};
    double mu = 0.3, h = 0.01, m = 2.0;
    for (int i = 0; i < 3; i++) {
        plane p = {0};
        perp_step_problem *problem;
        plane_open(&p);
        perp_builder_set_listed_only(p.builder, true);
        perp_shape floor = plane_halfplane(&p, PLANE_GROUND, 0.0, 0.0, 0.0, 0.0);
        perp_body_def def = plane_particle(m, 0.0, 0.0);
        def.velocity_W.x = v0[i];
        plane_contact(&p, floor, plane_point(&p, perp_builder_add_body(p.builder, &def), 0.0, 0.0),
                      mu);
        p.def.form = PERP_FORM_MCP;
        plane_start(&p);
        plane_step(&p, h);
        assert_int_equal(perp_sim_problem(p.sim, PERP_FORM_MCP, &problem), PERP_OK);
        assert_int_equal(problem->mcp.n, 6);
        double slip = v0[i] == 0.0 ? 0.0 : 1.0, pn = m * G * h, pf = mu * pn * slip;
        double v = v0[i] - copysign(slip * mu * G * h, v0[i]);
        const double want[6] = {v,      0.0, pn, v0[i] < 0.0 ? pf : 0.0, v0[i] > 0.0 ? pf : 0.0,
                                fabs(v)};
        for (int k = 0; k < 6; k++) {
            assert_true(fabs(problem->z[k] - want[k]) < 1e-14);
            assert_true(fabs(problem->z[k] * problem->w[k]) < 1e-14);
        }
        perp_step_problem_destroy(problem);
        plane_close(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_order),
        cmocka_unit_test(double_pendulum_errors),
        cmocka_unit_test(particle_in_one_step),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
