// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// What holds for every spatial scene: friction creates no energy, momenta are kept, the forms agree, cones
// are the limit of polygons, the certificate passes, runs repeat.
#include "support/cmocka.h"
#include "support/random_space.h"

#include <math.h>
#include <string.h>

// Light bodies may spin by more than the linearised gaps allow: overlaps are not what is tested here.
static void make(plane *p, uint64_t seed, const random_space_options *options)
{
    rng r = rng_seed(seed);
    p->def.limits.gap = 0.05;
    p->def.start = PERP_START_AS_GIVEN;  // targets that limits forbid
    random_space(p, &r, options);
}

// ── Momenta ──────────────────────────────────────────────────────────────────────────────────────

typedef struct momenta {
    perp_vec3 linear, turn;
    double kinetic;
} momenta;

static momenta momenta_of(const plane *p)
{
    momenta sum = {0};
    for (int i = 1; i < perp_model_bodies(p->model); i++) {
        perp_body body = {i};
        perp_vec3 mv =
            space_scale(perp_model_mass(p->model, body), perp_body_twist(p->sim, body).v);
        perp_vec3 L =
            space_add(space_momentum(p, body), space_cross(perp_body_position(p->sim, body), mv));
        sum.linear = space_add(sum.linear, mv);
        sum.turn = space_add(sum.turn, L);
        sum.kinetic += space_kinetic(p, body);
    }
    return sum;
}

// Bodies afloat that run into each other: linear momentum kept, angular momentum to the order of the
// scheme, kinetic energy never grows beyond what pushing overlaps apart gives.
static void collisions_keep_momenta(void **state)
{
    (void)state;
    int touched = 0;
    FOR_SEEDS(seed, 25)
    {
        plane p = {0};
        plane_open(&p);
        random_space_options options = {.bodies = 8,
                                        .mu_most = 1.0,
                                        .speed = 2.0,
                                        .moments = seed % 2 == 0,
                                        .facets = seed % 3 == 0 ? 5 : 0};
        make(&p, seed, &options);
        plane_start(&p);
        momenta start = momenta_of(&p), before = start;
        for (int step = 0; step < 60; step++) {
            plane_step(&p, 0.01);
            touched += perp_sim_info(p.sim)->contacts;
            momenta now = momenta_of(&p);
            CHECK(space_length(space_sub(now.linear, start.linear)) < 1e-9, seed);
            CHECK(space_length(space_sub(now.turn, before.turn)) <
                      0.05 * space_length(start.turn) + 0.02,
                  seed);
            double push = p.worst.gap > 1e-9 ? 2e-2 * before.kinetic : 1e-9;
            CHECK(now.kinetic <= before.kinetic + push, seed);
            before = now;
        }
        CHECK(p.inexact == 0, seed);
        plane_close(&p);
    }
    assert_true(touched > 300);
}

// Angular momentum of a step's impulses: contacts and joints give opposite wrenches, so that one solve
// keeps the total about any point exactly. Seen in the matrices of the problem.
static void impulses_are_opposite(void **state)
{
    (void)state;
    FOR_SEEDS(seed, 20)
    {
        plane p = {0};
        plane_open(&p);
        random_space_options options = {
            .bodies = 6, .mu_most = 1.0, .speed = 2.0, .joints = true, .moments = true};
        make(&p, seed, &options);
        p.def.limits.residual = HUGE_VAL;  // targets that limits forbid have no answer
        p.def.margin = 0.3;
        plane_start(&p);
        plane_step(&p, 0.01);
        perp_step_problem *s = NULL;
        assert_int_equal(perp_sim_problem(p.sim, PERP_FORM_MCP, &s), PERP_OK);
        const double *W[] = {s->Wn, s->Wf};
        const int columns[] = {s->n_n, s->n_f};
        for (int w = 0; w < 2; w++) {
            for (int c = 0; c < columns[w]; c++) {
                perp_vec3 force = {0.0, 0.0, 0.0};
                for (int b = 0; b < s->nv / 6; b++) {
                    const double *part = W[w] + (size_t)c * (size_t)s->nv + 6 * (size_t)b;
                    force = space_add(force, (perp_vec3){part[0], part[1], part[2]});
                }
                CHECK(space_length(force) < 1e-12, seed);
            }
        }
        perp_step_problem_destroy(s);
        plane_close(&p);
    }
}

