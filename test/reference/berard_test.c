// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Berard's examples 4.1 to 4.6 and the planar prismatic joint against stored trajectories of an
// independent program (same scheme, same h); the forms among each other; an impact with many answers.
#include "support/berard.h"
#include "support/cmocka.h"
#include "support/golden.h"

#include <math.h>
#include <string.h>

enum { NV_MOST = 9 };

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

// Impulse of all contacts on the block, about its centre at the start of the step.
static void block_wrench(const berard *b, perp_vec3 centre, double out[3])
{
    int count;
    const perp_contact *c = perp_sim_contacts(b->p.sim, &count);
    memset(out, 0, 3 * sizeof *out);
    for (int i = 0; i < count; i++) {  // the block is b of every contact
        double fx = c[i].pn * c[i].normal_W.x + c[i].pf_W.x;
        double fy = c[i].pn * c[i].normal_W.y + c[i].pf_W.y;
        out[0] += fx;
        out[1] += fy;
        out[2] += (c[i].point_W.x - centre.x) * fy - (c[i].point_W.y - centre.y) * fx;
    }
}

static void joint_impulses(const berard *b, double out[4])
{
    perp_wrench first = perp_sim_joint(b->p.sim, b->joint_a).impulse_b;
    perp_wrench second = perp_sim_joint(b->p.sim, b->joint_b).impulse_b;
    out[0] = first.f_W.x;
    out[1] = first.f_W.y;
    out[2] = second.f_W.x;
    out[3] = second.f_W.y;
}

static void compare_row(const berard *b, const golden *g, int row, perp_vec3 centre)
{
    double q[NV_MOST], v[NV_MOST], want[NV_MOST], got[NV_MOST];
    int step = golden_step(g, row), nv;
    perp_sim_state_size(b->p.sim, NULL, &nv);
    assert_int_equal(perp_sim_state_get(b->p.sim, NULL, q, v), PERP_OK);
    assert_int_equal(golden_numbers(g, row, "q", want, NV_MOST), nv);
    compare("q", step, nv, q, want, g->tolerance);
    golden_numbers(g, row, "v", want, NV_MOST);
    compare("v", step, nv, v, want, g->tolerance);
    joint_impulses(b, got);
    int count = golden_numbers(g, row, "pb", want, NV_MOST);
    compare("p_b", step, count, got, want, g->tolerance);
    if (golden_numbers(g, row, "contact_impulse", want, NV_MOST) > 0) {
        block_wrench(b, centre, got);
        compare("contact impulse", step, 3, got, want, g->tolerance);
    }
    if (golden_check(g, "max_normal_force_spread_N") < 1e-8) {
        int contacts;
        const perp_contact *c = perp_sim_contacts(b->p.sim, &contacts);
        count = golden_numbers(g, row, "pn", want, NV_MOST);
        assert_int_equal(count, contacts);
        for (int i = 0; i < count; i++) {
            got[i] = c[i].pn;
        }
        compare("p_n", step, count, got, want, g->tolerance);
    }
}

static void run_golden(int example, perp_form form)
{
    berard b;
    golden g;
    if (!golden_open(&g, berard_name(example))) {
        print_message("no stored trajectories: skipped\n");
        skip();
    }
    berard_open(&b, example);
    b.p.def.form = form;
    berard_start(&b);
    assert_true(b.h == g.h);
    int step = 0;
    for (int row = 1; row < golden_rows(&g) && golden_step(&g, row) <= g.until; row++) {
        perp_vec3 centre = {0.0, 0.0, 0.0};
        for (; step < golden_step(&g, row); step++) {
            centre = perp_sim_body_position(b.p.sim, b.block);
            plane_step(&b.p, b.h);
        }
        compare_row(&b, &g, row, centre);
    }
    assert_int_equal(b.p.inexact, 0);
    assert_true(b.p.worst.residual < 1e-9 && b.p.worst.momentum < 1e-9 && b.p.worst.cone < 1e-9);
    berard_close(&b);
    golden_close(&g);
}

static void stored_4_1(void **state)
{
    (void)state;
    run_golden(1, PERP_FORM_AUTO);
}

static void stored_4_2(void **state)
{
    (void)state;
    run_golden(2, PERP_FORM_AUTO);
    run_golden(2, PERP_FORM_MCP);
}

static void stored_4_3(void **state)
{
    (void)state;
    run_golden(3, PERP_FORM_AUTO);
    run_golden(3, PERP_FORM_MCP);
}

static void stored_4_4(void **state)
{
    (void)state;
    run_golden(4, PERP_FORM_AUTO);
    run_golden(4, PERP_FORM_MCP);
}

static void stored_4_5(void **state)
{
    (void)state;
    run_golden(5, PERP_FORM_AUTO);
    run_golden(5, PERP_FORM_MCP);
}

static void stored_4_6(void **state)
{
    (void)state;
    run_golden(6, PERP_FORM_AUTO);
    run_golden(6, PERP_FORM_MCP);
}

