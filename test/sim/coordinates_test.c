// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// The step in joint coordinates is the step with all bodies: the same velocities and impulses, joints of
// the tree that hold to rounding, fewer unknowns.
#include "support/cmocka.h"
#include "support/fault.h"

#include <perp/io.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

static perp_scene *read_scene(const char *name)
{
    char path[512];
    perp_scene *scene = NULL;
    perp_error error;
    snprintf(path, sizeof path, "scenes/%s.json", name);
    if (perp_scene_load(path, NULL, &scene, &error) != PERP_OK) {
        fail_msg("%s: %s", path, error.text);
    }
    return scene;
}

static perp_sim *open_exact(const perp_scene *scene, perp_coordinates coordinates)
{
    perp_sim_def def = perp_scene_sim_def(scene);
    perp_sim *sim = NULL;
    perp_error error;
    def.coordinates = coordinates;
    def.positions = PERP_POSITIONS_EXACT;
    assert_int_equal(perp_sim_create(perp_scene_model(scene), &def, NULL, &sim, &error), PERP_OK);
    return sim;
}

static perp_sim *open_sim(const perp_scene *scene, perp_coordinates coordinates, perp_form form)
{
    perp_sim_def def = perp_scene_sim_def(scene);
    perp_sim *sim = NULL;
    perp_error error;
    def.coordinates = coordinates;
    def.form = form;
    def.stepper = PERP_STEPPER_STEWART_TRINKLE;
    if (perp_sim_create(perp_scene_model(scene), &def, NULL, &sim, &error) != PERP_OK) {
        fail_msg("%s", error.text);
    }
    return sim;
}

static const char *const recipes[] = {
    "berard-4.1",       "berard-4.2",
    "berard-4.3",       "berard-4.4",
    "berard-4.6",       "trinkle-blimp",
    "trinkle-pusher",   "trinkle-prismatic-planar",
    "trinkle-robot",    "trinkle-prismatic-spatial",
    "andrews-squeezer", "bricard",
    "flyball-governor", "four-bar-spatial",
    "pendulum-10",      "screw",
    "slider-crank",     "tedrake-arm",
    "windows-2",        "lagrange-top",
    "tedrake-driven",   "tedrake-two-limits",
};
enum { RECIPES = sizeof recipes / sizeof recipes[0] };

// One step from the scene's start, in both coordinates: velocities, and impulses of joints that are unique.
static void one_step_agrees(void **state)
{
    (void)state;
    for (int k = 0; k < RECIPES; k++) {
        perp_scene *scene = read_scene(recipes[k]);
        double h = perp_scene_step(scene);
        for (int form = PERP_FORM_AUTO; form <= PERP_FORM_LCP; form++) {
            perp_sim *body = open_sim(scene, PERP_COORDINATES_BODY, (perp_form)form);
            perp_sim *joint = open_sim(scene, PERP_COORDINATES_JOINT, (perp_form)form);
            assert_true(perp_sim_step(body, h) >= 0);
            assert_true(perp_sim_step(joint, h) >= 0);
            double a[512], b[512];
            int nv;
            perp_sim_state_size(body, NULL, &nv);
            assert_true(nv <= 512);
            assert_int_equal(perp_sim_state_get(body, NULL, NULL, a), PERP_OK);
            assert_int_equal(perp_sim_state_get(joint, NULL, NULL, b), PERP_OK);
            for (int i = 0; i < nv; i++) {
                if (!(fabs(a[i] - b[i]) <= 1e-9 * (1.0 + fabs(a[i])))) {
                    fail_msg("%s, form %d: velocity %d is %.17g and %.17g", recipes[k], form, i,
                             a[i], b[i]);
                }
            }
            bool unique = perp_sim_info(body)->redundant_rows == 0 && perp_sim_info(body)->unique;
            int joints = perp_model_joints(perp_scene_model(scene));
            for (int i = 0; unique && i < joints; i++) {
                perp_wrench p = perp_sim_joint(body, (perp_joint){i}).impulse_b;
                perp_wrench r = perp_sim_joint(joint, (perp_joint){i}).impulse_b;
                double off = fmax(fabs(p.f_W.x - r.f_W.x),
                                  fmax(fabs(p.f_W.y - r.f_W.y), fabs(p.tau_W.z - r.tau_W.z)));
                if (!(off <= 1e-9 * (1.0 + fabs(p.f_W.x) + fabs(p.f_W.y)))) {
                    fail_msg("%s, form %d: impulse of joint %d is off by %g", recipes[k], form, i,
                             off);
                }
            }
            perp_sim_destroy(body);
            perp_sim_destroy(joint);
        }
        perp_scene_destroy(scene);
    }
}