// ── Heaps ────────────────────────────────────────────────────────────────────────────────────────

static void heaps_are_certified(void **state)
{
    (void)state;
    FOR_SEEDS(seed, 6)
    {
        plane p = {0};
        plane_open(&p);
        random_space_options options = {.bodies = 10,
                                        .ground = true,
                                        .joints = seed % 2 == 1,
                                        .drives = seed % 4 == 0,
                                        .moments = seed % 3 == 0,
                                        .facets = seed % 3 == 1 ? 6 : 0,
                                        .mu_most = 1.0,
                                        .speed = 1.0};
        make(&p, seed, &options);
        p.def.limits.joint = 0.02;
        plane_start(&p);
        plane_run(&p, 0.005, 120);
        if (p.inexact > 0) {
            print_error(
                "seed %d: %d inexact, residual %.1e cone %.1e momentum %.1e energy %.1e joint %.1e "
                "gap %.1e\n",
                (int)seed, p.inexact, p.worst.residual, p.worst.cone, p.worst.momentum,
                p.worst.energy_created, p.worst.joint, p.worst.gap);
        }
        CHECK(p.worst.residual < 1e-7 && p.worst.cone < 1e-8 && p.worst.momentum < 1e-8, seed);
        CHECK(p.worst.energy_created < 1e-6, seed);
        CHECK(p.inexact == 0, seed);
        plane_close(&p);
    }
}

// Without drives the total only falls, but for what pushing overlaps apart gives.
static void energy_falls(void **state)
{
    (void)state;
    FOR_SEEDS(seed, 6)
    {
        plane p = {0};
        plane_open(&p);
        random_space_options options = {
            .bodies = 8, .ground = true, .mu_most = 0.8, .speed = 1.0, .moments = seed % 2 == 0};
        make(&p, seed, &options);
        plane_start(&p);
        double total = HUGE_VAL;
        for (int step = 0; step < 100; step++) {
            plane_step(&p, 0.005);
            perp_energy e = perp_sim_info(p.sim)->energy;
            CHECK(e.kinetic + e.potential <= total + 1e-9 + (p.worst.gap > 1e-9 ? 1e-1 : 0.0),
                  seed);
            total = e.kinetic + e.potential;
        }
        plane_close(&p);
    }
}

// ── Forms ────────────────────────────────────────────────────────────────────────────────────────

// Velocities after one step from a given state.
static int step_from(perp_form form, int facets, uint64_t seed, int steps, double *nu)
{
    plane p = {0};
    int nv;
    plane_open(&p);
    random_space_options options = {
        .bodies = 4, .ground = true, .mu_most = 0.8, .speed = 1.0, .facets = facets};
    make(&p, seed, &options);
    p.def.form = PERP_FORM_CONE;
    p.def.tolerance = 1e-11;
    plane_start(&p);
    plane_run(&p, 0.005, steps);
    perp_sim_def def = p.def;
    double t, q[64];
    perp_state_size(p.sim, NULL, &nv);
    assert_int_equal(perp_state_get(p.sim, &t, q, nu), PERP_OK);
    perp_sim *other = NULL;
    perp_error error;
    def.form = form;
    assert_int_equal(perp_sim_create(p.model, &def, NULL, &other, &error), PERP_OK);
    assert_int_equal(perp_state_set(other, t, q, nu), PERP_OK);
    assert_true(perp_step(other, 0.005) >= 0);
    bool unique = perp_sim_info(other)->motion == PERP_UNIQUE;
    assert_int_equal(perp_state_get(other, NULL, NULL, nu), PERP_OK);
    perp_sim_destroy(other);
    plane_close(&p);
    return unique ? nv : 0;
}

