// SPDX-FileCopyrightText: the perp authors
// SPDX-License-Identifier: Apache-2.0
//
// Steps whose allocations fail, one place of the code after another: the step reports it, its state is the one
// before the step, no block is lost. Every stepper but `event` (memory/event), every form, both sets of
// coordinates.
#include "support/cmocka.h"
#include "support/sites.h"

#include <perp/io.h>
#include <stdio.h>
#include <string.h>

enum { DEPTH = 8 };

typedef struct life {
    const perp_model *model;
    perp_sim_def def;
    double h;
    int steps;
} life;

static perp_status whole_life(const perp_env *env, void *user)
{
    const life *l = user;
    perp_sim *sim = NULL;
    perp_error error = {0};
    perp_status status = perp_sim_create(l->model, &l->def, env, &sim, &error);
    assert_true(status >= 0 || (!sim && error.text[0]));
    for (int i = 0; i < l->steps && status >= 0; i++) {
        uint64_t before = perp_sim_state_hash(sim);
        status = perp_sim_step(sim, l->h);
        assert_true(status >= 0 || perp_sim_state_hash(sim) == before);
    }
    if (status >= 0 && l->def.stepper != PERP_STEPPER_QUASISTATIC) {
        for (int form = PERP_FORM_MCP; form <= PERP_FORM_LCP && status >= 0; form++) {
            perp_step_problem *problem = NULL;
            status = perp_sim_problem(sim, (perp_form)form, &problem);
            assert_true((status >= 0) == (problem != NULL));
            perp_step_problem_destroy(problem);
        }
    }
    perp_sim_destroy(sim);
    return status;
}

typedef void change(perp_sim_def *def);

static void walk_scene(const char *name, const perp_scene *scene, change *set, int steps)
{
    life l = {.model = perp_scene_model(scene),
              .def = perp_scene_sim_def(scene),
              .h = perp_scene_step(scene),
              .steps = steps};
    if (set) {
        set(&l.def);
    }
    int places = sites_walk(name, whole_life, &l, DEPTH);
    assert_true(places > 40);
}

static void walk_files(change *set, int steps, const char *const *names)
{
    for (; *names; names++) {
        char path[100];
        perp_scene *scene = NULL;
        snprintf(path, sizeof path, "scenes/%s.json", *names);
        assert_int_equal(perp_scene_load(path, NULL, &scene, NULL), PERP_OK);
        walk_scene(*names, scene, set, steps);
        perp_scene_destroy(scene);
    }
}

static void walk_family(const char *family, const char *option, const char *value, change *set,
                        int steps)
{
    perp_scene *scene = NULL;
    perp_generator_option options = {option, value};
    assert_int_equal(perp_scene_generate(family, &options, 1, NULL, &scene, NULL), PERP_OK);
    walk_scene(family, scene, set, steps);
    perp_scene_destroy(scene);
}

#define NAMES(...) ((const char *const[]){__VA_ARGS__, NULL})

static void as_the_scenes_say(void **state)
{
    (void)state;
    walk_files(NULL, 5,
               NAMES("andrews-squeezer", "berard-4.6", "block-stops", "conveyor", "heavy-stack",
                     "leg-lands", "mesh-ramp", "pusher", "tedrake-skate", "trinkle-bodies",
                     "trinkle-disc-8", "windows-2"));
    walk_family("stack", "boxes", "3", NULL, 3);
    walk_family("wall3", "rows", "1", NULL, 1);
    walk_family("chain", "links", "4", NULL, 3);
    walk_family("cradle", "balls", "3", NULL, 3);
}

static void use_anitescu_potra(perp_sim_def *def)
{
    def->stepper = PERP_STEPPER_ANITESCU_POTRA;
}

static void use_moreau_jean(perp_sim_def *def)
{
    def->stepper = PERP_STEPPER_MOREAU_JEAN;
}

static void use_quasistatic(perp_sim_def *def)
{
    def->stepper = PERP_STEPPER_QUASISTATIC;
}

static void use_implicit(perp_sim_def *def)
{
    def->stepper = PERP_STEPPER_IMPLICIT;
}

static void use_implicit_joint(perp_sim_def *def)
{
    def->stepper = PERP_STEPPER_IMPLICIT;
    def->coordinates = PERP_COORDINATES_JOINT;
}

static void use_accuracy(perp_sim_def *def)
{
    def->accuracy = 0.1;
}