// With exact positions the two stay together: both solve the same equations.
static void exact_runs_agree(void **state)
{
    (void)state;
    static const char *const scenes[] = {"pendulum-10", "tedrake-arm", "berard-4.6",
                                         "lagrange-top"};
    for (int k = 0; k < 4; k++) {
        perp_scene *scene = read_scene(scenes[k]);
        double h = perp_scene_step(scene), a[128], b[128];
        perp_sim *body = open_exact(scene, PERP_COORDINATES_BODY);
        perp_sim *joint = open_exact(scene, PERP_COORDINATES_JOINT);
        int nq;
        perp_sim_state_size(body, &nq, NULL);
        assert_true(nq <= 128);
        for (int i = 0; i < 50; i++) {
            assert_int_equal(perp_sim_step(body, h), PERP_OK);
            assert_int_equal(perp_sim_step(joint, h), PERP_OK);
        }
        assert_int_equal(perp_sim_state_get(body, NULL, a, NULL), PERP_OK);
        assert_int_equal(perp_sim_state_get(joint, NULL, b, NULL), PERP_OK);
        for (int i = 0; i < nq; i++) {
            if (!(fabs(a[i] - b[i]) < 1e-9)) {
                fail_msg("%s: position %d is %.17g and %.17g", scenes[k], i, a[i], b[i]);
            }
        }
        perp_sim_destroy(body);
        perp_sim_destroy(joint);
        perp_scene_destroy(scene);
    }
}

// A rod that bounces off a stop without loss while gravity pulls it away: no energy is made, whichever
// way joints are held.
static void bounce_makes_nothing(void **state)
{
    (void)state;
    static const char text[] =
        "{\"bodies\": [{\"name\": \"rod\", \"mass\": 1, \"inertia\": 0.0833, \"position\": [0.5, "
        "0]}], \"joints\": [{\"kind\": \"revolute\", \"a\": \"ground\", \"b\": \"rod\", "
        "\"anchor_b\": [-0.5, 0], \"angle\": \"-90 deg\", \"lower\": -0.3, \"limit_restitution\": "
        "1}]}";
    perp_scene *scene = NULL;
    perp_error error;
    assert_int_equal(perp_scene_parse("rod", text, sizeof text - 1, NULL, &scene, &error), PERP_OK);
    for (int k = 0; k < 4; k++) {
        perp_sim_def def = perp_scene_sim_def(scene);
        perp_sim *sim;
        def.coordinates = (perp_coordinates)(k / 2);
        def.positions = (perp_positions)(k % 2);
        assert_int_equal(perp_sim_create(perp_scene_model(scene), &def, NULL, &sim, &error),
                         PERP_OK);
        double limit = 0.0;
        for (int i = 0; i < 200; i++) {
            assert_int_equal(perp_sim_step(sim, 0.01), PERP_OK);
            limit += perp_sim_joint(sim, (perp_joint){0}).limit;
        }
        assert_true(limit > 1.0);  // it did bounce
        perp_sim_destroy(sim);
    }
    perp_scene_destroy(scene);
}

