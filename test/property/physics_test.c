// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// What holds for every scene, in the plane and in space: friction creates no energy, momenta are kept, the
// forms agree, cones are the limit of polygons, the certificate passes, runs repeat.
#include "support/cmocka.h"
#include "support/random_space.h"

#include <math.h>
#include <string.h>

// What differs between the plane and space. Light bodies may spin by more than the linearised gaps allow:
// overlaps are not what is tested here.
typedef struct world {
    bool spatial;
    void (*fill)(plane *p, rng *r, const random_scene_options *options);
    double gap, joint;  // limits of the certificate [m]
    int afloat, heaps;  // scenes of colliding bodies, and of heaps
    int bodies, steps;  // of a heap
    double
        pushed;  // kinetic energy that pushing overlaps apart may give, as a share and in a heap [J]
    double lifted;
    int touched;  // contacts that colliding bodies must have had
} world;

static world planar = {false, random_scene, 0.02, 1e-2, 40, 12, 16, 200, 1e-2, 1e-2, 1000};
static world spatial = {true, random_space, 0.05, 0.0, 25, 6, 10, 120, 2e-2, 1e-1, 300};

static void make(plane *p, const world *w, uint64_t seed, const random_scene_options *options)
{
    rng r = rng_seed(seed);
    p->def.limits.gap = w->gap;
    p->def.limits.joint = w->joint;
    if (w->spatial) {
        p->def.start = PERP_START_AS_GIVEN;  // targets that limits forbid
    }
    w->fill(p, &r, options);
}

// ── Momenta ──────────────────────────────────────────────────────────────────────────────────────

typedef struct momenta {
    perp_vec3 linear, turn;
    double kinetic;
} momenta;

static momenta momenta_of(const plane *p, const world *w)
{
    momenta sum = {0};
    for (int i = 1; i < perp_model_bodies(p->model); i++) {
        perp_body body = {i};
        double m = perp_model_mass(p->model, body), I = perp_model_inertia(p->model, body);
        perp_twist v = perp_sim_body_twist(p->sim, body);
        perp_vec3 mv = space_scale(m, v.v_W), x = perp_sim_body_position(p->sim, body);
        perp_vec3 own = w->spatial ? space_momentum(p, body) : (perp_vec3){0.0, 0.0, I * v.w_W.z};
        sum.linear = space_add(sum.linear, mv);
        sum.turn = space_add(sum.turn, space_add(own, space_cross(x, mv)));
        sum.kinetic += 0.5 * (space_dot(mv, v.v_W) + space_dot(v.w_W, own));
    }
    return sum;
}

