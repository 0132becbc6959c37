// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// What rests beside what moves. Pairs of shapes that are where they were keep their contacts, and islands with the problem of
// the step before keep its answer. A sim that forgets all of it before each step has the same bits.     theory (S19)
#include "sim/sim.h"
#include "support/cmocka.h"

#include <perp/io.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct run {
    perp_scene *scene;
    perp_sim *sim;
    double h;
} run;

// Stacks at rest, a block on a belt, a box that hangs on a hinge, a pendulum that swings for ever, and a ball that rolls
// into the last stack after half a second.
enum { ROOM = 12000, STACKED = 12 };

static size_t add(char *text, size_t at, const char *more)
{
    return at + (size_t)snprintf(text + at, ROOM - at, "%s", more);
}

static size_t add_box(char *text, size_t at, int k, double x, double y, double z)
{
    static const char format[] =
        "{\"name\": \"box %d\", \"kind\": \"solid\", \"position\": [%g, %g, %g], \"shapes\": "
        "[{\"kind\": \"box\", \"size\": [1, 1, 1], \"density\": 1, \"mu\": 0.5}]},";
    return at + (size_t)snprintf(text + at, ROOM - at, format, k, x, y, z);
}

static const char *make_text(void)
{
    static char text[ROOM];
    size_t at =
        add(text, 0,
            "{\"step\": 0.01, \"gravity\": [0, 0, -9.81], \"shapes\": [{\"name\": \"floor\", "
            "\"kind\": \"halfspace\", \"mu\": 0.5}, {\"name\": \"belt\", \"kind\": \"box\", "
            "\"size\": [4, 2, 0.2], \"position\": [0, 20, 1], \"mu\": 0.4, "
            "\"surface_velocity\": [\"0.2 * sin(t)\", 0, 0]}], \"bodies\": [");
    for (int k = 0; k < STACKED; k++) {
        int stack = k / 3, layer = k % 3;
        at = add_box(text, at, k, 3.0 * stack + 0.01 * layer, -0.02 * layer, 0.5 + layer);
    }
    at = add_box(text, at, STACKED, 0.0, 20.0, 1.6);
    (void)add(
        text, at,
        "{\"name\": \"ball\", \"kind\": \"solid\", \"position\": [12.5, 0, 0.5], \"velocity\": "
        "[-6, 0, 0], \"shapes\": [{\"kind\": \"sphere\", \"radius\": 0.5, \"density\": 3, "
        "\"mu\": 0.5}]},"
        "{\"name\": \"bob\", \"kind\": \"solid\", \"position\": [-20, 0, 5], \"shapes\": "
        "[{\"kind\": \"sphere\", \"radius\": 0.2, \"density\": 1}]},"
        "{\"name\": \"lid\", \"kind\": \"solid\", \"position\": [-10, 0, 3], \"shapes\": "
        "[{\"kind\": \"box\", \"size\": [1, 1, 0.1], \"density\": 1}]}],"
        "\"joints\": [{\"name\": \"pivot\", \"kind\": \"spherical\", \"a\": \"bob\", \"b\": "
        "\"ground\", \"anchor_a\": [1, 0, 0], \"anchor_b\": [-19, 0, 5]},"
        "{\"name\": \"weld\", \"kind\": \"weld\", \"a\": \"lid\", \"b\": \"ground\", "
        "\"at\": [-10, 0, 3]}]}");
    return text;
}

static run start(const char *scene, int threads)
{
    run r = {0};
    perp_error error = {0};
    if (perp_scene_parse("calm", scene, strlen(scene), NULL, &r.scene, &error) < 0) {
        fail_msg("%s", error.text);
    }
    perp_sim_def def = perp_scene_sim_def(r.scene);
    def.threads = threads;
    r.h = perp_scene_step(r.scene);
    assert_int_equal(perp_sim_create(perp_scene_model(r.scene), &def, NULL, &r.sim, NULL), PERP_OK);
    return r;
}

static void end(run *r)
{
    perp_sim_destroy(r->sim);
    perp_scene_destroy(r->scene);
}

// Nothing of the step before is known in the next one but the state and the impulses.
static void forget(perp_sim *sim)
{
    sim->contact_cache.gaps.seen = (pp_gaps_seen){0};
    sim->contact_cache.aims = (pp_aims_seen){0};
    pp_islands_forget(sim->islands, false);
}

static void assert_same(const run *a, const run *b)
{
    const perp_step_info *x = perp_sim_info(a->sim), *y = perp_sim_info(b->sim);
    assert_true(perp_sim_state_hash(a->sim) == perp_sim_state_hash(b->sim));
    assert_memory_equal(&x->certificate, &y->certificate, sizeof x->certificate);
    assert_memory_equal(&x->energy, &y->energy, sizeof x->energy);
    assert_string_equal(x->solver, y->solver);
    assert_string_equal(x->remark, y->remark);
    assert_int_equal(x->iterations, y->iterations);
    assert_int_equal(x->problem_size, y->problem_size);
    assert_true(x->motion == y->motion && x->impulses == y->impulses);
    assert_true(x->effort.work == y->effort.work);
    assert_int_equal(x->effort.islands, y->effort.islands);
    int count[2];
    const perp_contact *c = perp_sim_contacts(a->sim, &count[0]),
                       *d = perp_sim_contacts(b->sim, &count[1]);
    assert_int_equal(count[0], count[1]);
    for (int i = 0; i < count[0]; i++) {
        assert_true(c[i].pn == d[i].pn && c[i].gap == d[i].gap && c[i].slip == d[i].slip);
        assert_true(c[i].mode == d[i].mode && c[i].feature == d[i].feature);
        assert_memory_equal(&c[i].pf_W, &d[i].pf_W, sizeof c[i].pf_W);
        assert_memory_equal(&c[i].normal_W, &d[i].normal_W, sizeof c[i].normal_W);
        assert_memory_equal(&c[i].point_W, &d[i].point_W, sizeof c[i].point_W);
    }
}