// Runs in joint coordinates: every certificate passes, and joints of the tree hold to rounding.
static void trees_hold(void **state)
{
    (void)state;
    static const char *const trees[] = {"pendulum-10", "berard-4.1", "lagrange-top", "screw"};
    for (int k = 0; k < 4; k++) {
        perp_scene *scene = read_scene(trees[k]);
        perp_sim *sim = open_sim(scene, PERP_COORDINATES_JOINT, PERP_FORM_AUTO);
        for (int i = 0; i < 200; i++) {
            assert_int_equal(perp_sim_step(sim, perp_scene_step(scene)), PERP_OK);
            assert_true(perp_sim_info(sim)->certificate.joint < 1e-12);
        }
        perp_sim_destroy(sim);
        perp_scene_destroy(scene);
    }
}

// A chain of ten links in the plane has ten unknowns in place of thirty and twenty equations.
static void fewer_unknowns(void **state)
{
    (void)state;
    perp_scene *scene = read_scene("pendulum-10");
    perp_sim *sim = open_sim(scene, PERP_COORDINATES_JOINT, PERP_FORM_MCP);
    assert_int_equal(perp_sim_step(sim, 1e-3), PERP_OK);
    perp_step_problem *p;
    assert_int_equal(perp_sim_problem(sim, PERP_FORM_MCP, &p), PERP_OK);
    assert_int_equal(p->n_nu, 10);
    assert_int_equal(p->n_b, 0);
    assert_int_equal(p->mcp.n, 10);
    for (int i = 0; i < p->mcp.n; i++) {
        assert_true(fabs(p->w[i]) < 1e-12);
        assert_non_null(strstr(p->names[i], "rate"));
    }
    perp_step_problem_destroy(p);
    perp_sim_destroy(sim);
    perp_scene_destroy(scene);
}

// The MCP of a scene with loops and contacts, written out with H and J, is solved by the step's answer.
static void written_out(void **state)
{
    (void)state;
    static const char *const scenes[] = {"berard-4.6", "tedrake-arm", "trinkle-prismatic-planar"};
    for (int k = 0; k < 3; k++) {
        perp_scene *scene = read_scene(scenes[k]);
        perp_sim *sim = open_sim(scene, PERP_COORDINATES_JOINT, PERP_FORM_AUTO);
        for (int i = 0; i < 40; i++) {
            assert_true(perp_sim_step(sim, perp_scene_step(scene)) >= 0);
        }
        for (int form = PERP_FORM_MCP; form <= PERP_FORM_LCP; form++) {
            perp_step_problem *p;
            assert_int_equal(perp_sim_problem(sim, (perp_form)form, &p), PERP_OK);
            for (int i = 0; i < p->mcp.n; i++) {
                double z = p->z[i], w = p->w[i], lower = p->mcp.lower[i];
                double off = isinf(lower) ? fabs(w) : fabs(fmin(z - lower, w));
                assert_true(off < 1e-7);
            }
            perp_step_problem_destroy(p);
        }
        perp_sim_destroy(sim);
        perp_scene_destroy(scene);
    }
}

static void restored_runs_continue(void **state)
{
    (void)state;
    perp_scene *scene = read_scene("tedrake-arm");
    double h = perp_scene_step(scene);
    perp_sim *a = open_sim(scene, PERP_COORDINATES_JOINT, PERP_FORM_AUTO);
    perp_sim *b = open_sim(scene, PERP_COORDINATES_JOINT, PERP_FORM_AUTO);
    for (int i = 0; i < 50; i++) {
        assert_true(perp_sim_step(a, h) >= 0);
    }
    char block[8192];
    size_t size = perp_sim_state_save_size(a);
    assert_true(size <= sizeof block);
    assert_int_equal(perp_sim_state_save(a, block, size), PERP_OK);
    assert_int_equal(perp_sim_state_restore(b, block, size), PERP_OK);
    for (int i = 0; i < 50; i++) {
        assert_true(perp_sim_step(a, h) >= 0 && perp_sim_step(b, h) >= 0);
        assert_true(perp_sim_state_hash(a) == perp_sim_state_hash(b));
    }
    perp_sim_destroy(a);
    perp_sim_destroy(b);
    perp_scene_destroy(scene);
}