// Bodies afloat that run into each other: linear momentum is kept, angular momentum in the plane as well and
// in space to the order of the scheme; kinetic energy never grows beyond what pushing overlaps apart gives.
static void collisions_keep_momenta(void **state)
{
    const world *w = *state;
    int touched = 0;
    FOR_SEEDS(seed, (uint64_t)w->afloat)
    {
        plane p = {0};
        plane_open(&p);
        random_scene_options options = {.bodies = w->spatial ? 8 : 9,
                                        .mu_most = 1.0,
                                        .speed = 2.0,
                                        .moments = seed % 2 == 0,
                                        .facets = seed % 3 == 0 ? 5 : 0};
        make(&p, w, seed, &options);
        plane_start(&p);
        momenta start = momenta_of(&p, w), before = start;
        for (int step = 0; step < 60; step++) {
            plane_step(&p, 0.01);
            touched += perp_sim_info(p.sim)->contacts;
            momenta now = momenta_of(&p, w);
            CHECK(space_length(space_sub(now.linear, start.linear)) < 1e-9, seed);
            if (w->spatial) {
                CHECK(space_length(space_sub(now.turn, before.turn)) <
                          0.05 * space_length(start.turn) + 0.02,
                      seed);
            } else {
                CHECK(space_length(space_sub(now.turn, start.turn)) < 1e-9, seed);
            }
            // Sides that overlap are pushed apart: by at most what closes their overlap in one step.
            double push = p.worst.gap > 1e-9 ? w->pushed * before.kinetic : 1e-9;
            CHECK(now.kinetic <= before.kinetic + push, seed);
            before = now;
        }
        CHECK(p.inexact == 0, seed);
        plane_close(&p);
    }
    assert_true(touched > w->touched);
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
        random_scene_options options = {
            .bodies = 6, .mu_most = 1.0, .speed = 2.0, .joints = true, .moments = true};
        make(&p, &spatial, seed, &options);
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
    const world *w = *state;
    FOR_SEEDS(seed, (uint64_t)w->heaps)
    {
        plane p = {0};
        plane_open(&p);
        random_scene_options options = {.bodies = w->bodies,
                                        .ground = true,
                                        .joints = seed % 2 == 1,
                                        .drives = seed % 4 == 0,
                                        .moments = seed % 3 == 0,
                                        .facets = seed % 3 == 1 ? 6 : 0,
                                        .mu_most = 1.0,
                                        .speed = 1.0};
        make(&p, w, seed, &options);
        p.def.limits.joint = w->spatial ? 0.02 : w->joint;
        plane_start(&p);
        plane_run(&p, 0.005, w->steps);
        if (p.inexact > 0) {
            print_error(
                "seed %d: %d inexact, residual %.1e cone %.1e momentum %.1e energy %.1e joint %.1e "
                "gap %.1e\n",
                (int)seed, p.inexact, p.worst.residual, p.worst.cone, p.worst.momentum,
                p.worst.energy_created, p.worst.joint, p.worst.gap);
        }
        // answers are accepted at half of what the certificate allows: 5e-7 at 1 m/s
        CHECK(p.worst.residual < 5e-7 && p.worst.cone < 1e-8 && p.worst.momentum < 1e-8, seed);
        CHECK(p.worst.energy_created < 1e-6, seed);
        CHECK(w->spatial || p.worst.joint < 1e-2, seed);
        CHECK(p.inexact == 0, seed);
        plane_close(&p);
    }
}

// Without drives the total only falls, but for what pushing overlaps apart gives.
static void energy_falls(void **state)
{
    const world *w = *state;
    FOR_SEEDS(seed, (uint64_t)w->heaps)
    {
        plane p = {0};
        plane_open(&p);
        random_scene_options options = {.bodies = w->spatial ? 8 : 12,
                                        .ground = true,
                                        .mu_most = 0.8,
                                        .speed = 1.0,
                                        .moments = seed % 2 == 0};
        make(&p, w, seed, &options);
        plane_start(&p);
        double total = HUGE_VAL;
        for (int step = 0; step < (w->spatial ? 100 : 150); step++) {
            plane_step(&p, 0.005);
            perp_energy e = perp_sim_info(p.sim)->energy;
            double push = p.worst.gap > 1e-9 ? w->lifted : 0.0;
            CHECK(e.kinetic + e.potential <= total + 1e-9 + push, seed);
            total = e.kinetic + e.potential;
        }
        plane_close(&p);
    }
}

// ── Forms ────────────────────────────────────────────────────────────────────────────────────────

// In the plane, without friction the velocities are unique: MCP, LCP and cone give the same, step by step.
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
            make(&p[f], &planar, seed, &options);
            plane_start(&p[f]);
        }
        perp_sim_state_size(p[0].sim, NULL, &nv);
        assert_true(nv <= 64);
        for (int step = 0; step < 60; step++) {
            for (int f = 0; f < 3; f++) {
                plane_step(&p[f], 0.01);
                assert_int_equal(perp_sim_state_get(p[f].sim, &t, q, v[f]), PERP_OK);
            }
            for (int i = 0; i < nv; i++) {
                CHECK(fabs(v[0][i] - v[1][i]) < 1e-8, seed);
                CHECK(fabs(v[0][i] - v[2][i]) < 1e-7, seed);
            }
            for (int f = 0; f < 2; f++) {
                assert_int_equal(perp_sim_state_set(p[f].sim, t, q, v[2]), PERP_OK);
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
            make(&p, &planar, seed, &options);
            plane_start(&p);
            plane_run(&p, 0.01, 100);
            CHECK(p.inexact == 0, seed);
            plane_close(&p);
        }
    }
}