// Where each example ends after 1 s, so that nothing needs the files: q in the order of the bodies.
static void ends_where_it_should(void **state)
{
    (void)state;
    static const double last[7][NV_MOST] = {
        {0},
        {-0.48373259157, -0.1265094779, -2.8857941571, -1.2251455959, -0.48987516245,
         -2.3982781506},
        {0.83125072383, 0.25, 0, 0.34410907994, 0.23731549554, -2.9142731198, -0.49220979358,
         0.10061321235, -3.0729168882},
        {0.045096398986, 0.25, 0, -0.42731045327, 0.18617637971, -2.8077848673, -1.1514809441,
         -0.22078616614, -2.3736198055},
        {0.19, 0.25, 0, -0.2971392729, 0.23729399358, -2.914230179, -1.0362095525, -0.11837497022,
         -2.3743136594},
        {0.2, 0.25, 0, -0.27909825869, 0.20691247434, -2.8513656679, -0.96890115309, -0.21564873306,
         -2.216810252},
        {0.2, 0.25, 0, 0.11622879462, -0.038066921108, -1.8537958333, -0.15379325969,
         -0.75403268719}};
    for (int example = 1; example <= 6; example++) {
        berard b;
        double q[NV_MOST];
        int nq;
        berard_open(&b, example);
        berard_start(&b);
        plane_run(&b.p, b.h, example == 1 ? 1000 : 500);
        perp_sim_state_size(b.p.sim, &nq, NULL);
        assert_int_equal(perp_sim_state_get(b.p.sim, NULL, q, NULL), PERP_OK);
        compare("q", example, nq, q, last[example], 1e-8);
        berard_close(&b);
    }
}

// ── Sizes and forms ──────────────────────────────────────────────────────────────────────────────

static void sizes_are_berards(void **state)
{
    (void)state;
    for (int example = 1; example <= 6; example++) {
        berard b;
        perp_step_problem *problem;
        berard_open(&b, example);
        b.p.def.form = PERP_FORM_MCP;
        berard_start(&b);
        plane_step(&b.p, b.h);
        assert_int_equal(perp_sim_info(b.p.sim)->problem_size, berard_size(example));
        assert_int_equal(perp_sim_problem(b.p.sim, PERP_FORM_MCP, &problem), PERP_OK);
        assert_int_equal(problem->mcp.n, berard_size(example));
        perp_step_problem_destroy(problem);
        berard_close(&b);
    }
}

// Every form gives the same velocities, step after step from the same state.
static void forms_agree(void **state)
{
    (void)state;
    static const perp_form forms[] = {PERP_FORM_MCP, PERP_FORM_LCP, PERP_FORM_CONE};
    for (int example = 1; example <= 6; example++) {
        berard b[3];
        double t, q[NV_MOST], v[3][NV_MOST];
        int nv;
        for (int f = 0; f < 3; f++) {
            berard_open(&b[f], example);
            b[f].p.def.form = forms[f];
            b[f].p.def.tolerance = 1e-12;
            berard_start(&b[f]);
        }
        perp_sim_state_size(b[0].p.sim, NULL, &nv);
        for (int step = 0; step < 200; step++) {
            for (int f = 0; f < 3; f++) {
                plane_step(&b[f].p, b[f].h);
                assert_int_equal(perp_sim_state_get(b[f].p.sim, &t, q, v[f]), PERP_OK);
            }
            compare("v of the LCP", step, nv, v[1], v[0], 1e-11);
            compare("v of the cone", step, nv, v[2], v[0], 1e-9);
            for (int f = 0; f < 2; f++) {
                assert_int_equal(perp_sim_state_set(b[f].p.sim, t, q, v[2]), PERP_OK);
            }
        }
        for (int f = 0; f < 3; f++) {
            berard_close(&b[f]);
        }
    }
}

// ── An impact with many answers ──────────────────────────────────────────────────────────────────

// 4.5 with the pusher at 0.28 m: in step 69 it hits the block. The answers are those between two: the
// velocity of the block lies on a segment, contact 2 opens, contact 1 touches, the pusher presses.
static const double segment[2][3] = {
    {0.2509538153884129, 0.01589692313975277, 0.03179384627950555},
    {0.25005413478968036, 0.0009022464942076078, 0.001804492988415185}};

static void to_the_impact(berard *b, perp_form form)
{
    static const double q[NV_MOST] = {-0.01600000000000009,
                                      0.25,
                                      0.0,
                                      0.4800933454503021,
                                      0.28759201343617913,
                                      -0.12514152171670345,
                                      1.3053627316775647,
                                      0.10625273282377987,
                                      -0.3467059132930956};
    static const double v[NV_MOST] = {-0.12209006509475448,
                                      0.0,
                                      0.0,
                                      -0.23484657675596715,
                                      -0.9101333327964837,
                                      -1.8341720265212362,
                                      -0.13726242235377203,
                                      -1.2411355392407313,
                                      1.7604067622582238};
    berard_open(b, BERARD_NONUNIQUE);
    b->p.def.form = form;
    b->p.def.tolerance = 1e-12;
    berard_start(b);
    assert_int_equal(perp_sim_state_set(b->p.sim, 68 * b->h, q, v), PERP_OK);
    plane_step(&b->p, b->h);
}