static void every_stepper(void **state)
{
    (void)state;
    walk_files(use_anitescu_potra, 3, NAMES("berard-4.6", "leg-lands", "bouncing-ball"));
    walk_files(use_moreau_jean, 3,
               NAMES("andrews-squeezer", "berard-4.6", "box-tips", "heavy-top", "lagrange-top",
                     "spring-damper", "tedrake-skate"));
    walk_family("bounce", "height", "0.5", use_moreau_jean, 3);
    walk_files(use_implicit, 3, NAMES("berard-4.6", "leg-lands", "bouncing-ball"));
    walk_files(use_accuracy, 2, NAMES("berard-4.4"));
    walk_files(use_implicit_joint, 3, NAMES("four-bar", "leg-lands"));
    walk_files(use_quasistatic, 3, NAMES("pusher", "trinkle-pusher"));
}

static void use_mcp(perp_sim_def *def)
{
    def->form = PERP_FORM_MCP;
}

static void use_lcp(perp_sim_def *def)
{
    def->form = PERP_FORM_LCP;
}

static void use_cone(perp_sim_def *def)
{
    def->form = PERP_FORM_CONE;
}

static void use_pyramid(perp_sim_def *def)
{
    def->friction = PERP_FRICTION_PYRAMID;
}

static void use_poisson(perp_sim_def *def)
{
    def->impact = PERP_IMPACT_POISSON;
}

static void use_given_start(perp_sim_def *def)
{
    def->start = PERP_START_AS_GIVEN;
}

static void every_form(void **state)
{
    (void)state;
    walk_files(use_mcp, 3, NAMES("berard-4.6", "box-heading", "tedrake-skate"));
    walk_files(use_lcp, 3, NAMES("berard-4.6", "box-heading", "windows-2", "tedrake-skate"));
    walk_files(use_cone, 3, NAMES("berard-4.6", "box-heading", "leg-lands", "tedrake-limit"));
    walk_files(use_pyramid, 3, NAMES("box-heading", "ball-rolls"));
    walk_files(use_poisson, 3, NAMES("newtons-cradle", "bouncing-ball"));
    walk_files(use_given_start, 3, NAMES("berard-4.6", "leg-lands"));
}

static void use_joint_coordinates(perp_sim_def *def)
{
    def->coordinates = PERP_COORDINATES_JOINT;
}

static void use_exact_positions(perp_sim_def *def)
{
    def->positions = PERP_POSITIONS_EXACT;
}

static void use_both(perp_sim_def *def)
{
    use_joint_coordinates(def);
    use_exact_positions(def);
}

static void joints(void **state)
{
    (void)state;
    walk_files(use_joint_coordinates, 3,
               NAMES("andrews-squeezer", "bricard", "leg-lands", "tedrake-arm", "pendulum-10"));
    walk_files(use_exact_positions, 3, NAMES("andrews-squeezer", "leg-lands", "screw"));
    walk_files(use_both, 2, NAMES("windows-2", "leg-lands"));
}

// Inputs with sources, actuators of every kind, rotors.
static void controls(void **state)
{
    (void)state;
    const char *const *robot = NAMES("../fuzz/corpus/scene/control");
    walk_files(NULL, 3, robot);
    walk_files(use_moreau_jean, 2, robot);
    walk_files(use_mcp, 2, robot);
    walk_files(use_lcp, 2, robot);
    walk_files(use_cone, 2, robot);
    walk_files(use_joint_coordinates, 2, robot);
}

// Constraints with epsilon, couplings of coordinates and of rates, actuators at sites, frames without mass.
static void constraints(void **state)
{
    (void)state;
    walk_files(NULL, 2,
               NAMES("../fuzz/corpus/scene/constraints", "../fuzz/corpus/scene/coupling",
                     "../fuzz/corpus/scene/massless", "../fuzz/corpus/scene/settings",
                     "../fuzz/corpus/scene/visuals"));
}

// Sites and sensors of every kind, planar and in space.
static void sensors(void **state)
{
    (void)state;
    walk_files(NULL, 3, NAMES("../fuzz/corpus/scene/sensors", "sensor-arm"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(as_the_scenes_say), cmocka_unit_test(every_stepper),
        cmocka_unit_test(every_form),        cmocka_unit_test(joints),
        cmocka_unit_test(controls),          cmocka_unit_test(sensors),
        cmocka_unit_test(constraints),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
