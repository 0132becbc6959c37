// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// What holds for every scene: friction creates no energy, momenta are kept, the forms agree, the
// certificate passes, runs repeat.
#include "support/cmocka.h"
#include "support/random_scene.h"

#include <math.h>
#include <string.h>

// Light bodies may spin by more than the linearised gaps allow: overlaps are not what is tested here.
static void make(plane *p, uint64_t seed, const random_scene_options *options)
{
    rng r = rng_seed(seed);
    p->def.limits.gap = 0.02;
    p->def.limits.joint = 1e-2;
    random_scene(p, &r, options);
}

// ── Momenta ──────────────────────────────────────────────────────────────────────────────────────

typedef struct momenta {
    double x, y, turn, kinetic;
} momenta;

static momenta momenta_of(const plane *p)
{
    momenta sum = {0.0, 0.0, 0.0, 0.0};
    for (int i = 1; i < perp_model_bodies(p->model); i++) {
        perp_body body = {i};
        double m = perp_model_mass(p->model, body), I = perp_model_inertia(p->model, body);
        perp_vec3 x = perp_body_position(p->sim, body);
        perp_twist v = perp_body_twist(p->sim, body);
        sum.x += m * v.v.x;
        sum.y += m * v.v.y;
        sum.turn += I * v.w.z + m * (x.x * v.v.y - x.y * v.v.x);
        sum.kinetic += 0.5 * (m * (v.v.x * v.v.x + v.v.y * v.v.y) + I * v.w.z * v.w.z);
    }
    return sum;
}

// Bodies afloat that run into each other: both momenta kept, kinetic energy never grows.
static void collisions_keep_momenta(void **state)
{
    (void)state;
    int touched = 0;
    FOR_SEEDS(seed, 40)
    {
        plane p = {0};
        plane_open(&p);
        random_scene_options options = {.bodies = 9, .mu_most = 1.0, .speed = 2.0};
        make(&p, seed, &options);
        plane_start(&p);
        momenta start = momenta_of(&p), before = start;
        for (int step = 0; step < 60; step++) {
            plane_step(&p, 0.01);
            touched += perp_sim_info(p.sim)->contacts;
            momenta now = momenta_of(&p);
            CHECK(fabs(now.x - start.x) + fabs(now.y - start.y) < 1e-9, seed);
            CHECK(fabs(now.turn - start.turn) < 1e-9, seed);
            // Sides that overlap are pushed apart: by at most what closes their overlap in one step.
            double push = p.worst.gap > 1e-9 ? 1e-2 * before.kinetic : 1e-9;
            CHECK(now.kinetic <= before.kinetic + push, seed);
            before = now;
        }
        CHECK(p.inexact == 0, seed);
        plane_close(&p);
    }
    assert_true(touched > 1000);
}

// ── Heaps ────────────────────────────────────────────────────────────────────────────────────────

static void heaps_are_certified(void **state)
{
    (void)state;
    FOR_SEEDS(seed, 12)
    {
        plane p = {0};
        plane_open(&p);
        random_scene_options options = {.bodies = 16,
                                        .ground = true,
                                        .joints = seed % 2 == 1,
                                        .drives = seed % 4 == 0,
                                        .mu_most = 1.0,
                                        .speed = 1.0};
        make(&p, seed, &options);
        plane_start(&p);
        plane_run(&p, 0.005, 200);
        CHECK(p.worst.residual < 1e-7 && p.worst.cone < 1e-8 && p.worst.momentum < 1e-8, seed);
        CHECK(p.worst.joint < 1e-2, seed);
        CHECK(p.worst.energy_created < 1e-6, seed);
        CHECK(p.inexact == 0, seed);
        plane_close(&p);
    }
}