static void step_both(run *a, run *b)
{
    assert_true(perp_sim_step(a->sim, a->h) >= 0);
    forget(b->sim);
    assert_true(perp_sim_step(b->sim, b->h) >= 0);
    assert_same(a, b);
}

static double place_of(const run *r, const char *name)
{
    return perp_sim_body_pose(r->sim, perp_model_body(perp_sim_model(r->sim), name)).p.x;
}

static void what_rests_beside_what_moves_has_the_same_bits(void **state)
{
    (void)state;
    for (int threads = 1; threads <= 2; threads++) {
        run fast = start(make_text(), threads), slow = start(make_text(), 1);
        int known = 0, least = 99;
        for (int k = 0; k < 200; k++) {
            step_both(&fast, &slow);
            int now = pp_islands_known(fast.sim->islands);
            known = now > known ? now : known;
            least = k > 20 && now < least ? now : least;
            assert_int_equal(pp_islands_known(slow.sim->islands), 0);
        }
        // four stacks and the lid rest; the ball has struck the last stack
        assert_true(known >= 5);
        assert_true(least >= 4 && least < known);
        assert_true(fabs(place_of(&fast, "box 9") - 9.0) > 0.01);
        end(&fast);
        end(&slow);
    }
}

// A ball that no row touches does not make the only island another one.
static void a_ball_flies_over_a_stack(void **state)
{
    (void)state;
    static const char scene[] =
        "{\"step\": 0.01, \"gravity\": [0, 0, -9.81], \"shapes\": [{\"name\": \"floor\", "
        "\"kind\": \"halfspace\", \"mu\": 0.5}], \"bodies\": ["
        "{\"name\": \"one\", \"kind\": \"solid\", \"position\": [0, 0, 0.5], \"shapes\": "
        "[{\"kind\": \"box\", \"size\": [1, 1, 1], \"density\": 1, \"mu\": 0.5}]},"
        "{\"name\": \"two\", \"kind\": \"solid\", \"position\": [0.1, 0, 1.5], \"shapes\": "
        "[{\"kind\": \"box\", \"size\": [1, 1, 1], \"density\": 1, \"mu\": 0.5}]},"
        "{\"name\": \"ball\", \"kind\": \"solid\", \"position\": [-9, 0, 5], \"velocity\": "
        "[12, 0, 6], \"shapes\": [{\"kind\": \"sphere\", \"radius\": 0.2, \"density\": 1}]}]}";
    run fast = start(scene, 1), slow = start(scene, 1);
    for (int k = 0; k < 100; k++) {
        step_both(&fast, &slow);
        assert_true(k < 5 || pp_islands_known(fast.sim->islands) == 1);
    }
    end(&fast);
    end(&slow);
}

// Gravity, friction, a push, a state and another step reach what rests.
static void what_is_set_reaches_what_rests(void **state)
{
    (void)state;
    run fast = start(make_text(), 1), slow = start(make_text(), 1);
    run *both[] = {&fast, &slow};
    for (int change = 0; change < 6; change++) {
        for (int k = 0; k < 12; k++) {
            step_both(&fast, &slow);
        }
        for (int i = 0; i < 2; i++) {
            perp_sim *sim = both[i]->sim;
            perp_body box = perp_model_body(perp_sim_model(sim), "box 2");
            perp_shape floor = perp_model_shape(perp_sim_model(sim), "floor");
            switch (change) {
            case 0:
                assert_int_equal(perp_sim_gravity_set(sim, (perp_vec3){0.0, 0.0, -3.0}), PERP_OK);
                break;
            case 1:
                perp_sim_body_apply(sim, box, (perp_wrench){.f_W = {3.0, 0.0, 0.0}});
                break;
            case 2:
                assert_int_equal(perp_sim_gravity_set(sim, (perp_vec3){2.0, 0.0, -9.81}), PERP_OK);
                break;
            case 3:
                assert_int_equal(perp_sim_shape_friction_set(sim, floor, 0.1, 0.0, 0.0), PERP_OK);
                break;
            case 4:
                both[i]->h = 0.005;
                break;
            default:
                perp_sim_body_apply(sim, box, (perp_wrench){.f_W = {0.0, 0.0, 40.0}});
                break;
            }
        }
    }
    end(&fast);
    end(&slow);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_rests_beside_what_moves_has_the_same_bits),
        cmocka_unit_test(a_ball_flies_over_a_stack),
        cmocka_unit_test(what_is_set_reaches_what_rests),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