static void check_impact(const berard *b)
{
    double v[NV_MOST];
    int count;
    const perp_contact *c = perp_sim_contacts(b->p.sim, &count);
    assert_int_equal(perp_sim_state_get(b->p.sim, NULL, NULL, v), PERP_OK);
    double s = (v[1] - segment[0][1]) / (segment[1][1] - segment[0][1]);
    assert_true(s > -1e-9 && s < 1.0 + 1e-9);
    for (int i = 0; i < 3; i++) {
        double want = segment[0][i] + s * (segment[1][i] - segment[0][i]);
        assert_true(fabs(v[i] - want) < 1e-9);
    }
    assert_int_equal(count, 3);
    assert_true(c[1].pn < 1e-12 && c[2].pn > 1.0 && fabs(c[0].rate_n) < 1e-9);
    assert_true(perp_sim_info(b->p.sim)->certificate.passed);
    assert_true(b->p.worst.residual < 1e-9);
    // At the end of the segment the next answer is seen.
    assert_true(perp_sim_info(b->p.sim)->form == PERP_FORM_CONE || !b->p.unique);
}

static void nonunique_impact(void **state)
{
    (void)state;
    static const perp_form forms[] = {PERP_FORM_MCP, PERP_FORM_LCP, PERP_FORM_CONE};
    for (int f = 0; f < 3; f++) {
        berard b;
        to_the_impact(&b, forms[f]);
        check_impact(&b);
        uint64_t hash = perp_sim_state_hash(b.p.sim);
        berard_close(&b);
        to_the_impact(&b, forms[f]);  // the same answer every time
        assert_true(perp_sim_state_hash(b.p.sim) == hash);
        berard_close(&b);
    }
}

// The same run from its beginning, through the impact, certified all along.
static void nonunique_run(void **state)
{
    (void)state;
    berard b;
    berard_open(&b, BERARD_NONUNIQUE);
    berard_start(&b);
    plane_run(&b.p, b.h, 500);
    assert_int_equal(b.p.inexact, 0);
    assert_true(b.p.worst.residual < 1e-9);
    berard_close(&b);
}

// ── Trinkle's planar prismatic joint ─────────────────────────────────────────────────────────────

static void stored_prismatic(void **state)
{
    (void)state;
    golden g;
    if (!golden_open(&g, "trinkle_5_prismatic_planar")) {
        print_message("no stored trajectories: skipped\n");
        skip();
    }
    plane p = {0};
    plane_open(&p);
    double theta = 0.4, omega = 0.3, c = cos(theta), s = sin(theta);
    // Body 1 is pinned at its point (-0.5, 0); body 2 starts 0.3 m along the line, on its middle.
    perp_body_def first = plane_body(1.0, 0.2, 0.5 * c, 0.5 * s, theta);
    first.velocity_W = (perp_vec3){-omega * 0.5 * s, omega * 0.5 * c, 0.0};
    first.spin = omega;
    perp_body_def second = plane_body(0.5, 0.02, 0.8 * c, 0.8 * s, theta);
    second.velocity_W = (perp_vec3){-omega * 0.8 * s, omega * 0.8 * c, 0.0};
    second.spin = omega;
    perp_body b1 = perp_builder_add_body(p.builder, &first),
              b2 = perp_builder_add_body(p.builder, &second);
    plane_pin(&p, PLANE_GROUND, (perp_vec3){0}, b1, (perp_vec3){-0.5, 0.0, 0.0});
    for (int i = 0; i < 2; i++) {
        perp_joint_def line = perp_joint_default();
        line.kind = PERP_JOINT_POINT_ON_LINE;
        line.a = b1;
        line.b = b2;
        line.anchor_B = (perp_vec3){i == 0 ? -0.1 : 0.1, 0.0, 0.0};
        perp_builder_add_joint(p.builder, &line);
    }
    plane_start(&p);
    int step = 0;
    for (int row = 1; row < golden_rows(&g); row++) {
        double q[6], v[6], want[6];
        plane_run(&p, g.h, golden_step(&g, row) - step);
        step = golden_step(&g, row);
        assert_int_equal(perp_sim_state_get(p.sim, NULL, q, v), PERP_OK);
        golden_numbers(&g, row, "q", want, 6);
        compare("q", step, 6, q, want, g.tolerance);
        golden_numbers(&g, row, "v", want, 6);
        compare("v", step, 6, v, want, g.tolerance);
    }
    plane_close(&p);
    golden_close(&g);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stored_4_1),           cmocka_unit_test(stored_4_2),
        cmocka_unit_test(stored_4_3),           cmocka_unit_test(stored_4_4),
        cmocka_unit_test(stored_4_5),           cmocka_unit_test(stored_4_6),
        cmocka_unit_test(ends_where_it_should), cmocka_unit_test(sizes_are_berards),
        cmocka_unit_test(forms_agree),          cmocka_unit_test(nonunique_impact),
        cmocka_unit_test(nonunique_run),        cmocka_unit_test(stored_prismatic),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