// The ledger closes: what the energy loses is work done less what contact and scheme took, and without
// drives the total only falls, but for what the scheme's explicit gravity adds in free fall (h^2).
static void energy_falls(void **state)
{
    (void)state;
    FOR_SEEDS(seed, 12)
    {
        plane p = {0};
        plane_open(&p);
        random_scene_options options = {.bodies = 12, .ground = true, .mu_most = 0.8, .speed = 1.0};
        make(&p, seed, &options);
        plane_start(&p);
        double total = HUGE_VAL;
        for (int step = 0; step < 150; step++) {
            plane_step(&p, 0.005);
            perp_energy e = perp_sim_info(p.sim)->energy;
            CHECK(e.kinetic + e.potential <= total + 1e-9 + (p.worst.gap > 1e-9 ? 1e-2 : 0.0),
                  seed);
            total = e.kinetic + e.potential;
        }
        plane_close(&p);
    }
}

// ── Forms ────────────────────────────────────────────────────────────────────────────────────────

// Without friction the velocities are unique: MCP, LCP and cone give the same, step by step.
static void forms_agree_without_friction(void **state)
{
    (void)state;
    static const perp_form forms[] = {PERP_FORM_MCP, PERP_FORM_LCP, PERP_FORM_CONE};
    FOR_SEEDS(seed, 12)
    {
        plane p[3];
        double q[64], v[3][64], t;
        int nv;
        for (int f = 0; f < 3; f++) {
            memset(&p[f], 0, sizeof p[f]);
            plane_open(&p[f]);
            p[f].def.form = forms[f];
            p[f].def.friction = PERP_FRICTION_NONE;
            p[f].def.tolerance = 1e-11;
            random_scene_options options = {
                .bodies = 9, .ground = true, .mu_most = 1.0, .speed = 1.0};
            make(&p[f], seed, &options);
            plane_start(&p[f]);
        }
        perp_state_size(p[0].sim, NULL, &nv);
        assert_true(nv <= 64);
        for (int step = 0; step < 60; step++) {
            for (int f = 0; f < 3; f++) {
                plane_step(&p[f], 0.01);
                assert_int_equal(perp_state_get(p[f].sim, &t, q, v[f]), PERP_OK);
            }
            for (int i = 0; i < nv; i++) {
                CHECK(fabs(v[0][i] - v[1][i]) < 1e-8, seed);
                CHECK(fabs(v[0][i] - v[2][i]) < 1e-7, seed);
            }
            for (int f = 0; f < 2; f++) {
                assert_int_equal(perp_state_set(p[f].sim, t, q, v[2]), PERP_OK);
            }
        }
        for (int f = 0; f < 3; f++) {
            plane_close(&p[f]);
        }
    }
}

// With friction each form has an answer that is certified.
static void forms_are_certified(void **state)
{
    (void)state;
    for (int form = PERP_FORM_MCP; form <= PERP_FORM_CONE; form++) {
        FOR_SEEDS(seed, 8)
        {
            plane p = {0};
            plane_open(&p);
            p.def.form = (perp_form)form;
            random_scene_options options = {
                .bodies = 9, .ground = true, .joints = seed % 2 == 0, .mu_most = 1.0, .speed = 1.0};
            make(&p, seed, &options);
            plane_start(&p);
            plane_run(&p, 0.01, 100);
            CHECK(p.inexact == 0, seed);
            plane_close(&p);
        }
    }
}

static void runs_repeat(void **state)
{
    (void)state;
    FOR_SEEDS(seed, 2)
    {
        uint64_t hash[2];
        for (int i = 0; i < 2; i++) {
            plane p = {0};
            plane_open(&p);
            random_scene_options options = {.bodies = 20,
                                            .ground = true,
                                            .joints = seed % 2 == 0,
                                            .mu_most = 1.0,
                                            .speed = 1.0};
            make(&p, seed, &options);
            plane_start(&p);
            plane_run(&p, 0.01, 100);
            hash[i] = perp_state_hash(p.sim);
            plane_close(&p);
        }
        CHECK(hash[0] == hash[1], seed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(collisions_keep_momenta),
        cmocka_unit_test(heaps_are_certified),
        cmocka_unit_test(energy_falls),
        cmocka_unit_test(forms_agree_without_friction),
        cmocka_unit_test(forms_are_certified),
        cmocka_unit_test(runs_repeat),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