// Another tree of the same loop: the same motion of the bodies.
static void named_trees(void **state)
{
    (void)state;
    perp_scene *scene = read_scene("four-bar");
    const perp_model *model = perp_scene_model(scene);
    double h = perp_scene_step(scene), first[64], other[64];
    int nv = 0, joints = perp_model_joints(model);
    for (int left = 0; left < joints; left++) {
        perp_sim_def def = perp_scene_sim_def(scene);
        perp_joint tree[16];
        perp_sim *sim;
        perp_error error;
        def.coordinates = PERP_COORDINATES_JOINT;
        def.tree = tree;
        for (int i = 0; i < joints; i++) {
            if (i != left) {
                tree[def.tree_count++].i = i;
            }
        }
        assert_int_equal(perp_sim_create(model, &def, NULL, &sim, &error), PERP_OK);
        assert_true(perp_sim_step(sim, h) >= 0);
        perp_sim_state_size(sim, NULL, &nv);
        assert_true(nv <= 64);
        assert_int_equal(perp_sim_state_get(sim, NULL, NULL, left == 0 ? first : other), PERP_OK);
        for (int i = 0; left > 0 && i < nv; i++) {
            assert_true(fabs(first[i] - other[i]) < 1e-10 * (1.0 + fabs(first[i])));
        }
        perp_sim_destroy(sim);
    }
    perp_scene_destroy(scene);
}

static void refused(void **state)
{
    (void)state;
    perp_scene *scene = read_scene("four-bar");
    const perp_model *model = perp_scene_model(scene);
    perp_sim *sim;
    perp_error error;
    perp_sim_def def = perp_scene_sim_def(scene);
    perp_joint all[16];
    def.coordinates = PERP_COORDINATES_JOINT;
    def.stepper = PERP_STEPPER_MOREAU_JEAN;
    assert_int_equal(perp_sim_create(model, &def, NULL, &sim, &error), PERP_ERR_ARGUMENT);
    def.stepper = PERP_STEPPER_STEWART_TRINKLE;
    def.tree = all;
    def.tree_count = perp_model_joints(model);
    for (int i = 0; i < def.tree_count; i++) {
        all[i].i = i;
    }
    assert_int_equal(perp_sim_create(model, &def, NULL, &sim, &error), PERP_ERR_ARGUMENT);
    assert_true(strlen(error.text) > 10);  // all joints of a loop are no tree
    all[0].i = 99;
    def.tree_count = 1;
    assert_int_equal(perp_sim_create(model, &def, NULL, &sim, &error), PERP_ERR_ARGUMENT);
    assert_non_null(strstr(error.text, "99"));
    perp_scene_destroy(scene);
}

// Bodies that start apart at a joint of the tree are moved together, and it is said.
static void projected(void **state)
{
    (void)state;
    static const char text[] =
        "{\"coordinates\": \"joint\", \"bodies\": [{\"name\": \"rod\", \"mass\": 1, \"inertia\": "
        "0.1, \"position\": [0.5, 0.01]}], \"joints\": [{\"kind\": \"revolute\", \"a\": "
        "\"ground\", \"b\": \"rod\", \"anchor_b\": [-0.5, 0]}]}";
    perp_scene *scene = NULL;
    perp_error error;
    assert_int_equal(perp_scene_parse("rod", text, sizeof text - 1, NULL, &scene, &error), PERP_OK);
    perp_sim_def def = perp_scene_sim_def(scene);
    perp_sim *sim;
    assert_int_equal(perp_sim_create(perp_scene_model(scene), &def, NULL, &sim, &error), PERP_OK);
    assert_non_null(strstr(perp_sim_info(sim)->remark, "0.01"));
    assert_true(perp_sim_joint(sim, (perp_joint){0}).error < 1e-12);
    assert_int_equal(perp_sim_step(sim, 1e-3), PERP_OK);
    perp_sim_destroy(sim);
    perp_scene_destroy(scene);
}