// Velocities after one step from a given state.
static int step_from(perp_form form, int facets, uint64_t seed, int steps, double *nu)
{
    plane p = {0};
    int nv;
    plane_open(&p);
    random_scene_options options = {
        .bodies = 4, .ground = true, .mu_most = 0.8, .speed = 1.0, .facets = facets};
    make(&p, &spatial, seed, &options);
    p.def.form = PERP_FORM_CONE;
    p.def.tolerance = 1e-11;
    plane_start(&p);
    plane_run(&p, 0.005, steps);
    perp_sim_def def = p.def;
    double t, q[64];
    perp_sim_state_size(p.sim, NULL, &nv);
    assert_int_equal(perp_sim_state_get(p.sim, &t, q, nu), PERP_OK);
    perp_sim *other = NULL;
    perp_error error;
    def.form = form;
    assert_int_equal(perp_sim_create(p.model, &def, NULL, &other, &error), PERP_OK);
    assert_int_equal(perp_sim_state_set(other, t, q, nu), PERP_OK);
    assert_true(perp_sim_step(other, 0.005) >= 0);
    bool unique = perp_sim_info(other)->motion == PERP_UNIQUENESS_PROVED;
    assert_int_equal(perp_sim_state_get(other, NULL, NULL, nu), PERP_OK);
    perp_sim_destroy(other);
    plane_close(&p);
    return unique ? nv : 0;
}

// In space, the same polygons in all forms: the same velocities where they are proved to be unique.
static void polygons_agree(void **state)
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
            def.velocity_W = v;
            perp_body mass = perp_builder_add_body(p.builder, &def);
            space_contact(&p,
                          space_halfspace(&p, PLANE_GROUND, (perp_vec3){0.0, 0.0, 1.0}, 0.0, 0.0),
                          space_point(&p, mass, (perp_vec3){0.0, 0.0, 0.0}), 0.3,
                          k < 0 ? 0 : sides[k], (perp_vec3){1.0, 0.0, 0.0});
            p.def.tolerance = 1e-12;
            plane_start(&p);
            plane_step(&p, 0.01);
            perp_vec3 now = perp_sim_body_twist(p.sim, mass).v_W;
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

static uint64_t run_hash(const world *w, uint64_t seed, bool stop)
{
    plane p = {0};
    plane_open(&p);
    random_scene_options options = {.bodies = w->spatial ? 8 : 20,
                                    .ground = true,
                                    .joints = w->spatial || seed % 2 == 0,
                                    .drives = w->spatial,
                                    .mu_most = w->spatial ? 0.8 : 1.0,
                                    .speed = 1.0};
    make(&p, w, seed, &options);
    plane_start(&p);
    plane_run(&p, 0.005, 40);
    if (stop) {  // saved, disturbed and restored
        size_t size = perp_sim_state_save_size(p.sim);
        void *block = test_malloc(size);
        assert_int_equal(perp_sim_state_save(p.sim, block, size), PERP_OK);
        plane_run(&p, 0.005, 7);
        assert_int_equal(perp_sim_state_restore(p.sim, block, size), PERP_OK);
        test_free(block);
    }
    plane_run(&p, 0.005, 40);
    uint64_t hash = perp_sim_state_hash(p.sim);
    plane_close(&p);
    return hash;
}

static void runs_repeat(void **state)
{
    const world *w = *state;
    FOR_SEEDS(seed, 4)
    {
        uint64_t hash = run_hash(w, seed, false);
        CHECK(run_hash(w, seed, false) == hash, seed);
        CHECK(run_hash(w, seed, true) == hash, seed);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        {"collisions_keep_momenta, plane", collisions_keep_momenta, NULL, NULL, &planar},
        {"collisions_keep_momenta, space", collisions_keep_momenta, NULL, NULL, &spatial},
        cmocka_unit_test(impulses_are_opposite),
        {"heaps_are_certified, plane", heaps_are_certified, NULL, NULL, &planar},
        {"heaps_are_certified, space", heaps_are_certified, NULL, NULL, &spatial},
        {"energy_falls, plane", energy_falls, NULL, NULL, &planar},
        {"energy_falls, space", energy_falls, NULL, NULL, &spatial},
        cmocka_unit_test(forms_agree_without_friction),
        cmocka_unit_test(forms_are_certified),
        cmocka_unit_test(polygons_agree),
        cmocka_unit_test(cone_is_the_limit),
        {"runs_repeat, plane", runs_repeat, NULL, NULL, &planar},
        {"runs_repeat, space", runs_repeat, NULL, NULL, &spatial},
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