// The same polygons in all forms: the same velocities where they are proved to be unique.
static void forms_agree(void **state)
{
    (void)state;
    int compared = 0;
    FOR_SEEDS(seed, 12)
    {
        for (int steps = 10; steps <= 100; steps += 10) {
            double m[64], l[64], c[64];
            int nv = step_from(PERP_FORM_MCP, 6, seed, steps, m);
            step_from(PERP_FORM_LCP, 6, seed, steps, l);
            step_from(PERP_FORM_CONE, 6, seed, steps, c);
            compared += nv > 0;
            for (int i = 0; i < nv; i++) {
                CHECK(fabs(m[i] - l[i]) < 1e-9, seed);
                CHECK(fabs(m[i] - c[i]) < 1e-7, seed);
            }
        }
    }
    print_message("%d steps compared\n", compared);
    assert_true(compared > 10);
}

// Friction of a point that slides in any direction: polygons of n sides are within 1 / n^2 of the cone.
static void cone_is_the_limit(void **state)
{
    (void)state;
    FOR_SEEDS(seed, 10)
    {
        rng r = rng_seed(seed);
        perp_vec3 v = {rng_uniform(&r, -2.0, 2.0), rng_uniform(&r, -2.0, 2.0), -1.0};
        double off[3];
        static const int sides[] = {8, 32, 128};
        perp_vec3 exact = {0.0, 0.0, 0.0};
        for (int k = -1; k < 3; k++) {
            plane p = {0};
            plane_open(&p);
            perp_body_def def = space_particle(1.0, (perp_vec3){0.0, 0.0, 0.0});
            def.velocity = v;
            perp_body mass = perp_add_body(p.builder, &def);
            space_contact(&p,
                          space_halfspace(&p, PLANE_GROUND, (perp_vec3){0.0, 0.0, 1.0}, 0.0, 0.0),
                          space_point(&p, mass, (perp_vec3){0.0, 0.0, 0.0}), 0.3,
                          k < 0 ? 0 : sides[k], (perp_vec3){1.0, 0.0, 0.0});
            p.def.tolerance = 1e-12;
            plane_start(&p);
            plane_step(&p, 0.01);
            perp_vec3 now = perp_body_twist(p.sim, mass).v;
            if (k < 0) {
                exact = now;
            } else {
                off[k] = space_length(space_sub(now, exact));
            }
            plane_close(&p);
        }
        // A corner is at most pi / n away from the slip: friction turned by as much.
        CHECK(off[0] < 0.34 * 3.15 / 8.0 && off[1] < 0.34 * 3.15 / 32.0, seed);
        CHECK(off[2] < 0.34 * 3.15 / 128.0, seed);
    }
}

// ── The same again ───────────────────────────────────────────────────────────────────────────────

static uint64_t run_hash(uint64_t seed, bool stop)
{
    plane p = {0};
    plane_open(&p);
    random_space_options options = {
        .bodies = 8, .ground = true, .joints = true, .drives = true, .mu_most = 0.8, .speed = 1.0};
    make(&p, seed, &options);
    plane_start(&p);
    plane_run(&p, 0.005, 40);
    if (stop) {  // saved, disturbed and restored
        size_t size = perp_state_save_size(p.sim);
        void *block = test_malloc(size);
        assert_int_equal(perp_state_save(p.sim, block, size), PERP_OK);
        plane_run(&p, 0.005, 7);
        assert_int_equal(perp_state_restore(p.sim, block, size), PERP_OK);
        test_free(block);
    }
    plane_run(&p, 0.005, 40);
    uint64_t hash = perp_state_hash(p.sim);
    plane_close(&p);
    return hash;
}

static void runs_repeat(void **state)
{
    (void)state;
    FOR_SEEDS(seed, 4)
    {
        uint64_t hash = run_hash(seed, false);
        CHECK(run_hash(seed, false) == hash, seed);
        CHECK(run_hash(seed, true) == hash, seed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(collisions_keep_momenta),
        cmocka_unit_test(impulses_are_opposite),
        cmocka_unit_test(heaps_are_certified),
        cmocka_unit_test(energy_falls),
        cmocka_unit_test(forms_agree),
        cmocka_unit_test(cone_is_the_limit),
        cmocka_unit_test(runs_repeat),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