// Each allocation of creating and stepping fails in turn: an error, nothing lost, and the state stays.
static void allocations_fail(void **state)
{
    (void)state;
    perp_scene *scene = read_scene("tedrake-arm");
    for (int k = 1; k < 1000; k++) {
        fault f = {.fail_at = k};
        perp_env env = fault_env(&f);
        perp_sim_def def = perp_scene_sim_def(scene);
        perp_sim *sim = NULL;
        perp_error error;
        def.coordinates = PERP_COORDINATES_JOINT;
        def.positions = PERP_POSITIONS_EXACT;
        perp_status status = perp_sim_create(perp_scene_model(scene), &def, &env, &sim, &error);
        if (status >= 0) {
            uint64_t hash = perp_sim_state_hash(sim);
            status = perp_sim_step(sim, 1e-3);
            assert_true(status >= 0 || perp_sim_state_hash(sim) == hash);
            assert_true(status >= 0 || perp_sim_step(sim, 1e-3) >= 0);
        }
        assert_true(status >= 0 || status == PERP_ERR_MEMORY);
        perp_sim_destroy(sim);
        assert_int_equal(f.live, 0);
        assert_int_equal(f.confused, 0);
        if (!f.happened) {
            assert_true(k > 5);
            perp_scene_destroy(scene);
            return;
        }
    }
    fail_msg("the walk over allocations does not end");
}

// A chain of hinged bodies has three velocities a body, and one rate a joint; discs that lie apart have no joint.
static void chosen_by_size(void **state)
{
    (void)state;
    static const struct {
        const char *scene;
        perp_stepper stepper;
        perp_coordinates coordinates;
    } known[] = {
        {"scenes/pendulum-10.json", PERP_STEPPER_STEWART_TRINKLE, PERP_COORDINATES_JOINT},
        {"scenes/pendulum-10.json", PERP_STEPPER_MOREAU_JEAN, PERP_COORDINATES_BODY},
        {"scenes/four-bar.json", PERP_STEPPER_STEWART_TRINKLE, PERP_COORDINATES_BODY},
        {"scenes/box-slides.json", PERP_STEPPER_STEWART_TRINKLE, PERP_COORDINATES_BODY},
    };
    for (size_t k = 0; k < sizeof known / sizeof known[0]; k++) {
        perp_scene *scene = NULL;
        perp_sim *sim = NULL, *given = NULL;
        perp_error error = {0};
        const char *why = NULL;
        assert_int_equal(perp_scene_load(known[k].scene, NULL, &scene, &error), PERP_OK);
        perp_sim_def def = perp_scene_sim_def(scene);
        def.stepper = known[k].stepper;
        def.coordinates = PERP_COORDINATES_AUTO;
        assert_int_equal(perp_sim_create(perp_scene_model(scene), &def, NULL, &sim, &error),
                         PERP_OK);
        assert_int_equal(perp_sim_coordinates(sim, &why), known[k].coordinates);
        assert_true(why[0] != '\0');
        // The run is that of the coordinates chosen, bit for bit.
        def.coordinates = known[k].coordinates;
        assert_int_equal(perp_sim_create(perp_scene_model(scene), &def, NULL, &given, &error),
                         PERP_OK);
        assert_int_equal(perp_sim_coordinates(given, &why), known[k].coordinates);
        assert_string_equal(why, "");
        for (int i = 0; i < 20; i++) {
            assert_true(perp_sim_step(sim, 1e-3) >= 0);
            assert_true(perp_sim_step(given, 1e-3) >= 0);
        }
        assert_true(perp_sim_state_hash(sim) == perp_sim_state_hash(given));
        perp_sim_destroy(sim);
        perp_sim_destroy(given);
        perp_scene_destroy(scene);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(one_step_agrees),  cmocka_unit_test(trees_hold),
        cmocka_unit_test(fewer_unknowns),   cmocka_unit_test(written_out),
        cmocka_unit_test(named_trees),      cmocka_unit_test(restored_runs_continue),
        cmocka_unit_test(exact_runs_agree), cmocka_unit_test(bounce_makes_nothing),
        cmocka_unit_test(allocations_fail), cmocka_unit_test(refused),
        cmocka_unit_test(projected),        cmocka_unit_test(chosen_by_size),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
